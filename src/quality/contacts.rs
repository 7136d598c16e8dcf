//! The contacts of feet with the ground, found frame by frame.
//!
//! A foot comes into contact when one of its points is low and slow, and stays in contact as long as one of them is,
//! with larger limits: without this hysteresis, noise of a capture would break contacts. Then gaps and contacts that
//! are shorter than a step can be are dropped, gaps first. Contacts at the ends of a clip can be as short as they are.
//!
//! Heights and speeds are in leg lengths, so that the limits are the same for a child, a giant and a file in
//! centimetres. The limits at which contacts begin are near the limits of Rempe et al., HuMoR (ICCV 2021), whose code
//! (`scripts/process_amass_data.py`) labels toes below 4 cm, ankles below 8 cm and both below 5 mm per frame of 30 per
//! second: 0.05 of a leg and 0.18 of a leg per second for a leg of 0.83 m. Labels by speed alone use larger limits:
//! HumanML3D (`motion_representation.ipynb`) takes 0.89 m/s, the root of 0.002 m^2 at 20 frames per second.
//!
//! A clip that walks on the spot has no ground that rests, and by the limits above no contacts. Its ground moves as a
//! treadmill does, see `stance`, and speeds of feet are relative to it. Two limits differ there:
//!
//! * Feet follow the velocity of the ground, a median, less well the faster it is: the limits of speed are larger by
//!   the factor `1 + v`, with the speed `v` of the ground in leg lengths per second.
//! * A foot in the air does not move back as fast as the ground, so that the velocity alone tells when a foot lifts
//!   off, as in Zeni et al., Two simple methods for determining gait events during treadmill and overground walking
//!   (Gait & Posture 2008). The height up to which a contact stays is therefore larger: a foot that rolls over its tip
//!   has its joints far above the ground.
//!
//! The first and the last contact of a clip that ends as it begins are one contact across the seam of the loop. Both
//! have the place that is the mean over both.

use std::ops::Range;

use glam::DVec3;

/// The largest height above its standing height at which a point comes into contact, and up to which it stays.
const HEIGHTS: [f64; 2] = [0.04, 0.08];
/// The height up to which a point stays in contact with a ground that moves.
const HEIGHT_ON_MOVING_GROUND: f64 = 0.2;
/// The largest speed at which a point comes into contact, and up to which it stays, per second.
const SPEEDS: [f64; 2] = [0.25, 0.5];
/// The fewest seconds of a contact.
const MIN_CONTACT: f64 = 0.1;
/// The fewest seconds between two contacts.
const MIN_GAP: f64 = 0.05;

/// The contacts of the feet of a clip with the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct FootContacts {
    fps: f64,
    frames: u64,
    is_loop: bool,
    feet: Vec<Vec<Contact>>,
}

/// A contact of a foot with the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Contact {
    /// Its frames.
    pub frames: Range<u64>,
    /// The mean place of the [`pivot`](super::Foot::pivot) of the foot over the frames in which that point is low and
    /// slow itself, or else over all. On a ground that moves, it is the place at time 0. Across the seam of a loop,
    /// the mean is that over both parts of the contact.
    pub place: DVec3,
    /// The places of the pivot in its first and in its last frame, likewise.
    pub ends: [DVec3; 2],
    /// The mean speed over the ground of the slowest point of the foot from frame to frame, in units of the measures
    /// per second: see [`Stance::unit`](super::Stance::unit). 0 in a single frame.
    pub speed: f64,
    /// The path length over the ground from its first frame to its last one at that speed, in units of the measures.
    pub slide: f64,
}

impl FootContacts {
    /// The number of feet.
    pub fn feet(&self) -> usize {
        self.feet.len()
    }

    /// Frames per second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// The number of frames.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns `true` if the clip ends in the pose with which it begins, so that it can be played as a loop.
    pub fn is_loop(&self) -> bool {
        self.is_loop
    }

    /// The contacts of a foot, in order of their frames. Empty for a foot that does not exist.
    pub fn of_foot(&self, foot: usize) -> &[Contact] {
        self.feet.get(foot).map_or(&[], Vec::as_slice)
    }

    /// The contact of a foot in a frame.
    pub fn at(&self, foot: usize, frame: u64) -> Option<&Contact> {
        let contacts = self.of_foot(foot);
        let next = contacts.partition_point(|contact| contact.frames.end <= frame);
        contacts.get(next).filter(|contact| contact.frames.contains(&frame))
    }

    /// The frame nearest to a time in seconds, at most the last one.
    pub fn frame_at(&self, time: f64) -> u64 {
        // `as` turns numbers below 0 into 0.
        ((time * self.fps).round() as u64).min(self.frames.saturating_sub(1))
    }

    /// Writes the array of contacts of `posse bake`: for each time in seconds a number per foot, 1 in contact and 0
    /// elsewhere, at the frame nearest to the time. Numbers of `out` beyond the times stay as they are.
    ///
    /// # Examples
    /// ```
    /// use posse::{demo, quality::{GroundLevel, MotionQuality}};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let idle = library.find_clip("idle").expect("the demo stands");
    /// let (_, contacts) = MotionQuality::of_clip(&library, idle, 60.0, GroundLevel::Auto)?;
    /// let mut numbers = [0.0; 4];
    /// contacts.write(&[0.0, 1.5], &mut numbers);
    /// assert_eq!(numbers, [1.0; 4]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn write(&self, times: &[f64], out: &mut [f32]) {
        let rows = out.chunks_exact_mut(self.feet().max(1)).zip(times);
        for (row, &time) in rows {
            let frame = self.frame_at(time);
            let feet = row.iter_mut().enumerate();
            feet.for_each(|(foot, to)| *to = f32::from(u8::from(self.at(foot, frame).is_some())));
        }
    }

    /// The share of the frames in which a foot is in contact, from 0 to 1.
    pub fn share(&self, foot: usize) -> f64 {
        let frames: u64 = self.of_foot(foot).iter().map(|contact| contact.frames.end - contact.frames.start).sum();
        if self.frames == 0 { 0.0 } else { frames as f64 / self.frames as f64 }
    }
}

/// A point of a foot in a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct FootPoint {
    /// The place, without the movement of the ground.
    pub place: DVec3,
    /// The height above the standing height, in units.
    pub height: f64,
    /// The horizontal speed over the ground, in units per second.
    pub speed: f64,
    /// The horizontal distance over the ground from the place in the last frame, in units.
    pub step: f64,
}

impl FootPoint {
    /// Returns `true` if the point is low and slow on a ground that moves at a speed in units per second; `kept` is
    /// true for the limits up to which a contact stays.
    fn is_planted(&self, kept: bool, ground_speed: f64) -> bool {
        let limit = usize::from(kept);
        let height = if kept && ground_speed > 0.0 { HEIGHT_ON_MOVING_GROUND } else { HEIGHTS[limit] };
        self.height <= height && self.speed <= (1.0 + ground_speed) * SPEEDS[limit]
    }
}

/// Finds the contacts of a foot, frame by frame.
#[derive(Debug, Clone)]
pub(super) struct ContactFinder {
    /// The speed of the ground, in units per second.
    ground_speed: f64,
    /// The contacts that have ended.
    found: Vec<Sums>,
    /// The contact of the last frame.
    open: Option<Sums>,
    frame: u64,
}

/// A contact whose frames come one after the other.
#[derive(Debug, Clone)]
struct Sums {
    frames: Range<u64>,
    /// The places of the pivot in the first and in the last frame.
    ends: [DVec3; 2],
    /// The sum of the places of the pivot while it is planted, and their number.
    planted: (DVec3, f64),
    /// The same over all frames.
    all: (DVec3, f64),
    /// The sum of the shortest steps of its points between its frames, and their number.
    steps: (f64, f64),
}

impl ContactFinder {
    /// A finder without frames, on a ground that moves at a speed in units per second.
    pub fn new(ground_speed: f64) -> Self {
        Self { ground_speed, found: Vec::new(), open: None, frame: 0 }
    }

    /// Adds the next frame: the points of the foot, the pivot last.
    pub fn add(&mut self, points: &[FootPoint]) {
        let was_open = self.open.is_some();
        let is_planted = points.iter().any(|point| point.is_planted(was_open, self.ground_speed));
        if !is_planted {
            self.found.extend(self.open.take());
        } else if let Some(pivot) = points.last() {
            let (frame, ground_speed) = (self.frame, self.ground_speed);
            let open = self.open.get_or_insert(Sums {
                frames: frame..frame,
                ends: [pivot.place; 2],
                planted: (DVec3::ZERO, 0.0),
                all: (DVec3::ZERO, 0.0),
                steps: (0.0, 0.0),
            });
            open.frames.end = frame + 1;
            open.ends[1] = pivot.place;
            let add = |sum: &mut (DVec3, f64)| *sum = (sum.0 + pivot.place, sum.1 + 1.0);
            add(&mut open.all);
            if pivot.is_planted(true, ground_speed) {
                add(&mut open.planted);
            }
            if was_open {
                let step = points.iter().map(|point| point.step).fold(f64::INFINITY, f64::min);
                open.steps = (open.steps.0 + step, open.steps.1 + 1.0);
            }
        }
        self.frame += 1;
    }

    /// The contacts, at a frame rate.
    fn finish(mut self, fps: f64, is_loop: bool) -> Vec<Contact> {
        self.found.extend(self.open.take());
        let mut merged: Vec<Sums> = Vec::with_capacity(self.found.len());
        for next in self.found {
            match merged.last_mut() {
                Some(last) if ((next.frames.start - last.frames.end) as f64) < MIN_GAP * fps => last.merge(&next),
                _ => merged.push(next),
            }
        }
        let all = self.frame;
        let is_long = |sums: &Sums| {
            let Range { start, end } = sums.frames;
            start == 0 || end == all || (end - start) as f64 >= MIN_CONTACT * fps
        };
        merged.retain(is_long);
        let mut contacts: Vec<Contact> = merged.into_iter().map(|sums| sums.contact(fps)).collect();
        match contacts.as_mut_slice() {
            [first, .., last] if is_loop && first.frames.start == 0 && last.frames.end == all => first.join(last),
            _ => {}
        }
        contacts
    }
}

impl Sums {
    fn merge(&mut self, next: &Self) {
        self.frames.end = next.frames.end;
        self.ends[1] = next.ends[1];
        self.planted = (self.planted.0 + next.planted.0, self.planted.1 + next.planted.1);
        self.all = (self.all.0 + next.all.0, self.all.1 + next.all.1);
        self.steps = (self.steps.0 + next.steps.0, self.steps.1 + next.steps.1);
    }

    fn contact(self, fps: f64) -> Contact {
        let (sum, count) = if self.planted.1 > 0.0 { self.planted } else { self.all };
        let (place, speed) = (sum / count.max(1.0), fps * self.steps.0 / self.steps.1.max(1.0));
        let seconds = (self.frames.end - self.frames.start).saturating_sub(1) as f64 / fps;
        Contact { frames: self.frames, place, ends: self.ends, speed, slide: speed * seconds }
    }
}

impl Contact {
    /// Makes this contact and that at the end of the loop one. From there to here, a place moves as the pivot does.
    fn join(&mut self, last: &mut Self) {
        let shift = self.ends[0] - last.ends[1];
        let [count, of_last] = [&self.frames, &last.frames].map(|frames| (frames.end - frames.start) as f64);
        self.place = (count * self.place + of_last * (last.place + shift)) / (count + of_last);
        last.place = self.place - shift;
    }
}

/// The contacts of all feet, at a frame rate.
pub(super) fn finish(finders: Vec<ContactFinder>, fps: f64, frames: u64, is_loop: bool) -> FootContacts {
    let feet = finders.into_iter().map(|finder| finder.finish(fps, is_loop)).collect();
    FootContacts { fps, frames, is_loop, feet }
}
