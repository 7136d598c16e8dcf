use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use glam::DVec3;
use posse::ik::{Chain, ChainId, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::parameters::Parameter;
use posse::{Crowd, Evaluator, Library, Outputs, Pose, Reference, SkeletonId, Ticks};

use super::Numbers;

/// Adds chains of joints that can turn, of both kinds, to a library.
pub(super) fn add_chains(numbers: &mut Numbers, library: &mut Library) -> Vec<ChainId> {
    let mut added = Vec::new();
    for skeleton in library.skeleton_ids().collect::<Vec<_>>() {
        for _ in 0..6 {
            let kind = match numbers.below(3) {
                0 => aim(numbers, library, skeleton),
                _ => two_bone(numbers, library, skeleton),
            };
            if let Some(kind) = kind {
                added.push(library.add_chain(Chain { name: None, skeleton, kind }).unwrap());
            }
        }
    }
    added
}

fn aim(numbers: &mut Numbers, library: &Library, skeleton: SkeletonId) -> Option<ChainKind> {
    let joint = free_joint(numbers, library, skeleton)?;
    let forward = match numbers.below(10) {
        0 => [0.0; 3],
        _ => numbers.vector(-2.0, 2.0).to_array(),
    };
    let limit = [PI, TAU, 0.0, numbers.within(0.0, PI)][numbers.below(4)];
    Some(ChainKind::Aim { joint, forward, limit })
}

fn two_bone(numbers: &mut Numbers, library: &Library, skeleton: SkeletonId) -> Option<ChainKind> {
    let joints = library.skeleton(skeleton).joints();
    let third = free_joint(numbers, library, skeleton)?;
    let mut above = |joint: usize| {
        let parents = std::iter::successors(joints[joint].parent, |&parent| joints[parent].parent);
        let free: Vec<usize> = parents.filter(|&joint| joints[joint].matrix.is_none()).take(3).collect();
        (!free.is_empty()).then(|| free[numbers.below(free.len())])
    };
    let second = above(third)?;
    let first = above(second)?;
    let pole = match numbers.below(4) {
        0 | 1 => None,
        2 => Some(numbers.vector(-1.0, 1.0).to_array()),
        _ => Some((numbers.vector(-1.0, 1.0) * 1e4).to_array()),
    };
    Some(ChainKind::TwoBone { joints: [first, second, third], pole, hold: numbers.below(2) == 0 })
}

/// A joint that no matrix gives.
fn free_joint(numbers: &mut Numbers, library: &Library, skeleton: SkeletonId) -> Option<usize> {
    let joints = library.skeleton(skeleton).joints();
    let free: Vec<usize> = (0..joints.len()).filter(|&joint| joints[joint].matrix.is_none()).collect();
    (!free.is_empty()).then(|| free[numbers.below(free.len())])
}

/// Gives the instances of a crowd goals, near and far from their joints, about a tick.
pub(super) fn set_goals(numbers: &mut Numbers, library: &Library, chains: &[ChainId], crowd: &mut Crowd, now: Ticks) {
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let poses = Reference::new(library).evaluate(crowd, now, outputs).unwrap().instances;
    for (instance, pose) in poses.iter().enumerate() {
        let skeleton = crowd.skeleton(instance);
        let own: Vec<ChainId> =
            chains.iter().copied().filter(|id| library.chains()[id.index()].skeleton == skeleton).collect();
        let count = if own.is_empty() { 0 } else { [0, 1, 1, 2, 5][numbers.below(5)] };
        let mut parameters = crowd.parameters(instance).to_vec();
        // Layers may refer to one parameter more than there are, which counts as 0.
        if !parameters.is_empty() && parameters.len() < Crowd::MAX_PARAMETERS {
            parameters.push(Parameter::constant(0.0).unwrap());
        }
        let mut goals = Vec::new();
        for _ in 0..count {
            let chain = own[numbers.below(own.len())];
            let target = target(numbers, library, chain, pose).to_array();
            let mut add = |numbers: &mut Numbers, value: f64| {
                let index = parameters.len();
                parameters.push(parameter(numbers, now, value));
                index
            };
            let weight = match numbers.below(6) {
                0 => GoalWeight::Fixed(numbers.within(0.0, 1.0)),
                1 => GoalWeight::Fixed([0.0, 0.5, 1e-4, 0.9999][numbers.below(4)]),
                2 => {
                    let value = numbers.within(-0.5, 1.5);
                    GoalWeight::Parameter(add(numbers, value))
                }
                _ => GoalWeight::Fixed(1.0),
            };
            let target = match numbers.below(3) {
                0 => GoalTarget::Parameters(target.map(|coordinate| add(numbers, coordinate))),
                _ => GoalTarget::Point(target),
            };
            if parameters.len() > Crowd::MAX_PARAMETERS {
                break;
            }
            goals.push(Goal { chain, target, weight });
        }
        parameters.truncate(Crowd::MAX_PARAMETERS);
        crowd.set_parameters(instance, parameters).unwrap();
        crowd.set_goals(instance, Arc::<[Goal]>::from(goals)).unwrap();
    }
}

/// A target for a chain: at a joint of it, near one, about the length of the chain away from it, or far away.
fn target(numbers: &mut Numbers, library: &Library, chain: ChainId, pose: &Pose) -> DVec3 {
    let joints = library.chains()[chain.index()].joints();
    let position = |joint: usize| pose.model[joint].translation;
    let from = position(joints[numbers.below(joints.len())]);
    let length: f64 = joints.windows(2).map(|pair| position(pair[0]).distance(position(pair[1]))).sum();
    let size = length.max(1e-3);
    match numbers.below(8) {
        0 => from,
        1 => from + 1e-4 * size * numbers.vector(-1.0, 1.0),
        2 => position(joints[0]) + size * numbers.vector(-1.0, 1.0).normalize_or_zero(),
        3 => position(joints[0]) - (position(joints[joints.len() - 1]) - position(joints[0])),
        4 => 1e3 * numbers.vector(-1.0, 1.0),
        _ => from + size * numbers.vector(-0.7, 0.7),
    }
}

/// A parameter that has a value at a tick, and changes about it or keeps it.
fn parameter(numbers: &mut Numbers, now: Ticks, value: f64) -> Parameter {
    if numbers.below(2) == 0 {
        return Parameter::constant(value).unwrap();
    }
    let (seconds, slope) = (now.to_seconds(), numbers.within(-1.0, 1.0));
    Parameter::new(vec![[seconds - 1.0, value - slope], [seconds + 1.0, value + slope]]).unwrap()
}
