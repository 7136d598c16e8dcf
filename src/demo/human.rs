//! The human: joints, property and skin.

use glam::{DAffine3, DVec3};

use crate::model::{Joint, Property, Skeleton, SkeletonId, Skin, Transform};

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

/// The joints of the left side: name, parent and offset from the parent in metres. The right side has mirrored x. A parent may be
/// a joint in the middle.
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
    joints.push(Joint { name: Some(name), parent, rest, matrix: None, weights });
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
