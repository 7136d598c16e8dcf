//! The pieces of a step across the starts of transitions: in each, an instance has the same layers.

use std::collections::HashMap;

use crate::error::Error;
use crate::model::{Crowd, EventList, Layer, Motion, Occurrence, Pose, Step, Ticks};

/// A part of a step in which an instance has the same layers.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The index of the instance in its crowd.
    pub instance: usize,
    pub step: Step,
    pub layers: Vec<Layer>,
}

/// The pieces of a step for the movement of each instance with a transition that starts in it.
pub(crate) fn of_cut_movements(crowd: &Crowd, step: Step) -> Vec<Vec<Piece>> {
    let in_transition = (0..crowd.len()).filter(|&instance| crowd.transition(instance).is_some());
    in_transition.map(|instance| of_movement(crowd, instance, step)).filter(|pieces| pieces.len() > 1).collect()
}

/// Sets the root motions of instances to the motions of their pieces, one after the other. `motions` has the motions of
/// all pieces, in order.
pub(crate) fn join_motions(several: &[Vec<Piece>], motions: &[Option<Motion>], instances: &mut [Pose]) {
    let mut rest = motions;
    for pieces in several {
        let (own, later) = rest.split_at(pieces.len());
        rest = later;
        let join = |first: Option<Motion>, second: Option<Motion>| match (first, second) {
            (Some(first), Some(second)) => Some(first.then(second)),
            (first, second) => first.or(second),
        };
        instances[pieces[0].instance].root_motion = own.iter().copied().fold(None, join);
    }
}

/// The pieces of a step for the events of all instances; `None` if no transition cuts the step.
pub(crate) fn of_cut_events(crowd: &Crowd, step: Step) -> Option<Vec<Piece>> {
    if (0..crowd.len()).all(|instance| crowd.transition(instance).is_none()) {
        return None;
    }
    let all: Vec<Piece> = (0..crowd.len()).flat_map(|instance| of_events(crowd, instance, step)).collect();
    (all.len() > crowd.len()).then_some(all)
}

/// The pieces of a step for the movement of an instance, in the order of the step. A piece ends at the start of a
/// transition.
fn of_movement(crowd: &Crowd, instance: usize, step: Step) -> Vec<Piece> {
    let mut ends = starts(crowd, instance);
    ends.retain(|&start| (step.from < start) != (step.to < start));
    if step.to < step.from {
        ends.reverse();
    }
    let layers = |step: Step| crowd.layers_at(instance, step.from.min(step.to));
    pieces(instance, step, &ends, layers)
}

/// The pieces of a step for the events of an instance. A piece ends a tick before the start of a transition, because a
/// step does not contain its first tick.
fn of_events(crowd: &Crowd, instance: usize, step: Step) -> Vec<Piece> {
    let mut ends = starts(crowd, instance);
    ends.iter_mut().for_each(|start| *start = *start - Ticks(1));
    ends.retain(|&end| step.from < end && end < step.to);
    pieces(instance, step, &ends, |step| crowd.layers_at(instance, step.to))
}

/// The starts of the transitions of an instance, in order.
fn starts(crowd: &Crowd, instance: usize) -> Vec<Ticks> {
    let mut starts: Vec<Ticks> = crowd.transitions(instance).map(|transition| transition.start).collect();
    starts.reverse();
    starts
}

/// The pieces of a step that end at some ticks and at the end of the step.
fn pieces<'a>(instance: usize, step: Step, ends: &[Ticks], layers: impl Fn(Step) -> &'a [Layer]) -> Vec<Piece> {
    let mut from = step.from;
    let piece = |&to: &Ticks| {
        let step = Step { from: std::mem::replace(&mut from, to), to };
        Piece { instance, step, layers: layers(step).to_vec() }
    };
    ends.iter().chain([&step.to]).map(piece).collect()
}

/// Pieces of one step, with their positions among all pieces, as a crowd with the parameters of their instances.
pub(crate) struct Group {
    pub step: Step,
    /// The positions of the pieces. The instances of the crowd have the same order.
    pub positions: Vec<usize>,
    pub crowd: Crowd,
}

impl Group {
    /// Adds the events of the group's crowd to a list of events of the whole crowd, and counts events beyond its
    /// capacity. `pieces` are the pieces of all groups.
    pub fn add_events(&self, found: EventList, pieces: &[Piece], list: &mut EventList, capacity: usize) {
        let free = capacity.saturating_sub(list.events.len());
        let missed = found.events.len().saturating_sub(free) as u64;
        list.missed = list.missed.saturating_add(found.missed).saturating_add(missed);
        let in_crowd =
            |event: Occurrence| Occurrence { instance: pieces[self.positions[event.instance]].instance, ..event };
        list.events.extend(found.events.into_iter().take(free).map(in_crowd));
    }
}

/// The groups of pieces of a crowd.
///
/// # Errors
/// [`Error::Instance`] and [`Error::Limit`] if layers are not usable.
pub(crate) fn groups(crowd: &Crowd, pieces: &[Piece]) -> Result<Vec<Group>, Error> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_step: HashMap<[Ticks; 2], usize> = HashMap::new();
    for (position, piece) in pieces.iter().enumerate() {
        let index = *by_step.entry([piece.step.from, piece.step.to]).or_insert_with(|| {
            groups.push(Group { step: piece.step, positions: Vec::new(), crowd: Crowd::new() });
            groups.len() - 1
        });
        let group = &mut groups[index];
        group.positions.push(position);
        let instance = group.crowd.push(crowd.skeleton(piece.instance), &piece.layers)?;
        group.crowd.set_parameters(instance, crowd.parameters(piece.instance))?;
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;
    use crate::model::{ClipId, LayerTime, Transition, TransitionKind};

    #[test]
    fn a_step_ends_a_piece_at_each_start() {
        let library = demo::library().unwrap();
        let mut crowd = Crowd::new();
        let layers = |clip: usize| vec![Layer::new(ClipId(0), LayerTime::At(clip as f64))];
        crowd.push(library.clip(ClipId(0)).skeleton, &layers(2)).unwrap();
        let half_life = 1.0;
        let kind = TransitionKind::Inertial;
        let before = Transition { start: Ticks(100), from: layers(0), kind, half_life, before: None };
        let transition =
            Transition { start: Ticks(200), from: layers(1), kind, half_life, before: Some(before.into()) };
        crowd.set_transition(&library, 0, Some(transition)).unwrap();
        let list = |pieces: Vec<Piece>| -> Vec<(i64, i64, usize)> {
            let index = |layers: &[Layer]| match layers[0].time {
                LayerTime::At(index) => index as usize,
                _ => unreachable!(),
            };
            pieces.iter().map(|piece| (piece.step.from.0, piece.step.to.0, index(&piece.layers))).collect()
        };
        let step = |from: i64, to: i64| Step { from: Ticks(from), to: Ticks(to) };
        let movement = |from, to| list(of_movement(&crowd, 0, step(from, to)));
        assert_eq!(movement(50, 250), [(50, 100, 0), (100, 200, 1), (200, 250, 2)]);
        assert_eq!(movement(250, 50), [(250, 200, 2), (200, 100, 1), (100, 50, 0)]);
        assert_eq!(movement(100, 199), [(100, 199, 1)]);
        assert_eq!(movement(100, 200), [(100, 200, 1), (200, 200, 2)]);
        let events = |from, to| list(of_events(&crowd, 0, step(from, to)));
        assert_eq!(events(50, 250), [(50, 99, 0), (99, 199, 1), (199, 250, 2)]);
        assert_eq!(events(99, 199), [(99, 199, 1)]);
        assert_eq!(events(199, 200), [(199, 200, 2)]);
    }
}
