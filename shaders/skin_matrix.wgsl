//! Skin matrices in full: a joint is three rows of four `f32`, which three lanes write.

/// For each joint of each skin the rows of its skin matrix.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec4<f32>>;

/// Parts of a joint that are written one by one.
const SKIN_PARTS: u32 = 3u;

/// Writes a part of an instance's skin matrices to its place among all.
fn skin_write(at: u32, part: u32, base: u32) {
    skin_out[at] = pose_skin_row(base, part / 3u, part % 3u);
}
