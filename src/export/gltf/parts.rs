//! The JSON and the bytes of a file.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Document, items};
use crate::error::Error;
use crate::import::gltf::{Document as Parsed, Files, Hierarchy, Reader, open_container, trim};
use crate::import::{Fault, JsonPath, Warning};
use crate::retarget::key_budget::KeyBudget;

/// The extensions of buffer views that name a buffer of their own.
pub(super) const COMPRESSIONS: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Reads a file. All its bytes, with those of other files, are in one buffer afterwards.
pub(super) fn read(name: &Path, bytes: &[u8], folder: Option<&Path>) -> Result<Document, Error> {
    let in_file = |fault: Fault| fault.in_file(name);
    let mut warnings = Vec::new();
    let container = open_container(bytes, &mut warnings).map_err(in_file)?;
    let text = trim(container.json);
    let parsed = Parsed::parse(text).map_err(in_file)?;
    let json: Map<String, Value> =
        serde_json::from_slice(text).map_err(|error| Fault::new("JSON", error.to_string()).in_file(name))?;
    let joints = Hierarchy::new(&parsed).map_err(in_file)?.joints;
    let mut nodes = vec![0; joints.len()];
    joints.iter().enumerate().for_each(|(node, &joint)| nodes[joint] = node);
    let mut document = Document {
        name: name.to_path_buf(),
        json,
        bin: Vec::new(),
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
fn merge_buffers(document: &mut Document, reader: &mut Reader) -> Result<(), Fault> {
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
        let Some((index, offset)) = super::index(value, "buffer").and_then(|buffer| places.get(buffer)).copied() else {
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

/// Moves images that are other files, or data URIs, into the buffer. Those that are not found stay, with a warning.
fn embed_images(document: &mut Document, reader: &mut Reader) {
    for index in 0..items(&document.json, "images").len() {
        let image = items(&document.json, "images")[index].clone();
        let Some(uri) = image.get("uri").and_then(Value::as_str) else { continue };
        let place = JsonPath::top("images", index);
        let path = place.field("uri");
        let found = reader.resource(uri, &path).and_then(|bytes| match mime_type(&bytes, &image) {
            Some(kind) => reader.charge(&path, bytes.len() as u64, 1).map(|()| (bytes, kind)),
            None => Err(Fault::new(&path, "its format is not known")),
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
            Err(fault) => document.warnings.push(Warning {
                path: fault.path,
                message: format!("{}; the image is not embedded, and its place stays the same", fault.reason),
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
