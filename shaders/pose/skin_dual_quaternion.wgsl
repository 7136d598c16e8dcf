// Needs: matrix, quat
//! Skin matrices as rotation, translation and uniform scale, from which a vertex shader makes dual quaternions: three
//! pairs of words per joint, which one lane writes.
//!
//! The packing decides from the keys if scales are uniform enough for this format, so that no frame has to.

/// Three elements for each joint of each skin: the rotation as `snorm16` xy and zw; translation x and y; translation z
/// and the scale.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec2<u32>>;

/// Writes nothing: the format needs all rows, and `SKIN_ROWS` is 3.
fn skin_write_row(at: u32, row: vec4<f32>) {}

/// Writes a skin matrix from element `at` on.
fn skin_write(at: u32, rows: Rows) {
    let squares = dot(rows.x.xyz, rows.x.xyz) + dot(rows.y.xyz, rows.y.xyz) + dot(rows.z.xyz, rows.z.xyz);
    let square = max(squares / 3.0, SKIN_MIN_SQUARE);
    let shrink = inverseSqrt(square);
    let x = rows.x.xyz * shrink;
    let y = rows.y.xyz * shrink;
    let z = rows.z.xyz * shrink;
    // 1, or -1 if a spline takes the scale below 0.
    let side = dot(x, cross(y, z));
    let rotation = skin_rotation(x * side, y * side, z * side);
    skin_write_parts(at, rotation, vec4(rows.x.w, rows.y.w, rows.z.w, square * shrink * side));
}

/// Writes the skin matrix of a rotation, a place with a scale, and an offset before both, from element `at` on.
fn skin_write_uniform(at: u32, rotation: vec4<f32>, place: vec4<f32>, offset: vec3<f32>) {
    let moved = place.xyz + place.w * quat_rotate(rotation, vec4(offset, 0.0)).xyz;
    skin_write_parts(at, rotation, vec4(moved, place.w));
}

/// Writes a rotation, and a translation with the scale.
fn skin_write_parts(at: u32, rotation: vec4<f32>, position: vec4<f32>) {
    skin_out[at] = vec2(pack2x16snorm(rotation.xy), pack2x16snorm(rotation.zw));
    skin_out[at + 1u] = bitcast<vec2<u32>>(position.xy);
    skin_out[at + 2u] = bitcast<vec2<u32>>(position.zw);
}

/// The unit quaternion of a rotation matrix, given by its rows.
///
/// The elements of the matrix `4 q q^T` are sums of elements of the rotation matrix. Its row for the largest component
/// of the quaternion is normalised (Shepperd, "Quaternion from rotation matrix", 1978).
fn skin_rotation(x: vec3<f32>, y: vec3<f32>, z: vec3<f32>) -> vec4<f32> {
    let squares = vec4(
        1.0 + x.x - y.y - z.z,
        1.0 - x.x + y.y - z.z,
        1.0 - x.x - y.y + z.z,
        1.0 + x.x + y.y + z.z,
    );
    let with_w = vec3(z.y - y.z, x.z - z.x, y.x - x.y);
    let xy = x.y + y.x;
    let xz = x.z + z.x;
    let yz = y.z + z.y;
    let largest = max(max(squares.x, squares.y), max(squares.z, squares.w));
    var quaternion = vec4(squares.x, xy, xz, with_w.x);
    if squares.y == largest {
        quaternion = vec4(xy, squares.y, yz, with_w.y);
    }
    if squares.z == largest {
        quaternion = vec4(xz, yz, squares.z, with_w.z);
    }
    if squares.w == largest {
        quaternion = vec4(with_w, squares.w);
    }
    return quaternion * inverseSqrt(dot(quaternion, quaternion));
}
