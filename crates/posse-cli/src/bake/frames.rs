//! What of a clip is baked: all of its frames, or those of a range.
//!
//! A range counts frames from 0, with both ends, as the frame ranges of Blender, Maya and Unity do. Frames of a BVH file
//! are those of the file, whatever `--fps` is; all other clips have no frames of their own, and are counted at the rate
//! of the bake. The output has those frames of the whole bake that lie in the range, with the same bits. Its times begin
//! at 0.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use posse::Error;
use posse::bake::{DEFAULT_FPS, FrameGrid, last_frame};
use serde::{Deserialize, Serialize};

/// Frames from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FrameRange {
    /// The first frame.
    pub first: u64,
    /// The last frame; `None` for that of the clip.
    pub last: Option<u64>,
}

impl FrameRange {
    /// A range whose first frame is not after its last.
    pub fn new(first: u64, last: Option<u64>) -> Result<Self, String> {
        match last {
            Some(last) if last < first => Err(format!("the last frame, {last}, is before the first, {first}")),
            _ => Ok(Self { first, last }),
        }
    }

    /// Returns true for all frames of a clip.
    pub fn is_whole(self) -> bool {
        self == Self::default()
    }
}

impl FromStr for FrameRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected A:B, A: or :B, frames counted from 0 with both ends, for example 10:70";
        let frame = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse::<u64>().map(Some).map_err(|_| expected.to_owned()),
        };
        match text.split_once(':') {
            Some((first, last)) if !first.trim().is_empty() || !last.trim().is_empty() => {
                Self::new(frame(first)?.unwrap_or(0), frame(last)?)
            }
            _ => Err(expected.into()),
        }
    }
}

impl TryFrom<String> for FrameRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<FrameRange> for String {
    fn from(range: FrameRange) -> Self {
        range.to_string()
    }
}

impl fmt::Display for FrameRange {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let Self { first, last } = self;
        match last {
            Some(last) => write!(to, "{first}:{last}"),
            None => write!(to, "{first}:"),
        }
    }
}

/// The frames of a clip that an output has, as a range counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFrames {
    /// The range that was asked for.
    pub range: FrameRange,
    /// The first frame of it.
    pub first: u64,
    /// The last frame of it that the clip has.
    pub last: u64,
}

/// What of a file becomes an output, besides the clip's index: all of a clip by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClipPart {
    /// The name of the clip, if its piece or its mirror image has another one.
    pub clip: Option<String>,
    /// The frames.
    pub range: FrameRange,
    /// True for the mirror image.
    pub mirrored: bool,
}

/// The frame rates of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OwnRate {
    /// The rate of the keys, if they are evenly spaced.
    pub keys: Option<f64>,
    /// True if the file has frames, which a range counts: it is a BVH file.
    pub has_frames: bool,
}

/// The frames of a clip that become an output.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipFrames {
    /// All frames of the clip at the rate of the bake.
    pub grid: FrameGrid,
    /// The frames that are baked.
    pub frames: Range<u64>,
    /// What the output states about a range; `None` for a whole clip.
    pub source: Option<SourceFrames>,
    /// What was changed about a range.
    pub warning: Option<String>,
}

impl ClipFrames {
    /// The frames of a range of a clip with a duration in seconds: at `fps`, otherwise at its own rate, otherwise at 30
    /// per second.
    ///
    /// # Errors
    /// [`Error::Usage`] if the range begins after the clip, or holds no frame at the rate.
    pub fn new(range: FrameRange, fps: Option<f64>, own: OwnRate, duration: f64) -> Result<Self, Error> {
        let grid = FrameGrid::new(fps.or(own.keys).unwrap_or(DEFAULT_FPS), duration)?;
        if range.is_whole() {
            return Ok(Self { grid, frames: 0..grid.len(), source: None, warning: None });
        }
        let counted = match own.keys.filter(|_| own.has_frames) {
            Some(rate) => FrameGrid::new(rate, duration)?,
            None => grid,
        };
        let FrameRange { first, last } = range;
        let clip_last = counted.len() - 1;
        if first > clip_last {
            let hint = "frames are counted from 0";
            return Err(Error::Usage(format!(
                "the frames {range} begin after the clip, whose last frame is {clip_last}; {hint}"
            )));
        }
        let end = last.map_or(clip_last, |last| last.min(clip_last));
        let warning = last.filter(|last| *last > clip_last).map(|_| {
            format!("the frames {range} end after the clip, whose last frame is {clip_last}: the output ends there")
        });
        // Frames of the bake by their times, with the tolerance of the last frame of a clip.
        let time = |frame: u64| frame as f64 / counted.fps();
        let from = -last_frame(time(first), 0.0, grid.fps());
        let to = last_frame(0.0, time(end), grid.fps());
        // `as` turns numbers beyond the range of the integer into its ends.
        let frames = from as u64..(to as u64).saturating_add(1).min(grid.len());
        let frames = if end == clip_last { frames.start..grid.len() } else { frames };
        if frames.is_empty() {
            return Err(Error::Usage(format!(
                "the frames {range} hold no frame at {} per second; give a longer range, or a larger --fps",
                grid.fps()
            )));
        }
        Ok(Self { grid, frames, source: Some(SourceFrames { range, first, last: end }), warning })
    }

    /// The number of frames, at least 1.
    pub fn count(&self) -> u64 {
        self.frames.end - self.frames.start
    }

    /// The time of a frame in the output: the first is at 0.
    pub fn time(&self, frame: u64) -> f64 {
        let Self { grid, frames, .. } = self;
        let time = (frame - frames.start) as f64 / grid.fps();
        // Only the last frame of a clip is clamped.
        let is_clamped = grid.time(frame) < frame as f64 / grid.fps();
        if is_clamped { time.min(grid.duration() - grid.time(frames.start)) } else { time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BVH: OwnRate = OwnRate { keys: Some(120.0), has_frames: true };

    fn frames(range: &str, fps: Option<f64>, own: OwnRate) -> Result<ClipFrames, String> {
        // The frames 0 to 240 of a BVH file.
        ClipFrames::new(range.parse().unwrap(), fps, own, 2.0).map_err(|error| error.to_string())
    }

    #[test]
    fn ranges_have_both_ends_and_may_be_open() {
        for (text, first, last, shown) in [
            ("10:70", 10, Some(70), "10:70"),
            (" 7 : 7 ", 7, Some(7), "7:7"),
            ("10:", 10, None, "10:"),
            (":70", 0, Some(70), "0:70"),
        ] {
            let range: FrameRange = text.parse().unwrap();
            assert_eq!((range, range.to_string().as_str()), (FrameRange { first, last }, shown));
            assert_eq!(serde_json::from_str::<FrameRange>(&format!("\"{shown}\"")).unwrap(), range);
        }
        for text in ["", ":", "7", "-1:5", "1.5:3", "a:b", "1:2:3", "10-70"] {
            assert!(text.parse::<FrameRange>().unwrap_err().starts_with("expected A:B"), "{text}");
        }
        let backward = "70:10".parse::<FrameRange>().unwrap_err();
        assert_eq!(backward, "the last frame, 10, is before the first, 70");
        assert!(FrameRange::default().is_whole() && "0:".parse::<FrameRange>().unwrap().is_whole());
    }

    #[test]
    fn frames_of_a_bvh_file_are_its_own_at_any_rate() {
        let of = |range: &str, fps| frames(range, fps, BVH).unwrap().frames;
        assert_eq!(of("0:240", None), 0..241);
        assert_eq!(of("10:70", None), 10..71);
        // Of every fourth frame, 12 is the first from 10 on, and 68 the last up to 70.
        assert_eq!(of("10:70", Some(30.0)), 3..18);
        assert_eq!(of("12:68", Some(30.0)), 3..18);
        assert_eq!(of("200:", Some(30.0)), 50..61);
        // Twice the rate: from 20 to 140.
        assert_eq!(of("10:70", Some(240.0)), 20..141);
        let error = frames("13:15", Some(30.0), BVH).unwrap_err();
        assert!(error.contains("the frames 13:15 hold no frame at 30 per second"), "{error}");
    }

    #[test]
    fn frames_of_other_clips_are_those_of_the_bake() {
        let own = OwnRate { keys: Some(1.0), has_frames: false };
        assert_eq!(frames("10:20", Some(30.0), own).unwrap().frames, 10..21);
        assert_eq!(frames("1:", None, own).unwrap().frames, 1..3);
        assert_eq!(frames("10:20", None, OwnRate::default()).unwrap().frames, 10..21);
    }

    #[test]
    fn a_range_beyond_the_clip_is_shortened_or_refused() {
        let shortened = frames("200:300", None, BVH).unwrap();
        assert_eq!((shortened.frames.clone(), shortened.count()), (200..241, 41));
        let source = shortened.source.unwrap();
        assert_eq!((source.first, source.last, source.range.to_string().as_str()), (200, 240, "200:300"));
        assert!(shortened.warning.unwrap().contains("whose last frame is 240"));
        assert!(frames("240:240", None, BVH).unwrap().warning.is_none());
        let error = frames("241:", None, BVH).unwrap_err();
        assert!(error.contains("begin after the clip, whose last frame is 240"), "{error}");
    }

    #[test]
    fn times_begin_at_0_and_a_clamped_end_stays_clamped() {
        let cut = frames("24:48", Some(30.0), BVH).unwrap();
        assert_eq!(
            cut.frames.clone().map(|frame| cut.time(frame)).collect::<Vec<_>>(),
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|frame| frame / 30.0)
        );
        // The last of 91 keys at 30 Hz, rounded to an f32.
        let duration = f64::from(2.999_999_8_f32);
        let cut = ClipFrames::new("60:".parse().unwrap(), Some(30.0), OwnRate::default(), duration).unwrap();
        assert_eq!((cut.count(), cut.time(89), cut.time(90)), (31, 29.0 / 30.0, duration - 2.0));
    }
}
