//! Outputs: slices of the result arrays, skin matrices in each format, and the stores of transforms and matrices.
//!
//! # Stores past the caches
//! If the results of a crowd are larger than the caches, the caches would not keep them until they are read, and each
//! line would be read from memory before it is written. Such results are written past the caches, by streaming stores.
//! These pay only for whole cache lines: a line that is written past the caches in two parts takes two writes to
//! memory. Therefore, four full matrices or eight packed ones, which fill three lines, are written together
//! ([`AlignedLines`]), and what stands before the first whole line and after the last goes through the caches.
//! A [`Fence`](crate::cpu::simd::Fence) follows before another thread reads the results.
//!
//! A matrix comes as a product in registers ([`Products`]), whose rows are stored one by one, or as rows in memory
//! ([`RowsInMemory`]), of which wide registers store a line at a time.
//!
//! # Dual quaternions
//! The rotation of a matrix becomes a quaternion by the rule of Shepperd ("Quaternion from rotation matrix", 1978): a
//! block of matrices at a time, without branches, as in `shaders/pose/skin_dual_quaternion.wgsl`.

use std::ops::Range;

use glam::Vec4;

use crate::cpu::simd::{
    AlignedLines, LARGEST_BLOCK, LINE, Lanes, Matrix, PackedMatrix, Token, store_words, stream_words,
};
use crate::model::SkinFormat;
use crate::pack::record::SKIN_MIN_SQUARE;
use crate::pack::skin_format::SNORM;
use crate::pack::{NUMBERS, OutputLayout, OutputNumbers};

/// The results of one or more instances: a slice of each output, empty for an output that is not requested.
pub struct OutputSlices<'a> {
    pub local: &'a mut [f32],
    pub model: &'a mut [f32],
    pub skin: &'a mut [f32],
    pub values: &'a mut [f32],
    pub root_motion: &'a mut [f32],
}

impl<'a> OutputSlices<'a> {
    /// All outputs of a batch.
    pub fn new(numbers: &'a mut OutputNumbers) -> Self {
        Self {
            local: &mut numbers.local,
            model: &mut numbers.model,
            skin: &mut numbers.skin,
            values: &mut numbers.values,
            root_motion: &mut numbers.root_motion,
        }
    }

    /// Cuts the outputs into slices of `instances` instances each.
    ///
    /// The iterator does not end: slices beyond the end, and slices of outputs that are not requested, are empty.
    pub fn chunks(self, layout: &OutputLayout, instances: usize) -> impl Iterator<Item = Self> {
        let (layout, mut rest) = (*layout, self);
        std::iter::from_fn(move || Some(rest.split_off(&layout, instances)))
    }

    /// Splits off the outputs of the first `instances` instances, or all if there are fewer.
    #[inline(always)]
    pub fn split_off(&mut self, layout: &OutputLayout, instances: usize) -> Self {
        let [local, model, skin, values, root_motion] = layout.strides().map(|stride| stride * instances);
        Self {
            local: split_first(&mut self.local, local),
            model: split_first(&mut self.model, model),
            skin: split_first(&mut self.skin, skin),
            values: split_first(&mut self.values, values),
            root_motion: split_first(&mut self.root_motion, root_motion),
        }
    }
}

/// Splits off the first `count` numbers, or all if there are fewer.
#[inline(always)]
fn split_first<'a>(rest: &mut &'a mut [f32], count: usize) -> &'a mut [f32] {
    rest.split_off_mut(..count.min(rest.len())).unwrap_or_default()
}

/// The matrices of an instance, as products in registers.
pub trait Products: Copy {
    /// The matrix of a slot.
    fn product<L: Lanes>(&self, token: Token<L>, slot: usize) -> L::Product;

    /// Stores the matrix of a slot.
    #[inline(always)]
    fn store<L: Lanes>(&self, token: Token<L>, slot: usize, to: &mut [f32; NUMBERS]) {
        L::store_rows(self.product(token, slot), to);
    }

    /// Stores the matrices of four slots, which fill whole cache lines, past the caches.
    #[inline(always)]
    fn store_lines_past_caches<L: Lanes>(&self, token: Token<L>, slot: usize, to: &mut AlignedLines) {
        for (index, to) in to.matrices_mut().iter_mut().enumerate() {
            L::store_rows_past_caches(self.product(token, slot + index), to);
        }
    }
}

/// Matrices whose rows are in memory.
pub trait RowsInMemory: Copy {
    /// The rows of the matrix of a slot.
    fn rows(&self, slot: usize) -> [&Vec4; 3];
}

impl<R: RowsInMemory> Products for R {
    #[inline(always)]
    fn product<L: Lanes>(&self, token: Token<L>, slot: usize) -> L::Product {
        L::from_rows(token, self.rows(slot))
    }

    #[inline(always)]
    fn store<L: Lanes>(&self, _: Token<L>, slot: usize, to: &mut [f32; NUMBERS]) {
        for (row, to) in self.rows(slot).into_iter().zip(to.as_chunks_mut::<4>().0) {
            *to = row.to_array();
        }
    }

    #[inline(always)]
    fn store_lines_past_caches<L: Lanes>(&self, token: Token<L>, slot: usize, to: &mut AlignedLines) {
        let rows = [self.rows(slot), self.rows(slot + 1), self.rows(slot + 2), self.rows(slot + 3)];
        L::store_lines_past_caches(token, rows, to);
    }
}

/// The local transforms of an instance: translation, rotation and scale in place of rows.
#[derive(Clone, Copy)]
pub struct LocalTransforms<'a>(pub [&'a [Vec4]; 3]);

impl RowsInMemory for LocalTransforms<'_> {
    #[inline(always)]
    fn rows(&self, slot: usize) -> [&Vec4; 3] {
        let [translations, rotations, scales] = self.0;
        [&translations[slot], &rotations[slot], &scales[slot]]
    }
}

/// The model matrices of an instance.
#[derive(Clone, Copy)]
pub struct ModelMatrices<'a>(pub &'a [Matrix]);

impl RowsInMemory for ModelMatrices<'_> {
    #[inline(always)]
    fn rows(&self, slot: usize) -> [&Vec4; 3] {
        self.0[slot].rows()
    }
}

/// The inputs of the skin matrices of an instance.
#[derive(Clone, Copy)]
pub struct Skinning<'a> {
    /// The joint of each skin matrix, then words without meaning.
    pub joints: &'a [u32],
    /// Three rows per skin matrix.
    pub inverse_binds: &'a [[Vec4; 3]],
    /// The model matrix of each joint.
    pub models: &'a [Matrix],
}

impl Products for Skinning<'_> {
    #[inline(always)]
    fn product<L: Lanes>(&self, token: Token<L>, slot: usize) -> L::Product {
        L::product(token, &self.models[self.joints[slot] as usize], self.inverse_binds[slot].each_ref())
    }
}

/// Writes the skin matrices of an instance in a format. If `past_caches` is set, past the caches.
#[inline(always)]
pub fn write<L: Lanes, P: Products>(
    token: Token<L>,
    products: P,
    format: SkinFormat,
    past_caches: bool,
    to: &mut [f32],
) {
    match format {
        SkinFormat::Matrix => matrices(token, products, past_caches, to),
        SkinFormat::HalfMatrix => half_matrices(token, products, past_caches, to),
        SkinFormat::DualQuaternion => dual_quaternions(token, products, past_caches, to),
    }
}

/// Writes matrices as 12 `f32` each. If `past_caches` is set, whole cache lines are written past the caches and the
/// rest through them: a line that is written past the caches in two parts takes two writes to memory.
#[inline(always)]
pub fn matrices<L: Lanes, P: Products>(token: Token<L>, products: P, past_caches: bool, to: &mut [f32]) {
    if !past_caches {
        store_each(token, products, 0, to);
    } else if let Ok(lines) = bytemuck::try_cast_slice_mut(to) {
        // Most calls have whole lines. The code below takes 2 to 7 % longer for them.
        store_lines(token, products, 0, lines);
    } else {
        let Range { start, end } = whole_lines(to, NUMBERS);
        let (before, rest) = to.split_at_mut(start * NUMBERS);
        let (lines, after) = rest.split_at_mut((end - start) * NUMBERS);
        store_each(token, products, 0, before);
        // `whole_lines` found that they begin at a cache line.
        store_lines(token, products, start, bytemuck::try_cast_slice_mut(lines).unwrap_or_default());
        store_each(token, products, end, after);
    }
}

/// Writes matrices past the caches, from a slot on.
#[inline(always)]
fn store_lines<L: Lanes, P: Products>(token: Token<L>, products: P, first: usize, to: &mut [AlignedLines]) {
    for (slot, to) in (first..).step_by(MATRICES_PER_LINES).zip(to) {
        products.store_lines_past_caches(token, slot, to);
    }
}

/// Writes matrices through the caches, from a slot on.
#[inline(always)]
fn store_each<L: Lanes, P: Products>(token: Token<L>, products: P, first: usize, to: &mut [f32]) {
    for (slot, to) in (first..).zip(to.as_chunks_mut::<NUMBERS>().0) {
        products.store(token, slot, to);
    }
}

/// The numbers of a packed matrix.
const PACKED: usize = size_of::<PackedMatrix>() / size_of::<f32>();

/// The numbers of three cache lines: four full matrices or eight packed ones.
const LINES: usize = size_of::<AlignedLines>() / size_of::<f32>();

/// The number of full matrices that fill whole cache lines.
pub const MATRICES_PER_LINES: usize = LINES / NUMBERS;

/// The number of matrices of any format that fill whole cache lines: three lines of packed ones, six of full ones.
pub const SLOTS_PER_LINES: usize = 8;

/// The first of [`SLOTS_PER_LINES`] slots that begins at a cache line, in an output of `numbers` numbers per slot.
/// `None` if no slot does.
#[inline(always)]
pub fn first_at_line(to: &[f32], numbers: usize) -> Option<usize> {
    let address = to.as_ptr().addr();
    (0..SLOTS_PER_LINES).find(|slot| (address + 4 * numbers * slot).is_multiple_of(LINE))
}

/// The slots that fill whole cache lines, in an output of `numbers` numbers per slot.
#[inline(always)]
fn whole_lines(to: &[f32], numbers: usize) -> Range<usize> {
    let (slots, per_lines) = (to.len() / numbers, LINES / numbers);
    let start = first_at_line(to, numbers).map_or(slots, |first| first.min(slots));
    start..start + (slots - start) / per_lines * per_lines
}

/// Writes skin matrices as 12 `f16` each.
#[inline(always)]
fn half_matrices<L: Lanes, P: Products>(token: Token<L>, products: P, past_caches: bool, to: &mut [f32]) {
    // One loop for both takes 4 % longer where none goes past the caches.
    if past_caches {
        let lines = whole_lines(to, PACKED);
        for (slot, to) in to.as_chunks_mut().0.iter_mut().enumerate() {
            store(L::halves(products.product(token, slot)), lines.contains(&slot), to);
        }
    } else {
        for (slot, to) in to.as_chunks_mut().0.iter_mut().enumerate() {
            store_words(L::halves(products.product(token, slot)), to);
        }
    }
}

/// Writes skin matrices as rotation, translation and uniform scale, a block of joints at a time.
#[inline(always)]
fn dual_quaternions<L: Lanes, P: Products>(token: Token<L>, all: P, past_caches: bool, to: &mut [f32]) {
    let lines = if past_caches { whole_lines(to, PACKED) } else { 0..0 };
    for (block, to) in to.as_chunks_mut().0.chunks_mut(L::BLOCK).enumerate() {
        let first = block * L::BLOCK;
        // A block that is not full is filled with a matrix that can be decomposed.
        let mut products = [all.product(token, first); LARGEST_BLOCK];
        for (slot, product) in products[..to.len()].iter_mut().enumerate() {
            *product = all.product(token, first + slot);
        }
        let decomposed = decompose(token, &products);
        for (slot, to) in to.iter_mut().enumerate() {
            store(decomposed.words(slot), lines.contains(&(first + slot)), to);
        }
    }
}

/// Stores words past the caches or through them.
#[inline(always)]
fn store(words: [u64; 3], past_caches: bool, to: &mut PackedMatrix) {
    if past_caches {
        stream_words(words, to);
    } else {
        store_words(words, to);
    }
}

/// 1.5 * 2^23. The sum of this number and one of up to 2^22 has the nearest integer of the latter in its lowest bits.
const TO_WHOLE: f32 = 12_582_912.0;

/// The decomposed matrices of a block.
struct Decomposed {
    /// Unit quaternions as `snorm16`.
    rotations: [u64; LARGEST_BLOCK],
    /// Translations, then the scale.
    translations: [Vec4; LARGEST_BLOCK],
}

impl Decomposed {
    /// The words of one matrix in the layout of [`SkinFormat::DualQuaternion`](crate::SkinFormat).
    #[inline(always)]
    fn words(&self, slot: usize) -> [u64; 3] {
        let [x, y, z, scale]: [u32; 4] = bytemuck::cast(self.translations[slot].to_array());
        [self.rotations[slot], u64::from(x) | u64::from(y) << 32, u64::from(z) | u64::from(scale) << 32]
    }
}

/// Decomposes a block of products.
///
/// The elements of the matrix `4 q q^T` are sums of elements of the rotation matrix. The quaternion is the row of that
/// matrix with the largest diagonal element, normalised (Shepperd, "Quaternion from rotation matrix", 1978).
#[inline(always)]
fn decompose<L: Lanes>(token: Token<L>, products: &[L::Product; LARGEST_BLOCK]) -> Decomposed {
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
    let square = (squares * L::splat(token, 1.0 / 3.0)).max(L::splat(token, SKIN_MIN_SQUARE));
    let shrink = square.inverse_square_root();
    let [xx, xy, xz] = [xx * shrink, xy * shrink, xz * shrink];
    let [yx, yy, yz] = [yx * shrink, yy * shrink, yz * shrink];
    let [zx, zy, zz] = [zx * shrink, zy * shrink, zz * shrink];
    // 1, or -1 if a spline makes the scale negative.
    let minors = [yy * zz - yz * zy, yz * zx - yx * zz, yx * zy - yy * zx];
    let side = xx.multiply_add(minors[0], xy.multiply_add(minors[1], xz * minors[2]));
    let scale = square * shrink * side;
    let one = L::splat(token, 1.0);
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
    let steps = (x * x + y * y + (z * z + w * w)).inverse_square_root() * L::splat(token, SNORM);
    let whole = L::splat(token, TO_WHOLE);
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
