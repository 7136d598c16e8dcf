//! glTF 2.0: clips into `.glb` files.
//!
//! A [`Document`] is an existing file, or the nodes and skins of a skeleton. Clips are added to it. Everything else
//! stays as it is, with its index: nodes, skins, meshes, materials, extensions, unknown keys. `animation` makes
//! animations and finds the bytes that nothing needs any more; `sampler` makes their keys, also where glTF cannot hold
//! a track, and tells what it cannot hold at all. `vrma` makes a VRM animation of a clip of a human.
//!
//! The document is JSON with a single buffer. Items that only the removed animations used leave places that new items
//! take. All other items keep their indices, because unknown extensions may hold them.

pub use self::body::{BodyVertex, HumanMesh};
pub use self::vrma::VrmAnimation;

use std::path::{Path, PathBuf};

use glam::{DAffine3, DMat4};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::import::gltf::{Files, GltfDocument as Parsed, Hierarchy, Reader, document_text, open_container};
use crate::import::json::parse_text;
use crate::import::{FileError, JsonPath, Warning};
use crate::model::{Joint, Library, SkeletonId, no_such};
use crate::retarget::resample::KeyBudget;

pub(crate) mod animation;
mod body;
mod face;
mod sampler;
mod vrma;

/// A glTF document with its data, to which clips are added.
///
/// # Examples
/// ```
/// use posse::export::gltf::Document;
/// use posse::{Library, demo, import};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo walks");
/// let mut document = Document::of_skeleton(&library, library.clip(walk).skeleton)?;
/// document.add_clip(&library, walk)?;
/// let glb = document.to_glb()?;
///
/// let mut other = Library::new();
/// let asset = import::gltf::from_slice(&mut other, "human.glb".as_ref(), &glb, None)?;
/// assert_eq!(other.clip(asset.clips[0]).name.as_deref(), Some("walk"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Document {
    /// The name of the file in errors.
    name: PathBuf,
    json: Map<String, Value>,
    /// The buffer of the result.
    bin: Vec<u8>,
    /// Bytes of the buffer after `bin` that the caller writes.
    late_bytes: u64,
    /// The node of each joint.
    nodes: Vec<usize>,
    /// Accessors and buffer views that nothing refers to any more, the last first. New ones take their places. Until
    /// then, each is as small as can be, and has no bytes.
    free_accessors: Vec<usize>,
    free_views: Vec<usize>,
    /// The keys that sampled tracks may still have.
    budget: KeyBudget,
    warnings: Vec<Warning>,
}

impl Document {
    /// Reads a `.glb` or `.gltf` file, with the buffers and images beside it.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a JSON path if it, or a buffer beside it,
    /// cannot be used.
    pub fn load(file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
        Self::from_slice(file, &bytes, Some(file.parent().unwrap_or(Path::new(""))))
    }

    /// Reads the bytes of a `.glb` or `.gltf` file.
    ///
    /// `name` is the name of the file in errors; it is not opened. `folder` is the folder of external buffers and
    /// images. With `None`, a file that needs external buffers is refused.
    ///
    /// # Errors
    /// [`Error::Import`] with a JSON path if the file cannot be used.
    pub fn from_slice(name: &Path, bytes: &[u8], folder: Option<&Path>) -> Result<Self, Error> {
        read(name, bytes, folder)
    }

    /// The images that were not found, which the result names as the file does.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Adds bytes to the buffer, and a view of them. Returns its index.
    fn add_view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        self.bin.extend_from_slice(bytes);
        let free = self.free_views.pop();
        self.put("bufferViews", view, free)
    }

    /// Adds an accessor. Returns its index.
    fn add_accessor(&mut self, accessor: Value) -> usize {
        let free = self.free_accessors.pop();
        self.put("accessors", accessor, free)
    }

    /// Puts an item into an array of the document, at a free place or at its end.
    fn put(&mut self, array: &str, item: Value, free: Option<usize>) -> usize {
        let items = self.array(array);
        match free.filter(|&place| place < items.len()) {
            Some(place) => {
                items[place] = item;
                place
            }
            None => {
                items.push(item);
                items.len() - 1
            }
        }
    }

    /// An array of the document, which is made if it is missing.
    fn array(&mut self, name: &str) -> &mut Vec<Value> {
        let entry = self.json.entry(name).or_insert_with(|| Value::Array(Vec::new()));
        if !entry.is_array() {
            *entry = Value::Array(Vec::new());
        }
        match entry {
            Value::Array(items) => items,
            _ => unreachable!("it was made an array"),
        }
    }
}

/// The items of an array of a JSON object; none if there is no such array.
fn items<'a>(object: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A field that is an index.
fn index(value: &Value, name: &str) -> Option<usize> {
    value.get(name)?.as_u64()?.try_into().ok()
}

/// The extensions of buffer views that name a buffer of their own.
pub(super) const COMPRESSIONS: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Reads a file. All its bytes, with the bytes of other files, are in one buffer afterwards.
pub(super) fn read(name: &Path, bytes: &[u8], folder: Option<&Path>) -> Result<Document, Error> {
    let in_file = |error: FileError| error.in_file(name);
    let mut warnings = Vec::new();
    let container = open_container(bytes, &mut warnings).map_err(in_file)?;
    let text = document_text(container.json, &mut warnings).map_err(in_file)?;
    let parsed = Parsed::parse(&text).map_err(in_file)?;
    let json: Map<String, Value> = parse_text(&text).map_err(in_file)?;
    let joints = Hierarchy::new(&parsed).map_err(in_file)?.joints;
    let mut nodes = vec![0; joints.len()];
    joints.iter().enumerate().for_each(|(node, &joint)| nodes[joint] = node);
    let mut document = Document {
        name: name.to_path_buf(),
        json,
        bin: Vec::new(),
        late_bytes: 0,
        nodes,
        free_accessors: Vec::new(),
        free_views: Vec::new(),
        budget: KeyBudget::new(),
        warnings: Vec::new(),
    };
    let mut reader = Reader::new(&parsed, container.bin.into_iter().collect(), Files::in_folder(folder), bytes.len());
    merge_buffers(&mut document, &mut reader).map_err(in_file)?;
    embed_images(&mut document, &mut reader);
    Ok(document)
}

/// Puts the bytes of all buffers into one, the first. Buffers without bytes stand for compressed data and follow.
fn merge_buffers(document: &mut Document, reader: &mut Reader) -> Result<(), FileError> {
    let count = reader.document.buffers.len();
    // Per buffer: its new index, and the place of its bytes.
    let (mut places, mut others, mut first) = (Vec::with_capacity(count), Vec::new(), None);
    for index in 0..count {
        let given = items(&document.json, "buffers").get(index).cloned().unwrap_or_default();
        if !reader.has_bytes(index) {
            others.push(given);
            places.push((others.len(), 0));
            continue;
        }
        let path = JsonPath::top("buffers", index);
        let bytes = reader.buffer(index, &path)?;
        let length = reader.document.buffers[index].byte_length.unwrap_or(bytes.len() as u64);
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
        // Many buffers can name one file.
        reader.charge(&path, length as u64, 1)?;
        // Views stay aligned, whatever their components are.
        document.bin.resize(document.bin.len().next_multiple_of(16), 0);
        places.push((0, document.bin.len()));
        document.bin.extend_from_slice(&bytes[..length]);
        first.get_or_insert(given);
    }
    if count == 0 {
        return Ok(());
    }
    // The parser accepts a list of the fields of a buffer, too.
    let mut merged = first.filter(Value::is_object).unwrap_or_else(|| json!({}));
    if let Some(merged) = merged.as_object_mut() {
        merged.remove("uri");
    }
    *document.array("buffers") = std::iter::once(merged).chain(others).collect();
    let relocate = |value: &mut Value| {
        let Some((index, offset)) = index(value, "buffer").and_then(|buffer| places.get(buffer)).copied() else {
            return;
        };
        let before = value.get("byteOffset").and_then(Value::as_u64).unwrap_or(0);
        value["buffer"] = index.into();
        if offset > 0 {
            value["byteOffset"] = before.saturating_add(offset as u64).into();
        }
    };
    if document.json.contains_key("bufferViews") {
        for view in document.array("bufferViews") {
            relocate(view);
            for extension in COMPRESSIONS {
                if let Some(compression) = view.get_mut("extensions").and_then(|all| all.get_mut(extension)) {
                    relocate(compression);
                }
            }
        }
    }
    Ok(())
}

/// Moves images that are other files, or data URIs, into the buffer. Images that are not found stay, with a warning.
fn embed_images(document: &mut Document, reader: &mut Reader) {
    for index in 0..items(&document.json, "images").len() {
        let image = items(&document.json, "images")[index].clone();
        let Some(uri) = image.get("uri").and_then(Value::as_str) else { continue };
        let place = JsonPath::top("images", index);
        let path = place.field("uri");
        let found = reader.resource(uri, &path).and_then(|bytes| match mime_type(&bytes, &image) {
            Some(kind) => reader.charge(&path, bytes.len() as u64, 1).map(|()| (bytes, kind)),
            None => Err(FileError::new(&path, "its format is not known")),
        });
        match found {
            Ok((bytes, kind)) => {
                let view = document.add_view(&bytes);
                if let Some(image) = document.array("images")[index].as_object_mut() {
                    image.remove("uri");
                    image.insert("bufferView".into(), view.into());
                    image.insert("mimeType".into(), kind.into());
                }
            }
            Err(error) => document.warnings.push(Warning {
                path: error.path,
                message: format!("{}; the image is not embedded, and its place stays the same", error.reason),
            }),
        }
    }
}

/// The media type of an image, by its first bytes, or else as the file states it.
fn mime_type(bytes: &[u8], image: &Value) -> Option<String> {
    let known: [(&[u8], &str); 4] = [
        (b"\x89PNG", "image/png"),
        (b"\xFF\xD8\xFF", "image/jpeg"),
        (b"\xABKTX 20", "image/ktx2"),
        (b"RIFF", "image/webp"),
    ];
    let kind = known.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| (*kind).to_owned());
    kind.or_else(|| image.get("mimeType").and_then(Value::as_str).map(str::to_owned))
}

const MAGIC: &[u8] = b"glTF";
/// The bytes of a buffer or a view that nothing needs. The specification does not allow empty ones.
const MIN_BYTES: usize = 4;

impl Document {
    /// The bytes of a `.glb` file.
    ///
    /// # Errors
    /// [`Error::Limit`] if it would be larger than 4 GiB.
    pub fn to_glb(mut self) -> Result<Vec<u8>, Error> {
        self.fill_free_views();
        self.fit_buffer();
        // The specification does not allow empty arrays.
        for name in ["accessors", "animations", "bufferViews", "buffers"] {
            if self.json.get(name).and_then(Value::as_array).is_some_and(Vec::is_empty) {
                self.json.remove(name);
            }
        }
        let failed = |error: serde_json::Error| Error::Usage(format!("{}: {error}", self.name.display()));
        let mut json = serde_json::to_vec(&self.json).map_err(failed)?;
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut bin = self.bin;
        bin.resize(bin.len().next_multiple_of(4), 0);
        let bin_length = bin.len() as u64 + self.late_bytes;
        let chunks = if bin_length == 0 { 1 } else { 2 };
        let needed = 12 + 8 * chunks + json.len() as u64 + bin_length;
        let Ok(length) = u32::try_from(needed) else {
            let what = format!("{}: bytes of a glb file", self.name.display());
            return Err(Error::Limit { what, needed, allowed: u32::MAX.into() });
        };
        let mut glb = Vec::with_capacity(length as usize - self.late_bytes as usize);
        glb.extend_from_slice(MAGIC);
        glb.extend(2_u32.to_le_bytes());
        glb.extend(length.to_le_bytes());
        let all_chunks = [(b"JSON", json.len() as u64, &json), (b"BIN\0", bin_length, &bin)];
        for (kind, chunk_length, chunk) in all_chunks.into_iter().take(chunks as usize) {
            // It is shorter than the file.
            glb.extend((chunk_length as u32).to_le_bytes());
            glb.extend_from_slice(kind);
            glb.extend_from_slice(chunk);
        }
        Ok(glb)
    }

    /// Gives bytes to the buffer views that nothing took the place of. All others keep their indices, which extensions
    /// may know.
    fn fill_free_views(&mut self) {
        for place in std::mem::take(&mut self.free_views) {
            self.bin.resize(self.bin.len().max(MIN_BYTES), 0);
            self.array("bufferViews")[place] = json!({ "buffer": 0, "byteLength": MIN_BYTES });
        }
    }

    /// Gives the first buffer the length of the bytes. A buffer of the file stays even if it has lost all of them:
    /// others keep their indices.
    fn fit_buffer(&mut self) {
        if self.bin.is_empty() && self.late_bytes == 0 {
            if items(&self.json, "buffers").is_empty() {
                return;
            }
            self.bin.resize(MIN_BYTES, 0);
        }
        let length = self.bin.len() as u64 + self.late_bytes;
        let buffers = self.array("buffers");
        match buffers.first_mut() {
            Some(buffer) => buffer["byteLength"] = length.into(),
            None => buffers.push(json!({ "byteLength": length })),
        }
    }
}

impl Document {
    /// A document of the nodes and skins of a skeleton, with a node per joint, in their order.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton.
    pub fn of_skeleton(library: &Library, id: SkeletonId) -> Result<Self, Error> {
        let Some(skeleton) = library.skeletons().get(id.index()) else {
            return Err(Error::Usage(no_such("skeleton", id.index(), "library", library.skeletons().len())));
        };
        Ok(Self::of_nodes(library, id, &Vec::from_iter(0..skeleton.joints().len())))
    }

    /// A document of the nodes and skins of a skeleton. `order` has the joints in the order of the nodes, each once.
    /// Joints that no skin names and that have none below them may be left out.
    fn of_nodes(library: &Library, id: SkeletonId, order: &[usize]) -> Self {
        let skeleton = library.skeleton(id);
        let joints = skeleton.joints();
        let mut node_of_joint = vec![0; joints.len()];
        order.iter().enumerate().for_each(|(node, &joint)| node_of_joint[joint] = node);
        let mut nodes: Vec<Map<String, Value>> = order.iter().map(|&joint| node(&joints[joint])).collect();
        let mut roots = Vec::new();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); joints.len()];
        for (index, &joint) in order.iter().enumerate() {
            joints[joint].parent.map_or(&mut roots, |parent| &mut children[node_of_joint[parent]]).push(index);
        }
        for (node, children) in nodes.iter_mut().zip(children).filter(|(_, children)| !children.is_empty()) {
            node.insert("children".into(), children.into());
        }
        let mut json = Map::new();
        let generator = concat!("posse ", env!("CARGO_PKG_VERSION"));
        json.insert("asset".into(), json!({ "version": "2.0", "generator": generator }));
        if !nodes.is_empty() {
            json.insert("scene".into(), 0.into());
            json.insert("scenes".into(), json!([{ "nodes": roots }]));
            json.insert("nodes".into(), nodes.into());
        }
        let mut document = Self {
            name: PathBuf::from(skeleton.name().unwrap_or("skeleton")),
            json,
            bin: Vec::new(),
            late_bytes: 0,
            nodes: node_of_joint,
            free_accessors: Vec::new(),
            free_views: Vec::new(),
            budget: KeyBudget::new(),
            warnings: Vec::new(),
        };
        for (_, skin) in library.skins_of(id).filter(|(_, skin)| !skin.joints.is_empty()) {
            let bytes: Vec<u8> = skin.inverse_bind.iter().flat_map(|&matrix| column_bytes(matrix)).collect();
            let view = document.add_view(&bytes);
            let accessor = json!({
                "bufferView": view, "componentType": 5126, "count": skin.joints.len(), "type": "MAT4",
            });
            let accessor = document.add_accessor(accessor);
            let joints: Vec<usize> = skin.joints.iter().map(|&joint| document.nodes[joint]).collect();
            let mut entry = json!({ "inverseBindMatrices": accessor, "joints": joints });
            if let Some(name) = &skin.name {
                entry["name"] = name.as_str().into();
            }
            document.array("skins").push(entry);
        }
        document
    }
}

fn node(joint: &Joint) -> Map<String, Value> {
    let mut node = Map::new();
    if let Some(name) = &joint.name {
        node.insert("name".into(), name.as_str().into());
    }
    if let Some(matrix) = joint.matrix {
        node.insert("matrix".into(), json!(DMat4::from(matrix).to_cols_array()));
        return node;
    }
    node.insert("translation".into(), json!(joint.rest.translation.to_array()));
    node.insert("rotation".into(), json!(joint.rest.rotation.normalize().to_array()));
    node.insert("scale".into(), json!(joint.rest.scale.to_array()));
    node
}

fn column_bytes(matrix: DAffine3) -> Vec<u8> {
    DMat4::from(matrix).as_mat4().to_cols_array().into_iter().flat_map(f32::to_le_bytes).collect()
}
