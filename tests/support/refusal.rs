//! What crowds answer to changes.

use posse::{Error, Refusal};

/// The reason for which a crowd refused a change; `None` if it is made. Any other error fails the test.
pub fn refusal(changed: Result<(), Error>) -> Option<Refusal> {
    changed.err().map(|error| error.refusal().unwrap_or_else(|| panic!("{error}")))
}
