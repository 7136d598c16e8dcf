//! Skeletal animation for crowds: samples real keyframes on the GPU or the CPU for tens of thousands of instances per
//! frame, and checks the result against an `f64` reference.
//!
//! # Map
//!
//! * [`Library`]: skeletons ([`Skeleton`]), skins ([`Skin`]), clips ([`Clip`]) and masks ([`Mask`]). It does not change
//!   per frame.
//! * [`Crowd`]: instances, each with a skeleton and up to eight layers ([`Layer`]). [`Poses`] are its results.
//! * [`import`]: reads files into a [`Library`], or into an [`UnboundClip`] for [`Library::bind`].
//! * [`export`]: writes clips into files.
//! * [`PackedLibrary`]: a library in two flat arrays, which the GPU and CPU engines read.
//! * [`CompressedLibrary`]: a library whose keys are integers of a few bits, within an error bound.
//! * [`Library::retarget`]: clips of one skeleton for another one, by a [`JointMap`]; [`Library::mirror`]: clips with
//!   left and right exchanged, by a [`MirrorMap`].
//! * [`Evaluator`]: the trait of the engines [`GpuEngine`], [`CpuEngine`] and [`Reference`].
//! * [`GpuCrowd`], [`CpuCrowd`]: a crowd that an engine poses frame after frame.
//! * [`bake`]: arrays of clips at many times, in `f32`, for training data and files.
//! * [`contract`]: error bounds of an engine, and its errors.
//! * [`kernels`]: crowds packed for the GPU engine's kernels on a device of the caller.
//! * [`quality`]: contacts of feet, measures of what looks wrong in a clip, and feet that are held.
//! * `measure`: times of an engine. The module does not exist on `wasm32`, because it blocks threads.
//! * [`Player`]: one play of a clip, stepped frame by frame, for callers without a crowd clock.
//! * [`demo`]: a human and other rigs, made in code.
//!
//! Each layer imports only layers to its right:
//! `lib -> quality -> {bake, export, measure, player} -> {contract, gpu, cpu, compress, retarget} -> {kernels,
//! transition} -> {reference, pack, import} -> {demo, evaluator} -> model -> {error, half}`. ARCHITECTURE.md leads from a
//! question to a file and gives the reasons for the design; docs/library.md describes each part.
//!
//! # Features
//!
//! * `gpu` (default): the items with `Gpu` in their names, [`AdapterDescription`], [`AdapterKind`], [`KernelText`],
//!   [`Shortfall`], `measure::gpu` and the re-export of `wgpu`.
//! * `fbx`: [`import::fbx`] reads files. It compiles C.
//! * `gltf`: `import::gltf::from_document` and the re-export of the crate `gltf`.
//!
//! All other items need no feature. The pages at docs.rs show all items, each with its feature. The crate
//! `posse-render` draws crowds of glTF figures from the buffers of the GPU engine; the crate `posse-cli` is the command
//! `posse`.
//!
//! # Debug builds
//!
//! Without optimization, the CPU engine takes some 60 times as long. These lines in the `Cargo.toml` at the root of a
//! workspace optimize it in debug builds, too:
//!
//! ```toml
//! [profile.dev.package.posse]
//! opt-level = 3
//! overflow-checks = false
//! ```
//!
//! # Crowds that change
//!
//! * [`Crowd::set`] changes one instance of a [`Crowd`], and [`Crowd::cross_fade`] leads it to another clip. An
//!   [`Evaluator`] reads the crowd as it is at the call.
//! * [`CpuCrowd::set_instance`] and [`GpuCrowd::set_instance`] replace the layers of one instance in place,
//!   [`GpuCrowd::set_instances`] those of some, and `set_layers` those of all instances. [`CrowdOptions`] sets the room
//!   for layers and mixing. A [`LayersOutcome`] tells if the new layers fit, and otherwise the reason.
//! * To remove an instance, drop it from the list of [`GpuCrowd::encode_visible`] and clear its layers. Until then, its
//!   events and root motion continue.
//! * To add an instance, reuse a free slot of the same skeleton. Until it is posed, the slot holds the pose of the
//!   previous occupant. Another skeleton, or more instances, need another [`GpuCrowd`].
//! * [`Playback::with_rate_from`] changes the speed of a playback without a jump.
//!
//! # Example
//!
//! ```
//! use posse::{CpuEngine, Crowd, Evaluator, Outputs, Ticks, demo};
//!
//! # fn main() -> Result<(), posse::Error> {
//! let library = demo::library()?;
//! let walk = library.find_clip("walk").expect("the demo walks");
//! let mut crowd = Crowd::new();
//! crowd.push(library.clip(walk).skeleton, &[walk.looping().phase(0.5)])?;
//! let poses = CpuEngine::new(&library)?.evaluate(&crowd, Ticks::from_seconds(2.0), Outputs::ALL)?;
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
pub mod kernels;
#[cfg(not(target_arch = "wasm32"))]
pub mod measure;
mod model;
mod pack;
mod pieces;
mod player;
pub mod quality;
mod reference;
mod retarget;
mod transition;

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
    AdapterDescription, AdapterKind, DeviceAndQueue, GpuBatch, GpuContext, GpuCrowd, GpuEngine, GpuEvents, GpuLibrary,
    KernelText, Shortfall,
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
        AdditiveReference, Binding, BindingIssue, BindingIssueKind, BlendSpace, BlendSpaceId, BoundTrack, Chain,
        ChainId, ChainKind, Clip, ClipId, Crowd, Curve, CurveEasing, Easing, Event, EventList, Expression,
        ExpressionOverride, Extrapolation, Fade, FadeShape, Goal, GoalTarget, GoalWeight, HumanBone, Interpolation,
        Interpolator, InterpolatorId, Joint, Knots, KnotsId, Layer, LayerMode, LayerTime, Library, Mask, MaskId,
        Mixing, MorphBind, Motion, Occurrence, Outputs, Parameter, ParameterValues, Playback, Pose, Poses, Property,
        PropertyTracks, RootMotion, RootRotation, Selector, Sharing, SharingIssue, SharingIssueKind, Skeleton,
        SkeletonId, Skin, SkinFormat, SkinId, Step, Target, TargetPath, Ticks, Timeline, Track, Transform, Transition,
        TransitionKind, UnboundClip, UnboundCurves, UnboundTrack, ValueKind, WeightDriver, WrapMode, color_bytes,
    },
    pack::record::VisibleInstance,
    pack::{Aligned, CrowdOptions, LayersOutcome, OutputLayout, OutputNumbers, PackedLibrary},
    player::Player,
    reference::Reference,
    reference::phase::{Phase, clip_time},
    retarget::{
        AlignedBone, AlignmentReason, CarriedJoints, DropReason, DroppedTrack, Facing, Ground, JointMap, JointPair,
        LossReason, LostRootMotion, MapRemark, MapSide, MatchedBy, MirrorMap, MirrorRemark, Mirroring, NamedAlignment,
        NamedClipReport, NamedDrop, NamedLoss, NamedPair, NamedReport, NamedResampling, ReferencePose, RetargetOptions,
        RetargetWarning, RetargetedClip, RetargetedTrack, Retargeting, RootScale, RootTranslation, TrackMethod,
        mirrored_name,
    },
    transition::NewTransition,
};

/// Items for the other packages of the repository and for tests. They are not part of the public interface and change
/// without notice.
#[doc(hidden)]
pub mod low_level {
    // `posse verify`.
    pub use crate::compress::rig_size;
    pub use crate::contract::checks::check_times;
    // `posse bake`, which writes GLB files frame by frame.
    pub use crate::export::gltf::animation::FrameAnimation;
    pub use crate::export::unique_names::UniqueNames;
    // Measurements by the command, the page and benches; the list of `posse adapters`.
    #[cfg(feature = "gpu")]
    pub use crate::gpu::{Bandwidth, Stopwatch, kernel_limits};
    // posse-render, whose records are declared as those of this crate; `posse eval`; tests of buffers.
    pub use crate::pack::{record, skin_format};

    /// Objects on a device, whose errors are errors, their readback, and texts of shaders: for posse-render.
    #[cfg(feature = "gpu")]
    pub mod device {
        pub use crate::gpu::{
            FrameUploads, Scopes, check_device, copy_code, create_buffer, create_encoder, fault_point, filled_buffer,
            largest_binding, read_buffers, shader_text,
        };
    }
    /// The parts of the glTF importer that read meshes and materials, too: for posse-render. The parser of JSON with
    /// the paths of errors: for the command and the package for pages.
    pub mod file {
        pub use crate::import::file_error::FileError;
        pub use crate::import::gltf::accessor::Layout;
        pub use crate::import::gltf::component::Component;
        pub use crate::import::gltf::container::open as open_container;
        pub use crate::import::gltf::document::Document;
        pub use crate::import::gltf::files::{Files, FilesByName};
        pub use crate::import::gltf::parse::text as document_text;
        pub use crate::import::gltf::reader::{Bytes, Reader};
        pub use crate::import::json::{JsonPath, parse as parse_json};
    }
    /// Single stages of the reference, for tests of one stage; the command evaluates the phase, too.
    pub mod reference {
        pub use crate::reference::ease::ease;
        pub use crate::reference::phase::{phase, played};
        pub use crate::reference::player_events::{Events, fired};
        pub use crate::reference::sample::value;
    }
    /// What only tests of other packages and fuzz targets use.
    #[cfg(feature = "test_support")]
    pub mod test_support {
        use std::io;
        use std::path::Path;

        #[cfg(feature = "gpu")]
        pub use crate::gpu::test_support::*;
        pub use crate::import::gltf::meshopt::decode as decode_meshopt;

        /// Reads the bytes of a crowd file, with its glTF files from a function.
        ///
        /// # Errors
        /// Those of [`load`](crate::import::crowd::load).
        pub fn read_crowd_with(
            library: &mut crate::Library,
            file: &Path,
            bytes: &[u8],
            open: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
        ) -> Result<crate::import::crowd::CrowdFile, crate::Error> {
            crate::import::crowd::from_slice_with(library, file, bytes, open)
        }
    }
}
