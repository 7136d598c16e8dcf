// Needs: nothing
//! Numbers to `f16`: the nearest, ties to even. Larger numbers and NaN become 65504, the largest `f16`, with a sign.
//!
//! WGSL leaves open how `pack2x16float` rounds, and what becomes of numbers that are too large or below the smallest
//! normal `f16`. `PACKS_TO_NEAREST` is true for a device that has shown that it rounds so
//! (`src/gpu/half_packing.rs`); the others round by integer arithmetic.

/// Two numbers as the halves of a word, the first in the lower one.
fn pack_halves(numbers: vec2<f32>) -> u32 {
    if PACKS_TO_NEAREST {
        let largest = bitcast<f32>(SKIN_LARGEST_HALF);
        return pack2x16float(clamp(numbers, vec2(-largest), vec2(largest)));
    }
    return pack_half(numbers.x) | (pack_half(numbers.y) << 16u);
}

/// The bits of the nearest `f16`.
fn pack_half(number: f32) -> u32 {
    let bits = bitcast<u32>(number);
    let sign = (bits >> 16u) & 0x8000u;
    let magnitude = min(bits & 0x7fffffffu, SKIN_LARGEST_HALF);
    // Below 2^-14: whole steps of 2^-24.
    if magnitude < 0x38800000u {
        return sign | u32(round(bitcast<f32>(magnitude) * 16777216.0));
    }
    // The exponent is moved, and 13 bits are rounded. The carry may change the exponent, which is right.
    return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
}
