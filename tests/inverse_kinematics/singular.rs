//! Poses and targets without an answer, or with several: nothing is done, or the nearest answer counts.

use glam::{DQuat, DVec3};
use posse::Reference;
use posse::ik::{ChainId, ChainKind, Goal, GoalTarget};
use posse::parameters::Parameter;

use super::{Case, Rig, goal, poses, turn};
use crate::support::build::{degrees, joint};
use crate::support::each_engine::each_engine;

const IDENTITY: DQuat = DQuat::IDENTITY;

/// A case in which a limb stays as it is.
fn unchanged(chain: ChainId, target: [f64; 3]) -> Case {
    Case::new(&[goal(chain, target)]).rotations(&[(0, IDENTITY), (1, IDENTITY), (2, IDENTITY)])
}

#[test]
fn a_straight_limb_without_a_usable_pole_stays() {
    let mut rig = Rig::straight(3.0, 5.0);
    // The last pole is at an angle of less than 1e-3 to the bones.
    let poles = [None, Some([0.0; 3]), Some([1.0, 0.0, 0.0]), Some([-2.0, 0.0, 0.0]), Some([1.0, 0.0009, 0.0])];
    let cases: Vec<Case> = poles.map(|pole| unchanged(rig.limb(pole), [4.0, 3.0, 0.0])).into();
    rig.assert(&cases);
}

#[test]
fn a_limb_is_straight_if_the_sine_of_its_angle_is_below_a_thousandth() {
    // The second bone points up by 0.9 and by 1.1 thousandths. Only the second limb has a plane without a pole. It
    // bends the same way further: to 60 degrees from one bone to the other.
    for (rise, is_straight) in [(0.0009, true), (0.0011, false)] {
        let mut rig = Rig::new(vec![
            joint(None, [0.0; 3]),
            joint(Some(0), [3.0, 0.0, 0.0]),
            joint(Some(1), [5.0 * f64::cos(rise), 5.0 * f64::sin(rise), 0.0]),
        ]);
        let limb = rig.limb(None);
        let case = match is_straight {
            true => unchanged(limb, [7.0, 0.0, 0.0]),
            // An `f32` knows this limb's plane to 1e-4, but turns within it to full precision.
            false => Case::new(&[goal(limb, [7.0, 0.0, 0.0])]).positions(&[(2, [7.0, 0.0, 0.0])]),
        };
        rig.assert(&[case]);
        let mut poled = |pole| Case::new(&[goal(rig.limb(Some(pole)), [7.0, 0.0, 0.0])]);
        let height = 3.0 * 0.618_589_574_131_741_8;
        let case = poled([0.0, 0.0, 1.0]).positions(&[(1, [33.0 / 14.0, 0.0, height]), (2, [7.0, 0.0, 0.0])]);
        rig.assert(&[case]);
    }
}

#[test]
fn a_pole_along_the_line_to_the_target_has_no_side() {
    // The second joint stays below x, where the swing leaves it. The last pole is at an angle of less than 1e-3 to the
    // line.
    let mut rig = Rig::bent(3.0, 5.0);
    let below = [33.0 / 14.0, -3.0 * 0.618_589_574_131_741_8, 0.0];
    let cases = [[1.0, 0.0, 0.0], [-3.0, 0.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0009]].map(|pole| {
        let limb = rig.limb(Some(pole));
        Case::new(&[goal(limb, [7.0, 0.0, 0.0])]).positions(&[(1, below), (2, [7.0, 0.0, 0.0])])
    });
    rig.assert(&cases);
}

#[test]
fn a_target_out_of_reach_is_pointed_at() {
    // The ends are apart by no more than 0.9999 times 8, and by no less than 2 + 1e-4 times 8.
    let mut rig = Rig::bent(3.0, 5.0);
    let (limb, poled) = (rig.limb(None), rig.limb(Some([0.0, 0.0, 1.0])));
    let cases = [
        (limb, [100.0, 0.0, 0.0], [7.9992, 0.0, 0.0]),
        (poled, [0.0, 1e6, 0.0], [0.0, 7.9992, 0.0]),
        (limb, [0.0, 0.0, 8.0], [0.0, 0.0, 7.9992]),
        (limb, [0.6, 0.8, 0.0], [1.200_48, 1.600_64, 0.0]),
        (poled, [0.0, 1e-3, 0.0], [0.0, 2.0008, 0.0]),
    ];
    let cases = cases.map(|(chain, target, end)| Case::new(&[goal(chain, target)]).positions(&[(2, end)]));
    rig.assert(&cases);
}

#[test]
fn a_target_at_the_first_joint_changes_nothing() {
    let mut rig = Rig::bent(4.0, 4.0);
    let (limb, poled) = (rig.limb(None), rig.limb(Some([0.0, 0.0, 1.0])));
    rig.assert(&[unchanged(limb, [0.0; 3]), unchanged(poled, [0.0; 3])]);
}

#[test]
fn a_limb_without_a_bone_stays() {
    // The second bone, or the first, is less than a thousandth of both.
    for [upper, lower] in [[3.0, 0.0], [0.0, 3.0], [3.0, 0.0029], [0.0029, 3.0], [0.0, 0.0]] {
        let mut rig = Rig::bent(upper, lower);
        let limb = rig.limb(Some([0.0, 0.0, 1.0]));
        rig.assert(&[unchanged(limb, [1.0, 1.0, 1.0])]);
    }
}

#[test]
fn a_limb_swings_to_the_opposite_direction_about_the_normal_of_its_plane() {
    let mut rig = Rig::bent(3.0, 4.0);
    let limb = rig.limb(None);
    rig.assert(&[Case::new(&[goal(limb, [-3.0, -4.0, 0.0])])
        .rotations(&[(0, degrees(DVec3::Z, 180.0)), (1, IDENTITY)])
        .positions(&[(1, [-3.0, 0.0, 0.0]), (2, [-3.0, -4.0, 0.0])])]);
}

#[test]
fn a_target_that_is_nearly_opposite_is_reached() {
    // The axis of a turn follows from the small angle that is missing to half a turn. Where the turn ends does not.
    let mut rig = Rig::bent(3.0, 4.0);
    let limbs = [rig.limb(None), rig.limb(Some([1.0, -2.0, 3.0]))];
    let aim = rig.aim(1, [0.0, 1.0, 0.0], 4.0);
    let cases = [3e-6, 1e-5, 1e-4, 1e-3, 1e-2].map(|lean: f64| {
        // The end of the limb is at (3, 4, 0).
        let target = [-3.0 * lean.cos(), -4.0 * lean.cos(), 5.0 * lean.sin()];
        let limbs = limbs.map(|limb| Case::new(&[goal(limb, target)]).positions(&[(2, target)]));
        // The aiming joint is at (3, 0, 0), and the next one 4 from it.
        let target = [3.0, -4.0 * lean.cos(), 4.0 * lean.sin()];
        limbs.into_iter().chain([Case::new(&[goal(aim, target)]).positions(&[(2, target)])])
    });
    rig.assert(&cases.into_iter().flatten().collect::<Vec<_>>());
}

#[test]
fn an_aim_without_a_direction_or_at_the_opposite_one_changes_nothing() {
    let mut rig = Rig::bent(3.0, 4.0);
    let (forward, none) = (rig.aim(1, [2.0, 0.0, 0.0], 4.0), rig.aim(1, [0.0; 3], 4.0));
    rig.assert(&[
        // The joint is at (3, 0, 0).
        unchanged(forward, [3.0, 0.0, 0.0]),
        unchanged(forward, [-5.0, 0.0, 0.0]),
        unchanged(forward, [9.0, 0.0, 0.0]),
        unchanged(none, [9.0, 9.0, 9.0]),
        // Nearly opposite directions have a shortest rotation, by half a turn less 1/16.
        Case::new(&[goal(forward, [-13.0, 1.0, 0.0])]).rotations(&[(1, turn(DVec3::Z, 1.0, -16.0))]),
    ]);
}

#[test]
fn nothing_jumps_while_a_target_moves_through_all_distances() {
    // A target on a line beside the first joint, from beyond the limb on one side to beyond it on the other. The pole
    // is at right angles to all directions to the target, so that all turns are steady.
    let mut rig = Rig::bent(4.0, 4.0);
    let limb = rig.limb(Some([0.0, 0.0, 1.0]));
    let hold = rig.add(ChainKind::TwoBone { joints: [0, 1, 2], pole: Some([0.0, 0.0, -2.0]), hold: true });
    let aim = rig.aim(2, [0.0, -1.0, 0.0], 0.5);
    let target = GoalTarget::Parameters([0, 1, 2]);
    let goals = [[Goal::new(limb, target)], [Goal::new(hold, target)], [Goal::new(aim, target)]];
    let mut crowd = rig.crowd(goals.iter().map(|goals| &goals[..]));
    let seconds = 20.0;
    for instance in 0..crowd.len() {
        let keys = [[[0.0, -10.0], [seconds, 10.0]], [[0.0, 0.5], [seconds, 0.5]], [[0.0, 0.0], [seconds, 0.0]]];
        let parameters: Vec<Parameter> = keys.map(|keys| Parameter::new(keys.to_vec()).unwrap()).into();
        crowd.set_parameters(instance, parameters).unwrap();
    }
    let steps = 200;
    let moments: Vec<f64> = (0..=steps).map(|step| seconds * f64::from(step) / f64::from(steps)).collect();
    let mut reference = Reference::new(&rig.library);
    let expected: Vec<_> = moments.iter().map(|&moment| poses(&mut reference, &crowd, moment)).collect();
    each_engine(&rig.library, |engine| {
        for (&moment, expected) in moments.iter().zip(&expected) {
            for (instance, (pose, expected)) in poses(engine, &crowd, moment).iter().zip(expected).enumerate() {
                for (joint, matrix) in pose.model.iter().enumerate() {
                    let apart = matrix.translation.distance(expected.model[joint].translation);
                    assert!(apart < 1e-3, "{} at {moment} s: {instance}, {joint}: {apart}", engine.engine());
                }
            }
        }
    });
    // From one moment to the next, the target moves by 0.1. Near the end of its reach, the limb straightens faster: the
    // first bone is at an angle whose cosine is the distance over 8, which changes by no more than the square root of 2
    // (0.1 / 8).
    for pair in expected.windows(2) {
        for (before, after) in pair[0].iter().zip(&pair[1]) {
            for (before, after) in before.model.iter().zip(&after.model) {
                let moved = before.translation.distance(after.translation);
                assert!(moved < 1.2, "{moved} from {before} to {after}");
            }
        }
    }
}
