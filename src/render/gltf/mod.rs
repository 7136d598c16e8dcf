//! What a glTF file looks like: its meshes, materials and textures, as a [`Figure`].
//!
//! What is not understood, or broken, is named in a [`Warning`] and left out: a picture without a texture is still worth
//! looking at.
//!
//! The document is the `gltf` crate's, whose readers read the meshes. The importer's reader, which loads buffers and
//! decompresses them, first checks what they are about to read, since they panic on some broken files.

mod buffers;
mod document;
mod materials;
mod meshes;

use std::path::Path;

use ::gltf::Document;

use self::buffers::Buffers;
use self::materials::Materials;
use crate::error::Error;
use crate::import::Warning;
use crate::import::fault::Fault;
use crate::import::gltf::at::At;
use crate::import::gltf::reader::Reader;
use crate::import::gltf::{Asset, container, document as whole};
use crate::render::{Figure, Mover, Part};

/// Reads what an asset looks like from the file that it was loaded from, and from the buffers and images beside it.
///
/// # Errors
/// As those of [`from_slice`], and [`Error::Io`] where the file cannot be read.
pub fn load(asset: &Asset) -> Result<(Figure, Vec<Warning>), Error> {
    let file = &asset.file;
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.clone(), source })?;
    from_slice(asset, &bytes, Some(file.parent().unwrap_or(Path::new(""))))
}

/// Reads what an asset looks like from the bytes that it was read from. `folder` is where external buffers and images lie,
/// `None` where there is no such place.
///
/// # Errors
/// [`Error::Import`] with a JSON path where the bytes are no glTF document; faults of single meshes, materials and images
/// are warnings.
pub fn from_slice(asset: &Asset, bytes: &[u8], folder: Option<&Path>) -> Result<(Figure, Vec<Warning>), Error> {
    let of_file = |fault: Fault| fault.of(&asset.file);
    // What the importer has warned of already.
    let container = container::open(bytes, &mut Vec::new()).map_err(of_file)?;
    let json = whole::trim(container.json);
    let accessors = whole::Document::parse(json).map_err(of_file)?;
    let document = document::parse(json, &accessors).map_err(of_file)?;
    let mut reader = Reader::new(&accessors, container.bin.into_iter().collect(), folder, bytes.len());
    let figure = read(&mut reader, &document, asset);
    Ok((figure, reader.warnings))
}

fn read(reader: &mut Reader, document: &Document, asset: &Asset) -> Figure {
    let mut figure = Figure::empty(asset.skeleton);
    let root = document.as_json();
    let mut materials = Materials::new(root);
    let mut buffers = Buffers::new(document);
    let shown = document::shown(root);
    // Primitives are read where a node first shows them: of each mesh what its primitives have become.
    let mut read: Vec<Option<Vec<(usize, usize)>>> = vec![None; root.meshes.len()];
    for (index, node) in root.nodes.iter().enumerate() {
        let (Some(mesh), Some(&joint), Some(true)) = (node.mesh, asset.joints.get(index), shown.get(index)) else {
            continue;
        };
        let (Some(slot), Some(mesh)) = (read.get_mut(mesh.value()), document.meshes().nth(mesh.value())) else {
            continue;
        };
        let primitives = slot.get_or_insert_with(|| {
            let mesh_path = At::top("meshes", mesh.index());
            let mut found = Vec::with_capacity(mesh.primitives().len());
            for (primitive, json) in mesh.primitives().zip(&root.meshes[mesh.index()].primitives) {
                let path = mesh_path.item("primitives", primitive.index());
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
                None => {
                    reader.warn(format!("nodes[{index}].skin"), "there is no such skin; the mesh hangs on its node")
                }
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

/// Keeps vertices to the joints that their skins have.
fn check_skins(reader: &mut Reader, figure: &mut Figure, asset: &Asset) {
    for place in 0..figure.parts.len() {
        let Part { mesh, mover: Mover::Skin(skin), .. } = figure.parts[place] else { continue };
        let Some(count) = reader.document.skins.get(skin).map(|skin| skin.joints.len()) else { continue };
        let beyond = |joint: u16| usize::from(joint) >= count;
        if figure.meshes[mesh].vertices.iter().any(|vertex| vertex.joints.as_flattened().iter().any(|&it| beyond(it))) {
            let file = asset.file.display();
            let message = format!("a mesh of {file} names joints beyond the {count} of its skin; the first is used");
            reader.warn(format!("skins[{skin}].joints"), message);
            let mut own = figure.meshes[mesh].clone();
            for joint in own.vertices.iter_mut().flat_map(|vertex| vertex.joints.as_flattened_mut()) {
                *joint = if beyond(*joint) { 0 } else { *joint };
            }
            figure.parts[place].mesh = figure.meshes.len();
            figure.meshes.push(own);
        }
    }
}
