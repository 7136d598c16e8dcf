//! NumPy's `.npy` format: headers, and arrays of text. A `.npz` file is a zip file of them.

use std::io::{self, Write};

/// The first bytes of a file of version 1.0 of the format.
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

/// The header of a `.npy` file, version 1.0 of the format: a Python dictionary, padded with spaces so that the numbers begin
/// at a multiple of 64 bytes. `kind` is the NumPy name of the number type.
pub fn header(kind: &str, shape: &[usize]) -> io::Result<Vec<u8>> {
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
pub fn texts(shape: &[usize], texts: &[&str]) -> io::Result<Vec<u8>> {
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

/// The kind and the numbers of an array that [`header`] begins; `None` for other bytes.
pub fn parse(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.strip_prefix(MAGIC)?.split_at_checked(size_of::<u16>())?;
    let (text, numbers) = rest.split_at_checked(usize::from(u16::from_le_bytes(length.try_into().ok()?)))?;
    let kind = std::str::from_utf8(text).ok()?.split_once("'descr': '")?.1.split_once('\'')?.0;
    Some((kind, numbers))
}

/// The texts of an array that [`texts`] made; `None` for another array.
pub fn parse_texts(bytes: &[u8]) -> Option<Vec<String>> {
    let (kind, letters) = parse(bytes)?;
    let length: usize = kind.strip_prefix("<U")?.parse().ok().filter(|&length| length > 0)?;
    let text = |bytes: &[u8]| {
        let codes = bytes.chunks_exact(4).map(|code| u32::from_le_bytes([code[0], code[1], code[2], code[3]]));
        codes.take_while(|&code| code != 0).map(char::from_u32).collect::<Option<String>>()
    };
    letters.chunks_exact(length.checked_mul(4)?).map(text).collect()
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
        let bytes = texts(&[3], &["hüfte", "", "𝄞"]).unwrap();
        let (kind, letters) = parse(&bytes).unwrap();
        let codes = [0x68, 0xfc, 0x66, 0x74, 0x65, 0, 0, 0, 0, 0, 0x1d11e, 0, 0, 0, 0_u32];
        assert_eq!((kind, letters), ("<U5", codes.map(u32::to_le_bytes).as_flattened()));
        assert_eq!(parse_texts(&bytes).unwrap(), ["hüfte", "", "𝄞"]);
        assert_eq!(parse_texts(&texts(&[], &[""]).unwrap()).unwrap(), [""]);
        assert_eq!(parse_texts(&texts(&[0], &[]).unwrap()).unwrap(), [""; 0]);
    }

    #[test]
    fn other_bytes_are_no_texts() {
        let bytes = texts(&[2], &["left", "right"]).unwrap();
        for end in 0..bytes.len() - 20 {
            let _ = parse_texts(&bytes[..end]);
        }
        assert_eq!(parse_texts(b"PK"), None);
        assert_eq!(parse_texts(&header("<f4", &[0]).unwrap()), None);
        assert_eq!(parse_texts(&header("<U0", &[1]).unwrap()), None);
        assert_eq!(parse_texts(&header("<U18446744073709551615", &[1]).unwrap()), None);
    }
}
