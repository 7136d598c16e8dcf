//! Displacements of joints between two versions of a clip, in `f64`.

use glam::{DAffine3, DVec3};

use crate::compress::ErrorBound;
use crate::compress::bound::rig_size;
use crate::model::{Clip, Curve, Interpolation, Library, RootRotation, Skeleton, Target, Timeline, Track, Transform};
use crate::reference::values;
use crate::reference::values::Values;

/// The most joints times times that the search for tolerances compares.
const MAX_SEARCHED: usize = 1 << 16;
/// The most joints times times that the final check compares: as many as in a clip of 20 minutes.
const MAX_CHECKED: usize = 1 << 23;

/// The most peaks between measured times at which displacements are measured too.
const MAX_PEAKS: usize = 256;

/// A displacement, with its joint and time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Displacement {
    /// The distance in the rig's units.
    pub distance: f64,
    /// The index of the joint.
    pub joint: usize,
    /// The time in seconds of the clip.
    pub time: f64,
}

/// An original clip, and the times at which other versions are compared with it.
pub struct Original<'a> {
    library: &'a Library,
    clip: &'a Clip,
    /// The clip with only the tracks of joints.
    joint_clip: Clip,
    /// The largest allowed displacement, in the rig's units.
    bound: f64,
    /// The same as a share of the rig's size.
    share: f64,
    /// The distance of the shell from each joint, in the rig's units.
    shell: f64,
    /// All times of the final check.
    moments: Moments,
    /// The search uses every `stride`-th of these times.
    stride: usize,
    /// The poses at the times of the search.
    poses: Vec<Vec<DAffine3>>,
}

impl<'a> Original<'a> {
    /// A clip and the error bound of its other versions.
    pub fn new(library: &'a Library, clip: &'a Clip, bound: ErrorBound) -> Self {
        let size = rig_size(library.skeleton(clip.skeleton));
        let (shell, bound) = (bound.shell.of(size), bound.error.of(size));
        let joints = library.skeleton(clip.skeleton).joints().len().max(1);
        let joint_clip = only_joints(clip);
        let moments = Moments::new(library, &joint_clip, MAX_CHECKED / joints);
        let stride = moments.times.len().div_ceil((MAX_SEARCHED / joints).max(8)).max(1);
        let share = bound / size;
        let mut original = Self { library, clip, joint_clip, bound, share, shell, moments, stride, poses: Vec::new() };
        let search_times = original.moments.times.iter().step_by(stride);
        original.poses = search_times.map(|&time| original.pose(&original.joint_clip, time)).collect();
        original
    }

    /// The library of the clip.
    pub fn library(&self) -> &'a Library {
        self.library
    }

    /// The original tracks.
    pub fn tracks(&self) -> &'a [Track] {
        &self.clip.tracks
    }

    /// The largest allowed displacement, in the rig's units.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The same as a share of the rig's size.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The distance of the shell from each joint, in the rig's units.
    pub fn shell(&self) -> f64 {
        self.shell
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &'a Skeleton {
        self.library.skeleton(self.clip.skeleton)
    }

    /// At most 16 of the poses, as model matrices of all joints.
    pub fn poses(&self) -> impl Iterator<Item = &[DAffine3]> {
        let joints = self.skeleton().joints().len();
        self.poses.iter().step_by(self.poses.len().div_ceil(16).max(1)).map(move |pose| &pose[..joints])
    }

    /// For each joint the largest displacement of the joint or its shell by other tracks, at the times of the search.
    pub fn by_joint(&self, tracks: &[Track]) -> Vec<f64> {
        let other = Clip { tracks: tracks.to_vec(), ..self.joint_clip.clone() };
        let mut largest = vec![0.0; self.skeleton().joints().len()];
        for (original, &time) in self.poses.iter().zip(self.moments.times.iter().step_by(self.stride)) {
            for (joint, distance) in self.distances(original, &self.pose(&other, time)) {
                largest[joint] = distance.max(largest[joint]);
            }
        }
        largest
    }

    /// The largest displacement by other tracks, at the times of the final check, at the peaks between them, and at the
    /// keys of the other tracks, which can have been shifted.
    ///
    /// Between two keys, the square of a displacement is nearly a parabola. A parabola through three measured times
    /// tells if there is a peak between them, and then the displacement is measured there, too.
    pub fn worst(&self, tracks: &[Track]) -> Displacement {
        let other = Clip { tracks: tracks.to_vec(), ..self.joint_clip.clone() };
        let mut worst = Displacement::default();
        let mut peaks: Vec<(f64, f64)> = Vec::new();
        let mut measured: [Vec<f64>; 3] = Default::default();
        let Moments { times, between, .. } = &self.moments;
        for (index, &time) in times.iter().enumerate() {
            measured.rotate_left(1);
            measured[2] = self.measure(&other, time, &mut worst);
            if index < 2 || !between[index - 1] {
                continue;
            }
            let [first, middle, last] = &measured;
            let found = first.iter().zip(middle).zip(last).filter_map(|((first, middle), last)| {
                let Peak { place, height } = Peak::new(first * first, middle * middle, last * last)?;
                Some((height.sqrt(), times[index - 1] + place * 0.5 * (time - times[index - 2])))
            });
            peaks.extend(found.filter(|(distance, _)| *distance > worst.distance));
        }
        for time in self.moments.keys_between(&other) {
            self.measure(&other, time, &mut worst);
        }
        peaks.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (distance, time) in peaks.into_iter().take(MAX_PEAKS) {
            if distance > worst.distance {
                self.measure(&other, time, &mut worst);
            }
        }
        worst
    }

    /// The displacement of each matrix by another clip at a time. `worst` becomes the largest of them if that is
    /// larger.
    fn measure(&self, other: &Clip, time: f64, worst: &mut Displacement) -> Vec<f64> {
        let (original, moved) = (self.pose(&self.joint_clip, time), self.pose(other, time));
        let distances = self.distances(&original, &moved).map(|(joint, distance)| {
            if distance > worst.distance {
                *worst = Displacement { distance, joint, time };
            }
            distance
        });
        distances.collect()
    }

    /// The model matrices of all joints. A clip with root motion appends the matrices without the root motion, which
    /// engines pose: the rotation that is removed can depend on the last digits of the joint's rotation.
    fn pose(&self, clip: &Clip, time: f64) -> Vec<DAffine3> {
        let time = clip.keep(time);
        let mut pose = values::model_matrices(self.skeleton(), &Values::sampled(self.library, clip, time).local);
        if clip.root_motion.is_some() {
            pose.extend(values::model_matrices(self.skeleton(), &Values::of_clip(self.library, clip, time).local));
        }
        pose
    }

    /// The displacement of each matrix between two poses, with the index of its joint. With root motion, each joint
    /// occurs twice.
    fn distances(&self, original: &[DAffine3], moved: &[DAffine3]) -> impl Iterator<Item = (usize, f64)> {
        let shell = self.shell;
        let joints = (0..self.skeleton().joints().len()).cycle();
        joints.zip(original.iter().zip(moved)).map(move |(joint, (original, moved))| {
            let origin = (original.translation - moved.translation).length_squared();
            let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
                let length = original.transform_vector3(axis).length();
                let point = if length > 0.0 { axis * (shell / length) } else { DVec3::ZERO };
                (original.transform_point3(point) - moved.transform_point3(point)).length_squared()
            });
            (joint, axes.into_iter().fold(origin, f64::max).sqrt())
        })
    }
}

/// Returns `true` if a track moves a joint.
pub fn is_of_joint(track: &Track) -> bool {
    !matches!(track.target, Target::Weights(_) | Target::Property(_))
}

/// The largest absolute number among the values of a curve's keys.
pub fn largest_number(curve: &Curve) -> f64 {
    let values = (0..curve.timeline().len()).flat_map(|key| curve.value(key));
    values.fold(0.0, |largest: f64, number| largest.max(number.abs()))
}

/// A clip with only the tracks of joints.
fn only_joints(clip: &Clip) -> Clip {
    let tracks = clip.tracks.iter().filter(|track| is_of_joint(track)).cloned().collect();
    Clip { tracks, events: Vec::new(), ..clip.clone() }
}

// The times at which two versions of a clip are compared.
//
// If the joints do not turn between two keys, the error of linear interpolation is largest at a key. If they turn,
// errors that cancel each other at the keys cancel less between them, the more so the farther the joints turn. The
// intervals between keys are therefore divided into parts in which the joints turn little.

/// The most radians that a joint turns in model space between two measured times, unless its interval has
/// [`MAX_PARTS`].
const LARGEST_TURN: f64 = 0.125;
/// The fewest parts of an interval.
const FEWEST_PARTS: u32 = 4;
/// The fewest parts of an interval with splines, easings, or a yaw that root motion removes.
const FEWEST_CURVED_PARTS: u32 = 16;
/// The most parts of an interval.
const MAX_PARTS: u32 = 64;

/// Times in order.
pub struct Moments {
    /// The times in seconds of the clip.
    pub times: Vec<f64>,
    /// For each time, true if it lies between two keys, and the times before and after it are equally far away and
    /// between the same keys or at them.
    pub between: Vec<bool>,
    /// The times are every `stride`-th of the times that would be measured of a shorter clip.
    stride: usize,
}

impl Moments {
    /// All key times and times between them, evenly thinned to about `most`.
    pub fn new(library: &Library, clip: &Clip, most: usize) -> Self {
        let curves = || clip.tracks.iter().map(|track| &track.curve);
        let keys = key_times(clip);
        let window = curves().map(|curve| curve.timeline().window()).fold(0.0, f64::max);
        let removes_yaw = clip.root_motion.is_some_and(|root| root.rotation == RootRotation::Yaw);
        let curved = removes_yaw || curves().any(is_not_linear);
        let fewest = if curved { FEWEST_CURVED_PARTS } else { FEWEST_PARTS };
        let skeleton = library.skeleton(clip.skeleton);
        let (mut times, mut between) = (keys.get(..1).unwrap_or_default().to_vec(), vec![false; keys.len().min(1)]);
        let pose = |time: f64| Values::sampled(library, clip, time).local;
        let mut before = keys.first().map(|&time| pose(time)).unwrap_or_default();
        for gap in keys.windows(2) {
            let after = pose(gap[1]);
            let parts = (largest_turn(skeleton, &before, &after) / LARGEST_TURN).ceil() as u32;
            // Beside a jump, there is nothing between two times.
            let is_jump = gap[1] - gap[0] <= 2.0 * window || gap[0].next_up() == gap[1];
            let parts = if is_jump { 1 } else { parts.next_power_of_two().clamp(fewest, MAX_PARTS) };
            times.extend((1..parts).map(|part| gap[0] + f64::from(part) / f64::from(parts) * (gap[1] - gap[0])));
            times.push(gap[1]);
            between.extend((1..=parts).map(|part| part < parts));
            before = after;
        }
        let stride = times.len().div_ceil(most.max(8)).max(1);
        if stride > 1 {
            times = times.into_iter().step_by(stride).collect();
            between = vec![false; times.len()];
        }
        Self { times, between, stride }
    }

    /// The key times of another version of the clip that lie between these times, as thinned as these.
    pub fn keys_between(&self, other: &Clip) -> Vec<f64> {
        let keys = key_times(other).into_iter().step_by(self.stride);
        keys.filter(|key| self.times.binary_search_by(|time| time.total_cmp(key)).is_err()).collect()
    }
}

/// The key times of all tracks of a clip, in order, and the times beside jumps.
fn key_times(clip: &Clip) -> Vec<f64> {
    let timelines = || clip.tracks.iter().map(|track| &**track.curve.timeline());
    let times = timelines().flat_map(Timeline::times).copied().chain(timelines().flat_map(beside_jumps));
    let mut keys: Vec<f64> = times.map(|time| clip.keep(time)).collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    keys
}

/// The times just before and after keys that have the same time, or that one time hits: a clip shows the first of them
/// only before that time, and the last only after it.
fn beside_jumps(timeline: &Timeline) -> impl Iterator<Item = f64> {
    let window = timeline.window();
    let jumps = timeline.times().windows(2).filter(move |keys| keys[1] - keys[0] <= 2.0 * window);
    jumps.flat_map(move |keys| [(keys[0] - 1.5 * window).next_down(), (keys[1] + 1.5 * window).next_up()])
}

/// The most radians that a joint turns in model space from one pose to another, if all its ancestors turn the same way.
/// A spline that swings out and returns between the poses counts as no turn; [`FEWEST_CURVED_PARTS`] is for those.
fn largest_turn(skeleton: &Skeleton, before: &[Transform], after: &[Transform]) -> f64 {
    let mut turns: Vec<f64> = Vec::with_capacity(before.len());
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let (from, to) = (before[index].rotation, after[index].rotation);
        let chord = (from - to).length().min((from + to).length());
        let turn = 4.0 * (0.5 * chord).min(1.0).asin();
        turns.push(turn + joint.parent.map_or(0.0, |parent| turns[parent]));
    }
    turns.into_iter().fold(0.0, f64::max)
}

/// Returns `true` if a curve has splines or easings between its keys.
fn is_not_linear(curve: &Curve) -> bool {
    let mut keys = 0..curve.timeline().len() - 1;
    curve.interpolation() == Interpolation::CubicSpline || keys.any(|key| !curve.easing_at(key).is_linear())
}

/// The peak of a parabola.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// The place between -1 and 1.
    pub place: f64,
    /// The value there.
    pub height: f64,
}

impl Peak {
    /// The peak of the parabola through three numbers at -1, 0 and 1. `None` if it has no peak between them.
    pub fn new(before: f64, middle: f64, after: f64) -> Option<Self> {
        let (slope, curvature) = (0.5 * (after - before), before + after - 2.0 * middle);
        let place = -slope / curvature;
        let rises = curvature < 0.0 && place.abs() < 1.0;
        rises.then_some(Self { place, height: middle + 0.5 * slope * place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::compress::Length;
    use crate::model::{Interpolation, Joint, Timeline};

    #[test]
    fn displacements_are_measured_at_the_keys_of_both_clips() {
        // The joint moves by 10 and then stands. The other clip has its second key 0.001 s earlier: there it has
        // arrived, and the original is at 10 / 1.001. At the keys of the original, both are at the same place.
        let track = |middle: f64| {
            let timeline = Arc::new(Timeline::new(vec![0.0, middle, 2.0]).unwrap());
            let places = [[0.0; 3], [10.0, 0.0, 0.0], [10.0, 0.0, 0.0]].concat();
            Track::new(Target::Translation(0), Curve::new(timeline, Interpolation::Linear, 3, places).unwrap())
        };
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap());
        let clip = Clip::new(None, skeleton, vec![track(1.001)]);
        let original = Original::new(&library, &clip, ErrorBound::new(Length::Share(1e-4)));
        let worst = original.worst(&[track(1.0)]);
        assert_eq!((worst.time, worst.joint), (1.0, 0));
        assert!((worst.distance - (10.0 - 10.0 / 1.001)).abs() < 1e-9, "{worst:?}");
    }

    #[test]
    fn displacements_are_measured_on_both_sides_of_a_jump() {
        // Two keys at the same time: the first is seen before it, the second from it on.
        let track = |before: f64, after: f64| {
            let timeline = Arc::new(Timeline::snapping(vec![1.0, 1.0], 1e-6).unwrap());
            let places = vec![before, 0.0, 0.0, after, 0.0, 0.0];
            Track::new(Target::Translation(0), Curve::new(timeline, Interpolation::Step, 3, places).unwrap())
        };
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap());
        let clip = Clip::new(None, skeleton, vec![track(10.0, 20.0)]);
        let original = Original::new(&library, &clip, ErrorBound::new(Length::Share(1e-4)));
        assert_eq!(original.worst(&[track(10.25, 20.0)]).distance, 0.25);
        assert_eq!(original.worst(&[track(10.0, 20.5)]).distance, 0.5);
    }
}

#[cfg(test)]
mod moments_tests {
    use super::*;

    #[test]
    fn a_parabola_has_its_peak_where_its_formula_says() {
        // 5 - 2 (x - 0.25)^2
        let at = |x: f64| 5.0 - 2.0 * (x - 0.25) * (x - 0.25);
        assert_eq!(Peak::new(at(-1.0), at(0.0), at(1.0)), Some(Peak { place: 0.25, height: 5.0 }));
        assert_eq!(Peak::new(1.0, 0.0, 1.0), None, "a valley");
        assert_eq!(Peak::new(0.0, 1.0, 2.0), None, "a straight line");
        assert_eq!(Peak::new(0.0, 3.0, 5.0), None, "a peak beyond the last number");
    }

    #[test]
    fn a_jump_is_measured_just_before_and_after_it() {
        use std::sync::Arc;

        use crate::model::{Joint, Target, Track};

        // 7/30 + (0.8 - 7/30) is not the number before 0.8 if it is rounded.
        for window in [0.0, 1e-6] {
            let timeline = Timeline::snapping(vec![7.0 / 30.0, 0.8, 0.8], window).unwrap();
            let turns = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]].concat();
            let curve = Curve::new(Arc::new(timeline), Interpolation::Linear, 4, turns).unwrap();
            let mut library = Library::new();
            let skeleton = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap());
            let clip = Clip::new(None, skeleton, vec![Track::new(Target::Rotation(0), curve)]);
            let moments = Moments::new(&library, &clip, 1000);
            let (before, after) = ((0.8 - 1.5 * window).next_down(), (0.8 + 1.5 * window).next_up());
            let jump = moments.times.iter().position(|&time| time == 0.8).unwrap();
            assert_eq!(moments.times[jump - 1..], [before, 0.8, after], "{window}");
            assert_eq!(moments.between[jump..], [false, false]);
        }
    }
}
