//! The faults that end a clip, a file or a whole bake.

use posse::Error;

/// A fault of a bake. It decides the exit code, and if it makes sense to try again.
pub enum Fault {
    /// The usage or an input is wrong.
    Input(Error),
    /// An output cannot be written.
    Output(Error),
}

impl Fault {
    /// The fault of a writer: only a failure to write is that of the output.
    pub fn of_writer(error: Error) -> Self {
        if matches!(error, Error::Io { .. }) { Self::Output(error) } else { Self::Input(error) }
    }
}

/// An error of reading or posing an input. A lost device is no fault of the input.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        if matches!(error, Error::Device(_)) { Self::Output(error) } else { Self::Input(error) }
    }
}
