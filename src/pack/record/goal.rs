//! The records of chains and goals.

use crate::pack::record::{constants, record};

constants! {
    /// Bit of [`ChainRecord::kind`]: two bones. Without it, one joint aims.
    pub const CHAIN_TWO_BONE: u32 = 1;
    /// Bit of [`ChainRecord::kind`]: the middle joint points to a pole.
    pub const CHAIN_POLE: u32 = 2;
    /// Bit of [`ChainRecord::kind`]: the third joint keeps its model rotation.
    pub const CHAIN_HOLD: u32 = 4;
    /// The joints per word of [`ChainRecord::turned_by`].
    pub const CHAIN_JOINTS_PER_WORD: u32 = 16;
    /// The least share of a bone in the length of both bones, of a sine that tells a bent limb, and of the part of a vector that is
    /// perpendicular to another.
    pub const REACH_LEAST_SHARE: f32 = 1e-3;
    /// The share of the length of both bones by which a limb stays away from both ends of its reach.
    pub const REACH_MARGIN: f32 = 1e-4;
    /// Directions whose sum is shorter are opposite.
    pub const REACH_OPPOSITE: f32 = 1e-6;
    /// Lengths below count as 0, so that no division overflows.
    pub const REACH_LEAST_LENGTH: f32 = 1e-37;

    /// Bit of [`GoalRecord::parameters`]: the target is three parameters.
    pub const GOAL_TARGET: u32 = 1;
    /// Bit of [`GoalRecord::parameters`]: the weight is a parameter.
    pub const GOAL_WEIGHT: u32 = 2;
    /// The words of a goal for the kernels that pose: the offset of its chain, or `NONE`, then x, y and z of the target, then the weight.
    pub const GOAL_RESOLVED_WORDS: u32 = 5;
}

record! {
    /// A chain, in the words. A joint that aims stands for all three joints.
    ChainRecord in words {
        /// The `CHAIN_` bits.
        kind: u32,
        /// The first joint.
        joint_0: u32,
        /// The second joint.
        joint_1: u32,
        /// The third joint.
        joint_2: u32,
        /// The parent of the first joint, or `NONE`.
        parent_0: u32,
        /// The parent of the second joint, or `NONE`.
        parent_1: u32,
        /// The parent of the third joint, or `NONE`.
        parent_2: u32,
        /// The direction of the pole or of the aim, x. It has length 1, or 0 if the chain does nothing.
        direction_x: f32,
        /// The direction, y.
        direction_y: f32,
        /// The direction, z.
        direction_z: f32,
        /// The sine of half the limit of an aim.
        limit_sine: f32,
        /// The cosine of half the limit.
        limit_cosine: f32,
        /// The offset in the words of two bits per joint, the first joint in the lowest ones: the number of joints of the chain that turn it.
        turned_by: u32,
        /// The joint after the last one that the chain turns.
        joint_end: u32,
        /// The offset in the words: for each joint the offset in the values of the rotation nearest to its matrix, or `NONE`. `NONE`: no
        /// joint has a matrix.
        matrix_rotations: u32,
    }
}

record! {
    /// A goal of an instance, before its parameters are read.
    GoalRecord {
        /// The offset of its `ChainRecord` in the words; `NONE`: no goal.
        chain: u32,
        /// The `GOAL_` bits.
        parameters: u32,
        /// The bits of the x of the target, or the index of a parameter.
        x: u32,
        /// The bits of the y, or the index of a parameter.
        y: u32,
        /// The bits of the z, or the index of a parameter.
        z: u32,
        /// The bits of the weight, or the index of a parameter.
        weight: u32,
    }
}

record! {
    /// The uniform of the kernel that reads the parameters of goals.
    GoalBatch {
        /// The number of goals of all instances.
        goal_count: u32,
        /// The goals per instance.
        goals_per_instance: u32,
        /// The workgroups per row of the dispatch.
        groups_per_row: u32,
        /// The number of parameters per instance.
        parameter_count: u32,
        /// The offset in the lists of the first goal for the kernels that pose.
        first_goal: u32,
    }
}

impl GoalRecord {
    /// The number of parameters that an instance needs for this goal.
    pub fn parameter_count(&self) -> u32 {
        let target = if self.parameters & GOAL_TARGET == 0 { 0 } else { self.x.max(self.y).max(self.z) + 1 };
        let weight = if self.parameters & GOAL_WEIGHT == 0 { 0 } else { self.weight + 1 };
        target.max(weight)
    }
}
