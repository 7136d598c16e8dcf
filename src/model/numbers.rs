//! The numbers of a curve, as narrow as their source has them.

use std::sync::OnceLock;

/// The numbers of a curve: `f64`s, or the `f32`s of a file, half as large, of which `f64`s are made once somebody asks.
#[derive(Debug, Clone)]
pub(super) enum Numbers {
    Wide(Vec<f64>),
    Narrow(Vec<f32>, OnceLock<Vec<f64>>),
}

/// What a curve's numbers are stored as.
pub(super) trait Number: Copy + PartialEq + Default + Into<f64> {
    /// Whether a number can be posed with.
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

/// The first number that cannot be posed with, and its place.
pub(super) fn unusable<T: Number>(numbers: &[T]) -> Option<(usize, f64)> {
    // Whole blocks without a way out of their midst are checked many numbers at a time.
    let sound = |block: &[T]| block.iter().fold(true, |sound, number| sound & number.is_usable());
    if numbers.chunks(256).all(sound) {
        return None;
    }
    let place = numbers.iter().position(|number| !number.is_usable())?;
    Some((place, numbers[place].into()))
}

/// Runs an expression on the slice of numbers, whichever they are.
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
    /// All of them, in `f64`.
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

/// By value, however wide they are.
impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Narrow(own, _), Self::Narrow(other, _)) => own == other,
            _ => self.wide() == other.wide(),
        }
    }
}
