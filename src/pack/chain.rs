//! Packing of chains, and the joints that lead to them.

use crate::model::rotation::nearest;
use crate::model::{Chain, ChainKind, Library, Skeleton, SkeletonId, uniform_scale};
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::record::{CHAIN_HOLD, CHAIN_JOINTS_PER_WORD, CHAIN_POLE, CHAIN_TWO_BONE, ChainRecord, NONE};

/// A chain, after its packing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PackedChain {
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The offset of its record in the words.
    pub offset: u32,
}

/// The joints of all chains of a skeleton with their ancestors. Goals need no other joint's matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ReachJoints {
    /// The joints, parents before children.
    pub links: Vec<ReachLink>,
    /// For each joint of the skeleton its index among the links, or `NONE`; empty if the skeleton has no chain.
    pub places: Vec<u32>,
    /// `true` if these joints keep a uniform scale above 0, so that all below a joint rotates as a rigid body.
    pub rotates_rigidly: bool,
}

/// A joint that leads to a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ReachLink {
    /// The joint.
    pub joint: usize,
    /// The index of its parent among the links.
    pub parent: Option<usize>,
    /// The rotation nearest to its matrix, if it has one.
    pub matrix_rotation: Option<[f32; 4]>,
}

impl ReachJoints {
    /// The number of bytes of both lists.
    pub fn size(&self) -> usize {
        size_of_val(&*self.links) + size_of_val(&*self.places)
    }

    /// The joints of the chains of a skeleton.
    fn new(library: &Library, id: SkeletonId) -> Self {
        let joints = library.skeleton(id).joints();
        let mut needed = vec![false; joints.len()];
        for chain in chains_of(library, id) {
            let mut next = chain.joints().last().copied();
            while let Some(joint) = next.filter(|&joint| !needed[joint]) {
                needed[joint] = true;
                next = joints[joint].parent;
            }
        }
        let (mut links, mut places) = (Vec::new(), vec![NONE; joints.len()]);
        for (joint, found) in joints.iter().enumerate().filter(|(joint, _)| needed[*joint]) {
            places[joint] = links.len() as u32;
            let parent = found.parent.map(|parent| places[parent] as usize);
            let rotation = |matrix: glam::DAffine3| nearest(matrix.matrix3).as_quat().to_array();
            links.push(ReachLink { joint, parent, matrix_rotation: found.matrix.map(rotation) });
        }
        Self { links, places, rotates_rigidly: uniform_scale::is_fixed(library, id, &needed) }
    }
}

/// The chains of a skeleton.
fn chains_of(library: &Library, id: SkeletonId) -> impl Iterator<Item = &Chain> {
    library.chains().iter().filter(move |chain| chain.skeleton == id)
}

/// Packs all chains of a library, and finds the joints that lead to the chains of each skeleton.
pub fn pack_chains(arrays: &mut Arrays, library: &Library) -> (Vec<PackedChain>, Vec<ReachJoints>) {
    let mut of_skeletons = vec![ReachJoints::default(); library.skeletons().len()];
    let mut matrix_rotations = vec![NONE; library.skeletons().len()];
    for id in library.skeleton_ids().filter(|&id| chains_of(library, id).next().is_some()) {
        let reach = ReachJoints::new(library, id);
        matrix_rotations[id.index()] = pack_matrix_rotations(arrays, &reach);
        of_skeletons[id.index()] = reach;
    }
    let pack = |chain: &Chain| {
        let skeleton = chain.skeleton;
        let matrix_rotations = matrix_rotations[skeleton.index()];
        let offset = pack_chain(arrays, chain, library.skeleton(skeleton), matrix_rotations);
        PackedChain { skeleton, offset }
    };
    (library.chains().iter().map(pack).collect(), of_skeletons)
}

/// Packs the rotations nearest to matrices, and returns the offset of their table in the words; [`NONE`] if no joint
/// that leads to a chain has a matrix.
fn pack_matrix_rotations(arrays: &mut Arrays, reach: &ReachJoints) -> u32 {
    let mut table = vec![NONE; reach.places.len()];
    for link in &reach.links {
        if let Some(rotation) = link.matrix_rotation {
            table[link.joint] = arrays.push_value(rotation);
        }
    }
    if table.iter().all(|&offset| offset == NONE) { NONE } else { arrays.push_records(&table) }
}

/// Packs a chain, and returns the offset of its record in the words.
fn pack_chain(arrays: &mut Arrays, chain: &Chain, skeleton: &Skeleton, matrix_rotations: u32) -> u32 {
    let (turned_by, joint_end) = pack_turned_by(arrays, chain, skeleton);
    let (kind, joints, direction, limit) = match chain.kind {
        ChainKind::TwoBone { joints, pole, hold } => {
            let direction = pole.map(unit).unwrap_or_default();
            let pole = if direction == [0.0; 3] { 0 } else { CHAIN_POLE };
            (CHAIN_TWO_BONE | pole | if hold { CHAIN_HOLD } else { 0 }, joints, direction, 0.0)
        }
        ChainKind::Aim { joint, forward, limit } => (0, [joint; 3], unit(forward), limit),
    };
    let [joint_0, joint_1, joint_2] = joints.map(|joint| joint as u32);
    let [parent_0, parent_1, parent_2] =
        joints.map(|joint| skeleton.joints()[joint].parent.map_or(NONE, |parent| parent as u32));
    let [direction_x, direction_y, direction_z] = direction;
    let half = 0.5 * limit.clamp(0.0, std::f64::consts::PI);
    arrays.push_records(&[ChainRecord {
        kind,
        joint_0,
        joint_1,
        joint_2,
        parent_0,
        parent_1,
        parent_2,
        direction_x,
        direction_y,
        direction_z,
        limit_sine: half.sin() as f32,
        limit_cosine: half.cos().max(0.0) as f32,
        turned_by,
        joint_end,
        matrix_rotations,
    }])
}

/// Packs for each joint the number of joints of the chain that turn it. Returns the offset in the words, and the joint
/// after the last one that is turned.
fn pack_turned_by(arrays: &mut Arrays, chain: &Chain, skeleton: &Skeleton) -> (u32, u32) {
    let turning = match chain.kind {
        ChainKind::TwoBone { joints, hold, .. } => joints[..if hold { 3 } else { 2 }].to_vec(),
        ChainKind::Aim { joint, .. } => vec![joint],
    };
    let mut counts: Vec<u32> = Vec::with_capacity(skeleton.joints().len());
    let mut words = vec![0_u32; skeleton.joints().len().div_ceil(CHAIN_JOINTS_PER_WORD as usize)];
    for (index, joint) in skeleton.joints().iter().enumerate() {
        // The joints of a chain lie on one branch.
        let above = joint.parent.map_or(0, |parent| counts[parent]);
        let count = above + u32::from(turning.contains(&index));
        counts.push(count);
        words[index / CHAIN_JOINTS_PER_WORD as usize] |= count << (2 * (index % CHAIN_JOINTS_PER_WORD as usize));
    }
    let end = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    (arrays.push_records(&words), end as u32)
}

/// A vector at length 1; 0 if it has no direction.
fn unit(vector: [f64; 3]) -> [f32; 3] {
    let vector = glam::DVec3::from(vector);
    let largest = vector.abs().max_element();
    if largest == 0.0 { [0.0; 3] } else { (vector / largest).normalize().as_vec3().into() }
}

/// The most words and values of the chains of a library.
pub fn sizes(library: &Library) -> Sizes {
    let mut total = Sizes::default();
    for id in library.skeleton_ids() {
        let (chains, joints) = (chains_of(library, id).count(), library.skeleton(id).joints().len());
        let words = ChainRecord::WORDS + joints.div_ceil(CHAIN_JOINTS_PER_WORD as usize);
        let table = if chains > 0 { joints } else { 0 };
        total.add(Sizes { words: words.saturating_mul(chains).saturating_add(table), values: table });
    }
    total
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DAffine3, DMat3, DVec3};

    use super::*;
    use crate::model::{Clip, Curve, Interpolation, Joint, Target, Timeline, Track};
    use crate::pack::PackedLibrary;

    /// A root with a branch 1, 2, 3, 4 and a branch 5, 6, and a chain of two bones.
    fn library(change: impl Fn(usize, &mut Joint)) -> Library {
        let parents = [None, Some(0), Some(1), Some(2), Some(3), Some(0), Some(5)];
        let joint = |(index, parent)| {
            let mut joint = Joint { parent, ..Joint::default() };
            change(index, &mut joint);
            joint
        };
        let joints = parents.into_iter().enumerate().map(joint).collect();
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
        let kind = ChainKind::TwoBone { joints: [1, 2, 3], pole: Some([0.0, 0.0, 5.0]), hold: true };
        library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
        library
    }

    #[test]
    fn a_chain_says_which_of_its_joints_turn_a_joint() {
        let mut library = library(|_, _| {});
        let skeleton = library.chains()[0].skeleton;
        let kind = ChainKind::TwoBone { joints: [0, 1, 3], pole: Some([0.0; 3]), hold: false };
        library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
        let kind = ChainKind::Aim { joint: 5, forward: [3.0, 0.0, 4.0], limit: 9.0 };
        library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
        let packed = PackedLibrary::new(&library).unwrap();
        let records: Vec<ChainRecord> = packed.chains.iter().map(|chain| packed.arrays.record(chain.offset)).collect();
        let turned_by = |chain: usize| {
            let word = packed.arrays.words[records[chain].turned_by as usize];
            (0..7).map(|joint| word >> (2 * joint) & 3).collect::<Vec<_>>()
        };
        assert_eq!((turned_by(0), records[0].joint_end), (vec![0, 1, 2, 3, 3, 0, 0], 5));
        assert_eq!((turned_by(1), records[1].joint_end), (vec![1, 2, 2, 2, 2, 1, 1], 7));
        assert_eq!((turned_by(2), records[2].joint_end), (vec![0, 0, 0, 0, 0, 1, 1], 7));
        assert_eq!(records[0].kind, CHAIN_TWO_BONE | CHAIN_POLE | CHAIN_HOLD);
        assert_eq!([records[0].parent_0, records[0].parent_2, records[1].parent_0], [0, 2, NONE]);
        assert_eq!(records[1].kind, CHAIN_TWO_BONE, "a pole of length 0 is none");
        let ChainRecord { direction_x, direction_y, direction_z, limit_sine, limit_cosine, .. } = records[2];
        assert_eq!([direction_x, direction_y, direction_z], [0.6, 0.0, 0.8]);
        assert_eq!((limit_sine, limit_cosine < 1e-7), (1.0, true), "pi is the largest limit");
    }

    #[test]
    fn only_the_scales_of_joints_that_lead_to_a_chain_count() {
        let rigid = |library: &Library| PackedLibrary::new(library).unwrap().skeletons[0].reach.rotates_rigidly;
        let scaled = |scaled: usize, scale: DVec3| {
            library(move |index, joint| {
                if index == scaled {
                    joint.rest.scale = scale;
                }
            })
        };
        assert!(rigid(&scaled(0, DVec3::splat(2.0))));
        assert!(rigid(&scaled(0, DVec3::new(1.0, 1.0 + 1e-7, 1.0))), "the rounding of a file");
        assert!(!rigid(&scaled(0, DVec3::new(1.0, 1.001, 1.0))));
        assert!(!rigid(&scaled(2, DVec3::splat(-1.0))));
        assert!(rigid(&scaled(4, DVec3::new(1.0, 2.0, 3.0))), "below the chain");
        assert!(rigid(&scaled(5, DVec3::ZERO)), "beside the chain");
        let given = |matrix3: DMat3| {
            let matrix = DAffine3 { matrix3, translation: DVec3::X };
            library(move |index, joint| joint.matrix = (index == 0).then_some(matrix))
        };
        assert!(rigid(&given(3.0 * DMat3::from_rotation_y(1.0))));
        assert!(!rigid(&given(-DMat3::IDENTITY)));
        assert!(!rigid(&given(DMat3::from_cols(DVec3::X, DVec3::new(0.01, 1.0, 0.0), DVec3::Z))));
        // A clip that moves a scale, even if it stays uniform: what it is mixed with may take it below 0.
        let animated = |joint: usize, last: f64, interpolation: Interpolation| {
            let mut library = library(|_, _| {});
            let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
            let element = |value: f64| match interpolation {
                Interpolation::CubicSpline => [[1.0; 3], [value; 3], [1.0; 3]].concat(),
                _ => vec![value; 3],
            };
            let values = [element(1.0), element(last)].concat();
            let curve = Curve::new(timeline, interpolation, 3, values).unwrap();
            let skeleton = library.chains()[0].skeleton;
            library.add_clip(Clip::new(None, skeleton, vec![Track::new(Target::Scale(joint), curve)])).unwrap();
            library
        };
        assert!(rigid(&animated(1, 1.0, Interpolation::Linear)));
        assert!(!rigid(&animated(1, 1.5, Interpolation::Linear)));
        assert!(!rigid(&animated(1, 1.0, Interpolation::CubicSpline)));
        assert!(rigid(&animated(6, 1.5, Interpolation::Linear)));
    }
}
