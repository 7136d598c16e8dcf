//! Motion in bulk: clips at many times, as arrays of `f32`.
//!
//! [`clip`](fn@clip) computes a whole clip in one call: positions, rotations and velocities in model space, local
//! transforms, skin matrices, morph weights and properties. Where frames of many clips are mixed, or do not fit into
//! memory, an [`ArrayLayout`] names the arrays of a skeleton, and [`ArrayLayout::sample`] fills them for a list of
//! [`Moment`]s. [`FrameGrid`] has the times of a clip at a frame rate. `posse bake` and the Python package write these
//! numbers. Nothing here needs a crowd or a feature.
//!
//! Each moment is computed alone. Its numbers do not depend on the other moments, on the number of threads, or on the
//! processor, except as [`arithmetic()`] says: on one architecture, engines with the same name of their arithmetic give
//! the same bits. AVX2 and AVX-512 do, on any processor.
//!
//! * By default, [`BakeOptions`] ask for [`Pos`](ArrayKind::Pos) and [`Quat`](ArrayKind::Quat) of all joints, +Y up, at
//!   the rate of the clip's keys. [`stated_fps`] tells the frame rates of the clips of a file: for FBX the rate of
//!   sampled keys, otherwise the rate of the file.
//! * A [`Moment`] is a clip at a time. Moments of several clips of one skeleton can be mixed in any order.
//! * Velocities are central differences of the clip over the times of the moment; at the ends of a clip they are
//!   one-sided. An angular velocity is the mean of the differences on both sides, right up to 180 degrees in each.
//! * [`ArrayLayout::sample_with`] takes the poses of any engine, for example the reference.
//! * Arrays of kind [`Contact`](ArrayKind::Contact) are left as they are: contacts are a matter of whole clips, see
//!   [`quality`](crate::quality).
//!
//! examples/arrays.rs makes arrays of all clips of a file.
//!
//! # Examples
//!
//! A whole clip:
//!
//! ```
//! use posse::bake::{self, ArrayKind, BakeOptions, UpAxis};
//! use posse::cpu::CpuEngine;
//! use posse::demo;
//!
//! # fn main() -> Result<(), posse::Error> {
//! let library = demo::library()?;
//! let walk = library.find_clip("walk").expect("the demo walks");
//! let hands = library.skeleton(library.clip(walk).skeleton).select_joints(&["hand.L", "hand.R"])?;
//! let arrays = vec![ArrayKind::Pos, ArrayKind::Linvel];
//! let options = BakeOptions { fps: Some(60.0), arrays, joints: Some(hands), up: UpAxis::Z, ..BakeOptions::default() };
//! let baked = bake::clip(&library, &CpuEngine::new(&library)?, walk, &options)?;
//! let positions = baked.array(ArrayKind::Pos).expect("positions are baked");
//! assert_eq!(positions.shape, [baked.frames, 2, 3]);
//! // The height of the left hand in the first frame, z up.
//! assert!((0.5..1.2).contains(&positions.data[2]));
//! # Ok(())
//! # }
//! ```
//!
//! Slices of the caller, for moments of any clips:
//!
//! ```
//! use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, FrameGrid};
//! use posse::cpu::CpuEngine;
//! use posse::demo;
//!
//! # fn main() -> Result<(), posse::Error> {
//! let library = demo::library()?;
//! let clip = library.find_clip("walk").expect("the demo walks");
//! let skeleton = library.clip(clip).skeleton;
//! let nodes: Vec<usize> = (0..library.skeleton(skeleton).joints().len()).collect();
//!
//! let request = ArrayRequest { kinds: vec![ArrayKind::Pos, ArrayKind::Linvel], ..ArrayRequest::of_joints(&nodes) };
//! let layout = ArrayLayout::new(&library, skeleton, &nodes, &request)?;
//! let grid = FrameGrid::new(60.0, library.clip(clip).duration())?;
//! let moments: Vec<_> = (0..grid.len()).map(|frame| grid.moment(clip, frame)).collect();
//!
//! let mut arrays: Vec<Vec<f32>> = layout.arrays().iter().map(|array| vec![0.0; moments.len() * array.width()]).collect();
//! let mut slices: Vec<&mut [f32]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
//! layout.sample(&CpuEngine::new(&library)?, &moments, &mut slices)?;
//! assert_eq!(arrays[0].len(), moments.len() * 64 * 3);
//! # Ok(())
//! # }
//! ```

mod clip;
mod layout;
mod request;
mod rotation;
mod sample;
mod write;

pub use clip::{ArrayView, BakeOptions, BakedClip, clip};
pub use layout::{ArrayLayout, ArrayShape};
pub use request::{
    ArrayKind, ArrayRequest, DEFAULT_FPS, FrameGrid, MAX_FRAMES, Moment, QuaternionOrder, UpAxis, last_frame,
    native_fps, own_fps, stated_fps,
};
pub use sample::{GoalsAt, PoseAt, arithmetic};
