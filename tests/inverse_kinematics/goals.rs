//! Rule 15: weights, the order of goals, parameters, and a pose that a transition or layers give.

use std::f64::consts::{LN_2, PI};

use glam::{DQuat, DVec3};
use posse::curves::{Interpolation, Target, Track};
use posse::ik::{Goal, GoalTarget, GoalWeight};
use posse::parameters::Parameter;
use posse::transitions::{Transition, TransitionKind};
use posse::{Clip, Crowd, Error, Layer, LayerTime, Reference, Ticks};

use super::{Case, Rig, goal, poses, turn, weighted};
use crate::support::build::{curve, degrees, joint};
use crate::support::each_engine::each_engine;

#[test]
fn a_weight_is_a_share_of_the_rotations() {
    // Bones of 3 and 5 whose ends come to a distance of 7, as among the cases of two bones: -30 degrees and the spread.
    let mut rig = Rig::bent(3.0, 5.0);
    let chain = rig.limb(None);
    let target = goal(chain, [7.0, 0.0, 0.0]);
    let swing = -f64::atan2(0.618_589_574_131_741_8, 11.0 / 14.0).to_degrees();
    let case = |weight: f64| {
        Case::new(&[weighted(target, weight)])
            .rotations(&[(0, degrees(DVec3::Z, weight * swing)), (1, degrees(DVec3::Z, -30.0 * weight))])
    };
    rig.assert(&[case(0.0), case(0.25), case(0.5), case(1.0)]);
}

#[test]
fn a_weight_of_0_keeps_every_bit() {
    // The rest pose has rotations that are not exact in binary.
    let mut joints: Vec<_> = (0..4).map(|index: usize| joint(index.checked_sub(1), [0.1, 0.7, 0.3])).collect();
    for (index, joint) in joints.iter_mut().enumerate() {
        joint.rest.rotation = degrees(DVec3::new(0.6, 0.0, 0.8), 37.0 * index as f64 + 5.0);
    }
    let mut rig = Rig::new(joints);
    let (limb, aim) = (rig.limb(Some([1.0, 2.0, 3.0])), rig.aim(2, [0.0, 0.0, 1.0], PI));
    let goals = [limb, aim].map(|chain| weighted(goal(chain, [0.3, 0.9, 0.4]), 0.0));
    let crowd = rig.crowd([&[][..], &goals]);
    each_engine(&rig.library, |engine| {
        let [plain, weighted]: [_; 2] = poses(engine, &crowd, 0.0).try_into().unwrap();
        assert_eq!(plain.local, weighted.local, "{}", engine.engine());
        assert_eq!(plain.model, weighted.model, "{}", engine.engine());
    });
}

#[test]
fn a_held_joint_keeps_its_model_rotation_at_any_weight() {
    let mut rig = Rig::bent(3.0, 4.0);
    let chain = rig.add(posse::ik::ChainKind::TwoBone { joints: [0, 1, 2], pole: None, hold: true });
    let half = goal(chain, [0.0, 5.0, 0.0]);
    // Half of the turn with the sine 3/5 has the tangent 1/3.
    let turned = turn(DVec3::Z, 1.0, 3.0);
    rig.assert(&[Case::new(&[weighted(half, 0.5)]).rotations(&[
        (0, turned),
        (1, DQuat::IDENTITY),
        (2, turned.conjugate()),
    ])]);
}

#[test]
fn goals_act_in_their_order() {
    let mut rig = Rig::bent(3.0, 4.0);
    let (limb, look) = (rig.limb(None), rig.aim(0, [1.0, 0.0, 0.0], PI));
    let (reach, look) = (goal(limb, [3.0, 4.0, 0.0]), goal(look, [0.0, 9.0, 0.0]));
    // The target is where the third joint is at rest: reached first, the look turns it away; reached last, the limb
    // turns back.
    rig.assert(&[
        Case::new(&[reach, look])
            .rotations(&[(0, degrees(DVec3::Z, 90.0)), (1, DQuat::IDENTITY)])
            .positions(&[(2, [-4.0, 3.0, 0.0])]),
        Case::new(&[look, reach])
            .rotations(&[(0, DQuat::IDENTITY), (1, DQuat::IDENTITY)])
            .positions(&[(2, [3.0, 4.0, 0.0])]),
        // Half of the way, and half of the rest.
        Case::new(&[weighted(look, 0.5), weighted(look, 0.5)]).rotations(&[(0, degrees(DVec3::Z, 67.5))]),
    ]);
}

#[test]
fn targets_and_weights_follow_parameters() {
    // The target moves from (3, 4, 0) to (0, 5, 0) in 2 s. The weight is a number from -1 to 3, clamped to 0 and 1.
    let mut rig = Rig::bent(3.0, 4.0);
    let limb = rig.limb(None);
    let (target, weight) = (GoalTarget::Parameters([1, 3, 2]), GoalWeight::Parameter(0));
    let goal = Goal { weight, ..Goal::new(limb, target) };
    let mut crowd = rig.crowd([&[goal][..], &[Goal { weight: GoalWeight::Parameter(15), ..goal }]]);
    let parameters =
        [vec![[0.0, -1.0], [4.0, 3.0]], vec![[0.0, 3.0], [2.0, 0.0]], vec![[0.0, 0.0]], vec![[0.0, 4.0], [2.0, 5.0]]];
    let parameters = parameters.map(|keys| Parameter::new(keys).unwrap());
    crowd.set_parameters(0, parameters.to_vec()).unwrap();
    crowd.set_parameters(1, parameters.to_vec()).unwrap();
    let swung = turn(DVec3::Z, 0.6, 0.8);
    let half = turn(DVec3::Z, 1.0, 3.0);
    each_engine(&rig.library, |engine| {
        for (seconds, expected) in [(0.5, DQuat::IDENTITY), (2.0, swung), (9.0, swung)] {
            let posed = poses(engine, &crowd, seconds);
            let what = format!("{} at {seconds} s", engine.engine());
            Case::new(&[]).rotations(&[(0, expected)]).assert(&posed[0], &what);
            // The instance has no parameter 15, which counts as 0.
            Case::new(&[]).rotations(&[(0, DQuat::IDENTITY)]).assert(&posed[1], &what);
        }
    });
    // At 1.5 s, the weight is 1/2; with the target at its last place from the start, that is half of the swing.
    let mut parameters = parameters.to_vec();
    parameters[1] = Parameter::constant(0.0).unwrap();
    parameters[3] = Parameter::constant(5.0).unwrap();
    crowd.set_parameters(0, parameters).unwrap();
    each_engine(&rig.library, |engine| {
        Case::new(&[]).rotations(&[(0, half)]).assert(&poses(engine, &crowd, 1.5)[0], engine.engine());
    });
}

#[test]
fn goals_act_on_the_pose_of_a_transition_which_knows_nothing_of_them() {
    // A joint that stands at 0 goes over to 90 degrees. After a half-life, with `y u = 2 ln 2`, the displacement of -90
    // degrees is (1 + 2 ln 2) / 4 of itself. Then a look turns on by 10 degrees, towards a target at 135.
    let mut rig = Rig::bent(3.0, 4.0);
    let mut standing = |angle: f64| {
        let keys = degrees(DVec3::Z, angle).to_array();
        let track = Track::new(Target::Rotation(0), curve(Interpolation::Linear, 4, &[0.0], &keys));
        let clip = rig.library.add_clip(Clip::new(None, rig.skeleton, vec![track])).unwrap();
        Layer::new(clip, LayerTime::At(0.0))
    };
    let (out, into) = (standing(0.0), standing(90.0));
    let look = rig.aim(0, [1.0, 0.0, 0.0], f64::to_radians(10.0));
    let (start, half_life) = (Ticks::from_seconds(2.0), 0.5);
    let transition = Transition { start, from: vec![out], kind: TransitionKind::Inertial, half_life, before: None };
    let mut crowd = Crowd::new();
    for instance in 0..2 {
        crowd.push(rig.skeleton, &[into]).unwrap();
        if instance == 1 {
            crowd.set_goals(1, [goal(look, [-9.0, 9.0, 0.0])]).unwrap();
        }
        crowd.set_transition(&rig.library, instance, Some(transition.clone())).unwrap();
    }
    let left = (1.0 + 2.0 * LN_2) / 4.0;
    each_engine(&rig.library, |engine| {
        for (seconds, angle) in [(1.0, 0.0), (2.0, 0.0), (2.5, 90.0 * (1.0 - left)), (60.0, 90.0)] {
            let posed = poses(engine, &crowd, seconds);
            for (pose, angle) in posed.iter().zip([angle, angle + 10.0]) {
                let what = format!("{} at {seconds} s", engine.engine());
                Case::new(&[]).rotations(&[(0, degrees(DVec3::Z, angle))]).assert(pose, &what);
            }
        }
    });
}

#[test]
fn outputs_other_than_transforms_stay() {
    let mut joints: Vec<_> = [[0.0; 3], [3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]
        .into_iter()
        .enumerate()
        .map(|(index, at)| joint(index.checked_sub(1), at))
        .collect();
    joints[2].weights = vec![0.25, 0.5];
    let mut rig = Rig::new(joints);
    let limb = rig.limb(None);
    let crowd = rig.crowd([&[goal(limb, [0.0, 5.0, 0.0])][..]]);
    each_engine(&rig.library, |engine| {
        let pose = &poses(engine, &crowd, 0.0)[0];
        assert_eq!(pose.weights, [0.25, 0.5], "{}", engine.engine());
        for (local, [x, y, z]) in pose.local.iter().zip([[0.0; 3], [3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]) {
            assert_eq!((local.translation, local.scale), (DVec3::new(x, y, z), DVec3::ONE), "{}", engine.engine());
        }
    });
}

#[test]
fn unusable_goals_and_chains_are_refused() {
    let mut rig = Rig::bent(3.0, 4.0);
    let limb = rig.limb(None);
    let mut crowd = rig.crowd([&[][..]]);
    let point = goal(limb, [0.0; 3]);
    let mut refused = |goals: Vec<Goal>, saying: &str| {
        let error = crowd.set_goals(0, goals).unwrap_err().to_string();
        assert!(error.contains(saying), "{error}");
    };
    refused(vec![goal(limb, [0.0, f64::NAN, 0.0])], "the target has the number NaN");
    refused(vec![weighted(point, 1.5)], "the weight 1.5 of a goal is not from 0 to 1");
    refused(vec![weighted(point, f64::NAN)], "the weight NaN");
    refused(vec![Goal { weight: GoalWeight::Parameter(16), ..point }], "parameter 16");
    refused(vec![Goal::new(limb, GoalTarget::Parameters([0, 99, 1]))], "parameter 99");
    refused(vec![point; 33], "goals of instance 0");
    assert!(crowd.goals(0).is_empty());

    let mut other = Rig::bent(1.0, 1.0);
    let more = (0..3).map(|_| other.limb(None)).last().unwrap();
    crowd.set_goals(0, [goal(more, [0.0; 3])]).unwrap();
    let message = |error: Error| error.to_string();
    let missing = crowd.check(&rig.library).map_err(message).unwrap_err();
    assert!(missing.contains("there is no chain 2; the library has 1, numbered from 0"), "{missing}");
    let joints = vec![joint(None, [0.0; 3])];
    let second = rig.library.add_skeleton(posse::Skeleton::new(Some("post".into()), joints, Vec::new()).unwrap());
    let mut crowd = Crowd::new();
    crowd.push(second, &[]).unwrap();
    crowd.set_goals(0, [point]).unwrap();
    let apart = crowd.check(&rig.library).map_err(message).unwrap_err();
    assert!(apart.contains("chain 0 is for skeleton 0, but the instance uses skeleton 1 (\"post\")"), "{apart}");
    each_engine(&rig.library, |engine| {
        assert!(engine.evaluate(&crowd, Ticks(0), posse::Outputs::ALL).is_err(), "{}", engine.engine());
    });
    assert!(
        posse::Evaluator::evaluate(&mut Reference::new(&rig.library), &crowd, Ticks(0), posse::Outputs::ALL).is_err()
    );
}
