//! Poses of any engine, as the numbers of the CPU engine.

use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{Crowd, Layer, Outputs, Pose, SkeletonId, Ticks};
use crate::pack::{OutputNumbers, rows};

/// Evaluates poses with an engine, and rounds their numbers to `f32`. `poses` has the layers of each pose.
pub fn evaluate(
    engine: &mut dyn Evaluator,
    skeleton: SkeletonId,
    outputs: Outputs,
    poses: impl Iterator<Item = Vec<Layer>>,
    to: &mut OutputNumbers,
) -> Result<(), Error> {
    let mut crowd = Crowd::new();
    for layers in poses {
        crowd.push(skeleton, &layers)?;
    }
    let poses = engine.evaluate(&crowd, Ticks(0), outputs)?;
    for numbers in [&mut to.local, &mut to.model, &mut to.skin, &mut to.values] {
        numbers.clear();
    }
    poses.instances.iter().for_each(|pose| append(pose, to));
    Ok(())
}

/// Appends the numbers of a pose.
fn append(pose: &Pose, to: &mut OutputNumbers) {
    for local in &pose.local {
        to.local.extend(local.translation.as_vec3().extend(0.0).to_array());
        to.local.extend(local.rotation.as_quat().to_array());
        to.local.extend(local.scale.as_vec3().extend(0.0).to_array());
    }
    to.model.extend(pose.model.iter().flat_map(rows).flatten());
    to.skin.extend(pose.skins.iter().flatten().flat_map(rows).flatten());
    to.values.extend(pose.weights.iter().chain(&pose.properties).map(|&value| value as f32));
}
