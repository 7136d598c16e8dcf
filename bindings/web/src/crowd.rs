//! A crowd on the device.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Float32Array;
use posse::low_level::Stopwatch;
use posse::{CrowdOptions, GpuCrowd, GpuEngine, GpuEvents, LayersOutcome, Mixing, Outputs, Pose, Step, wgpu};
use posse_render::needed_outputs;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::gpu::Gpu;
use crate::joints;
use crate::js::{Result, index, object, options, ticks, whole};
use crate::layer::LayerOptions;
use crate::library::{Library, SharedLibrary};
use crate::outputs::{EVENTS, OutputOptions, ReachedEvents, WHOLE_POSE, batch_buffers};
use crate::spread::SpreadOptions;

/// Instances that play clips, with their poses in buffers of the device.
#[wasm_bindgen]
pub struct Crowd {
    pub(crate) shared: Rc<SharedCrowd>,
}

/// A crowd that calls and views share.
pub struct SharedCrowd {
    pub engine: Rc<GpuEngine>,
    pub library: Rc<SharedLibrary>,
    /// The crowd with its present layers.
    pub crowd: RefCell<posse::Crowd>,
    pub gpu_crowd: GpuCrowd,
    outputs: Outputs,
    stopwatch: Option<Stopwatch>,
}

/// The room of a crowd: `RoomOptions` of `posse.d.ts`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RoomOptions {
    layers: usize,
    mixing: Option<RoomForMixing>,
    skeleton: usize,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum RoomForMixing {
    None,
    Blend,
    Any,
}

#[wasm_bindgen]
impl Crowd {
    /// A crowd of instances with their layers.
    pub async fn create(
        gpu: &Gpu,
        library: &Library,
        instances: JsValue,
        outputs: JsValue,
        room: JsValue,
    ) -> Result<Crowd> {
        let instances: Vec<Vec<LayerOptions>> = options("instances", &instances)?;
        let wanted: OutputOptions = options("outputs", &outputs)?;
        let room: RoomOptions = options("options", &room)?;
        let crowd = crate::layer::crowd(&library.shared.source().library, &instances, room.skeleton)?;
        let mixing = match room.mixing {
            None | Some(RoomForMixing::None) => Mixing::None,
            Some(RoomForMixing::Blend) => Mixing::Blend,
            Some(RoomForMixing::Any) => Mixing::Any,
        };
        let options = CrowdOptions { layers: room.layers, mixing, ..CrowdOptions::NONE };
        Self::new(gpu, library, crowd, wanted.into(), options).await
    }

    /// A crowd that plays one or two clips, with the outputs that a view draws.
    pub async fn spread(gpu: &Gpu, library: &Library, spread: JsValue) -> Result<Crowd> {
        let spread: SpreadOptions = options("spread", &spread)?;
        let (crowd, outputs) = {
            let source = library.shared.source();
            let has_meshes = source.figures.iter().any(|figure| !figure.meshes.is_empty());
            let outputs = match library.shared.is_demo {
                true => Outputs::SKIN,
                false => needed_outputs(&source.figures, !has_meshes),
            };
            (spread.crowd(&source.library)?, outputs)
        };
        Self::new(gpu, library, crowd, outputs, CrowdOptions::NONE).await
    }

    async fn new(
        gpu: &Gpu,
        library: &Library,
        crowd: posse::Crowd,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<Crowd> {
        let (context, library) = (gpu.context.clone(), library.shared.clone());
        let engine = library.engine(&context).await?;
        let gpu_crowd = GpuCrowd::with_options_async(engine.library(), &crowd, outputs, options).await?;
        let stopwatch = Stopwatch::new(&context);
        let crowd = RefCell::new(crowd);
        Ok(Self { shared: Rc::new(SharedCrowd { engine, library, crowd, gpu_crowd, outputs, stopwatch }) })
    }

    /// The number of instances.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.shared.crowd.borrow().len()
    }

    /// The number of joints of all instances together.
    #[wasm_bindgen(getter)]
    pub fn joints(&self) -> usize {
        let (crowd, source) = (self.shared.crowd.borrow(), self.shared.library.source());
        (0..crowd.len()).map(|instance| source.library.skeleton(crowd.skeleton(instance)).joints().len()).sum()
    }

    /// Replaces the layers of an instance.
    #[wasm_bindgen(js_name = setLayers)]
    pub fn set_layers(&self, instance: f64, layers: &JsValue) -> Result<()> {
        let options: Vec<LayerOptions> = options("layers", layers)?;
        let mut crowd = self.shared.crowd.borrow_mut();
        let instance = index("instance", instance, crowd.len())?;
        let layers = crate::layer::layers(&self.shared.library.source().library, &options)?;
        replaced(self.shared.gpu_crowd.set_instance(self.shared.engine.library(), instance, &layers)?)?;
        let skeleton = crowd.skeleton(instance);
        crowd.set(instance, skeleton, &layers)?;
        Ok(())
    }

    /// Replaces the layers of all instances by those of another spread of the same count. Returns false, and changes
    /// nothing, if it needs another crowd.
    pub fn respread(&self, spread: &JsValue) -> Result<bool> {
        let spread: SpreadOptions = options("spread", spread)?;
        if spread.count != self.count() {
            return Ok(false);
        }
        let new = spread.crowd(&self.shared.library.source().library)?;
        let outcome = self.shared.gpu_crowd.set_layers(self.shared.engine.library(), &new)?;
        if outcome.is_replaced() {
            self.shared.crowd.replace(new);
        }
        Ok(outcome.is_replaced())
    }

    /// Poses all instances at a time in seconds.
    pub fn pose(&self, time: f64) -> Result<()> {
        let now = ticks("time", time)?;
        let gpu = self.shared.engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.shared.gpu_crowd.encode(&mut encoder, now);
        gpu.queue.submit([encoder.finish()]);
        Ok(())
    }

    /// Poses all instances, and returns the nanoseconds by the clock of the GPU; `undefined` if it has none.
    #[wasm_bindgen(js_name = timedPose)]
    pub async fn timed_pose(&self, time: f64) -> Result<Option<f64>> {
        let shared = self.shared.clone();
        let now = ticks("time", time)?;
        let Some(stopwatch) = &shared.stopwatch else {
            self.pose(time)?;
            return Ok(None);
        };
        let gpu = shared.engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        shared.gpu_crowd.encode_timed(&mut encoder, now, Some(stopwatch.writes()));
        Ok(Some(1e9 * stopwatch.submit_async(gpu, encoder).await?))
    }

    /// The model matrix of a joint at a time, posed on the GPU and read back.
    pub async fn joint(&self, instance: f64, joint: f64, time: f64) -> Result<Float32Array> {
        let pose = self.shared.clone().probe(instance, time, Outputs { model: true, ..Outputs::NONE }).await?;
        let joint = index("joint", joint, pose.model.len())?;
        Ok(Float32Array::from(&joints::columns(&pose.model[joint])[..]))
    }

    /// The whole pose of an instance at a time, posed on the GPU and read back.
    #[wasm_bindgen(js_name = readPose)]
    pub async fn read_pose(&self, instance: f64, time: f64) -> Result<JsValue> {
        let pose = self.shared.clone().probe(instance, time, WHOLE_POSE).await?;
        joints::pose(&pose)
    }

    /// The events that the layers reach after the time `from`, up to the time `to`.
    pub async fn events(&self, from: f64, to: f64, capacity: Option<f64>) -> Result<JsValue> {
        let shared = self.shared.clone();
        let step = Step { from: ticks("from", from)?, to: ticks("to", to)? };
        let capacity = capacity.map_or(Ok(EVENTS), |capacity| whole("capacity", capacity))?;
        let events = GpuEvents::new_async(shared.engine.library(), &shared.gpu_crowd, capacity).await?;
        let gpu = shared.engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        events.encode(&mut encoder, step);
        gpu.queue.submit([encoder.finish()]);
        // The layers of this moment, which the GPU has: they may be replaced before the list is read.
        let crowd = shared.crowd.borrow().clone();
        let list = events.read_async().await;
        events.destroy();
        let list = list?;
        object(&ReachedEvents::new(&shared.library.source().library, &crowd, &list))
    }

    /// The buffer with the skin matrices.
    #[wasm_bindgen(js_name = skinBuffer)]
    pub fn skin_buffer(&self) -> Result<JsValue> {
        let batches = self.shared.gpu_crowd.batches();
        let [batch] = batches else {
            let count = batches.len();
            return Err(JsError::new(&format!(
                "the crowd has {count} buffers, because it is large or its instances need different mixing; use buffers"
            )));
        };
        let buffer = batch.skin().and_then(|buffer| buffer.as_webgpu());
        buffer
            .map(JsValue::from)
            .ok_or_else(|| JsError::new("the crowd has no skin matrices; create it with { skin: true }"))
    }

    /// The bytes per instance in the buffer of skin matrices.
    #[wasm_bindgen(getter, js_name = skinStride)]
    pub fn skin_stride(&self) -> usize {
        self.shared.gpu_crowd.batches().first().map_or(0, |batch| 4 * batch.layout().skin)
    }

    /// All buffers, batch after batch.
    #[wasm_bindgen(getter)]
    pub fn buffers(&self) -> js_sys::Array {
        let handle = |buffer: Option<&wgpu::Buffer>| -> JsValue {
            buffer.and_then(|buffer| buffer.as_webgpu()).map_or(JsValue::NULL, JsValue::from)
        };
        let batches = self.shared.gpu_crowd.batches().iter().map(|batch| {
            let buffers = [batch.skin(), batch.model(), batch.local(), batch.values()];
            batch_buffers(batch.instances(), batch.layout(), buffers.map(handle))
        });
        batches.collect()
    }
}

impl SharedCrowd {
    /// The pose of an instance at a time: posed alone, so that the poses of the crowd stay those of its last frame.
    async fn probe(self: Rc<Self>, instance: f64, time: f64, outputs: Outputs) -> Result<Pose> {
        let now = ticks("time", time)?;
        let mut one = posse::Crowd::new();
        {
            let crowd = self.crowd.borrow();
            let instance = index("instance", instance, crowd.len())?;
            one.push(crowd.skeleton(instance), crowd.layers(instance))?;
        }
        let poses = self.engine.evaluate_step_async(&one, now.into(), outputs).await?;
        poses.instances.into_iter().next().ok_or_else(|| JsError::new("the device returned no pose"))
    }

    /// The outputs of the crowd.
    pub fn outputs(&self) -> Outputs {
        self.outputs
    }
}

impl Drop for SharedCrowd {
    /// Frees the memory of the poses at once. A browser frees dropped buffers only when it collects garbage.
    fn drop(&mut self) {
        self.gpu_crowd.destroy();
    }
}

/// The error for layers that do not fit the room of a crowd.
fn replaced(outcome: LayersOutcome) -> Result<()> {
    let reason = match outcome {
        LayersOutcome::Replaced => return Ok(()),
        LayersOutcome::OtherInstances => "the crowd has other instances; create a new crowd".to_owned(),
        LayersOutcome::MoreLayers { needed, room, .. } => {
            format!("{needed} layers, but the crowd has room for {room}; create it with {{ layers: {needed} }}")
        }
        LayersOutcome::MoreMixing { .. } => {
            "these layers mix in a way for which the crowd has no room; create it with { mixing: \"any\" }".to_owned()
        }
        // Instances of this package have neither goals nor parameters, leaders or transitions.
        LayersOutcome::MoreGoals { .. }
        | LayersOutcome::NoDrivers { .. }
        | LayersOutcome::MoreParameters { .. }
        | LayersOutcome::MoreTransitions { .. } => outcome.to_string(),
    };
    Err(JsError::new(&reason))
}
