//! Compares pictures with a tolerance for differences that the eye does not notice.

use posse_render::Picture;

/// The side in pixels of the squares that are compared. Their means hide small differences at edges.
const SQUARE: u32 = 4;
/// The largest allowed mean over all squares of the difference of a channel, of 255.
const MEAN: f64 = 1.0;
/// The difference from which a square counts as different, and the largest allowed share of different squares.
const DIFFERENT: f64 = 10.0;
const MAX_DIFFERENT: f64 = 0.004;

/// A message if two pictures differ: in size, in the mean difference of squares, or in the share of different squares.
pub fn error(one: &Picture, other: &Picture) -> Option<String> {
    if one.size != other.size {
        return Some(format!("{:?} and {:?} pixels", one.size, other.size));
    }
    let [columns, rows] = one.size.map(|size| size / SQUARE);
    let (mut sum, mut different) = (0.0, 0.0);
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let [a, b] = [one, other].map(|picture| mean(picture, column * SQUARE, row * SQUARE));
        let difference = (0..3).map(|channel| (a[channel] - b[channel]).abs()).fold(0.0, f64::max);
        sum += difference;
        different += f64::from(difference > DIFFERENT);
    }
    let squares = f64::from(rows * columns);
    let (mean, share) = (sum / squares, different / squares);
    (mean > MEAN || share > MAX_DIFFERENT)
        .then(|| format!("mean difference {mean:.2}, {:.2} % of the squares different", 100.0 * share))
}

fn mean(picture: &Picture, left: u32, top: u32) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (y, x) in (top..top + SQUARE).flat_map(|y| (left..left + SQUARE).map(move |x| (y, x))) {
        let pixel = picture.pixel(x, y);
        (0..3).for_each(|channel| sums[channel] += f64::from(pixel[channel]));
    }
    sums.map(|sum| sum / f64::from(SQUARE * SQUARE))
}
