//! The proof that this machine has the instructions of a register.
#![allow(unsafe_code)]

use std::marker::PhantomData;

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
