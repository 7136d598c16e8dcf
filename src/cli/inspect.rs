//! `posse inspect`: what is in a file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use posse::error::Error;
use posse::import::gltf::Asset;
use posse::model::clip::Clip;
use posse::model::curve::Interpolation;
use posse::model::library::Library;
use posse::model::skeleton::{Joint, Skeleton};
use posse::model::timeline::Timeline;
use posse::model::track::Target;
use posse::pack::library::Packing;
use serde::Serialize;

use crate::cli::output::{self, file_name};

/// Arguments of `posse inspect`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb or .gltf file.
    file: PathBuf,
    /// Prints JSON, with every track.
    #[arg(long)]
    json: bool,
}

/// Runs `posse inspect`.
pub fn run(args: &Args) -> Result<(), Error> {
    let (library, asset) = output::load(&args.file)?;
    let summary = Summary::new(&library, &asset);
    output::print(|out| {
        if !args.json {
            return summary.print(out);
        }
        serde_json::to_writer_pretty(&mut *out, &summary)?;
        writeln!(out)
    })
}

#[derive(Serialize)]
struct Summary<'a> {
    asset: String,
    skeletons: Vec<SkeletonSummary<'a>>,
    skins: Vec<SkinSummary<'a>>,
    clips: Vec<ClipSummary<'a>>,
    /// Bytes that the engines hold of the file; null where it is too large to be packed.
    packed_bytes: Option<usize>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct SkeletonSummary<'a> {
    name: Option<&'a str>,
    joints: usize,
    levels: usize,
    roots: usize,
    /// Joints given by a matrix.
    matrices: usize,
    weights: usize,
    properties: Vec<&'a str>,
}

#[derive(Serialize)]
struct SkinSummary<'a> {
    name: Option<&'a str>,
    joints: usize,
}

#[derive(Serialize)]
struct ClipSummary<'a> {
    name: Option<&'a str>,
    /// Seconds.
    duration: f64,
    /// Tracks of which every key is the same.
    constant_tracks: usize,
    /// Bytes of times and values as `f32`, each timeline once.
    key_bytes: usize,
    timelines: Vec<TimelineSummary>,
    tracks: Vec<TrackSummary<'a>>,
}

#[derive(Serialize)]
struct TimelineSummary {
    keys: usize,
    /// Seconds.
    first: f64,
    /// Seconds.
    last: f64,
    /// Seconds from key to key, where the keys are evenly spaced.
    step: Option<f64>,
    /// Tracks that share it.
    tracks: usize,
}

#[derive(Serialize)]
struct TrackSummary<'a> {
    target: &'static str,
    joint: Option<usize>,
    /// The joint's name, or the property's.
    name: Option<&'a str>,
    interpolation: &'static str,
    keys: usize,
    /// Index among the clip's timelines.
    timeline: usize,
    constant: bool,
}

impl<'a> Summary<'a> {
    fn new(library: &'a Library, asset: &Asset) -> Self {
        let skeleton = library.skeleton(asset.skeleton);
        let skin = |&id| {
            let skin = library.skin(id);
            SkinSummary { name: skin.name.as_deref(), joints: skin.joints.len() }
        };
        Self {
            asset: file_name(&asset.file),
            skeletons: vec![SkeletonSummary::new(skeleton)],
            skins: asset.skins.iter().map(skin).collect(),
            clips: asset.clips.iter().map(|&clip| ClipSummary::new(library.clip(clip), skeleton)).collect(),
            packed_bytes: Packing::new(library).ok().map(|packing| packing.size()),
            warnings: asset.warnings.iter().map(ToString::to_string).collect(),
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let named = |name: Option<&str>| name.map_or_else(String::new, |name| format!(" \"{name}\""));
        writeln!(out, "{}", self.asset)?;
        for skeleton in &self.skeletons {
            let SkeletonSummary { joints, levels, roots, matrices, weights, .. } = skeleton;
            let counts = [(*joints, "joint"), (*levels, "level"), (*roots, "root"), (*weights, "morph weight")];
            let [joints, levels, roots, weights] = counts.map(|(count, noun)| plural(count, noun));
            writeln!(out, "skeleton{}: {joints} on {levels}, {roots}, {weights}", named(skeleton.name))?;
            if *matrices > 0 {
                writeln!(out, "  {} given by a matrix", plural(*matrices, "joint"))?;
            }
            for property in &skeleton.properties {
                writeln!(out, "  property {property}")?;
            }
        }
        for (index, skin) in self.skins.iter().enumerate() {
            writeln!(out, "skin {index}{}: {}", named(skin.name), plural(skin.joints, "joint"))?;
        }
        for (index, clip) in self.clips.iter().enumerate() {
            let (duration, tracks) = (seconds(clip.duration), plural(clip.tracks.len(), "track"));
            let constant = clip.constant_tracks;
            writeln!(out, "clip {index}{}: {duration}, {tracks}, {constant} constant", named(clip.name))?;
            let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
            for track in &clip.tracks {
                *kinds.entry((track.target, track.interpolation)).or_default() += 1;
            }
            for ((target, interpolation), tracks) in kinds {
                writeln!(out, "  {tracks} x {target}, {interpolation}")?;
            }
            let joints: BTreeSet<_> = clip.tracks.iter().filter_map(|track| track.joint).collect();
            let keys: usize = clip.tracks.iter().map(|track| track.keys).sum();
            let (joints, keys) = (plural(joints.len(), "joint"), plural(keys, "key"));
            writeln!(out, "  {joints} moved, {keys}, {} bytes as f32", clip.key_bytes)?;
            let (shown, hidden) = clip.timelines.split_at(clip.timelines.len().min(8));
            for TimelineSummary { keys, first, last, step, tracks } in shown {
                let tracks = plural(*tracks, "track");
                let spacing = match step {
                    Some(step) => format!("{keys} keys, {} to {}, every {step:.6} s", seconds(*first), seconds(*last)),
                    None if *keys == 1 => format!("1 key, at {}", seconds(*first)),
                    None => format!("{keys} keys, {} to {}, uneven", seconds(*first), seconds(*last)),
                };
                writeln!(out, "  timeline of {tracks}: {spacing}")?;
            }
            if !hidden.is_empty() {
                writeln!(out, "  and {} more timelines (--json lists them)", hidden.len())?;
            }
        }
        if self.clips.is_empty() {
            writeln!(out, "no clips")?;
        }
        match self.packed_bytes {
            Some(bytes) => writeln!(out, "{bytes} bytes packed, {}", plural(self.warnings.len(), "warning")),
            None => writeln!(out, "too large to be packed, {}", plural(self.warnings.len(), "warning")),
        }
    }
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Seconds as files have them, in as few digits as an `f32` needs.
fn seconds(seconds: f64) -> String {
    format!("{} s", seconds as f32)
}

impl<'a> SkeletonSummary<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        let joints = skeleton.joints();
        let count = |what: fn(&Joint) -> bool| joints.iter().filter(|joint| what(joint)).count();
        Self {
            name: skeleton.name(),
            joints: joints.len(),
            levels: skeleton.depths().into_iter().max().map_or(0, |deepest| deepest + 1),
            roots: count(|joint| joint.parent.is_none()),
            matrices: count(|joint| joint.matrix.is_some()),
            weights: skeleton.weight_count(),
            properties: skeleton.properties().iter().map(|property| property.name.as_str()).collect(),
        }
    }
}

impl<'a> ClipSummary<'a> {
    fn new(clip: &'a Clip, skeleton: &'a Skeleton) -> Self {
        let mut places: BTreeMap<*const Timeline, usize> = BTreeMap::new();
        let mut timelines: Vec<TimelineSummary> = Vec::new();
        let mut tracks = Vec::with_capacity(clip.tracks.len());
        let mut numbers = 0;
        for track in &clip.tracks {
            let timeline = track.curve.timeline();
            let place = *places.entry(Arc::as_ptr(timeline)).or_insert_with(|| {
                numbers += timeline.len();
                let (keys, first, last) = (timeline.len(), timeline.first(), timeline.last());
                timelines.push(TimelineSummary { keys, first, last, step: timeline.step(), tracks: 0 });
                timelines.len() - 1
            });
            timelines[place].tracks += 1;
            numbers += track.curve.values().len();
            let (target, joint) = target(track.target);
            let name = match track.target {
                Target::Property(property) => Some(skeleton.properties()[property].name.as_str()),
                _ => joint.and_then(|joint| skeleton.joints()[joint].name.as_deref()),
            };
            tracks.push(TrackSummary {
                target,
                joint,
                name,
                interpolation: interpolation(track.curve.interpolation()),
                keys: timeline.len(),
                timeline: place,
                constant: track.curve.is_constant(),
            });
        }
        Self {
            name: clip.name.as_deref(),
            duration: clip.duration(),
            constant_tracks: tracks.iter().filter(|track| track.constant).count(),
            key_bytes: 4 * numbers,
            timelines,
            tracks,
        }
    }
}

fn target(target: Target) -> (&'static str, Option<usize>) {
    match target {
        Target::Translation(joint) => ("translation", Some(joint)),
        Target::Rotation(joint) => ("rotation", Some(joint)),
        Target::Scale(joint) => ("scale", Some(joint)),
        Target::Weights(joint) => ("weights", Some(joint)),
        Target::EulerAngles(joint) => ("eulerAngles", Some(joint)),
        Target::Property(_) => ("property", None),
    }
}

fn interpolation(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
        Interpolation::Slerp => "SLERP",
        Interpolation::Custom(_) => "CUSTOM",
    }
}
