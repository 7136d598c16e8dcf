//! `posse retarget`: clips of a file on the skeleton of another one, as a glTF file, a BVH file or a VRM animation.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use posse::export::bvh::{ClipFile, Options, RotationOrder};
use posse::export::gltf::{Document, VrmAnimation};
use posse::retarget::{NamedAlignment, NamedClipReport, NamedLoss, NamedPair, NamedReport, NamedResampling};
use posse::{ClipId, Error};

use crate::arguments::{BvhArgs, parse_positive};
use crate::invocation::command_line;
use crate::output::{self, Output, declare_output, note, plural, warn_of_file};
#[cfg(feature = "gpu")]
use crate::retarget_picture::PictureArgs;
use crate::retargeting::{MapArgs, MapFile, Retargeted, Retargeter};
use crate::source::{ReadOptions, Rig, SkeletonArgs, Source, find_clip, is_demo};
#[cfg(not(feature = "gpu"))]
use crate::without_gpu::{self, PictureArgs};

/// The length of the sides of the triangles of the built-in figure, in metres.
#[cfg(feature = "gpu")]
const BODY_SIDE: f64 = 0.025;

/// The kind of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputKind {
    Glb,
    Bvh,
    Vrma,
}

/// The arguments of `posse retarget`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb, .gltf, .vrm, .vrma, .fbx or .bvh file with clips, an .npz file of SMPL or AMASS, or `demo` for the
    /// built-in human.
    file: PathBuf,
    /// A .glb, .gltf, .vrm, .fbx or .bvh file with the skeleton that gets the clips, or `demo` for the built-in rig.
    #[arg(long, value_name = "TARGET")]
    onto: PathBuf,
    /// A clip: NAME, NAME#K for the K-th of that name from 0, or #INDEX. Can be given several times. Default: all
    /// clips.
    #[arg(long, value_name = "NAME|#INDEX")]
    clip: Vec<String>,
    #[command(flatten)]
    bvh: BvhArgs,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    skeleton: SkeletonArgs,
    /// Keeps the animations of TARGET, before the new ones. By default, they are replaced. For .glb files.
    #[arg(long, requires = "output")]
    keep: bool,
    /// Frames per second of a .bvh or .vrma file. Default: the rate of the file or of the keys of the clip, otherwise
    /// 30.
    #[arg(long, value_name = "F", requires = "output", value_parser = parse_positive)]
    fps: Option<f64>,
    /// The order of the rotations of a .bvh file, the first one outermost: XYZ, XZY, YXZ, YZX, ZXY or ZYX. Default:
    /// ZXY, the order of Biovision's files.
    #[arg(long, value_name = "ORDER", requires = "output")]
    bvh_order: Option<RotationOrder>,
    #[command(flatten)]
    picture: PictureArgs,
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
    /// Writes the pairs of joints as a file for --map, to be changed by hand: joints of SOURCE without a partner have
    /// `null` in place of one. Like every output, it replaces an older file. Without -o and --picture, nothing else is
    /// written.
    #[arg(long, value_name = "MAP.json")]
    write_map: Option<PathBuf>,
    /// The output file. A .glb has the nodes, skins, meshes and materials of TARGET with the new clips. A .bvh and a
    /// .vrma, a VRM animation, have one clip on the skeleton of TARGET.
    #[arg(short, long, value_name = "OUT", required_unless_present_any = ["picture", "write_map"])]
    output: Option<PathBuf>,
}

/// Runs `posse retarget`.
pub fn run(args: &Args) -> Result<(), Error> {
    let kind = args.output.as_deref().map(|output| args.kind(output)).transpose()?;
    args.picture.check()?;
    let rest = args.skeleton.read(args.bvh)?;
    let options = ReadOptions { bvh: args.bvh.of_source(), rest: rest.as_ref() };
    let mut source = Source::load_nodes(&args.file, options)?;
    let rig = Rig::read(&args.onto, args.bvh)?;
    let retargeter = Retargeter::new(&args.map, args.bvh, &mut note)?;
    if let Some(path) = &args.write_map {
        let is_alone = args.output.is_none() && !args.picture.is_wanted();
        if is_alone {
            source.warn(&rig.path, &rig.warnings, &mut note)?;
        }
        write_map(path, &retargeter.map_file(&source, &rig)?, &args.onto)?;
        if is_alone {
            return Ok(());
        }
    }
    let clips = selected_clips(&source, &args.clip)?;
    if clips.is_empty() {
        return Err(Error::Usage(format!("{} has no clips to retarget", args.file.display())));
    }
    if matches!(kind, Some(OutputKind::Bvh | OutputKind::Vrma)) && clips.len() > 1 {
        let [file, onto] = [&args.file, &args.onto].map(|path| path.to_string_lossy());
        let format = if kind == Some(OutputKind::Vrma) { "vrma" } else { "bvh" };
        let bake = ["bake", &file, "-o", "baked", "--rig", &onto, "--retarget", "--format", format];
        // The built-in human is no input of a bake.
        let is_input = !is_demo(&args.file);
        let bake = if is_input {
            format!(", or write a file per clip with {} and the same options", command_line(&bake))
        } else {
            String::new()
        };
        return Err(Error::Usage(format!(
            "{file} has {} clips, and a .bvh or .vrma file holds one; select it with --clip{bake}. Clips: {}",
            clips.len(),
            source.library.clip_selector(&clips).list()
        )));
    }
    let picture = args.picture.open(clips.len())?;
    let mut retargeted = retargeter.retarget_and_warn(source, &args.file, &rig, &clips)?;
    let drawn = picture.as_ref().map(|picture| picture.draw(&mut retargeted, &args.file, &rig)).transpose()?;
    if let (Some(output), Some(kind)) = (&args.output, kind) {
        let mut file = Output::create(Some(output))?;
        args.write(&retargeted, &rig, kind, &mut file)?;
        file.finish()?;
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
    /// The kind of the output, by its name.
    fn kind(&self, output: &Path) -> Result<OutputKind, Error> {
        let extension = output.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let refusal = |reason: &str| Err(Error::Usage(format!("{}: {reason}", output.display())));
        let kind = match extension.as_str() {
            "glb" => OutputKind::Glb,
            "bvh" => OutputKind::Bvh,
            "vrma" => OutputKind::Vrma,
            _ => return refusal("the name of the output must end with .glb, .bvh or .vrma"),
        };
        if self.keep && kind != OutputKind::Glb {
            return refusal("--keep is for .glb files; this one holds one clip");
        }
        if self.fps.is_some() && kind == OutputKind::Glb {
            return refusal("--fps is for .bvh and .vrma files; a .glb file has the keys of the clips");
        }
        if self.bvh_order.is_some() && kind != OutputKind::Bvh {
            return refusal("--bvh-order is for .bvh files");
        }
        declare_output(output)?;
        Ok(kind)
    }

    /// Writes the file of the clips.
    fn write(&self, retargeted: &Retargeted, rig: &Rig, kind: OutputKind, file: &mut Output) -> Result<(), Error> {
        let Retargeted { source, retargeting, .. } = retargeted;
        let library = &source.library;
        let print = |notes: Vec<String>| notes.iter().for_each(|text| note(&format!("note: {text}")));
        let glb = match (kind, retargeting.clips.first()) {
            (OutputKind::Bvh, Some(clip)) => {
                let fps = self.fps.unwrap_or_else(|| source.fps(clip.clip));
                let options = Options { order: self.bvh_order.unwrap_or_default(), joints: None };
                let mut bvh = ClipFile::new(library, clip.clip, fps, &options)?;
                print(bvh.notes());
                return file.write(|out| bvh.write(out));
            }
            (OutputKind::Vrma, Some(clip)) => {
                let fps = self.fps.unwrap_or_else(|| source.fps(clip.clip));
                let (document, notes) = VrmAnimation::document(library, clip.clip, fps)?;
                print(notes);
                document.to_glb()?
            }
            _ => self.document(retargeted, rig)?.to_glb()?,
        };
        file.write(|out| out.write_all(&glb))
    }

    /// The file of the target with the clips.
    fn document(&self, retargeted: &Retargeted, rig: &Rig) -> Result<Document, Error> {
        let Retargeted { source, retargeting, .. } = retargeted;
        let library = &source.library;
        let mut document = match &rig.bytes {
            // A glTF file.
            Some(bytes) if source.asset.is_some() => Document::from_slice(&self.onto, bytes, self.onto.parent())?,
            _ => Document::of_skeleton(library, source.skeleton)?,
        };
        #[cfg(not(feature = "gpu"))]
        if rig.is_demo() {
            note(&format!("note: the built-in figure has no mesh: {}", without_gpu::error()));
        }
        #[cfg(feature = "gpu")]
        if rig.is_demo() {
            document.add_body(&posse_render::demo::body(library.skeleton(source.skeleton), BODY_SIDE)?);
        }
        warn_of_file(&self.onto, document.warnings(), &mut note)?;
        if !self.keep {
            document.remove_animations();
        }
        for clip in &retargeting.clips {
            document.add_clip(library, clip.clip)?.iter().for_each(|text| note(&format!("note: {text}")));
        }
        Ok(document)
    }
}

/// Writes a map file, and prints what it lacks to stderr.
fn write_map(path: &Path, map: &MapFile, onto: &Path) -> Result<(), Error> {
    declare_output(path)?;
    let mut file = Output::create(Some(path))?;
    file.write(|out| out.write_all(map.json.as_bytes()))?;
    file.finish()?;
    let alone = if map.alone.is_empty() { "none".into() } else { map.alone.join(", ") };
    note(&format!(
        "{}: {}; give it back with --map. Joints of {} without a partner: {alone}",
        path.display(),
        plural(map.pairs, "pair"),
        onto.display()
    ));
    Ok(())
}

/// The clips that the options name, each once; all clips that can be used without options.
fn selected_clips(source: &Source, names: &[String]) -> Result<Vec<ClipId>, Error> {
    let mut clips = Vec::new();
    for name in names {
        clips.extend(find_clip(source, Some(name))?.filter(|clip| !clips.contains(clip)));
    }
    Ok(if names.is_empty() { source.usable_clips() } else { clips })
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
    writeln!(out, "{} of joints; {root}", plural(report.joints.len(), "pair"))?;
    for NamedPair { source, target, by } in &report.joints {
        writeln!(out, "  {source} -> {target} (by {by})")?;
    }
    match report.facing {
        Some(degrees) => {
            writeln!(out, "up in the source is {}; its front is rotated by {degrees:.1} degrees", report.source_up)?
        }
        None => writeln!(out, "up in the source is {}; its front is not rotated", report.source_up)?,
    }
    if report.one_skeleton {
        writeln!(
            out,
            "one skeleton in two rest poses, it seems; --reference TARGET#rest takes local rotations over as they are"
        )?;
    }
    for NamedAlignment { source, target, degrees, reason } in &report.aligned {
        writeln!(out, "  {source} rotated by {degrees:.1} degrees {}", reason.describe(target))?;
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
        let unit = match track.split(' ').next() {
            Some("rotation") => "rad",
            Some("weights") => "of a weight",
            _ => "of the rig's size",
        };
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
