//! The ways of the feet over flat ground, as a table that the kernel reads.

use posse::glam::DVec3;

use super::feet::Foot;
use super::gaits::Gait;

/// The rows of a cycle. The last one is the first one again.
pub const ROWS: usize = 96;
/// The signs of x of the feet, and the cycles by which they are late.
pub const SIDES: [[f64; 2]; 2] = [[1.0, 0.0], [-1.0, 0.5]];

/// For each row and foot: the ball of the foot, the way from the ball to the ankle, and the direction upwards of the
/// foot, each with a 0 behind it.
pub fn table(gait: &Gait, ball_of_foot: DVec3) -> Vec<[f32; 4]> {
    let row = |row: usize| SIDES.into_iter().flat_map(move |side| foot_row(gait, side, row, ball_of_foot));
    (0..=ROWS).flat_map(row).collect()
}

fn foot_row(gait: &Gait, [side, late]: [f64; 2], row: usize, ball_of_foot: DVec3) -> [[f32; 4]; 3] {
    let Foot { ball, rotation, .. } = gait.foot(side, row as f64 / ROWS as f64 - late);
    [ball, rotation * -ball_of_foot, rotation * DVec3::Y].map(|vector| vector.as_vec3().extend(0.0).to_array())
}
