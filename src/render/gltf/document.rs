//! A glTF document as the `gltf` crate has it, made so that the crate takes any document that the importer takes.

use ::gltf::Document;
use ::gltf::json::buffer::Buffer;
use ::gltf::json::validation::USize64;
use ::gltf::json::{Index, Root};
use serde_json::{Map, Value, json};

use crate::import::fault::Fault;
use crate::import::gltf::document as whole;

/// The `source` of a texture that has none, or none that is known.
pub(super) const NO_IMAGE: u32 = u32::MAX;

/// Parses a document that the importer has read already as `parsed`; a fault has the JSON path at which the parser stopped.
pub(super) fn parse(json: &[u8], parsed: &whole::Document) -> Result<Document, Fault> {
    // Text that no picture needs may be anything.
    let json = String::from_utf8_lossy(json);
    let mut document: Map<String, Value> =
        serde_json::from_str(&json).map_err(|error| Fault::new("JSON", error.to_string()))?;
    complete(&mut document);
    let mut root: Root = serde_path_to_error::deserialize(Value::Object(document))
        .map_err(|error| Fault::new(error.path().to_string(), error.inner().to_string()))?;
    move_compressed_views(&mut root, parsed);
    // Validation refuses files for single faults, and for extensions that are none of the crate's; what is used is checked
    // where it is used.
    Ok(Document::from_json_without_validation(root))
}

/// Takes out what pictures do not need and the crate may refuse, such as channels without a node, and puts in what the crate
/// demands although a file need not have it.
fn complete(document: &mut Map<String, Value>) {
    for name in ["animations", "cameras", "extensions", "skins"] {
        document.remove(name);
    }
    document.insert("asset".into(), json!({ "version": "2.0" }));
    each(document, "scenes", |scene| put(scene, "nodes", json!([])));
    each(document, "meshes", |mesh| {
        put(mesh, "primitives", json!([]));
        each(mesh, "primitives", |primitive| put(primitive, "attributes", json!({})));
    });
    each(document, "textures", |texture| {
        let web = Value::Object(texture.clone()).pointer("/extensions/EXT_texture_webp/source").cloned();
        put(texture, "source", web.unwrap_or(json!(NO_IMAGE)));
    });
    // The crate counts down from the number of elements.
    each(document, "accessors", |accessor| {
        if accessor.get("sparse").and_then(|sparse| sparse.get("count")) == Some(&json!(0)) {
            accessor.remove("sparse");
        }
    });
}

/// Changes each object of an array.
fn each(parent: &mut Map<String, Value>, name: &str, mut change: impl FnMut(&mut Map<String, Value>)) {
    let items = parent.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut).for_each(&mut change);
}

/// Puts in a value where there is none.
fn put(object: &mut Map<String, Value>, name: &str, value: Value) {
    object.entry(name).or_insert(value);
}

/// Gives each compressed buffer view a buffer of its own: the one that it is decompressed into.
fn move_compressed_views(root: &mut Root, parsed: &whole::Document) {
    for (view, parsed) in root.buffer_views.iter_mut().zip(&parsed.buffer_views) {
        if let Some((compression, _)) = parsed.compression() {
            let byte_length = USize64(compression.count.saturating_mul(compression.byte_stride));
            let buffer = Buffer { byte_length, name: None, uri: None, extensions: None, extras: Default::default() };
            view.buffer = Index::push(&mut root.buffers, buffer);
            view.byte_offset = None;
            view.byte_length = byte_length;
        }
    }
}

/// Which nodes the file's scene shows: all, where it has none.
pub(super) fn shown(root: &Root) -> Vec<bool> {
    let scene = root.scene.map_or(0, |scene| scene.value());
    let Some(scene) = root.scenes.get(scene) else { return vec![true; root.nodes.len()] };
    let mut shown = vec![false; root.nodes.len()];
    let mut stack = scene.nodes.clone();
    while let Some(node) = stack.pop() {
        if let (Some(seen), Some(found)) = (shown.get_mut(node.value()), root.nodes.get(node.value()))
            && !*seen
        {
            *seen = true;
            stack.extend(found.children.iter().flatten());
        }
    }
    shown
}
