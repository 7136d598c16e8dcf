//! Foot locking: feet in contact are held where they are, by goals of inverse kinematics.
//!
//! After Kovar, Schreiner and Gleicher, Footskate cleanup for motion capture editing (SCA 2002), with the two-bone
//! goals of crowds in place of their own solver. In a contact, the pivot of a foot (its toe) is moved sideways onto the
//! mean of its places, and the ankle with it: the foot keeps its rotation and its height, so that it still rolls. The
//! mean is the place that asks for the least changes.
//!
//! As there, changes are blended into the frames before and after a contact, so that a foot in the air takes them up
//! and gives them back: the offset of the last frame of a contact fades out while the offset of the first frame of the
//! next one fades in, both over [`BLEND`] or the gap between the contacts, whichever is shorter. In a loop, the gap and
//! the contact across the seam are like any other, so that the offsets at both ends of the clip are the same.
//!
//! A leg is never stretched, as it may be in the paper. Where the hip is too far away for the ankle to reach its place
//! with 0.995 of the leg, at which knees do not snap straight, the foot is raised towards the hip, by 0.02 of a leg at
//! most: a foot that floats by a centimetre is less visible than one that slides. What is out of reach even then is
//! cut, and still slides.
//!
//! A goal of two bones does not move a straight leg: nothing tells in which plane its knee bends. Captures have such
//! legs in every step, with a knee at exactly 0 degrees. So a goal before it bends the knee by a sixth of a degree to
//! the front of the foot, or to the front of the hips if the foot points along the leg. The foot rotates with the calf.

use std::f64::consts::PI;

use glam::{DAffine3, DQuat, DVec3};

use crate::error::Error;
use crate::model::{Chain, ChainId, ChainKind, ClipId, Goal, GoalTarget, GoalWeight, Library, SkeletonId};
use crate::quality::contacts::{Contact, FootContacts};
use crate::quality::stance::Stance;
use crate::reference::inverse_kinematics::Posture;
use crate::reference::values::Values;
use crate::retarget::body::Foot;

/// The most seconds over which an offset is blended.
const BLEND: f64 = 0.2;
/// The largest distance of an ankle from its hip, as a share of the lengths of both bones.
const MAX_REACH: f64 = 0.995;
/// The largest height by which a foot is raised, in leg lengths.
const MAX_RAISE: f64 = 0.02;
/// The sine of the angle between thigh and calf below which a leg is straight. Goals of two bones do nothing below
/// 0.001.
const MAX_STRAIGHT: f64 = 0.0015;
/// The angle by which the calf of a straight leg is bent, in radians.
const BEND: f64 = 0.003;
/// The least part of a foot across its leg that tells where its front is, as a share of its length.
const MIN_AHEAD: f64 = 0.3;

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

impl FootLock {
    /// Adds two chains per foot to a library, the left one first: the knee that aims with the calf; then hip,
    /// knee and ankle, with a foot that keeps its rotation. None without known feet. Engines that are to hold feet must
    /// be made after it.
    ///
    /// # Errors
    /// [`Error::Usage`] if a joint of a leg is given by a matrix.
    ///
    /// # Panics
    /// If the skeleton does not exist.
    pub fn add_chains(library: &mut Library, skeleton: SkeletonId) -> Result<Vec<ChainId>, Error> {
        let feet = Foot::of_skeleton(library, skeleton);
        let rest = library.skeleton(skeleton);
        let rest = Posture::new(rest, Values::at_rest(rest).local);
        let calf = |foot: &Foot| {
            let [_, knee, ankle] = foot.leg;
            let calf = rest.model[ankle].translation - rest.model[knee].translation;
            (rest.rotations[knee].conjugate() * calf).to_array()
        };
        let calves: Vec<[f64; 3]> = feet.iter().map(calf).collect();
        let mut chains = Vec::with_capacity(2 * feet.len());
        for (foot, forward) in feet.into_iter().zip(calves) {
            let kinds = [
                ("calf", ChainKind::Aim { joint: foot.leg[1], forward, limit: PI }),
                ("leg", ChainKind::TwoBone { joints: foot.leg, pole: None, hold: true }),
            ];
            for (part, kind) in kinds {
                chains.push(library.add_chain(Chain {
                    name: Some(format!("{} {part}", foot.side)),
                    skeleton,
                    kind,
                })?);
            }
        }
        Ok(chains)
    }

    /// The lock of a clip. `chains` are the chains of [`add_chains`](Self::add_chains) for its skeleton, `stance` and
    /// `contacts` belong to the clip.
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
    /// contact or near to it, after one for its calf if the leg is straight. Times outside of the clip are moved to its
    /// ends, as its poses are. None for a clip whose root joint moves the instance, because its poses lack that
    /// movement.
    ///
    /// # Panics
    /// If the clip is not in the library.
    pub fn goals(&self, library: &Library, time: f64) -> Vec<Goal> {
        let clip = library.clip(self.clip);
        let has_contacts = (0..self.contacts.feet()).any(|foot| !self.contacts.of_foot(foot).is_empty());
        if clip.root_motion.is_some() || !has_contacts {
            return Vec::new();
        }
        // The pose stays as it is outside of the clip, and so does the ground.
        let time = time.max(0.0).min(clip.duration());
        let posture = Posture::new(library.skeleton(clip.skeleton), Values::sampled(library, clip, time).local);
        let goal = |chain: ChainId, target: DVec3| Goal {
            chain,
            target: GoalTarget::Point(target.to_array()),
            weight: GoalWeight::Fixed(1.0),
        };
        let mut goals = Vec::new();
        let feet = self.stance.feet.iter().zip(self.chains.as_chunks::<2>().0).enumerate();
        for (index, (foot, &[calf, leg])) in feet {
            let Some(offset) = self.offset(index, foot, &posture.model, time - self.start) else { continue };
            goals.extend(self.bent_calf(library, foot, calf, &posture).map(|target| goal(calf, target)));
            goals.push(goal(leg, posture.model[foot.leg[2]].translation + offset));
        }
        goals
    }

    /// The place to which the calf of a straight leg points after it is bent. `None` for other legs.
    fn bent_calf(&self, library: &Library, foot: &Foot, calf: ChainId, posture: &Posture) -> Option<DVec3> {
        let ChainKind::Aim { forward, .. } = library.chains()[calf.index()].kind else { return None };
        let place = |joint: usize| posture.model[joint].translation;
        let [hip, knee, ankle] = foot.leg.map(place);
        let (upper, lower) = (knee - hip, ankle - knee);
        let is_straight =
            upper.dot(lower) > 0.0 && upper.cross(lower).length() < MAX_STRAIGHT * upper.length() * lower.length();
        let leg = (ankle - hip).try_normalize().filter(|_| is_straight)?;
        let toes = foot.toe.map_or(DVec3::ZERO, |toe| place(toe) - ankle);
        let ahead = toes.reject_from_normalized(leg);
        let axis = if ahead.length() > MIN_AHEAD * toes.length() {
            ahead.cross(leg)
        } else {
            match self.stance.feet.as_slice() {
                [left, .., right] => (place(left.leg[0]) - place(right.leg[0])).reject_from_normalized(leg),
                _ => return None,
            }
        };
        let bend = DQuat::from_axis_angle(axis.try_normalize()?, BEND);
        let calf = (posture.rotations[foot.leg[1]] * DVec3::from(forward)).try_normalize()?;
        Some(knee + lower.length() * (bend * calf))
    }

    /// The offset of an ankle in a pose, at a time since the first frame of the contacts. `None` if there is none.
    fn offset(&self, index: usize, foot: &Foot, matrices: &[DAffine3], since: f64) -> Option<DVec3> {
        let pivot = matrices[foot.pivot()].translation - self.stance.ground_velocity * since;
        let wanted = self.wanted(index, pivot, since);
        let [hip, knee, ankle] = foot.leg.map(|joint| matrices[joint].translation);
        let reach = MAX_REACH * (hip.distance(knee) + knee.distance(ankle));
        let most = MAX_RAISE * self.stance.unit;
        (wanted != DVec3::ZERO).then(|| reachable(ankle - hip, wanted, reach, self.stance.up, most))
    }

    /// The horizontal offset that a foot should have, with its pivot at a place on the ground: the offset that holds it
    /// in a contact, else the sum of the offsets of the contacts before and after.
    fn wanted(&self, index: usize, pivot: DVec3, since: f64) -> DVec3 {
        let (contacts, fps) = (self.contacts.of_foot(index), self.contacts.fps());
        let duration = self.contacts.frames().saturating_sub(1) as f64 / fps;
        let time = since.min(duration).max(0.0);
        let start = |contact: &Contact| contact.frames.start as f64 / fps;
        let end = |contact: &Contact| contact.frames.end.saturating_sub(1) as f64 / fps;
        let next = contacts.partition_point(|contact| end(contact) < time);
        let (before, after) = contacts.split_at(next);
        if let Some(contact) = after.first().filter(|contact| start(contact) <= time) {
            return self.stance.horizontal(contact.place - pivot);
        }
        // In a loop, the last contact is also before the first one.
        let around = if self.contacts.is_loop() { contacts } else { &[] };
        let before = before.last().map(|contact| (contact, time - end(contact)));
        let before = before.or_else(|| around.last().map(|contact| (contact, time + duration - end(contact))));
        let after = after.first().map(|contact| (contact, start(contact) - time));
        let after = after.or_else(|| around.first().map(|contact| (contact, start(contact) + duration - time)));
        let gap = before.zip(after).map_or(BLEND, |((_, since), (_, until))| since + until);
        let blended = |contact: &Contact, end: usize, distance: f64| {
            let left = (1.0 - distance / BLEND.min(gap)).max(0.0);
            left * left * (3.0 - 2.0 * left) * self.stance.horizontal(contact.place - contact.ends[end])
        };
        before.map_or(DVec3::ZERO, |(contact, since)| blended(contact, 1, since))
            + after.map_or(DVec3::ZERO, |(contact, until)| blended(contact, 0, until))
    }
}

/// An offset that keeps a place within a distance of the origin, or as far as it already is: the wanted horizontal one,
/// and as much upward as it needs, at most a height. If that is not enough, the longest part of the wanted one.
fn reachable(place: DVec3, wanted: DVec3, reach: f64, up: DVec3, most: f64) -> DVec3 {
    let reach = reach.max(place.length());
    if (place + wanted).length() <= reach {
        return wanted;
    }
    // Below the origin, places come nearer to it as they rise, to the height of the origin at most.
    let below = -place.dot(up);
    let aside = (place + wanted).length_squared() - below * below;
    let raise = (below - (reach * reach - aside).max(0.0).sqrt()).min(most).min(below).max(0.0);
    raise * up + within_reach(place + raise * up, wanted, reach)
}

/// The longest part of an offset that keeps a place within a distance of the origin.
fn within_reach(place: DVec3, offset: DVec3, reach: f64) -> DVec3 {
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

    /// A lock of a foot that slides, and is lifted at some times. Neither the library nor its clip is looked at.
    fn lock(frames: u32, is_loop: bool, is_lifted: impl Fn(f64) -> bool) -> FootLock {
        let mut finder = ContactFinder::new(0.0);
        for frame in 0..frames {
            let time = f64::from(frame) / FPS;
            let height = if is_lifted(time) { 0.5 } else { 0.0 };
            let place = sliding(time, 0.0)[2].translation;
            finder.add(&[FootPoint { place, height, speed: SLIDE, step: SLIDE / FPS }]);
        }
        let contacts = contacts::finish(vec![finder], FPS, u64::from(frames), is_loop);
        let library = crate::demo::library().unwrap();
        let clip = library.find_clip("idle").unwrap();
        let stance = Stance {
            feet: vec![Foot { name: String::new(), side: "left", leg: [0, 1, 2], toe: None }],
            body: vec![true; 3],
            unit: 1.0,
            up: DVec3::Y,
            ground: 0.0,
            ground_velocity: DVec3::ZERO,
            standing: vec![vec![0.0]],
        };
        FootLock::new(clip, Vec::new(), stance, contacts)
    }

    fn offset(lock: &FootLock, time: f64) -> f64 {
        let offset = lock.offset(0, &lock.stance.feet[0], &sliding(time, 0.0), time);
        offset.map_or(0.0, |offset| offset.x)
    }

    /// A foot slides for 1 s, is lifted for 0.1 s, and slides again. The offsets of both contacts have opposite signs.
    #[test]
    fn a_foot_does_not_jump_between_contacts() {
        let lock = lock(126, false, |time| time > 1.0 - 1e-9 && time < 1.1 - 1e-9);
        let frames: Vec<_> = lock.contacts.of_foot(0).iter().map(|contact| contact.frames.clone()).collect();
        assert_eq!(frames, [0..60, 66..126]);
        let ankle = |time: f64| SLIDE * time + offset(&lock, time);
        // In a contact, the foot is held at its mean place.
        assert!((ankle(0.25) - ankle(0.75)).abs() < 1e-9);
        assert!((ankle(0.25) - 0.5 * SLIDE * 59.0 / FPS).abs() < 1e-9);
        // In the middle of the gap, both offsets of 59 / 2 frames cancel each other out.
        assert!(offset(&lock, 62.5 / FPS).abs() < 1e-9);
        // From 59 / 2 frames of slide to the other side, within the gap of 7 frames. The steepest slope of a blend is
        // 1.5.
        let step = 0.1 / FPS;
        let largest = (SLIDE + 1.5 * SLIDE * 59.0 / 7.0) * step;
        for count in 0..1250_u32 {
            let time = f64::from(count) * step;
            let length = (ankle(time + step) - ankle(time)).abs();
            assert!(length <= largest + 1e-9, "{length} m after {time} s, at most {largest} m");
        }
    }

    /// A foot is on the ground in the first 30 and in the last 60 of 121 frames of a loop: one contact of 90 frames.
    /// Its slides begin with the end of the loop at -60 frames, and end 29 frames after the beginning.
    #[test]
    fn a_contact_lasts_across_the_seam_of_a_loop() {
        let is_lifted = |time: f64| time > 30.0 / FPS - 1e-9 && time < 61.0 / FPS - 1e-9;
        let lock = lock(121, true, is_lifted);
        let ends = [0.0, 120.0 / FPS].map(|time| offset(&lock, time));
        assert!((ends[0] - ends[1]).abs() < 1e-9, "{ends:?}");
        // The mean of 30 frames from 0 to 29, and of 60 frames from -59 to 0.
        let mean = (30.0 * 14.5 - 60.0 * 29.5) / 90.0 * SLIDE / FPS;
        assert!((ends[0] - mean).abs() < 1e-9, "{ends:?}, expected {mean}");
        // Played once, both contacts have their own means.
        let once = self::lock(121, false, is_lifted);
        assert!((offset(&once, 0.0) - 14.5 * SLIDE / FPS).abs() < 1e-9);
    }

    /// A loop whose only contact ends 4 frames before the seam: its offset still fades out after the seam.
    #[test]
    fn an_offset_is_blended_across_the_seam_of_a_loop() {
        let lock = lock(121, true, |time| !(60.0 / FPS - 1e-9..=117.0 / FPS - 1e-9).contains(&time));
        let ends = [0.0, 120.0 / FPS].map(|time| offset(&lock, time));
        assert!(ends[0] != 0.0 && (ends[0] - ends[1]).abs() < 1e-9, "{ends:?}");
        // 4 of 12 frames after the contact, whose last offset is the offset of 56 / 2 frames.
        let left: f64 = 1.0 - 4.0 / 12.0;
        let expected = -28.0 * SLIDE / FPS * left * left * (3.0 - 2.0 * left);
        assert!((ends[1] - expected).abs() < 1e-9, "{ends:?}, expected {expected}");
    }

    /// On a circle of 5 around the origin, (3, -4) is reached from (0, -4.1) by a raise of 0.1. With one of 0.05 at
    /// most, x^2 is 25 - 4.05^2.
    #[test]
    fn a_foot_out_of_reach_is_raised_and_then_cut() {
        let (place, side) = (DVec3::new(0.0, -4.1, 0.0), 3.0 * DVec3::X);
        let raised = |most: f64| reachable(place, side, 5.0, DVec3::Y, most);
        assert!(raised(0.2).distance(DVec3::new(3.0, 0.1, 0.0)) < 1e-12);
        let x = (25.0_f64 - 4.05 * 4.05).sqrt();
        assert!(raised(0.05).distance(DVec3::new(x, 0.05, 0.0)) < 1e-12);
        // What is within reach is not raised.
        assert_eq!(reachable(place, DVec3::X, 5.0, DVec3::Y, 0.2), DVec3::X);
        // A foot above the hip is not lowered.
        let kick = reachable(DVec3::new(0.0, 4.1, 0.0), side, 5.0, DVec3::Y, 0.2);
        assert!(kick.y == 0.0 && (kick.x - (25.0_f64 - 4.1 * 4.1).sqrt()).abs() < 1e-12, "{kick}");
        // A leg that is longer than its reach comes no farther, but may come back.
        let far = DVec3::new(6.0, 0.0, 0.0);
        assert_eq!(reachable(far, DVec3::X, 5.0, DVec3::Y, 0.2), DVec3::ZERO);
        assert_eq!(reachable(far, -DVec3::X, 5.0, DVec3::Y, 0.2), -DVec3::X);
    }
}
