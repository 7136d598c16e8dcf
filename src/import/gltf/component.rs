//! Single numbers of accessors (glTF 2.0, section 3.6.2.2).

/// The type into which numbers of a file are read. Both types hold every `f32`; `f32` does not hold every integer.
pub trait Float: Copy + Default + Into<f64> {
    /// The nearest number of the type.
    fn from_f64(number: f64) -> Self;
}

impl Float for f64 {
    fn from_f64(number: f64) -> Self {
        number
    }
}

impl Float for f32 {
    fn from_f64(number: f64) -> Self {
        number as f32
    }
}

/// The type of a single number in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Floating point, 32 bits.
    F32,
}

impl Component {
    /// The type of a `componentType`.
    pub fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    /// Bytes per number.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Appends the numbers that fill a slice.
    pub fn read<T: Float>(self, bytes: &[u8], numbers: &mut Vec<T>) {
        fn extend<T: Float, const N: usize>(numbers: &mut Vec<T>, bytes: &[u8], number: impl Fn([u8; N]) -> f64) {
            numbers.extend(bytes.as_chunks().0.iter().map(|&bytes| T::from_f64(number(bytes))));
        }
        match self {
            Self::I8 => extend(numbers, bytes, |bytes| f64::from(i8::from_le_bytes(bytes))),
            Self::U8 => extend(numbers, bytes, |bytes| f64::from(u8::from_le_bytes(bytes))),
            Self::I16 => extend(numbers, bytes, |bytes| f64::from(i16::from_le_bytes(bytes))),
            Self::U16 => extend(numbers, bytes, |bytes| f64::from(u16::from_le_bytes(bytes))),
            Self::U32 => extend(numbers, bytes, |bytes| f64::from(u32::from_le_bytes(bytes))),
            Self::F32 => extend(numbers, bytes, |bytes| f64::from(f32::from_le_bytes(bytes))),
        }
    }

    /// The value of a normalized integer: from -1 to 1, or from 0 to 1 (glTF 2.0, section 3.11). Floats stay as they
    /// are.
    pub fn normalize(self, number: f64) -> f64 {
        match self {
            Self::I8 => (number / 127.0).max(-1.0),
            Self::U8 => number / 255.0,
            Self::I16 => (number / 32767.0).max(-1.0),
            Self::U16 => number / 65535.0,
            Self::U32 => number / 4_294_967_295.0,
            Self::F32 => number,
        }
    }
}
