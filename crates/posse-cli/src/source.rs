//! The files that the commands read: glTF, FBX and BVH files, npz files of SMPL, Cocos clips and crowd files.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use posse::bake::{DEFAULT_FPS, native_fps, stated_fps};
use posse::binding::{BindingIssueKind, BoundTrack, PropertyTracks, SharingIssue, TargetPath, UnboundClip};
use posse::import::Warning;
use posse::import::crowd::{self, CrowdFile};
use posse::import::smpl::Proportions;
use posse::import::{self, Asset, FileFormat, LoadOptions, bvh, cocos, gltf, recognize};
use posse::{ClipId, Error, Library, Outputs, Skeleton, SkeletonId, Skin, SkinId, demo};

use crate::arguments::{BvhArgs, check_limit};
use crate::invocation::{command_line, output_name};
use crate::output::{add_input, file_name, note, plural, warn_of_file};

/// The largest product of clips and joints of a rig: an applied clip stores an entry per joint.
pub const MAX_CLIP_JOINTS: u64 = 1 << 24;

/// The name of the built-in human, in place of a file. A file of this name can be given as `./demo`.
const DEMO: &str = "demo";

/// Returns `true` for the name of the built-in human.
pub fn is_demo(file: &Path) -> bool {
    file.as_os_str() == DEMO
}

/// The library of the built-in human, and its skeleton.
fn built_in() -> Result<(Library, SkeletonId), Error> {
    let library = demo::library()?;
    let skeleton = library.skeleton_ids().next();
    let skeleton = skeleton.ok_or_else(|| Error::Usage("the built-in rig is empty".into()))?;
    Ok((library, skeleton))
}

/// A function that takes the line of a warning.
pub type ReportLine<'a> = dyn FnMut(&str) + 'a;

/// A file with clips, imported into a library.
pub struct Source {
    /// The file's name without its folder.
    pub file: String,
    /// The path as it was given, for messages.
    pub path: PathBuf,
    /// The library, with nothing but this file and the rig.
    pub library: Library,
    /// The skeleton that the clips animate.
    pub skeleton: SkeletonId,
    /// The clips, in the order of the file.
    pub clips: Vec<ClipId>,
    /// Per clip, the frame rate that its file states: BVH, FBX and SMPL; none for other files.
    pub own_fps: Vec<Option<f64>>,
    /// The skins, in the order of the glTF file.
    pub skins: Vec<SkinId>,
    /// The joint of each node, in the order of the file.
    pub joints: Vec<usize>,
    /// The named targets of a Cocos clip; `None` for a file with joints.
    pub named: Option<NamedClip>,
    /// The name of the file of `--rig`, without its folder.
    pub rig: Option<String>,
    /// The clips that cannot be used, in ascending order: none of their tracks can be read, or finds a node in the rig.
    pub unbound_clips: Vec<ClipId>,
    /// The repairs, and the parts that were ignored or not bound.
    pub warnings: Vec<String>,
    /// The imported glTF file with the nodes that the clips animate; `None` if they animate the joints of another file,
    /// or for a Cocos clip without `--rig`.
    pub asset: Option<gltf::Asset>,
}

/// How the files of a command are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The options of BVH files. Files of SMPL have the same option for their frame rate.
    pub bvh: BvhArgs,
    /// Where the joints of files of SMPL rest; `None` for an adult.
    pub rest: Option<&'a Proportions>,
}

impl From<BvhArgs> for ReadOptions<'_> {
    fn from(bvh: BvhArgs) -> Self {
        Self { bvh, rest: None }
    }
}

/// The option `--skeleton`.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SkeletonArgs {
    /// Where the joints of an npz file of SMPL rest: a model file of SMPL (.npz with J, or with J_regressor and
    /// v_template; with shapedirs, each file has the shape of its betas), or a .glb, .gltf, .fbx or .bvh file with
    /// joints of these names that stand with the arms to the sides. Default: the proportions of an adult, with a
    /// warning.
    #[arg(long, value_name = "FILE")]
    pub skeleton: Option<PathBuf>,
}

impl SkeletonArgs {
    /// Reads the file, and prints its warnings to stderr.
    pub fn read(&self, bvh: BvhArgs) -> Result<Option<Proportions>, Error> {
        let Some(path) = &self.skeleton else { return Ok(None) };
        let mut rig = Rig::read(path, bvh)?;
        warn_of_file(path, std::mem::take(&mut rig.warnings), &mut note)?;
        rig.proportions().map(Some)
    }
}

/// A clip with named targets, and the binding of its tracks.
pub struct NamedClip {
    /// The clip with the names of its targets.
    pub clip: UnboundClip,
    /// The binding of each track. Every track with keys has a property.
    pub tracks: Vec<BoundTrack>,
}

impl Source {
    /// The frame rate of a clip: of its file or of its keys, otherwise 30 per second.
    pub fn fps(&self, clip: ClipId) -> f64 {
        let index = self.clips.iter().position(|other| *other == clip);
        let of_file = index.and_then(|index| self.own_fps.get(index).copied().flatten());
        of_file.or_else(|| native_fps(self.library.clip(clip))).unwrap_or(DEFAULT_FPS)
    }

    /// Reads a file, and prints its warnings to stderr.
    ///
    /// A Cocos clip is bound to the nodes of the rig; without a rig, it animates properties only. The clips of other
    /// files are shared with the skeleton of the rig; without a rig, they animate their own skeleton.
    /// The file `demo` is the built-in human with its clips; a file of this name can be given as `./demo`.
    pub fn load<'a>(file: &Path, rig: Option<&Path>, options: impl Into<ReadOptions<'a>>) -> Result<Self, Error> {
        let options = options.into();
        let bytes = if is_demo(file) { None } else { Some(read(file)?) };
        let rig = rig.map(|rig| Rig::read(rig, options.bvh)).transpose()?;
        match (bytes, rig) {
            (Some(bytes), rig) => Self::from_slice(file, &bytes, rig.as_ref(), options, &mut note),
            (None, None) => Self::demo(),
            (None, Some(rig)) => Self::demo()?.share_with_rig(file, &rig, &mut note),
        }
    }

    /// The built-in human with its clips.
    fn demo() -> Result<Self, Error> {
        let (library, skeleton) = built_in()?;
        let clips = library.clip_ids().collect();
        let skins = library.skins_of(skeleton).map(|(skin, _)| skin).collect();
        let joints = (0..library.skeleton(skeleton).joints().len()).collect();
        Ok(Self { file: DEMO.into(), path: DEMO.into(), clips, skins, joints, ..Self::new(library, skeleton) })
    }

    /// The same as [`load`](Self::load) for a file and a rig that have been read. Passes each warning to `report`.
    pub fn from_slice(
        file: &Path,
        bytes: &[u8],
        rig: Option<&Rig>,
        options: ReadOptions,
        report: &mut ReportLine,
    ) -> Result<Self, Error> {
        let format = recognize(file, bytes)?;
        if format == FileFormat::CocosClip {
            return Self::import_cocos(file, bytes, rig, report);
        }
        let source = Self::import_nodes(format, file, bytes, options, report)?;
        match rig {
            None => Ok(source),
            Some(rig) => source.share_with_rig(file, rig, report),
        }
    }

    /// Reads a file with joints, and prints its warnings to stderr. Fails for a Cocos clip. `demo` is the built-in
    /// human.
    pub fn load_nodes<'a>(file: &Path, options: impl Into<ReadOptions<'a>>) -> Result<Self, Error> {
        if is_demo(file) {
            return Self::demo();
        }
        Self::nodes_from_slice(file, &read(file)?, options, &mut note)
    }

    /// A file with joints in memory. Fails for a Cocos clip.
    pub fn nodes_from_slice<'a>(
        file: &Path,
        bytes: &[u8],
        options: impl Into<ReadOptions<'a>>,
        report: &mut ReportLine,
    ) -> Result<Self, Error> {
        Self::import_nodes(recognize(file, bytes)?, file, bytes, options.into(), report)
    }

    fn import_nodes(
        format: FileFormat,
        file: &Path,
        bytes: &[u8],
        options: ReadOptions,
        report: &mut ReportLine,
    ) -> Result<Self, Error> {
        let mut library = Library::new();
        let asset = import(format, &mut library, file, bytes, options)?;
        let own_fps = stated_fps(&library, &asset);
        let Asset { skeleton, skins, clips, left_out_clips: unbound_clips, joints, gltf: asset, warnings, .. } = asset;
        let source = Self { unbound_clips, ..Self::new(library, skeleton) };
        let (name, path) = (file_name(file), file.to_path_buf());
        let mut source = Self { file: name, path, clips, own_fps, skins, joints, asset, ..source };
        source.warn(file, warnings, report)?;
        Ok(source)
    }

    /// Shares the clips of a file with the skeleton of another.
    fn share_with_rig(mut self, file: &Path, rig: &Rig, report: &mut ReportLine) -> Result<Self, Error> {
        let nodes = rig.add_to(&mut self.library)?;
        self.warn(&rig.path, &rig.warnings, report)?;
        let joints = self.library.skeleton(nodes.skeleton).joints().len() as u64;
        check_limit("clips x joints of the rig", self.clips.len() as u64 * joints, MAX_CLIP_JOINTS)?;
        let (mut clips, mut issues) = (Vec::with_capacity(self.clips.len()), Vec::new());
        self.unbound_clips.clear();
        for clip in &self.clips {
            let sharing = self.library.share_clip(*clip, nodes.skeleton)?;
            if sharing.tracks.iter().all(Option::is_none) {
                self.unbound_clips.push(sharing.clip);
            }
            issues.extend(sharing.issues);
            clips.push(sharing.clip);
        }
        // The remarks on one clip usually repeat for the next. They are listed once.
        let mut listed = HashSet::new();
        issues.retain(|issue| listed.insert(issue.to_string()));
        let with_rig = |text: String| format!("with {}: {text}", rig.name());
        self.warnings.extend(issues.iter().map(|issue| with_rig(issue.to_string())));
        warn_of_file(file, gathered(&issues).into_iter().map(with_rig), report)?;
        if clips.is_empty() {
            let (file, rig) = (file.display(), rig.path.display());
            return Err(Error::Usage(format!("{file} has no clips to apply to {rig}")));
        }
        if self.unbound_clips.len() == clips.len() {
            let [from, onto] = [file, &rig.path].map(Path::to_string_lossy);
            let output = output_name(file, "_retargeted.glb");
            let retarget = command_line(&["retarget", &from, "--onto", &onto, "-o", &output]);
            return Err(Error::Usage(format!(
                "{}: no track of any clip finds a node of its name in {}; give a rig with the same joint names, or \
                 retarget the clips: {retarget}",
                file.display(),
                rig.path.display()
            )));
        }
        let Nodes { skeleton, skins, joints, asset } = nodes;
        Ok(Self { skeleton, clips, skins, joints, asset, rig: Some(rig.name()), ..self })
    }

    /// A source with a skeleton and no clips.
    fn new(library: Library, skeleton: SkeletonId) -> Self {
        Self {
            file: String::new(),
            path: PathBuf::new(),
            library,
            skeleton,
            clips: Vec::new(),
            own_fps: Vec::new(),
            skins: Vec::new(),
            joints: Vec::new(),
            named: None,
            rig: None,
            unbound_clips: Vec::new(),
            warnings: Vec::new(),
            asset: None,
        }
    }

    fn import_cocos(file: &Path, bytes: &[u8], rig: Option<&Rig>, report: &mut ReportLine) -> Result<Self, Error> {
        let cocos::ClipFile { clip, warnings } = cocos::from_slice(&Library::new(), file, bytes)?;
        let mut source = match rig {
            None => Self::without_joints()?,
            Some(rig) => Self::of_rig(rig, report)?,
        };
        source.warn(file, warnings, report)?;
        let in_file =
            |error: Error| Error::Import { file: file.to_path_buf(), path: "clip".into(), reason: error.to_string() };
        let binding = source.library.bind(source.skeleton, &clip, PropertyTracks::All).map_err(in_file)?;
        // Without a rig, no track finds a node.
        let is_expected = |kind: &BindingIssueKind| rig.is_none() && matches!(kind, BindingIssueKind::NoNode { .. });
        source.warn(file, binding.issues.iter().filter(|error| !is_expected(&error.kind)), report)?;
        (source.file, source.path) = (file_name(file), file.to_path_buf());
        source.clips = vec![binding.clip];
        source.named = Some(NamedClip { clip, tracks: binding.tracks });
        source.rig = rig.map(Rig::name);
        Ok(source)
    }

    /// A source with a rig and no clips.
    fn of_rig(rig: &Rig, report: &mut ReportLine) -> Result<Self, Error> {
        let mut library = Library::new();
        let Nodes { skeleton, skins, joints, asset } = rig.add_to(&mut library)?;
        let mut source = Self { skins, joints, asset, ..Self::new(library, skeleton) };
        source.warn(&rig.path, &rig.warnings, report)?;
        Ok(source)
    }

    /// A source with a skeleton without joints, for Cocos clips without a rig.
    fn without_joints() -> Result<Self, Error> {
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new())?);
        Ok(Self::new(library, skeleton))
    }

    /// Stores warnings, and reports them. With `--strict`, fails for the first.
    pub fn warn(
        &mut self,
        file: &Path,
        warnings: impl IntoIterator<Item = impl ToString>,
        report: &mut ReportLine,
    ) -> Result<(), Error> {
        let first = self.warnings.len();
        self.warnings.extend(warnings.into_iter().map(|warning| warning.to_string()));
        warn_of_file(file, &self.warnings[first..], report)
    }

    /// Returns `true` if the skeleton has nodes: always, except for a Cocos clip without a rig.
    pub fn has_nodes(&self) -> bool {
        self.named.is_none() || self.rig.is_some()
    }

    /// The clips that can be used, in the order of the file.
    pub fn usable_clips(&self) -> Vec<ClipId> {
        self.clips.iter().copied().filter(|clip| self.unbound_clips.binary_search(clip).is_err()).collect()
    }

    /// The reason that a clip cannot be used.
    pub fn unusable(&self) -> String {
        match &self.rig {
            Some(rig) => format!("no track finds a node of its name in {rig}; give a rig with the same joint names"),
            None => "none of its tracks can be read; a warning names the reason".into(),
        }
    }

    /// Removes the outputs that the skeleton does not have.
    pub fn outputs(&self, wanted: Outputs) -> Outputs {
        if self.has_nodes() { wanted } else { Outputs { properties: wanted.properties, ..Outputs::NONE } }
    }
}

/// The parts of a library that a rig becomes.
pub struct Nodes {
    pub skeleton: SkeletonId,
    pub skins: Vec<SkinId>,
    /// The joint of each node, in the order of the file.
    pub joints: Vec<usize>,
    /// `None` for files that are not glTF.
    pub asset: Option<gltf::Asset>,
}

/// Imports a file of a format. Fails for formats without joints.
fn import(
    format: FileFormat,
    library: &mut Library,
    file: &Path,
    bytes: &[u8],
    options: ReadOptions,
) -> Result<Asset, Error> {
    if format == FileFormat::Crowd {
        return Err(Error::Usage(format!(
            "{} is a crowd file, which has no nodes of its own; give it to `posse bake`, or with --crowd to the commands \
             that have this option",
            file.display()
        )));
    }
    let bvh = options.bvh.options();
    let options = LoadOptions { fps: bvh.fps, end_sites: bvh.end_sites, rest: options.rest };
    import::of_format(library, format, file, bytes, &options).map_err(with_bvh_options)
}

/// An error of a BVH file, with the option that avoids it.
pub fn with_bvh_options(error: Error) -> Error {
    bvh::LoadOptions::name_fps(error, "--input-fps F")
}

/// A rig: the skeleton and the skins of a file with joints, or of the built-in human. It is read once, and added to the
/// library of each file whose clips it gets.
pub struct Rig {
    /// The path as it was given; `demo` for the built-in human.
    pub path: PathBuf,
    /// The bytes of the file; `None` for the built-in human.
    pub bytes: Option<Vec<u8>>,
    /// The repairs, and the parts that were ignored.
    pub warnings: Vec<Warning>,
    /// `true` if lengths are metres. The unit of a BVH file is not known.
    pub is_in_metres: bool,
    skeleton: Skeleton,
    skins: Vec<Skin>,
    joints: Vec<usize>,
    asset: Option<gltf::Asset>,
}

impl Rig {
    /// Reads a rig. The name `demo` stands for the built-in human; a file of this name can be given as `./demo`.
    pub fn read(path: &Path, bvh: BvhArgs) -> Result<Self, Error> {
        if is_demo(path) {
            return Self::demo();
        }
        let bytes = read(path)?;
        let mut library = Library::new();
        let format = recognize(path, &bytes)?;
        let Asset { skeleton, skins, joints, gltf: asset, warnings, .. } =
            import(format, &mut library, path, &bytes, bvh.into())?;
        Ok(Self {
            path: path.to_path_buf(),
            bytes: Some(bytes),
            warnings,
            is_in_metres: format != FileFormat::Bvh,
            skeleton: library.skeleton(skeleton).clone(),
            skins: skins.into_iter().map(|skin| library.skin(skin).clone()).collect(),
            joints,
            asset,
        })
    }

    /// The built-in human.
    fn demo() -> Result<Self, Error> {
        let (library, id) = built_in()?;
        let skeleton = library.skeleton(id).clone();
        Ok(Self {
            path: DEMO.into(),
            bytes: None,
            warnings: Vec::new(),
            is_in_metres: true,
            joints: (0..skeleton.joints().len()).collect(),
            skins: library.skins_of(id).map(|(_, skin)| skin.clone()).collect(),
            skeleton,
            asset: None,
        })
    }

    /// Where the joints of bodies of SMPL rest in it.
    ///
    /// # Errors
    /// The errors of [`Proportions::from_slice`], for an npz file that is not a model file.
    pub fn proportions(&self) -> Result<Proportions, Error> {
        match &self.bytes {
            Some(bytes) if recognize(&self.path, bytes)? == FileFormat::Smpl => {
                Proportions::from_slice(&self.path, bytes)
            }
            _ => Ok(Proportions::of_skeleton(self.skeleton.clone())),
        }
    }

    /// Returns `true` for the built-in human.
    pub fn is_demo(&self) -> bool {
        self.bytes.is_none()
    }

    /// Returns `true` for a glTF file.
    pub fn is_gltf(&self) -> bool {
        self.asset.is_some()
    }

    /// The name without its folder.
    pub fn name(&self) -> String {
        file_name(&self.path)
    }

    /// The skeleton of all nodes.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Adds the rig to a library, without clips and warnings.
    pub fn add_to(&self, library: &mut Library) -> Result<Nodes, Error> {
        let skeleton = library.add_skeleton(self.skeleton.clone());
        let skins = self.skins.iter().map(|skin| library.add_skin(Skin { skeleton, ..skin.clone() }));
        let skins = skins.collect::<Result<Vec<SkinId>, Error>>()?;
        let asset = self.asset.as_ref().map(|asset| gltf::Asset {
            skeleton,
            skins: skins.clone(),
            clips: Vec::new(),
            warnings: Vec::new(),
            ..asset.clone()
        });
        let joints = self.joints.clone();
        Ok(Nodes { skeleton, skins, joints, asset })
    }
}

/// The largest number of parts of poses that a warning lists.
const MAX_PARTS: usize = 3;

/// The remarks on the tracks of clips, with one line for all parts of the pose of which the same is true.
fn gathered(issues: &[SharingIssue]) -> Vec<String> {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    let mut places = HashMap::new();
    for issue in issues {
        let place = *places.entry(issue.reason()).or_insert_with_key(|reason| {
            by_reason.push((reason.clone(), Vec::new()));
            by_reason.len() - 1
        });
        by_reason[place].1.push(issue.part());
    }
    let line = |(reason, parts): (String, Vec<String>)| match parts.as_slice() {
        [part] => format!("{part}: {reason}"),
        parts => {
            let more = match parts.len().saturating_sub(MAX_PARTS) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let first = parts[..parts.len().min(MAX_PARTS)].join(", ");
            format!("{}: {reason}: {first}{more}", plural(parts.len(), "track"))
        }
    };
    by_reason.into_iter().map(line).collect()
}

/// The clip that a text selects. Without a text, the only clip that can be used, or `None` if there is none. Fails for
/// a clip that cannot be used.
pub fn find_clip(source: &Source, wanted: Option<&str>) -> Result<Option<ClipId>, Error> {
    let usable = source.usable_clips();
    match (wanted, usable.as_slice()) {
        (Some(wanted), _) => {
            let clip = source.library.select_clip(&source.clips, wanted)?;
            match usable.contains(&clip) {
                true => Ok(Some(clip)),
                false => Err(Error::Usage(format!("clip {wanted}: {}", source.unusable()))),
            }
        }
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(*only)),
        (None, clips) => {
            let list = source.library.clip_selector(clips).list();
            let file = source.path.display();
            Err(Error::Usage(format!("{file} has several clips; select one with --clip: {list}")))
        }
    }
}

/// Reads a crowd file and the glTF files that it names, and prints their warnings to stderr.
pub fn load_crowd_file(library: &mut Library, path: &Path) -> Result<CrowdFile, Error> {
    add_input(path)?;
    let file = crowd::load(library, path)?;
    file.files.iter().try_for_each(|named| add_input(&named.asset.file))?;
    warn_of_file(path, &file.warnings, &mut note)?;
    for (index, named) in file.files.iter().enumerate() {
        // A glTF file that is named twice is read once.
        if file.files[..index].iter().all(|other| other.name != named.name) {
            warn_of_file(&named.asset.file, &named.asset.warnings, &mut note)?;
        }
    }
    Ok(file)
}

/// Reads the bytes of an input. Fails for a folder, and for an output of the command.
pub fn read(file: &Path) -> Result<Vec<u8>, Error> {
    if file.is_dir() {
        let source = io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name the files in it");
        return Err(Error::Io { file: file.to_path_buf(), source });
    }
    add_input(file)?;
    std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })
}

/// The path of the node of a target: `/` for the root.
pub fn target_path(target: &TargetPath) -> String {
    format!("/{}", target.path.join("/"))
}

/// The property of a target. If the target is a single number of the property, the name of that number follows after a
/// dot.
pub fn target_property(target: &TargetPath) -> String {
    let TargetPath { property, element, .. } = target;
    let Some(element) = *element else { return property.clone() };
    // The file does not store the type of the property. The names of the numbers follow from the name of the property.
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

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Two joints, and a clip `go` of a second.
    const GLTF: &str = r#"{"asset":{"version":"2.0"},"nodes":[{"name":"a","children":[1]},
    {"name":"b","translation":[0,2,0]}],"scenes":[{"nodes":[0]}],
    "buffers":[{"byteLength":32,"uri":"data:application/octet-stream;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAA="}],
    "bufferViews":[{"buffer":0,"byteLength":8},{"buffer":0,"byteOffset":8,"byteLength":24}],
    "accessors":[{"bufferView":0,"componentType":5126,"count":2,"type":"SCALAR","min":[0],"max":[1]},
        {"bufferView":1,"componentType":5126,"count":2,"type":"VEC3"}],
    "animations":[{"name":"go","samplers":[{"input":0,"output":1}],
        "channels":[{"sampler":0,"target":{"node":0,"path":"translation"}}]}]}"#;

    /// The library and the crowd of a crowd file with this text. It may name the file `a.gltf`, which has a clip `go`
    /// of a second.
    pub fn crowd_file(text: &str) -> (Library, CrowdFile) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.gltf"), GLTF).unwrap();
        let path = folder.path().join("crowd.json");
        std::fs::write(&path, text).unwrap();
        let mut library = Library::new();
        let file = crowd::load(&mut library, path).unwrap();
        (library, file)
    }
}
