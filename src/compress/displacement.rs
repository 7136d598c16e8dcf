//! Displacements of joints between two versions of a clip, in `f64`.

use glam::{DAffine3, DVec3};

use crate::compress::ErrorBound;
use crate::compress::bound::rig_size;
use crate::model::{Clip, Curve, Interpolation, Library, RootRotation, Skeleton, Target, Track};
use crate::reference::hierarchy;
use crate::reference::values::Values;

/// The most joints times times that the search for tolerances compares.
const MOST_SEARCHED: usize = 1 << 16;
/// The most joints times times that the final check compares.
const MOST_CHECKED: usize = 1 << 21;

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
    times: Vec<f64>,
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
        let times = times(clip, MOST_CHECKED / joints);
        let joint_clip = only_joints(clip);
        let stride = times.len().div_ceil((MOST_SEARCHED / joints).max(8)).max(1);
        let share = bound / size;
        let mut original = Self { library, clip, joint_clip, bound, share, shell, times, stride, poses: Vec::new() };
        let search_times = original.times.iter().step_by(stride);
        original.poses = search_times.map(|&time| original.pose(&original.joint_clip, time)).collect();
        original
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
        for (original, &time) in self.poses.iter().zip(self.times.iter().step_by(self.stride)) {
            for (joint, distance) in self.distances(original, &self.pose(&other, time)) {
                largest[joint] = distance.max(largest[joint]);
            }
        }
        largest
    }

    /// The largest displacement by other tracks, at the times of the final check.
    pub fn worst(&self, tracks: &[Track]) -> Displacement {
        let other = Clip { tracks: tracks.to_vec(), ..self.joint_clip.clone() };
        let mut worst = Displacement::default();
        for &time in &self.times {
            let (original, moved) = (self.pose(&self.joint_clip, time), self.pose(&other, time));
            for (joint, distance) in self.distances(&original, &moved) {
                if distance > worst.distance {
                    worst = Displacement { distance, joint, time };
                }
            }
        }
        worst
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

/// The times to measure: all key times and times between them, evenly thinned to about `most`.
///
/// Each interval between neighbouring key times is divided into quarters. The error of linear interpolation is largest at key
/// times. The errors of splines, of easings, and of a yaw that root motion removes can be larger between them: then each
/// interval is divided into sixteenths.
fn times(clip: &Clip, most: usize) -> Vec<f64> {
    let curves = || clip.tracks.iter().map(|track| &track.curve);
    let mut keys: Vec<f64> = curves().flat_map(|curve| curve.timeline().times()).map(|&time| clip.keep(time)).collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    let removes_yaw = clip.root_motion.is_some_and(|root| root.rotation == RootRotation::Yaw);
    let parts = if removes_yaw || curves().any(is_not_linear) { 16 } else { 4 };
    let mut times = keys.clone();
    for gap in keys.windows(2) {
        times.extend((1..parts).map(|part| gap[0] + f64::from(part) / f64::from(parts) * (gap[1] - gap[0])));
    }
    times.sort_by(f64::total_cmp);
    let stride = times.len().div_ceil(most.max(8)).max(1);
    times.into_iter().step_by(stride).collect()
}

/// Returns true if a curve has splines or easings between its keys.
fn is_not_linear(curve: &Curve) -> bool {
    let mut keys = 0..curve.timeline().len() - 1;
    curve.interpolation() == Interpolation::CubicSpline || keys.any(|key| !curve.easing_at(key).is_linear())
}
