//! Blocks of keys. Their places are taken one after the other; they are filled at the end, on all cores.

use std::sync::Mutex;
use std::thread;

use glam::{DQuat, DVec4, Vec4};

use crate::model::Interpolation;
use crate::model::rotation::{self, unit};
use crate::pack::arrays::Arrays;
use crate::pack::column::Column;

/// Where keys lie: rows of so many values, or words where they are integers, each for a key of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Values, or words, from a key to the next.
    pub row: usize,
    /// For each column the place of its first key, or of its record.
    pub places: Vec<usize>,
}

/// Values, a millisecond's or two, below which waiting for another thread takes longer than making them of keys.
const VALUES_WORTH_A_THREAD: usize = 1 << 17;

/// Keys of a column that are made before those of the next: few enough rows to stay in a core's cache.
const KEYS_AT_A_TIME: usize = 32;

/// A block that has a place and no values yet.
pub struct Unfilled<'a> {
    place: usize,
    row: usize,
    keys: usize,
    columns: Vec<Column<'a>>,
}

/// Takes a place for the keys of columns that share their key times, a row for each.
pub fn take_place<'a>(arrays: &mut Arrays, keys: usize, columns: &[&Column<'a>]) -> (Block, Unfilled<'a>) {
    let place = arrays.values.len();
    let mut row = 0;
    let mut places = Vec::with_capacity(columns.len());
    for column in columns {
        places.push(place + row);
        row += values_a_key(column);
    }
    arrays.values.resize(place + row * keys, Vec4::ZERO);
    let columns = columns.iter().map(|&&column| column).collect();
    (Block { row, places }, Unfilled { place, row, keys, columns })
}

/// Fills blocks, which are in the order of their places, on up to so many threads.
pub fn fill(values: &mut [Vec4], blocks: Vec<Unfilled>, threads: usize) {
    let count: usize = blocks.iter().map(|block| block.row * block.keys).sum();
    let threads = threads.min(count.div_ceil(VALUES_WORTH_A_THREAD));
    let (mut rest, mut start) = (values, 0);
    let blocks = blocks.into_iter().filter_map(|block| {
        let end = block.place + block.row * block.keys;
        let part = rest.split_off_mut(..end - start)?.split_off_mut(block.place - start..)?;
        start = end;
        Some((block, part))
    });
    let blocks = Mutex::new(blocks);
    let work = || {
        // A poisoned lock means that another thread has panicked, which the scope reports.
        while let Some((block, values)) = blocks.lock().ok().and_then(|mut blocks| blocks.next()) {
            block.fill(values);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}

impl Unfilled<'_> {
    fn fill(&self, values: &mut [Vec4]) {
        let mut previous = vec![None; self.columns.len()];
        for (part, rows) in values.chunks_mut(KEYS_AT_A_TIME * self.row).enumerate() {
            let mut place = 0;
            for (column, previous) in self.columns.iter().zip(&mut previous) {
                let count = values_a_key(column);
                for (key, row) in (part * KEYS_AT_A_TIME..).zip(rows.chunks_exact_mut(self.row)) {
                    for (number, value) in row[place..place + count].iter_mut().enumerate() {
                        *value = Vec4::from_array(key_value(column, key, number, previous));
                    }
                }
                place += count;
            }
        }
    }
}

/// Values that the packing has for each piece of up to four numbers of a key.
pub fn elements(interpolation: Interpolation) -> usize {
    if interpolation == Interpolation::Slerp { 2 } else { interpolation.elements_per_key() }
}

/// Values that a key of a column takes.
fn values_a_key(column: &Column) -> usize {
    match column.curve.interpolation() {
        Interpolation::Custom(_) => column.part.1.div_ceil(4),
        interpolation => elements(interpolation),
    }
}

/// A key's number as the engines want it. Rotations between which to slerp are each in the hemisphere of the
/// one before it: whether a half turn goes left or right can hang on the last bit of an f64, which an f32 has not.
///
/// `previous` is the key before as it stands, and whether it was negated.
fn key_value(column: &Column, key: usize, number: usize, previous: &mut Option<(DQuat, bool)>) -> [f32; 4] {
    let curve = column.curve;
    let quaternion = |key: usize| curve.numbers(key, curve.value_element(), (0, 4));
    let numbers = match curve.interpolation() {
        Interpolation::Linear if column.rotation => {
            let rotation = rotation::key(DQuat::from_array(quaternion(key))).unwrap_or(DQuat::IDENTITY);
            let negated = previous.is_some_and(|(before, negated)| negated != (before.dot(rotation) < 0.0));
            *previous = Some((rotation, negated));
            (if negated { -rotation } else { rotation }).to_array()
        }
        Interpolation::Step if column.rotation => {
            unit(DQuat::from_array(quaternion(key))).unwrap_or(DQuat::IDENTITY).to_array()
        }
        // In-tangent, value and out-tangent lie as the curve has them.
        Interpolation::CubicSpline => curve.numbers(key, number, column.part),
        Interpolation::Slerp if number == 1 => {
            let value = DVec4::from_array(quaternion(key));
            let next = DVec4::from_array(quaternion((key + 1).min(curve.timeline().len() - 1)));
            (if value.dot(next) < 0.0 { -next } else { next }).to_array()
        }
        Interpolation::Custom(_) => {
            let first = 4 * number;
            curve.numbers(key, 0, (first, (column.part.1 - first).min(4)))
        }
        _ => curve.numbers(key, 0, column.part),
    };
    narrow(numbers)
}

/// Numbers as the engines have them.
pub fn narrow(numbers: [f64; 4]) -> [f32; 4] {
    numbers.map(|number| number as f32)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::VALUES_WORTH_A_THREAD;
    use crate::model::{Clip, Curve, Interpolation, Joint, Library, Skeleton, Target, Timeline, Track, Transform};
    use crate::pack::PackedLibrary;

    /// Of several clips whose rotations leave the hemisphere of the key before, more than two threads' worth together.
    #[test]
    fn all_threads_together_pack_what_one_packs() {
        let (joints, keys) = (20, 4000);
        let joint =
            |_| Joint { name: None, parent: None, rest: Transform::IDENTITY, matrix: None, weights: Vec::new() };
        let skeleton = Skeleton::new(None, (0..joints).map(joint).collect(), Vec::new()).unwrap();
        let mut library = Library::new();
        let skeleton = library.add_skeleton(skeleton);
        for clip in 0..5 {
            let timeline = Arc::new(Timeline::new((0..keys).map(f64::from).collect()).unwrap());
            let track = |joint: usize| {
                let angle = |key: i32| f64::from(key * (joint as i32 + clip) % 7);
                let rotation = |key| [0.0, 0.0, angle(key).sin(), angle(key).cos()];
                let values = (0..keys).flat_map(rotation).collect();
                let curve = Curve::new(timeline.clone(), Interpolation::Linear, 4, values).unwrap();
                Track::new(Target::Rotation(joint), curve)
            };
            library.add_clip(Clip::new(None, skeleton, (0..joints).map(track).collect())).unwrap();
        }
        let one = PackedLibrary::with_threads(&library, 1).unwrap().arrays;
        assert!(one.values.iter().any(|value| value.w < -0.9) && one.values.len() > 2 * VALUES_WORTH_A_THREAD);
        for threads in [2, 3, 16] {
            let several = PackedLibrary::with_threads(&library, threads).unwrap().arrays;
            assert!(several.words == one.words && several.values == one.values, "{threads} threads");
        }
    }
}
