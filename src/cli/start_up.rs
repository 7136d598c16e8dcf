//! What starting takes: the steps from nothing to an engine's first pose.

use std::time::Instant;

/// Seconds of each step, in order.
#[derive(Debug, Clone, Default)]
pub struct StartUp {
    /// The steps, by name.
    pub steps: Vec<(&'static str, f64)>,
}

impl StartUp {
    /// Takes a step and notes how long it took.
    pub fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.steps.push((name, start.elapsed().as_secs_f64()));
        result
    }

    /// Seconds of all steps together.
    pub fn seconds(&self) -> f64 {
        self.steps.iter().map(|(_, seconds)| seconds).sum()
    }
}
