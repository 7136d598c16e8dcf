//! Who is measured.

use std::thread;

use super::Args;
use crate::cli::engine::Choice;

/// An engine, and the threads of the CPU's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contender {
    /// The engine.
    pub choice: Choice,
    /// `None` for one a core.
    pub threads: Option<usize>,
}

impl Args {
    /// Each engine, the CPU's with each number of threads.
    pub fn contenders(&self) -> Vec<Contender> {
        let several = || thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let threads: Vec<Option<usize>> = match &self.threads[..] {
            [] if self.report.is_some() && several() => vec![Some(1), None],
            [] => vec![None],
            threads => threads.iter().copied().map(Some).collect(),
        };
        let of = |&choice: &Choice| match choice {
            Choice::Cpu | Choice::Auto => threads.iter().map(|&threads| Contender { choice, threads }).collect(),
            Choice::Gpu | Choice::Reference => vec![Contender { choice, threads: None }],
        };
        self.engines().iter().flat_map(of).collect()
    }
}
