//! A crowd on the CPU.

use std::rc::Rc;

use js_sys::{Array, Float32Array, WebAssembly};
use posse::{CpuCrowd, CpuEngine, Outputs, Pose, Step};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::joints;
use crate::js::{Result, index, object, options, ticks, whole};
use crate::layer::{self, LayerOptions};
use crate::library::Library;
use crate::outputs::{EVENTS, OutputOptions, ReachedEvents, WHOLE_POSE, batch_buffers};
use crate::source::Source;
use crate::spread::SpreadOptions;

/// Instances that play clips, with their poses in the memory of the module.
#[wasm_bindgen]
pub struct Crowd {
    source: Rc<Source>,
    engine: Rc<CpuEngine>,
    /// The crowd with its present layers.
    crowd: posse::Crowd,
    outputs: Outputs,
    /// The packed crowd with the poses of the last frame.
    posed: CpuCrowd,
    /// True if layers have been replaced since the crowd was packed.
    is_stale: bool,
    /// The skin matrices in the order of the instances, where the batches have another order.
    ordered_skin: Vec<f32>,
}

/// The options of a crowd: `CrowdOptions` of `cpu.d.ts`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct CrowdOptions {
    skeleton: usize,
}

#[wasm_bindgen]
impl Crowd {
    /// A crowd of instances with their layers.
    pub fn create(library: &Library, instances: &JsValue, outputs: &JsValue, crowd_options: &JsValue) -> Result<Crowd> {
        let instances: Vec<Vec<LayerOptions>> = options("instances", instances)?;
        let CrowdOptions { skeleton } = options("options", crowd_options)?;
        let crowd = layer::crowd(&library.shared.source().library, &instances, skeleton)?;
        Self::new(library, crowd, outputs)
    }

    /// A crowd that plays one or two clips.
    pub fn spread(library: &Library, spread: &JsValue, outputs: &JsValue) -> Result<Crowd> {
        let spread: SpreadOptions = options("spread", spread)?;
        let crowd = spread.crowd(&library.shared.source().library)?;
        Self::new(library, crowd, outputs)
    }

    fn new(library: &Library, crowd: posse::Crowd, outputs: &JsValue) -> Result<Crowd> {
        let outputs: OutputOptions = options("outputs", outputs)?;
        let (source, engine, outputs) = (library.shared.source(), library.shared.engine()?, outputs.into());
        let posed = engine.crowd(&crowd, outputs)?;
        Ok(Self { source, engine, crowd, outputs, posed, is_stale: false, ordered_skin: Vec::new() })
    }

    /// The number of instances.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.crowd.len()
    }

    /// The number of joints of all instances together.
    #[wasm_bindgen(getter)]
    pub fn joints(&self) -> usize {
        let joints = |instance| self.source.library.skeleton(self.crowd.skeleton(instance)).joints().len();
        (0..self.crowd.len()).map(joints).sum()
    }

    /// Replaces the layers of an instance.
    #[wasm_bindgen(js_name = setLayers)]
    pub fn set_layers(&mut self, instance: f64, layers: &JsValue) -> Result<()> {
        let instance = index("instance", instance, self.crowd.len())?;
        let options: Vec<LayerOptions> = options("layers", layers)?;
        let layers = layer::layers(&self.source.library, &options)?;
        let skeleton = self.crowd.skeleton(instance);
        // Layers that do not fit the skeleton are refused before the crowd has them.
        let outcome = self.posed.set_instance(&self.engine, instance, &layers)?;
        self.crowd.set(instance, skeleton, &layers)?;
        self.is_stale |= !outcome.is_replaced();
        Ok(())
    }

    /// Poses all instances at a time in seconds.
    pub fn pose(&mut self, time: f64) -> Result<()> {
        let now = ticks("time", time)?;
        if self.is_stale {
            self.posed = self.engine.crowd(&self.crowd, self.outputs)?;
            self.is_stale = false;
        }
        self.engine.pose(&mut self.posed, now);
        Ok(())
    }

    /// The model matrix of a joint at a time.
    pub fn joint(&self, instance: f64, joint: f64, time: f64) -> Result<Float32Array> {
        let pose = self.probe(instance, time, Outputs { model: true, ..Outputs::NONE })?;
        let joint = index("joint", joint, pose.model.len())?;
        Ok(Float32Array::from(&joints::columns(&pose.model[joint])[..]))
    }

    /// The whole pose of an instance at a time.
    #[wasm_bindgen(js_name = readPose)]
    pub fn read_pose(&self, instance: f64, time: f64) -> Result<JsValue> {
        joints::pose(&self.probe(instance, time, WHOLE_POSE)?)
    }

    /// The events that the layers reach after the time `from`, up to the time `to`.
    pub fn events(&self, from: f64, to: f64, capacity: Option<f64>) -> Result<JsValue> {
        let step = Step { from: ticks("from", from)?, to: ticks("to", to)? };
        let capacity = capacity.map_or(Ok(EVENTS), |capacity| whole("capacity", capacity))?;
        let packed;
        let posed = if self.is_stale {
            // Apart, because the buffers keep the poses of the last frame.
            packed = self.engine.crowd(&self.crowd, Outputs::NONE)?;
            &packed
        } else {
            &self.posed
        };
        let list = self.engine.events(posed, step, capacity);
        object(&ReachedEvents::new(&self.source.library, &self.crowd, &list))
    }

    /// The skin matrices of all instances, in the order of the instances.
    #[wasm_bindgen(js_name = skinBuffer)]
    pub fn skin_buffer(&mut self) -> Result<Float32Array> {
        let batches = self.posed.batches();
        if !self.outputs.skin {
            return Err(JsError::new("the crowd has no skin matrices; create it with { skin: true }"));
        }
        if batches.windows(2).any(|pair| pair[0].skeleton != pair[1].skeleton) {
            return Err(JsError::new("the crowd has several skeletons, with a buffer each; use buffers"));
        }
        if let [batch] = batches
            && batch.instances.is_sorted()
        {
            return Ok(view(&batch.numbers.skin));
        }
        let stride = batches.first().map_or(0, |batch| batch.layout.skin);
        self.ordered_skin.resize(stride * self.crowd.len(), 0.0);
        for batch in batches {
            let matrices = batch.numbers.skin.chunks_exact(stride.max(1));
            for (&instance, from) in batch.instances.iter().zip(matrices) {
                self.ordered_skin[instance * stride..][..stride].copy_from_slice(from);
            }
        }
        Ok(view(&self.ordered_skin))
    }

    /// The bytes per instance in that buffer.
    #[wasm_bindgen(getter, js_name = skinStride)]
    pub fn skin_stride(&self) -> usize {
        self.posed.batches().first().map_or(0, |batch| 4 * batch.layout.skin)
    }

    /// All buffers, batch after batch.
    #[wasm_bindgen(getter)]
    pub fn buffers(&self) -> Array {
        let batches = self.posed.batches().iter().map(|batch| {
            let (layout, numbers) = (&batch.layout, &batch.numbers);
            let arrays = [&numbers.skin, &numbers.model, &numbers.local, &numbers.values];
            let strides = [layout.skin, layout.model, layout.local, layout.values];
            let views = std::array::from_fn(|array| match strides[array] {
                0 => JsValue::NULL,
                _ => view(arrays[array]).into(),
            });
            batch_buffers(&batch.instances, layout, views)
        });
        batches.collect()
    }

    /// The pose of an instance at a time: posed alone, so that the buffers keep the poses of the last frame.
    fn probe(&self, instance: f64, time: f64, outputs: Outputs) -> Result<Pose> {
        let now = ticks("time", time)?;
        let instance = index("instance", instance, self.crowd.len())?;
        Ok(self.engine.query(&self.crowd, instance, now, outputs)?)
    }
}

/// A view of numbers in the memory of the module. It has their present address: it is lost when the memory grows.
fn view(numbers: &[f32]) -> Float32Array {
    let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let address = numbers.as_ptr().addr() as u32;
    Float32Array::new_with_byte_offset_and_length(&memory.buffer(), address, numbers.len() as u32)
}
