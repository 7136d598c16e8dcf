//! glTF 2.0: clips into `.glb` files.
//!
//! A [`Document`] is an existing file, or the nodes and skins of a skeleton. Clips are added to it. Everything else stays as it is, with
//! its index: nodes, skins, meshes, materials, extensions, unknown keys. `parts` reads a file and its buffers; `holes` finds the
//! bytes that nothing needs any more. `animation` makes animations, `sampler` their keys, with those of `sampling` where glTF cannot
//! hold a track. `notes` tells what it cannot hold at all. `skeleton` makes documents of skeletons, `container` writes the file.
//!
//! The document is JSON with a single buffer. Items that only the removed animations used leave places that new items
//! take. All other items keep their indices, because unknown extensions may hold them.

mod animation;
mod body;
mod container;
mod holes;
mod notes;
mod parts;
mod references;
mod sampler;
mod sampling;
mod skeleton;

pub use body::{Body, BodyVertex};

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::import::Warning;
use crate::retarget::key_budget::KeyBudget;

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
    /// The node of each joint.
    nodes: Vec<usize>,
    /// Accessors and buffer views that nothing refers to any more, the last first. New ones take their places. Until then, each is as small
    /// as can be, and has no bytes.
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
    /// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a JSON path if it, or a buffer beside it, cannot be used.
    pub fn load(file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
        Self::from_slice(file, &bytes, Some(file.parent().unwrap_or(Path::new(""))))
    }

    /// Reads the bytes of a `.glb` or `.gltf` file.
    ///
    /// `name` is the name of the file in errors; it is not opened. `folder` is the folder of external buffers and images. With `None`,
    /// a file that needs external buffers is refused.
    ///
    /// # Errors
    /// [`Error::Import`] with a JSON path if the file cannot be used.
    pub fn from_slice(name: &Path, bytes: &[u8], folder: Option<&Path>) -> Result<Self, Error> {
        parts::read(name, bytes, folder)
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
