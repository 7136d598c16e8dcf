//! Portions of a crowd. A thread poses one after the other.

use std::sync::Mutex;

use crate::cpu::cut::{Cutting, Portions};
use crate::cpu::goals::{Goals, Reaching};
use crate::cpu::pose::{self, Mixing, Writing};
use crate::cpu::scratch::Scratch;
use crate::cpu::simd::{Kernel, Lanes, prefetch};
use crate::cpu::source::{OutputSlices, Source};
use crate::cpu::stages::decay::Displaced;
use crate::cpu::stages::drive::Moment;
use crate::cpu::stages::root_motion;
use crate::model::Step;
use crate::pack::record::{DriveRecord, LayerRecord};
use crate::pack::{OutputLayout, PackedDisplacement, PackedLibrary};

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
    /// One per layer, instance after instance.
    pub drives: &'a [DriveRecord],
    /// The values in the frame before, instance after instance.
    pub before: &'a [f32],
    /// The values in this frame.
    pub now: &'a [f32],
    /// The number of values per instance.
    pub parameter_count: usize,
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
    pub fn part(self, instances: std::ops::Range<usize>) -> Self {
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

/// The work of a thread in a frame: it poses portions until none are left.
#[derive(Clone, Copy)]
pub struct Posing<'a, 'b> {
    /// The crowd.
    pub cutting: &'b Cutting<'a>,
    /// The step at the end of which instances are posed.
    pub step: Step,
    /// The memory of threads that pose no frame at present.
    pub scratch: &'b Mutex<Vec<Scratch>>,
}

impl Kernel for Posing<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { cutting, step, scratch: idle } = self;
        let taken = idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut scratch = taken.unwrap_or_default();
        let mut portions = Portions::new(cutting);
        let mut next = portions.next();
        let mut first_is_found = false;
        while let Some(portion) = next {
            next = if portion.takes_ahead { portions.next() } else { None };
            let following = next.as_ref().map(|next| next.first_layers(L::BLOCK)).unwrap_or_default();
            pose_portion::<L>(portion, first_is_found, following, step, &mut scratch);
            first_is_found = !following.is_empty();
            next = next.or_else(|| portions.next());
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
                scratch.ahead.add_group(source, next, &scratch.found, &scratch.decoded);
            }
        }
        first_is_found = false;
        if let Some((instances, to)) = sampled {
            L::call(Writing { source, instances, layout: &layout, scratch, to });
        }
        let Some((group, (layers, mut to))) = groups.next() else { break };
        // The records of the next group are read when this one is sampled.
        if let Some((_, (later, _))) = groups.peek() {
            prefetch(later);
        }
        if layout.root_motion > 0 {
            let motions = to.root_motion.chunks_mut(layout.root_motion);
            for (layers, to) in layers.chunks(layer_count).zip(motions) {
                root_motion::write(source, layers, step, &mut scratch.spans, to);
            }
        }
        if plain {
            pose::sample::<L>(source, layers, &layout, scratch, &mut to);
        } else {
            let (now, layout, to) = (step.to.0, &layout, &mut to);
            L::call(Mixing { source, layers, layer_count, now, layout, scratch, to });
        }
        if !displaced.indices.is_empty() {
            let displaced = displaced.part(group * L::BLOCK..(group + 1) * L::BLOCK);
            pose::displace(source, displaced, step.to.0, &layout, scratch, &mut to);
        }
        if let Some(goals) = goals.filter(|_| layout.has_joints()) {
            let own = goals.part(group * L::BLOCK..(group + 1) * L::BLOCK);
            let instances = layers.len() / layer_count;
            let Scratch { reach: memory, parts, .. } = scratch;
            L::call(Reaching { source, goals: own, instances, memory, parts });
        }
        sampled = Some((layers.len() / layer_count, to));
    }
}
