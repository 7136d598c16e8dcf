//! Files with clips, of either kind, and what the commands need of them.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use posse::import::{cocos, gltf};
use posse::{
    BoundTrack, ClipId, Error, FaultKind, Library, Outputs, Skeleton, SkeletonId, SkinId, Slots, TargetPath,
    UnboundClip,
};

use crate::cli::output::{file_name, note};
use crate::cli::question::limit;

/// The most clips of a file times joints of another that they are to move: a clip has a place for each.
const MOST_CLIP_JOINTS: u64 = 1 << 24;

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
    /// The name of the glTF file whose nodes the clips move, where that is another one.
    pub rig: Option<String>,
    /// Those of the clips of which no track finds anything to drive in the rig.
    pub lost: Vec<ClipId>,
    /// What was repaired, passed over or not bound.
    pub warnings: Vec<String>,
    /// The glTF file whose nodes are moved, as it was loaded; `None` for a Cocos clip without one.
    pub asset: Option<gltf::Asset>,
}

/// A clip whose targets have names, and what they are bound to.
pub struct Named {
    pub clip: UnboundClip,
    /// What each track drives. All have a property, but for those without keys.
    pub tracks: Vec<BoundTrack>,
}

impl Source {
    /// Reads a file, its warnings going to stderr. A Cocos clip is bound to a rig's nodes, or to nothing; clips of a glTF
    /// file are shared with the rig's skeleton, or stay with their own.
    pub fn load(file: &Path, rig: Option<&Path>) -> Result<Self, Error> {
        let bytes = read(file)?;
        if cocos::is_clip(file, &bytes) {
            return Self::of_cocos(file, &bytes, rig);
        }
        let source = Self::of_gltf(file, &bytes)?;
        match rig {
            None => Ok(source),
            Some(rig) => source.on_rig(file, rig),
        }
    }

    /// Reads a file that has to be glTF, its warnings going to stderr.
    pub fn gltf(file: &Path) -> Result<Self, Error> {
        Self::of_gltf(file, &read_gltf(file)?)
    }

    fn of_gltf(file: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let mut library = Library::new();
        let folder = file.parent().unwrap_or(Path::new(""));
        let asset = gltf::from_slice(&mut library, file, bytes, Some(folder))?;
        let gltf::Asset { skeleton, skins, clips, joints, warnings, .. } = asset.clone();
        let asset = Some(asset);
        let mut source =
            Self { file: file_name(file), clips, skins, joints, asset, ..Self::of_skeleton(library, skeleton) };
        source.warn(file, warnings);
        Ok(source)
    }

    /// The clips of a glTF file for the nodes of another.
    fn on_rig(mut self, file: &Path, rig: &Path) -> Result<Self, Error> {
        let bytes = read_gltf(rig)?;
        let folder = rig.parent().unwrap_or(Path::new(""));
        let asset = gltf::from_slice(&mut self.library, rig, &bytes, Some(folder))?;
        self.warn(rig, &asset.warnings);
        let joints = self.library.skeleton(asset.skeleton).joints().len() as u64;
        limit("clips x joints of the rig", self.clips.len() as u64 * joints, MOST_CLIP_JOINTS)?;
        let (mut clips, mut faults) = (Vec::with_capacity(self.clips.len()), Vec::new());
        for clip in &self.clips {
            let sharing = self.library.share_clip(*clip, asset.skeleton)?;
            if sharing.tracks.iter().all(Option::is_none) {
                self.lost.push(sharing.clip);
            }
            // What one clip cannot find, the next will hardly find either.
            let new = sharing.faults.iter().map(|fault| format!("with {}: {fault}", file_name(rig)));
            faults.extend(new);
            clips.push(sharing.clip);
        }
        let mut known = HashSet::new();
        faults.retain(|fault| known.insert(fault.clone()));
        self.warn(file, faults);
        if clips.is_empty() {
            let (file, rig) = (file.display(), rig.display());
            return Err(Error::Usage(format!("{file} has no clips that could move the nodes of {rig}")));
        }
        if self.lost.len() == clips.len() {
            return Err(Error::Usage(format!(
                "{}: no track of a clip finds anything of its name in {}; a rig with the same joint names is needed",
                file.display(),
                rig.display()
            )));
        }
        let (skeleton, skins, joints) = (asset.skeleton, asset.skins.clone(), asset.joints.clone());
        Ok(Self { skeleton, clips, skins, joints, asset: Some(asset), rig: Some(file_name(rig)), ..self })
    }

    /// A skeleton without clips.
    fn of_skeleton(library: Library, skeleton: SkeletonId) -> Self {
        Self {
            file: String::new(),
            library,
            skeleton,
            clips: Vec::new(),
            skins: Vec::new(),
            joints: Vec::new(),
            named: None,
            rig: None,
            lost: Vec::new(),
            warnings: Vec::new(),
            asset: None,
        }
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
        source.named = Some(Named { clip, tracks: binding.tracks });
        source.rig = rig.map(file_name);
        Ok(source)
    }

    /// A skeleton that clips can be bound to which have no other.
    fn without_joints() -> Result<Self, Error> {
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new())?);
        Ok(Self::of_skeleton(library, skeleton))
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
        self.named.is_none() || self.rig.is_some()
    }

    /// Those of the outputs that there can be.
    pub fn outputs(&self, wanted: Outputs) -> Outputs {
        if self.has_nodes() { wanted } else { Outputs { properties: wanted.properties, ..Outputs::NONE } }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    if file.is_dir() {
        let source = io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name the files in it");
        return Err(Error::Io { file: file.to_path_buf(), source });
    }
    std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })
}

/// The bytes of a file that has to be glTF.
fn read_gltf(file: &Path) -> Result<Vec<u8>, Error> {
    let bytes = read(file)?;
    if cocos::is_clip(file, &bytes) {
        let file = file.display();
        return Err(Error::Usage(format!("{file} is a Cocos clip, which has no nodes; a glTF file is needed")));
    }
    Ok(bytes)
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
