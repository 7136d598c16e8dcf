//! `posse retarget`: clips of a file on the skeleton of another one, as a glTF file.

mod report;

use std::io::Write;
use std::path::PathBuf;

use posse::export::gltf::Document;
use posse::{ClipId, Error};

use self::report::Report;
use crate::output::{self, Output, check_folder, note};
use crate::retargeting::{MapArgs, Retargeted, is_demo};
use crate::source::{Source, find_clip};

/// The length of the sides of the triangles of the built-in figure, in metres.
const BODY_SIDE: f64 = 0.025;

/// The arguments of `posse retarget`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb, .gltf, .vrm, .vrma or .bvh file with clips.
    file: PathBuf,
    /// A .glb, .gltf, .vrm or .bvh file with the skeleton that gets the clips, or `demo` for the built-in rig.
    #[arg(long, value_name = "TARGET")]
    onto: PathBuf,
    /// A clip, by name or by index. Can be given several times. Default: all clips.
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Vec<String>,
    #[command(flatten)]
    map: MapArgs,
    /// Keeps the animations of TARGET, before the new ones. By default, they are replaced.
    #[arg(long)]
    keep: bool,
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
    /// The output file, .glb: the nodes, skins, meshes and materials of TARGET with the new clips.
    #[arg(short, long, value_name = "OUT.glb")]
    output: PathBuf,
}

/// Runs `posse retarget`.
pub fn run(args: &Args) -> Result<(), Error> {
    if !args.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("glb")) {
        let file = args.output.display();
        return Err(Error::Usage(format!("{file}: the name of the output must end with .glb")));
    }
    check_folder(&args.output)?;
    let source = Source::load_nodes(&args.file)?;
    let clips = selected_clips(&source, &args.clip)?;
    if clips.is_empty() {
        return Err(Error::Usage(format!("{} has no clips to retarget", args.file.display())));
    }
    let Retargeted { source, retargeting, bytes } = Retargeted::new(source, &args.file, &args.onto, &clips, &args.map)?;
    let library = &source.library;
    let mut document = match &bytes {
        // A glTF file.
        Some(bytes) if source.asset.is_some() => Document::from_slice(&args.onto, bytes, args.onto.parent())?,
        _ => Document::of_skeleton(library, source.skeleton)?,
    };
    if is_demo(&args.onto) {
        document.add_body(&posse_render::demo::body(library.skeleton(source.skeleton), BODY_SIDE)?);
    }
    for warning in document.warnings() {
        note(&format!("warning: {}: {warning}", args.onto.display()));
    }
    if !args.keep {
        document.remove_animations();
    }
    for clip in &retargeting.clips {
        document.add_clip(library, clip.clip)?.iter().for_each(|text| note(&format!("note: {text}")));
    }
    let glb = document.to_glb()?;
    let mut file = Output::create(Some(&args.output))?;
    file.write(|out| out.write_all(&glb))?;
    file.finish()?;
    let report = Report::new(library, &retargeting);
    output::print(|out| {
        if args.json {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            return writeln!(out);
        }
        report.print(out)
    })
}

/// The clips that the options name, each once; all clips without options.
fn selected_clips(source: &Source, names: &[String]) -> Result<Vec<ClipId>, Error> {
    let mut clips = Vec::new();
    for name in names {
        clips.extend(find_clip(source, Some(name))?.filter(|clip| !clips.contains(clip)));
    }
    Ok(if names.is_empty() { source.clips.clone() } else { clips })
}
