//! The clock of the browser, and the time that a slice of work may take.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

/// The milliseconds of a slice of work. With what began before its end, a slice stays below 50.
const SLICE: f64 = 25.0;

/// Milliseconds since the page or worker began.
pub fn milliseconds() -> f64 {
    now()
}

/// A slice of work.
pub struct Slice(f64);

impl Slice {
    /// Begins a slice.
    pub fn begin() -> Self {
        Self(milliseconds())
    }

    /// True if its time is over.
    pub fn is_over(&self) -> bool {
        milliseconds() - self.0 >= SLICE
    }
}
