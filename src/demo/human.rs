//! The human: joints, property and skin, and its clips. A motion gives the rotation of each joint as a function of the
//! phase of a cycle; a clip samples it at keys.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::{DAffine3, DQuat, DVec3, EulerRot};

use crate::error::Error;
use crate::model::{
    Clip, Curve, Interpolation, Joint, Property, Skeleton, SkeletonId, Skin, Target, Timeline, Track, Transform,
};

/// The joints in the middle: name, parent and offset from the parent in metres.
const MIDDLE: [(&str, Option<&str>, [f64; 3]); 8] = [
    ("pelvis", None, [0.0, 0.95, 0.0]),
    ("spine.1", Some("pelvis"), [0.0, 0.10, -0.01]),
    ("spine.2", Some("spine.1"), [0.0, 0.11, 0.0]),
    ("spine.3", Some("spine.2"), [0.0, 0.11, 0.0]),
    ("spine.4", Some("spine.3"), [0.0, 0.11, 0.01]),
    ("neck", Some("spine.4"), [0.0, 0.12, 0.0]),
    ("head", Some("neck"), [0.0, 0.10, 0.02]),
    ("jaw", Some("head"), [0.0, 0.02, 0.03]),
];

/// The joints of the left side: name, parent and offset from the parent in metres. The right side has mirrored x. A
/// parent may be a joint in the middle.
const SIDE: [(&str, &str, [f64; 3]); 28] = [
    ("eye", "head", [0.032, 0.07, 0.08]),
    ("clavicle", "spine.4", [0.03, 0.08, 0.02]),
    ("upper_arm", "clavicle", [0.15, 0.0, -0.02]),
    ("upper_arm_twist", "upper_arm", [0.14, 0.0, 0.0]),
    ("lower_arm", "upper_arm", [0.28, 0.0, 0.0]),
    ("lower_arm_twist", "lower_arm", [0.13, 0.0, 0.0]),
    ("hand", "lower_arm", [0.26, 0.0, 0.0]),
    ("thumb.1", "hand", [0.03, -0.01, 0.03]),
    ("thumb.2", "thumb.1", [0.03, 0.0, 0.02]),
    ("thumb.3", "thumb.2", [0.025, 0.0, 0.01]),
    ("index.1", "hand", [0.09, 0.0, 0.03]),
    ("index.2", "index.1", [0.045, 0.0, 0.0]),
    ("index.3", "index.2", [0.025, 0.0, 0.0]),
    ("middle.1", "hand", [0.09, 0.0, 0.01]),
    ("middle.2", "middle.1", [0.05, 0.0, 0.0]),
    ("middle.3", "middle.2", [0.03, 0.0, 0.0]),
    ("ring.1", "hand", [0.085, 0.0, -0.01]),
    ("ring.2", "ring.1", [0.045, 0.0, 0.0]),
    ("ring.3", "ring.2", [0.028, 0.0, 0.0]),
    ("little.1", "hand", [0.08, 0.0, -0.03]),
    ("little.2", "little.1", [0.035, 0.0, 0.0]),
    ("little.3", "little.2", [0.02, 0.0, 0.0]),
    ("thigh", "pelvis", [0.09, -0.04, 0.0]),
    ("thigh_twist", "thigh", [0.0, -0.21, 0.0]),
    ("calf", "thigh", [0.0, -0.42, 0.0]),
    ("calf_twist", "calf", [0.0, -0.20, 0.0]),
    ("foot", "calf", [0.0, -0.41, -0.01]),
    ("ball", "foot", [0.0, -0.06, 0.13]),
];

/// The joints at rest, standing with arms stretched out to the sides.
pub fn joints() -> Vec<Joint> {
    let mut joints: Vec<Joint> = Vec::with_capacity(64);
    for (name, parent, offset) in MIDDLE {
        add(&mut joints, name.into(), parent.map(String::from), offset);
    }
    for (suffix, sign) in [(".L", 1.0), (".R", -1.0)] {
        for (name, parent, [x, y, z]) in SIDE {
            let middle = MIDDLE.iter().any(|(name, ..)| *name == parent);
            let parent = if middle { parent.into() } else { format!("{parent}{suffix}") };
            add(&mut joints, format!("{name}{suffix}"), Some(parent), [sign * x, y, z]);
        }
    }
    joints
}

fn add(joints: &mut Vec<Joint>, name: String, parent: Option<String>, offset: [f64; 3]) {
    let parent = parent.and_then(|parent| joints.iter().position(|joint| joint.name.as_ref() == Some(&parent)));
    let rest = Transform { translation: DVec3::from(offset), ..Transform::IDENTITY };
    // The weights of smile and blink.
    let weights = if name == "head" { vec![0.0, 0.0] } else { Vec::new() };
    joints.push(Joint { name: Some(name), parent, rest, weights, ..Joint::default() });
}

/// The property of the human: the colour of a light that it wears.
pub fn properties() -> Vec<Property> {
    vec![Property { name: "light".into(), rest: vec![0.1, 0.1, 0.1], rotation: false }]
}

/// A skin of all joints, bound in the rest pose.
pub fn skin(skeleton: &Skeleton, id: SkeletonId) -> Skin {
    let mut model: Vec<DAffine3> = Vec::with_capacity(skeleton.joints().len());
    for joint in skeleton.joints() {
        let local = joint.rest.to_affine();
        model.push(joint.parent.map_or(local, |parent| model[parent] * local));
    }
    let inverse_bind = model.iter().map(DAffine3::inverse).collect();
    Skin { name: Some("body".into()), skeleton: id, joints: (0..model.len()).collect(), inverse_bind }
}

/// The kind and side of a joint, from which motions derive its rotation.
#[derive(Clone, Copy)]
pub struct BodyPart<'a> {
    /// The joint's name without its side and number.
    pub name: &'a str,
    /// 1 on the left, -1 on the right, 0 in the middle.
    pub side: f64,
}

impl<'a> BodyPart<'a> {
    /// Splits the name of a joint: `index.2.L` is an `index` on the left.
    pub fn new(joint: &'a str) -> Self {
        let side = if joint.ends_with(".L") {
            1.0
        } else if joint.ends_with(".R") {
            -1.0
        } else {
            0.0
        };
        Self { name: joint.split('.').next().unwrap_or(joint), side }
    }
}

/// A motion. Phases go from 0 to 1 in a cycle.
#[derive(Clone, Copy)]
pub struct CycleMotion {
    /// Angles about x, y and z in radians, applied z first. Joints turn forwards about -x; arms turn down and up about
    /// z.
    pub turn: fn(BodyPart, f64) -> [f64; 3],
    /// The translation of the pelvis from its rest position, in metres.
    pub shift: fn(f64) -> [f64; 3],
}

impl CycleMotion {
    /// The rotation of a joint.
    pub fn rotation(&self, joint: &str, phase: f64) -> DQuat {
        let [x, y, z] = (self.turn)(BodyPart::new(joint), phase);
        DQuat::from_euler(EulerRot::XYZ, x, y, z)
    }

    /// The translation of the pelvis from its rest position, in metres.
    pub fn shift(&self, phase: f64) -> DVec3 {
        DVec3::from((self.shift)(phase))
    }
}

/// Stands and breathes.
pub const IDLE: CycleMotion = CycleMotion {
    turn: |part, phase| {
        let breath = wave(phase);
        match part.name {
            "spine" => [0.012 * breath, 0.01 * wave(2.0 * phase), 0.0],
            "clavicle" => [0.0, 0.0, 0.03 * part.side * breath],
            "head" => [-0.03 * breath, 0.25 * wave(phase + 0.1), 0.0],
            _ => relaxed(part),
        }
    },
    shift: |phase| [0.01 * wave(phase), 0.003 * wave(2.0 * phase), 0.0],
};

/// Walks on the spot.
pub const WALK: CycleMotion = CycleMotion {
    turn: |part, phase| gait(part, phase, &WALK_GAIT),
    shift: |phase| [0.02 * wave(phase), 0.02 * wave(2.0 * phase + 0.25) - 0.03, 0.0],
};

/// Runs on the spot.
pub const RUN: CycleMotion = CycleMotion {
    turn: |part, phase| {
        let [x, y, z] = gait(part, phase, &RUN_GAIT);
        if part.name == "spine" { [x + 0.06, y, z] } else { [x, y, z] }
    },
    shift: |phase| [0.01 * wave(phase), 0.05 * wave(2.0 * phase + 0.25), 0.0],
};

/// Waves with the right hand.
pub const WAVE: CycleMotion = CycleMotion {
    turn: |part, phase| {
        let raised = 0.5 - 0.5 * (TAU * phase).cos();
        match (part.name, part.side < 0.0) {
            ("upper_arm", true) => [-0.3 * raised, 0.0, 1.3 - 1.2 * raised],
            ("lower_arm", true) => [0.0, 0.2, -0.9 * raised * (1.0 + 0.4 * wave(4.0 * phase))],
            ("hand", true) => [0.0, 0.0, 0.3 * raised * wave(4.0 * phase + 0.1)],
            ("head", _) => [0.0, -0.2 * raised, 0.1 * raised],
            _ => (IDLE.turn)(part, phase),
        }
    },
    shift: |phase| [0.02 * wave(phase), 0.0, 0.0],
};

/// Crouches, jumps and lands.
pub const JUMP: CycleMotion = CycleMotion {
    turn: |part, phase| {
        let crouch = crouch(phase);
        let [x, y, z] = relaxed(part);
        match part.name {
            "thigh" => [-1.1 * crouch, 0.0, 0.0],
            "calf" => [2.0 * crouch, 0.0, 0.0],
            "foot" => [-0.9 * crouch, 0.0, 0.0],
            "spine" => [0.15 * crouch, 0.0, 0.0],
            "head" => [-0.4 * crouch, 0.0, 0.0],
            "upper_arm" => [0.8 * crouch - 0.9 * flight(phase), y, z],
            _ => [x, y, z],
        }
    },
    shift: |phase| [0.0, 0.45 * flight(phase) - 0.3 * crouch(phase), 0.02 * crouch(phase)],
};

/// The bend of the knees before and after the jump, 0 to 1.
pub fn crouch(phase: f64) -> f64 {
    let bump =
        |from: f64, to: f64| if phase > from && phase < to { wave(0.5 * (phase - from) / (to - from)) } else { 0.0 };
    bump(0.0, 0.35) + 0.8 * bump(0.65, 1.0)
}

/// The height of the jump, 0 to 1.
pub fn flight(phase: f64) -> f64 {
    let t = ((phase - 0.35) / 0.3).clamp(0.0, 1.0);
    4.0 * t * (1.0 - t)
}

/// A sine wave of period 1.
pub fn wave(phase: f64) -> f64 {
    (TAU * phase).sin()
}

/// The angles of a relaxed pose: arms down, fingers slightly bent.
fn relaxed(part: BodyPart) -> [f64; 3] {
    match part.name {
        "upper_arm" => [0.0, 0.0, -1.3 * part.side],
        "lower_arm" => [0.0, -0.2 * part.side, 0.0],
        "index" | "middle" | "ring" | "little" => [0.0, 0.0, -0.3 * part.side],
        "thumb" => [0.0, 0.15 * part.side, -0.1 * part.side],
        _ => [0.0; 3],
    }
}

/// The sizes of the movements of a gait, in radians.
struct Gait {
    /// Swing of the thighs.
    stride: f64,
    /// Bend of the knees.
    knee: f64,
    /// Swing of the upper arms.
    swing: f64,
    /// Bend of the elbows.
    elbow: f64,
}

const WALK_GAIT: Gait = Gait { stride: 0.45, knee: 0.9, swing: 0.4, elbow: 0.3 };
const RUN_GAIT: Gait = Gait { stride: 0.8, knee: 1.7, swing: 0.8, elbow: 1.5 };

/// The angles of a part in a gait. The legs and arms of the two sides swing half a cycle apart.
fn gait(part: BodyPart, phase: f64, gait: &Gait) -> [f64; 3] {
    let Gait { stride, knee, swing, elbow } = gait;
    let phase = if part.side < 0.0 { phase + 0.5 } else { phase };
    let side = part.side;
    match part.name {
        "pelvis" => [0.0, 0.08 * wave(phase), 0.03 * wave(phase)],
        "spine" => [0.01, -0.05 * wave(phase), -0.01 * wave(phase)],
        "neck" | "head" => [0.0, 0.06 * wave(phase), 0.0],
        "thigh" => [-stride * wave(phase) - 0.2 * stride, 0.0, 0.0],
        "calf" => [knee * (0.55 + 0.45 * wave(phase + 0.2)), 0.0, 0.0],
        "foot" => [-0.2 * knee + 0.3 * stride * wave(phase + 0.55), 0.0, 0.0],
        "ball" => [-0.25 * (0.5 + 0.5 * wave(phase + 0.6)), 0.0, 0.0],
        "upper_arm" => [swing * wave(phase), 0.0, -1.3 * side],
        "upper_arm_twist" | "lower_arm_twist" => [0.1 * wave(phase), 0.0, 0.0],
        "lower_arm" => [0.0, -side * elbow * (1.0 - 0.2 * wave(phase)), 0.0],
        "clavicle" => [0.0, 0.06 * wave(phase), 0.0],
        _ => relaxed(part),
    }
}

/// The clips of the human.
pub fn clips(skeleton: &Skeleton, id: SkeletonId) -> Result<Vec<Clip>, Error> {
    let joint = |name: &str| skeleton.find_joint(name);
    let head = joint("head").unwrap_or_default();
    let pelvis = joint("pelvis").unwrap_or_default();

    let mut idle = CycleKeys::even(4.0)?.body(skeleton, &IDLE, Interpolation::Linear)?;
    // Eyes jump from one direction to the next.
    let glances = CycleKeys::at(4.0, &[0.0, 0.2, 0.45, 0.8, 1.0])?;
    for eye in ["eye.L", "eye.R"].into_iter().filter_map(joint) {
        let look = |phase: f64| DQuat::from_rotation_y(0.2 * wave(phase)).to_array().to_vec();
        replace(&mut idle, Target::Rotation(eye), glances.curve(Interpolation::Step, look)?);
    }
    let blinks = CycleKeys::at(4.0, &[0.0, 0.30, 0.32, 0.35, 0.80, 0.83, 0.86, 1.0])?;
    let blink =
        |phase: f64| vec![0.1, if (0.31..0.34).contains(&phase) || (0.82..0.84).contains(&phase) { 1.0 } else { 0.0 }];
    idle.push(Track::new(Target::Weights(head), blinks.curve(Interpolation::Linear, blink)?));

    let walk = CycleKeys::even(1.0)?.body(skeleton, &WALK, Interpolation::Linear)?;
    let run = CycleKeys::even(0.7)?.body(skeleton, &RUN, Interpolation::Linear)?;

    let slow = CycleKeys::at(2.0, &(0..=16).map(|key| f64::from(key) / 16.0).collect::<Vec<_>>())?;
    let mut waving = slow.body(skeleton, &WAVE, Interpolation::CubicSpline)?;
    let smile = slow.curve(Interpolation::CubicSpline, |phase| vec![0.5 - 0.5 * wave(phase + 0.25)])?;
    waving.push(Track::component(Target::Weights(head), 0, smile));
    let light = slow.curve(Interpolation::CubicSpline, |phase| vec![0.5 + 0.5 * wave(phase), 0.2, 0.1])?;
    waving.push(Track::new(Target::Property(0), light));

    // Fast parts have dense keys, as after key reduction.
    let phases: Vec<f64> =
        [0, 4, 7, 9, 11, 13, 14, 15, 17, 20, 23, 25, 26, 27, 29, 32, 36, 40].map(|key| f64::from(key) / 40.0).into();
    let leap = CycleKeys::at(1.4, &phases)?;
    let mut jump = leap.body(skeleton, &JUMP, Interpolation::Linear)?;
    let stretch = |phase: f64| {
        let stretch = 1.0 + 0.06 * flight(phase) - 0.08 * crouch(phase);
        DVec3::new(stretch.recip().sqrt(), stretch, stretch.recip().sqrt()).to_array().to_vec()
    };
    jump.push(Track::new(Target::Scale(pelvis), leap.curve(Interpolation::Linear, stretch)?));
    let flash =
        leap.curve(Interpolation::Step, |phase| if flight(phase) > 0.0 { vec![1.0; 3] } else { vec![0.1; 3] })?;
    jump.push(Track::new(Target::Property(0), flash));

    let clips = [("idle", idle), ("walk", walk), ("run", run), ("wave", waving), ("jump", jump)];
    Ok(clips.map(|(name, tracks)| Clip::new(Some(name.into()), id, tracks)).into())
}

fn replace(tracks: &mut Vec<Track>, target: Target, curve: Curve) {
    tracks.retain(|track| track.target != target);
    tracks.push(Track::new(target, curve));
}

/// A timeline and the phases of its keys. The last phase equals the first, so that a clip loops.
struct CycleKeys {
    timeline: Arc<Timeline>,
    phases: Vec<f64>,
    duration: f64,
}

impl CycleKeys {
    /// Even keys, 30 per second.
    fn even(duration: f64) -> Result<Self, Error> {
        let gaps = (30.0 * duration).round();
        Self::at(duration, &(0..=gaps as u32).map(|key| f64::from(key) / gaps).collect::<Vec<_>>())
    }

    /// Keys at these phases, from 0 to 1.
    fn at(duration: f64, phases: &[f64]) -> Result<Self, Error> {
        let timeline = Arc::new(Timeline::new(phases.iter().map(|phase| phase * duration).collect())?);
        Ok(Self { timeline, phases: phases.iter().map(|phase| phase.fract()).collect(), duration })
    }

    /// A curve of a function of the phase. The tangents of cubic splines are central differences.
    fn curve(&self, interpolation: Interpolation, value: impl Fn(f64) -> Vec<f64>) -> Result<Curve, Error> {
        let mut values = Vec::new();
        for &phase in &self.phases {
            if interpolation == Interpolation::CubicSpline {
                let step = 1e-3;
                let (before, after) = (value((phase - step).rem_euclid(1.0)), value((phase + step).fract()));
                let slope =
                    before.iter().zip(&after).map(|(before, after)| (after - before) / (2.0 * step * self.duration));
                let tangent: Vec<f64> = slope.collect();
                values.extend(tangent.iter().copied().chain(value(phase)).chain(tangent.iter().copied()));
            } else {
                values.extend(value(phase));
            }
        }
        let width = value(0.0).len();
        Curve::new(self.timeline.clone(), interpolation, width, values)
    }

    /// Tracks of the rotations of all joints and of the translation of the pelvis.
    fn body(
        &self,
        skeleton: &Skeleton,
        motion: &CycleMotion,
        interpolation: Interpolation,
    ) -> Result<Vec<Track>, Error> {
        let mut tracks = Vec::with_capacity(skeleton.joints().len() + 1);
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let name = joint.name.as_deref().unwrap_or_default();
            let rotation = |phase: f64| motion.rotation(name, phase).to_array().to_vec();
            tracks.push(Track::new(Target::Rotation(index), self.curve(interpolation, rotation)?));
            if joint.parent.is_none() {
                let position = |phase: f64| (joint.rest.translation + motion.shift(phase)).to_array().to_vec();
                tracks.push(Track::new(Target::Translation(index), self.curve(interpolation, position)?));
            }
        }
        Ok(tracks)
    }
}
