//! Samplers: key times and the values at them (glTF 2.0, section 3.11).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::accessor::{AccessorLayout, Float, Integers};
use super::document::Sampler;
use super::nodes::ZERO_ROTATION;
use super::reader::Reader;
use crate::error::Error;
use crate::import::{FileError, JsonPath};
use crate::model::{Curve, Interpolation, Timeline};

/// The purpose of a curve. It decides the width and the reading of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Translations or scales.
    Vectors,
    Rotations,
    /// Morph weights: their number per key.
    Weights(usize),
    /// A property: its numbers per key.
    Property(usize),
    /// A property that is a rotation.
    RotationProperty,
}

impl Values {
    fn width(self) -> usize {
        match self {
            Self::Vectors => 3,
            Self::Rotations | Self::RotationProperty => 4,
            Self::Weights(width) | Self::Property(width) => width,
        }
    }
}

/// The timelines of a file. Equal timelines are stored once.
#[derive(Debug, Default)]
pub(super) struct Timelines {
    by_accessor: HashMap<usize, Arc<Timeline>>,
    /// By the bytes of the times, which are faster to compare than to hash.
    by_content: BTreeMap<Vec<u8>, Arc<Timeline>>,
}

impl Timelines {
    /// The key times in an accessor. `path` is the place of its index.
    fn read(&mut self, accessor: usize, reader: &mut Reader, path: &JsonPath) -> Result<Arc<Timeline>, FileError> {
        if let Some(timeline) = self.by_accessor.get(&accessor) {
            return Ok(timeline.clone());
        }
        let layout = reader.layout(accessor, path)?;
        if layout.width != 1 || !layout.is_float() {
            return Err(FileError::new(path, format!("accessor {accessor} has to hold SCALAR floats")));
        }
        let times: Vec<f32> = reader.read(accessor, layout.count, Integers::AsDeclared, path)?;
        let content: &[u8] = bytemuck::cast_slice(&times);
        let timeline = match self.by_content.get(content) {
            Some(timeline) => timeline.clone(),
            None => {
                let seconds = times.iter().copied().map(f64::from).collect();
                let timeline = Arc::new(Timeline::jumping(seconds).map_err(|error| to_error(error, path))?);
                let mut pairs = timeline.times().windows(2).enumerate();
                if let Some((key, pair)) = pairs.find(|(_, pair)| pair[0] == pair[1]) {
                    let (time, next) = (pair[0], key + 1);
                    reader.warn(path, format!("keys {key} and {next} are both at {time} s; values jump there"));
                }
                if timeline.first() < 0.0 {
                    reader.warn(
                        path,
                        format!("the first key is at {} s; key times should be 0 or more", timeline.first()),
                    );
                }
                self.by_content.insert(content.to_vec(), timeline.clone());
                timeline
            }
        };
        self.by_accessor.insert(accessor, timeline.clone());
        Ok(timeline)
    }

    /// The curve of the sampler at `path`. `by_pointer` is true if a pointer names the target.
    pub fn curve(
        &mut self,
        sampler: &Sampler,
        values: Values,
        by_pointer: bool,
        reader: &mut Reader,
        path: &JsonPath,
    ) -> Result<Curve, FileError> {
        let interpolation = interpolation(sampler, path)?;
        let timeline = self.read(sampler.input, reader, &path.field("input"))?;
        let path = path.field("output");
        let layout = reader.layout(sampler.output, &path)?;
        let width = values.width();
        let fits = match values {
            Values::Vectors | Values::Rotations => layout.width == width,
            Values::Weights(_) => layout.width == 1,
            Values::Property(_) | Values::RotationProperty => layout.width == width || layout.width == 1,
        };
        if !fits {
            let (accessor, found) = (sampler.output, layout.width);
            let reason = format!("accessor {accessor} has {found} numbers per element, but the target needs {width}");
            return Err(FileError::new(path, reason));
        }
        // For a target of a pointer, integers keep their values, unless the accessor is normalized.
        let integers = if by_pointer { Integers::AsDeclared } else { integers(values, &layout, reader, &path) };
        let stride = stride(&layout, &timeline, interpolation, values, reader, &path)?;
        let wanted = (timeline.len() * interpolation.elements_per_key()) as u64 * stride as u64;
        let error = |error| to_error(error, &path);
        // Floats are stored as they are. Normalized integers need `f64`.
        if layout.is_float() {
            let mut numbers: Vec<f32> = reader.read(sampler.output, wanted, integers, &path)?;
            keep_first(&mut numbers, layout.width * stride, width);
            replace_zero_rotations(&mut numbers, values, interpolation, reader, &path);
            Curve::from_f32(timeline, interpolation, width, numbers).map_err(error)
        } else {
            let mut numbers: Vec<f64> = reader.read(sampler.output, wanted, integers, &path)?;
            keep_first(&mut numbers, layout.width * stride, width);
            replace_zero_rotations(&mut numbers, values, interpolation, reader, &path);
            Curve::new(timeline, interpolation, width, numbers).map_err(error)
        }
    }

    /// The numbers per key of a property: the numbers of an element, or for scalars the number of elements per key.
    pub fn property_width(
        &mut self,
        sampler: &Sampler,
        reader: &mut Reader,
        path: &JsonPath,
    ) -> Result<usize, FileError> {
        let interpolation = interpolation(sampler, path)?;
        let timeline = self.read(sampler.input, reader, &path.field("input"))?;
        let layout = reader.layout(sampler.output, &path.field("output"))?;
        if layout.width > 1 {
            return Ok(layout.width);
        }
        let keys = timeline.len() as u64 * interpolation.elements_per_key() as u64;
        let whole = layout.count.checked_div(keys).filter(|width| layout.count % keys == 0 && *width > 0);
        let width = usize::try_from(whole.unwrap_or(1)).unwrap_or(usize::MAX);
        Ok(width)
    }
}

fn interpolation(sampler: &Sampler, path: &JsonPath) -> Result<Interpolation, FileError> {
    match sampler.interpolation.as_deref() {
        None | Some("LINEAR") => Ok(Interpolation::Linear),
        Some("STEP") => Ok(Interpolation::Step),
        Some("CUBICSPLINE") => Ok(Interpolation::CubicSpline),
        Some(other) => Err(FileError::new(
            path.field("interpolation"),
            format!("{other:?} is not an interpolation; expected LINEAR, STEP or CUBICSPLINE"),
        )),
    }
}

/// The elements of an output from a value, or a tangent, to the next. It is the number that a value needs, or for
/// scalars the number of elements per key if that is larger: exporters write weights that their meshes do not have. In
/// all other cases, elements after the last key are ignored. Both are warnings.
fn stride(
    layout: &AccessorLayout,
    timeline: &Timeline,
    interpolation: Interpolation,
    values: Values,
    reader: &mut Reader,
    path: &JsonPath,
) -> Result<usize, FileError> {
    let (keys, needed) = (timeline.len(), values.width() / layout.width);
    let parts = (keys as u64).saturating_mul(interpolation.elements_per_key() as u64);
    let wanted = parts.saturating_mul(needed as u64);
    if layout.count < wanted {
        let reason = format!("there are {} elements, but {keys} keys need {wanted}", layout.count);
        return Err(FileError::new(path, reason));
    }
    if layout.count == wanted {
        return Ok(needed);
    }
    if layout.width == 1 && layout.count.is_multiple_of(parts) {
        let found = usize::try_from(layout.count / parts).unwrap_or(usize::MAX);
        let numbers = if needed == 1 { "number".into() } else { format!("{needed} numbers") };
        reader.warn(path, format!("each key has {found} numbers, but the target takes the first {numbers} of them"));
        return Ok(found);
    }
    reader.warn(path, format!("{keys} keys need {wanted} elements; {} more are ignored", layout.count - wanted));
    Ok(needed)
}

/// Keeps the first `width` of each `stride` numbers.
fn keep_first<T: Copy>(numbers: &mut Vec<T>, stride: usize, width: usize) {
    if stride > width {
        *numbers = numbers.chunks_exact(stride).flat_map(|chunk| chunk.iter().take(width)).copied().collect();
    }
}

fn integers(values: Values, layout: &AccessorLayout, reader: &mut Reader, path: &JsonPath) -> Integers {
    match values {
        _ if layout.is_float() => Integers::AsDeclared,
        Values::Property(_) | Values::RotationProperty => Integers::AsDeclared,
        Values::Vectors => {
            reader.warn(path, "translations and scales should be floats; the integers are used");
            Integers::AsDeclared
        }
        Values::Rotations | Values::Weights(_) => {
            if !layout.normalized {
                reader.warn(path, "the accessor should be normalized; its integers are read as normalized");
            }
            Integers::Normalized
        }
    }
}

/// Replaces zero-length quaternions by the identity, with a warning.
fn replace_zero_rotations<T: Float>(
    numbers: &mut [T],
    values: Values,
    interpolation: Interpolation,
    reader: &mut Reader,
    path: &JsonPath,
) {
    if !matches!(values, Values::Rotations | Values::RotationProperty) {
        return;
    }
    let per_key = interpolation.elements_per_key();
    let mut replaced = 0usize;
    for rotation in numbers.as_chunks_mut::<4>().0.iter_mut().skip(per_key / 2).step_by(per_key) {
        let square = |&number: &T| number.into() * number.into();
        if rotation.iter().map(square).sum::<f64>() < ZERO_ROTATION * ZERO_ROTATION {
            *rotation = [0.0, 0.0, 0.0, 1.0].map(T::from_f64);
            replaced += 1;
        }
    }
    if replaced > 0 {
        reader.warn(path, format!("{replaced} rotations have a length of 0; the identity is used for them"));
    }
}

/// The error of an error of the model, at a place in the file.
fn to_error(error: Error, path: &JsonPath) -> FileError {
    match error {
        Error::Timeline { key, reason } => FileError::new(path, format!("key {key}: {reason}")),
        other => FileError::new(path, other.to_string()),
    }
}
