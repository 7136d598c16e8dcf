//! Accessors: numbers from bytes (glTF 2.0, sections 3.6.2 and 3.11).

use super::at::At;
use super::document::{Accessor, Sparse};
use super::reader::{Reader, View};
use crate::import::fault::Fault;

/// What numbers are read as. Floats fit either; of integers `f32` has not every one.
pub(crate) trait Float: Copy + Default + Into<f64> {
    /// The nearest number.
    fn of(number: f64) -> Self;
}

impl Float for f64 {
    fn of(number: f64) -> Self {
        number
    }
}

impl Float for f32 {
    fn of(number: f64) -> Self {
        number as f32
    }
}

/// The type of a single number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn parse(number: u32) -> Option<Self> {
        Some(match number {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Appends the numbers that fill a slice.
    fn read<T: Float>(self, bytes: &[u8], numbers: &mut Vec<T>) {
        fn extend<T: Float, const N: usize>(numbers: &mut Vec<T>, bytes: &[u8], number: impl Fn([u8; N]) -> f64) {
            numbers.extend(bytes.as_chunks().0.iter().map(|&bytes| T::of(number(bytes))));
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

    /// What a normalized integer stands for.
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

/// What is known of an accessor before its data are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub component: Component,
    pub normalized: bool,
    /// Numbers an element.
    pub width: usize,
    /// Columns of a matrix, 1 for anything else.
    columns: usize,
    /// Bytes from column to column; those of a matrix begin at multiples of 4.
    column_bytes: usize,
    pub count: u64,
}

impl Layout {
    pub fn is_float(&self) -> bool {
        self.component == Component::F32
    }

    fn bytes(&self) -> usize {
        self.columns * self.column_bytes
    }
}

/// How integers become numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integers {
    /// Normalized, where the accessor says so.
    AsDeclared,
    /// Normalized, whatever the accessor says.
    Normalized,
}

impl<'a> Reader<'a> {
    fn accessor(&self, index: usize, path: &At) -> Result<&'a Accessor<'a>, Fault> {
        let document = self.document;
        let count = document.accessors.len();
        document.accessors.get(index).ok_or_else(|| Fault::index(path, index, "accessors", count))
    }

    /// Type and count of an accessor. `path` is where the index stands.
    pub fn layout(&self, index: usize, path: &At) -> Result<Layout, Fault> {
        let accessor = self.accessor(index, path)?;
        let component = Component::parse(accessor.component_type).ok_or_else(|| {
            let path = At::top("accessors", index);
            Fault::new(path.field("componentType"), format!("{} is not a component type", accessor.component_type))
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
                return Err(Fault::new(At::top("accessors", index).field("type"), format!("{other:?} is not a type")));
            }
        };
        let bytes = rows * component.bytes();
        let column_bytes = if columns > 1 { bytes.next_multiple_of(4) } else { bytes };
        let (width, count, normalized) = (columns * rows, accessor.count, accessor.normalized);
        Ok(Layout { component, normalized, width, columns, column_bytes, count })
    }

    /// The first `count` elements of an accessor, which has so many, element after element.
    pub fn read<T: Float>(&mut self, index: usize, count: u64, integers: Integers, path: &At) -> Result<Vec<T>, Fault> {
        let accessor = self.accessor(index, path)?;
        let layout = self.layout(index, path)?;
        let place = At::top("accessors", index);
        if count > layout.count {
            let reason = format!("{count} elements are needed, {} are there", layout.count);
            return Err(Fault::new(place.field("count"), reason));
        }
        // 8 bytes for a number, and as many again for what is made of it.
        self.charge(&place.field("count"), count, layout.width as u64 * 16)?;
        let mut values = match accessor.buffer_view {
            Some(view) => self.read_view(view, accessor.byte_offset, count, layout, true, &place)?,
            None => vec![T::default(); usize::try_from(count).unwrap_or(0) * layout.width],
        };
        if let Some(sparse) = &accessor.sparse {
            self.overwrite(&mut values, sparse, layout, &place.field("sparse"))?;
        }
        if layout.normalized || integers == Integers::Normalized {
            values.iter_mut().for_each(|value| *value = T::of(layout.component.normalize((*value).into())));
        }
        let finite = |value: T| value.into().is_finite();
        // Block by block, since a loop that may end at any number looks at one at a time.
        if !values.chunks(256).all(|block| block.iter().fold(true, |all, &value| all & finite(value)))
            && let Some(faulty) = values.iter().position(|&value| !finite(value))
        {
            let (element, value) = (faulty / layout.width, values.get(faulty).map_or(0.0, |&value| value.into()));
            return Err(Fault::new(place, format!("element {element} has {value}, which is not a finite number")));
        }
        Ok(values)
    }

    /// Checks that the elements of an accessor are there, all of them, and takes the memory that they will fill.
    ///
    /// Other readers of the same bytes may then rely on it: views lie in their buffers, elements in their views, and sparse
    /// indices, which increase, among the elements.
    #[cfg(feature = "render")]
    pub fn check(&mut self, index: usize, path: &At) -> Result<Layout, Fault> {
        let accessor = self.accessor(index, path)?;
        let layout = self.layout(index, path)?;
        let place = At::top("accessors", index);
        self.charge(&place.field("count"), layout.count, layout.width as u64 * 16)?;
        if let Some(view) = accessor.buffer_view {
            self.extent(view, accessor.byte_offset, layout.count, layout, true, &place)?;
        }
        let Some(sparse) = &accessor.sparse else { return Ok(layout) };
        let place = place.field("sparse");
        let indices = self.sparse_indices(sparse, layout, &place)?;
        if !indices.is_sorted_by(|one, next| one < next) {
            return Err(Fault::new(place.field("indices"), "they do not increase"));
        }
        if let Some(&last) = indices.last().filter(|&&last| last >= layout.count as f64) {
            return Err(no_element(&place.field("indices"), last as u64, layout.count));
        }
        let values = place.field("values");
        self.extent(sparse.values.buffer_view, sparse.values.byte_offset, sparse.count, layout, false, &values)?;
        for (view, place) in [(sparse.indices.buffer_view, place.field("indices")), (sparse.values.buffer_view, values)]
        {
            if self.view(view, &place.field("bufferView"))?.stride.is_some() {
                return Err(Fault::new(
                    place.field("bufferView"),
                    "the buffer view of a sparse accessor has a byteStride",
                ));
            }
        }
        Ok(layout)
    }

    /// The view of some elements, and how far apart they are; all of them lie in it.
    fn extent(
        &mut self,
        view: usize,
        offset: u64,
        count: u64,
        layout: Layout,
        strided: bool,
        path: &At,
    ) -> Result<(View<'a>, u64), Fault> {
        let view = self.view(view, &path.field("bufferView"))?;
        let element = layout.bytes();
        let stride = view.stride.filter(|_| strided).unwrap_or(element as u64);
        if stride < element as u64 {
            let reason = format!("elements of {element} bytes overlap, the buffer view's byteStride is {stride}");
            return Err(Fault::new(path.field("bufferView"), reason));
        }
        let bytes = view.bytes();
        let last = count.saturating_sub(1).checked_mul(stride).and_then(|last| last.checked_add(offset));
        let end = last.and_then(|last| last.checked_add(if count == 0 { 0 } else { element as u64 }));
        if end.is_none_or(|end| end > bytes.len() as u64) {
            let reason = format!(
                "{count} elements of {element} bytes, {stride} apart, from byte {offset} on are not in its {} bytes",
                bytes.len()
            );
            return Err(Fault::new(path.field("bufferView"), reason));
        }
        Ok((view, stride))
    }

    fn read_view<T: Float>(
        &mut self,
        view: usize,
        offset: u64,
        count: u64,
        layout: Layout,
        strided: bool,
        path: &At,
    ) -> Result<Vec<T>, Fault> {
        let (view, stride) = self.extent(view, offset, count, layout, strided, path)?;
        let sizes = (usize::try_from(count), usize::try_from(offset), usize::try_from(stride));
        let (Ok(count), Ok(offset), Ok(stride)) = sizes else {
            return Err(Fault::new(path, "it is too large for this machine"));
        };
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

    /// The elements that a sparse accessor replaces. They are integers below 2^32, which `f64` and `u64` hold.
    fn sparse_indices(&mut self, sparse: &Sparse, layout: Layout, path: &At) -> Result<Vec<f64>, Fault> {
        if sparse.count > layout.count {
            let reason = format!("{} elements are replaced, but there are only {}", sparse.count, layout.count);
            return Err(Fault::new(path.field("count"), reason));
        }
        let place = path.field("indices");
        let component = Component::parse(sparse.indices.component_type)
            .filter(|component| matches!(component, Component::U8 | Component::U16 | Component::U32))
            .ok_or_else(|| {
                let reason = format!("{} is not an unsigned integer type", sparse.indices.component_type);
                Fault::new(place.field("componentType"), reason)
            })?;
        self.charge(&path.field("count"), sparse.count, (layout.width as u64 + 1) * 8)?;
        let scalar = Layout { component, width: 1, columns: 1, column_bytes: component.bytes(), ..layout };
        let at = &sparse.indices;
        self.read_view(at.buffer_view, at.byte_offset, sparse.count, scalar, false, &place)
    }

    fn overwrite<T: Float>(
        &mut self,
        values: &mut [T],
        sparse: &Sparse,
        layout: Layout,
        path: &At,
    ) -> Result<(), Fault> {
        let indices = self.sparse_indices(sparse, layout, path)?;
        let from = &sparse.values;
        let replacements: Vec<T> =
            self.read_view(from.buffer_view, from.byte_offset, sparse.count, layout, false, &path.field("values"))?;
        for (index, replacement) in indices.into_iter().zip(replacements.chunks_exact(layout.width)) {
            let index = index as u64;
            if index >= layout.count {
                return Err(no_element(&path.field("indices"), index, layout.count));
            }
            // Beyond the elements that are read, it does not matter.
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            if let Some(element) = values.chunks_exact_mut(layout.width).nth(index) {
                element.copy_from_slice(replacement);
            }
        }
        Ok(())
    }
}

fn no_element(path: &At, index: u64, count: u64) -> Fault {
    Fault::new(path, format!("there is no element {index}, there are {count}"))
}
