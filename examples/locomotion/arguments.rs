//! The arguments of an example.

use super::output::Outcome;

/// The number of an argument, or else a default. `expected` lists the arguments, for the message about one that is no
/// number.
pub fn number(argument: Option<String>, default: usize, expected: &str) -> Outcome<usize> {
    let Some(text) = argument else { return Ok(default) };
    text.parse().map_err(|_| format!("{text:?} is not a number; expected {expected}").into())
}
