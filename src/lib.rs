//! Skeletal animation for crowds: samples real keyframes on the GPU or the CPU for tens of thousands of instances per
//! frame, and checks the result against an `f64` reference.
//!
//! # Map
//!
//! * [`Library`]: skeletons ([`Skeleton`]), skins ([`Skin`]), clips ([`Clip`]) and masks ([`Mask`]). It does not change
//!   per frame.
//! * [`Crowd`]: instances, each with a skeleton and up to eight layers ([`Layer`]). [`Poses`] are its results.
//! * [`Evaluator`]: the trait of the engines [`GpuEngine`](gpu::GpuEngine), [`CpuEngine`](cpu::CpuEngine) and
//!   [`Reference`]. [`GpuCrowd`](gpu::GpuCrowd), [`CpuCrowd`](cpu::CpuCrowd): a crowd that an engine poses frame after
//!   frame.
//!
//! [`prelude`] has the names that most programs need. Everything else stands in the module of its task:
//!
//! | task | module |
//! |---|---|
//! | read files into a [`Library`] | [`import`] |
//! | write clips into files | [`export`] |
//! | make clips in code, key by key | [`curves`], [`rig`] |
//! | play clips by the names of joints | [`binding`] |
//! | clips of one skeleton for another one, or with left and right exchanged | [`retarget`] |
//! | keys as integers of a few bits, within an error bound | [`compress`] |
//! | lead an instance to other layers | [`transitions`] |
//! | weights of layers from numbers of an instance | [`parameters`] |
//! | goals of inverse kinematics | [`ik`] |
//! | what happens in a step | [`events`], [`root_motion`] |
//! | pose crowds | [`gpu`], [`cpu`], [`packed`] |
//! | pose crowds by the GPU engine's kernels on a device of the caller | [`kernels`] |
//! | one play of a clip, frame by frame, without the clock of a crowd | [`playback`] |
//! | arrays of clips at many times, for training data and files | [`bake`] |
//! | contacts of feet, what looks wrong in a clip, feet that are held | [`quality`] |
//! | error bounds of an engine, and its errors | [`contract`] |
//! | times of an engine | `measure`; not on `wasm32`, because it blocks threads |
//! | a human and other rigs, made in code | [`demo`] |
//!
//! Each layer imports only layers to its right:
//! `lib -> quality -> {bake, export, measure, player} -> {contract, gpu, cpu, compress, retarget} -> {kernels,
//! transition} -> {reference, pack, import} -> {demo, evaluator} -> model -> {error, half} -> refusal`. ARCHITECTURE.md
//! leads from a question to a file and gives the reasons for the design; docs/library.md describes each part.
//!
//! # Features
//!
//! * `gpu` (default): the module [`gpu`], `measure::gpu` and the re-export of `wgpu`.
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
//! * [`CpuCrowd::set_instance`](cpu::CpuCrowd::set_instance) and
//!   [`GpuCrowd::set_instance`](gpu::GpuCrowd::set_instance) replace the layers of one instance in place,
//!   [`GpuCrowd::set_instances`](gpu::GpuCrowd::set_instances) the layers of several, and `set_layers` the layers of
//!   all instances. [`CrowdOptions`] sets the capacity for layers and mixing. If the new layers do not fit, a
//!   [`Refusal`] names the reason.
//! * To remove an instance, drop it from the list of [`GpuCrowd::encode_visible`](gpu::GpuCrowd::encode_visible) and
//!   clear its layers. Until then, its events and root motion continue.
//! * To add an instance, reuse a free slot of the same skeleton. Until it is posed, the slot holds the pose of the
//!   previous occupant. Another skeleton, or more instances, need another [`GpuCrowd`](gpu::GpuCrowd).
//! * [`Playback::with_rate_from`] changes the speed of a playback without a jump.
//!
//! # Example
//!
//! ```
//! use posse::demo;
//! use posse::prelude::*;
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
pub mod compress;
pub mod contract;
pub mod cpu;
pub mod demo;
mod error;
mod evaluator;
pub mod export;
#[cfg(feature = "gpu")]
pub mod gpu;
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
mod refusal;
pub mod retarget;
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

// What every program names. The rest stands in modules; a test counts the names here. `inline` lists the items with
// their summaries.
#[doc(inline)]
pub use self::{
    error::Error,
    evaluator::Evaluator,
    model::{
        AdditiveReference, Clip, ClipId, Crowd, Joint, Layer, LayerMode, LayerTime, Library, Mask, MaskId, Mixing,
        Outputs, Playback, Pose, Poses, Selector, Skeleton, SkeletonId, Skin, SkinFormat, SkinId, Step, Ticks,
        Transform, WrapMode,
    },
    pack::CrowdOptions,
    reference::Reference,
    refusal::Refusal,
};

/// The names that programs which pose crowds begin with: `use posse::prelude::*;`.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::cpu::{CpuCrowd, CpuEngine};
    #[cfg(feature = "gpu")]
    #[doc(no_inline)]
    pub use crate::gpu::{GpuContext, GpuCrowd, GpuLibrary};
    #[doc(no_inline)]
    pub use crate::transitions::NewTransition;
    #[doc(no_inline)]
    pub use crate::{Crowd, Evaluator, Layer, LayerMode, LayerTime, Library, Outputs, Playback, Reference, Ticks};
}

/// Clips and skeletons that find each other by the names of joints.
///
/// [`Library::bind`] makes a clip of an [`UnboundClip`](binding::UnboundClip), whose tracks name their targets.
/// [`Library::share_clip`] lets a clip of one skeleton play on another one with the same names.
pub mod binding {
    pub use crate::model::{
        Binding, BindingIssue, BindingIssueKind, BoundTrack, PropertyTracks, Sharing, SharingIssue, SharingIssueKind,
        TargetPath, UnboundClip, UnboundCurves, UnboundTrack, ValueKind, color_bytes,
    };
}

/// Tracks of a clip: a [`Target`](curves::Target), and a [`Curve`](curves::Curve) over a
/// [`Timeline`](curves::Timeline) of key times.
pub mod curves {
    pub use crate::model::{
        Curve, CurveEasing, Easing, Extrapolation, Interpolation, Interpolator, InterpolatorId, Target, Timeline, Track,
    };
}

/// Events of a clip, and the list of what fired in a step.
pub mod events {
    pub use crate::model::{Event, EventList, Occurrence};
}

/// Inverse kinematics: a [`Chain`](ik::Chain) of joints, from its root to its effector, and a [`Goal`](ik::Goal) with
/// the target that the effector is to reach.
pub mod ik {
    pub use crate::model::{Chain, ChainId, ChainKind, Goal, GoalTarget, GoalWeight};
}

/// What the engines read and write: a library in two flat arrays, and where the numbers of a pose lie.
pub mod packed {
    pub use crate::pack::{Aligned, OutputLayout, OutputNumbers, PackedLibrary};
}

/// Numbers of an instance that drive the weights of its layers, by [`Knots`](parameters::Knots) or in a
/// [`BlendSpace`](parameters::BlendSpace).
pub mod parameters {
    pub use crate::model::{BlendSpace, BlendSpaceId, Knots, KnotsId, Parameter, ParameterValues, WeightDriver};
}

/// From a time to the time of a clip, with or without the clock of a crowd.
pub mod playback {
    pub use crate::player::Player;
    pub use crate::reference::phase::{Phase, clip_time};
}

/// What a skeleton has besides joints: properties, and the bones and expressions of a VRM model.
pub mod rig {
    pub use crate::model::{Expression, ExpressionOverride, HumanBone, MorphBind, Property};
}

/// How a clip moves the instance itself.
pub mod root_motion {
    pub use crate::model::{Motion, RootMotion, RootRotation};
}

/// From some layers to others: fades of their weights, and transitions by inertialization or dead blending.
pub mod transitions {
    pub use crate::model::{Fade, FadeShape, Transition, TransitionKind};
    pub use crate::transition::NewTransition;
}

/// Items for the other packages of the repository and for tests. They are not part of the public interface and change
/// without notice.
#[doc(hidden)]
pub mod low_level {
    // `posse verify`.
    pub use crate::compress::bound::rig_size;
    pub use crate::contract::checks::check_times;
    // `posse bake`, which writes GLB files frame by frame.
    pub use crate::export::gltf::animation::FrameAnimation;
    pub use crate::export::unique_names::UniqueNames;
    // Measurements by the command, the page and benches; the list of `posse adapters`.
    #[cfg(feature = "gpu")]
    pub use crate::gpu::{bandwidth::Bandwidth, kernels::kernel_limits, stopwatch::Stopwatch};
    // posse-render, whose records are declared as the records of this crate; `posse eval`; tests of buffers.
    pub use crate::pack::{record, skin_format};

    /// Objects on a device, whose errors are errors, their readback, and texts of shaders: for posse-render.
    #[cfg(feature = "gpu")]
    pub mod device {
        pub use crate::gpu::allocation::{create_buffer, create_encoder, fault_point};
        pub use crate::gpu::buffers::filled_buffer;
        pub use crate::gpu::frame_uploads::FrameUploads;
        pub use crate::gpu::kernels::largest_binding;
        pub use crate::gpu::readback::{check_device, read_buffers};
        pub use crate::gpu::scopes::Scopes;
        pub use crate::gpu::shader_files::{copy_code, shader_text};
    }
    /// The parts of the glTF importer that read meshes and materials, too: for posse-render. The parser of JSON with
    /// the paths of errors: for the command and the package for pages.
    pub mod file {
        pub use crate::import::file_error::FileError;
        pub use crate::import::gltf::accessor::AccessorLayout;
        pub use crate::import::gltf::component::Component;
        pub use crate::import::gltf::container::open as open_container;
        pub use crate::import::gltf::document::GltfDocument;
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
        /// The errors of [`load`](crate::import::crowd::load).
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
