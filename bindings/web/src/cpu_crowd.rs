//! A crowd on the CPU.

use std::rc::Rc;
use std::sync::Arc;

use js_sys::{Array, Float32Array, WebAssembly};
use posse::cpu::{CpuCrowd, CpuEngine};
use posse::packed::OutputLayout;
use posse::{Error, Outputs, Step, Ticks};
use wasm_bindgen::prelude::*;

use crate::instances::{CrowdOptions, Instances, SpreadOptions, TransitionStart};
use crate::joints;
use crate::js::{Result, fits, index, indices, object, options, step, ticks, whole};
use crate::library::Library;
use crate::outputs::{EVENTS, OutputOptions, ReachedEvents, WHOLE_POSE, batch_buffers};
use crate::root_motion::{self, RootMotions};
use crate::source::Source;

/// Instances that play clips, with their poses in the memory of the module.
#[wasm_bindgen]
pub struct Crowd {
    source: Rc<Source>,
    engine: Rc<CpuEngine>,
    instances: Instances,
    outputs: Outputs,
    /// For changes in place. What does not fit is packed anew.
    capacity: posse::CrowdOptions,
    /// The values of the parameters in the last frame.
    before: Vec<f32>,
    /// True for the instances that are posed; empty if all are.
    is_visible: Vec<bool>,
    /// The packed instances that are posed, with the poses of the last frame.
    posed: PackedInstances,
    /// The instances that are not posed, for their root motion.
    hidden: Option<PackedInstances>,
    /// True if instances have changed since they were packed.
    is_stale: bool,
    /// The layout of the first batch of all instances.
    layout: Option<OutputLayout>,
    /// True if the instances have several skeletons.
    is_mixed: bool,
    /// The skin matrices in the order of the instances, where the batches have another order, or lack some.
    ordered_skin: Vec<f32>,
}

/// Packed instances of a crowd.
struct PackedInstances {
    crowd: CpuCrowd,
    /// The instances in the order of the packed crowd; `None` if they are all.
    instances: Option<Vec<usize>>,
}

impl PackedInstances {
    /// The instance of the crowd for one of the packed crowd.
    fn instance(&self, packed: usize) -> usize {
        self.instances.as_ref().map_or(packed, |instances| instances[packed])
    }

    /// The packed crowd, for a change in place; `None` if it has to be packed anew in any case, or lacks instances.
    fn in_place(&mut self, is_stale: bool) -> Option<&mut CpuCrowd> {
        (!is_stale && self.instances.is_none()).then_some(&mut self.crowd)
    }

    /// The instances of a batch.
    fn instances_of(&self, batch: &[usize]) -> Vec<usize> {
        batch.iter().map(|&packed| self.instance(packed)).collect()
    }
}

#[wasm_bindgen]
impl Crowd {
    /// A crowd of instances with their layers.
    pub fn create(library: &Library, instances: &JsValue, outputs: &JsValue, crowd_options: &JsValue) -> Result<Crowd> {
        let choices = CrowdOptions::read(crowd_options)?;
        let instances = Instances::read(&library.shared.source().library, instances, &choices)?;
        Self::new(library, instances, outputs, choices.capacity)
    }

    /// A crowd that plays one or two clips.
    pub fn spread(library: &Library, spread: &JsValue, outputs: &JsValue) -> Result<Crowd> {
        let spread: SpreadOptions = options("spread", spread)?;
        let crowd = spread.crowd(&library.shared.source().library)?;
        Self::new(library, Instances::new(crowd, Vec::new()), outputs, posse::CrowdOptions::NONE)
    }

    fn new(library: &Library, instances: Instances, outputs: &JsValue, capacity: posse::CrowdOptions) -> Result<Crowd> {
        let outputs: OutputOptions = options("outputs", outputs)?;
        let (source, engine, outputs) = (library.shared.source(), library.shared.engine()?, outputs.into());
        let crowd = engine.crowd_with_options(instances.crowd(), outputs, capacity)?;
        Ok(Self {
            layout: crowd.batches().first().map(|batch| batch.layout),
            is_mixed: crowd.batches().windows(2).any(|pair| pair[0].skeleton != pair[1].skeleton),
            posed: PackedInstances { crowd, instances: None },
            before: instances.values().to_vec(),
            source,
            engine,
            instances,
            outputs,
            capacity,
            is_visible: Vec::new(),
            hidden: None,
            is_stale: false,
            ordered_skin: Vec::new(),
        })
    }

    /// The number of instances.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.instances.len()
    }

    /// The number of joints of all instances together.
    #[wasm_bindgen(getter)]
    pub fn joints(&self) -> usize {
        self.instances.joints(&self.source.library)
    }

    /// Replaces the layers of instances.
    #[wasm_bindgen(js_name = setLayers)]
    pub fn set_layers(&mut self, instances: &JsValue, layers: &JsValue) -> Result<()> {
        let chosen = indices("instance", instances, self.count())?;
        let layers = self.instances.read_layers(&self.source.library, &chosen, layers)?;
        self.replace_layers(&chosen, &layers)
    }

    /// Fades instances to another layer.
    #[wasm_bindgen(js_name = crossFade)]
    pub fn cross_fade(&mut self, instances: &JsValue, layer: &JsValue, fade: &JsValue) -> Result<()> {
        let chosen = indices("instance", instances, self.count())?;
        let layers = self.instances.read_cross_fade(&self.source.library, &chosen, layer, fade)?;
        self.replace_layers(&chosen, &layers)
    }

    /// Begins transitions of instances to other layers.
    pub fn transition(&mut self, instances: &JsValue, layers: &JsValue, transition_options: &JsValue) -> Result<()> {
        let start = TransitionStart::read(transition_options)?;
        let chosen = indices("instance", instances, self.count())?;
        let layers = self.instances.read_layers(&self.source.library, &chosen, layers)?;
        self.instances.apply_parameters(&chosen)?;
        let (library, all) = (&self.source.library, start.of(&chosen, &layers));
        let crowd = self.instances.crowd_mut();
        if let Some(posed) = self.posed.in_place(self.is_stale)
            && fits(posed.transitions(&self.engine, library, crowd, &all))?
        {
            return Ok(());
        }
        crowd.begin_transitions(library, &all)?;
        self.is_stale = true;
        Ok(())
    }

    /// Replaces the goals of instances.
    #[wasm_bindgen(js_name = setGoals)]
    pub fn set_goals(&mut self, instances: &JsValue, goals: &JsValue) -> Result<()> {
        let chosen = indices("instance", instances, self.count())?;
        let goals = self.instances.read_goals(&self.source.library, &chosen, goals)?;
        for instance in chosen {
            self.instances.crowd_mut().set_goals(instance, goals.clone())?;
            self.change(|posed, engine| posed.set_goals(engine, instance, &goals))?;
        }
        Ok(())
    }

    /// Replaces the parameters of the instances from `first` on.
    #[wasm_bindgen(js_name = setParameters)]
    pub fn set_parameters(&mut self, first: f64, values: &JsValue) -> Result<()> {
        self.instances.set_parameters(first, values)?;
        Ok(())
    }

    /// Lists the instances that are posed from the next frame on; all without a list.
    #[wasm_bindgen(js_name = setVisible)]
    pub fn set_visible(&mut self, instances: &JsValue) -> Result<()> {
        let mut is_visible = Vec::new();
        if !instances.is_undefined() && !instances.is_null() {
            is_visible = vec![false; self.count()];
            for instance in indices("instance", instances, is_visible.len())? {
                is_visible[instance] = true;
            }
        }
        if is_visible != self.is_visible {
            // Instances that are hidden now keep the poses of the last frame.
            self.order_skin();
            self.is_visible = is_visible;
            self.is_stale = true;
        }
        Ok(())
    }

    /// Replaces the layers of all instances by the layers of another spread of the same count. Returns false, and
    /// changes nothing, if it needs another crowd.
    pub fn respread(&mut self, spread: &JsValue) -> Result<bool> {
        let new = self.instances.respread(&self.source.library, spread)?;
        let is_replaced = new.is_some();
        if let Some(new) = new {
            self.change(|posed, engine| posed.set_layers(engine, &new))?;
            *self.instances.crowd_mut() = new;
        }
        Ok(is_replaced)
    }

    /// Poses the instances at a time in seconds, or at the end of a step from another time.
    pub fn pose(&mut self, time: f64, from: Option<f64>) -> Result<()> {
        let step = step(from, time)?;
        if self.is_stale {
            self.pack()?;
        }
        for part in [Some(&mut self.posed), self.hidden.as_mut()].into_iter().flatten() {
            set_parameters(part, &self.instances);
            self.engine.pose(&mut part.crowd, step);
        }
        self.before.copy_from_slice(self.instances.values());
        Ok(())
    }

    /// The model matrix of a joint at a time.
    pub fn joint(&self, instance: f64, joint: f64, time: f64) -> Result<Float32Array> {
        self.joint_matrices(&JsValue::from(instance), &JsValue::from(joint), time)
    }

    /// The model matrices of joints of instances at a time.
    #[wasm_bindgen(js_name = jointMatrices)]
    pub fn joint_matrices(&self, instances: &JsValue, joints: &JsValue, time: f64) -> Result<Float32Array> {
        let now = ticks("time", time)?;
        let instances = indices("instance", instances, self.count())?;
        let skeleton = |instance| self.source.library.skeleton(self.instances.crowd().skeleton(instance));
        let joints = joints::of_instances(&instances, joints, |instance| skeleton(instance).joints().len())?;
        let posed = self.probe(&instances, now, Outputs { model: true, ..Outputs::NONE })?;
        let mut columns = vec![0.0; 16 * instances.len()];
        for batch in posed.batches() {
            for (&place, model) in batch.instances.iter().zip(batch.numbers.model.chunks_exact(batch.layout.model)) {
                let rows = &model[joints::ROWS * joints[place]..][..joints::ROWS];
                columns[16 * place..][..16].copy_from_slice(&joints::columns_of_rows(rows));
            }
        }
        Ok(Float32Array::from(&columns[..]))
    }

    /// The whole pose of an instance at a time.
    #[wasm_bindgen(js_name = readPose)]
    pub fn read_pose(&self, instance: f64, time: f64) -> Result<JsValue> {
        let now = ticks("time", time)?;
        let instance = index("instance", instance, self.count())?;
        let posed = self.probe(&[instance], now, WHOLE_POSE)?;
        joints::pose(&self.engine.read(&posed, 0, WHOLE_POSE))
    }

    /// The movements of all instances in the step that was posed last, in their spaces.
    #[wasm_bindgen(js_name = rootMotions)]
    pub fn root_motions(&self) -> Result<JsValue> {
        if !self.outputs.root_motion {
            return Err(root_motion::missing());
        }
        let mut motions = RootMotions::new(self.count());
        for part in [Some(&self.posed), self.hidden.as_ref()].into_iter().flatten() {
            for batch in part.crowd.batches() {
                let (crowd, numbers) = (self.instances.crowd(), &batch.numbers.root_motion);
                motions.set_batch(&self.source.library, crowd, &part.instances_of(&batch.instances), numbers);
            }
        }
        Ok(motions.object())
    }

    /// The events that the layers reach after the time `from`, up to the time `to`.
    pub fn events(&mut self, from: f64, to: f64, capacity: Option<f64>) -> Result<JsValue> {
        let step = Step { from: ticks("from", from)?, to: ticks("to", to)? };
        let capacity = capacity.map_or(Ok(EVENTS), |capacity| whole("capacity", capacity))?;
        let list = if self.is_stale || self.posed.instances.is_some() {
            // Apart, because the buffers keep the poses of the last frame.
            let mut all = PackedInstances { crowd: self.packed(None, Outputs::NONE)?, instances: None };
            set_parameters(&mut all, &self.instances);
            self.engine.events(&all.crowd, step, capacity)
        } else {
            set_parameters(&mut self.posed, &self.instances);
            self.engine.events(&self.posed.crowd, step, capacity)
        };
        object(&ReachedEvents::new(&self.source.library, self.instances.crowd(), &list))
    }

    /// The skin matrices of all instances, in the order of the instances.
    #[wasm_bindgen(js_name = skinBuffer)]
    pub fn skin_buffer(&mut self) -> Result<Float32Array> {
        if !self.outputs.skin {
            return Err(JsError::new("the crowd has no skin matrices; create it with { skin: true }"));
        }
        if self.is_mixed {
            return Err(JsError::new("the crowd has several skeletons, with a buffer each; use buffers"));
        }
        if let [batch] = self.posed.crowd.batches()
            && batch.instances.is_sorted()
            && self.posed.instances.is_none()
        {
            return Ok(view(&batch.numbers.skin));
        }
        self.order_skin();
        Ok(view(&self.ordered_skin))
    }

    /// The bytes per instance in that buffer.
    #[wasm_bindgen(getter, js_name = skinStride)]
    pub fn skin_stride(&self) -> usize {
        4 * self.skin_numbers()
    }

    /// All buffers, batch after batch.
    #[wasm_bindgen(getter)]
    pub fn buffers(&self) -> Array {
        let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
        loop {
            let before = memory.buffer();
            let buffers = self.views();
            // The lists of instances take memory, which may have moved it: the views made until then are lost.
            if memory.buffer() == before {
                return buffers;
            }
        }
    }

    /// The numbers of the skin matrices of an instance.
    fn skin_numbers(&self) -> usize {
        self.layout.map_or(0, |layout| layout.skin)
    }

    /// The buffers, with views of the memory as it is now. If no instance is posed, a batch without instances shows
    /// which outputs there are.
    fn views(&self) -> Array {
        let empty = self.layout.filter(|_| self.posed.crowd.batches().is_empty());
        let batches = self.posed.crowd.batches().iter().map(|batch| {
            let (layout, numbers) = (&batch.layout, &batch.numbers);
            let arrays = [&numbers.skin, &numbers.model, &numbers.local, &numbers.values, &numbers.root_motion];
            let strides = [layout.skin, layout.model, layout.local, layout.values, layout.root_motion];
            let views = std::array::from_fn(|array| match strides[array] {
                0 => JsValue::NULL,
                _ => view(arrays[array]).into(),
            });
            let instances: Vec<u32> =
                batch.instances.iter().map(|&packed| self.posed.instance(packed) as u32).collect();
            batch_buffers(&instances, layout, views)
        });
        let empty = empty.map(|layout| {
            let strides = [layout.skin, layout.model, layout.local, layout.values, layout.root_motion];
            let views = strides.map(|numbers| if numbers == 0 { JsValue::NULL } else { view(&[]).into() });
            batch_buffers(&[], &layout, views)
        });
        batches.chain(empty).collect()
    }

    /// Replaces the layers of instances, in place if there is room.
    fn replace_layers(&mut self, chosen: &[usize], layers: &[Vec<posse::Layer>]) -> Result<()> {
        for (&instance, layers) in chosen.iter().zip(layers) {
            self.instances.check(&self.source.library, instance, layers, &Arc::default())?;
        }
        for (&instance, layers) in chosen.iter().zip(layers) {
            let skeleton = self.instances.crowd().skeleton(instance);
            self.instances.crowd_mut().set(instance, skeleton, layers)?;
            self.change(|posed, engine| posed.set_instance(engine, instance, layers))?;
        }
        Ok(())
    }

    /// Changes the packed instances in place. If the change does not fit, they are packed anew for the next frame.
    fn change(
        &mut self,
        change: impl FnOnce(&mut CpuCrowd, &CpuEngine) -> std::result::Result<(), Error>,
    ) -> Result<()> {
        self.is_stale = match self.posed.in_place(self.is_stale) {
            Some(posed) => !fits(change(posed, &self.engine))?,
            None => true,
        };
        Ok(())
    }

    /// Instances at a time: posed apart, so that the buffers keep the poses of the last frame.
    fn probe(&self, instances: &[usize], now: Ticks, outputs: Outputs) -> Result<CpuCrowd> {
        let only = self.instances.only(instances.iter().copied(), self.instances.values())?;
        let mut posed = self.engine.crowd(&only.at(now), outputs)?;
        self.engine.pose(&mut posed, now);
        Ok(posed)
    }

    /// Packs some instances, or all, with the parameters of the last frame.
    fn packed(&self, instances: Option<&[usize]>, outputs: Outputs) -> Result<CpuCrowd> {
        let (all, has_parameters) = (self.instances.crowd(), !self.instances.parameters.is_empty());
        let packed = |crowd: &posse::Crowd| self.engine.crowd_with_options(crowd, outputs, self.capacity);
        Ok(match instances {
            None if !has_parameters => packed(all)?,
            None => packed(&self.instances.only(0..all.len(), &self.before)?)?,
            Some(some) => packed(&self.instances.only(some.iter().copied(), &self.before)?)?,
        })
    }

    /// Packs the instances that have changed.
    fn pack(&mut self) -> Result<()> {
        if self.is_visible.is_empty() {
            self.posed = PackedInstances { crowd: self.packed(None, self.outputs)?, instances: None };
            self.hidden = None;
        } else {
            // The poses of instances that are hidden now.
            self.order_skin();
            let (visible, hidden): (Vec<usize>, Vec<usize>) =
                (0..self.count()).partition(|&instance| self.is_visible[instance]);
            let outputs = Outputs { root_motion: true, ..Outputs::NONE };
            let hidden = if self.outputs.root_motion {
                Some(PackedInstances { crowd: self.packed(Some(&hidden), outputs)?, instances: Some(hidden) })
            } else {
                None
            };
            self.posed =
                PackedInstances { crowd: self.packed(Some(&visible), self.outputs)?, instances: Some(visible) };
            self.hidden = hidden;
        }
        self.is_stale = false;
        Ok(())
    }

    /// Copies the skin matrices of the last frame in the order of the instances. The matrices of hidden instances stay.
    fn order_skin(&mut self) {
        if !self.outputs.skin || self.is_mixed {
            return;
        }
        let stride = self.skin_numbers();
        self.ordered_skin.resize(stride * self.instances.len(), 0.0);
        for batch in self.posed.crowd.batches() {
            let matrices = batch.numbers.skin.chunks_exact(stride.max(1));
            for (&packed, from) in batch.instances.iter().zip(matrices) {
                let instance = self.posed.instance(packed);
                self.ordered_skin[instance * stride..][..stride].copy_from_slice(from);
            }
        }
    }
}

/// Gives packed instances their present parameters.
fn set_parameters(part: &mut PackedInstances, instances: &Instances) {
    if instances.parameters.is_empty() {
        return;
    }
    let count = part.instances.as_ref().map_or(instances.len(), Vec::len);
    for packed in 0..count {
        let instance = part.instance(packed);
        part.crowd.set_parameters(packed, instances.values_of(instance));
    }
}

/// A view of numbers in the memory of the module. It has their present address: it is lost when the memory grows.
fn view(numbers: &[f32]) -> Float32Array {
    let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let address = numbers.as_ptr().addr() as u32;
    Float32Array::new_with_byte_offset_and_length(&memory.buffer(), address, numbers.len() as u32)
}
