//! Interpolation by functions of the caller.

use std::fmt::Debug;

/// A caller's interpolation between keys: in Rust for the reference and the CPU engine, in WGSL for the GPU engine.
///
/// The value of a key has [`width`](Self::width) numbers, a result has [`result_width`](Self::result_width).
/// [`Library::add_interpolator`](crate::Library::add_interpolator) adds it to a library. Curves then refer to it by
/// [`Interpolation::Custom`](crate::Interpolation::Custom), and drive a property as wide as the result.
/// [`contract::compare`](crate::contract::compare) tests if both give the same poses.
pub trait Interpolator: Debug + Send + Sync {
    /// The name: a WGSL identifier of letters, digits and `_` that begins with a letter. It is unique in the library. In clip files
    /// it is the `__type__` of values.
    fn name(&self) -> &str;

    /// The number of numbers of a key's value, 1 to 64.
    fn width(&self) -> usize;

    /// The number of numbers of a result, 1 to 64; [`width`](Self::width) by default.
    fn result_width(&self) -> usize {
        self.width()
    }

    /// The names of the fields of a value in clip files, each with its number of numbers, in order. Empty if a value is a list of
    /// numbers.
    fn fields(&self) -> &[(&str, usize)] {
        &[]
    }

    /// Interpolates between two keys and fills `result`, which has `result_width` numbers.
    ///
    /// `t` is the eased fraction between the keys, which may leave 0 to 1. `seconds` is the time from key to key.
    fn lerp(&self, from: &[f64], to: &[f64], t: f64, seconds: f64, result: &mut [f64]);

    /// Fills `result` at a key, before the first key and after the last: the value of the key by default. It should equal the
    /// result of [`lerp`](Self::lerp) at `t` = 0.
    fn no_lerp(&self, value: &[f64], result: &mut [f64]) {
        result.copy_from_slice(&value[..result.len()]);
    }

    /// The WGSL source of the same two functions. For the name `spin`, a width of 4 and a result width of 3:
    ///
    /// ```wgsl
    /// fn spin_lerp(a: array<f32, 4>, b: array<f32, 4>, t: f32, seconds: f32) -> array<f32, 3>
    /// fn spin_no_lerp(value: array<f32, 4>) -> array<f32, 3>
    /// ```
    ///
    /// Other functions and constants in the source should begin with the name too. The source may call the functions of
    /// `shaders/shared/quat.wgsl`, such as `quat_slerp` with a fraction from 0 to 1.
    fn wgsl(&self) -> &str;
}
