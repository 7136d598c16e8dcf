//! Which engine is to answer.

use posse::error::Error;
use posse::evaluator::Evaluator;
use posse::model::library::Library;
use posse::reference::Reference;

use crate::cli::output::note;

/// An engine, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// A hardware GPU where there is one, else the CPU.
    Auto,
    /// The GPU; a software adapter where there is no other.
    Gpu,
    /// The CPU.
    Cpu,
    /// The f64 reference.
    Reference,
}

/// The choice of an engine.
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// Which engine answers.
    #[arg(long, value_enum, default_value = "auto")]
    pub engine: Choice,
}

/// The chosen engine for a library.
pub fn open<'a>(library: &'a Library, choice: Choice) -> Result<Box<dyn Evaluator + 'a>, Error> {
    match choice {
        Choice::Reference => Ok(Box::new(Reference::new(library))),
        Choice::Auto | Choice::Gpu | Choice::Cpu => Err(Error::Usage("not built yet".into())),
    }
}

/// Says which engine answers, on stderr.
pub fn introduce(engine: &dyn Evaluator) {
    note(&format!("engine: {} ({})", engine.engine(), engine.adapter()));
}
