//! The errors of the interface: a code, and a text for people.

use crate::types::Status;

/// The error of a call.
#[derive(Debug)]
pub struct Error {
    pub status: Status,
    pub text: String,
}

/// The result of a call or of a part of it.
pub type Outcome<T> = Result<T, Error>;

impl Error {
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// An argument that cannot be used.
    pub fn argument(text: impl Into<String>) -> Self {
        Self::new(Status::Argument, text)
    }

    /// An index beyond the end of a list.
    pub fn index(item: &str, index: u32, count: usize) -> Self {
        Self::new(Status::Index, format!("there is no {item} {index}; there are {count}, numbered from 0"))
    }

    /// A lock whose holder has panicked.
    pub fn poisoned() -> Self {
        Self::new(Status::Internal, "an earlier call on this handle failed by an internal error; destroy the handle")
    }
}

impl From<posse::Error> for Error {
    fn from(error: posse::Error) -> Self {
        let status = match &error {
            posse::Error::Io { .. } | posse::Error::Import { .. } => Status::File,
            posse::Error::Limit { .. } => Status::Limit,
            _ => Status::Argument,
        };
        match error {
            // The library counts the instances of a chunk, and the caller knows which one it gave.
            posse::Error::Instance { reason, .. } => Self::new(status, reason),
            error => Self::new(status, error.to_string()),
        }
    }
}
