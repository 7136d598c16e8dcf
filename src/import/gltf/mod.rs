//! glTF 2.0: `.glb` and `.gltf` files into a [`Library`].
//!
//! All nodes of a file, whether or not a scene shows them, become the joints of one skeleton. Its skins and animations
//! become skins and clips. Of meshes, only the morph weights and the names of morph targets (`extras.targetNames`) are
//! read. `render::gltf` reads meshes, materials and textures.
//!
//! Supported besides the core: sparse accessors, data URIs, `KHR_animation_pointer`, `KHR_mesh_quantization`,
//! `KHR_meshopt_compression` and `EXT_meshopt_compression`, and the humanoid bones and expressions of `VRMC_vrm`,
//! `VRMC_vrm_animation` and, in VRM 0.x, `VRM`. An unknown extension does not stop a file, even if the file requires
//! it: a [`Warning`] names it.
//!
//! A track, a clip or a skin that cannot be read is left out, with a [`Warning`] that names it; all else of the file
//! works. Errors of the hierarchy, missing buffers and a claim to too much memory stop the file.
//!
//! The stages, in order: `parse` finds the JSON, and parses it into the structs of `document`. `reader` finds bytes,
//! `files` those beside the document and in its URIs; `meshopt` decompresses them. `accessor` turns bytes into numbers.
//! `nodes`, with skins and humanoid bones, `morphs`, with expressions, `channels`, `curves` and `animations` make the
//! model. `loaded` replaces the first stage for documents that the `gltf` crate has parsed.

pub(crate) mod accessor;
mod animations;
mod channels;
mod curves;
pub(crate) mod document;
pub(crate) mod files;
#[cfg(feature = "gltf")]
mod loaded;
pub(crate) mod meshopt;
mod morphs;
mod nodes;
mod outline;
pub(crate) mod parse;
pub(crate) mod reader;

pub(crate) use self::document::GltfDocument;
pub(crate) use self::files::{Files, FilesByName};
pub(crate) use self::nodes::Hierarchy;
pub use self::outline::Outline;
pub(crate) use self::parse::{open as open_container, text as document_text};
pub(crate) use self::reader::Reader;

use std::path::{Path, PathBuf};

use self::animations::Animations;
use super::file_error::shorten;
use super::{FileError, JsonPath, Warning};
use crate::error::Error;
use crate::model::{Clip, ClipId, Library, Skeleton, SkeletonId, Skin, SkinId};

/// The result of reading a file: its parts of a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Asset {
    /// The name of the file, as the caller gave it. `gltf::Document` for `from_document`.
    pub file: PathBuf,
    /// The skeleton of all nodes.
    pub skeleton: SkeletonId,
    /// The skins, by glTF skin index.
    pub skins: Vec<SkinId>,
    /// The clips, by glTF animation index.
    pub clips: Vec<ClipId>,
    /// The clips of which no track can be read, in ascending order: a file may have tens of thousands. They have no
    /// tracks, and keep the index of the others.
    pub left_out_clips: Vec<ClipId>,
    /// The skins that cannot be read. They have no joints, and keep the index of the others.
    pub left_out_skins: Vec<SkinId>,
    /// The joint of each node, by glTF node index. Joints differ from nodes if the file has children before parents, or
    /// animates the translation of a node whose matrix has shear: it has a joint of its own.
    pub joints: Vec<usize>,
    /// The joints of the nodes that have a matrix in the file, in order of nodes, animated nodes included.
    pub matrices: Vec<usize>,
    /// The errors that were repaired or passed over.
    pub warnings: Vec<Warning>,
}

/// Reads a `.glb` or `.gltf` file into a library, with the buffers beside it that its animations need.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a JSON path if it cannot be used. The library is
/// then unchanged.
///
/// # Examples
/// ```
/// use posse::{Library, import};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hero.gltf");
/// # std::fs::write(&path, r#"{ "asset": { "version": "2.0" }, "nodes": [{ "name": "root", "children": [1] }, {}] }"#)?;
/// // `path` leads to hero.gltf, a file of two nodes.
/// let mut library = Library::new();
/// let asset = import::gltf::load(&mut library, &path)?;
/// let skeleton = library.skeleton(asset.skeleton);
/// assert_eq!(skeleton.name(), Some("hero"));
/// assert_eq!(skeleton.joints().len(), 2);
/// assert!(asset.warnings.is_empty());
/// # Ok(())
/// # }
/// ```
pub fn load(library: &mut Library, file: impl AsRef<Path>) -> Result<Asset, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes, Some(file.parent().unwrap_or(Path::new(""))))
}

/// Reads the bytes of a `.glb` or `.gltf` file into a library.
///
/// `name` is the name of the file in results and errors; it is not opened. `folder` is the folder of external buffers.
/// With `None`, a file that needs external buffers is refused.
///
/// # Errors
/// [`Error::Import`] with a JSON path if the file cannot be used. The library is then unchanged.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use posse::{Library, import};
///
/// # fn main() -> Result<(), posse::Error> {
/// // One node that moves up by two metres in one second.
/// let file = br#"{ "asset": { "version": "2.0" }, "nodes": [{ "name": "lift" }],
///     "buffers": [{ "byteLength": 32, "uri": "data:;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAA=" }],
///     "bufferViews": [{ "buffer": 0, "byteLength": 8 }, { "buffer": 0, "byteOffset": 8, "byteLength": 24 }],
///     "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR" },
///                   { "bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC3" }],
///     "animations": [{ "name": "rise", "samplers": [{ "input": 0, "output": 1 }],
///                      "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }] }"#;
/// let mut library = Library::new();
/// let asset = import::gltf::from_slice(&mut library, Path::new("lift.gltf"), file, None)?;
/// let clip = library.clip(asset.clips[0]);
/// assert_eq!((clip.name.as_deref(), clip.duration()), (Some("rise"), 1.0));
/// # Ok(())
/// # }
/// ```
pub fn from_slice(library: &mut Library, name: &Path, bytes: &[u8], folder: Option<&Path>) -> Result<Asset, Error> {
    Ok(append(library, read(name, bytes, Files::in_folder(folder))?))
}

/// As [`from_slice`], with the bytes of external buffers from a function: for programs without a file system, such as
/// web pages.
///
/// `files` returns the bytes of a file by its path relative to the document, such as `textures/hero.png`;
/// percent-encoding is already decoded. Data URIs do not reach it. `None` means that there is no such file: a file that
/// is needed is then an error that names it.
///
/// # Errors
/// [`Error::Import`] with a JSON path if the file cannot be used, or if a necessary file is missing. The library is
/// then unchanged.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use posse::{Library, import};
///
/// # fn main() -> Result<(), posse::Error> {
/// let file = br#"{ "asset": { "version": "2.0" }, "nodes": [{ "name": "lift" }],
///     "buffers": [{ "byteLength": 32, "uri": "lift.bin" }],
///     "bufferViews": [{ "buffer": 0, "byteLength": 8 }, { "buffer": 0, "byteOffset": 8, "byteLength": 24 }],
///     "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR" },
///                   { "bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC3" }],
///     "animations": [{ "name": "rise", "samplers": [{ "input": 0, "output": 1 }],
///                      "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }] }"#;
/// let numbers: Vec<u8> = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0].into_iter().flat_map(f32::to_le_bytes).collect();
/// let mut library = Library::new();
/// let files = |path: &str| (path == "lift.bin").then_some(numbers.as_slice());
/// let asset = import::gltf::from_slice_with(&mut library, Path::new("lift.gltf"), file, &files)?;
/// assert_eq!(library.clip(asset.clips[0]).duration(), 1.0);
///
/// let error = import::gltf::from_slice_with(&mut library, Path::new("lift.gltf"), file, &|_| None).unwrap_err();
/// assert!(error.to_string().contains("lift.bin"));
/// # Ok(())
/// # }
/// ```
pub fn from_slice_with<'b>(
    library: &mut Library,
    name: &Path,
    bytes: &[u8],
    files: &dyn Fn(&str) -> Option<&'b [u8]>,
) -> Result<Asset, Error> {
    Ok(append(library, read(name, bytes, Files::Given(&FilesByName(files)))?))
}

/// Reads a document that the `gltf` crate has loaded, with the data of its buffers, into a library.
///
/// The result equals the result of [`load`] for the same file, except for parts that the document of the crate does not
/// hold:
///
/// * Rest transforms, matrices and weights of nodes and meshes are rounded to `f32`.
/// * The skeleton has no name, since a document has no file name. [`Asset::file`] and errors say `gltf::Document`.
/// * Morph targets have no names.
/// * `KHR_animation_pointer` is dropped. The crate refuses channels that name a property by a pointer alone; to animate
///   those, [`load`] the file itself.
///
/// `buffers` are in the order of the document, as `gltf::import` returns them. A buffer that no animation or skin needs
/// may be missing or empty. Compressed buffer views (`EXT_meshopt_compression`, `KHR_meshopt_compression`) are
/// decompressed here; the crate parses such files without validation only.
///
/// The caller must use the same version of the `gltf` crate as posse: `posse::gltf`.
///
/// # Errors
/// [`Error::Import`] with a JSON path if the document cannot be used, or if a necessary buffer is missing or too short.
/// The library is then unchanged.
///
/// # Examples
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
#[cfg(feature = "gltf")]
pub fn from_document(
    library: &mut Library,
    document: &::gltf::Document,
    buffers: &[::gltf::buffer::Data],
) -> Result<Asset, Error> {
    let name = Path::new("gltf::Document");
    let parsed = loaded::document(document.as_json()).map_err(|error| error.in_file(name))?;
    let given = buffers.iter().map(|data| &**data).collect();
    let reader = Reader::new(&parsed, given, Files::None, loaded::size(document.as_json(), buffers));
    Ok(append(library, build(reader, "", name, None)?))
}

/// The library of one file, and its asset.
struct Loaded {
    library: Library,
    asset: Asset,
}

/// Adds the library of one file to another.
fn append(library: &mut Library, loaded: Loaded) -> Asset {
    let (skeletons, skins, clips) = (library.skeletons().len(), library.skins().len(), library.clips().len());
    library.append(loaded.library);
    let asset = loaded.asset;
    let shifted_skins = |ids: Vec<SkinId>| ids.into_iter().map(|skin| SkinId(skins + skin.0)).collect();
    let shifted_clips = |ids: Vec<ClipId>| ids.into_iter().map(|clip| ClipId(clips + clip.0)).collect();
    Asset {
        skeleton: SkeletonId(skeletons + asset.skeleton.0),
        skins: shifted_skins(asset.skins),
        clips: shifted_clips(asset.clips),
        left_out_clips: shifted_clips(asset.left_out_clips),
        left_out_skins: shifted_skins(asset.left_out_skins),
        ..asset
    }
}

/// Charges the memory of the clips in the engines, which store a record per clip for every joint, weight and property.
/// In the file, a node or an animation takes a few bytes.
fn charge_clips(reader: &mut Reader, skeleton: &Skeleton) -> Result<(), FileError> {
    let last = reader.document.animations.len().saturating_sub(1);
    let records = 3 * skeleton.joints().len() + 2 * (skeleton.weight_count() + skeleton.property_width());
    reader.charge(&JsonPath::top("animations", last), reader.document.animations.len() as u64, 8 * records as u64)
}

/// Reads a file into a library of its own.
fn read(name: &Path, bytes: &[u8], files: Files) -> Result<Loaded, Error> {
    let in_file = |error: FileError| error.in_file(name);
    let mut warnings = Vec::new();
    let container = parse::open(bytes, &mut warnings).map_err(in_file)?;
    let json = parse::text(container.json, &mut warnings).map_err(in_file)?;
    let document = GltfDocument::parse(&json).map_err(in_file)?;
    let mut reader = Reader::new(&document, container.bin.into_iter().collect(), files, bytes.len());
    reader.warnings = warnings;
    let skeleton_name = name.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    build(reader, &json, name, skeleton_name)
}

/// Makes a library of the document of a reader. `json` is the text of the document, from which properties and the names
/// of morph targets are read.
fn build(mut reader: Reader, json: &str, name: &Path, skeleton_name: Option<String>) -> Result<Loaded, Error> {
    let document = reader.document;
    let in_file = |error: FileError| error.in_file(name);
    // The stages have checked all that the model checks. If one misses an error, the error still names the file.
    let in_model = |error: Error| FileError::new("document", error.to_string()).in_file(name);
    nodes::check_extensions(&mut reader);
    if document.asset.as_ref().is_none_or(|asset| asset.version.is_none()) {
        reader.warn("asset.version", "it is missing; the file is read as glTF 2.0");
    }

    let mut hierarchy = Hierarchy::new(document).map_err(in_file)?;
    let mut animations = Animations::read(&mut reader, &hierarchy.joints).map_err(in_file)?;
    let places = hierarchy.split(document, &animations.moved);
    animations.move_tracks(|joint| places.get(joint).copied().unwrap_or([joint; 2]));
    let mut joints = hierarchy.joints(&mut reader, &animations.moved).map_err(in_file)?;
    morphs::add_names(&mut reader, json, &hierarchy.joints, &mut joints);
    let properties = animations.properties(json, &mut reader).map_err(in_file)?;

    let mut library = Library::new();
    let bones = nodes::read_human_bones(&mut reader, &hierarchy.joints);
    let expressions = morphs::read_expressions(&mut reader, &hierarchy.joints, &joints).map_err(in_file)?;
    let skeleton = Skeleton::new(skeleton_name, joints, properties).map_err(in_model)?;
    let skeleton = skeleton.with_human_bones(bones).map_err(in_model)?;
    let skeleton = skeleton.with_expressions(expressions).map_err(in_model)?;
    let skeleton = skeleton.in_file_order(hierarchy.joints.clone());
    charge_clips(&mut reader, &skeleton).map_err(in_file)?;
    let skeleton = library.add_skeleton(skeleton);
    let (mut skins, mut left_out_skins) = (Vec::with_capacity(document.skins.len()), Vec::new());
    for (index, skin) in document.skins.iter().enumerate() {
        let name = skin.name.as_deref().map(str::to_owned);
        let read = nodes::read_skin(index, &mut reader, &hierarchy.joints, skeleton);
        let is_read = read.is_ok();
        let skin = read.or_else(|error| {
            let part =
                name.as_ref().map_or_else(|| format!("skin {index}"), |name| format!("skin {:?}", shorten(name)));
            reader.leave_out(part, error)?;
            Ok(Skin { name, skeleton, joints: Vec::new(), inverse_bind: Vec::new() })
        });
        let id = library.add_skin(skin.map_err(in_file)?).map_err(in_model)?;
        skins.push(id);
        if !is_read {
            left_out_skins.push(id);
        }
    }
    let mut clips = Vec::with_capacity(document.animations.len());
    for (animation, tracks) in document.animations.iter().zip(animations.tracks) {
        let name = animation.name.as_deref().map(str::to_owned);
        clips.push(library.add_clip(Clip::new(name, skeleton, tracks)).map_err(in_model)?);
    }
    let left_out_clips = animations.left_out.iter().filter_map(|&animation| clips.get(animation).copied()).collect();
    let (joints, warnings) = (hierarchy.joints, reader.warnings);
    let by_matrix = joints.iter().zip(&document.nodes).filter(|(_, node)| node.matrix.is_some());
    let matrices = by_matrix.map(|(&joint, _)| joint).collect();
    let file = name.to_path_buf();
    let asset = Asset { file, skeleton, skins, clips, left_out_clips, left_out_skins, joints, matrices, warnings };
    Ok(Loaded { library, asset })
}
