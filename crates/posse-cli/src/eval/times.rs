//! The times of `posse eval`: `--times`, `--fps`, `--from` and `--to`.

use posse::bake::last_frame;
use posse::{Clip, Error};

use crate::arguments::{check_limit, parse_seconds};

/// The largest number of times of a frame rate.
const MAX_TIMES: u64 = 1 << 24;

/// A list of times, or a frame rate.
#[derive(Debug, clap::Args)]
pub struct TimeArgs {
    /// Times in seconds of the clip, clamped to its keys; with --wrap since the play began; with --crowd of the crowd clock.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_seconds)]
    times: Vec<f64>,
    /// Evenly spaced times, this many per second. The last one may be a little after the end, because files round key times; it is
    /// then the end.
    #[arg(long, value_name = "F", conflicts_with = "times", allow_hyphen_values = true, value_parser = parse_seconds)]
    fps: Option<f64>,
    /// The first of the evenly spaced times. Default: 0.
    #[arg(long, value_name = "SECONDS", requires = "fps", conflicts_with = "times", allow_hyphen_values = true, value_parser = parse_seconds)]
    from: Option<f64>,
    /// The end of the evenly spaced times. Default: the duration of the clip. A crowd has no default.
    #[arg(long, value_name = "SECONDS", requires = "fps", conflicts_with = "times", allow_hyphen_values = true, value_parser = parse_seconds)]
    to: Option<f64>,
}

impl TimeArgs {
    /// The times for a crowd. Its clock has no end, so `--fps` needs `--to`.
    pub fn on_clock(&self) -> Result<Vec<f64>, Error> {
        match (self.fps, self.to) {
            (None, _) if self.times.is_empty() => {
                Err(Error::Usage("no times given; give --times A,B,C, or --fps F with --to SECONDS".into()))
            }
            (Some(_), None) => {
                Err(Error::Usage("--fps needs an end: a crowd clock has none; give --to SECONDS".into()))
            }
            _ => self.times(None),
        }
    }

    /// The times for a clip, or for a rest pose.
    pub fn times(&self, clip: Option<&Clip>) -> Result<Vec<f64>, Error> {
        let Some(fps) = self.fps else {
            return match (self.times.is_empty(), clip) {
                (false, _) => Ok(self.times.clone()),
                (true, None) => Ok(vec![0.0]),
                (true, Some(_)) => Err(Error::Usage("no times given; give --times A,B,C or --fps F".into())),
            };
        };
        let (from, to) = (self.from.unwrap_or(0.0), self.to.unwrap_or_else(|| clip.map_or(0.0, Clip::duration)));
        if fps <= 0.0 || from > to {
            return Err(Error::Usage(format!(
                "no times: from {from} s to {to} s at {fps} per second; give a positive --fps, and --to after --from"
            )));
        }
        let frames = last_frame(from, to, fps);
        check_limit("samples, by --fps, --from and --to", frames as u64, MAX_TIMES)?;
        Ok((0..=frames as u64).map(|frame| (from + frame as f64 / fps).min(to)).collect())
    }
}
