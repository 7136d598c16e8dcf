//! The keys packed so far. Clips that share curves share them, so that a clip that is shared with another skeleton stores no keys
//! again.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Interpolation, NumberRange, Timeline};
use crate::pack::arrays::Arrays;
use crate::pack::column::Column;
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
    fn new(column: &Column) -> Self {
        let Column { curve, curve_numbers, rotation, .. } = *column;
        Self { values: curve.values_identity(), interpolation: curve.interpolation(), curve_numbers, rotation }
    }
}

/// The location of one column's keys.
#[derive(Clone, Copy)]
struct ColumnLocation {
    /// The offset of the first column of its block, which identifies the block.
    block: usize,
    /// The row of its block.
    row: usize,
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
    pub fn find(&self, axis: Axis, columns: &[&Column]) -> Option<KeyBlock> {
        let mut block = None;
        let mut offsets = Vec::with_capacity(columns.len());
        for column in columns {
            let location = self.columns.get(&(axis, KeyIdentity::new(column)))?;
            if *block.get_or_insert((location.block, location.row)) != (location.block, location.row) {
                return None;
            }
            offsets.push(location.offset);
        }
        block.map(|(_, row)| KeyBlock { row, offsets })
    }

    /// Remembers the block of some columns of an axis.
    pub fn insert(&mut self, axis: Axis, columns: &[&Column], block: &KeyBlock) {
        let Some(&first) = block.offsets.first() else { return };
        for (column, &offset) in columns.iter().zip(&block.offsets) {
            let location = ColumnLocation { block: first, row: block.row, offset };
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

    /// The offset of a constant value. Equal values are packed once.
    pub fn constant(&mut self, arrays: &mut Arrays, value: [f32; 4]) -> u32 {
        *self.constants.entry(value.map(f32::to_bits)).or_insert_with(|| arrays.push_value(value))
    }
}
