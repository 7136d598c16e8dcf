//! The timelines of a clip, and who shares them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use posse::{Curve, Timeline};
use serde::Serialize;

#[derive(Serialize)]
pub struct TimelineSummary {
    pub keys: usize,
    /// Seconds.
    pub first: f64,
    /// Seconds.
    pub last: f64,
    /// Seconds from key to key, where the keys are evenly spaced.
    pub step: Option<f64>,
    /// Tracks that share it.
    pub tracks: usize,
}

/// The timelines of a clip, as its curves turn up.
#[derive(Default)]
pub struct Timelines {
    places: BTreeMap<*const Timeline, usize>,
    pub found: Vec<TimelineSummary>,
    /// Numbers of times and values.
    pub numbers: usize,
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
