//! How far the keys of a track may be off, so that what hangs on its joint stays within a bound.

use crate::compress::displacement::Original;
use crate::model::{Clip, Curve, Interpolation, Target, Track};
use crate::reference::ease::ease;

/// How joints pass errors on, in one clip.
pub struct ErrorPropagation {
    /// The largest distance from each joint to what turns with it, with the shell.
    reach: Vec<f64>,
    /// By how much what is above each joint stretches it.
    stretch: Vec<f64>,
    /// The most moving tracks from a root to a leaf that go through each joint.
    shared: Vec<f64>,
    parents: Vec<Option<usize>>,
}

impl ErrorPropagation {
    /// The levers of a clip, over some of its poses. Joints that make up for what is above them do not turn with it.
    pub fn new(original: &Original, clip: &Clip, corrects: &[bool]) -> Self {
        let shell = original.shell();
        let joints = original.skeleton().joints();
        let parents: Vec<Option<usize>> = joints.iter().map(|joint| joint.parent).collect();
        let (mut reach, mut stretch) = (vec![shell; joints.len()], vec![0.0_f64; joints.len()]);
        for pose in original.poses() {
            for (joint, matrix) in pose.iter().enumerate() {
                let place = matrix.translation;
                let mut above = parents[joint];
                if let Some(parent) = above {
                    let axes = pose[parent].matrix3;
                    let longest = [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| axis.length());
                    stretch[joint] = longest.into_iter().fold(stretch[joint], f64::max);
                } else {
                    stretch[joint] = 1.0;
                }
                while let Some(ancestor) = above {
                    let shell = if corrects[joint] { 0.0 } else { shell };
                    reach[ancestor] = reach[ancestor].max(place.distance(pose[ancestor].translation) + shell);
                    above = parents[ancestor].filter(|_| !corrects[ancestor]);
                }
            }
        }
        let mut own = vec![0.0; joints.len()];
        for track in clip.tracks.iter().filter(|track| !track.curve.is_constant()) {
            if let Some(joint) = joint_of(track.target) {
                own[joint] += 1.0;
            }
        }
        Self { reach, stretch, shared: shared(&parents, &own), parents }
    }

    /// How far the numbers of a track's keys may be off for points to be displaced by about a distance in all.
    pub fn tolerance(&self, track: &Track, distance: f64) -> f64 {
        let Some(joint) = joint_of(track.target) else { return distance };
        let share = distance / self.shared[joint].max(1.0).sqrt() / lever(&track.curve);
        let turned = share / self.reach[joint];
        match track.target {
            // Half the angle is the distance between unit quaternions.
            Target::Rotation(_) => 0.5 * turned,
            Target::EulerAngles(_) => turned.to_degrees(),
            Target::Scale(_) => {
                let keys = 0..track.curve.timeline().len();
                let largest = keys.flat_map(|key| track.curve.value(key)).fold(0.0, |most: f64, x| most.max(x.abs()));
                turned * largest
            }
            _ => share / self.stretch[joint].max(f64::MIN_POSITIVE),
        }
    }

    /// A joint and all above it.
    pub fn chain(&self, joint: usize) -> Vec<usize> {
        std::iter::successors(Some(joint), |&joint| self.parents[joint]).collect()
    }

    /// For each joint the largest of some errors of those that hang on it, and of its own.
    pub fn below(&self, errors: &[f64]) -> Vec<f64> {
        let mut below = errors.to_vec();
        for joint in (0..below.len()).rev() {
            if let Some(parent) = self.parents[joint] {
                below[parent] = below[parent].max(below[joint]);
            }
        }
        below
    }
}

/// The joint that a target is of.
pub fn joint_of(target: Target) -> Option<usize> {
    match target {
        Target::Translation(joint) | Target::Rotation(joint) | Target::Scale(joint) | Target::EulerAngles(joint) => {
            Some(joint)
        }
        Target::Weights(_) | Target::Property(_) => None,
    }
}

/// For each joint how many there are from its root to the farthest leaf below it, counted by their own.
fn shared(parents: &[Option<usize>], own: &[f64]) -> Vec<f64> {
    let mut above = own.to_vec();
    for joint in 0..own.len() {
        above[joint] += parents[joint].map_or(0.0, |parent| above[parent]);
    }
    let mut through = above;
    for joint in (0..own.len()).rev() {
        if let Some(parent) = parents[joint] {
            through[parent] = through[parent].max(through[joint]);
        }
    }
    through
}

/// By how much a curve can magnify the errors of its keys: by its easings, where they go beyond the keys.
pub fn lever(curve: &Curve) -> f64 {
    let mut most = 1.0_f64;
    let mut last = None;
    for key in 0..curve.timeline().len() - 1 {
        let easing = curve.easing_at(key);
        if easing.is_linear() || last == Some(easing) {
            continue;
        }
        last = Some(easing);
        let fractions = (0..=32).map(|step| ease(easing, f64::from(step) / 32.0));
        most = fractions.fold(most, |most, fraction| most.max(fraction.abs() + (1.0 - fraction).abs()));
    }
    if curve.interpolation() == Interpolation::CubicSpline { most.powi(3) } else { most }
}
