//! Sine and cosine of half angles, many at a time.

use std::f64::consts::PI;

/// The number of frames that are turned into keys at a time.
pub(super) const BLOCK: usize = 32;

/// A number per frame of a block.
pub(super) type FrameColumn = [f64; BLOCK];

/// The largest angle for which the number of half turns is exact.
const LARGEST: f64 = (1_u64 << 40) as f64;
/// Added to a number, it leaves the nearest whole number in the lowest bits.
const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;

/// The coefficients of sine and cosine from -pi/4 to pi/4, from FreeBSD's `k_sin.c` and `k_cos.c`.
#[expect(clippy::excessive_precision, reason = "the digits of the source")]
const SIN: [f64; 6] = [
    -1.666_666_666_666_663_243_48e-1,
    8.333_333_333_322_489_461_24e-3,
    -1.984_126_982_985_794_931_34e-4,
    2.755_731_370_707_006_767_89e-6,
    -2.505_076_025_340_686_341_95e-8,
    1.589_690_995_211_550_102_21e-10,
];
#[expect(clippy::excessive_precision, reason = "the digits of the source")]
const COS: [f64; 6] = [
    4.166_666_666_666_660_190_37e-2,
    -1.388_888_888_887_410_957_49e-3,
    2.480_158_728_947_672_941_78e-5,
    -2.755_731_435_139_066_330_35e-7,
    2.087_572_321_298_174_827_9e-9,
    -1.135_964_755_778_819_482_65e-11,
];

/// The sine and the cosine of half of each angle. Angles are finite, in degrees.
///
/// The angle is reduced in degrees, which is exact. The functions of the standard library take radians, whose rounding
/// is an error of its own, and compute one angle at a time. A loop without branches computes several at a time.
pub(super) fn half_sin_cos(degrees: &FrameColumn, sines: &mut FrameColumn, cosines: &mut FrameColumn) {
    // Without an early exit, the compiler checks several angles at a time.
    if degrees.iter().fold(false, |large, angle| large | (angle.abs() > LARGEST)) {
        let reduced = degrees.map(|angle| if angle.abs() > LARGEST { angle % 720.0 } else { angle });
        return half_sin_cos(&reduced, sines, cosines);
    }
    for frame in 0..BLOCK {
        let degrees = degrees[frame];
        let shifted = degrees * (1.0 / 180.0) + ROUND;
        let quarters = shifted.to_bits();
        let angle = (degrees - 180.0 * (shifted - ROUND)) * (PI / 360.0);
        let z = angle * angle;
        let (sine, cosine) = (sine(angle, z).to_bits(), cosine(z).to_bits());
        // An odd number of quarter turns swaps the two; the signs follow from the quadrant.
        let swap = (sine ^ cosine) & (quarters & 1).wrapping_neg();
        sines[frame] = f64::from_bits(sine ^ swap ^ ((quarters & 2) << 62));
        cosines[frame] = f64::from_bits(cosine ^ swap ^ ((quarters.wrapping_add(1) & 2) << 62));
    }
}

/// The sine of an angle from -pi/4 to pi/4, with its square `z`.
#[inline(always)]
fn sine(angle: f64, z: f64) -> f64 {
    let [s0, s1, s2, s3, s4, s5] = SIN;
    angle + angle * z * (s0 + z * (s1 + z * (s2 + z * (s3 + z * (s4 + z * s5)))))
}

/// The cosine of an angle from -pi/4 to pi/4, whose square is `z`.
#[inline(always)]
fn cosine(z: f64) -> f64 {
    let [c0, c1, c2, c3, c4, c5] = COS;
    let series = z * z * (c0 + z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * c5)))));
    // The subtraction from 1 rounds; the inner brackets have what it lost.
    let half = 0.5 * z;
    let main = 1.0 - half;
    main + (((1.0 - main) - half) + series)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sine and cosine of half an angle by the standard library, after an exact reduction in degrees.
    fn by_std(degrees: f64) -> [f64; 2] {
        let degrees = degrees % 720.0;
        let turns = (degrees / 180.0).round();
        let rest = degrees - 180.0 * turns;
        let (sin, cos) = (0.5 * rest).to_radians().sin_cos();
        match turns.rem_euclid(4.0) as u8 {
            0 => [sin, cos],
            1 => [cos, -sin],
            2 => [-sin, -cos],
            _ => [-cos, sin],
        }
    }

    fn of(degrees: f64) -> [f64; 2] {
        let (mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK]);
        half_sin_cos(&[degrees; BLOCK], &mut sin, &mut cos);
        [sin[0], cos[0]]
    }

    #[test]
    fn quarter_turns_are_exact() {
        for (degrees, expected) in [
            (0.0, [0.0, 1.0]),
            (180.0, [1.0, 0.0]),
            (-180.0, [-1.0, 0.0]),
            (360.0, [0.0, -1.0]),
            (540.0, [-1.0, 0.0]),
            (720.0, [0.0, 1.0]),
            (720.0 * 1e15, [0.0, 1.0]),
            (-360.0, [0.0, -1.0]),
        ] {
            assert_eq!(of(degrees), expected, "{degrees}");
        }
        // sin 30 degrees, and cos 60 degrees.
        assert!((of(60.0)[0] - 0.5).abs() < 1e-16 && (of(120.0)[1] - 0.5).abs() < 2e-16);
    }

    #[test]
    fn all_angles_are_those_of_the_standard_library_to_the_last_bit_or_two() {
        let mut worst: f64 = 0.0;
        let mut check = |degrees: f64| {
            for (own, std) in of(degrees).into_iter().zip(by_std(degrees)) {
                worst = worst.max((own - std).abs());
                assert!((own - std).abs() <= 2.3e-16, "{degrees}: {own} and {std}");
            }
        };
        (-72_000..=72_000).for_each(|step| check(f64::from(step) * 0.0137));
        (-3_000..=3_000).for_each(|step| check(f64::from(step) * 0.5));
        for exponent in -1000..125 {
            let angle = 1.234_567_890_123 * 2.0_f64.powi(exponent);
            [angle, -angle].into_iter().for_each(&mut check);
        }
        [f64::from(f32::MAX), -f64::from(f32::MAX), f64::MIN_POSITIVE, LARGEST, -LARGEST]
            .into_iter()
            .for_each(&mut check);
        assert!(worst > 0.0);
    }

    #[test]
    fn an_angle_has_the_same_bits_beside_any_other() {
        let mut angles = [0.0; BLOCK];
        for (index, angle) in angles.iter_mut().enumerate() {
            *angle = 1e13 * index as f64 * 0.731 - 17.3 * index as f64;
        }
        let (mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK]);
        half_sin_cos(&angles, &mut sin, &mut cos);
        for (index, &angle) in angles.iter().enumerate() {
            assert_eq!([sin[index], cos[index]].map(f64::to_bits), of(angle).map(f64::to_bits), "{angle}");
        }
    }
}
