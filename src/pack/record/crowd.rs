//! Constants and records of a packed crowd and of a frame: layers, drivers, goals, displacements, batches and events.

use crate::model::{Step, Ticks};
use crate::pack::record::clip::SkeletonRecord;
use crate::pack::record::{constants, record};

constants! {
    /// Bit of [`BatchRecord::outputs`]: local transforms.
    pub const OUTPUT_LOCAL: u32 = 1;
    /// Bit of [`BatchRecord::outputs`]: model matrices.
    pub const OUTPUT_MODEL: u32 = 2;
    /// Bit of [`BatchRecord::outputs`]: skin matrices.
    pub const OUTPUT_SKIN: u32 = 4;
    /// Bits of [`LayerRecord::mode`] that hold the mode.
    pub const LAYER_MODE: u32 = 3;
    /// Mode of a layer that blends.
    pub const LAYER_BLEND: u32 = 0;
    /// Mode of a layer that overrides the layers below.
    pub const LAYER_OVERRIDE: u32 = 1;
    /// Mode of a layer that adds its difference from its clip at time 0.
    pub const LAYER_ADD_FIRST: u32 = 2;
    /// Mode of a layer that adds its difference from the rest pose.
    pub const LAYER_ADD_REST: u32 = 3;
    /// Bit of [`LayerRecord::mode`]: the layer fades in.
    pub const LAYER_FADES_IN: u32 = 4;
    /// Bit of [`LayerRecord::mode`]: the layer fades out.
    pub const LAYER_FADES_OUT: u32 = 8;
    /// Bit of [`LayerRecord::mode`]: the fade in is smooth, not linear.
    pub const LAYER_SMOOTH_IN: u32 = 16;
    /// Bit of [`LayerRecord::mode`]: the fade out is smooth, not linear.
    pub const LAYER_SMOOTH_OUT: u32 = 32;

    /// Bit of [`LayerRecord::clock`]: the layer plays. Without it, the layer stays at its fixed time.
    pub const CLOCK_PLAYS: u32 = 1;
    /// Bit of [`LayerRecord::clock`]: before its start, the layer stays at the time of its start.
    pub const CLOCK_WAITS: u32 = 2;
    /// Bit of [`LayerRecord::clock`]: the layer never stops.
    pub const CLOCK_ENDLESS: u32 = 4;
    /// Bit of [`LayerRecord::clock`]: the rate is negative.
    pub const CLOCK_BACKWARDS: u32 = 8;
    /// Bit of [`LayerRecord::clock`]: every second pass goes in the opposite direction.
    pub const CLOCK_PING_PONG: u32 = 16;
    /// Bit of [`LayerRecord::clock`]: the first pass goes from the end to the start.
    pub const CLOCK_REVERSE: u32 = 32;
    /// Bit of [`LayerRecord::clock`]: the time follows from a parameter or from another layer. The fixed time is that
    /// of the frame; `start` is the position in the clip's units at the beginning of the step, `passes_2` and
    /// `passes_3` that at its end; `passes_0` and `passes_1` are the numbers of jumps at both.
    pub const CLOCK_DRIVEN: u32 = 64;
    /// A layer is at the end of a pass if its distance to the end is at most a tick divided by two to this power.
    pub const CLOCK_NEAR_BITS: u32 = 10;
    /// Bit of [`DriveRecord::kind`]: the time follows from a parameter that counts cycles.
    pub const DRIVE_PHASE: u32 = 1;
    /// Bit of [`DriveRecord::kind`]: the time follows from the time of an earlier layer.
    pub const DRIVE_SYNCED: u32 = 2;
    /// Bit of [`DriveRecord::kind`]: the weight follows from a parameter by knots.
    pub const DRIVE_KNOTS: u32 = 4;
    /// Bit of [`DriveRecord::kind`]: the weight is the share of a point of a blend space.
    pub const DRIVE_POINT: u32 = 8;
    /// The largest magnitude of a position in a blend space. Positions beyond are clamped.
    pub const DRIVE_FARTHEST: f32 = 1e15;
    /// A layer with a driven weight reaches events if its weight is above this number. Rounding may turn a weight
    /// of 0 into a smaller one.
    pub const DRIVE_MIN_WEIGHT: f32 = 9.536743e-7;
    /// A followed position is at the end of its clip if its distance from it is less than two to this power, of 2^63 or
    /// more units.
    pub const DRIVE_SEAM_BITS: u32 = 23;
    /// A position that is outside of a triangle by less than this share counts as inside, so that rounding does not
    /// move a position on a side to another triangle.
    pub const DRIVE_NEAR: f32 = 9.536743e-7;
    /// A position less than this before a sync mark, in the clip's units, is at the mark. It exceeds the rounding of a
    /// month of passes.
    pub const SYNC_NEAR: u32 = 2048;
    /// Bit of [`ChainRecord::kind`]: two bones. Without it, one joint aims.
    pub const CHAIN_TWO_BONE: u32 = 1;
    /// Bit of [`ChainRecord::kind`]: the middle joint points to a pole.
    pub const CHAIN_POLE: u32 = 2;
    /// Bit of [`ChainRecord::kind`]: the third joint keeps its model rotation.
    pub const CHAIN_HOLD: u32 = 4;
    /// The joints per word of [`ChainRecord::turned_by`].
    pub const CHAIN_JOINTS_PER_WORD: u32 = 16;
    /// The least share of a bone in the length of both bones, of a sine that tells a bent limb, and of the part of a
    /// vector that is perpendicular to another.
    pub const REACH_MIN_SHARE: f32 = 1e-3;
    /// The share of the length of both bones by which a limb stays away from both ends of its reach.
    pub const REACH_MARGIN: f32 = 1e-4;
    /// Directions whose sum is shorter are opposite.
    pub const REACH_OPPOSITE: f32 = 1e-6;
    /// Lengths below count as 0, so that no division overflows.
    pub const REACH_MIN_LENGTH: f32 = 1e-37;

    /// Bit of [`GoalRecord::parameters`]: the target is three parameters.
    pub const GOAL_TARGET: u32 = 1;
    /// Bit of [`GoalRecord::parameters`]: the weight is a parameter.
    pub const GOAL_WEIGHT: u32 = 2;
    /// The words of a goal for the kernels that pose: the offset of its chain, or `NONE`, then x, y and z of the
    /// target, then the weight.
    pub const GOAL_RESOLVED_WORDS: u32 = 5;
    /// Kind of [`DisplacementRecord`]: no transition.
    pub const DISPLACED_NOT: u32 = 0;
    /// Kind of [`DisplacementRecord`]: the difference decays.
    pub const DISPLACED_INERTIAL: u32 = 1;
    /// Kind of [`DisplacementRecord`]: the pose that goes out moves on.
    pub const DISPLACED_DEAD: u32 = 2;
    /// The numbers of a displacement per joint: offset and speed of the translation, offset and speed of the scale,
    /// three each, then the offset of the rotation, four, and its speed, three, with a 0 behind it.
    pub const DISPLACED_JOINT: u32 = 20;
    /// The numbers of a displacement per morph weight and per number of a property: offset and speed. A rotation has
    /// its speed in the first three of its four numbers.
    pub const DISPLACED_NUMBER: u32 = 2;
    /// The words of a [`DisplacementRecord`], which the numbers follow.
    pub const DISPLACED_HEAD: u32 = DisplacementRecord::WORDS as u32;
    /// The seconds of a tick.
    pub const DISPLACED_TICK: f32 = 1.0 / Ticks::PER_SECOND as f32;
}

record! {
    /// The uniform that changes from frame to frame: a step of the crowd clock.
    Frame {
        /// The tick to pose, lower half.
        now_low: u32,
        /// The tick to pose, upper half.
        now_high: u32,
        /// The previous tick, lower half.
        from_low: u32,
        /// The previous tick, upper half.
        from_high: u32,
        /// 1 if only instances in the visible list are posed, else 0.
        visible_only: u32,
        /// The number of the frame. It decides which listed instances are due.
        number: u32,
        /// Pads the record to a multiple of 16 bytes, as a uniform needs.
        reserved_0: u32,
        /// Pads the record to a multiple of 16 bytes.
        reserved_1: u32,
    }
}

impl Frame {
    /// The frame of a step that poses all instances.
    pub fn new(step: Step) -> Self {
        let halves = |tick: Ticks| (tick.0 as u32, (tick.0 >> 32) as u32);
        let ((now_low, now_high), (from_low, from_high)) = (halves(step.to), halves(step.from));
        Self { now_low, now_high, from_low, from_high, ..Self::default() }
    }

    /// The frame of a step that poses the visible instances that are due in the frame of this number.
    pub fn visible(step: Step, number: u32) -> Self {
        Self { visible_only: 1, number, ..Self::new(step) }
    }

    /// The step of the clock.
    pub fn step(self) -> Step {
        let tick = |low: u32, high: u32| Ticks(i64::from(high as i32) << 32 | i64::from(low));
        Step { from: tick(self.from_low, self.from_high), to: tick(self.now_low, self.now_high) }
    }
}

record! {
    /// The uniform of a dispatch, which all its instances share.
    BatchRecord {
        /// The skeleton of all instances.
        skeleton: SkeletonRecord,
        /// The number of instances.
        instance_count: u32,
        /// The lanes per instance, at most the size of a workgroup.
        lane_count: u32,
        /// 65,536 divided by that, rounded up: a lane below 256 times this, shifted by 16 bits, is the lane divided by
        /// the lanes per instance.
        lane_inverse: u32,
        /// The number of spans per instance that fit workgroup memory. The spans of further timelines are computed
        /// again.
        span_count: u32,
        /// The workgroups per row of the dispatch.
        groups_per_row: u32,
        /// The wanted outputs: bits of local, model and skin.
        outputs: u32,
        /// The first written number among an instance's morph weights and properties.
        first_value: u32,
        /// The number of written morph weights and properties.
        value_count: u32,
        /// The layer records per instance.
        layer_count: u32,
        /// The instances per workgroup.
        instances_per_group: u32,
        /// The offset in the lists of the goals of the first instance.
        first_goal: u32,
        /// The goals per instance.
        goal_count: u32,
    }
}

record! {
    /// An entry of the visible list of a batch, which a culling pass fills.
    VisibleInstance {
        /// The slot of the instance in the batch. An entry with a slot beyond the last is skipped.
        slot: u32,
        /// The number of joints that are sampled, level by level from the roots. The other joints keep their local rest
        /// pose. A number from the joint count on samples all joints.
        joints: u32,
        /// The instance is posed in frames in which its slot plus the frame number is a multiple of this. 0 and 1: in
        /// each frame.
        update_interval: u32,
    }
}

record! {
    /// A layer of an instance.
    LayerRecord {
        /// The offset of the clip's record in the words.
        clip: u32,
        /// The `CLOCK_` bits.
        clock: u32,
        /// The fixed time in seconds, rounded to an `f32`. Of a layer that plays, the time at the tick of the frame, if
        /// `play.wgsl` has written it.
        time_high: f32,
        /// The remainder of that rounding.
        time_low: f32,
        /// The start tick, lower half.
        start_low: u32,
        /// The start tick, upper half.
        start_high: u32,
        /// The passes per tick in either direction, as an integer and a fraction of 96 bits: the lowest word of the
        /// fraction.
        passes_0: u32,
        /// The middle word of that fraction.
        passes_1: u32,
        /// The highest word of that fraction.
        passes_2: u32,
        /// The integer part of the passes per tick.
        passes_3: u32,
        /// The passes until the layer stops, as an integer and a fraction of 64 bits: lower half of the fraction.
        repeat_low: u32,
        /// The upper half of that fraction.
        repeat_high: u32,
        /// The integer part of the passes until the layer stops.
        repeat_count: u32,
        /// The start of the played part of the clip, in the clip's units: lower half.
        part_start_low: u32,
        /// The start of the played part, upper half.
        part_start_high: u32,
        /// The length of the played part, in the clip's units: lower half.
        part_length_low: u32,
        /// The length of the played part, upper half.
        part_length_high: u32,
        /// The weight without fades and mask.
        weight: f32,
        /// The mode and the bits of the fades.
        mode: u32,
        /// The offset in the words of one weight per joint. `NONE`: all weights are 1.
        mask: u32,
        /// The start tick of the fade in, lower half.
        fade_in_low: u32,
        /// The start tick of the fade in, upper half.
        fade_in_high: u32,
        /// The length of the fade in, in ticks.
        fade_in_length: f32,
        /// The start tick of the fade out, lower half.
        fade_out_low: u32,
        /// The start tick of the fade out, upper half.
        fade_out_high: u32,
        /// The length of the fade out, in ticks.
        fade_out_length: f32,
        /// The search result of the only timeline of the clip, if `play.wgsl` has written it: the row of the key, and
        /// the rows from there to the next key, as in `Span`.
        span_rows: [u32; 2],
        /// The fraction of that search result, and its interval.
        span_part: [f32; 2],
    }
}

record! {
    /// The uniform of the kernel that drives layers, which all instances of a batch share.
    DriveBatch {
        /// The number of instances.
        instance_count: u32,
        /// The layer records per instance.
        layer_count: u32,
        /// The workgroups per row of the dispatch.
        groups_per_row: u32,
        /// The number of parameters per instance.
        parameter_count: u32,
    }
}

record! {
    /// A driver of a layer. A layer without one has the kind 0.
    DriveRecord {
        /// The `DRIVE_` bits.
        kind: u32,
        /// The `CLOCK_` bits of a time that follows from a parameter, without `CLOCK_PLAYS`.
        clock: u32,
        /// The index of the parameter that counts cycles, or of the leader among the layers of the instance.
        source: u32,
        /// The offset in the words of the sync marks of the leader's clip. `NONE`: the whole clip is one span.
        lead_marks: u32,
        /// The offset in the words of the sync marks of the layer's own clip. `NONE`: the whole clip is one span.
        own_marks: u32,
        /// The number of sync marks of each clip.
        mark_count: u32,
        /// The whole clip of the leader.
        lead: SyncMark,
        /// The whole clip of the layer itself.
        own: SyncMark,
        /// The weight of the layer without its driver.
        weight: f32,
        /// The index of the parameter that drives the weight, or is the x of a position.
        parameter_x: u32,
        /// The index of the parameter that is the y of a position.
        parameter_y: u32,
        /// The offset in the words of the number of knots, which the knots follow, or of a `SpaceRecord`, which its
        /// triangles follow.
        table: u32,
        /// The index of the point of a blend space.
        point: u32,
    }
}

record! {
    /// A span between two sync marks of a clip, in the clip's units; the last one goes on to the first mark of the next
    /// pass.
    SyncMark in words {
        /// The start, lower half.
        start_low: u32,
        /// The start, upper half.
        start_high: u32,
        /// The length, lower half.
        length_low: u32,
        /// The length, upper half.
        length_high: u32,
        /// The number of bits by which the length is shifted to the left until its highest bit is set.
        shift: u32,
        /// The reciprocal of the shifted length in units of 2^-127, lower half.
        inverse_low: u32,
        /// The reciprocal, upper half.
        inverse_high: u32,
    }
}

record! {
    /// A knot, in the words.
    KnotRecord in words {
        /// The value of the parameter, rounded to an `f32`.
        value_high: f32,
        /// The remainder of that rounding.
        value_low: f32,
        /// The weight.
        weight: f32,
        /// The reciprocal of the distance to the value of the next knot; 0 for the last knot.
        inverse: f32,
    }
}

record! {
    /// A blend space, in the words: a grid over its triangles, which follow the record.
    ///
    /// A cell is a range of a list of indices of triangles: the triangles that may contain a position in the cell, in
    /// order.
    SpaceRecord in words {
        /// The number of triangles.
        triangle_count: u32,
        /// The offset in the words of one offset per cell, row by row, to the start of its list, and then of the end of
        /// the last list.
        cells: u32,
        /// The cells along x and along y.
        side: u32,
        /// The x of the corner of the first cell, rounded to an `f32`.
        x_high: f32,
        /// The remainder of that rounding.
        x_low: f32,
        /// The y of the corner of the first cell, rounded to an `f32`.
        y_high: f32,
        /// The remainder of that rounding.
        y_low: f32,
        /// The number of cells per unit along x.
        cells_per_x: f32,
        /// The number of cells per unit along y.
        cells_per_y: f32,
        /// The offset in the words of the list of the triangles at the border: one of them or of the position's cell is
        /// nearest to a position that no triangle contains.
        border: u32,
        /// The end of that list.
        border_end: u32,
    }
}

record! {
    /// A triangle of a blend space, in the words.
    TriangleRecord in words {
        /// The index of the first corner among the points.
        corner_0: u32,
        /// The index of the second corner.
        corner_1: u32,
        /// The index of the third corner.
        corner_2: u32,
        /// The x of the first corner, rounded to an `f32`.
        x_high: f32,
        /// The remainder of that rounding.
        x_low: f32,
        /// The y of the first corner, rounded to an `f32`.
        y_high: f32,
        /// The remainder of that rounding.
        y_low: f32,
        /// The gradient of the share of the second corner, x.
        share_1_x: f32,
        /// The gradient of the share of the second corner, y.
        share_1_y: f32,
        /// The gradient of the share of the third corner, x.
        share_2_x: f32,
        /// The gradient of the share of the third corner, y.
        share_2_y: f32,
        /// The side from the first to the second corner, x.
        side_1_x: f32,
        /// The side from the first to the second corner, y.
        side_1_y: f32,
        /// The side from the first to the third corner, x.
        side_2_x: f32,
        /// The side from the first to the third corner, y.
        side_2_y: f32,
    }
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
        /// The offset in the words of two bits per joint, the first joint in the lowest ones: the number of joints of
        /// the chain that turn it.
        turned_by: u32,
        /// The joint after the last one that the chain turns.
        joint_end: u32,
        /// The offset in the words: for each joint the offset in the values of the rotation nearest to its matrix, or
        /// `NONE`. `NONE`: no joint has a matrix.
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

record! {
    /// The head of the displacement of an instance.
    DisplacementRecord {
        /// The kind.
        kind: u32,
        /// The start tick, lower half.
        start_low: u32,
        /// The start tick, upper half.
        start_high: u32,
        /// The rate of the decay per second: in inertialization twice, in dead blending once the natural logarithm
        /// of 2 over the half-life.
        rate: f32,
        /// The length in seconds.
        seconds: f32,
    }
}

record! {
    /// The uniform of a dispatch that searches for events, which all its instances share.
    EventBatch {
        /// The number of instances.
        instance_count: u32,
        /// The layer records per instance.
        layer_count: u32,
        /// The workgroups per row of the dispatch.
        groups_per_row: u32,
        /// The most occurrences that the list holds.
        capacity: u32,
    }
}

record! {
    /// An event that a layer has reached.
    OccurrenceRecord {
        /// The tick, lower half.
        tick_low: u32,
        /// The tick, upper half.
        tick_high: u32,
        /// The index of the instance in the crowd.
        instance: u32,
        /// The index of the layer in the instance.
        layer: u32,
        /// The index of the event in the clip.
        event: u32,
    }
}

record! {
    /// The head of a list of occurrences.
    EventCount {
        /// The number of occurrences in the list.
        listed: u32,
        /// The number of occurrences without room in the list, lower half.
        missed_low: u32,
        /// The number of occurrences without room in the list, upper half.
        missed_high: u32,
        /// 1 if that number exceeds 64 bits, else 0.
        missed_many: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_the_frame() {
        for tick in [0, 1, -1, i64::MAX, i64::MIN, 1 << 32, -(1 << 40) + 7] {
            let step = Step { from: Ticks(tick), to: Ticks(tick.wrapping_add(1)) };
            assert_eq!(Frame::new(step).step(), step);
        }
    }
}
