//! A bar for what takes longer than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on stderr that shows itself after a second, and only on a terminal.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// Progress towards a number of poses.
    pub fn new(poses: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(poses as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} poses, {eta} left") {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now() }
    }

    /// Notes that more poses are done.
    pub fn add(&self, poses: usize) {
        if self.bar.is_hidden() && self.started.elapsed() > Duration::from_secs(1) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(poses as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
