//! Rotations as three angles about the axes of a joint, without jumps from frame to frame.
//!
//! `R = R1(a) R2(b) R3(c)` about three different axes has two solutions: `(a, b, c)` and `(a + 180, 180 - b, c + 180)`
//! degrees, each up to whole turns of 360. That nearest to the angles of the frame before is taken. With the second
//! angle at 90 degrees, the other two rotate about one axis (gimbal lock), and only their sum or difference counts: the
//! first one then stays as in the frame before.
//!
//! Only `a` is read from the matrix. `b` and `c` are the angles of the rest, `R1(-a) R`, so that they make up for
//! whatever error `a` has near gimbal lock.

use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

use glam::{DMat3, DQuat, DVec3};

use crate::error::Error;

/// The order of the rotations of a joint: three different axes, the first one outermost. The default, `ZXY`, is the
/// order of Biovision's files.
///
/// # Examples
/// ```
/// use posse::export::bvh::RotationOrder;
///
/// # fn main() -> Result<(), posse::Error> {
/// assert_eq!("zyx".parse::<RotationOrder>()?.to_string(), "ZYX");
/// assert!("ZXZ".parse::<RotationOrder>().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RotationOrder([usize; 3]);

impl Default for RotationOrder {
    fn default() -> Self {
        Self([2, 0, 1])
    }
}

impl RotationOrder {
    /// The axes: 0 is x, 1 is y, 2 is z.
    pub(super) fn axes(self) -> [usize; 3] {
        self.0
    }

    /// The angles of a rotation in degrees, those nearest to the angles of the frame before.
    pub(super) fn angles(self, rotation: DQuat, before: DVec3) -> DVec3 {
        let [i, j, k] = self.0;
        let sign = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
        let matrix = DMat3::from_quat(rotation);
        // Row, then column.
        let number = |row: usize, column: usize| matrix.col(column)[row];
        let (sine, cosine) = (-sign * number(j, k), number(k, k));
        let solution = |first: f64| {
            let rest = DMat3::from_axis_angle(DVec3::AXES[i], -first) * matrix;
            let second = (sign * rest.col(k)[i]).atan2(rest.col(k)[k]);
            let third = (sign * rest.col(i)[j]).atan2(rest.col(j)[j]);
            let angles = DVec3::new(first, second, third).map(f64::to_degrees);
            // The same angles within half a turn of those before.
            angles + 360.0 * ((before - angles) / 360.0).round()
        };
        if sine.hypot(cosine) < GIMBAL {
            return solution(before.x.to_radians());
        }
        let first = sine.atan2(cosine);
        let solutions = [solution(first), solution(first + PI)];
        let distance = |angles: DVec3| (angles - before).abs().element_sum();
        if distance(solutions[1]) < distance(solutions[0]) { solutions[1] } else { solutions[0] }
    }
}

/// The cosine of the second angle below which the first one is not read from a rotation.
const GIMBAL: f64 = 1e-6;

impl FromStr for RotationOrder {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let axis = |letter: char| "xyz".find(letter.to_ascii_lowercase());
        let axes: Option<Vec<usize>> = text.chars().map(axis).collect();
        match axes.as_deref() {
            Some(&[one, two, three]) if one != two && two != three && three != one => Ok(Self([one, two, three])),
            _ => Err(Error::Usage(format!(
                "{text:?} is no order of rotations; expected XYZ, XZY, YXZ, YZX, ZXY or ZYX, the first one outermost"
            ))),
        }
    }
}

impl fmt::Display for RotationOrder {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|&axis| out.write_str(AXIS_NAMES[axis]))
    }
}

/// The names of the axes.
pub(super) const AXIS_NAMES: [&str; 3] = ["X", "Y", "Z"];

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [&str; 6] = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"];

    /// The product of the rotations, from their definition.
    fn rotation(order: RotationOrder, angles: DVec3) -> DQuat {
        let about = |index: usize| DQuat::from_axis_angle(DVec3::AXES[order.axes()[index]], angles[index].to_radians());
        about(0) * about(1) * about(2)
    }

    fn assert_rotation(order: RotationOrder, found: DVec3, expected: DQuat) {
        // The cosine of half the angle between them.
        let cosine = rotation(order, found).dot(expected).abs();
        assert!(cosine > 1.0 - 1e-12, "{order}: {found} is {cosine}");
    }

    #[test]
    fn angles_of_any_order_come_back() {
        for name in ORDERS {
            let order: RotationOrder = name.parse().unwrap();
            for step in 0..200 {
                let step = f64::from(step);
                let angles =
                    DVec3::new(step * 37.0 % 360.0 - 180.0, step * 7.0 % 178.0 - 89.0, step * 53.0 % 360.0 - 180.0);
                let found = order.angles(rotation(order, angles), angles + DVec3::new(5.0, -0.5, 3.0));
                assert!(found.abs_diff_eq(angles, 1e-9), "{name}: {found} instead of {angles}");
            }
        }
    }

    #[test]
    fn angles_go_on_over_whole_turns_and_over_a_quarter() {
        for name in ORDERS {
            let order: RotationOrder = name.parse().unwrap();
            let mut before = DVec3::ZERO;
            for step in 0..1000 {
                // The second angle passes 90 degrees, where the other solution would jump by 180 degrees.
                let angles = f64::from(step) * DVec3::new(1.7, 0.9, -2.3);
                let rotated = rotation(order, angles);
                let found = order.angles(rotated, before);
                assert_rotation(order, found, rotated);
                assert!((found - before).abs().max_element() < 4.1, "{name} {step}: from {before} to {found}");
                before = found;
            }
            assert!(before.abs_diff_eq(999.0 * DVec3::new(1.7, 0.9, -2.3), 1e-6), "{name}: {before}");
        }
    }

    #[test]
    fn gimbal_lock_keeps_the_first_angle() {
        for name in ORDERS {
            let order: RotationOrder = name.parse().unwrap();
            for second in [90.0, -90.0, 90.0 - 1e-6, 90.0 + 1e-7] {
                let rotated = rotation(order, DVec3::new(20.0, second, 50.0));
                let found = order.angles(rotated, DVec3::new(10.0, second, 60.0));
                assert_rotation(order, found, rotated);
            }
            let rotated = rotation(order, DVec3::new(20.0, 90.0, 50.0));
            let found = order.angles(rotated, DVec3::new(10.0, 80.0, 60.0));
            assert!((found.x - 10.0).abs() < 1e-9 && (found.y - 90.0).abs() < 1e-4, "{name}: {found}");
        }
    }

    #[test]
    fn an_order_is_three_different_axes() {
        assert_eq!(RotationOrder::default().to_string(), "ZXY");
        for name in ["", "XY", "XYX", "ZXYZ", "xyw", "Z X Y"] {
            assert!(name.parse::<RotationOrder>().unwrap_err().to_string().contains("ZXY or ZYX"), "{name}");
        }
    }
}
