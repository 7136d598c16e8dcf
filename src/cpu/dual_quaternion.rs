//! Matrices of a rotation, a uniform scale and a translation, taken apart, as in `shaders/skin_dual_quaternion.wgsl`.

use glam::Vec4;

use crate::cpu::simd::{LARGEST_BLOCK, Lanes};
use crate::pack::skin_format::SNORM;

/// Added to a number of up to 2^22, leaves the nearest whole number in its lowest bits: 1.5 * 2^23.
const TO_WHOLE: f32 = 12_582_912.0;

/// Below it, the square of a scale counts as it: of nothing there is no direction.
const LEAST_SQUARE: f32 = 1e-30;

/// The parts of a block of matrices.
pub struct Parts {
    /// Unit quaternions in steps of `snorm16`, whole numbers in the lowest bits.
    rotations: [Vec4; LARGEST_BLOCK],
    /// Translation, scale.
    places: [Vec4; LARGEST_BLOCK],
}

impl Parts {
    /// The words of a matrix, as [`SkinFormat::DualQuaternion`](crate::SkinFormat) says.
    #[inline(always)]
    pub fn words(&self, slot: usize) -> [u64; 3] {
        let rotation: [u32; 4] = bytemuck::cast(self.rotations[slot].to_array());
        let place: [u32; 4] = bytemuck::cast(self.places[slot].to_array());
        let [xy, zw] = [rotation[0] & 0xffff | rotation[1] << 16, rotation[2] & 0xffff | rotation[3] << 16];
        [pair(xy, zw), pair(place[0], place[1]), pair(place[2], place[3])]
    }
}

#[inline(always)]
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The parts of a block of matrices that are given by their rows.
///
/// Of the four rows of the matrix `4 q q^T`, whose elements are sums of those of the rotation matrix, the one of the largest
/// of the quaternion's numbers is taken, and normalised (Shepperd, "Quaternion from rotation matrix", 1978).
#[inline(always)]
pub fn of_rows<L: Lanes>(rows: &[[Vec4; LARGEST_BLOCK]; 3]) -> Parts {
    let [xx, xy, xz, tx] = L::transpose(L::load_block(&rows[0]));
    let [yx, yy, yz, ty] = L::transpose(L::load_block(&rows[1]));
    let [zx, zy, zz, tz] = L::transpose(L::load_block(&rows[2]));
    let squares = (xx * xx + xy * xy + xz * xz) + (yx * yx + yy * yy + yz * yz) + (zx * zx + zy * zy + zz * zz);
    let square = (squares * L::splat(1.0 / 3.0)).max(L::splat(LEAST_SQUARE));
    let shrink = square.inverse_square_root();
    let [xx, xy, xz] = [xx * shrink, xy * shrink, xz * shrink];
    let [yx, yy, yz] = [yx * shrink, yy * shrink, yz * shrink];
    let [zx, zy, zz] = [zx * shrink, zy * shrink, zz * shrink];
    // 1, or -1 where a spline takes the scale below 0.
    let side = xx * (yy * zz - yz * zy) + xy * (yz * zx - yx * zz) + xz * (yx * zy - yy * zx);
    let scale = square * shrink * side;
    let one = L::splat(1.0);
    let [dx, dy, dz] = [xx * side, yy * side, zz * side];
    let [w_x, w_y, w_z] = [(zy - yz) * side, (xz - zx) * side, (yx - xy) * side];
    let [x_y, x_z, y_z] = [(xy + yx) * side, (xz + zx) * side, (yz + zy) * side];
    let x_x = one + dx - dy - dz;
    let y_y = one - dx + dy - dz;
    let z_z = one - dx - dy + dz;
    let w_w = one + dx + dy + dz;
    let largest = x_x.max(y_y).max(z_z.max(w_w));
    let quaternion = [x_x, x_y, x_z, w_x];
    let quaternion = or_where_zero(quaternion, largest - y_y, [x_y, y_y, y_z, w_y]);
    let quaternion = or_where_zero(quaternion, largest - z_z, [x_z, y_z, z_z, w_z]);
    let [x, y, z, w] = or_where_zero(quaternion, largest - w_w, [w_x, w_y, w_z, w_w]);
    let steps = (x * x + y * y + (z * z + w * w)).inverse_square_root() * L::splat(SNORM);
    let whole = L::splat(TO_WHOLE);
    let steps = [
        x.multiply_add(steps, whole),
        y.multiply_add(steps, whole),
        z.multiply_add(steps, whole),
        w.multiply_add(steps, whole),
    ];
    let mut parts = Parts { rotations: [Vec4::ZERO; LARGEST_BLOCK], places: [Vec4::ZERO; LARGEST_BLOCK] };
    L::store_block(L::transpose(steps), &mut parts.rotations);
    L::store_block(L::transpose([tx, ty, tz, scale]), &mut parts.places);
    parts
}

#[inline(always)]
fn or_where_zero<L: Lanes>([x, y, z, w]: [L; 4], which: L, other: [L; 4]) -> [L; 4] {
    [
        x.or_where_zero(which, other[0]),
        y.or_where_zero(which, other[1]),
        z.or_where_zero(which, other[2]),
        w.or_where_zero(which, other[3]),
    ]
}
