//! Arrays of NumPy: `.npy` files of the versions 1 to 3.
//!
//! A file is a mark, a version, the length of a header, the header and the numbers. The header is a Python dictionary
//! of three entries: `descr` names the type, `fortran_order` the order of the numbers, `shape` the lengths of the axes
//! (NEP 1 of NumPy, `numpy.lib.format`). Numbers may be of either byte order. Python objects are pickles, which can run
//! any code when they are read, so that arrays of objects are refused.

use std::borrow::Cow;

use glam::DVec3;

use crate::half;
use crate::import::FileError;
use crate::import::file_error::shorten;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The largest number of axes, as of NumPy.
const MAX_AXES: usize = 64;

/// An array of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array<'a> {
    /// The name of its member, for messages.
    name: String,
    number: NumberType,
    shape: Vec<usize>,
    /// The number of rows and the numbers per row.
    rows: [usize; 2],
    is_fortran: bool,
    /// The bytes of the file, and the offset of the first number.
    bytes: Cow<'a, [u8]>,
    start: usize,
}

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NumberType {
    kind: NumberKind,
    bytes: usize,
    is_big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    Float,
    Signed,
    Unsigned,
}

impl<'a> Array<'a> {
    /// Reads the header of a `.npy` file. The bytes hold exactly the numbers of the shape, or more.
    pub fn new(name: &str, bytes: Cow<'a, [u8]>) -> Result<Self, FileError> {
        let (header, start) = header(name, &bytes)?;
        let error = |reason: String| FileError::new(name, reason);
        let Header { descr, is_fortran, shape } = Header::read(header).map_err(|found| {
            error(format!("{found}; expected the entries descr, fortran_order and shape of a NumPy array"))
        })?;
        let number = NumberType::new(&descr).map_err(error)?;
        let product = |lengths: &[usize]| lengths.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        // The width alone may overflow, in an array without rows.
        let rows = match shape.as_slice() {
            [] => Some([1, 1]),
            [width] => Some([1, *width]),
            [rows, width @ ..] => product(width).map(|width| [*rows, width]),
        };
        let wanted = rows.and_then(|rows| product(&rows)?.checked_mul(number.bytes));
        let found = bytes.len().saturating_sub(start);
        let (Some(rows), true) = (rows, wanted.is_some_and(|wanted| wanted <= found)) else {
            return Err(error(format!(
                "its shape {shape:?} needs more than the {found} bytes that are there; the file may be cut off"
            )));
        };
        Ok(Self { name: name.to_owned(), number, shape, rows, is_fortran, bytes, start })
    }

    /// The name of the member.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of rows and the numbers per row. An array of one axis is one row.
    pub fn rows(&self) -> [usize; 2] {
        self.rows
    }

    /// A number of a row, in the order of C.
    pub fn number(&self, row: usize, column: usize) -> f64 {
        let [rows, width] = self.rows;
        let index = if !self.is_fortran || self.shape.len() < 2 {
            row * width + column
        } else {
            // The first index changes fastest.
            let (mut index, mut step, mut rest, mut block) = (row, rows, column, width);
            for &length in self.shape.get(1..).unwrap_or_default() {
                block /= length.max(1);
                index += step * (rest / block.max(1));
                rest %= block.max(1);
                step *= length;
            }
            index
        };
        self.number.read(self.bytes.get(self.start + index * self.number.bytes..).unwrap_or_default())
    }

    /// Three numbers of a row, `step` apart.
    pub fn vector(&self, row: usize, first: usize, step: usize) -> DVec3 {
        DVec3::from_array([0, 1, 2].map(|axis| self.number(row, first + axis * step)))
    }

    /// The only number of an array of one number.
    pub fn single(&self) -> Option<f64> {
        (self.rows() == [1, 1]).then(|| self.number(0, 0))
    }
}

impl NumberType {
    /// The type of a text such as `<f8`.
    fn new(descr: &str) -> Result<Self, String> {
        let (is_big_endian, code) = match descr.split_at_checked(1) {
            Some((">", code)) => (true, code),
            Some(("<" | "|" | "=", code)) => (false, code),
            _ => (false, descr),
        };
        let (kind, bytes) = match code {
            "f2" => (NumberKind::Float, 2),
            "f4" => (NumberKind::Float, 4),
            "f8" => (NumberKind::Float, 8),
            "i1" => (NumberKind::Signed, 1),
            "i2" => (NumberKind::Signed, 2),
            "i4" => (NumberKind::Signed, 4),
            "i8" => (NumberKind::Signed, 8),
            "b1" | "u1" => (NumberKind::Unsigned, 1),
            "u2" => (NumberKind::Unsigned, 2),
            "u4" => (NumberKind::Unsigned, 4),
            "u8" => (NumberKind::Unsigned, 8),
            "O" | "O8" | "O4" => {
                return Err("it is an array of Python objects, a pickle, which can run any code and is never read; \
                            write it as an array of numbers"
                    .into());
            }
            _ => {
                return Err(format!("its numbers are of the type {}; expected f2, f4, f8 or integers", shorten(descr)));
            }
        };
        Ok(Self { kind, bytes, is_big_endian })
    }

    /// The number at the beginning of bytes; 0 if they are too few.
    fn read(self, bytes: &[u8]) -> f64 {
        // The bytes in the order of little-endian numbers, without missing ones.
        let mut number = [0; 8];
        let (Some(to), Some(from)) = (number.get_mut(..self.bytes), bytes.get(..self.bytes)) else { return 0.0 };
        to.copy_from_slice(from);
        if self.is_big_endian {
            to.reverse();
        }
        let word = u64::from_le_bytes(number);
        match (self.kind, self.bytes) {
            (NumberKind::Float, 2) => half::to_f64(word as u32),
            (NumberKind::Float, 4) => f64::from(f32::from_bits(word as u32)),
            (NumberKind::Float, _) => f64::from_bits(word),
            (NumberKind::Unsigned, _) => word as f64,
            (NumberKind::Signed, bytes) => {
                // The sign fills the bytes that are missing.
                let unused = 64 - 8 * bytes as u32;
                (((word << unused) as i64) >> unused) as f64
            }
        }
    }
}

/// The text of the header, and the offset of the first number.
fn header<'b>(name: &str, bytes: &'b [u8]) -> Result<(&'b str, usize), FileError> {
    let error = |reason: &str| FileError::new(name, reason);
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| error("it does not begin as a NumPy array"))?;
    let (length, start) = match rest {
        [1, _, low, high, ..] => (usize::from(u16::from_le_bytes([*low, *high])), 10),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
        [major, ..] if !(1..=3).contains(major) => {
            return Err(FileError::new(name, format!("it is of version {major} of the format; expected 1, 2 or 3")));
        }
        _ => return Err(error("its header is cut off")),
    };
    let text = bytes.get(start..).and_then(|rest| rest.get(..length));
    let text = text.ok_or_else(|| error("its header is cut off"))?;
    let text = std::str::from_utf8(text).map_err(|_| error("its header is not text"))?;
    Ok((text, start + length))
}

/// The entries of a header.
#[derive(Debug, PartialEq)]
struct Header {
    descr: String,
    is_fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads a header. The error is what was found.
    fn read(text: &str) -> Result<Self, String> {
        let mut words = Words(text.trim());
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        words.expect('{')?;
        while !words.skip('}') {
            let key = words.text()?;
            words.expect(':')?;
            match key {
                "descr" if words.begins_with('[') => {
                    return Err("its header describes records of several fields".into());
                }
                "descr" => descr = Some(words.text()?.to_owned()),
                "fortran_order" => is_fortran = Some(words.boolean()?),
                "shape" => shape = Some(words.lengths()?),
                _ => return Err(format!("its header has an entry {}", shorten(key))),
            }
            words.skip(',');
        }
        match (descr, is_fortran, shape) {
            (Some(descr), Some(is_fortran), Some(shape)) => Ok(Self { descr, is_fortran, shape }),
            _ => Err("its header lacks an entry".into()),
        }
    }
}

/// The rest of a header.
struct Words<'b>(&'b str);

impl<'b> Words<'b> {
    fn begins_with(&self, letter: char) -> bool {
        self.0.starts_with(letter)
    }

    /// Skips a letter and the spaces after it. Returns `false` if the rest begins with another.
    fn skip(&mut self, letter: char) -> bool {
        let rest = self.0.strip_prefix(letter);
        self.0 = rest.unwrap_or(self.0).trim_start();
        rest.is_some()
    }

    fn expect(&mut self, letter: char) -> Result<(), String> {
        if self.skip(letter) { Ok(()) } else { Err(self.found()) }
    }

    fn found(&self) -> String {
        format!("its header has {:?} where another entry is expected", shorten(self.0))
    }

    /// A text in quotes.
    fn text(&mut self) -> Result<&'b str, String> {
        let quote = self.0.chars().next().filter(|letter| ['\'', '"'].contains(letter)).ok_or_else(|| self.found())?;
        let (text, rest) = self.0.get(1..).and_then(|rest| rest.split_once(quote)).ok_or_else(|| self.found())?;
        self.0 = rest.trim_start();
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest.trim_start();
                return Ok(value);
            }
        }
        Err(self.found())
    }

    /// The lengths of axes: `()`, `(3,)`, `(3, 4)`. Python 2 wrote an `L` behind long numbers.
    fn lengths(&mut self) -> Result<Vec<usize>, String> {
        self.expect('(')?;
        let mut lengths = Vec::new();
        while !self.skip(')') {
            let end = self.0.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at(end);
            lengths.push(digits.parse().map_err(|_| self.found())?);
            if lengths.len() > MAX_AXES {
                return Err(format!("its shape has more than {MAX_AXES} axes"));
            }
            self.0 = rest.strip_prefix('L').unwrap_or(rest).trim_start();
            self.skip(',');
        }
        Ok(lengths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of version 1.
    fn file(header: &str, numbers: &[u8]) -> Vec<u8> {
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), numbers].concat()
    }

    fn numbers(file: Vec<u8>) -> Result<Vec<f64>, String> {
        let array = Array::new("a.npy", Cow::Owned(file)).map_err(|error| error.reason)?;
        let [rows, width] = array.rows();
        Ok((0..rows * width).map(|index| array.number(index / width, index % width)).collect())
    }

    fn header_of(descr: &str, is_fortran: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': {is_fortran}, 'shape': {shape}, }}      \n")
    }

    #[test]
    fn numbers_of_each_type_and_byte_order_are_read() {
        for (descr, bytes, expected) in [
            // IEEE 754: the exponent of 1.5 is 15, its fraction a half.
            ("<f2", &[0x00, 0x3e][..], 1.5),
            (">f2", &[0xbe, 0x00], -1.5),
            ("<f4", &1.5_f32.to_le_bytes(), 1.5),
            (">f4", &1.5_f32.to_be_bytes(), 1.5),
            ("<f8", &(-0.1_f64).to_le_bytes(), -0.1),
            (">f8", &(-0.1_f64).to_be_bytes(), -0.1),
            ("<i4", &(-7_i32).to_le_bytes(), -7.0),
            (">i8", &(-7_i64).to_be_bytes(), -7.0),
            ("<i2", &(-300_i16).to_le_bytes(), -300.0),
            ("|i1", &[0xff], -1.0),
            ("|u1", &[0xff], 255.0),
            ("<u2", &[0, 1], 256.0),
            ("<u8", &120_u64.to_le_bytes(), 120.0),
            ("|b1", &[1], 1.0),
        ] {
            assert_eq!(numbers(file(&header_of(descr, "False", "()"), bytes)), Ok(vec![expected]), "{descr}");
        }
    }

    #[test]
    fn arrays_of_either_order_have_the_same_numbers() {
        // numpy.arange(12).reshape(2, 3, 2): by C the last index changes fastest, by Fortran the first.
        let expected: Vec<f64> = (0..12).map(f64::from).collect();
        let c: Vec<u8> = (0..12).collect();
        assert_eq!(numbers(file(&header_of("|u1", "False", "(2, 3, 2)"), &c)), Ok(expected.clone()));
        let fortran = [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11];
        assert_eq!(numbers(file(&header_of("|u1", "True", "(2, 3, 2)"), &fortran)), Ok(expected));
        assert_eq!(numbers(file(&header_of("|u1", "True", "(2L, 2L)"), &[0, 2, 1, 3])), Ok(vec![0.0, 1.0, 2.0, 3.0]));
    }

    #[test]
    fn versions_2_and_3_have_a_longer_header() {
        for version in [2, 3] {
            let header = header_of("|u1", "False", "(2,)");
            let length = (header.len() as u32).to_le_bytes();
            let file = [MAGIC, &[version, 0], &length, header.as_bytes(), &[7, 8]].concat();
            assert_eq!(numbers(file), Ok(vec![7.0, 8.0]));
        }
    }

    #[test]
    fn other_content_is_refused() {
        for (file, reason) in [
            (file(&header_of("|O", "False", "()"), &[]), "pickle"),
            (file(&header_of("<c16", "False", "()"), &[0; 16]), "<c16"),
            (file(&header_of("<f8", "False", "(3,)"), &[0; 16]), "cut off"),
            (file(&header_of("<f8", "False", "(4294967296, 4294967296, 4294967296)"), &[0; 16]), "cut off"),
            (file(&header_of("<f8", "False", "(0, 4294967296, 4294967296)"), &[0; 16]), "cut off"),
            (file("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': ()}", &[0; 8]), "several fields"),
            (file("{'descr': '<f8'}", &[0; 8]), "lacks an entry"),
            (file("{'shape': (-1,)}", &[0; 8]), "\"-1,)}\""),
            (file("{'shape': (1", &[0; 8]), "where another entry"),
            (file("", &[]), "where another entry"),
            (b"\x93NUMPY\x09\x00".to_vec(), "version 9"),
            (b"\x93NUMPY\x01\x00\xff".to_vec(), "cut off"),
            (b"PK".to_vec(), "does not begin"),
        ] {
            let found = numbers(file).unwrap_err();
            assert!(found.contains(reason), "{found:?}: {reason}");
        }
    }
}
