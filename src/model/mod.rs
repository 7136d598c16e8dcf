//! The data model: a [`Library`], a [`Crowd`] of its instances, and their [`Poses`].
//!
//! Numbers are `f64`: the numbers of a file, without rounding. The GPU and CPU engines round them once, during packing;
//! the reference computes with them as they are. Constructors validate, so that engines need no checks.

mod bind_clip;
mod blend_space;
mod chain;
mod check_instance;
mod clip;
mod crowd;
mod curve;
mod easing;
mod layer;
mod library;
mod mask;
mod morph_map;
mod outputs;
mod parameter;
mod playback;
mod root_motion;
pub(crate) mod rotation;
mod select;
mod share_clip;
mod skeleton;
mod sync_map;
mod timeline;
mod transition;
mod trim_clips;
pub(crate) mod uniform_scale;

pub use crate::refusal::Mixing;
pub use bind_clip::{
    Binding, BindingIssue, BindingIssueKind, BoundTrack, PropertyTracks, TargetPath, UnboundClip, UnboundCurves,
    UnboundTrack, ValueKind, color_bytes,
};
pub use blend_space::BlendSpace;
pub(crate) use blend_space::{check_points, check_triangle, delaunay, no_triangles};
pub use chain::{Chain, ChainKind, Goal, GoalTarget, GoalWeight};
pub(crate) use check_instance::{ClipContents, Contents, check_goals, check_instance};
pub(crate) use clip::markers_error;
pub use clip::{Clip, Event, EventList, Occurrence};
pub use crowd::Crowd;
pub(crate) use crowd::{check_goal_numbers, check_layers, check_transition};
pub(crate) use curve::NumberRange;
pub use curve::{Curve, Extrapolation, Interpolation, Interpolator, Target, Track};
pub use easing::{CurveEasing, Easing};
pub use layer::{AdditiveReference, Fade, FadeShape, Layer, LayerMode, LayerTime};
pub use library::Library;
pub use mask::Mask;
pub(crate) use mask::is_weight;
pub(crate) use morph_map::{MorphMap, list_morphs};
pub use outputs::{Outputs, Pose, Poses};
pub use parameter::{Knots, Parameter, ParameterValues, WeightDriver};
pub use playback::{Playback, Step, Ticks, WrapMode};
pub(crate) use root_motion::twist;
pub use root_motion::{Motion, RootMotion, RootRotation};
pub use rotation::Transform;
pub use select::Selector;
pub(crate) use select::similar_name;
pub use share_clip::{Sharing, SharingIssue, SharingIssueKind};
pub(crate) use skeleton::consecutive_ranges;
pub use skeleton::{Expression, ExpressionOverride, HumanBone, Joint, MorphBind, Property, Skeleton, Skin, SkinFormat};
pub(crate) use sync_map::SyncMap;
pub use timeline::Timeline;
pub(crate) use transition::{RunningTransition, StartPoses};
pub use transition::{Transition, TransitionKind};

macro_rules! id {
    ($name:ident, $article:literal, $noun:literal) => {
        #[doc = concat!("Identifies ", $article, " ", $noun)]
        #[doc = "of the [`Library`](crate::model::Library) that returned the identifier."]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) usize);

        impl $name {
            #[doc = concat!("The index among the ", $noun, "s of the library, from 0.")]
            pub fn index(self) -> usize {
                self.0
            }
        }
    };
}

id!(SkeletonId, "a", "skeleton");
id!(SkinId, "a", "skin");
id!(ClipId, "a", "clip");
id!(InterpolatorId, "an", "interpolator");
id!(MaskId, "a", "mask");
id!(ChainId, "a", "chain");
id!(KnotsId, "a", "list of knots");
id!(BlendSpaceId, "a", "blend space");

/// The message for an index beyond the end of a list: `there is no joint 7; the skeleton has 3, numbered from 0`.
pub(crate) fn no_such(item: &str, index: usize, owner: &str, count: usize) -> String {
    format!("there is no {item} {index}; the {owner} has {count}, numbered from 0")
}

/// The largest number of names that a message lists.
pub(crate) const MAX_NAMES: usize = 20;

/// The first [`MAX_NAMES`] names, for messages. Only those are made.
pub(crate) fn list_names<N>(names: N) -> String
where
    N: IntoIterator<Item: AsRef<str>, IntoIter: ExactSizeIterator>,
{
    let names = names.into_iter();
    let more = names.len().saturating_sub(MAX_NAMES);
    let shown: Vec<N::Item> = names.take(MAX_NAMES).collect();
    let list = shown.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    match more {
        0 if shown.is_empty() => "none".into(),
        0 => list,
        more => format!("{list}, and {more} more"),
    }
}

/// Returns `true` if a number is finite and within the range of an `f32`.
pub(crate) fn is_usable(number: f64) -> bool {
    number.abs() <= f64::from(f32::MAX)
}
