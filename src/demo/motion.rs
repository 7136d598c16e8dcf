//! Motions of the human: the rotation of each joint as a function of the phase of a cycle.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3, EulerRot};

/// The kind and side of a joint, from which motions derive its rotation.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The joint's name without its side and number.
    pub name: &'a str,
    /// 1 on the left, -1 on the right, 0 in the middle.
    pub side: f64,
}

impl<'a> Part<'a> {
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
pub struct Motion {
    /// Angles about x, y and z in radians, applied z first. Joints turn forwards about -x; arms turn down and up about z.
    pub turn: fn(Part, f64) -> [f64; 3],
    /// The translation of the pelvis from its rest position, in metres.
    pub shift: fn(f64) -> [f64; 3],
}

impl Motion {
    /// The rotation of a joint.
    pub fn rotation(&self, joint: &str, phase: f64) -> DQuat {
        let [x, y, z] = (self.turn)(Part::new(joint), phase);
        DQuat::from_euler(EulerRot::XYZ, x, y, z)
    }

    /// The translation of the pelvis from its rest position, in metres.
    pub fn shift(&self, phase: f64) -> DVec3 {
        DVec3::from((self.shift)(phase))
    }
}

/// Stands and breathes.
pub const IDLE: Motion = Motion {
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
pub const WALK: Motion = Motion {
    turn: |part, phase| gait(part, phase, &WALK_GAIT),
    shift: |phase| [0.02 * wave(phase), 0.02 * wave(2.0 * phase + 0.25) - 0.03, 0.0],
};

/// Runs on the spot.
pub const RUN: Motion = Motion {
    turn: |part, phase| {
        let [x, y, z] = gait(part, phase, &RUN_GAIT);
        if part.name == "spine" { [x + 0.06, y, z] } else { [x, y, z] }
    },
    shift: |phase| [0.01 * wave(phase), 0.05 * wave(2.0 * phase + 0.25), 0.0],
};

/// Waves with the right hand.
pub const WAVE: Motion = Motion {
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
pub const JUMP: Motion = Motion {
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
fn relaxed(part: Part) -> [f64; 3] {
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
fn gait(part: Part, phase: f64, gait: &Gait) -> [f64; 3] {
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
