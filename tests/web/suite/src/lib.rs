//! The native tests of posse in a browser. `build.rs` copies their sources; [`mod@posse`] is the crate with engines
//! that wait for the GPU, as they do natively.

#![allow(dead_code, unfulfilled_lint_expectations)]

/// Waiting for the GPU.
mod blocking;
/// The share of the contract that answers of the GPU use.
mod figures;
/// The page: its variables and its notes.
mod page;
/// The crate `posse`, with the paths that the tests import.
mod posse;

include!(concat!(env!("OUT_DIR"), "/suite.rs"));

use suite::*;
use wasm_bindgen::prelude::*;

/// The names of the tests.
#[wasm_bindgen]
pub fn names() -> Vec<String> {
    tests().map(|(name, _)| name.to_string()).collect()
}

/// The modules and tests that are left out, each with its reason.
#[wasm_bindgen]
pub fn left_out() -> Vec<String> {
    LEFT_OUT.iter().map(|(name, reason)| format!("{name}: {reason}")).collect()
}

/// Runs a test, by its index among the names. A failure is a panic, which ends the module.
#[wasm_bindgen]
pub fn run(index: usize) {
    std::panic::set_hook(Box::new(|panic| page::panicked(&panic.to_string())));
    let (name, test) = tests().nth(index).expect("a test");
    figures::begin(name);
    test();
}

fn tests() -> impl Iterator<Item = &'static (&'static str, fn())> {
    LISTS.iter().copied().flatten()
}
