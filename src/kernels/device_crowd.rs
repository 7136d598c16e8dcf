//! The buffers and dispatches of a crowd, for a device of the caller.

use std::ops::Range;

use bytemuck::{Pod, bytes_of, cast_slice};

use crate::error::Error;
use crate::kernels::batch::{BatchPlan, DeviceLimits, displacement_entry, displacement_offset, displacement_words};
use crate::kernels::formula::{Counts, Formula, Groups};
use crate::kernels::passes::{Buffer, Pass};
use crate::kernels::plan::{Plan, PoseKernel};
use crate::model::{Crowd, Outputs, SkeletonId, Step, Ticks};
use crate::pack::record::{Frame, NONE};
use crate::pack::{CrowdOptions, Features, OutputLayout, PackedCrowd, PackedLibrary, parameter_count};

/// The contents of a buffer of the library, and its size in bytes, which is at least 16; `None` for a buffer of a
/// batch.
pub fn library_buffer(library: &PackedLibrary, buffer: Buffer) -> Option<(&[u8], u64)> {
    let contents = match buffer {
        Buffer::Words => library.words(),
        Buffer::Values => library.values(),
        _ => return None,
    };
    // A binding must not be empty.
    Some((contents, contents.len().max(16) as u64))
}

/// A crowd packed for the kernels of the GPU engine, on a device that this library does not know: the contents and
/// sizes of its buffers, and the dispatches of a frame.
///
/// The caller creates the buffers, uploads their contents once, and per frame writes [`frame_bytes`] to
/// [`Buffer::Frame`] and records the dispatches in order, with a barrier between one and the next. docs/kernels.md
/// describes it. The kernels themselves are written by `posse kernels`.
///
/// # Examples
/// ```
/// use posse::kernels::{Buffer, DeviceCrowd, DeviceLimits, Pass};
/// use posse::packed::PackedLibrary;
/// use posse::{CrowdOptions, Outputs, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let (packed, crowd) = (PackedLibrary::new(&library)?, demo::crowd(&library, 100)?);
/// let crowd = DeviceCrowd::new(&packed, &crowd, Outputs::SKIN, CrowdOptions::NONE, DeviceLimits::default())?;
/// let batch = &crowd.batches[0];
/// // A skin matrix of each of 64 joints: 48 bytes.
/// assert_eq!(batch.buffer(Buffer::Skin).map(|skin| skin.bytes), Some(48 * 64 * 100));
/// let passes: Vec<Pass> = batch.dispatches.iter().map(|dispatch| dispatch.pass).collect();
/// assert_eq!(passes, [Pass::Play, Pass::Pose]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct DeviceCrowd {
    /// The batches, skeleton after skeleton, the least mixing first.
    pub batches: Vec<DeviceBatch>,
}

/// Instances of one skeleton that one kernel poses, with their buffers.
#[derive(Debug, Clone)]
pub struct DeviceBatch {
    /// The skeleton of all instances.
    pub skeleton: SkeletonId,
    /// The index in the crowd of each instance, in the order of the buffers.
    pub instances: Vec<usize>,
    /// The numbers per instance of each output.
    pub layout: OutputLayout,
    /// The dispatches of a frame, in order.
    pub dispatches: Vec<DeviceDispatch>,
    /// The buffers that the dispatches use, in the order of [`Buffer`], without the library. A dispatch that
    /// binds a buffer which is not here does not use it: bind any other one with the same access.
    pub buffers: Vec<DeviceBuffer>,
    /// The counts that the sizes follow from.
    pub counts: Counts,
    /// The kernel that poses.
    #[cfg(feature = "gpu")]
    pub(crate) kernel: PoseKernel,
}

/// A dispatch of a batch.
#[derive(Debug, Clone)]
pub struct DeviceDispatch {
    /// The pass, which has the entry point and the bindings.
    pub pass: Pass,
    /// The name of the kernel, and of its file.
    pub kernel: String,
    /// The workgroups in x and y; 1 in z.
    pub groups: [u32; 2],
    /// The number of workgroups before it was divided into rows.
    pub formula: Groups,
}

/// A buffer of a batch.
#[derive(Debug, Clone)]
pub struct DeviceBuffer {
    /// Its use.
    pub buffer: Buffer,
    /// The size in bytes, more than 0.
    pub bytes: u64,
    /// The size as a formula of the counts of the batch.
    pub formula: Formula,
    /// The bytes to upload to its beginning, at most [`bytes`](Self::bytes); the rest begins as zeros. Outputs have
    /// none, and need not be zero.
    pub contents: Vec<u8>,
}

impl DeviceCrowd {
    /// Packs a crowd. `visible` and `previous_skin` of the options have no effect.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd does not fit the library.
    /// * [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`] if dual quaternions are requested and a scale that
    ///   the crowd uses is not uniform.
    /// * [`Error::Limit`] if the buffers of the library or of one instance are larger than the limits allow.
    pub fn new(
        library: &PackedLibrary,
        crowd: &Crowd,
        outputs: Outputs,
        options: CrowdOptions,
        limits: DeviceLimits,
    ) -> Result<Self, Error> {
        // Kernels for instances of a visible list can do more than these crowds need.
        let options = CrowdOptions { visible: false, previous_skin: false, ..options };
        let packed = PackedCrowd::with_capacity(library, crowd, options.capacity())?;
        library.check_outputs(crowd, outputs)?;
        check_library(library, limits)?;
        let parameters = parameter_count(crowd, &options);
        let builder = DeviceBatchBuilder { library, crowd, packed: &packed, limits };
        let mut batches = Vec::new();
        for batch in &packed.batches {
            let plan = BatchPlan::new(library, batch, outputs, options, parameters);
            for instances in plan.ranges(&limits)? {
                batches.push(builder.build(&plan, instances));
            }
        }
        Ok(Self { batches })
    }
}

impl DeviceBatch {
    /// A buffer of the batch; `None` if its dispatches do not use it, or if it is of the library.
    pub fn buffer(&self, buffer: Buffer) -> Option<&DeviceBuffer> {
        self.buffers.iter().find(|found| found.buffer == buffer)
    }
}

/// The contents of [`Buffer::Frame`] for a step of the crowd clock: the 32 bytes that change per frame.
pub fn frame_bytes(step: impl Into<Step>) -> [u8; 32] {
    bytemuck::cast(Frame::new(step.into()))
}

/// The name of a kernel of a packed library. A kernel that depends on the features of the library has them behind the
/// name, so that a kernel of another library is not taken for it; custom interpolators, which no file has, do not
/// change it.
pub(crate) fn kernel_name(features: Features, pass: Pass, pose: &PoseKernel) -> String {
    let features = features.bits();
    match pass {
        Pass::Pose => format!("{}_f{features:02x}", pose.name()),
        Pass::Play | Pass::RootMotion => format!("{}_f{features:02x}", pass.entry_point()),
        _ => pass.entry_point().to_owned(),
    }
}

/// Checks that the buffers of a library fit a binding.
fn check_library(library: &PackedLibrary, limits: DeviceLimits) -> Result<(), Error> {
    let allowed = limits.max_binding_bytes;
    for buffer in [Buffer::Words, Buffer::Values] {
        let needed = library_buffer(library, buffer).map_or(0, |(_, bytes)| bytes);
        if needed > allowed {
            let what = format!(
                "{} of a packed library, in bytes (split the library, or compress it with a larger error)",
                buffer.name()
            );
            return Err(Error::Limit { what, needed, allowed });
        }
    }
    Ok(())
}

/// The crowd whose batches are built.
struct DeviceBatchBuilder<'a> {
    library: &'a PackedLibrary,
    crowd: &'a Crowd,
    packed: &'a PackedCrowd,
    limits: DeviceLimits,
}

impl DeviceBatchBuilder<'_> {
    fn build(&self, plan: &BatchPlan, instances: Range<usize>) -> DeviceBatch {
        let counts = plan.counts(instances.len());
        let Plan { kernel, .. } = plan.plan;
        let dispatch = |pass: Pass| {
            let formula = plan.groups(pass);
            DeviceDispatch {
                pass,
                kernel: kernel_name(self.library.features, pass, &kernel),
                groups: self.limits.rows(formula.count(&counts)),
                formula,
            }
        };
        let dispatches: Vec<DeviceDispatch> = plan.passes().map(dispatch).collect();
        let is_bound = |buffer: Buffer| {
            dispatches.iter().any(|dispatch| dispatch.pass.bindings().iter().any(|binding| binding.buffer == buffer))
        };
        let buffer = |buffer: Buffer| {
            let formula = plan.bytes(buffer);
            let bytes = formula.bytes(&counts);
            if bytes == 0 || !is_bound(buffer) || !self.is_used(plan, buffer) {
                return None;
            }
            let contents = self.contents(plan, &instances, buffer);
            Some(DeviceBuffer { buffer, bytes, formula, contents })
        };
        DeviceBatch {
            skeleton: plan.packed.skeleton,
            instances: self.packed.order[instances.clone()].to_vec(),
            layout: plan.layout,
            buffers: Buffer::ALL.into_iter().filter_map(buffer).collect(),
            dispatches,
            counts,
            #[cfg(feature = "gpu")]
            kernel,
        }
    }

    /// True if kernels access a buffer that they bind: lists only for transitions and goals.
    fn is_used(&self, plan: &BatchPlan, buffer: Buffer) -> bool {
        match buffer {
            Buffer::Lists => plan.transitions > 0 || plan.packed.goal_count > 0,
            _ => true,
        }
    }

    /// The contents with which a buffer begins.
    fn contents(&self, plan: &BatchPlan, instances: &Range<usize>, buffer: Buffer) -> Vec<u8> {
        let (packed, limits, count) = (self.packed, &self.limits, instances.len());
        match buffer {
            Buffer::Frame => frame_bytes(Ticks(0)).to_vec(),
            Buffer::Layers => bytes(plan.layers(packed, instances)),
            Buffer::Batch => bytes_of(&plan.record(count, limits)).to_vec(),
            Buffer::Drives => bytes(plan.drives(packed, instances)),
            Buffer::DriveBatch => bytes_of(&plan.drive_batch(count, limits)).to_vec(),
            Buffer::Parameters | Buffer::ParametersBefore => self.parameters(plan, instances),
            Buffer::Goals => bytes(plan.goals(packed, instances)),
            Buffer::GoalBatch => bytes_of(&plan.goal_batch(count, limits)).to_vec(),
            Buffer::Lists => self.lists(plan, instances),
            _ => Vec::new(),
        }
    }

    /// The values at tick 0 of the parameters of some instances.
    fn parameters(&self, plan: &BatchPlan, instances: &Range<usize>) -> Vec<u8> {
        let all = self.packed.order[instances.clone()].iter();
        let values = all.map(|&instance| self.crowd.parameter_values(instance, Ticks(0)));
        values.flat_map(|values| bytes(&values.0[..plan.parameters])).collect()
    }

    /// The displacements of the transitions with which some instances begin, and the table that leads to them.
    fn lists(&self, plan: &BatchPlan, instances: &Range<usize>) -> Vec<u8> {
        let (packed, count) = (plan.packed, instances.len());
        let first = instances.start - packed.instances.start;
        let displaced = packed.displaced.get(first..).unwrap_or_default().iter().take(count);
        let displacements: Vec<_> = (0..)
            .zip(displaced)
            .filter(|(_, index)| **index != NONE)
            .filter_map(|(slot, &index)| Some((slot, self.packed.displacements.get(index as usize)?)))
            .collect();
        let words = displacement_words(&plan.skeleton.record);
        if displacements.is_empty() {
            return Vec::new();
        }
        let mut lists = vec![0_u32; displacement_offset(count, displacements.len(), words)];
        for (place, (slot, displacement)) in displacements.into_iter().enumerate() {
            let at = displacement_offset(count, place, words);
            lists[displacement_entry(count, slot)] = at as u32;
            let numbers = displacement.numbers.iter().map(|number| number.to_bits());
            let record: &[u32] = bytemuck::cast_slice(std::slice::from_ref(&displacement.record));
            let source = record.iter().copied().chain(numbers);
            lists[at..at + words].iter_mut().zip(source).for_each(|(word, bits)| *word = bits);
        }
        bytes(&lists)
    }
}

fn bytes<T: Pod>(records: &[T]) -> Vec<u8> {
    cast_slice(records).to_vec()
}
