//! Filters of attributes after decompression: `KHR_meshopt_compression`, appendix B.

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

    /// True if the filter applies to elements of `stride` bytes.
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
pub(super) fn apply(filter: Filter, data: &mut [u8], stride: usize) {
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
