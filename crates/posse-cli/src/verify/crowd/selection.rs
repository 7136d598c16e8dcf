//! The selection of instances and times of a crowd that are checked.

use std::collections::BTreeSet;

use posse::import::crowd::CrowdFile;
use posse::{Crowd, Error, Layer, LayerTime, Library, Parameter, Ticks, Transition};

/// The number of times over the longest play.
const TIMES: usize = 16;
/// The largest number of moments around starts of transitions and sync markers.
const MAX_SPECIAL: usize = 48;
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

/// Times over the longest play: from the first start or fade of a layer, start of a transition or key of a parameter to the last
/// end of a pass, fade or transition, or the last key, both included. The other times are unevenly spaced, so that they do not fall
/// on the same clip time in every pass. Moments around the starts of transitions, and around sync markers, are added.
pub fn times(library: &Library, file: &CrowdFile) -> Result<Vec<f64>, Error> {
    let mut span = Span { first: 0.0, last: 0.0 };
    let mut special = BTreeSet::new();
    for instance in even_sample(file, MAX_PLAYING).into_iter().take_while(|&instance| instance < file.len()) {
        let crowd = file.crowd(library, instance..instance + 1)?;
        span.add_instance(library, &crowd);
        if special.len() < MAX_SPECIAL {
            special.extend(transition_moments(&crowd));
            special.extend(marker_moments(library, &crowd));
        }
    }
    let most = CrowdFile::MAX_SECONDS;
    let Span { first, last } = Span { first: span.first.max(-most), last: span.last.min(most) };
    let between = |index: usize| (index as f64 * 0.618_033_988_749_894_9).fract();
    let parts = (1..TIMES - 1).map(between).chain([0.0, 1.0]).map(|part| first + part * (last - first));
    let mut times: Vec<f64> = if last <= first { vec![first] } else { parts.collect() };
    let step = special.len().div_ceil(MAX_SPECIAL).max(1);
    let special = special.into_iter().step_by(step).map(Ticks::to_seconds);
    times.extend(special.filter(|time| time.abs() <= most));
    times.sort_by(f64::total_cmp);
    times.dedup();
    Ok(times)
}

/// A range of the clock in seconds.
struct Span {
    first: f64,
    last: f64,
}

impl Span {
    fn add(&mut self, first: f64, last: f64) {
        (self.first, self.last) = (self.first.min(first), self.last.max(last));
    }

    /// Adds the layers, parameters and transitions of the only instance of a crowd.
    fn add_instance(&mut self, library: &Library, crowd: &Crowd) {
        for layer in crowd.all_layers(0) {
            let [start, end] = layer_span(library, layer);
            self.add(start, end);
        }
        for key in crowd.parameters(0).iter().filter(|parameter| parameter.keys().len() > 1).flat_map(Parameter::keys) {
            self.add(key[0], key[0]);
        }
        for transition in crowd.transitions(0) {
            let start = transition.start.to_seconds();
            self.add(start, start + transition.seconds());
        }
    }
}

/// Moments around the starts of the transitions of an instance, and around the end of each.
fn transition_moments(crowd: &Crowd) -> Vec<Ticks> {
    let moments = |transition: &Transition| {
        let (start, end) = (transition.start, transition.start + Ticks::from_seconds(transition.seconds()));
        let half_life = Ticks::from_seconds(transition.half_life);
        [start - Transition::STEP, start - Ticks(1), start, start + Transition::STEP, start + half_life, end]
    };
    crowd.transitions(0).flat_map(moments).collect()
}

/// Moments around those at which the leaders of synchronised layers pass their markers for the first time. Playing leaders count.
fn marker_moments(library: &Library, crowd: &Crowd) -> Vec<Ticks> {
    let mut moments = Vec::new();
    for layer in crowd.layers(0) {
        let LayerTime::Synced { leader } = layer.time else { continue };
        let leader = &crowd.layers(0)[leader];
        let LayerTime::Playing(playback) = leader.time else { continue };
        for marker in &library.clip(leader.clip).markers {
            let seconds = marker / playback.rate.abs();
            if seconds.abs() <= CrowdFile::MAX_SECONDS {
                let moment = playback.start + Ticks::from_seconds(seconds);
                moments.extend([moment - Ticks(1), moment, moment + Ticks(1)]);
            }
        }
    }
    moments
}

/// The start and the end of a layer in seconds of the clock, over one pass of its clip and its fades.
fn layer_span(library: &Library, layer: &Layer) -> [f64; 2] {
    let [mut first, mut last] = match layer.time {
        LayerTime::At(_) | LayerTime::Phase { .. } | LayerTime::Synced { .. } => [0.0; 2],
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd_fixture::crowd_file;

    #[test]
    fn moments_around_transitions_and_markers_are_selected() {
        let crowd = r#"{"files":["a.gltf"],"markers":[{"clip":"go","times":[0.25]}],"instances":[
            {"parameters":{"speed":[[-3,0],[40,1]]},
             "layers":[{"clip":"go","start":2,"rate":0.5},{"clip":"go","sync":0}],
             "transition":{"start":8,"half_life":0.5,"kind":"dead","seconds":2,"from":[]}}]}"#;
        let (library, file) = crowd_file(crowd);
        let times = times(&library, &file).unwrap();
        // The start, 1/64 s around it, a half-life later, the end; the marker at 0.25 s of the clip, half a second after second 2.
        let tick = Ticks(1).to_seconds();
        for moment in [8.0, 8.0 - tick, 8.0 - 1.0 / 64.0, 8.0 + 1.0 / 64.0, 8.5, 10.0, 2.5, 2.5 - tick, 2.5 + tick] {
            assert!(times.contains(&moment), "{moment}: {times:?}");
        }
        assert_eq!((times.first(), times.last(), times.len()), (Some(&-3.0), Some(&40.0), TIMES + 9));
    }
}
