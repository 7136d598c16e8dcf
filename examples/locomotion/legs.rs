//! A leg of two bones that reaches for its foot.

use posse::glam::{DMat3, DQuat, DVec3};
use posse::{Error, Skeleton};

use super::feet::Foot;

/// A leg: its joints, and the places of their children at rest.
pub struct Leg {
    /// The joints of thigh, calf, foot and ball.
    pub joints: [usize; 4],
    /// The translations of these joints from their parents.
    pub offsets: [DVec3; 4],
}

/// The pelvis at a moment, in the space of the character.
pub struct Pelvis {
    /// Its position in metres.
    pub position: DVec3,
    /// Its model rotation.
    pub rotation: DQuat,
}

/// The joint of a name.
pub fn find_joint(skeleton: &Skeleton, name: &str) -> Result<usize, Error> {
    skeleton.find_joint(name).ok_or_else(|| Error::Usage(format!("the skeleton has no joint {name:?}")))
}

impl Leg {
    /// The leg of a side, `L` or `R`. The legs of the built-in human hang straight down at rest.
    pub fn find(skeleton: &Skeleton, side: char) -> Result<Self, Error> {
        let mut joints = [0; 4];
        for (joint, name) in joints.iter_mut().zip(["thigh", "calf", "foot", "ball"]) {
            *joint = find_joint(skeleton, &format!("{name}.{side}"))?;
        }
        Ok(Self { joints, offsets: joints.map(|joint| skeleton.joints()[joint].rest.translation) })
    }

    /// The local rotations of thigh, calf, foot and ball that put the foot in its place, the knee forwards.
    pub fn reach(&self, pelvis: &Pelvis, foot: &Foot) -> [DQuat; 4] {
        let [hip, thigh, calf, ball] = self.offsets;
        let hip = pelvis.position + pelvis.rotation * hip;
        let ankle = foot.ball - foot.rotation * ball;
        let [p, q] = [thigh.length(), calf.length()];
        // A leg that cannot reach its foot is almost straight.
        let r = hip.distance(ankle).min(0.9995 * (p + q));
        // The plane of the leg: down to the ankle, forwards half-way between pelvis and toes, and the axis of the knee.
        let down = (ankle - hip).normalize();
        let toes = DQuat::from_rotation_y(foot.yaw) * DVec3::Z;
        let forwards = pelvis.rotation * DVec3::Z + toes;
        let axis = forwards.cross(down).normalize();
        let plane = DQuat::from_mat3(&DMat3::from_cols(axis, -down, axis.cross(-down)));
        // The law of cosines gives the angles at hip and knee.
        let at_hip = ((p * p + r * r - q * q) / (2.0 * p * r)).acos();
        let at_knee = ((p * p + q * q - r * r) / (2.0 * p * q)).acos();
        // At rest the calf is not quite in line with the thigh.
        let at_rest = (-calf.z).atan2(-calf.y);
        let thigh = plane * DQuat::from_rotation_x(-at_hip);
        let knee = DQuat::from_rotation_x(std::f64::consts::PI - at_knee - at_rest);
        let foot_local = (thigh * knee).inverse() * foot.rotation;
        [pelvis.rotation.inverse() * thigh, knee, foot_local, DQuat::from_rotation_x(-foot.bend)]
    }
}
