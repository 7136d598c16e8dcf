use posse::curves::Interpolator;

/// A custom interpolator of width 6. Its result is narrower, and depends on all its arguments.
#[derive(Debug)]
pub(super) struct Bent;

impl Interpolator for Bent {
    fn name(&self) -> &str {
        "bent"
    }

    fn width(&self) -> usize {
        6
    }

    fn result_width(&self) -> usize {
        5
    }

    fn lerp(&self, from: &[f64], to: &[f64], t: f64, seconds: f64, result: &mut [f64]) {
        for (number, result) in result.iter_mut().enumerate() {
            *result = from[number] + (to[number + 1] - from[number]) * t * t + t * seconds;
        }
    }

    fn wgsl(&self) -> &str {
        "fn bent_lerp(a: array<f32, 6>, b: array<f32, 6>, t: f32, seconds: f32) -> array<f32, 5> {
            var start = a;
            var end = b;
            var result: array<f32, 5>;
            for (var i = 0u; i < 5u; i += 1u) {
                result[i] = start[i] + (end[i + 1u] - start[i]) * t * t + t * seconds;
            }
            return result;
        }
        fn bent_no_lerp(value: array<f32, 6>) -> array<f32, 5> {
            return array<f32, 5>(value[0], value[1], value[2], value[3], value[4]);
        }"
    }
}

/// The property that `Bent` drives.
pub(super) const BENT: usize = 3;
/// The property of quaternions that are not normalized.
pub(super) const AS_IS: usize = 4;
