//! Crowds: one layer record an instance, instances of a skeleton together.

use std::ops::Range;

use crate::error::Error;
use crate::model::crowd::{Crowd, LayerTime};
use crate::model::library::SkeletonId;
use crate::model::ticks::Ticks;
use crate::pack::library::Packing;
use crate::pack::record::{self, CLOCK_FIXED, CLOCK_LOOP, split};

/// A crowd ready for an engine: its instances ordered by skeleton.
#[derive(Debug, Clone, Default)]
pub struct PackedCrowd {
    pub(crate) layers: Vec<record::Layer>,
    pub(crate) groups: Vec<Group>,
    /// For each packed instance its index in the crowd.
    pub(crate) order: Vec<usize>,
}

/// Instances of one skeleton.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub skeleton: SkeletonId,
    /// Their places in the packed order.
    pub instances: Range<usize>,
}

impl PackedCrowd {
    /// Packs a crowd of the packed library's skeletons and clips.
    ///
    /// # Errors
    /// [`Error::Instance`] where a skeleton or clip does not exist or they do not belong together, [`Error::Limit`]
    /// beyond 2^32 instances.
    pub fn new(packing: &Packing, crowd: &Crowd) -> Result<Self, Error> {
        if crowd.len() > u32::MAX as usize {
            let (needed, allowed) = (crowd.len() as u64, u64::from(u32::MAX));
            return Err(Error::Limit { what: "instances of a crowd".into(), needed, allowed });
        }
        for instance in 0..crowd.len() {
            check_instance(packing, crowd, instance).map_err(|reason| Error::Instance { instance, reason })?;
        }
        let mut order: Vec<usize> = (0..crowd.len()).collect();
        order.sort_by_key(|&instance| crowd.skeleton(instance));
        let layers = order.iter().map(|&instance| pack_instance(packing, crowd, instance)).collect();
        let mut groups: Vec<Group> = Vec::new();
        for (place, &instance) in order.iter().enumerate() {
            let skeleton = crowd.skeleton(instance);
            match groups.last_mut() {
                Some(group) if group.skeleton == skeleton => group.instances.end = place + 1,
                _ => groups.push(Group { skeleton, instances: place..place + 1 }),
            }
        }
        Ok(Self { layers, groups, order })
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

fn check_instance(packing: &Packing, crowd: &Crowd, instance: usize) -> Result<(), String> {
    let skeleton = crowd.skeleton(instance);
    if skeleton.index() >= packing.skeletons.len() {
        return Err(format!("the library has no skeleton {}", skeleton.index()));
    }
    for layer in crowd.layers(instance) {
        match packing.clip(layer.clip) {
            None => return Err(format!("the library has no clip {}", layer.clip.index())),
            Some((_, other)) if other != skeleton => {
                return Err(format!("clip {} is another skeleton's", layer.clip.index()));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The layer record of a checked instance. Without a layer, it stands in the clip without tracks.
fn pack_instance(packing: &Packing, crowd: &Crowd, instance: usize) -> record::Layer {
    let skeleton = &packing.skeletons[crowd.skeleton(instance).index()];
    let rest = record::Layer { clip: skeleton.rest_clip, clock: CLOCK_FIXED, ..Default::default() };
    let Some(layer) = crowd.layers(instance).first() else { return rest };
    let Some((clip, _)) = packing.clip(layer.clip) else { return rest };
    match layer.time {
        LayerTime::At(seconds) => {
            let (time_high, time_low) = split(seconds);
            record::Layer { clip, clock: CLOCK_FIXED, time_high, time_low, ..Default::default() }
        }
        LayerTime::Playing { start, rate } => pack_playing(clip, &packing.arrays.record(clip), start, rate),
    }
}

/// A layer that plays.
///
/// Its phase is `ticks * loops a tick`, of which only the fraction counts: a wrapping product of integers, exact for
/// centuries, the same for every adapter. The 96 bits leave `2^-33` of a loop after `2^62` ticks.
fn pack_playing(clip: u32, record: &record::Clip, start: Ticks, rate: f64) -> record::Layer {
    let bits = loops_per_tick(rate, record);
    record::Layer {
        clip,
        clock: CLOCK_LOOP,
        start_low: start.0 as u32,
        start_high: (start.0 >> 32) as u32,
        loops_low: bits as u32,
        loops_middle: (bits >> 32) as u32,
        loops_high: (bits >> 64) as u32,
        ..Default::default()
    }
}

/// Loops a tick, `rate / (duration * ticks a second)`, in units of 2^-96, wrapped to 128 bits.
///
/// By long division of integers: the 53 bits of an `f64` are too few for a rate of a million, at which a month's ticks
/// make half a millisecond of their rounding.
fn loops_per_tick(rate: f64, clip: &record::Clip) -> u128 {
    let duration = u128::from(clip.duration_high) << 32 | u128::from(clip.duration_low);
    if duration == 0 {
        return 0;
    }
    let exponent = |bits: u64| (bits >> 52 & 0x7ff) as i32 - 1023;
    let mut rest = u128::from(rate.to_bits() & ((1 << 52) - 1) | 1 << 52);
    // The rate is `rest * 2^(its exponent - 52)`, the duration `duration * 2^(its unit's exponent - 32)`, and a tick 2^-20 s.
    let unit = exponent(f64::from(clip.duration_unit).to_bits());
    let mut shift = exponent(rate.to_bits()) - 52 + 32 - unit - 20 + 96;
    let mut loops = 0;
    while shift > 0 {
        let bits = shift.min(63);
        rest <<= bits;
        loops = (loops << bits) | (rest / duration);
        rest %= duration;
        shift -= bits;
    }
    if rate < 0.0 { loops.wrapping_neg() } else { loops }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_per_tick_are_exact() {
        // A duration of 1.5 s.
        let clip = record::Clip { duration_high: 3 << 30, duration_unit: 2.0_f32.powi(-31), ..Default::default() };
        let one = 1_u128 << 96;
        let third = one / 3;
        assert_eq!(loops_per_tick(1.5, &clip), one >> 20);
        assert_eq!(loops_per_tick(-1.5, &clip), (one >> 20).wrapping_neg());
        assert_eq!(loops_per_tick(1.0, &clip), (2 * one / 3) >> 20);
        assert_eq!(loops_per_tick(1e6, &clip), (2 * third * 1_000_000 + 666_666) >> 20, "two thirds, a million times");
        for rate in [0.0, -0.0, 1e-40, f64::MIN_POSITIVE / 4.0] {
            assert_eq!(loops_per_tick(rate, &clip), 0);
        }
        assert_eq!(loops_per_tick(1.0, &record::Clip::default()), 0, "no duration");
    }
}
