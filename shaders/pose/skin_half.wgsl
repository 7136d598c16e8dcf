// Needs: matrix
//! Skin matrices as `f16`: three rows of four per joint.
//!
//! Each skin format is a file of its own kernel, not a branch, so that full matrices cost nothing extra. An `f16` is
//! rounded by integer arithmetic, because WGSL leaves the direction of its own rounding open.

/// The rows of the skin matrix of each joint of each skin. The first word of a row holds x and y, the second z and w.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec2<u32>>;

/// Writes a row of a skin matrix to element `at`.
fn skin_write_row(at: u32, row: vec4<f32>) {
    let halves = vec4(skin_half(row.x), skin_half(row.y), skin_half(row.z), skin_half(row.w));
    skin_out[at] = halves.xz | (halves.yw << vec2(16u));
}

/// Writes a skin matrix from element `at` on.
fn skin_write(at: u32, rows: Rows) {
    skin_write_row(at, rows.x);
    skin_write_row(at + 1u, rows.y);
    skin_write_row(at + 2u, rows.z);
}

/// Writes the skin matrix of a rotation, a place with a scale, and an offset before both, from element `at` on.
fn skin_write_uniform(at: u32, rotation: vec4<f32>, place: vec4<f32>, offset: vec3<f32>) {
    skin_write(at, matrix_compose_uniform(rotation, place, offset));
}

/// The bits of the nearest `f16`, ties to even. Larger numbers and NaN become 65504, the largest `f16`, with their
/// sign.
///
/// `pack2x16float` does not specify the rounding, the result for larger numbers, or the result below the smallest
/// normal number.
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
