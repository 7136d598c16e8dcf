//! The selection of an instruction set at run time.

#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::avx512::Avx512;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
use crate::cpu::simd::neon::Neon;
use crate::cpu::simd::portable::Portable;
use crate::cpu::simd::{Kernel, Lanes};

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
            Self::Avx512 => Avx512::<false>::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Avx2::<false>::detect().is_some(),
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
        self.dispatch::<K, false>(kernel)
    }

    /// Runs a kernel as [`run`](Self::run) does, without the estimates of a processor:
    /// [`bake::arithmetic`](crate::bake::arithmetic) tells which instruction sets then give the same bits.
    ///
    /// The estimate of `1 / sqrt(x)` differs between instruction sets, and between makers of processors. Exact
    /// registers divide by the square root instead, because every machine rounds both correctly. Baked motion uses
    /// them: its files must not depend on the machine of a cluster that wrote them. Crowds keep the estimate, which is
    /// faster.
    pub(in crate::cpu) fn run_exact<K: Kernel>(self, kernel: K) -> K::Output {
        self.dispatch::<K, true>(kernel)
    }

    /// Runs a kernel, in exact registers if `EXACT` is set.
    fn dispatch<K: Kernel, const EXACT: bool>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if self == Self::Avx512
            && let Some(token) = Avx512::<EXACT>::detect()
        {
            return Avx512::call(token, kernel);
        }
        #[cfg(target_arch = "x86_64")]
        if self == Self::Avx2
            && let Some(token) = Avx2::<EXACT>::detect()
        {
            return Avx2::call(token, kernel);
        }
        #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
        if self == Self::Neon {
            return Neon::call(Neon::<EXACT>::available(), kernel);
        }
        Portable::call(Portable::available(), kernel)
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec4;

    use super::*;
    use crate::cpu::simd::{LARGEST_BLOCK, Token};

    /// The bits of `1 / sqrt(x)` of some numbers.
    struct InverseSquareRoots<'a>(&'a [f32; LARGEST_BLOCK]);

    impl Kernel for InverseSquareRoots<'_> {
        type Output = Vec<u32>;

        fn run<L: Lanes>(self, token: Token<L>) -> Vec<u32> {
            let of_register = |numbers: &[f32]| bits(load::<L>(token, numbers).inverse_square_root());
            self.0.chunks(L::BLOCK).flat_map(of_register).collect()
        }
    }

    /// The bits of some numbers with the signs of others.
    struct WithSigns<'a>(&'a [f32; LARGEST_BLOCK], &'a [f32; LARGEST_BLOCK]);

    impl Kernel for WithSigns<'_> {
        type Output = Vec<u32>;

        fn run<L: Lanes>(self, token: Token<L>) -> Vec<u32> {
            let registers = self.0.chunks(L::BLOCK).zip(self.1.chunks(L::BLOCK));
            let signed =
                registers.map(|(numbers, signs)| load::<L>(token, numbers).with_sign_of(load::<L>(token, signs)));
            signed.flat_map(bits).collect()
        }
    }

    /// The lesser and the greater number of each lane.
    struct Extremes<'a>(&'a [f32; LARGEST_BLOCK], &'a [f32; LARGEST_BLOCK]);

    impl Kernel for Extremes<'_> {
        type Output = [Vec<u32>; 2];

        #[inline(always)]
        fn run<L: Lanes>(self, token: Token<L>) -> [Vec<u32>; 2] {
            let (one, other) = (load(token, &self.0[..L::BLOCK]), load::<L>(token, &self.1[..L::BLOCK]));
            [bits(one.min(other)), bits(one.max(other))]
        }
    }

    fn load<L: Lanes>(token: Token<L>, numbers: &[f32]) -> L {
        L::load(token, &numbers.chunks(4).map(Vec4::from_slice).collect::<Vec<_>>())
    }

    fn bits<L: Lanes>(register: L) -> Vec<u32> {
        let mut stored = vec![Vec4::ZERO; L::BLOCK / 4];
        register.store(&mut stored);
        stored.iter().flat_map(|numbers| numbers.to_array()).map(f32::to_bits).collect()
    }

    fn available() -> impl Iterator<Item = InstructionSet> {
        InstructionSet::ALL.into_iter().filter(|set| set.is_available())
    }

    #[test]
    fn exact_inverse_square_roots_are_rounded_as_the_standard_library_rounds_them() {
        let mut numbers: [f32; LARGEST_BLOCK] =
            [1.0, 2.0, 4.0, 1e-30, 1e38, f32::MIN_POSITIVE, 0.1, 0.3, 0.7, 0.9, 3.0, 5.0, 7.0, 1e-3, 1e3, 11.0];
        for round in 0..500 {
            let expected: Vec<u32> = numbers.iter().map(|number| (1.0 / number.sqrt()).to_bits()).collect();
            for set in available() {
                let found = set.run_exact(InverseSquareRoots(&numbers));
                assert_eq!(found, expected, "{}, round {round}: {numbers:?}", set.name());
            }
            numbers = numbers.map(|number| 0.1 + (number * 1.37) % 3.9);
        }
    }

    #[test]
    fn a_negated_zero_is_minus_zero_in_every_instruction_set() {
        let (mut numbers, mut signs) = ([0.0; LARGEST_BLOCK], [0.0; LARGEST_BLOCK]);
        numbers[..8].copy_from_slice(&[0.0, -0.0, 2.5, -2.5, 0.0, -0.0, 2.5, -2.5]);
        signs[..8].copy_from_slice(&[-1.0, -1.0, -1e-40, -9.0, -0.0, 1.0, 0.0, f32::NAN]);
        let mut expected = [0.0_f32; LARGEST_BLOCK];
        expected[..8].copy_from_slice(&[-0.0, 0.0, -2.5, 2.5, 0.0, -0.0, 2.5, -2.5]);
        for set in available() {
            let expected: Vec<u32> = expected.iter().map(|number| number.to_bits()).collect();
            assert_eq!(set.run(WithSigns(&numbers, &signs)), expected, "{}", set.name());
        }
    }

    #[test]
    fn what_is_no_number_gives_way_to_the_other_in_every_instruction_set() {
        let numbers: [f32; LARGEST_BLOCK] = std::array::from_fn(|lane| [f32::NAN, 1.0, 3.0, -f32::NAN][lane % 4]);
        for set in available() {
            let [least, greatest] = set.run(Extremes(&numbers, &[2.0; LARGEST_BLOCK]));
            for (lane, (least, greatest)) in least.into_iter().zip(greatest).enumerate() {
                let found = (f32::from_bits(least), f32::from_bits(greatest));
                assert_eq!(found, [(2.0, 2.0), (1.0, 2.0), (2.0, 3.0), (2.0, 2.0)][lane % 4], "{}", set.name());
            }
        }
    }
}
