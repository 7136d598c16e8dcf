//! The contacts and the quality of a clip, measured before its frames are written, and the lock of its feet.

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, FrameGrid};
use posse::glam::{DQuat, DVec3};
use posse::quality::{FootContacts, FootLock, GroundLevel, MotionQuality, QualityMeter, Stance};
use posse::{ChainId, ClipId, Error};
use serde_json::Value;

use crate::bake::clip::Rig;
use crate::bake::sampler::{Block, Motion, Sampler};
use crate::quality::QualityReport;

/// The least frame rate of the measured frames. At lower ones, the speeds of feet are not known.
const MIN_FPS: f64 = 30.0;

/// What is known of a clip.
pub struct Measured {
    /// The contacts of its feet, before they are held.
    pub contacts: FootContacts,
    /// The lock of its feet.
    pub lock: Option<FootLock>,
    /// Its measures as JSON, with those before the lock.
    pub quality: Option<Value>,
}

impl Measured {
    /// Measures a clip. `chains` are those of its feet if they are to be held.
    pub fn new(
        rig: &Rig,
        grid: &FrameGrid,
        clip: ClipId,
        chains: Option<&[ChainId]>,
        with_quality: bool,
        sampler: &mut Sampler,
    ) -> Result<Self, Error> {
        // A multiple of the rate, so that its frames are among those that are measured.
        let grid = FrameGrid::new(grid.fps() * (MIN_FPS / grid.fps()).ceil().max(1.0), grid.duration())?;
        let stance = Stance::of_clip(rig.library, clip, GroundLevel::Auto)?;
        let skeleton = rig.library.skeleton(rig.skeleton);
        let report = |quality: &MotionQuality| {
            let report = serde_json::to_value(QualityReport::new(skeleton, &stance, quality));
            report.map_err(|error| Error::Usage(error.to_string()))
        };
        let (quality, contacts) = measure(rig, &grid, &stance, Motion::Clip(clip), sampler)?;
        let Some(chains) = chains else {
            let quality = with_quality.then(|| report(&quality)).transpose()?;
            return Ok(Self { contacts, lock: None, quality });
        };
        let lock = FootLock::new(clip, chains.to_vec(), stance.clone(), contacts.clone());
        let (locked, _) = measure(rig, &grid, &stance, Motion::Locked(clip, rig.library, &lock), sampler)?;
        let mut value = report(&locked)?;
        value["before_foot_lock"] = report(&quality)?["feet"].take();
        Ok(Self { contacts, lock: Some(lock), quality: Some(value) })
    }
}

/// Measures a motion frame by frame, with the poses of the engine that bakes it.
fn measure(
    rig: &Rig,
    grid: &FrameGrid,
    stance: &Stance,
    motion: Motion,
    sampler: &mut Sampler,
) -> Result<(MotionQuality, FootContacts), Error> {
    let joints: Vec<usize> = (0..rig.library.skeleton(rig.skeleton).joints().len()).collect();
    let kinds = vec![ArrayKind::Pos, ArrayKind::LocalQuat];
    let request = ArrayRequest { kinds, ..ArrayRequest::of_joints(&joints) };
    let layout = ArrayLayout::new(rig.library, rig.skeleton, rig.nodes, &request)?;
    let mut meter = QualityMeter::new(stance, grid.fps())?;
    let mut block = Block::new(&layout);
    let (mut places, mut rotations): (Vec<DVec3>, Vec<DQuat>) = (Vec::new(), Vec::new());
    let mut first = 0;
    while first < grid.len() {
        let end = block.end(first, grid.len());
        block.fill(sampler, &layout, grid, motion, first..end)?;
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
