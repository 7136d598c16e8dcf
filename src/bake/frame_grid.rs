//! Evenly spaced times of a clip.

use std::collections::HashSet;
use std::sync::Arc;

use crate::bake::Moment;
use crate::error::Error;
use crate::model::{Clip, ClipId};

/// The frame rate of clips whose keys have none: frames per second.
pub const DEFAULT_FPS: f64 = 30.0;

/// The largest number of frames of a [`FrameGrid`].
pub const MOST_FRAMES: u64 = 1 << 32;

/// The least tolerance of the last frame, in frames.
const TOLERANCE: f64 = 1e-3;

/// The tolerance of the last frame as a share of all frames: two roundings of an `f32`.
const TOLERANCE_SHARE: f64 = 1.0 / 4_194_304.0;

/// The largest difference of key gaps of one rate, as a share of their mean.
const GAP_SHARE: f64 = 1e-3;

/// The rounding of an `f32` between neighbouring key times, as a share of the time.
const ROUNDING: f64 = 1.0 / 8_388_608.0;

/// The times of a clip at a frame rate: `frame / fps`, from 0 to the duration.
///
/// The last frame may be a little later than the duration, because files store key times in `f32`; its time is then the duration.
/// The tolerance is 1e-3 frames, and for more than 4,194 frames 2^-22 of their number.
///
/// # Examples
/// ```
/// use posse::bake::FrameGrid;
///
/// # fn main() -> Result<(), posse::Error> {
/// // The last of 91 keys at 30 Hz, rounded to an f32.
/// let duration = f64::from(2.999_999_8_f32);
/// let grid = FrameGrid::new(30.0, duration)?;
/// assert_eq!((grid.len(), grid.time(1), grid.time(90)), (91, 1.0 / 30.0, duration));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameGrid {
    fps: f64,
    duration: f64,
    len: u64,
}

impl FrameGrid {
    /// The frames of a clip with a duration in seconds.
    ///
    /// # Errors
    /// * [`Error::Usage`] if the rate is not finite and more than 0, or the duration is not finite and 0 or more.
    /// * [`Error::Limit`] for more than [`MOST_FRAMES`] frames.
    pub fn new(fps: f64, duration: f64) -> Result<Self, Error> {
        if !(fps > 0.0 && fps.is_finite()) {
            return Err(Error::Usage(format!("the frame rate is {fps} per second; expected a finite number above 0")));
        }
        if !(duration >= 0.0 && duration.is_finite()) {
            return Err(Error::Usage(format!("the duration is {duration} s; expected a finite number of 0 or more")));
        }
        // `as` turns a number beyond the range of the integer into its largest one.
        let len = (last_frame(0.0, duration, fps) as u64).saturating_add(1);
        if len > MOST_FRAMES {
            let what = format!("frames of {duration} s at {fps} per second");
            return Err(Error::Limit { what, needed: len, allowed: MOST_FRAMES });
        }
        Ok(Self { fps, duration, len })
    }

    /// The number of frames, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is always a frame")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Frames per second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// The duration of the clip in seconds.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// The time of a frame in seconds, at most the duration.
    pub fn time(&self, frame: u64) -> f64 {
        (frame as f64 / self.fps).min(self.duration)
    }

    /// The times between which the velocities of a frame are measured: `1 / fps` before and after its time, or the ends of the clip.
    pub fn span(&self, frame: u64) -> [f64; 2] {
        // A time that is clamped to the duration is less than `1 / fps` after the frame before.
        let is_clamped = frame as f64 / self.fps > self.duration;
        let before = if is_clamped {
            (self.duration - 1.0 / self.fps).max(0.0)
        } else {
            // Frames share the poses of their neighbours, so that the times must have the same bits.
            self.time(frame.saturating_sub(1))
        };
        [before, self.time(frame.saturating_add(1))]
    }

    /// A clip at a frame. Its velocities are measured over its [`span`](Self::span).
    pub fn moment(&self, clip: ClipId, frame: u64) -> Moment {
        let [before, after] = self.span(frame);
        Moment { clip, time: self.time(frame), before, after }
    }
}

/// The index of the last frame from one time to another, in seconds: `floor((to - from) x fps + tolerance)`, with the tolerance of
/// [`FrameGrid`] for the frames up to the later time. It is a whole number or infinite, if the times are in order.
pub fn last_frame(from: f64, to: f64, fps: f64) -> f64 {
    let rounding = from.abs().max(to.abs()) * fps * TOLERANCE_SHARE;
    ((to - from) * fps + TOLERANCE.max(rounding)).floor()
}

/// The frame rate of the keys of a clip, if all gaps between keys are within 1e-3 of their mean, and within the rounding of an `f32`
/// of their times. `None` without gaps.
///
/// A rate within the rounding of an `f32` of a whole number is that number.
pub fn native_fps(clip: &Clip) -> Option<f64> {
    let mut known = HashSet::new();
    let timelines = clip.tracks.iter().map(|track| track.curve.timeline());
    let timelines: Vec<&[f64]> =
        timelines.filter(|timeline| known.insert(Arc::as_ptr(timeline))).map(|timeline| timeline.times()).collect();
    let gaps: usize = timelines.iter().map(|times| times.len() - 1).sum();
    let lengths: f64 = timelines.iter().map(|times| times[times.len() - 1] - times[0]).sum();
    let mean = lengths / gaps as f64;
    let is_even = |pair: &[f64]| {
        let tolerance = GAP_SHARE * mean + ROUNDING * pair[0].abs().max(pair[1].abs());
        (pair[1] - pair[0] - mean).abs() <= tolerance
    };
    if gaps == 0 || mean <= 0.0 || !timelines.iter().all(|times| times.windows(2).all(is_even)) {
        return None;
    }
    let (fps, whole) = (1.0 / mean, (1.0 / mean).round());
    Some(if (fps - whole).abs() <= whole * TOLERANCE_SHARE { whole } else { fps })
}
