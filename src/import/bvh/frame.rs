//! The lines of MOTION: a frame per line, a number per channel.

use super::half_angle::FrameColumn;
use super::lines::too_long;
use crate::import::file_error::shorten;
use crate::model::is_usable;

/// The bytes of a line that are allowed per number. Numbers have up to 25 digits and signs; the rest is space between
/// them.
const BYTES_PER_NUMBER: usize = 256;
/// The bytes of a line that are allowed beside its numbers.
const BYTES_BESIDE: usize = 4096;

/// The longest line of a frame in bytes.
pub(super) fn longest_line(columns: usize) -> usize {
    columns.saturating_mul(BYTES_PER_NUMBER).saturating_add(BYTES_BESIDE)
}

/// A line that has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadLine {
    /// The bytes of the line with its end.
    pub bytes: usize,
    /// `true` if the line has numbers, false if it has only space.
    pub is_frame: bool,
}

/// Reads the first line of a text into a frame of the columns. Fails with a reason.
pub(super) fn read_line(text: &[u8], frame: usize, columns: &mut [FrameColumn]) -> Result<ReadLine, String> {
    let count = columns.len();
    let mut rest = skip_space(text);
    let is_frame = !matches!(rest, [] | [b'\n', ..]);
    if is_frame {
        for (index, column) in columns.iter_mut().enumerate() {
            rest = skip_space(rest);
            let Ok((number, length)) = fast_float2::parse_partial::<f64, _>(rest) else {
                return Err(wrong_number(rest, index, count));
            };
            let after = rest.get(length..).unwrap_or_default();
            if !is_usable(number) || after.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
                return Err(wrong_number(rest, index, count));
            }
            column[frame] = number;
            rest = after;
        }
        rest = skip_space(rest);
    }
    let bytes = text.len() - rest.len();
    match rest {
        [] | [b'\n', ..] if bytes > longest_line(count) => Err(too_long(longest_line(count))),
        [] => Ok(ReadLine { bytes, is_frame }),
        [b'\n', ..] => Ok(ReadLine { bytes: bytes + 1, is_frame }),
        _ => Err(wrong_count(count + words(rest).count(), count)),
    }
}

/// Reads the first line of a text, whose numbers have commas before their decimals and no points. `None` if they do
/// not, or if the line cannot be read.
#[cold]
pub(super) fn read_decimal_commas(text: &[u8], frame: usize, columns: &mut [FrameColumn]) -> Option<ReadLine> {
    let end = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |end| end + 1);
    let line = text.get(..end)?;
    if !line.contains(&b',') || line.contains(&b'.') {
        return None;
    }
    let line: Vec<u8> = line.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    read_line(&line, frame, columns).ok()
}

/// True for a line without numbers.
pub(super) fn is_blank(line: &[u8]) -> bool {
    skip_space(line).is_empty()
}

/// The text after space, which may begin with the end of the line.
fn skip_space(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c', rest @ ..] = text {
        text = rest;
    }
    text
}

/// The reason for a text that is not a number, or for a line that ends.
#[cold]
fn wrong_number(rest: &[u8], index: usize, count: usize) -> String {
    let Some(word) = words(rest).next() else { return wrong_count(index, count) };
    let text = shorten(&String::from_utf8_lossy(word));
    let hint = match text.parse::<f64>() {
        Ok(number) if number.is_nan() => "; the exporter wrote a value that is not a number",
        Ok(_) => "; the number is too large",
        Err(_) if word.contains(&b',') => "; write a point before the decimals, and spaces between numbers",
        Err(_) if word == b"MOTION" || word == b"HIERARCHY" => "; a second part belongs in a file of its own",
        Err(_) => "",
    };
    format!("number {} of {count}: found {text:?}; expected a finite number in the range of an f32{hint}", index + 1)
}

#[cold]
fn wrong_count(found: usize, expected: usize) -> String {
    let hint = if found < expected { "The line may be truncated" } else { "CHANNELS may announce too few" };
    format!("found {found} numbers; expected {expected}, one per channel, because a frame is one line. {hint}")
}

/// The words of the first line of a text.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::half_angle::BLOCK;
    use super::*;

    fn read(line: &str, count: usize) -> Result<Vec<f64>, String> {
        let mut columns = vec![[0.0; BLOCK]; count];
        let read = read_line(line.as_bytes(), 3, &mut columns)?;
        assert_eq!(read, ReadLine { bytes: line.len(), is_frame: true });
        Ok(columns.into_iter().map(|column| column[3]).collect())
    }

    #[test]
    fn numbers_may_have_any_usual_spelling() {
        let line = "\t+1 .5 1. 1e-3  -0 -.25 1E+2 +0.0e0 000123.50 1.7976931348623157e-308 0.1\t\r\n";
        let expected = [1.0, 0.5, 1.0, 1e-3, -0.0, -0.25, 100.0, 0.0, 123.5, 1.797_693_134_862_315_7e-308, 0.1];
        let found = read(line, expected.len()).unwrap();
        assert_eq!(found.iter().map(|number| number.to_bits()).collect::<Vec<_>>(), expected.map(f64::to_bits));
    }

    #[test]
    fn other_words_are_refused() {
        let words = [
            "nan",
            "-NaN",
            "inf",
            "-Infinity",
            "1e39",
            "1e999",
            "1,5",
            "0x10",
            "1e",
            "-",
            "+",
            ".",
            "1-2",
            "--1",
            "1.5f",
            "1_0",
            "1.#IND",
        ];
        for word in words {
            let reason = read(&format!("0 {word} 0"), 3).unwrap_err();
            assert!(reason.starts_with(&format!("number 2 of 3: found {word:?}; expected a finite")), "{reason}");
        }
        assert!(read("0 0", 3).unwrap_err().starts_with("found 2 numbers; expected 3, one per channel"));
        assert!(read("0 0 0 0 0", 3).unwrap_err().starts_with("found 5 numbers; expected 3, one per channel"));
    }
}
