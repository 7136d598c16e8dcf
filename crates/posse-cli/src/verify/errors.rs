//! The worst errors of clips: of an engine beside the reference, and of compressed keys beside the original keys.

use std::io::{self, Write};

use glam::{DAffine3, DVec3};
use posse::contract::Worst;
use posse::low_level::{check_times, rig_size};
use posse::{ClipId, Error, Evaluator, Library, Outputs, Reference, Skeleton, SkeletonId, Ticks};
use serde::Serialize;

use crate::arguments::CompressArgs;
use crate::evaluation::ClipEvaluation;

/// The name of the displacement by compressed keys in reports.
pub const COMPRESSED: &str = "compressed";

/// The evaluation of a clip, or of the rest pose, at no more than `samples` times.
pub fn clip_evaluation(
    library: &Library,
    skeleton: SkeletonId,
    clip: Option<ClipId>,
    samples: usize,
) -> ClipEvaluation {
    let times = clip.map_or_else(|| vec![0.0], |clip| check_times(library.clip(clip), samples));
    ClipEvaluation { skeleton, clip, times, instances: 1, phase: 0.0, playback: None, lock: None }
}

/// The worst error of a quantity, and its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstError {
    /// The error, in radians for rotations, otherwise in units of the file; null if a number is missing or not finite.
    error: f64,
    /// The bound of the error.
    allowed: f64,
    /// The error divided by its bound. More than 1 is beyond the contract.
    pub share: f64,
    /// The name or index of the joint, the name of the property, or the index of the weight.
    place: String,
    /// The name or index of the clip; `rest` for the rest pose.
    clip: String,
    /// Seconds of the clip.
    time: f64,
}

impl WorstError {
    /// The worst error of a report on a block of poses. `first` is the number of the first pose of the block.
    pub fn new(library: &Library, evaluation: &ClipEvaluation, quantity: &str, worst: Worst, first: usize) -> Self {
        let clip = evaluation.clip.map(|id| library.clip(id).name.clone().unwrap_or_else(|| id.index().to_string()));
        Self {
            error: worst.error,
            allowed: worst.allowed,
            share: worst.share(),
            place: place(library.skeleton(evaluation.skeleton), quantity, worst),
            clip: clip.unwrap_or_else(|| "rest".into()),
            time: evaluation.times[(first + worst.instance) / evaluation.instances],
        }
    }

    /// Returns `true` if the error is within its bound.
    pub fn is_within(&self) -> bool {
        self.share <= 1.0
    }

    /// Writes a line without a line end.
    pub fn write(&self, quantity: &str, out: &mut impl Write) -> io::Result<()> {
        let Self { error, allowed, share, place, clip, time } = self;
        let (unit, percent) = (if quantity == "rotation" { "rad" } else { "   " }, 100.0 * share);
        write!(
            out,
            "  {quantity:<11} {error:9.2e} {unit} {percent:4.0} % of {allowed:.1e}  {place}, clip {clip}, {time} s"
        )
    }
}

/// The place of an error: the name or index of the joint, the name of the property, or the index of the weight.
pub fn place(skeleton: &Skeleton, quantity: &str, worst: Worst) -> String {
    match quantity {
        "weight" => format!("weight {}", worst.index),
        "motion" | "motion turn" => "root motion".into(),
        "property" => {
            let property = skeleton.properties().get(worst.index);
            property.map_or_else(|| format!("joint {}", worst.index), |property| property.name.clone())
        }
        _ => skeleton.joint_name(worst.index),
    }
}

/// The largest displacement of a joint, or of a point of its shell, between poses of compressed and of original keys.
/// The reference evaluates both. A clip with root motion is compared twice, without and with the movement of its root
/// joint.
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
    Ok(WorstError::new(compressed, evaluation, COMPRESSED, result, 0))
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

/// The largest displacement of a joint and of the points of its shell on the three axes; infinity if it is not a
/// number.
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
