//! Goals: inverse kinematics of a group of instances, before the hierarchy. As in `shaders/pose/goals_rigid.wgsl`, but
//! the turns change local rotations, from which all matrices follow.
//!
//! Only the joints that lead to a chain get matrices here, as a structure of arrays like the matrices of [`soa`].
//! Matrices of joints that no goal has turned are kept from goal to goal.
//!
//! All matrices are at hand after the hierarchy on a GPU, but here the hierarchy comes later, and only the few joints
//! that lead to a chain need a matrix. All scales are then treated alike. Instances with the same chains are
//! neighbours, so that registers are full.

use glam::Vec4;

use crate::cpu::block::JointParts;
use crate::cpu::block::inverse_kinematics::{aim, is_rotation, two_bones};
use crate::cpu::block::quat::{Quaternions, Vectors, conjugate, difference, dot_3, product, rotate, times, unit};
use crate::cpu::keys::source::PackedSource;
use crate::cpu::simd::{Kernel, LARGEST_BLOCK, Lanes, Token};
use crate::cpu::soa::{self, SoaMatrix};
use crate::cpu::stages::TransformPart;
use crate::pack::record::{
    CHAIN_HOLD, CHAIN_POLE, CHAIN_TWO_BONE, ChainRecord, GOAL_TARGET, GOAL_WEIGHT, GoalRecord, NONE,
};
use crate::pack::{NUMBERS, ReachLink};

/// The numbers of a joint that leads to a chain: its model matrix, and its model rotation.
const LINK_NUMBERS: usize = NUMBERS + 4;

/// The index of rotations among the parts.
const ROTATION: usize = TransformPart::Rotation as usize;

/// The goals of neighbouring instances, and the values of their parameters.
#[derive(Clone, Copy)]
pub struct Goals<'a> {
    /// The goals, `goal_count` per instance.
    pub records: &'a [GoalRecord],
    pub goal_count: usize,
    /// The parameters, `parameter_count` per instance; empty if no goal reads one.
    pub parameters: &'a [f32],
    pub parameter_count: usize,
}

impl<'a> Goals<'a> {
    /// The goals of some of the instances.
    pub fn part(self, instances: std::ops::Range<usize>) -> Self {
        let within = |count: usize, all: usize| (instances.start * count).min(all)..(instances.end * count).min(all);
        Self {
            records: &self.records[within(self.goal_count, self.records.len())],
            parameters: &self.parameters[within(self.parameter_count, self.parameters.len())],
            ..self
        }
    }

    /// A goal of an instance: the offset of its chain, or `NONE` if it does nothing, its target and its weight.
    fn resolve(&self, instance: usize, index: usize) -> (u32, Vec4) {
        let record = &self.records[instance * self.goal_count + index];
        let own = instance * self.parameter_count..(instance + 1) * self.parameter_count;
        let resolved = resolve(record, self.parameters.get(own).unwrap_or_default());
        (if resolved.w > 0.0 { record.chain } else { NONE }, resolved)
    }
}

/// The memory of the stage.
#[derive(Debug, Default)]
pub struct GoalScratch {
    /// The numbers of each link, a block of instances each.
    links: Vec<Vec4>,
    /// For each link: true if its numbers belong to the present pose.
    is_ready: Vec<bool>,
    /// The links that are computed next, the last one first.
    path: Vec<usize>,
}

/// The turning of joints of up to a block of instances by their goals, one goal after the other.
pub struct ReachGoals<'a> {
    pub source: PackedSource<'a>,
    pub goals: Goals<'a>,
    pub instances: usize,
    pub memory: &'a mut GoalScratch,
    /// The parts of each instance, [`stride`](soa::stride) places apart.
    pub parts: &'a mut JointParts,
}

impl Kernel for ReachGoals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: Token<L>) {
        let Self { source, goals, instances, memory, parts } = self;
        let link_count = source.skeleton.reach.links.len();
        memory.links.resize(link_count * LINK_NUMBERS * L::BLOCK / 4, Vec4::ZERO);
        memory.is_ready.clear();
        memory.is_ready.resize(link_count, false);
        let instances = instances.min(L::BLOCK);
        let mut posture = Posture { source, instances, memory, parts };
        for index in 0..goals.goal_count {
            let mut chains = [NONE; LARGEST_BLOCK];
            // A lane without an instance has the weight 1, which needs no power.
            let mut resolved = [Vec4::W; LARGEST_BLOCK];
            for instance in 0..instances {
                (chains[instance], resolved[instance]) = goals.resolve(instance, index);
            }
            for first in 0..instances {
                let chain = chains[first];
                if chain != NONE && !chains[..first].contains(&chain) {
                    let mut own = resolved;
                    for (other, resolved) in chains.iter().zip(&mut own).take(instances) {
                        if *other != chain {
                            resolved.w = 0.0;
                        }
                    }
                    posture.reach(token, chain, &own);
                }
            }
        }
    }
}

/// The pose of a group of instances before a goal.
struct Posture<'a> {
    source: PackedSource<'a>,
    instances: usize,
    memory: &'a mut GoalScratch,
    parts: &'a mut JointParts,
}

/// The numbers of a joint that leads to a chain, of each instance.
struct Link<L> {
    model: SoaMatrix<L>,
    rotation: Quaternions<L>,
}

impl<L: Lanes> Link<L> {
    /// The link above a root.
    #[inline(always)]
    fn root(token: Token<L>) -> Self {
        let (zero, one) = (L::splat(token, 0.0), L::splat(token, 1.0));
        let model = [[one, zero, zero, zero], [zero, one, zero, zero], [zero, zero, one, zero]];
        Self { model, rotation: [zero, zero, zero, one] }
    }

    /// The position of the joint.
    #[inline(always)]
    fn position(&self) -> Vectors<L> {
        [self.model[0][3], self.model[1][3], self.model[2][3]]
    }
}

impl Posture<'_> {
    /// Turns the joints of a chain. `resolved` has target and weight of each instance.
    #[inline(always)]
    fn reach<L: Lanes>(&mut self, token: Token<L>, chain: u32, resolved: &[Vec4; LARGEST_BLOCK]) {
        let record: ChainRecord = self.source.library.arrays.record(chain);
        let ChainRecord { kind, joint_0, joint_1, joint_2, .. } = record;
        self.walk(token, joint_2);
        let [x, y, z, weights] = L::transpose(L::load_block(token, resolved));
        let target = [x, y, z];
        let direction = [record.direction_x, record.direction_y, record.direction_z];
        if kind & CHAIN_TWO_BONE != 0 {
            let joints = [
                self.load(token, joint_0).position(),
                self.load(token, joint_1).position(),
                self.load(token, joint_2).position(),
            ];
            let pole = (kind & CHAIN_POLE != 0).then_some(direction);
            let turns = two_bones(joints, target, pole, weights);
            let acts = turns.acts.min(weights);
            // The local rotations of all follow from the model rotations before the turns.
            self.turn(joint_0, record.parent_0, turns.first, acts);
            self.turn(joint_1, record.parent_1, turns.second, acts);
            if kind & CHAIN_HOLD != 0 {
                self.turn(joint_2, record.parent_2, turns.third(), acts);
            }
        } else {
            let joint = self.load(token, joint_0);
            let [x, y, z] = direction;
            let forward = rotate(joint.rotation, [L::splat(token, x), L::splat(token, y), L::splat(token, z)]);
            // Products of many rotations lose their unit length.
            let square = dot_3(forward, forward).max(L::splat(token, f32::MIN_POSITIVE));
            let forward = times(forward, square.inverse_square_root());
            let target = difference(target, joint.position());
            let limit = [record.limit_sine, record.limit_cosine];
            let (turn, acts) = aim(forward, target, limit, weights);
            self.turn(joint_0, record.parent_0, turn, acts.min(weights));
        }
        // Links after the first joint may be below it.
        let turned = self.source.skeleton.reach.places[joint_0 as usize] as usize;
        self.memory.is_ready[turned..].fill(false);
    }

    /// Brings the numbers of a joint and of its ancestors to the present pose.
    #[inline(always)]
    fn walk<L: Lanes>(&mut self, token: Token<L>, joint: u32) {
        let reach = &self.source.skeleton.reach;
        let place = reach.places[joint as usize] as usize;
        self.memory.path.clear();
        let mut next = Some(place);
        while let Some(place) = next.filter(|&place| !self.memory.is_ready[place]) {
            self.memory.path.push(place);
            next = reach.links[place].parent;
        }
        while let Some(place) = self.memory.path.pop() {
            let link = self.link(token, &reach.links[place]);
            self.store(place, link);
            self.memory.is_ready[place] = true;
        }
    }

    /// The numbers of a link whose parent is ready.
    #[inline(always)]
    fn link<L: Lanes>(&self, token: Token<L>, link: &ReachLink) -> Link<L> {
        let arrays = &self.source.library.arrays;
        let joint = link.joint;
        let (local, rotation) = match link.matrix_rotation {
            None => {
                let stride = self.stride();
                let [translations, rotations, scales] = &self.parts.0;
                let local =
                    soa::compose(token, [&translations[joint..], &rotations[joint..], &scales[joint..]], stride);
                (local, self.local_rotation(token, link.joint as u32))
            }
            Some(rotation) => {
                let matrix = arrays.words[self.source.skeleton.record.matrices as usize + joint];
                let rows = arrays.values[matrix as usize..].first_chunk().unwrap_or(&[Vec4::ZERO; 3]);
                let [x, y, z, w] = rotation;
                (
                    soa::splat(token, rows),
                    [L::splat(token, x), L::splat(token, y), L::splat(token, z), L::splat(token, w)],
                )
            }
        };
        match link.parent {
            None => Link { model: local, rotation },
            Some(parent) => {
                let above = self.load_place(token, parent);
                Link { model: soa::multiply(above.model, local), rotation: product(above.rotation, rotation) }
            }
        }
    }

    /// The number of places from the joints of one instance to the joints of the next.
    #[inline(always)]
    fn stride(&self) -> usize {
        soa::stride(self.source.skeleton.record.joint_count as usize)
    }

    /// The local rotations of a joint.
    #[inline(always)]
    fn local_rotation<L: Lanes>(&self, token: Token<L>, joint: u32) -> Quaternions<L> {
        L::transpose(L::load_block_apart(token, &self.parts.0[ROTATION][joint as usize..], self.stride()))
    }

    /// The numbers of a joint.
    #[inline(always)]
    fn load<L: Lanes>(&self, token: Token<L>, joint: u32) -> Link<L> {
        self.load_place(token, self.source.skeleton.reach.places[joint as usize] as usize)
    }

    /// The numbers of the link at a place.
    #[inline(always)]
    fn load_place<L: Lanes>(&self, token: Token<L>, place: usize) -> Link<L> {
        let from = &self.memory.links[place * LINK_NUMBERS * L::BLOCK / 4..][..LINK_NUMBERS * L::BLOCK / 4];
        Link {
            model: [
                L::load_block(token, &from[..L::BLOCK]),
                L::load_block(token, &from[L::BLOCK..2 * L::BLOCK]),
                L::load_block(token, &from[2 * L::BLOCK..3 * L::BLOCK]),
            ],
            rotation: L::load_block(token, &from[3 * L::BLOCK..4 * L::BLOCK]),
        }
    }

    /// Stores the numbers of the link at a place.
    #[inline(always)]
    fn store<L: Lanes>(&mut self, place: usize, link: Link<L>) {
        let to = &mut self.memory.links[place * LINK_NUMBERS * L::BLOCK / 4..][..LINK_NUMBERS * L::BLOCK / 4];
        L::store_block(link.model[0], &mut to[..L::BLOCK]);
        L::store_block(link.model[1], &mut to[L::BLOCK..2 * L::BLOCK]);
        L::store_block(link.model[2], &mut to[2 * L::BLOCK..3 * L::BLOCK]);
        L::store_block(link.rotation, &mut to[3 * L::BLOCK..4 * L::BLOCK]);
    }

    /// Turns a joint in model space where `acts` is not 0, by its local rotation. `parent` is its parent or `NONE`.
    #[inline(always)]
    fn turn<L: Lanes>(&mut self, joint: u32, parent: u32, [x, y, z, w]: Quaternions<L>, acts: L) {
        let token = acts.token();
        let above = if parent == NONE { Link::root(token) } else { self.load(token, parent) };
        let [x, y, z] = rotate(conjugate(unit(above.rotation)), [x, y, z]);
        let before = self.local_rotation(token, joint);
        let turned = product([x, y, z, w], before);
        // Numbers beyond the range of an f32 may have given a rotation that is none.
        let acts = is_rotation(turned).min(acts);
        let turned = unit(turned);
        let rotations = [
            turned[0].replace_where_zero(acts, before[0]),
            turned[1].replace_where_zero(acts, before[1]),
            turned[2].replace_where_zero(acts, before[2]),
            turned[3].replace_where_zero(acts, before[3]),
        ];
        let mut results = [Vec4::ZERO; LARGEST_BLOCK];
        L::store_block(L::transpose(rotations), &mut results);
        let stride = self.stride();
        let to = self.parts.0[ROTATION][joint as usize..].iter_mut().step_by(stride);
        to.zip(&results).take(self.instances).for_each(|(to, result)| *to = *result);
    }
}

/// The target of a goal, and its weight from 0 to 1.
pub fn resolve(goal: &GoalRecord, parameters: &[f32]) -> Vec4 {
    let number = |bits: u32, by_parameter: u32| {
        if goal.parameters & by_parameter == 0 { f32::from_bits(bits) } else { value(parameters, bits) }
    };
    let [x, y, z] = [goal.x, goal.y, goal.z].map(|bits| number(bits, GOAL_TARGET));
    Vec4::new(x, y, z, number(goal.weight, GOAL_WEIGHT).clamp(0.0, 1.0))
}

/// The value of a parameter. One that the instance does not have is 0, and so is NaN; infinity is the largest number.
fn value(parameters: &[f32], index: u32) -> f32 {
    let found = parameters.get(index as usize).copied().filter(|value| !value.is_nan());
    found.unwrap_or(0.0).clamp(f32::MIN, f32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_parameters_become_targets_and_weights() {
        let point = GoalRecord {
            x: 1.0_f32.to_bits(),
            y: 0,
            z: (-2.0_f32).to_bits(),
            weight: 0.5_f32.to_bits(),
            ..GoalRecord::default()
        };
        assert_eq!(resolve(&point, &[7.0]), Vec4::new(1.0, 0.0, -2.0, 0.5));
        let by_parameters = GoalRecord { parameters: GOAL_TARGET | GOAL_WEIGHT, x: 2, y: 0, z: 9, weight: 1, ..point };
        assert_eq!(resolve(&by_parameters, &[f32::INFINITY, 1.5, -3.0]), Vec4::new(-3.0, f32::MAX, 0.0, 1.0));
        assert_eq!(resolve(&by_parameters, &[1.0, f32::NAN, -3.0]).w, 0.0);
    }
}
