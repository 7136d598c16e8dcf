//! The times at which a clip is checked.

use crate::model::Clip;

/// The fractions of a key interval: its first key, just after it, a third, half, and most of it.
const FRACTIONS: [f64; 5] = [0.0, 0.01, 1.0 / 3.0, 0.5, 0.9];

/// The times at which a clip is checked: before the first key, after the last, on keys and between them. There are at most `max`,
/// spread over the whole clip.
pub fn check_times(clip: &Clip, max: usize) -> Vec<f64> {
    let mut keys: Vec<f64> = Vec::new();
    let mut visited = std::collections::HashSet::new();
    for track in &clip.tracks {
        let timeline = track.curve.timeline();
        if visited.insert(std::sync::Arc::as_ptr(timeline)) {
            keys.extend(timeline.times());
        }
    }
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else { return vec![0.0] };
    let between = keys.windows(2).flat_map(|pair| FRACTIONS.map(|fraction| pair[0] + fraction * (pair[1] - pair[0])));
    let times: Vec<f64> = [first - 1.0, last, last + 1.0].into_iter().chain(between).collect();
    if times.len() <= max {
        return times;
    }
    // A fixed stride would select some fractions more often than others. The fractional parts of multiples of the golden ratio
    // vary the stride.
    let stride = times.len() as f64 / max as f64;
    let variation = |index: usize| (index as f64 * 0.618_033_988_749_894_9).fract();
    (0..max).map(|index| times[((index as f64 + variation(index)) * stride) as usize % times.len()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;

    #[test]
    fn times_are_on_keys_between_them_and_beyond_and_not_too_many() {
        let library = demo::library().unwrap();
        for clip in library.clips() {
            let all = check_times(clip, usize::MAX);
            let keys = clip.tracks[0].curve.timeline().times();
            assert!(keys.iter().all(|key| all.contains(key)));
            assert!(all.iter().any(|&time| time < 0.0) && all.iter().any(|&time| time > clip.duration()));
            let some = check_times(clip, 50);
            assert_eq!(some.len(), 50);
            assert!(some.iter().any(|time| keys.contains(time)) && some.iter().any(|time| !keys.contains(time)));
        }
    }
}
