//! Decompression of buffer views: `KHR_meshopt_compression` and `EXT_meshopt_compression`, appendix A.
//!
//! The decoder is in safe Rust: it needs no C++ compiler, works in a browser, and refuses garbled streams with an error.
//!
//! Tests compare the decoder with the reference implementation, which is C++.

mod attributes;
mod filters;
mod indices;
#[cfg(test)]
mod tests;

use self::filters::Filter;

/// The reason that a stream cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub struct MeshoptError {
    /// The faulty field of the extension; empty for the stream itself.
    pub field: &'static str,
    /// The value that was found, and the expected one.
    pub reason: String,
}

fn wrong(field: &'static str, reason: impl Into<String>) -> MeshoptError {
    MeshoptError { field, reason: reason.into() }
}

fn broken(reason: &str) -> MeshoptError {
    wrong("", format!("the compressed stream is broken: {reason}"))
}

/// Decodes `count` elements of `stride` bytes. The caller has charged the memory.
pub fn decode(data: &[u8], count: u64, stride: u64, mode: &str, filter: &str) -> Result<Vec<u8>, MeshoptError> {
    let (Ok(count), Ok(stride)) = (usize::try_from(count), usize::try_from(stride)) else {
        return Err(wrong("count", "it is too large for the address space of this machine"));
    };
    let filter = Filter::parse(filter).ok_or_else(|| wrong("filter", format!("{filter:?} is not a known filter")))?;
    match mode {
        "ATTRIBUTES" => {
            if !filter.fits(stride) {
                return Err(wrong(
                    "byteStride",
                    format!("the filter {filter:?} does not apply to elements of {stride} bytes"),
                ));
            }
            let mut decoded = attributes::decode(data, count, stride)?;
            filters::apply(filter, &mut decoded, stride);
            Ok(decoded)
        }
        "INDICES" if filter != Filter::None => Err(wrong("filter", "indices cannot have a filter")),
        "INDICES" => indices::decode_sequence(data, count, stride),
        "TRIANGLES" if filter != Filter::None => Err(wrong("filter", "triangles cannot have a filter")),
        "TRIANGLES" => indices::decode_triangles(data, count, stride),
        other => Err(wrong("mode", format!("{other:?} is not a mode; expected ATTRIBUTES, INDICES or TRIANGLES"))),
    }
}

/// Reads a stream from its front.
struct Stream<'a>(&'a [u8]);

impl<'a> Stream<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], MeshoptError> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(|| broken("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, MeshoptError> {
        Ok(self.take(1)?.first().copied().unwrap_or(0))
    }

    /// A number in groups of seven bits, the lowest group first. All bytes except the last have their highest bit set.
    fn number(&mut self) -> Result<u32, MeshoptError> {
        let mut number = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(broken("an index has too many bytes"))
    }
}
