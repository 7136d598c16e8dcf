//! `posse retarget`: clips of a file on the skeleton of another one, as a glTF file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use posse::export::gltf::Document;
use posse::{ClipId, Error, NamedAlignment, NamedClipReport, NamedLoss, NamedPair, NamedReport, NamedResampling};

use crate::arguments::BvhArgs;
use crate::output::{self, Output, check_folder, note};
use crate::retarget_picture::PictureArgs;
use crate::retargeting::{MapArgs, Retargeted};
use crate::source::{ReadOptions, Rig, SkeletonArgs, Source, find_clip};

/// The length of the sides of the triangles of the built-in figure, in metres.
const BODY_SIDE: f64 = 0.025;

/// The arguments of `posse retarget`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb, .gltf, .vrm, .vrma or .bvh file with clips, or an .npz file of SMPL or AMASS.
    file: PathBuf,
    /// A .glb, .gltf, .vrm or .bvh file with the skeleton that gets the clips, or `demo` for the built-in rig.
    #[arg(long, value_name = "TARGET")]
    onto: PathBuf,
    /// A clip: NAME, NAME#K for the K-th of that name from 0, or #INDEX. Can be given several times. Default: all clips.
    #[arg(long, value_name = "NAME|#INDEX")]
    clip: Vec<String>,
    #[command(flatten)]
    bvh: BvhArgs,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    skeleton: SkeletonArgs,
    /// Keeps the animations of TARGET, before the new ones. By default, they are replaced.
    #[arg(long, requires = "output")]
    keep: bool,
    #[command(flatten)]
    picture: PictureArgs,
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
    /// The output file, .glb: the nodes, skins, meshes and materials of TARGET with the new clips.
    #[arg(short, long, value_name = "OUT.glb", required_unless_present = "picture")]
    output: Option<PathBuf>,
}

/// Runs `posse retarget`.
pub fn run(args: &Args) -> Result<(), Error> {
    if let Some(output) = &args.output {
        if !output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("glb")) {
            let file = output.display();
            return Err(Error::Usage(format!("{file}: the name of the output must end with .glb")));
        }
        check_folder(output)?;
    }
    args.picture.check()?;
    let rest = args.skeleton.read(args.bvh)?;
    let options = ReadOptions { bvh: args.bvh.of_source(), rest: rest.as_ref().map(Rig::skeleton) };
    let source = Source::load_nodes(&args.file, options)?;
    let clips = selected_clips(&source, &args.clip)?;
    if clips.is_empty() {
        return Err(Error::Usage(format!("{} has no clips to retarget", args.file.display())));
    }
    let picture = args.picture.open(clips.len())?;
    let rig = Rig::read(&args.onto, args.bvh)?;
    let mut retargeted = Retargeted::new(source, &args.file, &rig, &clips, &args.map, args.bvh)?;
    let drawn = picture.as_ref().map(|picture| picture.draw(&mut retargeted, &args.file, &rig)).transpose()?;
    if let Some(output) = &args.output {
        args.write(&retargeted, &rig, output)?;
    }
    if let (Some(picture), Some(drawn)) = (&picture, &drawn) {
        picture.write(drawn)?;
    }
    let report = retargeted.retargeting.named(&retargeted.source.library);
    output::print(|out| {
        if args.json {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            return writeln!(out);
        }
        print(&report, out)
    })
}

impl Args {
    /// Writes the file of the target with the clips.
    fn write(&self, retargeted: &Retargeted, rig: &Rig, output: &Path) -> Result<(), Error> {
        let Retargeted { source, retargeting, .. } = retargeted;
        let library = &source.library;
        let mut document = match &rig.bytes {
            // A glTF file.
            Some(bytes) if source.asset.is_some() => Document::from_slice(&self.onto, bytes, self.onto.parent())?,
            _ => Document::of_skeleton(library, source.skeleton)?,
        };
        if rig.is_demo() {
            document.add_body(&posse_render::demo::body(library.skeleton(source.skeleton), BODY_SIDE)?);
        }
        for warning in document.warnings() {
            note(&format!("warning: {}: {warning}", self.onto.display()));
        }
        if !self.keep {
            document.remove_animations();
        }
        for clip in &retargeting.clips {
            document.add_clip(library, clip.clip)?.iter().for_each(|text| note(&format!("note: {text}")));
        }
        let glb = document.to_glb()?;
        let mut file = Output::create(Some(output))?;
        file.write(|out| out.write_all(&glb))?;
        file.finish()
    }
}

/// The clips that the options name, each once; all clips without options.
fn selected_clips(source: &Source, names: &[String]) -> Result<Vec<ClipId>, Error> {
    let mut clips = Vec::new();
    for name in names {
        clips.extend(find_clip(source, Some(name))?.filter(|clip| !clips.contains(clip)));
    }
    Ok(if names.is_empty() { source.clips.clone() } else { clips })
}

/// Prints a report as text.
fn print(report: &NamedReport, out: &mut impl Write) -> io::Result<()> {
    let root = match &report.root {
        Some(root) if report.scale != 0.0 => {
            let basis = report.scale_basis.as_deref().unwrap_or_default();
            let units = report.units.map(|units| format!(": {units}")).unwrap_or_default();
            format!("root {root}, moved by {:.4} of its movement, {basis}{units}", report.scale)
        }
        _ => "the root does not move".into(),
    };
    writeln!(out, "{} pairs of joints; {root}", report.joints.len())?;
    for NamedPair { source, target, by } in &report.joints {
        writeln!(out, "  {source} -> {target} (by {by})")?;
    }
    match report.facing {
        Some(degrees) => {
            writeln!(out, "up in the source is {}; its front is turned by {degrees:.1} degrees", report.source_up)?
        }
        None => writeln!(out, "up in the source is {}; its front is not turned", report.source_up)?,
    }
    for NamedAlignment { source, target, degrees } in &report.aligned {
        writeln!(out, "  {source} turned by {degrees:.1} degrees to point as {target}")?;
    }
    for (side, names) in [("source", &report.source_without_partner), ("target", &report.target_without_partner)] {
        if !names.is_empty() {
            writeln!(out, "without a partner, {side}: {}", names.join(", "))?;
        }
    }
    for remark in &report.left_out {
        writeln!(out, "left out: {remark}")?;
    }
    for warning in report.warnings.iter().filter(|warning| !report.left_out.contains(warning)) {
        writeln!(out, "warning: {warning}")?;
    }
    report.clips.iter().try_for_each(|clip| print_clip(clip, out))
}

fn print_clip(clip: &NamedClipReport, out: &mut impl Write) -> io::Result<()> {
    let NamedClipReport { name, exact, constant, resampled, dropped, lost_root_motion, ground } = clip;
    writeln!(
        out,
        "clip {}: {} exact, {} constant, {} resampled, {} dropped{}",
        name.as_deref().unwrap_or("unnamed"),
        exact.len(),
        constant.len(),
        resampled.len(),
        dropped.len(),
        ground.map(|ground| format!("; ground at {ground:.4} of the source")).unwrap_or_default()
    )?;
    for NamedResampling { track, keys, error } in resampled {
        let unit = if track.starts_with("rotation") { "rad" } else { "of the rig's size" };
        writeln!(out, "  {track}: resampled at {keys} keys, off by up to {error:.2e} {unit}")?;
    }
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    dropped.iter().for_each(|dropped| by_reason.entry(&dropped.reason).or_default().push(&dropped.track));
    for (reason, tracks) in by_reason {
        writeln!(out, "  dropped, because {reason}: {}", tracks.join(", "))?;
    }
    if let Some(NamedLoss { joint, reason }) = lost_root_motion {
        writeln!(out, "  lost root motion of {joint}, because {reason}")?;
    }
    Ok(())
}
