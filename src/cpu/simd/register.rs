//! The primitive operations of a register, of which each instruction set has its own, and the proof that this machine
//! has the instructions.

use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Sub};

use glam::Vec4;

use crate::cpu::simd::LARGEST_BLOCK;

/// Proof that this machine has the instructions of the registers `L`. It takes no memory.
///
/// Registers whose instructions a machine may lack have the token of their type as a field. Code that makes a register
/// from memory or numbers, and not from another register, thus needs a token. An instruction set gives one after it has
/// found the instructions, a kernel gets it as a parameter, and a register returns its own.
pub struct Token<L>(PhantomData<L>);

impl<L> Token<L> {
    /// A token without a test of the machine.
    ///
    /// # Safety
    /// The machine must have all instructions that the methods of `L` use.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub const unsafe fn new_unchecked() -> Self {
        Self(PhantomData)
    }
}

impl<L> Clone for Token<L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Token<L> {}

/// A register: four numbers for each of a few neighbouring joints, or of one joint of a few instances.
///
/// A value is a proof that the machine has the instructions, because only functions with a [`Token`] make one from
/// anything else. [`token`](Self::token) returns the proof.
///
/// Four registers are a block. After [`transpose`](Self::transpose), each of them holds one of the four numbers for all
/// joints of the block. The order of the joints then depends on the instruction set; a second transposition restores
/// it.
pub trait Register: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// The number of joints in a block: four registers.
    const BLOCK: usize;

    /// The proof that made this register.
    fn token(self) -> Token<Self>;

    /// A register with one number in all lanes.
    fn splat(token: Token<Self>, number: f32) -> Self;

    /// Loads the first joints of a slice.
    fn load(token: Token<Self>, from: &[Vec4]) -> Self;

    /// Loads four numbers per joint, which begin `stride` numbers after those of the joint before.
    #[inline(always)]
    fn load_apart(token: Token<Self>, from: &[f32], stride: usize) -> Self {
        let mut joints = [Vec4::ZERO; LARGEST_BLOCK / 4];
        for (lane, joint) in joints[..Self::BLOCK / 4].iter_mut().enumerate() {
            *joint = Vec4::from_slice(&from[lane * stride..]);
        }
        Self::load(token, &joints)
    }

    /// Stores the joints at the start of a slice.
    fn store(self, to: &mut [Vec4]);

    /// Stores the lowest 16 bits of each number: one word per joint, with its first number in the lowest bits.
    fn store_low_bits(self, to: &mut [u64]);

    /// `self * factor + addend`.
    fn multiply_add(self, factor: Self, addend: Self) -> Self;

    /// The lesser number of each lane; that of `other` where `self` is NaN.
    fn min(self, other: Self) -> Self;

    /// The greater number of each lane; that of `other` where `self` is NaN.
    fn max(self, other: Self) -> Self;

    /// `sqrt(self)`, rounded correctly.
    fn square_root(self) -> Self;

    /// `1 / sqrt(self)`, off by at most two roundings of an `f32`, for numbers far from the ends of its range.
    fn inverse_square_root(self) -> Self;

    /// The numbers of `other` in lanes where `tested` is 0, otherwise the numbers of `self`.
    fn replace_where_zero(self, tested: Self, other: Self) -> Self;

    /// The numbers, negated where the numbers of `other` are below 0.
    fn with_sign_of(self, other: Self) -> Self;

    /// Returns `true` if the number of any lane is less than the number of `than`.
    fn any_less(self, than: Self) -> bool;

    /// The same numbers with 1 as the fourth number of each joint.
    fn with_one(self) -> Self;

    /// The sum of the four numbers of each joint, in all of its four lanes.
    fn sum_of_joint(self) -> Self;

    /// Turns rows into columns within each joint of a block.
    fn transpose(block: [Self; 4]) -> [Self; 4];
}
