//! Turns about axes into quaternions, a block of frames at a time.

use super::half_angle::{BLOCK, FrameColumn, half_sin_cos};
use super::hierarchy::AxisRotation;

/// The rotation keys of a track, with the key that the next one follows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RotationState {
    /// The last key, as it was computed.
    last: Option<[f64; 4]>,
    /// `true` if the last key was written negated.
    negated: bool,
}

impl RotationState {
    /// Appends the rotations of the first `count` frames of a block: the product of the turns, in their order. `column`
    /// returns the angles of a column, in degrees.
    ///
    /// A quaternion and its negative are one rotation. Each key is written with the sign that is nearest to the key
    /// before, so that interpolation takes the shorter way. The key before may belong to an earlier block.
    pub fn append<'a>(
        &mut self,
        turns: &[AxisRotation],
        column: impl Fn(usize) -> &'a FrameColumn,
        count: usize,
        keys: &mut Vec<f64>,
    ) {
        let Some(end) = count.checked_sub(1) else { return };
        let mut product = [[0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK], [1.0; BLOCK]];
        multiply_turns(&mut product, turns, column);
        let [x, y, z, w] = &product;
        let key = |frame: usize| [x[frame], y[frame], z[frame], w[frame]];
        let mut dots = [0.0; BLOCK];
        for (frame, product) in dots.iter_mut().enumerate().skip(1) {
            *product = dot(key(frame - 1), key(frame));
        }
        dots[0] = self.last.map_or(1.0, |last| dot(last, key(0)));
        let mut signs = [1.0; BLOCK];
        for (sign, dot) in signs.iter_mut().zip(dots) {
            self.negated = if self.negated { -dot } else { dot } < 0.0;
            *sign = if self.negated { -1.0 } else { 1.0 };
        }
        let start = keys.len();
        keys.resize(start + 4 * count, 0.0);
        let (written, _) = keys[start..].as_chunks_mut::<4>();
        for (frame, written) in written.iter_mut().enumerate() {
            *written =
                [signs[frame] * x[frame], signs[frame] * y[frame], signs[frame] * z[frame], signs[frame] * w[frame]];
        }
        self.last = Some(key(end));
        self.negated = signs[end] < 0.0;
    }
}

/// Multiplies identities by turns, one after the other. A rotation is the components x, y, z and w.
fn multiply_turns<'a>(
    rotations: &mut [FrameColumn; 4],
    turns: &[AxisRotation],
    column: impl Fn(usize) -> &'a FrameColumn,
) {
    let (mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK]);
    for (index, turn) in turns.iter().enumerate() {
        let axes = [turn.axis, (turn.axis + 1) % 3, (turn.axis + 2) % 3, 3];
        let Ok([own, next, last, w]) = rotations.get_disjoint_mut(axes) else { continue };
        if index == 0 {
            half_sin_cos(column(turn.column), own, w);
        } else {
            half_sin_cos(column(turn.column), &mut sin, &mut cos);
            multiply([own, next, last, w], &sin, &cos);
        }
    }
}

/// Multiplies rotations by turns about an axis, which have only that component and w. `rotations` are the components of
/// that axis, of the two axes that follow in the cycle x, y, z, and w.
fn multiply(rotations: [&mut FrameColumn; 4], sin: &FrameColumn, cos: &FrameColumn) {
    let [own, next, last, w] = rotations;
    for frame in 0..BLOCK {
        let before = [own[frame], next[frame], last[frame], w[frame]];
        own[frame] = before[0] * cos[frame] + before[3] * sin[frame];
        next[frame] = before[1] * cos[frame] + before[2] * sin[frame];
        last[frame] = before[2] * cos[frame] - before[1] * sin[frame];
        w[frame] = before[3] * cos[frame] - before[0] * sin[frame];
    }
}

fn dot(one: [f64; 4], other: [f64; 4]) -> f64 {
    one[0] * other[0] + one[1] * other[1] + one[2] * other[2] + one[3] * other[3]
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    /// The keys of a track with these angles per column and frame.
    fn keys(axes: &[usize], angles: &[FrameColumn], parts: &[usize]) -> Vec<f64> {
        let turns: Vec<AxisRotation> =
            axes.iter().enumerate().map(|(column, &axis)| AxisRotation { axis, column }).collect();
        let (mut state, mut keys, mut first) = (RotationState::default(), Vec::new(), 0);
        for &count in parts {
            let mut part = vec![[0.0; BLOCK]; angles.len()];
            for (to, from) in part.iter_mut().zip(angles) {
                to[..count].copy_from_slice(&from[first..first + count]);
            }
            state.append(&turns, |column| &part[column], count, &mut keys);
            first += count;
        }
        keys
    }

    #[test]
    fn any_axes_multiply_as_quaternions_of_glam_do() {
        let units = [DVec3::X, DVec3::Y, DVec3::Z];
        let angles: [FrameColumn; 3] = [[33.0; BLOCK], [-140.5; BLOCK], [71.25; BLOCK]];
        for case in 0..27 {
            let axes = [case / 9, case / 3 % 3, case % 3];
            let turn = |index: usize| DQuat::from_axis_angle(units[axes[index]], angles[index][0].to_radians());
            let expected = turn(0) * turn(1) * turn(2);
            let own = DQuat::from_slice(&keys(&axes, &angles, &[1]));
            assert!((own.dot(expected).abs() - 1.0).abs() < 1e-15, "{axes:?}: {own} and {expected}");
        }
    }

    #[test]
    fn neighbours_are_in_one_hemisphere_through_all_parts() {
        let angles: [FrameColumn; 2] = [
            std::array::from_fn(|frame| frame as f64 * 67.0),
            std::array::from_fn(|frame| frame as f64 * -41.0 + 300.0),
        ];
        let whole = keys(&[2, 0], &angles, &[BLOCK]);
        let pairs = whole.chunks_exact(4).zip(whole[4..].chunks_exact(4));
        assert!(pairs.clone().all(|(key, next)| key.iter().zip(next).map(|(a, b)| a * b).sum::<f64>() >= 0.0));
        // Several turns of 67 degrees pass 360 degrees, so that some computed keys were negated.
        assert!(pairs.clone().count() == BLOCK - 1 && whole != keys(&[2, 0], &angles, &[1; BLOCK])[..4].repeat(BLOCK));
        for parts in [&[1; BLOCK][..], &[5, 27], &[31, 1], &[7, 0, 25]] {
            let bits = |keys: Vec<f64>| keys.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(keys(&[2, 0], &angles, parts)), bits(whole.clone()), "{parts:?}");
        }
    }
}
