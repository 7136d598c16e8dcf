//! What compressed keys make of a clip.

use std::collections::BTreeMap;
use std::io::{self, Write};

use posse::{ClipReport, Skeleton};
use serde::Serialize;

use crate::cli::inspect::seconds;

#[derive(Serialize)]
pub struct CompressedSummary {
    /// Bytes of keys, constants, key times and what finds them, in the ordinary packing.
    float_bytes: usize,
    /// The same with compressed keys.
    compressed_bytes: usize,
    ratio: f64,
    /// The largest displacement of a joint or its shell, in the rig's units.
    error: f64,
    /// The joint's name or number.
    joint: String,
    /// When, in seconds of the clip.
    time: f64,
    /// Key times of all timelines that tracks move on, each once, in the ordinary packing.
    float_key_times: usize,
    /// The same with compressed keys.
    compressed_key_times: usize,
    constant_tracks: usize,
    /// Tracks whose keys stay as they are.
    float_tracks: usize,
    /// Tracks by the bits of their widest number.
    tracks_by_width: BTreeMap<usize, usize>,
}

impl CompressedSummary {
    pub fn new(report: &ClipReport, skeleton: &Skeleton) -> Self {
        let name = skeleton.joints().get(report.joint).and_then(|joint| joint.name.clone());
        let widths = report.tracks_by_width.iter().copied().enumerate();
        Self {
            float_bytes: report.float_bytes,
            compressed_bytes: report.compressed_bytes,
            ratio: report.ratio(),
            error: report.error,
            joint: name.unwrap_or_else(|| format!("joint {}", report.joint)),
            time: report.time,
            float_key_times: report.float_key_times,
            compressed_key_times: report.compressed_key_times,
            constant_tracks: report.constant_tracks,
            float_tracks: report.float_tracks,
            tracks_by_width: widths.filter(|(_, tracks)| *tracks > 0).collect(),
        }
    }

    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { float_bytes, compressed_bytes, ratio, error, joint, time, .. } = self;
        writeln!(out, "  compressed: {compressed_bytes} bytes of {float_bytes} ({:.1} %)", 100.0 * ratio)?;
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
