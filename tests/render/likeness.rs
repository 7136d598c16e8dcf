//! How alike two pictures are to the eye.

use posse::render::Picture;

/// Pixels of a side of the squares that are compared: edges that fall differently do not count.
const SQUARE: u32 = 4;
/// What a channel of a square may be off by in the mean over all, of 255.
const MEAN: f64 = 1.0;
/// What makes a square another, and the share of squares that may be.
const OTHER: f64 = 10.0;
const MOST_OTHERS: f64 = 0.004;

/// What tells two pictures apart, if anything: the mean difference of squares, or the share of squares that are others.
pub fn fault(one: &Picture, other: &Picture) -> Option<String> {
    if one.size != other.size {
        return Some(format!("{:?} and {:?} pixels", one.size, other.size));
    }
    let [columns, rows] = one.size.map(|size| size / SQUARE);
    let (mut sum, mut others) = (0.0, 0.0);
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let [a, b] = [one, other].map(|picture| mean(picture, column * SQUARE, row * SQUARE));
        let off = (0..3).map(|channel| (a[channel] - b[channel]).abs()).fold(0.0, f64::max);
        sum += off;
        others += f64::from(off > OTHER);
    }
    let squares = f64::from(rows * columns);
    let (mean, share) = (sum / squares, others / squares);
    (mean > MEAN || share > MOST_OTHERS).then(|| format!("off by {mean:.2} in the mean, {:.2} % others", 100.0 * share))
}

fn mean(picture: &Picture, left: u32, top: u32) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (y, x) in (top..top + SQUARE).flat_map(|y| (left..left + SQUARE).map(move |x| (y, x))) {
        let pixel = picture.pixel(x, y);
        (0..3).for_each(|channel| sums[channel] += f64::from(pixel[channel]));
    }
    sums.map(|sum| sum / f64::from(SQUARE * SQUARE))
}
