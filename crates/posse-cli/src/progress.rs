//! A progress bar for work that takes longer than a second.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};

/// The time before the bar appears.
const DELAY: Duration = Duration::from_secs(1);

/// The bars of the process.
static BARS: Mutex<Vec<WeakProgressBar>> = Mutex::new(Vec::new());

/// Adds a bar to the bars that [`clear_all`] removes.
pub fn register(bar: &ProgressBar) {
    let mut bars = BARS.lock().unwrap_or_else(PoisonError::into_inner);
    bars.retain(|bar| bar.upgrade().is_some());
    bars.push(bar.downgrade());
}

/// Removes all bars from the terminal, before a signal ends the process.
#[cfg_attr(not(unix), expect(dead_code, reason = "other systems have no signals"))]
pub fn clear_all() {
    let bars = BARS.lock().unwrap_or_else(PoisonError::into_inner);
    bars.iter().filter_map(WeakProgressBar::upgrade).for_each(|bar| bar.finish_and_clear());
}

/// A progress bar on stderr. It appears after a second, and only on a terminal.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// A bar for a total number of items. `items` is their plural noun.
    pub fn new(total: usize, items: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} {msg}, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(items);
        register(&bar);
        Self { bar, started: Instant::now() }
    }

    /// A spinner for work without a known total.
    pub fn waiting(message: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_message(message);
        bar.enable_steady_tick(DELAY);
        register(&bar);
        Self { bar, started: Instant::now() }
    }

    /// Adds finished items.
    pub fn add(&self, count: usize) {
        if self.bar.is_hidden() && self.started.elapsed() > DELAY {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(count as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
