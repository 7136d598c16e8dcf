//! Displacements of joints between two versions of a clip, in `f64`.

use glam::{DAffine3, DVec3};

use crate::compress::ErrorBound;
use crate::compress::bound::rig_size;
use crate::compress::moments::{Moments, Peak};
use crate::model::{Clip, Curve, Library, Skeleton, Target, Track};
use crate::reference::hierarchy;
use crate::reference::values::Values;

/// The most joints times times that the search for tolerances compares.
const MOST_SEARCHED: usize = 1 << 16;
/// The most joints times times that the final check compares: those of a clip of 20 minutes.
const MOST_CHECKED: usize = 1 << 23;

/// The most peaks between measured times at which displacements are measured too.
const MOST_PEAKS: usize = 256;

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
        let moments = Moments::new(library, &joint_clip, MOST_CHECKED / joints);
        let stride = moments.times.len().div_ceil((MOST_SEARCHED / joints).max(8)).max(1);
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

    /// The largest displacement by other tracks, at the times of the final check, at the peaks between them, and at the keys of the
    /// other tracks, which can have been shifted.
    ///
    /// Between two keys, the square of a displacement is nearly a parabola. A parabola through three measured times tells if there
    /// is a peak between them, and then the displacement is measured there, too.
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
        for (distance, time) in peaks.into_iter().take(MOST_PEAKS) {
            if distance > worst.distance {
                self.measure(&other, time, &mut worst);
            }
        }
        worst
    }

    /// The displacement of each matrix by another clip at a time. `worst` becomes the largest of them if that is larger.
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

    /// The model matrices of all joints. A clip with root motion appends the matrices without the root motion, which engines
    /// pose: the rotation that is removed can depend on the last digits of the joint's rotation.
    fn pose(&self, clip: &Clip, time: f64) -> Vec<DAffine3> {
        let time = clip.keep(time);
        let mut pose = hierarchy::model(self.skeleton(), &Values::sampled(self.library, clip, time).local);
        if clip.root_motion.is_some() {
            pose.extend(hierarchy::model(self.skeleton(), &Values::of_clip(self.library, clip, time).local));
        }
        pose
    }

    /// The displacement of each matrix between two poses, with the index of its joint. With root motion, each joint occurs twice.
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

/// Returns true if a track moves a joint.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::compress::Length;
    use crate::model::{Interpolation, Joint, Timeline};

    #[test]
    fn displacements_are_measured_at_the_keys_of_both_clips() {
        // The joint moves by 10 and then stands. The other clip has its second key 0.001 s earlier: there it has arrived, and the
        // original is at 10 / 1.001. At the keys of the original, both are at the same place.
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
