//! Numbers as an engine computed them.

use glam::DAffine3;
use posse::Error;
use serde::Serialize;

/// A number that prints as the shortest text which reads back as the same number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// Of an engine that computes in `f32`.
    Single(f32),
    /// Of the reference.
    Double(f64),
}

/// How an engine computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// `f32`.
    Single,
    /// `f64`.
    Double,
}

impl Precision {
    /// The precision of an engine, by its name.
    pub fn of(engine: &str) -> Self {
        if engine == "reference" { Self::Double } else { Self::Single }
    }

    /// A number; an error that names its place where it is none.
    pub fn number(self, number: f64, place: impl Fn() -> String) -> Result<Number, Error> {
        let (finite, result) = match self {
            Self::Single => ((number as f32).is_finite(), Number::Single(number as f32)),
            Self::Double => (number.is_finite(), Number::Double(number)),
        };
        if finite { Ok(result) } else { Err(Error::Usage(format!("{}: the result overflows ({number})", place()))) }
    }

    /// Numbers, all of one place.
    pub fn numbers<const N: usize>(self, numbers: [f64; N], place: impl Fn() -> String) -> Result<[Number; N], Error> {
        let mut result = [Number::Double(0.0); N];
        for (slot, number) in result.iter_mut().zip(numbers) {
            *slot = self.number(number, &place)?;
        }
        Ok(result)
    }

    /// Any count of numbers, all of one place.
    pub fn list(self, numbers: &[f64], place: impl Fn() -> String) -> Result<Vec<Number>, Error> {
        numbers.iter().map(|&number| self.number(number, &place)).collect()
    }
}

/// The 16 numbers of a matrix, column after column.
pub fn columns(matrix: &DAffine3) -> [f64; 16] {
    let [x, y, z, w] = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis, matrix.translation];
    [x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, w.x, w.y, w.z, 1.0]
}

/// The 16 numbers of a matrix, row after row.
pub fn rows(matrix: &DAffine3) -> [f64; 16] {
    let columns = columns(matrix);
    std::array::from_fn(|index| columns[4 * (index % 4) + index / 4])
}
