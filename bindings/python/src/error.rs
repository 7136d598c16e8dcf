//! Errors of posse as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    posse_animation,
    Error,
    PyValueError,
    "A file that cannot be used, or a request that does not fit it. The message names the place and a hint."
);

/// The Python exception of an error: `OSError` or a class of it for a file that cannot be read, otherwise
/// `posse.Error`.
pub fn to_python(error: posse::Error) -> PyErr {
    match error {
        posse::Error::Io { file, source } => match source.raw_os_error() {
            Some(number) => {
                let text = source.to_string();
                // Python writes the number itself.
                let text = text.split(" (os error").next().unwrap_or_default().to_owned();
                PyOSError::new_err((number, text, file.into_os_string()))
            }
            None => PyOSError::new_err(format!("{}: {source}", file.display())),
        },
        other => Error::new_err(other.to_string()),
    }
}
