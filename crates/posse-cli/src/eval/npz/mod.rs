//! Poses as NumPy arrays: a zip file of uncompressed `.npy` files, one per array.

mod array;

use std::ops::Range;
use std::sync::mpsc;
use std::thread;

use posse::{CpuCrowd, CpuEngine, Error, Evaluator, Library, Outputs, SkeletonId};

use crate::engine::Engine;
use crate::eval::npz::array::Array;
use crate::eval::numbers::{Number, Precision};
use crate::evaluation::Evaluation;
use crate::npz::{Kind, StreamedNpzFile};
use crate::output::{Output, Writer};
use crate::progress::Progress;

/// Bytes of an array that are evaluated at a time: few enough for the caches to keep them until they are written.
const CACHED_BYTES: usize = 4 << 20;

/// Instances of one skeleton, and the outputs that are written.
pub struct PoseTable<'a> {
    /// The library of the skeleton.
    pub library: &'a Library,
    /// The skeleton of all instances.
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    pub joints: &'a [usize],
    /// The poses.
    pub evaluation: &'a (dyn Evaluation + Sync),
    /// The outputs that are written.
    pub outputs: Outputs,
    /// The number of threads of the CPU engine.
    pub threads: usize,
}

/// The file that is written. It may be a pipe.
type ArrayFile<'a> = StreamedNpzFile<&'a mut Writer>;

/// Evaluates the poses, and writes one array after the other. Each array evaluates the poses again, so that memory stays bounded.
pub fn write(table: &PoseTable, engine: &mut Engine, mut output: Output) -> Result<(), Error> {
    let (out, name) = output.split();
    write_arrays(table, engine, StreamedNpzFile::new_stream(name.path(), out))?;
    output.finish()
}

fn write_arrays(table: &PoseTable, engine: &mut Engine, mut file: ArrayFile) -> Result<(), Error> {
    let evaluation = table.evaluation;
    file.begin("times", Kind::Double, &[evaluation.times().len()])?;
    for time in evaluation.times() {
        file.write(&time.to_le_bytes())?;
    }
    let arrays = Array::list(table.library, table.skeleton, table.joints, table.outputs);
    let progress = Progress::new(arrays.len() * evaluation.poses(), "poses");
    for array in &arrays {
        let kind = match Precision::of_engine(engine.evaluator().engine()) {
            Precision::Single => Kind::Single,
            Precision::Double => Kind::Double,
        };
        let shape = [&[evaluation.times().len(), evaluation.instances()], array.shape.as_slice()].concat();
        file.begin(&array.name, kind, &shape)?;
        if let Engine::Cpu(engine) = engine {
            table.write_singles(array, engine, &mut file, &progress)?;
        } else {
            table.write_poses(array, engine.evaluator(), &mut file, &progress)?;
        }
    }
    file.finish()
}

impl PoseTable<'_> {
    /// Writes the numbers of an array, from the poses of any engine.
    fn write_poses(
        &self,
        array: &Array,
        engine: &mut dyn Evaluator,
        file: &mut ArrayFile,
        progress: &Progress,
    ) -> Result<(), Error> {
        let precision = Precision::of_engine(engine.engine());
        let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
        self.evaluation.each_pose(self.library, engine, array.outputs, progress, &mut |number, pose| {
            array.append_pose(pose, &mut numbers);
            for value in numbers.drain(..) {
                match precision.number(value, || array.name_in_pose(number))? {
                    Number::Single(number) => bytes.extend(number.to_le_bytes()),
                    Number::Double(number) => bytes.extend(number.to_le_bytes()),
                }
            }
            let result = file.write(&bytes);
            bytes.clear();
            result
        })
    }

    /// Writes the numbers of an array as the CPU engine computes them, without `f64` poses between. With several threads, poses are
    /// evaluated while others are written.
    fn write_singles(
        &self,
        array: &Array,
        engine: &CpuEngine,
        file: &mut ArrayFile,
        progress: &Progress,
    ) -> Result<(), Error> {
        let mut write = |numbers: Vec<f32>| {
            progress.add(numbers.len() / array.width());
            file.write_singles(&numbers)
        };
        if array.width() == 0 {
            return Ok(());
        }
        if self.threads == 1 {
            return self.parts(array).try_for_each(|poses| write(self.evaluate(array, engine, poses)?));
        }
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(1);
            scope.spawn(move || {
                // A failed write closes the channel.
                self.parts(array).try_for_each(|poses| sender.send(self.evaluate(array, engine, poses)).ok())
            });
            receiver.into_iter().try_for_each(|numbers| write(numbers?))
        })
    }

    /// The ranges of poses that the CPU engine evaluates at a time.
    fn parts(&self, array: &Array) -> impl Iterator<Item = Range<usize>> {
        let count = (CACHED_BYTES / (size_of::<f32>() * array.width())).max(1);
        let part = move |poses: Range<usize>| {
            poses.clone().step_by(count).map(move |first| first..poses.end.min(first + count))
        };
        self.evaluation.blocks(self.library, array.outputs).flat_map(part)
    }

    /// The numbers of an array for a range of poses.
    fn evaluate(&self, array: &Array, engine: &CpuEngine, poses: Range<usize>) -> Result<Vec<f32>, Error> {
        let (crowd, step) = self.evaluation.crowd(self.library, poses.clone())?;
        let mut posed = engine.crowd(&crowd, array.outputs)?;
        engine.pose(&mut posed, step);
        let mut numbers = Vec::with_capacity(poses.len() * array.width());
        append_crowd(array, &posed, poses.len(), &mut numbers);
        check_finite(array, &numbers, &poses)?;
        Ok(numbers)
    }
}

/// Appends the numbers of all instances, in their order in the crowd.
fn append_crowd(array: &Array, crowd: &CpuCrowd, instances: usize, numbers: &mut Vec<f32>) {
    let mut slots = vec![(0, 0); instances];
    for (index, batch) in crowd.batches().iter().enumerate() {
        batch.instances.iter().enumerate().for_each(|(slot, &instance)| slots[instance] = (index, slot));
    }
    slots.iter().for_each(|&(batch, slot)| array.append_slot(&crowd.batches()[batch], slot, numbers));
}

/// Fails with the first pose that has a number that is not finite.
fn check_finite(array: &Array, numbers: &[f32], poses: &Range<usize>) -> Result<(), Error> {
    // Without an early exit, the compiler tests several numbers at a time.
    if numbers.iter().fold(true, |finite, number| finite & number.is_finite()) {
        return Ok(());
    }
    for (index, &number) in numbers.iter().enumerate() {
        Precision::Single.number(f64::from(number), || array.name_in_pose(poses.start + index / array.width()))?;
    }
    Ok(())
}
