//! How many threads work at once where nobody says.

use std::thread;

/// As many threads as the machine has cores for.
pub fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
