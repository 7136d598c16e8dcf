//! The partners of the morph targets of two joints: by name where both have names, else by index.

use std::collections::{HashMap, VecDeque};

use crate::error::Error;
use crate::model::{Curve, Interpolation, Joint, Target, Track, list_names};

/// The largest number of weights of a joint per weight with a partner for which a track of all weights is made.
/// Otherwise few keys could become many: a track holds all weights of its joint.
const MAX_GROWTH: usize = 64;

/// The partners of the morph targets of two joints. Of several targets of one name, the first is the partner of the
/// first, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MorphMap {
    /// The partner of each morph target of the second joint.
    sources: Vec<Option<usize>>,
    /// The partner of each morph target of the first joint.
    targets: Vec<Option<usize>>,
}

impl MorphMap {
    /// The partners. `None` if the joints have different numbers of morph targets, and one of them has no names.
    pub fn new(from: &Joint, to: &Joint) -> Option<Self> {
        let count = from.weights.len();
        if from.morph_names.is_empty() || to.morph_names.is_empty() {
            return (count == to.weights.len()).then(|| Self::of((0..count).map(Some).collect(), count));
        }
        let mut known: HashMap<&str, VecDeque<usize>> = HashMap::new();
        for index in 0..count {
            if let Some(name) = from.morph_name(index) {
                known.entry(name).or_default().push_back(index);
            }
        }
        let source = |index: usize| known.get_mut(to.morph_name(index)?)?.pop_front();
        let sources = (0..to.weights.len()).map(source).collect();
        Some(Self::of(sources, count))
    }

    /// The map with these partners of the morph targets of the second joint, each below `count`, the number of the
    /// first.
    pub fn of(sources: Vec<Option<usize>>, count: usize) -> Self {
        let mut targets = vec![None; count];
        for (target, source) in sources.iter().enumerate() {
            if let Some(source) = *source {
                targets[source] = Some(target);
            }
        }
        Self { sources, targets }
    }

    /// The number of morph targets with a partner.
    pub fn len(&self) -> usize {
        self.sources.iter().flatten().count()
    }

    /// The partner of a morph target of the first joint.
    pub fn target(&self, source: usize) -> Option<usize> {
        self.targets.get(source).copied().flatten()
    }

    /// The morph targets of the first joint without a partner.
    pub fn left_out(&self) -> Vec<usize> {
        (0..self.targets.len()).filter(|&index| self.targets[index].is_none()).collect()
    }

    /// The morph targets of the second joint without a partner.
    pub fn at_rest(&self) -> Vec<usize> {
        (0..self.sources.len()).filter(|&index| self.sources[index].is_none()).collect()
    }

    /// Returns `true` if all morph targets have the same order on both sides.
    fn is_same(&self) -> bool {
        let mut sources = self.sources.iter().enumerate();
        self.sources.len() == self.targets.len() && sources.all(|(index, &source)| source == Some(index))
    }

    /// The numbers per key that [`tracks`](Self::tracks) copies of a track.
    pub fn copied(&self, track: &Track) -> usize {
        if track.component.is_some() || self.is_same() {
            return 0;
        }
        let (width, driven) = (self.sources.len(), self.len());
        if width <= MAX_GROWTH * driven { width } else { driven }
    }

    /// The tracks that drive the second joint as a track of weights drives the first; empty if it drives no morph
    /// target with a partner. `rest` has the weights of the second joint at rest, for morph targets without a partner.
    ///
    /// # Errors
    /// The errors of [`Curve::new`], which do not occur for a curve of the width of the first joint.
    pub fn tracks(&self, track: &Track, joint: usize, rest: &[f64]) -> Result<Vec<Track>, Error> {
        let target = Target::Weights(joint);
        if let Some(component) = track.component {
            let partner = self.target(component);
            return Ok(partner.map(|index| Track::component(target, index, track.curve.clone())).into_iter().collect());
        }
        if self.is_same() {
            return Ok(vec![Track { target, ..track.clone() }]);
        }
        let driven = self.len();
        if driven == 0 {
            return Ok(Vec::new());
        }
        if self.sources.len() <= MAX_GROWTH * driven {
            return Ok(vec![Track::new(target, columns(&track.curve, &self.sources, rest)?)]);
        }
        let driven = self.sources.iter().enumerate().filter(|(_, source)| source.is_some());
        driven
            .map(|(index, source)| Ok(Track::component(target, index, columns(&track.curve, &[*source], &[])?)))
            .collect()
    }
}

/// A curve of some of the numbers of another one. A number without a source comes from `rest`.
fn columns(curve: &Curve, sources: &[Option<usize>], rest: &[f64]) -> Result<Curve, Error> {
    let has_tangents = curve.interpolation() == Interpolation::CubicSpline;
    let mut values = Vec::with_capacity(curve.values().len() / curve.width() * sources.len());
    for (element, numbers) in curve.values().chunks_exact(curve.width()).enumerate() {
        let is_tangent = has_tangents && element % 3 != 1;
        let held = |index: usize| if is_tangent { 0.0 } else { rest.get(index).copied().unwrap_or(0.0) };
        values.extend(
            sources.iter().enumerate().map(|(index, source)| source.map_or_else(|| held(index), |at| numbers[at])),
        );
    }
    curve.with_values(curve.interpolation(), sources.len(), values)
}

/// The morph targets without a partner as a text: targets that drive nothing, and targets that stay at rest. `sides`
/// names the two sides, such as `source` and `target`.
pub(crate) fn list_morphs([left_out, at_rest]: &[Vec<String>; 2], sides: [&str; 2]) -> String {
    let left_out = (!left_out.is_empty()).then(|| format!("{} of the {}", list_names(left_out), sides[0]));
    let rest = || format!("{} of the {}, which keep their rest weights", list_names(at_rest), sides[1]);
    let at_rest = (!at_rest.is_empty()).then(rest);
    left_out.into_iter().chain(at_rest).collect::<Vec<_>>().join(", and ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::Timeline;

    fn joint(names: &[&str]) -> Joint {
        let morph_names = names.iter().map(|name| (*name).to_owned()).collect();
        Joint { weights: vec![0.5; names.len()], morph_names, ..Joint::default() }
    }

    fn tracks(from: &Joint, to: &Joint, track: &Track) -> Vec<Track> {
        MorphMap::new(from, to).unwrap().tracks(track, 3, &to.weights).unwrap()
    }

    #[test]
    fn numbers_change_places_by_name_and_others_stay_at_rest() {
        let (from, to) = (joint(&["jaw", "smile", "", "blink"]), joint(&["smile", "", "brow", "jaw"]));
        let map = MorphMap::new(&from, &to).unwrap();
        assert_eq!((map.len(), map.left_out(), map.at_rest()), (2, vec![2, 3], vec![1, 2]));
        assert_eq!([0, 1, 2, 3, 4].map(|source| map.target(source)), [Some(3), Some(0), None, None, None]);
        // One key of a spline: in-tangent, value and out-tangent of four weights each.
        let timeline = Arc::new(Timeline::new(vec![0.0]).unwrap());
        let numbers = (1..=12).map(f64::from).collect();
        let curve = Curve::new(timeline.clone(), Interpolation::CubicSpline, 4, numbers).unwrap();
        let made = tracks(&from, &to, &Track::new(Target::Weights(0), curve));
        let [track] = &made[..] else { panic!("{made:?}") };
        assert_eq!((track.target, track.component, map.copied(track)), (Target::Weights(3), None, 4));
        assert_eq!(track.curve.values(), [2.0, 0.0, 0.0, 1.0, 6.0, 0.5, 0.5, 5.0, 10.0, 0.0, 0.0, 9.0]);
        // A single number goes where its name is, or nowhere.
        let one = Curve::new(timeline, Interpolation::Step, 1, vec![0.75]).unwrap();
        let single = |component: usize| Track::component(Target::Weights(0), component, one.clone());
        assert_eq!(tracks(&from, &to, &single(0)), [Track::component(Target::Weights(3), 3, one.clone())]);
        assert_eq!(tracks(&from, &to, &single(3)), []);
        // Copies of a curve share its numbers.
        let all = joint(&["jaw", "smile", "brow", "blink"]);
        assert_eq!([map.copied(&single(0)), MorphMap::new(&all, &all).map_or(9, |same| same.copied(track))], [0, 0]);
    }

    #[test]
    fn names_count_only_if_both_sides_have_them() {
        let nameless = |weights: usize| Joint { weights: vec![0.0; weights], ..Joint::default() };
        let named = joint(&["a", "b"]);
        for (from, to) in [(&named, &nameless(2)), (&nameless(2), &named), (&nameless(2), &nameless(2))] {
            assert_eq!(MorphMap::new(from, to).unwrap().sources, [Some(0), Some(1)]);
        }
        assert_eq!(MorphMap::new(&named, &nameless(3)), None);
        let twice = MorphMap::new(&joint(&["a", "a", "b"]), &joint(&["b", "a", "a", "a"])).unwrap();
        assert_eq!(twice.sources, [Some(2), Some(0), Some(1), None]);
    }

    #[test]
    fn few_of_many_weights_are_driven_one_by_one() {
        let names: Vec<String> = (0..1000).map(|index| index.to_string()).collect();
        let many = joint(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
        let curve = Curve::new(timeline, Interpolation::Linear, 2, vec![0.0, 0.25, 1.0, 0.75]).unwrap();
        let made = tracks(&joint(&["7", "x"]), &many, &Track::new(Target::Weights(0), curve));
        let [track] = &made[..] else { panic!("{made:?}") };
        assert_eq!((track.component, track.curve.values()), (Some(7), &[0.0, 1.0][..]));
    }
}
