//! Keys that are packed already, for all clips that have them: a clip shared with another skeleton stores none again.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Interpolation, Timeline};
use crate::pack::arrays::Arrays;
use crate::pack::blocks::{self, Block, Unfilled};
use crate::pack::column::Column;
use crate::pack::unroll::Beyond;

/// What keys lie on: a timeline, how it goes on beyond them, and the place of the easings between them.
pub type Axis = (*const Timeline, Beyond, u32);

/// The keys of a column: curves that are copies of one another share their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Keys {
    values: usize,
    interpolation: Interpolation,
    part: (usize, usize),
    rotation: bool,
}

impl Keys {
    fn of(column: &Column) -> Self {
        let Column { curve, part, rotation, .. } = *column;
        Self { values: curve.values_identity(), interpolation: curve.interpolation(), part, rotation }
    }
}

/// Blocks of keys, and constant values, that are packed already.
#[derive(Default)]
pub struct PackedKeys<'a> {
    /// For each column of an axis the block that it was packed in last, by its first value, with its row and its own place.
    columns: HashMap<(Axis, Keys), (usize, usize, usize)>,
    constants: HashMap<[u32; 4], u32>,
    unfilled: Vec<Unfilled<'a>>,
}

impl<'a> PackedKeys<'a> {
    /// The axis of a timeline.
    pub fn axis(timeline: &Arc<Timeline>, beyond: Beyond, easing: u32) -> Axis {
        (Arc::as_ptr(timeline), beyond, easing)
    }

    /// Where the keys of some columns of an axis lie, if they lie in one block.
    pub fn find(&self, axis: Axis, columns: &[&Column]) -> Option<Block> {
        let mut block = None;
        let mut places = Vec::with_capacity(columns.len());
        for column in columns {
            let &(first, row, place) = self.columns.get(&(axis, Keys::of(column)))?;
            if *block.get_or_insert((first, row)) != (first, row) {
                return None;
            }
            places.push(place);
        }
        block.map(|(_, row)| Block { row, places })
    }

    /// Remembers where the keys of some columns of an axis lie.
    pub fn insert(&mut self, axis: Axis, columns: &[&Column], block: &Block) {
        let Some(&first) = block.places.first() else { return };
        for (column, &place) in columns.iter().zip(&block.places) {
            self.columns.insert((axis, Keys::of(column)), (first, block.row, place));
        }
    }

    /// Remembers a block that is to be filled.
    pub fn fill_later(&mut self, block: Unfilled<'a>) {
        self.unfilled.push(block);
    }

    /// Fills the blocks that are to be filled, on up to so many threads.
    pub fn fill(self, arrays: &mut Arrays, threads: usize) {
        blocks::fill(&mut arrays.values, self.unfilled, threads);
    }

    /// The place of a value that does not change, packed once however often it is asked for.
    pub fn constant(&mut self, arrays: &mut Arrays, value: [f32; 4]) -> u32 {
        *self.constants.entry(value.map(f32::to_bits)).or_insert_with(|| arrays.push_value(value))
    }
}
