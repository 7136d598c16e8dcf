//! `posse inspect`: the contents of a file.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use posse::binding::{BoundTrack, UnboundCurves, UnboundTrack, ValueKind};
use posse::compress::{ClipReport, CompressedLibrary};
use posse::cpu::CpuEngine;
use posse::curves::{Curve, CurveEasing, Easing, Interpolation, Target, Timeline, Track};
use posse::packed::PackedLibrary;
use posse::quality::{GroundLevel, MotionQuality, Stance, measured_fps};
use posse::{Clip, ClipId, Error, Joint, Skeleton};
use serde::Serialize;

use crate::arguments::{BvhArgs, CompressArgs};
use crate::output::{self, plural};
use crate::quality::{LEGEND, QualityReport, parse_ground};
use crate::source::{NamedClip, ReadOptions, SkeletonArgs, Source, target_path, target_property};

/// The largest level that indents a line further.
const MAX_INDENT: usize = 32;

/// Arguments of `posse inspect`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb, .gltf, .vrm, .vrma, .fbx or .bvh file, an .npz file of SMPL or AMASS, a Cocos clip (.json, .anim), or
    /// `demo` for the built-in human.
    file: PathBuf,
    /// A .glb, .gltf, .vrm, .fbx or .bvh file. The clips animate its nodes, matched by name.
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
    #[command(flatten)]
    bvh: BvhArgs,
    #[command(flatten)]
    skeleton: SkeletonArgs,
    /// Prints the joints too, each below its parent, with its rest translation, and with a path that selects it if
    /// others have its name.
    #[arg(long)]
    joints: bool,
    /// Measures each clip: contacts of feet, foot skate, jumps between frames, jitter, loop seam and ground
    /// penetration. Frames are at the rate of its keys, or at the least multiple of it that is 30 per second or more.
    #[arg(long)]
    quality: bool,
    /// The ground of --quality: a height in the rig's units, or auto: 0 if the feet come down there, else where they
    /// do.
    #[arg(
        id = "quality_ground",
        long = "ground",
        value_name = "auto|HEIGHT",
        default_value = "auto",
        requires = "quality",
        allow_hyphen_values = true,
        value_parser = parse_ground
    )]
    ground: GroundLevel,
    /// Prints JSON, with every joint and every track.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    compress: CompressArgs,
}

/// Runs `posse inspect`.
pub fn run(args: &Args) -> Result<(), Error> {
    let rest = args.skeleton.read(args.bvh)?;
    let options = ReadOptions { bvh: args.bvh, rest: rest.as_ref() };
    let source = Source::load(&args.file, args.rig.as_deref(), options)?;
    let compressed = args.compress.compress(&source.library)?;
    let mut summary = Summary::new(&source, compressed.as_ref());
    if args.quality {
        summary.measure(&source, args.ground)?;
    }
    output::print(|out| {
        if !args.json {
            return summary.print(args.joints, out);
        }
        serde_json::to_writer_pretty(&mut *out, &summary)?;
        writeln!(out)
    })
}

#[derive(Serialize)]
struct Summary<'a> {
    asset: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rig: Option<&'a str>,
    skeletons: Vec<SkeletonSummary<'a>>,
    skins: Vec<SkinSummary<'a>>,
    clips: Vec<ClipSummary<'a>>,
    /// The size of the packed library in bytes; null if it is too large to be packed.
    packed_bytes: Option<usize>,
    /// The same with compressed keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed_packed_bytes: Option<usize>,
    /// The bytes of the packed library and of the plans that the CPU engine makes from it.
    cpu_bytes: Option<usize>,
    /// The same with compressed keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed_cpu_bytes: Option<usize>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct SkeletonSummary<'a> {
    name: Option<&'a str>,
    joints: usize,
    hierarchy: Vec<JointSummary<'a>>,
    levels: usize,
    roots: usize,
    /// Joints given by a matrix.
    matrices: usize,
    weights: usize,
    /// The names of the properties, without the tracks of a Cocos clip.
    properties: Vec<&'a str>,
    /// The names of the expressions of a VRM model or animation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expressions: Vec<&'a str>,
}

#[derive(Serialize)]
struct SkinSummary<'a> {
    name: Option<&'a str>,
    joints: usize,
}

impl<'a> Summary<'a> {
    fn new(source: &'a Source, compressed: Option<&'a CompressedLibrary>) -> Self {
        let Source { library, named, .. } = source;
        let skeleton = library.skeleton(source.skeleton);
        let skin = |&id| {
            let skin = library.skin(id);
            SkinSummary { name: skin.name.as_deref(), joints: skin.joints.len() }
        };
        // Without a rig, a Cocos clip is bound to an empty skeleton, which is not listed.
        let skeletons = source.has_nodes().then(|| SkeletonSummary::new(skeleton, source));
        let clip = |&id: &ClipId| {
            let compressed =
                compressed.map(|compressed| CompressedSummary::new(&compressed.reports()[id.index()], skeleton));
            let left_out = source.unbound_clips.binary_search(&id).is_ok();
            ClipSummary { left_out, ..ClipSummary::new(library.clip(id), skeleton, named.as_ref(), compressed) }
        };
        let packed = PackedLibrary::new(library).ok();
        let compressed_packed = compressed.and_then(|compressed| compressed.pack().ok());
        let cpu_bytes = |packed: PackedLibrary| CpuEngine::from_packed(packed, 1).size();
        Self {
            asset: &source.file,
            rig: source.rig.as_deref(),
            skeletons: skeletons.into_iter().collect(),
            skins: source.skins.iter().map(skin).collect(),
            clips: source.clips.iter().map(clip).collect(),
            packed_bytes: packed.as_ref().map(PackedLibrary::size),
            compressed_packed_bytes: compressed_packed.as_ref().map(PackedLibrary::size),
            cpu_bytes: packed.map(cpu_bytes),
            compressed_cpu_bytes: compressed_packed.map(cpu_bytes),
            warnings: &source.warnings,
        }
    }

    /// Measures the clips. Fails for clips without nodes.
    fn measure(&mut self, source: &Source, ground: GroundLevel) -> Result<(), Error> {
        if !source.has_nodes() {
            let file = &source.file;
            return Err(Error::Usage(format!("--quality: {file} has no nodes that could move; give them with --rig")));
        }
        let Source { library, skeleton, clips, .. } = source;
        let skeleton = library.skeleton(*skeleton);
        for (summary, &id) in self.clips.iter_mut().zip(clips) {
            let stance = Stance::of_clip(library, id, ground)?;
            let (quality, _) = MotionQuality::of_clip_on(library, id, measured_fps(source.fps(id)), &stance)?;
            summary.quality = Some(QualityReport::new(skeleton, &stance, &quality));
        }
        Ok(())
    }

    fn print(&self, with_joints: bool, out: &mut impl Write) -> std::io::Result<()> {
        let rig = self.rig.map_or_else(String::new, |rig| format!(", with {rig}"));
        writeln!(out, "{}{rig}", self.asset)?;
        for skeleton in &self.skeletons {
            let SkeletonSummary { joints, levels, roots, matrices, weights, .. } = skeleton;
            let counts = [(*joints, "joint"), (*levels, "level"), (*roots, "root"), (*weights, "morph weight")];
            let [joints, levels, roots, weights] = counts.map(|(count, noun)| plural(count, noun));
            writeln!(out, "skeleton{}: {joints} on {levels}, {roots}, {weights}", quoted_name(skeleton.name))?;
            if *matrices > 0 {
                writeln!(out, "  {} given by a matrix", plural(*matrices, "joint"))?;
            }
            if with_joints {
                print_joints(&skeleton.hierarchy, out)?;
            }
            for joint in skeleton.hierarchy.iter().filter(|joint| joint.morph_targets.iter().any(Option::is_some)) {
                let names: Vec<&str> = joint.morph_targets.iter().map(|name| name.unwrap_or("unnamed")).collect();
                let label = joint.path.as_deref().or(joint.name).filter(|name| !name.is_empty()).unwrap_or("unnamed");
                writeln!(out, "  morph targets of {label}: {}", names.join(", "))?;
            }
            if !skeleton.expressions.is_empty() {
                writeln!(out, "  expressions: {}", skeleton.expressions.join(", "))?;
            }
            for property in &skeleton.properties {
                writeln!(out, "  property {property}")?;
            }
        }
        for (index, skin) in self.skins.iter().enumerate() {
            let joints = if skin.joints == 0 { "left out".into() } else { plural(skin.joints, "joint") };
            writeln!(out, "skin {index}{}: {joints}", quoted_name(skin.name))?;
        }
        for (index, clip) in self.clips.iter().enumerate() {
            clip.print(index, out)?;
        }
        if self.clips.iter().any(|clip| clip.quality.is_some()) {
            writeln!(out, "{LEGEND}")?;
        }
        if self.clips.is_empty() {
            writeln!(out, "no clips")?;
        }
        if let Some(bytes) = self.compressed_packed_bytes {
            writeln!(out, "{bytes} bytes packed with compressed keys")?;
        }
        for (bytes, keys) in [(self.compressed_cpu_bytes, " with compressed keys"), (self.cpu_bytes, "")] {
            if let Some(bytes) = bytes {
                writeln!(out, "{bytes} bytes in the CPU engine{keys}, with its plans of the clips")?;
            }
        }
        match self.packed_bytes {
            Some(bytes) => writeln!(out, "{bytes} bytes packed, {}", plural(self.warnings.len(), "warning")),
            None => writeln!(out, "too large to be packed, {}", plural(self.warnings.len(), "warning")),
        }
    }
}

impl<'a> SkeletonSummary<'a> {
    fn new(skeleton: &'a Skeleton, source: &Source) -> Self {
        let tracks = source.named.iter().flat_map(|named| &named.tracks);
        let track_properties: HashSet<usize> = tracks.filter_map(|track| track.property).collect();
        let properties =
            skeleton.properties().iter().enumerate().filter(|(index, _)| !track_properties.contains(index));
        let joints = skeleton.joints();
        let count = |condition: fn(&Joint) -> bool| joints.iter().filter(|joint| condition(joint)).count();
        Self {
            name: skeleton.name(),
            joints: joints.len(),
            hierarchy: joint_summaries(skeleton, &source.joints),
            levels: skeleton.depths().into_iter().max().map_or(0, |deepest| deepest + 1),
            roots: count(|joint| joint.parent.is_none()),
            matrices: count(|joint| joint.matrix.is_some()),
            weights: skeleton.weight_count(),
            properties: properties.map(|(_, property)| property.name.as_str()).collect(),
            expressions: skeleton.expressions().iter().map(|expression| expression.name.as_str()).collect(),
        }
    }
}

/// A joint.
#[derive(Serialize)]
struct JointSummary<'a> {
    name: Option<&'a str>,
    /// A text that selects the joint alone, if others have its name, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The index of the parent; null for a root.
    parent: Option<usize>,
    /// The index of the node in the glTF file.
    node: Option<usize>,
    /// The rest translation relative to the parent; null for a joint with a matrix.
    translation: Option<[f64; 3]>,
    /// The names of the morph targets, in the order of the weights; null for one without a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    morph_targets: Vec<Option<&'a str>>,
    /// The number of ancestors.
    #[serde(skip)]
    level: usize,
}

/// All joints of a skeleton, parents before children. `nodes` has the joint of each node of the file.
fn joint_summaries<'a>(skeleton: &'a Skeleton, nodes: &[usize]) -> Vec<JointSummary<'a>> {
    let mut node_of = vec![None; skeleton.joints().len()];
    for (node, &joint) in nodes.iter().enumerate() {
        node_of[joint] = Some(node);
    }
    let joints = skeleton.joints().iter().zip(node_of).zip(skeleton.depths()).zip(skeleton.telling_paths());
    let summary = |(((joint, node), level), path): (((&'a Joint, Option<usize>), usize), _)| JointSummary {
        name: joint.name.as_deref(),
        path,
        parent: joint.parent,
        node,
        translation: joint.matrix.is_none().then(|| joint.rest.translation.to_array()),
        morph_targets: (0..joint.weights.len()).map(|index| joint.morph_name(index)).collect(),
        level,
    };
    joints.map(summary).collect()
}

/// Prints a line per joint, with its index, and the index of its node if they differ.
fn print_joints(joints: &[JointSummary], out: &mut impl Write) -> io::Result<()> {
    for (index, JointSummary { name, path, parent, node, translation, level, .. }) in joints.iter().enumerate() {
        let (indent, name) = (2 * (*level).min(MAX_INDENT), name.filter(|name| !name.is_empty()).unwrap_or("unnamed"));
        write!(out, "  joint {index}: {:indent$}{name}", "")?;
        if let Some(path) = path {
            write!(out, " ({path})")?;
        }
        if let Some(parent) = parent {
            write!(out, ", below {parent}")?;
        }
        if let Some(node) = node.filter(|&node| node != index) {
            write!(out, ", node {node}")?;
        }
        match translation {
            Some([x, y, z]) => writeln!(out, ", at {} {} {}", *x as f32, *y as f32, *z as f32)?,
            None => writeln!(out, ", given by a matrix")?,
        }
    }
    Ok(())
}

/// The summary of a clip.
#[derive(Serialize)]
struct ClipSummary<'a> {
    name: Option<&'a str>,
    /// `true` if no track of it can be read, or finds a node of the rig.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    left_out: bool,
    /// Seconds.
    duration: f64,
    /// Seconds of the clip per second of play.
    speed: f64,
    wrap: &'static str,
    events: Vec<EventSummary<'a>>,
    /// The number of tracks with equal keys.
    constant_tracks: usize,
    /// Bytes of times and values as `f32`; a shared timeline counts once.
    key_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed: Option<CompressedSummary>,
    /// The measures of `--quality`.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<QualityReport>,
    timelines: Vec<TimelineSummary>,
    tracks: Tracks<'a>,
}

#[derive(Serialize)]
struct EventSummary<'a> {
    /// Seconds.
    time: f64,
    function: &'a str,
}

/// Tracks in the form of their file.
#[derive(Serialize)]
#[serde(untagged)]
enum Tracks<'a> {
    /// Tracks of a glTF file, which animate joints.
    Joints(Vec<TrackSummary<'a>>),
    /// Tracks of a Cocos clip, which animate named targets.
    Names(Vec<TargetSummary<'a>>),
}

#[derive(Serialize)]
struct TrackSummary<'a> {
    target: &'static str,
    joint: Option<usize>,
    /// The name of the joint or the property.
    name: Option<&'a str>,
    interpolation: &'static str,
    keys: usize,
    /// The index of the timeline in the clip.
    timeline: usize,
    constant: bool,
}

impl<'a> ClipSummary<'a> {
    fn new(
        clip: &'a Clip,
        skeleton: &'a Skeleton,
        named: Option<&'a NamedClip>,
        compressed: Option<CompressedSummary>,
    ) -> Self {
        let mut timelines = ClipTimelines::default();
        let tracks = match named {
            Some(named) => Tracks::Names(target_summaries(named, skeleton, &mut timelines)),
            None => {
                Tracks::Joints(clip.tracks.iter().map(|track| track_summary(track, skeleton, &mut timelines)).collect())
            }
        };
        Self {
            name: clip.name.as_deref(),
            left_out: false,
            duration: clip.duration(),
            speed: clip.speed,
            wrap: clip.wrap.name(),
            events: clip
                .events
                .iter()
                .map(|event| EventSummary { time: event.time, function: &event.function })
                .collect(),
            constant_tracks: match &tracks {
                Tracks::Joints(tracks) => tracks.iter().filter(|track| track.constant).count(),
                Tracks::Names(tracks) => tracks.iter().filter(|track| track.constant).count(),
            },
            key_bytes: 4 * timelines.numbers,
            compressed,
            quality: None,
            timelines: timelines.found,
            tracks,
        }
    }

    /// Prints the summary of the clip with this index.
    fn print(&self, index: usize, out: &mut impl Write) -> io::Result<()> {
        if self.left_out {
            return writeln!(out, "clip {index}{}: left out", quoted_name(self.name));
        }
        let count = match &self.tracks {
            Tracks::Joints(tracks) => tracks.len(),
            Tracks::Names(tracks) => tracks.len(),
        };
        let (duration, tracks, constant) = (seconds(self.duration), plural(count, "track"), self.constant_tracks);
        writeln!(out, "clip {index}{}: {duration}, {tracks}, {constant} constant", quoted_name(self.name))?;
        match &self.tracks {
            Tracks::Joints(tracks) => self.print_kinds(tracks, out)?,
            Tracks::Names(tracks) => self.print_names(tracks, out)?,
        }
        if let Some(compressed) = &self.compressed {
            compressed.print(out)?;
        }
        if let Some(quality) = &self.quality {
            quality.print(out)?;
        }
        let (shown, hidden) = self.timelines.split_at(self.timelines.len().min(8));
        for (index, TimelineSummary { keys, first, last, step, tracks }) in shown.iter().enumerate() {
            let tracks = plural(*tracks, "track");
            let spacing = match step {
                Some(step) => format!("{keys} keys, {} to {}, every {step:.6} s", seconds(*first), seconds(*last)),
                None if *keys == 1 => format!("1 key, at {}", seconds(*first)),
                None => format!("{keys} keys, {} to {}, uneven", seconds(*first), seconds(*last)),
            };
            writeln!(out, "  timeline {index} of {tracks}: {spacing}")?;
        }
        if !hidden.is_empty() {
            writeln!(out, "  and {} more timelines (--json lists them)", hidden.len())?;
        }
        Ok(())
    }

    /// Prints the number of tracks per target and interpolation.
    fn print_kinds(&self, tracks: &[TrackSummary], out: &mut impl Write) -> io::Result<()> {
        let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
        for track in tracks {
            *kinds.entry((track.target, track.interpolation)).or_default() += 1;
        }
        for ((target, interpolation), tracks) in kinds {
            writeln!(out, "  {tracks} x {target}, {interpolation}")?;
        }
        let joints: BTreeSet<_> = tracks.iter().filter_map(|track| track.joint).collect();
        let keys: usize = tracks.iter().map(|track| track.keys).sum();
        let (joints, keys) = (plural(joints.len(), "joint"), plural(keys, "key"));
        writeln!(out, "  {joints} moved, {keys}, {} bytes as f32", self.key_bytes)
    }

    /// Prints the events, and a line per track.
    fn print_names(&self, tracks: &[TargetSummary], out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "  wrap mode {}, speed {}", self.wrap, self.speed)?;
        for EventSummary { time, function } in &self.events {
            writeln!(out, "  event at {}: {function}", seconds(*time))?;
        }
        tracks.iter().try_for_each(|track| track.print(out))?;
        let keys: usize = tracks.iter().map(|track| track.keys).sum();
        writeln!(out, "  {}, {} bytes as f32", plural(keys, "key"), self.key_bytes)
    }
}

/// The summary of a track of a glTF file.
fn track_summary<'a>(track: &'a Track, skeleton: &'a Skeleton, timelines: &mut ClipTimelines) -> TrackSummary<'a> {
    let (target, joint) = target_name(track.target);
    let name = match track.target {
        Target::Property(property) => Some(skeleton.properties()[property].name.as_str()),
        _ => joint.and_then(|joint| skeleton.joints()[joint].name.as_deref()),
    };
    TrackSummary {
        target,
        joint,
        name,
        interpolation: interpolation_name(track.curve.interpolation()),
        keys: track.curve.timeline().len(),
        timeline: timelines.add_track([&track.curve])[0],
        constant: track.curve.is_constant(),
    }
}

/// The size and the error of a compressed clip.
#[derive(Serialize)]
struct CompressedSummary {
    /// Bytes of keys, constants, key times and lookup tables, without compression.
    float_bytes: usize,
    /// The same, compressed.
    compressed_bytes: usize,
    /// Bytes of the clip's record and channels, without compression.
    float_table_bytes: usize,
    /// The same, compressed.
    compressed_table_bytes: usize,
    ratio: f64,
    /// The largest displacement of a joint or of its shell, in the units of the rig.
    error: f64,
    /// The name or the index of the joint with that displacement.
    joint: String,
    /// The time of that displacement, in seconds of the clip.
    time: f64,
    /// The number of key times, without compression; a shared timeline counts once, constant tracks do not count.
    float_key_times: usize,
    /// The same, compressed.
    compressed_key_times: usize,
    constant_tracks: usize,
    /// The number of tracks with float keys.
    float_tracks: usize,
    /// The number of tracks by the bits of their widest number.
    tracks_by_width: BTreeMap<usize, usize>,
}

impl CompressedSummary {
    fn new(report: &ClipReport, skeleton: &Skeleton) -> Self {
        let widths = report.tracks_by_width.iter().copied().enumerate();
        Self {
            float_bytes: report.float_bytes,
            compressed_bytes: report.compressed_bytes,
            float_table_bytes: report.float_table_bytes,
            compressed_table_bytes: report.compressed_table_bytes,
            ratio: report.ratio(),
            error: report.error,
            joint: skeleton.joint_name(report.joint),
            time: report.time,
            float_key_times: report.float_key_times,
            compressed_key_times: report.compressed_key_times,
            constant_tracks: report.constant_tracks,
            float_tracks: report.float_tracks,
            tracks_by_width: widths.filter(|(_, tracks)| *tracks > 0).collect(),
        }
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { float_bytes, compressed_bytes, ratio, error, joint, time, .. } = self;
        writeln!(out, "  compressed: {compressed_bytes} bytes of {float_bytes} ({:.1} %)", 100.0 * ratio)?;
        writeln!(out, "    channels and record: {} bytes of {}", self.compressed_table_bytes, self.float_table_bytes)?;
        writeln!(out, "    off by {error:.3e} at most, at {joint}, {}", seconds(*time))?;
        let [before, after] = [self.float_key_times, self.compressed_key_times];
        if after != before {
            writeln!(out, "    key times: {after} of {before}")?;
        }
        write!(out, "    tracks: {} constant, {} as f32", self.constant_tracks, self.float_tracks)?;
        for (width, tracks) in &self.tracks_by_width {
            write!(out, ", {tracks} of {width} bits")?;
        }
        writeln!(out)
    }
}

/// A timeline.
#[derive(Serialize)]
struct TimelineSummary {
    keys: usize,
    /// Seconds.
    first: f64,
    /// Seconds.
    last: f64,
    /// Seconds between keys, if the keys are evenly spaced.
    step: Option<f64>,
    /// The number of tracks on it.
    tracks: usize,
}

/// The timelines of a clip, in the order of their first curves.
#[derive(Default)]
struct ClipTimelines {
    indices: BTreeMap<*const Timeline, usize>,
    /// The timelines.
    found: Vec<TimelineSummary>,
    /// The count of all numbers, times and values.
    numbers: usize,
}

impl ClipTimelines {
    /// Adds the curves of a track. Returns the indices of their timelines, without duplicates.
    fn add_track<'a>(&mut self, curves: impl IntoIterator<Item = &'a Curve>) -> Vec<usize> {
        let mut indices = BTreeSet::new();
        for curve in curves {
            let timeline = curve.timeline();
            self.numbers += curve.values().len();
            indices.insert(*self.indices.entry(Arc::as_ptr(timeline)).or_insert_with(|| {
                self.numbers += timeline.len();
                let (keys, first, last) = (timeline.len(), timeline.first(), timeline.last());
                self.found.push(TimelineSummary { keys, first, last, step: timeline.step(), tracks: 0 });
                self.found.len() - 1
            }));
        }
        indices.iter().for_each(|&index| self.found[index].tracks += 1);
        indices.into_iter().collect()
    }
}

/// A track with a named target.
#[derive(Serialize)]
struct TargetSummary<'a> {
    /// `/` for the root.
    path: String,
    component: Option<&'a str>,
    property: String,
    /// The type of the value.
    kind: &'static str,
    /// The names of the interpolations of the curves.
    interpolations: BTreeSet<&'static str>,
    /// The names of the easings; `bezier` for an easing by a curve.
    easings: BTreeSet<&'static str>,
    keys: usize,
    /// The indices of the timelines in the clip.
    timelines: Vec<usize>,
    constant: bool,
    /// The transform of the rig that the track animates, if any.
    moves: Option<AnimatedJoint<'a>>,
}

/// A joint, and the part of its transform that a track animates.
#[derive(Serialize)]
struct AnimatedJoint<'a> {
    target: &'static str,
    joint: usize,
    name: Option<&'a str>,
}

/// The tracks of a clip, in the order of the file.
fn target_summaries<'a>(
    named: &'a NamedClip,
    skeleton: &'a Skeleton,
    timelines: &mut ClipTimelines,
) -> Vec<TargetSummary<'a>> {
    let tracks = named.clip.tracks.iter().zip(&named.tracks);
    tracks.map(|(track, bound)| TargetSummary::new(track, bound, skeleton, timelines)).collect()
}

impl<'a> TargetSummary<'a> {
    fn new(track: &'a UnboundTrack, bound: &BoundTrack, skeleton: &'a Skeleton, timelines: &mut ClipTimelines) -> Self {
        let curves: Vec<&Curve> = match &track.curves {
            UnboundCurves::Empty => Vec::new(),
            UnboundCurves::Whole(curve) => vec![curve],
            UnboundCurves::Channels(channels) => channels.iter().flatten().collect(),
        };
        let moves = bound.joint.map(target_name).and_then(|(target, joint)| {
            let joint = joint?;
            Some(AnimatedJoint { target, joint, name: skeleton.joints()[joint].name.as_deref() })
        });
        Self {
            path: target_path(&track.target),
            component: track.target.component.as_deref(),
            property: target_property(&track.target),
            kind: kind_name(track.kind),
            interpolations: curves.iter().map(|curve| interpolation_name(curve.interpolation())).collect(),
            easings: curves.iter().flat_map(|curve| easings(curve)).collect(),
            keys: curves.iter().map(|curve| curve.timeline().len()).sum(),
            timelines: timelines.add_track(curves.iter().copied()),
            constant: !curves.is_empty() && curves.iter().all(|curve| curve.is_constant()),
            moves,
        }
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let component = self.component.map_or_else(String::new, |component| format!("{component}."));
        write!(out, "  {}:{component}{}: {}", self.path, self.property, self.kind)?;
        for name in self.interpolations.iter().chain(&self.easings) {
            write!(out, ", {name}")?;
        }
        write!(out, ", {}", plural(self.keys, "key"))?;
        let timelines: Vec<String> = self.timelines.iter().map(ToString::to_string).collect();
        match timelines.as_slice() {
            [] => {}
            [only] => write!(out, " on timeline {only}")?,
            several => write!(out, " on timelines {}", several.join(", "))?,
        }
        if let Some(AnimatedJoint { target, joint, name }) = self.moves {
            write!(out, ", moves the {target} of joint {joint}{}", quoted_name(name))?;
        }
        writeln!(out)
    }
}

/// The names of the easings that have an effect.
fn easings(curve: &Curve) -> BTreeSet<&'static str> {
    let used = match curve.easing() {
        CurveEasing::None => 0,
        CurveEasing::One(_) => 1,
        CurveEasing::PerKey(easings) => easings.len(),
    };
    let gaps = curve.timeline().len() - 1;
    let easings = (0..used.min(gaps)).map(|key| curve.easing_at(key)).filter(|easing| !easing.is_linear());
    easings.map(|easing: Easing| easing.name().unwrap_or("bezier")).collect()
}

/// The name of the type of a value.
fn kind_name(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Number => "number",
        ValueKind::Vec2 => "vec2",
        ValueKind::Vec3 => "vec3",
        ValueKind::Vec4 => "vec4",
        ValueKind::Quat => "quat",
        ValueKind::Color => "color",
        ValueKind::Size => "size",
        ValueKind::Rect => "rect",
        ValueKind::Held => "held",
        ValueKind::Custom { .. } => "custom",
    }
}

/// A space and a name in quotes; empty without a name.
fn quoted_name(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" \"{name}\""))
}

/// Seconds with the digits of an `f32`, the precision of files.
pub fn seconds(seconds: f64) -> String {
    format!("{} s", seconds as f32)
}

/// The name of a target, and its joint.
fn target_name(target: Target) -> (&'static str, Option<usize>) {
    match target {
        Target::Translation(joint) => ("translation", Some(joint)),
        Target::Rotation(joint) => ("rotation", Some(joint)),
        Target::Scale(joint) => ("scale", Some(joint)),
        Target::Weights(joint) => ("weights", Some(joint)),
        Target::EulerAngles(joint) => ("eulerAngles", Some(joint)),
        Target::Property(_) => ("property", None),
    }
}

/// The name of an interpolation.
fn interpolation_name(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
        Interpolation::Slerp => "SLERP",
        Interpolation::Custom(_) => "CUSTOM",
    }
}
