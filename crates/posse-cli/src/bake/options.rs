//! The options of a bake, checked, and their normalised form.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use posse::bake::{ArrayKind, QuaternionOrder, UpAxis};
use posse::{Error, Library, import};
use serde::Serialize;

use crate::bake::args::Args;
use crate::bake::facts;
use crate::bake::format::{Format, NpzLayout};
use crate::engine::EngineChoice;
use crate::retargeting::{MapArgs, OPTIONS_WITHOUT_RETARGET};
use crate::source::add_rig_from_slice;

/// The options of a bake.
pub struct Options {
    /// Frames per second; `None` for the rate of each clip.
    pub fps: Option<f64>,
    /// The clips of each file, by name or index; empty for all.
    pub clips: Vec<String>,
    /// The arrays, in the order of [`ArrayKind::ALL`].
    pub kinds: Vec<ArrayKind>,
    /// The names of the joints; `None` for all.
    pub joints: Option<Vec<String>>,
    /// The file whose nodes the clips animate.
    pub rig: Option<PathBuf>,
    /// The options of the retargeting to the rig; `None` if joints are matched by name.
    pub retarget: Option<MapArgs>,
    /// True if clips are measured.
    pub quality: bool,
    /// True if feet in contact are held.
    pub foot_lock: bool,
    /// The files of `--joints` and `--rig`, with the buffers of the rig.
    pub read_files: Vec<ReadFile>,
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
    pub value: serde_json::Value,
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
    arrays: Vec<&'static str>,
    joints: Option<&'a [String]>,
    rig: Option<RigFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retarget: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "is_false")]
    quality: bool,
    #[serde(skip_serializing_if = "is_false")]
    foot_lock: bool,
    up: &'static str,
    scale: f64,
    quaternions: &'static str,
    format: &'static str,
    layout: Option<&'static str>,
    engine: &'static str,
}

/// The content of a rig. Its path does not change an output.
#[derive(Serialize)]
struct RigFacts {
    sha256: String,
    buffers: Vec<String>,
}

impl Options {
    /// Checks the arguments. Reads the file of `--joints`, and the rig.
    pub fn new(args: &Args) -> Result<Self, Error> {
        let format = Format::new(args.format, args.layout)?;
        let kinds = format.kinds(&args.arrays)?;
        check_repeats(&args.arrays)?;
        let joints = args.joints.as_deref().map(JointNames::read).transpose()?;
        let rig = args.rig.as_deref().map(RigFiles::read).transpose()?;
        let (joints, joints_file) = joints.map_or((None, None), |joints| (Some(joints.names), joints.file));
        let (rig_facts, beside_rig) = rig.map_or((None, Vec::new()), |rig| (Some(rig.facts), rig.beside));
        let file = |role| move |path: PathBuf| ReadFile { role, path };
        let read_files = joints_file.map(file("the file of --joints")).into_iter();
        let read_files = read_files.chain(args.rig.clone().map(file("the rig")));
        let mut options = Self {
            fps: args.fps,
            clips: args.clip.clone(),
            kinds: ArrayKind::ALL.into_iter().filter(|kind| kinds.contains(kind)).collect(),
            joints,
            rig: args.rig.clone(),
            retarget: args.retarget.then(|| args.map.clone()),
            quality: args.quality || args.foot_lock,
            foot_lock: args.foot_lock,
            read_files: read_files.chain(beside_rig.into_iter().map(file("a file that the rig names"))).collect(),
            up: args.up.into(),
            scale: args.scale,
            quaternions: format.quaternions(args.quaternions.map(Into::into))?,
            format,
            engine: args.engine.into(),
            text: String::new(),
            value: serde_json::Value::Null,
        };
        if args.map.is_given() && !args.retarget {
            return Err(Error::Usage(OPTIONS_WITHOUT_RETARGET.into()));
        }
        let hash = |file: &Path| Ok(facts::sha256_of_bytes(&facts::read_regular(file)?));
        let retarget = options.retarget.as_ref().map(|map| map.identity(hash)).transpose()?;
        let value = serde_json::to_value(options.normalised(rig_facts, retarget))
            .map_err(|error| Error::Usage(error.to_string()))?;
        options.text = value.to_string();
        options.value = value;
        Ok(options)
    }

    /// The options that change an output, and those that select clips.
    pub fn value_of_all(&self) -> serde_json::Value {
        let mut value = self.value.clone();
        value["clip"] = self.clips.as_slice().into();
        value
    }

    /// True if the arrays of a clip depend on all its frames, so that it is baked from a whole file.
    pub fn need_whole_clips(&self) -> bool {
        self.quality || self.foot_lock || self.kinds.contains(&ArrayKind::Contact)
    }

    fn normalised(&self, rig: Option<RigFacts>, retarget: Option<serde_json::Value>) -> Normalised<'_> {
        Normalised {
            fps: self.fps,
            arrays: self.kinds.iter().map(|kind| kind.name()).collect(),
            joints: self.joints.as_deref(),
            rig,
            retarget,
            quality: self.quality,
            foot_lock: self.foot_lock,
            up: self.up.name(),
            scale: self.scale,
            quaternions: self.quaternions.name(),
            format: self.format.extension(),
            layout: match self.format {
                Format::Npz(NpzLayout::Plain) => Some("plain"),
                Format::Npz(NpzLayout::Mjlab) => Some("mjlab"),
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

/// True for a flag that is not set.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Fails if an array is listed twice.
fn check_repeats(kinds: &[ArrayKind]) -> Result<(), Error> {
    match kinds.iter().enumerate().find(|(index, kind)| kinds[..*index].contains(kind)) {
        Some((_, kind)) => Err(Error::Usage(format!("--arrays repeats {}; list each array once", kind.name()))),
        None => Ok(()),
    }
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
            None if is_like_path(text) => {
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

/// Returns true for a text without commas that is rather a path than the name of a joint.
fn is_like_path(text: &str) -> bool {
    let extension = Path::new(text).extension().unwrap_or_default();
    let is_known = || ["txt", "json", "csv", "list", "lst"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    !text.contains(',') && (text.contains(std::path::is_separator) || is_known())
}

/// A rig that has been read.
struct RigFiles {
    facts: RigFacts,
    /// The files that it names.
    beside: Vec<PathBuf>,
}

impl RigFiles {
    /// Reads a rig to identify it. Fails if it cannot be used, because then no clip can be baked.
    fn read(rig: &Path) -> Result<Self, Error> {
        let bytes = facts::read_regular(rig)?;
        let mut library = Library::new();
        // The warnings come with the files that are baked.
        let (skeleton, _) = add_rig_from_slice(&mut library, rig, &bytes, &mut |_| ())?;
        if library.skeleton(skeleton).joints().is_empty() {
            let rig = rig.display();
            return Err(Error::Usage(format!("{rig}: the rig has no joints; name a file with nodes or joints")));
        }
        // A rig that is not glTF has nothing beside it.
        let outline = import::gltf::Outline::from_slice(rig, &bytes).unwrap_or_default();
        let folder = rig.parent().unwrap_or(Path::new(""));
        let beside = outline.buffers.iter().map(|buffer| folder.join(buffer)).collect();
        let buffers = facts::facts_of_buffers(rig, &outline.buffers)?;
        let buffers = buffers.into_iter().map(|buffer| buffer.sha256).collect();
        Ok(Self { facts: RigFacts { sha256: facts::sha256_of_bytes(&bytes), buffers }, beside })
    }
}
