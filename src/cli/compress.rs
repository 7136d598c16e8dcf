//! Compressed keys, where a command is asked for them.

use posse::{CompressedLibrary, Error, ErrorBound, Length, Library};

/// Whether keys are compressed, and how much they may be off.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct CompressArgs {
    /// Keys as integers of as few bits as keep every joint within this: a length in the rig's units (0.001), or a share of
    /// its size (0.01%).
    #[arg(long, value_name = "LENGTH")]
    pub compressed: Option<Length>,
    /// How far about each joint that must hold, in the same way.
    #[arg(long, value_name = "LENGTH", default_value = "3%", requires = "compressed")]
    pub shell: Length,
}

impl CompressArgs {
    /// The compressed form of a library, where one is wanted.
    pub fn of(self, library: &Library) -> Result<Option<CompressedLibrary>, Error> {
        let bound = |error| ErrorBound { error, shell: self.shell };
        self.compressed.map(|error| CompressedLibrary::new(library, bound(error))).transpose()
    }
}
