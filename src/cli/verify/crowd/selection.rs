//! The selection of instances and times of a crowd that are checked.

use std::collections::BTreeSet;

use posse::import::crowd::CrowdFile;
use posse::{Error, Layer, LayerTime, Library};

/// The number of times.
const TIMES: usize = 16;
/// The largest number of checked joints of all times together; it takes some seconds. Larger crowds are sampled.
const MAX_JOINTS: u64 = 1 << 20;
/// The cost of an instance besides its joints, in joints.
const INSTANCE_COST: u64 = 16;
/// The largest number of instances that determine the longest play.
const MAX_PLAYING: usize = 4096;

/// The instances to check at a number of times: all, or an even sample if they have too many joints.
pub fn instances(library: &Library, file: &CrowdFile, times: usize) -> Vec<usize> {
    let joints =
        |index: usize| library.skeleton(file.files[index].asset.skeleton).joints().len() as u64 + INSTANCE_COST;
    let all: u64 = file.groups().map(|(instances, index)| instances.len() as u64 * joints(index)).sum();
    let needed = all.saturating_mul(times.max(1) as u64);
    if needed <= MAX_JOINTS {
        return (0..file.len()).collect();
    }
    let count = (file.len() as f64 * (MAX_JOINTS as f64 / needed as f64)) as usize;
    even_sample(file, count)
}

/// An even sample of `count` instances from the first to the last, and the first instances of up to `count` groups.
fn even_sample(file: &CrowdFile, count: usize) -> Vec<usize> {
    let count = count.clamp(1, file.len().max(1));
    let (steps, last) = ((count - 1).max(1), file.len().saturating_sub(1));
    let mut selected: BTreeSet<usize> = (0..count.min(file.len())).map(|index| index * last / steps).collect();
    selected.extend(file.groups().take(count).map(|(instances, _)| instances.start));
    selected.into_iter().collect()
}

/// Times over the longest play: from the first start or fade of a layer to the last end of a pass or fade, both included. The
/// other times are unevenly spaced, so that they do not fall on the same clip time in every pass.
pub fn times(library: &Library, file: &CrowdFile) -> Result<Vec<f64>, Error> {
    let (mut first, mut last) = (0.0_f64, 0.0_f64);
    for instance in even_sample(file, MAX_PLAYING).into_iter().take_while(|&instance| instance < file.len()) {
        for layer in file.crowd(instance..instance + 1)?.layers(0) {
            let [start, end] = layer_span(library, layer);
            (first, last) = (first.min(start), last.max(end));
        }
    }
    let (first, last) = (first.max(-CrowdFile::MAX_SECONDS), last.min(CrowdFile::MAX_SECONDS));
    if last <= first {
        return Ok(vec![first]);
    }
    let between = |index: usize| (index as f64 * 0.618_033_988_749_894_9).fract();
    let mut parts: Vec<f64> = (1..TIMES - 1).map(between).chain([0.0, 1.0]).collect();
    parts.sort_by(f64::total_cmp);
    Ok(parts.into_iter().map(|part| first + part * (last - first)).collect())
}

/// The start and the end of a layer in seconds of the clock, over one pass of its clip and its fades.
fn layer_span(library: &Library, layer: &Layer) -> [f64; 2] {
    let [mut first, mut last] = match layer.time {
        LayerTime::At(_) => [0.0; 2],
        LayerTime::Playing(playback) => {
            let start = playback.start.to_seconds();
            let pass = library.clip(layer.clip).duration() / playback.rate.abs();
            [start, if pass.is_finite() { start + pass } else { start }]
        }
    };
    for fade in [layer.fade_in, layer.fade_out].into_iter().flatten() {
        first = first.min(fade.start.to_seconds());
        last = last.max(fade.start.to_seconds() + fade.length.to_seconds());
    }
    [first, last]
}
