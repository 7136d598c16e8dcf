//! The lines of a text, in bounded memory, and the words of HIERARCHY and of the head of MOTION.

use std::collections::HashMap;
use std::io::{BufRead, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::import::bvh::text::{self, Text};
use crate::import::file_error::shorten;
use crate::import::{FileError, Warning};
use crate::model::is_usable;

/// The lines of a text. Lines that lie in the buffer of the input are not copied.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: Text<R>,
    file: PathBuf,
    /// The number of lines that have been consumed.
    consumed: u64,
    /// A line that the buffer of the input does not hold whole, with its end.
    joined: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(file: PathBuf, input: R) -> Self {
        Self { input: Text::new(input), file, consumed: 0, joined: Vec::new() }
    }

    /// The number of the last line that was consumed, from 1; 0 before the first.
    pub fn number(&self) -> u64 {
        self.consumed
    }

    /// An error of the last line that was consumed.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        self.error_after(0, reason)
    }

    /// An error of a line, so many lines after the last that was consumed.
    pub fn error_after(&self, lines: u64, reason: impl Into<String>) -> Error {
        let line = (self.consumed + lines).max(1);
        FileError::new(format!("line {line}"), reason).in_file(&self.file)
    }

    /// The next lines with their ends, one or more; `None` at the end of the file. The last line of a file may have no
    /// end.
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

    /// Reads the next line, without its end. Returns `false` at the end of the file. Fails for a line of more than
    /// `longest` bytes.
    pub fn read_line(&mut self, longest: usize, line: &mut Vec<u8>) -> Result<bool, Error> {
        line.clear();
        let Some(lines) = self.whole_lines(longest)? else { return Ok(false) };
        let end = lines.iter().position(|&byte| byte == b'\n');
        let found = lines.get(..end.unwrap_or(lines.len())).unwrap_or_default();
        let bytes = end.map_or(lines.len(), |end| end + 1);
        if found.len() > longest {
            return Err(self.error_after(1, too_long(longest)));
        }
        line.extend_from_slice(found);
        self.consume(bytes, 1);
        Ok(true)
    }

    /// Takes back the last line that was read, without its end. It is the next line again.
    fn give_back(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        line.append(&mut self.joined);
        self.joined = line;
        self.consumed -= 1;
    }

    /// Copies the next line, which the buffer of the input does not hold whole. Copies nothing at the end of the file.
    fn join(&mut self, longest: usize) -> Result<(), Error> {
        loop {
            let buffer = fill(&mut self.input, &self.file)?;
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let bytes = end.map_or(buffer.len(), |end| end + 1);
            if self.joined.len() + bytes > longest {
                return Err(self.error_after(1, too_long(longest)));
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

/// The longest line of the hierarchy in bytes. A whole hierarchy may stand on one line.
const LONGEST_LINE: usize = 1 << 24;
/// The message about numbers with a decimal comma.
pub(super) const DECIMAL_COMMA: &str = "the comma of a number is read as a decimal point; further ones are not listed";
/// The longest name of a joint in bytes. An End Site repeats the name of its parent.
const LONGEST_NAME: usize = 512;

/// The words of a text: runs of letters between spaces, braces, colons and ends of lines. A brace or colon is a word of
/// its own.
pub(super) struct Words<R> {
    lines: Lines<R>,
    /// The present line.
    line: Vec<u8>,
    /// The first byte of the line that is not read yet.
    at: usize,
    /// The names that are not UTF-8, and the line of the first one.
    other_names: Vec<Vec<u8>>,
    first_other_name: Option<u64>,
    /// The encoding of these names.
    encoding: &'static str,
    /// The line of the first number with a decimal comma.
    decimal_comma: Option<u64>,
}

impl<R: BufRead> Words<R> {
    pub fn new(lines: Lines<R>) -> Self {
        Self {
            lines,
            line: Vec::new(),
            at: 0,
            other_names: Vec::new(),
            first_other_name: None,
            encoding: "Windows-1252",
            decimal_comma: None,
        }
    }

    /// The lines after the present one.
    pub fn into_lines(self) -> Lines<R> {
        self.lines
    }

    /// The number of the present line.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// An error of the present line.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        self.lines.error(reason)
    }

    /// The next word, or `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<String>, Error> {
        let word = self.peek()?;
        self.at += self.word().len();
        Ok(word)
    }

    /// The next word, which stays the next word, or `None` at the end of the file.
    pub fn peek(&mut self) -> Result<Option<String>, Error> {
        let is_there = self.skip_space()?;
        Ok(is_there.then(|| String::from_utf8_lossy(self.word()).into_owned()))
    }

    /// The word at the present byte of the line.
    fn word(&self) -> &[u8] {
        let rest = self.rest();
        let length = match rest.first() {
            Some(b'{' | b'}' | b':') => 1,
            _ => rest.iter().position(|&byte| is_end(byte)).unwrap_or(rest.len()),
        };
        rest.get(..length).unwrap_or_default()
    }

    /// Passes over the rest of the present line.
    pub fn skip_line(&mut self) {
        self.at = self.line.len();
    }

    /// Makes the present line the next one again, for [`into_lines`](Self::into_lines).
    pub fn give_back_line(&mut self) {
        self.at = 0;
        self.lines.give_back(std::mem::take(&mut self.line));
    }

    /// The next word. Fails at the end of the file; `expected` is the content that belongs there.
    pub fn need(&mut self, expected: &str) -> Result<String, Error> {
        self.next()?.ok_or_else(|| self.error(format!("the file ends; expected {expected}. It may be truncated")))
    }

    /// Reads a keyword, in any case.
    pub fn keyword(&mut self, keyword: &str, expected: &str) -> Result<(), Error> {
        let word = self.need(expected)?;
        if word.eq_ignore_ascii_case(keyword) {
            return Ok(());
        }
        Err(self.error(format!("found {:?}; expected {expected}", shorten(&word))))
    }

    /// The warnings about what was read in spite of its spelling.
    pub fn warnings(&self) -> Vec<Warning> {
        let encoding = match self.first_other_name {
            Some(line) => Some((line, format!("names that are not UTF-8 are read as {}", self.encoding))),
            None => self.lines.input.other_encoding().map(|name| (1, format!("the file is read as {name}"))),
        };
        let comma = self.decimal_comma.map(|line| (line, DECIMAL_COMMA.to_owned()));
        let warning = |(line, message)| Warning { path: format!("line {line}"), message };
        encoding.into_iter().chain(comma).map(warning).collect()
    }

    /// The names in Shift-JIS by what [`name`](Self::name) has made of them, if all names that are not UTF-8 are
    /// Shift-JIS.
    pub fn shift_jis_names(&mut self) -> Option<HashMap<String, String>> {
        let names = text::shift_jis_names(&self.other_names)?;
        self.encoding = "Shift-JIS";
        Some(names)
    }

    /// Reads what follows `End`: `Site`, to which some tools append a number or a name, or a name instead of it.
    pub fn end_site_name(&mut self) -> Result<Option<String>, Error> {
        let expected = "`End Site`";
        let is_on_next_line = matches!(self.rest().trim_ascii_start(), [] | [b'{' | b'}', ..]);
        if is_on_next_line {
            self.keyword("SITE", expected)?;
            return Ok(None);
        }
        let words = self.name(expected)?;
        let is_site = words.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("SITE"));
        let name = if is_site { words[4..].trim() } else { &words };
        let is_offset = name.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("OFFSET"));
        if is_offset {
            return Err(self.error(format!("found {:?}; expected `{{` after {expected}", shorten(name))));
        }
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        Ok((!is_number).then(|| name.to_owned()))
    }

    /// Reads a colon, if it is the next word of this line.
    pub fn skip_colon(&mut self) {
        let rest = self.rest();
        let spaces = rest.len() - rest.trim_ascii_start().len();
        if rest.get(spaces) == Some(&b':') {
            self.at += spaces + 1;
        }
    }

    /// A name: the rest of the line up to a brace.
    pub fn name(&mut self, kind: &str) -> Result<String, Error> {
        let rest = self.rest();
        let length = text::name_length(rest);
        let name = rest.get(..length).unwrap_or_default().trim_ascii();
        let bytes = name.len();
        let (name, other) = text::decode_name(name);
        self.at += length;
        if let Some(other) = other {
            self.first_other_name = self.first_other_name.or(Some(self.line()));
            self.other_names.push(other);
        }
        match bytes {
            0 => Err(self.error(format!("{kind} has no name; expected a name on the line of {kind}"))),
            1..=LONGEST_NAME => Ok(name),
            _ => {
                let name = shorten(&name);
                Err(self.error(format!("the name {name:?} has {bytes} bytes; expected at most {LONGEST_NAME}")))
            }
        }
    }

    /// A number in the range of an `f32`.
    pub fn number(&mut self, expected: &str) -> Result<f64, Error> {
        Ok(self.written_number(expected)?.0)
    }

    /// A number in the range of an `f32`, and its text.
    pub fn written_number(&mut self, expected: &str) -> Result<(f64, String), Error> {
        let word = self.need(expected)?;
        let has_decimal_comma = word.bytes().filter(|&byte| byte == b',').count() == 1 && !word.contains('.');
        let word = if has_decimal_comma { word.replace(',', ".") } else { word };
        match word.parse::<f64>() {
            Ok(number) if is_usable(number) => {
                if has_decimal_comma {
                    self.decimal_comma = self.decimal_comma.or(Some(self.line()));
                }
                Ok((number, word))
            }
            _ => {
                let has_comma = word.contains(',');
                let hint =
                    if has_comma { "; write a point before the decimals, and spaces between numbers" } else { "" };
                Err(self.error(format!("found {:?}; expected {expected}{hint}", shorten(&word))))
            }
        }
    }

    /// A whole number of 0 or more.
    pub fn count(&mut self, expected: &str) -> Result<u64, Error> {
        let word = self.need(expected)?;
        word.parse().map_err(|_| self.error(format!("found {:?}; expected {expected}", shorten(&word))))
    }

    /// The words that are left on the present line, without spaces around them.
    pub fn rest_of_line(&self) -> String {
        String::from_utf8_lossy(self.rest().trim_ascii()).into_owned()
    }

    fn rest(&self) -> &[u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// Moves to the next byte that is not space. Returns `false` at the end of the file.
    fn skip_space(&mut self) -> Result<bool, Error> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_ascii_start().len();
            if self.at < self.line.len() {
                return Ok(true);
            }
            if !self.lines.read_line(LONGEST_LINE, &mut self.line)? {
                self.at = 0;
                return Ok(false);
            }
            let mark = self.line.len() - without_mark(&self.line).len();
            self.at = if self.lines.number() == 1 { mark } else { 0 };
        }
    }
}

/// True for bytes that end a word.
fn is_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b':')
}

/// The text after a byte order mark.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
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
