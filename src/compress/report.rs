//! Sizes and errors of compressed clips.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compress::displacement::Displacement;
use crate::model::{Clip, ClipId, Library, Timeline};
use crate::pack::{ClipBytes, MOST_BITS, QuantizedCurve};

/// The sizes of a clip before and after compression, each as if packed alone, and its largest error.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipReport {
    /// The clip.
    pub clip: ClipId,
    /// Bytes of keys, constants, key times and lookup tables without compression: four `f32` per value.
    pub float_bytes: usize,
    /// The same with compression.
    pub compressed_bytes: usize,
    /// Bytes of the clip's record and channels without compression.
    pub float_table_bytes: usize,
    /// The same with compression.
    pub compressed_table_bytes: usize,
    /// The largest displacement of a joint or of a point on its shell, in the rig's units.
    pub error: f64,
    /// The index of the joint with that displacement.
    pub joint: usize,
    /// The time of that displacement, in seconds of the clip.
    pub time: f64,
    /// The number of key times without compression. Timelines of constant tracks do not count, and a shared timeline counts once.
    pub float_key_times: usize,
    /// The same with compression.
    pub compressed_key_times: usize,
    /// The number of tracks with one value for all times.
    pub constant_tracks: usize,
    /// The number of tracks that keep their original keys.
    pub float_tracks: usize,
    /// The number of quantized tracks by the bits of their widest number, from 0 to 24.
    pub tracks_by_width: [usize; MOST_BITS as usize + 1],
}

impl ClipReport {
    /// The compressed size divided by the uncompressed size; 1 for a clip without keys.
    pub fn ratio(&self) -> f64 {
        if self.float_bytes == 0 { 1.0 } else { self.compressed_bytes as f64 / self.float_bytes as f64 }
    }
}

/// Makes a report for each clip.
pub(super) fn reports(
    original: &Library,
    compressed: &Library,
    curves: &[Vec<Option<Arc<QuantizedCurve>>>],
    worst: &[Displacement],
) -> Vec<ClipReport> {
    let report = |(index, curves): (usize, &Vec<Option<Arc<QuantizedCurve>>>)| {
        let Displacement { distance, joint, time } = worst[index];
        let float = ClipBytes::new(original, &original.clips()[index], &[]);
        let quantized = ClipBytes::new(compressed, &compressed.clips()[index], curves);
        let mut report = ClipReport {
            clip: ClipId(index),
            float_bytes: float.of_keys(),
            compressed_bytes: quantized.of_keys(),
            float_table_bytes: float.channels + float.record,
            compressed_table_bytes: quantized.channels + quantized.record,
            error: distance,
            joint,
            time,
            float_key_times: key_times(&original.clips()[index]),
            compressed_key_times: key_times(&compressed.clips()[index]),
            constant_tracks: 0,
            float_tracks: 0,
            tracks_by_width: [0; MOST_BITS as usize + 1],
        };
        for (track, quantized) in compressed.clips()[index].tracks.iter().zip(curves) {
            match quantized {
                Some(quantized) => report.tracks_by_width[quantized.width() as usize] += 1,
                None if track.curve.is_constant() => report.constant_tracks += 1,
                None => report.float_tracks += 1,
            }
        }
        report
    };
    curves.iter().enumerate().map(report).collect()
}

/// The number of keys of all timelines with a track that is not constant. Each timeline counts once.
fn key_times(clip: &Clip) -> usize {
    let moving = clip.tracks.iter().map(|track| &track.curve).filter(|curve| !curve.is_constant());
    let timelines: HashMap<*const Timeline, usize> =
        moving.map(|curve| (Arc::as_ptr(curve.timeline()), curve.timeline().len())).collect();
    timelines.values().sum()
}
