//! Skin matrices as `f16`: a joint is three rows of four, which three lanes write.

/// For each joint of each skin the rows of its skin matrix: x and y, z and w.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec2<u32>>;

/// Parts of a joint that are written one by one.
const SKIN_PARTS: u32 = 3u;

/// Writes a part of an instance's skin matrices to its place among all.
fn skin_write(at: u32, part: u32, base: u32) {
    let row = pose_skin_row(base, part / 3u, part % 3u);
    let halves = vec4(skin_half(row.x), skin_half(row.y), skin_half(row.z), skin_half(row.w));
    skin_out[at] = halves.xz | (halves.yw << vec2(16u));
}

/// The bits of the nearest `f16`, ties to even; of the largest one, 65504, beyond it, and for what is no number.
///
/// `pack2x16float` leaves open which neighbour a number is rounded to, what lies beyond the largest, and whether anything is
/// left below the smallest normal one.
fn skin_half(number: f32) -> u32 {
    let bits = bitcast<u32>(number);
    let sign = (bits >> 16u) & 0x8000u;
    let magnitude = min(bits & 0x7fffffffu, 0x477fe000u);
    // Below 2^-14: whole steps of 2^-24.
    if magnitude < 0x38800000u {
        return sign | u32(round(bitcast<f32>(magnitude) * 16777216.0));
    }
    // The exponent moved, and 13 bits rounded, which may well carry into the exponent.
    return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
}
