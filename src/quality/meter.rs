//! The measures of a clip, frame by frame. The head of the module `quality` defines them.

use std::collections::VecDeque;

use glam::{DQuat, DVec3};

use crate::error::Error;
use crate::model::rotation::angle;
use crate::quality::contacts::{self, Contact, ContactFinder, FootContacts, FootPoint};
use crate::quality::stance::Stance;

/// The height above the standing height from which a foot does not skate, in leg lengths: 2.5 cm for a leg of 0.83 m.
const SKATE_HEIGHT: f64 = 0.03;
/// The largest speed of a foot that skates, in leg lengths per second. Faster ones jump.
const MAX_SKATE: f64 = 20.0;
/// The time over which the velocity of a foot is measured, in seconds before and after a frame, at least a frame. At
/// higher rates, the noise of a capture would be faster than the limits of contacts.
const VELOCITY_STEP: f64 = 1.0 / 60.0;
/// The most frames of it.
const MAX_VELOCITY_FRAMES: f64 = 16.0;
/// The largest distance of a joint at the seam of a loop, in leg lengths, and the largest rotation in radians.
const MAX_LOOP_SEAM: [f64; 2] = [0.1, 0.05];
/// The least size of a jump, in leg lengths and in radians.
const MIN_JUMPS: [f64; 2] = [0.05, 0.5];
/// The least length of a jump, as a multiple of the steps around it.
const JUMP_RATIO: f64 = 3.0;
/// The steps that are compared: one with the four nearest to it, mostly two before and two after.
const STEPS: usize = 5;
/// The fewest frames that are kept: a third difference needs four.
const MIN_KEPT: usize = 4;
/// The factor by which the size of a jump must exceed the largest one so far: below a joint that jumps, all others do.
const LARGER: f64 = 1.0 + 1e-6;

/// The measures of a clip. Lengths are in leg lengths, or in sizes of the rig where legs are not known: see
/// [`Stance::unit`]. The module [`quality`](crate::quality) defines each measure.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionQuality {
    /// The frame rate of the measured frames.
    pub fps: f64,
    /// The number of frames.
    pub frames: u64,
    /// The unit of lengths, in the unit of the rig.
    pub unit: f64,
    /// The measures of feet and ground; `None` if the feet are not known.
    pub feet: Option<FeetQuality>,
    /// Jumps between frames.
    pub jumps: Jumps,
    /// The mean jerk of the joints, in leg lengths per second cubed; 0 for fewer than four frames.
    pub jitter: f64,
    /// The seam of a loop; `None` for a single frame.
    pub seam: Option<LoopSeam>,
}

/// The measures of the feet of a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct FeetQuality {
    /// The height of the ground along the up axis, in the unit of the rig.
    pub ground: f64,
    /// The speed of the ground, in leg lengths per second: more than 0 for clips that walk on the spot.
    pub ground_speed: f64,
    /// The share of the frames in which each foot is in contact, from 0 to 1; the left one first.
    pub contact: Vec<f64>,
    /// The number of contacts of each foot.
    pub contacts: Vec<usize>,
    /// The mean speed of low feet over the ground, weighted by their height, in leg lengths per second.
    pub skate: f64,
    /// The mean speed over the ground of feet in contact, in leg lengths per second; 0 without contacts.
    pub slide_speed: f64,
    /// The longest way over the ground in one contact, in leg lengths.
    pub longest_slide: f64,
    /// The mean depth of the lowest joint below the ground over all frames, in leg lengths.
    pub penetration: f64,
    /// The largest depth, in leg lengths.
    pub deepest: f64,
}

/// The jumps of a clip.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Jumps {
    /// The number of steps from frame to frame in which any joint jumps.
    pub count: u64,
    /// The largest jump of a place in model space, in leg lengths.
    pub position: Option<Jump>,
    /// The largest jump of a local rotation, in radians.
    pub rotation: Option<Jump>,
}

/// A jump of a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jump {
    /// The joint, as an index into the skeleton.
    pub joint: usize,
    /// The frame after the jump.
    pub frame: u64,
    /// The length of the step, less the median length of the steps around it.
    pub size: f64,
}

/// The difference of the last frame of a clip from its first one. The last frame is that at the largest multiple of
/// `1 / fps` within the duration, so up to `1 / fps` before the end of the clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopSeam {
    /// The root mean square of the distances of all joints, in leg lengths.
    pub distance: f64,
    /// The largest distance, in leg lengths.
    pub largest: f64,
    /// The joint of the largest distance, as an index into the skeleton.
    pub joint: usize,
    /// The root mean square of the differences of the velocities of all joints, in leg lengths per second.
    pub velocity: f64,
}

/// The state of a skeleton in a frame.
#[derive(Debug, Default)]
struct MeasuredFrame {
    places: Vec<DVec3>,
    rotations: Vec<DQuat>,
}

/// Measures a clip frame by frame. Memory does not grow with the number of frames, except by the contacts.
#[derive(Debug)]
pub struct QualityMeter<'a> {
    stance: &'a Stance,
    fps: f64,
    frames: u64,
    /// The frames to each side of one over which the velocities of its feet are measured.
    to_side: u64,
    /// The last frames, the latest one last.
    kept: VecDeque<MeasuredFrame>,
    /// The first two frames.
    first: Vec<Vec<DVec3>>,
    finders: Vec<ContactFinder>,
    /// The sum of the weighted speeds of low feet.
    skate: f64,
    /// The sum of the depths, and the largest one.
    depths: (f64, f64),
    jerk: f64,
    /// The last steps of places and of rotations: the length of each joint.
    steps: [VecDeque<Vec<f64>>; 2],
    jumps: Jumps,
    /// The step of the last jump that was counted.
    counted: Option<u64>,
}

impl<'a> QualityMeter<'a> {
    /// A meter of a clip with this stance, whose frames follow at a rate.
    ///
    /// # Errors
    /// [`Error::Usage`] if the rate is not finite and more than 0.
    pub fn new(stance: &'a Stance, fps: f64) -> Result<Self, Error> {
        if !(fps > 0.0 && fps.is_finite()) {
            return Err(Error::Usage(format!("the frame rate is {fps} per second; expected a finite number above 0")));
        }
        Ok(Self {
            stance,
            fps,
            frames: 0,
            to_side: (VELOCITY_STEP * fps).round().clamp(1.0, MAX_VELOCITY_FRAMES) as u64,
            kept: VecDeque::new(),
            first: Vec::new(),
            finders: vec![ContactFinder::new(stance.ground_velocity.length() / stance.unit); stance.feet.len()],
            skate: 0.0,
            depths: (0.0, 0.0),
            jerk: 0.0,
            steps: [VecDeque::new(), VecDeque::new()],
            jumps: Jumps::default(),
            counted: None,
        })
    }

    /// Adds the next frame: the place of each joint in model space, and its local rotation, of unit length.
    ///
    /// # Errors
    /// [`Error::Usage`] if the lists have other lengths than the skeleton has joints.
    pub fn add(&mut self, places: &[DVec3], rotations: &[DQuat]) -> Result<(), Error> {
        let joints = self.stance.body.len();
        if places.len() != joints || rotations.len() != joints {
            return Err(Error::Usage(format!(
                "a frame has {} places and {} rotations; expected one of each for {joints} joints",
                places.len(),
                rotations.len()
            )));
        }
        // The oldest frame gives its memory to the newest.
        let is_full = self.kept.len() >= MIN_KEPT.max(2 * self.to_side as usize + 1);
        let oldest = if is_full { self.kept.pop_front() } else { None };
        let mut frame = oldest.unwrap_or_default();
        frame.places.clear();
        frame.places.extend_from_slice(places);
        frame.rotations.clear();
        frame.rotations.extend_from_slice(rotations);
        self.kept.push_back(frame);
        if self.first.len() < 2 {
            self.first.push(places.to_vec());
        }
        self.frames += 1;
        self.add_depth(places);
        self.add_jerk();
        self.add_steps();
        // The velocity of a frame needs those after it.
        if self.frames > self.to_side {
            self.look_at_feet(self.frames - 1 - self.to_side);
        }
        Ok(())
    }

    /// The measures and the contacts of the frames that were added.
    pub fn finish(mut self) -> (MotionQuality, FootContacts) {
        let (stance, fps, frames) = (self.stance, self.fps, self.frames);
        (frames.saturating_sub(self.to_side)..frames).for_each(|frame| self.look_at_feet(frame));
        self.finish_steps();
        let (seam, is_loop) = self.seam().map_or((None, false), |(seam, turn)| {
            let is_loop = seam.largest <= MAX_LOOP_SEAM[0] && turn.abs() <= MAX_LOOP_SEAM[1];
            (Some(seam), is_loop)
        });
        let contacts = contacts::finish(std::mem::take(&mut self.finders), fps, frames, is_loop);
        let feet = (!stance.feet.is_empty() && frames > 0).then(|| self.feet(&contacts));
        let joints = stance.body.iter().filter(|is_joint| **is_joint).count();
        let jerks = frames.saturating_sub(3) as f64 * joints as f64;
        let quality = MotionQuality {
            fps,
            frames,
            unit: stance.unit,
            feet,
            jumps: self.jumps,
            jitter: if jerks > 0.0 { self.jerk / jerks } else { 0.0 },
            seam,
        };
        (quality, contacts)
    }

    fn feet(&self, contacts: &FootContacts) -> FeetQuality {
        let stance = self.stance;
        let of_feet = || (0..contacts.feet()).flat_map(|foot| contacts.of_foot(foot));
        let length = |contact: &Contact| (contact.frames.end - contact.frames.start) as f64;
        let frames: f64 = of_feet().map(length).sum();
        let speeds: f64 = of_feet().map(|contact| contact.speed * length(contact)).sum();
        let count = self.frames as f64;
        FeetQuality {
            ground: stance.ground,
            ground_speed: stance.ground_velocity.length() / stance.unit,
            contact: (0..contacts.feet()).map(|foot| contacts.share(foot)).collect(),
            contacts: (0..contacts.feet()).map(|foot| contacts.of_foot(foot).len()).collect(),
            skate: self.skate / (count * stance.feet.len() as f64),
            slide_speed: if frames > 0.0 { speeds / frames } else { 0.0 },
            longest_slide: of_feet().map(|contact| contact.slide).fold(0.0, f64::max),
            penetration: self.depths.0 / count / stance.unit,
            deepest: self.depths.1 / stance.unit,
        }
    }

    fn add_depth(&mut self, places: &[DVec3]) {
        let joints = places.iter().zip(&self.stance.body).filter(|(_, is_joint)| **is_joint);
        let depth = joints.map(|(place, _)| -self.stance.height(*place)).fold(0.0, f64::max);
        self.depths = (self.depths.0 + depth, self.depths.1.max(depth));
    }

    fn add_jerk(&mut self) {
        let [.., first, second, third, fourth] = self.kept.make_contiguous() else { return };
        let rate = self.fps * self.fps * self.fps / self.stance.unit;
        let body = &self.stance.body;
        let jerk = |joint: usize| {
            let [p, q, r, s] = [&*first, &*second, &*third, &*fourth].map(|frame| frame.places[joint]);
            (s - 3.0 * r + 3.0 * q - p).length() * rate
        };
        self.jerk += (0..body.len()).filter(|&joint| body[joint]).map(jerk).sum::<f64>();
    }

    /// Adds the step to the last frame, and looks at the one that now has two after it.
    fn add_steps(&mut self) {
        let [.., before, after] = self.kept.make_contiguous() else { return };
        let unit = self.stance.unit;
        let lengths = before.places.iter().zip(&after.places).map(|(before, after)| before.distance(*after) / unit);
        let angles = before.rotations.iter().zip(&after.rotations);
        let angles = angles.map(|(before, after)| angle(*before, *after));
        let new: [Vec<f64>; 2] = [lengths.collect(), angles.collect()];
        for (steps, new) in self.steps.iter_mut().zip(new) {
            if steps.len() == STEPS {
                steps.pop_front();
            }
            steps.push_back(new);
        }
        // The steps at the ends are compared with the four nearest to them.
        if self.frames == STEPS as u64 + 1 {
            (0..=STEPS / 2).for_each(|position| self.look_for_jumps(position));
        } else if self.frames > STEPS as u64 {
            self.look_for_jumps(STEPS / 2);
        }
    }

    /// Looks at the steps that have fewer than two after them.
    fn finish_steps(&mut self) {
        let count = self.steps[0].len();
        let done = if count < STEPS { 0 } else { STEPS / 2 + 1 };
        (done..count).for_each(|position| self.look_for_jumps(position));
    }

    /// Looks for jumps in a step, which has a position among the kept ones.
    fn look_for_jumps(&mut self, position: usize) {
        let count = self.steps[0].len();
        // Of two steps, neither is more likely to be the jump.
        if count < 3 {
            return;
        }
        let frame = self.frames - (count - position) as u64;
        for (part, least) in MIN_JUMPS.into_iter().enumerate() {
            let steps = &self.steps[part];
            let around: Vec<usize> = (0..count).filter(|&other| other != position).collect();
            for (joint, &length) in steps[position].iter().enumerate() {
                if length < least {
                    continue;
                }
                let mut others: Vec<f64> = around.iter().map(|&other| steps[other][joint]).collect();
                others.sort_by(f64::total_cmp);
                let median = 0.5 * (others[(others.len() - 1) / 2] + others[others.len() / 2]);
                let size = length - median;
                if size < least || length < JUMP_RATIO * median {
                    continue;
                }
                if self.counted != Some(frame) {
                    self.counted = Some(frame);
                    self.jumps.count += 1;
                }
                let largest = if part == 0 { &mut self.jumps.position } else { &mut self.jumps.rotation };
                if largest.is_none_or(|largest| size > LARGER * largest.size) {
                    *largest = Some(Jump { joint, frame, size });
                }
            }
        }
    }

    /// The seam from the last frame to the first one, after the best turn about the up axis and the best horizontal
    /// shift: section 3.1 of Kovar et al. 2002. With it, the angle of the turn.
    fn seam(&self) -> Option<(LoopSeam, f64)> {
        let (stance, kept) = (self.stance, &self.kept);
        let [first, second] = self.first.as_slice() else { return None };
        let last = &kept.back()?.places;
        let before = &kept.get(kept.len().checked_sub(2)?)?.places;
        let joints: Vec<usize> = (0..first.len()).filter(|&joint| stance.body[joint]).collect();
        let count = joints.len() as f64;
        let mean = |places: &[DVec3]| {
            stance.horizontal(joints.iter().map(|&joint| places[joint]).sum::<DVec3>()) / count.max(1.0)
        };
        let centres = [mean(last), mean(first)];
        let (mut sine, mut cosine) = (0.0, 0.0);
        for &joint in &joints {
            let [from, to] = [last[joint] - centres[0], first[joint] - centres[1]].map(|way| stance.horizontal(way));
            sine += stance.up.dot(from.cross(to));
            cosine += from.dot(to);
        }
        let angle = sine.atan2(cosine);
        let turn = DQuat::from_axis_angle(stance.up, angle);
        let mut seam = LoopSeam { distance: 0.0, largest: 0.0, joint: 0, velocity: 0.0 };
        let ground = stance.ground_velocity;
        for &joint in &joints {
            let distance = (turn * (last[joint] - centres[0])).distance(first[joint] - centres[1]) / stance.unit;
            let velocities = [last[joint] - before[joint], second[joint] - first[joint]];
            let [end, begin] = velocities.map(|step| self.fps * step - ground);
            seam.distance += distance * distance / count;
            seam.velocity += (turn * end - begin).length_squared() / count;
            if distance > LARGER * seam.largest {
                (seam.largest, seam.joint) = (distance, joint);
            }
        }
        seam.distance = seam.distance.sqrt();
        seam.velocity = seam.velocity.sqrt() / stance.unit;
        Some((seam, angle))
    }

    /// Adds the feet of a frame to the contacts and to the skate. Its velocity is that between the frames to both sides
    /// of it, as far as there are some.
    fn look_at_feet(&mut self, frame: u64) {
        let (stance, fps) = (self.stance, self.fps);
        let first = self.frames - self.kept.len() as u64;
        let [from, to] = [frame.saturating_sub(self.to_side), (frame + self.to_side).min(self.frames - 1)];
        let [before, last, at, after] =
            [from, frame.saturating_sub(1), frame, to].map(|frame| frame.saturating_sub(first));
        let places = |index: u64| self.kept.get(index as usize).map(|frame| &frame.places);
        let (Some(before), Some(last), Some(at), Some(after)) =
            (places(before), places(last), places(at), places(after))
        else {
            return;
        };
        let rate = fps / (to - from).max(1) as f64;
        let moved = stance.ground_velocity * (frame as f64 / fps);
        for ((foot, finder), standing) in stance.feet.iter().zip(&mut self.finders).zip(&stance.standing) {
            let point = |(joint, standing): (usize, &f64)| {
                let velocity = rate * (after[joint] - before[joint]);
                let step = at[joint] - last[joint] - stance.ground_velocity / fps;
                FootPoint {
                    place: at[joint] - moved,
                    height: (stance.height(at[joint]) - standing) / stance.unit,
                    speed: stance.horizontal(velocity - stance.ground_velocity).length() / stance.unit,
                    step: stance.horizontal(step).length() / stance.unit,
                }
            };
            let points: Vec<FootPoint> = foot.points().zip(standing).map(point).collect();
            finder.add(&points);
            let lowest = points.iter().min_by(|one, other| one.height.total_cmp(&other.height));
            if let Some(lowest) = lowest.filter(|lowest| lowest.speed <= MAX_SKATE) {
                self.skate += lowest.speed * (2.0 - (lowest.height.max(0.0) / SKATE_HEIGHT).exp2()).clamp(0.0, 1.0);
            }
        }
    }
}
