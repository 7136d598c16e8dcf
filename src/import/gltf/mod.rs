//! glTF 2.0: `.glb` and `.gltf` files into a [`Library`].
//!
//! All nodes of a file, whether or not a scene shows them, become the joints of one skeleton; its skins and animations
//! become skins and clips. Meshes are looked at for their morph weights alone, materials and textures not at all: how a file
//! looks, `render::gltf` reads.
//!
//! Understood besides the core: sparse accessors, data URIs, `KHR_animation_pointer`, `KHR_mesh_quantization`,
//! `KHR_meshopt_compression` and `EXT_meshopt_compression`. An extension that is not known does not stop a file, even
//! where it is required: it is named in a [`Warning`].
//!
//! The stages, in order: `container` finds the JSON, `document` parses it, `reader` finds bytes (`meshopt` decompresses
//! them), `accessor` makes numbers of them; `nodes`, `skins`, `channels`, `curves`, `defaults` and
//! `animations` make the model.

pub(crate) mod accessor;
mod animations;
pub(crate) mod at;
mod channels;
pub(crate) mod container;
mod curves;
mod defaults;
pub(crate) mod document;
mod extensions;
mod meshopt;
mod nodes;
pub(crate) mod reader;
mod skins;

use std::path::{Path, PathBuf};

use self::animations::Animations;
use self::at::At;
use self::document::Document;
use self::nodes::Hierarchy;
use self::reader::Reader;
use crate::error::Error;
use crate::import::Warning;
use crate::import::fault::Fault;
use crate::model::{Clip, ClipId, Library, Skeleton, SkeletonId, SkinId};

/// What a file has become in a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Asset {
    /// The file as it was asked for.
    pub file: PathBuf,
    /// The skeleton of all nodes.
    pub skeleton: SkeletonId,
    /// The skins, by glTF skin index.
    pub skins: Vec<SkinId>,
    /// The clips, by glTF animation index.
    pub clips: Vec<ClipId>,
    /// The joint of each node, by glTF node index. Joints differ from nodes where a file has children before parents.
    pub joints: Vec<usize>,
    /// The joints whose nodes the file gives by a matrix, in order of nodes, even where an animation moves them.
    pub matrices: Vec<usize>,
    /// What was repaired or passed over.
    pub warnings: Vec<Warning>,
}

/// Reads a `.glb` or `.gltf` file, and the buffers beside it that its animations need, into a library.
///
/// # Errors
/// [`Error::Io`] where the file cannot be read; [`Error::Import`] with a JSON path where it cannot be used. The library
/// is then as it was before.
pub fn load(library: &mut Library, file: impl AsRef<Path>) -> Result<Asset, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes, Some(file.parent().unwrap_or(Path::new(""))))
}

/// Reads the bytes of a `.glb` or `.gltf` file into a library.
///
/// `name` is the file's name in results and errors; nothing is read from it. `folder` is where external buffers lie,
/// `None` where there is no such place.
///
/// # Errors
/// [`Error::Import`] with a JSON path where the file cannot be used. The library is then as it was before.
pub fn from_slice(library: &mut Library, name: &Path, bytes: &[u8], folder: Option<&Path>) -> Result<Asset, Error> {
    let (loaded, asset) = read(name, bytes, folder)?;
    let (skeletons, skins, clips) = (library.skeletons().len(), library.skins().len(), library.clips().len());
    library.append(loaded);
    Ok(Asset {
        skeleton: SkeletonId(skeletons + asset.skeleton.0),
        skins: asset.skins.into_iter().map(|skin| SkinId(skins + skin.0)).collect(),
        clips: asset.clips.into_iter().map(|clip| ClipId(clips + clip.0)).collect(),
        ..asset
    })
}

/// Engines keep a place for every joint, weight and property in every clip, so that many nodes and many animations, each
/// of a few bytes in the file, multiply.
fn charge_clips(reader: &mut Reader, skeleton: &Skeleton) -> Result<(), Fault> {
    let last = reader.document.animations.len().saturating_sub(1);
    let places = 3 * skeleton.joints().len() + 2 * (skeleton.weight_count() + skeleton.property_width());
    reader.charge(&At::top("animations", last), reader.document.animations.len() as u64, 8 * places as u64)
}

/// A library of this file alone.
fn read(name: &Path, bytes: &[u8], folder: Option<&Path>) -> Result<(Library, Asset), Error> {
    let of_file = |fault: Fault| fault.of(name);
    // The stages have checked what the model checks; should one miss something, the file is still named.
    let of_model = |error: Error| Fault::new("document", error.to_string()).of(name);
    let mut warnings = Vec::new();
    let container = container::open(bytes, &mut warnings).map_err(of_file)?;
    let json = document::trim(container.json);
    let document = Document::parse(json).map_err(of_file)?;
    let mut reader = Reader::new(&document, container.bin, folder, bytes.len());
    reader.warnings = warnings;
    extensions::check(&mut reader);
    if document.asset.as_ref().is_none_or(|asset| asset.version.is_none()) {
        reader.warn("asset.version", "it is missing; the file is taken for glTF 2.0");
    }

    let hierarchy = Hierarchy::new(&document).map_err(of_file)?;
    let animations = Animations::read(&mut reader, &hierarchy.joints).map_err(of_file)?;
    let moved = animations.moved_joints(document.nodes.len());
    let joints = hierarchy.joints(&mut reader, &moved).map_err(of_file)?;

    let mut library = Library::new();
    let skeleton_name = name.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let skeleton = Skeleton::new(skeleton_name, joints, animations.properties(json)).map_err(of_model)?;
    charge_clips(&mut reader, &skeleton).map_err(of_file)?;
    let skeleton = library.add_skeleton(skeleton);
    let mut skins = Vec::with_capacity(document.skins.len());
    for index in 0..document.skins.len() {
        let skin = skins::read(index, &mut reader, &hierarchy.joints, skeleton).map_err(of_file)?;
        skins.push(library.add_skin(skin).map_err(of_model)?);
    }
    let mut clips = Vec::with_capacity(document.animations.len());
    for (animation, tracks) in document.animations.iter().zip(animations.tracks) {
        let name = animation.name.as_deref().map(str::to_owned);
        clips.push(library.add_clip(Clip::new(name, skeleton, tracks)).map_err(of_model)?);
    }
    let (joints, warnings) = (hierarchy.joints, reader.warnings);
    let by_matrix = joints.iter().zip(&document.nodes).filter(|(_, node)| node.matrix.is_some());
    let matrices = by_matrix.map(|(&joint, _)| joint).collect();
    Ok((library, Asset { file: name.to_path_buf(), skeleton, skins, clips, joints, matrices, warnings }))
}
