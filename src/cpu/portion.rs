//! Portions of a crowd, which the threads of an engine pose one after the other.

use std::sync::Mutex;

use crate::cpu::crowd::CpuCrowd;
use crate::cpu::goals::{self, Goals};
use crate::cpu::plan::Plan;
use crate::cpu::pose;
use crate::cpu::scratch::Scratch;
use crate::cpu::simd::{Kernel, LARGEST_BLOCK, Lanes};
use crate::cpu::source::{OutputSlices, Source};
use crate::cpu::stages::decay::Displaced;
use crate::cpu::stages::drive::Moment;
use crate::cpu::stages::root_motion;
use crate::model::{Mixing, Step};
use crate::pack::record::{DriveRecord, LayerRecord};
use crate::pack::{OutputLayout, PackedCrowd, PackedDisplacement, PackedLibrary};

/// Instances in neighbouring slots of one batch. Instances of one clip are neighbours.
pub struct Portion<'a> {
    /// The inputs of the stages.
    pub source: Source<'a>,
    /// The numbers per instance in each output.
    pub layout: OutputLayout,
    /// The layers of all instances, `layer_count` per instance.
    pub layers: &'a mut [LayerRecord],
    /// The drivers of the layers, and the values of the parameters; without drivers, the layers are ready.
    pub driving: Option<Driving<'a>>,
    /// The transitions of the instances; empty if none is in one.
    pub displaced: Displacements<'a>,
    /// The goals of the instances; `None` if none has one.
    pub goals: Option<Goals<'a>>,
    pub layer_count: usize,
    /// If set, each instance has one layer that needs no mixing.
    pub plain: bool,
    /// If set, the next portion is taken before this one is posed, so that its keys can be loaded meanwhile.
    pub takes_ahead: bool,
    /// The outputs of all instances.
    pub to: OutputSlices<'a>,
}

/// The drivers of the layers of a portion, and the values of their parameters.
pub struct Driving<'a> {
    drives: &'a [DriveRecord],
    before: &'a [f32],
    now: &'a [f32],
    parameter_count: usize,
}

impl Driving<'_> {
    /// Sets the times and weights of the layers of all instances.
    fn drive(&self, library: &PackedLibrary, step: Step, layers: &mut [LayerRecord], layer_count: usize) {
        let arrays = &library.arrays;
        let instances = self.drives.chunks(layer_count).zip(layers.chunks_mut(layer_count));
        for (instance, (drives, layers)) in instances.enumerate() {
            let own = instance * self.parameter_count..(instance + 1) * self.parameter_count;
            // A step that goes nowhere begins with the present values.
            let before = if step.from == step.to { self.now } else { self.before };
            let moment = Moment { arrays, step, before: &before[own.clone()], now: &self.now[own] };
            moment.drive(drives, layers);
        }
    }
}

/// The transitions of the instances of a portion.
#[derive(Clone, Copy)]
pub struct Displacements<'a> {
    /// The index of the displacement of each instance, or `NONE`; empty if there is none.
    pub indices: &'a [u32],
    /// All displacements of the crowd.
    pub all: &'a [PackedDisplacement],
}

impl<'a> Displacements<'a> {
    /// Those of some of the instances.
    fn part(self, instances: std::ops::Range<usize>) -> Self {
        let count = self.indices.len();
        Self { indices: &self.indices[instances.start.min(count)..instances.end.min(count)], ..self }
    }

    /// Those that are on their way at a tick, with the index of the instance.
    pub fn at(self, now: i64) -> impl Iterator<Item = (usize, Displaced<'a>)> {
        let displacement = move |&index: &u32| self.all.get(index as usize);
        let found = self.indices.iter().enumerate();
        found.filter_map(move |(instance, index)| Some((instance, Displaced::new(displacement(index)?, now)?)))
    }
}

/// Size in bytes of the skin matrices above which streaming stores are used: the caches would not keep them until they are read.
const LARGER_THAN_CACHES: usize = 8 << 20;

/// The fixed work per layer of an instance, as a number of joints.
const JOINTS_PER_LAYER: usize = 16;

/// The least work of a thread, in joints. For less, waking a thread takes longer.
const JOINTS_WORTH_A_THREAD: usize = 2048;

/// The most work of a portion, in joints. The time to take a portion does not count then.
const MOST_JOINTS: usize = 4096;

/// The least work of a portion, in joints.
const LEAST_JOINTS: usize = 512;

/// The number of portions per thread, so that all threads end at almost the same time.
const PORTIONS_PER_THREAD: usize = 16;

/// Where each of several threads has at least this many portions, it takes one ahead.
const PORTIONS_TO_TAKE_AHEAD: usize = 8;

/// Instances of a portion are a multiple of this number, so that kernels can take several at a time.
const MULTIPLE: usize = LARGEST_BLOCK;

/// The work of posing an instance, as a number of joints.
fn work(joints: usize, layer_count: usize) -> usize {
    layer_count * (joints + JOINTS_PER_LAYER)
}

/// The work of posing a crowd, as a number of joints.
fn crowd_work(crowd: &CpuCrowd, library: &PackedLibrary) -> usize {
    let batch_work = |batch: &crate::pack::PackedBatch| {
        let joints = library.skeletons[batch.skeleton.index()].record.joint_count as usize;
        batch.instances.len() * work(joints, batch.layer_count)
    };
    crowd.packed.batches.iter().map(batch_work).sum()
}

/// The number of threads that pose a crowd: as many as have enough work, up to `most`.
pub fn threads(crowd: &CpuCrowd, library: &PackedLibrary, most: usize) -> usize {
    most.min(crowd_work(crowd, library).div_ceil(JOINTS_WORTH_A_THREAD)).max(1)
}

/// Cuts a crowd into portions for some threads, batch after batch.
pub fn portions<'a>(
    crowd: &'a mut CpuCrowd,
    library: &'a PackedLibrary,
    plans: &'a [(u32, Plan)],
    threads: usize,
) -> impl Iterator<Item = Portion<'a>> + Send {
    let per_thread = crowd_work(crowd, library) / threads;
    let most = (per_thread / PORTIONS_PER_THREAD).clamp(LEAST_JOINTS, MOST_JOINTS);
    let CpuCrowd { packed, batches, prefetches, parameters, .. } = crowd;
    let PackedCrowd { layers, drives, goals, displacements, batches: packed, .. } = packed;
    let (drives, goals, displacements) = (&*drives, &*goals, &*displacements);
    let (parameters, prefetches) = (&*parameters, *prefetches);
    let mut rest = layers.as_mut_slice();
    packed.iter().zip(batches).flat_map(move |(packed, batch)| {
        let past_caches = size_of_val(batch.numbers.skin.as_slice()) > LARGER_THAN_CACHES;
        let skeleton = &library.skeletons[batch.skeleton.index()];
        let source = Source { library, skeleton, plans, past_caches, prefetches };
        let layer_count = packed.layer_count;
        // The layers of the batches follow each other.
        let layers = rest.split_off_mut(..layer_count * packed.instances.len()).unwrap_or_default();
        let instance_work = work(skeleton.record.joint_count as usize, layer_count);
        let instances = (most / instance_work).next_multiple_of(MULTIPLE).max(MULTIPLE);
        // Otherwise, another thread might have none.
        let has_many = threads == 1 || per_thread >= PORTIONS_TO_TAKE_AHEAD * instances * instance_work;
        let takes_ahead = prefetches && has_many && batch.layout.has_matrices();
        let outputs = OutputSlices::new(&mut batch.numbers).chunks(&batch.layout, instances);
        let (layout, plain) = (batch.layout, packed.mixing == Mixing::None);
        let all = Displacements { indices: &packed.displaced, all: displacements };
        let goals = (packed.goal_count > 0).then(|| Goals {
            records: &goals[packed.first_goal..][..packed.goal_count * packed.instances.len()],
            goal_count: packed.goal_count,
            parameters: &parameters.now
                [packed.instances.start * parameters.count..packed.instances.end * parameters.count],
            parameter_count: parameters.count,
        });
        let portion = move |(index, (layers, to)): (usize, (&'a mut [LayerRecord], OutputSlices<'a>))| {
            let first = index * instances;
            let own = first..first + layers.len() / layer_count;
            let displaced = all.part(own.clone());
            let goals = goals.map(|goals| goals.part(own.clone()));
            let driving = packed.first_drive.map(|first_drive| {
                let count = parameters.count;
                let places = packed.instances.start + own.start..packed.instances.start + own.end;
                let values = places.start * count..places.end * count;
                Driving {
                    drives: &drives[first_drive + own.start * layer_count..first_drive + own.end * layer_count],
                    before: &parameters.before[values.clone()],
                    now: &parameters.now[values],
                    parameter_count: count,
                }
            });
            Portion { source, layout, layers, driving, displaced, goals, layer_count, plain, takes_ahead, to }
        };
        layers.chunks_mut(instances * layer_count).zip(outputs).enumerate().map(portion)
    })
}

/// The work of a thread in a frame: it poses portions until none are left.
pub struct Posing<'a, Portions> {
    /// The portions that no thread has taken.
    pub portions: &'a Mutex<Portions>,
    /// The step at the end of which instances are posed.
    pub step: Step,
    /// The memory of threads that pose no frame at present.
    pub scratch: &'a Mutex<Vec<Scratch>>,
}

impl<Portions> Clone for Posing<'_, Portions> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Portions> Copy for Posing<'_, Portions> {}

impl<'a, Portions: Iterator<Item = Portion<'a>>> Kernel for Posing<'_, Portions> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { portions, step, scratch: idle } = self;
        let taken = idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut scratch = taken.unwrap_or_default();
        // A poisoned lock means that another thread has panicked, which the pool reports.
        let take = || portions.lock().ok().and_then(|mut portions| portions.next());
        let mut next = take();
        let mut first_is_found = false;
        while let Some(portion) = next {
            next = if portion.takes_ahead { take() } else { None };
            let following = next.as_ref().map(|next| next.first_layers(L::BLOCK)).unwrap_or_default();
            pose_portion::<L>(portion, first_is_found, following, step, &mut scratch);
            first_is_found = !following.is_empty();
            next = next.or_else(take);
        }
        L::fence();
        if let Ok(mut idle) = idle.lock() {
            idle.push(scratch);
        }
    }
}

impl Portion<'_> {
    /// The layers of the first `count` instances, if their keys can be found at once.
    fn first_layers(&self, count: usize) -> &[LayerRecord] {
        if self.plain && self.driving.is_none() { &self.layers[..count.min(self.layers.len())] } else { &[] }
    }
}

/// Poses the instances of a portion, a group at a time. While the outputs of a group are written, the keys of the next one are loaded; after
/// the last one, those of the layers that are `following` in another portion. If `first_is_found` is set, the keys of the first group were
/// found with the portion before.
#[inline(always)]
fn pose_portion<L: Lanes>(
    portion: Portion,
    mut first_is_found: bool,
    following: &[LayerRecord],
    step: Step,
    scratch: &mut Scratch,
) {
    let Portion { source, layout, layers, driving, displaced, goals, layer_count, plain, to, .. } = portion;
    scratch.resize(source.skeleton.record.joint_count as usize, L::BLOCK);
    if let Some(driving) = driving {
        driving.drive(source.library, step, layers, layer_count);
    }
    let mut groups = layers.chunks(layer_count * L::BLOCK).zip(to.chunks(&layout, L::BLOCK)).enumerate().peekable();
    let mut sampled = None;
    loop {
        let next = match groups.peek() {
            Some((_, (layers, _))) if plain => *layers,
            // Groups that are mixed find their keys themselves.
            Some(_) => &[],
            None => following,
        };
        scratch.ahead.clear();
        if !first_is_found {
            scratch.found.find::<L>(source, next, step.to.0);
            if source.prefetches && sampled.is_some() && layout.has_matrices() {
                scratch.ahead.take_group(source, next, &scratch.found);
            }
        }
        first_is_found = false;
        if let Some((instances, to)) = sampled {
            pose::write::<L>(source, instances, &layout, scratch, to);
        }
        let Some((group, (layers, mut to))) = groups.next() else { break };
        if layout.root_motion > 0 {
            let motions = to.root_motion.chunks_mut(layout.root_motion);
            for (layers, to) in layers.chunks(layer_count).zip(motions) {
                root_motion::write(source, layers, step, &mut scratch.spans, to);
            }
        }
        if plain {
            pose::sample::<L>(source, layers, &layout, scratch, &mut to);
        } else {
            pose::mix::<L>(source, layers, layer_count, step.to.0, &layout, scratch, &mut to);
        }
        if !displaced.indices.is_empty() {
            let displaced = displaced.part(group * L::BLOCK..(group + 1) * L::BLOCK);
            pose::displace(source, displaced, step.to.0, &layout, scratch, &mut to);
        }
        if let Some(goals) = goals.filter(|_| layout.has_joints()) {
            let own = goals.part(group * L::BLOCK..(group + 1) * L::BLOCK);
            goals::reach::<L>(source, own, layers.len() / layer_count, &mut scratch.reach, &mut scratch.parts);
        }
        sampled = Some((layers.len() / layer_count, to));
    }
}
