//! Layers of a group: their clips, times, weights and fades.

use std::collections::HashMap;
use std::fmt;

use crate::import::crowd::blend_spaces::{self, BlendSpaces};
use crate::import::crowd::document::{ClipName, FadeEntry, GroupEntry, LayerEntry, Mode, Reference};
use crate::import::crowd::motion_entries::{DriverEntry, NumberOr};
use crate::import::crowd::spread::SpreadOffset;
use crate::import::crowd::{CrowdFile, parameters};
use crate::import::gltf::Asset;
use crate::import::{Fault, JsonPath, list_names};
use crate::model::{
    AdditiveReference, ClipId, Fade, Knots, KnotsId, Layer, LayerMode, LayerTime, Library, Playback, Ticks,
    WeightDriver, is_weight, no_such,
};

/// A layer without a spread: a start in seconds, which counts if the layer plays, and all else.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerTemplate {
    start: f64,
    /// The layer, with the rate, and with start 0.
    pub layer: Layer,
}

/// The layers of an instance.
pub(super) fn with_offset(layers: &[LayerTemplate], offset: SpreadOffset) -> Vec<Layer> {
    layers.iter().map(|layer| layer.with_offset(offset)).collect()
}

impl LayerTemplate {
    /// The layer of an instance. Times that follow from parameters or other layers have no spread.
    fn with_offset(&self, offset: SpreadOffset) -> Layer {
        let LayerTime::Playing(playback) = self.layer.time else { return self.layer };
        let (start, rate) = (Ticks::from_seconds(self.start + offset.seconds), playback.rate * offset.factor);
        Layer { time: LayerTime::Playing(Playback { start, rate, ..playback }), ..self.layer }
    }
}

/// Lists of knots that have been added to a library. Equal lists are added once.
#[derive(Default)]
pub(super) struct KnotLists(HashMap<Vec<[u64; 2]>, KnotsId>);

impl KnotLists {
    fn add(&mut self, library: &mut Library, path: &JsonPath, knots: &[[f64; 2]]) -> Result<KnotsId, Fault> {
        if let Some(reason) = Knots::fault(knots) {
            return Err(Fault::new(path, reason));
        }
        let bits = knots.iter().map(|knot| knot.map(f64::to_bits)).collect();
        if let Some(&id) = self.0.get(&bits) {
            return Ok(id);
        }
        let new = Knots::new(knots.to_vec()).map_err(|error| Fault::new(path, error.to_string()))?;
        let id = library.add_knots(new);
        self.0.insert(bits, id);
        Ok(id)
    }
}

/// The group of a layer, and all that its layers may name.
#[derive(Clone, Copy)]
pub(super) struct LayerScope<'a> {
    pub entry: &'a GroupEntry,
    pub asset: &'a Asset,
    pub spaces: &'a BlendSpaces<'a>,
}

impl LayerScope<'_> {
    /// Reads a layer without its mask. `before` has the earlier layers of the instance.
    pub fn read(
        &self,
        library: &mut Library,
        knots: &mut KnotLists,
        path: &JsonPath,
        entry: &LayerEntry,
        before: &[LayerTemplate],
    ) -> Result<LayerTemplate, Fault> {
        let clip = find_clip(library, path, &entry.clip, self.asset)?;
        let read_fade = |name: &str, entry: Option<FadeEntry>| entry.map(|entry| fade(path, name, entry)).transpose();
        let (fade_in, fade_out) = (read_fade("fade_in", entry.fade_in)?, read_fade("fade_out", entry.fade_out)?);
        let time = self.time(library, path, entry, clip)?;
        if let LayerTime::Synced { leader } = time {
            check_leader(library, &path.field("sync"), clip, leader, before)?;
        }
        let (weight, driver) = match &entry.weight {
            NumberOr::Number(weight) if is_weight(*weight) => (*weight, None),
            NumberOr::Number(weight) => {
                let reason = format!("the weight {weight} is not a finite number of 0 or more");
                return Err(Fault::new(path.field("weight"), reason));
            }
            NumberOr::Object(driver) => (1.0, Some(self.driver(library, knots, &path.field("weight"), driver)?)),
        };
        let mode = match (entry.mode, entry.reference) {
            (Mode::Blend, _) => LayerMode::Blend,
            (Mode::Override, _) => LayerMode::Override,
            (Mode::Additive, Reference::First) => LayerMode::Additive(AdditiveReference::First),
            (Mode::Additive, Reference::Rest) => LayerMode::Additive(AdditiveReference::Rest),
        };
        let layer = Layer { weight, driver, mode, fade_in, fade_out, ..Layer::new(clip, time) };
        let template = LayerTemplate { start: entry.start.unwrap_or(0.0), layer };
        self.check_ends(&template, path)?;
        Ok(template)
    }

    /// The time of a layer, with start 0.
    fn time(&self, library: &Library, path: &JsonPath, entry: &LayerEntry, clip: ClipId) -> Result<LayerTime, Fault> {
        let fields = [
            ("start", entry.start.is_some()),
            ("rate", entry.rate.is_some()),
            ("time", entry.time.is_some()),
            ("wrap", entry.wrap.is_some()),
        ];
        let refuse = |names: &[(&str, bool)], reason: &str| match names.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Fault::new(path.field(name), format!("{reason}; leave `{name}` out"))),
            None => Ok(()),
        };
        if let Some(leader) = entry.sync {
            refuse(&fields, "the time of a layer with `sync` follows from its leader")?;
            return Ok(LayerTime::Synced { leader });
        }
        let wrap = entry.wrap.unwrap_or_default();
        if let Some(time) = &entry.time {
            refuse(&fields[..2], "the time of a layer with `time` follows from a parameter")?;
            let place = path.field("time");
            let parameter = parameters::find(&self.entry.parameters, place.field("parameter"), &time.parameter, "")?;
            return Ok(LayerTime::Phase { parameter, wrap });
        }
        let rate = entry.rate.unwrap_or(1.0) * library.clip(clip).speed;
        Ok(LayerTime::Playing(Playback::new(wrap, Ticks::default(), rate)))
    }

    /// The source of a weight that follows from parameters.
    fn driver(
        &self,
        library: &mut Library,
        knots: &mut KnotLists,
        path: &JsonPath,
        entry: &DriverEntry,
    ) -> Result<WeightDriver, Fault> {
        let DriverEntry { parameter, knots: list, blend_space, point } = entry;
        let has_both = (parameter.is_some() || list.is_some()) && (blend_space.is_some() || point.is_some());
        match (parameter, list, blend_space, *point) {
            _ if has_both => {
                let reason = "a weight follows from a parameter or from a blend space, not from both; leave one out";
                Err(Fault::new(path, reason))
            }
            (Some(parameter), Some(list), ..) => {
                let parameter = parameters::find(&self.entry.parameters, path.field("parameter"), parameter, "")?;
                let knots = knots.add(library, &path.field("knots"), list)?;
                Ok(WeightDriver::Knots { parameter, knots })
            }
            (_, _, Some(name), Some(point)) => {
                let place = path.field("blend_space");
                let space = blend_spaces::find(self.spaces, &place, name)?;
                let find = |parameter: &str| {
                    parameters::find(&self.entry.parameters, &place, parameter, &format!("blend space {name:?}: "))
                };
                let parameters = [find(space.x)?, find(space.y)?];
                if point >= space.points {
                    let reason = no_such("point", point, "blend space", space.points);
                    return Err(Fault::new(path.field("point"), reason));
                }
                Ok(WeightDriver::Point { space: space.id, parameters, point })
            }
            (Some(_), None, ..) => Err(Fault::new(path, "missing field `knots`")),
            (None, Some(_), ..) => Err(Fault::new(path, "missing field `parameter`")),
            (_, _, Some(_), None) => Err(Fault::new(path, "missing field `point`")),
            (_, _, None, Some(_)) => Err(Fault::new(path, "missing field `blend_space`")),
            (None, None, None, None) => {
                let reason = "the object is empty; give `parameter` and `knots`, or `blend_space` and `point`";
                Err(Fault::new(path, reason))
            }
        }
    }

    /// Checks a layer at both ends of the spread. All instances are between them.
    fn check_ends(&self, template: &LayerTemplate, path: &JsonPath) -> Result<(), Fault> {
        for offset in self.entry.spread.ends() {
            ticks(path.field("start"), template.start + offset.seconds)?;
            if let Some(reason) = template.with_offset(offset).fault() {
                return Err(Fault::new(path.field("rate"), reason));
            }
        }
        Ok(())
    }
}

/// Checks that a layer can follow its leader.
fn check_leader(
    library: &Library,
    path: &JsonPath,
    clip: ClipId,
    leader: usize,
    before: &[LayerTemplate],
) -> Result<(), Fault> {
    let Some(found) = before.get(leader) else {
        let reason =
            format!("layer {leader} does not come before this one; a leader is an earlier layer, counted from 0");
        return Err(Fault::new(path, reason));
    };
    if matches!(found.layer.time, LayerTime::Synced { .. }) {
        let reason = format!("layer {leader} follows another layer itself; follow the leader of that layer");
        return Err(Fault::new(path, reason));
    }
    let [lead, own] = [found.layer.clip, clip].map(|clip| library.clip(clip));
    let counts = [lead, own].map(|clip| clip.markers.len());
    if counts.contains(&0) || counts[0] == counts[1] {
        return Ok(());
    }
    let name = |name: &Option<String>| name.clone().unwrap_or("unnamed".into());
    let (lead, own) = (name(&lead.name), name(&own.name));
    let reason = format!(
        "clip {own:?} has {} sync markers, but clip {lead:?}, which it follows, has {}; give both as many",
        counts[1], counts[0]
    );
    Err(Fault::new(path, reason))
}

/// The clip of a name or an index in an asset.
pub(super) fn find_clip(library: &Library, path: &JsonPath, wanted: &ClipName, asset: &Asset) -> Result<ClipId, Fault> {
    let name = |clip: &&ClipId| library.clip(**clip).name.as_deref();
    let found = match wanted {
        ClipName::Index(index) => asset.clips.get(*index),
        ClipName::Name(wanted) => asset.clips.iter().find(|clip| name(clip) == Some(wanted)),
    };
    found.copied().ok_or_else(|| {
        let names: Vec<_> = asset.clips.iter().map(|clip| name(&clip).unwrap_or("unnamed")).collect();
        let reason = format!("{} has no clip {wanted}; it has: {}", asset.file.display(), list_names(&names));
        Fault::new(path.field("clip"), reason)
    })
}

fn fade(path: &JsonPath, name: &str, entry: FadeEntry) -> Result<Fade, Fault> {
    let FadeEntry { start, seconds, shape } = entry;
    if seconds < 0.0 {
        let reason = format!("the fade takes {seconds} s, but has to take 0 s or more");
        return Err(Fault::new(path.field(name).field("seconds"), reason));
    }
    let start = ticks(path.field(name).field("start"), start)?;
    let length = ticks(path.field(name).field("seconds"), seconds)?;
    Ok(Fade { start, length, shape: shape.into() })
}

/// A time on the crowd clock.
pub(super) fn ticks(path: impl fmt::Display, seconds: f64) -> Result<Ticks, Fault> {
    CrowdFile::ticks(seconds).ok_or_else(|| {
        let last = CrowdFile::MAX_SECONDS;
        Fault::new(
            path,
            format!("{seconds:e} s is beyond the crowd clock, which reaches from -{last:e} s to {last:e} s"),
        )
    })
}
