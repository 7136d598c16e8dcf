//! `posse merge`: clips of many files with one skeleton in the glTF file of a character.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use posse::curves::Target;
use posse::export::gltf::Document;
use posse::glam::{DAffine3, DVec3};
use posse::low_level::UniqueNames;
use posse::{ClipId, Error, Skeleton, SkeletonId};

use crate::arguments::BvhArgs;
use crate::invocation::{command_line, output_name};
use crate::output::{self, Output, declare_output, note, plural, warn_of_file};
use crate::source::{Rig, Source};

/// The end of `posse merge --help`.
pub const HELP: &str = "\
Examples:
  posse merge walk.glb run.glb jump.glb --onto hero.glb -o hero-with-clips.glb

Keys are copied as they are. Joints are matched by name, and must have the rest pose of TARGET: of the skins where
both files have them, else of the nodes. Retarget the clips of another skeleton first, and merge the retargeted files:
  posse retarget run.bvh --onto hero.glb -o run_retargeted.glb
  posse merge walk.glb run_retargeted.glb --onto hero.glb -o hero-with-clips.glb";

/// The arguments of `posse merge`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The .glb, .gltf, .vrm, .vrma, .fbx and .bvh files with the clips. All clips of each are taken.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The .glb, .gltf or .vrm file that gets the clips, after its own ones.
    #[arg(long, value_name = "TARGET")]
    onto: PathBuf,
    /// Merges the clips of files whose rest pose differs, too, with a warning. For files that store another pose of the
    /// same skeleton.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    bvh: BvhArgs,
    /// The output file, .glb: TARGET with the clips. All else stays as it is.
    #[arg(short, long, value_name = "OUT.glb")]
    output: PathBuf,
}

/// Runs `posse merge`.
pub fn run(args: &Args) -> Result<(), Error> {
    if !args.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("glb")) {
        let file = args.output.display();
        return Err(Error::Usage(format!("{file}: the name of the output must end with .glb")));
    }
    declare_output(&args.output)?;
    let target = Rig::read(&args.onto, args.bvh)?;
    let (Some(bytes), true) = (&target.bytes, target.is_gltf()) else {
        let file = args.onto.display();
        return Err(Error::Usage(format!("{file}: --onto needs a .glb, .gltf or .vrm file, which gets the clips")));
    };
    let mut document = Document::from_slice(&args.onto, bytes, args.onto.parent())?;
    warn_of_file(&args.onto, target.warnings.iter().chain(document.warnings()), &mut note)?;
    let mut sources = Vec::new();
    for file in &args.files {
        let mut source = Source::load_nodes(file, args.bvh)?;
        source.clips = source.usable_clips();
        if source.clips.is_empty() {
            note(&format!("warning: {}: it has no clips", file.display()));
        }
        sources.push((file.as_path(), source));
    }
    let names = clip_names(&document, &sources);
    let mut lines = Vec::new();
    let mut merged = Vec::with_capacity(sources.len());
    for (_, source) in &mut sources {
        merged.push(merge(args, source, &target)?);
    }
    refuse_other_skeletons(args, &merged)?;
    let files = args.files.iter().map(PathBuf::as_path).zip(&merged);
    let incomplete: Vec<&Path> = files.filter(|(_, merged)| merged.leaves_out_tracks).map(|(file, _)| file).collect();
    for (((file, mut source), merged), names) in sources.into_iter().zip(merged).zip(names) {
        merged.warnings.iter().for_each(|text| note(&format!("warning: {}: {text}", file.display())));
        for (clip, name) in merged.clips.into_iter().zip(names) {
            let mut named = source.library.clip(clip).clone();
            lines.push(format!("{}: {} as {name}", file.display(), named.name.as_deref().unwrap_or("unnamed")));
            named.name = Some(name);
            let clip = source.library.add_clip(named)?;
            let notes = document.add_clip(&source.library, clip)?;
            notes.iter().for_each(|text| note(&format!("note: {}: {text}", file.display())));
        }
    }
    if !incomplete.is_empty() {
        note(&format!("note: for another skeleton, {}", retarget_first(args, &incomplete)));
    }
    let glb = document.to_glb()?;
    let mut file = Output::create(Some(&args.output))?;
    file.write(|out| out.write_all(&glb))?;
    file.finish()?;
    output::print(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

/// The names of the clips of each file. A name that several clips have, or that an animation of the target has, becomes
/// the stem of the file; in a file with several clips, the name follows.
fn clip_names(document: &Document, sources: &[(&Path, Source)]) -> Vec<Vec<String>> {
    let mut unique = UniqueNames::default();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in document.animation_names().flatten() {
        unique.add(name.to_owned());
        *counts.entry(name).or_default() += 1;
    }
    let name_of = |source: &Source, clip: ClipId| source.library.clip(clip).name.clone();
    let all: Vec<Vec<Option<String>>> = sources
        .iter()
        .map(|(_, source)| {
            source.clips.iter().map(|&clip| name_of(source, clip).filter(|name| !name.is_empty())).collect()
        })
        .collect();
    all.iter().flatten().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    let mut names = Vec::new();
    for ((file, _), clips) in sources.iter().zip(&all) {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut of_file = Vec::new();
        for given in clips {
            let wanted = match given {
                Some(name) if counts[name.as_str()] == 1 => name.clone(),
                Some(name) if clips.len() > 1 => format!("{stem}_{name}"),
                _ => stem.clone(),
            };
            let name = unique.add(wanted);
            if let Some(given) = given.as_ref().filter(|given| **given != name) {
                let file = file.display();
                note(&format!("note: {file}: several clips are named {given:?}; this one is written as {name:?}"));
            }
            of_file.push(name);
        }
        names.push(of_file);
    }
    names
}

/// The clips of a file on the skeleton of the target.
#[derive(Default)]
struct MergedClips {
    clips: Vec<ClipId>,
    /// The reason that the file cannot be merged: its skeleton seems to be another one.
    refusal: Option<String>,
    /// True if the target has no joint for some tracks.
    leaves_out_tracks: bool,
    /// True if `--force` merges it all the same.
    can_be_forced: bool,
    warnings: Vec<String>,
}

/// Shares the clips of a file with the skeleton of the target.
fn merge(args: &Args, source: &mut Source, target: &Rig) -> Result<MergedClips, Error> {
    let nodes = target.add_to(&mut source.library)?;
    let skeleton = source.library.add_skeleton(target.skeleton().clone().animatable());
    let onto = args.onto.display();
    let (mut merged, mut errors, mut matched) = (MergedClips::default(), Vec::new(), BTreeSet::new());
    let mut listed = HashSet::new();
    for &clip in &source.clips {
        let sharing = source.library.share_clip(clip, skeleton)?;
        let tracks = source.library.clip(clip).tracks.iter().zip(&sharing.tracks);
        let pairs = tracks.filter_map(|(track, to)| Some((joint_of(track.target)?, joint_of((*to)?)?)));
        matched.extend(pairs);
        if sharing.tracks.iter().all(Option::is_none) && !sharing.tracks.is_empty() {
            let name = source.library.clip(clip).name.as_deref().unwrap_or("unnamed");
            let refusal = Some(format!("clip {name}: none of its joints has a name of a node of {onto}"));
            return Ok(MergedClips { refusal, ..merged });
        }
        errors.extend(sharing.issues.iter().map(ToString::to_string).filter(|error| listed.insert(error.clone())));
        merged.clips.push(sharing.clip);
    }
    if !errors.is_empty() {
        let (first, count) = (&errors[0], errors.len());
        let others = if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
        merged.warnings.push(format!("{first}{others}"));
        merged.leaves_out_tracks = true;
    }
    let poses = [source.skeleton, nodes.skeleton].map(|skeleton| RestPose::new(source, skeleton));
    if let Some(difference) = difference(&matched, &poses, source.library.skeleton(source.skeleton)) {
        let text = format!("its rest pose differs from {onto}: {difference}");
        if args.force {
            merged.warnings.push(format!("{text}; the clips may look distorted"));
        } else {
            (merged.refusal, merged.can_be_forced) = (Some(text), true);
        }
    }
    Ok(merged)
}

/// Fails for the files whose skeleton seems to be another one, with the commands that merge their clips, too.
fn refuse_other_skeletons(args: &Args, merged: &[MergedClips]) -> Result<(), Error> {
    let files = args.files.iter().map(PathBuf::as_path);
    let refused: Vec<(&Path, &MergedClips)> = files.zip(merged).filter(|(_, file)| file.refusal.is_some()).collect();
    if refused.is_empty() {
        return Ok(());
    }
    let reasons = refused.iter().filter_map(|(file, merged)| {
        let reason = merged.refusal.as_ref()?;
        Some(format!("{}: {reason}", file.display()))
    });
    let mut reasons = reasons.take(MAX_LISTED).collect::<Vec<_>>().join("; ");
    if refused.len() > MAX_LISTED {
        reasons += &format!("; and {} more", plural(refused.len() - MAX_LISTED, "file"));
    }
    let files: Vec<&Path> = refused.iter().map(|(file, _)| *file).collect();
    let option = match refused.iter().all(|(_, merged)| merged.can_be_forced) {
        true => "; if it is the same skeleton in another pose, add --force",
        false => "",
    };
    Err(Error::Usage(format!("{reasons}{option}. For another skeleton, {}", retarget_first(args, &files))))
}

/// The commands that merge the clips of all files, after those of some were retargeted. Each is retargeted to a file of
/// its own beside no other clips, so that the order does not matter.
fn retarget_first(args: &Args, files: &[&Path]) -> String {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let onto = text(&args.onto);
    let fps = args.bvh.input_fps.map_or(Vec::new(), |fps| vec!["--input-fps".to_owned(), fps.to_string()]);
    let mut outputs = UniqueNames::default();
    args.files.iter().chain([&args.onto, &args.output]).for_each(|path| {
        outputs.add(text(path).trim_end_matches(GLB).to_owned());
    });
    let (mut commands, mut merge) = (Vec::new(), vec!["merge".to_owned()]);
    for file in &args.files {
        if !files.contains(&file.as_path()) {
            merge.push(text(file));
            continue;
        }
        let output = outputs.add(output_name(file, "_retargeted")) + GLB;
        let retarget = ["retarget", &text(file), "--onto", &onto, "-o", &output].map(str::to_owned);
        commands.push([retarget.as_slice(), &fps].concat());
        merge.push(output);
    }
    merge.extend(["--onto".into(), onto, "-o".into(), text(&args.output)]);
    merge.extend(fps);
    let flags = [(args.bvh.no_end_sites, "--no-end-sites"), (args.force, "--force")];
    merge.extend(flags.iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| (*flag).to_owned()));
    commands.push(merge);
    let line = |command: &Vec<String>| command_line(&command.iter().map(String::as_str).collect::<Vec<_>>());
    format!("retarget first: {}", commands.iter().map(line).collect::<Vec<_>>().join(" && "))
}

/// The largest number of files whose reasons a message lists.
const MAX_LISTED: usize = 3;

/// The extension of outputs.
const GLB: &str = ".glb";

/// The joint of a target that moves it.
fn joint_of(target: Target) -> Option<usize> {
    match target {
        Target::Translation(joint) | Target::Rotation(joint) | Target::EulerAngles(joint) | Target::Scale(joint) => {
            Some(joint)
        }
        Target::Weights(_) | Target::Property(_) => None,
    }
}

/// The rest pose of a skeleton.
struct RestPose {
    /// The model matrix of each joint by the nodes.
    nodes: Vec<DAffine3>,
    /// The model matrix of each joint in the first skin that has it.
    skins: Vec<Option<DAffine3>>,
    parents: Vec<Option<usize>>,
}

impl RestPose {
    fn new(source: &Source, skeleton: SkeletonId) -> Self {
        let joints = source.library.skeleton(skeleton).joints();
        let mut nodes: Vec<DAffine3> = Vec::with_capacity(joints.len());
        for joint in joints {
            let local = joint.matrix.unwrap_or_else(|| joint.rest.to_affine());
            nodes.push(joint.parent.map_or(local, |parent| nodes[parent] * local));
        }
        let mut skins = vec![None; joints.len()];
        for (_, skin) in source.library.skins_of(skeleton) {
            for (&joint, inverse) in skin.joints.iter().zip(&skin.inverse_bind) {
                let matrix = inverse.inverse();
                if skins[joint].is_none() && matrix.is_finite() {
                    skins[joint] = Some(matrix);
                }
            }
        }
        Self { nodes, skins, parents: joints.iter().map(|joint| joint.parent).collect() }
    }

    /// The model matrix of a joint: in the skins if `by_skins` is true, else by the nodes.
    fn model(&self, joint: usize, by_skins: bool) -> Option<DAffine3> {
        if by_skins { self.skins[joint] } else { Some(self.nodes[joint]) }
    }

    /// The largest distance of some of the joints from the origin; 1 if all are there.
    fn size(&self, joints: impl Iterator<Item = usize>, by_skins: bool) -> f64 {
        let places = joints.filter_map(|joint| Some(self.model(joint, by_skins)?.translation.length()));
        let size = places.fold(0.0, f64::max);
        if size > 0.0 { size } else { 1.0 }
    }

    /// The matrix of a joint relative to its parent, and the scale of the parent. `None` if the skins do not have both
    /// joints.
    fn local(&self, joint: usize, by_skins: bool) -> Option<(DAffine3, f64)> {
        let parent = match self.parents[joint] {
            Some(parent) => self.model(parent, by_skins)?,
            None if by_skins => return None,
            None => DAffine3::IDENTITY,
        };
        Some((parent.inverse() * self.model(joint, by_skins)?, parent.matrix3.determinant().abs().cbrt()))
    }
}

/// The largest difference of two rest poses that counts as rounding: of places as a share of the size of the skeleton,
/// of axes as a share of their length.
const MAX_DIFFERENCE: f64 = 1e-3;

/// The difference of the rest poses of matched joints, as a text. `None` if they are the same.
fn difference(matched: &BTreeSet<(usize, usize)>, poses: &[RestPose; 2], skeleton: &Skeleton) -> Option<String> {
    let [source, target] = poses;
    let sizes = |by_skins| {
        let size = source.size(matched.iter().map(|&(from, _)| from), by_skins);
        [size, target.size(matched.iter().map(|&(_, to)| to), by_skins)]
    };
    let (by_nodes, by_skins) = (sizes(false), sizes(true));
    let (mut count, mut first) = (0, None);
    for &(from, to) in matched {
        let pair = |by_skins, sizes| Some((source.local(from, by_skins)?, target.local(to, by_skins)?, sizes));
        let pair = pair(true, by_skins).or_else(|| pair(false, by_nodes));
        let Some(((one, scale), (other, other_scale), sizes)) = pair else { continue };
        // In the units of the parent, whose scale may differ from model space by a factor of 100.
        let size = (sizes[0] / scale).max(sizes[1] / other_scale);
        // Of a parent that is flat, nothing is known.
        if !one.is_finite() || !other.is_finite() {
            continue;
        }
        let distance = one.translation.distance(other.translation);
        let axes = |matrix: DAffine3| [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis];
        let deviation = |(one, other): (DVec3, DVec3)| one.distance(other) / one.length().max(other.length()).max(1e-9);
        let largest = axes(one).into_iter().zip(axes(other)).map(deviation).fold(0.0, f64::max);
        if distance > MAX_DIFFERENCE * size || largest > MAX_DIFFERENCE {
            count += 1;
            first.get_or_insert_with(|| {
                let name = skeleton.joint_name(from);
                let percent = 100.0 * distance / size;
                format!("{name} is {percent:.1} % of the size of the skeleton away and its axes differ by {largest:.3}")
            });
        }
    }
    first.map(|first| if count > 1 { format!("{count} joints differ, first: {first}") } else { first })
}
