//! Quaternions xyzw.

use glam::Vec4;

/// Spherical interpolation between quaternions at most a right angle apart in their space, of unit length up to the
/// rounding of a file: the arc is halved, then Eberly's series (D. Eberly, "A Fast and Accurate Algorithm for Computing SLERP", 2011).
pub fn slerp(start: Vec4, end: Vec4, fraction: f32) -> Vec4 {
    let half_cosine = (0.5 + 0.5 * start.dot(end).min(1.0)).sqrt();
    let from_end = fraction > 0.5;
    let doubled = 2.0 * if from_end { 1.0 - fraction } else { fraction };
    let middle = sine_ratio(doubled, half_cosine) / (2.0 * half_cosine);
    let near = sine_ratio(1.0 - doubled, half_cosine) + middle;
    let (start_weight, end_weight) = if from_end { (middle, near) } else { (near, middle) };
    (start * start_weight + end * end_weight).normalize()
}

/// `sin(t a) / sin(a)` for `t` from 0 to 1, by `cos(a)`, for `a` up to 45 degrees; off by 1e-8 at most.
fn sine_ratio(t: f32, cosine: f32) -> f32 {
    let x = cosine - 1.0;
    let s = t * t;
    let mut sum = 1.0 + (s - 64.0) * (x * (1.0 / 136.0));
    sum = 1.0 + (s - 49.0) * (x * (1.0 / 105.0)) * sum;
    sum = 1.0 + (s - 36.0) * (x * (1.0 / 78.0)) * sum;
    sum = 1.0 + (s - 25.0) * (x * (1.0 / 55.0)) * sum;
    sum = 1.0 + (s - 16.0) * (x * (1.0 / 36.0)) * sum;
    sum = 1.0 + (s - 9.0) * (x * (1.0 / 21.0)) * sum;
    sum = 1.0 + (s - 4.0) * (x * (1.0 / 10.0)) * sum;
    t + t * (s - 1.0) * (x * (1.0 / 3.0)) * sum
}

/// Unit length for any quaternion; one without a length gives the fallback, and one so short is the identity.
pub fn normalize(q: Vec4, fallback: Vec4) -> Vec4 {
    let has_length = |q: &Vec4| q.abs().max_element() > 1e-30;
    let Some(found) = [q, fallback].into_iter().find(has_length) else { return Vec4::W };
    // By the largest component first, so that no square overflows or vanishes.
    (found / found.abs().max_element()).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3, Vec3};

    #[test]
    fn slerp_is_exact_to_3e_7_rad_up_to_a_half_turn() {
        for angle in [0.0, 1e-8, 1e-4, 0.01, 0.3, 1.0, 1.5, 2.0, 3.0, std::f64::consts::PI] {
            for step in 0..=64 {
                let fraction = f64::from(step) / 64.0;
                let axis = DVec3::new(0.48, -0.6, 0.64);
                let start = DQuat::from_axis_angle(DVec3::Y, 0.7);
                let end = start * DQuat::from_axis_angle(axis, angle);
                let wanted = start * DQuat::from_axis_angle(axis, angle * fraction);
                let vector = |q: DQuat| Vec4::from_array(q.as_quat().to_array());
                let found = slerp(vector(start), vector(end), fraction as f32).as_dvec4();
                assert!((found.length() - 1.0).abs() < 2e-7);
                let wanted = glam::DVec4::from_array(wanted.to_array());
                let error = 2.0 * (found.normalize() - wanted * wanted.dot(found).signum()).length();
                assert!(error < 5e-7, "{error} rad at {fraction} of {angle}");
            }
        }
    }

    #[test]
    fn normalisation_has_an_answer_for_every_length() {
        for size in [1e-20_f32, 1.0, 1e30] {
            assert!(
                (normalize(Vec4::new(3.0, 0.0, 4.0, 0.0) * size, Vec4::W) - Vec4::new(0.6, 0.0, 0.8, 0.0)).length()
                    < 1e-6
            );
        }
        assert_eq!(normalize(Vec4::ZERO, Vec3::ZERO.extend(2.0)), Vec4::W);
        assert_eq!(normalize(Vec4::ZERO, Vec4::ZERO), Vec4::W);
        assert_eq!(normalize(Vec4::ZERO, Vec4::X), Vec4::X);
    }
}
