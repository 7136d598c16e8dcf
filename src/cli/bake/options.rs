//! The options of a bake, checked, and their normalised form.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use posse::bake::{ArrayKind, QuaternionOrder, UpAxis};
use posse::{Error, import};
use serde::Serialize;

use crate::cli::bake::args::Args;
use crate::cli::bake::facts::{SourceFacts, StoredFacts};
use crate::cli::bake::format::{Format, NpzLayout};
use crate::cli::bake::{hash, regular_file};
use crate::cli::engine::EngineChoice;

/// The version that outputs state.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

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
    /// The same with the options that select clips.
    pub text_of_all: serde_json::Value,
}

/// The options that change an output.
#[derive(Serialize)]
struct Normalised<'a> {
    fps: Option<f64>,
    arrays: Vec<&'static str>,
    joints: Option<&'a [String]>,
    rig: Option<RigFacts>,
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
    /// Checks the arguments. Reads the file of `--joints`, and the rig to identify it.
    pub fn new(args: &Args) -> Result<Self, Error> {
        let format = Format::new(args.format, args.layout)?;
        let kinds = format.kinds(&args.arrays)?;
        let mut options = Self {
            fps: args.fps,
            clips: args.clip.clone(),
            kinds: ArrayKind::ALL.into_iter().filter(|kind| kinds.contains(kind)).collect(),
            joints: args.joints.as_deref().map(joint_names).transpose()?,
            rig: args.rig.clone(),
            up: args.up.into(),
            scale: args.scale,
            quaternions: format.quaternions(args.quaternions.map(Into::into))?,
            format,
            engine: args.engine.into(),
            text: String::new(),
            text_of_all: serde_json::Value::Null,
        };
        let rig = options.rig.as_deref().map(RigFacts::new).transpose()?;
        let value = serde_json::to_value(options.normalised(rig)).map_err(|error| Error::Usage(error.to_string()))?;
        options.text = value.to_string();
        options.text_of_all = value;
        options.text_of_all["clip"] = options.clips.as_slice().into();
        Ok(options)
    }

    fn normalised(&self, rig: Option<RigFacts>) -> Normalised<'_> {
        Normalised {
            fps: self.fps,
            arrays: self.kinds.iter().map(|kind| kind.name()).collect(),
            joints: self.joints.as_deref(),
            rig,
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

    /// The reason that an output is not the one that these options make of a source; `None` if it is.
    pub fn difference(&self, stored: &StoredFacts, source: &SourceFacts) -> Option<String> {
        if stored.posse_version != VERSION {
            return Some(format!("made by posse {}, but this is {VERSION}", stored.posse_version));
        }
        if stored.options != self.text {
            return Some(format!("made with other options: {}", different_fields(&stored.options, &self.text)));
        }
        (stored.source != *source).then(|| "made from another file, or from an older version of it".into())
    }
}

/// The fields in which two JSON objects differ, with both values.
pub fn different_fields(found: &str, expected: &str) -> String {
    let parse = |text: &str| serde_json::from_str::<serde_json::Map<_, _>>(text).unwrap_or_default();
    let (found, expected) = (parse(found), parse(expected));
    let mut names: Vec<&String> = expected.keys().chain(found.keys()).collect();
    names.sort();
    names.dedup();
    let show = |value: Option<&serde_json::Value>| value.map_or("nothing".into(), ToString::to_string);
    let differences = names.into_iter().filter(|name| found.get(*name) != expected.get(*name));
    let lines =
        differences.map(|name| format!("{name} was {}, is {}", show(found.get(name)), show(expected.get(name))));
    lines.collect::<Vec<_>>().join("; ")
}

/// The names of `--joints`: the lines of a file, or a list.
fn joint_names(text: &str) -> Result<Vec<String>, Error> {
    let file = Path::new(text);
    let clean = |name: &str| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    let names: Vec<String> = if file.is_file() {
        let read = std::fs::read_to_string(file);
        let lines = read.map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
        lines.trim_start_matches('\u{feff}').lines().filter_map(clean).collect()
    } else {
        text.split(',').filter_map(clean).collect()
    };
    if names.is_empty() {
        return Err(Error::Usage(format!("--joints {text}: there are no names; list at least one joint")));
    }
    let mut known = HashSet::new();
    if let Some((index, name)) = names.iter().enumerate().find(|(_, name)| !known.insert(name.as_str())) {
        return Err(Error::Usage(format!("--joints: name {} repeats {name:?}; list each joint once", index + 1)));
    }
    Ok(names)
}

impl RigFacts {
    fn new(rig: &Path) -> Result<Self, Error> {
        let bytes = regular_file::read(rig)?;
        // A rig that is not glTF has nothing beside it. A rig that cannot be used is refused when clips are bound to it.
        let outline = import::gltf::Outline::from_slice(rig, &bytes).unwrap_or_default();
        let SourceFacts { sha256, buffers, .. } = hash::facts_of_file(rig, String::new(), &outline.buffers)?;
        Ok(Self { sha256, buffers: buffers.into_iter().map(|buffer| buffer.sha256).collect() })
    }
}
