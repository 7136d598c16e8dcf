//! What starting takes: the steps from nothing to an engine's first pose.

use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Seconds of each step, in order.
#[derive(Debug, Clone, Default)]
pub struct StartUp {
    /// The steps, by name.
    pub steps: Vec<(&'static str, f64)>,
}

impl StartUp {
    /// The first step, the system's loading of the program. It is over before a program can look at a clock; so the program
    /// is started once more, to say its version. There is no step where that cannot be done.
    pub fn of_program() -> Self {
        let mut start_up = Self::default();
        let start = Instant::now();
        let again = env::current_exe().and_then(|program| {
            Command::new(program)
                .arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
        });
        if again.is_ok_and(|status| status.success()) {
            start_up.steps.push(("program", start.elapsed().as_secs_f64()));
        }
        start_up
    }

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
