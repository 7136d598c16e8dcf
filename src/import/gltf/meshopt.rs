//! Decompression of buffer views: `KHR_meshopt_compression` and `EXT_meshopt_compression`, appendix A.
//!
//! The decoder is in safe Rust: it needs no C++ compiler, works in a browser, and refuses garbled streams with an
//! error. Tests compare the decoder with the reference implementation, which is C++.

#[cfg(test)]
mod tests;

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
            let mut decoded = decode_attributes(data, count, stride)?;
            apply_filter(filter, &mut decoded, stride);
            Ok(decoded)
        }
        "INDICES" if filter != Filter::None => Err(wrong("filter", "indices cannot have a filter")),
        "INDICES" => decode_sequence(data, count, stride),
        "TRIANGLES" if filter != Filter::None => Err(wrong("filter", "triangles cannot have a filter")),
        "TRIANGLES" => decode_triangles(data, count, stride),
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

/// Elements of which the deltas are packed together.
const GROUP: usize = 16;
const MAX_BLOCK_BYTES: usize = 8192;
const MAX_BLOCK_ELEMENTS: usize = 256;

/// The encoding of the differences from element to element, for four bytes of an element.
#[derive(Clone, Copy)]
enum ByteChannel {
    Bytes,
    Words,
    Xor(u32),
}

/// Decodes `count` elements of `stride` bytes, without a filter.
fn decode_attributes(data: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, MeshoptError> {
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

fn channels(modes: &[u8], stride: usize) -> Result<Vec<ByteChannel>, MeshoptError> {
    if modes.is_empty() {
        return Ok(vec![ByteChannel::Bytes; stride / 4]);
    }
    let channel = |&mode: &u8| match (mode & 15, u32::from(mode >> 4)) {
        (0, 0) => Ok(ByteChannel::Bytes),
        (1, 0) => Ok(ByteChannel::Words),
        (2, rotation) => Ok(ByteChannel::Xor(rotation)),
        _ => Err(broken(&format!("{mode:#04x} is not a channel mode"))),
    };
    modes.iter().map(channel).collect()
}

impl ByteChannel {
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

/// Decodes a sequence of `count` indices of `stride` bytes: differences from one of two earlier indices.
pub(super) fn decode_sequence(data: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, MeshoptError> {
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

/// The number of codes for common triangles that share no edge with earlier ones.
const TABLE: usize = 16;

/// Decodes a list of triangles: `count` indices of `stride` bytes. A triangle consists of an edge of an earlier
/// triangle and a vertex, or of three vertices. A vertex is a recent one, the next new one, or spelled out.
pub(super) fn decode_triangles(data: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, MeshoptError> {
    if stride != 2 && stride != 4 {
        return Err(wrong("mode", format!("a triangle list has to have indices of 2 or 4 bytes, not of {stride}")));
    }
    if !count.is_multiple_of(3) {
        return Err(wrong("count", format!("{count} indices are not a multiple of 3")));
    }
    let mut stream = Stream(data);
    let version = match stream.byte()? {
        0xe0 => 0,
        0xe1 => 1,
        other => return Err(broken(&format!("it begins with {other:#04x}, not with 0xe1"))),
    };
    let codes = stream.take(count / 3)?;
    let body = stream.0.len().checked_sub(TABLE).ok_or_else(|| broken("it ends too early"))?;
    let (body, table) = stream.0.split_at(body);
    // A stream that refers to an item before the first gets the number that the library which defines the format has
    // there.
    let (edges, vertices) = (Recent::new([u32::MAX; 2]), Recent::new(u32::MAX));
    let mut state = State { data: Stream(body), edges, vertices, next: 0, last: 0 };
    let mut decoded = Vec::with_capacity(count * stride);
    for &code in codes {
        let triangle = if code < 0xf0 { state.adjacent(code, version)? } else { state.separate(code, table)? };
        for index in triangle {
            decoded.extend_from_slice(&index.to_le_bytes()[..stride]);
        }
    }
    if state.data.0.is_empty() { Ok(decoded) } else { Err(broken("bytes are left over")) }
}

/// The sixteen most recent items.
struct Recent<T> {
    items: [T; 16],
    next: usize,
}

impl<T: Copy> Recent<T> {
    fn new(item: T) -> Self {
        Self { items: [item; 16], next: 0 }
    }

    fn push(&mut self, item: T) {
        self.items[self.next % 16] = item;
        self.next += 1;
    }

    /// The most recent item at 0, the one before at 1.
    fn get(&self, ago: u8) -> T {
        self.items[(self.next + 15 - usize::from(ago)) % 16]
    }
}

/// The state of decoding triangles.
struct State<'a> {
    data: Stream<'a>,
    edges: Recent<[u32; 2]>,
    vertices: Recent<u32>,
    /// The next new vertex.
    next: u32,
    /// The vertex that was spelled out last.
    last: u32,
}

impl State<'_> {
    /// Decodes a triangle that shares an edge with an earlier one.
    fn adjacent(&mut self, code: u8, version: u8) -> Result<[u32; 3], MeshoptError> {
        let [a, b] = self.edges.get(code >> 4);
        let third = code & 15;
        let c = match (third, version) {
            (0, _) => self.new_vertex(),
            // The vertex before or after the one spelled out last.
            (13, 1) => self.push_spelled(self.last.wrapping_sub(1)),
            (14, 1) => self.push_spelled(self.last.wrapping_add(1)),
            (15, _) => self.read_spelled()?,
            (ago, _) => self.vertices.get(ago),
        };
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        Ok([a, b, c])
    }

    /// Decodes a triangle that shares no edge.
    fn separate(&mut self, code: u8, table: &[u8]) -> Result<[u32; 3], MeshoptError> {
        let common = code < 0xfe;
        let pair = if common { table.get(usize::from(code & 15)).copied().unwrap_or(0) } else { self.data.byte()? };
        if !common && pair == 0 {
            self.next = 0;
        }
        // All vertices are looked up before any of this triangle is pushed.
        let codes = [if code == 0xff { 15 } else { 0 }, pair >> 4, pair & 15];
        let mut triangle = [0; 3];
        for (vertex, code) in triangle.iter_mut().zip(codes) {
            *vertex = match code {
                0 => {
                    self.next = self.next.wrapping_add(1);
                    self.next.wrapping_sub(1)
                }
                15 if !common => 0,
                ago => self.vertices.get(ago - 1),
            };
        }
        for (vertex, code) in triangle.iter_mut().zip(codes) {
            if code == 15 && !common {
                *vertex = self.next_spelled()?;
            }
        }
        for (vertex, code) in triangle.iter().zip(codes) {
            if code == 0 || (code == 15 && !common) {
                self.vertices.push(*vertex);
            }
        }
        let [a, b, c] = triangle;
        [[b, a], [c, b], [a, c]].into_iter().for_each(|edge| self.edges.push(edge));
        Ok(triangle)
    }

    fn new_vertex(&mut self) -> u32 {
        let vertex = self.next;
        self.next = self.next.wrapping_add(1);
        self.vertices.push(vertex);
        vertex
    }

    /// Pushes a vertex as the one that was spelled out last.
    fn push_spelled(&mut self, vertex: u32) -> u32 {
        self.last = vertex;
        self.vertices.push(vertex);
        vertex
    }

    fn read_spelled(&mut self) -> Result<u32, MeshoptError> {
        let vertex = self.next_spelled()?;
        self.vertices.push(vertex);
        Ok(vertex)
    }

    /// The next vertex that is spelled out, stored as a difference from the one before.
    fn next_spelled(&mut self) -> Result<u32, MeshoptError> {
        let delta = self.data.number()?;
        self.last = self.last.wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg());
        Ok(self.last)
    }
}

/// A filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

impl Filter {
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "NONE" => Self::None,
            "OCTAHEDRAL" => Self::Octahedral,
            "QUATERNION" => Self::Quaternion,
            "EXPONENTIAL" => Self::Exponential,
            "COLOR" => Self::Color,
            _ => return None,
        })
    }

    /// Returns `true` if the filter applies to elements of `stride` bytes.
    pub fn fits(self, stride: usize) -> bool {
        match self {
            Self::None => true,
            Self::Octahedral | Self::Color => stride == 4 || stride == 8,
            Self::Quaternion => stride == 8,
            Self::Exponential => stride.is_multiple_of(4),
        }
    }
}

/// Filters elements in place. The stride must [fit](Filter::fits).
fn apply_filter(filter: Filter, data: &mut [u8], stride: usize) {
    match (filter, stride) {
        (Filter::None, _) => {}
        (Filter::Exponential, _) => each(data, |bytes: [u8; 4]| exponential(i32::from_le_bytes(bytes)).to_le_bytes()),
        (Filter::Quaternion, _) => each(data, |bytes| from_shorts(quaternion(shorts(bytes)))),
        (Filter::Octahedral, 4) => each(data, |bytes: [u8; 4]| {
            let [x, y, z, w] = bytes.map(|byte| i16::from(byte.cast_signed()));
            octahedral([x, y, z, w], 127.0).map(|value| (value as i8).cast_unsigned())
        }),
        (Filter::Octahedral, _) => each(data, |bytes| from_shorts(octahedral(shorts(bytes), 32767.0))),
        (Filter::Color, 4) => each(data, |bytes: [u8; 4]| {
            let [y, co, cg, a] = bytes;
            let chroma = [co, cg].map(|byte| i32::from(byte.cast_signed()));
            color(i32::from(y), chroma, u32::from(a), 255.0).map(|value| value as u8)
        }),
        (Filter::Color, _) => each(data, |bytes: [u8; 8]| {
            let [y, co, cg, a] = shorts(bytes);
            let unsigned = |short: i16| u32::from(short.cast_unsigned());
            let color = color(unsigned(y).cast_signed(), [co, cg].map(i32::from), unsigned(a), 65535.0);
            from_shorts(color.map(|value| (value as u16).cast_signed()))
        }),
    }
}

fn each<const N: usize>(data: &mut [u8], filter: impl Fn([u8; N]) -> [u8; N]) {
    for element in data.as_chunks_mut::<N>().0 {
        *element = filter(*element);
    }
}

fn shorts(bytes: [u8; 8]) -> [i16; 4] {
    std::array::from_fn(|index| i16::from_le_bytes([bytes[index * 2], bytes[index * 2 + 1]]))
}

fn from_shorts(shorts: [i16; 4]) -> [u8; 8] {
    let [[a, b], [c, d], [e, f], [g, h]] = shorts.map(i16::to_le_bytes);
    [a, b, c, d, e, f, g, h]
}

fn octahedral(input: [i16; 4], max: f32) -> [i16; 4] {
    let [x, y, one, w] = input;
    let one = f32::from(one);
    let (x, y) = (f32::from(x) / one, f32::from(y) / one);
    let z = 1.0 - x.abs() - y.abs();
    let fold = z.min(0.0);
    let (x, y) = (x - fold.copysign(x), y - fold.copysign(y));
    let scale = max / (x * x + y * y + z * z).sqrt();
    let round = |value: f32| (value * scale).round() as i16;
    [round(x), round(y), round(z), w]
}

fn quaternion(input: [i16; 4]) -> [i16; 4] {
    let one = f32::from(input[3] | 3);
    let [x, y, z] =
        [input[0], input[1], input[2]].map(|value| f32::from(value) / one * std::f32::consts::FRAC_1_SQRT_2);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let largest = usize::from((input[3] & 3).cast_unsigned());
    let mut output = [0; 4];
    for (offset, value) in [w, x, y, z].into_iter().enumerate() {
        output[(largest + offset) % 4] = (value * 32767.0).round() as i16;
    }
    output
}

fn exponential(input: i32) -> f32 {
    let (exponent, mantissa) = (input >> 24, input << 8 >> 8);
    // The product is exact in f64, so that only the conversion to f32 rounds.
    (f64::from(mantissa) * 2f64.powi(exponent)) as f32
}

fn color(y: i32, chroma: [i32; 2], alpha: u32, max: f32) -> [f32; 4] {
    let [co, cg] = chroma;
    let bits = 32 - alpha.leading_zeros();
    let full = (1u32 << bits) - 1;
    let alpha = alpha & (full >> 1);
    let alpha = (alpha << 1 | (alpha & 1)).cast_signed();
    let scale = max / full as f32;
    [y + co - cg, y + cg, y - co - cg, alpha].map(|value| (value as f32 * scale).round())
}
