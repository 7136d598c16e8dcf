//! Errors with hints: of files that cannot be written, and errors that an option avoids.

use std::io::{self, ErrorKind};
use std::path::Path;

use posse::Error;

/// The text of an error, with the options that avoid it.
pub fn with_options(error: &Error) -> String {
    match error {
        Error::NoAdapter { .. } => {
            format!("{error}. Here, --engine gpu accepts a software adapter, and --engine cpu needs none")
        }
        _ => error.to_string(),
    }
}

/// Adds a hint to the error of a file that is created or written.
pub fn with_hint(error: io::Error) -> io::Error {
    match hint(error.kind()) {
        Some(hint) => io::Error::new(error.kind(), format!("{error}; {hint}")),
        None => error,
    }
}

/// Adds a hint to the error of a file that is created at a place.
pub fn with_hint_at(place: &Path, error: io::Error) -> io::Error {
    let is_here = |folder: &Path| folder == Path::new("") || folder.is_dir();
    if error.kind() == ErrorKind::NotFound && place.parent().is_some_and(is_here) {
        let text = format!("{error}; the folder is there, but takes no new files; write to another one");
        return io::Error::new(error.kind(), text);
    }
    with_hint(error)
}

fn hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("free some space there, or write to another disk"),
        ErrorKind::FileTooLarge => {
            Some("raise the limit for the size of files (ulimit -f), or write to a file system for larger files")
        }
        ErrorKind::ReadOnlyFilesystem => Some("the file system is read-only; write to another one"),
        ErrorKind::PermissionDenied => Some("change the permissions of the file and its folder, or write elsewhere"),
        ErrorKind::InvalidFilename => Some("give a name that the file system can store, for example a shorter one"),
        ErrorKind::NotFound | ErrorKind::NotADirectory => Some("create the folder first"),
        ErrorKind::IsADirectory => Some("give the name of a file"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_keeps_the_kind_and_the_text() {
        let error = with_hint(ErrorKind::StorageFull.into());
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert_eq!(error.to_string(), "no storage space; free some space there, or write to another disk");
        assert_eq!(with_hint(ErrorKind::BrokenPipe.into()).to_string(), "broken pipe");
    }

    #[test]
    fn a_folder_that_is_there_need_not_be_created() {
        let folder = tempfile::tempdir().unwrap();
        let hint = |place: &Path| with_hint_at(place, ErrorKind::NotFound.into()).to_string();
        assert!(hint(&folder.path().join("a.png")).contains("takes no new files"));
        assert!(hint(Path::new("a.png")).contains("takes no new files"));
        assert!(hint(&folder.path().join("no/a.png")).contains("create the folder first"));
    }
}
