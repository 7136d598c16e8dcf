//! The options of a bake, checked, and their normalised form.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use posse::bake::{ArrayKind, QuaternionOrder, UpAxis};
use posse::import::FileFormat;
use posse::import::smpl::Proportions;
use posse::{Error, import};
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::BvhArgs;
use crate::bake::args::Args;
use crate::bake::cut_list::CutList;
use crate::bake::facts;
use crate::bake::format::Format;
use crate::bake::frames::{FrameOptions, FrameRange};
use crate::engine::EngineChoice;
use crate::output::warn_of_file;
use crate::retargeting::{ChoiceFile, OPTIONS_WITHOUT_RETARGET, Retargeter};
use crate::source::{ReportLine, Rig};

/// The options of a bake.
pub struct Options {
    /// Frames per second; `None` for the rate of each clip.
    pub fps: Option<f64>,
    /// The clips of each file, by name or index; empty for all.
    pub clips: Vec<String>,
    /// `true` if the names of clips keep the extensions of their files.
    pub keeps_extension: bool,
    /// The folder of the paths of `@LIST`; `None` for the working folder.
    pub base: Option<PathBuf>,
    /// The options of reading BVH files.
    pub bvh: BvhArgs,
    /// The arrays, in the order of [`ArrayKind::ALL`].
    pub kinds: Vec<ArrayKind>,
    /// The names of the joints; `None` for all.
    pub joints: Option<Vec<String>>,
    /// The names of the morph weights; `None` for all.
    pub morphs: Option<Vec<String>>,
    /// The frames of each clip, unless there are cuts.
    pub frames: FrameRange,
    /// The part of each clip in seconds; `None` for all of it.
    pub seconds: Option<[f64; 2]>,
    /// The pieces of clips; `None` for the clips of all inputs.
    pub cuts: Option<CutList>,
    /// The rig whose nodes the clips animate.
    pub rig: Option<Rig>,
    /// Where the joints of files of SMPL rest; `None` for an adult.
    pub proportions: Option<Proportions>,
    /// The retargeting to the rig; `None` if joints are matched by name.
    pub retarget: Option<Retargeter>,
    /// `true` if each clip is baked as its mirror image, too.
    pub mirror: bool,
    /// `true` if clips are measured.
    pub quality: bool,
    /// `true` if feet in contact are held.
    pub foot_lock: bool,
    /// The files that the options name, with the buffers of those.
    pub read_files: Vec<ReadFile>,
    /// The warnings of these files.
    pub warnings: Vec<String>,
    /// The axis that points up.
    pub up: UpAxis,
    /// The factor of lengths.
    pub scale: f64,
    /// The order of the numbers of quaternions.
    pub quaternions: QuaternionOrder,
    /// The format of the outputs.
    pub format: Format,
    /// The engine: `cpu`, `gpu` or `reference`.
    pub engine: EngineChoice,
    /// The options that change an output, as JSON. Equal options have equal texts.
    pub text: String,
    /// The same as a value.
    pub value: Value,
}

/// A file that a bake reads. No output may replace it.
#[derive(Debug, Clone)]
pub struct ReadFile {
    /// The part that it has in the bake, for messages.
    pub role: &'static str,
    pub path: PathBuf,
}

/// The options that change an output.
#[derive(Serialize)]
struct Normalised<'a> {
    fps: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    arrays: Vec<&'static str>,
    joints: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    morphs: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_fps: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_end_sites: bool,
    rig: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skeleton: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retarget: Option<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    quality: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    foot_lock: bool,
    up: &'static str,
    scale: f64,
    quaternions: &'static str,
    format: &'static str,
    layout: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bvh_order: Option<String>,
    engine: &'static str,
}

impl Options {
    /// Checks the arguments. Reads the files that they name.
    pub fn new(args: &Args) -> Result<Self, Error> {
        let format = Format::new(args.format, args.layout, args.bvh_order)?;
        let kinds = format.kinds(&args.arrays)?;
        check_repeats(&args.arrays)?;
        let joints = args.joints.as_deref().map(JointNames::read).transpose()?;
        let (joints, joints_file) = joints.map_or((None, None), |joints| (Some(joints.names), joints.file));
        if args.map.is_given() && !args.retarget {
            return Err(Error::Usage(OPTIONS_WITHOUT_RETARGET.into()));
        }
        let mut warnings = Vec::new();
        let mut report = |text: &str| warnings.push(text.to_owned());
        let rig = args.rig.as_deref().map(|rig| read_rig(rig, args.bvh, &mut report)).transpose()?;
        let skeleton = args.skeleton.skeleton.as_deref();
        let skeleton = skeleton.map(|path| read_rig(path, args.bvh, &mut report)).transpose()?;
        let retarget = args.retarget.then(|| Retargeter::new(&args.map, args.bvh, &mut report)).transpose()?;
        let cuts = args.cuts.as_deref().map(CutList::read).transpose()?;
        if let Format::Npz(layout) = format {
            warnings.extend(layout.warning().map(str::to_owned));
        }
        let mut read_files = Vec::new();
        read_files.extend(joints_file.map(|path| ReadFile { role: "the file of --joints", path }));
        read_files.extend(args.cuts.clone().map(|path| ReadFile { role: "the file of --cuts", path }));
        let mut facts_of = |rig: &Option<Rig>, role| match rig {
            Some(Rig { path, bytes: Some(bytes), .. }) => {
                identify(&ChoiceFile { role, path, bytes }, &mut read_files).map(Some)
            }
            // The version of posse is among the facts.
            Some(Rig { bytes: None, .. }) => Ok(Some("demo".into())),
            None => Ok(None),
        };
        let rig_facts = [facts_of(&rig, "the rig")?, facts_of(&skeleton, "the file of --skeleton")?];
        let retarget_facts =
            retarget.as_ref().map(|retarget| retarget.identity(|file| identify(file, &mut read_files)));
        let retarget_facts = retarget_facts.transpose()?;
        let mut options = Self {
            fps: args.fps,
            clips: args.clip.clone(),
            keeps_extension: args.keep_extension,
            base: base(args)?,
            bvh: args.bvh,
            kinds: ArrayKind::ALL.into_iter().filter(|kind| kinds.contains(kind)).collect(),
            joints,
            morphs: morphs(args, format, &kinds)?,
            frames: args.frame_range.unwrap_or_default(),
            seconds: args.range,
            cuts,
            rig,
            proportions: skeleton.as_ref().map(Rig::proportions).transpose()?,
            retarget,
            mirror: args.mirror,
            quality: args.quality || args.foot_lock,
            foot_lock: args.foot_lock,
            read_files,
            warnings,
            up: args.up.into(),
            scale: args.scale,
            quaternions: format.quaternions(args.quaternions.map(Into::into))?,
            format,
            engine: args.engine.into(),
            text: String::new(),
            value: Value::Null,
        };
        let value = serde_json::to_value(options.normalised(rig_facts, retarget_facts))
            .map_err(|error| Error::Usage(error.to_string()))?;
        options.text = value.to_string();
        options.value = value;
        Ok(options)
    }

    /// The options that change an output, and the options that select outputs and frames.
    pub fn value_of_all(&self) -> Value {
        let mut value = self.value.clone();
        value["clip"] = self.clips.as_slice().into();
        if self.keeps_extension {
            value["keep-extension"] = true.into();
        }
        if !self.frames.is_whole() {
            value["frame-range"] = self.frames.to_string().into();
        }
        if let Some(cuts) = &self.cuts {
            value["cuts"] = cuts.sha256.as_str().into();
        }
        if self.mirror {
            value["mirror"] = true.into();
        }
        value
    }

    /// The options for the frames of a clip.
    pub fn frame_options(&self) -> FrameOptions {
        let keeps_end = matches!(self.format, Format::Glb | Format::Usda);
        FrameOptions { fps: self.fps, seconds: self.seconds, keeps_end }
    }

    /// Returns `true` if the lengths of outputs are metres: the unit of the rig or of this kind of files is known, or
    /// `--scale` makes metres of it. Nothing is known of the unit of a BVH file.
    pub fn is_in_metres(&self, kind: FileFormat) -> bool {
        self.scale != 1.0 || self.rig.as_ref().map_or(kind != FileFormat::Bvh, |rig| rig.is_in_metres)
    }

    /// The axis that points up in outputs from files of a kind: `y`, `z`, or `unknown`.
    ///
    /// Files of SMPL have the world of their data set, with +Z up in AMASS and +Y up in BEDLAM, and do not tell which.
    /// A retargeting stands its rig up along +Y, or +Z if the options ask for it.
    pub fn up_axis(&self, kind: FileFormat) -> &'static str {
        let is_unknown = kind == FileFormat::Smpl && self.up == UpAxis::Y && self.retarget.is_none();
        if is_unknown { "unknown" } else { self.up.name() }
    }

    /// The option for which the frames of a clip are measured, so that the whole file is read. `None` without one.
    pub fn measuring(&self) -> Option<&'static str> {
        let contact = self.kinds.contains(&ArrayKind::Contact);
        let options = [(self.foot_lock, "--foot-lock"), (self.quality, "--quality"), (contact, "--arrays contact")];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    fn normalised(&self, [rig, skeleton]: [Option<Value>; 2], retarget: Option<Value>) -> Normalised<'_> {
        Normalised {
            fps: self.fps,
            range: self.seconds,
            arrays: self.kinds.iter().map(|kind| kind.name()).collect(),
            joints: self.joints.as_deref(),
            morphs: self.morphs.as_deref(),
            input_fps: self.bvh.input_fps,
            no_end_sites: self.bvh.no_end_sites,
            rig,
            skeleton,
            retarget,
            quality: self.quality,
            foot_lock: self.foot_lock,
            up: self.up.name(),
            scale: self.scale,
            quaternions: self.quaternions.name(),
            format: self.format.name(),
            layout: match self.format {
                Format::Npz(layout) => Some(layout.name()),
                _ => None,
            },
            bvh_order: match self.format {
                Format::Bvh(order) => Some(order.to_string()),
                _ => None,
            },
            engine: match self.engine {
                EngineChoice::Auto | EngineChoice::Cpu => "cpu",
                EngineChoice::Gpu => "gpu",
                EngineChoice::Reference => "reference",
            },
        }
    }
}

/// Fails if an array is listed twice.
fn check_repeats(kinds: &[ArrayKind]) -> Result<(), Error> {
    match kinds.iter().enumerate().find(|(index, kind)| kinds[..*index].contains(kind)) {
        Some((_, kind)) => Err(Error::Usage(format!("--arrays repeats {}; list each array once", kind.name()))),
        None => Ok(()),
    }
}

/// The folder of `--base`; `None` without the option.
fn base(args: &Args) -> Result<Option<PathBuf>, Error> {
    let Some(base) = &args.base else { return Ok(None) };
    if !args.inputs.iter().any(|input| input.to_string_lossy().starts_with('@')) {
        return Err(Error::Usage("--base is for @LIST; a folder as INPUT is the base of its files".into()));
    }
    if !base.is_dir() {
        return Err(Error::Usage(format!("--base {}: there is no such folder", base.display())));
    }
    Ok(Some(base.clone()))
}

/// The names of `--morphs`; `None` without the option.
fn morphs(args: &Args, format: Format, kinds: &[ArrayKind]) -> Result<Option<Vec<String>>, Error> {
    if args.morphs.is_empty() {
        return Ok(None);
    }
    if format == Format::Vrma {
        return Err(Error::Usage(
            "--format vrma has the expressions of all morph weights, and selects none; leave out --morphs".into(),
        ));
    }
    if !kinds.contains(&ArrayKind::Weights) {
        return Err(Error::Usage("--morphs selects morph weights: add weights to --arrays".into()));
    }
    Ok(Some(args.morphs.clone()))
}

/// The value of `--joints`.
struct JointNames {
    names: Vec<String>,
    /// The file that they were read from; `None` for a list.
    file: Option<PathBuf>,
}

impl JointNames {
    /// Reads the names: the lines of a file, or a list. A text with a comma is a list; any other text that names a file
    /// is this file.
    fn read(text: &str) -> Result<Self, Error> {
        let file = Some(Path::new(text)).filter(|file| !text.contains(',') && file.is_file());
        let names: Vec<String> = match file {
            Some(file) => {
                let read = std::fs::read_to_string(file);
                let lines = read.map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
                let names = lines.trim_start_matches('\u{feff}').lines().map(str::trim);
                names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
            }
            None if is_like_file(text) => {
                return Err(Error::Usage(format!(
                    "--joints {text}: there is no such file; give a file with a name per line, or names with commas between them"
                )));
            }
            None => text.split(',').map(|name| name.trim().to_owned()).collect(),
        };
        if names.is_empty() {
            return Err(Error::Usage(format!("--joints {text}: the file has no names; list at least one joint")));
        }
        if let Some(index) = names.iter().position(String::is_empty) {
            let place = index + 1;
            return Err(Error::Usage(format!(
                "--joints {text}: name {place} is empty; remove a comma, or name a joint"
            )));
        }
        let mut known = HashSet::new();
        if let Some((index, name)) = names.iter().enumerate().find(|(_, name)| !known.insert(name.as_str())) {
            return Err(Error::Usage(format!("--joints: name {} repeats {name:?}; list each joint once", index + 1)));
        }
        Ok(Self { names, file: file.map(Path::to_path_buf) })
    }
}

/// Returns `true` for a text without commas that is rather the name of a file than the name or path of a joint.
fn is_like_file(text: &str) -> bool {
    let extension = Path::new(text).extension().unwrap_or_default();
    let is_known = || ["txt", "json", "csv", "list", "lst"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    !text.contains(',') && is_known()
}

/// Reads a rig. Fails if it cannot be used, because then no clip can be baked. Its warnings are reported once, and not
/// with each file that is baked.
fn read_rig(path: &Path, bvh: BvhArgs, report: &mut ReportLine) -> Result<Rig, Error> {
    let mut rig = Rig::read(path, bvh)?;
    if rig.skeleton().joints().is_empty() {
        let rig = path.display();
        return Err(Error::Usage(format!("{rig}: the rig has no joints; name a file with nodes or joints")));
    }
    warn_of_file(path, std::mem::take(&mut rig.warnings), report)?;
    Ok(rig)
}

/// The content of a file that the options name, and of the buffers that it names in turn. Its path does not change an
/// output. Adds all of them to the files that are read.
fn identify(file: &ChoiceFile, read_files: &mut Vec<ReadFile>) -> Result<Value, Error> {
    let ChoiceFile { role, path, bytes } = *file;
    read_files.push(ReadFile { role, path: path.to_path_buf() });
    // A file that is not glTF has nothing beside it.
    let outline = import::gltf::Outline::from_slice(path, bytes).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = outline.buffers.iter().map(|buffer| folder.join(buffer));
    read_files.extend(beside.map(|path| ReadFile { role: "a file that a file of the options names", path }));
    let buffers = facts::facts_of_buffers(path, &outline.buffers)?;
    let buffers: Vec<String> = buffers.into_iter().map(|buffer| buffer.sha256).collect();
    Ok(json!({ "sha256": facts::sha256_of_bytes(bytes), "buffers": buffers }))
}
