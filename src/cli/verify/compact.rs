//! Compact keys against those that they are made of.

use glam::{DAffine3, DVec3};
use posse::contract::Worst;
use posse::error::Error;
use posse::evaluator::Evaluator;
use posse::model::library::Library;
use posse::model::outputs::Outputs;
use posse::model::ticks::Ticks;
use posse::pack::compact::bound::rig_size;
use posse::reference::Reference;

use crate::cli::compact::CompactArgs;
use crate::cli::question::Question;
use crate::cli::verify::finding::Finding;

/// What the displacement by compact keys is called in reports.
pub const QUANTITY: &str = "compact";

/// The largest displacement of a joint, or of a point of its shell, by the reference on compact keys against the reference
/// on the original ones.
pub fn find(original: &Library, compact: &Library, question: &Question, args: CompactArgs) -> Result<Finding, Error> {
    let worst = worst(original, compact, question, args)?;
    Ok(Finding::new(compact, question, QUANTITY, worst, 0))
}

fn worst(original: &Library, compact: &Library, question: &Question, args: CompactArgs) -> Result<Worst, Error> {
    let size = rig_size(original.skeleton(question.skeleton));
    let shell = args.shell.of(size);
    let allowed = args.compact.map_or(0.0, |length| length.of(size));
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let mut worst = Worst { error: 0.0, allowed, instance: 0, place: 0 };
    for block in question.blocks(original, outputs) {
        let crowd = question.crowd(block.clone())?;
        let pose = |library| Reference::new(library).evaluate(&crowd, Ticks::default(), outputs);
        let (wanted, found) = (pose(original)?, pose(compact)?);
        for (instance, (wanted, found)) in block.zip(wanted.instances.iter().zip(&found.instances)) {
            for (place, (wanted, found)) in wanted.model.iter().zip(&found.model).enumerate() {
                let error = displacement(wanted, found, shell);
                if error > worst.error {
                    worst = Worst { error, instance, place, ..worst };
                }
            }
        }
    }
    Ok(worst)
}

fn displacement(wanted: &DAffine3, found: &DAffine3, shell: f64) -> f64 {
    let distance = |point: DVec3| wanted.transform_point3(point).distance(found.transform_point3(point));
    let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
        let length = wanted.transform_vector3(axis).length();
        distance(if length > 0.0 { axis * (shell / length) } else { DVec3::ZERO })
    });
    axes.into_iter().fold(distance(DVec3::ZERO), f64::max)
}
