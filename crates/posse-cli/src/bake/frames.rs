//! What of a clip is baked: all of its frames, or the frames of a range.
//!
//! A range counts frames from 0, with both ends, as the frame ranges of Blender, Maya and Unity do. Frames of BVH, FBX
//! and SMPL files are the frames of the file, whatever `--fps` is; all other clips have no frames of their own, and are
//! counted at the rate of the bake. The output has those frames of the whole bake that lie in the range, with the same
//! bits. Its times begin at 0.
//!
//! A range in seconds is another grid: its first frame is at its start. A clip that is written as a clip has a last
//! frame at its end, even if its duration is no multiple of the frame time; arrays have frames of the rate alone, and a
//! warning says what is after the last.

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
    /// The last frame; `None` for the last frame of the clip.
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

    /// Returns `true` for all frames of a clip.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClipPart {
    /// The name of the clip, if its piece or its mirror image has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// The frames.
    #[serde(default, skip_serializing_if = "FrameRange::is_whole")]
    pub range: FrameRange,
    /// True for the mirror image.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mirrored: bool,
}

/// The frame rates of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OwnRate {
    /// The rate of the file, or of the keys if they are evenly spaced.
    pub keys: Option<f64>,
    /// `true` if the file has frames, which a range counts: BVH, FBX and SMPL.
    pub has_frames: bool,
}

/// The options of a bake for the frames of a clip. The default has no rate, and all of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrameOptions {
    /// Frames per second; `None` for the rate of each clip.
    pub fps: Option<f64>,
    /// The part of each clip in seconds; `None` for all of it.
    pub seconds: Option<[f64; 2]>,
    /// `true` if the output has a frame at the end of the clip that is no multiple of the frame time.
    pub keeps_end: bool,
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
    /// What of the clip is after the last frame, and lost.
    pub rest: Option<String>,
}

impl ClipFrames {
    /// The frames of a range of a clip with a duration in seconds: at the rate of the options, otherwise at its own
    /// rate, otherwise at 30 per second.
    ///
    /// # Errors
    /// [`Error::Usage`] if the range begins after the clip, or holds no frame at the rate.
    pub fn new(range: FrameRange, options: FrameOptions, own: OwnRate, duration: f64) -> Result<Self, Error> {
        let fps = options.fps.or(own.keys).unwrap_or(DEFAULT_FPS);
        let grid = match options.seconds {
            Some(part) => FrameGrid::of_part(fps, duration, part)?,
            None => FrameGrid::new(fps, duration)?,
        };
        let whole = if options.keeps_end { grid.with_end() } else { grid };
        let rest = (whole.rest() > 0.0).then(|| rest_of(&whole));
        if range.is_whole() {
            let warning = options.seconds.map(|part| check_part(part, duration)).transpose()?.flatten();
            return Ok(Self { grid: whole, frames: 0..whole.len(), source: None, warning, rest });
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
        let frames = match last {
            None => frames.start..whole.len(),
            Some(_) if end == clip_last => frames.start..grid.len(),
            Some(_) => frames,
        };
        if frames.is_empty() {
            return Err(Error::Usage(format!(
                "the frames {range} hold no frame at {} per second; give a longer range, or a larger --fps",
                grid.fps()
            )));
        }
        let rest = rest.filter(|_| last.is_none());
        Ok(Self { grid: whole, frames, source: Some(SourceFrames { range, first, last: end }), warning, rest })
    }

    /// The warnings about the frames.
    pub fn warnings(&self) -> impl Iterator<Item = &String> {
        self.warning.iter().chain(&self.rest)
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
        if grid.is_clamped(frame) { time.min(grid.time(frame) - grid.time(frames.start)) } else { time }
    }
}

/// The warning about the end of a clip, or of its part, after the last frame.
fn rest_of(grid: &FrameGrid) -> String {
    let ([start, end], last) = (grid.part(), grid.time(grid.len() - 1));
    let (rest, length) = (grid.rest() as f32, (end - start) as f32);
    format!(
        "the last {rest} s are after the last frame, at {} s: {length} s are no multiple of 1/{} s",
        last as f32,
        grid.fps()
    )
}

/// Fails for a part of a clip that begins after it. Returns a warning about one that ends after it.
fn check_part([start, end]: [f64; 2], duration: f64) -> Result<Option<String>, Error> {
    if start > duration {
        return Err(Error::Usage(format!(
            "the range {start} to {end} s begins after the clip, which ends at {duration} s"
        )));
    }
    let warning = || format!("the range {start} to {end} s ends after the clip: the output ends at {duration} s");
    // Files round key times to `f32`.
    Ok((end > duration * (1.0 + 1e-6)).then(warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BVH: OwnRate = OwnRate { keys: Some(120.0), has_frames: true };

    fn frames(range: &str, fps: Option<f64>, own: OwnRate) -> Result<ClipFrames, String> {
        // The frames 0 to 240 of a BVH file.
        let options = FrameOptions { fps, ..FrameOptions::default() };
        ClipFrames::new(range.parse().unwrap(), options, own, 2.0).map_err(|error| error.to_string())
    }

    /// The times of frames of a clip in the clip and in the output.
    fn times(frames: &ClipFrames) -> [Vec<f64>; 2] {
        let times = |time: &dyn Fn(u64) -> f64| frames.frames.clone().map(time).collect();
        [times(&|frame| frames.grid.time(frame)), times(&|frame| frames.time(frame))]
    }

    #[test]
    fn a_range_in_seconds_begins_at_its_start() {
        let of = |seconds: [f64; 2]| {
            let options = FrameOptions { fps: Some(4.0), seconds: Some(seconds), keeps_end: false };
            ClipFrames::new(FrameRange::default(), options, OwnRate::default(), 2.0)
        };
        let part = of([0.5, 1.25]).unwrap();
        assert_eq!(times(&part), [vec![0.5, 0.75, 1.0, 1.25], vec![0.0, 0.25, 0.5, 0.75]]);
        assert_eq!(part.warnings().count(), 0);
        let late = of([1.625, 9.0]).unwrap();
        assert_eq!(times(&late)[0], [1.625, 1.875]);
        let warnings: Vec<&String> = late.warnings().collect();
        assert_eq!(warnings[0], "the range 1.625 to 9 s ends after the clip: the output ends at 2 s");
        let rest = "the last 0.125 s are after the last frame, at 1.875 s: 0.375 s are no multiple of 1/4 s";
        assert_eq!(warnings[1], rest);
        assert!(of([3.0, 4.0]).unwrap_err().to_string().contains("begins after the clip"));
    }

    #[test]
    fn a_clip_that_is_written_as_a_clip_keeps_its_end() {
        let of = |range: &str, keeps_end: bool| {
            let options = FrameOptions { fps: Some(15.0), keeps_end, ..FrameOptions::default() };
            ClipFrames::new(range.parse().unwrap(), options, OwnRate::default(), 0.1).unwrap()
        };
        let kept = of("0:", true);
        assert_eq!(times(&kept), [vec![0.0, 1.0 / 15.0, 0.1], vec![0.0, 1.0 / 15.0, 0.1]]);
        assert_eq!(kept.rest, None);
        let lost = of("0:", false);
        assert_eq!(lost.count(), 2);
        let rest = "the last 0.033333335 s are after the last frame, at 0.06666667 s: 0.1 s are no multiple of 1/15 s";
        assert_eq!(lost.rest.as_deref(), Some(rest));
        // A piece ends where it says, but one to the end of the clip has the end.
        assert_eq!(times(&of("1:", true)), [vec![1.0 / 15.0, 0.1], vec![0.0, 0.1 - 1.0 / 15.0]]);
        assert_eq!((of("0:1", true).count(), of("0:1", false).rest), (2, None));
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
        let options = FrameOptions { fps: Some(30.0), ..FrameOptions::default() };
        let cut = ClipFrames::new("60:".parse().unwrap(), options, OwnRate::default(), duration).unwrap();
        assert_eq!((cut.count(), cut.time(89), cut.time(90)), (31, 29.0 / 30.0, duration - 2.0));
    }
}
