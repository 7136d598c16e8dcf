//! A crowd in chunks, which threads of the caller pose.
//!
//! A chunk is a crowd of its own: neighbouring instances with their packed layers, behind a lock. A frame without
//! changes allocates nothing. Changed layers of an instance are packed into the place of the old ones. If they need
//! more room there, the chunk is packed again before its next pose, and no other.

use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard};

use posse::cpu::{CpuCrowd, CpuEngine};
use posse::parameters::Parameter;
use posse::{Layer, Outputs, SkinFormat, Step, Ticks};

use crate::error::{Error, Outcome};
use crate::layer;
use crate::layout::{self, Arrangement, OutputKind, Rows, SkeletonSize};
use crate::library::Snapshot;
use crate::numbers::{item, number, numbered};
use crate::packed::Packed;
use crate::types::{
    self, CrowdInfo, CrowdOptions, Event, Format, Layout, POSSE_ALL_CHUNKS, POSSE_MAX_GOALS, POSSE_MAX_LAYERS,
    POSSE_MAX_PARAMETERS, POSSE_NONE, POSSE_OUTPUT_LOCAL, POSSE_OUTPUT_MODEL, POSSE_OUTPUT_PROPERTIES,
    POSSE_OUTPUT_ROOT_MOTION, POSSE_OUTPUT_SKIN, POSSE_OUTPUT_WEIGHTS, POSSE_TICKS_PER_SECOND, PackOptions, Status,
};

/// The joints of a chunk whose size is not given: their matrices stay in the caches of a core.
const CHUNK_JOINTS: usize = 4096;

/// A number of instances that fills the SIMD registers of every machine.
const BLOCK: usize = 16;

/// The most parameters of an instance.
const PARAMETERS: usize = posse::Crowd::MAX_PARAMETERS;

// What the header says.
const _: () = assert!(
    POSSE_MAX_PARAMETERS as usize == PARAMETERS
        && POSSE_MAX_LAYERS as usize == posse::Crowd::MAX_LAYERS
        && POSSE_MAX_GOALS as usize == posse::Crowd::MAX_GOALS
        && POSSE_TICKS_PER_SECOND == Ticks::PER_SECOND
);

/// A crowd with a handle.
pub struct Crowd {
    snapshot: Arc<Snapshot>,
    outputs: Outputs,
    chunk_size: usize,
    instances: RwLock<Instances>,
}

/// The instances of a crowd.
#[derive(Default)]
struct Instances {
    chunks: Vec<Mutex<Chunk>>,
    /// The number of instances of all chunks: no call waits for a chunk to learn it.
    count: usize,
}

/// Neighbouring instances.
struct Chunk {
    /// The index of the first instance.
    first: usize,
    instances: posse::Crowd,
    parameters: Vec<Parameters>,
    /// The packed instances; `None` if a change has made them stale.
    posed: Option<CpuCrowd>,
}

/// The parameters of an instance.
#[derive(Clone, Copy, Default)]
struct Parameters {
    count: usize,
    /// The values of the last frame.
    before: [f32; PARAMETERS],
    /// The values of the next frame.
    now: [f32; PARAMETERS],
}

impl Parameters {
    /// Constants for a crowd that is packed or asked now.
    fn constants(&self, values: &[f32; PARAMETERS]) -> Outcome<Vec<Parameter>> {
        let values = values.iter().take(self.count);
        Ok(values.map(|&value| Parameter::constant(value.into())).collect::<Result<_, _>>()?)
    }
}

impl Crowd {
    pub fn new(snapshot: Arc<Snapshot>, options: &CrowdOptions) -> Outcome<Self> {
        const ALL: u32 = POSSE_OUTPUT_LOCAL
            | POSSE_OUTPUT_MODEL
            | POSSE_OUTPUT_SKIN
            | POSSE_OUTPUT_WEIGHTS
            | POSSE_OUTPUT_PROPERTIES
            | POSSE_OUTPUT_ROOT_MOTION;
        if options.outputs & !ALL != 0 {
            return Err(Error::argument(format!("the outputs {:#x} have a bit that no output has", options.outputs)));
        }
        let has = |bit: u32| options.outputs & bit != 0;
        let outputs = Outputs {
            local: has(POSSE_OUTPUT_LOCAL),
            model: has(POSSE_OUTPUT_MODEL),
            skin: has(POSSE_OUTPUT_SKIN),
            skin_format: match numbered(options.skin_format)? {
                types::SkinFormat::Matrix => SkinFormat::Matrix,
                types::SkinFormat::HalfMatrix => SkinFormat::HalfMatrix,
                types::SkinFormat::DualQuaternion => SkinFormat::DualQuaternion,
            },
            weights: has(POSSE_OUTPUT_WEIGHTS),
            properties: has(POSSE_OUTPUT_PROPERTIES),
            root_motion: has(POSSE_OUTPUT_ROOT_MOTION),
        };
        let chunk_size = if options.chunk_size == 0 {
            let skeletons = snapshot.parts.library.skeletons().iter();
            let joints = skeletons.map(|skeleton| skeleton.joints().len()).max().unwrap_or(1);
            (CHUNK_JOINTS / joints.max(1) / BLOCK * BLOCK).max(BLOCK)
        } else {
            options.chunk_size as usize
        };
        Ok(Self { snapshot, outputs, chunk_size, instances: RwLock::default() })
    }

    /// Adds an instance, and returns its index.
    pub fn add(&self, skeleton: u32, layers: &[types::Layer]) -> Outcome<u32> {
        let parts = &self.snapshot.parts;
        let skeleton = parts.skeleton_id(skeleton)?;
        let layers = layer::layers(parts, layers)?;
        self.check(skeleton, &layers)?;
        let mut instances = self.instances.write().map_err(|_| Error::poisoned())?;
        let Instances { chunks, count } = &mut *instances;
        let index = *count;
        if index >= POSSE_NONE as usize {
            return Err(Error::new(Status::Limit, "the crowd has as many instances as indices count"));
        }
        if index / self.chunk_size == chunks.len() {
            let instances = posse::Crowd::new();
            chunks.push(Mutex::new(Chunk { first: index, instances, parameters: Vec::new(), posed: None }));
        }
        let Some(chunk) = chunks.last_mut() else { return Err(Error::poisoned()) };
        let chunk = chunk.get_mut().map_err(|_| Error::poisoned())?;
        chunk.instances.push(skeleton, &layers)?;
        chunk.parameters.push(Parameters::default());
        chunk.posed = None;
        *count += 1;
        Ok(number(index))
    }

    /// Replaces the layers of an instance.
    pub fn set_layers(&self, instance: u32, layers: &[types::Layer]) -> Outcome<()> {
        let layers = layer::layers(&self.snapshot.parts, layers)?;
        self.with_instance(instance, |chunk, place| {
            let skeleton = chunk.instances.skeleton(place);
            self.check(skeleton, &layers)?;
            chunk.instances.set(place, skeleton, &layers)?;
            chunk.pack_layers(&self.snapshot.engine, place);
            Ok(())
        })
    }

    /// Fades an instance to another layer, from the start of a step to its end.
    pub fn cross_fade(&self, instance: u32, into: &types::Layer, fade: Step) -> Outcome<()> {
        let into = layer::layer(&self.snapshot.parts, into)?;
        self.with_instance(instance, |chunk, place| {
            let mut alone = posse::Crowd::new();
            alone.push_copy(&chunk.instances, place);
            alone.cross_fade(0, into, fade.from.to_seconds()..fade.to.to_seconds())?;
            let (skeleton, layers) = (alone.skeleton(0), alone.layers(0));
            self.check(skeleton, layers)?;
            chunk.instances.set(place, skeleton, layers)?;
            chunk.pack_layers(&self.snapshot.engine, place);
            Ok(())
        })
    }

    /// Replaces the goals of an instance.
    pub fn set_goals(&self, instance: u32, goals: &[types::Goal]) -> Outcome<()> {
        let parts = &self.snapshot.parts;
        let goals = layer::goals(parts, goals)?;
        self.with_instance(instance, |chunk, place| {
            let mut alone = posse::Crowd::new();
            alone.push(chunk.instances.skeleton(place), &[])?;
            alone.set_goals(0, goals.as_slice())?;
            alone.check(&parts.library)?;
            chunk.instances.set_goals(place, goals)?;
            chunk.posed = None;
            Ok(())
        })
    }

    /// Begins a transition of an instance to other layers.
    pub fn begin_transition(
        &self,
        instance: u32,
        layers: &[types::Layer],
        transition: &types::Transition,
        start: i64,
    ) -> Outcome<()> {
        let layers = layer::layers(&self.snapshot.parts, layers)?;
        self.with_instance(instance, |chunk, place| {
            self.check(chunk.instances.skeleton(place), &layers)?;
            chunk.use_present_parameters(place)?;
            let new = layer::transition(transition, place, &layers, start)?;
            chunk.instances.begin_transition(&self.snapshot.parts.library, &new)?;
            chunk.posed = None;
            Ok(())
        })
    }

    /// Checks that there are instances from `first` on, and can have `count` parameters each.
    pub fn check_parameters(&self, first: u32, instances: u32, count: usize) -> Outcome<()> {
        if count == 0 || count > PARAMETERS {
            let text = format!("an instance has from 1 to {PARAMETERS} parameters, not {count}");
            return Err(Error::new(Status::Limit, text));
        }
        let total = self.instances()?.count;
        if u64::from(first) + u64::from(instances) > total as u64 {
            return Err(Error::index("instance", first.saturating_add(instances.saturating_sub(1)), total));
        }
        Ok(())
    }

    /// Sets the parameters of instances from `first` on, `count` each.
    pub fn set_parameters(&self, first: u32, instances: u32, values: &[f32], count: usize) -> Outcome<()> {
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::argument(format!("value {at} is {}; expected a finite number", values[at])));
        }
        let all = self.instances()?;
        let mut held: Option<MutexGuard<Chunk>> = None;
        for (instance, values) in (first as usize..).zip(values.chunks_exact(count)).take(instances as usize) {
            let mut chunk = match held.take().filter(|chunk| instance < chunk.first + chunk.instances.len()) {
                Some(chunk) => chunk,
                None => lock(&all.chunks, instance / self.chunk_size)?,
            };
            let place = instance - chunk.first;
            chunk.set_parameters(place, values);
            held = Some(chunk);
        }
        Ok(())
    }

    /// Poses the instances of a chunk, or of all chunks, at the end of a step.
    pub fn pose(&self, chunk: u32, step: Step, format: Format, to: &mut impl Rows) -> Outcome<()> {
        if let Some(kind) = OutputKind::ALL.into_iter().find(|&kind| to.wants(kind) && !self.computes(kind)) {
            let name = kind.name();
            return Err(Error::argument(format!("the crowd does not compute {name}; make it with that output")));
        }
        self.for_each_chunk(chunk, |chunk| {
            let posed = chunk.packed(&self.snapshot, self.outputs)?;
            self.snapshot.engine.pose(posed, step);
            chunk.remember_parameters();
            chunk.write(format, to)
        })
    }

    /// The events that the layers of a chunk, or of all chunks, reach in a step: at most `capacity`, and the number of
    /// the events that are missing.
    pub fn events(&self, chunk: u32, step: Step, capacity: usize) -> Outcome<(Vec<Event>, u64)> {
        let (mut events, mut missed) = (Vec::new(), 0_u64);
        self.for_each_chunk(chunk, |chunk| {
            let posed = chunk.packed(&self.snapshot, self.outputs)?;
            let list = self.snapshot.engine.events(posed, step, capacity - events.len());
            missed = missed.saturating_add(list.missed);
            events.extend(list.events.iter().map(|reached| {
                Event {
                    tick: reached.tick.0,
                    instance: number(chunk.first + reached.instance),
                    layer: number(reached.layer),
                    clip: chunk
                        .instances
                        .layers(reached.instance)
                        .get(reached.layer)
                        .map_or(POSSE_NONE, |layer| number(layer.clip.index())),
                    event: number(reached.event),
                }
            }));
            Ok(())
        })?;
        events.sort_unstable_by_key(|event| (event.tick, event.instance, event.layer, event.event));
        Ok((events, missed))
    }

    /// The model matrix of a joint at a tick, three rows of four numbers.
    pub fn joint(&self, instance: u32, joint: u32, now: i64) -> Outcome<[f32; 12]> {
        self.with_instance(instance, |chunk, place| {
            let skeleton = self.snapshot.parts.library.skeleton(chunk.instances.skeleton(place));
            item("joint", skeleton.joints().iter(), joint)?;
            chunk.use_present_parameters(place)?;
            let outputs = Outputs { model: true, ..Outputs::NONE };
            let pose = self.snapshot.engine.query(&chunk.instances, place, Ticks(now), outputs)?;
            let matrix = item("joint", pose.model.iter(), joint)?;
            Ok(layout::rows(matrix))
        })
    }

    /// Packs all instances as they are now for kernels on a device of the caller.
    pub fn pack(&self, options: &PackOptions) -> Outcome<Packed> {
        let mut whole = posse::Crowd::new();
        self.for_each_chunk(POSSE_ALL_CHUNKS, |chunk| {
            for place in 0..chunk.instances.len() {
                chunk.use_present_parameters(place)?;
                whole.push_copy(&chunk.instances, place);
            }
            Ok(())
        })?;
        Packed::new(&self.snapshot.parts.library, &whole, self.outputs, options)
    }

    pub fn info(&self) -> Outcome<CrowdInfo> {
        let all = self.instances()?;
        Ok(CrowdInfo {
            instance_count: number(all.count),
            chunk_count: number(all.chunks.len()),
            chunk_size: number(self.chunk_size),
            ..CrowdInfo::default()
        })
    }

    /// The numbers per instance of a skeleton.
    pub fn layout(&self, skeleton: u32, format: Format) -> Outcome<Layout> {
        let parts = &self.snapshot.parts;
        let id = parts.skeleton_id(skeleton)?;
        let skeleton = parts.library.skeleton(id);
        let size = SkeletonSize {
            joints: skeleton.joints().len(),
            skin_joints: parts.library.skins_of(id).map(|(_, skin)| skin.joints.len()).sum(),
            weights: skeleton.weight_count(),
            properties: skeleton.property_width(),
        };
        Ok(layout::layout(size, self.outputs, format))
    }

    fn computes(&self, kind: OutputKind) -> bool {
        let outputs = &self.outputs;
        match kind {
            OutputKind::Local => outputs.local,
            OutputKind::Model => outputs.model,
            OutputKind::Skin => outputs.skin,
            OutputKind::Values => outputs.weights || outputs.properties,
            OutputKind::RootMotion => outputs.root_motion,
        }
    }

    /// Checks layers before the crowd has them, by packing an instance that is alone.
    fn check(&self, skeleton: posse::SkeletonId, layers: &[Layer]) -> Outcome<()> {
        let mut alone = posse::Crowd::new();
        alone.push(skeleton, layers)?;
        // Dual quaternions are refused for some skeletons and clips.
        let has_limits = self.outputs.skin && self.outputs.skin_format == SkinFormat::DualQuaternion;
        let outputs = if has_limits { self.outputs } else { Outputs::NONE };
        self.snapshot.engine.crowd(&alone, outputs)?;
        Ok(())
    }

    fn instances(&self) -> Outcome<RwLockReadGuard<'_, Instances>> {
        self.instances.read().map_err(|_| Error::poisoned())
    }

    /// Works on the chunk of an instance, and the place of the instance there.
    fn with_instance<T>(&self, instance: u32, work: impl FnOnce(&mut Chunk, usize) -> Outcome<T>) -> Outcome<T> {
        let all = self.instances()?;
        let index = instance as usize;
        if index >= all.count {
            return Err(Error::index("instance", instance, all.count));
        }
        let mut chunk = lock(&all.chunks, index / self.chunk_size)?;
        let first = chunk.first;
        work(&mut chunk, index - first)
    }

    fn for_each_chunk(&self, chunk: u32, mut work: impl FnMut(&mut Chunk) -> Outcome<()>) -> Outcome<()> {
        let all = self.instances()?;
        let chunks = &all.chunks;
        if chunk == POSSE_ALL_CHUNKS {
            return (0..chunks.len()).try_for_each(|index| {
                let mut chunk = lock(chunks, index)?;
                work(&mut chunk)
            });
        }
        item("chunk", chunks.iter(), chunk)?;
        let mut chunk = lock(chunks, chunk as usize)?;
        work(&mut chunk)
    }
}

fn lock(chunks: &[Mutex<Chunk>], index: usize) -> Outcome<MutexGuard<'_, Chunk>> {
    let chunk = chunks.get(index).ok_or_else(|| Error::index("chunk", number(index), chunks.len()))?;
    chunk.lock().map_err(|_| Error::poisoned())
}

impl Chunk {
    /// The packed instances, which are packed again after a change.
    fn packed(&mut self, snapshot: &Snapshot, outputs: Outputs) -> Outcome<&mut CpuCrowd> {
        let Self { instances, parameters, posed, .. } = self;
        if posed.is_none() {
            // The new parameters are the parameters of the last frame; then the next ones are set.
            for (place, own) in parameters.iter().enumerate().filter(|(_, own)| own.count > 0) {
                instances.set_parameters(place, own.constants(&own.before)?)?;
            }
            let mut packed = snapshot.engine.crowd(instances, outputs)?;
            for (place, own) in parameters.iter().enumerate().filter(|(_, own)| own.count > 0) {
                packed.set_parameters(place, &own.now);
            }
            *posed = Some(packed);
        }
        posed.as_mut().ok_or_else(Error::poisoned)
    }

    /// Packs the layers of an instance, which fit the library, into the place of its former layers, or leaves that to
    /// the next pose if they need more room.
    fn pack_layers(&mut self, engine: &CpuEngine, place: usize) {
        let Self { instances, posed, .. } = self;
        let layers = instances.layers(place);
        if posed.as_mut().is_some_and(|posed| posed.set_instance(engine, place, layers).is_err()) {
            *posed = None;
        }
    }

    fn set_parameters(&mut self, place: usize, values: &[f32]) {
        let Some(own) = self.parameters.get_mut(place) else { return };
        let is_new = own.count < values.len();
        own.now.iter_mut().zip(values).for_each(|(now, value)| *now = *value);
        // The first value of a parameter is no movement.
        own.before.iter_mut().zip(values).skip(own.count).for_each(|(before, value)| *before = *value);
        own.count = own.count.max(values.len());
        match &mut self.posed {
            // The engine has to forget what the parameters were before.
            posed if is_new => *posed = None,
            Some(posed) => posed.set_parameters(place, &own.now),
            None => {}
        }
    }

    /// What has been posed is the frame before the next one.
    fn remember_parameters(&mut self) {
        self.parameters.iter_mut().filter(|own| own.count > 0).for_each(|own| own.before = own.now);
    }

    /// Gives an instance its present parameters, for the reference that takes the poses of a transition, and for
    /// queries.
    fn use_present_parameters(&mut self, place: usize) -> Outcome<()> {
        if let Some(own) = self.parameters.get(place).filter(|own| own.count > 0) {
            self.instances.set_parameters(place, own.constants(&own.now)?)?;
        }
        Ok(())
    }

    /// Writes the poses to the memory of the caller.
    fn write(&self, format: Format, to: &mut impl Rows) -> Outcome<()> {
        for batch in self.posed.iter().flat_map(CpuCrowd::batches) {
            let (layout, numbers) = (&batch.layout, &batch.numbers);
            for kind in OutputKind::ALL {
                if !to.wants(kind) {
                    continue;
                }
                let (stride, numbers): (usize, &[f32]) = match kind {
                    OutputKind::Local => (layout.local, &numbers.local),
                    OutputKind::Model => (layout.model, &numbers.model),
                    OutputKind::Skin => (layout.skin, &numbers.skin),
                    OutputKind::Values => (layout.values, &numbers.values),
                    OutputKind::RootMotion => (layout.root_motion, &numbers.root_motion),
                };
                if stride == 0 {
                    continue;
                }
                let arrangement = Arrangement::new(format, kind, layout.skin_format);
                let width = arrangement.width(stride);
                for (&place, numbers) in batch.instances.iter().zip(numbers.chunks_exact(stride)) {
                    arrangement.write(numbers, to.row(kind, self.first + place, width)?);
                }
            }
        }
        Ok(())
    }
}
