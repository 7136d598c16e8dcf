//! Packing of skeletons with their skins.

use glam::{DAffine3, DMat3, DQuat, Vec4};

use crate::model::rotation::unit;
use crate::model::{Skeleton, Skin};
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::record::{
    MAX_BYTE_JOINTS, NO_ANCESTOR, NONE, SkeletonRecord, VALUE_NUMBER, VALUE_ROTATION, VALUE_ROTATION_REST,
};

/// Packs a skeleton and all its skins. The caller sets `rest_clip` and `timeline_count`. The flag is set if there are
/// inverse bind matrices, and all are rotations with offsets and uniform scales.
pub fn pack_skeleton(arrays: &mut Arrays, skeleton: &Skeleton, skins: &[&Skin]) -> (SkeletonRecord, bool) {
    let (ancestors, round_count) = pack_ancestors(arrays, skeleton);
    let rest = pack_rest(arrays, skeleton);
    let matrices = pack_matrices(arrays, skeleton);
    let skin_joints = arrays.words.len() as u32;
    let inverse_binds = arrays.values.len() as u32;
    for skin in skins {
        arrays.words.extend(skin.joints.iter().map(|&joint| joint as u32));
        arrays.values.extend(skin.inverse_bind.iter().flat_map(rows).map(Vec4::from));
    }
    let (uniform_binds, are_uniform) = pack_uniform_binds(arrays, skins);
    let record = SkeletonRecord {
        joint_count: skeleton.joints().len() as u32,
        round_count,
        ancestors,
        rest,
        matrices,
        skin_joint_count: skins.iter().map(|skin| skin.joints.len()).sum::<usize>() as u32,
        skin_joints,
        inverse_binds,
        weight_count: skeleton.weight_count() as u32,
        property_width: skeleton.property_width() as u32,
        timeline_count: 0,
        rest_clip: 0,
        value_kinds: pack_value_kinds(arrays, skeleton),
        levels: pack_levels(arrays, skeleton),
        skin_matrices: pack_skin_matrices(arrays, skeleton, skins),
        uniform_binds,
    };
    (record, are_uniform)
}

/// Packs the parts of inverse bind matrices, zeros for a matrix without, so that libraries whose matrices alone differ
/// have all else at the same places. Returns the offset in the values, and whether there are matrices and all have
/// parts.
fn pack_uniform_binds(arrays: &mut Arrays, skins: &[&Skin]) -> (u32, bool) {
    let offset = arrays.values.len() as u32;
    let parts: Vec<_> = skins.iter().flat_map(|skin| &skin.inverse_bind).map(uniform_parts).collect();
    let are_uniform = !parts.is_empty() && parts.iter().all(Option::is_some);
    arrays.values.extend(parts.into_iter().flat_map(Option::unwrap_or_default));
    (offset, are_uniform)
}

/// The largest difference of a bind matrix from a rotation with a scale that counts as rounding, relative to the scale:
/// a vertex is off by this share of its distance from the joint. The contract allows the same share of the size of the
/// rig.
const BIND_ROUNDING: f64 = 2e-6;

/// A matrix as a rotation, and an offset before it with the scale, of either sign, in the fourth number; `None` if it
/// is not made of these.
fn uniform_parts(matrix: &DAffine3) -> Option<[Vec4; 2]> {
    let linear = matrix.matrix3;
    let scale = linear.determinant().cbrt();
    let rotation = DQuat::from_mat3(&(linear * scale.recip())).normalize();
    let rest = linear - DMat3::from_quat(rotation) * scale;
    let off = [rest.x_axis, rest.y_axis, rest.z_axis].map(|axis| axis.length_squared()).iter().sum::<f64>().sqrt();
    let offset = linear.inverse() * matrix.translation;
    let parts = [Vec4::from(rotation.as_quat()), offset.as_vec3().extend(scale as f32)];
    // A comparison with what is not a number fails.
    let is_near = off <= BIND_ROUNDING * scale.abs() && (scale as f32).is_normal();
    (is_near && parts.iter().all(|part| part.is_finite())).then_some(parts)
}

/// Packs the index of the skin matrix of each joint, and returns the offset in the words; `NONE` if a joint has
/// several.
fn pack_skin_matrices(arrays: &mut Arrays, skeleton: &Skeleton, skins: &[&Skin]) -> u32 {
    let mut matrices = vec![NONE; skeleton.joints().len()];
    for (index, &joint) in (0..).zip(skins.iter().flat_map(|skin| &skin.joints)) {
        if matrices[joint] != NONE {
            return NONE;
        }
        matrices[joint] = index;
    }
    arrays.push_records(&matrices)
}

/// Packs the joints level by level, roots first, and returns their offset in the words. A prefix of the list is a
/// coarse skeleton, in which each joint comes after its parent.
fn pack_levels(arrays: &mut Arrays, skeleton: &Skeleton) -> u32 {
    let depths = skeleton.depths();
    let mut joints: Vec<u32> = (0..depths.len() as u32).collect();
    joints.sort_by_key(|&joint| depths[joint as usize]);
    arrays.push_records(&joints)
}

/// Packs the kind of each number of morph weights and properties, and returns the offset in the words.
fn pack_value_kinds(arrays: &mut Arrays, skeleton: &Skeleton) -> u32 {
    let mut kinds = Vec::new();
    for (index, joint) in (0..).zip(skeleton.joints()) {
        kinds.extend(joint.weights.iter().map(|_| index));
    }
    for property in skeleton.properties() {
        let rotation = [VALUE_ROTATION, VALUE_ROTATION_REST, VALUE_ROTATION_REST, VALUE_ROTATION_REST];
        let numbers = vec![VALUE_NUMBER; property.rest.len()];
        kinds.extend(if property.rotation { rotation.to_vec() } else { numbers });
    }
    arrays.push_records(&kinds)
}

/// The size of a packed skeleton with its skins.
pub fn sizes(skeleton: &Skeleton, skins: &[&Skin]) -> Sizes {
    let joints = skeleton.joints().len();
    let skin_joints: usize = skins.iter().map(|skin| skin.joints.len()).sum();
    let rounds = rounds(skeleton.depths().into_iter().max().unwrap_or(0)) as usize;
    let rounds = if has_bytes(joints) { rounds.div_ceil(ROUNDS_PER_WORD) } else { rounds };
    let numbers = skeleton.weight_count() + skeleton.property_width();
    Sizes { words: (rounds + 3) * joints + skin_joints + numbers, values: 6 * joints + 5 * skin_joints }
}

/// The number of rounds of ancestor doubling until a joint of this depth has reached its root.
fn rounds(depth: usize) -> u32 {
    usize::BITS - depth.leading_zeros()
}

/// Packs for each round each joint's ancestor 2^round levels up. Returns the offset in the words and the number of
/// rounds.
///
/// Each round multiplies a joint's matrix by the matrix of its ancestor 1, 2, 4, ... levels up. After as many rounds as
/// the depth has bits, the product is the model matrix. A chain of 200 joints takes 8 rounds, not 200 levels.
fn pack_ancestors(arrays: &mut Arrays, skeleton: &Skeleton) -> (u32, u32) {
    let offset = arrays.words.len() as u32;
    let rounds = rounds(skeleton.depths().into_iter().max().unwrap_or(0));
    let joints = skeleton.joints();
    let mut ancestors: Vec<Option<usize>> = joints.iter().map(|joint| joint.parent).collect();
    let mut rows: Vec<Vec<u32>> = Vec::new();
    let (none, per_word) = if has_bytes(joints.len()) { (NO_ANCESTOR, ROUNDS_PER_WORD) } else { (NONE, 1) };
    for round in 0..rounds as usize {
        if round % per_word == 0 {
            rows.push(vec![NONE; joints.len()]);
        }
        let shift = 8 * (round % per_word) as u32;
        for (word, ancestor) in rows.last_mut().into_iter().flatten().zip(&ancestors) {
            let found = ancestor.map_or(none, |joint| joint as u32);
            *word = *word & !(none << shift) | found << shift;
        }
        ancestors = ancestors.iter().map(|ancestor| ancestor.and_then(|joint| ancestors[joint])).collect();
    }
    arrays.words.extend(rows.into_iter().flatten());
    (offset, rounds)
}

/// The rounds of which a word holds the ancestors, if they are bytes.
const ROUNDS_PER_WORD: usize = 4;

/// Returns `true` if the ancestors of a skeleton of some joints are bytes.
fn has_bytes(joints: usize) -> bool {
    joints <= MAX_BYTE_JOINTS as usize
}

/// Packs the rest pose with rotations of unit length, and returns its offset in the values.
fn pack_rest(arrays: &mut Arrays, skeleton: &Skeleton) -> u32 {
    let offset = arrays.values.len() as u32;
    let rests = || skeleton.joints().iter().map(|joint| &joint.rest);
    arrays.values.extend(rests().map(|rest| rest.translation.as_vec3().extend(0.0)));
    arrays.values.extend(rests().map(|rest| Vec4::from(unit(rest.rotation).unwrap_or(DQuat::IDENTITY).as_quat())));
    arrays.values.extend(rests().map(|rest| rest.scale.as_vec3().extend(0.0)));
    offset
}

/// Packs the matrices of joints that have one, and returns the offset of their table in the words; [`NONE`] if no joint
/// has one.
fn pack_matrices(arrays: &mut Arrays, skeleton: &Skeleton) -> u32 {
    if skeleton.joints().iter().all(|joint| joint.matrix.is_none()) {
        return NONE;
    }
    let offset = arrays.words.len() as u32;
    for joint in skeleton.joints() {
        match &joint.matrix {
            None => arrays.words.push(NONE),
            Some(matrix) => {
                arrays.words.push(arrays.values.len() as u32);
                arrays.values.extend(rows(matrix).map(Vec4::from));
            }
        }
    }
    offset
}

/// The three rows of a matrix.
pub fn rows(matrix: &DAffine3) -> [[f32; 4]; 3] {
    let linear = matrix.matrix3.transpose().to_cols_array_2d();
    let translation = matrix.translation.to_array();
    [0, 1, 2].map(|row| {
        let [x, y, z] = linear[row].map(|number| number as f32);
        [x, y, z, translation[row] as f32]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;

    /// The packed ancestors of a chain of joints, and the rounds.
    fn chain(joints: usize) -> (Vec<u32>, u32) {
        let joints = (0..joints).map(|joint| Joint { parent: joint.checked_sub(1), ..Joint::default() }).collect();
        let skeleton = Skeleton::new(None, joints, Vec::new()).unwrap();
        let mut arrays = Arrays::default();
        let (offset, rounds) = pack_ancestors(&mut arrays, &skeleton);
        assert_eq!(offset, 0);
        (arrays.words.to_vec(), rounds)
    }

    #[test]
    fn an_inverse_bind_matrix_becomes_a_rotation_after_an_offset() {
        let matrix = |columns: [[f64; 3]; 3], translation: [f64; 3]| DAffine3 {
            matrix3: DMat3::from_cols_array_2d(&columns),
            translation: translation.into(),
        };
        let diagonal = |x: f64, y: f64, z: f64| matrix([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]], [1.0, 2.0, 3.0]);
        // A quarter turn about z and a scale of 2 take (1, -0.5, 1.5) to (1, 2, 3).
        let turned = matrix([[0.0, 2.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 0.0, 2.0]], [1.0, 2.0, 3.0]);
        let [rotation, offset] = uniform_parts(&turned).unwrap();
        let half = std::f32::consts::FRAC_1_SQRT_2;
        assert!((rotation - Vec4::new(0.0, 0.0, half, half)).length() < 1e-7, "{rotation}");
        assert!((offset - Vec4::new(1.0, -0.5, 1.5, 2.0)).length() < 1e-6, "{offset}");
        // A mirror is a scale below 0; along one axis, with half a turn about it.
        let mirrored = uniform_parts(&diagonal(-0.5, -0.5, -0.5)).unwrap();
        assert_eq!(mirrored, [Vec4::W, Vec4::new(-2.0, -4.0, -6.0, -0.5)]);
        let mirrored = uniform_parts(&diagonal(1.0, -1.0, 1.0)).unwrap();
        assert_eq!(mirrored, [Vec4::Y, Vec4::new(1.0, -2.0, 3.0, -1.0)]);
        assert!(uniform_parts(&diagonal(1.0, 1.0, 1.000_001)).is_some());
        let sheared = matrix([[1.0, 0.0, 0.0], [1e-5, 1.0, 0.0], [0.0, 0.0, 1.0]], [0.0; 3]);
        let others = [diagonal(1.0, 1.0, 1.00001), diagonal(0.0, 0.0, 0.0), sheared];
        assert_eq!(others.map(|matrix| uniform_parts(&matrix)), [None; 3]);
        assert_eq!(uniform_parts(&diagonal(1e-60, 1e-60, 1e-60)), None, "less than an f32 holds");
    }

    #[test]
    fn ancestors_of_four_rounds_are_the_bytes_of_a_word() {
        let bytes = u32::from_le_bytes;
        // 1, 2, 4, 8 and 16 levels above joint 19 are joints 18, 17, 15, 11 and 3.
        let (words, rounds) = chain(20);
        assert_eq!((words.len(), rounds), (2 * 20, 5));
        assert_eq!([words[19], words[20 + 19]], [bytes([18, 17, 15, 11]), bytes([3, 255, 255, 255])]);
        assert_eq!([words[0], words[2], words[20 + 15]], [NONE, bytes([1, 0, 255, 255]), NONE]);
        let (words, rounds) = chain(256);
        assert_eq!((words.len(), rounds), (2 * 256, 8));
        assert_eq!([words[255], words[511]], [bytes([254, 253, 251, 247]), bytes([239, 223, 191, 127])]);
        assert_eq!(chain(1), (vec![], 0));
    }

    #[test]
    fn ancestors_of_large_skeletons_are_words() {
        let (words, rounds) = chain(257);
        assert_eq!((words.len(), rounds), (9 * 257, 9));
        assert_eq!([words[256], words[8 * 257 + 256], words[8 * 257 + 255]], [255, 0, NONE]);
    }
}
