//! Parses a document with the `gltf` crate. The document is changed first, so that the crate accepts every document that the importer
//! accepts.

use ::gltf::Document;
use ::gltf::json::buffer::Buffer;
use ::gltf::json::validation::USize64;
use ::gltf::json::{Index, Root};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use posse::low_level::file::Document as FileDocument;
use posse::low_level::file::Fault;

/// The `source` of a texture that has no supported one.
pub(super) const NO_IMAGE: u32 = u32::MAX;

/// Parses a document that the importer has already read as `parsed`. A fault has the JSON path of the item that the crate refuses.
pub(super) fn parse(json: &[u8], parsed: &FileDocument) -> Result<Document, Fault> {
    // Text that is not valid UTF-8 is no fault here: pictures do not need it.
    let json = String::from_utf8_lossy(json);
    let mut document: Map<String, Value> =
        serde_json::from_str(&json).map_err(|error| Fault::new("JSON", error.to_string()))?;
    complete(&mut document);
    let document = Value::Object(document);
    let mut root =
        Root::deserialize(&document).map_err(|error| Fault::new(refused_item(&document), error.to_string()))?;
    move_compressed_views(&mut root, parsed);
    // The validation of the crate refuses a file for a single fault and for extensions that the crate does not support. Everything
    // is checked when it is read.
    Ok(Document::from_json_without_validation(root))
}

/// The path of the first item of a document that the crate refuses by itself, for example `accessors[3]`.
///
/// A parser that keeps the path of each value would be compiled for all types of the crate once more, for rare faults.
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

/// Removes objects that pictures do not need and the crate may refuse, such as channels without a node. Inserts values that the
/// crate demands although glTF does not require them.
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
fn move_compressed_views(root: &mut Root, parsed: &FileDocument) {
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

/// One flag per node: true if the scene of the file contains it. Without a scene, all nodes are visible.
pub(super) fn visible_nodes(root: &Root) -> Vec<bool> {
    let scene = root.scene.map_or(0, |scene| scene.value());
    let Some(scene) = root.scenes.get(scene) else { return vec![true; root.nodes.len()] };
    let mut visible = vec![false; root.nodes.len()];
    let mut stack = scene.nodes.clone();
    while let Some(node) = stack.pop() {
        if let (Some(is_visible), Some(found)) = (visible.get_mut(node.value()), root.nodes.get(node.value()))
            && !*is_visible
        {
            *is_visible = true;
            stack.extend(found.children.iter().flatten());
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_the_path_of_its_item() {
        let accessor = json!({ "componentType": 5126, "count": 1, "type": "SCALAR" });
        let mut document = json!({ "asset": { "version": "2.0" }, "accessors": [accessor, accessor], "nodes": [{}] });
        assert!(Root::deserialize(&document).is_ok());
        document["accessors"][1]["count"] = json!("one");
        assert_eq!(refused_item(&document), "accessors[1]");
        document["accessors"] = json!({});
        assert_eq!(refused_item(&document), "accessors");
    }
}
