//! Registers and instruction sets.
//!
//! [`Register`] has the primitive operations, which each instruction set implements: `avx2.rs`, `avx512.rs`, `neon.rs`,
//! `portable.rs`. [`Lanes`] has the operations of the stages, written once over the primitives unless an instruction
//! set has a faster form. [`InstructionSet`] selects an instruction set at run time and runs a [`Kernel`] in it.
//! Nothing here knows the packed library. `unsafe` code of the crate exists only in this folder.
//!
//! A stage is written once for all instruction sets, generic over [`Lanes`]. Slerp in AVX-512 is `block/slerp.rs`
//! compiled with the operations of `avx512.rs`.
//!
//! # Soundness
//! An instruction that the machine does not have is undefined behaviour. A [`Token`] is the proof that the machine has
//! the instructions of a type of register. Without `unsafe`, only the instruction set gives one, after it has found the
//! instructions. [`InstructionSet`] passes it to the kernel, and the kernel to the functions that it calls. A function
//! that makes a register from memory or numbers takes the token. A function that takes a register needs no other proof,
//! because the register has the token. Comments on safety refer to these tokens.
//!
//! # Exact registers
//! The types of registers have a parameter `EXACT`. If it is set, results do not depend on the maker of the processor:
//! see [`InstructionSet::run_exact`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod codes;
mod instruction_set;
mod lanes;
mod matrix;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod portable;
mod prefetch;
mod register;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use codes::{
    BLOCK_NUMBERS, BLOCK_WINDOW, BlockColumns, FourColumns, HALF_WINDOW, LARGEST_BLOCK, WINDOW, block_codes, codes,
};
pub use instruction_set::InstructionSet;
pub use lanes::{Kernel, Lanes};
pub use matrix::{AlignedLines, AlignedRows, Fence, Matrix, PackedMatrix, store_words, stream_rows, stream_words};
use matrix::{MATRIX_NUMBERS, Rows, multiply};
pub use prefetch::{LINE, prefetch};
pub use register::{Register, Token};
