//! The timelines of a clip, and the number of tracks that share each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use posse::{Curve, Timeline};
use serde::Serialize;

/// A timeline.
#[derive(Serialize)]
pub struct TimelineSummary {
    pub keys: usize,
    /// Seconds.
    pub first: f64,
    /// Seconds.
    pub last: f64,
    /// Seconds between keys, if the keys are evenly spaced.
    pub step: Option<f64>,
    /// The number of tracks on it.
    pub tracks: usize,
}

/// The timelines of a clip, in the order of their first curves.
#[derive(Default)]
pub struct Timelines {
    indices: BTreeMap<*const Timeline, usize>,
    /// The timelines.
    pub found: Vec<TimelineSummary>,
    /// The count of all numbers, times and values.
    pub numbers: usize,
}

impl Timelines {
    /// Adds the curves of a track. Returns the indices of their timelines, without duplicates.
    pub fn add_track<'a>(&mut self, curves: impl IntoIterator<Item = &'a Curve>) -> Vec<usize> {
        let mut indices = BTreeSet::new();
        for curve in curves {
            let timeline = curve.timeline();
            self.numbers += curve.values().len();
            indices.insert(*self.indices.entry(Arc::as_ptr(timeline)).or_insert_with(|| {
                self.numbers += timeline.len();
                let (keys, first, last) = (timeline.len(), timeline.first(), timeline.last());
                self.found.push(TimelineSummary { keys, first, last, step: timeline.step(), tracks: 0 });
                self.found.len() - 1
            }));
        }
        indices.iter().for_each(|&index| self.found[index].tracks += 1);
        indices.into_iter().collect()
    }
}
