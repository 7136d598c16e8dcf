//! The arithmetic of an engine, by which the bits of results can differ.

use crate::cpu::{CpuEngine, InstructionSet};

/// The name of the arithmetic in which an engine fills arrays. Engines with the same name give the same bits.
///
/// * `fused`: AVX2 and AVX-512, on any processor. Products and sums are rounded once.
/// * `neon`: NEON, on 64-bit ARM. Products and sums are rounded once, but sums of several numbers can have another order.
/// * `portable`: all other machines. Products and sums are rounded separately.
///
/// # Examples
/// ```
/// use posse::{CpuEngine, InstructionSet, bake, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let engine = CpuEngine::new(&demo::library()?)?;
/// println!("{}", bake::arithmetic(&engine));
/// assert_eq!(bake::arithmetic(&engine.with_instructions(InstructionSet::Portable)), "portable");
/// # Ok(())
/// # }
/// ```
pub fn arithmetic(engine: &CpuEngine) -> &'static str {
    match engine.instructions() {
        InstructionSet::Avx512 | InstructionSet::Avx2 => "fused",
        InstructionSet::Neon => "neon",
        InstructionSet::Portable => "portable",
    }
}
