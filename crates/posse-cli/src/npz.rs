//! NumPy's formats: `.npy`, an array of numbers or texts, and `.npz`, a zip file of them.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use posse::Error;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use crate::write_error::with_hint;

/// The first bytes of a file of version 1.0 of the format.
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

/// The largest size of texts, in bytes. NumPy stores each text with the length of the longest.
const TEXTS: u64 = 256 << 20;

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberType {
    /// `f32`.
    Single,
    /// `f64`.
    Double,
    /// `i32`.
    Integer,
    /// `bool`, a byte of 0 or 1.
    Boolean,
}

impl NumberType {
    fn name(self) -> &'static str {
        match self {
            Self::Single => "<f4",
            Self::Double => "<f8",
            Self::Integer => "<i4",
            Self::Boolean => "|b1",
        }
    }

    /// The bytes of a number.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Double => 8,
            Self::Single | Self::Integer => 4,
            Self::Boolean => 1,
        }
    }
}

/// The header of a `.npy` file, version 1.0 of the format: a Python dictionary, padded with spaces so that the numbers
/// begin at a multiple of 64 bytes. `kind` is the NumPy name of the number type.
fn header(kind: &str, shape: &[usize]) -> io::Result<Vec<u8>> {
    // A Python tuple of one element needs a comma.
    let shape = match shape {
        [length] => format!("({length},)"),
        lengths => format!("({})", lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let before = MAGIC.len() + size_of::<u16>();
    let padded = (before + text.len() + 1).next_multiple_of(64) - before;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let length = u16::try_from(padded).map_err(io::Error::other)?;
    Ok([MAGIC, &length.to_le_bytes(), text.as_bytes()].concat())
}

/// Writes numbers in little-endian order.
pub fn write_singles(out: &mut impl Write, numbers: &[f32]) -> io::Result<()> {
    if cfg!(target_endian = "little") {
        return out.write_all(bytemuck::cast_slice(numbers));
    }
    numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
}

/// An array of texts, as NumPy stores them: UTF-32, padded with zeros to the length of the longest.
fn array_of_texts(shape: &[usize], texts: &[&str]) -> io::Result<Vec<u8>> {
    // NumPy has no texts of length 0: an empty one has one zero.
    let length = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = header(&format!("<U{length}"), shape)?;
    bytes.reserve(texts.len() * length * 4);
    for text in texts {
        let end = bytes.len() + length * 4;
        bytes.extend(text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()));
        bytes.resize(end, 0);
    }
    Ok(bytes)
}

/// An `.npz` file that is being written: a zip file of `.npy` files, one per array. Nothing in it depends on when or
/// where it is written.
pub struct NpzFile<W: Write + Seek> {
    /// The name of the file in errors.
    name: PathBuf,
    zip: ZipWriter<W>,
}

/// A file whose writer cannot go back, as the writer of a pipe.
pub type StreamedNpzFile<W> = NpzFile<StreamWriter<UntilError<W>>>;

impl<W: Write + Seek> NpzFile<UntilError<W>> {
    /// A file without arrays. `output` is at its beginning.
    pub fn new(name: &Path, output: W) -> Self {
        Self { name: name.to_path_buf(), zip: ZipWriter::new(UntilError::new(output)) }
    }
}

impl<W: Write> StreamedNpzFile<W> {
    /// The same for an output that cannot go back.
    pub fn new_stream(name: &Path, output: W) -> Self {
        Self { name: name.to_path_buf(), zip: ZipWriter::new_stream(UntilError::new(output)) }
    }
}

impl<W: Write + Seek> NpzFile<W> {
    /// Begins an array. Its numbers are [written](Self::write) next. Returns the number of their bytes.
    pub fn begin(&mut self, array: &str, kind: NumberType, shape: &[usize]) -> Result<u64, Error> {
        let bytes = kind.bytes() * shape.iter().map(|&length| length as u64).product::<u64>();
        let header = header(kind.name(), shape).map_err(|error| self.error(error))?;
        self.begin_member(array, header.len() as u64 + bytes)?;
        self.write(&header)?;
        Ok(bytes)
    }

    /// Writes numbers of the array that was begun last, as little-endian bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.zip.write_all(bytes).map_err(|error| self.error(error))
    }

    /// The same for numbers.
    pub fn write_singles(&mut self, numbers: &[f32]) -> Result<(), Error> {
        write_singles(&mut self.zip, numbers).map_err(|error| self.error(error))
    }

    /// An array with its numbers, as little-endian bytes.
    pub fn array(
        &mut self,
        array: &str,
        kind: NumberType,
        shape: &[usize],
        numbers: &mut impl Read,
    ) -> Result<(), Error> {
        let bytes = self.begin(array, kind, shape)?;
        match io::copy(numbers, &mut self.zip) {
            Ok(written) if written == bytes => Ok(()),
            Ok(written) => Err(self.error(io::Error::other(format!("{array}: {written} of {bytes} bytes are there")))),
            Err(error) => Err(self.error(error)),
        }
    }

    /// A single text.
    pub fn text(&mut self, array: &str, text: &str) -> Result<(), Error> {
        self.texts(array, &[], &[text])
    }

    /// An array of texts.
    pub fn texts(&mut self, array: &str, shape: &[usize], texts: &[&str]) -> Result<(), Error> {
        let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let needed = 4 * texts.len() as u64 * longest as u64;
        if needed > TEXTS {
            let what = format!("{}: {array}: bytes of {} texts of {longest} letters", self.name.display(), texts.len());
            return Err(Error::Limit { what, needed, allowed: TEXTS });
        }
        let bytes = array_of_texts(shape, texts).map_err(|error| self.error(error))?;
        self.begin_member(array, bytes.len() as u64)?;
        self.write(&bytes)
    }

    fn begin_member(&mut self, array: &str, bytes: u64) -> Result<(), Error> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .system(System::Unix)
            .unix_permissions(0o644)
            // Files of 4 GiB or more need the large size fields of the zip format.
            .large_file(bytes > u64::from(u32::MAX));
        self.zip.start_file(format!("{array}.npy"), options).map_err(|error| self.error(error))
    }

    /// Completes the file.
    pub fn finish(self) -> Result<(), Error> {
        let Self { name, zip } = self;
        zip.finish().map(drop).map_err(|error| Error::Io { file: name, source: with_hint(error.into()) })
    }

    fn error(&self, source: impl Into<io::Error>) -> Error {
        Error::Io { file: self.name.clone(), source: with_hint(source.into()) }
    }
}

/// An output that takes nothing more after its first error. `ZipWriter` goes on writing when it is dropped, and would
/// print a second error.
pub struct UntilError<W> {
    output: W,
    has_failed: bool,
    /// The place of the next byte, also after an error.
    place: u64,
}

impl<W> UntilError<W> {
    /// Wraps an output that is at its beginning.
    fn new(output: W) -> Self {
        Self { output, has_failed: false, place: 0 }
    }

    /// Calls a function of the output; after an error, returns `instead`.
    fn call<T>(&mut self, instead: T, call: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.has_failed {
            return Ok(instead);
        }
        let result = call(&mut self.output);
        // Callers write again after an interruption.
        self.has_failed = result.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        result
    }
}

impl<W: Write> Write for UntilError<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.call(bytes.len(), |output| output.write(bytes))?;
        self.place += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call((), Write::flush)
    }
}

impl<W: Seek> Seek for UntilError<W> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let instead = match position {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(distance) | SeekFrom::End(distance) => self.place.saturating_add_signed(distance),
        };
        self.place = self.call(instead, |output| output.seek(position))?;
        Ok(self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_equal_those_of_numpy() {
        // The bytes of `numpy.save`: 118 (`v`) of text after the length, 128 in all.
        for (kind, shape, text) in [
            ("<f4", [2, 3].as_slice(), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
            ("<f8", [7].as_slice(), "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }"),
            ("<f8", [].as_slice(), "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"),
        ] {
            let expected = [b"\x93NUMPY\x01\x00v\x00".as_slice(), format!("{text:<117}\n").as_bytes()].concat();
            assert_eq!(header(kind, shape).unwrap(), expected);
        }
    }

    #[test]
    fn numbers_begin_at_a_multiple_of_64_bytes() {
        // Shapes of 1 to 32 dimensions make headers on both sides of a multiple of 64 bytes.
        for dimensions in 1..=32 {
            let lengths = vec![1; dimensions];
            let header = header("<f4", &lengths).unwrap();
            assert_eq!((header.len() % 64, header.last()), (0, Some(&b'\n')));
            let length = u16::from_le_bytes([header[8], header[9]]);
            assert_eq!(usize::from(length), header.len() - 10);
            let array = npyz::NpyHeader::from_reader(header.as_slice()).unwrap();
            assert_eq!(array.shape(), vec![1_u64; dimensions]);
        }
    }

    #[test]
    fn texts_equal_those_of_numpy() {
        // The bytes after the header of `numpy.save(file, numpy.array(["hüfte", "", "𝄞"]))`: kind `<U5`, 60 bytes.
        let bytes = array_of_texts(&[3], &["hüfte", "", "𝄞"]).unwrap();
        let letters = bytes.strip_prefix(header("<U5", &[3]).unwrap().as_slice()).unwrap();
        let codes = [0x68, 0xfc, 0x66, 0x74, 0x65, 0, 0, 0, 0, 0, 0x1d11e, 0, 0, 0, 0_u32];
        assert_eq!(letters, codes.map(u32::to_le_bytes).as_flattened());
        // An empty text has one zero, and an empty array none.
        assert_eq!(array_of_texts(&[], &[""]).unwrap(), [header("<U1", &[]).unwrap(), vec![0; 4]].concat());
        assert_eq!(array_of_texts(&[0], &[]).unwrap(), header("<U1", &[0]).unwrap());
    }
}
