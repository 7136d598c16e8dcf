//! Who is measured.

use std::thread;

use super::args::Args;
use crate::cli::engine::EngineChoice;

/// An engine, and the threads of the CPU's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineUnderTest {
    /// The engine.
    pub choice: EngineChoice,
    /// `None` for one a core.
    pub threads: Option<usize>,
}

impl Args {
    /// Each engine, the CPU's with each number of threads.
    pub fn engines_under_test(&self) -> Vec<EngineUnderTest> {
        let several = || thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let threads: Vec<Option<usize>> = match &self.threads[..] {
            [] if self.report.is_some() && several() => vec![Some(1), None],
            [] => vec![None],
            threads => threads.iter().copied().map(Some).collect(),
        };
        let of = |&choice: &EngineChoice| match choice {
            EngineChoice::Cpu | EngineChoice::Auto => {
                threads.iter().map(|&threads| EngineUnderTest { choice, threads }).collect()
            }
            EngineChoice::Gpu | EngineChoice::Reference => vec![EngineUnderTest { choice, threads: None }],
        };
        self.engines().iter().flat_map(of).collect()
    }
}
