//! Inverse kinematics: hand-worked cases of each rule, on every engine.

/// One joint that looks at a target.
mod aim;
/// Weights, the order of goals, parameters, and transitions.
mod goals;
/// Scales, matrices, and joints between the joints of a chain.
mod rigs;
/// Poses and targets in which a solve has no answer or several.
mod singular;
/// Two bones with and without a pole.
mod two_bone;

use glam::{DQuat, DVec3};
use posse::ik::{Chain, ChainId, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::{Crowd, Evaluator, Joint, Library, Outputs, Pose, SkeletonId, Ticks};

use crate::support::assert_close::assert_close;
use crate::support::build::{joint, library};
use crate::support::each_engine::each_engine;

/// A skeleton, with the chains of its goals.
struct Rig {
    library: Library,
    skeleton: SkeletonId,
}

impl Rig {
    fn new(joints: Vec<Joint>) -> Self {
        let (library, skeleton) = library(joints);
        Self { library, skeleton }
    }

    /// Joint 0 at the origin, joint 1 at a distance along x, joint 2 at a distance from it along y, and joint 3 above
    /// it by 1.
    fn bent(upper: f64, lower: f64) -> Self {
        let joints = [(None, [0.0; 3]), (Some(0), [upper, 0.0, 0.0]), (Some(1), [0.0, lower, 0.0])];
        let joints = joints.into_iter().chain([(Some(2), [0.0, 1.0, 0.0])]);
        Self::new(joints.map(|(parent, translation)| joint(parent, translation)).collect())
    }

    /// The same with all joints along x.
    fn straight(upper: f64, lower: f64) -> Self {
        let joints = [(None, 0.0), (Some(0), upper), (Some(1), lower), (Some(2), 1.0)];
        Self::new(joints.map(|(parent, x)| joint(parent, [x, 0.0, 0.0])).into())
    }

    fn add(&mut self, kind: ChainKind) -> ChainId {
        self.library.add_chain(Chain { name: None, skeleton: self.skeleton, kind }).unwrap()
    }

    /// Adds the two bones of joints 0, 1 and 2.
    fn limb(&mut self, pole: Option<[f64; 3]>) -> ChainId {
        self.add(ChainKind::TwoBone { joints: [0, 1, 2], pole, hold: false })
    }

    fn aim(&mut self, joint: usize, forward: [f64; 3], limit: f64) -> ChainId {
        self.add(ChainKind::Aim { joint, forward, limit })
    }

    /// A crowd with an instance in the rest pose for each list of goals.
    fn crowd<'a>(&self, goals: impl IntoIterator<Item = &'a [Goal]>) -> Crowd {
        let mut crowd = Crowd::new();
        for goals in goals {
            let instance = crowd.push(self.skeleton, &[]).unwrap();
            crowd.set_goals(instance, goals).unwrap();
        }
        crowd
    }

    /// Asserts the poses of the rest pose after goals.
    #[track_caller]
    fn assert(&self, cases: &[Case]) {
        let crowd = self.crowd(cases.iter().map(|case| &*case.goals));
        each_engine(&self.library, |engine| {
            let poses = poses(engine, &crowd, 0.0);
            for (index, (case, pose)) in cases.iter().zip(&poses).enumerate() {
                case.assert(pose, &format!("{}: case {index}", engine.engine()));
            }
        });
    }
}

/// Goals, with some rotations and positions of the pose that they lead to.
struct Case {
    goals: Vec<Goal>,
    /// Local rotations by joint.
    rotations: Vec<(usize, DQuat)>,
    /// Positions in model space by joint.
    positions: Vec<(usize, [f64; 3])>,
}

impl Case {
    fn new(goals: &[Goal]) -> Self {
        Self { goals: goals.to_vec(), rotations: Vec::new(), positions: Vec::new() }
    }

    fn rotations(mut self, rotations: &[(usize, DQuat)]) -> Self {
        self.rotations.extend(rotations);
        self
    }

    fn positions(mut self, positions: &[(usize, [f64; 3])]) -> Self {
        self.positions.extend(positions);
        self
    }

    #[track_caller]
    fn assert(&self, pose: &Pose, what: &str) {
        for &(joint, expected) in &self.rotations {
            let apart = pose.local[joint].rotation.angle_between(expected);
            // The chord of two quaternions is exact for small angles, unlike the arc cosine.
            let actual = pose.local[joint].rotation;
            let chord = (actual - expected).length().min((actual + expected).length());
            assert!(2.0 * chord < 5e-6, "{what}: joint {joint} has {actual}, expected {expected}, {apart} rad apart");
        }
        for &(joint, expected) in &self.positions {
            let position = pose.model[joint].translation;
            assert_close(&position.to_array(), &expected, &format!("{what}, joint {joint}"));
        }
    }
}

/// All outputs of a crowd at some seconds of the clock. Their numbers are finite, and the rotations have unit length.
#[track_caller]
fn poses(engine: &mut dyn Evaluator, crowd: &Crowd, seconds: f64) -> Vec<Pose> {
    let poses = engine.evaluate(crowd, Ticks::from_seconds(seconds), Outputs::ALL).unwrap().instances;
    for (instance, pose) in poses.iter().enumerate() {
        let unit = pose.local.iter().all(|local| (local.rotation.length() - 1.0).abs() < 1e-6);
        let finite = pose.model.iter().all(|matrix| matrix.is_finite());
        assert!(unit && finite, "{}: instance {instance}: {pose:?}", engine.engine());
    }
    poses
}

/// A goal of weight 1 with a fixed target.
fn goal(chain: ChainId, target: [f64; 3]) -> Goal {
    Goal::new(chain, GoalTarget::Point(target))
}

fn weighted(goal: Goal, weight: f64) -> Goal {
    Goal { weight: GoalWeight::Fixed(weight), ..goal }
}

/// The rotation about an axis with this sine and cosine.
fn turn(axis: DVec3, sine: f64, cosine: f64) -> DQuat {
    DQuat::from_axis_angle(axis, sine.atan2(cosine))
}
