//! Poses as NumPy arrays, one after the other.

use std::ops::Range;
use std::sync::mpsc;
use std::thread;

use glam::DAffine3;
use posse::cpu::{CpuBatch, CpuCrowd, CpuEngine};
use posse::low_level::skin_format;
use posse::root_motion::Motion;
use posse::{Error, Evaluator, Library, Outputs, Pose, SkeletonId, SkinFormat, SkinId};

use crate::engine::Engine;
use crate::eval::numbers::{Precision, PrintedNumber, rows};
use crate::evaluation::Evaluation;
use crate::npz::{NumberType, StreamedNpzFile};
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

/// Evaluates the poses, and writes one array after the other. Each array evaluates the poses again, so that memory
/// stays bounded.
pub fn write(table: &PoseTable, engine: &mut Engine, mut output: Output) -> Result<(), Error> {
    let (out, name) = output.split();
    write_arrays(table, engine, StreamedNpzFile::new_stream(name.path(), out))?;
    output.finish()
}

fn write_arrays(table: &PoseTable, engine: &mut Engine, mut file: ArrayFile) -> Result<(), Error> {
    let evaluation = table.evaluation;
    file.begin("times", NumberType::Double, &[evaluation.times().len()])?;
    for time in evaluation.times() {
        file.write(&time.to_le_bytes())?;
    }
    let skeleton = table.library.skeleton(table.skeleton);
    if table.outputs.weights && skeleton.has_morph_names() {
        let count = |joint: usize| skeleton.joints()[joint].weights.len();
        let names = table.joints.iter().flat_map(|&joint| (0..count(joint)).map(move |index| (joint, index)));
        let names: Vec<String> = names.map(|(joint, index)| skeleton.weight_name(joint, index)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        file.texts("weight_names", &[names.len()], &names)?;
    }
    let arrays = Array::list(table.library, table.skeleton, table.joints, table.outputs);
    let progress = Progress::new(arrays.len() * evaluation.poses(), "poses");
    for array in &arrays {
        let kind = match Precision::of_engine(engine.evaluator().engine()) {
            Precision::Single => NumberType::Single,
            Precision::Double => NumberType::Double,
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
                    PrintedNumber::Single(number) => bytes.extend(number.to_le_bytes()),
                    PrintedNumber::Double(number) => bytes.extend(number.to_le_bytes()),
                }
            }
            let result = file.write(&bytes);
            bytes.clear();
            result
        })
    }

    /// Writes the numbers of an array as the CPU engine computes them, without `f64` poses between. With several
    /// threads, poses are evaluated while others are written.
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

/// The numbers per local transform and per full matrix of an engine.
const NUMBERS: usize = 12;

/// An array of the file.
pub struct Array<'a> {
    /// The name without `.npy`.
    pub name: String,
    /// The outputs that the array needs.
    pub outputs: Outputs,
    /// The lengths of the axes after the axes of times and instances.
    pub shape: Vec<usize>,
    part: PosePart<'a>,
}

/// A part of a pose.
enum PosePart<'a> {
    Translation(&'a [usize]),
    Rotation(&'a [usize]),
    Scale(&'a [usize]),
    Model(&'a [usize]),
    Skin {
        library: &'a Library,
        id: SkinId,
        index: usize,
    },
    /// The range of the weights of each node among the weights of the pose.
    Weights(Vec<Range<usize>>),
    Properties,
    RootTranslation,
    RootRotation,
}

impl<'a> Array<'a> {
    fn new(name: impl Into<String>, outputs: Outputs, shape: impl Into<Vec<usize>>, part: PosePart<'a>) -> Self {
        Self { name: name.into(), outputs, shape: shape.into(), part }
    }

    /// The arrays of the outputs of a skeleton. `joints` has the joint of each node, in the order of the file.
    pub fn list(library: &'a Library, id: SkeletonId, joints: &'a [usize], outputs: Outputs) -> Vec<Self> {
        let skeleton = library.skeleton(id);
        let mut arrays = Vec::new();
        if outputs.local {
            let local = Outputs { local: true, ..Outputs::NONE };
            arrays.push(Self::new("translation", local, [joints.len(), 3], PosePart::Translation(joints)));
            arrays.push(Self::new("rotation", local, [joints.len(), 4], PosePart::Rotation(joints)));
            arrays.push(Self::new("scale", local, [joints.len(), 3], PosePart::Scale(joints)));
        }
        if outputs.model {
            let model = Outputs { model: true, ..Outputs::NONE };
            arrays.push(Self::new("model", model, [joints.len(), 4, 4], PosePart::Model(joints)));
        }
        if outputs.skin {
            let skin_outputs = Outputs::SKIN.with_skin_format(outputs.skin_format);
            arrays.extend(library.skins_of(id).enumerate().map(|(index, (id, skin))| {
                let part = PosePart::Skin { library, id, index };
                Self::new(format!("skin_{index}"), skin_outputs, [skin.joints.len(), 4, 4], part)
            }));
        }
        if outputs.weights {
            let weights = Outputs { weights: true, ..Outputs::NONE };
            let of_joints = skeleton.weight_ranges();
            let of_nodes = joints.iter().map(|&joint| of_joints[joint].clone()).collect();
            arrays.push(Self::new("weights", weights, [skeleton.weight_count()], PosePart::Weights(of_nodes)));
        }
        if outputs.properties {
            let properties = Outputs { properties: true, ..Outputs::NONE };
            arrays.push(Self::new("properties", properties, [skeleton.property_width()], PosePart::Properties));
        }
        // Without a clip that has a root, no instance moves.
        let mut clips = library.clips().iter().filter(|clip| clip.skeleton == id);
        if outputs.root_motion && clips.any(|clip| clip.root_motion.is_some()) {
            let motion = Outputs { root_motion: true, ..Outputs::NONE };
            arrays.push(Self::new("root_motion_translation", motion, [3], PosePart::RootTranslation));
            arrays.push(Self::new("root_motion_rotation", motion, [4], PosePart::RootRotation));
        }
        arrays
    }

    /// The number of numbers per pose.
    pub fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// The name of the array, and the number of a pose, for error messages.
    pub fn name_in_pose(&self, pose: usize) -> String {
        format!("{} of pose {pose}", self.name)
    }

    /// Appends the numbers of a pose.
    pub fn append_pose(&self, pose: &Pose, numbers: &mut Vec<f64>) {
        let motion = || pose.root_motion.unwrap_or_default();
        match &self.part {
            PosePart::Translation(joints) => {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].translation.to_array()));
            }
            PosePart::Rotation(joints) => {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].rotation.to_array()));
            }
            PosePart::Scale(joints) => {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].scale.to_array()));
            }
            PosePart::Model(joints) => numbers.extend(joints.iter().flat_map(|&joint| rows(&pose.model[joint]))),
            PosePart::Skin { index, .. } => numbers.extend(pose.skins[*index].iter().flat_map(rows)),
            PosePart::Weights(nodes) => {
                nodes.iter().for_each(|weights| numbers.extend_from_slice(&pose.weights[weights.clone()]));
            }
            PosePart::Properties => numbers.extend_from_slice(&pose.properties),
            PosePart::RootTranslation => numbers.extend(motion().translation.to_array()),
            PosePart::RootRotation => numbers.extend(motion().rotation.to_array()),
        }
    }

    /// Appends the numbers of a pose of the CPU engine: the numbers that [`append_pose`](Self::append_pose) appends,
    /// before their conversion to `f64`. The batch has the outputs of the array, and may have others.
    pub fn append_slot(&self, batch: &CpuBatch, slot: usize, numbers: &mut Vec<f32>) {
        let layout = &batch.layout;
        let local = || slice(&batch.numbers.local, layout.local, slot);
        let values = || slice(&batch.numbers.values, layout.values, slot);
        match &self.part {
            PosePart::Translation(joints) => append_joints(joints, local(), 0..3, numbers),
            PosePart::Rotation(joints) => append_joints(joints, local(), 4..8, numbers),
            PosePart::Scale(joints) => append_joints(joints, local(), 8..11, numbers),
            PosePart::Model(joints) => {
                let model = slice(&batch.numbers.model, layout.model, slot);
                joints.iter().for_each(|&joint| append_rows(&model[NUMBERS * joint..][..NUMBERS], numbers));
            }
            PosePart::Skin { library, id, .. } => {
                let words = self.width() / 16 * layout.skin_format.words();
                let skin = slice(&batch.numbers.skin, layout.skin, slot);
                append_matrices(layout.skin_format, &skin[layout.skin_start(library, *id)..][..words], numbers);
            }
            PosePart::Weights(nodes) => {
                nodes.iter().for_each(|weights| numbers.extend_from_slice(&values()[weights.clone()]));
            }
            // They follow the weights.
            PosePart::Properties => numbers.extend_from_slice(&values()[layout.values - self.width()..]),
            PosePart::RootTranslation => numbers.extend_from_slice(&root_motion(batch, slot)[..3]),
            PosePart::RootRotation => numbers.extend_from_slice(&root_motion(batch, slot)[4..]),
        }
    }
}

/// The numbers of an instance in an array of a batch.
fn slice(numbers: &[f32], stride: usize, slot: usize) -> &[f32] {
    &numbers[slot * stride..][..stride]
}

/// Appends a range of the numbers of some joints.
fn append_joints(joints: &[usize], local: &[f32], part: Range<usize>, numbers: &mut Vec<f32>) {
    for &joint in joints {
        numbers.extend_from_slice(&local[NUMBERS * joint..][part.clone()]);
    }
}

/// Appends a matrix of three rows, and the fourth row.
fn append_rows(rows: &[f32], numbers: &mut Vec<f32>) {
    numbers.extend_from_slice(rows);
    numbers.extend_from_slice(&[0.0, 0.0, 0.0, 1.0]);
}

/// Appends matrices in the words of a skin format.
fn append_matrices(format: SkinFormat, words: &[f32], numbers: &mut Vec<f32>) {
    let decode = |words: &[f32]| -> DAffine3 { skin_format::matrix(format, words) };
    for words in words.chunks_exact(format.words()) {
        match format {
            SkinFormat::Matrix => append_rows(words, numbers),
            _ => numbers.extend(rows(&decode(words)).map(|number| number as f32)),
        }
    }
}

/// The root motion of an instance; no movement for an instance without a root.
fn root_motion(batch: &CpuBatch, slot: usize) -> [f32; 8] {
    let motion = slice(&batch.numbers.root_motion, batch.layout.root_motion, slot);
    match <[f32; 8]>::try_from(motion) {
        Ok(motion) if motion[3] != 0.0 => motion,
        _ => {
            let Motion { translation, rotation } = Motion::default();
            let ([x, y, z], [qx, qy, qz, qw]) = (translation.to_array(), rotation.to_array());
            [x, y, z, 0.0, qx, qy, qz, qw].map(|number| number as f32)
        }
    }
}
