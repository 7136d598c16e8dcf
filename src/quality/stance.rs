//! How a clip stands: the feet of its skeleton, which way is up, and the ground under the feet.
//!
//! Poses of the clip are looked at before its frames, evenly spaced and at most 513 of them, so that memory does not
//! grow with the clip. They give the up axis and the ground by the rules of retargeting, and two things more:
//!
//! * **Standing heights.** An ankle stands some centimetres above the ground, a joint of the toes less. The standing
//!   height of such a joint is the height above the ground that it falls below in a tenth of the poses, from 0 to a
//!   fifth of a leg. Heights of feet are measured from there.
//! * **The velocity of the ground.** Clips of games often walk on the spot: the hips stay, and the feet on the ground
//!   move back evenly. If the hips do not travel, a foot is low in a fifth of the poses or more, and more than half of
//!   the velocities of low feet agree, the ground moves with their median, as a treadmill does. Speeds of feet
//!   are relative to it. Feet that move unevenly on the spot have a ground that rests, and hardly any contacts.

use std::ops::Range;

use glam::{DAffine3, DVec3};

use crate::compress::bound::rig_size;
use crate::error::Error;
use crate::model::{ClipId, Library, is_usable, no_such};
use crate::reference::values::{Values, model_matrices};
use crate::retarget::body::Foot;
use crate::retarget::body::{Body, Figure};
use crate::retarget::joint_map::are_joints;
use crate::retarget::motion::SourceMotion;
use crate::retarget::root::{MAX_ABOVE_GROUND, MIN_ON_ORIGIN, SHARE_BELOW_GROUND};

/// Poses per second that are looked at, and the fewest and the most of a clip.
const POSES_PER_SECOND: f64 = 20.0;
const MIN_POSES: f64 = 32.0;
const MAX_POSES: f64 = 512.0;
/// The time over which a velocity is measured, in seconds.
const VELOCITY_STEP: f64 = 1.0 / 60.0;
/// The share of the poses in which a joint of a foot is lower than its standing height.
const STANDING_SHARE: f64 = 0.1;
/// The largest standing height, in leg lengths.
const MAX_STANDING: f64 = 0.2;
/// The height above the standing height up to which a foot is low, in leg lengths.
const LOW: f64 = 0.05;
/// The largest speed of hips that do not travel, from the first to the last pose, in leg lengths per second.
const MAX_TRAVEL: f64 = 0.2;
/// The least speed of a ground that moves, in leg lengths per second.
const MIN_GROUND_SPEED: f64 = 0.5;
/// The smallest share of poses with a low foot that tell of a ground that moves.
const MIN_LOW: f64 = 0.2;
/// The largest distance of a velocity that agrees with the velocity of the ground, as a share of its speed.
const AGREEMENT: f64 = 0.5;

/// Where the ground is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum GroundLevel {
    /// At height 0 if the lowest point of the feet is within a tenth of a leg of it in a tenth of the poses or more,
    /// else at the height that the feet fall below in a fiftieth of the poses.
    #[default]
    Auto,
    /// At this height along the up axis, in the unit of the rig.
    At(f64),
}

/// The feet of a skeleton, and the ground on which a clip stands. It is the frame of reference of all measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Stance {
    /// The feet, the left one first. Empty if they are not known.
    pub feet: Vec<Foot>,
    /// The joints of the body: the joints that skins name and the joints between them, or all without skins.
    pub body: Vec<bool>,
    /// The unit of lengths of the measures: the length of a leg, or the size of the rig where legs are not known: the
    /// largest distance of a joint from the first one at rest. More than 0.
    pub unit: f64,
    /// The direction that is up, of length 1: +Y, unless the poses of the clip tell another axis.
    pub up: DVec3,
    /// The height of the ground along it.
    pub ground: f64,
    /// The velocity of the ground, per second: 0 unless the clip walks on the spot.
    pub ground_velocity: DVec3,
    /// The standing heights of the [`points`](Foot::points) of each foot above the ground.
    pub(crate) standing: Vec<Vec<f64>>,
}

/// The largest distance of a place from the first one. Unlike the size of a rig, it does not depend on where a file
/// begins. `None` unless it is more than 0.
fn reach(places: &[DAffine3]) -> Option<f64> {
    let first = places.first()?.translation;
    let distances = places.iter().map(|place| place.translation.distance(first));
    Some(distances.fold(0.0, f64::max)).filter(|reach| *reach > 0.0)
}

/// What is looked at in a pose.
struct Look {
    /// The place of the hips.
    hips: DVec3,
    /// The places and velocities of the points of the feet, foot after foot.
    points: Vec<[DVec3; 2]>,
}

impl Stance {
    /// The stance of a clip of a library.
    ///
    /// # Errors
    /// [`Error::Usage`] if the clip does not exist, or the height of the ground is not finite.
    pub fn of_clip(library: &Library, clip: ClipId, ground: GroundLevel) -> Result<Self, Error> {
        Self::of(library, clip, ground, None)
    }

    /// The stance of a part of a clip, between two times of the clip in seconds. The up axis, the ground and the
    /// standing heights are taken from the whole clip, which tells more of them. The velocity of the ground is the
    /// velocity of the part.
    ///
    /// # Errors
    /// The errors of [`of_clip`](Self::of_clip), and [`Error::Usage`] if the times are not finite or not in order.
    pub fn of_part(library: &Library, clip: ClipId, ground: GroundLevel, part: Range<f64>) -> Result<Self, Error> {
        if !(is_usable(part.start) && is_usable(part.end) && part.start <= part.end) {
            let Range { start, end } = part;
            return Err(Error::Usage(format!("a part from {start} s to {end} s: expected finite times in order")));
        }
        Self::of(library, clip, ground, Some(part))
    }

    fn of(library: &Library, clip: ClipId, ground: GroundLevel, part: Option<Range<f64>>) -> Result<Self, Error> {
        let Some(found) = library.clips().get(clip.index()) else {
            return Err(Error::Usage(no_such("clip", clip.index(), "library", library.clips().len())));
        };
        if let GroundLevel::At(height) = ground
            && !is_usable(height)
        {
            return Err(Error::Usage(format!("the height of the ground is {height}; expected a finite number")));
        }
        let skeleton = library.skeleton(found.skeleton);
        let are_joints = are_joints(library, found.skeleton);
        let body = Body::new(skeleton, &are_joints);
        let rest = model_matrices(skeleton, &Values::at_rest(skeleton).local);
        let feet = Foot::of_body(library, found.skeleton, &body);
        let leg = Figure::new(&body, &rest).leg().filter(|_| !feet.is_empty());
        let fixed = match ground {
            GroundLevel::Auto => None,
            GroundLevel::At(height) => Some(height),
        };
        let mut stance = Self {
            feet,
            body: are_joints,
            unit: leg.unwrap_or_else(|| reach(&rest).unwrap_or_else(|| rig_size(skeleton))),
            up: DVec3::Y,
            ground: fixed.unwrap_or(0.0),
            ground_velocity: DVec3::ZERO,
            standing: Vec::new(),
        };
        let (Some(leg), Some(hips)) = (leg, body.joint("hips")) else { return Ok(stance) };
        let motion = SourceMotion::new(library, skeleton, &body, &[clip]);
        stance.up = motion.up().unwrap_or(DVec3::Y);
        let is_on_origin = motion.share_on_origin(clip, stance.up, MAX_ABOVE_GROUND * leg) >= MIN_ON_ORIGIN;
        let lowest = motion.lowest_foot(clip, stance.up, SHARE_BELOW_GROUND).filter(|_| !is_on_origin);
        stance.ground = fixed.or(lowest).unwrap_or(0.0);
        let whole = 0.0..found.duration();
        let looks = stance.look(library, clip, &whole, hips);
        stance.stand(&looks);
        let (part, looks) = match part {
            Some(part) => (part.clone(), stance.look(library, clip, &part, hips)),
            None => (whole, looks),
        };
        stance.ground_velocity = stance.velocity_of_ground(&looks, part.end - part.start).unwrap_or(DVec3::ZERO);
        Ok(stance)
    }

    /// The height of a place above the ground.
    pub fn height(&self, place: DVec3) -> f64 {
        place.dot(self.up) - self.ground
    }

    /// The horizontal part of a vector.
    pub fn horizontal(&self, vector: DVec3) -> DVec3 {
        vector - vector.dot(self.up) * self.up
    }

    /// Looks at evenly spaced poses of a part of a clip.
    fn look(&self, library: &Library, clip: ClipId, part: &Range<f64>, hips: usize) -> Vec<Look> {
        let clip = library.clip(clip);
        let skeleton = library.skeleton(clip.skeleton);
        let points: Vec<usize> = self.feet.iter().flat_map(Foot::points).collect();
        let places = |time: f64| -> Vec<DVec3> {
            let matrices = model_matrices(skeleton, &Values::sampled(library, clip, time).local);
            std::iter::once(hips).chain(points.iter().copied()).map(|joint| matrices[joint].translation).collect()
        };
        let (start, end) = (part.start, part.end);
        let count = ((end - start) * POSES_PER_SECOND).clamp(MIN_POSES, MAX_POSES).floor();
        let look = |pose: usize| {
            let time = start + (end - start) * pose as f64 / count;
            let (before, after) = ((time - 0.5 * VELOCITY_STEP).max(start), (time + 0.5 * VELOCITY_STEP).min(end));
            let (from, to) = (places(before), places(after));
            let rate = if after > before { 1.0 / (after - before) } else { 0.0 };
            let pair = |point: usize| [0.5 * (from[point] + to[point]), rate * (to[point] - from[point])];
            Look { hips: pair(0)[0], points: (1..from.len()).map(pair).collect() }
        };
        (0..=count as usize).map(look).collect()
    }

    /// Finds the standing heights.
    fn stand(&mut self, looks: &[Look]) {
        let mut point = 0;
        let mut standing = Vec::with_capacity(self.feet.len());
        for foot in &self.feet {
            let of_foot = foot.points().map(|_| {
                let heights = looks.iter().map(|look| self.height(look.points[point][0]));
                let mut heights: Vec<f64> = heights.filter(|height| height.is_finite()).collect();
                heights.sort_by(f64::total_cmp);
                point += 1;
                let height = heights.get((STANDING_SHARE * heights.len() as f64) as usize).copied();
                height.unwrap_or(0.0).clamp(0.0, MAX_STANDING * self.unit)
            });
            standing.push(of_foot.collect());
        }
        self.standing = standing;
    }

    /// The velocity of the ground under a clip that walks on the spot. `None` for other clips.
    fn velocity_of_ground(&self, looks: &[Look], duration: f64) -> Option<DVec3> {
        let travel = self.horizontal(looks.last()?.hips - looks.first()?.hips).length();
        if duration <= 0.0 || travel > MAX_TRAVEL * self.unit * duration {
            return None;
        }
        let standing: Vec<f64> = self.standing.iter().flatten().copied().collect();
        let is_low = |place: DVec3, standing: f64| self.height(place) - standing <= LOW * self.unit;
        let (mut velocities, mut poses): (Vec<DVec3>, usize) = (Vec::new(), 0);
        for look in looks {
            let before = velocities.len();
            let points = look.points.iter().zip(&standing);
            let low = points.filter(|([place, _], standing)| is_low(*place, **standing));
            velocities.extend(low.map(|([_, velocity], _)| self.horizontal(*velocity)));
            poses += usize::from(velocities.len() > before);
        }
        if (poses as f64) < MIN_LOW * looks.len() as f64 {
            return None;
        }
        let median = DVec3::from_array(std::array::from_fn(|axis| {
            let mut numbers: Vec<f64> = velocities.iter().map(|velocity| velocity[axis]).collect();
            numbers.sort_by(f64::total_cmp);
            numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
        }));
        let speed = median.length();
        let agreeing = velocities.iter().filter(|velocity| velocity.distance(median) <= AGREEMENT * speed).count();
        (speed >= MIN_GROUND_SPEED * self.unit && 2 * agreeing > velocities.len()).then_some(median)
    }
}
