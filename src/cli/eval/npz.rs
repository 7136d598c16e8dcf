//! Poses as NumPy arrays: a zip file of stored `.npy` files, one an array.

use std::io::{self, Write};

use posse::{Error, Evaluator, Library, Outputs, Pose, SkeletonId};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::cli::eval::numbers::{Number, Precision, rows};
use crate::cli::eval::shape::ranges;
use crate::cli::evaluation::Evaluation;
use crate::cli::output::{Output, OutputName, Writer};
use crate::cli::progress::Progress;

/// Instances of one skeleton, and which parts of their poses are written.
pub struct Table<'a> {
    pub library: &'a Library,
    pub skeleton: SkeletonId,
    /// The joint of each node, in the file's order.
    pub joints: &'a [usize],
    pub evaluation: &'a dyn Evaluation,
    pub outputs: Outputs,
}

/// Appends an array's numbers of one pose.
type Numbers<'a> = dyn Fn(&Pose, &mut Vec<f64>) + 'a;

/// An array: what it needs of a pose, its shape for one pose, and its numbers of one.
struct Array<'a> {
    name: String,
    outputs: Outputs,
    shape: Vec<usize>,
    numbers: Box<Numbers<'a>>,
}

type Zip<'a> = ZipWriter<StreamWriter<&'a mut Writer>>;

/// Evaluates, and writes all arrays, one after the other: each asks the engine anew, so that none has to be kept.
pub fn write(table: &Table, engine: &mut dyn Evaluator, mut output: Output) -> Result<(), Error> {
    let evaluation = table.evaluation;
    let (out, place) = output.split();
    let mut zip = ZipWriter::new_stream(out);
    begin(&mut zip, "times", Precision::Double, &[evaluation.times().len()]).map_err(|error| place.error(error))?;
    for time in evaluation.times() {
        zip.write_all(&time.to_le_bytes()).map_err(|error| place.error(error))?;
    }
    let precision = Precision::of(engine.engine());
    let arrays = arrays(table);
    let progress = Progress::new(arrays.len() * evaluation.poses(), "poses");
    for array in arrays {
        write_array(table, engine, &mut zip, place, &array, precision, &progress)?;
    }
    zip.finish().map_err(|error| place.error(error))?;
    output.finish()
}

fn write_array(
    table: &Table,
    engine: &mut dyn Evaluator,
    zip: &mut Zip,
    place: OutputName,
    array: &Array,
    precision: Precision,
    progress: &Progress,
) -> Result<(), Error> {
    let evaluation = table.evaluation;
    let shape = [&[evaluation.times().len(), evaluation.instances()], array.shape.as_slice()].concat();
    begin(zip, &array.name, precision, &shape).map_err(|error| place.error(error))?;
    let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
    evaluation.each_pose(table.library, engine, array.outputs, progress, &mut |pose, answer| {
        (array.numbers)(answer, &mut numbers);
        for number in numbers.drain(..) {
            match precision.number(number, || format!("{} of pose {pose}", array.name))? {
                Number::Single(number) => bytes.extend(number.to_le_bytes()),
                Number::Double(number) => bytes.extend(number.to_le_bytes()),
            }
        }
        let written = zip.write_all(&bytes);
        bytes.clear();
        written.map_err(|error| place.error(error))
    })
}

/// Begins a file of the zip with the header of an array.
fn begin(zip: &mut Zip, name: &str, precision: Precision, shape: &[usize]) -> io::Result<()> {
    let (kind, width) = match precision {
        Precision::Single => ("<f4", 4),
        Precision::Double => ("<f8", 8),
    };
    let bytes = width * shape.iter().map(|&length| length as u64).product::<u64>();
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    // Beyond 4 GiB, with room for the header, sizes need the zip format's large fields.
    let large = bytes > u64::from(u32::MAX) - 4096;
    zip.start_file(format!("{name}.npy"), options.large_file(large))?;
    zip.write_all(&header(kind, shape)?)
}

/// The header of a `.npy` file, version 1.0 of the format: a Python dictionary, padded with spaces so that the numbers begin
/// at a multiple of 64 bytes. `kind` is NumPy's name of the numbers' type.
fn header(kind: &str, shape: &[usize]) -> io::Result<Vec<u8>> {
    const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
    // A tuple of one length keeps its comma.
    let shape = match shape {
        [length] => format!("({length},)"),
        lengths => format!("({})", lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let before = MAGIC.len() + size_of::<u16>();
    let padded = (before + text.len() + 1).next_multiple_of(64) - before;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let length = u16::try_from(padded).map_err(io::Error::other)?;
    Ok([MAGIC, &length.to_le_bytes(), text.as_bytes()].concat())
}

fn arrays<'a>(table: &'a Table) -> Vec<Array<'a>> {
    let Table { library, joints, .. } = *table;
    let skeleton = library.skeleton(table.skeleton);
    let mut arrays: Vec<Array<'a>> = Vec::new();
    let mut add = |name: String, outputs, shape, numbers| arrays.push(Array { name, outputs, shape, numbers });
    if table.outputs.local {
        let outputs = Outputs { local: true, ..Outputs::NONE };
        add(
            "translation".into(),
            outputs,
            vec![joints.len(), 3],
            Box::new(|pose, numbers| {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].translation.to_array()));
            }),
        );
        add(
            "rotation".into(),
            outputs,
            vec![joints.len(), 4],
            Box::new(|pose, numbers| {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].rotation.to_array()));
            }),
        );
        add(
            "scale".into(),
            outputs,
            vec![joints.len(), 3],
            Box::new(|pose, numbers| {
                numbers.extend(joints.iter().flat_map(|&joint| pose.local[joint].scale.to_array()));
            }),
        );
    }
    if table.outputs.model {
        let outputs = Outputs { model: true, ..Outputs::NONE };
        add(
            "model".into(),
            outputs,
            vec![joints.len(), 4, 4],
            Box::new(|pose, numbers| {
                numbers.extend(joints.iter().flat_map(|&joint| rows(&pose.model[joint])));
            }),
        );
    }
    if table.outputs.skin {
        for (index, (_, skin)) in library.skins_of(table.skeleton).enumerate() {
            add(
                format!("skin_{index}"),
                Outputs::SKIN.with_skin_format(table.outputs.skin_format),
                vec![skin.joints.len(), 4, 4],
                Box::new(move |pose, numbers| {
                    numbers.extend(pose.skins[index].iter().flat_map(rows));
                }),
            );
        }
    }
    if table.outputs.weights {
        let outputs = Outputs { weights: true, ..Outputs::NONE };
        let places = ranges(skeleton.joints().iter().map(|joint| joint.weights.len()));
        add(
            "weights".into(),
            outputs,
            vec![skeleton.weight_count()],
            Box::new(move |pose, numbers| {
                numbers.extend(joints.iter().flat_map(|&joint| &pose.weights[places[joint].clone()]));
            }),
        );
    }
    if table.outputs.properties {
        let outputs = Outputs { properties: true, ..Outputs::NONE };
        add(
            "properties".into(),
            outputs,
            vec![skeleton.property_width()],
            Box::new(|pose, numbers| {
                numbers.extend(&pose.properties);
            }),
        );
    }
    let clips = || library.clips().iter().filter(|clip| clip.skeleton == table.skeleton);
    if table.outputs.root_motion && clips().any(|clip| clip.root_motion.is_some()) {
        let outputs = Outputs { root_motion: true, ..Outputs::NONE };
        // An instance without a root stays where it is.
        let motion = |pose: &Pose| pose.root_motion.unwrap_or_default();
        add(
            "root_motion_translation".into(),
            outputs,
            vec![3],
            Box::new(move |pose, numbers| numbers.extend(motion(pose).translation.to_array())),
        );
        add(
            "root_motion_rotation".into(),
            outputs,
            vec![4],
            Box::new(move |pose, numbers| numbers.extend(motion(pose).rotation.to_array())),
        );
    }
    arrays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_what_numpy_writes() {
        // The bytes of `numpy.save`: 118 (`v`) of text after the length, 128 in all.
        for (kind, shape, text) in [
            ("<f4", [2, 3].as_slice(), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
            ("<f8", [7].as_slice(), "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }"),
            ("<f8", [].as_slice(), "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"),
        ] {
            let expected = [b"\x93NUMPY\x01\x00v\x00".as_slice(), format!("{text:<117}\n").as_bytes()].concat();
            assert_eq!(header(kind, shape).unwrap(), expected);
        }
    }

    #[test]
    fn numbers_begin_at_a_multiple_of_64_bytes() {
        // One digit more at a time, over the end of a block.
        for digits in 0..19 {
            let lengths = [10_usize.pow(digits), 1_000_000, 1_000_000, 1_000_000];
            let header = header("<f4", &lengths).unwrap();
            assert_eq!((header.len() % 64, header.last()), (0, Some(&b'\n')));
            let length = u16::from_le_bytes([header[8], header[9]]);
            assert_eq!(usize::from(length), header.len() - 10);
            let array = npyz::NpyHeader::from_reader(header.as_slice()).unwrap();
            assert_eq!(array.shape(), lengths.map(|length| length as u64));
        }
    }
}
