//! Accessors: numbers from bytes (glTF 2.0, section 3.6.2), and the types of single numbers (section 3.6.2.2).

use super::document::{Accessor, Sparse};
use super::reader::{Reader, ViewBytes};
use crate::import::{FileError, JsonPath};

/// The type into which numbers of a file are read. Both types hold every `f32`; `f32` does not hold every integer.
pub trait Float: Copy + Default + Into<f64> {
    /// The nearest number of the type.
    fn from_f64(number: f64) -> Self;
}

impl Float for f64 {
    fn from_f64(number: f64) -> Self {
        number
    }
}

impl Float for f32 {
    fn from_f64(number: f64) -> Self {
        number as f32
    }
}

/// The type of a single number in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Floating point, 32 bits.
    F32,
}

impl Component {
    /// The type of a `componentType`.
    pub fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    /// Bytes per number.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Appends the numbers that fill a slice.
    pub fn read<T: Float>(self, bytes: &[u8], numbers: &mut Vec<T>) {
        fn extend<T: Float, const N: usize>(numbers: &mut Vec<T>, bytes: &[u8], number: impl Fn([u8; N]) -> f64) {
            numbers.extend(bytes.as_chunks().0.iter().map(|&bytes| T::from_f64(number(bytes))));
        }
        match self {
            Self::I8 => extend(numbers, bytes, |bytes| f64::from(i8::from_le_bytes(bytes))),
            Self::U8 => extend(numbers, bytes, |bytes| f64::from(u8::from_le_bytes(bytes))),
            Self::I16 => extend(numbers, bytes, |bytes| f64::from(i16::from_le_bytes(bytes))),
            Self::U16 => extend(numbers, bytes, |bytes| f64::from(u16::from_le_bytes(bytes))),
            Self::U32 => extend(numbers, bytes, |bytes| f64::from(u32::from_le_bytes(bytes))),
            Self::F32 => extend(numbers, bytes, |bytes| f64::from(f32::from_le_bytes(bytes))),
        }
    }

    /// The value of a normalized integer: from -1 to 1, or from 0 to 1 (glTF 2.0, section 3.11). Floats stay as they
    /// are.
    pub fn normalize(self, number: f64) -> f64 {
        match self {
            Self::I8 => (number / 127.0).max(-1.0),
            Self::U8 => number / 255.0,
            Self::I16 => (number / 32767.0).max(-1.0),
            Self::U16 => number / 65535.0,
            Self::U32 => number / 4_294_967_295.0,
            Self::F32 => number,
        }
    }
}

/// The type and the count of an accessor, known before its data are read.
#[derive(Debug, Clone, Copy)]
pub struct AccessorLayout {
    /// The type of a number.
    pub component: Component,
    /// `true` if integers stand for numbers from -1 or 0 to 1.
    pub normalized: bool,
    /// Numbers per element.
    pub width: usize,
    /// Columns of a matrix; 1 for anything else.
    columns: usize,
    /// Bytes from column to column. The columns of a matrix begin at multiples of 4.
    column_bytes: usize,
    /// The number of elements.
    pub count: u64,
}

impl AccessorLayout {
    /// True for 32-bit floating-point numbers.
    pub fn is_float(&self) -> bool {
        self.component == Component::F32
    }

    /// Bytes per element.
    fn bytes(&self) -> usize {
        self.columns * self.column_bytes
    }
}

/// The reading of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integers {
    /// Normalized if the accessor is.
    AsDeclared,
    /// Always normalized.
    Normalized,
}

/// Elements in a buffer view.
struct Elements {
    view: usize,
    /// Byte of the first element in the view.
    offset: u64,
    count: u64,
    layout: AccessorLayout,
    /// True to use the `byteStride` of the view; false for sparse indices and values, which lie side by side.
    strided: bool,
}

impl<'a> Reader<'a> {
    fn accessor(&self, index: usize, path: &JsonPath) -> Result<&'a Accessor<'a>, FileError> {
        let document = self.document;
        let count = document.accessors.len();
        document.accessors.get(index).ok_or_else(|| FileError::index(path, index, "accessors", count))
    }

    /// The type and the count of an accessor. `path` is the place of the index.
    pub fn layout(&self, index: usize, path: &JsonPath) -> Result<AccessorLayout, FileError> {
        let accessor = self.accessor(index, path)?;
        let component = Component::from_code(accessor.component_type).ok_or_else(|| {
            let (path, found) = (JsonPath::top("accessors", index), accessor.component_type);
            let reason = format!("{found} is not a component type; expected 5120, 5121, 5122, 5123, 5125 or 5126");
            FileError::new(path.field("componentType"), reason)
        })?;
        let (columns, rows) = match &*accessor.kind {
            "SCALAR" => (1, 1),
            "VEC2" => (1, 2),
            "VEC3" => (1, 3),
            "VEC4" => (1, 4),
            "MAT2" => (2, 2),
            "MAT3" => (3, 3),
            "MAT4" => (4, 4),
            other => {
                let reason = format!("{other:?} is not a type; expected SCALAR, VEC2 to VEC4 or MAT2 to MAT4");
                return Err(FileError::new(JsonPath::top("accessors", index).field("type"), reason));
            }
        };
        let bytes = rows * component.bytes();
        let column_bytes = if columns > 1 { bytes.next_multiple_of(4) } else { bytes };
        let (width, count, normalized) = (columns * rows, accessor.count, accessor.normalized);
        Ok(AccessorLayout { component, normalized, width, columns, column_bytes, count })
    }

    /// The numbers of the first `count` elements of an accessor, element after element.
    ///
    /// # Errors
    /// An accessor of fewer elements, elements outside of their buffer view, and numbers that are not finite.
    pub fn read<T: Float>(
        &mut self,
        index: usize,
        count: u64,
        integers: Integers,
        path: &JsonPath,
    ) -> Result<Vec<T>, FileError> {
        let accessor = self.accessor(index, path)?;
        let layout = self.layout(index, path)?;
        let path = JsonPath::top("accessors", index);
        if count > layout.count {
            let reason = format!("{count} elements are needed, the accessor has {}", layout.count);
            return Err(FileError::new(path.field("count"), reason));
        }
        // 8 bytes for a number, and 8 for the number that the model stores.
        self.charge(&path.field("count"), count, layout.width as u64 * 16)?;
        let mut values = match accessor.buffer_view {
            Some(view) => {
                let elements = Elements { view, offset: accessor.byte_offset, count, layout, strided: true };
                self.read_elements(elements, &path)?
            }
            None => vec![T::default(); usize::try_from(count).unwrap_or(0) * layout.width],
        };
        if let Some(sparse) = &accessor.sparse {
            self.overwrite(&mut values, sparse, layout, &path.field("sparse"))?;
        }
        if layout.normalized || integers == Integers::Normalized {
            values.iter_mut().for_each(|value| *value = T::from_f64(layout.component.normalize((*value).into())));
        }
        check_finite(&values, layout.width, &path)?;
        Ok(values)
    }

    /// Checks all elements of an accessor, and charges the memory that they will fill.
    ///
    /// Afterwards, other readers of the same bytes may rely on this: views lie in their buffers, elements lie in their
    /// views, and sparse indices increase and are below the count.
    pub fn check(&mut self, index: usize, path: &JsonPath) -> Result<AccessorLayout, FileError> {
        let accessor = self.accessor(index, path)?;
        let layout = self.layout(index, path)?;
        let path = JsonPath::top("accessors", index);
        self.charge(&path.field("count"), layout.count, layout.width as u64 * 16)?;
        if let Some(view) = accessor.buffer_view {
            let count = layout.count;
            self.locate(&Elements { view, offset: accessor.byte_offset, count, layout, strided: true }, &path)?;
        }
        let Some(sparse) = &accessor.sparse else { return Ok(layout) };
        let path = path.field("sparse");
        let indices = self.sparse_indices(sparse, layout, &path)?;
        if !indices.is_sorted_by(|one, next| one < next) {
            return Err(FileError::new(path.field("indices"), "the indices have to increase, but they do not"));
        }
        if let Some(&last) = indices.last().filter(|&&last| last >= layout.count as f64) {
            return Err(no_element(&path.field("indices"), last as u64, layout.count));
        }
        self.locate(&sparse_values(sparse, layout), &path.field("values"))?;
        for (name, view) in [("indices", sparse.indices.buffer_view), ("values", sparse.values.buffer_view)] {
            let path = path.field(name);
            let path = path.field("bufferView");
            if self.view(view, &path)?.stride.is_some() {
                return Err(FileError::new(path, "the buffer view of a sparse accessor must not have a byteStride"));
            }
        }
        Ok(layout)
    }

    /// The view of elements and the bytes from one to the next. Fails if an element lies outside of the view.
    fn locate(&mut self, elements: &Elements, path: &JsonPath) -> Result<(ViewBytes<'a>, u64), FileError> {
        let path = path.field("bufferView");
        let view = self.view(elements.view, &path)?;
        let size = elements.layout.bytes() as u64;
        let stride = view.stride.filter(|_| elements.strided).unwrap_or(size);
        if stride < size {
            let reason = format!("the byteStride of the buffer view is {stride}, but an element has {size} bytes");
            return Err(FileError::new(path, reason));
        }
        let bytes = view.bytes();
        let (count, offset) = (elements.count, elements.offset);
        let last = count.saturating_sub(1).checked_mul(stride).and_then(|last| last.checked_add(offset));
        let end = last.and_then(|last| last.checked_add(if count == 0 { 0 } else { size }));
        if end.is_none_or(|end| end > bytes.len() as u64) {
            let reason = format!(
                "{count} elements of {size} bytes, {stride} apart, from byte {offset} on exceed its {} bytes",
                bytes.len()
            );
            return Err(FileError::new(path, reason));
        }
        Ok((view, stride))
    }

    fn read_elements<T: Float>(&mut self, elements: Elements, path: &JsonPath) -> Result<Vec<T>, FileError> {
        let (view, stride) = self.locate(&elements, path)?;
        let sizes = (usize::try_from(elements.count), usize::try_from(elements.offset), usize::try_from(stride));
        let (Ok(count), Ok(offset), Ok(stride)) = sizes else {
            return Err(FileError::new(path, "it is too large for the address space of this machine"));
        };
        let layout = elements.layout;
        let mut values = Vec::with_capacity(count * layout.width);
        let bytes = view.bytes().get(offset..).unwrap_or_default();
        let column = layout.width / layout.columns * layout.component.bytes();
        if stride == column {
            layout.component.read(bytes.get(..count * stride).unwrap_or_default(), &mut values);
            return Ok(values);
        }
        for element in bytes.chunks(stride).take(count) {
            for padded in element.chunks(layout.column_bytes).take(layout.columns) {
                layout.component.read(padded.get(..column).unwrap_or_default(), &mut values);
            }
        }
        Ok(values)
    }

    /// The indices of the elements that a sparse accessor replaces: integers below 2^32, which `f64` and `u64` hold.
    fn sparse_indices(
        &mut self,
        sparse: &Sparse,
        layout: AccessorLayout,
        path: &JsonPath,
    ) -> Result<Vec<f64>, FileError> {
        if sparse.count > layout.count {
            let reason = format!("{} elements are replaced, but the accessor has {}", sparse.count, layout.count);
            return Err(FileError::new(path.field("count"), reason));
        }
        let indices = &sparse.indices;
        let indices_path = path.field("indices");
        let component = Component::from_code(indices.component_type)
            .filter(|component| matches!(component, Component::U8 | Component::U16 | Component::U32))
            .ok_or_else(|| {
                let found = indices.component_type;
                let reason = format!("{found} is not an unsigned integer type; expected 5121, 5123 or 5125");
                FileError::new(indices_path.field("componentType"), reason)
            })?;
        self.charge(&path.field("count"), sparse.count, (layout.width as u64 + 1) * 8)?;
        let layout = AccessorLayout { component, width: 1, columns: 1, column_bytes: component.bytes(), ..layout };
        let (view, offset) = (indices.buffer_view, indices.byte_offset);
        self.read_elements(Elements { view, offset, count: sparse.count, layout, strided: false }, &indices_path)
    }

    fn overwrite<T: Float>(
        &mut self,
        values: &mut [T],
        sparse: &Sparse,
        layout: AccessorLayout,
        path: &JsonPath,
    ) -> Result<(), FileError> {
        let indices = self.sparse_indices(sparse, layout, path)?;
        let replacements: Vec<T> = self.read_elements(sparse_values(sparse, layout), &path.field("values"))?;
        for (index, replacement) in indices.into_iter().zip(replacements.chunks_exact(layout.width)) {
            let index = index as u64;
            if index >= layout.count {
                return Err(no_element(&path.field("indices"), index, layout.count));
            }
            // Elements that the caller does not read are skipped.
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            if let Some(element) = values.chunks_exact_mut(layout.width).nth(index) {
                element.copy_from_slice(replacement);
            }
        }
        Ok(())
    }
}

fn sparse_values(sparse: &Sparse, layout: AccessorLayout) -> Elements {
    let (view, offset) = (sparse.values.buffer_view, sparse.values.byte_offset);
    Elements { view, offset, count: sparse.count, layout, strided: false }
}

/// Refuses numbers that are NaN or infinite.
fn check_finite<T: Float>(values: &[T], width: usize, path: &JsonPath) -> Result<(), FileError> {
    let finite = |value: T| value.into().is_finite();
    // Without an early exit inside of a block, so that the compiler vectorizes the loop.
    if values.chunks(256).all(|block| block.iter().fold(true, |all, &value| all & finite(value))) {
        return Ok(());
    }
    let faulty = values.iter().position(|&value| !finite(value)).unwrap_or(0);
    let (element, value) = (faulty / width, values.get(faulty).map_or(0.0, |&value| value.into()));
    Err(FileError::new(path, format!("element {element} has {value}, which is not a finite number")))
}

fn no_element(path: &JsonPath, index: u64, count: u64) -> FileError {
    FileError::new(path, format!("there is no element {index}, the accessor has {count}"))
}
