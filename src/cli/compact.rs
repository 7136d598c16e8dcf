//! Compact keys, where a command is asked for them.

use posse::error::Error;
use posse::model::library::Library;
use posse::pack::compact::Compaction;
use posse::pack::compact::bound::{Bound, Length};

/// Whether keys are compact, and how much they may be off.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct CompactArgs {
    /// Keys as integers of as few bits as keep every joint within this: a length in the rig's units (0.001), or a share of
    /// its size (0.01%).
    #[arg(long, value_name = "LENGTH")]
    pub compact: Option<Length>,
    /// How far about each joint that must hold, in the same way.
    #[arg(long, value_name = "LENGTH", default_value = "3%", requires = "compact")]
    pub shell: Length,
}

impl CompactArgs {
    /// The compact form of a library, where one is wanted.
    pub fn of(self, library: &Library) -> Result<Option<Compaction>, Error> {
        let bound = |error| Bound { error, shell: self.shell };
        self.compact.map(|error| Compaction::new(library, bound(error))).transpose()
    }
}
