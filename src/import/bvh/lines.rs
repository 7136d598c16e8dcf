//! The lines of a text, in bounded memory.

use std::io::{BufRead, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::import::Fault;

/// The lines of a text, one at a time. A line that lies in the buffer of the input is not copied.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    file: PathBuf,
    /// The number of the present line, from 1.
    number: u64,
    /// The present line, if the buffer of the input does not hold it whole.
    joined: Vec<u8>,
    /// The bytes of the present line in the buffer of the input, with its end.
    buffered: usize,
}

/// The place of the present line.
enum Place {
    /// The first bytes of the buffer of the input.
    Buffer(usize),
    Joined,
}

impl<R: BufRead> Lines<R> {
    pub fn new(file: PathBuf, input: R) -> Self {
        Self { input, file, number: 0, joined: Vec::new(), buffered: 0 }
    }

    /// The number of the present line, from 1; of the last line at the end of the file.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// A fault of the present line.
    pub fn fault(&self, reason: impl Into<String>) -> Error {
        self.fault_at(self.number, reason)
    }

    /// A fault of a line.
    pub fn fault_at(&self, number: u64, reason: impl Into<String>) -> Error {
        Fault::new(format!("line {}", number.max(1)), reason).in_file(&self.file)
    }

    /// The next line without its end, or `None` at the end of the file. Fails for a line of more than `longest` bytes.
    pub fn next(&mut self, longest: usize) -> Result<Option<&[u8]>, Error> {
        match self.advance(longest)? {
            None => Ok(None),
            Some(Place::Joined) => Ok(Some(&self.joined)),
            Some(Place::Buffer(length)) => {
                let buffer = fill(&mut self.input, &self.file)?;
                Ok(buffer.get(..length))
            }
        }
    }

    fn advance(&mut self, longest: usize) -> Result<Option<Place>, Error> {
        self.input.consume(self.buffered);
        self.buffered = 0;
        self.joined.clear();
        loop {
            let buffer = fill(&mut self.input, &self.file)?;
            if buffer.is_empty() && self.joined.is_empty() {
                return Ok(None);
            }
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let found = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
            if self.joined.len() + found.len() > longest {
                self.number += 1;
                return Err(self.fault(format!(
                    "the line is longer than {longest} bytes, the most that is read as one line here; a frame is one line, and \
                     a file in another encoding or without line ends is not a BVH file"
                )));
            }
            match end {
                Some(end) if self.joined.is_empty() => {
                    self.buffered = end + 1;
                    self.number += 1;
                    return Ok(Some(Place::Buffer(end)));
                }
                // The end of the line, or of the file.
                _ if end.is_some() || buffer.is_empty() => {
                    self.joined.extend_from_slice(found);
                    self.input.consume(end.map_or(0, |end| end + 1));
                    self.number += 1;
                    return Ok(Some(Place::Joined));
                }
                _ => {
                    self.joined.extend_from_slice(found);
                    let read = buffer.len();
                    self.input.consume(read);
                }
            }
        }
    }
}

/// The buffer of an input; empty at the end of the file.
fn fill<'a>(input: &'a mut impl BufRead, file: &Path) -> Result<&'a [u8], Error> {
    // A returned buffer is borrowed as long as the input, therefore the loop does not return it.
    loop {
        match input.fill_buf() {
            Ok(_) => break,
            Err(source) if source.kind() == ErrorKind::Interrupted => {}
            Err(source) => return Err(Error::Io { file: file.to_path_buf(), source }),
        }
    }
    input.fill_buf().map_err(|source| Error::Io { file: file.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_the_same_for_every_size_of_the_buffer() {
        let text = b"one\n\nthree\r\n  four";
        for size in [1, 2, 3, 4, 5, 7, 64] {
            let mut lines = Lines::new("a.bvh".into(), BufReader::with_capacity(size, &text[..]));
            for (number, expected) in [&b"one"[..], b"", b"three\r", b"  four"].into_iter().enumerate() {
                assert_eq!(lines.next(8).unwrap(), Some(expected), "buffer of {size}");
                assert_eq!(lines.number(), number as u64 + 1);
            }
            assert_eq!(lines.next(8).unwrap(), None);
            assert_eq!(lines.next(8).unwrap(), None);
            assert_eq!(lines.number(), 4);
        }
    }

    #[test]
    fn a_line_without_end_takes_no_more_memory_than_the_limit() {
        let endless = BufReader::with_capacity(1 << 10, std::io::repeat(b' '));
        let mut lines = Lines::new("a.bvh".into(), endless);
        let error = lines.next(1 << 16).unwrap_err().to_string();
        assert!(error.starts_with("a.bvh: line 1: the line is longer than 65536 bytes"), "{error}");
        assert!(lines.joined.capacity() <= 1 << 17);
    }
}
