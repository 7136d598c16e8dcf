//! Sequences of indices, as differences from one of two earlier ones (appendix A, mode 2).

use super::{MeshoptError, Stream, broken, wrong};

/// Decodes `count` indices of `stride` bytes.
pub(super) fn decode(data: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, MeshoptError> {
    const TAIL: usize = 4;
    if stride != 2 && stride != 4 {
        return Err(wrong("byteStride", format!("{stride} is not 2 or 4")));
    }
    let mut stream = Stream(data);
    match stream.byte()? {
        0xd0 | 0xd1 => {}
        other => return Err(broken(&format!("it begins with {other:#04x}, not with 0xd1"))),
    }
    let body = stream.0.len().checked_sub(TAIL).ok_or_else(|| broken("it ends too early"))?;
    if count > body {
        return Err(broken("it is too short for its count"));
    }
    stream.0 = &stream.0[..body];
    let mut decoded = Vec::with_capacity(count * stride);
    let mut last = [0u32; 2];
    for _ in 0..count {
        let code = stream.number()?;
        let last = &mut last[(code & 1) as usize];
        let delta = code >> 1;
        *last = last.wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg());
        decoded.extend_from_slice(&last.to_le_bytes()[..stride]);
    }
    if stream.0.is_empty() { Ok(decoded) } else { Err(broken("bytes are left over")) }
}
