//! Indices: sequences (appendix A, mode 2) and triangle lists (appendix A, mode 1).

use super::{MeshoptError, Stream, broken, wrong};

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

/// Decodes a list of triangles: `count` indices of `stride` bytes. A triangle consists of an edge of an earlier triangle and a
/// vertex, or of three vertices. A vertex is a recent one, the next new one, or spelled out.
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
    // A stream that refers to an item before the first gets the number that the library which defines the format has there.
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
