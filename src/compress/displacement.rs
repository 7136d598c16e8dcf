//! How far two versions of a clip are apart, in `f64`.

use glam::{DAffine3, DVec3};

use crate::compress::ErrorBound;
use crate::compress::bound::rig_size;
use crate::model::{Clip, Curve, Interpolation, Library, RootRotation, Skeleton, Target, Track};
use crate::reference::hierarchy;
use crate::reference::values::Values;

/// Joints times times that are compared while tolerances are sought, and in the end.
const SEARCHED: usize = 1 << 16;
const CHECKED: usize = 1 << 21;

/// A displacement, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Displacement {
    /// In the rig's units.
    pub distance: f64,
    /// Index of the joint.
    pub joint: usize,
    /// Seconds of the clip.
    pub time: f64,
}

/// A clip as it was, at enough times to compare another version with.
pub struct Original<'a> {
    library: &'a Library,
    clip: &'a Clip,
    /// The clip with the tracks of joints alone.
    moving: Clip,
    /// How far points may be displaced, and that as a share of the rig's size.
    bound: f64,
    share: f64,
    shell: f64,
    /// All times that count, and how many of them are passed over from one pose to the next.
    times: Vec<f64>,
    stride: usize,
    /// What is posed at the times that are searched.
    poses: Vec<Vec<DAffine3>>,
}

impl<'a> Original<'a> {
    /// A clip, and how far others may be from it.
    pub fn new(library: &'a Library, clip: &'a Clip, bound: ErrorBound) -> Self {
        let size = rig_size(library.skeleton(clip.skeleton));
        let (shell, bound) = (bound.shell.of(size), bound.error.of(size));
        let joints = library.skeleton(clip.skeleton).joints().len().max(1);
        let times = times(clip, CHECKED / joints);
        let moving = only_joints(clip);
        let stride = times.len().div_ceil((SEARCHED / joints).max(8)).max(1);
        let share = bound / size;
        let mut original = Self { library, clip, moving, bound, share, shell, times, stride, poses: Vec::new() };
        original.poses =
            original.times.iter().step_by(stride).map(|&time| original.pose(&original.moving, time)).collect();
        original
    }

    /// The tracks.
    pub fn tracks(&self) -> &'a [Track] {
        &self.clip.tracks
    }

    /// How far points may be displaced, in the rig's units.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The same as a share of the rig's size.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// How far those points are from their joint.
    pub fn shell(&self) -> f64 {
        self.shell
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &'a Skeleton {
        self.library.skeleton(self.clip.skeleton)
    }

    /// Some of the poses: model matrices of all joints.
    pub fn poses(&self) -> impl Iterator<Item = &[DAffine3]> {
        let joints = self.skeleton().joints().len();
        self.poses.iter().step_by(self.poses.len().div_ceil(16).max(1)).map(move |pose| &pose[..joints])
    }

    /// For each joint how far other tracks move it, or a point of its shell, at the most.
    pub fn by_joint(&self, tracks: &[Track]) -> Vec<f64> {
        let other = Clip { tracks: tracks.to_vec(), ..self.moving.clone() };
        let mut most = vec![0.0; self.skeleton().joints().len()];
        for (original, &time) in self.poses.iter().zip(self.times.iter().step_by(self.stride)) {
            for (joint, distance) in self.distances(original, &self.pose(&other, time)) {
                most[joint] = distance.max(most[joint]);
            }
        }
        most
    }

    /// The largest displacement by other tracks at all times that count.
    pub fn worst(&self, tracks: &[Track]) -> Displacement {
        let other = Clip { tracks: tracks.to_vec(), ..self.moving.clone() };
        let mut worst = Displacement::default();
        for &time in &self.times {
            let (original, moved) = (self.pose(&self.moving, time), self.pose(&other, time));
            for (joint, distance) in self.distances(&original, &moved) {
                if distance > worst.distance {
                    worst = Displacement { distance, joint, time };
                }
            }
        }
        worst
    }

    /// Model matrices of all joints and, where a root joint moves the instance, again without that movement, as engines pose
    /// them: it is taken out by a turn that can hang on the last digits of the joint's rotation.
    fn pose(&self, clip: &Clip, time: f64) -> Vec<DAffine3> {
        let time = clip.keep(time);
        let mut pose = hierarchy::model(self.skeleton(), &Values::sampled(self.library, clip, time).local);
        if clip.root_motion.is_some() {
            pose.extend(hierarchy::model(self.skeleton(), &Values::of_clip(self.library, clip, time).local));
        }
        pose
    }

    /// Joints, each perhaps more than once, and how far they are displaced from pose to pose.
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

/// Whether a track moves a joint.
pub fn is_of_joint(track: &Track) -> bool {
    !matches!(track.target, Target::Weights(_) | Target::Property(_))
}

/// A clip with the tracks of joints alone.
fn only_joints(clip: &Clip) -> Clip {
    let tracks = clip.tracks.iter().filter(|track| is_of_joint(track)).cloned().collect();
    Clip { tracks, events: Vec::new(), ..clip.clone() }
}

/// All key times and what lies between them, evenly chosen where there are more than so many.
///
/// Between neighbouring key times the errors of straight ways are at most what they are at these, and quarters are looked at
/// besides; those of curves and easings may be larger in between, and so may those of a twist that is taken out of a
/// rotation: there sixteenths are.
fn times(clip: &Clip, most: usize) -> Vec<f64> {
    let curves = || clip.tracks.iter().map(|track| &track.curve);
    let mut keys: Vec<f64> = curves().flat_map(|curve| curve.timeline().times()).map(|&time| clip.keep(time)).collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    let twisted = clip.root_motion.is_some_and(|root| root.rotation == RootRotation::Yaw);
    let parts = if twisted || curves().any(is_bent) { 16 } else { 4 };
    let mut times = keys.clone();
    for gap in keys.windows(2) {
        times.extend((1..parts).map(|part| gap[0] + f64::from(part) / f64::from(parts) * (gap[1] - gap[0])));
    }
    times.sort_by(f64::total_cmp);
    let stride = times.len().div_ceil(most.max(8)).max(1);
    times.into_iter().step_by(stride).collect()
}

/// Whether the way from key to key is anything but straight.
fn is_bent(curve: &Curve) -> bool {
    let mut keys = 0..curve.timeline().len() - 1;
    curve.interpolation() == Interpolation::CubicSpline || keys.any(|key| !curve.easing_at(key).is_linear())
}
