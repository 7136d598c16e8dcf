//! The nouns: what is posed ([`Library`]), the question ([`Crowd`]) and the answer
//! ([`Poses`]).
//!
//! The model speaks `f64`: the numbers of a file as they stand, without a rounding of ours. The engines round once, in
//! the packing; the reference computes with what is here. Constructors validate, so that evaluators need not.

mod bind_clip;
mod binding_report;
mod clip;
mod crowd;
mod curve;
mod easing;
mod event;
mod extrapolation;
mod fit;
mod id;
mod interpolation;
mod interpolator;
mod layer;
mod library;
mod mask;
mod mixing;
mod numbers;
pub(crate) mod occurrence;
mod outputs;
mod playback;
mod poses;
mod root_motion;
pub(crate) mod rotation;
mod share_clip;
mod sharing_report;
mod skeleton;
mod skin;
mod skin_format;
mod step;
mod ticks;
mod timeline;
mod track;
mod transform;
mod unbound;
pub(crate) mod uniform_scale;

pub use binding_report::{Binding, BindingFault, BoundTrack, FaultKind, Slots};
pub use clip::Clip;
pub use crowd::Crowd;
#[cfg(feature = "gpu")]
pub(crate) use crowd::check_layers;
pub(crate) use crowd::clip_of_another;
pub use curve::Curve;
pub use easing::{CurveEasing, Easing};
pub use event::Event;
pub use extrapolation::Extrapolation;
pub use id::{ClipId, InterpolatorId, MaskId, SkeletonId, SkinId};
pub use interpolation::Interpolation;
pub use interpolator::Interpolator;
pub use layer::{AdditiveReference, Fade, FadeShape, Layer, LayerMode, LayerTime};
pub use library::Library;
pub use mask::Mask;
pub(crate) use mask::is_weight;
pub use mixing::Mixing;
pub use occurrence::{EventList, Occurrence};
pub use outputs::Outputs;
pub use playback::{Playback, WrapMode};
pub use poses::{Pose, Poses};
pub use root_motion::{Motion, RootMotion, RootRotation};
pub use sharing_report::{Sharing, SharingFault, SharingFaultKind};
pub use skeleton::{Joint, Property, Skeleton};
pub use skin::Skin;
pub use skin_format::SkinFormat;
pub use step::Step;
pub use ticks::Ticks;
pub use timeline::Timeline;
pub use track::{Target, Track};
pub use transform::Transform;
pub use unbound::{TargetPath, UnboundClip, UnboundCurves, UnboundTrack, ValueKind, color_bytes};

/// Whether a number can be posed with: finite, and within what an `f32` holds.
pub(crate) fn is_usable(number: f64) -> bool {
    number.abs() <= f64::from(f32::MAX)
}
