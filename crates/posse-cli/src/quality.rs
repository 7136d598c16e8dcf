//! The measures of motion as JSON and as text.

use std::io::{self, Write};

use posse::Skeleton;
use posse::quality::{FeetQuality, GroundLevel, Jump, LoopSeam, MotionQuality, Stance};
use serde::Serialize;

use crate::output::plural;

/// The warning about a rig whose feet are not known.
pub const NO_FEET: &str =
    "no feet are known, because the joints have no names of a human, or the legs have no length at rest";

/// What the measures mean, below those of the last clip.
pub const LEGEND: &str = "\
measures, in lengths of a leg, or in sizes of the rig where legs are not known; of skate, penetration, jumps, jitter and seam, less is better:
  contact      the share of the frames in which a foot is on the ground, and how often it comes down
  skate        the speed of low feet over the ground, and the speed and the longest path of feet in contact
  ground       the height of the ground; penetration is the depth of the lowest joint below it, the mean and the largest
  jumps        steps between frames that are far longer than those around them, with the largest ones
  jitter       the mean jerk of the joints
  seam         the distance of the last frame from the first, after a rotation and a shift along the ground
docs/command-line.md, section inspect, has the definitions";

/// The measures of a clip. Lengths are in units: lengths of a leg, or sizes of the rig where legs are not known.
#[derive(Debug, Serialize)]
pub struct QualityReport {
    /// The frame rate of the measured frames.
    fps: f64,
    frames: u64,
    /// The unit of lengths, in units of the rig.
    unit: f64,
    /// `leg` or `rig`.
    unit_is: &'static str,
    /// Null if no feet are known.
    feet: Option<FeetReport>,
    jumps: JumpsReport,
    /// Units per second cubed.
    jitter: f64,
    /// Null for a single frame.
    seam: Option<SeamReport>,
}

/// The measures of feet and ground.
#[derive(Debug, Serialize)]
struct FeetReport {
    /// The names of the joints, the left foot first.
    names: Vec<String>,
    /// The height of the ground, in units of the rig.
    ground: f64,
    /// Units per second.
    ground_speed: f64,
    /// The share of the frames in contact, per foot.
    contact: Vec<f64>,
    /// The number of contacts, per foot.
    contacts: Vec<usize>,
    /// Units per second.
    skate: f64,
    /// Units per second.
    slide_speed: f64,
    longest_slide: f64,
    penetration: f64,
    deepest: f64,
}

#[derive(Debug, Serialize)]
struct JumpsReport {
    count: u64,
    position: Option<JumpReport>,
    /// In radians.
    rotation: Option<JumpReport>,
}

#[derive(Debug, Serialize)]
struct JumpReport {
    joint: String,
    frame: u64,
    size: f64,
}

#[derive(Debug, Serialize)]
struct SeamReport {
    distance: f64,
    largest: f64,
    joint: String,
    /// Units per second.
    velocity: f64,
}

impl QualityReport {
    /// The report on the measures of a clip of a skeleton.
    pub fn new(skeleton: &Skeleton, stance: &Stance, quality: &MotionQuality) -> Self {
        let jump = |Jump { joint, frame, size }: Jump| JumpReport { joint: skeleton.joint_name(joint), frame, size };
        let seam = |LoopSeam { distance, largest, joint, velocity }: LoopSeam| SeamReport {
            distance,
            largest,
            joint: skeleton.joint_name(joint),
            velocity,
        };
        let feet = |feet: &FeetQuality| FeetReport {
            names: stance.feet.iter().map(|foot| foot.name.clone()).collect(),
            ground: feet.ground,
            ground_speed: feet.ground_speed,
            contact: feet.contact.clone(),
            contacts: feet.contacts.clone(),
            skate: feet.skate,
            slide_speed: feet.slide_speed,
            longest_slide: feet.longest_slide,
            penetration: feet.penetration,
            deepest: feet.deepest,
        };
        Self {
            fps: quality.fps,
            frames: quality.frames,
            unit: quality.unit,
            unit_is: if quality.feet.is_some() { "leg" } else { "rig" },
            feet: quality.feet.as_ref().map(feet),
            jumps: JumpsReport {
                count: quality.jumps.count,
                position: quality.jumps.position.map(jump),
                rotation: quality.jumps.rotation.map(jump),
            },
            jitter: quality.jitter,
            seam: quality.seam.map(seam),
        }
    }

    /// Prints the report, indented below a clip.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let (unit, each) = if self.feet.is_some() { ("legs", "a leg is") } else { ("rigs", "the rig is") };
        let Self { fps, frames, unit: length, .. } = self;
        writeln!(
            out,
            "  quality of {} at {fps} per second, in {unit}: {each} {length:.4}",
            plural(*frames as usize, "frame")
        )?;
        match &self.feet {
            Some(feet) => feet.print(out)?,
            None => writeln!(out, "    no feet are known: no contacts, skate and penetration")?,
        }
        let of = |jump: &Option<JumpReport>, text: &dyn Fn(f64) -> String| {
            let at = |jump: &JumpReport| format!(", {} at frame {} ({})", text(jump.size), jump.frame, jump.joint);
            jump.as_ref().map_or_else(String::new, at)
        };
        let position = of(&self.jumps.position, &|size| format!("{size:.3} {unit}"));
        let rotation = of(&self.jumps.rotation, &|size| format!("{:.1} degrees", size.to_degrees()));
        writeln!(out, "    jumps: {}{position}{rotation}", self.jumps.count)?;
        writeln!(out, "    jitter: {:.2} {unit}/s^3", self.jitter)?;
        if let Some(SeamReport { distance, largest, joint, velocity }) = &self.seam {
            let speed = format!("{velocity:.3} {unit}/s in velocity");
            writeln!(out, "    seam: {distance:.4} {unit}, at most {largest:.4} ({joint}), {speed}")?;
        }
        Ok(())
    }
}

impl FeetReport {
    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let feet = self.names.iter().zip(&self.contact).zip(&self.contacts);
        let feet = feet.map(|((name, share), count)| format!("{name} {:.0} % in {count}", 100.0 * share));
        writeln!(out, "    contact: {}", feet.collect::<Vec<_>>().join(", "))?;
        let Self { skate, slide_speed, longest_slide, .. } = self;
        writeln!(
            out,
            "    skate: {skate:.4} legs/s; in contact {slide_speed:.4} legs/s, at most {longest_slide:.4} legs"
        )?;
        let on_the_spot = match self.ground_speed {
            speed if speed > 0.0 => format!(", on the spot at {speed:.3} legs/s"),
            _ => String::new(),
        };
        let Self { ground, penetration, deepest, .. } = self;
        writeln!(
            out,
            "    ground: at {ground:.4}{on_the_spot}; penetration {penetration:.4} legs, at most {deepest:.4}"
        )
    }
}

/// Parses the value of `--ground`: `auto` or a height.
pub fn parse_ground(text: &str) -> Result<GroundLevel, String> {
    match text.trim() {
        "auto" => Ok(GroundLevel::Auto),
        number => match number.parse::<f64>() {
            Ok(height) if height.abs() <= f64::from(f32::MAX) => Ok(GroundLevel::At(height)),
            _ => Err("expected auto or a height".into()),
        },
    }
}
