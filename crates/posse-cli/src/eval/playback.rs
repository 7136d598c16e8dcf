//! The playback of `posse eval`: `--wrap`, `--repeat-count`, `--speed` and `--range`.

use posse::{Clip, Error, Playback, Ticks, WrapMode};

use crate::arguments::parse_seconds;
use crate::evaluation::ClipPlayback;

/// The options of a playback.
#[derive(Debug, clap::Args)]
pub struct PlaybackArgs {
    /// Plays the clip. Times are then seconds since the play began, and each sample also has the time of the clip.
    ///
    /// The modes are default (the mode of the clip), normal, loop, pingpong, reverse, loopreverse and pingpongreverse; case, `-` and
    /// `_` do not matter.
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    wrap: Option<WrapMode>,
    /// The number of passes until the play stops, with or without a fraction, or `inf`. Default: that of the mode, 1 or `inf`.
    #[arg(long, value_name = "R", requires = "wrap", allow_hyphen_values = true, value_parser = parse_count)]
    repeat_count: Option<f64>,
    /// Seconds of the clip per second of play; negative plays backwards. Default: 1. The speed that the clip stores is ignored.
    #[arg(long, value_name = "S", requires = "wrap", allow_hyphen_values = true, value_parser = parse_speed)]
    speed: Option<f64>,
    /// The part of the clip that plays, in seconds from A to B. Default: the whole clip.
    #[arg(long, value_name = "A,B", requires = "wrap", allow_hyphen_values = true, value_parser = parse_range)]
    range: Option<[f64; 2]>,
}

impl PlaybackArgs {
    /// The playback of a clip; `None` without `--wrap`. Fails if there is no clip.
    pub fn playback(&self, clip: Option<&Clip>) -> Result<Option<ClipPlayback>, Error> {
        let Some(wrap) = self.wrap else { return Ok(None) };
        let Some(clip) = clip else {
            return Err(Error::Usage("--wrap plays a clip, and the file has none".into()));
        };
        let playback = Playback {
            repeat_count: self.repeat_count,
            range: self.range,
            ..Playback::new(wrap, Ticks::default(), self.speed.unwrap_or(1.0))
        };
        Ok(Some(ClipPlayback { playback: playback.resolve_wrap(clip.wrap), duration: clip.duration() }))
    }
}

fn parse_mode(text: &str) -> Result<WrapMode, String> {
    WrapMode::from_name(text).ok_or_else(|| {
        let names: Vec<_> = WrapMode::ALL.iter().map(|mode| mode.name()).collect();
        format!("an unknown mode; expected one of {}", names.join(", "))
    })
}

fn parse_count(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(count) if count >= 0.0 => Ok(count),
        Ok(_) => Err("a number of 0 or more is needed".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match parse_seconds(text)? {
        speed if speed.abs() <= 1e4 => Ok(speed),
        _ => Err("a speed from -1e4 to 1e4 is needed".into()),
    }
}

fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let (start, end) = text.split_once(',').ok_or("not two times, as in 0.5,2")?;
    match [parse_seconds(start)?, parse_seconds(end)?] {
        [start, end] if start <= end => Ok([start, end]),
        [start, end] => Err(format!("the range ends at {end} s, before it starts at {start} s")),
    }
}
