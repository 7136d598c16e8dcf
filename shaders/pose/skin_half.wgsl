//! Skin matrices as `f16`: three rows of four per joint.

/// The rows of the skin matrix of each joint of each skin. The first word of a row holds x and y, the second z and w.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec2<u32>>;

/// Writes `SKIN_ROWS` rows of a skin matrix, the product of the model matrix of `joint` and an inverse bind matrix, from element
/// `at` on. `first` is the first row.
fn skin_write(at: u32, first: u32, joint: u32, inverse_bind: Rows) {
    for (var index = 0u; index < SKIN_ROWS; index += 1u) {
        let row = matrix_row(joint_matrix_row(joint, first + index), inverse_bind);
        let halves = vec4(skin_half(row.x), skin_half(row.y), skin_half(row.z), skin_half(row.w));
        skin_out[at + index] = halves.xz | (halves.yw << vec2(16u));
    }
}

/// The bits of the nearest `f16`, ties to even. Larger numbers and NaN become 65504, the largest `f16`, with their sign.
///
/// `pack2x16float` does not specify the rounding, the result for larger numbers, or the result below the smallest normal number.
fn skin_half(number: f32) -> u32 {
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
