//! The stages of a block of joints in registers, generic over [`Lanes`](crate::cpu::simd::Lanes).
//!
//! Everything here is inlined into the kernel of an instruction set, or into a part of it; see
//! [`Kernel`](crate::cpu::simd::Kernel).

pub mod hierarchy;
pub mod inverse_kinematics;
pub mod outputs;
pub mod quat;
pub mod slerp;

use glam::Vec4;

use crate::cpu::simd::LARGEST_BLOCK;
use crate::pack::Aligned;

/// Three arrays with a number per joint, and room for one more block: translations, rotations and scales, or the rows
/// of matrices.
#[derive(Debug, Clone, Default)]
pub struct JointParts(pub [Aligned<Vec4>; 3]);

impl JointParts {
    /// The number of bytes.
    pub fn size(&self) -> usize {
        self.0.iter().map(|part| size_of_val(&**part)).sum()
    }

    /// Makes room for `joints` joints and one more block.
    pub fn resize(&mut self, joints: usize) {
        self.0.iter_mut().for_each(|part| part.resize(joints + LARGEST_BLOCK, Vec4::W));
    }
}
