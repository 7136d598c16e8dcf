//! Scales and matrices of a rig, and joints between the joints of a chain.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::Joint;
use posse::ik::ChainKind;

use super::{Case, Rig, goal, turn};
use crate::support::build::{degrees, joint};

/// The joints of `Rig::bent` below a root.
fn below(root: Joint, upper: f64, lower: f64) -> Rig {
    Rig::new(vec![
        root,
        joint(Some(0), [0.0; 3]),
        joint(Some(1), [upper, 0.0, 0.0]),
        joint(Some(2), [0.0, lower, 0.0]),
        joint(Some(3), [0.0, 1.0, 0.0]),
    ])
}

fn limb(rig: &mut Rig, hold: bool) -> posse::ik::ChainId {
    rig.add(ChainKind::TwoBone { joints: [1, 2, 3], pole: None, hold })
}

#[test]
fn joints_between_those_of_a_chain_keep_their_local_rotations() {
    // As the limb of 3 and 4 without them: a joint within the first bone, two within the second.
    let mut rig = Rig::new(vec![
        joint(None, [0.0; 3]),
        joint(Some(0), [1.0, 0.0, 0.0]),
        joint(Some(1), [2.0, 0.0, 0.0]),
        joint(Some(2), [0.0, 1.0, 0.5]),
        joint(Some(3), [0.0, 1.0, -1.0]),
        joint(Some(4), [0.0, 2.0, 0.5]),
        joint(Some(5), [0.0, 1.0, 0.0]),
    ]);
    let limb = rig.add(ChainKind::TwoBone { joints: [0, 2, 5], pole: None, hold: true });
    let swung = turn(DVec3::Z, 0.6, 0.8);
    rig.assert(&[Case::new(&[goal(limb, [0.0, 5.0, 0.0])])
        .rotations(&[(0, swung), (2, DQuat::IDENTITY), (5, swung.conjugate())])
        .rotations(&[1, 3, 4, 6].map(|joint| (joint, DQuat::IDENTITY)))
        .positions(&[(1, [0.8, 0.6, 0.0]), (2, [2.4, 1.8, 0.0]), (5, [0.0, 5.0, 0.0]), (6, [0.0, 6.0, 0.0])])]);
}

#[test]
fn a_bend_keeps_the_rotation_of_a_joint_within_a_bone() {
    // A joint within the first bone turns x to y. The bones are 3 and 5 long, along x and up y, as in the case of the
    // bend by -30 degrees.
    let mut middle = joint(Some(0), [1.0, 0.0, 0.0]);
    middle.rest.rotation = degrees(DVec3::Z, 90.0);
    let mut knee = joint(Some(1), [0.0, -2.0, 0.0]);
    knee.rest.rotation = degrees(DVec3::X, 90.0);
    let mut rig = Rig::new(vec![joint(None, [0.0; 3]), middle, knee, joint(Some(2), [5.0, 0.0, 0.0])]);
    let limb = rig.add(ChainKind::TwoBone { joints: [0, 2, 3], pole: None, hold: false });
    rig.assert(&[Case::new(&[goal(limb, [0.0, 0.0, 7.0])])
        .rotations(&[
            (1, degrees(DVec3::Z, 90.0)),
            // About z, in model space as in the space of the joint above.
            (2, degrees(DVec3::Z, -30.0) * degrees(DVec3::X, 90.0)),
            (3, DQuat::IDENTITY),
        ])
        .positions(&[(3, [0.0, 0.0, 7.0])])]);
}

#[test]
fn turns_are_in_model_space_below_rotations_and_a_scale() {
    // The root turns y to z, doubles and moves by (1, 2, 3). In model space the bones are 6 along x and 8 along z.
    let mut root = joint(None, [1.0, 2.0, 3.0]);
    root.rest.rotation = degrees(DVec3::X, 90.0);
    root.rest.scale = DVec3::splat(2.0);
    let matrix = DAffine3::from_scale_rotation_translation(root.rest.scale, root.rest.rotation, root.rest.translation);
    let given = Joint { matrix: Some(matrix), ..Joint::default() };
    for root in [root, given] {
        let mut rig = below(root, 3.0, 4.0);
        let (free, hold) = (limb(&mut rig, false), limb(&mut rig, true));
        let swung = turn(DVec3::Z, 0.6, 0.8);
        let look = rig.aim(2, [1.0, 0.0, 0.0], 4.0);
        // The second joint is at (7, 2, 3).
        rig.assert(&[
            Case::new(&[goal(free, [1.0, 2.0, 13.0])]).rotations(&[(1, swung), (2, DQuat::IDENTITY)]).positions(&[
                (2, [5.8, 2.0, 6.6]),
                (3, [1.0, 2.0, 13.0]),
                (4, [-0.2, 2.0, 14.6]),
            ]),
            Case::new(&[goal(hold, [1.0, 2.0, 13.0])])
                .rotations(&[(1, swung), (2, DQuat::IDENTITY), (3, swung.conjugate())])
                .positions(&[(3, [1.0, 2.0, 13.0]), (4, [1.0, 2.0, 15.0])]),
            // From x to (3, 4) in x and z, which are x and y of the joint.
            Case::new(&[goal(look, [10.0, 2.0, 7.0])]).rotations(&[(2, turn(DVec3::Z, 0.8, 0.6))]),
        ]);
    }
}

#[test]
fn scales_that_differ_by_axis_count_in_positions_but_not_in_rotations() {
    // The root doubles y, so that the bones are 3 along x and 8 along y. Ends that are 7 apart are at 60 degrees
    // between the bones: the second joint turns by 30 degrees, to 120 from one bone to the other. Its end is then at
    // (3 - 4, 4 sqrt(3)), and swings to y.
    let mut root = joint(None, [0.0; 3]);
    root.rest.scale = DVec3::new(1.0, 2.0, 1.0);
    let given = Joint { matrix: Some(DAffine3::from_scale(root.rest.scale)), ..Joint::default() };
    for root in [root, given] {
        let mut rig = below(root, 3.0, 4.0);
        let (limb, look) = (limb(&mut rig, true), rig.aim(2, [1.0, 1.0, 0.0], 4.0));
        let swung = turn(DVec3::Z, -1.0, 4.0 * 3.0_f64.sqrt());
        let bent = degrees(DVec3::Z, 30.0);
        rig.assert(&[
            Case::new(&[goal(limb, [0.0, 7.0, 0.0])]).rotations(&[
                (1, swung),
                (2, bent),
                (3, (swung * bent).conjugate()),
            ]),
            // The direction (1, 1) of the joint is that in model space.
            Case::new(&[goal(look, [3.0, 9.0, 0.0])]).rotations(&[(2, degrees(DVec3::Z, 45.0))]),
        ]);
    }
}

#[test]
fn a_matrix_above_counts_by_its_nearest_rotation() {
    // A rotation from y to z times a symmetric stretch: its nearest rotation is that rotation.
    let stretch = DMat3::from_cols_array(&[2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0]);
    let matrix3 = DMat3::from_quat(degrees(DVec3::X, 90.0)) * stretch;
    let root = Joint { matrix: Some(DAffine3 { matrix3, translation: DVec3::X }), ..Joint::default() };
    let mut rig = Rig::new(vec![root, joint(Some(0), [0.0; 3])]);
    let look = rig.aim(1, [0.0, 1.0, 0.0], 4.0);
    // From z to x: about y in model space, which is -z of the root.
    rig.assert(&[Case::new(&[goal(look, [8.0, 0.0, 0.0])]).rotations(&[(1, degrees(DVec3::NEG_Z, 90.0))])]);
}
