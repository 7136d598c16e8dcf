//! Values as USD's text format writes them.

use std::fmt::{self, Display, Write};

use posse::glam::DAffine3;

/// A list of values in brackets.
pub struct List<I>(pub I);

impl<I: Iterator<Item: Display> + Clone> Display for List<I> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('[')?;
        for (index, value) in self.0.clone().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(out, "{comma}{value}")?;
        }
        out.write_char(']')
    }
}

/// Numbers in parentheses; a single number without them.
#[derive(Clone, Copy)]
pub struct Tuple<'a>(pub &'a [f32]);

impl Display for Tuple<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [number] => write!(out, "{number}"),
            [x, y, z] => write!(out, "({x}, {y}, {z})"),
            numbers => {
                let numbers: Vec<String> = numbers.iter().map(f32::to_string).collect();
                write!(out, "({})", numbers.join(", "))
            }
        }
    }
}

/// A text in quotes.
pub struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(out, "\\{letter}")?,
                '\n' => out.write_str("\\n")?,
                '\r' => out.write_str("\\r")?,
                _ => out.write_char(letter)?,
            }
        }
        out.write_char('"')
    }
}

/// A matrix for row vectors: the translation is in the last row.
pub struct Matrix(pub DAffine3);

impl Display for Matrix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [self.0.matrix3.x_axis, self.0.matrix3.y_axis, self.0.matrix3.z_axis, self.0.translation];
        out.write_char('(')?;
        for (row, (last, comma)) in rows.into_iter().zip([(0, ", "), (0, ", "), (0, ", "), (1, "")]) {
            // The sum turns -0 into 0.
            write!(out, "({}, {}, {}, {last}){comma}", row.x + 0.0, row.y + 0.0, row.z + 0.0)?;
        }
        out.write_char(')')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_escapes_in_quotes() {
        assert_eq!(Quoted("ü ' 骨").to_string(), "\"ü ' 骨\"");
        assert_eq!(Quoted(r#"{"a":"b\c"}"#).to_string(), r#""{\"a\":\"b\\c\"}""#);
        assert_eq!(Quoted("two\nlines\r").to_string(), r#""two\nlines\r""#);
    }

    #[test]
    fn values_read_as_in_usd() {
        assert_eq!(List([1.5, -0.25].iter()).to_string(), "[1.5, -0.25]");
        assert_eq!(Tuple(&[1.0, 0.5, 1e-7]).to_string(), "(1, 0.5, 0.0000001)");
        assert_eq!(Tuple(&[1.0, 0.0, 0.0, 0.5]).to_string(), "(1, 0, 0, 0.5)");
        let moved = DAffine3::from_translation(posse::glam::DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(Matrix(moved).to_string(), "((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 2, 3, 1))");
    }
}
