//! Matrices decomposed into rotation, uniform scale and translation, as in `shaders/pose/skin_dual_quaternion.wgsl`.

use glam::Vec4;

use crate::cpu::simd::{LARGEST_BLOCK, Lanes};
use crate::pack::record::SKIN_LEAST_SQUARE;
use crate::pack::skin_format::SNORM;

/// 1.5 * 2^23. The sum of this number and one of up to 2^22 has the nearest integer of the latter in its lowest bits.
const TO_WHOLE: f32 = 12_582_912.0;

/// The decomposed matrices of a block.
pub struct Decomposed {
    /// Unit quaternions as `snorm16`.
    rotations: [u64; LARGEST_BLOCK],
    /// Translations, then the scale.
    translations: [Vec4; LARGEST_BLOCK],
}

impl Decomposed {
    /// The words of one matrix in the layout of [`SkinFormat::DualQuaternion`](crate::SkinFormat).
    #[inline(always)]
    pub fn words(&self, slot: usize) -> [u64; 3] {
        let [x, y, z, scale]: [u32; 4] = bytemuck::cast(self.translations[slot].to_array());
        [self.rotations[slot], u64::from(x) | u64::from(y) << 32, u64::from(z) | u64::from(scale) << 32]
    }
}

/// Decomposes a block of products.
///
/// The elements of the matrix `4 q q^T` are sums of elements of the rotation matrix. The quaternion is the row of that matrix with
/// the largest diagonal element, normalised (Shepperd, "Quaternion from rotation matrix", 1978).
#[inline(always)]
pub fn decompose<L: Lanes>(products: &[L::Product; LARGEST_BLOCK]) -> Decomposed {
    let joints = L::BLOCK / 4;
    let first = L::rows(&products[..joints]);
    let second = L::rows(&products[joints..2 * joints]);
    let third = L::rows(&products[2 * joints..3 * joints]);
    let last = L::rows(&products[3 * joints..4 * joints]);
    let [xx, xy, xz, tx] = L::transpose([first[0], second[0], third[0], last[0]]);
    let [yx, yy, yz, ty] = L::transpose([first[1], second[1], third[1], last[1]]);
    let [zx, zy, zz, tz] = L::transpose([first[2], second[2], third[2], last[2]]);
    let squares = xx.multiply_add(xx, xy.multiply_add(xy, xz * xz));
    let squares = yx.multiply_add(yx, yy.multiply_add(yy, yz.multiply_add(yz, squares)));
    let squares = zx.multiply_add(zx, zy.multiply_add(zy, zz.multiply_add(zz, squares)));
    let square = (squares * L::splat(1.0 / 3.0)).max(L::splat(SKIN_LEAST_SQUARE));
    let shrink = square.inverse_square_root();
    let [xx, xy, xz] = [xx * shrink, xy * shrink, xz * shrink];
    let [yx, yy, yz] = [yx * shrink, yy * shrink, yz * shrink];
    let [zx, zy, zz] = [zx * shrink, zy * shrink, zz * shrink];
    // 1, or -1 if a spline makes the scale negative.
    let minors = [yy * zz - yz * zy, yz * zx - yx * zz, yx * zy - yy * zx];
    let side = xx.multiply_add(minors[0], xy.multiply_add(minors[1], xz * minors[2]));
    let scale = square * shrink * side;
    let one = L::splat(1.0);
    let [w_x, w_y, w_z] = [(zy - yz) * side, (xz - zx) * side, (yx - xy) * side];
    let [x_y, x_z, y_z] = [(xy + yx) * side, (xz + zx) * side, (yz + zy) * side];
    let (x, sum, difference) = (xx * side, (yy + zz) * side, (yy - zz) * side);
    let [x_x, y_y] = [(one + x) - sum, (one - x) + difference];
    let [z_z, w_w] = [(one - x) - difference, (one + x) + sum];
    let largest = x_x.max(y_y).max(z_z.max(w_w));
    let quaternion = [x_x, x_y, x_z, w_x];
    let quaternion = replace_where_zero(quaternion, largest - y_y, [x_y, y_y, y_z, w_y]);
    let quaternion = replace_where_zero(quaternion, largest - z_z, [x_z, y_z, z_z, w_z]);
    let [x, y, z, w] = replace_where_zero(quaternion, largest - w_w, [w_x, w_y, w_z, w_w]);
    let steps = (x * x + y * y + (z * z + w * w)).inverse_square_root() * L::splat(SNORM);
    let whole = L::splat(TO_WHOLE);
    let steps = [
        x.multiply_add(steps, whole),
        y.multiply_add(steps, whole),
        z.multiply_add(steps, whole),
        w.multiply_add(steps, whole),
    ];
    let steps = L::transpose(steps);
    let mut parts = Decomposed { rotations: [0; LARGEST_BLOCK], translations: [Vec4::ZERO; LARGEST_BLOCK] };
    steps[0].store_low_bits(&mut parts.rotations);
    steps[1].store_low_bits(&mut parts.rotations[joints..]);
    steps[2].store_low_bits(&mut parts.rotations[2 * joints..]);
    steps[3].store_low_bits(&mut parts.rotations[3 * joints..]);
    L::store_block(L::transpose([tx, ty, tz, scale]), &mut parts.translations);
    parts
}

/// The quaternions of `other` for joints where `tested` is 0, otherwise the quaternions of `block`.
#[inline(always)]
fn replace_where_zero<L: Lanes>(block: [L; 4], tested: L, other: [L; 4]) -> [L; 4] {
    [
        block[0].replace_where_zero(tested, other[0]),
        block[1].replace_where_zero(tested, other[1]),
        block[2].replace_where_zero(tested, other[2]),
        block[3].replace_where_zero(tested, other[3]),
    ]
}
