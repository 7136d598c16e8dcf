//! The crowds on the device of Bevy, one per rig.

use std::sync::Arc;

use bevy::asset::AssetId;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::Buffer;
use bevy::render::renderer::{RenderContext, RenderDevice, RenderQueue};
use bevy::render::storage::{GpuShaderBuffer, RenderChangedShaderBuffers};
use posse::gpu::{GpuCrowd, GpuLibrary};
use posse::ik::Goal;
use posse::packed::PackedLibrary;
use posse::{Crowd, CrowdOptions, Error, Library, Mixing, Outputs, Refusal, SkeletonId, Step, Ticks};

use crate::change::Change;
use crate::material::CrowdSkinning;
use crate::rig::CrowdRig;
use crate::weights::Weights;

/// The number of joints and the update interval of an entry of a visible list: all, in each frame.
const ALL_JOINTS: u32 = u32::MAX;
const EACH_FRAME: u32 = 1;

/// All crowds in the render world.
#[derive(Resource)]
pub(crate) struct RenderCrowds {
    pub crowds: HashMap<AssetId<CrowdRig>, RenderCrowd>,
    pub step: Step,
    frame: u32,
}

impl Default for RenderCrowds {
    fn default() -> Self {
        Self { crowds: HashMap::default(), step: Ticks(0).into(), frame: 0 }
    }
}

/// A crowd of one rig. Everything but `gpu` outlives the device.
pub(crate) struct RenderCrowd {
    library: Arc<Library>,
    packed: Arc<PackedLibrary>,
    skeleton: SkeletonId,
    skinning: CrowdSkinning,
    /// The instances by slot, as they are on the device.
    crowd: Crowd,
    /// The capacity of the crowd on the device.
    capacity: CrowdOptions,
    gpu: Option<OnDevice>,
    pub pending: Vec<Change>,
    /// The slots of the visible characters.
    pub visible: Vec<u32>,
    /// True after an error, until the rig changes.
    failed: bool,
}

/// The part of a crowd that a lost device takes along.
struct OnDevice {
    library: GpuLibrary,
    crowd: GpuCrowd,
    skin: Buffer,
    previous: Buffer,
    weights: Option<Weights>,
    /// The visible list on the device.
    listed: Vec<u32>,
    /// True until the first frame.
    is_new: bool,
}

impl RenderCrowd {
    /// A crowd without instances.
    pub fn new(rig: &CrowdRig) -> Self {
        Self {
            library: rig.library.clone(),
            packed: rig.packed.clone(),
            skeleton: rig.skeleton,
            skinning: rig.skinning(),
            crowd: Crowd::new(),
            capacity: CrowdOptions { visible: true, previous_skin: true, layers: 1, ..CrowdOptions::NONE },
            gpu: None,
            pending: Vec::new(),
            visible: Vec::new(),
            failed: false,
        }
    }

    /// True if the crowd has the library of the rig as it is now.
    pub fn is_of(&self, rig: &CrowdRig) -> bool {
        Arc::ptr_eq(&self.library, &rig.library)
    }

    /// Writes the pending changes to the device. If its capacity is too small for them, a larger crowd takes the place
    /// of the present one.
    fn apply(&mut self, now: Ticks, device: &RenderDevice, queue: &RenderQueue) -> Result<(), Error> {
        if self.pending.is_empty() && (self.gpu.is_some() || self.crowd.is_empty()) {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let (capacity, count) = (self.capacity, self.crowd.len());
        let last = pending.iter().map(|change| change.slot as usize + 1).max().unwrap_or(0);
        if last > count {
            // Doubling, so that a stream of new characters seldom needs another crowd.
            while self.crowd.len() < last.next_power_of_two().max(16) {
                self.crowd.push(self.skeleton, &[])?;
            }
        }
        // One upload for all takes less time than many small ones.
        let is_whole = pending.len() * 4 > self.crowd.len();
        for change in &pending {
            self.raise_capacity(change);
            let is_single = !is_whole && self.capacity == capacity && self.crowd.len() == count;
            if let Err(error) = self.change(change, now, is_single) {
                error!("character {}: {error}", change.entity);
            }
        }
        if let Some(gpu) = &self.gpu
            && self.capacity == capacity
            && self.crowd.len() == count
        {
            if !is_whole {
                return Ok(());
            }
            if fits(gpu.crowd.set_layers(&gpu.library, &self.crowd.at(now)))? {
                let parameters = gpu.crowd.parameter_count();
                let values = |instance| self.crowd.parameter_values(instance, now).0.into_iter().take(parameters);
                return gpu.crowd.set_all_parameters(&(0..count).flat_map(values).collect::<Vec<_>>());
            }
        }
        self.upload(now, device, queue)
    }

    /// Raises the capacity to what a change needs on the device.
    fn raise_capacity(&mut self, change: &Change) {
        let needed = &mut self.capacity;
        needed.layers = needed.layers.max(change.layers.len());
        needed.mixing = needed.mixing.max(Mixing::of(&change.layers));
        needed.drivers |= change.layers.iter().any(posse::Layer::is_driven);
        let of_goals = change.goals.iter().flat_map(Goal::parameters).map(|parameter| parameter + 1).max().unwrap_or(0);
        needed.parameters = needed.parameters.max(change.parameters.len()).max(of_goals);
        needed.goals = needed.goals.max(change.goals.len());
    }

    /// Changes an instance on the host; on the device as well, if `is_single` says so.
    fn change(&mut self, change: &Change, now: Ticks, is_single: bool) -> Result<(), Error> {
        let slot = change.slot as usize;
        let Some(gpu) = self.gpu.as_ref().filter(|_| is_single) else {
            return change.apply(&self.library, &mut self.crowd, slot, now).map(|_| ());
        };
        match change.transition.filter(|_| !change.is_new && self.crowd.layers(slot) != change.layers) {
            Some(transition) => {
                let new = transition.begin(slot, &change.layers, now);
                let begun = gpu.crowd.transition(&gpu.library, &self.library, &mut self.crowd, &new);
                if let Err(Error::Refused(Refusal::MoreTransitions { capacity, .. })) = begun {
                    self.capacity.transitions = (2 * capacity).max(16);
                }
                fits(begun)?;
                // A transition that has begun leaves only the parameters to change.
                change.apply(&self.library, &mut self.crowd, slot, now)?;
            }
            None => {
                if change.apply(&self.library, &mut self.crowd, slot, now)? {
                    fits(gpu.crowd.set_instance(&gpu.library, slot, self.crowd.layers(slot)))?;
                }
            }
        }
        // All parameters, so that none of the frame before stays.
        let mut values = change.parameters.clone();
        values.resize(gpu.crowd.parameter_count(), 0.0);
        fits(gpu.crowd.set_parameters(slot, &values))?;
        if self.capacity.goals > 0 {
            fits(gpu.crowd.set_goals(&gpu.library, slot, &change.goals))?;
        }
        Ok(())
    }

    /// Makes the crowd on the device.
    fn upload(&mut self, now: Ticks, device: &RenderDevice, queue: &RenderQueue) -> Result<(), Error> {
        let library = match self.gpu.take() {
            Some(gpu) => gpu.library,
            None => GpuLibrary::from_packed((device.wgpu_device(), &**queue), (*self.packed).clone())?,
        };
        let weights = self.library.skeleton(self.skeleton).weight_count() > 0;
        let outputs = Outputs { weights, ..Outputs::SKIN };
        let crowd = GpuCrowd::with_options(&library, &self.crowd.at(now), outputs, self.capacity)?;
        let [batch] = crowd.batches() else {
            let (count, parts) = (self.crowd.len(), crowd.batches().len());
            let reason =
                format!("{count} characters need {parts} buffers on this device; draw fewer characters per rig");
            return Err(Error::Usage(reason));
        };
        let (Some(skin), Some(previous)) = (batch.skin(), batch.previous_skin()) else {
            return Err(Error::Usage("the rig has no skin".into()));
        };
        let (skin, previous) = (Buffer::from(skin.clone()), Buffer::from(previous.clone()));
        let weights = batch.values().map(|values| Weights::new(&Buffer::from(values.clone()), device)).transpose()?;
        self.gpu = Some(OnDevice { library, crowd, skin, previous, weights, listed: Vec::new(), is_new: true });
        Ok(())
    }

    /// Writes the visible list, if it is another one than in the frame before.
    fn list_visible(&mut self, queue: &RenderQueue) {
        let Some(gpu) = &mut self.gpu else { return };
        if !gpu.is_new && gpu.listed == self.visible {
            return;
        }
        let Some(list) = gpu.crowd.batches().first().and_then(|batch| batch.visible()) else { return };
        // Characters whose change was dropped, because their rig was edited after it, have no instance until the next
        // frame.
        let present = || self.visible.iter().copied().filter(|&slot| (slot as usize) < self.crowd.len());
        let mut bytes = Vec::with_capacity(4 + 12 * self.visible.len());
        bytes.extend((present().count() as u32).to_le_bytes());
        for slot in present() {
            bytes.extend([slot, ALL_JOINTS, EACH_FRAME].into_iter().flat_map(u32::to_le_bytes));
        }
        queue.write_buffer(&Buffer::from(list.clone()), 0, &bytes);
        gpu.listed.clone_from(&self.visible);
    }
}

/// Forgets everything on a device that is lost. The crowds come back with the next frame.
pub(crate) fn begin(mut crowds: ResMut<RenderCrowds>) {
    for crowd in crowds.crowds.values_mut() {
        crowd.gpu = None;
        crowd.failed = false;
    }
}

/// Brings the crowds on the device up to date, and puts their buffers in place of the buffers that the materials name.
pub(crate) fn prepare(
    mut crowds: ResMut<RenderCrowds>,
    (device, queue): (Res<RenderDevice>, Res<RenderQueue>),
    mut buffers: ResMut<RenderAssets<GpuShaderBuffer>>,
    mut changed: ResMut<RenderChangedShaderBuffers>,
) {
    let now = crowds.step.to;
    for (id, crowd) in &mut crowds.crowds {
        if crowd.failed {
            continue;
        }
        if let Err(error) = crowd.apply(now, &device, &queue) {
            error!("rig {id}: {error}");
            (crowd.failed, crowd.gpu) = (true, None);
            continue;
        }
        crowd.list_visible(&queue);
        let Some(gpu) = &crowd.gpu else { continue };
        let matrices = [(&crowd.skinning.skin, &gpu.skin), (&crowd.skinning.previous, &gpu.previous)];
        let weights = gpu.weights.as_ref().map(|weights| (&crowd.skinning.weights, &weights.shown));
        for (handle, buffer) in matrices.into_iter().chain(weights) {
            if let Some(shown) = buffers.get_mut(handle)
                && shown.buffer.id() != buffer.id()
            {
                shown.buffer = buffer.clone();
                changed.insert(handle.id());
            }
        }
    }
}

/// Records the poses of the visible characters into Bevy's encoder, once per frame, for all views.
pub(crate) fn pose(mut crowds: ResMut<RenderCrowds>, mut context: RenderContext) {
    let RenderCrowds { crowds, step, frame } = &mut *crowds;
    *frame = frame.wrapping_add(1);
    for crowd in crowds.values_mut() {
        let Some(gpu) = &mut crowd.gpu else { continue };
        // A new crowd has no previous matrices: a step that goes nowhere copies the present ones.
        let step = if std::mem::take(&mut gpu.is_new) { step.to.into() } else { *step };
        let encoder = context.command_encoder();
        if let Some(weights) = &gpu.weights {
            weights.keep(encoder);
        }
        gpu.crowd.encode_visible(encoder, step, *frame);
        if let Some(weights) = &gpu.weights {
            weights.show(encoder, step);
        }
    }
}

/// False for a change that the crowd refuses because it was made without the capacity: the next upload has it.
fn fits(change: Result<(), Error>) -> Result<bool, Error> {
    match change {
        Err(Error::Refused(_)) => Ok(false),
        other => other.map(|()| true),
    }
}
