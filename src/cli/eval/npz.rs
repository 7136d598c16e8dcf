//! Poses as NumPy arrays: a zip file of uncompressed `.npy` files, one per array.

use std::io::{self, Write};

use posse::{Error, Evaluator, Library, Outputs, Pose, SkeletonId};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::cli::eval::numbers::{Number, Precision, rows};
use crate::cli::eval::shape::ranges;
use crate::cli::evaluation::Evaluation;
use crate::cli::npy;
use crate::cli::output::{Output, OutputName, Writer};
use crate::cli::progress::Progress;

/// Instances of one skeleton, and the outputs that are written.
pub struct PoseTable<'a> {
    /// The library of the skeleton.
    pub library: &'a Library,
    /// The skeleton of all instances.
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    pub joints: &'a [usize],
    /// The poses.
    pub evaluation: &'a dyn Evaluation,
    /// The outputs that are written.
    pub outputs: Outputs,
}

/// A function that appends the numbers of one pose.
type AppendNumbers<'a> = dyn Fn(&Pose, &mut Vec<f64>) + 'a;

/// An array of the file.
struct Array<'a> {
    name: String,
    /// The output that the array needs.
    outputs: Outputs,
    /// The lengths of the axes after those of times and instances.
    shape: Vec<usize>,
    append: Box<AppendNumbers<'a>>,
}

impl<'a> Array<'a> {
    fn new(
        name: impl Into<String>,
        outputs: Outputs,
        shape: impl Into<Vec<usize>>,
        append: impl Fn(&Pose, &mut Vec<f64>) + 'a,
    ) -> Self {
        Self { name: name.into(), outputs, shape: shape.into(), append: Box::new(append) }
    }
}

type Zip<'a> = ZipWriter<StreamWriter<&'a mut Writer>>;

/// Evaluates the poses, and writes one array after the other. Each array evaluates the poses again, so that memory stays bounded.
pub fn write(table: &PoseTable, engine: &mut dyn Evaluator, mut output: Output) -> Result<(), Error> {
    let evaluation = table.evaluation;
    let (out, output_name) = output.split();
    let mut zip = ZipWriter::new_stream(out);
    begin(&mut zip, "times", Precision::Double, &[evaluation.times().len()])
        .map_err(|error| output_name.error(error))?;
    for time in evaluation.times() {
        zip.write_all(&time.to_le_bytes()).map_err(|error| output_name.error(error))?;
    }
    let arrays = table.arrays();
    let progress = Progress::new(arrays.len() * evaluation.poses(), "poses");
    for array in arrays {
        write_array(table, engine, &mut zip, output_name, &array, &progress)?;
    }
    zip.finish().map_err(|error| output_name.error(error))?;
    output.finish()
}

fn write_array(
    table: &PoseTable,
    engine: &mut dyn Evaluator,
    zip: &mut Zip,
    output_name: OutputName,
    array: &Array,
    progress: &Progress,
) -> Result<(), Error> {
    let (evaluation, precision) = (table.evaluation, Precision::of_engine(engine.engine()));
    let shape = [&[evaluation.times().len(), evaluation.instances()], array.shape.as_slice()].concat();
    begin(zip, &array.name, precision, &shape).map_err(|error| output_name.error(error))?;
    let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
    evaluation.each_pose(table.library, engine, array.outputs, progress, &mut |number, pose| {
        (array.append)(pose, &mut numbers);
        for value in numbers.drain(..) {
            match precision.number(value, || format!("{} of pose {number}", array.name))? {
                Number::Single(number) => bytes.extend(number.to_le_bytes()),
                Number::Double(number) => bytes.extend(number.to_le_bytes()),
            }
        }
        let result = zip.write_all(&bytes);
        bytes.clear();
        result.map_err(|error| output_name.error(error))
    })
}

/// Begins a file in the zip file, and writes the header of an array.
fn begin(zip: &mut Zip, name: &str, precision: Precision, shape: &[usize]) -> io::Result<()> {
    let (kind, width) = match precision {
        Precision::Single => ("<f4", 4),
        Precision::Double => ("<f8", 8),
    };
    let bytes = width * shape.iter().map(|&length| length as u64).product::<u64>();
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    // Files of 4 GiB or more need the large size fields of the zip format. 4096 bytes are reserved for the header.
    let large = bytes > u64::from(u32::MAX) - 4096;
    zip.start_file(format!("{name}.npy"), options.large_file(large))?;
    zip.write_all(&npy::header(kind, shape)?)
}

impl<'a> PoseTable<'a> {
    /// The arrays of all outputs.
    fn arrays(&'a self) -> Vec<Array<'a>> {
        let mut arrays = Vec::new();
        if self.outputs.local {
            arrays.extend(self.local_arrays());
        }
        if self.outputs.model {
            arrays.push(self.model_array());
        }
        if self.outputs.skin {
            arrays.extend(self.skin_arrays());
        }
        if self.outputs.weights {
            arrays.push(self.weights_array());
        }
        if self.outputs.properties {
            arrays.push(self.properties_array());
        }
        if self.outputs.root_motion {
            arrays.extend(self.root_motion_arrays());
        }
        arrays
    }

    fn local_arrays(&self) -> [Array<'a>; 3] {
        let outputs = Outputs { local: true, ..Outputs::NONE };
        let joints = self.joints;
        [
            Array::new("translation", outputs, [joints.len(), 3], |pose, numbers| {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].translation.to_array()));
            }),
            Array::new("rotation", outputs, [joints.len(), 4], |pose, numbers| {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].rotation.to_array()));
            }),
            Array::new("scale", outputs, [joints.len(), 3], |pose, numbers| {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].scale.to_array()));
            }),
        ]
    }

    fn model_array(&self) -> Array<'a> {
        let outputs = Outputs { model: true, ..Outputs::NONE };
        let joints = self.joints;
        Array::new("model", outputs, [joints.len(), 4, 4], |pose, numbers| {
            numbers.extend(joints.iter().flat_map(|&joint| rows(&pose.model[joint])));
        })
    }

    /// One array per skin.
    fn skin_arrays(&'a self) -> impl Iterator<Item = Array<'a>> {
        let outputs = Outputs::SKIN.with_skin_format(self.outputs.skin_format);
        self.library.skins_of(self.skeleton).enumerate().map(move |(index, (_, skin))| {
            Array::new(format!("skin_{index}"), outputs, [skin.joints.len(), 4, 4], move |pose, numbers| {
                numbers.extend(pose.skins[index].iter().flat_map(rows));
            })
        })
    }

    fn weights_array(&self) -> Array<'a> {
        let outputs = Outputs { weights: true, ..Outputs::NONE };
        let skeleton = self.library.skeleton(self.skeleton);
        let joints = self.joints;
        let weights = ranges(skeleton.joints().iter().map(|joint| joint.weights.len()));
        Array::new("weights", outputs, [skeleton.weight_count()], move |pose, numbers| {
            numbers.extend(joints.iter().flat_map(|&joint| &pose.weights[weights[joint].clone()]));
        })
    }

    fn properties_array(&self) -> Array<'a> {
        let outputs = Outputs { properties: true, ..Outputs::NONE };
        let width = self.library.skeleton(self.skeleton).property_width();
        Array::new("properties", outputs, [width], |pose, numbers| numbers.extend(&pose.properties))
    }

    /// Two arrays if a clip of the skeleton has a root, otherwise none. An instance without a root does not move.
    fn root_motion_arrays(&self) -> Vec<Array<'a>> {
        let mut clips = self.library.clips().iter().filter(|clip| clip.skeleton == self.skeleton);
        if clips.all(|clip| clip.root_motion.is_none()) {
            return Vec::new();
        }
        let outputs = Outputs { root_motion: true, ..Outputs::NONE };
        let motion = |pose: &Pose| pose.root_motion.unwrap_or_default();
        vec![
            Array::new("root_motion_translation", outputs, [3], move |pose, numbers| {
                numbers.extend(motion(pose).translation.to_array());
            }),
            Array::new("root_motion_rotation", outputs, [4], move |pose, numbers| {
                numbers.extend(motion(pose).rotation.to_array());
            }),
        ]
    }
}
