//! A crowd of the CPU engine, and its batches of poses.

use crate::model::SkeletonId;
use crate::pack::{OutputLayout, OutputNumbers, PackedCrowd};

/// A packed crowd with room for its poses. [`CpuEngine::crowd`](crate::CpuEngine::crowd) makes it, and [`CpuEngine::pose`](crate::CpuEngine::pose) fills it frame by frame.
///
/// # Examples
/// ```
/// use posse::{CpuEngine, Crowd, Layer, LayerTime, Outputs, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo library has a clip `walk`");
/// let mut crowd = Crowd::new();
/// for instance in 0..10 {
///     let time = LayerTime::At(0.1 * f64::from(instance));
///     crowd.push(library.clip(walk).skeleton, &[Layer::new(walk, time)])?;
/// }
/// let engine = CpuEngine::new(&library)?;
/// let mut posed = engine.crowd(&crowd, Outputs::ALL)?;
/// engine.pose(&mut posed, Ticks(0));
/// let instances: usize = posed.batches().iter().map(|batch| batch.instances.len()).sum();
/// assert_eq!(instances, 10);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct CpuCrowd {
    pub(super) packed: PackedCrowd,
    pub(super) batches: Vec<CpuBatch>,
    /// For each instance of the crowd its batch and its slot in the batch.
    pub(super) slots: Vec<(usize, usize)>,
    /// If set, keys are loaded into the caches ahead of time.
    pub(super) prefetches: bool,
}

/// The poses of instances of one skeleton that need the same [`Mixing`](crate::Mixing).
///
/// # Examples
/// ```
/// use posse::{CpuEngine, Crowd, Layer, LayerTime, Outputs, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo library has a clip `walk`");
/// let mut crowd = Crowd::new();
/// crowd.push(library.clip(walk).skeleton, &[Layer::new(walk, LayerTime::At(0.5))])?;
/// let engine = CpuEngine::new(&library)?;
/// let mut posed = engine.crowd(&crowd, Outputs::ALL)?;
/// engine.pose(&mut posed, Ticks(0));
///
/// // Model matrices: 12 numbers per joint, instance after instance.
/// let batch = &posed.batches()[0];
/// assert_eq!(batch.instances, [0]);
/// assert_eq!(batch.layout.model, 12 * 64);
/// assert_eq!(batch.numbers.model.len(), batch.layout.model * batch.instances.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CpuBatch {
    /// The skeleton of all instances of the batch.
    pub skeleton: SkeletonId,
    /// The index in the crowd of each instance, in the order of the slots. Instances that play the same clip have neighbouring slots.
    pub instances: Vec<usize>,
    /// The number of numbers per instance in each array.
    pub layout: OutputLayout,
    /// The results, instance after instance. [`OutputLayout`] describes the layout.
    pub numbers: OutputNumbers,
}

impl CpuCrowd {
    /// The batches with their poses, skeleton after skeleton.
    pub fn batches(&self) -> &[CpuBatch] {
        &self.batches
    }
}
