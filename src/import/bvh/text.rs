//! The encodings of BVH files: UTF-16 and lines of old Macintoshes as a whole, Windows-1252 and Shift-JIS in names.

use std::io::{self, BufRead, Read};

use encoding_rs::{SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The bytes of the input that are converted at once.
const CHUNK: usize = 1 << 16;

/// A text as UTF-8, with a line feed at the end of each line. What is so already is passed on without a copy.
///
/// The first bytes at hand decide: a byte order mark of UTF-16, or carriage returns without a line feed.
pub(super) struct Text<R> {
    input: R,
    form: Form,
    /// Converted bytes, of which those before `at` have been consumed.
    converted: Vec<u8>,
    at: usize,
    /// True after the last byte of the input has been converted.
    is_at_end: bool,
}

/// How the text differs from what is passed on.
enum Form {
    Unknown,
    Usual,
    /// Lines end with a carriage return. Set if the last byte was one.
    CarriageReturns {
        is_after_return: bool,
    },
    Utf16 {
        decoder: encoding_rs::Decoder,
        name: &'static str,
        is_after_return: bool,
    },
}

impl<R> std::fmt::Debug for Text<R> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Text").field("at", &self.at).finish_non_exhaustive()
    }
}

impl<R: BufRead> Text<R> {
    pub fn new(input: R) -> Self {
        Self { input, form: Form::Unknown, converted: Vec::new(), at: 0, is_at_end: false }
    }

    /// The encoding of the text if it is not UTF-8. Known after the first byte has been read.
    pub fn other_encoding(&self) -> Option<&'static str> {
        match self.form {
            Form::Utf16 { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Finds the form of the text by its first bytes.
    fn find_form(&mut self) -> io::Result<()> {
        let first = self.input.fill_buf()?;
        self.form = match first {
            [0xff, 0xfe, ..] => utf16(UTF_16LE),
            [0xfe, 0xff, ..] => utf16(UTF_16BE),
            _ if first.contains(&b'\r') && !first.contains(&b'\n') => Form::CarriageReturns { is_after_return: false },
            _ => Form::Usual,
        };
        Ok(())
    }

    /// Converts the next bytes of the input. At its end, nothing is converted.
    fn convert(&mut self) -> io::Result<()> {
        self.converted.clear();
        self.at = 0;
        // A decoder that has ended cannot go on.
        while !self.is_at_end {
            let input = self.input.fill_buf()?;
            self.is_at_end = input.is_empty();
            let input = input.get(..CHUNK).unwrap_or(input);
            let bytes = input.len();
            match &mut self.form {
                Form::Utf16 { decoder, is_after_return, .. } => {
                    let mut text = String::new();
                    let longest = decoder.max_utf8_buffer_length(bytes).unwrap_or(4 * bytes + 16);
                    text.reserve(longest);
                    let _ = decoder.decode_to_string(input, &mut text, self.is_at_end);
                    push_lines(text.as_bytes(), is_after_return, &mut self.converted);
                }
                Form::CarriageReturns { is_after_return } => push_lines(input, is_after_return, &mut self.converted),
                Form::Unknown | Form::Usual => {}
            }
            self.input.consume(bytes);
            if !self.converted.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

fn utf16(encoding: &'static encoding_rs::Encoding) -> Form {
    Form::Utf16 { decoder: encoding.new_decoder(), name: encoding.name(), is_after_return: false }
}

/// Appends a text, with line feeds for carriage returns.
fn push_lines(text: &[u8], is_after_return: &mut bool, to: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'\r' => to.push(b'\n'),
            b'\n' if *is_after_return => {}
            _ => to.push(byte),
        }
        *is_after_return = byte == b'\r';
    }
}

impl<R: BufRead> Read for Text<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let bytes = from.len().min(to.len());
        to[..bytes].copy_from_slice(&from[..bytes]);
        self.consume(bytes);
        Ok(bytes)
    }
}

impl<R: BufRead> BufRead for Text<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if matches!(self.form, Form::Unknown) {
            self.find_form()?;
        }
        if matches!(self.form, Form::Usual) {
            return self.input.fill_buf();
        }
        if self.at == self.converted.len() {
            self.convert()?;
        }
        Ok(&self.converted[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        match self.form {
            Form::Unknown | Form::Usual => self.input.consume(bytes),
            _ => self.at = (self.at + bytes).min(self.converted.len()),
        }
    }
}

/// The text of a name, and its encoding if it is not UTF-8.
///
/// Bytes from 0x80 to 0x9F begin the kana and most kanji of Shift-JIS; in Windows-1252 they are quotation marks and
/// dashes, which names do not have.
pub(super) fn decode_name(name: &[u8]) -> (String, Option<&'static str>) {
    if let Ok(name) = std::str::from_utf8(name) {
        return (name.to_owned(), None);
    }
    if name.iter().any(|byte| (0x80..0xa0).contains(byte))
        && let Some(text) = SHIFT_JIS.decode_without_bom_handling_and_without_replacement(name)
    {
        return (text.into_owned(), Some("Shift-JIS"));
    }
    (WINDOWS_1252.decode_without_bom_handling(name).0.into_owned(), Some("Windows-1252"))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(bytes: &[u8], capacity: usize) -> String {
        let mut text = String::new();
        Text::new(BufReader::with_capacity(capacity, bytes)).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn utf_16_of_both_orders_becomes_utf_8() {
        let text = "ROOT H\u{fc}fte \u{1f9b4}\r\n{\r\n}";
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
            let bytes: Vec<u8> = units.flat_map(order).collect();
            for capacity in [2, 3, 5, 64] {
                assert_eq!(read(&bytes, capacity), text.replace("\r\n", "\n"), "{capacity}");
            }
        }
    }

    #[test]
    fn carriage_returns_end_lines() {
        assert_eq!(read(b"a\rb\r\rc", 64), "a\nb\n\nc");
        // The first buffer ends between the two bytes of an end of a line.
        assert_eq!(read(b"ab\r\ncd\r\n", 3), "ab\ncd\n");
        assert_eq!(read(b"a\r\nb\rc\n", 64), "a\r\nb\rc\n");
    }

    #[test]
    fn names_are_those_that_people_wrote() {
        assert_eq!(decode_name(b"H\xfcfte"), ("H\u{fc}fte".into(), Some("Windows-1252")));
        assert_eq!(decode_name(b"\x8d\xb6\x98r"), ("\u{5de6}\u{8155}".into(), Some("Shift-JIS")));
        assert_eq!(decode_name("H\u{fc}fte".as_bytes()), ("H\u{fc}fte".into(), None));
    }
}
