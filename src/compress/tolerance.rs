//! Error propagation: derives the tolerance of each track from the error bound on displacements.
//!
//! An error of a joint's rotation displaces all points that turn with the joint, by the error times their distance. The
//! tolerance of a track therefore follows from the distance of the farthest such point. Errors of independent tracks
//! add up like random numbers: the bound is divided by the square root of the number of moving tracks from the root to
//! the farthest leaf through the joint.

use crate::compress::compensation::JointTracks;
use crate::compress::displacement::{Original, largest_number};
use crate::model::{Clip, Curve, Interpolation, Target, Track};
use crate::reference::ease::ease;

/// The factors by which the joints of a clip pass errors on.
pub struct ErrorPropagation {
    /// For each joint the largest distance to a point that turns with it, with the shell.
    reach: Vec<f64>,
    /// For each joint the largest scale that its parent applies to it.
    stretch: Vec<f64>,
    /// For each joint the most moving tracks on a path from its root through it to a leaf.
    tracks_on_path: Vec<f64>,
    parents: Vec<Option<usize>>,
}

impl ErrorPropagation {
    /// The propagation in some poses of a clip. Joints that compensate the errors of their ancestors do not turn with
    /// them, or are not displaced by them.
    pub fn new(original: &Original, clip: &Clip, tracks: &[JointTracks]) -> Self {
        let shell = original.shell();
        let joints = original.skeleton().joints();
        let parents: Vec<Option<usize>> = joints.iter().map(|joint| joint.parent).collect();
        let (mut reach, mut stretch) = (vec![shell; joints.len()], vec![0.0_f64; joints.len()]);
        for pose in original.poses() {
            for (joint, matrix) in pose.iter().enumerate() {
                let mut next = parents[joint];
                if let Some(parent) = next {
                    let axes = pose[parent].matrix3;
                    let lengths = [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| axis.length());
                    stretch[joint] = lengths.into_iter().fold(stretch[joint], f64::max);
                } else {
                    stretch[joint] = 1.0;
                }
                while let Some(ancestor) = next {
                    let JointTracks { turns, places, .. } = tracks[joint];
                    let shell = if turns { 0.0 } else { shell };
                    let distance = if places { 0.0 } else { matrix.translation.distance(pose[ancestor].translation) };
                    reach[ancestor] = reach[ancestor].max(distance + shell);
                    next = parents[ancestor].filter(|_| !tracks[ancestor].turns);
                }
            }
        }
        let mut moving_tracks = vec![0.0; joints.len()];
        for track in clip.tracks.iter().filter(|track| !track.curve.is_constant()) {
            if let Some(joint) = joint_of(track.target) {
                moving_tracks[joint] += 1.0;
            }
        }
        Self { reach, stretch, tracks_on_path: tracks_on_path(&parents, &moving_tracks, tracks), parents }
    }

    /// The largest error of the numbers of a track's keys at which all tracks together displace points by about
    /// `distance`. For translations in units, for quaternions as a distance between unit quaternions, for Euler angles
    /// in degrees, for scales as a difference of the numbers.
    pub fn tolerance(&self, track: &Track, distance: f64) -> f64 {
        let Some(joint) = joint_of(track.target) else { return distance };
        let share = distance / self.tracks_on_path[joint].max(1.0).sqrt() / easing_gain(&track.curve);
        let angle = share / self.reach[joint];
        match track.target {
            // The distance between unit quaternions is half the angle.
            Target::Rotation(_) => 0.5 * angle,
            Target::EulerAngles(_) => angle.to_degrees(),
            Target::Scale(_) => angle * largest_number(&track.curve),
            _ => share / self.stretch[joint].max(f64::MIN_POSITIVE),
        }
    }

    /// A joint and all its ancestors.
    pub fn chain(&self, joint: usize) -> Vec<usize> {
        std::iter::successors(Some(joint), |&joint| self.parents[joint]).collect()
    }

    /// For each joint the largest error of the joint and of all joints below it.
    pub fn largest_below(&self, errors: &[f64]) -> Vec<f64> {
        let mut largest = errors.to_vec();
        for joint in (0..largest.len()).rev() {
            if let Some(parent) = self.parents[joint] {
                largest[parent] = largest[parent].max(largest[joint]);
            }
        }
        largest
    }
}

/// The joint of a target; `None` for morph weights and properties.
pub fn joint_of(target: Target) -> Option<usize> {
    match target {
        Target::Translation(joint) | Target::Rotation(joint) | Target::Scale(joint) | Target::EulerAngles(joint) => {
            Some(joint)
        }
        Target::Weights(_) | Target::Property(_) => None,
    }
}

/// For each joint the most moving tracks on a path from its root through it to a leaf. A joint that compensates all
/// errors of its ancestors begins a path of its own.
fn tracks_on_path(parents: &[Option<usize>], moving_tracks: &[f64], tracks: &[JointTracks]) -> Vec<f64> {
    let begins = |joint: usize| tracks[joint].turns && tracks[joint].places;
    let parent = |joint: usize| parents[joint].filter(|_| !begins(joint));
    let mut from_root = moving_tracks.to_vec();
    for joint in 0..moving_tracks.len() {
        from_root[joint] += parent(joint).map_or(0.0, |parent| from_root[parent]);
    }
    let mut through = from_root;
    for joint in (0..moving_tracks.len()).rev() {
        if let Some(parent) = parent(joint) {
            through[parent] = through[parent].max(through[joint]);
        }
    }
    through
}

/// The largest factor by which a curve's easings magnify the errors of its keys: above 1 if an easing overshoots.
pub fn easing_gain(curve: &Curve) -> f64 {
    let mut gain = 1.0_f64;
    let mut last = None;
    for key in 0..curve.timeline().len() - 1 {
        let easing = curve.easing_at(key);
        if easing.is_linear() || last == Some(easing) {
            continue;
        }
        last = Some(easing);
        let fractions = (0..=32).map(|step| ease(easing, f64::from(step) / 32.0));
        gain = fractions.fold(gain, |gain, fraction| gain.max(fraction.abs() + (1.0 - fraction).abs()));
    }
    if curve.interpolation() == Interpolation::CubicSpline { gain.powi(3) } else { gain }
}
