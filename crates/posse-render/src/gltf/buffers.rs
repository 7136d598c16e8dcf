//! Buffers for the readers of the `gltf` crate: accessors are checked, and their bytes loaded and decompressed, before a reader runs.

use std::collections::HashMap;

use ::gltf::accessor::{Item, Iter};
use ::gltf::json::Index;
use ::gltf::json::accessor::Accessor as FileAccessor;
use ::gltf::{Accessor, Buffer, Document};

use posse::low_level::file::{Bytes, Component, Layout, Reader};
use posse::low_level::file::{Fault, JsonPath};

/// The buffers of a document that have been loaded so far.
pub(super) struct Buffers<'a, 'b> {
    document: &'a Document,
    /// The bytes by the index of the buffer in the document of the crate, which has one more buffer per compressed view.
    loaded: HashMap<usize, Bytes<'b>>,
}

/// An accessor that has been checked: its bytes are loaded, and the crate reads it without a panic.
pub(super) struct Checked<'a> {
    accessor: Accessor<'a>,
    pub layout: Layout,
}

impl<'a, 'b> Buffers<'a, 'b> {
    pub fn new(document: &'a Document) -> Self {
        Self { document, loaded: HashMap::new() }
    }

    /// Checks an accessor and loads its bytes. Its elements must have one of these widths (numbers per element); with `count`, there
    /// must be as many elements as vertices. `path` is the JSON path of the index of the accessor.
    pub fn check(
        &mut self,
        reader: &mut Reader<'b>,
        accessor: Index<FileAccessor>,
        widths: &[usize],
        count: Option<usize>,
        path: &JsonPath,
    ) -> Result<Checked<'a>, Fault> {
        let index = accessor.value();
        let layout = reader.check(index, path)?;
        if !widths.contains(&layout.width) {
            return Err(Fault::new(
                path,
                format!("accessor {index} has elements of {} numbers; expected {widths:?}", layout.width),
            ));
        }
        if let Some(count) = count.filter(|&count| layout.count != count as u64) {
            let found = layout.count;
            return Err(Fault::new(path, format!("accessor {index} has {found} elements for {count} vertices")));
        }
        let root = self.document.as_json();
        let (Some(accessor), Some(json)) = (self.document.accessors().nth(index), root.accessors.get(index)) else {
            return Err(Fault::index(path, index, "accessors", root.accessors.len()));
        };
        let sparse = json.sparse.as_ref();
        let views = [sparse.map(|sparse| sparse.indices.buffer_view), sparse.map(|sparse| sparse.values.buffer_view)];
        let accessor_path = JsonPath::top("accessors", index);
        for view in views.into_iter().chain([json.buffer_view]).flatten() {
            let bytes = reader.view(view.value(), &accessor_path.field("bufferView"))?.of_buffer();
            if let Some(view) = root.buffer_views.get(view.value()) {
                self.loaded.insert(view.buffer.value(), bytes);
            }
        }
        Ok(Checked { accessor, layout })
    }

    /// The bytes of a buffer, for the readers of the crate.
    pub fn bytes(&self, buffer: &Buffer) -> Option<&[u8]> {
        self.loaded.get(&buffer.index()).map(|bytes| &***bytes)
    }

    /// The elements of a checked accessor, `N` numbers per element, as floats. The mesh readers of the crate assume that positions,
    /// normals and morph targets are floats and that integer texture coordinates are normalized. Files with
    /// `KHR_mesh_quantization` differ in both.
    pub fn vectors<const N: usize>(&self, checked: &Checked) -> Result<Vec<[f32; N]>, Fault>
    where
        [i8; N]: Item,
        [u8; N]: Item,
        [i16; N]: Item,
        [u16; N]: Item,
        [u32; N]: Item,
        [f32; N]: Item,
    {
        match checked.layout.component {
            Component::I8 => self.elements::<i8, N>(checked),
            Component::U8 => self.elements::<u8, N>(checked),
            Component::I16 => self.elements::<i16, N>(checked),
            Component::U16 => self.elements::<u16, N>(checked),
            Component::U32 => self.elements::<u32, N>(checked),
            Component::F32 => self.elements::<f32, N>(checked),
        }
    }

    fn elements<T: Copy + Into<f64>, const N: usize>(&self, checked: &Checked) -> Result<Vec<[f32; N]>, Fault>
    where
        [T; N]: Item,
        [f32; N]: Item,
    {
        let Layout { component, normalized, .. } = checked.layout;
        let to_float = |number: T| match normalized {
            true => component.normalize(number.into()) as f32,
            false => number.into() as f32,
        };
        checked.floats(|| {
            let elements = Iter::<[T; N]>::new(checked.accessor.clone(), |buffer| self.bytes(&buffer))?;
            Some(elements.map(move |element| element.map(to_float)))
        })
    }
}

impl Checked<'_> {
    /// Refuses an accessor whose numbers have another type than these.
    pub fn check_component(&self, components: &[Component], path: &JsonPath) -> Result<(), Fault> {
        if components.contains(&self.layout.component) {
            return Ok(());
        }
        let (index, found) = (self.accessor.index(), self.layout.component);
        Err(Fault::new(path, format!("accessor {index} has numbers of type {found:?}; expected one of {components:?}")))
    }

    /// The elements that a reader of the crate returns; zeros if the accessor has no bytes.
    pub fn elements<T: Copy + Item, I: Iterator<Item = T>>(&self, read: impl FnOnce() -> Option<I>) -> Vec<T> {
        // The crate subtracts 1 from the number of elements.
        match self.layout.count {
            0 => Vec::new(),
            count => read().map_or_else(|| vec![T::zero(); count as usize], Iterator::collect),
        }
    }

    /// The elements that a reader of the crate returns, as floats. All numbers are finite; else there is a fault.
    pub fn floats<const N: usize, I: Iterator<Item = [f32; N]>>(
        &self,
        read: impl FnOnce() -> Option<I>,
    ) -> Result<Vec<[f32; N]>, Fault>
    where
        [f32; N]: Item,
    {
        let elements = self.elements(read);
        for (index, element) in elements.iter().enumerate() {
            if let Some(number) = element.iter().find(|number| !number.is_finite()) {
                let reason = format!("element {index} has {number}, which is not a finite number");
                return Err(Fault::new(JsonPath::top("accessors", self.accessor.index()), reason));
            }
        }
        Ok(elements)
    }
}
