//! Rule 17: a joint at (3, 0, 0) turns a direction of its own towards the target.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use posse::ik::ChainKind;

use super::{Case, Rig, goal, turn, weighted};
use crate::support::build::{degrees, joint};

#[test]
fn a_joint_turns_its_direction_to_the_target_by_the_shortest_way() {
    let mut rig = Rig::bent(3.0, 4.0);
    let x = rig.aim(1, [1.0, 0.0, 0.0], PI);
    let y = rig.aim(1, [0.0, 7.0, 0.0], PI);
    let diagonal = rig.aim(1, [1.0, 1.0, 1.0], PI);
    let third = 1.0 / 3.0_f64.sqrt();
    rig.assert(&[
        // From the joint, the target is in the direction (3, 4).
        Case::new(&[goal(x, [6.0, 4.0, 0.0])]).rotations(&[(0, DQuat::IDENTITY), (1, turn(DVec3::Z, 0.8, 0.6))]),
        Case::new(&[goal(x, [3.0, 0.0, -9.0])]).rotations(&[(1, degrees(DVec3::Y, 90.0))]),
        // The joints below follow: the third is 4 above in the joint's own space.
        Case::new(&[goal(y, [9.0, 0.0, 0.0])])
            .rotations(&[(1, degrees(DVec3::Z, -90.0)), (2, DQuat::IDENTITY)])
            .positions(&[(1, [3.0, 0.0, 0.0]), (2, [7.0, 0.0, 0.0]), (3, [8.0, 0.0, 0.0])]),
        // From (1, 1, 1) to x: about (0, 1, -1), by an angle with the cosine 1 / sqrt(3).
        Case::new(&[goal(diagonal, [4.0, 0.0, 0.0])])
            .rotations(&[(1, turn(DVec3::new(0.0, 1.0, -1.0).normalize(), (1.0 - third * third).sqrt(), third))]),
    ]);
}

#[test]
fn the_limit_comes_before_the_weight() {
    let mut rig = Rig::bent(3.0, 4.0);
    let mut aim = |limit| goal(rig.aim(1, [1.0, 0.0, 0.0], limit), [3.0, 9.0, 0.0]);
    // The target is at a right angle.
    let (narrow, wide, none) = (aim(PI / 3.0), aim(PI), aim(0.0));
    let turned = |angle: f64| [(1, degrees(DVec3::Z, angle))];
    rig.assert(&[
        Case::new(&[narrow]).rotations(&turned(60.0)),
        Case::new(&[weighted(narrow, 0.5)]).rotations(&turned(30.0)),
        Case::new(&[weighted(wide, 0.5)]).rotations(&turned(45.0)),
        Case::new(&[weighted(wide, 0.0)]).rotations(&turned(0.0)),
        Case::new(&[none]).rotations(&turned(0.0)),
    ]);
}

#[test]
fn a_small_limit_lets_small_turns_pass() {
    // The joint at (3, 0, 0) points along x, and a target at (13, 10 t, 0) is at an angle with the tangent t.
    let mut rig = Rig::bent(3.0, 4.0);
    let cases = [1e-4, 1e-3, 3e-3, 1e-2].map(|limit: f64| {
        let aim = rig.aim(1, [1.0, 0.0, 0.0], limit);
        [(0.0, 0.0), (0.5, 0.5), (0.98, 0.98), (1.02, 1.0), (90.0, 1.0)].map(|(share, expected)| {
            let target = [13.0, 10.0 * (share * limit).tan(), 0.0];
            Case::new(&[goal(aim, target)]).rotations(&[(1, DQuat::from_rotation_z(expected * limit))])
        })
    });
    rig.assert(&cases.into_iter().flatten().collect::<Vec<_>>());
}

#[test]
fn the_direction_is_in_the_space_of_the_joint() {
    // The root turns x to y, and the joint turns y to z: its x points to y, its y to z.
    let mut root = joint(None, [0.0; 3]);
    root.rest.rotation = degrees(DVec3::Z, 90.0);
    let mut head = joint(Some(0), [2.0, 0.0, 0.0]);
    head.rest.rotation = degrees(DVec3::X, 90.0);
    let mut rig = Rig::new(vec![root, head]);
    let mut aim = |forward| rig.add(ChainKind::Aim { joint: 1, forward, limit: PI });
    let (x, y) = (aim([1.0, 0.0, 0.0]), aim([0.0, 1.0, 0.0]));
    // The joint is at (0, 2, 0). Turns by 45 degrees about x in model space are about -y in the space of the root.
    let tilted = degrees(DVec3::NEG_Y, 45.0) * degrees(DVec3::X, 90.0);
    rig.assert(&[
        Case::new(&[goal(x, [0.0, 5.0, 3.0])]).rotations(&[(1, tilted)]),
        Case::new(&[goal(y, [0.0, 0.0, 2.0])]).rotations(&[(1, tilted)]),
        Case::new(&[goal(x, [0.0, 5.0, 0.0])]).rotations(&[(1, degrees(DVec3::X, 90.0))]),
    ]);
}
