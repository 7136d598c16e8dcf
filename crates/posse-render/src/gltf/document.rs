//! Documents for the `gltf` crate, in two steps. The document is changed before the crate parses it, so that the crate
//! accepts every document that the importer accepts. Accessors are checked, and their bytes loaded and decompressed,
//! before a reader of the crate runs.

use std::collections::{HashMap, HashSet};

use ::gltf::accessor::{Item, Iter};
use ::gltf::json::accessor::Accessor as FileAccessor;
use ::gltf::json::buffer::Buffer as FileBuffer;
use ::gltf::json::scene::Node;
use ::gltf::json::validation::USize64;
use ::gltf::json::{Index, Root};
use ::gltf::{Accessor, Buffer, Document};
use posse::low_level::file::{AccessorLayout, Bytes, Component, FileError, GltfDocument, JsonPath, Reader};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The `source` of a texture that has no supported one.
pub(super) const NO_IMAGE: u32 = u32::MAX;

/// Parses a document that the importer has already read as `parsed`. An error has the JSON path of the item that the
/// crate refuses.
pub(super) fn parse(json: &str, parsed: &GltfDocument) -> Result<Document, FileError> {
    let mut document: Map<String, Value> =
        serde_json::from_str(json).map_err(|error| FileError::new("JSON", error.to_string()))?;
    complete(&mut document);
    let document = Value::Object(document);
    let mut root =
        Root::deserialize(&document).map_err(|error| FileError::new(refused_item(&document), error.to_string()))?;
    move_compressed_views(&mut root, parsed);
    // The validation of the crate refuses a file for a single error and for extensions that the crate does not support.
    // Everything is checked when it is read.
    Ok(Document::from_json_without_validation(root))
}

/// The path of the first item of a document that the crate refuses by itself, for example `accessors[3]`.
///
/// A parser that keeps the path of each value would be compiled for all types of the crate once more, for rare errors.
fn refused_item(document: &Value) -> String {
    let is_refused = |name: &str, value: Value| {
        let alone = json!({ "asset": document["asset"], name: value });
        Root::deserialize(&alone).is_err()
    };
    let fields = document.as_object().into_iter().flatten();
    let Some((name, value)) = fields.into_iter().find(|(name, value)| is_refused(name, (*value).clone())) else {
        return "JSON".into();
    };
    let items = value.as_array().into_iter().flatten();
    match items.into_iter().position(|item| is_refused(name, json!([item]))) {
        Some(index) => format!("{name}[{index}]"),
        None => name.clone(),
    }
}

/// Removes objects that pictures do not need and the crate may refuse, such as channels without a node. Inserts values
/// that the crate demands although glTF does not require them.
fn complete(document: &mut Map<String, Value>) {
    for name in ["animations", "cameras", "extensions", "skins"] {
        document.remove(name);
    }
    document.insert("asset".into(), json!({ "version": "2.0" }));
    for_each_object(document, "scenes", |scene| insert_default(scene, "nodes", json!([])));
    for_each_object(document, "meshes", |mesh| {
        insert_default(mesh, "primitives", json!([]));
        for_each_object(mesh, "primitives", |primitive| insert_default(primitive, "attributes", json!({})));
    });
    for_each_object(document, "textures", |texture| {
        let webp = Value::Object(texture.clone()).pointer("/extensions/EXT_texture_webp/source").cloned();
        insert_default(texture, "source", webp.unwrap_or(json!(NO_IMAGE)));
    });
    // The crate subtracts 1 from the number of elements of a sparse accessor.
    for_each_object(document, "accessors", |accessor| {
        if accessor.get("sparse").and_then(|sparse| sparse.get("count")) == Some(&json!(0)) {
            accessor.remove("sparse");
        }
    });
}

/// Applies a change to each object of an array.
fn for_each_object(parent: &mut Map<String, Value>, name: &str, mut change: impl FnMut(&mut Map<String, Value>)) {
    let items = parent.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut).for_each(&mut change);
}

/// Inserts a value if the object has none of this name.
fn insert_default(object: &mut Map<String, Value>, name: &str, value: Value) {
    object.entry(name).or_insert(value);
}

/// Gives each compressed buffer view its own buffer, which receives the decompressed bytes.
fn move_compressed_views(root: &mut Root, parsed: &GltfDocument) {
    for (view, parsed) in root.buffer_views.iter_mut().zip(&parsed.buffer_views) {
        if let Some((compression, _)) = parsed.compression() {
            let byte_length = USize64(compression.count.saturating_mul(compression.byte_stride));
            let buffer =
                FileBuffer { byte_length, name: None, uri: None, extensions: None, extras: Default::default() };
            view.buffer = Index::push(&mut root.buffers, buffer);
            view.byte_offset = None;
            view.byte_length = byte_length;
        }
    }
}

/// The extension of nodes that are hidden, with everything below them.
pub(super) const VISIBILITY: &str = "KHR_node_visibility";

/// A node, as a figure shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// It is not in the scene.
    Elsewhere,
    /// It is in the scene, and always hidden.
    Hidden,
    /// It is in the scene, and visible at some time.
    Visible,
}

/// What a figure shows of each node. Without a scene, all nodes are in it. `animated` has the nodes whose visibility
/// changes.
pub(super) fn shown_nodes(root: &Root, animated: &HashSet<usize>) -> Vec<Shown> {
    let roots: Vec<usize> = match root.scenes.get(root.scene.map_or(0, |scene| scene.value())) {
        Some(scene) => scene.nodes.iter().map(|node| node.value()).collect(),
        None => {
            let children = root.nodes.iter().flat_map(|node| node.children.iter().flatten());
            let children: HashSet<usize> = children.map(|node| node.value()).collect();
            (0..root.nodes.len()).filter(|node| !children.contains(node)).collect()
        }
    };
    let mut shown = vec![Shown::Elsewhere; root.nodes.len()];
    let mut stack: Vec<(usize, Shown)> = roots.into_iter().map(|node| (node, Shown::Visible)).collect();
    while let Some((index, above)) = stack.pop() {
        let (Some(entry), Some(node)) = (shown.get_mut(index), root.nodes.get(index)) else { continue };
        if *entry == Shown::Elsewhere {
            *entry = if is_visible(node) || animated.contains(&index) { above } else { Shown::Hidden };
            stack.extend(node.children.iter().flatten().map(|child| (child.value(), *entry)));
        }
    }
    shown
}

/// True unless the node itself says that it is hidden.
fn is_visible(node: &Node) -> bool {
    let extension = node.extensions.as_ref().and_then(|extensions| extensions.others.get(VISIBILITY));
    extension.and_then(|extension| extension.get("visible")) != Some(&Value::Bool(false))
}

/// The buffers of a document that have been loaded so far.
pub(super) struct Buffers<'a, 'b> {
    document: &'a Document,
    /// The bytes by the index of the buffer in the document of the crate, which has one more buffer per compressed
    /// view.
    loaded: HashMap<usize, Bytes<'b>>,
}

/// An accessor that has been checked: its bytes are loaded, and the crate reads it without a panic.
pub(super) struct Checked<'a> {
    accessor: Accessor<'a>,
    pub layout: AccessorLayout,
}

impl<'a, 'b> Buffers<'a, 'b> {
    pub fn new(document: &'a Document) -> Self {
        Self { document, loaded: HashMap::new() }
    }

    /// Checks an accessor and loads its bytes. Its elements must have one of these widths (numbers per element); with
    /// `count`, there must be as many elements as vertices. `path` is the JSON path of the index of the accessor.
    pub fn check(
        &mut self,
        reader: &mut Reader<'b>,
        accessor: Index<FileAccessor>,
        widths: &[usize],
        count: Option<usize>,
        path: &JsonPath,
    ) -> Result<Checked<'a>, FileError> {
        let index = accessor.value();
        let layout = reader.check(index, path)?;
        if !widths.contains(&layout.width) {
            return Err(FileError::new(
                path,
                format!("accessor {index} has elements of {} numbers; expected {widths:?}", layout.width),
            ));
        }
        if let Some(count) = count.filter(|&count| layout.count != count as u64) {
            let found = layout.count;
            return Err(FileError::new(path, format!("accessor {index} has {found} elements for {count} vertices")));
        }
        let root = self.document.as_json();
        let (Some(accessor), Some(json)) = (self.document.accessors().nth(index), root.accessors.get(index)) else {
            return Err(FileError::index(path, index, "accessors", root.accessors.len()));
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

    /// The elements of a checked accessor, `N` numbers per element, as floats. The mesh readers of the crate assume
    /// that positions, normals and morph targets are floats and that integer texture coordinates are normalized. Files
    /// with `KHR_mesh_quantization` differ in both.
    pub fn vectors<const N: usize>(&self, checked: &Checked) -> Result<Vec<[f32; N]>, FileError>
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

    fn elements<T: Copy + Into<f64>, const N: usize>(&self, checked: &Checked) -> Result<Vec<[f32; N]>, FileError>
    where
        [T; N]: Item,
        [f32; N]: Item,
    {
        let AccessorLayout { component, normalized, .. } = checked.layout;
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
    pub fn check_component(&self, components: &[Component], path: &JsonPath) -> Result<(), FileError> {
        if components.contains(&self.layout.component) {
            return Ok(());
        }
        let (index, found) = (self.accessor.index(), self.layout.component);
        Err(FileError::new(
            path,
            format!("accessor {index} has numbers of type {found:?}; expected one of {components:?}"),
        ))
    }

    /// The elements that a reader of the crate returns; zeros if the accessor has no bytes.
    pub fn elements<T: Copy + Item, I: Iterator<Item = T>>(&self, read: impl FnOnce() -> Option<I>) -> Vec<T> {
        // The crate subtracts 1 from the number of elements.
        match self.layout.count {
            0 => Vec::new(),
            count => read().map_or_else(|| vec![T::zero(); count as usize], Iterator::collect),
        }
    }

    /// The elements that a reader of the crate returns, as floats. All numbers are finite; else there is an error.
    pub fn floats<const N: usize, I: Iterator<Item = [f32; N]>>(
        &self,
        read: impl FnOnce() -> Option<I>,
    ) -> Result<Vec<[f32; N]>, FileError>
    where
        [f32; N]: Item,
    {
        let elements = self.elements(read);
        for (index, element) in elements.iter().enumerate() {
            if let Some(number) = element.iter().find(|number| !number.is_finite()) {
                let reason = format!("element {index} has {number}, which is not a finite number");
                return Err(FileError::new(JsonPath::top("accessors", self.accessor.index()), reason));
            }
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_path_of_its_item() {
        let accessor = json!({ "componentType": 5126, "count": 1, "type": "SCALAR" });
        let mut document = json!({ "asset": { "version": "2.0" }, "accessors": [accessor, accessor], "nodes": [{}] });
        assert!(Root::deserialize(&document).is_ok());
        document["accessors"][1]["count"] = json!("one");
        assert_eq!(refused_item(&document), "accessors[1]");
        document["accessors"] = json!({});
        assert_eq!(refused_item(&document), "accessors");
    }
}
