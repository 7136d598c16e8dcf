//! Foot locking: feet in contact are held where they are, by goals of inverse kinematics.
//!
//! After Kovar, Schreiner and Gleicher, Footskate cleanup for motion capture editing (SCA 2002), with the two-bone
//! goals of crowds in place of their own solver. In a contact, the pivot of a foot (its toe) is moved sideways onto the
//! mean of its places, and the ankle with it: the foot keeps its rotation and its height, so that it still rolls. The
//! mean is the place that asks for the least changes. Before and after a contact, the offset of its first or last frame
//! is blended in and out, in half of the gap to the neighbouring contact at most: in the middle of a gap, a foot is
//! free.
//!
//! A clip is no circle here: a contact that lasts across the seam of a loop is one contact at the end of the clip and
//! another at its beginning, each held at its own mean. The held foot can jump there by the distance between both.
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

/// The most seconds of blending before and after a contact.
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
    /// contact or near to it. Times outside of the clip are moved to its ends, as its poses are. None for a
    /// clip whose root joint moves the instance, because its poses lack that movement.
    ///
    /// # Panics
    /// If the clip is not in the library.
    pub fn goals(&self, library: &Library, time: f64) -> Vec<Goal> {
        let clip = library.clip(self.clip);
        // The pose stays as it is outside of the clip, and so does the ground.
        let time = time.max(0.0).min(clip.duration());
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
    /// before and after it, and 0 in the middle between two contacts.
    fn nearest(&self, foot: usize, since: f64) -> Option<(usize, f64)> {
        let contacts = self.contacts.of_foot(foot);
        let (fps, time) = (self.contacts.fps(), self.clamped(since));
        let ends = |index: usize| {
            let frames = &contacts[index].frames;
            [frames.start as f64 / fps, frames.end.saturating_sub(1) as f64 / fps]
        };
        let distance = |index: usize| {
            let [from, to] = ends(index);
            (from - time).max(time - to).max(0.0)
        };
        let next = contacts.partition_point(|contact| (contact.frames.end as f64) <= time * fps);
        let candidates = [next.checked_sub(1), Some(next).filter(|next| *next < contacts.len())].into_iter().flatten();
        let nearest = candidates.min_by(|one, other| distance(*one).total_cmp(&distance(*other)))?;
        let [from, to] = ends(nearest);
        let gap = if time < from {
            nearest.checked_sub(1).map(|before| from - ends(before)[1])
        } else {
            Some(nearest + 1).filter(|after| *after < contacts.len()).map(|after| ends(after)[0] - to)
        };
        let blend = gap.map_or(BLEND, |gap| BLEND.min(0.5 * gap));
        let left = 1.0 - distance(nearest) / blend;
        (left > 0.0).then_some((nearest, left * left * (3.0 - 2.0 * left)))
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
    use crate::quality::contacts::{self, ContactFinder, FootPoint};

    const FPS: f64 = 60.0;
    /// The speed of a foot that slides.
    const SLIDE: f64 = 0.12;

    /// A leg that slides along X: the hip, the knee and the ankle, which is lifted by a height.
    fn sliding(time: f64, lifted: f64) -> [DAffine3; 3] {
        let joints = [DVec3::new(0.0, 0.8, 0.0), DVec3::new(0.0, 0.45, 0.2), DVec3::new(0.0, 0.1 + lifted, 0.0)];
        joints.map(|place| DAffine3::from_translation(place + SLIDE * time * DVec3::X))
    }

    /// A foot slides for 1 s, is lifted for 0.1 s, and slides again. The offsets of both contacts have opposite signs.
    #[test]
    fn a_foot_does_not_jump_between_contacts() {
        let is_lifted = |time: f64| time > 1.0 - 1e-9 && time < 1.1 - 1e-9;
        let mut finder = ContactFinder::new(0.0);
        for frame in 0..126_u32 {
            let time = f64::from(frame) / FPS;
            let height = if is_lifted(time) { 0.5 } else { 0.0 };
            finder.add(&[FootPoint { place: sliding(time, 0.0)[2].translation, height, speed: SLIDE }]);
        }
        let contacts = contacts::finish(vec![finder], FPS, 126);
        let frames: Vec<_> = contacts.of_foot(0).iter().map(|contact| contact.frames.clone()).collect();
        assert_eq!(frames, [0..60, 66..126]);

        // Neither the library nor its clip is looked at.
        let library = crate::demo::library().unwrap();
        let clip = library.find_clip("idle").unwrap();
        let foot = Foot { name: String::new(), side: "left", leg: [0, 1, 2], toe: None };
        let stance = Stance {
            feet: vec![foot.clone()],
            body: vec![true; 3],
            unit: 1.0,
            up: DVec3::Y,
            ground: 0.0,
            ground_velocity: DVec3::ZERO,
            standing: vec![vec![0.0]],
        };
        let lock = FootLock::new(clip, Vec::new(), stance, contacts);
        let ankle = |time: f64| {
            let matrices = sliding(time, if is_lifted(time) { 0.05 } else { 0.0 });
            let held = lock.hold(0, &foot, &matrices, time);
            let offset = held.map_or(DVec3::ZERO, |hold| hold.weight * hold.offset);
            matrices[2].translation.x + offset.x
        };
        // In a contact, the foot is held at its mean place.
        assert!((ankle(0.25) - ankle(0.75)).abs() < 1e-9);
        // An offset of at most 0.06 m is blended out within half of the gap of 7 frames. The steepest slope of the
        // weight is 1.5.
        let (step, half_gap) = (0.1 / FPS, 3.5 / FPS);
        let largest = (SLIDE + 1.5 * 0.06 / half_gap) * step;
        for count in 0..1250_u32 {
            let time = f64::from(count) * step;
            let length = (ankle(time + step) - ankle(time)).abs();
            assert!(length <= largest + 1e-9, "{length} m after {time} s, at most {largest} m");
        }
    }

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
