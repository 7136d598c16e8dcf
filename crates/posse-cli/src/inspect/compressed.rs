//! The summary of a compressed clip.

use std::collections::BTreeMap;
use std::io::{self, Write};

use posse::{ClipReport, Skeleton};
use serde::Serialize;

use crate::inspect::text::seconds;

/// The size and the error of a compressed clip.
#[derive(Serialize)]
pub struct CompressedSummary {
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
    pub fn new(report: &ClipReport, skeleton: &Skeleton) -> Self {
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

    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
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
