//! Crowd files: JSON that names glTF files, masks, root joints, and groups of instances with their layers.
//!
//! ```json
//! { "files": ["Fox.glb"],
//!   "masks": { "front": { "joints": { "b_Spine02_03": 1.0 }, "descendants": true } },
//!   "instances": [
//!     { "file": 0, "count": 1000, "spread": { "start": [0.0, 2.0], "rate": [0.9, 1.1], "seed": 7 },
//!       "layers": [
//!         { "clip": "Walk", "wrap": "loop", "weight": 0.7 },
//!         { "clip": "Run", "wrap": "loop", "weight": 0.3, "fade_in": { "start": 0.0, "seconds": 0.5, "shape": "smooth" } },
//!         { "clip": "Survey", "mode": "additive", "reference": "first", "weight": 0.5, "mask": "front" } ] } ] }
//! ```
//!
//! `"roots": [{ "clip": "Walk", "joint": "b_Hip_01", "translation": "xy", "rotation": "yaw" }]` gives clips root
//! motion. The axes are the axes of the space of the parent of the joint, in which the keys of the joint are. The
//! resulting motions are in the same space. In Fox.glb, the parent of the hip has z up, so that x and y are horizontal.
//! [`RootMotion::on_ground`](crate::root_motion::RootMotion::on_ground) finds horizontal axes. `"yaw"` is the rotation
//! about the up axis of the instance; `"full"` is the whole rotation. A joint without a track in the clip moves
//! nothing, with a warning.
//!
//! [`FORMAT`] describes all fields.
//!
//! The stages, in order: `document` parses the JSON. Root joints and sync markers are set, and `layers` adds the blend
//! spaces. `groups` makes groups with their masks; `layers` makes their parameters, layers and transitions, and gives
//! each instance its own start and rate; `goals` makes their goals.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::error::Error;
use crate::import::crowd::document::CrowdDocument;
use crate::import::crowd::groups::{Group, Groups};
use crate::import::crowd::layers::{find_clip, find_joint};
use crate::import::gltf::{self, Asset};
use crate::import::{FileError, FileFormat, JsonPath, Warning, recognize};
use crate::model::{BlendSpaceId, Crowd, Library, RootMotion, Selector, Ticks, markers_error};

mod document;
mod goals;
mod groups;
mod layers;

/// The description of the format: an example and a list of all fields. It is the page `docs/crowd-file.md`, and `posse
/// eval --help` prints it.
///
#[doc = include_str!("../../../docs/crowd-file.md")]
pub const FORMAT: &str = include_str!("../../../docs/crowd-file.md");

/// A crowd file: its glTF files in a library, and its groups of instances.
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdFile {
    /// The glTF files, in the order of the crowd file.
    pub files: Vec<PosedFile>,
    /// The errors of the crowd file that were repaired or passed over. Each asset has its own warnings.
    pub warnings: Vec<Warning>,
    /// The blend spaces with their names, in the order of the crowd file.
    pub blend_spaces: Vec<(String, BlendSpaceId)>,
    groups: Vec<Group>,
}

/// A glTF file of a crowd file.
#[derive(Debug, Clone, PartialEq)]
pub struct PosedFile {
    /// The name, as the crowd file has it.
    pub name: String,
    /// The parts of the library. Files of the same name share one asset, unless `roots` or `markers` names them.
    pub asset: Arc<Asset>,
}

impl CrowdFile {
    /// The largest number of instances.
    pub const MAX_INSTANCES: usize = 1 << 24;
    /// The limit of the clock in seconds: times are from `-MAX_SECONDS` to `MAX_SECONDS`.
    // The ticks between any two such times fit in an `i64`.
    pub const MAX_SECONDS: f64 = 4e12;

    /// A time on the clock, rounded to the nearest tick. `None` beyond [`MAX_SECONDS`](Self::MAX_SECONDS).
    pub fn ticks(seconds: f64) -> Option<Ticks> {
        (seconds.abs() <= Self::MAX_SECONDS).then(|| Ticks::from_seconds(seconds))
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.groups.last().map_or(0, |group| group.instances.end)
    }

    /// Returns `true` if there are no instances.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The groups that have instances: the range of the instances, and the index of the file.
    pub fn groups(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        self.groups.iter().map(|group| (group.instances.clone(), group.file))
    }

    /// The names of the parameters of an instance, in the order of [`Crowd::parameters`].
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn parameter_names(&self, instance: usize) -> &[String] {
        &self.groups[self.groups.partition_point(|group| group.instances.end <= instance)].parameter_names
    }

    /// The factor of the size at which an instance is drawn; 1 by default. Poses do not have it.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn scale(&self, instance: usize) -> f64 {
        self.groups[self.groups.partition_point(|group| group.instances.end <= instance)].scale
    }

    /// A crowd of a range of the instances. The library is the one that the file was loaded into, or the library of a
    /// [`CompressedLibrary`](crate::compress::CompressedLibrary) of it; transitions take their displacements from its
    /// poses.
    ///
    /// # Errors
    /// The errors of [`Crowd::push`], [`Crowd::set_parameters`], [`Crowd::set_goals`] and [`Crowd::set_transition`].
    /// They do not occur for a file that was loaded.
    pub fn crowd(&self, library: &Library, instances: Range<usize>) -> Result<Crowd, Error> {
        let mut crowd = Crowd::new();
        let first = self.groups.partition_point(|group| group.instances.end <= instances.start);
        for group in &self.groups[first..] {
            let skeleton = self.files[group.file].asset.skeleton;
            let part = group.instances.start.max(instances.start)..group.instances.end.min(instances.end);
            if part.is_empty() {
                break;
            }
            group.push(library, &mut crowd, skeleton, part)?;
        }
        Ok(crowd)
    }
}

/// Reads a crowd file into a library, with the glTF files that it names. Their paths are relative to the folder of the
/// file.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a JSON path if it or one of its glTF files cannot
/// be used; [`Error::Limit`] for more than [`MAX_INSTANCES`](CrowdFile::MAX_INSTANCES) instances, or for masks of more
/// than 2^24 weights in all, one per joint. The library is then unchanged.
///
/// # Examples
/// ```
/// use posse::{Library, import};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("post.gltf"), r#"{ "asset": { "version": "2.0" }, "nodes": [{ "name": "post" }] }"#)?;
/// // Three instances of post.gltf, which lies in the same folder.
/// let path = folder.path().join("fence.json");
/// std::fs::write(&path, r#"{ "files": ["post.gltf"], "instances": [{ "file": 0, "count": 3 }] }"#)?;
/// let mut library = Library::new();
/// let fence = import::crowd::load(&mut library, &path)?;
/// assert_eq!((fence.len(), fence.files.len()), (3, 1));
/// assert_eq!(fence.crowd(&library, 0..fence.len())?.len(), 3);
/// # Ok(())
/// # }
/// ```
pub fn load(library: &mut Library, file: impl AsRef<Path>) -> Result<CrowdFile, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice_with(library, file, &bytes, &|path| std::fs::read(path))
}

/// Reads the bytes of a crowd file into a library. `open` returns the bytes of a glTF file by its path: the folder of
/// `file`, joined with the path in the crowd file.
///
/// # Errors
/// The errors of [`load`], except [`Error::Io`].
pub(crate) fn from_slice_with(
    library: &mut Library,
    file: &Path,
    bytes: &[u8],
    open: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<CrowdFile, Error> {
    let before = library.sizes();
    read(library, file, bytes, open).inspect_err(|_| library.truncate(before))
}

fn read(
    library: &mut Library,
    file: &Path,
    bytes: &[u8],
    open: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<CrowdFile, Error> {
    let in_file = |error: FileError| error.in_file(file);
    let document = CrowdDocument::parse(bytes).map_err(in_file)?;
    document.check_masks().map_err(in_file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut assets: HashMap<(&str, Option<usize>), Arc<Asset>> = HashMap::new();
    let mut files = Vec::with_capacity(document.files.len());
    for (index, name) in document.files.iter().enumerate() {
        // Root motion and markers belong to the clips of one entry, so that an entry that has some does not share its
        // asset.
        let is_named = document.roots.iter().any(|root| root.file == index)
            || document.markers.iter().any(|markers| markers.file == index);
        let own = is_named.then_some(index);
        let asset = match assets.get(&(name.as_str(), own)) {
            Some(asset) => Arc::clone(asset),
            None => {
                let error = |reason: String| FileError::new(JsonPath::top("files", index), reason).in_file(file);
                let path = folder.join(name);
                let bytes = open(&path).map_err(|cause| error(format!("{}: {cause}", path.display())))?;
                Arc::new(read_asset(library, &path, &bytes, error)?)
            }
        };
        assets.insert((name, own), Arc::clone(&asset));
        files.push(PosedFile { name: name.clone(), asset });
    }
    let mut warnings = set_roots(library, &document, &files).map_err(in_file)?;
    set_markers(library, &document, &files).map_err(in_file)?;
    let spaces = layers::add_spaces(library, &document).map_err(in_file)?;
    let groups = Groups { file, document: &document, files: &files, spaces: &spaces }.read(library)?;
    warnings.extend(unknown_joints(&document, library, &files));
    let names = document.blend_spaces.0.iter().map(|(name, _)| name);
    let blend_spaces = names.map(|name| (name.clone(), spaces[name.as_str()].id)).collect();
    Ok(CrowdFile { files, warnings, blend_spaces, groups })
}

fn read_asset(
    library: &mut Library,
    file: &Path,
    bytes: &[u8],
    error: impl Fn(String) -> Error,
) -> Result<Asset, Error> {
    let kind = match recognize(file, bytes).map_err(|cause| error(cause.to_string()))? {
        FileFormat::Gltf => None,
        FileFormat::CocosClip => Some("a Cocos clip, which has no nodes"),
        FileFormat::Bvh => Some("a BVH file"),
        FileFormat::Fbx => Some("an FBX file"),
        FileFormat::Smpl => Some("a file of SMPL"),
        FileFormat::Crowd => Some("a crowd file"),
    };
    if let Some(kind) = kind {
        return Err(error(format!("{} is {kind}; name a glTF file", file.display())));
    }
    gltf::from_slice(library, file, bytes, Some(file.parent().unwrap_or(Path::new(""))))
}

/// Warns of joint names in masks that no file has.
fn unknown_joints(document: &CrowdDocument, library: &Library, files: &[PosedFile]) -> Vec<Warning> {
    let skeletons: HashSet<_> = files.iter().map(|file| file.asset.skeleton).collect();
    let selectors: Vec<_> = skeletons.into_iter().map(|id| Selector::of_joints(library.skeleton(id))).collect();
    let names = document.masks.iter().flat_map(|(mask, entry)| entry.joints.keys().map(move |joint| (mask, joint)));
    let unknown = names.filter(|(_, joint)| selectors.iter().all(|selector| selector.all(joint).is_empty()));
    let warning = |(mask, joint)| Warning {
        path: format!("masks.{mask}.joints.{joint}"),
        message: "no file has a joint of this name; the entry has no effect".into(),
    };
    unknown.map(warning).collect()
}

/// Sets the root joints of clips that a crowd file names. Warns of root joints that their clips do not move.
fn set_roots(library: &mut Library, document: &CrowdDocument, files: &[PosedFile]) -> Result<Vec<Warning>, FileError> {
    let mut clips = HashSet::new();
    let mut warnings = Vec::new();
    for (index, entry) in document.roots.iter().enumerate() {
        let path = JsonPath::top("roots", index);
        let file = files.get(entry.file);
        let file = file.ok_or_else(|| FileError::index(path.field("file"), entry.file, "files", files.len()))?;
        let clip = find_clip(library, &path, &entry.clip, &file.asset)?;
        if !clips.insert(clip) {
            let reason = format!("clip {} has a root joint already; name each clip once", entry.clip);
            return Err(FileError::new(path.field("clip"), reason));
        }
        let joint = find_joint(library, &path.field("joint"), &entry.joint, &file.asset)?;
        let root = RootMotion { joint, translation: entry.translation, rotation: entry.rotation.into() };
        let set = library.set_root_motion(clip, Some(root));
        set.map_err(|error| FileError::new(path.field("joint"), error.to_string()))?;
        if !root.is_moved_by(&library.clip(clip).tracks) {
            let (clip, joint) = (&entry.clip, &entry.joint);
            let message =
                format!("clip {clip} has no track of {joint:?} that could move instances; they stay in place");
            warnings.push(Warning { path: path.field("joint").to_string(), message });
        }
    }
    Ok(warnings)
}

/// Sets the sync markers of clips that a crowd file names.
fn set_markers(library: &mut Library, document: &CrowdDocument, files: &[PosedFile]) -> Result<(), FileError> {
    let mut clips = HashSet::new();
    for (index, entry) in document.markers.iter().enumerate() {
        let path = JsonPath::top("markers", index);
        let file = files.get(entry.file);
        let file = file.ok_or_else(|| FileError::index(path.field("file"), entry.file, "files", files.len()))?;
        let clip = find_clip(library, &path, &entry.clip, &file.asset)?;
        if !clips.insert(clip) {
            let reason = format!("clip {} has markers already; name each clip once", entry.clip);
            return Err(FileError::new(path.field("clip"), reason));
        }
        let times = || path.field("times");
        if entry.times.is_empty() {
            return Err(FileError::new(times(), "the list is empty; give at least one time"));
        }
        if let Some(reason) = markers_error(&entry.times, library.clip(clip).duration()) {
            return Err(FileError::new(times(), reason));
        }
        let set = library.set_markers(clip, entry.times.clone());
        set.map_err(|error| FileError::new(times(), error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of an object that the parser expects, taken from its error about an unknown field.
    fn expected(json: &str) -> Vec<String> {
        let reason = CrowdDocument::parse(json.as_bytes()).unwrap_err().reason;
        let (_, fields) = reason.split_once("expected ").expect(&reason);
        fields.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_description_has_the_fields_that_the_parser_takes() {
        let list = FORMAT.split("```text").nth(1).unwrap().split("```").next().unwrap();
        let described = |level: usize| -> Vec<&str> {
            let names = list.lines().filter(|line| line.len() - line.trim_start().len() == level);
            names.flat_map(|line| line.split("  ").find(|part| !part.is_empty())).flat_map(|n| n.split(", ")).collect()
        };
        let mut all = 0;
        for (level, json) in [
            (0, r#"{ "?": 0 }"#),
            (2, r#"{ "masks": { "m": { "?": 0 } } }"#),
            (2, r#"{ "roots": [{ "?": 0 }] }"#),
            (2, r#"{ "markers": [{ "?": 0 }] }"#),
            (2, r#"{ "blend_spaces": { "s": { "?": 0 } } }"#),
            (2, r#"{ "instances": [{ "?": 0 }] }"#),
            (4, r#"{ "instances": [{ "spread": { "?": 0 } }] }"#),
            (4, r#"{ "instances": [{ "layers": [{ "?": 0 }] }] }"#),
            (4, r#"{ "instances": [{ "transition": { "?": 0 } }] }"#),
            (4, r#"{ "instances": [{ "ik": [{ "?": 0 }] }] }"#),
            (6, r#"{ "instances": [{ "ik": [{ "target": { "?": 0 } }] }] }"#),
            (6, r#"{ "instances": [{ "ik": [{ "weight": { "?": 0 } }] }] }"#),
            (6, r#"{ "instances": [{ "layers": [{ "time": { "?": 0 } }] }] }"#),
            (6, r#"{ "instances": [{ "layers": [{ "weight": { "?": 0 } }] }] }"#),
            (6, r#"{ "instances": [{ "layers": [{ "fade_in": { "?": 0 } }] }] }"#),
        ] {
            let expected = expected(json);
            assert!(!expected.is_empty(), "{json}");
            for field in &expected {
                assert!(
                    described(level).contains(&field.as_str()),
                    "{field} of {json} is not in {:?}",
                    described(level)
                );
            }
            all += expected.len();
        }
        assert_eq!([0, 2, 4, 6].map(|level| described(level).len()).iter().sum::<usize>(), all, "no field too many");
    }

    #[test]
    fn the_example_of_the_description_is_a_crowd_file() {
        let json = FORMAT.split("```json").nth(1).unwrap().split("```").next().unwrap();
        let document = CrowdDocument::parse(json.as_bytes()).unwrap();
        document.check_masks().unwrap();
        assert_eq!(document.instances.iter().map(|group| group.count).sum::<u64>(), 1002);
        assert!(document.instances[1].transition.is_some() && document.markers.len() == 2);
        assert_eq!(document.instances[1].ik.len(), 2);
    }
}
