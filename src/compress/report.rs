//! What compressed keys take, and how far they are off.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compress::displacement::Displacement;
use crate::model::{Clip, ClipId, Library, Timeline};
use crate::pack::{MOST_BITS, QuantizedCurve, key_bytes};

/// What the keys of a clip take, alone in a packing, and how far they are off.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipReport {
    /// The clip.
    pub clip: ClipId,
    /// Bytes of keys, constants, key times and what finds them, of the ordinary packing: four `f32` a value.
    pub float_bytes: usize,
    /// The same of the compressed packing.
    pub compressed_bytes: usize,
    /// The largest displacement of a joint, or of a point a shell away from it, in the rig's units.
    pub error: f64,
    /// The joint.
    pub joint: usize,
    /// When, in seconds of the clip.
    pub time: f64,
    /// Key times of all timelines that tracks move on, each once, in the ordinary packing.
    pub float_key_times: usize,
    /// The same in the compressed packing.
    pub compressed_key_times: usize,
    /// Tracks that have one value.
    pub constant_tracks: usize,
    /// Tracks whose keys stay as they are.
    pub float_tracks: usize,
    /// Tracks by the bits of their widest number, from 0.
    pub tracks_by_width: [usize; MOST_BITS as usize + 1],
}

impl ClipReport {
    /// What of the ordinary packing's bytes the compressed one takes; 1 where neither takes any.
    pub fn ratio(&self) -> f64 {
        if self.float_bytes == 0 { 1.0 } else { self.compressed_bytes as f64 / self.float_bytes as f64 }
    }
}

/// A report for each clip.
pub(super) fn reports(
    original: &Library,
    compacted: &Library,
    curves: &[Vec<Option<Arc<QuantizedCurve>>>],
    worst: &[Displacement],
) -> Vec<ClipReport> {
    let report = |(index, curves): (usize, &Vec<Option<Arc<QuantizedCurve>>>)| {
        let Displacement { distance, joint, time } = worst[index];
        let mut report = ClipReport {
            clip: ClipId(index),
            float_bytes: key_bytes(original, &original.clips()[index], &[]),
            compressed_bytes: key_bytes(compacted, &compacted.clips()[index], curves),
            error: distance,
            joint,
            time,
            float_key_times: key_times(&original.clips()[index]),
            compressed_key_times: key_times(&compacted.clips()[index]),
            constant_tracks: 0,
            float_tracks: 0,
            tracks_by_width: [0; MOST_BITS as usize + 1],
        };
        for (track, compressed) in compacted.clips()[index].tracks.iter().zip(curves) {
            match compressed {
                Some(compressed) => report.tracks_by_width[compressed.width() as usize] += 1,
                None if track.curve.is_constant() => report.constant_tracks += 1,
                None => report.float_tracks += 1,
            }
        }
        report
    };
    curves.iter().enumerate().map(report).collect()
}

/// Keys of all timelines on which a track of a clip moves.
fn key_times(clip: &Clip) -> usize {
    let moving = clip.tracks.iter().map(|track| &track.curve).filter(|curve| !curve.is_constant());
    let timelines: HashMap<*const Timeline, usize> =
        moving.map(|curve| (Arc::as_ptr(curve.timeline()), curve.timeline().len())).collect();
    timelines.values().sum()
}
