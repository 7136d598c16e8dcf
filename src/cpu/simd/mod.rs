//! Registers and instruction sets.
//!
//! [`Lanes`] is the trait of a register. Each instruction set implements it: `avx2.rs`, `avx512.rs`, `neon.rs`,
//! `portable.rs`. [`InstructionSet`] selects one of them at run time and runs a [`Kernel`] in it. Nothing here knows
//! the packed library. [`Exact`](exact::Exact) registers give the same bits on machines that differ. `unsafe` code of
//! the crate exists only in this folder.
//!
//! No type of a register is visible outside this folder. A kernel is generic in its registers. Only the function `run`
//! of an instruction set names the type, after it has asserted that the machine has the instructions, and
//! [`Lanes::call`], from the code of a kernel. Code of a kernel therefore runs only on such a machine, and a value of
//! the type exists only there: comments on safety refer to this.
//!
//! A stage is written once for all instruction sets, generic over [`Lanes`]. Slerp in AVX-512 is `block/slerp.rs`
//! compiled with the operations of `avx512.rs`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod codes;
mod exact;
mod instruction_set;
mod lanes;
mod matrix;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod portable;
mod prefetch;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use codes::{
    BLOCK_NUMBERS, BLOCK_WINDOW, BlockColumns, FourColumns, HALF_WINDOW, LARGEST_BLOCK, WINDOW, block_codes, codes,
};
pub use exact::ExactKernel;
pub use instruction_set::InstructionSet;
pub use lanes::{Kernel, Lanes};
pub use matrix::{AlignedLines, AlignedRows, Matrix, PackedMatrix};
use matrix::{MATRIX_NUMBERS, Rows, multiply};
pub use prefetch::{LINE, prefetch};
