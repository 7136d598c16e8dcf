//! The npm package `posse`: crowds of animated characters on WebGPU, for pages and workers.
//!
//! `posse.d.ts` describes the classes for their callers. A class holds a shared state, so that a method that awaits
//! does not lock the object: other methods may be called meanwhile.

mod check;
mod clock;
mod crowd;
mod figure;
mod gpu;
mod joints;
mod js;
mod layer;
mod library;
mod measure;
mod measured_size;
#[cfg(feature = "retarget")]
mod retarget;
mod run;
mod source;
mod spread;
mod steps;
mod view;

use wasm_bindgen::prelude::*;

/// Reports panics to the console before the module stops.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| {
        web_sys::console::error_1(&format!("posse: internal error, please report it: {panic}").into());
    }));
}
