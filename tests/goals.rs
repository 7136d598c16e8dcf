//! Goals on the fast engines, compared with the reference on rigs of all kinds: joints that scales turn rigidly, and
//! others.

mod on_gpu;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::ik::{Chain, ChainId, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::packed::PackedLibrary;
use posse::parameters::Parameter;
use posse::{
    Clip, ClipId, Crowd, Evaluator, Joint, Layer, LayerTime, Library, Outputs, Poses, Reference, Skeleton, SkeletonId,
    Skin, Ticks, Transform, contract, glam,
};

use crate::support::each_engine::fast_engines;
use crate::support::scenes::Numbers;

/// The scales of the joints of a rig.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scales {
    /// One for all axes, above 0.
    Even,
    /// One per axis, mirrors, and matrices that shear.
    Uneven,
}

/// A rig with a clip, and random chains.
struct Rig {
    library: Library,
    skeleton: SkeletonId,
    clip: ClipId,
    chains: Vec<ChainId>,
}

fn vector(numbers: &mut Numbers, size: f64) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| numbers.within(-size, size)))
}

fn rotation(numbers: &mut Numbers) -> DQuat {
    DQuat::from_scaled_axis(vector(numbers, 1.0)).as_quat().as_dquat()
}

/// A joint whose bone is not short.
fn joint(numbers: &mut Numbers, parent: Option<usize>, scales: Scales) -> Joint {
    let translation = vector(numbers, 0.2) + DVec3::new(0.0, 0.4, 0.2);
    let scale = match scales {
        Scales::Even => DVec3::splat(numbers.within(0.9, 1.1)),
        Scales::Uneven => {
            DVec3::from_array([(); 3].map(|()| numbers.within(0.8, 1.2)))
                * if numbers.below(6) == 0 { -1.0 } else { 1.0 }
        }
    };
    let matrix = DAffine3 {
        matrix3: match scales {
            Scales::Even => DMat3::from_quat(rotation(numbers)) * 1.05,
            Scales::Uneven => DMat3::from_quat(rotation(numbers)) + DMat3::from_diagonal(vector(numbers, 0.2)),
        },
        translation,
    };
    let matrix = (numbers.below(8) == 0).then_some(matrix);
    Joint { parent, rest: Transform { translation, rotation: rotation(numbers), scale }, matrix, ..Joint::default() }
}

/// A rig of random joints, a tree of long branches, and a clip that turns all of them.
fn rig(numbers: &mut Numbers, count: usize, scales: Scales) -> Rig {
    rig_with(numbers, count, scales, |kind| kind)
}

/// The same rig with other chains.
fn rig_with(numbers: &mut Numbers, count: usize, scales: Scales, change: impl Fn(ChainKind) -> ChainKind) -> Rig {
    let mut library = Library::new();
    let parent = |numbers: &mut Numbers, index: usize| (index > 0).then(|| index - 1 - numbers.below(index.min(3)));
    let joints: Vec<Joint> = (0..count)
        .map(|index| {
            let parent = parent(numbers, index);
            joint(numbers, parent, scales)
        })
        .collect();
    let is_turned: Vec<bool> = joints.iter().map(|joint| joint.matrix.is_none()).collect();
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    let inverse_bind = (0..count).map(|_| DAffine3::from_rotation_translation(rotation(numbers), vector(numbers, 1.0)));
    let inverse_bind = inverse_bind.collect();
    library.add_skin(Skin { name: None, skeleton, joints: (0..count).collect(), inverse_bind }).unwrap();
    let timeline = std::sync::Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
    let mut track = |joint: usize| {
        let keys = [rotation(numbers), rotation(numbers)].map(|turn| turn.to_array()).concat();
        let curve = Curve::new(timeline.clone(), Interpolation::Linear, 4, keys).unwrap();
        Track::new(Target::Rotation(joint), curve)
    };
    let tracks = (0..count).filter(|&joint| is_turned[joint]).map(&mut track).collect();
    let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    let mut rig = Rig { library, skeleton, clip, chains: Vec::new() };
    while rig.chains.len() < 6 {
        let kind = if rig.chains.len() % 3 == 2 { aim(numbers, &rig) } else { two_bone(numbers, &rig) };
        let chain = kind.map(|kind| rig.library.add_chain(Chain { name: None, skeleton, kind: change(kind) }));
        rig.chains.extend(chain.and_then(Result::ok));
    }
    rig
}

/// Two bones of a random branch, if it has them.
fn two_bone(numbers: &mut Numbers, rig: &Rig) -> Option<ChainKind> {
    let joints = rig.library.skeleton(rig.skeleton).joints();
    let third = joints.len() - 1 - numbers.below(joints.len() / 2);
    let mut above = |joint: usize| {
        let parent = joints[joint].parent?;
        // Not necessarily the parent.
        if numbers.below(4) == 0 { joints[parent].parent } else { Some(parent) }
    };
    let second = above(third)?;
    let joints = [above(second)?, second, third];
    let pole = (numbers.below(2) == 0).then(|| (vector(numbers, 1.0) * 3.0).to_array());
    Some(ChainKind::TwoBone { joints, pole, hold: numbers.below(2) == 0 })
}

fn aim(numbers: &mut Numbers, rig: &Rig) -> Option<ChainKind> {
    let joint = numbers.below(rig.library.skeleton(rig.skeleton).joints().len());
    let limit = if numbers.below(2) == 0 { std::f64::consts::PI } else { numbers.within(0.1, 1.0) };
    Some(ChainKind::Aim { joint, forward: (vector(numbers, 1.0) * 2.0).to_array(), limit })
}

/// Instances of a rig with random goals, some of which follow parameters.
fn crowd(numbers: &mut Numbers, rig: &Rig, instances: usize) -> Crowd {
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        crowd.push(rig.skeleton, &[Layer::new(rig.clip, LayerTime::At(numbers.within(0.0, 1.0)))]).unwrap();
        let parameters: Vec<_> = (0..8).map(|_| Parameter::constant(numbers.within(-1.5, 1.5)).unwrap()).collect();
        crowd.set_parameters(instance, parameters).unwrap();
        let goal = |numbers: &mut Numbers, index: usize| Goal {
            chain: rig.chains[index],
            target: match numbers.below(3) {
                // No two goals of an instance share a target: a chain that begins where another ends has no direction
                // then.
                0 => GoalTarget::Parameters([index, index + 1, index + 2]),
                _ => GoalTarget::Point(vector(numbers, 2.0).to_array()),
            },
            weight: match numbers.below(4) {
                0 => GoalWeight::Parameter(numbers.below(8)),
                1 => GoalWeight::Fixed(numbers.within(0.0, 1.0)),
                _ => GoalWeight::Fixed(1.0),
            },
        };
        let goals: Vec<Goal> =
            (0..rig.chains.len()).filter(|_| instance % 5 != 4).map(|index| goal(numbers, index)).collect();
        // Some instances have other chains, or none.
        let skipped = if instance % 5 == 3 { 1 } else { 0 };
        crowd.set_goals(instance, goals.into_iter().skip(skipped).collect::<Vec<_>>()).unwrap();
    }
    crowd
}

/// Asserts that the poses of a crowd at tick 0 are the poses of the reference, within the contract.
#[track_caller]
fn assert_right(what: &str, rig: &Rig, crowd: &Crowd, outputs: Outputs, found: &Poses) {
    let expected = Reference::new(&rig.library).evaluate(crowd, Ticks(0), outputs).unwrap();
    let report = contract::compare(&rig.library, crowd, Ticks(0), &expected, found);
    assert!(report.is_within(), "{what}: {:?}", report.quantities());
}

#[test]
fn goals_are_those_of_the_reference_on_rigs_of_all_sizes() {
    for (seed, joints, scales) in [
        (1, 12, Scales::Even),
        (2, 40, Scales::Even),
        (3, 25, Scales::Uneven),
        (4, 300, Scales::Even),
        (5, 270, Scales::Uneven),
    ] {
        let mut numbers = Numbers::new(seed);
        let rig = rig(&mut numbers, joints, scales);
        let crowd = crowd(&mut numbers, &rig, 21);
        let packed = || PackedLibrary::new(&rig.library).unwrap();
        fast_engines(&packed, &mut |engine| {
            let what = format!("{} joints, {scales:?}, {}, {}", joints, engine.engine(), engine.adapter());
            // Without local transforms in the output, too.
            for outputs in [Outputs::ALL, Outputs { local: false, ..Outputs::ALL }] {
                let found = engine.evaluate(&crowd, Ticks(0), outputs).unwrap();
                assert_right(&what, &rig, &crowd, outputs, &found);
            }
        });
    }
}

/// A rig whose limbs have poles and hold, and whose aims have limits, after a change, with its crowd.
fn crowd_of_limbs(seed: u64, scales: Scales, change: impl Fn(&mut ChainKind)) -> (Rig, Crowd) {
    let mut numbers = Numbers::new(seed);
    let rig = rig_with(&mut numbers, 24, scales, |mut kind| {
        match &mut kind {
            ChainKind::TwoBone { pole, hold, .. } => (*pole, *hold) = (Some([0.4, -0.5, 0.8]), true),
            ChainKind::Aim { limit, .. } => *limit = 0.5,
        }
        change(&mut kind);
        kind
    });
    let crowd = crowd(&mut numbers, &rig, 100);
    (rig, crowd)
}

/// The instances whose rotations are wrong by more than 0.02 rad, and which of them the contract refuses.
fn wrong_and_refused((rig, crowd): &(Rig, Crowd), (other_rig, other_crowd): &(Rig, Crowd)) -> [usize; 2] {
    let pose = |rig: &Rig, crowd| Reference::new(&rig.library).evaluate(crowd, Ticks(0), Outputs::ALL).unwrap();
    let (right, wrong) = (pose(rig, crowd), pose(other_rig, other_crowd));
    let mut counts = [0; 2];
    for instance in 0..crowd.len() {
        let [of_right, of_wrong] = [&right, &wrong].map(|poses| &poses.instances[instance]);
        let mut joints = of_right.local.iter().zip(&of_wrong.local);
        if joints.any(|(right, wrong)| right.rotation.angle_between(wrong.rotation) > 0.02) {
            let mut alone = Crowd::new();
            alone.push_copy(crowd, instance);
            let [right, wrong] = [of_right, of_wrong].map(|pose| Poses { instances: vec![pose.clone()] });
            let report = contract::compare(&rig.library, &alone, Ticks(0), &right, &wrong);
            counts[0] += 1;
            counts[1] += usize::from(!report.is_within());
        }
    }
    counts
}

/// An error with its name.
type Fault<T> = (&'static str, fn(&mut T));

#[test]
fn the_bounds_of_goals_refuse_errors() {
    let of_chains: [Fault<ChainKind>; 3] = [
        ("no hold", |kind| {
            if let ChainKind::TwoBone { hold, .. } = kind {
                *hold = false;
            }
        }),
        ("the other side of the pole", |kind| {
            if let ChainKind::TwoBone { pole: Some(pole), .. } = kind {
                *pole = pole.map(|number| -number);
            }
        }),
        ("no limit", |kind| {
            if let ChainKind::Aim { limit, .. } = kind {
                *limit = 4.0;
            }
        }),
    ];
    let of_goals: [Fault<Vec<Goal>>; 3] = [
        ("full weights", |goals| goals.iter_mut().for_each(|goal| goal.weight = GoalWeight::Fixed(1.0))),
        ("the other order", |goals| goals.reverse()),
        ("one goal less", |goals| {
            goals.pop();
        }),
    ];
    let mut counts = Vec::new();
    for (seed, scales) in [(6, Scales::Even), (7, Scales::Uneven)] {
        let right = crowd_of_limbs(seed, scales, |_| {});
        let with_chains = of_chains.map(|(error, change)| (error, crowd_of_limbs(seed, scales, change)));
        let with_goals = of_goals.map(|(error, change)| {
            let (rig, mut crowd) = crowd_of_limbs(seed, scales, |_| {});
            for instance in 0..crowd.len() {
                let mut goals = crowd.goals(instance).to_vec();
                change(&mut goals);
                crowd.set_goals(instance, goals).unwrap();
            }
            (error, (rig, crowd))
        });
        for (error, faulty) in with_chains.into_iter().chain(with_goals) {
            counts.push((scales, error, wrong_and_refused(&right, &faulty)));
        }
    }
    // The bounds of six goals after each other add up. Where a limb is nearly straight or folded, or a turn nearly half
    // a circle, they are as wide as an error. The last goal has the widest: a quarter of its errors is told, of all
    // others at least three quarters.
    let is_told = |&(_, error, [wrong, refused]): &(Scales, &str, [usize; 2])| {
        let share = if error == "one goal less" { 0.25 } else { 0.75 };
        wrong >= 30 && refused as f64 >= share * wrong as f64
    };
    assert!(counts.iter().all(is_told), "{counts:#?}");
}
