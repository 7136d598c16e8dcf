//! Limits, thresholds and coefficients of the arithmetic that the CPU engine and the kernels do alike.

use std::f32::consts::{FRAC_PI_2, LN_2};

use crate::model::rotation::{LEAST_ARC, MOST_ARCS};
use crate::model::{Easing, Layer};
use crate::pack::record::constants;
use crate::pack::skin_format::LARGEST_HALF;

constants! {
    /// How often an eased rotation may go over its arc again, past either end; farther out it stays there.
    pub const QUAT_MOST_ARCS: f32 = MOST_ARCS as f32;
    /// Quaternions as they are, of which 1 - cos of the angle is at most this, are interpolated linearly.
    pub const QUAT_LEAST_ARC: f32 = LEAST_ARC as f32;
    /// A quaternion has a length to divide by if its largest number is more than this.
    pub const QUAT_LEAST_NUMBER: f32 = 1e-30;
    /// `n n` for the terms n from 1 of the series of `sin(t a) / sin(a)`.
    pub const QUAT_SINE_SQUARES: [f32; 8] = [1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0];
    /// `n (2 n + 1)` for the same terms.
    pub const QUAT_SINE_DIVISORS: [f32; 8] = [3.0, 10.0, 21.0, 36.0, 55.0, 78.0, 105.0, 136.0];

    /// The largest fraction that is eased: the last number before 1.
    pub const EASE_LAST: f32 = 1.0_f32.next_down();
    /// How far `back` goes back.
    pub const EASE_OVERSHOOT: f32 = Easing::BACK_OVERSHOOT as f32;
    /// How far it goes back at both ends.
    pub const EASE_OVERSHOOT_IN_OUT: f32 = Easing::BACK_OVERSHOOT_IN_OUT as f32;
    /// The sine of quarter turns by their square, the highest coefficient first. It interpolates at Chebyshev's points.
    pub const EASE_SINE: [f32; 6] =
        [-3.431_789e-6, 0.000_160_254_6, -0.004_681_657_7, 0.079_692_6, -0.645_964_1, FRAC_PI_2];
    /// Two to a power from -0.5 to 0.5, the highest coefficient first. It interpolates at Chebyshev's points.
    pub const EASE_EXP2: [f32; 7] =
        [0.000_154_531_63, 0.001_339_086_3, 0.009_618_083, 0.055_503_57, 0.240_226_5, LN_2, 1.0];
    /// The most steps to the parameter of a Bezier curve.
    pub const EASE_BEZIER_STEPS: u32 = 40;
    /// A step to that parameter that is at most so long is the last.
    pub const EASE_BEZIER_LEAST_STEP: f32 = 3e-8;

    /// Where the weights of blended layers sum to less than this, the rest pose fills what is missing.
    pub const BLEND_LEAST: f32 = Layer::LEAST_WEIGHT as f32;
    /// A scale smaller than this is no reference to compare to.
    pub const BLEND_SMALLEST_SCALE: f32 = Layer::SMALLEST_SCALE as f32;

    /// Below it, the square of a scale counts as it: of nothing there is no direction.
    pub const SKIN_LEAST_SQUARE: f32 = 1e-30;
    /// The bits, as an `f32`, of the largest `f16`.
    pub const SKIN_LARGEST_HALF: u32 = LARGEST_HALF.to_bits();
}
