use std::collections::HashMap;

use posse::parameters::{BlendSpace, BlendSpaceId, Knots, KnotsId, Parameter, WeightDriver};
use posse::transitions::{Transition, TransitionKind};
use posse::{ClipId, Crowd, Layer, LayerTime, Library, SkeletonId, Ticks, WrapMode};

use super::Numbers;

/// The least distance of a position from the sides of overlapping triangles. Rounding decides which triangle has a
/// position on a side, and with it the weights.
const CLEAR: f64 = 1e-3;

/// What the layers of a scene may follow from.
pub struct Drivers {
    knots: Vec<KnotsId>,
    /// Blend spaces, and whether their triangles overlap.
    spaces: Vec<(BlendSpaceId, bool)>,
}

/// Gives clips sync markers, as many to all of a skeleton that have some, and adds knots and blend spaces.
pub fn add_drivers(numbers: &mut Numbers, library: &mut Library) -> Drivers {
    let counts: HashMap<SkeletonId, usize> = library.skeleton_ids().map(|id| (id, 1 + numbers.below(3))).collect();
    for clip in library.clip_ids().collect::<Vec<_>>() {
        let (count, duration) = (counts[&library.clip(clip).skeleton], library.clip(clip).duration());
        if duration > 0.01 && numbers.below(2) == 0 {
            let part = duration / count as f64;
            let marker = |index: usize| part * (index as f64 + numbers.within(0.1, 0.9));
            library.set_markers(clip, (0..count).map(marker).collect()).unwrap();
        }
    }
    let mut knots = || {
        let mut next = numbers.within(-2.0, 0.0);
        let knots = (0..1 + numbers.below(5)).map(|_| {
            next += numbers.within(0.05, 1.5);
            [next, numbers.weight()]
        });
        library.add_knots(Knots::new(knots.collect()).unwrap())
    };
    let knots = vec![knots(), knots()];
    let points: Vec<[f64; 2]> =
        (0..3 + numbers.below(6)).map(|_| [numbers.within(-2.0, 2.0), numbers.within(-2.0, 2.0)]).collect();
    let square = vec![[-1.0, -1.0], [1.5, -1.0], [-1.0, 1.5], [1.5, 1.5]];
    let one = BlendSpace::with_triangles(square.clone(), vec![[1, 2, 0]]).unwrap();
    let two = BlendSpace::with_triangles(square, vec![[0, 1, 2], [0, 1, 3]]).unwrap();
    let spaces = [(BlendSpace::new(points).unwrap(), false), (one, false), (two, true)];
    let spaces = spaces.map(|(space, overlaps)| (library.add_blend_space(space), overlaps)).to_vec();
    Drivers { knots, spaces }
}

/// Gives the instances of a crowd parameters, lets layers follow from them and from each other, and begins transitions,
/// about a tick.
pub fn move_crowd(numbers: &mut Numbers, library: &Library, drivers: &Drivers, crowd: &Crowd, now: Ticks) -> Crowd {
    let mut moving = Crowd::new();
    for instance in 0..crowd.len() {
        let skeleton = crowd.skeleton(instance);
        let count = numbers.below(Crowd::MAX_PARAMETERS + 1);
        let parameters: Vec<Parameter> = (0..count).map(|_| parameter(numbers, now)).collect();
        let mut start = Ticks(now.0 + numbers.ticks_below(1 << 21) - (3 << 19));
        let depth = [0, 0, 1, 1, 2, 4][numbers.below(6)];
        let mut plans = Vec::new();
        for _ in 0..depth {
            plans.push((start, other_layers(numbers, library, crowd, skeleton)));
            start = Ticks(start.0 - 1 - numbers.ticks_below(1 << 20));
        }
        let probes: Vec<Ticks> = std::iter::once(now)
            .chain(plans.iter().flat_map(|(start, _)| [*start - Transition::STEP, *start, *start + Transition::STEP]))
            .collect();
        let driving = Driving { library, drivers, parameters: &parameters, probes: &probes };
        let layers = driving.drive(numbers, crowd.layers(instance));
        let mut transition = None;
        for (start, from) in plans.into_iter().rev() {
            let kind = match numbers.below(2) {
                0 => TransitionKind::Inertial,
                _ => TransitionKind::Dead { seconds: numbers.within(0.05, 2.0) },
            };
            let half_life = numbers.within(0.02, 0.5);
            let from = driving.drive(numbers, &from);
            transition = Some(Transition { start, from, kind, half_life, before: transition.map(Box::new) });
        }
        moving.push(skeleton, &layers).unwrap();
        moving.set_parameters(instance, parameters).unwrap();
        moving.set_transition(library, instance, transition).unwrap();
    }
    moving
}

/// A parameter that changes about a tick, or keeps its value.
fn parameter(numbers: &mut Numbers, now: Ticks) -> Parameter {
    if numbers.below(3) == 0 {
        return Parameter::constant(numbers.within(-2.5, 2.5)).unwrap();
    }
    let mut time = now.to_seconds() - numbers.within(0.0, 3.0);
    let keys = (0..1 + numbers.below(4)).map(|_| {
        time += numbers.within(0.1, 2.0);
        [time, numbers.within(-2.5, 2.5)]
    });
    Parameter::new(keys.collect()).unwrap()
}

/// Layers of another instance of the same skeleton, which go out.
fn other_layers(numbers: &mut Numbers, library: &Library, crowd: &Crowd, skeleton: SkeletonId) -> Vec<Layer> {
    let others: Vec<usize> = (0..crowd.len()).filter(|&other| crowd.skeleton(other) == skeleton).collect();
    let clips: Vec<ClipId> = library.clip_ids().filter(|&clip| library.clip(clip).skeleton == skeleton).collect();
    let mut layers = crowd.layers(others[numbers.below(others.len())]).to_vec();
    if layers.len() < Crowd::MAX_LAYERS && numbers.below(3) == 0 {
        layers.push(Layer::new(clips[numbers.below(clips.len())], LayerTime::At(numbers.within(0.0, 1.0))));
    }
    layers
}

/// What the layers of an instance can follow from, and the ticks at which its poses are taken.
struct Driving<'a> {
    library: &'a Library,
    drivers: &'a Drivers,
    parameters: &'a [Parameter],
    probes: &'a [Ticks],
}

impl Driving<'_> {
    /// Layers of which some follow from parameters, or from earlier ones.
    fn drive(&self, numbers: &mut Numbers, layers: &[Layer]) -> Vec<Layer> {
        let mut driven: Vec<Layer> = Vec::new();
        for layer in layers {
            let mut layer = *layer;
            let can_lead = |layer: &Layer| matches!(layer.time, LayerTime::Playing(_) | LayerTime::Phase { .. });
            let leaders: Vec<usize> = (0..driven.len()).filter(|&index| can_lead(&driven[index])).collect();
            // One parameter more than an instance can have here is missing, and counts as 0.
            let parameter =
                |numbers: &mut Numbers| numbers.below((self.parameters.len() + 1).min(Crowd::MAX_PARAMETERS));
            match numbers.below(4) {
                0 => {
                    let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
                    layer.time = LayerTime::Phase { parameter: parameter(numbers), wrap };
                }
                1 | 2 if !leaders.is_empty() => {
                    layer.time = LayerTime::Synced { leader: leaders[numbers.below(leaders.len())] };
                }
                _ => {}
            }
            layer.driver = match numbers.below(6) {
                0 => {
                    let knots = self.drivers.knots[numbers.below(self.drivers.knots.len())];
                    Some(WeightDriver::Knots { parameter: parameter(numbers), knots })
                }
                1 | 2 => {
                    let position = [parameter(numbers), parameter(numbers)];
                    self.point(numbers, position)
                }
                _ => None,
            };
            driven.push(layer);
        }
        driven
    }

    /// A point of a blend space; `None` if the position comes near the sides of overlapping triangles.
    fn point(&self, numbers: &mut Numbers, parameters: [usize; 2]) -> Option<WeightDriver> {
        let (space, overlaps) = self.drivers.spaces[numbers.below(self.drivers.spaces.len())];
        let shape = &self.library.blend_spaces()[space.index()];
        let point = numbers.below(shape.points().len());
        let at =
            |parameter: usize, now: Ticks| self.parameters.get(parameter).map_or(0.0, |found| f64::from(found.at(now)));
        let is_clear = |now: &Ticks| is_clear(shape, parameters.map(|parameter| at(parameter, *now)));
        let is_usable = !overlaps || self.probes.iter().all(is_clear);
        is_usable.then_some(WeightDriver::Point { space, parameters, point })
    }
}

/// Returns whether a position is inside of a triangle, and away from the lines of all sides.
fn is_clear(space: &BlendSpace, position: [f64; 2]) -> bool {
    let position = glam::DVec2::from(position);
    let mut is_inside = false;
    for triangle in space.triangles() {
        let corners = triangle.map(|corner| glam::DVec2::from(space.points()[corner]));
        let heights = [0, 1, 2].map(|side| {
            let way = corners[(side + 1) % 3] - corners[side];
            way.perp_dot(position - corners[side]) / way.length()
        });
        if heights.iter().any(|height| height.abs() < CLEAR) {
            return false;
        }
        is_inside |= heights.iter().all(|&height| height > 0.0) || heights.iter().all(|&height| height < 0.0);
    }
    is_inside
}
