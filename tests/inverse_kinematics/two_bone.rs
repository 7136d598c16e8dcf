//! Rule 16, with bones of 3 and 5, whose ends are 7 apart at an angle of 120 degrees between them, since 9 + 25 +
//! 15 = 49.

use glam::{DQuat, DVec3};
use posse::ik::ChainKind;

use super::{Case, Rig, goal, turn};
use crate::support::build::degrees;

const IDENTITY: DQuat = DQuat::IDENTITY;

#[test]
fn the_first_joint_swings_the_third_to_the_target() {
    // The ends of bones of 3 and 4 at a right angle are 5 apart, as the target is, so that nothing bends. The third
    // joint is in the direction (3, 4) and swings to (0, 5): its angle has the sine 4/5 and the cosine 3/5, so that the
    // turn has 3/5 and 4/5.
    let mut rig = Rig::bent(3.0, 4.0);
    let limb = rig.limb(None);
    let swung = turn(DVec3::Z, 0.6, 0.8);
    // To (0, 0, 5): the shortest rotation is about the axis at right angles to (3, 4, 0) and z, by a right angle.
    let raised = DQuat::from_axis_angle(DVec3::new(0.8, -0.6, 0.0), std::f64::consts::FRAC_PI_2);
    rig.assert(&[
        Case::new(&[goal(limb, [0.0, 5.0, 0.0])]).rotations(&[(0, swung), (1, IDENTITY), (2, IDENTITY)]).positions(&[
            (1, [2.4, 1.8, 0.0]),
            (2, [0.0, 5.0, 0.0]),
            (3, [-0.6, 5.8, 0.0]),
        ]),
        Case::new(&[goal(limb, [0.0, 0.0, 5.0])]).rotations(&[(0, raised), (1, IDENTITY)]).positions(&[
            // The bone along x has the part 3 (3/5) along (3, 4, 0), which is raised, and the part 3 (4/5) along (4,
            // -3, 0).
            (1, [1.92, -1.44, 1.8]),
            (2, [0.0, 0.0, 5.0]),
        ]),
        // The third joint is at the target already.
        Case::new(&[goal(limb, [3.0, 4.0, 0.0])])
            .rotations(&[(0, IDENTITY), (1, IDENTITY)])
            .positions(&[(2, [3.0, 4.0, 0.0])]),
    ]);
}

/// The sine and cosine of the angle between the first bone and the line to the target, 7 away, by the law of cosines:
/// (9 + 49 - 25) / 42 is 11/14.
const SPREAD: [f64; 2] = [0.618_589_574_131_741_8, 11.0 / 14.0];

#[test]
fn the_second_joint_bends_to_the_distance_of_the_target() {
    // The bones are at a right angle about z. At 120 degrees between them, the direction turns by 60 degrees from one
    // to the other, so that the second joint turns back by 30. Then the limb swings down, so that its end is on x.
    let mut rig = Rig::bent(3.0, 5.0);
    let limb = rig.limb(None);
    let [sine, cosine] = SPREAD;
    rig.assert(&[Case::new(&[goal(limb, [7.0, 0.0, 0.0])])
        .rotations(&[(0, turn(DVec3::Z, -sine, cosine)), (1, degrees(DVec3::Z, -30.0)), (2, IDENTITY)])
        .positions(&[(1, [3.0 * cosine, -3.0 * sine, 0.0]), (2, [7.0, 0.0, 0.0])])]);
}

#[test]
fn a_pole_turns_the_limb_about_the_line_to_the_target() {
    // As above, the second joint is below x. A pole brings it to its own side, whatever the length of the pole and its
    // part along x.
    let mut rig = Rig::bent(3.0, 5.0);
    let [sine, cosine] = SPREAD;
    let (along, across) = (3.0 * cosine, 3.0 * sine);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let mut case = |pole: [f64; 3], angle: f64, side: [f64; 2]| {
        let limb = rig.limb(Some(pole));
        let swung = degrees(DVec3::X, angle) * turn(DVec3::Z, -sine, cosine);
        Case::new(&[goal(limb, [7.0, 0.0, 0.0])])
            .rotations(&[(0, swung), (1, degrees(DVec3::Z, -30.0)), (2, IDENTITY)])
            .positions(&[(1, [along, across * side[0], across * side[1]]), (2, [7.0, 0.0, 0.0])])
    };
    let cases = [
        case([0.0, -1.0, 0.0], 0.0, [-1.0, 0.0]),
        case([0.0, 1.0, 0.0], 180.0, [1.0, 0.0]),
        case([-4.0, 0.0, 0.01], -90.0, [0.0, 1.0]),
        case([9.0, 0.0, -20.0], 90.0, [0.0, -1.0]),
        case([0.0, -2.0, 2.0], -45.0, [-half, half]),
    ];
    rig.assert(&cases);
}

#[test]
fn a_straight_limb_bends_towards_its_pole() {
    // Its plane has the normal x cross y, z, about which the second joint turns by 60 degrees. After the swing it is
    // below x, and the pole turns it up.
    let mut rig = Rig::straight(3.0, 5.0);
    let [sine, cosine] = SPREAD;
    let limb = rig.limb(Some([0.0, 1.0, 0.0]));
    rig.assert(&[Case::new(&[goal(limb, [7.0, 0.0, 0.0])])
        .rotations(&[(0, degrees(DVec3::X, 180.0) * turn(DVec3::Z, -sine, cosine)), (1, degrees(DVec3::Z, 60.0))])
        .positions(&[(1, [3.0 * cosine, 3.0 * sine, 0.0]), (2, [7.0, 0.0, 0.0])])]);
}

#[test]
fn a_limb_that_holds_keeps_the_model_rotation_of_its_end() {
    let mut rig = Rig::bent(3.0, 5.0);
    let [sine, cosine] = SPREAD;
    let kind = |hold| ChainKind::TwoBone { joints: [0, 1, 2], pole: None, hold };
    let (held, free) = (rig.add(kind(true)), rig.add(kind(false)));
    let target = [7.0, 0.0, 0.0];
    let (swung, bent) = (turn(DVec3::Z, -sine, cosine), degrees(DVec3::Z, -30.0));
    // All turns are about z: the third joint turns back by both.
    let back = degrees(DVec3::Z, 30.0) * turn(DVec3::Z, sine, cosine);
    // Without the hold, the fourth joint is 1 above the third in the direction that was y.
    let up = swung * bent * DVec3::Y;
    rig.assert(&[
        Case::new(&[goal(held, target)])
            .rotations(&[(0, swung), (1, bent), (2, back), (3, IDENTITY)])
            .positions(&[(2, target), (3, [7.0, 1.0, 0.0])]),
        Case::new(&[goal(free, target)])
            .rotations(&[(0, swung), (1, bent), (2, IDENTITY), (3, IDENTITY)])
            .positions(&[(2, target), (3, [7.0 + up.x, up.y, 0.0])]),
    ]);
}
