//! The keys packed so far. Clips that share curves share them, so that a clip that is shared with another skeleton
//! stores no keys again.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Interpolation, NumberRange, Skeleton, Timeline};
use crate::pack::arrays::Arrays;
use crate::pack::channels::TrackColumn;
use crate::pack::key_blocks::{self, KeyBlock, UnfilledKeyBlock};
use crate::pack::unroll::Beyond;

/// The time axis of keys: a timeline, its continuation beyond the keys, and the offset of its easings.
pub type Axis = (*const Timeline, Beyond, u32);

/// The identity of the keys of a column. Copies of a curve have the same identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct KeyIdentity {
    values: usize,
    interpolation: Interpolation,
    curve_numbers: NumberRange,
    rotation: bool,
}

impl KeyIdentity {
    fn new(column: &TrackColumn) -> Self {
        let TrackColumn { curve, curve_numbers, rotation, .. } = *column;
        Self { values: curve.values_identity(), interpolation: curve.interpolation(), curve_numbers, rotation }
    }
}

/// The farthest distance from the end of the values at which a constant is used again.
const FARTHEST_CONSTANT: usize = 1 << 15;

/// The location of one column's keys.
#[derive(Clone, Copy)]
struct ColumnLocation {
    /// The offset of the first column of its block, which identifies the block.
    block: usize,
    /// The row of its block.
    row: usize,
    /// The offset of the first row of its block.
    first: usize,
    /// The offset of the column.
    offset: usize,
}

/// The blocks of keys and the constant values packed so far.
#[derive(Default)]
pub struct PackedKeys<'a> {
    /// The latest location of each column of an axis.
    columns: HashMap<(Axis, KeyIdentity), ColumnLocation>,
    constants: HashMap<[u32; 4], u32>,
    unfilled: Vec<UnfilledKeyBlock<'a>>,
}

impl<'a> PackedKeys<'a> {
    /// The axis of a timeline with a continuation and easings.
    pub fn axis(timeline: &Arc<Timeline>, beyond: Beyond, easing: u32) -> Axis {
        (Arc::as_ptr(timeline), beyond, easing)
    }

    /// The block of some columns of an axis; `None` unless all of them lie in one block.
    pub fn find(&self, axis: Axis, columns: &[&TrackColumn]) -> Option<KeyBlock> {
        let mut block: Option<ColumnLocation> = None;
        let mut offsets = Vec::with_capacity(columns.len());
        for column in columns {
            let location = self.columns.get(&(axis, KeyIdentity::new(column)))?;
            let ColumnLocation { block, row, first, .. } = *block.get_or_insert(*location);
            if (block, row, first) != (location.block, location.row, location.first) {
                return None;
            }
            offsets.push(location.offset);
        }
        block.map(|ColumnLocation { row, first, .. }| KeyBlock { row, first, offsets })
    }

    /// Remembers the block of some columns of an axis.
    pub fn insert(&mut self, axis: Axis, columns: &[&TrackColumn], block: &KeyBlock) {
        let Some(&identity) = block.offsets.first() else { return };
        for (column, &offset) in columns.iter().zip(&block.offsets) {
            let location = ColumnLocation { block: identity, row: block.row, first: block.first, offset };
            self.columns.insert((axis, KeyIdentity::new(column)), location);
        }
    }

    /// Remembers a block for [`fill`](Self::fill).
    pub fn fill_later(&mut self, block: UnfilledKeyBlock<'a>) {
        self.unfilled.push(block);
    }

    /// Fills all remembered blocks, on up to this many threads.
    pub fn fill(self, arrays: &mut Arrays, threads: usize) {
        key_blocks::fill(&mut arrays.values, self.unfilled, threads);
    }

    /// Remembers the values of a rest pose, which lie from `first` on, so that constants with the same value point
    /// there.
    pub fn add_rest(&mut self, arrays: &Arrays, first: u32, skeleton: &Skeleton) {
        let values = &arrays.values[first as usize..][..3 * skeleton.joints().len()];
        for (offset, value) in (first..).zip(values) {
            self.constants.insert(value.to_array().map(f32::to_bits), offset);
        }
    }

    /// The offset of a constant value. Equal values are packed once, but for a clip with compact channels not if they
    /// lie far apart: an entry has no room for large distances. `rest` is the offset of the joint's value in the rest
    /// pose, which needs no entry at any distance.
    pub fn constant(&mut self, arrays: &mut Arrays, value: [f32; 4], rest: Option<u32>, compact: bool) -> u32 {
        let bits = value.map(f32::to_bits);
        let is_at_rest = |&rest: &u32| arrays.values[rest as usize].to_array().map(f32::to_bits) == bits;
        if let Some(rest) = rest.filter(is_at_rest) {
            return rest;
        }
        let offset = self.constants.entry(bits).or_insert(arrays.values.len() as u32);
        if compact && arrays.values.len() - *offset as usize > FARTHEST_CONSTANT {
            *offset = arrays.values.len() as u32;
        }
        if *offset as usize == arrays.values.len() {
            arrays.push_value(value);
        }
        *offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_the_rest_pose_are_found_at_any_distance() {
        let (mut arrays, mut keys) = (Arrays::default(), PackedKeys::default());
        let rest = arrays.push_value([1.0; 4]);
        arrays.values.resize(2 * FARTHEST_CONSTANT, glam::Vec4::ZERO);
        let end = arrays.values.len();
        assert_eq!(keys.constant(&mut arrays, [1.0; 4], Some(rest), true), rest);
        assert_eq!(arrays.values.len(), end);
        assert_eq!(keys.constant(&mut arrays, [2.0; 4], Some(rest), true) as usize, end);
        assert_eq!(keys.constant(&mut arrays, [2.0; 4], None, true) as usize, end);
        assert_eq!(arrays.values.len(), end + 1);
        arrays.values.resize(end + 2 * FARTHEST_CONSTANT, glam::Vec4::ZERO);
        assert_eq!(keys.constant(&mut arrays, [2.0; 4], None, false) as usize, end);
        assert_eq!(keys.constant(&mut arrays, [2.0; 4], None, true) as usize, end + 2 * FARTHEST_CONSTANT);
    }
}
