//! The nouns: what is posed ([`Library`](library::Library)), the question ([`Crowd`](crowd::Crowd)) and the answer
//! ([`Poses`](poses::Poses)).
//!
//! The model speaks `f64`: the numbers of a file as they stand, without a rounding of ours. The engines round once, in
//! the packing; the reference computes with what is here. Constructors validate, so that evaluators need not.

mod bind;
pub mod binding;
pub mod clip;
pub mod crowd;
pub mod curve;
pub mod easing;
pub mod event;
pub mod extrapolation;
mod fit;
pub mod id;
pub mod interpolation;
pub mod interpolator;
pub mod layer;
pub mod library;
pub mod mask;
pub mod mixing;
mod numbers;
pub mod occurrence;
pub mod outputs;
pub mod playback;
pub mod poses;
pub mod root_motion;
pub mod rotation;
mod share;
pub mod sharing;
pub mod skeleton;
pub mod skin;
pub mod skin_format;
pub mod step;
pub mod ticks;
pub mod timeline;
pub mod track;
pub mod transform;
pub mod unbound;
pub(crate) mod uniform;

/// Whether a number can be posed with: finite, and within what an `f32` holds.
pub(crate) fn is_usable(number: f64) -> bool {
    number.abs() <= f64::from(f32::MAX)
}
