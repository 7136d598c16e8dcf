//! The registers that the kernels are written in, one type for each instruction set, and which of them a machine has.

/// The arithmetic of a register, an intrinsic for each operator.
#[cfg(target_arch = "x86_64")]
macro_rules! operators {
    ($register:ident: $($operator:ident $method:ident $intrinsic:ident),*) => {
        $(impl $operator for $register {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: a value of the type exists only where the machine has the instructions.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        })*
    };
}
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod block;
mod lanes;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod portable;

pub use lanes::{Kernel, Lanes, Matrix, PackedMatrix};

use portable::Portable;

/// An instruction set that the CPU engine has kernels for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// AVX-512: registers of 16 numbers.
    Avx512,
    /// AVX2 with fused multiplication and addition, and conversion to `f16`: registers of 8 numbers.
    Avx2,
    /// NEON, which 64-bit ARM has: registers of 4 numbers, two at a time.
    Neon,
    /// What any machine can run, by `glam`'s vectors of 4 numbers, which are SSE2 on x86.
    Portable,
}

impl InstructionSet {
    /// All of them, widest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// The widest that this machine has.
    pub fn widest() -> Self {
        Self::ALL.into_iter().find(|set| set.is_available()).unwrap_or(Self::Portable)
    }

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::is_available(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            Self::Neon => cfg!(all(target_arch = "aarch64", target_feature = "neon")),
            Self::Portable => true,
        }
    }

    /// Its name: `avx512`, `avx2`, `neon` or `portable`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Portable => "portable",
        }
    }

    /// Runs a kernel in this instruction set's registers, or in the portable ones where the machine has no such.
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 if self.is_available() => avx512::run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 if self.is_available() => avx2::run(kernel),
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Self::Neon => kernel.run::<neon::Neon>(),
            _ => kernel.run::<Portable>(),
        }
    }
}
