//! Skeletal animation for crowds: samples real keyframes on the GPU or the CPU for tens of thousands of instances per
//! frame, and checks the result against an `f64` reference.
//!
//! # The idea
//!
//! A [`Library`] holds what does not change per frame: skeletons ([`Skeleton`]), skins ([`Skin`]), clips ([`Clip`]) and
//! masks ([`Mask`]), with the numbers of their files in `f64`. An engine packs it once into two flat arrays. Keys stay
//! as they are; only curves of FBX that are no lines become keys, within a bound.
//!
//! A [`Crowd`] lists instances: a skeleton and up to eight layers ([`Layer`]) each. A layer is a clip with a clock, a
//! weight, a mode, a mask and fades. The clip time of a layer that plays follows from the tick of the crowd clock, an
//! integer ([`Ticks`]), so that nothing is advanced from frame to frame, and nothing drifts.
//!
//! An engine evaluates all instances of a crowd at a tick, or over a step from one tick to another. Per instance, it
//! maps the tick to clip times, searches the keys around them, interpolates, mixes the layers, and multiplies along the
//! hierarchy. [`Outputs`] selects the results: local transforms, model matrices, skin matrices, morph weights,
//! properties, root motion.
//!
//! Three engines have the trait [`Evaluator`]: the kernels on wgpu ([`GpuEngine`](gpu::GpuEngine)), SIMD on all cores
//! ([`CpuEngine`](cpu::CpuEngine)), and the [`Reference`] in `f64`, which reads the library itself, not its packed
//! form. The first two stay within the bounds of [`contract`] from the reference, on every machine.
//!
//! One library and one crowd take any number of skeletons, skins and clips. An engine sorts the instances into batches,
//! by skeleton and by the mixing that the layers need. [`Library::share_clip`] gives a clip to another skeleton by
//! joint names, with a report; its keys are stored once.
//!
//! # First steps
//!
//! ```
//! use posse::prelude::*;
//!
//! # fn main() -> Result<(), posse::Error> {
//! let library = posse::demo::library()?; // for a file: Library::open("Fox.glb")?
//! let walk = library.find_clip("walk").expect("the demo walks");
//! let mut crowd = Crowd::new();
//! crowd.push(library.clip(walk).skeleton, &[walk.looping().phase(0.5)])?;
//! let poses = CpuEngine::new(&library)?.evaluate(&crowd, Ticks::from_seconds(2.0), Outputs::ALL)?;
//! assert_eq!(poses.instances[0].local.len(), 64);
//! # Ok(())
//! # }
//! ```
//!
//! [`prelude`] has the names that most programs need. There are two ways to use an engine. [`Evaluator::evaluate`]
//! packs the crowd on each call and returns [`Poses`] in `f64`; it suits tests and tools. For frame after frame, make a
//! [`CpuCrowd`](cpu::CpuCrowd) or a [`GpuCrowd`](gpu::GpuCrowd) once and pose it again: [`cpu`] and [`gpu`] describe a
//! frame.
//!
//! [`Library::select_clip`], [`Skeleton::select_joint`] and [`Selector`] find what a person names: `NAME`, `NAME#K`,
//! `#INDEX`, or the end of a path such as `Armature/Hips`. Several of a name are an error that lists them.
//!
//! # Map
//!
//! Each module describes its task and the algorithm behind it:
//!
//! | task | where |
//! |---|---|
//! | read files into a [`Library`] | [`import`] |
//! | write clips into files | [`export`] |
//! | make clips in code, key by key | [`curves`], [`rig`] |
//! | play clips by the names of joints | [`binding`] |
//! | clips of one skeleton for another one, or with left and right exchanged | [`retarget`] |
//! | keys as integers of a few bits, within an error bound | [`compress`] |
//! | mix clips | [`Layer`] |
//! | lead an instance to other layers | [`transitions`] |
//! | weights and times of layers from numbers of an instance | [`parameters`] |
//! | goals of inverse kinematics | [`ik`] |
//! | what happens in a step | [`events`], [`root_motion`] |
//! | pose crowds | [`gpu`], [`cpu`] |
//! | hold a part of long clips | [`packed`] |
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
//! leads from a question to a file. docs/what-is-read.md lists formats and platforms, docs/coming-from.md the words of
//! other animation systems.
//!
//! # Crowds that change
//!
//! A [`Crowd`] on the host changes by [`Crowd::set`], [`Crowd::cross_fade`] and others, and an [`Evaluator`] reads it
//! as it is at the call. The crowds of the engines, [`CpuCrowd`](cpu::CpuCrowd) and [`GpuCrowd`](gpu::GpuCrowd), change
//! in place, by the same calls. `set_instance` replaces the layers of one instance; the GPU uploads only its records,
//! 120 bytes per layer of its capacity. `set_layers` replaces the layers of all instances, and on the GPU
//! `set_instances` the layers of several in one call. `set_goals` replaces the goals of an instance, and `transition`
//! leads it to other layers without a jump.
//!
//! A crowd has capacity for the layers and the mixing that it began with, or as [`CrowdOptions::layers`] and
//! [`CrowdOptions::mixing`] say; a crowd that cross-fades needs two layers. If new layers do not fit, nothing changes,
//! and a [`Refusal`] in [`Error::Refused`] names the reason.
//!
//! ```
//! use posse::prelude::*;
//!
//! # fn main() -> Result<(), posse::Error> {
//! let library = posse::demo::library()?;
//! let [walk, run] = ["walk", "run"].map(|name| library.find_clip(name).expect("a clip of the demo"));
//! let mut crowd = Crowd::new();
//! for instance in 0..10 {
//!     crowd.push(library.clip(walk).skeleton, &[walk.looping().phase(0.1 * f64::from(instance))])?;
//! }
//! let engine = CpuEngine::new(&library)?;
//! let mut posed = engine.crowd_with_options(&crowd, Outputs::SKIN, CrowdOptions { layers: 2, ..CrowdOptions::NONE })?;
//! for frame in 0..180 {
//!     let now = f64::from(frame) / 60.0;
//!     if frame == 120 {
//!         // All begin to run, within half a second. For one of them: set_instance(&engine, 7, crowd.layers(7)).
//!         (0..crowd.len()).try_for_each(|instance| crowd.cross_fade(instance, run.looping(), now..now + 0.5))?;
//!         posed.set_layers(&engine, &crowd)?;
//!     }
//!     engine.pose(&mut posed, Ticks::from_seconds(now));
//! }
//! println!("{}", engine.read(&posed, 7, Outputs::SKIN).skins[0][0].translation);
//! # Ok(())
//! # }
//! ```
//!
//! * To remove an instance, clear its layers, and on the GPU drop it from the [visible list](gpu#visible-instances).
//!   Until then, its events and root motion continue. Without layers, it stands in its rest pose.
//! * To add an instance, reuse a free slot of the same skeleton by `set_instance` and `set_goals`, and list it with an
//!   update interval of 1 the first time. Until it is posed, the slot holds the pose of the previous occupant. In the
//!   frame in which it is first posed, its previous pose is still the pose of that occupant.
//! * Other skeletons, or more instances, need another crowd; on the GPU it shares the
//!   [`GpuLibrary`](gpu::GpuLibrary) and its pipelines. Make a crowd whose number of instances varies as large as it
//!   can become.
//! * [`Playback::with_rate_from`] changes the speed of a playback without a jump. [`Playback::delayed`] continues after
//!   a pause.
//!
//! # Features
//!
//! ```toml
//! posse = { path = "posse" }                              # with the GPU engine
//! posse = { path = "posse", default-features = false }    # without wgpu: a build for servers
//! ```
//!
//! | feature | content |
//! |---|---|
//! | `gpu` (default) | the module [`gpu`], `measure::gpu`, and the re-export of `wgpu` |
//! | `fbx` | [`import::fbx`] reads files; it compiles C, 13 s of one core, and does not build for `wasm32` |
//! | `gltf` | `import::gltf::from_document`, for documents of the crate `gltf`, and the re-export of that crate |
//!
//! All other items need no feature: the importers but for FBX, the CPU engine and the reference. The pages at docs.rs
//! show all items, each with its feature. `posse::wgpu` and `posse::glam` are the versions of these crates in the
//! signatures. The crate `posse-render` draws crowds of glTF figures from the buffers of the GPU engine into any
//! texture, and writes picture files; the crate `posse-cli` is the command `posse`.
//!
//! # Debug builds
//!
//! Without optimization, the CPU engine takes some 60 times as long as in a release build: 1,000 foxes with two layers
//! took 65 to 72 ms per frame, 3.2 ms with `opt-level = 3` for posse alone, and 1.05 ms in a release build. Three lines
//! in the `Cargo.toml` of a program, at the root of its workspace, optimize posse in `cargo run`, and leave the program
//! as easy to debug as it is:
//!
//! ```toml
//! [profile.dev.package.posse]
//! opt-level = 3
//! overflow-checks = false
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

/// The README. Its example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// The page for people who know another animation system. Its examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/coming-from.md")]
mod coming_from_page {}

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
    pub use crate::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
    #[doc(no_inline)]
    pub use crate::transitions::NewTransition;
    #[doc(no_inline)]
    pub use crate::{
        ClipId, Crowd, CrowdOptions, Evaluator, Layer, LayerMode, LayerTime, Library, Outputs, Playback, Reference,
        Ticks, WrapMode,
    };
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
///
/// A value may have an interpolation of its own, an [`Interpolator`](curves::Interpolator) in Rust and in WGSL.
/// [`contract::compare`] compares the two: examples/custom_interpolation.rs.
pub mod curves {
    pub use crate::model::{
        Curve, CurveEasing, Easing, Extrapolation, Interpolation, Interpolator, InterpolatorId, Target, Timeline, Track,
    };
}

/// Events of a clip, and the list of what fired in a step.
///
/// `GpuEvents` lists an [`Occurrence`](events::Occurrence) (instance, layer, event, tick) for every event between two
/// ticks, on the GPU; [`CpuEngine::events`](cpu::CpuEngine::events) gives the same list. The ticks are exact, and every
/// pass of a loop counts. If the list is full, the missed events are counted.
///
/// [`Player`](playback::Player) serves callers without a crowd clock: it steps one play frame by frame and fires events
/// as Cocos Creator does, the end of a pass at most once per frame.
pub mod events {
    pub use crate::model::{Event, EventList, Occurrence};
}

/// Inverse kinematics: a [`Chain`](ik::Chain) of joints, from its root to its effector, and a [`Goal`](ik::Goal) with
/// the target that the effector is to reach.
///
/// A chain of a library ([`Library::add_chain`]) names the joints that rotate: two bones, such as hip, knee and ankle,
/// or one joint that aims, such as a head. A goal of an instance ([`Crowd::set_goals`]) has a chain, a target in model
/// space and a weight. Target and weight are numbers, or parameters of the instance.
///
/// Goals act in order, after mixing and transitions. Each goal acts on the pose that the goal before it left, and all
/// outputs show the pose after the last goal. Root motion, events and the displacement of a transition follow from the
/// pose before all goals. Lengths of bones and scales of joints stay.
///
/// Two bones bend in the plane of the pose until their end is as far away as the target, then swing to it by the
/// shortest way. A pole rotates the middle joint to its side, and gives a straight limb a plane to bend in. The end
/// stays 1e-4 of the limb's length away from straight and folded limbs. With `hold`, the third joint keeps its model
/// rotation, as a foot on the ground does.
///
/// # Crowds of an engine
///
/// `set_goals` of a `GpuCrowd` or [`CpuCrowd`](cpu::CpuCrowd) replaces the goals of an instance, within the capacity
/// for goals of [`CrowdOptions::goals`]. On the GPU, a kernel reads the parameters of targets and weights in each
/// frame, so that a kernel of the caller can move targets: [`gpu`](gpu#parameters-and-transitions). Joints beyond the
/// level of detail of a visible instance take part at rest: feet stay on the ground at all levels. Goals cost least
/// where the joints that lead to a chain keep one uniform scale above 0 in the rest pose and in all clips.
///
/// [`Chain`](ik::Chain) has an example, examples/terrain puts feet on hills, and `ik` of a group in a
/// [crowd file](import::crowd::FORMAT) has goals, too.
pub mod ik {
    pub use crate::model::{Chain, ChainId, ChainKind, Goal, GoalTarget, GoalWeight};
}

/// What the engines read and write: a library in two flat arrays, and where the numbers of a pose lie.
///
/// # Long clips
///
/// An engine can hold ten seconds of a clip of an hour: before the time leaves its part, the engine takes the next
/// part, which overlaps, in its place. Crowds stay, with their buffers on the GPU.
///
/// 1. [`Library::trim_clips`] drops the keys that no time in a range reads. Ids, duration, key times, events and
///    markers stay, so that the same crowd plays in an engine of the trimmed library, and poses in the range are the
///    poses of the whole clip. A copy of a library shares its values.
/// 2. [`PackedLibrary::reserve_for`](packed::PackedLibrary::reserve_for), which has an example, tells the first part
///    what the other parts need on a GPU. Another thread can trim and pack.
/// 3. [`CpuEngine::replace_library`](cpu::CpuEngine::replace_library) or `GpuLibrary::replace` takes the next part.
///
/// A compressed part is quantized by its own values. Some things read times outside of the range: additive layers
/// against the first frame (time 0); root motion, which reads the start of the step, too, and both ends of a clip that
/// begins again; [`Crowd::begin_transition`], and velocities of [`bake`]. Begin transitions with the whole library.
pub mod packed {
    pub use crate::pack::{Aligned, OutputLayout, OutputNumbers, PackedLibrary};
}

/// Numbers of an instance that drive the times and weights of its layers.
///
/// An instance has up to 16 parameters ([`Crowd::set_parameters`]), each constant or piecewise linear on the crowd
/// clock. [`LayerTime::Phase`] counts cycles of a clip by a parameter. [`Layer::driver`] is a factor of the weight:
/// [`WeightDriver::Knots`](parameters::WeightDriver::Knots) is a function of one parameter,
/// [`WeightDriver::Point`](parameters::WeightDriver::Point) the share of a point of a
/// [`BlendSpace`](parameters::BlendSpace) at the position of two parameters. On the GPU, a kernel of the caller can
/// write the parameters: [`gpu`](gpu#parameters-and-transitions).
///
/// # Synchronised layers
///
/// [`LayerTime::Synced`] keeps a layer at the same part of its clip as an earlier layer, its leader. If both clips have
/// as many sync markers ([`Library::set_markers`]), it is at the same part of the way from one marker to the next. The
/// events of a clip can be its markers: [`Clip::event_times`] lists the times of the events of a name, such as the
/// steps of a Cocos clip. glTF has no convention for markers, so none are read from `extras`.
/// [`Playback::with_blend_length`] gives a leader the rate at which a mixture of clips takes the mean of their lengths.
///
/// Feet of synchronised gaits stay in place if the phase advances by the distance divided by the mean of the gaits'
/// metres per cycle, and if all gaits are over the same foot at the same part of the cycle: examples/locomotion.
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
///
/// A clip may name a root joint and the part of its movement that moves the instance: axes, yaw, or the whole rotation
/// ([`Library::set_root_motion`]). That part is removed from the pose. With [`Outputs::root_motion`], engines return it
/// as the [`Motion`](root_motion::Motion) from one tick to another; loops are counted, and layers are blended by
/// weight.
///
/// Axes and motions are in the space of the joint's parent.
/// [`RootMotion::on_ground`](root_motion::RootMotion::on_ground) finds the horizontal axes, also in files that were
/// made with +Z up. [`RootMotion::space`](root_motion::RootMotion::space) and
/// [`Motion::in_space`](root_motion::Motion::in_space) convert a motion to the space of the instance.
pub mod root_motion {
    pub use crate::model::{Motion, RootMotion, RootRotation};
}

/// From some layers to others: fades of their weights, and transitions by inertialization or dead blending.
///
/// [`Crowd::cross_fade`] leads an instance to another clip by fades of weights. The engines evaluate the ramps of a
/// [`Fade`](transitions::Fade), so that a cross-fade takes one upload and no further work on the host; both clips are
/// sampled while it lasts.
///
/// A [`Transition`](transitions::Transition) leads from the layers that go out to the layers of the instance, without
/// playing both: the difference of the two poses and of their speeds is taken once, and decays.
/// [`Crowd::begin_transition`] begins one from the pose that the instance shows, without a jump of pose or speed, and
/// may interrupt another one; [`Crowd::set_transition`] gives all of it. `transition` of a `GpuCrowd` or
/// [`CpuCrowd`](cpu::CpuCrowd) does so in place, within the capacity for transitions of [`CrowdOptions::transitions`].
///
/// [`NewTransition`](transitions::NewTransition) has an example.
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
        pub use crate::gpu::allocation::{create_buffer, create_encoder, fault_point, filled_buffer};
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
        pub use crate::import::gltf::accessor::{AccessorLayout, Component};
        pub use crate::import::gltf::document::GltfDocument;
        pub use crate::import::gltf::files::{Files, FilesByName};
        pub use crate::import::gltf::parse::{open as open_container, text as document_text};
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
