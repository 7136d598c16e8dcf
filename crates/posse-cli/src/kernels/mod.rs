//! `posse kernels`: the kernels of a library and the buffers of a crowd, for a device of one's own.

mod manifest;
mod translate;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use posse::gpu::KernelText;
use posse::kernels::{Buffer, DeviceCrowd, DeviceLimits, library_buffer};
use posse::packed::PackedLibrary;
use posse::{Crowd, CrowdOptions, Error, Library, Mixing, Outputs, SkinFormat};

use crate::arguments::{BvhArgs, SkinFormatChoice, whole};
use crate::kernels::manifest::Manifest;
use crate::kernels::translate::{Language, ParsedKernel};
use crate::output::{self, Output, plural};
use crate::source::{Source, load_crowd_file};

/// The end of `posse kernels --help`.
pub const HELP: &str = "\
Examples:
  posse kernels hero.glb --emit spirv -o kernels
  posse kernels --crowd crowd.json --emit wgsl,msl --skin-format half -o kernels

DIR gets kernels.json, a file per kernel and language, and the bytes of the buffers: of the library words.bin and
values.bin, of each batch of the crowd what its kernels read. The crowd is the crowd of the crowd file, or one instance
per clip of FILE, as a loop. Each kernel that a crowd of FILE without goals and transitions may need is there; kernels
with goals or transitions are there if the crowd has or may have them. docs/kernels.md describes how a program
dispatches them.";

/// The arguments of `posse kernels`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb, .gltf, .vrm, .fbx or .bvh file, an .npz file of SMPL or AMASS, or `demo` for the built-in human.
    #[arg(required_unless_present = "crowd")]
    file: Option<PathBuf>,
    /// A crowd file instead of FILE.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "input_fps", "no_end_sites"])]
    crowd: Option<PathBuf>,
    /// The languages of the kernels, separated by commas.
    #[arg(long, value_name = "LANGUAGES", value_delimiter = ',', default_value = "wgsl")]
    emit: Vec<Language>,
    /// The folder of the files. It is created if it does not exist.
    #[arg(short, long, value_name = "DIR", default_value = "kernels")]
    output: PathBuf,
    /// The outputs, separated by commas. Default: skin matrices; model matrices if there are no skins.
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    outputs: Vec<WantedOutput>,
    /// The format of skin matrices.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    skin_format: SkinFormatChoice,
    #[command(flatten)]
    capacity: CapacityArgs,
    #[command(flatten)]
    bvh: BvhArgs,
}

/// The capacity of each instance for later changes.
#[derive(Debug, clap::Args)]
struct CapacityArgs {
    /// Layers per instance, up to 8. Default: as many as the crowd begins with.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = whole(0..=Crowd::MAX_LAYERS))]
    layers: usize,
    /// The mixing of layers: none, blend, or any.
    #[arg(long, value_name = "MIXING", value_enum, default_value_t)]
    mixing: MixingChoice,
    /// Parameters per instance, up to 16, with drivers of layers. Default: as many as the crowd refers to.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = whole(0..=Crowd::MAX_PARAMETERS))]
    parameters: usize,
    /// Goals of inverse kinematics per instance, up to 32. Default: as many as the crowd begins with.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = whole(0..=Crowd::MAX_GOALS))]
    goals: usize,
    /// Transitions at the same time, per batch. Default: as many as the crowd begins with.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = whole::<usize>(0..=1_000_000))]
    transitions: usize,
}

/// A part of a pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum WantedOutput {
    /// Local translations, rotations and scales.
    Local,
    /// Model matrices.
    Model,
    /// Skin matrices.
    Skin,
    /// Morph weights.
    Weights,
    /// Values of animation pointers.
    Properties,
    /// The movement of each instance.
    RootMotion,
}

/// The mixing of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum MixingChoice {
    /// One layer that plays alone.
    #[default]
    None,
    /// Layers that blend.
    Blend,
    /// Layers that override or add, too.
    Any,
}

/// A library, its crowd, and what the manifest tells of both.
struct Input {
    library: Library,
    crowd: Crowd,
    /// The name of the file.
    file: String,
}

/// Runs `posse kernels`.
pub fn run(args: &Args) -> Result<(), Error> {
    let input = args.read()?;
    let outputs = args.outputs(&input.library);
    let packed = PackedLibrary::new(&input.library)?;
    let (options, limits) = (args.capacity.options(), DeviceLimits::default());
    let crowd = DeviceCrowd::new(&packed, &input.crowd, outputs, options, limits)?;
    let mut texts = KernelText::of_crowd(&packed, &crowd);
    for text in KernelText::of_library(&packed, SkinFormat::from(args.skin_format)) {
        if texts.iter().all(|found| found.name != text.name) {
            texts.push(text);
        }
    }
    let mut manifest = Manifest::new(&input.file, &input.library, limits);
    if args.output.exists() && !args.output.is_dir() {
        let file = args.output.display();
        return Err(Error::Usage(format!("{file}: it is not a folder; give the path of a folder with -o")));
    }
    fs::create_dir_all(&args.output).map_err(|source| Error::Io { file: args.output.clone(), source })?;
    let folder = Folder(&args.output);
    for text in &texts {
        let parsed = ParsedKernel::new(text)?;
        let mut files = Vec::new();
        for &language in &args.emit {
            let translated = parsed.translate(language)?;
            let name = format!("{}.{}", text.name, language.extension());
            folder.write(&name, &translated.bytes)?;
            files.push((language, name, translated));
        }
        manifest.add_kernel(text, &parsed, &files)?;
    }
    for buffer in Buffer::ALL {
        let Some((contents, bytes)) = library_buffer(&packed, buffer) else { continue };
        let name = format!("{}.bin", buffer.name());
        folder.write(&name, contents)?;
        manifest.add_library_buffer(buffer, bytes, &name);
    }
    for (index, batch) in crowd.batches.iter().enumerate() {
        let mut files = Vec::new();
        for found in &batch.buffers {
            let name = format!("batch{index}.{}.bin", found.buffer.name());
            if !found.contents.is_empty() {
                folder.write(&name, &found.contents)?;
            }
            files.push((!found.contents.is_empty()).then_some(name));
        }
        manifest.add_batch(&input.library, batch, &files);
    }
    manifest.add_instances(&input.library, &input.crowd);
    folder.write("kernels.json", manifest.text()?.as_bytes())?;
    let counts = [(texts.len(), "kernel"), (crowd.batches.len(), "batch"), (input.crowd.len(), "instance")];
    let [kernels, batches, instances] = counts.map(|(count, noun)| plural(count, noun));
    output::print(|out| {
        let place = args.output.join("kernels.json");
        writeln!(out, "{}: {kernels}, {batches}, {instances}", place.display())
    })
}

impl Args {
    /// Reads the crowd file, or the file with one instance per clip.
    fn read(&self) -> Result<Input, Error> {
        if let Some(path) = &self.crowd {
            let mut library = Library::new();
            let file = load_crowd_file(&mut library, path)?;
            let crowd = file.crowd(&library, 0..file.len())?;
            return Ok(Input { library, crowd, file: output::file_name(path) });
        }
        let file = self.file.as_deref().unwrap_or(Path::new("demo"));
        let source = Source::load(file, None, self.bvh)?;
        if !source.has_nodes() {
            let reason = format!("{}: it has no joints, and kernels pose joints; give a crowd file", file.display());
            return Err(Error::Usage(reason));
        }
        let mut crowd = Crowd::new();
        for clip in source.usable_clips() {
            crowd.push(source.skeleton, &[clip.looping()])?;
        }
        if crowd.is_empty() {
            crowd.push(source.skeleton, &[])?;
        }
        Ok(Input { file: source.file, library: source.library, crowd })
    }

    fn outputs(&self, library: &Library) -> Outputs {
        let skin_format = self.skin_format.into();
        if self.outputs.is_empty() {
            let has_skins = !library.skins().is_empty();
            return Outputs { model: !has_skins, ..Outputs::SKIN.with_skin_format(skin_format) };
        }
        let wanted = |part| self.outputs.contains(&part);
        Outputs {
            local: wanted(WantedOutput::Local),
            model: wanted(WantedOutput::Model),
            skin: wanted(WantedOutput::Skin),
            skin_format,
            weights: wanted(WantedOutput::Weights),
            properties: wanted(WantedOutput::Properties),
            root_motion: wanted(WantedOutput::RootMotion),
        }
    }
}

impl CapacityArgs {
    fn options(&self) -> CrowdOptions {
        CrowdOptions {
            layers: self.layers,
            mixing: match self.mixing {
                MixingChoice::None => Mixing::None,
                MixingChoice::Blend => Mixing::Blend,
                MixingChoice::Any => Mixing::Any,
            },
            parameters: self.parameters,
            goals: self.goals,
            transitions: self.transitions,
            ..CrowdOptions::NONE
        }
    }
}

/// The folder of the output.
struct Folder<'a>(&'a Path);

impl Folder<'_> {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut file = Output::create(Some(&self.0.join(name)))?;
        file.write(|out| out.write_all(bytes))?;
        file.finish()
    }
}
