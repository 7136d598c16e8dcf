//! The words of HIERARCHY and of the head of MOTION.

use std::io::BufRead;

use super::lines::Lines;
use crate::error::Error;
use crate::import::fault::shorten;
use crate::model::is_usable;

/// The longest line of the hierarchy in bytes. A whole hierarchy may stand on one line.
const LONGEST_LINE: usize = 1 << 24;
/// The longest name of a joint in bytes. An End Site repeats the name of its parent.
const LONGEST_NAME: usize = 512;

/// The words of a text: runs of letters between spaces, braces, colons and ends of lines. A brace or colon is a word of its own.
pub(super) struct Words<R> {
    lines: Lines<R>,
    /// The present line.
    line: Vec<u8>,
    /// The first byte of the line that is not read yet.
    at: usize,
}

impl<R: BufRead> Words<R> {
    pub fn new(lines: Lines<R>) -> Self {
        Self { lines, line: Vec::new(), at: 0 }
    }

    /// The lines after the present one.
    pub fn into_lines(self) -> Lines<R> {
        self.lines
    }

    /// The number of the present line.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// A fault of the present line.
    pub fn fault(&self, reason: impl Into<String>) -> Error {
        self.lines.fault(reason)
    }

    /// The next word, or `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<String>, Error> {
        if !self.skip_space()? {
            return Ok(None);
        }
        let rest = self.rest();
        let length = match rest.first() {
            Some(b'{' | b'}' | b':') => 1,
            _ => rest.iter().position(|&byte| is_end(byte)).unwrap_or(rest.len()),
        };
        let word = String::from_utf8_lossy(rest.get(..length).unwrap_or_default()).into_owned();
        self.at += length;
        Ok(Some(word))
    }

    /// The next word. Fails at the end of the file; `expected` is the content that belongs there.
    pub fn need(&mut self, expected: &str) -> Result<String, Error> {
        self.next()?.ok_or_else(|| self.fault(format!("the file ends; expected {expected}. It may be truncated")))
    }

    /// Reads a keyword, in any case.
    pub fn keyword(&mut self, keyword: &str, expected: &str) -> Result<(), Error> {
        let word = self.need(expected)?;
        if word.eq_ignore_ascii_case(keyword) {
            return Ok(());
        }
        Err(self.fault(format!("found {:?}; expected {expected}", shorten(&word))))
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
        let length = rest.iter().position(|byte| matches!(byte, b'{' | b'}')).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or_default().trim_ascii();
        let (bytes, name) = (name.len(), String::from_utf8_lossy(name).into_owned());
        self.at += length;
        match bytes {
            0 => Err(self.fault(format!("{kind} has no name; expected a name on the line of {kind}"))),
            1..=LONGEST_NAME => Ok(name),
            _ => {
                let name = shorten(&name);
                Err(self.fault(format!("the name {name:?} has {bytes} bytes; expected at most {LONGEST_NAME}")))
            }
        }
    }

    /// A number in the range of an `f32`.
    pub fn number(&mut self, expected: &str) -> Result<f64, Error> {
        let word = self.need(expected)?;
        match word.parse::<f64>() {
            Ok(number) if is_usable(number) => Ok(number),
            _ => Err(self.fault(format!("found {:?}; expected {expected}", shorten(&word)))),
        }
    }

    /// A whole number of 0 or more.
    pub fn count(&mut self, expected: &str) -> Result<u64, Error> {
        let word = self.need(expected)?;
        word.parse().map_err(|_| self.fault(format!("found {:?}; expected {expected}", shorten(&word))))
    }

    /// The words that are left on the present line, without spaces around them.
    pub fn rest_of_line(&self) -> String {
        String::from_utf8_lossy(self.rest().trim_ascii()).into_owned()
    }

    fn rest(&self) -> &[u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// Moves to the next byte that is not space. Returns false at the end of the file.
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
