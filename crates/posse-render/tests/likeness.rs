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
    let differences = differences(one, other);
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let share = share_beyond(&differences, DIFFERENT);
    (mean > MEAN || share > MAX_DIFFERENT)
        .then(|| format!("mean difference {mean:.2}, {:.2} % of the squares different", 100.0 * share))
}

/// The largest difference of a channel in each square of two pictures of one size, of 255.
pub fn differences(one: &Picture, other: &Picture) -> Vec<f64> {
    let [columns, rows] = one.size.map(|size| size / SQUARE);
    let squares = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let difference = |(row, column)| {
        let [a, b] = [one, other].map(|picture| mean(picture, column * SQUARE, row * SQUARE));
        (0..3).map(|channel| (a[channel] - b[channel]).abs()).fold(0.0, f64::max)
    };
    squares.map(difference).collect()
}

/// The share of differences beyond a limit.
pub fn share_beyond(differences: &[f64], limit: f64) -> f64 {
    differences.iter().filter(|&&difference| difference > limit).count() as f64 / differences.len() as f64
}

fn mean(picture: &Picture, left: u32, top: u32) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (y, x) in (top..top + SQUARE).flat_map(|y| (left..left + SQUARE).map(move |x| (y, x))) {
        let pixel = picture.pixel(x, y);
        (0..3).for_each(|channel| sums[channel] += f64::from(pixel[channel]));
    }
    sums.map(|sum| sum / f64::from(SQUARE * SQUARE))
}
