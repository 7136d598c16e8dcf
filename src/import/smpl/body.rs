//! The bodies SMPL, SMPL-H and SMPL-X: names, tree and rest positions of their joints.
//!
//! The names and the tree come from `smplx/joint_names.py` of <https://github.com/vchoutas/smplx>, in the order of
//! the numbers of a pose. The bodies rest with the arms to the sides, the feet down -Y and the face to +Z, and no joint
//! is rotated. They share the first 22 joints.
//!
//! Where the joints rest, a model file says. Such files have licences of their own, so that the positions here are
//! an adult of 1.7 m by other figures: the lengths of limbs as shares of the stature (Drillis and Contini,
//! "Body Segment Parameters", 1966; in Winter, "Biomechanics and Motor Control of Human Movement", figure 4.1), the
//! others by eye.

use glam::{DAffine3, DVec3};

use crate::model::{Joint, Skeleton, Transform};

/// A body, by the number of its joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyModel {
    /// The 22 joints that all bodies share, without hands.
    Body,
    /// SMPL: 24 joints, with one joint per hand.
    Smpl,
    /// SMPL-H: 52 joints, with fingers.
    SmplH,
    /// SMPL-X: 55 joints, with jaw, eyes and fingers.
    SmplX,
}

/// The joints that all bodies share: name, parent, and offset from the parent in metres. The offset of the pelvis is
/// that from the origin of the models, which lies in the chest.
const SHARED: [(&str, usize, [f64; 3]); SHARED_COUNT] = [
    ("pelvis", 0, [0.0, -0.22, 0.03]),
    ("left_hip", 0, [0.09, -0.07, 0.0]),
    ("right_hip", 0, [-0.09, -0.07, 0.0]),
    ("spine1", 0, [0.0, 0.11, -0.02]),
    ("left_knee", 1, [0.0, -0.415, 0.0]),
    ("right_knee", 2, [0.0, -0.415, 0.0]),
    ("spine2", 3, [0.0, 0.13, 0.01]),
    ("left_ankle", 4, [0.0, -0.415, -0.02]),
    ("right_ankle", 5, [0.0, -0.415, -0.02]),
    ("spine3", 6, [0.0, 0.06, 0.01]),
    ("left_foot", 7, [0.02, -0.055, 0.12]),
    ("right_foot", 8, [-0.02, -0.055, 0.12]),
    ("neck", 9, [0.0, 0.21, -0.03]),
    ("left_collar", 9, [0.07, 0.12, -0.02]),
    ("right_collar", 9, [-0.07, 0.12, -0.02]),
    ("head", 12, [0.0, 0.09, 0.04]),
    ("left_shoulder", 13, [0.12, 0.03, -0.01]),
    ("right_shoulder", 14, [-0.12, 0.03, -0.01]),
    ("left_elbow", 16, [0.29, 0.0, -0.01]),
    ("right_elbow", 17, [-0.29, 0.0, -0.01]),
    ("left_wrist", 18, [0.25, 0.0, 0.0]),
    ("right_wrist", 19, [-0.25, 0.0, 0.0]),
];

/// The number of joints that all bodies share.
pub(crate) const SHARED_COUNT: usize = 22;

const HEAD: usize = 15;
/// The joints of hands hang from a wrist, the left one first.
const WRISTS: [usize; 2] = [20, 21];

/// The joints of the head of SMPL-X.
const FACE: [(&str, [f64; 3]); 3] =
    [("jaw", [0.0, 0.0, 0.02]), ("left_eye_smplhf", [0.032, 0.07, 0.07]), ("right_eye_smplhf", [-0.032, 0.07, 0.07])];

/// The fingers of the left hand: name, and offset of each of its three joints from the joint before.
const FINGERS: [(&str, [[f64; 3]; 3]); 5] = [
    ("index", [[0.095, 0.0, 0.03], [0.035, 0.0, 0.0], [0.023, 0.0, 0.0]]),
    ("middle", [[0.1, 0.0, 0.005], [0.035, 0.0, 0.0], [0.025, 0.0, 0.0]]),
    ("pinky", [[0.08, 0.0, -0.04], [0.022, 0.0, 0.0], [0.018, 0.0, 0.0]]),
    ("ring", [[0.09, 0.0, -0.02], [0.032, 0.0, 0.0], [0.024, 0.0, 0.0]]),
    ("thumb", [[0.03, -0.01, 0.03], [0.03, 0.0, 0.02], [0.025, 0.0, 0.01]]),
];

/// The joint of a hand of SMPL, from the left wrist.
const HAND: [f64; 3] = [0.085, 0.0, 0.0];

/// A joint of a body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BodyJoint {
    pub name: String,
    /// The parent; `None` for the pelvis.
    pub parent: Option<usize>,
    /// The offset from the parent in an adult.
    offset: DVec3,
}

impl BodyModel {
    /// The number of joints.
    pub fn joint_count(self) -> usize {
        match self {
            Self::Body => SHARED_COUNT,
            Self::Smpl => 24,
            Self::SmplH => 52,
            Self::SmplX => 55,
        }
    }

    /// The name, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Body => "a body without hands",
            Self::Smpl => "SMPL",
            Self::SmplH => "SMPL-H",
            Self::SmplX => "SMPL-X",
        }
    }

    /// The body with this number of joints.
    pub fn of_count(joints: usize) -> Option<Self> {
        [Self::Body, Self::Smpl, Self::SmplH, Self::SmplX].into_iter().find(|model| model.joint_count() == joints)
    }

    /// The joints, in the order of the numbers of a pose.
    pub(crate) fn joints(self) -> Vec<BodyJoint> {
        let joint = |name: String, parent: usize, offset: [f64; 3]| {
            let parent = Some(parent).filter(|_| name != "pelvis");
            BodyJoint { name, parent, offset: offset.into() }
        };
        let mut joints: Vec<BodyJoint> =
            SHARED.iter().map(|&(name, parent, offset)| joint(name.to_owned(), parent, offset)).collect();
        let sides = [("left", 1.0, WRISTS[0]), ("right", -1.0, WRISTS[1])];
        if self == Self::SmplX {
            joints.extend(FACE.iter().map(|&(name, offset)| joint(name.to_owned(), HEAD, offset)));
        }
        for (side, sign, wrist) in sides {
            let mirrored = |[x, y, z]: [f64; 3]| [sign * x, y, z];
            match self {
                Self::Body => {}
                Self::Smpl => joints.push(joint(format!("{side}_hand"), wrist, mirrored(HAND))),
                Self::SmplH | Self::SmplX => {
                    for (finger, offsets) in FINGERS {
                        for (index, offset) in offsets.into_iter().enumerate() {
                            let parent = if index == 0 { wrist } else { joints.len() - 1 };
                            joints.push(joint(format!("{side}_{finger}{}", index + 1), parent, mirrored(offset)));
                        }
                    }
                }
            }
        }
        joints
    }
}

/// The rest position of each joint of a body in model space, in metres.
pub(crate) fn adult(model: BodyModel) -> Vec<DVec3> {
    let mut positions: Vec<DVec3> = Vec::with_capacity(model.joint_count());
    for joint in model.joints() {
        let parent = joint.parent.and_then(|parent| positions.get(parent)).copied().unwrap_or_default();
        positions.push(parent + joint.offset);
    }
    positions
}

/// The joints of a body with these positions in model space, none of them rotated.
pub(crate) fn joints_at(model: BodyModel, positions: &[DVec3]) -> Vec<Joint> {
    let position = |index: usize| positions.get(index).copied().unwrap_or_default();
    let joints = model.joints().into_iter().enumerate();
    joints
        .map(|(index, BodyJoint { name, parent, .. })| {
            let translation = position(index) - parent.map_or(DVec3::ZERO, position);
            let rest = Transform { translation, ..Transform::IDENTITY };
            Joint { name: Some(name), parent, rest, ..Joint::default() }
        })
        .collect()
}

/// The name of a joint of a body as [`BodyModel`] spells it, from another spelling: `m_avg_L_Hip`, `L_Hip` and
/// `LeftHip` are `left_hip`. The names of the SMPL bodies of physics simulators are known, too.
///
/// Sources: the FBX files of <https://smpl.is.tue.mpg.de>; `smpl_sim` of <https://github.com/ZhengyiLuo/SMPLSim>.
pub(crate) fn plain_name(name: &str) -> String {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let name = ["m_avg_", "f_avg_"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let name = name.to_ascii_lowercase();
    let side =
        |words: [&str; 2]| words.iter().find_map(|word| name.strip_prefix(word)).map(|rest| rest.trim_matches('_'));
    let (side, part) = match (side(["left", "l_"]), side(["right", "r_"])) {
        (Some(part), _) => ("left_", part),
        (_, Some(part)) => ("right_", part),
        _ => ("", name.as_str()),
    };
    let part = match part {
        "torso" => "spine1",
        "spine" => "spine2",
        "chest" => "spine3",
        "thorax" => "collar",
        "toe" => "foot",
        "eye" => "eye_smplhf",
        part => part,
    };
    format!("{side}{part}")
}

/// The joint of a skeleton for each joint of a body, by name; `None` for a joint that it lacks.
pub(crate) fn find_joints(model: BodyModel, skeleton: &Skeleton) -> Vec<Option<usize>> {
    let names: Vec<String> =
        skeleton.joints().iter().map(|joint| joint.name.as_deref().map(plain_name).unwrap_or_default()).collect();
    model.joints().iter().map(|joint| names.iter().position(|name| *name == joint.name)).collect()
}

/// The transforms of all joints of a skeleton at rest, in model space.
fn rest_matrices(skeleton: &Skeleton) -> Vec<DAffine3> {
    let mut matrices: Vec<DAffine3> = Vec::with_capacity(skeleton.joints().len());
    for joint in skeleton.joints() {
        let local = joint.matrix.unwrap_or_else(|| joint.rest.to_affine());
        let parent = joint.parent.and_then(|parent| matrices.get(parent)).copied();
        matrices.push(parent.map_or(local, |parent| parent * local));
    }
    matrices
}

/// A body in a skeleton at rest.
pub(crate) struct BodyAtRest {
    /// The joint of the skeleton for each joint of the body.
    pub joints: Vec<Option<usize>>,
    /// The transforms of all joints of the skeleton, in model space.
    pub matrices: Vec<DAffine3>,
    /// The positions of the joints of the body in model space, in the unit of the skeleton. A hand, finger, jaw or eye
    /// that the skeleton lacks is where it is in an adult with legs of the same length.
    pub positions: Vec<DVec3>,
    /// The length in the skeleton of a metre in that adult. 1 for a skeleton whose legs have no length.
    pub metre: f64,
    /// The rest position of the pelvis relative to the origin of the models, in the unit of the skeleton: of the
    /// skeleton, or of an adult if the origin of the skeleton is another one, as between the feet.
    pub origin: DVec3,
}

/// The largest distance of the pelvis of a model from its origin at rest, in metres of an adult. Beyond, the origin of
/// a skeleton is another one.
const MAX_PELVIS: f64 = 0.5;

impl BodyAtRest {
    /// Finds the joints of a body in a skeleton by their names.
    ///
    /// # Errors
    /// The names of the joints that all bodies share, and that the skeleton lacks.
    pub fn new(model: BodyModel, skeleton: &Skeleton) -> Result<Self, String> {
        let (body, matrices) = (model.joints(), rest_matrices(skeleton));
        let joints = find_joints(model, skeleton);
        let shared = body.iter().zip(&joints).take(SHARED_COUNT);
        let missing: Vec<&str> =
            shared.filter(|(_, joint)| joint.is_none()).map(|(joint, _)| joint.name.as_str()).collect();
        if !missing.is_empty() {
            return Err(missing.join(", "));
        }
        let place =
            |joint: &Option<usize>| joint.and_then(|joint| matrices.get(joint)).map(|matrix| matrix.translation);
        let at = |index: usize| joints.get(index).and_then(place).unwrap_or_default();
        let leg = at(LEFT_ANKLE).distance(at(LEFT_HIP));
        let metre = if leg > 0.0 { leg / ADULT_LEG } else { 1.0 };
        let mut positions: Vec<DVec3> = Vec::with_capacity(body.len());
        for (joint, BodyJoint { parent, offset, .. }) in joints.iter().zip(&body) {
            let parent = parent.and_then(|parent| positions.get(parent)).copied().unwrap_or_default();
            positions.push(place(joint).unwrap_or(parent + metre * *offset));
        }
        let pelvis = at(0);
        let of_adult = || metre * body.first().map(|joint| joint.offset).unwrap_or_default();
        let origin = if pelvis.length() <= MAX_PELVIS * metre { pelvis } else { of_adult() };
        Ok(Self { joints, matrices, positions, metre, origin })
    }

    /// The positions of the joints of the body relative to the origin of the models, in the unit of the skeleton.
    pub fn positions_in_model(&self) -> Vec<DVec3> {
        let shift = self.origin - self.positions.first().copied().unwrap_or_default();
        self.positions.iter().map(|position| *position + shift).collect()
    }

    /// Returns `true` if the body stands with its feet down -Y, its left arm along +X and its right arm along -X, as
    /// the models do. One without lengths does, too.
    pub fn stands(&self) -> bool {
        let between = |from: usize, to: usize| match [self.positions.get(from), self.positions.get(to)] {
            [Some(from), Some(to)] => *to - *from,
            _ => DVec3::ZERO,
        };
        let (leg, arms) = (between(LEFT_HIP, LEFT_ANKLE), between(WRISTS[1], WRISTS[0]));
        leg.y <= -0.7 * leg.length() && arms.x >= 0.7 * arms.length()
    }
}

/// The rest pose of the models, for messages.
pub(crate) const REST_POSE: &str =
    "feet down -Y, the left arm along +X and the right arm along -X, with the face to +Z";

const LEFT_HIP: usize = 1;
const LEFT_ANKLE: usize = 7;
/// The length of the leg of an adult in metres, from hip to ankle.
const ADULT_LEG: f64 = 0.83;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_the_joints_of_the_models() {
        for (model, count) in
            [(BodyModel::Body, 22), (BodyModel::Smpl, 24), (BodyModel::SmplH, 52), (BodyModel::SmplX, 55)]
        {
            let joints = model.joints();
            assert_eq!((joints.len(), model.joint_count(), BodyModel::of_count(count)), (count, count, Some(model)));
            assert!(joints.iter().enumerate().all(|(index, joint)| joint.parent.is_none_or(|parent| parent < index)));
            assert_eq!(joints.iter().filter(|joint| joint.parent.is_none()).count(), 1);
        }
        assert_eq!(BodyModel::of_count(23), None);
        // `kintree_table` of the models, from the wrists on.
        let parents = |model: BodyModel| -> Vec<usize> {
            model.joints().iter().skip(22).map(|joint| joint.parent.unwrap()).collect()
        };
        assert_eq!(parents(BodyModel::Smpl), [20, 21]);
        let left = [20, 22, 23, 20, 25, 26, 20, 28, 29, 20, 31, 32, 20, 34, 35];
        let right = [21, 37, 38, 21, 40, 41, 21, 43, 44, 21, 46, 47, 21, 49, 50];
        assert_eq!(parents(BodyModel::SmplH), [left, right].concat());
        let shifted = |parents: [usize; 15]| parents.map(|parent| if parent > 21 { parent + 3 } else { parent });
        assert_eq!(parents(BodyModel::SmplX), [&[15; 3][..], &shifted(left), &shifted(right)].concat());
        assert_eq!(BodyModel::SmplX.joints()[25].name, "left_index1");
        assert_eq!(BodyModel::SmplX.joints()[54].name, "right_thumb3");
        assert_eq!(BodyModel::SmplH.joints()[30].name, "left_pinky3");
    }

    #[test]
    fn an_adult_is_as_tall_as_an_adult() {
        for model in [BodyModel::Smpl, BodyModel::SmplX] {
            let at = adult(model);
            // From the ball of the foot to the head's joint, which lies at the height of the ears' lobes or below.
            let height = at[15].y - at[10].y;
            assert!((1.4..1.6).contains(&height), "{height}");
            // The sides are mirror images.
            for (one, other) in [(1, 2), (10, 11), (20, 21)] {
                assert_eq!(at[one] * DVec3::new(-1.0, 1.0, 1.0), at[other]);
            }
        }
    }

    #[test]
    fn spellings_of_tools_are_one_name() {
        for (name, expected) in [
            ("m_avg_Pelvis", "pelvis"),
            ("f_avg_L_Hip", "left_hip"),
            ("R_Knee", "right_knee"),
            ("left_eye_smplhf", "left_eye_smplhf"),
            ("left_eye", "left_eye_smplhf"),
            ("LeftWrist", "left_wrist"),
            ("rig:left_index1", "left_index1"),
            ("Torso", "spine1"),
            ("Spine", "spine2"),
            ("Spine3", "spine3"),
            ("L_Thorax", "left_collar"),
            ("L_Toe", "left_foot"),
        ] {
            assert_eq!(plain_name(name), expected, "{name}");
        }
    }
}
