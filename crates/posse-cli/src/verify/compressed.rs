//! Comparison of compressed keys with the original keys.

use glam::{DAffine3, DVec3};
use posse::contract::Worst;
use posse::low_level::rig_size;
use posse::{Error, Evaluator, Library, Outputs, Reference, Ticks};

use crate::arguments::CompressArgs;
use crate::evaluation::ClipEvaluation;
use crate::verify::worst_error::WorstError;

/// The name of the displacement by compressed keys in reports.
pub const QUANTITY: &str = "compressed";

/// The largest displacement of a joint, or of a point of its shell, between poses of compressed and of original keys. The
/// reference evaluates both. A clip with root motion is compared twice, without and with the movement of its root joint.
pub fn worst_displacement(
    original: &Library,
    compressed: &Library,
    evaluation: &ClipEvaluation,
    args: CompressArgs,
) -> Result<WorstError, Error> {
    let mut result = worst(original, compressed, evaluation, args)?;
    if let Some(clip) = evaluation.clip.filter(|&clip| original.clip(clip).root_motion.is_some()) {
        let [mut original, mut compressed] = [original, compressed].map(Library::clone);
        original.set_root_motion(clip, None)?;
        compressed.set_root_motion(clip, None)?;
        let with_root = worst(&original, &compressed, evaluation, args)?;
        if with_root.error > result.error {
            result = with_root;
        }
    }
    Ok(WorstError::new(compressed, evaluation, QUANTITY, result, 0))
}

/// The largest displacement of poses without the root motion of the libraries.
fn worst(
    original: &Library,
    compressed: &Library,
    evaluation: &ClipEvaluation,
    args: CompressArgs,
) -> Result<Worst, Error> {
    let size = rig_size(original.skeleton(evaluation.skeleton));
    let shell = args.shell.of(size);
    let allowed = args.bound.map_or(0.0, |length| length.of(size));
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let mut worst = Worst { error: 0.0, allowed, instance: 0, index: 0 };
    for block in evaluation.blocks(original, outputs) {
        let crowd = evaluation.crowd(block.clone())?;
        let pose = |library| Reference::new(library).evaluate(&crowd, Ticks::default(), outputs);
        let (wanted, found) = (pose(original)?, pose(compressed)?);
        for (instance, (wanted, found)) in block.zip(wanted.instances.iter().zip(&found.instances)) {
            for (index, (wanted, found)) in wanted.model.iter().zip(&found.model).enumerate() {
                let error = displacement(wanted, found, shell);
                if error > worst.error {
                    worst = Worst { error, instance, index, ..worst };
                }
            }
        }
    }
    Ok(worst)
}

/// The largest displacement of a joint and of the points of its shell on the three axes; infinity if it is not a number.
fn displacement(wanted: &DAffine3, found: &DAffine3, shell: f64) -> f64 {
    let distance = |point: DVec3| {
        let distance = wanted.transform_point3(point).distance(found.transform_point3(point));
        if distance.is_nan() { f64::INFINITY } else { distance }
    };
    let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
        let length = wanted.transform_vector3(axis).length();
        distance(if length > 0.0 { axis * (shell / length) } else { DVec3::ZERO })
    });
    axes.into_iter().fold(distance(DVec3::ZERO), f64::max)
}
