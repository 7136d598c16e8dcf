//! Motion in bulk: clips at many times, as arrays of `f32`.
//!
//! [`clip`](fn@clip) computes a whole clip in one call: positions, rotations and velocities in model space, local
//! transforms, skin matrices, morph weights and properties. Where frames of many clips are mixed, or do not fit into
//! memory, an [`ArrayLayout`] names the arrays of a skeleton, and [`ArrayLayout::sample`] fills them for a list of
//! [`Moment`]s. [`FrameGrid`] has the times of a clip at a frame rate. `posse bake` and the Python package write these
//! numbers.
//!
//! Each moment is computed alone. Its numbers do not depend on the other moments, on the number of threads, or on the
//! processor, except as [`arithmetic()`] says.
//!
//! # Examples
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
