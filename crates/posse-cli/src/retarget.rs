//! `posse retarget`: clips of a file on the skeleton of another one, as a glTF file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use glam::DVec3;
use posse::export::gltf::Document;
use posse::{
    ClipId, DropReason, DroppedTrack, Error, Library, LostRootMotion, RetargetedClip, RetargetedTrack, Retargeting,
    Skeleton, Target, TrackMethod,
};
use serde::Serialize;

use crate::output::{self, Output, check_folder, note};
use crate::retargeting::{MapArgs, Retargeted, is_demo, warnings};
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

/// The report as JSON.
#[derive(Serialize)]
pub struct Report {
    /// The pairs, with the reason for each.
    joints: Vec<Pair>,
    /// The joint of the source whose movement the target takes over.
    root: Option<String>,
    /// The factor of that movement; 0 if the target does not move.
    scale: f64,
    /// The lengths of which the factor is the ratio.
    scale_basis: Option<String>,
    /// The units that the factor suggests, such as "centimetres to metres".
    units: Option<&'static str>,
    /// The up axis of the source, such as "+Z".
    source_up: String,
    /// The turn of the source about the up axis, in degrees; `null` if it is not known which way the target faces.
    facing: Option<f64>,
    /// The bones that were turned in the reference pose.
    aligned: Vec<Aligned>,
    /// What looks wrong, and what was left out.
    warnings: Vec<String>,
    /// The joints that were left out because they are ambiguous or cannot be animated, and why.
    left_out: Vec<String>,
    /// Names of nodes without a partner.
    source_without_partner: Vec<String>,
    target_without_partner: Vec<String>,
    clips: Vec<ClipReport>,
}

#[derive(Serialize)]
struct Aligned {
    source: String,
    target: String,
    degrees: f64,
}

#[derive(Serialize)]
struct Pair {
    source: String,
    target: String,
    by: String,
}

#[derive(Serialize)]
struct ClipReport {
    name: Option<String>,
    /// Tracks whose keys were transformed.
    exact: Vec<String>,
    /// Tracks of a single key.
    constant: Vec<String>,
    resampled: Vec<ResampledTrack>,
    dropped: Vec<Dropped>,
    /// The root joint of the clip whose root motion is lost, and why.
    lost_root_motion: Option<LostMotion>,
    /// The height of the ground in the source, along its up axis; `null` if the root moves relative to the reference
    /// pose.
    ground: Option<f64>,
}

#[derive(Serialize)]
struct LostMotion {
    joint: String,
    reason: String,
}

#[derive(Serialize)]
struct ResampledTrack {
    track: String,
    keys: usize,
    /// In radians for a rotation, as a share of the rig's size for a translation.
    error: f64,
}

#[derive(Serialize)]
struct Dropped {
    track: String,
    reason: String,
}

impl Report {
    /// The report of a retargeting.
    pub fn new(library: &Library, retargeting: &Retargeting) -> Self {
        let map = &retargeting.map;
        let [source, target] = [map.source, map.target].map(|id| library.skeleton(id));
        let without_partner = |skeleton: &Skeleton, joint_of: fn(&posse::JointPair) -> usize| -> Vec<String> {
            let mut is_paired = vec![false; skeleton.joints().len()];
            map.pairs.iter().for_each(|pair| is_paired[joint_of(pair)] = true);
            let joints = is_paired.iter().enumerate().filter(|(_, is_paired)| !**is_paired);
            joints.map(|(joint, _)| skeleton.joint_name(joint)).collect()
        };
        let aligned = |bone: &posse::AlignedBone| Aligned {
            source: source.joint_name(bone.source),
            target: target.joint_name(bone.target),
            degrees: bone.degrees,
        };
        let pair = |pair: &posse::JointPair| {
            let [source, target] = map.names(library, *pair);
            Pair { source, target, by: pair.by.to_string() }
        };
        Self {
            joints: map.pairs.iter().map(pair).collect(),
            root: map.root.map(|root| source.joint_name(root)),
            scale: retargeting.scale,
            scale_basis: retargeting.basis.map(|basis| basis.to_string()),
            units: units(retargeting.scale),
            source_up: axis_name(retargeting.source_up),
            facing: retargeting.facing,
            aligned: retargeting.bones.iter().map(aligned).collect(),
            warnings: warnings(library, retargeting),
            left_out: map.remarks.iter().map(|remark| map.describe(library, remark)).collect(),
            source_without_partner: without_partner(source, |pair| pair.source),
            target_without_partner: without_partner(target, |pair| pair.target),
            clips: retargeting.clips.iter().map(|clip| ClipReport::new(library, clip)).collect(),
        }
    }

    /// Prints the report as text.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let root = match &self.root {
            Some(root) if self.scale != 0.0 => {
                let basis = self.scale_basis.as_deref().unwrap_or_default();
                let units = self.units.map(|units| format!(": {units}")).unwrap_or_default();
                format!("root {root}, moved by {:.4} of its movement, {basis}{units}", self.scale)
            }
            _ => "the root does not move".into(),
        };
        writeln!(out, "{} pairs of joints; {root}", self.joints.len())?;
        for Pair { source, target, by } in &self.joints {
            writeln!(out, "  {source} -> {target} (by {by})")?;
        }
        match self.facing {
            Some(degrees) => {
                writeln!(out, "up in the source is {}; its front is turned by {degrees:.1} degrees", self.source_up)?
            }
            None => writeln!(out, "up in the source is {}; its front is not turned", self.source_up)?,
        }
        for Aligned { source, target, degrees } in &self.aligned {
            writeln!(out, "  {source} turned by {degrees:.1} degrees to point as {target}")?;
        }
        for (side, names) in [("source", &self.source_without_partner), ("target", &self.target_without_partner)] {
            if !names.is_empty() {
                writeln!(out, "without a partner, {side}: {}", names.join(", "))?;
            }
        }
        for remark in &self.left_out {
            writeln!(out, "left out: {remark}")?;
        }
        for warning in self.warnings.iter().filter(|warning| !self.left_out.contains(warning)) {
            writeln!(out, "warning: {warning}")?;
        }
        self.clips.iter().try_for_each(|clip| clip.print(out))
    }
}

impl ClipReport {
    fn new(library: &Library, clip: &RetargetedClip) -> Self {
        let (made, source) = (library.clip(clip.clip), library.clip(clip.source));
        let target_skeleton = library.skeleton(made.skeleton);
        let skeleton = library.skeleton(source.skeleton);
        let lost = |lost: LostRootMotion| LostMotion {
            joint: skeleton.joint_name(lost.joint),
            reason: lost.reason.to_string(),
        };
        let mut report = Self {
            name: made.name.clone(),
            exact: Vec::new(),
            constant: Vec::new(),
            resampled: Vec::new(),
            dropped: Vec::new(),
            lost_root_motion: clip.lost_root_motion.map(lost),
            ground: clip.ground,
        };
        for RetargetedTrack { target, method } in &clip.tracks {
            let track = track_name(target_skeleton, *target);
            match *method {
                TrackMethod::Exact => report.exact.push(track),
                TrackMethod::Constant => report.constant.push(track),
                TrackMethod::Resampled { keys, error } => report.resampled.push(ResampledTrack { track, keys, error }),
            }
        }
        let dropped = |dropped: &DroppedTrack| {
            let DroppedTrack { target, reason, .. } = *dropped;
            Dropped { track: track_name(skeleton, target), reason: DropReason::to_string(&reason) }
        };
        report.dropped = clip.dropped.iter().map(dropped).collect();
        report
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { exact, constant, resampled, dropped, .. } = self;
        writeln!(
            out,
            "clip {}: {} exact, {} constant, {} resampled, {} dropped{}",
            self.name.as_deref().unwrap_or("unnamed"),
            exact.len(),
            constant.len(),
            resampled.len(),
            dropped.len(),
            self.ground.map(|ground| format!("; ground at {ground:.4} of the source")).unwrap_or_default()
        )?;
        for ResampledTrack { track, keys, error } in resampled {
            let unit = if track.starts_with("rotation") { "rad" } else { "of the rig's size" };
            writeln!(out, "  {track}: resampled at {keys} keys, off by up to {error:.2e} {unit}")?;
        }
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        dropped.iter().for_each(|dropped| by_reason.entry(&dropped.reason).or_default().push(&dropped.track));
        for (reason, tracks) in by_reason {
            writeln!(out, "  dropped, because {reason}: {}", tracks.join(", "))?;
        }
        if let Some(LostMotion { joint, reason }) = &self.lost_root_motion {
            writeln!(out, "  lost root motion of {joint}, because {reason}")?;
        }
        Ok(())
    }
}

/// The units that a factor suggests, if it is near that of two usual ones.
fn units(scale: f64) -> Option<&'static str> {
    let known = [
        (0.01, "centimetres to metres"),
        (100.0, "metres to centimetres"),
        (0.0254, "inches to metres"),
        (0.001, "millimetres to metres"),
        (1000.0, "metres to millimetres"),
    ];
    known.into_iter().find(|(factor, _)| (0.85..1.18).contains(&(scale / factor))).map(|(_, units)| units)
}

/// The name of an axis, with its sign.
fn axis_name(axis: DVec3) -> String {
    let names = [("+X", axis.x), ("+Y", axis.y), ("+Z", axis.z), ("-X", -axis.x), ("-Y", -axis.y), ("-Z", -axis.z)];
    let nearest = names.iter().max_by(|one, other| one.1.total_cmp(&other.1));
    nearest.map_or_else(String::new, |(name, _)| (*name).to_owned())
}

/// The name of a target: the part, and the name of its joint or property.
fn track_name(skeleton: &Skeleton, target: Target) -> String {
    match target {
        Target::Translation(joint) => format!("translation of {}", skeleton.joint_name(joint)),
        Target::Rotation(joint) | Target::EulerAngles(joint) => format!("rotation of {}", skeleton.joint_name(joint)),
        Target::Scale(joint) => format!("scale of {}", skeleton.joint_name(joint)),
        Target::Weights(joint) => format!("weights of {}", skeleton.joint_name(joint)),
        Target::Property(property) => format!("property {}", skeleton.properties()[property].name),
    }
}
