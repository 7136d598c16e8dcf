//! The tracks of a clip that move.

use posse::bake::{ArrayKind, ArrayLayout};

use crate::bake::format::ClipHead;
use crate::bake::format::rest::Space;

/// The keys of one part of the transform of a node.
#[derive(Debug, Clone, Copy)]
pub struct Channel {
    /// The joint.
    pub joint: usize,
    /// The index of the array of the keys.
    pub array: usize,
    /// The part.
    pub kind: ArrayKind,
    /// The position of the joint in the array.
    pub position: usize,
    /// Numbers per key.
    pub numbers: usize,
}

/// The first frame of each array, and the joints whose later frames differ from it.
pub struct Motion {
    first: Vec<Vec<f32>>,
    moves: Vec<Vec<bool>>,
    last_time: Option<f32>,
}

impl Motion {
    pub fn new(layout: &ArrayLayout) -> Self {
        let arrays = layout.arrays();
        Self {
            first: vec![Vec::new(); arrays.len()],
            moves: arrays.iter().map(|_| vec![false; layout.joints().len()]).collect(),
            last_time: None,
        }
    }

    /// Compares frames with the first one. The error is the reason for which the file cannot hold them.
    pub fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), String> {
        for &time in times {
            if self.last_time.is_some_and(|last| last >= time as f32) {
                return Err(format!(
                    "two frames near {time:?} s have the same time as the 32-bit numbers of glTF; use a lower --fps or another \
                     --format"
                ));
            }
            self.last_time = Some(time as f32);
        }
        for ((numbers, first), moves) in arrays.iter().zip(&mut self.first).zip(&mut self.moves) {
            let width = numbers.len() / times.len().max(1);
            if width == 0 {
                continue;
            }
            if first.is_empty() {
                first.extend_from_slice(&numbers[..width]);
            }
            let per_joint = width / moves.len();
            for frame in numbers.chunks_exact(width).filter(|frame| frame != first) {
                let pairs = frame.chunks_exact(per_joint).zip(first.chunks_exact(per_joint));
                moves.iter_mut().zip(pairs).for_each(|(moves, pair)| *moves |= pair.0 != pair.1);
            }
        }
        Ok(())
    }

    /// The time of the last frame.
    pub fn last_time(&self) -> f32 {
        self.last_time.unwrap_or(0.0)
    }

    /// The channels of the file, array after array: those that differ from the rest pose in any frame. If none does, it is the
    /// first possible one, so that the file has an animation of that duration.
    ///
    /// A node with a matrix cannot have channels.
    pub fn channels(&self, head: &ClipHead, space: Space) -> Vec<Channel> {
        let joints = head.library.skeleton(head.skeleton).joints();
        let mut first_possible = None;
        let mut channels = Vec::new();
        for (array, shape) in head.layout.arrays().iter().enumerate() {
            for (position, &joint) in head.layout.joints().iter().enumerate() {
                if joints[joint].matrix.is_some() {
                    continue;
                }
                let rest = space.rest(&joints[joint]);
                let rest = match shape.kind {
                    ArrayKind::LocalPos => rest.translation.as_vec3().to_array().to_vec(),
                    ArrayKind::LocalQuat => rest.rotation.as_quat().to_array().to_vec(),
                    _ => rest.scale.as_vec3().to_array().to_vec(),
                };
                let numbers = rest.len();
                let channel = Channel { joint, array, kind: shape.kind, position, numbers };
                first_possible.get_or_insert(channel);
                if self.moves[array][position] || self.first[array][position * numbers..][..numbers] != rest {
                    channels.push(channel);
                }
            }
        }
        if channels.is_empty() {
            channels.extend(first_possible);
        }
        channels
    }
}
