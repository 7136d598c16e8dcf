//! Pictures made of several pictures: contact sheets and comparisons.

use posse::Error;
use posse_render::{Picture, View};

use crate::output::note;
use crate::progress::Progress;
use crate::render::ClockRange;
use crate::render::frame_renderer::{FrameRenderer, Grid};

/// The factor of the colour differences in a comparison.
const AMPLIFICATION: u8 = 32;

/// Draws a contact sheet: pictures at evenly spaced times, row by row.
pub fn draw_sheet(renderer: &FrameRenderer, view: &View, range: ClockRange, grid: Grid) -> Result<Picture, Error> {
    let [width, height] = renderer.size();
    let mut sheet = grid.canvas([width, height]);
    let count = grid.columns as usize * grid.rows as usize;
    let progress = Progress::new(count, "pictures");
    let cells = (0..grid.rows).flat_map(|row| (0..grid.columns).map(move |column| (row, column)));
    for (index, (row, column)) in cells.enumerate() {
        sheet.paste(&renderer.picture(range.time(index, count)?, view)?, column * width, row * height);
        progress.add(1);
    }
    Ok(sheet)
}

/// Draws three pictures at the start of a range: the poses of the GPU engine, the poses of the reference engine, and their
/// difference, amplified. Prints the largest difference.
pub fn draw_comparison(renderer: &FrameRenderer, view: &View, range: ClockRange) -> Result<Picture, Error> {
    let now = range.time(0, 1)?;
    let (gpu, reference) = (renderer.picture(now, view)?, renderer.reference_picture(now, view)?);
    let mut difference = Picture::filled(gpu.size, [0, 0, 0, 255]);
    let (mut largest, mut differing) = (0, 0);
    let pairs = gpu.pixels.as_chunks::<4>().0.iter().zip(reference.pixels.as_chunks::<4>().0);
    for (pixel, (one, other)) in difference.pixels.as_chunks_mut::<4>().0.iter_mut().zip(pairs) {
        let differences = [0, 1, 2].map(|channel| one[channel].abs_diff(other[channel]));
        let most = differences.into_iter().max().unwrap_or(0);
        (largest, differing) = (most.max(largest), differing + usize::from(most > 0));
        (0..3).for_each(|channel| pixel[channel] = differences[channel].saturating_mul(AMPLIFICATION));
    }
    let total = difference.pixels.len() / 4;
    note(&format!(
        "compare: gpu on the left, reference in the middle, their difference x {AMPLIFICATION} on the right; at most {largest} \
         of 255, in {differing} of {total} pixels"
    ));
    let mut comparison = Grid::COMPARISON.canvas(gpu.size);
    for (column, picture) in (0..).zip([&gpu, &reference, &difference]) {
        comparison.paste(picture, column * gpu.size[0], 0);
    }
    Ok(comparison)
}
