//! Numbers made of bytes.

use arbitrary::{Result, Unstructured};

/// Numbers that often break code.
const AWKWARD: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-45,
    9e-41,
    2.8e-40,
    1.2e-38,
    1e-7,
    0.999_999_94,
    1e7,
    16_777_217.0,
    1e18,
    3.4e38,
    1e300,
    f64::NAN,
];

/// Any number, mostly a small one.
pub fn any(bytes: &mut Unstructured) -> Result<f64> {
    Ok(match bytes.int_in_range(0..=9)? {
        0 => AWKWARD[bytes.choose_index(AWKWARD.len())?],
        1 => f64::from_bits(bytes.arbitrary()?),
        2 => f64::from(f32::from_bits(bytes.arbitrary()?)),
        _ => small(bytes)?,
    })
}

/// A number from -128 to 128, in steps of 1/256.
pub fn small(bytes: &mut Unstructured) -> Result<f64> {
    Ok(f64::from(bytes.arbitrary::<i16>()?) / 256.0)
}

/// Times that increase.
pub fn times(bytes: &mut Unstructured, most: usize) -> Result<Vec<f64>> {
    let count = bytes.int_in_range(1..=most)?;
    let mut time = small(bytes)? / 16.0;
    let even = bytes.arbitrary::<bool>()?;
    let mut gap = 0.0;
    (0..count)
        .map(|key| {
            if !even || key == 0 {
                gap = f64::from(bytes.int_in_range(1..=255u8)?) / 64.0;
            }
            time += gap;
            Ok(time)
        })
        .collect()
}

/// All bytes that are left.
pub fn rest<'a>(bytes: &mut Unstructured<'a>) -> Result<&'a [u8]> {
    bytes.bytes(bytes.len())
}
