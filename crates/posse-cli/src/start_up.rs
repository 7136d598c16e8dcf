//! The start-up time: the steps from the start of the program to the first pose of an engine.

#[cfg(feature = "gpu")]
use std::env;
#[cfg(feature = "gpu")]
use std::process::{Command, Stdio};
use std::time::Instant;

/// The steps of a start-up, in order.
#[derive(Debug, Clone, Default)]
pub struct StartUp {
    /// The name of each step, and its seconds.
    pub steps: Vec<(&'static str, f64)>,
}

impl StartUp {
    /// Measures the first step, the loading of the program by the system.
    ///
    /// A program cannot measure its own loading, so the program is started once more with `--version`. If that fails,
    /// the step is left out.
    #[cfg(feature = "gpu")]
    pub fn measure_program() -> Self {
        let mut start_up = Self::default();
        let start = Instant::now();
        let status = env::current_exe().and_then(|program| {
            Command::new(program)
                .arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
        });
        if status.is_ok_and(|status| status.success()) {
            start_up.steps.push(("program", start.elapsed().as_secs_f64()));
        }
        start_up
    }

    /// Runs a step, and stores its time.
    pub fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.steps.push((name, start.elapsed().as_secs_f64()));
        result
    }

    /// The total of all steps in seconds.
    #[cfg(feature = "gpu")]
    pub fn seconds(&self) -> f64 {
        self.steps.iter().map(|(_, seconds)| seconds).sum()
    }
}
