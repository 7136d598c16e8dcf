//! What a build without the feature `gpu` has in place of the GPU engine and the renderer: errors that say so.

use std::path::{Path, PathBuf};

use posse::Error;

use crate::retargeting::Retargeted;
use crate::source::Rig;

/// The message for whatever needs them.
const REASON: &str = "this posse was built without the GPU engine and the renderer, as the Python package has it. Build it with them: \
                      cargo install --path crates/posse-cli";

/// The error of a command or option that needs them.
pub fn error() -> Error {
    Error::Usage(REASON.into())
}

/// The option `--picture` of `posse retarget`, which is refused.
#[derive(Debug, clap::Args)]
pub struct PictureArgs {
    /// Draws a .png, in builds with the feature `gpu`.
    #[arg(long, value_name = "OUT.png", value_parser = refuse)]
    picture: Option<PathBuf>,
}

fn refuse(_: &str) -> Result<PathBuf, String> {
    Err(REASON.into())
}

/// A picture of `posse retarget`. There is none.
#[derive(Debug)]
pub enum PictureFile {}

impl PictureArgs {
    /// No picture is drawn.
    pub fn is_wanted(&self) -> bool {
        false
    }

    /// Nothing is wrong without the option.
    pub fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// No picture.
    pub fn open(&self, _clips: usize) -> Result<Option<PictureFile>, Error> {
        Ok(None)
    }
}

impl PictureFile {
    /// Never called.
    pub fn draw(&self, _retargeted: &mut Retargeted, _file: &Path, _target: &Rig) -> Result<Self, Error> {
        match *self {}
    }

    /// Never called.
    pub fn write(&self, _drawn: &Self) -> Result<(), Error> {
        match *self {}
    }
}
