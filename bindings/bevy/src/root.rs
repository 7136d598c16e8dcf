//! Characters that their clips move.

use std::borrow::Cow;

use bevy::prelude::*;
use posse::parameters::Parameter;
use posse::root_motion::Motion;
use posse::{Crowd, Evaluator, LayerTime, Outputs, Reference, Step, Ticks};

use crate::character::Posse;
use crate::clock::CrowdClock;
use crate::rig::CrowdRig;
use crate::slots::Slot;

/// A character that its clips move: in each frame, its `Transform` makes the movement that its layers have in the root
/// joint.
///
/// Which joint that is, clips say ([`posse::root_motion::RootMotion`]): [`CrowdRig::edit`](crate::CrowdRig::edit) sets
/// it in clips from a file. Without this component, such a clip plays on the spot. The CPU computes the movement, for
/// these characters alone.
///
/// A frame in which layers change still moves the character by the layers of before. A layer whose time is a parameter
/// moves it by the change of the parameter, which therefore counts on beyond 1, also while the clock stands, as long as
/// the layers stay.
///
/// # Examples
/// ```
/// use bevy::prelude::*;
/// use bevy_posse::CrowdRig;
/// use bevy_posse::posse::Error;
/// use bevy_posse::posse::root_motion::RootMotion;
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

/// Moves the characters by the step of the frame, with the layers that they had before it.
pub(crate) fn move_by_roots(
    mut characters: Query<(Entity, &Slot, &Posse, &mut Transform), With<MovedByRoot>>,
    clock: Res<CrowdClock>,
    rigs: Res<Assets<CrowdRig>>,
) {
    let step = clock.step();
    for (entity, slot, posse, mut transform) in &mut characters {
        if !rigs.contains(slot.rig) {
            continue;
        }
        // Clips that play together have root joints of one parent.
        let Some(root) = slot.alone.all_layers(0).find_map(|layer| slot.library.clip(layer.clip).root_motion) else {
            continue;
        };
        let outputs = Outputs { root_motion: true, ..Outputs::NONE };
        let Some((crowd, step)) = during(slot, posse, step) else { continue };
        let poses = Reference::new(&slot.library).evaluate_step(&crowd, step, outputs);
        let motion = match poses {
            Ok(poses) => poses.instances[0].root_motion.unwrap_or_default(),
            Err(error) => {
                error!("root motion of character {entity}: {error}");
                continue;
            }
        };
        if motion != Motion::IDENTITY {
            let moved = motion.in_space(&root.space(slot.library.skeleton(slot.alone.skeleton(0))));
            let translation = Vec3::from(moved.translation.as_vec3().to_array());
            let rotation = Quat::from_array(moved.rotation.as_quat().to_array());
            let ahead = transform.rotation * (transform.scale * translation);
            transform.translation += ahead;
            transform.rotation = (transform.rotation * rotation).normalize();
        }
    }
}

/// The character during a step, with parameters that go from the values of the frame before to the present ones; `None`
/// if nothing can move it.
///
/// If its layers change as well, the parameters stay as they were: the new ones belong to the new layers.
fn during<'a>(slot: &'a Slot, posse: &Posse, step: Step) -> Option<(Cow<'a, Crowd>, Step)> {
    let alone = slot.alone.at(step.to);
    let before = alone.parameter_values(0, step.from).0;
    let mut now = [0.0; Crowd::MAX_PARAMETERS];
    for (value, &given) in now.iter_mut().zip(&posse.parameters) {
        *value = given;
    }
    let is_paused = step.from == step.to;
    // Parameters of a change that was refused do not move the character in each frame.
    let is_seen = slot.given == posse.parameters || posse.parameters.len() > Crowd::MAX_PARAMETERS;
    if is_seen || before == now || !slot.plays(posse) {
        return (!is_paused).then_some((alone, step));
    }
    // While the clock stands, so do layers that play; the parameters move within its last tick.
    let (mut moving, step) = match is_paused {
        false => (alone.into_owned(), step),
        true => (standing(&alone)?, Step { from: Ticks(step.to.0 - 1), to: step.to }),
    };
    let [from, to] = [step.from, step.to].map(Ticks::to_seconds);
    let between = |(before, now)| Parameter::new(vec![[from, f64::from(before)], [to, f64::from(now)]]);
    let parameters: Result<Vec<_>, _> = before.into_iter().zip(now).map(between).collect();
    // Parameters that cannot be used are left out, with a message, when the change is taken over.
    if let Ok(parameters) = parameters {
        let _ = moving.set_parameters(0, parameters);
    }
    Some((Cow::Owned(moving), step))
}

/// The character with layers that stand, as far as the clock would move them. Where they stand does not matter for
/// motion.
fn standing(alone: &Crowd) -> Option<Crowd> {
    let mut layers = alone.layers(0).to_vec();
    for layer in &mut layers {
        if let LayerTime::Playing(playback) = &mut layer.time {
            playback.rate = 0.0;
        }
    }
    let mut standing = Crowd::new();
    standing.push(alone.skeleton(0), &layers).ok()?;
    Some(standing)
}
