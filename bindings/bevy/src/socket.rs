//! Entities that follow a joint of a character.

use bevy::prelude::*;
use posse::{Evaluator, Outputs, Reference};

use crate::clock::CrowdClock;
use crate::rig::CrowdRig;
use crate::slots::Slot;

/// An entity that follows a joint of a character. Make it a child of the character: its `Transform` is then the
/// transform of the joint.
///
/// The CPU poses these characters once more, by the `f64` reference. Others cost nothing.
#[derive(Component, Debug, Clone)]
#[require(Transform)]
pub struct JointSocket {
    /// The character.
    pub character: Entity,
    /// The name of the joint, or another text that selects it, see [`posse::Selector`].
    pub joint: String,
}

/// Moves the entities to their joints.
pub(crate) fn follow_joints(
    mut sockets: Query<(Entity, &JointSocket, &mut Transform)>,
    characters: Query<&Slot>,
    clock: Res<CrowdClock>,
    rigs: Res<Assets<CrowdRig>>,
) {
    for (entity, socket, mut transform) in &mut sockets {
        let Ok(slot) = characters.get(socket.character) else { continue };
        if !rigs.contains(slot.rig) {
            continue;
        }
        let joint = match slot.library.skeleton(slot.alone.skeleton(0)).select_joint(&socket.joint) {
            Ok(joint) => joint,
            Err(error) => {
                warn_once!("socket {entity}: {error}");
                continue;
            }
        };
        let outputs = Outputs { model: true, ..Outputs::NONE };
        let poses = Reference::new(&slot.library).evaluate(&slot.alone.at(clock.now()), clock.now(), outputs);
        match poses {
            Ok(poses) => {
                let (scale, rotation, translation) = poses.instances[0].model[joint].to_scale_rotation_translation();
                *transform = Transform {
                    translation: translation.as_vec3().to_array().into(),
                    rotation: Quat::from_array(rotation.as_quat().to_array()),
                    scale: scale.as_vec3().to_array().into(),
                };
            }
            Err(error) => error!("socket {entity}: {error}"),
        }
    }
}
