//! The stages of a block of joints in registers, generic over [`Lanes`](crate::cpu::simd::Lanes).
//!
//! Everything here is inlined into the kernel of an instruction set, or into a part of it; see [`Kernel`](crate::cpu::simd::Kernel).

pub mod arcs;
pub mod columns;
pub mod decode;
mod dual_quaternion;
pub mod group_layers;
pub mod hierarchy;
pub mod inverse_kinematics;
pub mod joints;
pub mod key_row;
pub mod layers;
pub mod mixer;
pub mod quat;
pub mod sampling;
pub mod search;
pub mod skin;
pub mod slerp;
