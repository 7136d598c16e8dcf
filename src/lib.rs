//! Poses crowds: real keyframes, evaluated on the GPU for tens of thousands of rigs at once, and checked against an
//! `f64` reference.
//!
//! # Map
//!
//! * [`model`]: the nouns. A [`Library`] holds [`Skeleton`]s, [`Skin`]s and [`Clip`]s; a [`Crowd`] is the question,
//!   [`Poses`] are the answer.
//! * [`import`]: files to a [`Library`], or to an [`UnboundClip`] that [`Library::bind`] gives a skeleton;
//!   [`Library::share_clip`] gives a clip another one.
//! * [`pack`]: a library in flat arrays, a [`PackedLibrary`], which the fast engines read; a [`CompressedLibrary`] for keys of few bits.
//! * The engines, each an [`Evaluator`]: [`gpu`], [`cpu`], [`mod@reference`].
//! * [`contract`]: how far an engine may be from the reference, and how far it is.
//! * [`player`]: a play stepped frame by frame, for who has no crowd's clock.
//! * [`measure`]: how fast it is. [`demo`]: rigs made in code.
//! * `render`, with the feature of that name: pictures of crowds, from the GPU engine's buffers.
//!
//! # Architecture
//!
//! Each layer imports only what is to its right:
//! `main -> cli -> lib -> {measure, player, render} -> {contract, cpu, gpu} -> pack -> {reference, import, demo, evaluator} -> model -> error`.
//! The reference reads the model and never the packing, so that a fault of the packing shows.
//!
//! Where this departs from common practice:
//!
//! * The model speaks `f64`. Files hold `f32`, but clips built in code need not, and the reference wants the source's numbers.
//!   A curve keeps the `f32`s of a file as they are and makes `f64`s of them when somebody first asks, which packing does not:
//!   loading a file is then bounded by the memory that its keys fill.
//! * A stored rotation is interpolated as it stands, and normalised after (glTF 2.0, appendix C.4), unless its length is off
//!   by more than a tenth: normalising first would turn files with rounded quaternions by up to 7e-5 rad.
//! * Times are pairs of `f32` on the GPU. A lone `f32` is off by half a microsecond after 8 s, and a joint that turns fast
//!   then misses its bound.
//! * Easing is a matter of the search, not of the channels: a timeline with two easings is packed as two, which share their
//!   key times. Each is then eased once an instance, and sampling need not know.
//! * A curve that loops beyond its keys has its key times laid out over the clip by the packing, each saying which key it
//!   stands for: kernels know of no loop, and values are stored once. The weighted tangents of a real curve are a Bezier
//!   easing whose y is its own parameter, before an ordinary spline.
//! * Colours leave the engines unrounded; who wants bytes cuts them last. Quaternions of properties are not normalised, as in
//!   Cocos Creator; a joint's are.
//! * Of Cocos Creator's figures one is not met on purpose: a quaternion whose w is 0 became one of w 1 in a constructor of that
//!   engine's.
//! * Three kernels pose: one for instances of a single plain layer, one for layers that blend, one for all others. Instances of
//!   a skeleton are grouped by which they need, so that what mixing needs costs nobody who plays one clip, unless a crowd is
//!   made with room for more ([`CrowdOptions`]): then all pay for it. Root motion and events have kernels of their own, run
//!   where they are wanted.
//! * Each of them has two forms, of the same stages ([`gpu::form`]): on hardware the lanes of a workgroup share the joints of an
//!   instance, on a software renderer each walks those of its own. Both are held to the same tests.
//! * Where a list on the GPU says who is visible, the pose kernels are the same: they find their instance in what is due. Those
//!   of few joints stand, for the others, in the clip without tracks, level by level, so that whole waves have nothing to sample.
//! * Skin matrices of half the bytes are another kernel, not a branch: whoever takes them in full pays nothing. An `f16` is
//!   rounded by whole numbers, since WGSL leaves open which way its own packing rounds; whether scales are uniform enough for
//!   dual quaternions is known from the keys when a library is packed, not looked for in frames.
//! * Kernels are compiled without what the library does not use: a branch never taken costs registers, and a software renderer
//!   takes both ways.
//! * The CPU engine's kernels are written once, over a register type, and compiled for each instruction set ([`cpu::simd`]); it
//!   reads the same packing as the GPU, in which neighbouring joints' keys are neighbours.
//! * The hierarchy is walked by doubling distances, not level by level: no barrier a level, and one way for all shapes.
//! * The events that a step of the clock reaches are all there are, each with its tick, however long the step: what lies in
//!   every pass is counted, not walked. [`player`] fires as Cocos Creator does, which goes through an end but once a frame.
//! * Animations are parsed by our own small structs, not by the `gltf` crate, which refuses channels without a node (and with
//!   them every file animated by pointers), holds nodes in `f32`, and panics on some broken files. Meshes, materials and
//!   textures, which are drawn but not posed, are read with that crate, from the document without its animations; what its
//!   readers read is checked first. A document that the crate has loaded becomes the importer's own structs
//!   (`import::gltf::from_document`), so that there is one importer.
//! * Meshopt decoding is our own and safe: the reference implementation needs a C++ compiler, which a machine with a Rust
//!   toolchain need not have, and does not build for the web. Tests hold it against that implementation.
//! * Compressed keys are a step from library to library ([`pack::compressed`]): what comes out holds the numbers that the engines
//!   decode, so that they are held to the reference as strictly as ever, and that library to the one that went in.
//! * Pictures are drawn from the buffers that the kernels write; the renderer copies no pose. Meshes are parsed on their own, so
//!   that loading clips pays nothing for them.
//! * The shadow map is used up to a size that goes with the scene's: its filter is some texels wide, and so a penumbra stays
//!   the same part of a figure.
//!
//! # Crowds that change
//!
//! A [`Crowd`] is changed by [`Crowd::set`]; engines that are asked by [`Evaluator`] take it as it then is. A [`GpuCrowd`] is
//! given other layers in place, all of them by [`GpuCrowd::set_layers`] or one instance's by [`GpuCrowd::set_instance`], within
//! the room that [`CrowdOptions`] made; a [`LayersOutcome`] says what does not fit. Who leaves is left out of the lists of
//! [`GpuCrowd::encode_visible`], and who comes takes a place of the same skeleton; as another skeleton, or one more, it needs
//! another [`GpuCrowd`]. A playback's speed changes by [`Playback::with_rate_from`].
//!
//! # Example
//!
//! The README's, which is run as a test:
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

/// The README, whose example must run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// The page on the library, whose examples must run.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod library_page {}

mod compress;
pub mod contract;
mod cpu;
pub mod demo;
mod error;
mod evaluator;
#[cfg(feature = "gpu")]
mod gpu;
pub mod import;
pub mod measure;
mod model;
mod pack;
mod player;
mod reference;
#[cfg(feature = "render")]
pub mod render;

// Their types are in signatures, and a caller's have to be of the same versions.
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
    AdapterKind, CrowdOptions, GpuBatch, GpuContext, GpuCrowd, GpuEngine, GpuEvents, GpuLibrary, KernelForm,
    LayersOutcome,
};

// Listed with their summaries, not as bare names.
#[doc(inline)]
pub use self::{
    compress::{ClipReport, CompressedLibrary, ErrorBound, Length},
    cpu::{CpuBatch, CpuCrowd, CpuEngine, InstructionSet},
    error::Error,
    evaluator::Evaluator,
    import::Warning,
    model::{
        AdditiveReference, Binding, BindingFault, BoundTrack, Clip, ClipId, Crowd, Curve, CurveEasing, Easing, Event,
        EventList, Extrapolation, Fade, FadeShape, FaultKind, Interpolation, Interpolator, InterpolatorId, Joint,
        Layer, LayerMode, LayerTime, Library, Mask, MaskId, Mixing, Motion, Occurrence, Outputs, Playback, Pose, Poses,
        Property, RootMotion, RootRotation, Sharing, SharingFault, SharingFaultKind, Skeleton, SkeletonId, Skin,
        SkinFormat, SkinId, Slots, Step, Target, TargetPath, Ticks, Timeline, Track, Transform, UnboundClip,
        UnboundCurves, UnboundTrack, ValueKind, WrapMode, color_bytes,
    },
    pack::record::VisibleInstance,
    pack::{OutputLayout, OutputNumbers, PackedLibrary},
    player::Player,
    reference::Reference,
};

/// What tests, benches and the command line need beside the public face. None of it is promised: it changes without notice.
#[doc(hidden)]
pub mod low_level {
    pub use crate::compress::rig_size;
    #[cfg(feature = "gpu")]
    pub use crate::gpu::{Bandwidth, Stopwatch};
    pub use crate::pack::threads::all_threads;
    pub use crate::pack::{record, skin_format};
    /// Vertices as the vertex shader moves them, and scenes of the command line.
    #[cfg(feature = "render")]
    pub mod render {
        pub use crate::render::demo_figure::{demo_dyes, demo_figure};
        pub use crate::render::placement::{sunflower, tint};
        pub use crate::render::probe::vertex_positions;
    }
    /// Single stages of the reference, for tests that hold one stage alone to figures.
    pub mod reference {
        pub use crate::reference::ease::ease;
        pub use crate::reference::events::{Events, fired};
        pub use crate::reference::phase::{Phase, clip_time, phase, played};
        pub use crate::reference::sample::value;
    }
}
