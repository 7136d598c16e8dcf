//! What is in a clip.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use posse::model::clip::Clip;
use posse::model::curve::{Curve, Interpolation};
use posse::model::skeleton::Skeleton;
use posse::model::timeline::Timeline;
use posse::model::track::{Target, Track};
use serde::Serialize;

use crate::cli::inspect::targets::{self, TargetSummary};
use crate::cli::inspect::{named, plural, seconds};
use crate::cli::source::Named;

#[derive(Serialize)]
pub struct ClipSummary<'a> {
    name: Option<&'a str>,
    /// Seconds.
    duration: f64,
    /// Seconds of the clip in a second of play.
    speed: f64,
    wrap: &'static str,
    events: Vec<EventSummary<'a>>,
    /// Tracks of which every key is the same.
    constant_tracks: usize,
    /// Bytes of times and values as `f32`, each timeline once.
    key_bytes: usize,
    timelines: Vec<TimelineSummary>,
    tracks: Tracks<'a>,
}

#[derive(Serialize)]
struct EventSummary<'a> {
    /// Seconds.
    time: f64,
    function: &'a str,
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

/// Tracks, as a file has them.
#[derive(Serialize)]
#[serde(untagged)]
enum Tracks<'a> {
    /// Those of a glTF file, by joints.
    Joints(Vec<TrackSummary<'a>>),
    /// Those of a Cocos clip, by names.
    Names(Vec<TargetSummary<'a>>),
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

/// The timelines of a clip, as its curves turn up.
#[derive(Default)]
pub struct Timelines {
    places: BTreeMap<*const Timeline, usize>,
    found: Vec<TimelineSummary>,
    /// Numbers of times and values.
    numbers: usize,
}

impl Timelines {
    /// The indices of the timelines of a track's curves, each once.
    pub fn of_track<'a>(&mut self, curves: impl IntoIterator<Item = &'a Curve>) -> Vec<usize> {
        let mut places = BTreeSet::new();
        for curve in curves {
            let timeline = curve.timeline();
            self.numbers += curve.values().len();
            places.insert(*self.places.entry(Arc::as_ptr(timeline)).or_insert_with(|| {
                self.numbers += timeline.len();
                let (keys, first, last) = (timeline.len(), timeline.first(), timeline.last());
                self.found.push(TimelineSummary { keys, first, last, step: timeline.step(), tracks: 0 });
                self.found.len() - 1
            }));
        }
        places.iter().for_each(|&place| self.found[place].tracks += 1);
        places.into_iter().collect()
    }
}

impl<'a> ClipSummary<'a> {
    pub fn new(clip: &'a Clip, skeleton: &'a Skeleton, named: Option<&'a Named>) -> Self {
        let mut timelines = Timelines::default();
        let tracks = match named {
            Some(named) => Tracks::Names(targets::summaries(named, skeleton, &mut timelines)),
            None => Tracks::Joints(clip.tracks.iter().map(|track| summary(track, skeleton, &mut timelines)).collect()),
        };
        Self {
            name: clip.name.as_deref(),
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
            timelines: timelines.found,
            tracks,
        }
    }

    /// Prints it as the clip of an index.
    pub fn print(&self, index: usize, out: &mut impl Write) -> io::Result<()> {
        let count = match &self.tracks {
            Tracks::Joints(tracks) => tracks.len(),
            Tracks::Names(tracks) => tracks.len(),
        };
        let (duration, tracks, constant) = (seconds(self.duration), plural(count, "track"), self.constant_tracks);
        writeln!(out, "clip {index}{}: {duration}, {tracks}, {constant} constant", named(self.name))?;
        match &self.tracks {
            Tracks::Joints(tracks) => self.print_kinds(tracks, out)?,
            Tracks::Names(tracks) => self.print_names(tracks, out)?,
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

fn summary<'a>(track: &'a Track, skeleton: &'a Skeleton, timelines: &mut Timelines) -> TrackSummary<'a> {
    let (target, joint) = target(track.target);
    let name = match track.target {
        Target::Property(property) => Some(skeleton.properties()[property].name.as_str()),
        _ => joint.and_then(|joint| skeleton.joints()[joint].name.as_deref()),
    };
    TrackSummary {
        target,
        joint,
        name,
        interpolation: interpolation(track.curve.interpolation()),
        keys: track.curve.timeline().len(),
        timeline: timelines.of_track([&track.curve])[0],
        constant: track.curve.is_constant(),
    }
}

pub fn target(target: Target) -> (&'static str, Option<usize>) {
    match target {
        Target::Translation(joint) => ("translation", Some(joint)),
        Target::Rotation(joint) => ("rotation", Some(joint)),
        Target::Scale(joint) => ("scale", Some(joint)),
        Target::Weights(joint) => ("weights", Some(joint)),
        Target::EulerAngles(joint) => ("eulerAngles", Some(joint)),
        Target::Property(_) => ("property", None),
    }
}

pub fn interpolation(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
        Interpolation::Slerp => "SLERP",
        Interpolation::Custom(_) => "CUSTOM",
    }
}
