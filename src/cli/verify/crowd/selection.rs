//! Which instances of a crowd are checked, and when.

use std::collections::BTreeSet;

use posse::import::crowd::CrowdFile;
use posse::{Error, Layer, LayerTime, Library};

/// Times that are chosen.
const TIMES: usize = 16;
/// The most joints of all times together that are checked before instances are left out: some seconds.
const MOST_JOINTS: u64 = 1 << 20;
/// As how many joints an instance counts besides its own.
const OWN: u64 = 16;
/// Instances that are looked at for the longest play.
const PLAYERS: usize = 4096;

/// The instances to check at so many times: all, or, where these have too many joints, some that are spread evenly.
pub fn instances(library: &Library, file: &CrowdFile, times: usize) -> Vec<usize> {
    let joints = |index: usize| library.skeleton(file.files[index].asset.skeleton).joints().len() as u64 + OWN;
    let all: u64 = file.groups().map(|(instances, index)| instances.len() as u64 * joints(index)).sum();
    let needed = all.saturating_mul(times.max(1) as u64);
    if needed <= MOST_JOINTS {
        return (0..file.len()).collect();
    }
    let count = (file.len() as f64 * (MOST_JOINTS as f64 / needed as f64)) as usize;
    spread(file, count)
}

/// So many instances from the first to the last, and the first of each group, as far as there are not more of these.
fn spread(file: &CrowdFile, count: usize) -> Vec<usize> {
    let count = count.clamp(1, file.len().max(1));
    let (steps, last) = ((count - 1).max(1), file.len().saturating_sub(1));
    let mut chosen: BTreeSet<usize> = (0..count.min(file.len())).map(|index| index * last / steps).collect();
    chosen.extend(file.groups().take(count).map(|(instances, _)| instances.start));
    chosen.into_iter().collect()
}

/// Times over the longest play: from the first start or fade of a layer to the last end of a pass or fade, the ends among
/// them, the others unevenly spaced, so that they do not fall on the same place of every pass.
pub fn times(library: &Library, file: &CrowdFile) -> Result<Vec<f64>, Error> {
    let (mut first, mut last) = (0.0_f64, 0.0_f64);
    for instance in spread(file, PLAYERS).into_iter().take_while(|&instance| instance < file.len()) {
        for layer in file.crowd(instance..instance + 1)?.layers(0) {
            let [start, end] = span(library, layer);
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

/// Seconds of the clock from where something of a layer begins to where a pass of its clip and its fades have ended.
fn span(library: &Library, layer: &Layer) -> [f64; 2] {
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
