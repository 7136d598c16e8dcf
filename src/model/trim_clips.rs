//! Clips without the keys that a range of times does not read.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::model::curve::NumberParts;
use crate::model::{Clip, ClipId, Curve, Extrapolation, Library, Timeline, Track, is_usable, no_such};

impl Library {
    /// Drops keys of clips: of each clip the keys that no time from `range[0]` to `range[1]` reads. Ranges are in
    /// seconds, and clamped to 0 and the duration. A clip that is given twice is trimmed twice.
    ///
    /// Within their ranges, poses stay the same. Key times do not move, and clips keep their ids, durations, events and
    /// markers: a crowd of the library plays on in engines of a trimmed copy. This way, an engine holds a part of a
    /// long clip, and takes the next part before the range ends
    /// ([`PackedLibrary::reserve_for`](crate::packed::PackedLibrary::reserve_for)). Tracks that share values, of
    /// one clip or of several that are trimmed together to the same range, share the remaining ones. A clip without
    /// length gets its duration as its length: times before 0 and after the duration then count as these.
    ///
    /// Beyond the keys that are left, curves have the value of the first or the last of them. Layers that are compared
    /// with [`AdditiveReference::First`](crate::AdditiveReference::First) read time 0; root motion reads the start of
    /// the step, too, and both ends of a clip that begins again; transitions and velocities read times before and after
    /// theirs. Curves are kept whole if the range reaches where they extrapolate, or if keys share a time. Dual
    /// quaternions can refuse a part whose scales are much smaller than in the whole clip and in the rest pose.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such clip, or a range is not two numbers in the range of an `f32`, the lower one
    /// first. The library is then left as it was.
    ///
    /// # Examples
    /// ```
    /// use posse::cpu::CpuEngine;
    /// use posse::demo;
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let walk = library.find_clip("walk").expect("the demo library has a clip `walk`");
    /// let mut part = library.clone();
    /// part.trim_clips(&[(walk, [0.25, 0.5])])?;
    /// assert_eq!(part.clip(walk).duration(), library.clip(walk).duration());
    /// assert!(CpuEngine::new(&part)?.size() < CpuEngine::new(&library)?.size());
    /// # Ok(())
    /// # }
    /// ```
    pub fn trim_clips(&mut self, ranges: &[(ClipId, [f64; 2])]) -> Result<(), Error> {
        for &(id, range) in ranges {
            check(self, id, range)?;
        }
        let mut parts = Parts::default();
        for &(id, range) in ranges {
            let trimmed = parts.clip(self.clip(id), range);
            parts.replaced.push(self.replace_clip(id, trimmed));
        }
        Ok(())
    }
}

/// Checks that a clip exists, and that a range is one.
fn check(library: &Library, id: ClipId, range: [f64; 2]) -> Result<(), Error> {
    let Some(clip) = library.clips().get(id.index()) else {
        return Err(Error::Usage(no_such("clip", id.index(), "library", library.clips().len())));
    };
    let [start, end] = range;
    if range.into_iter().all(is_usable) && start <= end {
        return Ok(());
    }
    let name = clip.label();
    let reason = format!(
        "clip {name}: trimmed to {start} to {end} s; expected two numbers in the range of an f32, the lower one first"
    );
    Err(Error::Usage(reason))
}

/// The parts that are left of timelines and values, so that curves share them as they share the whole.
#[derive(Default)]
struct Parts {
    /// By timeline and keys that are left.
    timelines: HashMap<(*const Timeline, Range<usize>), Arc<Timeline>>,
    numbers: NumberParts,
    /// The clips before they were trimmed. While they live, no other timeline or values have the same address.
    replaced: Vec<Clip>,
}

impl Parts {
    /// A clip without the keys that a range does not read.
    fn clip(&mut self, clip: &Clip, range: [f64; 2]) -> Clip {
        let duration = clip.duration();
        let range = range.map(|time| time.clamp(0.0, duration));
        let tracks = clip.tracks.iter().map(|track| Track { curve: self.curve(&track.curve, range), ..track.clone() });
        let tracks = tracks.collect();
        // Otherwise, the duration would follow from the keys that are left.
        let length = clip.length.or((duration > 0.0).then_some(duration));
        Clip { tracks, length, ..clip.clone() }
    }

    fn curve(&mut self, curve: &Curve, range: [f64; 2]) -> Curve {
        let timeline = curve.timeline();
        if timeline.has_shared_times() || extrapolates(curve, range) {
            return curve.clone();
        }
        let keys = keys(timeline.times(), range);
        if keys.len() == timeline.len() {
            return curve.clone();
        }
        let part = || Arc::new(timeline.part(keys.clone()));
        let part = self.timelines.entry((Arc::as_ptr(timeline), keys.clone())).or_insert_with(part).clone();
        curve.part(keys, part, &mut self.numbers)
    }
}

/// Returns `true` if a range reaches an end of the keys beyond which a curve continues. A rounded time can lie there.
fn extrapolates(curve: &Curve, [start, end]: [f64; 2]) -> bool {
    let [before, after] = curve.extrapolation().map(|extrapolation| extrapolation != Extrapolation::Clamp);
    before && start <= curve.timeline().first() || after && end >= curve.timeline().last()
}

/// The keys that a range of times reads: from the last one before the range to the first one after it, so that times
/// that are rounded to beyond the ends of the range find their keys, too.
fn keys(times: &[f64], [start, end]: [f64; 2]) -> Range<usize> {
    let first = times.partition_point(|&time| time < start).saturating_sub(1);
    let last = times.partition_point(|&time| time <= end).min(times.len() - 1);
    first.min(last)..last + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CurveEasing, Easing, Event, Interpolation, Joint, Skeleton, Target, WrapMode};

    fn timeline(times: &[f64]) -> Arc<Timeline> {
        Arc::new(Timeline::new(times.to_vec()).unwrap())
    }

    /// A curve whose values are its key times.
    fn curve(timeline: &Arc<Timeline>) -> Curve {
        let values = timeline.times().iter().flat_map(|&time| [time, 0.0, 0.0]).collect();
        Curve::new(timeline.clone(), Interpolation::Linear, 3, values).unwrap()
    }

    /// A library with a clip of curves that move one joint each.
    fn library(curves: Vec<Curve>, length: Option<f64>) -> (Library, ClipId) {
        let mut library = Library::new();
        let joints = curves.iter().map(|_| Joint::default()).collect();
        let skeleton = library.add_skeleton(Skeleton::new(None, joints, vec![]).unwrap());
        let track = |(joint, curve)| Track::new(Target::Translation(joint), curve);
        let tracks = curves.into_iter().enumerate().map(track).collect();
        let events = vec![Event { time: 7.0, function: "step".into(), parameters: vec![] }];
        let clip = Clip { length, events, wrap: WrapMode::Loop, ..Clip::new(Some("run".into()), skeleton, tracks) };
        let id = library.add_clip(clip).unwrap();
        (library, id)
    }

    fn times(library: &Library, track: usize) -> &[f64] {
        library.clips()[0].tracks[track].curve.timeline().times()
    }

    #[test]
    fn the_keys_around_a_range_are_left_and_all_else_stays() {
        let seconds: Vec<f64> = (0..10).map(f64::from).collect();
        for (range, left) in [
            ([2.5, 4.5], 2..6),
            // A key at an end has a neighbour.
            ([2.0, 4.0], 1..6),
            ([3.2, 3.3], 3..5),
            ([-5.0, 0.5], 0..2),
            ([8.5, 100.0], 8..10),
            ([9.0, 9.0], 8..10),
            ([0.0, 9.0], 0..10),
        ] {
            let (mut library, id) = library(vec![curve(&timeline(&seconds))], None);
            let before = library.clips()[0].clone();
            library.trim_clips(&[(id, range)]).unwrap();
            assert_eq!(times(&library, 0), &seconds[left.clone()], "{range:?}");
            let clip = &library.clips()[0];
            assert_eq!(clip.tracks[0].curve.values().iter().step_by(3).copied().collect::<Vec<_>>(), seconds[left]);
            assert_eq!((clip.duration(), clip.length), (9.0, Some(9.0)));
            assert_eq!((&clip.events, &clip.wrap, &clip.name), (&before.events, &before.wrap, &before.name));
        }
    }

    #[test]
    fn easings_stay_with_their_keys() {
        let easings = [Easing::Linear, Easing::Smooth, Easing::Fade, Easing::Constant].to_vec();
        let eased = curve(&timeline(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])).with_easing(CurveEasing::PerKey(easings.into()));
        let (mut library, id) = library(vec![eased.unwrap()], None);
        library.trim_clips(&[(id, [2.5, 4.5])]).unwrap();
        let curve = &library.clips()[0].tracks[0].curve;
        assert_eq!([0, 1, 2].map(|key| curve.easing_at(key)), [Easing::Fade, Easing::Constant, Easing::Linear]);
    }

    #[test]
    fn curves_that_share_a_timeline_share_its_part() {
        let shared = timeline(&[0.0, 1.0, 2.0, 3.0]);
        let (mut library, id) = library(vec![curve(&shared), curve(&shared), curve(&timeline(&[0.0, 3.0]))], None);
        library.trim_clips(&[(id, [0.5, 0.6])]).unwrap();
        let [one, two, other] = [0, 1, 2].map(|track| library.clips()[0].tracks[track].curve.timeline().clone());
        assert!(Arc::ptr_eq(&one, &two) && !Arc::ptr_eq(&one, &other));
        assert_eq!((one.times(), other.times()), (&[0.0, 1.0][..], &[0.0, 3.0][..]));
    }

    #[test]
    fn curves_that_extrapolate_in_the_range_or_whose_keys_share_times_are_kept_whole() {
        let seconds = [2.0, 3.0, 4.0, 5.0];
        let looped = || curve(&timeline(&seconds)).with_extrapolation(Extrapolation::Loop, Extrapolation::PingPong);
        let shared = Arc::new(Timeline::snapping(vec![2.0, 3.0, 3.0, 4.0, 5.0], 0.0).unwrap());
        for (range, left) in [([2.0, 2.5], 0..4), ([4.5, 5.0], 0..4), ([4.5, 4.9], 2..4)] {
            let (mut library, id) = library(vec![looped(), curve(&shared)], Some(20.0));
            library.trim_clips(&[(id, range)]).unwrap();
            assert_eq!(times(&library, 0), &seconds[left], "{range:?}");
            assert_eq!((times(&library, 1).len(), library.clips()[0].duration()), (5, 20.0));
        }
    }

    #[test]
    fn tracks_and_clips_that_share_values_share_those_of_a_part() {
        let shared = curve(&timeline(&[0.0, 1.0, 2.0, 3.0]));
        let (mut library, id) = library(vec![shared.clone(), shared], None);
        let skeleton = library.add_skeleton(library.skeletons()[0].clone());
        let clips = [id, library.add_clip(Clip { skeleton, ..library.clip(id).clone() }).unwrap()];
        let identities = |library: &Library| {
            let tracks = library.clips().iter().flat_map(|clip| &clip.tracks);
            tracks.map(|track| track.curve.values_identity()).collect::<Vec<_>>()
        };
        let mut trimmed = library.clone();
        trimmed.trim_clips(&clips.map(|clip| (clip, [0.5, 0.6]))).unwrap();
        assert_eq!((times(&trimmed, 0), times(&trimmed, 1)), (&[0.0, 1.0][..], &[0.0, 1.0][..]));
        let values = identities(&trimmed);
        assert!(values.iter().all(|&values| values == identities(&trimmed)[0]) && values != identities(&library));
        // Other ranges have other values.
        library.trim_clips(&[(clips[0], [0.5, 0.6]), (clips[1], [2.5, 2.6])]).unwrap();
        let values = identities(&library);
        assert!(values[0] == values[1] && values[2] == values[3] && values[0] != values[2], "{values:?}");
        // A clip that is given twice is trimmed twice.
        let (mut twice, id) = self::library(vec![curve(&timeline(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))], None);
        twice.trim_clips(&[(id, [0.5, 3.5]), (id, [2.5, 4.5])]).unwrap();
        assert_eq!(times(&twice, 0), [2.0, 3.0, 4.0]);
    }

    #[test]
    fn ranges_and_clips_that_do_not_exist_are_refused_and_change_nothing() {
        let (mut library, id) = library(vec![curve(&timeline(&[0.0, 1.0, 2.0]))], None);
        let before = library.clone();
        for range in [[1.0, 0.5], [f64::NAN, 1.0], [0.0, f64::INFINITY], [0.0, 1e300]] {
            let error = library.trim_clips(&[(id, [0.1, 0.2]), (id, range)]).unwrap_err().to_string();
            assert!(error.contains("clip run: trimmed to") && error.contains("the lower one first"), "{error}");
        }
        let error = library.trim_clips(&[(id, [0.1, 0.2]), (ClipId(3), [0.0, 1.0])]).unwrap_err().to_string();
        assert!(error.contains("clip 3"), "{error}");
        assert!(library.clips() == before.clips());
    }
}
