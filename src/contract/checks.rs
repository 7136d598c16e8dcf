//! The crowds that an engine is checked with: every clip of a library, and crowds that mix and play in many
//! ways; and the times of a clip.

use crate::error::Error;
use crate::model::{
    AdditiveReference, Clip, ClipId, Crowd, Fade, FadeShape, Layer, LayerMode, LayerTime, Library, Mask, MaskId,
    Outputs, Playback, SkeletonId, SkinFormat, Step, Ticks, WrapMode,
};

/// The most instances of a check, so that one check takes a bounded time.
const MAX_INSTANCES: usize = 64;
/// The most clips per skeleton that mixed crowds play. They are spread evenly over the clips.
const MIXED_CLIPS: usize = 6;
/// The times of mixed crowds in seconds of the crowd clock, an hour among them.
const TIMES: [f64; 4] = [0.0, 0.731, 12.34, 3600.517];
/// The seconds of a step to such a time, for root motion.
const STEP: f64 = 0.05;
/// The rates at which clips play.
const RATES: [f64; 4] = [1.0, -0.7, 2.5, 0.31];

/// A crowd to check an engine with: [`compare_as`](crate::contract::compare_as) compares its poses with the poses of
/// the reference.
#[derive(Debug, Clone)]
pub struct Check {
    /// The kind of the crowd: `clip`, `wrap modes`, `blend`, `override`, `additive`, `masks`, `fades`, `half skin`.
    pub kind: &'static str,
    /// The clip that alone is checked; `None` for other kinds, and for the rest pose.
    pub clip: Option<ClipId>,
    /// The instances.
    pub crowd: Crowd,
    /// The step at the end of which they are posed.
    pub step: Step,
    /// The outputs to compare.
    pub outputs: Outputs,
}

/// The checks of a library: each clip at no more than `samples` times on its keys, between them and beyond; then, per
/// skeleton, crowds in all wrap modes at several rates, and crowds that blend, override, add, mask and fade.
///
/// It adds a mask per skeleton to the library, so that it is called before the library is packed.
///
/// # Errors
/// The errors of [`Library::add_mask`] and [`Crowd::push`]. The crowds of a valid library cause none.
///
/// # Examples
/// ```
/// use posse::cpu::CpuEngine;
/// use posse::{Evaluator, Reference, contract, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let mut library = demo::library()?;
/// let checks = contract::checks(&mut library, 4)?;
/// let mut engine = CpuEngine::new(&library)?;
/// for check in &checks {
///     let expected = Reference::new(&library).evaluate_step(&check.crowd, check.step, check.outputs)?;
///     let actual = engine.evaluate_step(&check.crowd, check.step, check.outputs)?;
///     let format = check.outputs.skin_format;
///     let report = contract::compare_as(format, &library, &check.crowd, check.step, &expected, &actual);
///     assert!(report.is_within(), "{}", check.kind);
/// }
/// # Ok(())
/// # }
/// ```
pub fn checks(library: &mut Library, samples: usize) -> Result<Vec<Check>, Error> {
    let mut checks = Vec::new();
    for clip in library.clip_ids() {
        clip_checks(library, clip, samples, &mut checks)?;
    }
    for skeleton in library.skeleton_ids() {
        let mask = library.add_mask(striped_mask(library, skeleton))?;
        let clips = mixed_clips(library, skeleton);
        if clips.is_empty() {
            let mut crowd = Crowd::new();
            crowd.push(skeleton, &[])?;
            let step = Ticks(0).into();
            checks.push(Check { kind: "clip", clip: None, crowd, step, outputs: Outputs::ALL });
            continue;
        }
        for seconds in TIMES {
            let mixed = MixedCrowds { library, skeleton, clips: &clips, mask, seconds };
            mixed.add(&mut checks)?;
        }
    }
    Ok(checks)
}

fn clip_checks(library: &Library, clip: ClipId, samples: usize, checks: &mut Vec<Check>) -> Result<(), Error> {
    for times in check_times(library.clip(clip), samples.max(1)).chunks(MAX_INSTANCES) {
        let mut crowd = Crowd::new();
        for &time in times {
            crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))])?;
        }
        checks.push(Check { kind: "clip", clip: Some(clip), crowd, step: Ticks(0).into(), outputs: Outputs::ALL });
    }
    Ok(())
}

/// A mask of the weights 1, 0.5 and 0 in turn.
fn striped_mask(library: &Library, skeleton: SkeletonId) -> Mask {
    let joints = library.skeleton(skeleton).joints().len();
    let weights = (0..joints).map(|joint| [1.0, 0.5, 0.0][joint % 3]).collect();
    Mask { name: Some("striped".into()), skeleton, weights }
}

/// Clips of a skeleton, spread evenly over all of them.
fn mixed_clips(library: &Library, skeleton: SkeletonId) -> Vec<ClipId> {
    let all: Vec<ClipId> = library.clip_ids().filter(|&clip| library.clip(clip).skeleton == skeleton).collect();
    let count = all.len().min(MIXED_CLIPS);
    (0..count).map(|index| all[index * all.len() / count]).collect()
}

/// The crowds of one skeleton at one time.
struct MixedCrowds<'a> {
    library: &'a Library,
    skeleton: SkeletonId,
    clips: &'a [ClipId],
    mask: MaskId,
    seconds: f64,
}

impl MixedCrowds<'_> {
    fn add(&self, checks: &mut Vec<Check>) -> Result<(), Error> {
        self.push(checks, "wrap modes", self.wraps())?;
        let over = |mode: LayerMode| {
            move |[below, above, top]: [Layer; 3]| {
                vec![below, Layer { mode, weight: 0.6, ..above }, Layer { mode, weight: 1.0, ..top }]
            }
        };
        self.push(
            checks,
            "blend",
            self.pairs(|[a, b, c]| vec![a, Layer { weight: 0.4, ..b }, Layer { weight: 0.05, ..c }]),
        )?;
        self.push(checks, "override", self.pairs(over(LayerMode::Override)))?;
        for reference in [AdditiveReference::First, AdditiveReference::Rest] {
            self.push(checks, "additive", self.pairs(over(LayerMode::Additive(reference))))?;
        }
        let mask = Some(self.mask);
        self.push(
            checks,
            "masks",
            self.pairs(|[a, b, c]| vec![Layer { mask, ..a }, b, Layer { mask, mode: LayerMode::Override, ..c }]),
        )?;
        self.push(
            checks,
            "fades",
            self.pairs(|[a, b, c]| {
                let fade = |shape, seconds_ago: f64| {
                    let start = Ticks::from_seconds(self.seconds - seconds_ago);
                    Some(Fade { start, length: Ticks::from_seconds(1.0), shape })
                };
                let fading = Layer { fade_out: fade(FadeShape::Linear, 0.3), ..a };
                let rising = Layer { fade_in: fade(FadeShape::Smooth, 0.7), ..b };
                vec![fading, rising, Layer { mode: LayerMode::Override, fade_in: fade(FadeShape::Linear, 0.25), ..c }]
            }),
        )?;
        self.push_as(SkinFormat::HalfMatrix, checks, "half skin", self.pairs(|[a, b, _]| vec![a, b]))
    }

    fn push(&self, checks: &mut Vec<Check>, kind: &'static str, instances: Vec<Vec<Layer>>) -> Result<(), Error> {
        self.push_as(SkinFormat::Matrix, checks, kind, instances)
    }

    fn push_as(
        &self,
        format: SkinFormat,
        checks: &mut Vec<Check>,
        kind: &'static str,
        instances: Vec<Vec<Layer>>,
    ) -> Result<(), Error> {
        let to = Ticks::from_seconds(self.seconds);
        let step = Step { from: Ticks::from_seconds(self.seconds - STEP), to };
        for block in instances.chunks(MAX_INSTANCES) {
            let mut crowd = Crowd::new();
            for layers in block {
                crowd.push(self.skeleton, layers)?;
            }
            let outputs = Outputs::ALL.with_skin_format(format);
            checks.push(Check { kind, clip: None, crowd, step, outputs });
        }
        Ok(())
    }

    /// Instances of one clip each, in every wrap mode at every rate; some of a part of the clip, or a limited number of
    /// passes.
    fn wraps(&self) -> Vec<Vec<Layer>> {
        let plays = WrapMode::ALL.into_iter().flat_map(|wrap| RATES.map(|rate| (wrap, rate))).enumerate();
        let layer = |(index, (wrap, rate)): (usize, (WrapMode, f64))| {
            let clip = self.clips[index % self.clips.len()];
            let duration = self.library.clip(clip).duration();
            let start = Ticks::from_seconds(self.seconds * [0.0, 0.9, 1.1][index % 3]);
            let range = (index % 4 == 1).then_some([0.25 * duration, 0.8 * duration]);
            let repeat_count = (index % 5 == 2).then_some(1.5);
            let playback = Playback { repeat_count, range, ..Playback::new(wrap, start, rate) };
            vec![Layer::new(clip, LayerTime::Playing(playback))]
        };
        plays.map(layer).collect()
    }

    /// Instances of three layers each, which play neighbouring clips at different phases.
    fn pairs(&self, mix: impl Fn([Layer; 3]) -> Vec<Layer>) -> Vec<Vec<Layer>> {
        let instance = |first: usize| {
            let layer = |place: usize| {
                let clip = self.clips[(first + place) % self.clips.len()];
                let duration = self.library.clip(clip).duration();
                let start = Ticks::from_seconds(-0.37 * duration * (first + place) as f64);
                Layer::new(
                    clip,
                    LayerTime::Playing(Playback::new(WrapMode::Loop, start, RATES[(first + place) % RATES.len()])),
                )
            };
            mix([0, 1, 2].map(layer))
        };
        (0..self.clips.len()).map(instance).collect()
    }
}

/// The fractions of a key interval: its first key, just after it, a third, half, and most of it.
const FRACTIONS: [f64; 5] = [0.0, 0.01, 1.0 / 3.0, 0.5, 0.9];

/// The times at which a clip is checked: before the first key, after the last, on keys and between them. There are at
/// most `max`, spread over the whole clip.
pub fn check_times(clip: &Clip, max: usize) -> Vec<f64> {
    let mut keys: Vec<f64> = Vec::new();
    let mut visited = std::collections::HashSet::new();
    for track in &clip.tracks {
        let timeline = track.curve.timeline();
        if visited.insert(std::sync::Arc::as_ptr(timeline)) {
            keys.extend(timeline.times());
        }
    }
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else { return vec![0.0] };
    let between = keys.windows(2).flat_map(|pair| FRACTIONS.map(|fraction| pair[0] + fraction * (pair[1] - pair[0])));
    let times: Vec<f64> = [first - 1.0, last, last + 1.0].into_iter().chain(between).collect();
    if times.len() <= max {
        return times;
    }
    // A fixed stride would select some fractions more often than others. The fractional parts of multiples of the
    // golden ratio vary the stride.
    let stride = times.len() as f64 / max as f64;
    let variation = |index: usize| (index as f64 * 0.618_033_988_749_894_9).fract();
    (0..max).map(|index| times[((index as f64 + variation(index)) * stride) as usize % times.len()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::compare_as;
    use crate::cpu::CpuEngine;
    use crate::demo;
    use crate::evaluator::Evaluator;
    use crate::reference::Reference;

    /// The largest share of its bound over all checks, with a change to each pose of the engine.
    fn worst(alter: impl Fn(&mut crate::model::Pose)) -> f64 {
        let mut library = demo::library().unwrap();
        let mut worst = 0.0_f64;
        let checks = checks(&mut library, 16).unwrap();
        let mut engine = CpuEngine::new(&library).unwrap();
        for check in &checks {
            let (crowd, step, outputs) = (&check.crowd, check.step, check.outputs);
            let expected = Reference::new(&library).evaluate_step(crowd, step, outputs).unwrap();
            let mut actual = engine.evaluate_step(crowd, step, outputs).unwrap();
            actual.instances.iter_mut().for_each(&alter);
            let report = compare_as(outputs.skin_format, &library, crowd, step, &expected, &actual);
            let shares = report.quantities().into_iter().filter_map(|(_, worst)| worst).map(|worst| worst.share());
            worst = shares.fold(worst, f64::max);
        }
        worst
    }

    #[test]
    fn the_cpu_engine_passes_and_an_altered_number_fails() {
        let share = worst(|_| ());
        assert!(share > 0.0 && share <= 1.0, "{share}");
        let share = worst(|pose| pose.model[20].translation.x += 1e-3);
        assert!(share > 1.0, "{share}");
    }

    #[test]
    fn every_clip_and_every_kind_is_there() {
        let mut library = demo::library().unwrap();
        let checks = checks(&mut library, 200).unwrap();
        for clip in library.clip_ids() {
            let poses: usize =
                checks.iter().filter(|check| check.clip == Some(clip)).map(|check| check.crowd.len()).sum();
            assert!(poses > MAX_INSTANCES, "{clip:?}: {poses}");
        }
        for kind in ["clip", "wrap modes", "blend", "override", "additive", "masks", "fades", "half skin"] {
            assert!(checks.iter().any(|check| check.kind == kind), "{kind}");
        }
        assert!(checks.iter().all(|check| check.crowd.len() <= MAX_INSTANCES));
    }
}

#[cfg(test)]
mod times_tests {
    use super::*;
    use crate::demo;

    #[test]
    fn times_are_on_keys_between_them_and_beyond_and_not_too_many() {
        let library = demo::library().unwrap();
        for clip in library.clips() {
            let all = check_times(clip, usize::MAX);
            let keys = clip.tracks[0].curve.timeline().times();
            assert!(keys.iter().all(|key| all.contains(key)));
            assert!(all.iter().any(|&time| time < 0.0) && all.iter().any(|&time| time > clip.duration()));
            let some = check_times(clip, 50);
            assert_eq!(some.len(), 50);
            assert!(some.iter().any(|time| keys.contains(time)) && some.iter().any(|time| !keys.contains(time)));
        }
    }
}
