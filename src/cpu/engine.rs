//! The CPU engine: instances shared out among threads.

use std::sync::Mutex;
use std::thread;

use crate::cpu::pose::{Place, Scratch, Source, pose};
use crate::cpu::{layers, motion};
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::crowd::Crowd;
use crate::model::id::SkeletonId;
use crate::model::library::Library;
use crate::model::outputs::Outputs;
use crate::model::poses::{Pose, Poses};
use crate::model::step::Step;
use crate::pack::crowd::PackedCrowd;
use crate::pack::library::Packing;
use crate::pack::outputs::{Layout, Numbers};

/// Instances that a thread takes at a time: enough to make taking them cheap, few enough to share them out evenly.
const BLOCK: usize = 64;

/// The CPU engine.
#[derive(Debug)]
pub struct CpuEngine {
    packing: Packing,
    threads: usize,
}

/// A crowd ready for the CPU engine, with room for its poses, which is used again from frame to frame.
#[derive(Debug, Default)]
pub struct CpuCrowd {
    packed: PackedCrowd,
    groups: Vec<CpuGroup>,
    /// For each instance of the crowd its group and its place there.
    places: Vec<(usize, usize)>,
}

/// The poses of all instances of one skeleton.
#[derive(Debug)]
pub struct CpuGroup {
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The crowd's index of each instance, in the order of the numbers.
    pub instances: Vec<usize>,
    /// How many numbers an instance has in each array.
    pub layout: Layout,
    /// The results, instance after instance, laid out as [`pack::outputs`](crate::pack::outputs) says.
    pub numbers: Numbers,
}

impl CpuEngine {
    /// An engine for a library, on all cores.
    ///
    /// # Errors
    /// As [`Packing::new`].
    pub fn new(library: &Library) -> Result<Self, Error> {
        Self::with_threads(library, thread::available_parallelism().map_or(1, usize::from))
    }

    /// An engine for a library, on so many threads, at least 1.
    ///
    /// # Errors
    /// As [`Packing::new`].
    pub fn with_threads(library: &Library, threads: usize) -> Result<Self, Error> {
        Ok(Self { packing: Packing::new(library)?, threads: threads.max(1) })
    }

    /// Packs a crowd, and makes room for its poses.
    ///
    /// # Errors
    /// [`Error::Instance`] where the crowd does not fit the library.
    pub fn crowd(&self, crowd: &Crowd, outputs: Outputs) -> Result<CpuCrowd, Error> {
        let packed = PackedCrowd::new(&self.packing, crowd)?;
        let group = |group: &crate::pack::crowd::Group| {
            let layout = Layout::new(&self.packing.skeletons[group.skeleton.index()].record, outputs);
            let mut numbers = Numbers::default();
            numbers.resize(&layout, group.instances.len());
            let instances = packed.order[group.instances.clone()].to_vec();
            CpuGroup { skeleton: group.skeleton, instances, layout, numbers }
        };
        let groups: Vec<CpuGroup> = packed.groups.iter().map(group).collect();
        let mut places = vec![(0, 0); packed.len()];
        for (number, group) in groups.iter().enumerate() {
            for (place, &instance) in group.instances.iter().enumerate() {
                places[instance] = (number, place);
            }
        }
        Ok(CpuCrowd { packed, groups, places })
    }

    /// The pose of one instance, of those outputs that the crowd was made for.
    ///
    /// # Panics
    /// Where the crowd has no such instance.
    pub fn read(&self, crowd: &CpuCrowd, instance: usize, outputs: Outputs) -> Pose {
        let (group, place) = crowd.places[instance];
        let group = &crowd.groups[group];
        group.numbers.pose(&self.packing.skeletons[group.skeleton.index()], &group.layout, place, outputs)
    }

    /// The pose of one instance of a crowd at a tick or the end of a step, whoever poses the others: for what hangs on a joint, or for a game's
    /// rules, beside a crowd that is on the GPU.
    ///
    /// # Errors
    /// [`Error::Instance`] where there is no such instance, or it does not fit the library.
    pub fn query(
        &self,
        crowd: &Crowd,
        instance: usize,
        step: impl Into<Step>,
        outputs: Outputs,
    ) -> Result<Pose, Error> {
        if instance >= crowd.len() {
            let reason = format!("the crowd has {} instances", crowd.len());
            return Err(Error::Instance { instance, reason });
        }
        let mut alone = Crowd::new();
        alone.push(crowd.skeleton(instance), crowd.layers(instance))?;
        let mut posed = self.crowd(&alone, outputs)?;
        self.pose(&mut posed, step);
        Ok(self.read(&posed, 0, outputs))
    }

    /// Poses all instances of a crowd at a time of its clock, or at the end of a step of it.
    pub fn pose(&self, crowd: &mut CpuCrowd, step: impl Into<Step>) {
        let step: Step = step.into();
        for (packed, group) in crowd.packed.groups.iter().zip(&mut crowd.groups) {
            let source = Source {
                words: &self.packing.arrays.words,
                values: &self.packing.arrays.values,
                skeleton: &self.packing.skeletons[group.skeleton.index()],
            };
            let layout = group.layout;
            let count = packed.layer_count;
            let layers = &crowd.packed.layers[packed.first_layer..][..count * packed.instances.len()];
            let blocks = Mutex::new(blocks(layers, count, &layout, &mut group.numbers));
            let work = || {
                let mut scratch = Scratch::default();
                // A poisoned lock means that another thread has panicked, which the scope reports.
                while let Some((layers, to)) = blocks.lock().ok().and_then(|mut blocks| blocks.next()) {
                    let places = instances(&layout, to, layers.len() / count);
                    for (layers, to) in layers.chunks(count).zip(places) {
                        motion::write(&self.packing, source, layers, step, &mut scratch, to.root_motion);
                        if packed.plain {
                            pose(&self.packing, source, &layers[0], step.to.0, &layout, &mut scratch, to);
                        } else {
                            layers::pose(&self.packing, source, layers, step.to.0, &layout, &mut scratch, to);
                        }
                    }
                }
            };
            let threads = self.threads.min(packed.instances.len().div_ceil(BLOCK));
            thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(work);
                }
                work();
            });
        }
    }
}

impl CpuCrowd {
    /// The poses, skeleton after skeleton.
    pub fn groups(&self) -> &[CpuGroup] {
        &self.groups
    }
}

/// Layers, so many an instance, in blocks of instances, each with its part of the outputs.
fn blocks<'a>(
    layers: &'a [crate::pack::record::Layer],
    count: usize,
    layout: &Layout,
    numbers: &'a mut Numbers,
) -> impl Iterator<Item = (&'a [crate::pack::record::Layer], Place<'a>)> {
    let whole = Place {
        local: &mut numbers.local,
        model: &mut numbers.model,
        skin: &mut numbers.skin,
        values: &mut numbers.values,
        root_motion: &mut numbers.root_motion,
    };
    layers.chunks(BLOCK * count).zip(parts(layout, whole, BLOCK))
}

/// The parts of a block's instances.
fn instances<'a>(layout: &Layout, block: Place<'a>, count: usize) -> impl Iterator<Item = Place<'a>> {
    parts(layout, block, 1).take(count)
}

/// Outputs in parts of so many instances, without an end: outputs that are not wanted have only empty parts.
fn parts<'a>(layout: &Layout, whole: Place<'a>, instances: usize) -> impl Iterator<Item = Place<'a>> {
    let strides = layout.strides().map(|stride| stride * instances);
    let mut rest = [whole.local, whole.model, whole.skin, whole.values, whole.root_motion];
    std::iter::from_fn(move || {
        let mut next = 0;
        let [local, model, skin, values, root_motion] = rest.each_mut().map(|rest| {
            let stride = strides[next].min(rest.len());
            next += 1;
            rest.split_off_mut(..stride).unwrap_or_default()
        });
        Some(Place { local, model, skin, values, root_motion })
    })
}

impl Evaluator for CpuEngine {
    fn engine(&self) -> &'static str {
        "cpu"
    }

    fn adapter(&self) -> String {
        let plural = if self.threads == 1 { "" } else { "s" };
        format!("{} thread{plural}, {}", self.threads, std::env::consts::ARCH)
    }

    fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
        let mut posed = self.crowd(crowd, outputs)?;
        self.pose(&mut posed, step);
        Ok(Poses { instances: (0..crowd.len()).map(|instance| self.read(&posed, instance, outputs)).collect() })
    }
}
