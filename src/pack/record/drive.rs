//! Records of drivers: from parameters and leaders to the times and weights of layers.

use crate::pack::record::{constants, record};

constants! {
    /// Bit of [`DriveRecord::kind`]: the time follows from a parameter that counts cycles.
    pub const DRIVE_PHASE: u32 = 1;
    /// Bit of [`DriveRecord::kind`]: the time follows from that of an earlier layer.
    pub const DRIVE_SYNCED: u32 = 2;
    /// Bit of [`DriveRecord::kind`]: the weight follows from a parameter by knots.
    pub const DRIVE_KNOTS: u32 = 4;
    /// Bit of [`DriveRecord::kind`]: the weight is the share of a point of a blend space.
    pub const DRIVE_POINT: u32 = 8;
    /// The largest magnitude of a position in a blend space. Positions beyond are clamped.
    pub const DRIVE_FARTHEST: f32 = 1e15;
    /// A layer with a driven weight reaches events if its weight is above this number. Rounding may turn a weight
    /// of 0 into a smaller one.
    pub const DRIVE_LEAST_WEIGHT: f32 = 9.536743e-7;
    /// A followed position is at the end of its clip if its distance from it is less than two to this power, of 2^63 or more units.
    pub const DRIVE_SEAM_BITS: u32 = 23;
    /// A position that is outside of a triangle by less than this share counts as inside, so that rounding does not move a
    /// position on a side to another triangle.
    pub const DRIVE_NEAR: f32 = 9.536743e-7;
    /// A position less than this before a sync mark, in the clip's units, is at the mark. It exceeds the rounding of a month of
    /// passes.
    pub const SYNC_NEAR: u32 = 2048;
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
        /// The offset in the words of the number of knots, which the knots follow, or of a `SpaceRecord`, which its triangles follow.
        table: u32,
        /// The index of the point of a blend space.
        point: u32,
    }
}

record! {
    /// A span between two sync marks of a clip, in the clip's units; the last one goes on to the first mark of the next pass.
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
    /// A cell is a range of a list of indices of triangles: those that may contain a position in the cell, in order.
    SpaceRecord in words {
        /// The number of triangles.
        triangle_count: u32,
        /// The offset in the words of one offset per cell, row by row, to the start of its list, and then of the end of the last list.
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
        /// The offset in the words of the list of the triangles at the border: one of them or of the position's cell is nearest to a position
        /// that no triangle contains.
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

impl DriveRecord {
    /// The number of parameters that an instance needs for this driver.
    pub fn parameter_count(&self) -> u32 {
        let named = |bits: u32, parameter: u32| if self.kind & bits == 0 { 0 } else { parameter + 1 };
        named(DRIVE_PHASE, self.source)
            .max(named(DRIVE_KNOTS | DRIVE_POINT, self.parameter_x))
            .max(named(DRIVE_POINT, self.parameter_y))
    }
}
