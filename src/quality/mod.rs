//! The quality of motion: contacts of the feet with the ground, and measures of what looks wrong in a clip.
//!
//! Lengths are in **leg lengths** (upper and lower leg of the rest pose), so that numbers of a child, a giant and a
//! file in centimetres can be compared; a human leg has about 0.8 to 0.9 m. Where legs are not known, they are in sizes
//! of the rig: the largest distance of a joint from the first one at rest. All measures are taken from evenly spaced
//! frames, from the places of joints in model space, not of a mesh. Speeds of feet are those between the frames a
//! sixtieth of a second before and after.
//!
//! | measure | definition | source |
//! |---|---|---|
//! | contact | a point of a foot (ankle, toe) is low and slow, with hysteresis: see `contacts` | Rempe et al., HuMoR, ICCV 2021; on the spot Zeni et al., Gait & Posture 2008 |
//! | skate | mean over frames and feet of `v clamp(2 - 2^(h / H), 0, 1)`, with the horizontal speed `v` and the height `h` of the lower point of a foot, and `H` of 0.03 legs. It needs no contacts, so that feet that slide fast count, too, and so do low feet that land and take off. Above 20 legs/s, a foot jumps | Zhang et al., Mode-adaptive neural networks, SIGGRAPH 2018 (`H` is 2.5 cm there) |
//! | slide | path length over the ground of the slowest point of a foot from frame to frame of a contact: the mean speed, and the longest path in a contact | what Kovar et al. remove, Footskate cleanup, SCA 2002 |
//! | jump | a step of a joint from frame to frame that is three times as long as the median of the two steps before and the two after; its size is the difference. At least 0.05 legs, or 0.5 radians of a local rotation | a running median: Tukey, Exploratory data analysis, 1977 |
//! | jitter | mean over frames and joints of the jerk `abs(p(i) - 3 p(i-1) + 3 p(i-2) - p(i-3)) fps^3` | Yi et al., TransPose, SIGGRAPH 2021, `articulate/evaluator.py` |
//! | seam | distance of the last frame from the first one after the best turn about the up axis and horizontal shift; and the distance of the velocities. The last frame is before the end of a clip whose duration is no multiple of `1 / fps` | Kovar et al., Motion graphs, SIGGRAPH 2002, section 3.1 (windows of several frames there) |
//! | penetration | depth of the lowest joint below the ground: the mean over all frames, and the largest | Yuan et al., PhysDiff, ICCV 2023 (the lowest vertex of a mesh there) |
//!
//! 1. [`Stance::of_clip`] looks at some poses: which way is up, where the ground is, if the clip walks on the spot.
//! 2. [`QualityMeter`] takes frame by frame. [`MotionQuality::of_clip`] does it for a clip of a library.
//! 3. [`FootContacts`] has the contacts of each foot. [`FootContacts::write`] fills arrays of kind
//!    [`ArrayKind::Contact`](crate::bake::ArrayKind::Contact).
//! 4. [`FootLock`] holds feet in contact where they are: it gives the goals of inverse kinematics of an instance at a
//!    time of its clip.
//!
//! The meter takes places and rotations of any origin; its memory does not grow with their number.
//!
//! The ground is flat: on stairs and slopes, feet are in contact at its height only.
//!
//! # Examples
//! ```
//! use posse::{demo, quality::{GroundLevel, MotionQuality}};
//!
//! # fn main() -> Result<(), posse::Error> {
//! let library = demo::library()?;
//! let walk = library.find_clip("walk").expect("the demo walks");
//! let (quality, contacts) = MotionQuality::of_clip(&library, walk, 60.0, GroundLevel::Auto)?;
//! assert_eq!(quality.jumps.count, 0);
//! // It walks on the spot.
//! assert!(quality.feet.is_some_and(|feet| feet.ground_speed > 0.5));
//! assert_eq!(contacts.feet(), 2);
//!
//! let idle = library.find_clip("idle").expect("the demo stands");
//! let (_, contacts) = MotionQuality::of_clip(&library, idle, 60.0, GroundLevel::Auto)?;
//! assert!(contacts.at(0, 30).is_some(), "the left foot stands");
//! # Ok(())
//! # }
//! ```

mod contacts;
mod foot_lock;
mod meter;
mod stance;

pub use crate::retarget::body::Foot;
pub use contacts::{Contact, FootContacts};
pub use foot_lock::FootLock;
pub use meter::{FeetQuality, Jump, Jumps, LoopSeam, MotionQuality, QualityMeter};
pub use stance::{GroundLevel, Stance};

use glam::{DQuat, DVec3};

use crate::bake::FrameGrid;
use crate::error::Error;
use crate::model::{ClipId, Library};
use crate::reference::values::{Values, model_matrices};

/// The least frame rate of measured frames. At lower ones, the speeds of feet are not known.
const MIN_MEASURED_FPS: f64 = 30.0;

/// Returns the factor from a frame rate above 0 to the rate of the frames that are measured: the least whole number
/// that makes at least 30 per second, so that the frames of the lower rate are among them.
///
/// # Examples
/// ```
/// use posse::quality::measured_factor;
///
/// assert_eq!([12.0, 30.0, 120.0].map(measured_factor), [3.0, 1.0, 1.0]);
/// ```
pub fn measured_factor(fps: f64) -> f64 {
    (MIN_MEASURED_FPS / fps).ceil().max(1.0)
}

/// Returns the rate of the measured frames of a clip that has this frame rate above 0, by [`measured_factor`].
pub fn measured_fps(fps: f64) -> f64 {
    measured_factor(fps) * fps
}

impl MotionQuality {
    /// The measures and the contacts of a clip of a library at a frame rate, with the poses of the reference. The part
    /// of a root joint that moves the instance is included.
    ///
    /// # Errors
    /// [`Error::Usage`] if the clip does not exist, or the rate or the height of the ground is not usable;
    /// [`Error::Limit`] for too many frames.
    pub fn of_clip(
        library: &Library,
        clip: ClipId,
        fps: f64,
        ground: GroundLevel,
    ) -> Result<(Self, FootContacts), Error> {
        Self::of_clip_on(library, clip, fps, &Stance::of_clip(library, clip, ground)?)
    }

    /// The same with a stance of the clip.
    ///
    /// # Errors
    /// [`Error::Usage`] if the stance belongs to another skeleton, or the rate is not usable; [`Error::Limit`] for too
    /// many frames.
    ///
    /// # Panics
    /// If the clip does not exist.
    pub fn of_clip_on(
        library: &Library,
        clip: ClipId,
        fps: f64,
        stance: &Stance,
    ) -> Result<(Self, FootContacts), Error> {
        let clip = library.clip(clip);
        let skeleton = library.skeleton(clip.skeleton);
        let grid = FrameGrid::new(fps, clip.duration())?;
        let mut meter = QualityMeter::new(stance, fps)?;
        let (mut places, mut rotations): (Vec<DVec3>, Vec<DQuat>) = (Vec::new(), Vec::new());
        for frame in 0..grid.len() {
            let local = Values::sampled(library, clip, grid.time(frame)).local;
            places.clear();
            places.extend(model_matrices(skeleton, &local).iter().map(|matrix| matrix.translation));
            rotations.clear();
            rotations.extend(local.iter().map(|transform| transform.rotation));
            meter.add(&places, &rotations)?;
        }
        Ok(meter.finish())
    }
}
