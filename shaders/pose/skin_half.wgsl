//! Skin matrices as `f16`: a joint is three rows of four.

/// For each joint of each skin the rows of its skin matrix: x and y, z and w.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec2<u32>>;

/// Writes `SKIN_ROWS` rows of a skin matrix to their place among all: of a model matrix times an inverse bind matrix.
fn skin_write(at: u32, first: u32, joint: u32, inverse_bind: Rows) {
    for (var index = 0u; index < SKIN_ROWS; index += 1u) {
        let row = matrix_row(joint_matrix_row(joint, first + index), inverse_bind);
        let halves = vec4(skin_half(row.x), skin_half(row.y), skin_half(row.z), skin_half(row.w));
        skin_out[at + index] = halves.xz | (halves.yw << vec2(16u));
    }
}

/// The bits of the nearest `f16`, ties to even; of the largest one, 65504, beyond it, and for what is no number.
///
/// `pack2x16float` leaves open which neighbour a number is rounded to, what lies beyond the largest, and whether anything is
/// left below the smallest normal one.
fn skin_half(number: f32) -> u32 {
    let bits = bitcast<u32>(number);
    let sign = (bits >> 16u) & 0x8000u;
    let magnitude = min(bits & 0x7fffffffu, SKIN_LARGEST_HALF);
    // Below 2^-14: whole steps of 2^-24.
    if magnitude < 0x38800000u {
        return sign | u32(round(bitcast<f32>(magnitude) * 16777216.0));
    }
    // The exponent moved, and 13 bits rounded, which may well carry into the exponent.
    return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
}
