// Needs: value
//! Affine matrices as three rows of four numbers: the linear part, and the translation in the last column.

/// An affine matrix.
struct Rows {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

/// `T R S`: scales, then rotates by a unit quaternion, then translates.
fn matrix_compose(translation: vec3<f32>, q: vec4<f32>, scale: vec3<f32>) -> Rows {
    let d = q.xyz + q.xyz;
    let xx = q.x * d.x;
    let yy = q.y * d.y;
    let zz = q.z * d.z;
    let xy = q.x * d.y;
    let xz = q.x * d.z;
    let yz = q.y * d.z;
    let wx = q.w * d.x;
    let wy = q.w * d.y;
    let wz = q.w * d.z;
    return Rows(
        vec4(vec3(1.0 - (yy + zz), xy - wz, xz + wy) * scale, translation.x),
        vec4(vec3(xy + wz, 1.0 - (xx + zz), yz - wx) * scale, translation.y),
        vec4(vec3(xz - wy, yz + wx, 1.0 - (xx + yy)) * scale, translation.z),
    );
}

/// Moves by `offset`, scales by the fourth number of `place`, rotates by a unit quaternion, then moves by the others.
fn matrix_compose_uniform(q: vec4<f32>, place: vec4<f32>, offset: vec3<f32>) -> Rows {
    let scale = place.w;
    let d = (scale + scale) * q.xyz;
    let xy = q.x * d.y;
    let xz = q.x * d.z;
    let yz = q.y * d.z;
    let x = vec3(scale - q.y * d.y - q.z * d.z, xy - q.w * d.z, xz + q.w * d.y);
    let y = vec3(xy + q.w * d.z, scale - q.x * d.x - q.z * d.z, yz - q.w * d.x);
    let z = vec3(xz - q.w * d.y, yz + q.w * d.x, scale - q.x * d.x - q.y * d.y);
    return Rows(
        vec4(x, x.x * offset.x + (x.y * offset.y + (x.z * offset.z + place.x))),
        vec4(y, y.x * offset.x + (y.y * offset.y + (y.z * offset.z + place.y))),
        vec4(z, z.x * offset.x + (z.y * offset.y + (z.z * offset.z + place.z))),
    );
}

/// A row of the product of two matrices, from that row of the left matrix and the right matrix.
fn matrix_row(row: vec4<f32>, right: Rows) -> vec4<f32> {
    // The last number by itself: a compiler does not drop the addition of a zero, which changes the sign of a zero.
    let linear = right.x.xyz * row.x + right.y.xyz * row.y + right.z.xyz * row.z;
    return vec4(linear, right.x.w * row.x + (right.y.w * row.y + (right.z.w * row.z + row.w)));
}

/// The product of two matrices, which applies first the right one, then the left one.
fn matrix_multiply(left: Rows, right: Rows) -> Rows {
    return Rows(matrix_row(left.x, right), matrix_row(left.y, right), matrix_row(left.z, right));
}

/// Loads a matrix from the values of the library.
fn matrix_load(at: u32) -> Rows {
    return Rows(value_load(at), value_load(at + 1u), value_load(at + 2u));
}
