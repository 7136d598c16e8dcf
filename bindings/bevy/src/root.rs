//! Characters that their clips move.

use bevy::prelude::*;
use posse::{Evaluator, Motion, Outputs, Reference};

use crate::clock::CrowdClock;
use crate::rig::CrowdRig;
use crate::slots::Slot;

/// A character that its clips move: in each frame, its `Transform` makes the movement that its layers have in the root joint.
///
/// Which joint that is, clips say ([`posse::RootMotion`]): [`CrowdRig::edit`](crate::CrowdRig::edit) sets it in clips from a file. Without
/// this component, such a clip plays on the spot. The CPU computes the movement, for these characters alone.
///
/// # Examples
/// ```
/// use bevy::prelude::*;
/// use bevy_posse::CrowdRig;
/// use bevy_posse::posse::{Error, RootMotion};
///
/// /// Takes the movement over the ground out of the clip `Walk`, whose root is the first joint.
/// fn walk_ahead(rig: &mut CrowdRig) -> Result<(), Error> {
///     let skeleton = rig.skeleton();
///     rig.edit(|library| {
///         let root = RootMotion::on_ground(library.skeleton(skeleton), 0)?;
///         if let Some(walk) = library.find_clip_of(skeleton, "Walk") {
///             library.set_root_motion(walk, Some(root))?;
///         }
///         Ok(())
///     })
/// }
/// # let _ = walk_ahead;
/// ```
#[derive(Component, Debug, Clone, Copy, Default)]
pub struct MovedByRoot;

/// Moves the characters by the step of the frame.
pub(crate) fn move_by_roots(
    mut characters: Query<(Entity, &Slot, &mut Transform), With<MovedByRoot>>,
    clock: Res<CrowdClock>,
    rigs: Res<Assets<CrowdRig>>,
) {
    let step = clock.step();
    if step.from == step.to {
        return;
    }
    for (entity, slot, mut transform) in &mut characters {
        let Some(rig) = rigs.get(slot.rig) else { continue };
        // Clips that play together have root joints of one parent.
        let Some(root) = slot.layers().iter().find_map(|layer| rig.library.clip(layer.clip).root_motion) else {
            continue;
        };
        let outputs = Outputs { root_motion: true, ..Outputs::NONE };
        let poses = Reference::new(&rig.library).evaluate_step(&slot.alone.at(step.to), step, outputs);
        let motion = match poses {
            Ok(poses) => poses.instances[0].root_motion.unwrap_or_default(),
            Err(error) => {
                error!("root motion of character {entity}: {error}");
                continue;
            }
        };
        if motion != Motion::IDENTITY {
            let moved = motion.in_space(&root.space(rig.library.skeleton(rig.skeleton)));
            let ahead = transform.rotation * (transform.scale * moved.translation.as_vec3());
            transform.translation += ahead;
            transform.rotation = (transform.rotation * moved.rotation.as_quat()).normalize();
        }
    }
}
