//! What crowds give out: their outputs by options, the events of a step, and the buffers of a batch.

use js_sys::{Object, Uint32Array};
use posse::Outputs;
use posse::events::{EventList, Occurrence};
use posse::packed::OutputLayout;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::js::set;

/// The most events of a list by default.
pub const EVENTS: usize = 1024;

/// All that a pose is read with.
pub const WHOLE_POSE: Outputs = Outputs { root_motion: false, ..Outputs::ALL };

/// The outputs of a crowd: `OutputOptions` of `types.d.ts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct OutputOptions {
    skin: bool,
    model: bool,
    local: bool,
    weights: bool,
    properties: bool,
    root_motion: bool,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self { skin: true, model: false, local: false, weights: false, properties: false, root_motion: false }
    }
}

impl From<OutputOptions> for Outputs {
    fn from(options: OutputOptions) -> Self {
        let OutputOptions { skin, model, local, weights, properties, root_motion } = options;
        Self { skin, model, local, weights, properties, root_motion, ..Self::NONE }
    }
}

/// The events of a step: `ReachedEvents` of `types.d.ts`.
#[derive(Serialize)]
pub struct ReachedEvents<'a> {
    events: Vec<ReachedEvent<'a>>,
    missed: u64,
}

#[derive(Serialize)]
struct ReachedEvent<'a> {
    time: f64,
    instance: usize,
    layer: usize,
    event: usize,
    clip: usize,
    function: &'a str,
    parameters: &'a [String],
}

impl<'a> ReachedEvents<'a> {
    /// The events of a list, by the clips of the layers that reached them.
    pub fn new(library: &'a posse::Library, crowd: &posse::Crowd, list: &EventList) -> Self {
        let reached = |found: &Occurrence| {
            let clip = crowd.layers(found.instance).get(found.layer)?.clip;
            let event = library.clip(clip).events.get(found.event)?;
            Some(ReachedEvent {
                time: found.tick.to_seconds(),
                instance: found.instance,
                layer: found.layer,
                event: found.event,
                clip: clip.index(),
                function: &event.function,
                parameters: &event.parameters,
            })
        };
        Self { events: list.events.iter().filter_map(reached).collect(), missed: list.missed }
    }
}

/// The buffers of a batch: `CrowdBuffers` of `posse.d.ts` and `cpu.d.ts`. `buffers` are its skin matrices, model
/// matrices, local transforms, values and root motions.
pub fn batch_buffers(instances: &[u32], layout: &OutputLayout, buffers: [JsValue; 5]) -> Object {
    let object = Object::new();
    set(&object, "instances", &Uint32Array::from(instances));
    let names = ["skin", "model", "local", "values", "rootMotion"];
    let strides = [layout.skin, layout.model, layout.local, layout.values, layout.root_motion];
    for ((name, buffer), numbers) in names.into_iter().zip(buffers).zip(strides) {
        set(&object, name, &buffer);
        set(&object, &format!("{name}Stride"), &(4 * numbers as u32).into());
    }
    object
}
