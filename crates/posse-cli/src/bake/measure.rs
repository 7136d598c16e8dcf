//! The contacts and the quality of a clip, measured before its frames are written, and the lock of its feet.
//!
//! Of a piece of a clip, the frames of the piece are measured, and nothing outside of it. The ground on which its feet
//! stand is the stand of the clip, see [`Stance::of_part`].

use std::ops::Range;

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, FrameGrid};
use posse::glam::{DQuat, DVec3};
use posse::ik::ChainId;
use posse::quality::{
    FootContacts, FootLock, GroundLevel, MotionQuality, QualityMeter, Stance, measured_factor, measured_fps,
};
use posse::{ClipId, Error};
use serde_json::Value;

use crate::bake::format::ClipHead;
use crate::bake::frames::ClipFrames;
use crate::bake::sampler::{Block, ClipSampler, OutputMotion};
use crate::quality::QualityReport;

/// What is known of the frames of a clip.
pub struct Measured {
    /// The contacts of the feet, before they are held. Their first frame is the first one that is baked.
    pub contacts: FootContacts,
    /// The lock of the feet.
    pub lock: Option<FootLock>,
    /// The measures as JSON, with those before the lock.
    pub quality: Option<Value>,
}

impl Measured {
    /// Measures frames of a clip, whose output has a head. `chains` are the chains of its feet if they are to be held.
    pub fn new(
        head: &ClipHead,
        frames: &ClipFrames,
        clip: ClipId,
        chains: Option<&[ChainId]>,
        with_quality: bool,
        sampler: &mut ClipSampler,
    ) -> Result<Self, Error> {
        let library = head.library;
        let frames = measured_frames(frames)?;
        let [start, end] = [frames.frames.start, frames.frames.end - 1].map(|frame| frames.grid.time(frame));
        let is_whole = frames.source.is_none() && frames.grid.part() == [0.0, frames.grid.duration()];
        let stance = match is_whole {
            true => Stance::of_clip(library, clip, GroundLevel::Auto)?,
            false => Stance::of_part(library, clip, GroundLevel::Auto, start..end)?,
        };
        let skeleton = library.skeleton(head.skeleton);
        let report = |quality: &MotionQuality| {
            let report = serde_json::to_value(QualityReport::new(skeleton, &stance, quality));
            report.map_err(|error| Error::Usage(error.to_string()))
        };
        let (quality, contacts) = measure(head, &frames, &stance, OutputMotion::Clip(clip), sampler)?;
        let Some(chains) = chains else {
            let quality = with_quality.then(|| report(&quality)).transpose()?;
            return Ok(Self { contacts, lock: None, quality });
        };
        let lock = FootLock::new(clip, chains.to_vec(), stance.clone(), contacts.clone()).starting_at(start);
        let (locked, _) = measure(head, &frames, &stance, OutputMotion::Locked(clip, library, &lock), sampler)?;
        let mut value = report(&locked)?;
        value["before_foot_lock"] = report(&quality)?["feet"].take();
        Ok(Self { contacts, lock: Some(lock), quality: Some(value) })
    }
}

/// The frames that are measured: the frames that are baked, and as many between them as make up the least rate.
fn measured_frames(frames: &ClipFrames) -> Result<ClipFrames, Error> {
    let fps = frames.grid.fps();
    let grid = FrameGrid::of_part(measured_fps(fps), frames.grid.duration(), frames.grid.part())?;
    let (factor, Range { start, end }) = (measured_factor(fps) as u64, frames.frames.clone());
    let last = grid.len() - 1;
    let end = if end == frames.grid.len() { last } else { last.min(factor * (end - 1)) };
    let measured = last.min(factor * start)..end + 1;
    Ok(ClipFrames { grid, frames: measured, source: frames.source, warning: None, rest: None })
}

/// Measures frames of a motion, with the poses of the engine that bakes it.
fn measure(
    head: &ClipHead,
    frames: &ClipFrames,
    stance: &Stance,
    motion: OutputMotion,
    sampler: &mut ClipSampler,
) -> Result<(MotionQuality, FootContacts), Error> {
    let joints: Vec<usize> = (0..head.library.skeleton(head.skeleton).joints().len()).collect();
    let kinds = vec![ArrayKind::Pos, ArrayKind::LocalQuat];
    let request = ArrayRequest { kinds, ..ArrayRequest::of_joints(&joints) };
    let layout = ArrayLayout::new(head.library, head.skeleton, head.nodes, &request)?;
    let mut meter = QualityMeter::new(stance, frames.grid.fps())?;
    let mut block = Block::new(&layout);
    let (mut places, mut rotations): (Vec<DVec3>, Vec<DQuat>) = (Vec::new(), Vec::new());
    let Range { start: mut first, end: all } = frames.frames.clone();
    while first < all {
        let end = block.end(first, all);
        block.fill(sampler, &layout, frames, motion, first..end)?;
        let [positions, quaternions] = block.arrays.as_slice() else { break };
        let rows =
            positions.chunks_exact((3 * joints.len()).max(1)).zip(quaternions.chunks_exact((4 * joints.len()).max(1)));
        for (positions, quaternions) in rows {
            places.clear();
            places.extend(positions.as_chunks::<3>().0.iter().map(|place| DVec3::from(place.map(f64::from))));
            rotations.clear();
            let numbers = quaternions.as_chunks::<4>().0.iter();
            rotations.extend(numbers.map(|numbers| DQuat::from_array(numbers.map(f64::from))));
            meter.add(&places, &rotations)?;
        }
        first = end;
    }
    Ok(meter.finish())
}
