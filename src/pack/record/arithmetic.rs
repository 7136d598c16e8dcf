//! Limits, thresholds and coefficients of the arithmetic that the CPU engine and the kernels share.

use std::f32::consts::{FRAC_PI_2, LN_2};

use crate::half::LARGEST_HALF;
use crate::model::rotation::{LEAST_ARC, MOST_ARCS};
use crate::model::{Easing, Layer};
use crate::pack::record::constants;

constants! {
    /// The largest overshoot of an eased rotation past either end of its arc, in lengths of the arc. Fractions beyond are
    /// clamped.
    pub const QUAT_MOST_ARCS: f32 = MOST_ARCS as f32;
    /// The largest `1 - cos` of the angle between two quaternions that slerp of unnormalised quaternions interpolates linearly.
    pub const QUAT_LEAST_ARC: f32 = LEAST_ARC as f32;
    /// The least absolute value of a quaternion's largest number for which it can be normalised.
    pub const QUAT_LEAST_NUMBER: f32 = 1e-30;
    /// The factors `n n` of the terms n = 1, 2, ... of the series of `sin(t a) / sin(a)` (D. Eberly, "A Fast and Accurate
    /// Algorithm for Computing SLERP", 2011).
    pub const QUAT_SINE_SQUARES: [f32; 8] = [1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0];
    /// The divisors `n (2 n + 1)` of the same terms.
    pub const QUAT_SINE_DIVISORS: [f32; 8] = [3.0, 10.0, 21.0, 36.0, 55.0, 78.0, 105.0, 136.0];
    /// The cosine of the angle between two quaternions above which four terms of the series are off by at most 2e-9. The angle is 19
    /// degrees, and that of the rotations 38.
    pub const QUAT_SHORT_ARC: f32 = 0.945;

    /// The largest fraction that is eased: the largest `f32` below 1.
    pub const EASE_LAST: f32 = 1.0_f32.next_down();
    /// The overshoot of the `back` easings.
    pub const EASE_OVERSHOOT: f32 = Easing::BACK_OVERSHOOT as f32;
    /// The overshoot of `backInOut`, per half.
    pub const EASE_OVERSHOOT_IN_OUT: f32 = Easing::BACK_OVERSHOOT_IN_OUT as f32;
    /// The polynomial of the sine of `x` quarter turns, divided by `x`, in `x x`. The highest coefficient comes first. It
    /// interpolates at Chebyshev points.
    pub const EASE_SINE: [f32; 6] =
        [-3.431_789e-6, 0.000_160_254_6, -0.004_681_657_7, 0.079_692_6, -0.645_964_1, FRAC_PI_2];
    /// The polynomial of 2 to a power from -0.5 to 0.5. The highest coefficient comes first. It interpolates at Chebyshev points.
    pub const EASE_EXP2: [f32; 7] =
        [0.000_154_531_63, 0.001_339_086_3, 0.009_618_083, 0.055_503_57, 0.240_226_5, LN_2, 1.0];
    /// The most iterations to the parameter of a Bezier curve.
    pub const EASE_BEZIER_STEPS: u32 = 40;
    /// The iteration ends after a change of the parameter by at most this.
    pub const EASE_BEZIER_LEAST_STEP: f32 = 3e-8;

    /// The least sum of the weights of blended layers. If the sum is less, the rest pose gets the difference.
    pub const BLEND_LEAST: f32 = Layer::LEAST_WEIGHT as f32;
    /// The smallest scale that an additive layer divides by. The ratio to a smaller reference scale counts as 1.
    pub const BLEND_SMALLEST_SCALE: f32 = Layer::SMALLEST_SCALE as f32;

    /// The least square of a scale. Smaller squares are raised to it, to keep a division finite.
    pub const SKIN_LEAST_SQUARE: f32 = 1e-30;
    /// The bits, as an `f32`, of the largest `f16`.
    pub const SKIN_LARGEST_HALF: u32 = LARGEST_HALF.to_bits();
}
