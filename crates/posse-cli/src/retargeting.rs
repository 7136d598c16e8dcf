//! The retargeting of a file's clips to another rig, for `posse retarget`, `eval --retarget` and `bake --retarget`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use glam::DVec3;
use posse::import::FileFormat;
use posse::retarget::{
    CarriedJoints, Facing, Ground, JointMap, ReferencePose, RetargetOptions, RetargetWarning, Retargeting,
};
use posse::{ClipId, Error, Library, Selector, SkeletonId};
use serde_json::{Value, json};

use crate::arguments::{BvhArgs, check_limit, parse_positive, parse_seconds};
use crate::invocation::{command_line, output_name};
use crate::output::note;
use crate::source::{MAX_CLIP_JOINTS, Nodes, ReportLine, Rig, Source, find_clip, read};

/// The error of options of a retargeting without `--retarget`.
pub const OPTIONS_WITHOUT_RETARGET: &str =
    "--map, --reference, --bound and the other options of retargeting are for --retarget; add it, with --rig";

/// The options of a retargeting.
#[derive(Debug, Clone, clap::Args)]
pub struct MapArgs {
    /// A JSON file of pairs of joints: { "joints": { "SOURCE": "TARGET", ... }, "root": "SOURCE", "translation":
    /// "scaled", "scale": 1 }.
    ///
    /// `joints` names the pairs. `root` is the joint whose translation moves the target, by default the first mapped
    /// one that the clips translate. `translation` is `scaled` (default), `full` or `none`; `scale` is the factor of
    /// `scaled`, by default the ratio of the lengths of the legs, or of other lengths where legs are not known. Without
    /// `joints`, or without --map, joints are paired by the roles that both files declare, by name, by name without
    /// namespace, separators and capitals, then by their roles in a human: roles of the VRM extensions, roles that
    /// follow from the names of 22 tools, or from the shape of the skeleton.
    #[arg(long, value_name = "MAP.json")]
    pub map: Option<PathBuf>,
    /// The pose of SOURCE that looks like the pose of the target: its rest pose (default), a clip at a time, by default
    /// at 0 s, or the pose of another file with joints of the same names, such as a T-pose for a folder of takes.
    ///
    /// The name of a clip of SOURCE comes first, whatever it looks like; then a .glb, .gltf, .vrm, .vrma, .fbx or .bvh
    /// file that is there; then the index of a clip of SOURCE. FILE#rest is the rest pose of a file. A file with
    /// several clips needs #CLIP, a name or an index.
    #[arg(long, value_name = "rest|CLIP[@SECONDS]|FILE[#CLIP][@SECONDS]")]
    pub reference: Option<String>,
    /// The pose of the target that looks like the reference pose, as in --reference. Default: its rest pose.
    #[arg(long, value_name = "rest|FILE[#CLIP][@SECONDS]")]
    pub target_pose: Option<String>,
    /// With `auto`, bones of the reference pose that point elsewhere than in the target's pose are rotated there.
    /// With `off`, the two poses count as alike.
    #[arg(long, value_name = "auto|off", default_value = "auto", value_parser = RetargetOptions::parse_align)]
    align: Align,
    /// The rotation of SOURCE about the up axis: `auto` rotates its front to the front of the target, `keep` rotates
    /// nothing.
    #[arg(long, value_name = "auto|keep|DEGREES", default_value = "auto", allow_hyphen_values = true)]
    facing: Facing,
    /// The up axis of SOURCE. `auto` takes the axis along which the figure stands in its clips.
    #[arg(long, value_name = "auto|x|y|z|-x|-y|-z", default_value = "auto", allow_hyphen_values = true, value_parser = RetargetOptions::parse_source_up)]
    source_up: Up,
    /// The ground of SOURCE: `auto` takes 0 if the feet come down near it, else their lowest point, `zero` takes 0;
    /// with `keep`, the root moves up and down as in the source, relative to the reference pose.
    #[arg(long, value_name = "auto|zero|keep", default_value = "auto")]
    ground: Ground,
    /// The translations and scales that are carried over: of `all` joints that are paired by name, or of the `root`
    /// alone.
    #[arg(long, value_name = "all|root", default_value = "all")]
    translations: CarriedJoints,
    /// Fails, with exit code 2, if there is a warning about the retargeting.
    #[arg(long)]
    strict_retarget: bool,
    /// The largest error of rotations that cannot be transformed key by key, in radians. Default: 0.0001.
    #[arg(long, value_name = "RADIANS", value_parser = parse_positive)]
    pub bound: Option<f64>,
}

/// `true` if bones are rotated. The name keeps clap from making it a flag, and the next one from making it optional.
type Align = bool;

/// The up axis of a source; `None` for the one that its clips tell.
type Up = Option<DVec3>;

impl MapArgs {
    /// Returns `true` if one of the options is given.
    pub fn is_given(&self) -> bool {
        let Self { align, facing, source_up, ground, translations, strict_retarget, .. } = self;
        self.map.is_some()
            || self.reference.is_some()
            || self.target_pose.is_some()
            || self.bound.is_some()
            || !*align
            || *facing != Facing::Auto
            || source_up.is_some()
            || *ground != Ground::Auto
            || *translations != CarriedJoints::All
            || *strict_retarget
    }

    /// The choices and the bounds, with both poses at rest.
    fn options(&self) -> RetargetOptions {
        let mut options = RetargetOptions {
            align: self.align,
            facing: self.facing,
            source_up: self.source_up,
            ground: self.ground,
            translations: self.translations,
            ..RetargetOptions::default()
        };
        if let Some(bound) = self.bound {
            options.rotation_bound = bound;
        }
        options
    }
}

/// A file that the options of a retargeting name.
pub struct ChoiceFile<'a> {
    /// The part that it has, for messages.
    pub role: &'static str,
    pub path: &'a Path,
    pub bytes: &'a [u8],
}

/// The choices of a retargeting. The files that they name are read once for all sources.
pub struct Retargeter {
    args: MapArgs,
    /// The file of `--map`, with its bytes.
    map: Option<(PathBuf, Vec<u8>)>,
    /// The poses of `--reference` and `--target-pose`; `None` for the rest pose.
    reference: Option<PoseChoice>,
    target_pose: Option<PoseChoice>,
}

impl Retargeter {
    /// Reads the files of the options. Passes their warnings to `report`.
    pub fn new(args: &MapArgs, bvh: BvhArgs, report: &mut ReportLine) -> Result<Self, Error> {
        let map = args.map.as_ref().map(|file| Ok((file.clone(), read(file)?))).transpose()?;
        let reference = PoseChoice::new("--reference", args.reference.as_deref(), bvh, report)?;
        let target_pose = PoseChoice::new("--target-pose", args.target_pose.as_deref(), bvh, report)?;
        if let Some(PoseChoice { text, file: None, .. }) = &target_pose {
            return Err(Error::Usage(format!(
                "--target-pose {text}: there is no such file; expected rest or a .glb, .gltf, .vrm, .vrma, .fbx or \
                 .bvh file"
            )));
        }
        Ok(Self { args: args.clone(), map, reference, target_pose })
    }

    /// The files that the options name.
    pub fn files(&self) -> Vec<ChoiceFile<'_>> {
        let mut files = Vec::new();
        files.extend(self.map.iter().map(|(path, bytes)| ChoiceFile { role: "the file of --map", path, bytes }));
        let poses = [("the file of --reference", &self.reference), ("the file of --target-pose", &self.target_pose)];
        for (role, choice) in poses {
            let file = choice.as_ref().and_then(|choice| choice.file.as_ref());
            files.extend(file.map(|PoseFile { path, bytes, .. }| ChoiceFile { role, path, bytes }));
        }
        files
    }

    /// The options as JSON, with what `identify` makes of the bytes of files in place of their names. Equal options
    /// give equal clips.
    ///
    /// # Errors
    /// The errors of `identify`.
    pub fn identity(&self, mut identify: impl FnMut(&ChoiceFile) -> Result<Value, Error>) -> Result<Value, Error> {
        let mut files = Vec::new();
        for file in self.files() {
            files.push((file.path.to_path_buf(), identify(&file)?));
        }
        let of = |path: &Path| files.iter().find(|(known, _)| known == path).map(|(_, value)| value.clone());
        let pose = |choice: &Option<PoseChoice>| match choice {
            None => Value::Null,
            Some(PoseChoice { text, file: None, .. }) => text.clone().into(),
            Some(PoseChoice { file: Some(file), .. }) => {
                json!({ "file": of(&file.path), "pose": format!("{:?}", file.pose) })
            }
        };
        let args = &self.args;
        Ok(json!({
            "map": self.map.as_ref().and_then(|(path, _)| of(path)),
            "reference": pose(&self.reference),
            "target_pose": pose(&self.target_pose),
            "bound": args.bound,
            "align": args.align,
            "facing": format!("{:?}", args.facing),
            "source_up": args.source_up.map(|up| up.to_array()),
            "ground": format!("{:?}", args.ground),
            "translations": format!("{:?}", args.translations),
            "strict": args.strict_retarget,
        }))
    }

    /// Retargets clips of a file to a rig. They take the places of the originals; the others stay clips of the source.
    pub fn retarget(&self, mut source: Source, file: &Path, rig: &Rig, clips: &[ClipId]) -> Result<Retargeted, Error> {
        let nodes = rig.add_to(&mut source.library)?;
        let joints = source.library.skeleton(nodes.skeleton).joints().len() as u64;
        check_limit("clips x joints of the rig", clips.len() as u64 * joints, MAX_CLIP_JOINTS)?;
        let map = self.joint_map(&source.library, source.skeleton, nodes.skeleton)?;
        if map.pairs.is_empty() {
            let list = |id: SkeletonId| Selector::of_joints(source.library.skeleton(id)).list();
            let [from, onto] = [file, &rig.path].map(Path::to_string_lossy);
            let pairs = output_name(file, "_map.json");
            let write_map = command_line(&["retarget", &from, "--onto", &onto, "--write-map", &pairs]);
            let (file, rig, lists) = (file.display(), rig.path.display(), [source.skeleton, nodes.skeleton].map(list));
            return Err(Error::Usage(format!(
                "{file}: no joint has a partner in {rig}; name pairs of joints in a file, and give it with --map; \
                 {write_map} writes such a file to change. Joints of {file}: {}. Joints of {rig}: {}",
                lists[0], lists[1]
            )));
        }
        let mut options = self.args.options();
        if let Some(choice) = &self.reference {
            options.reference = choice.of_source(&source)?;
        }
        if let Some(PoseChoice { option, text, file: Some(pose) }) = &self.target_pose {
            options.target_pose = pose.on(&source.library, nodes.skeleton, option, text)?;
        }
        let retargeting = source.library.retarget(clips, &map, &options)?;
        let warnings = warnings_of(&source.library, &retargeting);
        for made in &retargeting.clips {
            source.clips.iter_mut().filter(|clip| **clip == made.source).for_each(|clip| *clip = made.clip);
        }
        let Nodes { skeleton, skins, joints, asset, .. } = nodes;
        let source = Source { skeleton, skins, joints, asset, rig: Some(rig.name()), ..source };
        Ok(Retargeted { source, retargeting, options, warnings })
    }

    /// Retargets clips of a file to a rig, and prints warnings to stderr, or fails for them with `--strict-retarget`.
    pub fn retarget_and_warn(
        &self,
        source: Source,
        file: &Path,
        rig: &Rig,
        clips: &[ClipId],
    ) -> Result<Retargeted, Error> {
        let mut made = self.retarget(source, file, rig, clips)?;
        made.source.warn(&rig.path, &rig.warnings, &mut note)?;
        if let Some(error) = made.warnings.first().and_then(|warning| self.strict_error(file, &warning.text)) {
            return Err(error);
        }
        made.source.warn(file, made.warnings.iter().map(|warning| &warning.text), &mut note)?;
        Ok(made)
    }

    /// The error that `--strict-retarget` makes of a warning; `None` without that option.
    pub fn strict_error(&self, file: &Path, warning: &str) -> Option<Error> {
        let error = || Error::Usage(format!("{}: {warning} (--strict-retarget)", file.display()));
        self.args.strict_retarget.then(error)
    }

    /// Reads the joint map from its file, or makes it by names.
    fn joint_map(&self, library: &Library, source: SkeletonId, target: SkeletonId) -> Result<JointMap, Error> {
        match &self.map {
            Some((file, json)) => JointMap::from_json(library, source, target, file, json),
            None => JointMap::by_names(library, source, target),
        }
    }

    /// The joint map of a file and a rig as the JSON of a map file, and the joints of the rig without a partner.
    pub fn map_file(&self, source: &Source, rig: &Rig) -> Result<MapFile, Error> {
        let mut library = source.library.clone();
        let nodes = rig.add_to(&mut library)?;
        let map = self.joint_map(&library, source.skeleton, nodes.skeleton)?;
        let skeleton = library.skeleton(nodes.skeleton);
        let paired: HashSet<usize> = map.pairs.iter().map(|pair| pair.target).collect();
        let alone = (0..skeleton.joints().len()).filter(|joint| !paired.contains(joint));
        let alone: Vec<String> = alone.map(|joint| skeleton.joint_name(joint)).collect();
        Ok(MapFile { json: map.to_json(&library), pairs: map.pairs.len(), alone })
    }
}

/// A map file to change.
pub struct MapFile {
    pub json: String,
    /// The number of pairs.
    pub pairs: usize,
    /// The names of the joints of the target without a partner.
    pub alone: Vec<String>,
}

/// A warning about a retargeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceWarning {
    /// The new clip that it is about; `None` for all clips of the file.
    pub clip: Option<ClipId>,
    pub text: String,
}

/// The warnings about a retargeting: what was left out, and what looks wrong.
fn warnings_of(library: &Library, retargeting: &Retargeting) -> Vec<SourceWarning> {
    let map = &retargeting.map;
    let made = |source: ClipId| retargeting.clips.iter().find(|made| made.source == source).map(|made| made.clip);
    let clip = |warning: &RetargetWarning| match warning {
        RetargetWarning::Ground { clip, .. } | RetargetWarning::LostTranslations { clip, .. } => made(*clip),
        _ => None,
    };
    let remarks = map.remarks.iter().map(|remark| SourceWarning { clip: None, text: map.describe(library, remark) });
    let warnings = retargeting.warnings.iter();
    let text = |warning: &RetargetWarning| match option_of(warning) {
        Some(option) => format!("{} ({option})", warning.describe(library, map)),
        None => warning.describe(library, map),
    };
    remarks.chain(warnings.map(|warning| SourceWarning { clip: clip(warning), text: text(warning) })).collect()
}

/// The option that changes what a warning is about.
fn option_of(warning: &RetargetWarning) -> Option<&'static str> {
    match warning {
        RetargetWarning::UnknownUp => Some("--source-up x|y|z"),
        RetargetWarning::UnknownFront => Some("--facing DEGREES"),
        RetargetWarning::KeptFront { .. } => Some("--facing auto rotates it"),
        RetargetWarning::Directions { .. } => Some("--reference, --target-pose"),
        RetargetWarning::SwappedSides(_) | RetargetWarning::BackwardFeet(_) => {
            Some("--map; posse retarget --write-map writes the pairs")
        }
        RetargetWarning::Ground { .. } | RetargetWarning::NoGround => Some("--ground auto|zero|keep"),
        RetargetWarning::LostTranslations { .. } | RetargetWarning::Detached { .. } => Some("--map"),
        RetargetWarning::FourLegs(_)
        | RetargetWarning::Morphs { .. }
        | RetargetWarning::MorphCounts { .. }
        | RetargetWarning::MorphNames { .. }
        | RetargetWarning::Expressions { .. } => None,
    }
}

/// A source with retargeted clips.
pub struct Retargeted {
    /// The source, with the skeleton of the rig.
    pub source: Source,
    /// The report.
    pub retargeting: Retargeting,
    /// The choices and bounds.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "pictures show the poses that look alike"))]
    pub options: RetargetOptions,
    /// What was left out, and what looks wrong.
    pub warnings: Vec<SourceWarning>,
}

/// The value of `--reference` or `--target-pose`, unless it is `rest`.
struct PoseChoice {
    option: &'static str,
    text: String,
    /// The file that the text names; `None` if there is no such file.
    file: Option<PoseFile>,
}

impl PoseChoice {
    fn new(
        option: &'static str,
        text: Option<&str>,
        bvh: BvhArgs,
        report: &mut ReportLine,
    ) -> Result<Option<Self>, Error> {
        let Some(text) = text.filter(|text| *text != "rest") else { return Ok(None) };
        let file = PoseFile::read(option, text, bvh, report)?;
        Ok(Some(Self { option, text: text.to_owned(), file }))
    }

    /// The pose of a source: of its clip of that name, else of the file, else of another clip that the text selects.
    /// Seconds follow after the last `@`.
    fn of_source(&self, source: &Source) -> Result<ReferencePose, Error> {
        let Self { option, text, file } = self;
        let clips = source.library.clip_selector(&source.clips);
        let select = |name: &str| {
            let found = source.library.select_clip(&source.clips, name);
            found.map_err(|error| Error::Usage(format!("{option}: {error}")))
        };
        if clips.has_name(text) {
            return Ok(ReferencePose::Clip { clip: select(text)?, time: 0.0 });
        }
        let timed = text.rsplit_once('@');
        let seconds = |seconds: &str| {
            parse_seconds(seconds)
                .map_err(|reason| Error::Usage(format!("{option} {text}: the time {seconds:?}: {reason}")))
        };
        if let Some((name, time)) = timed
            && clips.has_name(name)
        {
            return Ok(ReferencePose::Clip { clip: select(name)?, time: seconds(time)? });
        }
        if let Some(file) = file {
            return file.on(&source.library, source.skeleton, option, text);
        }
        let no_file = if names_file(text) { "there is no such file, and " } else { "" };
        let (name, time) = match timed {
            Some((name, time)) => (name, seconds(time)?),
            None => (text.as_str(), 0.0),
        };
        let found = find_clip(source, Some(name));
        let found = found.map_err(|error| Error::Usage(format!("{option}: {no_file}{error}")))?;
        let none = || Error::Usage(format!("{option} {text}: {no_file}the source has no clips; use rest"));
        Ok(ReferencePose::Clip { clip: found.ok_or_else(none)?, time })
    }
}

/// Returns `true` for a path with the extension of a file with joints.
fn has_joints(path: &str) -> bool {
    FileFormat::of_name(Path::new(path)).is_some_and(FileFormat::has_joints)
}

/// The ways to split a text into the path of a file with joints and what follows: the longest path first.
fn splits(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = std::iter::once(text.len()).chain(text.rmatch_indices(['#', '@']).map(|(at, _)| at));
    ends.map(|at| text.split_at(at)).filter(|(path, _)| has_joints(path))
}

/// Returns `true` for a text that begins with the path of a file with joints, which need not be there.
fn names_file(text: &str) -> bool {
    splits(text).next().is_some()
}

/// A file with a pose.
struct PoseFile {
    path: PathBuf,
    bytes: Vec<u8>,
    source: Source,
    /// The pose of its skeleton.
    pose: ReferencePose,
}

impl PoseFile {
    /// Reads the file of `FILE[#CLIP][@SECONDS]`: the rest pose with `#rest` and for a file without clips. `None` if
    /// there is no such file.
    ///
    /// # Errors
    /// The errors of the file, and [`Error::Usage`] for a clip that it does not have, for several clips without
    /// `#CLIP`, or for seconds of a rest pose.
    fn read(option: &str, text: &str, bvh: BvhArgs, report: &mut ReportLine) -> Result<Option<Self>, Error> {
        let Some((path, rest)) = splits(text).find(|(path, _)| Path::new(path).is_file()) else { return Ok(None) };
        let file = Path::new(path);
        let bytes = read(file)?;
        let source = Source::nodes_from_slice(file, &bytes, bvh.of_source(), report)?;
        let refusal = |reason: String| Error::Usage(format!("{option} {text}: {reason}"));
        let time = |text: &str| parse_seconds(text).map_err(|reason| refusal(format!("the time {text:?}: {reason}")));
        let clips = source.library.clip_selector(&source.clips);
        // The name of a clip may contain `@`.
        let (name, time) = match rest.strip_prefix('#') {
            Some(name) if clips.has_name(name) => (Some(name), None),
            Some(name) => match name.rsplit_once('@') {
                Some((name, seconds)) => (Some(name), Some(time(seconds)?)),
                None => (Some(name), None),
            },
            None => (None, rest.strip_prefix('@').map(time).transpose()?),
        };
        let (seconds, time) = (time, time.unwrap_or(0.0));
        let pose = match (name, source.clips.as_slice()) {
            (Some("rest"), _) | (None, []) => ReferencePose::Rest,
            (None, [clip]) => ReferencePose::Clip { clip: *clip, time },
            (None, _) => {
                let clips = clips.list();
                return Err(refusal(format!(
                    "{path} has several clips; add #CLIP, or #rest for its rest pose: {clips}"
                )));
            }
            (Some(name), _) => match find_clip(&source, Some(name)).map_err(|error| refusal(error.to_string()))? {
                Some(clip) => ReferencePose::Clip { clip, time },
                None => ReferencePose::Rest,
            },
        };
        if seconds.is_some() && matches!(pose, ReferencePose::Rest) {
            return Err(refusal(format!("the rest pose of {path} has no time; leave out the seconds, or name a clip")));
        }
        Ok(Some(Self { path: file.to_path_buf(), bytes, source, pose }))
    }

    /// The pose of another skeleton, whose joints have the same names.
    fn on(&self, library: &Library, skeleton: SkeletonId, option: &str, text: &str) -> Result<ReferencePose, Error> {
        let found =
            ReferencePose::by_names(library.skeleton(skeleton), &self.source.library, self.source.skeleton, &self.pose);
        found.map_err(|error| Error::Usage(format!("{option} {text}: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_path_of_a_file_comes_first() {
        let all = |text: &str| splits(text).map(|(path, rest)| format!("{path} {rest}")).collect::<Vec<_>>();
        assert_eq!(all("t.bvh"), ["t.bvh "]);
        assert_eq!(all("t.glb#a@b@1.5"), ["t.glb #a@b@1.5"]);
        assert_eq!(all("a#b@2.bvh@1"), ["a#b@2.bvh @1"]);
        assert_eq!(all("t.glb#u.bvh"), ["t.glb#u.bvh ", "t.glb #u.bvh"]);
        assert_eq!(all("walk@1.5"), [""; 0]);
    }
}
