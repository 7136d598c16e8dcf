//! The numbers of a curve, in the precision of their source.
//!
//! The model speaks `f64`, because clips built in code need not be `f32`, and the reference wants the numbers of the
//! source. Files hold `f32`: a curve keeps these and widens them on the first request. Packing makes no such request,
//! so that loading a file costs little more than copying its keys.

use std::ops::Range;
use std::sync::OnceLock;

/// The numbers of a curve: `f64`, or the `f32` of a file, which take half the memory. The first request for `f64`
/// widens them once.
#[derive(Debug, Clone)]
pub(super) enum Numbers {
    Wide(Vec<f64>),
    Narrow(Vec<f32>, OnceLock<Vec<f64>>),
}

/// The types that store the numbers of a curve.
pub(super) trait Number: Copy + PartialEq + Default + Into<f64> {
    /// Returns `true` if the number is finite and within the range of an `f32`.
    fn is_usable(self) -> bool;
}

impl Number for f64 {
    fn is_usable(self) -> bool {
        super::is_usable(self)
    }
}

impl Number for f32 {
    fn is_usable(self) -> bool {
        self.is_finite()
    }
}

/// The first unusable number, with its index.
pub(super) fn unusable<T: Number>(numbers: &[T]) -> Option<(usize, f64)> {
    // Without an early exit inside a block, the compiler checks many numbers at a time.
    let is_usable = |block: &[T]| block.iter().fold(true, |usable, number| usable & number.is_usable());
    if numbers.chunks(256).all(is_usable) {
        return None;
    }
    let index = numbers.iter().position(|number| !number.is_usable())?;
    Some((index, numbers[index].into()))
}

/// Runs an expression on the slice of numbers, of either type.
macro_rules! on_numbers {
    ($numbers:expr, $slice:ident => $result:expr) => {
        match $numbers {
            Numbers::Wide($slice) => $result,
            Numbers::Narrow($slice, _) => $result,
        }
    };
}
pub(super) use on_numbers;

impl Numbers {
    /// Some of the numbers, of the same type.
    pub fn part(&self, range: Range<usize>) -> Self {
        on_numbers!(self, numbers => numbers[range].to_vec().into())
    }

    /// All numbers in `f64`.
    pub fn wide(&self) -> &[f64] {
        match self {
            Self::Wide(numbers) => numbers,
            Self::Narrow(numbers, wide) => wide.get_or_init(|| numbers.iter().copied().map(f64::from).collect()),
        }
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Self {
        Self::Wide(numbers)
    }
}

impl From<Vec<f32>> for Numbers {
    fn from(numbers: Vec<f32>) -> Self {
        Self::Narrow(numbers, OnceLock::new())
    }
}

/// Compares values, independent of the types that store them.
impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Narrow(own, _), Self::Narrow(other, _)) => own == other,
            _ => self.wide() == other.wide(),
        }
    }
}
