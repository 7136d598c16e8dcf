//! Numbers in the precision of an engine.

use glam::DAffine3;
use posse::Error;
use serde::Serialize;

/// A number. It prints as the shortest text that parses to the same number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PrintedNumber {
    /// A number of an engine that computes in `f32`.
    Single(f32),
    /// A number of the reference.
    Double(f64),
}

/// The precision of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// `f32`.
    Single,
    /// `f64`.
    Double,
}

impl Precision {
    /// The precision of an engine, by its name.
    pub fn of_engine(engine: &str) -> Self {
        if engine == "reference" { Self::Double } else { Self::Single }
    }

    /// Rounds a number to this precision. Fails with its name if the result is not finite.
    pub fn number(self, number: f64, name: impl Fn() -> String) -> Result<PrintedNumber, Error> {
        let (finite, result) = match self {
            Self::Single => ((number as f32).is_finite(), PrintedNumber::Single(number as f32)),
            Self::Double => (number.is_finite(), PrintedNumber::Double(number)),
        };
        if finite { Ok(result) } else { Err(Error::Usage(format!("{}: the result overflows ({number})", name()))) }
    }

    /// Rounds an array of numbers with a common name.
    pub fn numbers<const N: usize>(
        self,
        numbers: [f64; N],
        name: impl Fn() -> String,
    ) -> Result<[PrintedNumber; N], Error> {
        let mut result = [PrintedNumber::Double(0.0); N];
        for (element, number) in result.iter_mut().zip(numbers) {
            *element = self.number(number, &name)?;
        }
        Ok(result)
    }

    /// Rounds a list of numbers with a common name.
    pub fn list(self, numbers: &[f64], name: impl Fn() -> String) -> Result<Vec<PrintedNumber>, Error> {
        numbers.iter().map(|&number| self.number(number, &name)).collect()
    }
}

/// The 16 numbers of a matrix in column order.
pub fn columns(matrix: &DAffine3) -> [f64; 16] {
    let [x, y, z, w] = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis, matrix.translation];
    [x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, w.x, w.y, w.z, 1.0]
}

/// The 16 numbers of a matrix in row order.
pub fn rows(matrix: &DAffine3) -> [f64; 16] {
    let columns = columns(matrix);
    std::array::from_fn(|index| columns[4 * (index % 4) + index / 4])
}
