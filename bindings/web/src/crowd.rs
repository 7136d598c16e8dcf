//! A crowd on the device, and poses of single instances apart from the poses of its frames.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use js_sys::Float32Array;
use posse::gpu::{GpuBatch, GpuCrowd, GpuEngine, GpuEvents, VisibleInstance};
use posse::low_level::Stopwatch;
use posse::low_level::device::{Scopes, create_encoder, read_buffers};
use posse::{Error, Outputs, Refusal, Step, Ticks, wgpu};
use posse_render::needed_outputs;
use wasm_bindgen::prelude::*;

use crate::gpu::Gpu;
use crate::instances::{CrowdOptions, Instances, SpreadOptions, TransitionStart};
use crate::joints;
use crate::js::{Result, fits, index, indices, object, options, step, ticks, whole};
use crate::library::Library;
use crate::outputs::{EVENTS, OutputOptions, ReachedEvents, WHOLE_POSE, batch_buffers};
use crate::root_motion::{self, RootMotions};
use crate::source::Source;

/// Instances that play clips, with their poses in buffers of the device.
#[wasm_bindgen]
pub struct Crowd {
    pub(crate) shared: Rc<SharedCrowd>,
}

/// A crowd that calls and views share.
pub struct SharedCrowd {
    engine: Rc<GpuEngine>,
    /// The library that the crowd was made with.
    source: Rc<Source>,
    instances: RefCell<Instances>,
    pub gpu_crowd: GpuCrowd,
    capacity: posse::CrowdOptions,
    outputs: Outputs,
    stopwatch: Option<Stopwatch>,
    /// True if only the instances of the visible lists are posed.
    is_listed: Cell<bool>,
    /// The list of events of the last call.
    events: RefCell<Option<Rc<PreparedEvents>>>,
    /// What posed the instances of the last query.
    probe: RefCell<Option<Rc<Probe>>>,
}

/// The kernels and buffers of a list of events.
struct PreparedEvents {
    events: GpuEvents,
    capacity: usize,
}

impl Drop for PreparedEvents {
    fn drop(&mut self) {
        self.events.destroy();
    }
}

#[wasm_bindgen]
impl Crowd {
    /// A crowd of instances with their layers.
    pub async fn create(
        gpu: &Gpu,
        library: &Library,
        instances: JsValue,
        outputs: JsValue,
        crowd_options: JsValue,
    ) -> Result<Crowd> {
        let choices = CrowdOptions::read(&crowd_options)?;
        let wanted: OutputOptions = options("outputs", &outputs)?;
        let instances = Instances::read(&library.shared.source().library, &instances, &choices)?;
        let crowd = Self::new(gpu, library, instances, wanted.into(), choices.capacity).await?;
        // The kernel of events takes long to compile, which their first call should not wait for.
        if crowd.shared.source.library.clips().iter().any(|clip| !clip.events.is_empty()) {
            crowd.shared.prepare_events(EVENTS).await?;
        }
        Ok(crowd)
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
        Self::new(gpu, library, Instances::new(crowd, Vec::new()), outputs, posse::CrowdOptions::NONE).await
    }

    async fn new(
        gpu: &Gpu,
        library: &Library,
        instances: Instances,
        outputs: Outputs,
        capacity: posse::CrowdOptions,
    ) -> Result<Crowd> {
        let (context, library) = (gpu.context.clone(), library.shared.clone());
        let source = library.source();
        let engine = library.engine(&context).await?;
        let gpu_crowd = GpuCrowd::with_options_async(engine.library(), instances.crowd(), outputs, capacity).await?;
        let shared = SharedCrowd {
            stopwatch: Stopwatch::new(&context),
            engine,
            source,
            instances: RefCell::new(instances),
            gpu_crowd,
            capacity,
            outputs,
            is_listed: Cell::default(),
            events: RefCell::default(),
            probe: RefCell::default(),
        };
        Ok(Self { shared: Rc::new(shared) })
    }

    /// The number of instances.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.shared.instances.borrow().len()
    }

    /// The number of joints of all instances together.
    #[wasm_bindgen(getter)]
    pub fn joints(&self) -> usize {
        self.shared.instances.borrow().joints(&self.shared.source.library)
    }

    /// Replaces the layers of instances.
    #[wasm_bindgen(js_name = setLayers)]
    pub fn set_layers(&self, instances: &JsValue, layers: &JsValue) -> Result<()> {
        let shared = &self.shared;
        let chosen = indices("instance", instances, self.count())?;
        let layers = shared.instances.borrow().read_layers(&shared.source.library, &chosen, layers)?;
        shared.replace_layers(&chosen, &layers)
    }

    /// Fades instances to another layer.
    #[wasm_bindgen(js_name = crossFade)]
    pub fn cross_fade(&self, instances: &JsValue, layer: &JsValue, fade: &JsValue) -> Result<()> {
        let shared = &self.shared;
        let chosen = indices("instance", instances, self.count())?;
        let layers = shared.instances.borrow().read_cross_fade(&shared.source.library, &chosen, layer, fade)?;
        shared.replace_layers(&chosen, &layers)
    }

    /// Begins transitions of instances to other layers.
    pub fn transition(&self, instances: &JsValue, layers: &JsValue, transition_options: &JsValue) -> Result<()> {
        let shared = &self.shared;
        let start = TransitionStart::read(transition_options)?;
        let chosen = indices("instance", instances, self.count())?;
        let layers = shared.instances.borrow().read_layers(&shared.source.library, &chosen, layers)?;
        let mut instances = shared.instances.borrow_mut();
        instances.apply_parameters(&chosen)?;
        let (on_gpu, library, all) = (shared.engine.library(), &shared.source.library, start.of(&chosen, &layers));
        made(shared.gpu_crowd.transitions(on_gpu, library, instances.crowd_mut(), &all), all.len())
    }

    /// Replaces the goals of instances.
    #[wasm_bindgen(js_name = setGoals)]
    pub fn set_goals(&self, instances: &JsValue, goals: &JsValue) -> Result<()> {
        let shared = &self.shared;
        let chosen = indices("instance", instances, self.count())?;
        let mut instances = shared.instances.borrow_mut();
        let goals = instances.read_goals(&shared.source.library, &chosen, goals)?;
        for instance in chosen {
            // All instances have the same capacity.
            made(shared.gpu_crowd.set_goals(shared.engine.library(), instance, &goals), 1)?;
            instances.crowd_mut().set_goals(instance, goals.clone())?;
        }
        Ok(())
    }

    /// Replaces the parameters of the instances from `first` on.
    #[wasm_bindgen(js_name = setParameters)]
    pub fn set_parameters(&self, first: f64, values: &JsValue) -> Result<()> {
        let mut instances = self.shared.instances.borrow_mut();
        let changed = instances.set_parameters(first, values)?;
        let gpu_crowd = &self.shared.gpu_crowd;
        if changed == (0..instances.len()) && gpu_crowd.parameter_count() == instances.parameters.len() {
            gpu_crowd.set_all_parameters(instances.values())?;
            return Ok(());
        }
        for instance in changed {
            made(gpu_crowd.set_parameters(instance, instances.values_of(instance)), 1)?;
        }
        Ok(())
    }

    /// Lists the instances that are posed from the next frame on; all without a list.
    #[wasm_bindgen(js_name = setVisible)]
    pub fn set_visible(&self, instances: &JsValue) -> Result<()> {
        let shared = &self.shared;
        if instances.is_undefined() || instances.is_null() {
            shared.is_listed.set(false);
            return Ok(());
        }
        let mut is_visible = vec![false; self.count()];
        for instance in indices("instance", instances, is_visible.len())? {
            is_visible[instance] = true;
        }
        if !shared.capacity.visible {
            return Err(JsError::new("the crowd has no lists of visible instances; create it with { visible: true }"));
        }
        let gpu = shared.engine.gpu();
        let scopes = Scopes::push(&gpu.device);
        for batch in shared.gpu_crowd.batches() {
            let entry = |slot: usize| VisibleInstance { slot: slot as u32, joints: u32::MAX, update_interval: 1 };
            let slots = batch.instances().iter().enumerate().filter(|&(_, &instance)| is_visible[instance]);
            let entries: Vec<VisibleInstance> = slots.map(|(slot, _)| entry(slot)).collect();
            let numbers = entries.iter().flat_map(|entry| [entry.slot, entry.joints, entry.update_interval]);
            let words = std::iter::once(entries.len() as u32).chain(numbers);
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            if let Some(list) = batch.visible() {
                gpu.queue.write_buffer(list, 0, &bytes);
            }
        }
        scopes.pop_for_memory()?;
        shared.is_listed.set(true);
        Ok(())
    }

    /// Replaces the layers of all instances by the layers of another spread of the same count. Returns false, and
    /// changes nothing, if it needs another crowd.
    pub fn respread(&self, spread: &JsValue) -> Result<bool> {
        let Some(new) = self.shared.instances.borrow().respread(&self.shared.source.library, spread)? else {
            return Ok(false);
        };
        let fits = fits(self.shared.gpu_crowd.set_layers(self.shared.engine.library(), &new))?;
        if fits {
            *self.shared.instances.borrow_mut().crowd_mut() = new;
        }
        Ok(fits)
    }

    /// Poses the instances at a time in seconds, or at the end of a step from another time.
    pub fn pose(&self, time: f64, from: Option<f64>) -> Result<()> {
        let step = step(from, time)?;
        let gpu = self.shared.engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.shared.encode(&mut encoder, step);
        gpu.queue.submit([encoder.finish()]);
        Ok(())
    }

    /// Poses all instances, and returns the nanoseconds by the clock of the GPU; `undefined` if it has none.
    #[wasm_bindgen(js_name = timedPose)]
    pub async fn timed_pose(&self, time: f64) -> Result<Option<f64>> {
        let shared = self.shared.clone();
        let now = ticks("time", time)?;
        let Some(stopwatch) = &shared.stopwatch else {
            self.pose(time, None)?;
            return Ok(None);
        };
        let gpu = shared.engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        shared.gpu_crowd.encode_timed(&mut encoder, now, Some(stopwatch.writes()));
        Ok(Some(1e9 * stopwatch.submit_async(gpu, encoder).await?))
    }

    /// The model matrix of a joint at a time, posed on the GPU and read back.
    pub async fn joint(&self, instance: f64, joint: f64, time: f64) -> Result<Float32Array> {
        let shared = self.shared.clone();
        let (now, count) = (ticks("time", time)?, self.count());
        let instance = index("instance", instance, count)?;
        let joint = index("joint", joint, shared.joint_count(instance))?;
        shared.joint_matrices(&[instance], &[joint], now).await
    }

    /// The model matrices of joints of instances at a time, posed on the GPU and read back together.
    #[wasm_bindgen(js_name = jointMatrices)]
    pub async fn joint_matrices(&self, instances: JsValue, joints: JsValue, time: f64) -> Result<Float32Array> {
        let shared = self.shared.clone();
        let now = ticks("time", time)?;
        let instances = indices("instance", &instances, self.count())?;
        let joints = joints::of_instances(&instances, &joints, |instance| shared.joint_count(instance))?;
        shared.joint_matrices(&instances, &joints, now).await
    }

    /// The whole pose of an instance at a time, posed on the GPU and read back.
    #[wasm_bindgen(js_name = readPose)]
    pub async fn read_pose(&self, instance: f64, time: f64) -> Result<JsValue> {
        let shared = self.shared.clone();
        let now = ticks("time", time)?;
        let instance = index("instance", instance, self.count())?;
        let (probe, encoder) = shared.probe(&[instance], now, WHOLE_POSE).await?;
        shared.engine.gpu().queue.submit([encoder.finish()]);
        let (batch, slot) = probe.gpu_crowd().find(0);
        // It submits the copy before it waits.
        let numbers = shared.engine.read_async(batch, slot..slot + 1).await?;
        joints::pose(&shared.engine.library().pose(batch, &numbers, 0, WHOLE_POSE))
    }

    /// The movements of all instances in the step that was posed last, in their spaces.
    #[wasm_bindgen(js_name = rootMotions)]
    pub async fn root_motions(&self) -> Result<JsValue> {
        let shared = self.shared.clone();
        if !shared.outputs.root_motion {
            return Err(root_motion::missing());
        }
        let gpu = shared.engine.gpu();
        let batches = shared.gpu_crowd.batches().iter();
        let requests: Vec<_> =
            batches.clone().filter_map(|batch| Some((batch.root_motion()?, 0..batch.root_motion()?.size()))).collect();
        let crowd = shared.instances.borrow().crowd().clone();
        let encoder = gpu.device.create_command_encoder(&Default::default());
        let contents = read_buffers(gpu.into(), encoder, &requests).await?;
        let mut motions = RootMotions::new(crowd.len());
        for (batch, contents) in batches.zip(&contents) {
            motions.set_batch(&shared.source.library, &crowd, batch.instances(), &floats(contents));
        }
        Ok(motions.object())
    }

    /// The events that the layers reach after the time `from`, up to the time `to`.
    pub async fn events(&self, from: f64, to: f64, capacity: Option<f64>) -> Result<JsValue> {
        let shared = self.shared.clone();
        let step = Step { from: ticks("from", from)?, to: ticks("to", to)? };
        let capacity = capacity.map_or(Ok(EVENTS), |capacity| whole("capacity", capacity))?;
        let prepared = shared.prepare_events(capacity).await?;
        let (events, gpu) = (&prepared.events, shared.engine.gpu());
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        events.encode(&mut encoder, step);
        // The layers of this moment, which the GPU has: they may be replaced before the list is read.
        let crowd = shared.instances.borrow().crowd().clone();
        // The list is copied with the commands that fill it, because other calls may use it meanwhile.
        let buffer = events.buffer();
        let bytes = read_buffers(gpu.into(), encoder, &[(buffer, 0..buffer.size())]).await?.concat();
        object(&ReachedEvents::new(&shared.source.library, &crowd, &GpuEvents::list(&bytes)))
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
            let buffers = [batch.skin(), batch.model(), batch.local(), batch.values(), batch.root_motion()];
            let instances: Vec<u32> = batch.instances().iter().map(|&instance| instance as u32).collect();
            batch_buffers(&instances, batch.layout(), buffers.map(handle))
        });
        batches.collect()
    }
}

impl SharedCrowd {
    /// Records the poses of a step, of the visible instances if there is a list of them.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, step: Step) {
        if self.is_listed.get() {
            self.gpu_crowd.encode_visible(encoder, step, 0);
        } else {
            self.gpu_crowd.encode(encoder, step);
        }
    }

    /// Replaces the layers of instances, or of none if the layers of one do not fit.
    fn replace_layers(&self, chosen: &[usize], layers: &[Vec<posse::Layer>]) -> Result<()> {
        let entries: Vec<(usize, &[posse::Layer])> =
            chosen.iter().zip(layers).map(|(&instance, layers)| (instance, layers.as_slice())).collect();
        made(self.gpu_crowd.set_instances(self.engine.library(), &entries), entries.len())?;
        let mut instances = self.instances.borrow_mut();
        for (instance, layers) in entries {
            let skeleton = instances.crowd().skeleton(instance);
            instances.crowd_mut().set(instance, skeleton, layers)?;
        }
        Ok(())
    }

    /// The crowd with its present layers.
    pub fn crowd(&self) -> Rc<posse::Crowd> {
        self.instances.borrow().crowd().clone()
    }

    /// The list of events with this capacity. The last one is kept.
    async fn prepare_events(&self, capacity: usize) -> std::result::Result<Rc<PreparedEvents>, Error> {
        let known = self.events.borrow().clone();
        if let Some(known) = known.filter(|known| known.capacity == capacity) {
            return Ok(known);
        }
        let events = GpuEvents::new_async(self.engine.library(), &self.gpu_crowd, capacity).await?;
        let prepared = Rc::new(PreparedEvents { events, capacity });
        self.events.replace(Some(prepared.clone()));
        Ok(prepared)
    }

    /// The number of joints of an instance.
    fn joint_count(&self, instance: usize) -> usize {
        self.source.library.skeleton(self.instances.borrow().crowd().skeleton(instance)).joints().len()
    }

    /// A probe with some instances, and the commands that pose them: apart from the crowd, whose poses stay the poses
    /// of its last frame. The caller submits the commands before it waits for anything.
    async fn probe(
        &self,
        instances: &[usize],
        now: Ticks,
        outputs: Outputs,
    ) -> Result<(Rc<Probe>, wgpu::CommandEncoder)> {
        let only = {
            let all = self.instances.borrow();
            all.only(instances.iter().copied(), all.values())?
        };
        let only = only.at(now);
        let known = self.probe.borrow().clone();
        let probe = Probe::of(known, &self.engine, &only, outputs, self.capacity).await?;
        self.probe.replace(Some(probe.clone()));
        let encoder = probe.encode(&self.engine, &only, now)?;
        Ok((probe, encoder))
    }

    /// The model matrices of joints, one per instance.
    async fn joint_matrices(&self, instances: &[usize], joints: &[usize], now: Ticks) -> Result<Float32Array> {
        if instances.is_empty() {
            return Ok(Float32Array::new_with_length(0));
        }
        let outputs = Outputs { model: true, ..Outputs::NONE };
        let (probe, encoder) = self.probe(instances, now, outputs).await?;
        let request = |(place, &joint): (usize, &usize)| {
            let (batch, slot): (&GpuBatch, usize) = probe.gpu_crowd().find(place);
            let first = slot * batch.layout().model + joints::ROWS * joint;
            Some((batch.model()?, bytes(first..first + joints::ROWS)))
        };
        let requests: Vec<_> = joints.iter().enumerate().filter_map(request).collect();
        let rows = read_buffers(self.engine.gpu().into(), encoder, &requests).await?;
        let columns: Vec<f32> = rows.iter().flat_map(|rows| joints::columns_of_rows(&floats(rows))).collect();
        Ok(Float32Array::from(&columns[..]))
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

/// A small crowd on the GPU for the instances of a call. It stays for the next call, whose instances take their places:
/// if these are as many, and of the same skeletons, nothing is created on the device but the copy that is read.
struct Probe {
    gpu_crowd: GpuCrowd,
    outputs: Outputs,
}

impl Probe {
    /// A probe that has these instances, with at least this capacity: the known one if they fit, or a new one.
    async fn of(
        known: Option<Rc<Self>>,
        engine: &GpuEngine,
        crowd: &posse::Crowd,
        outputs: Outputs,
        capacity: posse::CrowdOptions,
    ) -> std::result::Result<Rc<Self>, Error> {
        if let Some(known) = known.filter(|known| known.outputs == outputs)
            && fits(known.gpu_crowd.set_layers(engine.library(), crowd))?
        {
            return Ok(known);
        }
        let capacity = posse::CrowdOptions { visible: false, ..capacity };
        let gpu_crowd = GpuCrowd::with_options_async(engine.library(), crowd, outputs, capacity).await?;
        Ok(Rc::new(Self { gpu_crowd, outputs }))
    }

    /// Gives the probe these instances again, which another call may have replaced, and records their poses. The caller
    /// submits the commands before it waits for anything.
    fn encode(
        &self,
        engine: &GpuEngine,
        crowd: &posse::Crowd,
        now: Ticks,
    ) -> std::result::Result<wgpu::CommandEncoder, Error> {
        // They fit.
        self.gpu_crowd.set_layers(engine.library(), crowd)?;
        let count = self.gpu_crowd.parameter_count();
        if count > 0 {
            let values = |instance| crowd.parameter_values(instance, now).0.into_iter().take(count);
            let values: Vec<f32> = (0..crowd.len()).flat_map(values).collect();
            self.gpu_crowd.set_all_parameters(&values)?;
        }
        let mut encoder = create_encoder(&engine.gpu().device)?;
        self.gpu_crowd.encode(&mut encoder, now);
        Ok(encoder)
    }

    /// The crowd, with the instances of the last call of `encode`.
    fn gpu_crowd(&self) -> &GpuCrowd {
        &self.gpu_crowd
    }
}

impl Drop for Probe {
    /// Frees the memory of the poses at once, after the work that is submitted.
    fn drop(&mut self) {
        self.gpu_crowd.destroy();
    }
}

/// Names options of the package in the error of a change that the crowd refuses.
///
/// `count` is the number of instances to change.
fn made(change: std::result::Result<(), Error>, count: usize) -> Result<()> {
    let refusal = match change {
        Err(Error::Refused(refusal)) => refusal,
        other => return Ok(other?),
    };
    let option = match refusal {
        Refusal::MoreLayers { needed, .. } => format!("layers: {needed}"),
        Refusal::MoreMixing { .. } => "mixing: \"any\"".to_owned(),
        Refusal::MoreGoals { needed, .. } => format!("goals: {needed}"),
        Refusal::NoDrivers { .. } => "drivers: true".to_owned(),
        Refusal::MoreTransitions { capacity, .. } => format!("transitions: {}", capacity + count),
        // Layers and goals name parameters of the crowd, for all of which there is capacity.
        _ => return Err(JsError::new(&refusal.to_string())),
    };
    Err(JsError::new(&format!("{}; create it with {{ {option} }}", refusal.reason())))
}

/// The bytes of a range of numbers.
fn bytes(numbers: Range<usize>) -> Range<u64> {
    4 * numbers.start as u64..4 * numbers.end as u64
}

/// The numbers of bytes.
fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|bytes| bytes.try_into().map_or(0.0, f32::from_le_bytes)).collect()
}
