//! Work that is done in steps, so that the page stays responsive, and the clock by which a step ends.

use std::cell::RefCell;

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::js::{Result, object};

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

/// The work that remains. A step takes it, so that a second step at the same time fails.
pub struct Steps<W>(RefCell<Option<W>>);

/// The progress of the work: `Progress` of `posse.d.ts`.
#[derive(Serialize)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
}

impl<W> Steps<W> {
    /// Work of which nothing is done.
    pub fn new(work: W) -> Self {
        Self(RefCell::new(Some(work)))
    }

    /// Does a step. `step` returns true when all is done. Returns the progress, or `null` when all is done.
    pub async fn step(
        &self,
        step: impl AsyncFnOnce(&mut W) -> Result<bool>,
        progress: impl FnOnce() -> Progress,
    ) -> Result<JsValue> {
        let Some(mut work) = self.0.take() else {
            return Err(JsError::new("a step is at work, or an earlier one failed; await each step"));
        };
        let is_done = step(&mut work).await?;
        self.0.replace(Some(work));
        if is_done { Ok(JsValue::NULL) } else { object(&progress()) }
    }
}
