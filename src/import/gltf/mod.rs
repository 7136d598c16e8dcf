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
//! `animations` make the model. `loaded` stands in for the first two where the `gltf` crate has parsed the document.

pub(crate) mod accessor;
mod animations;
pub(crate) mod at;
mod channels;
pub(crate) mod container;
mod curves;
mod defaults;
pub(crate) mod document;
mod extensions;
#[cfg(feature = "gltf")]
mod loaded;
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
    /// The file as it was asked for; `gltf::Document` for one that `from_document` has read.
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
    Ok(append(library, read(name, bytes, folder)?))
}

/// Reads a document that the [`gltf`](::gltf) crate has loaded, with the data of its buffers, into a library.
///
/// The library is the one that [`load`] makes of the same file, except for what the crate's document does not hold:
///
/// * Rest transforms, matrices and weights of nodes and meshes are rounded to `f32`.
/// * The skeleton has no name, since a document has no file name. [`Asset::file`] and errors say `gltf::Document`.
/// * `KHR_animation_pointer` is dropped. The crate refuses channels that name a property by a pointer alone; to animate those,
///   [`load`] the file itself.
///
/// `buffers` are in the order of the document, as `gltf::import` returns them. A buffer that no animation or skin needs may be
/// missing or empty. Compressed buffer views (`EXT_meshopt_compression`, `KHR_meshopt_compression`) are decompressed here; the
/// crate parses such files without validation only.
///
/// The caller's `gltf` has to be of the version that posse uses: `posse::gltf`.
///
/// ```
/// use posse::{Library, gltf, import};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = r#"{ "asset": { "version": "2.0" }, "nodes": [{ "name": "root" }] }"#;
/// let (document, buffers, _images) = gltf::import_slice(file)?;
/// let mut library = Library::new();
/// let asset = import::gltf::from_document(&mut library, &document, &buffers)?;
/// assert_eq!(library.skeleton(asset.skeleton).joints()[0].name.as_deref(), Some("root"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Import`] with a JSON path where the document cannot be used, or where a buffer that is needed is missing or too
/// short. The library is then as it was before.
#[cfg(feature = "gltf")]
pub fn from_document(
    library: &mut Library,
    document: &::gltf::Document,
    buffers: &[::gltf::buffer::Data],
) -> Result<Asset, Error> {
    let name = Path::new("gltf::Document");
    let parsed = loaded::document(document.as_json()).map_err(|fault| fault.of(name))?;
    let given = buffers.iter().map(|data| &**data).collect();
    let reader = Reader::new(&parsed, given, None, loaded::size(document.as_json(), buffers));
    Ok(append(library, build(reader, &[], name, None)?))
}

/// Adds a library of one file to another.
fn append(library: &mut Library, (loaded, asset): (Library, Asset)) -> Asset {
    let (skeletons, skins, clips) = (library.skeletons().len(), library.skins().len(), library.clips().len());
    library.append(loaded);
    Asset {
        skeleton: SkeletonId(skeletons + asset.skeleton.0),
        skins: asset.skins.into_iter().map(|skin| SkinId(skins + skin.0)).collect(),
        clips: asset.clips.into_iter().map(|clip| ClipId(clips + clip.0)).collect(),
        ..asset
    }
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
    let mut warnings = Vec::new();
    let container = container::open(bytes, &mut warnings).map_err(of_file)?;
    let json = document::trim(container.json);
    let document = Document::parse(json).map_err(of_file)?;
    let mut reader = Reader::new(&document, container.bin.into_iter().collect(), folder, bytes.len());
    reader.warnings = warnings;
    let skeleton_name = name.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    build(reader, json, name, skeleton_name)
}

/// A library of a reader's document; `json` is its text, in which properties are looked up.
fn build(
    mut reader: Reader,
    json: &[u8],
    name: &Path,
    skeleton_name: Option<String>,
) -> Result<(Library, Asset), Error> {
    let document = reader.document;
    let of_file = |fault: Fault| fault.of(name);
    // The stages have checked what the model checks; should one miss something, the file is still named.
    let of_model = |error: Error| Fault::new("document", error.to_string()).of(name);
    extensions::check(&mut reader);
    if document.asset.as_ref().is_none_or(|asset| asset.version.is_none()) {
        reader.warn("asset.version", "it is missing; the file is taken for glTF 2.0");
    }

    let hierarchy = Hierarchy::new(document).map_err(of_file)?;
    let animations = Animations::read(&mut reader, &hierarchy.joints).map_err(of_file)?;
    let moved = animations.moved_joints(document.nodes.len());
    let joints = hierarchy.joints(&mut reader, &moved).map_err(of_file)?;

    let mut library = Library::new();
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
