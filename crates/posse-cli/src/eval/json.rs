//! Poses of a clip as JSON, written block by block.

use std::io::Write;

use posse::{Error, Evaluator, Outputs};
use serde::Serialize;

use crate::eval::numbers::Precision;
use crate::eval::shape::{Instance, Shape};
use crate::evaluation::{ClipEvaluation, Evaluation};
use crate::output::Output;
use crate::progress::Progress;
use crate::source::Source;

/// The fields before the samples.
#[derive(Serialize)]
struct Head<'a> {
    asset: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rig: Option<&'a str>,
    animation: Option<usize>,
    name: Option<&'a str>,
    duration: f64,
    engine: &'static str,
    adapter: String,
}

/// A sample with a single instance.
#[derive(Serialize)]
struct Sample<'a> {
    time: f64,
    #[serde(flatten)]
    instance: Instance<'a>,
}

/// Evaluates the poses, and writes one JSON object.
pub fn write(
    source: &Source,
    evaluation: &ClipEvaluation,
    outputs: Outputs,
    engine: &mut dyn Evaluator,
    mut output: Output,
) -> Result<(), Error> {
    let clip = evaluation.clip.map(|clip| source.library.clip(clip));
    let head = Head {
        asset: &source.file,
        rig: source.rig.as_deref(),
        animation: evaluation.clip.and_then(|clip| source.clips.iter().position(|&other| other == clip)),
        name: clip.and_then(|clip| clip.name.as_deref()),
        duration: clip.map_or(0.0, |clip| clip.duration()),
        engine: engine.engine(),
        adapter: engine.adapter(),
    };
    let (skeleton, precision) = (source.library.skeleton(evaluation.skeleton), Precision::of_engine(head.engine));
    let shape = Shape::new(skeleton, &source.joints, clip.into_iter(), outputs, precision);
    let shape = match &source.named {
        Some(named) => shape.with_targets(named),
        None => shape,
    };
    let head = serde_json::to_string(&head).map_err(|error| Error::Usage(error.to_string()))?;
    output.write(|out| write!(out, "{},\n\"samples\": [", head.trim_end_matches('}')))?;
    let progress = Progress::new(evaluation.poses(), "poses");
    let (single, last) = (evaluation.instances == 1, evaluation.instances - 1);
    evaluation.each_pose(&source.library, engine, outputs, &progress, &mut |number, pose| {
        let (sample, instance) = (number / evaluation.instances, number % evaluation.instances);
        let (time, separator) = (evaluation.times[sample], if sample == 0 { "\n" } else { ",\n" });
        let value = shape.instance(evaluation.phase_of(number), pose)?;
        if single {
            output.write(|out| out.write_all(separator.as_bytes()))?;
            return output.write(|out| serde_json::to_writer(out, &Sample { time, instance: value }));
        }
        match instance {
            0 => output.write(|out| writeln!(out, "{separator}{{\"time\":{},\"instances\":[", Seconds(time)))?,
            _ => output.write(|out| out.write_all(b",\n"))?,
        }
        output.write(|out| serde_json::to_writer(out, &value))?;
        output.write(|out| out.write_all(if instance == last { b"]}" } else { b"" }))
    })?;
    output.write(|out| out.write_all(b"\n]}\n"))?;
    output.finish()
}

/// Seconds in the number format of JSON.
pub struct Seconds(pub f64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // `Debug` writes exponents for very large and very small numbers, in the format of JSON. `Display` writes all digits.
        write!(out, "{:?}", self.0)
    }
}
