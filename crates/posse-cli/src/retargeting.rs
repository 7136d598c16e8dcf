//! The retargeting of a file's clips to another rig, for `posse retarget` and `posse eval --retarget`.

use std::path::{Path, PathBuf};

use posse::{ClipId, Error, JointMap, Library, ReferencePose, RetargetOptions, Retargeting, SkeletonId};

use crate::arguments::{check_limit, parse_seconds};
use crate::output::{file_name, note};
use crate::source::{MAX_CLIP_JOINTS, Nodes, Source, find_clip, read_nodes};

/// The options `--map`, `--reference` and `--bound`.
#[derive(Debug, clap::Args)]
pub struct MapArgs {
    /// A JSON file of pairs of joints: { "joints": { "SOURCE": "TARGET", ... }, "root": "SOURCE", "translation":
    /// "scaled", "scale": 1 }.
    ///
    /// `joints` names the pairs. `root` is the joint whose translation moves the target, by default the first mapped
    /// one that the clips translate. `translation` is `scaled` (default), `full` or `none`; `scale` is the factor of
    /// `scaled`, by default the ratio of the heights of the roots. Without `joints`, or without --map, joints are
    /// paired by name, then by name without namespace, separators and capitals, then by their roles in a human: those
    /// of the VRM extensions, or those that follow from the names of Mixamo, Unreal's mannequin, VRM and Rigify. Two
    /// joints of one name but of different roles are no pair by name if one of them is the hips.
    #[arg(long, value_name = "MAP.json")]
    pub map: Option<PathBuf>,
    /// The pose of SOURCE that looks like the rest pose of the target: its rest pose (default), or a clip at a time, by
    /// default at 0 s.
    #[arg(long, value_name = "rest|NAME|INDEX[@SECONDS]")]
    pub reference: Option<String>,
    /// The largest error of rotations that cannot be transformed key by key, in radians. Default: 0.0001.
    #[arg(long, value_name = "RADIANS")]
    pub bound: Option<f64>,
}

impl MapArgs {
    /// Returns true if one of the options is given.
    pub fn is_given(&self) -> bool {
        self.map.is_some() || self.reference.is_some() || self.bound.is_some()
    }

    /// Reads the joint map from its file, or makes it by names.
    fn joint_map(&self, library: &Library, source: SkeletonId, target: SkeletonId) -> Result<JointMap, Error> {
        let Some(file) = &self.map else { return JointMap::by_names(library, source, target) };
        let json = std::fs::read(file).map_err(|source| Error::Io { file: file.clone(), source })?;
        JointMap::from_json(library, source, target, file, &json)
    }

    /// The reference pose and the bounds. The clips are those of the source.
    fn options(&self, source: &Source) -> Result<RetargetOptions, Error> {
        let mut options = RetargetOptions::default();
        if let Some(text) = self.reference.as_deref().filter(|text| *text != "rest") {
            options.reference = reference_pose(source, text)?;
        }
        if let Some(bound) = self.bound {
            options.rotation_bound = bound;
        }
        Ok(options)
    }
}

/// A source with retargeted clips.
pub struct Retargeted {
    /// The source, with the skeleton of the rig.
    pub source: Source,
    /// The report.
    pub retargeting: Retargeting,
    /// The bytes of the file of the rig; `None` for the built-in one.
    pub bytes: Option<Vec<u8>>,
}

impl Retargeted {
    /// Retargets clips of a file to the skeleton of another glTF or BVH file, or of the built-in rig. They take the
    /// places of the originals; the others stay clips of the source.
    pub fn new(mut source: Source, file: &Path, rig: &Path, clips: &[ClipId], args: &MapArgs) -> Result<Self, Error> {
        let bytes = if is_demo(rig) { None } else { Some(read_nodes(rig)?) };
        let nodes = match &bytes {
            Some(bytes) => Nodes::import(&mut source.library, rig, bytes)?,
            None => Nodes::demo(&mut source.library)?,
        };
        source.warn(rig, &nodes.warnings, &mut note);
        let joints = source.library.skeleton(nodes.skeleton).joints().len() as u64;
        check_limit("clips x joints of the rig", clips.len() as u64 * joints, MAX_CLIP_JOINTS)?;
        let map = args.joint_map(&source.library, source.skeleton, nodes.skeleton)?;
        if map.pairs.is_empty() {
            return Err(Error::Usage(format!(
                "{}: no joint has a partner in {}; name pairs of joints in a file, and give it with --map",
                file.display(),
                rig.display()
            )));
        }
        let options = args.options(&source)?;
        let retargeting = source.library.retarget(clips, &map, &options)?;
        let map = &retargeting.map;
        let remarks: Vec<String> = map.remarks.iter().map(|remark| map.describe(&source.library, remark)).collect();
        source.warn(file, remarks, &mut note);
        for made in &retargeting.clips {
            source.clips.iter_mut().filter(|clip| **clip == made.source).for_each(|clip| *clip = made.clip);
        }
        let Nodes { skeleton, skins, joints, asset, .. } = nodes;
        let source = Source { skeleton, skins, joints, asset, rig: Some(file_name(rig)), ..source };
        Ok(Self { source, retargeting, bytes })
    }
}

/// The pose of a clip by name or index, with seconds after the last `@`. A name may contain `@`, too.
fn reference_pose(source: &Source, text: &str) -> Result<ReferencePose, Error> {
    let named = |text: &str| -> Result<ClipId, Error> {
        let fault = |error: Error| Error::Usage(format!("--reference: {error}"));
        let none = || Error::Usage(format!("--reference {text}: the source has no clips; use rest"));
        find_clip(source, Some(text)).map_err(fault)?.ok_or_else(none)
    };
    let is_name = source.clips.iter().any(|clip| source.library.clip(*clip).name.as_deref() == Some(text));
    match text.rsplit_once('@').filter(|_| !is_name) {
        None => Ok(ReferencePose::Clip { clip: named(text)?, time: 0.0 }),
        Some((name, seconds)) => {
            let time = parse_seconds(seconds)
                .map_err(|reason| Error::Usage(format!("--reference {text}: the time {seconds:?}: {reason}")))?;
            Ok(ReferencePose::Clip { clip: named(name)?, time })
        }
    }
}

/// Returns true for the name of the built-in rig. A file of this name can be given as `./demo`.
pub fn is_demo(rig: &Path) -> bool {
    rig.as_os_str() == "demo"
}
