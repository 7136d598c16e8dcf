//! Drivers: from parameters and leaders to the times and weights of layers, as in `shaders/drive.wgsl`.

use bytemuck::Pod;

use crate::cpu::stages::phase::{self, Mark, join};
use crate::model::Step;
use crate::pack::Arrays;
use crate::pack::record::{
    CLOCK_DRIVEN, CLOCK_PLAYS, ClipRecord, DRIVE_FARTHEST, DRIVE_KNOTS, DRIVE_NEAR, DRIVE_PHASE, DRIVE_POINT,
    DRIVE_SEAM_BITS, DRIVE_SYNCED, DriveRecord, KnotRecord, LayerRecord, NONE, SpaceRecord, SyncMark, TriangleRecord,
};

/// Sets the times and the weights of the layers of an instance that have a driver. `before` has the values of the
/// parameters at the beginning of the step, and `now` those at its end.
pub fn drive(
    arrays: &Arrays,
    step: Step,
    before: &[f32],
    now: &[f32],
    drives: &[DriveRecord],
    layers: &mut [LayerRecord],
) {
    for (index, drive) in drives.iter().enumerate().filter(|(_, drive)| drive.kind != 0) {
        let mut layer = layers[index];
        let clip: ClipRecord = arrays.record(layer.clip);
        if drive.kind & DRIVE_PHASE != 0 {
            let source = cycles(drive);
            let mark = |values: &[f32]| phase::mark_of_cycles(&source, value(values, drive.source));
            layer = phase::with_marks(&layer, &clip, [mark(before), mark(now)]);
        } else if drive.kind & DRIVE_SYNCED != 0 {
            let marks = leader_marks(arrays, step, &layers[drive.source as usize], drive);
            let follow = |mark: Mark| SyncSpan::follower(&arrays.words, drive, mark);
            layer = phase::with_marks(&layer, &clip, marks.map(follow));
        }
        if drive.kind & (DRIVE_KNOTS | DRIVE_POINT) != 0 {
            layer.weight = drive.weight * weight_factor(arrays, now, drive);
        }
        layers[index] = layer;
    }
}

/// The positions of a leader at both ends of a step.
fn leader_marks(arrays: &Arrays, step: Step, leader: &LayerRecord, drive: &DriveRecord) -> [Mark; 2] {
    if leader.clock & CLOCK_DRIVEN != 0 {
        return phase::driven_marks(leader);
    }
    if leader.clock & CLOCK_PLAYS != 0 {
        return [step.from, step.to].map(|tick| phase::mark(leader, tick.0));
    }
    let clip: ClipRecord = arrays.record(leader.clip);
    let seconds = f64::from(leader.time_high) + f64::from(leader.time_low);
    let (position, end) = ((seconds / f64::from(clip.time_unit) * 2.0_f64.powi(32)) as u64, length(&drive.lead));
    // A time at the end has 48 bits, the end has 64.
    let is_end = end.saturating_sub(position) >> DRIVE_SEAM_BITS == 0;
    [Mark { position: if is_end { end } else { position }, loops: 0 }; 2]
}

/// The factor of a weight at the values of the parameters.
fn weight_factor(arrays: &Arrays, values: &[f32], drive: &DriveRecord) -> f32 {
    let x = value(values, drive.parameter_x);
    if drive.kind & DRIVE_KNOTS != 0 {
        let count = arrays.words[drive.table as usize] as usize;
        return knots_at(records(arrays, drive.table + 1, count), x);
    }
    let position = [x, value(values, drive.parameter_y)].map(|number| number.clamp(-DRIVE_FARTHEST, DRIVE_FARTHEST));
    PackedBlendSpace::new(arrays, drive.table).share(drive.point, position)
}

/// The value of a parameter. One that the instance does not have is 0, and so is NaN.
fn value(values: &[f32], parameter: u32) -> f32 {
    values.get(parameter as usize).copied().filter(|value| !value.is_nan()).unwrap_or(0.0)
}

/// The records that begin at an offset of the words.
fn records<T: Pod>(arrays: &Arrays, offset: u32, count: usize) -> &[T] {
    bytemuck::cast_slice(&arrays.words[offset as usize..][..count * (size_of::<T>() / 4)])
}

/// A layer that plays the whole clip, once or for ever.
fn cycles(drive: &DriveRecord) -> LayerRecord {
    LayerRecord {
        clock: drive.clock,
        repeat_count: 1,
        part_length_low: drive.own.length_low,
        part_length_high: drive.own.length_high,
        ..Default::default()
    }
}

/// The position of a leader's clip at which a synchronised layer is at a position of its own.
pub fn leader_position(words: &[u32], drive: &DriveRecord, position: u64) -> u64 {
    let swapped = DriveRecord {
        lead: drive.own,
        own: drive.lead,
        lead_marks: drive.own_marks,
        own_marks: drive.lead_marks,
        ..*drive
    };
    SyncSpan::follower(words, &swapped, Mark { position, loops: 0 }).position
}

/// The start of a sync mark.
fn start(mark: &SyncMark) -> u64 {
    join(mark.start_low, mark.start_high)
}

/// The length of a sync mark.
fn length(mark: &SyncMark) -> u64 {
    join(mark.length_low, mark.length_high)
}

/// The spans of two clips that belong to each other.
struct SyncSpan {
    lead: SyncMark,
    own: SyncMark,
}

impl SyncSpan {
    /// The spans of an index.
    fn new(words: &[u32], drive: &DriveRecord, index: u32) -> Self {
        let mark = |marks: u32, whole: SyncMark| match marks {
            NONE => whole,
            marks => {
                let first = marks as usize + SyncMark::WORDS * index as usize;
                bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[first..first + SyncMark::WORDS]))
            }
        };
        Self { lead: mark(drive.lead_marks, drive.lead), own: mark(drive.own_marks, drive.own) }
    }

    /// The position of a follower, from the position of its leader.
    fn follower(words: &[u32], drive: &DriveRecord, leader: Mark) -> Mark {
        let [lead_length, own_length] = [length(&drive.lead), length(&drive.own)];
        if lead_length == 0 || own_length == 0 {
            return Mark { position: 0, loops: 0 };
        }
        let last = drive.mark_count - 1;
        let first = Self::new(words, drive, 0);
        let is_before = leader.position < start(&first.lead);
        let (span, way) = if is_before {
            let span = Self::new(words, drive, last);
            let way = leader.position + (lead_length - start(&span.lead));
            (span, way)
        } else {
            let mut index = last;
            while index > 0 && start(&Self::new(words, drive, index).lead) > leader.position {
                index -= 1;
            }
            let span = Self::new(words, drive, index);
            let way = leader.position - start(&span.lead);
            (span, way)
        };
        let reached = u128::from(start(&span.own)) + u128::from(span.along(way));
        let (end, is_end) = (u128::from(own_length), leader.position == lead_length);
        // Rounding must not turn an end of the clip into the other.
        let is_seam = drive.lead_marks != NONE && reached.abs_diff(end) >> DRIVE_SEAM_BITS == 0;
        let reached = if is_seam { end } else { reached };
        let (position, loops) = match (is_before, reached.cmp(&end)) {
            (true, std::cmp::Ordering::Less) => (reached, -1),
            (true, _) => (reached - end, 0),
            (false, std::cmp::Ordering::Greater) => (reached - end, 1),
            (false, std::cmp::Ordering::Equal) if !is_end => (0, 1),
            (false, _) => (reached, 0),
        };
        Mark { position: position as u64, loops: leader.loops + loops }
    }

    /// The way in the follower's span that belongs to a way in the leader's.
    fn along(&self, way: u64) -> u64 {
        if way >= length(&self.lead) {
            return length(&self.own);
        }
        let scale = |fraction: u64, number: u64| ((u128::from(fraction) * u128::from(number)) >> 64) as u64;
        let fraction = scale(join(self.lead.inverse_low, self.lead.inverse_high), way << self.lead.shift) << 1;
        scale(fraction, length(&self.own))
    }
}

/// The weight by knots at a value of a parameter.
fn knots_at(knots: &[KnotRecord], value: f32) -> f32 {
    let since = |knot: &KnotRecord| (value - knot.value_high) - knot.value_low;
    let after = knots.partition_point(|knot| since(knot) >= 0.0);
    match (after.checked_sub(1).map(|index| knots[index]), knots.get(after)) {
        (Some(before), Some(next)) => {
            let along = (since(&before) * before.inverse).min(1.0);
            before.weight * (1.0 - along) + next.weight * along
        }
        (Some(knot), None) => knot.weight,
        (None, Some(knot)) => knot.weight,
        (None, None) => 0.0,
    }
}

/// A packed blend space.
struct PackedBlendSpace<'a> {
    words: &'a [u32],
    record: SpaceRecord,
    triangles: &'a [TriangleRecord],
}

impl<'a> PackedBlendSpace<'a> {
    /// The blend space at an offset of the words.
    fn new(arrays: &'a Arrays, offset: u32) -> Self {
        let record: SpaceRecord = arrays.record(offset);
        let triangles = offset as usize + SpaceRecord::WORDS;
        let count = record.triangle_count as usize;
        Self { words: &arrays.words, record, triangles: records(arrays, triangles as u32, count) }
    }

    /// The share of a point at a position: in the first triangle that contains it, or else in the nearest one.
    fn share(&self, point: u32, position: [f32; 2]) -> f32 {
        let cell = self.cell(position);
        for &index in cell {
            let triangle = &self.triangles[index as usize];
            let shares = shares(triangle, way(triangle, position));
            if shares.into_iter().fold(f32::INFINITY, f32::min) >= -DRIVE_NEAR {
                return corner_share(triangle, point, shares).clamp(0.0, 1.0);
            }
        }
        let Some(origin) = self.triangles.first() else { return 0.0 };
        let border = &self.words[self.record.border as usize..self.record.border_end as usize];
        let mut nearest = Nearest::NONE;
        for &index in border.iter().chain(cell) {
            let triangle = &self.triangles[index as usize];
            let corner = [
                (triangle.x_high - origin.x_high) + (triangle.x_low - origin.x_low),
                (triangle.y_high - origin.y_high) + (triangle.y_low - origin.y_low),
            ];
            nearest = nearest.or_on(triangle, corner, way(triangle, position));
        }
        nearest.share(point)
    }

    /// The triangles of the cell at a position, or of the nearest cell if it is beside the grid.
    fn cell(&self, position: [f32; 2]) -> &'a [u32] {
        let SpaceRecord { cells, side, x_high, x_low, y_high, y_low, cells_per_x, cells_per_y, .. } = self.record;
        // A number below 0 becomes 0.
        let along = |cell: f32| (cell as u32).min(side - 1);
        let column = along(((position[0] - x_high) - x_low) * cells_per_x);
        let row = along(((position[1] - y_high) - y_low) * cells_per_y);
        let cell = (cells + row * side + column) as usize;
        &self.words[self.words[cell] as usize..self.words[cell + 1] as usize]
    }
}

/// The way from the first corner of a triangle to a position.
fn way(triangle: &TriangleRecord, position: [f32; 2]) -> [f32; 2] {
    [(position[0] - triangle.x_high) - triangle.x_low, (position[1] - triangle.y_high) - triangle.y_low]
}

/// The shares of the corners of a triangle at the end of a way from its first corner; negative outside.
fn shares(triangle: &TriangleRecord, way: [f32; 2]) -> [f32; 3] {
    let dot = |x: f32, y: f32| way[0] * x + way[1] * y;
    let [second, third] = [dot(triangle.share_1_x, triangle.share_1_y), dot(triangle.share_2_x, triangle.share_2_y)];
    [1.0 - second - third, second, third]
}

/// The share of the corner that is a point; 0 if none is.
fn corner_share(triangle: &TriangleRecord, point: u32, shares: [f32; 3]) -> f32 {
    let corners = [triangle.corner_0, triangle.corner_1, triangle.corner_2];
    corners.iter().position(|&corner| corner == point).map_or(0.0, |corner| shares[corner])
}

/// The nearest point found so far, on a side of a triangle.
#[derive(Clone, Copy)]
struct Nearest {
    /// The corners of the side, by their points; one corner twice if the point is that corner.
    ends: [u32; 2],
    /// The position on the side, from 0 to 1.
    along: f32,
    /// A number that grows with the distance: its square, less the square of the distance from a point that is the same
    /// for all triangles. Far away, both squares would hide the difference between two sides.
    distance: f32,
}

impl Nearest {
    /// No point yet.
    const NONE: Self = Self { ends: [NONE; 2], along: 0.0, distance: f32::INFINITY };

    /// The nearest one of this point and the points of the sides of a triangle. `corner` is the first corner, relative
    /// to the common point, and `way` leads from it to the position.
    fn or_on(self, triangle: &TriangleRecord, corner: [f32; 2], way: [f32; 2]) -> Self {
        let corners = [[0.0, 0.0], [triangle.side_1_x, triangle.side_1_y], [triangle.side_2_x, triangle.side_2_y]];
        let points = [triangle.corner_0, triangle.corner_1, triangle.corner_2];
        let mut nearest = self;
        for first in 0..3 {
            let second = (first + 1) % 3;
            let side = [corners[second][0] - corners[first][0], corners[second][1] - corners[first][1]];
            let from = [way[0] - corners[first][0], way[1] - corners[first][1]];
            let squared = side[0] * side[0] + side[1] * side[1];
            let along = ((from[0] * side[0] + from[1] * side[1]) / squared).clamp(0.0, 1.0);
            let point = |axis: usize| corner[axis] + corners[first][axis] + side[axis] * along;
            let position = |axis: usize| corner[axis] + way[axis];
            let off = |axis: usize| point(axis) * (point(axis) - 2.0 * position(axis));
            let start = if along < 1.0 { first } else { second };
            let end = if along > 0.0 { second } else { first };
            let found = Self { ends: [points[start], points[end]], along, distance: off(0) + off(1) };
            if found.is_nearer_than(&nearest) {
                nearest = found;
            }
        }
        nearest
    }

    /// Returns `true` if this point is nearer than another one.
    ///
    /// A point between the corners of a side is nearer than they are. A little before a corner, the rounding of
    /// `distance` hides that, and the next side, which has the same corner, would move the point there.
    fn is_nearer_than(&self, other: &Self) -> bool {
        let is_between = self.ends[0] != self.ends[1];
        let other_is_between = other.ends[0] != other.ends[1];
        let is_end = self.ends[0] == other.ends[0] || self.ends[1] == other.ends[1];
        if is_end && is_between != other_is_between { is_between } else { self.distance < other.distance }
    }

    /// The share of a point of the blend space.
    fn share(&self, point: u32) -> f32 {
        let of_end = |end: usize, share: f32| if self.ends[end] == point { share } else { 0.0 };
        of_end(0, 1.0 - self.along) + of_end(1, self.along)
    }
}
