//! Poses crowds.

pub mod contract;
pub mod cpu;
pub mod demo;
pub mod error;
pub mod evaluator;
pub mod gpu;
pub mod import;
pub mod measure;
pub mod model;
pub mod pack;
pub mod reference;

pub use error::Error;
pub use evaluator::Evaluator;
pub use import::warning::Warning;
pub use model::clip::Clip;
pub use model::crowd::{Crowd, Layer, LayerTime};
pub use model::curve::{Curve, Interpolation};
pub use model::library::{ClipId, Library, SkeletonId, SkinId};
pub use model::outputs::Outputs;
pub use model::poses::{Pose, Poses};
pub use model::skeleton::{Joint, Property, Skeleton};
pub use model::skin::Skin;
pub use model::ticks::Ticks;
pub use model::timeline::Timeline;
pub use model::track::{Target, Track};
pub use model::transform::Transform;
pub use pack::library::Packing;
pub use reference::Reference;
