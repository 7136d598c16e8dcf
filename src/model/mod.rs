//! The data model: a [`Library`], a [`Crowd`] of its instances, and their [`Poses`].
//!
//! Numbers are `f64`: the numbers of a file, without rounding. The GPU and CPU engines round them once, during packing; the
//! reference computes with them as they are. Constructors validate, so that engines need no checks.

mod bind_clip;
mod binding_report;
mod blend_space;
mod chain;
mod check_instance;
mod clip;
mod clip_checks;
mod crowd;
mod curve;
mod easing;
mod event;
mod goal;
mod id;
mod interpolation;
mod interpolator;
mod knots;
mod layer;
mod library;
mod mask;
mod mixing;
mod numbers;
mod outputs;
mod parameter;
mod playback;
mod poses;
mod root_motion;
pub(crate) mod rotation;
mod share_clip;
mod sharing_report;
mod skeleton;
mod skin;
mod sync_map;
mod ticks;
mod timeline;
mod track;
mod transform;
mod transition;
mod trim_clips;
mod unbound_clip;
pub(crate) mod uniform_scale;
mod weight_driver;

pub use binding_report::{Binding, BindingFault, BoundTrack, FaultKind, PropertyTracks};
pub use blend_space::BlendSpace;
pub(crate) use blend_space::{check_points, check_triangle, delaunay, no_triangles};
pub use chain::{Chain, ChainKind};
pub(crate) use check_instance::{ClipContents, Contents, check_goals, check_instance};
pub use clip::Clip;
pub(crate) use clip_checks::markers_fault;
pub use crowd::Crowd;
#[cfg(feature = "gpu")]
pub(crate) use crowd::check_goal_numbers;
pub(crate) use crowd::{check_layers, check_transition};
pub use curve::Curve;
pub(crate) use curve::NumberRange;
pub use easing::{CurveEasing, Easing};
pub use event::{Event, EventList, Occurrence};
pub use goal::{Goal, GoalTarget, GoalWeight};
pub use id::{BlendSpaceId, ChainId, ClipId, InterpolatorId, KnotsId, MaskId, SkeletonId, SkinId};
pub use interpolation::{Extrapolation, Interpolation};
pub use interpolator::Interpolator;
pub use knots::Knots;
pub use layer::{AdditiveReference, Fade, FadeShape, Layer, LayerMode, LayerTime};
pub use library::Library;
pub use mask::Mask;
pub(crate) use mask::is_weight;
pub use mixing::Mixing;
pub use outputs::Outputs;
pub use parameter::{Parameter, ParameterValues};
pub use playback::{Playback, WrapMode};
pub use poses::{Pose, Poses};
pub use root_motion::{Motion, RootMotion, RootRotation};
pub use sharing_report::{Sharing, SharingFault, SharingFaultKind};
pub(crate) use skeleton::consecutive_ranges;
pub use skeleton::{HumanBone, Joint, Property, Skeleton};
pub use skin::{Skin, SkinFormat};
pub(crate) use sync_map::SyncMap;
pub use ticks::{Step, Ticks};
pub use timeline::Timeline;
pub use track::{Target, Track};
pub use transform::Transform;
pub(crate) use transition::{RunningTransition, StartPoses};
pub use transition::{Transition, TransitionKind};
pub use unbound_clip::{TargetPath, UnboundClip, UnboundCurves, UnboundTrack, ValueKind, color_bytes};
pub use weight_driver::WeightDriver;

/// The message for an index beyond the end of a list: `there is no joint 7; the skeleton has 3, numbered from 0`.
pub(crate) fn no_such(item: &str, index: usize, owner: &str, count: usize) -> String {
    format!("there is no {item} {index}; the {owner} has {count}, numbered from 0")
}

/// True if a number is finite and within the range of an `f32`.
pub(crate) fn is_usable(number: f64) -> bool {
    number.abs() <= f64::from(f32::MAX)
}
