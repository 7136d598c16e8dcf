//! Attributes: elements of up to 256 bytes, as differences from element to element (appendix A, mode 0).

use super::{MeshoptError, Stream, broken, wrong};

/// Elements of which the deltas are packed together.
const GROUP: usize = 16;
const MAX_BLOCK_BYTES: usize = 8192;
const MAX_BLOCK_ELEMENTS: usize = 256;

/// The encoding of the differences from element to element, for four bytes of an element.
#[derive(Clone, Copy)]
enum Channel {
    Bytes,
    Words,
    Xor(u32),
}

/// Decodes `count` elements of `stride` bytes, without a filter.
pub(super) fn decode(data: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, MeshoptError> {
    if stride == 0 || stride > 256 || !stride.is_multiple_of(4) {
        return Err(wrong("byteStride", format!("{stride} is not a multiple of 4 from 4 to 256")));
    }
    let mut stream = Stream(data);
    let version_1 = match stream.byte()? {
        0xa0 => false,
        0xa1 => true,
        other => return Err(broken(&format!("it begins with {other:#04x}, not with 0xa0 or 0xa1"))),
    };
    let (tail, tail_padded) =
        if version_1 { (stride + stride / 4, (stride + stride / 4).max(24)) } else { (stride, stride.max(32)) };
    let body = stream.0.len().checked_sub(tail_padded).ok_or_else(|| broken("it ends too early"))?;
    let (mut stream, end) = (Stream(&stream.0[..body]), &data[data.len() - tail..]);
    let (baseline, modes) = end.split_at(stride);
    let channels = channels(modes, stride)?;

    let per_block = (MAX_BLOCK_BYTES / stride / GROUP * GROUP).min(MAX_BLOCK_ELEMENTS);
    // A block has at least this many bytes. A count without data therefore allocates no memory.
    let least = if version_1 { stride / 4 } else { stride };
    if count.div_ceil(per_block).checked_mul(least).is_none_or(|least| least > body) {
        return Err(broken("it is too short for its count"));
    }
    let bytes = count.checked_mul(stride).ok_or_else(|| wrong("count", "it is too large"))?;
    let mut decoded = Vec::with_capacity(bytes);
    let mut last = [0; 256];
    last[..stride].copy_from_slice(baseline);
    let mut deltas = vec![0; stride * MAX_BLOCK_ELEMENTS];
    let mut remaining = count;
    while remaining > 0 {
        let elements = remaining.min(per_block);
        let controls = if version_1 { stream.take(stride / 4)? } else { &[] };
        for (byte, deltas) in deltas.chunks_exact_mut(MAX_BLOCK_ELEMENTS).enumerate() {
            let control = controls.get(byte / 4).map(|control| control >> (byte % 4 * 2) & 3);
            decode_deltas(&mut stream, control, elements, deltas)?;
        }
        for element in 0..elements {
            for (index, (channel, last)) in channels.iter().zip(last.chunks_exact_mut(4)).enumerate() {
                let delta = [0, 1, 2, 3].map(|byte| deltas[(index * 4 + byte) * MAX_BLOCK_ELEMENTS + element]);
                let next = channel.next([last[0], last[1], last[2], last[3]], delta);
                last.copy_from_slice(&next);
                decoded.extend_from_slice(&next);
            }
        }
        remaining -= elements;
    }
    if stream.0.is_empty() { Ok(decoded) } else { Err(broken("bytes are left over")) }
}

fn channels(modes: &[u8], stride: usize) -> Result<Vec<Channel>, MeshoptError> {
    if modes.is_empty() {
        return Ok(vec![Channel::Bytes; stride / 4]);
    }
    let channel = |&mode: &u8| match (mode & 15, u32::from(mode >> 4)) {
        (0, 0) => Ok(Channel::Bytes),
        (1, 0) => Ok(Channel::Words),
        (2, rotation) => Ok(Channel::Xor(rotation)),
        _ => Err(broken(&format!("{mode:#04x} is not a channel mode"))),
    };
    modes.iter().map(channel).collect()
}

impl Channel {
    fn next(self, last: [u8; 4], delta: [u8; 4]) -> [u8; 4] {
        match self {
            Self::Bytes => std::array::from_fn(|byte| {
                let delta = delta[byte];
                last[byte].wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg())
            }),
            Self::Words => {
                let word = |low: u8, high: u8| u16::from_le_bytes([low, high]);
                let next = |last: u16, delta: u16| last.wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg());
                let [a, b] = next(word(last[0], last[1]), word(delta[0], delta[1])).to_le_bytes();
                let [c, d] = next(word(last[2], last[3]), word(delta[2], delta[3])).to_le_bytes();
                [a, b, c, d]
            }
            // The encoder rotates to the left.
            Self::Xor(rotation) => {
                (u32::from_le_bytes(last) ^ u32::from_le_bytes(delta).rotate_right(rotation)).to_le_bytes()
            }
        }
    }
}

/// Decodes the deltas of one byte of the elements of a block. Version 0 has no control mode.
fn decode_deltas(
    stream: &mut Stream,
    control: Option<u8>,
    elements: usize,
    deltas: &mut [u8],
) -> Result<(), MeshoptError> {
    let widths = match control {
        None => [0, 2, 4, 8],
        Some(0) => [0, 1, 2, 4],
        Some(1) => [1, 2, 4, 8],
        Some(2) => {
            deltas.fill(0);
            return Ok(());
        }
        Some(_) => {
            deltas[..elements].copy_from_slice(stream.take(elements)?);
            return Ok(());
        }
    };
    let groups = elements.div_ceil(GROUP);
    let headers = stream.take(groups.div_ceil(4))?;
    for (index, group) in deltas.chunks_exact_mut(GROUP).take(groups).enumerate() {
        match widths[usize::from(headers[index / 4] >> (index % 4 * 2) & 3)] {
            0 => group.fill(0),
            8 => group.copy_from_slice(stream.take(GROUP)?),
            bits => decode_group(stream, bits, group)?,
        }
    }
    Ok(())
}

/// Decodes 16 deltas of 1, 2 or 4 bits. A delta with all bits set stands for a whole byte after the group.
fn decode_group(stream: &mut Stream, bits: usize, group: &mut [u8]) -> Result<(), MeshoptError> {
    let packed = stream.take(GROUP * bits / 8)?;
    let sentinel = (1 << bits) - 1;
    let per_byte = 8 / bits;
    for (index, delta) in group.iter_mut().enumerate() {
        let bit = index % per_byte * bits;
        // Single bits are packed from the lowest up, wider deltas from the highest down.
        let shift = if bits == 1 { bit } else { 8 - bits - bit };
        let value = packed[index / per_byte] >> shift & sentinel;
        *delta = if value == sentinel { stream.byte()? } else { value };
    }
    Ok(())
}
