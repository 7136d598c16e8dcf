//! The retargeting of a file's clips to another rig, for `posse retarget` and `posse eval --retarget`.

use std::path::{Path, PathBuf};

use glam::DVec3;
use posse::{
    CarriedJoints, ClipId, Error, Facing, Ground, JointMap, Library, ReferencePose, RetargetOptions, Retargeting,
    SkeletonId,
};

use crate::arguments::{check_limit, parse_seconds};
use crate::output::{file_name, note};
use crate::source::{MAX_CLIP_JOINTS, Nodes, Report, Source, find_clip, read_nodes};

/// The fault of options of a retargeting without `--retarget`.
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
    /// namespace, separators and capitals, then by their roles in a human: those of the VRM extensions, those that
    /// follow from the names of 22 tools, or from the shape of the skeleton.
    #[arg(long, value_name = "MAP.json")]
    pub map: Option<PathBuf>,
    /// The pose of SOURCE that looks like the pose of the target: its rest pose (default), a clip at a time, by default
    /// at 0 s, or the pose of another file with joints of the same names, such as a T-pose for a folder of takes.
    #[arg(long, value_name = "rest|CLIP[@SECONDS]|FILE[#CLIP][@SECONDS]")]
    pub reference: Option<String>,
    /// The pose of the target that looks like the reference pose, as in --reference. Default: its rest pose.
    #[arg(long, value_name = "rest|FILE[#CLIP][@SECONDS]")]
    pub target_pose: Option<String>,
    /// With `auto`, bones of the reference pose that point elsewhere than those of the target's pose are turned there.
    /// With `off`, the two poses count as alike.
    #[arg(long, value_name = "auto|off", default_value = "auto")]
    align: Align,
    /// The turn of SOURCE about the up axis: `auto` turns its front to that of the target, `keep` turns nothing.
    #[arg(long, value_name = "auto|keep|DEGREES", default_value = "auto", allow_hyphen_values = true, value_parser = parse_facing)]
    facing: Facing,
    /// The up axis of SOURCE. `auto` takes the axis along which the figure stands in its clips.
    #[arg(long, value_name = "auto|x|y|z|-x|-y|-z", default_value = "auto", allow_hyphen_values = true, value_parser = parse_up)]
    source_up: Up,
    /// The ground of SOURCE: `auto` takes 0 if the feet come down near it, else their lowest point, `zero` takes 0; with
    /// `keep`, the root moves up and down as in the source, relative to the reference pose.
    #[arg(long, value_name = "auto|zero|keep", default_value = "auto")]
    ground: GroundChoice,
    /// The translations and scales that are carried over: of `all` joints that are paired by name, or of the `root`
    /// alone.
    #[arg(long, value_name = "all|root", default_value = "all")]
    translations: Translations,
    /// Fails, with exit code 2, if there is a warning about the retargeting.
    #[arg(long)]
    strict_retarget: bool,
    /// The largest error of rotations that cannot be transformed key by key, in radians. Default: 0.0001.
    #[arg(long, value_name = "RADIANS")]
    pub bound: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
enum Align {
    Auto,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
enum GroundChoice {
    Auto,
    Zero,
    Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
enum Translations {
    All,
    Root,
}

/// The up axis of a source; `None` for the one that its clips tell.
type Up = Option<DVec3>;

fn parse_up(text: &str) -> Result<Up, String> {
    let (sign, axis) = text.strip_prefix('-').map_or((1.0, text), |axis| (-1.0, axis));
    match axis.to_ascii_lowercase().as_str() {
        "auto" => Ok(None),
        "x" => Ok(Some(sign * DVec3::X)),
        "y" => Ok(Some(sign * DVec3::Y)),
        "z" => Ok(Some(sign * DVec3::Z)),
        _ => Err("expected auto, x, y, z, -x, -y or -z".into()),
    }
}

fn parse_facing(text: &str) -> Result<Facing, String> {
    match text {
        "auto" => Ok(Facing::Auto),
        "keep" => Ok(Facing::Keep),
        _ => match text.parse::<f64>() {
            Ok(degrees) if degrees.abs() <= 360.0 => Ok(Facing::Degrees(degrees)),
            _ => Err("expected auto, keep, or degrees from -360 to 360".into()),
        },
    }
}

impl MapArgs {
    /// Returns true if one of the options is given.
    pub fn is_given(&self) -> bool {
        let Self { align, facing, source_up, ground, translations, strict_retarget, .. } = self;
        self.map.is_some()
            || self.reference.is_some()
            || self.target_pose.is_some()
            || self.bound.is_some()
            || *align != Align::Auto
            || *facing != Facing::Auto
            || source_up.is_some()
            || *ground != GroundChoice::Auto
            || *translations != Translations::All
            || *strict_retarget
    }

    /// The options as JSON, with the hashes of files in place of their names. Equal options give equal clips.
    ///
    /// # Errors
    /// Those of the hash of a file.
    pub fn identity(&self, hash: impl Fn(&Path) -> Result<String, Error>) -> Result<serde_json::Value, Error> {
        let map = self.map.as_deref().map(&hash).transpose()?;
        let pose = |text: &Option<String>| -> Result<Option<String>, Error> {
            let Some(text) = text else { return Ok(None) };
            let place = PoseOfFile::new(text);
            Ok(Some(match place.filter(|place| place.file.is_file()) {
                Some(place) => format!("{}#{:?}@{}", hash(place.file)?, place.clip, place.seconds),
                None => text.clone(),
            }))
        };
        Ok(serde_json::json!({
            "map": map,
            "reference": pose(&self.reference)?,
            "target_pose": pose(&self.target_pose)?,
            "bound": self.bound,
            "align": self.align == Align::Auto,
            "facing": format!("{:?}", self.facing),
            "source_up": self.source_up.map(|up| up.to_array()),
            "ground": format!("{:?}", self.ground),
            "translations": format!("{:?}", self.translations),
        }))
    }

    /// Reads the joint map from its file, or makes it by names.
    fn joint_map(&self, library: &Library, source: SkeletonId, target: SkeletonId) -> Result<JointMap, Error> {
        let Some(file) = &self.map else { return JointMap::by_names(library, source, target) };
        let json = std::fs::read(file).map_err(|source| Error::Io { file: file.clone(), source })?;
        JointMap::from_json(library, source, target, file, &json)
    }

    /// The choices and the bounds. The clips are those of the source.
    fn options(&self, source: &Source, target: SkeletonId) -> Result<RetargetOptions, Error> {
        let mut options = RetargetOptions {
            align: self.align == Align::Auto,
            facing: self.facing,
            source_up: self.source_up,
            ground: match self.ground {
                GroundChoice::Auto => Ground::Auto,
                GroundChoice::Zero => Ground::Zero,
                GroundChoice::Keep => Ground::Keep,
            },
            translations: match self.translations {
                Translations::All => CarriedJoints::All,
                Translations::Root => CarriedJoints::Root,
            },
            ..RetargetOptions::default()
        };
        if let Some(text) = self.reference.as_deref().filter(|text| *text != "rest") {
            options.reference = match pose_of_file(source, source.skeleton, "--reference", text)? {
                Some(pose) => pose,
                None => reference_pose(source, text)?,
            };
        }
        if let Some(text) = self.target_pose.as_deref().filter(|text| *text != "rest") {
            let missing = || {
                Error::Usage(format!("--target-pose {text}: expected rest or a .glb, .gltf, .vrm, .vrma or .bvh file"))
            };
            options.target_pose = pose_of_file(source, target, "--target-pose", text)?.ok_or_else(missing)?;
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
    pub fn new(source: Source, file: &Path, rig: &Path, clips: &[ClipId], args: &MapArgs) -> Result<Self, Error> {
        Self::reported(source, file, rig, clips, args, &mut note)
    }

    /// The same; warnings go to a function.
    pub fn reported(
        mut source: Source,
        file: &Path,
        rig: &Path,
        clips: &[ClipId],
        args: &MapArgs,
        report: &mut Report,
    ) -> Result<Self, Error> {
        let bytes = if is_demo(rig) { None } else { Some(read_nodes(rig)?) };
        let nodes = match &bytes {
            Some(bytes) => Nodes::import(&mut source.library, rig, bytes)?,
            None => Nodes::demo(&mut source.library)?,
        };
        source.warn(rig, &nodes.warnings, report);
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
        let options = args.options(&source, nodes.skeleton)?;
        let retargeting = source.library.retarget(clips, &map, &options)?;
        let warnings = warnings(&source.library, &retargeting);
        if let Some(first) = warnings.first().filter(|_| args.strict_retarget) {
            return Err(Error::Usage(format!("{}: {first} (--strict-retarget)", file.display())));
        }
        source.warn(file, warnings, report);
        for made in &retargeting.clips {
            source.clips.iter_mut().filter(|clip| **clip == made.source).for_each(|clip| *clip = made.clip);
        }
        let Nodes { skeleton, skins, joints, asset, .. } = nodes;
        let source = Source { skeleton, skins, joints, asset, rig: Some(file_name(rig)), ..source };
        Ok(Self { source, retargeting, bytes })
    }
}

/// What was left out of a retargeting, then what looks wrong about it.
pub fn warnings(library: &Library, retargeting: &Retargeting) -> Vec<String> {
    let map = &retargeting.map;
    let left_out = map.remarks.iter().map(|remark| map.describe(library, remark));
    left_out.chain(retargeting.warnings.iter().map(|warning| warning.describe(library, map))).collect()
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

/// A text that names a pose of a file.
struct PoseOfFile<'a> {
    file: &'a Path,
    clip: Option<&'a str>,
    seconds: f64,
}

impl<'a> PoseOfFile<'a> {
    /// Splits `FILE[#CLIP][@SECONDS]`. `None` if the text does not begin with the name of a file of joints.
    fn new(text: &'a str) -> Option<Self> {
        let timed = text.rsplit_once('@').and_then(|(rest, seconds)| Some((rest, parse_seconds(seconds).ok()?)));
        let (rest, seconds) = timed.unwrap_or((text, 0.0));
        let (file, clip) = rest.rsplit_once('#').map_or((rest, None), |(file, clip)| (file, Some(clip)));
        let extension = Path::new(file).extension()?;
        let known = ["glb", "gltf", "vrm", "vrma", "bvh"];
        let is_known = known.iter().any(|known| extension.eq_ignore_ascii_case(known));
        is_known.then(|| Self { file: Path::new(file), clip, seconds })
    }
}

/// The pose of a file with joints of the names of a skeleton: that of its first clip, or of `#CLIP`, at `@SECONDS` or
/// 0 s; with `#rest`, and of a file without clips, its rest pose. `None` if the text names no file with a skeleton.
fn pose_of_file(
    source: &Source,
    skeleton: SkeletonId,
    option: &str,
    text: &str,
) -> Result<Option<ReferencePose>, Error> {
    let Some(PoseOfFile { file, clip, seconds }) = PoseOfFile::new(text) else { return Ok(None) };
    let other = Source::load_nodes(file)?;
    let pose = match clip {
        Some("rest") => ReferencePose::Rest,
        None if other.clips.is_empty() => ReferencePose::Rest,
        None => ReferencePose::Clip { clip: other.clips[0], time: seconds },
        Some(name) => match find_clip(&other, Some(name))? {
            Some(clip) => ReferencePose::Clip { clip, time: seconds },
            None => ReferencePose::Rest,
        },
    };
    let of = source.library.skeleton(skeleton);
    let found = ReferencePose::by_names(of, &other.library, other.skeleton, &pose);
    found.map(Some).map_err(|error| Error::Usage(format!("{option} {text}: {error}")))
}

/// Returns true for the name of the built-in rig. A file of this name can be given as `./demo`.
pub fn is_demo(rig: &Path) -> bool {
    rig.as_os_str() == "demo"
}
