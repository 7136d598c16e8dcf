//! The encodings of BVH files: UTF-16 and lines of old Macintoshes as a whole, Windows-1252 and Shift-JIS in names.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

/// The bytes of the input that are converted at once.
const CHUNK: usize = 1 << 16;

/// A text as UTF-8, with a line feed at the end of each line. What is so already is passed on without a copy.
///
/// The first bytes at hand decide: a byte order mark of UTF-16, or carriage returns without a line feed.
pub(super) struct Text<R> {
    input: R,
    form: TextForm,
    /// Converted bytes, of which those before `at` have been consumed.
    converted: Vec<u8>,
    at: usize,
    /// True after the last byte of the input has been converted.
    is_at_end: bool,
}

/// How the text differs from what is passed on.
enum TextForm {
    Unknown,
    Usual,
    /// Lines end with a carriage return. Set if the last byte was one.
    CarriageReturns {
        is_after_return: bool,
    },
    /// Units of two bytes, most significant first unless it is little-endian. Of the bytes that were read, the ones
    /// that are `pending` are not converted yet.
    Utf16 {
        is_little_endian: bool,
        pending: Vec<u8>,
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
        Self { input, form: TextForm::Unknown, converted: Vec::new(), at: 0, is_at_end: false }
    }

    /// The encoding of the text if it is not UTF-8. Known after the first byte has been read.
    pub fn other_encoding(&self) -> Option<&'static str> {
        match self.form {
            TextForm::Utf16 { is_little_endian: true, .. } => Some("UTF-16LE"),
            TextForm::Utf16 { .. } => Some("UTF-16BE"),
            _ => None,
        }
    }

    /// Finds the form of the text by its first bytes.
    fn find_form(&mut self) -> io::Result<()> {
        let first = self.input.fill_buf()?;
        self.form = match first {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                let is_little_endian = first.starts_with(&[0xff]);
                TextForm::Utf16 { is_little_endian, pending: Vec::new(), is_after_return: false }
            }
            _ if first.contains(&b'\r') && !first.contains(&b'\n') => {
                TextForm::CarriageReturns { is_after_return: false }
            }
            _ => TextForm::Usual,
        };
        Ok(())
    }

    /// Converts the next bytes of the input. At its end, nothing is converted.
    fn convert(&mut self) -> io::Result<()> {
        self.converted.clear();
        self.at = 0;
        while !self.is_at_end {
            let input = self.input.fill_buf()?;
            self.is_at_end = input.is_empty();
            let input = input.get(..CHUNK).unwrap_or(input);
            let bytes = input.len();
            match &mut self.form {
                TextForm::Utf16 { is_little_endian, pending, is_after_return } => {
                    pending.extend_from_slice(input);
                    let text = decode_utf16(pending, *is_little_endian, self.is_at_end);
                    push_lines(text.as_bytes(), is_after_return, &mut self.converted);
                }
                TextForm::CarriageReturns { is_after_return } => {
                    push_lines(input, is_after_return, &mut self.converted)
                }
                TextForm::Unknown | TextForm::Usual => {}
            }
            self.input.consume(bytes);
            if !self.converted.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

/// Takes whole letters from bytes of UTF-16, without the byte order mark. At the end of the text, nothing is left.
fn decode_utf16(pending: &mut Vec<u8>, is_little_endian: bool, is_at_end: bool) -> String {
    let unit = |pair: &[u8; 2]| if is_little_endian { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) };
    let mut units: Vec<u16> = pending.as_chunks().0.iter().map(unit).collect();
    // The first unit of a pair waits for the second.
    if !is_at_end && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
        units.pop();
    }
    let left = pending.split_off(2 * units.len());
    let is_cut = is_at_end && !left.is_empty();
    *pending = if is_at_end { Vec::new() } else { left };
    let letters = char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    letters.chain(is_cut.then_some(char::REPLACEMENT_CHARACTER)).filter(|&letter| letter != '\u{feff}').collect()
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
        if matches!(self.form, TextForm::Unknown) {
            self.find_form()?;
        }
        if matches!(self.form, TextForm::Usual) {
            return self.input.fill_buf();
        }
        if self.at == self.converted.len() {
            self.convert()?;
        }
        Ok(&self.converted[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        match self.form {
            TextForm::Unknown | TextForm::Usual => self.input.consume(bytes),
            _ => self.at = (self.at + bytes).min(self.converted.len()),
        }
    }
}

/// The length of the name at the start of a text: up to a brace, or to the end. The second byte of a letter in
/// Shift-JIS may be the byte of a brace.
pub(super) fn name_length(text: &[u8]) -> usize {
    let is_brace = |byte: &u8| matches!(byte, b'{' | b'}');
    let length = text.iter().position(is_brace).unwrap_or(text.len());
    let mut at = 0;
    if text.get(..length).is_none_or(|name| std::str::from_utf8(name).is_ok()) {
        return length;
    }
    while let Some(byte) = text.get(at).filter(|byte| !is_brace(byte)) {
        let second = text.get(at + 1);
        // In Windows-1252, names end with letters from 0xE0 on, but not with the signs below 0xA0.
        let is_pair = match byte {
            0x81..0xa0 => second.is_some_and(|second| (0x40..0xfd).contains(second)),
            0xe0..0xfd => second.is_some_and(|second| (0x40..0xfd).contains(second) && !is_brace(second)),
            _ => false,
        };
        at += if is_pair { 2 } else { 1 };
    }
    at.min(text.len())
}

/// The text of a name. If it is not UTF-8, it is read as Windows-1252, and its bytes are returned, too.
pub(super) fn decode_name(name: &[u8]) -> (String, Option<Vec<u8>>) {
    match std::str::from_utf8(name) {
        Ok(name) => (name.to_owned(), None),
        Err(_) => (windows_1252(name), Some(name.to_vec())),
    }
}

/// The letters of the bytes from 0x80 to 0x9F in Windows-1252; all others are the code points. Source: the
/// WHATWG Encoding Standard.
const WINDOWS_1252: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}',
    '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}',
    '\u{17e}', '\u{178}',
];

fn windows_1252(name: &[u8]) -> String {
    let letter = |&byte: &u8| match byte {
        0x80..0xa0 => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    };
    name.iter().map(letter).collect()
}

/// The text of a name in Shift-JIS; `None` if it is not. The tables of Japanese letters would take a tenth of the
/// package for the web, which reads all such names as Windows-1252.
#[cfg(not(target_arch = "wasm32"))]
fn shift_jis(name: &[u8]) -> Option<String> {
    encoding_rs::SHIFT_JIS.decode_without_bom_handling_and_without_replacement(name).map(Into::into)
}

#[cfg(target_arch = "wasm32")]
fn shift_jis(_: &[u8]) -> Option<String> {
    None
}

/// The names in Shift-JIS, by what they are in Windows-1252. `None` if they are not Shift-JIS.
///
/// A Western name has single letters beyond ASCII, which Shift-JIS may read as a kanji each. Japanese names have kana,
/// or several kanji in a row; one such name tells the encoding of the file.
pub(super) fn shift_jis_names(names: &[Vec<u8>]) -> Option<HashMap<String, String>> {
    let mut decoded = HashMap::new();
    let mut is_japanese = false;
    for name in names {
        let text = shift_jis(name)?;
        let letters: Vec<char> = text.chars().collect();
        let is_kana = |letter: &char| ('\u{3041}'..='\u{30ff}').contains(letter);
        let is_kanji = |letter: &char| ('\u{4e00}'..='\u{9fff}').contains(letter);
        is_japanese |= letters.iter().any(is_kana) || letters.windows(2).any(|pair| pair.iter().all(is_kanji));
        decoded.insert(windows_1252(name), text);
    }
    is_japanese.then_some(decoded)
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

    fn decode(names: &[&[u8]]) -> Vec<String> {
        let (texts, others): (Vec<String>, Vec<Option<Vec<u8>>>) = names.iter().map(|name| decode_name(name)).unzip();
        let japanese = shift_jis_names(&others.into_iter().flatten().collect::<Vec<_>>()).unwrap_or_default();
        texts.into_iter().map(|text| japanese.get(&text).cloned().unwrap_or(text)).collect()
    }

    #[test]
    fn names_are_those_that_people_wrote() {
        assert_eq!(decode(&["H\u{fc}fte".as_bytes(), b"Hips"]), ["H\u{fc}fte", "Hips"]);
        assert_eq!(decode(&[b"H\xfcfte", b"Hips", b"\xe9paule"]), ["H\u{fc}fte", "Hips", "\u{e9}paule"]);
        // One letter beyond ASCII is no kanji.
        assert_eq!(decode(&[b"\x9cil", b"\x9aije"]), ["\u{153}il", "\u{161}ije"]);
        // Two names of kanji in a row make the kanji of the third one.
        let japanese: [&[u8]; 3] = [b"\x8d\xb6\x98r", b"\x83{\x81[\x83\x93", b"\xe6\xf4"];
        assert_eq!(decode(&japanese), ["\u{5de6}\u{8155}", "\u{30dc}\u{30fc}\u{30f3}", "\u{8e1d}"]);
    }

    #[test]
    fn a_brace_ends_a_name_unless_it_is_half_a_letter() {
        for (text, length) in [
            (&b"Hips {"[..], 5),
            (b"Hips", 4),
            ("H\u{fc}fte{".as_bytes(), 6),
            ("\u{101}{".as_bytes(), 2),
            (b"H\xfcfte{", 5),
            (b"Entit\xe9{", 6),
            (b"\x83{\x81[\x83\x93 {", 7),
            (b"\x83}\x83}{", 4),
            (b"\x83", 1),
        ] {
            assert_eq!(name_length(text), length, "{}", String::from_utf8_lossy(text));
        }
    }
}
