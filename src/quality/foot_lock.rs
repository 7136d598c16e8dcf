//! Foot locking: feet in contact are held where they are, by goals of inverse kinematics.
//!
//! After Kovar, Schreiner and Gleicher, Footskate cleanup for motion capture editing (SCA 2002), with the two-bone
//! goals of crowds in place of their own solver. In a contact, the pivot of a foot (its toe) is moved sideways onto the
//! mean of its places, and the ankle with it: the foot keeps its rotation and its height, so that it still rolls. The
//! mean is the place that asks for the least changes. Before and after a contact, the offset of its first or last frame
//! is blended in and out.
//!
//! A leg is never stretched: an offset that would take the ankle farther from the hip than 0.995 of the leg is cut
//! there, so that knees do not snap straight. What is cut still slides.

use glam::{DAffine3, DVec3};

use crate::error::Error;
use crate::model::{Chain, ChainId, ChainKind, ClipId, Goal, GoalTarget, GoalWeight, Library, SkeletonId};
use crate::quality::contacts::FootContacts;
use crate::quality::stance::Stance;
use crate::reference::values::{Values, model_matrices};
use crate::retarget::feet::Foot;

/// The seconds of blending before and after a contact.
const BLEND: f64 = 0.1;
/// The largest distance of an ankle from its hip, as a share of the lengths of both bones.
const MAX_REACH: f64 = 0.995;

/// Holds the feet of a clip in contact where they are.
///
/// # Examples
/// ```
/// use posse::quality::{FootLock, GroundLevel, MotionQuality, Stance};
/// use posse::{Crowd, Layer, LayerTime, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let mut library = demo::library()?;
/// let clip = library.find_clip("idle").expect("the demo stands");
/// let skeleton = library.clip(clip).skeleton;
/// // Engines are made after the chains.
/// let chains = FootLock::add_chains(&mut library, skeleton)?;
/// let stance = Stance::of_clip(&library, clip, GroundLevel::Auto)?;
/// let (_, contacts) = MotionQuality::of_clip(&library, clip, 60.0, GroundLevel::Auto)?;
/// let lock = FootLock::new(clip, chains, stance, contacts);
///
/// let mut crowd = Crowd::new();
/// let instance = crowd.push(skeleton, &[Layer::new(clip, LayerTime::At(0.5))])?;
/// crowd.set_goals(instance, lock.goals(&library, 0.5))?;
/// assert_eq!(crowd.goals(instance).len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FootLock {
    clip: ClipId,
    chains: Vec<ChainId>,
    stance: Stance,
    contacts: FootContacts,
    /// The time of the clip in the first frame of the contacts.
    start: f64,
}

/// The hold of a foot at a time.
struct Hold {
    /// The sideways offset of the ankle.
    offset: DVec3,
    /// From 0 to 1.
    weight: f64,
}

impl FootLock {
    /// Adds a chain per foot to a library, the left one first: hip, knee and ankle, with a foot that keeps its
    /// rotation. None without known feet. Engines that are to hold feet must be made after it.
    ///
    /// # Errors
    /// [`Error::Usage`] if a joint of a leg is given by a matrix.
    ///
    /// # Panics
    /// If the skeleton does not exist.
    pub fn add_chains(library: &mut Library, skeleton: SkeletonId) -> Result<Vec<ChainId>, Error> {
        let feet = Foot::of_skeleton(library, skeleton);
        let add = |foot: Foot| {
            let kind = ChainKind::TwoBone { joints: foot.leg, pole: None, hold: true };
            library.add_chain(Chain { name: Some(format!("{} leg", foot.side)), skeleton, kind })
        };
        feet.into_iter().map(add).collect()
    }

    /// The lock of a clip. `chains` are those of [`add_chains`](Self::add_chains) for its skeleton, `stance` and
    /// `contacts` those of the clip.
    pub fn new(clip: ClipId, chains: Vec<ChainId>, stance: Stance, contacts: FootContacts) -> Self {
        Self { clip, chains, stance, contacts, start: 0.0 }
    }

    /// The lock of a part of the clip, whose contacts begin with the frame at this time of the clip in seconds. Feet in
    /// contact in the first or the last frame stay so before and after.
    #[must_use]
    pub fn starting_at(self, start: f64) -> Self {
        Self { start, ..self }
    }

    /// The goals at a time of the clip in seconds, from the pose of the clip in the library: one per foot that is in
    /// contact or near to it. None for a clip whose root joint moves the instance, because its poses lack that
    /// movement.
    ///
    /// # Panics
    /// If the clip is not in the library.
    pub fn goals(&self, library: &Library, time: f64) -> Vec<Goal> {
        let clip = library.clip(self.clip);
        let since = time - self.start;
        let is_near = |foot: usize| self.nearest(foot, since).is_some();
        if clip.root_motion.is_some() || !(0..self.chains.len()).any(is_near) {
            return Vec::new();
        }
        let matrices = model_matrices(library.skeleton(clip.skeleton), &Values::sampled(library, clip, time).local);
        let feet = self.stance.feet.iter().zip(&self.chains).enumerate();
        let goals = feet.filter_map(|(index, (foot, &chain))| {
            let Hold { offset, weight } = self.hold(index, foot, &matrices, since)?;
            let target = matrices[foot.leg[2]].translation + offset;
            let weight = GoalWeight::Fixed(weight);
            Some(Goal { chain, target: GoalTarget::Point(target.to_array()), weight })
        });
        goals.collect()
    }

    /// A time since the first frame of the contacts, from 0 to that of the last frame.
    fn clamped(&self, since: f64) -> f64 {
        since.min(self.contacts.frames().saturating_sub(1) as f64 / self.contacts.fps()).max(0.0)
    }

    /// The contact of a foot at a time since the first frame or nearest to it, with its weight: 1 in the contact, less
    /// before and after it.
    fn nearest(&self, foot: usize, since: f64) -> Option<(usize, f64)> {
        let contacts = self.contacts.of_foot(foot);
        let (fps, time) = (self.contacts.fps(), self.clamped(since));
        let distance = |index: usize| {
            let frames = &contacts[index].frames;
            let (from, to) = (frames.start as f64 / fps, frames.end.saturating_sub(1) as f64 / fps);
            (from - time).max(time - to).max(0.0)
        };
        let next = contacts.partition_point(|contact| (contact.frames.end as f64) <= time * fps);
        let candidates = [next.checked_sub(1), Some(next).filter(|next| *next < contacts.len())].into_iter().flatten();
        let nearest = candidates.min_by(|one, other| distance(*one).total_cmp(&distance(*other)))?;
        let left = 1.0 - distance(nearest) / BLEND;
        (left > 0.0).then(|| (nearest, left * left * (3.0 - 2.0 * left)))
    }

    /// The hold of a foot in a pose, at a time since the first frame of the contacts.
    fn hold(&self, index: usize, foot: &Foot, matrices: &[DAffine3], since: f64) -> Option<Hold> {
        let (contact, weight) = self.nearest(index, since)?;
        let contact = &self.contacts.of_foot(index)[contact];
        let moved = self.stance.ground_velocity * since;
        let (fps, time) = (self.contacts.fps(), self.clamped(since));
        let pivot = if time * fps < contact.frames.start as f64 {
            contact.ends[0]
        } else if time * fps > contact.frames.end.saturating_sub(1) as f64 {
            contact.ends[1]
        } else {
            matrices[foot.pivot()].translation - moved
        };
        let offset = self.stance.horizontal(contact.place - pivot);
        let [hip, knee, ankle] = foot.leg.map(|joint| matrices[joint].translation);
        let leg = hip.distance(knee) + knee.distance(ankle);
        Some(Hold { offset: within_reach(ankle - hip, offset, MAX_REACH * leg), weight })
    }
}

/// The longest part of an offset that keeps a place within a distance of the origin, or as far as it already is.
fn within_reach(place: DVec3, offset: DVec3, reach: f64) -> DVec3 {
    let reach = reach.max(place.length());
    if (place + offset).length() <= reach {
        return offset;
    }
    // The positive root s of |place + s offset|^2 = reach^2.
    let (square, along) = (offset.length_squared(), place.dot(offset));
    let inside = (reach * reach - place.length_squared()).max(0.0);
    let root = (along * along + square * inside).sqrt();
    let share = if square > 0.0 { (root - along) / square } else { 0.0 };
    share.clamp(0.0, 1.0) * offset
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a circle of 5 around the origin, (0, 3) can go 4 to the side.
    #[test]
    fn an_offset_ends_at_the_reach() {
        let (place, side) = (DVec3::new(0.0, -3.0, 0.0), DVec3::X);
        assert_eq!(within_reach(place, 2.0 * side, 5.0), 2.0 * side);
        assert!(within_reach(place, 8.0 * side, 5.0).distance(4.0 * side) < 1e-12);
        // A leg that is longer than its reach comes no farther, but may come back.
        let far = DVec3::new(6.0, 0.0, 0.0);
        assert_eq!(within_reach(far, side, 5.0), DVec3::ZERO);
        assert_eq!(within_reach(far, -side, 5.0), -side);
    }
}
