//! The npm package `posse`: crowds of animated characters, for pages, workers and Node.js.
//!
//! With the feature `gpu`, it is the entry `posse`, on WebGPU; without it, the entry `posse/cpu`. Both have classes of
//! the same names. `posse.d.ts` and `cpu.d.ts` describe them for their callers. A class with methods that await holds a
//! shared state, so that such a method does not lock the object: other methods may be called meanwhile.

#[cfg(feature = "gpu")]
mod check;
#[cfg(not(feature = "gpu"))]
mod cpu_crowd;
#[cfg(feature = "gpu")]
mod crowd;
mod driver;
mod fields;
#[cfg(feature = "gpu")]
mod figure;
#[cfg(feature = "gpu")]
mod gpu;
mod instances;
mod inverse_kinematics;
mod joints;
mod js;
mod layer;
mod library;
#[cfg(feature = "gpu")]
mod measure;
#[cfg(feature = "gpu")]
mod measured_size;
mod names;
mod outputs;
#[cfg(feature = "retarget")]
mod retarget;
mod root_motion;
#[cfg(feature = "gpu")]
mod run;
mod source;
#[cfg(feature = "gpu")]
mod steps;
#[cfg(feature = "gpu")]
mod view;

use wasm_bindgen::prelude::*;

/// Reports panics to the console before the module stops.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| {
        web_sys::console::error_1(&format!("posse: internal error, please report it: {panic}").into());
    }));
}
