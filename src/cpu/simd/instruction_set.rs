//! The selection of an instruction set at run time.

use crate::cpu::simd::Kernel;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
use crate::cpu::simd::neon;
use crate::cpu::simd::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{avx2, avx512};

/// An instruction set for which the CPU engine has kernels.
///
/// # Examples
/// ```
/// use posse::cpu::{CpuEngine, InstructionSet};
/// use posse::demo;
///
/// # fn main() -> Result<(), posse::Error> {
/// // The widest instruction set of this machine is the default. A test can select each one.
/// assert!(InstructionSet::widest().is_available());
/// for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
///     let _engine = CpuEngine::new(&demo::library()?)?.with_instructions(instructions);
///     println!("{}", instructions.name());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// AVX-512 with its parts F, BW and VL: registers of 16 numbers.
    Avx512,
    /// AVX2 with fused multiplication and addition, and conversion to `f16`: registers of 8 numbers.
    Avx2,
    /// NEON, on 64-bit ARM: registers of 4 numbers, two at a time.
    Neon,
    /// Vectors of 4 numbers of `glam`, for any machine. On x86, they are SSE2; in WebAssembly with `simd128`, its own.
    Portable,
}

impl InstructionSet {
    /// All instruction sets, widest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// The widest instruction set of this machine.
    pub fn widest() -> Self {
        Self::ALL.into_iter().find(|set| set.is_available()).unwrap_or(Self::Portable)
    }

    /// Returns `true` if this machine has the instruction set. [`Portable`](Self::Portable) is always available.
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

    /// Runs a kernel in the registers of this instruction set, or in the portable ones if the machine does not have it.
    pub(in crate::cpu) fn run<K: Kernel>(self, kernel: K) -> K::Output {
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
