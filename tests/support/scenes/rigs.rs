use glam::{DAffine3, DMat3};
use posse::rig::Property;
use posse::{Joint, Skeleton, SkeletonId, Skin, Transform};

use super::{Numbers, Shape};

pub(super) fn skeleton(numbers: &mut Numbers, joints: usize, shape: Shape) -> Skeleton {
    // The names have another order in each skeleton; some joints share a name or have none.
    let turn = numbers.below(joints);
    let joint = |index: usize| {
        let parent = match shape {
            _ if index == 0 => None,
            Shape::Chain => Some(index - 1),
            Shape::Star => Some(0),
            Shape::Tree => Some(numbers.below(index)),
            Shape::Forest => numbers.below(index + 1).checked_sub(1),
        };
        let rest = Transform {
            translation: numbers.vector(-1.0, 1.0),
            rotation: numbers.rotation() * numbers.within(0.5, 2.0),
            scale: numbers.vector(0.9, 1.1) * if numbers.below(20) == 0 { -1.0 } else { 1.0 },
        };
        // A matrix with shear, which translation, rotation and scale cannot express.
        let matrix = (numbers.below(8) == 0).then(|| DAffine3 {
            matrix3: DMat3::from_quat(numbers.rotation()) + DMat3::from_diagonal(numbers.vector(-0.1, 0.1)),
            translation: numbers.vector(-1.0, 1.0),
        });
        let targets = if numbers.below(4) == 0 { 1 + numbers.below(9) } else { 0 };
        let weights = (0..targets).map(|_| numbers.within(-1.0, 1.0)).collect();
        let name = match numbers.below(16) {
            0 => None,
            1 => Some("joint 0".into()),
            _ => Some(format!("joint {}", (index + turn) % joints)),
        };
        Joint { name, parent, rest, matrix, weights, ..Joint::default() }
    };
    let joints = (0..joints).map(joint).collect();
    let property = |name: &str, width: usize, rotation: bool| Property {
        name: name.into(),
        rest: if rotation { vec![0.0, 0.0, 0.0, 1.0] } else { vec![0.5; width] },
        rotation,
    };
    let properties = vec![
        property("/light", 1, false),
        property("/turn", 4, true),
        property("/colours", 6, false),
        property("/bent", 5, false),
        property("/as is", 4, false),
    ];
    Skeleton::new(Some("random".into()), joints, properties).unwrap()
}

pub(super) fn skin(numbers: &mut Numbers, skeleton: SkeletonId, joints: usize) -> Skin {
    let joints: Vec<usize> = (0..1 + numbers.below(joints)).map(|_| numbers.below(joints)).collect();
    let bind = |_: &usize| {
        DAffine3::from_scale_rotation_translation(
            numbers.vector(0.8, 1.2),
            numbers.rotation(),
            numbers.vector(-1.0, 1.0),
        )
    };
    let inverse_bind = joints.iter().map(bind).collect();
    Skin { name: None, skeleton, joints, inverse_bind }
}
