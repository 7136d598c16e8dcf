//! Thrift's compact protocol, in which the footers of Parquet files are written.
//!
//! Source: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

/// The deepest nesting of values that is skipped. The footers of Parquet files need 6.
const MOST_DEPTH: usize = 16;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A truth value: in a field without bytes of its own, in a list one byte.
    Bool,
    /// One byte.
    Byte,
    /// An integer of 16, 32 or 64 bits.
    Integer,
    /// Eight bytes.
    Double,
    /// Bytes with their number.
    Binary,
    /// Values of one type.
    List,
    /// Pairs of a key and a value.
    Map,
    /// Fields.
    Struct,
    /// 16 bytes.
    Uuid,
}

impl Kind {
    fn new(code: u8) -> Option<Self> {
        Some(match code {
            1 | 2 => Self::Bool,
            3 => Self::Byte,
            4..=6 => Self::Integer,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return None,
        })
    }
}

/// A reader of values. Its methods return `None` for bytes that are none, or that end too early.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// Calls a function for each field of a struct: with this reader, which is to read the value, the id and the type of the field.
    pub fn fields(&mut self, mut field: impl FnMut(&mut Self, i64, Kind) -> Option<()>) -> Option<()> {
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.integer()?,
                step => id.checked_add(step.into())?,
            };
            field(self, id, Kind::new(head & 0xf)?)?;
        }
    }

    /// Calls a function for each field of each struct of a list, as `fields` does.
    pub fn structs(&mut self, mut field: impl FnMut(&mut Self, i64, Kind) -> Option<()>) -> Option<()> {
        let (count, kind) = self.list()?;
        if count > 0 && kind != Kind::Struct {
            return None;
        }
        (0..count).try_for_each(|_| self.fields(&mut field))
    }

    /// The number and the type of the values of a list, which follow.
    fn list(&mut self) -> Option<(u64, Kind)> {
        let head = self.byte()?;
        let count = if head >> 4 == 0xf { self.number()? } else { (head >> 4).into() };
        Some((count, Kind::new(head & 0xf)?))
    }

    /// Bytes with their number.
    pub fn binary(&mut self) -> Option<&'a [u8]> {
        let count = self.number()?;
        self.bytes(count)
    }

    /// Skips the value of a field.
    pub fn skip(&mut self, kind: Kind) -> Option<()> {
        if kind == Kind::Bool { Some(()) } else { self.skip_within(kind, MOST_DEPTH) }
    }

    /// Skips a value that is no field. Each value has a byte or more, so that a wrong number of them ends with the bytes.
    fn skip_within(&mut self, kind: Kind, depth: usize) -> Option<()> {
        let inner = depth.checked_sub(1)?;
        match kind {
            Kind::Bool | Kind::Byte => self.bytes(1).map(drop),
            Kind::Integer => self.number().map(drop),
            Kind::Double => self.bytes(8).map(drop),
            Kind::Uuid => self.bytes(16).map(drop),
            Kind::Binary => self.binary().map(drop),
            Kind::List => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_within(kind, inner))
            }
            Kind::Map => {
                let count = self.number()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                let (key, value) = (Kind::new(kinds >> 4)?, Kind::new(kinds & 0xf)?);
                (0..count).try_for_each(|_| {
                    self.skip_within(key, inner)?;
                    self.skip_within(value, inner)
                })
            }
            Kind::Struct => self.fields(|reader, _, kind| match kind {
                Kind::Bool => Some(()),
                kind => reader.skip_within(kind, inner),
            }),
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn bytes(&mut self, count: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    /// A number without a sign: 7 bits per byte, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// An integer. Its sign is in the lowest bit.
    pub fn integer(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct with a value of each type: the field 3 is the text `ab`, and the field 200 is true.
    const ALL: &[u8] = &[
        0x13, 0x07, 0x12, 0x18, 2, b'a', b'b', 0x17, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x1c, 0x15, 0x80, 0x01, 0, 0x19,
        0x31, 1, 2, 1, 0x1b, 2, 0x85, 1, b'x', 2, 1, b'y', 4, 0x1b, 0, 0x01, 0x90, 0x03, 0x1d, 1, 2, 3, 4, 5, 6, 7, 8,
        9, 10, 11, 12, 13, 14, 15, 16, 0,
    ];

    /// The ids and types of the fields of a struct.
    type Fields = Vec<(i64, Kind)>;

    /// The fields of a struct, and the text of field 3.
    fn read(bytes: &[u8]) -> Option<(Fields, Vec<u8>)> {
        let (mut found, mut text) = (Vec::new(), Vec::new());
        let mut reader = Reader(bytes);
        reader.fields(|reader, id, kind| {
            found.push((id, kind));
            if id == 3 {
                text = reader.binary()?.to_vec();
                return Some(());
            }
            reader.skip(kind)
        })?;
        reader.0.is_empty().then_some((found, text))
    }

    #[test]
    fn values_of_all_types_are_skipped() {
        let (found, text) = read(ALL).unwrap();
        let kinds = [
            (1, Kind::Byte),
            (2, Kind::Bool),
            (3, Kind::Binary),
            (4, Kind::Double),
            (5, Kind::Struct),
            (6, Kind::List),
            (7, Kind::Map),
            (8, Kind::Map),
            (200, Kind::Bool),
            (201, Kind::Uuid),
        ];
        assert_eq!((found.as_slice(), text.as_slice()), (kinds.as_slice(), b"ab".as_slice()));
    }

    #[test]
    fn broken_values_are_none() {
        for end in 0..ALL.len() {
            assert_eq!(read(&ALL[..end]), None, "{end} bytes");
        }
        // An unknown type, a list of 2^63 structs, a number of more than 64 bits, and nesting without end.
        assert_eq!(read(&[0x1e, 0, 0]), None);
        assert_eq!(read(&[0x19, 0xfc, 255, 255, 255, 255, 255, 255, 255, 255, 127, 0, 0]), None);
        assert_eq!(read(&[[0x15].as_slice(), &[255; 10], &[0, 0]].concat()), None);
        assert_eq!(read(&[0x1c; 100_000]), None);
        assert_eq!(read(&[[0x19].as_slice(), &[0x19; 100_000]].concat()), None);
    }
}
