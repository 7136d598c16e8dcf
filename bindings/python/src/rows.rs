//! Division of arrays into pieces that threads fill.

use std::sync::Mutex;
use std::thread;

use posse::bake::{ArrayLayout, Moment};
use posse::cpu::CpuEngine;
use posse::{Error, Library};

use crate::layout::Layout;
use crate::work::Watch;

/// Joints x times per thread. For fewer, starting a thread takes longer than posing them.
const JOINTS_WORTH_A_THREAD: usize = 16_384;

/// Rows of a piece: few enough to divide them evenly, many enough to make a piece cheap.
const ROWS_OF_A_PIECE: usize = 256;

/// Rows of arrays, and the clip and time of each.
pub struct ArrayRows<'a> {
    pieces: Vec<RowPiece<'a>>,
    joints: usize,
}

/// Rows of one skeleton that a thread fills at a time.
struct RowPiece<'a> {
    layout: &'a ArrayLayout,
    moments: Vec<Moment>,
    numbers: Numbers<'a>,
}

/// The memory of the rows of a piece.
enum Numbers<'a> {
    /// Neighbouring rows: one slice per array.
    Whole(Vec<&'a mut [f32]>),
    /// Rows at any place: one slice per array and row, row after row.
    Scattered(Vec<&'a mut [f32]>),
}

impl<'a> ArrayRows<'a> {
    /// Divides arrays into pieces. Each array has one row per moment.
    ///
    /// # Errors
    /// [`Error::Usage`] if a skeleton has no layout, or an array has not as many numbers as its rows need.
    pub fn new(
        library: &Library,
        layouts: &[&'a Layout],
        moments: &[Moment],
        arrays: Vec<&'a mut [f32]>,
    ) -> Result<Self, Error> {
        let Some(first) = layouts.first() else {
            return Err(Error::Usage("there are no skeletons to sample".into()));
        };
        let widths: Vec<usize> = first.arrays.arrays().iter().map(|array| array.width()).collect();
        let has_rows = |(array, width): (&&mut [f32], &usize)| array.len() == width * moments.len();
        if arrays.len() != widths.len() || !arrays.iter().zip(&widths).all(has_rows) {
            return Err(Error::Usage(format!("the arrays do not have {} rows each", moments.len())));
        }
        let joints = moments.len() * first.arrays.joints().len();
        let pieces = match layouts {
            [layout] => neighbouring(&layout.arrays, &widths, moments, arrays),
            _ => scattered(library, layouts, moments, rows_of(arrays, &widths, moments.len()))?,
        };
        Ok(Self { pieces, joints })
    }

    /// Fills all rows on up to this many threads, until the watch stops it. The numbers do not depend on the threads.
    ///
    /// # Errors
    /// The errors of [`ArrayLayout::sample`].
    pub fn fill(self, engine: &CpuEngine, threads: usize, watch: &Watch) -> Result<(), Error> {
        let threads = threads.min(self.joints.div_ceil(JOINTS_WORTH_A_THREAD)).min(self.pieces.len());
        let pieces = Mutex::new(self.pieces.into_iter());
        let work = || -> Result<(), Error> {
            // A poisoned lock means that another thread has panicked, which the scope reports.
            while let Some(piece) = pieces.lock().ok().and_then(|mut pieces| pieces.next()) {
                if watch.is_stopped() {
                    break;
                }
                piece.fill(engine)?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut result = work();
            for other in others {
                match other.join() {
                    Ok(done) => result = result.and(done),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            result
        })
    }
}

impl RowPiece<'_> {
    fn fill(self, engine: &CpuEngine) -> Result<(), Error> {
        match self.numbers {
            Numbers::Whole(mut arrays) => self.layout.sample(engine, &self.moments, &mut arrays),
            Numbers::Scattered(rows) => sample_scattered(self.layout, engine, &self.moments, rows),
        }
    }
}

/// Samples rows one after the other, and copies them to their places.
fn sample_scattered(
    layout: &ArrayLayout,
    engine: &CpuEngine,
    moments: &[Moment],
    rows: Vec<&mut [f32]>,
) -> Result<(), Error> {
    let widths: Vec<usize> = layout.arrays().iter().map(|array| array.width()).collect();
    let mut arrays: Vec<Vec<f32>> = widths.iter().map(|width| vec![0.0; width * moments.len()]).collect();
    let mut slices: Vec<&mut [f32]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
    layout.sample(engine, moments, &mut slices)?;
    for (index, row) in rows.into_iter().enumerate() {
        let (moment, array) = (index / widths.len(), index % widths.len());
        row.copy_from_slice(&arrays[array][moment * widths[array]..][..widths[array]]);
    }
    Ok(())
}

/// Pieces of neighbouring rows.
fn neighbouring<'a>(
    layout: &'a ArrayLayout,
    widths: &[usize],
    moments: &[Moment],
    mut arrays: Vec<&'a mut [f32]>,
) -> Vec<RowPiece<'a>> {
    let mut pieces = Vec::new();
    for moments in moments.chunks(ROWS_OF_A_PIECE) {
        let mut take = |(array, width): (&mut &'a mut [f32], &usize)| {
            let (piece, rest) = std::mem::take(array).split_at_mut(width * moments.len());
            *array = rest;
            piece
        };
        let piece = arrays.iter_mut().zip(widths).map(&mut take).collect();
        pieces.push(RowPiece { layout, moments: moments.to_vec(), numbers: Numbers::Whole(piece) });
    }
    pieces
}

/// One slice per row and array, row after row.
fn rows_of<'a>(mut arrays: Vec<&'a mut [f32]>, widths: &[usize], count: usize) -> Vec<&'a mut [f32]> {
    let mut rows = Vec::with_capacity(count * widths.len());
    for _ in 0..count {
        for (array, &width) in arrays.iter_mut().zip(widths) {
            let (row, rest) = std::mem::take(array).split_at_mut(width);
            *array = rest;
            rows.push(row);
        }
    }
    rows
}

/// Pieces of rows of one skeleton each.
fn scattered<'a>(
    library: &Library,
    layouts: &[&'a Layout],
    moments: &[Moment],
    rows: Vec<&'a mut [f32]>,
) -> Result<Vec<RowPiece<'a>>, Error> {
    let arrays = layouts[0].arrays.arrays().len();
    // The layout of each skeleton, and its pieces that have room.
    let mut found: Vec<Option<&ArrayLayout>> = vec![None; library.skeletons().len()];
    for layout in layouts {
        found[layout.skeleton] = Some(&layout.arrays);
    }
    let mut open: Vec<Option<usize>> = vec![None; found.len()];
    let mut pieces: Vec<RowPiece<'a>> = Vec::new();
    let mut rows = rows.into_iter();
    for moment in moments {
        let skeleton = library.clip(moment.clip).skeleton.index();
        let layout =
            found[skeleton].ok_or_else(|| Error::Usage(format!("there is no layout of skeleton {skeleton}")))?;
        let is_open = |piece: &usize| pieces[*piece].moments.len() < ROWS_OF_A_PIECE;
        let piece = open[skeleton].filter(is_open).unwrap_or_else(|| {
            pieces.push(RowPiece { layout, moments: Vec::new(), numbers: Numbers::Scattered(Vec::new()) });
            pieces.len() - 1
        });
        open[skeleton] = Some(piece);
        pieces[piece].moments.push(*moment);
        if let Numbers::Scattered(places) = &mut pieces[piece].numbers {
            places.extend(rows.by_ref().take(arrays));
        }
    }
    Ok(pieces)
}
