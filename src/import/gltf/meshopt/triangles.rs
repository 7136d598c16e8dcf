//! Triangle lists, as edges of earlier triangles and vertices that were seen lately or are the next (appendix A, mode 1).

use super::{MeshoptError, Stream, broken, wrong};

/// Codes of common triangles that share no edge with earlier ones.
const TABLE: usize = 16;

/// Decodes `count` indices, three a triangle, of `stride` bytes.
pub(super) fn decode(data: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, MeshoptError> {
    if stride != 2 && stride != 4 {
        return Err(wrong("mode", format!("a triangle list has indices of 2 or 4 bytes, not of {stride}")));
    }
    if !count.is_multiple_of(3) {
        return Err(wrong("count", format!("{count} indices are not three a triangle")));
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
    let mut state =
        State { data: Stream(body), edges: Recent::new([0; 2]), vertices: Recent::new(0), next: 0, last: 0 };
    let mut decoded = Vec::with_capacity(count * stride);
    for &code in codes {
        let triangle = if code < 0xf0 { state.beside(code, version)? } else { state.apart(code, table)? };
        for index in triangle {
            decoded.extend_from_slice(&index.to_le_bytes()[..stride]);
        }
    }
    if state.data.0.is_empty() { Ok(decoded) } else { Err(broken("bytes are left over")) }
}

/// The last sixteen of something.
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

    /// The last one at 0, the one before at 1.
    fn get(&self, ago: u8) -> T {
        self.items[(self.next + 15 - usize::from(ago)) % 16]
    }
}

/// What triangles are told by.
struct State<'a> {
    data: Stream<'a>,
    edges: Recent<[u32; 2]>,
    vertices: Recent<u32>,
    /// The vertex that was not seen yet.
    next: u32,
    /// The vertex that was last spelled out.
    last: u32,
}

impl State<'_> {
    /// A triangle on an edge of an earlier one.
    fn beside(&mut self, code: u8, version: u8) -> Result<[u32; 3], MeshoptError> {
        let [a, b] = self.edges.get(code >> 4);
        let third = code & 15;
        let c = match (third, version) {
            (0, _) => self.new_vertex(),
            // The vertex beside the last one spelled out: before it, after it.
            (13, 1) => self.spelled(self.last.wrapping_sub(1)),
            (14, 1) => self.spelled(self.last.wrapping_add(1)),
            (15, _) => self.spell()?,
            (ago, _) => self.vertices.get(ago),
        };
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        Ok([a, b, c])
    }

    /// A triangle of its own.
    fn apart(&mut self, code: u8, table: &[u8]) -> Result<[u32; 3], MeshoptError> {
        let common = code < 0xfe;
        let pair = if common { table.get(usize::from(code & 15)).copied().unwrap_or(0) } else { self.data.byte()? };
        if !common && pair == 0 {
            self.next = 0;
        }
        // Vertices are found before any of this triangle is remembered.
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
                *vertex = self.spelled_next()?;
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

    /// Remembers a vertex as the last one that was spelled out.
    fn spelled(&mut self, vertex: u32) -> u32 {
        self.last = vertex;
        self.vertices.push(vertex);
        vertex
    }

    fn spell(&mut self) -> Result<u32, MeshoptError> {
        let vertex = self.spelled_next()?;
        self.vertices.push(vertex);
        Ok(vertex)
    }

    /// The next vertex that is spelled out, as a difference from the last one.
    fn spelled_next(&mut self) -> Result<u32, MeshoptError> {
        let delta = self.data.number()?;
        self.last = self.last.wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg());
        Ok(self.last)
    }
}
