//! Skeletal animation for crowds: samples real keyframes on the GPU or the CPU for tens of thousands of instances per frame,
//! and checks the result against an `f64` reference.
//!
//! # Map
//!
//! * [`Library`]: skeletons ([`Skeleton`]), skins ([`Skin`]), clips ([`Clip`]) and masks ([`Mask`]). It does not change per frame.
//! * [`Crowd`]: instances, each with a skeleton and up to eight layers ([`Layer`]). [`Poses`] are its results.
//! * [`import`]: reads files into a [`Library`], or into an [`UnboundClip`] for [`Library::bind`].
//! * [`export`]: writes clips into files.
//! * [`PackedLibrary`]: a library in two flat arrays, which the GPU and CPU engines read.
//! * [`CompressedLibrary`]: a library whose keys are integers of a few bits, within an error bound.
//! * [`Library::retarget`]: clips of one skeleton for another one, by a [`JointMap`].
//! * [`Evaluator`]: the trait of the engines [`GpuEngine`], [`CpuEngine`] and [`Reference`].
//! * [`GpuCrowd`], [`CpuCrowd`]: a crowd that an engine poses frame after frame.
//! * [`bake`]: arrays of clips at many times, in `f32`, for training data and files.
//! * [`contract`]: error bounds of an engine, and its errors.
//! * `measure`: times of an engine. The module does not exist on `wasm32`, because it blocks threads.
//! * [`Player`]: one play of a clip, stepped frame by frame, for callers without a crowd clock.
//! * [`demo`]: a human and other rigs, made in code.
//! * `render`: draws crowds of glTF figures from the buffers of the GPU engine.
//!
//! Each layer imports only layers to its right:
//! `main -> cli -> lib -> {bake, export, measure, player, render} -> {contract, gpu, cpu, compress, retarget} -> {reference, pack, import} -> {demo, evaluator} -> model -> {error, half}`.
//! ARCHITECTURE.md leads from a question to a file and gives the reasons for the design; docs/library.md describes each part.
//!
//! # Features
//!
//! * `gpu` (default): the items with `Gpu` in their names, [`AdapterDescription`], [`AdapterKind`], [`CrowdOptions`],
//!   [`LayersOutcome`], [`Shortfall`], `measure::gpu` and the re-export of `wgpu`.
//! * `render`: the module `render`. It includes `gpu` and `gltf`.
//! * `gltf`: `import::gltf::from_document` and the re-export of the crate `gltf`.
//! * `cli` (default): the command `posse`. It includes `render` and adds no items to the library.
//! * `parquet`: `posse bake --format parquet`. It includes `cli`, adds no items to the library, and takes about two minutes of one
//!   core in a release build.
//! * `view`: the command `posse view`. It includes `cli` and adds no items to the library.
//!
//! All other items need no feature. The pages at docs.rs show all items, each with its feature.
//!
//! # Crowds that change
//!
//! * [`Crowd::set`] changes one instance of a [`Crowd`]. An [`Evaluator`] reads the crowd as it is at the call.
//! * [`GpuCrowd::set_layers`] replaces the layers of all instances of a [`GpuCrowd`] in place, and [`GpuCrowd::set_instance`]
//!   those of one instance. [`CrowdOptions`] sets the room for layers and mixing. A [`LayersOutcome`] tells if the new
//!   layers fit, and otherwise the reason.
//! * To remove an instance, drop it from the list of [`GpuCrowd::encode_visible`] and clear its layers. Until then, its events and
//!   root motion continue.
//! * To add an instance, reuse a free slot of the same skeleton. Until it is posed, the slot holds the pose of the previous
//!   occupant. Another skeleton, or more instances, need another [`GpuCrowd`].
//! * [`Playback::with_rate_from`] changes the speed of a playback without a jump.
//!
//! # Example
//!
//! ```
//! use posse::{CpuEngine, Crowd, Evaluator, Layer, LayerTime, Outputs, Ticks, demo};
//!
//! # fn main() -> Result<(), posse::Error> {
//! let library = demo::library()?;
//! let clip = library.find_clip("walk").expect("the demo walks");
//! let mut crowd = Crowd::new();
//! crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(0.5))])?;
//! let poses = CpuEngine::new(&library)?.evaluate(&crowd, Ticks(0), Outputs::ALL)?;
//! assert_eq!(poses.instances[0].local.len(), 64);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

/// The README. Its example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// The page on the library. Its examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod library_page {}

pub mod bake;
mod compress;
pub mod contract;
mod cpu;
pub mod demo;
mod error;
mod evaluator;
pub mod export;
#[cfg(feature = "gpu")]
mod gpu;
mod half;
pub mod import;
#[cfg(not(target_arch = "wasm32"))]
pub mod measure;
mod model;
mod pack;
mod pieces;
mod player;
mod reference;
#[cfg(feature = "render")]
pub mod render;
mod retarget;

// Signatures contain types of these crates. A caller needs the same versions.
#[doc(no_inline)]
pub use glam;
#[cfg(feature = "gltf")]
#[doc(no_inline)]
pub use gltf;
#[cfg(feature = "gpu")]
#[doc(no_inline)]
pub use wgpu;

#[cfg(feature = "gpu")]
#[doc(inline)]
pub use self::gpu::{
    AdapterDescription, AdapterKind, CrowdOptions, DeviceAndQueue, GpuBatch, GpuContext, GpuCrowd, GpuEngine,
    GpuEvents, GpuLibrary, LayersOutcome, Shortfall,
};

// `inline` lists the items with their summaries.
#[doc(inline)]
pub use self::{
    compress::{ClipReport, CompressedLibrary, ErrorBound, Length},
    cpu::{CpuBatch, CpuCrowd, CpuEngine, InstructionSet},
    error::Error,
    evaluator::Evaluator,
    import::Warning,
    model::{
        AdditiveReference, Binding, BindingFault, BlendSpace, BlendSpaceId, BoundTrack, Chain, ChainId, ChainKind,
        Clip, ClipId, Crowd, Curve, CurveEasing, Easing, Event, EventList, Extrapolation, Fade, FadeShape, FaultKind,
        Goal, GoalTarget, GoalWeight, HumanBone, Interpolation, Interpolator, InterpolatorId, Joint, Knots, KnotsId,
        Layer, LayerMode, LayerTime, Library, Mask, MaskId, Mixing, Motion, Occurrence, Outputs, Parameter,
        ParameterValues, Playback, Pose, Poses, Property, PropertyTracks, RootMotion, RootRotation, Sharing,
        SharingFault, SharingFaultKind, Skeleton, SkeletonId, Skin, SkinFormat, SkinId, Step, Target, TargetPath,
        Ticks, Timeline, Track, Transform, Transition, TransitionKind, UnboundClip, UnboundCurves, UnboundTrack,
        ValueKind, WeightDriver, WrapMode, color_bytes,
    },
    pack::record::VisibleInstance,
    pack::{Aligned, OutputLayout, OutputNumbers, PackedLibrary},
    player::Player,
    reference::phase::{Phase, clip_time},
    reference::{NewTransition, Reference},
    retarget::{
        DropReason, DroppedTrack, JointMap, JointPair, LossReason, LostRootMotion, MapRemark, MatchedBy, ReferencePose,
        RetargetOptions, RetargetedClip, RetargetedTrack, Retargeting, RootTranslation, TrackMethod,
    },
};

/// Items for tests, benches and the command line. They are not part of the public interface and change without notice.
#[doc(hidden)]
pub mod low_level {
    pub use crate::compress::rig_size;
    pub use crate::contract::times::check_times;
    #[cfg(feature = "gpu")]
    pub use crate::gpu::{Bandwidth, KernelText, Stopwatch, kernel_limits};
    pub use crate::import::gltf::meshopt::decode as decode_meshopt;
    pub use crate::pack::{ClipBytes, all_threads};
    pub use crate::pack::{record, skin_format};

    /// Reads the bytes of a crowd file, with its glTF files from a function.
    ///
    /// # Errors
    /// Those of [`load`](crate::import::crowd::load).
    pub fn read_crowd_with(
        library: &mut crate::Library,
        file: &std::path::Path,
        bytes: &[u8],
        open: &dyn Fn(&std::path::Path) -> std::io::Result<Vec<u8>>,
    ) -> Result<crate::import::crowd::CrowdFile, crate::Error> {
        crate::import::crowd::from_slice_with(library, file, bytes, open)
    }
    /// Vertex positions as the vertex shader computes them, and parts of the scenes of the command line.
    #[cfg(feature = "render")]
    pub mod render {
        pub use crate::render::arrangement::Arrangement;
        pub use crate::render::demo_figure::{demo_dyes, demo_figure};
        pub use crate::render::placement::{sunflower, tint};
        #[cfg(not(target_arch = "wasm32"))]
        pub use crate::render::probe::vertex_positions;
        pub use crate::render::probe::vertex_positions_async;
    }
    /// Single stages of the reference, for tests of one stage.
    pub mod reference {
        pub use crate::reference::ease::ease;
        pub use crate::reference::phase::{phase, played};
        pub use crate::reference::player_events::{Events, fired};
        pub use crate::reference::sample::value;
    }
}
