//! The lines of a text, in bounded memory.

use std::io::{BufRead, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::import::Fault;

/// The lines of a text. Lines that lie in the buffer of the input are not copied.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    file: PathBuf,
    /// The number of lines that have been consumed.
    consumed: u64,
    /// A line that the buffer of the input does not hold whole, with its end.
    joined: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(file: PathBuf, input: R) -> Self {
        Self { input, file, consumed: 0, joined: Vec::new() }
    }

    /// The number of the last line that was consumed, from 1; 0 before the first.
    pub fn number(&self) -> u64 {
        self.consumed
    }

    /// A fault of the last line that was consumed.
    pub fn fault(&self, reason: impl Into<String>) -> Error {
        self.fault_after(0, reason)
    }

    /// A fault of a line, so many lines after the last that was consumed.
    pub fn fault_after(&self, lines: u64, reason: impl Into<String>) -> Error {
        let line = (self.consumed + lines).max(1);
        Fault::new(format!("line {line}"), reason).in_file(&self.file)
    }

    /// The next lines with their ends, one or more; `None` at the end of the file. The last line of a file may have no end.
    ///
    /// Fails if it would have to copy a line of more than `longest` bytes.
    pub fn whole_lines(&mut self, longest: usize) -> Result<Option<&[u8]>, Error> {
        if self.joined.is_empty() {
            let buffer = fill(&mut self.input, &self.file)?;
            if let Some(end) = buffer.iter().rposition(|&byte| byte == b'\n') {
                // The input returns the same buffer again. A second borrow, because the first would last to the end.
                return Ok(fill(&mut self.input, &self.file)?.get(..=end));
            }
            self.join(longest)?;
        }
        Ok(Some(self.joined.as_slice()).filter(|line| !line.is_empty()))
    }

    /// Consumes the first bytes of [`whole_lines`](Self::whole_lines), which are whole lines.
    pub fn consume(&mut self, bytes: usize, lines: u64) {
        self.consumed += lines;
        if self.joined.is_empty() {
            self.input.consume(bytes);
        } else {
            self.joined.drain(..bytes);
        }
    }

    /// Reads the next line, without its end. Returns false at the end of the file. Fails for a line of more than `longest` bytes.
    pub fn read_line(&mut self, longest: usize, line: &mut Vec<u8>) -> Result<bool, Error> {
        line.clear();
        let Some(lines) = self.whole_lines(longest)? else { return Ok(false) };
        let end = lines.iter().position(|&byte| byte == b'\n');
        let found = lines.get(..end.unwrap_or(lines.len())).unwrap_or_default();
        let bytes = end.map_or(lines.len(), |end| end + 1);
        if found.len() > longest {
            return Err(self.fault_after(1, too_long(longest)));
        }
        line.extend_from_slice(found);
        self.consume(bytes, 1);
        Ok(true)
    }

    /// Copies the next line, which the buffer of the input does not hold whole. Copies nothing at the end of the file.
    fn join(&mut self, longest: usize) -> Result<(), Error> {
        loop {
            let buffer = fill(&mut self.input, &self.file)?;
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let bytes = end.map_or(buffer.len(), |end| end + 1);
            if self.joined.len() + bytes > longest {
                return Err(self.fault_after(1, too_long(longest)));
            }
            self.joined.extend_from_slice(buffer.get(..bytes).unwrap_or_default());
            self.input.consume(bytes);
            if end.is_some() || bytes == 0 {
                return Ok(());
            }
        }
    }
}

/// The reason for a line of more than `longest` bytes.
pub(super) fn too_long(longest: usize) -> String {
    format!(
        "the line is longer than {longest} bytes, the most that is expected here; a frame is one line, and a file in another \
         encoding or without line ends is not a BVH file"
    )
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
            let mut line = Vec::new();
            for (number, expected) in [&b"one"[..], b"", b"three\r", b"  four"].into_iter().enumerate() {
                assert!(lines.read_line(8, &mut line).unwrap());
                assert_eq!((line.as_slice(), lines.number()), (expected, number as u64 + 1), "buffer of {size}");
            }
            assert!(!lines.read_line(8, &mut line).unwrap() && !lines.read_line(8, &mut line).unwrap());
            assert_eq!((line.len(), lines.number()), (0, 4));
        }
    }

    #[test]
    fn a_line_without_end_takes_no_more_memory_than_the_limit() {
        let endless = BufReader::with_capacity(1 << 10, std::io::repeat(b' '));
        let mut lines = Lines::new("a.bvh".into(), endless);
        let error = lines.read_line(1 << 16, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.starts_with("a.bvh: line 1: the line is longer than 65536 bytes"), "{error}");
        assert!(lines.joined.capacity() <= 1 << 17);
    }
}
