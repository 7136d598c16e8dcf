//! The character: a walk, a pelvis that sinks, and legs that reach. Behind the characters, the crowd has the ground.

use std::sync::Arc;

use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::glam::DAffine3;
use posse::ik::{Chain, ChainKind, Goal, GoalTarget};
use posse::{Clip, Crowd, Error, Joint, Layer, LayerMode, LayerTime, Library, Skeleton, SkeletonId, Skin, WrapMode};

use super::clips;
use super::gaits::{Gait, WALK};
use super::legs::{Leg, find_joint};

/// The index of the parameter that counts cycles of two steps.
const PHASE: usize = 0;
/// The index of the parameter with the metres by which the pelvis sinks.
const SINK: usize = 1;
/// The index of the first parameter of the feet. Each foot has six: the target of the ankle, and a point over the foot.
const FEET: usize = 2;
/// The number of parameters.
pub const PARAMETERS: usize = FEET + 12;

/// The built-in human with its walk and the chains of its legs.
pub struct Rig {
    /// The skeleton of the built-in human.
    pub skeleton: SkeletonId,
    /// The skeleton of the ground: one joint.
    pub ground: SkeletonId,
    /// The walk.
    pub gait: Gait,
    /// The joints of the legs, left and right.
    pub legs: [Leg; 2],
    layers: [Layer; 2],
    goals: Arc<[Goal]>,
}

impl Rig {
    /// Adds clips and chains to the library of the built-in human.
    pub fn add(library: &mut Library) -> Result<Self, Error> {
        let walk = clips::add(library, &WALK)?;
        let skeleton = library.clip(walk).skeleton;
        let joints = library.skeleton(skeleton);
        let legs = [Leg::find(joints, 'L')?, Leg::find(joints, 'R')?];

        // An additive layer: at 1 s of its clip, the pelvis is 1 m lower. A parameter sets the time.
        let pelvis = find_joint(joints, "pelvis")?;
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0])?);
        let rest = joints.joints()[pelvis].rest.translation;
        let down = vec![rest.x, rest.y, rest.z, rest.x, rest.y - 1.0, rest.z];
        let track = Track::new(Target::Translation(pelvis), Curve::new(timeline, Interpolation::Linear, 3, down)?);
        let sink = library.add_clip(Clip::new(Some("sink".into()), skeleton, vec![track]))?;
        let phase = |parameter, wrap| LayerTime::Phase { parameter, wrap };
        let layers = [
            Layer::new(walk, phase(PHASE, WrapMode::Loop)),
            Layer { mode: LayerMode::Additive(Default::default()), ..Layer::new(sink, phase(SINK, WrapMode::Normal)) },
        ];

        let mut goals = Vec::new();
        for (foot, leg) in legs.iter().enumerate() {
            let [thigh, calf, ankle, _] = leg.joints;
            // The foot keeps the rotation that it has in the walk, and then turns with the ground.
            let reach = ChainKind::TwoBone { joints: [thigh, calf, ankle], pole: Some([0.0, 0.0, 1.0]), hold: true };
            let turn = ChainKind::Aim { joint: ankle, forward: [0.0, 1.0, 0.0], limit: std::f64::consts::FRAC_PI_2 };
            for (part, kind) in [reach, turn].into_iter().enumerate() {
                let chain = library.add_chain(Chain { name: None, skeleton, kind })?;
                let first = FEET + 6 * foot + 3 * part;
                goals.push(Goal::new(chain, GoalTarget::Parameters([first, first + 1, first + 2])));
            }
        }
        let ground = library.add_skeleton(Skeleton::new(Some("ground".into()), vec![Joint::default()], Vec::new())?);
        library.add_skin(Skin {
            name: None,
            skeleton: ground,
            joints: vec![0],
            inverse_bind: vec![DAffine3::IDENTITY],
        })?;
        Ok(Self { skeleton, ground, gait: WALK, legs, layers, goals: goals.into() })
    }

    /// So many characters, with feet that reach for their targets or stay as the walk has them, and the ground.
    pub fn crowd(&self, instances: usize, reaches: bool) -> Result<Crowd, Error> {
        let mut crowd = Crowd::new();
        for _ in 0..instances {
            let instance = crowd.push(self.skeleton, &self.layers)?;
            if reaches {
                crowd.set_goals(instance, Arc::clone(&self.goals))?;
            }
        }
        crowd.push(self.ground, &[])?;
        Ok(crowd)
    }
}
