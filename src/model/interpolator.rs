//! Interpolation of one's own.

use std::fmt::Debug;

/// A way from key to key that is the caller's own: in Rust for the reference and the CPU, in WGSL for the GPU.
///
/// A key's value is [`width`](Self::width) numbers, a result [`result_width`](Self::result_width). A library takes it by
/// [`Library::add_interpolator`](crate::Library::add_interpolator); curves then name it by
/// [`Interpolation::Custom`](crate::Interpolation::Custom), and drive a property as wide as the result. `posse`'s own
/// checks hold the two languages against each other like everything else.
pub trait Interpolator: Debug + Send + Sync {
    /// Its name, a WGSL identifier of letters, digits and `_`, unlike any other's in the library. In clip files it is the
    /// `__type__` of values.
    fn name(&self) -> &str;

    /// Numbers of a key's value, 1 to 64.
    fn width(&self) -> usize;

    /// Numbers of a result, 1 to 64; as many as of a value, unless said otherwise.
    fn result_width(&self) -> usize {
        self.width()
    }

    /// The names of a value's fields in clip files and how many numbers each has, in order; none where a value is a list
    /// of numbers.
    fn fields(&self) -> &[(&str, usize)] {
        &[]
    }

    /// The result between two keys: `t` is the eased part of the way, which may leave 0 to 1, `seconds` the time from key
    /// to key. `result` is `result_width` numbers, to be filled.
    fn lerp(&self, from: &[f64], to: &[f64], t: f64, seconds: f64, result: &mut [f64]);

    /// The result at a key, before the first and after the last: the key's value, unless said otherwise. It should be
    /// what [`lerp`](Self::lerp) gives at `t` = 0.
    fn no_lerp(&self, value: &[f64], result: &mut [f64]) {
        result.copy_from_slice(&value[..result.len()]);
    }

    /// WGSL with the same two functions. For a name `spin`, a width of 4 and a result width of 3:
    ///
    /// ```wgsl
    /// fn spin_lerp(a: array<f32, 4>, b: array<f32, 4>, t: f32, seconds: f32) -> array<f32, 3>
    /// fn spin_no_lerp(value: array<f32, 4>) -> array<f32, 3>
    /// ```
    ///
    /// Other functions and constants in it should begin with the name, too. `quat_slerp` and the like of
    /// `shaders/shared/quat.wgsl` may be called.
    fn wgsl(&self) -> &str;
}
