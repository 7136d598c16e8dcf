//! A whole clip as arrays, in one call.

use crate::bake::{
    ArrayKind, ArrayLayout, ArrayRequest, ArrayShape, DEFAULT_FPS, FrameGrid, Moment, QuaternionOrder, UpAxis,
    native_fps,
};
use crate::cpu::CpuEngine;
use crate::error::Error;
use crate::model::{ClipId, Library};

/// The largest number of numbers of all arrays: 16 GiB of them.
const MAX_NUMBERS: u64 = 1 << 32;

/// What [`clip`](fn@clip) computes of a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct BakeOptions {
    /// Frames per second, more than 0. By default the rate of the keys of the clip, or [`DEFAULT_FPS`] if they are not
    /// even.
    pub fps: Option<f64>,
    /// The arrays, each at most once. By default positions and rotations of joints in model space.
    pub arrays: Vec<ArrayKind>,
    /// The joints of the arrays per joint, as indices into the skeleton, each at most once. All by default.
    pub joints: Option<Vec<usize>>,
    /// The axis that points up. +Y by default.
    pub up: UpAxis,
    /// The factor of lengths, more than 0. 1 by default.
    pub scale: f64,
    /// The order of the numbers of quaternions. `xyzw` by default.
    pub quaternions: QuaternionOrder,
}

impl Default for BakeOptions {
    fn default() -> Self {
        let ArrayRequest { kinds: arrays, up, scale, quaternions, .. } = ArrayRequest::of_joints(&[]);
        Self { fps: None, arrays, joints: None, up, scale, quaternions }
    }
}

/// A clip as arrays, frame after frame.
#[derive(Debug, Clone, PartialEq)]
pub struct BakedClip {
    /// Frames per second. Frame `n` is at `n / fps` seconds; the last frame is at most at the end of the clip.
    pub fps: f64,
    /// The number of frames, at least 1.
    pub frames: usize,
    /// The names and shapes of the arrays, in the order of [`BakeOptions::arrays`].
    pub shapes: Vec<ArrayShape>,
    /// The numbers of each array, frame after frame.
    pub numbers: Vec<Vec<f32>>,
}

/// An array of a [`BakedClip`].
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayView<'a> {
    /// The lengths of the axes: frames, and the axes of [`ArrayShape::shape`], for example joints and 3.
    pub shape: Vec<usize>,
    /// The numbers, the last axis fastest.
    pub data: &'a [f32],
}

impl BakedClip {
    /// The array of a kind, the first one if a skeleton has several skins. `None` for a kind that was not asked for,
    /// and for [`ArrayKind::Skin`] of a skeleton without skins.
    pub fn array(&self, kind: ArrayKind) -> Option<ArrayView<'_>> {
        let index = self.shapes.iter().position(|array| array.kind == kind)?;
        let shape = std::iter::once(self.frames).chain(self.shapes[index].shape.iter().copied()).collect();
        Some(ArrayView { shape, data: &self.numbers[index] })
    }
}

/// Computes a clip at a frame rate as arrays of `f32`.
///
/// The engine belongs to the library, and has the clip. Its threads share the work. All frames are in memory at the
/// end.
///
/// # Errors
/// * [`Error::Usage`] for a rate or a scale that is not above 0, a joint that does not exist or is listed twice,
///   [`ArrayKind::Contact`] (see [`FootContacts`](crate::quality::FootContacts)), and an engine without the clip.
/// * [`Error::Limit`] for more than [`MAX_FRAMES`](crate::bake::MAX_FRAMES) frames, or arrays of more than 2^32
///   numbers.
///
/// # Examples
/// ```
/// use posse::bake::{self, ArrayKind, BakeOptions};
/// use posse::cpu::CpuEngine;
/// use posse::demo;
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo walks");
/// let options = BakeOptions { fps: Some(30.0), ..BakeOptions::default() };
/// let baked = bake::clip(&library, &CpuEngine::new(&library)?, walk, &options)?;
/// let positions = baked.array(ArrayKind::Pos).expect("positions are baked by default");
/// assert_eq!(positions.shape, [baked.frames, 64, 3]);
/// # Ok(())
/// # }
/// ```
pub fn clip(library: &Library, engine: &CpuEngine, id: ClipId, options: &BakeOptions) -> Result<BakedClip, Error> {
    if options.arrays.contains(&ArrayKind::Contact) {
        return Err(Error::Usage(
            "contacts are no arrays of poses; quality::FootContacts finds and writes them".into(),
        ));
    }
    let clip = library.clip(id);
    let nodes: Vec<usize> = (0..library.skeleton(clip.skeleton).joints().len()).collect();
    let request = ArrayRequest {
        kinds: options.arrays.clone(),
        joints: options.joints.clone().unwrap_or_else(|| nodes.clone()),
        up: options.up,
        scale: options.scale,
        quaternions: options.quaternions,
    };
    let layout = ArrayLayout::new(library, clip.skeleton, &nodes, &request)?;
    let fps = options.fps.or_else(|| native_fps(clip)).unwrap_or(DEFAULT_FPS);
    let grid = FrameGrid::new(fps, clip.duration())?;
    let width: usize = layout.arrays().iter().map(ArrayShape::width).sum();
    let needed = grid.len().saturating_mul(width.max(1) as u64);
    if needed > MAX_NUMBERS {
        return Err(Error::Limit { what: "numbers of a baked clip".into(), needed, allowed: MAX_NUMBERS });
    }
    let moments: Vec<Moment> = (0..grid.len()).map(|frame| grid.moment(id, frame)).collect();
    let shapes = layout.arrays().to_vec();
    let mut numbers: Vec<Vec<f32>> = shapes.iter().map(|array| vec![0.0; moments.len() * array.width()]).collect();
    let mut slices: Vec<&mut [f32]> = numbers.iter_mut().map(Vec::as_mut_slice).collect();
    layout.sample(engine, &moments, &mut slices)?;
    Ok(BakedClip { fps, frames: moments.len(), shapes, numbers })
}
