//! Meshes, materials and textures of glTF files, as a [`Figure`].
//!
//! A mesh, material or image that is broken or not supported is left out with a [`Warning`]: a picture without a texture is still
//! useful.
//!
//! The `gltf` crate parses the document, and its readers read the meshes. They panic on some broken files; therefore the reader of
//! the importer, which loads and decompresses buffers, checks all accessors first.
//!
//! # Examples
//! ```
//! use std::path::Path;
//! use posse::{Library, import};
//!
//! # fn main() -> Result<(), posse::Error> {
//! let file = br#"{
//!     "asset": { "version": "2.0" },
//!     "buffers": [{ "byteLength": 36, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA" }],
//!     "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
//!     "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
//!     "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
//!     "nodes": [{ "mesh": 0 }]
//! }"#;
//! let mut library = Library::new();
//! let asset = import::gltf::from_slice(&mut library, Path::new("triangle.gltf"), file, None)?;
//! let (figure, warnings) = posse_render::gltf::from_slice(&asset, file, None)?;
//! assert!(warnings.is_empty());
//! assert_eq!(figure.meshes[0].vertices[1].position, [1.0, 0.0, 0.0]);
//! # Ok(())
//! # }
//! ```

mod buffers;
mod document;
mod materials;
mod meshes;

use std::path::Path;

use ::gltf::Document;

use self::buffers::Buffers;
use self::materials::Materials;
use crate::{Figure, Mover, Part};
use posse::Error;
use posse::import::Warning;
use posse::import::gltf::Asset;
use posse::low_level::file::{Document as FileDocument, Files, FilesByName, Reader, open_container, trim};
use posse::low_level::file::{Fault, JsonPath};

/// Reads the figure of an asset from the file that the asset was loaded from, and from external buffers and images.
///
/// # Errors
/// Those of [`from_slice`], and [`Error::Io`] if the file cannot be read.
pub fn load(asset: &Asset) -> Result<(Figure, Vec<Warning>), Error> {
    let file = &asset.file;
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.clone(), source })?;
    from_slice(asset, &bytes, Some(file.parent().unwrap_or(Path::new(""))))
}

/// Reads the figure of an asset from the bytes that the asset was read from. `folder` holds external buffers and images; with
/// `None`, a file that has some gets warnings.
///
/// # Errors
/// [`Error::Import`] with a JSON path if the bytes are not a glTF document. Faults of single meshes, materials and images are
/// warnings.
pub fn from_slice(asset: &Asset, bytes: &[u8], folder: Option<&Path>) -> Result<(Figure, Vec<Warning>), Error> {
    read_figure(asset, bytes, Files::in_folder(folder))
}

/// As [`from_slice`], with the bytes of external buffers and images from a function: see
/// [`import::gltf::from_slice_with`](posse::import::gltf::from_slice_with). A file that is missing is a warning.
///
/// # Errors
/// Those of [`from_slice`].
pub fn from_slice_with<'b>(
    asset: &Asset,
    bytes: &[u8],
    files: &dyn Fn(&str) -> Option<&'b [u8]>,
) -> Result<(Figure, Vec<Warning>), Error> {
    read_figure(asset, bytes, Files::Given(&FilesByName(files)))
}

fn read_figure(asset: &Asset, bytes: &[u8], files: Files) -> Result<(Figure, Vec<Warning>), Error> {
    let with_file = |fault: Fault| fault.in_file(&asset.file);
    // The importer has already returned these warnings.
    let container = open_container(bytes, &mut Vec::new()).map_err(with_file)?;
    let json = trim(container.json);
    let accessors = FileDocument::parse(json).map_err(with_file)?;
    let document = document::parse(json, &accessors).map_err(with_file)?;
    let mut reader = Reader::new(&accessors, container.bin.into_iter().collect(), files, bytes.len());
    let figure = read(&mut reader, &document, asset);
    Ok((figure, reader.warnings))
}

fn read(reader: &mut Reader, document: &Document, asset: &Asset) -> Figure {
    let mut figure = Figure::empty(asset.skeleton);
    let root = document.as_json();
    let mut materials = Materials::new(root);
    let mut buffers = Buffers::new(document);
    let visible = document::visible_nodes(root);
    // The meshes and materials of the primitives of each mesh. A mesh is read at the first visible node that has it.
    let mut read: Vec<Option<Vec<(usize, usize)>>> = vec![None; root.meshes.len()];
    for (index, node) in root.nodes.iter().enumerate() {
        let (Some(mesh), Some(&joint), Some(true)) = (node.mesh, asset.joints.get(index), visible.get(index)) else {
            continue;
        };
        let (Some(slot), Some(mesh)) = (read.get_mut(mesh.value()), document.meshes().nth(mesh.value())) else {
            continue;
        };
        let primitives = slot.get_or_insert_with(|| {
            let mesh_path = JsonPath::top("meshes", mesh.index());
            let mut found = Vec::with_capacity(mesh.primitives().len());
            for (primitive, json) in mesh.primitives().zip(&root.meshes[mesh.index()].primitives) {
                let path = mesh_path.element("primitives", primitive.index());
                let material_index = json.material.map(|material| material.value());
                let material = materials.read(reader, material_index, &path, &mut figure);
                let texture_set = materials.texture_set(material_index);
                match meshes::read(reader, &mut buffers, &primitive, json, texture_set, &path) {
                    Ok(mesh) => {
                        found.push((figure.meshes.len(), material));
                        figure.meshes.push(mesh);
                    }
                    Err(fault) => reader.warn(fault.path, format!("{}; the primitive is not drawn", fault.reason)),
                }
            }
            found
        });
        let mut mover = Mover::Joint;
        if let Some(skin) = node.skin.map(|skin| skin.value()) {
            match asset.skins.get(skin) {
                Some(_) => mover = Mover::Skin(skin),
                None => reader.warn(
                    format!("nodes[{index}].skin"),
                    "there is no skin with this index; the mesh moves with its node",
                ),
            }
        }
        for &(mesh, material) in primitives.iter() {
            let mover = match mover {
                Mover::Skin(_) if figure.meshes[mesh].influences() == 0 => Mover::Joint,
                mover => mover,
            };
            figure.parts.push(Part { mesh, material, mover, joint });
        }
    }
    check_skins(reader, &mut figure, asset);
    figure
}

/// Replaces joint indices of vertices beyond the joints of the skin by 0, with a warning.
fn check_skins(reader: &mut Reader, figure: &mut Figure, asset: &Asset) {
    for index in 0..figure.parts.len() {
        let Part { mesh, mover: Mover::Skin(skin), .. } = figure.parts[index] else { continue };
        let Some(count) = reader.document.skins.get(skin).map(|skin| skin.joints.len()) else { continue };
        let is_beyond = |joint: u16| usize::from(joint) >= count;
        if figure.meshes[mesh]
            .vertices
            .iter()
            .any(|vertex| vertex.joints.as_flattened().iter().any(|&joint| is_beyond(joint)))
        {
            let file = asset.file.display();
            let message =
                format!("a mesh of {file} names joints beyond the {count} of its skin; the first joint is used");
            reader.warn(format!("skins[{skin}].joints"), message);
            let mut own = figure.meshes[mesh].clone();
            for joint in own.vertices.iter_mut().flat_map(|vertex| vertex.joints.as_flattened_mut()) {
                *joint = if is_beyond(*joint) { 0 } else { *joint };
            }
            figure.parts[index].mesh = figure.meshes.len();
            figure.meshes.push(own);
        }
    }
}
