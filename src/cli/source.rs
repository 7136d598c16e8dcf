//! Files with clips, of either kind, and what the commands need of them.

use std::path::Path;

use posse::error::Error;
use posse::import::{cocos, gltf};
use posse::model::binding::{BoundTrack, FaultKind, Slots};
use posse::model::id::{ClipId, SkeletonId, SkinId};
use posse::model::library::Library;
use posse::model::outputs::Outputs;
use posse::model::skeleton::Skeleton;
use posse::model::unbound::{TargetPath, UnboundClip};

use crate::cli::output::{file_name, note};

/// A file with clips, in a library.
pub struct Source {
    /// The file's name without its folder.
    pub file: String,
    pub library: Library,
    /// Whom the clips move.
    pub skeleton: SkeletonId,
    pub clips: Vec<ClipId>,
    /// The skins, in the order of the glTF file.
    pub skins: Vec<SkinId>,
    /// The joint of each node, in the order of the glTF file.
    pub joints: Vec<usize>,
    /// What a Cocos clip drives by name; `None` for a glTF file.
    pub named: Option<Named>,
    /// What was repaired, passed over or not bound.
    pub warnings: Vec<String>,
}

/// A clip whose targets have names, and what they are bound to.
pub struct Named {
    pub clip: UnboundClip,
    /// What each track drives. All have a property, but for those without keys.
    pub tracks: Vec<BoundTrack>,
    /// The name of the glTF file whose nodes the clip is bound to, if any.
    pub rig: Option<String>,
}

impl Source {
    /// Reads a file, its warnings going to stderr. A Cocos clip is bound to a rig's nodes, or to nothing.
    pub fn load(file: &Path, rig: Option<&Path>) -> Result<Self, Error> {
        let bytes = read(file)?;
        if cocos::is_clip(file, &bytes) {
            return Self::of_cocos(file, &bytes, rig);
        }
        if rig.is_some() {
            let file = file.display();
            return Err(Error::Usage(format!("--rig is for Cocos clips; {file} is glTF, which has nodes of its own")));
        }
        Self::of_gltf(file, &bytes)
    }

    /// Reads a file that has to be glTF, its warnings going to stderr.
    pub fn gltf(file: &Path) -> Result<Self, Error> {
        let bytes = read(file)?;
        if cocos::is_clip(file, &bytes) {
            let file = file.display();
            return Err(Error::Usage(format!("{file} is a Cocos clip, which has no nodes; a glTF file is needed")));
        }
        Self::of_gltf(file, &bytes)
    }

    fn of_gltf(file: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let mut library = Library::new();
        let folder = file.parent().unwrap_or(Path::new(""));
        let gltf::Asset { skeleton, skins, clips, joints, warnings, .. } =
            gltf::from_slice(&mut library, file, bytes, Some(folder))?;
        let mut source =
            Self { file: file_name(file), library, skeleton, clips, skins, joints, named: None, warnings: Vec::new() };
        source.warn(file, warnings);
        Ok(source)
    }

    fn of_cocos(file: &Path, bytes: &[u8], rig: Option<&Path>) -> Result<Self, Error> {
        let cocos::ClipFile { clip, warnings } = cocos::from_slice(&Library::new(), file, bytes)?;
        let mut source = rig.map_or_else(Self::without_joints, Self::gltf)?;
        source.warn(file, warnings);
        let of_file =
            |error: Error| Error::Import { file: file.to_path_buf(), path: "clip".into(), reason: error.to_string() };
        let binding = source.library.bind(source.skeleton, &clip, Slots::All).map_err(of_file)?;
        let absent = |kind: &FaultKind| rig.is_none() && matches!(kind, FaultKind::NoNode { .. });
        source.warn(file, binding.faults.iter().filter(|fault| !absent(&fault.kind)));
        source.file = file_name(file);
        source.clips = vec![binding.clip];
        source.named = Some(Named { clip, tracks: binding.tracks, rig: rig.map(file_name) });
        Ok(source)
    }

    /// A skeleton that clips can be bound to which have no other.
    fn without_joints() -> Result<Self, Error> {
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new())?);
        let (clips, skins, joints) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { file: String::new(), library, skeleton, clips, skins, joints, named: None, warnings: Vec::new() })
    }

    fn warn(&mut self, file: &Path, warnings: impl IntoIterator<Item = impl ToString>) {
        for warning in warnings {
            let warning = warning.to_string();
            note(&format!("warning: {}: {warning}", file.display()));
            self.warnings.push(warning);
        }
    }

    /// Whether there are nodes to be posed.
    pub fn has_nodes(&self) -> bool {
        self.named.as_ref().is_none_or(|named| named.rig.is_some())
    }

    /// Those of the outputs that there can be.
    pub fn outputs(&self, wanted: Outputs) -> Outputs {
        if self.has_nodes() { wanted } else { Outputs { properties: wanted.properties, ..Outputs::NONE } }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })
}

/// The path of a target's node: `/` for the root.
pub fn path(target: &TargetPath) -> String {
    format!("/{}", target.path.join("/"))
}

/// The property of a target, with the letter of the one number that is driven, where it is one.
pub fn property(target: &TargetPath) -> String {
    let TargetPath { property, element, .. } = target;
    let Some(element) = *element else { return property.clone() };
    // What kind of value has the number is not in the file: the property's name has to tell.
    let name = property.to_ascii_lowercase();
    let names: &[&str] = if name.ends_with("color") {
        &["r", "g", "b", "a"]
    } else if name.ends_with("size") {
        &["width", "height"]
    } else {
        &["x", "y", "z", "w"]
    };
    match names.get(element) {
        Some(name) => format!("{property}.{name}"),
        None => format!("{property}.{element}"),
    }
}
