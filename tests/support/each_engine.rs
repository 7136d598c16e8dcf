//! Every engine that runs here, held to the same checks.

use posse::{Evaluator, Library, Reference};

/// Runs a check with each engine of a library.
pub fn each_engine(library: &Library, mut check: impl FnMut(&mut dyn Evaluator)) {
    check(&mut Reference::new(library));
}
