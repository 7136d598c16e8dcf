//! The summary of a clip.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use posse::{Clip, Skeleton, Target, Track};
use serde::Serialize;

use crate::inspect::compressed::CompressedSummary;
use crate::inspect::targets::{self, TargetSummary};
use crate::inspect::text::{interpolation_name, plural, quoted_name, seconds, target_name};
use crate::inspect::timelines::{TimelineSummary, Timelines};
use crate::source::NamedClip;

/// The summary of a clip.
#[derive(Serialize)]
pub struct ClipSummary<'a> {
    name: Option<&'a str>,
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
    pub fn new(
        clip: &'a Clip,
        skeleton: &'a Skeleton,
        named: Option<&'a NamedClip>,
        compressed: Option<CompressedSummary>,
    ) -> Self {
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
            compressed,
            timelines: timelines.found,
            tracks,
        }
    }

    /// Prints the summary of the clip with this index.
    pub fn print(&self, index: usize, out: &mut impl Write) -> io::Result<()> {
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
fn summary<'a>(track: &'a Track, skeleton: &'a Skeleton, timelines: &mut Timelines) -> TrackSummary<'a> {
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
