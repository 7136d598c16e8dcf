//! What a page is made of: a benchmark, as its JSON has it.

use std::collections::BTreeMap;

use posse::SkinFormat;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cli::arguments::SkinFormatChoice;
use crate::cli::bench::run_environment::RunEnvironment;

/// A run of `posse bench`.
#[derive(Debug, Deserialize)]
pub struct Run {
    /// The version that ran.
    pub posse: String,
    /// Where, when and how; runs of older versions do not say.
    pub environment: Option<RunEnvironment>,
    /// The rig's file, where it has one.
    pub file: Option<String>,
    /// The crowd file, where it is one that was timed.
    pub crowd: Option<String>,
    /// The way to the first pose: milliseconds of each step, by engine.
    pub start_up_ms: BTreeMap<String, Map<String, Value>>,
    /// Bytes a second that the GPU writes to its memory at best.
    pub write_bandwidth_bytes_per_second: Option<f64>,
    /// Bytes a second that it reads and writes, together, where it copies at best.
    pub copy_bandwidth_bytes_per_second: Option<f64>,
    /// What was left out, and why.
    pub skipped: Vec<String>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// A crowd on an engine.
#[derive(Debug, Deserialize)]
pub struct Case {
    pub engine: String,
    /// What the engine ran on.
    pub adapter: String,
    /// The cost table that it is a step of.
    pub table: Option<String>,
    pub instances: u64,
    pub skeletons: u64,
    /// Joints of the largest skeleton.
    pub joints: u64,
    pub keys: Option<u64>,
    pub depth: Option<u64>,
    pub layers: u64,
    /// How skin matrices are written; runs before there was a choice do not say.
    #[serde(default)]
    pub skin_format: SkinFormatChoice,
    /// The reference poses a part of the instances; the earliest runs do not say.
    pub instances_posed: Option<u64>,
    /// Of all instances that are posed together.
    pub joints_posed: u64,
    pub wall_ms: Times,
    pub gpu_ms: Option<Times>,
    /// A frame; `None` for the reference, whose poses are not counted.
    pub bytes_written: Option<u64>,
    pub bytes_per_second: Option<f64>,
    /// The share of the write bandwidth that a GPU uses.
    pub bandwidth_share: Option<f64>,
    pub within_contract: Option<bool>,
    pub worst_share_of_contract: Option<f64>,
}

/// The spread of a time over many frames, in milliseconds.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Times {
    pub median: f64,
    pub p5: f64,
    pub p95: f64,
    pub frames: u64,
}

impl Case {
    /// By the GPU's own clock where it has one.
    pub fn times(&self) -> Times {
        self.gpu_ms.unwrap_or(self.wall_ms)
    }

    /// A name for whoever posed, and how: `gpu`, `cpu, 4 threads`, `gpu, half`.
    pub fn engine(&self) -> String {
        let threads = self.adapter.split(',').next().filter(|_| self.engine == "cpu");
        let format = SkinFormat::from(self.skin_format);
        let format = Some(format.name()).filter(|_| format != SkinFormat::Matrix);
        [Some(self.engine.as_str()), threads, format].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Joints a second if a frame takes so many milliseconds.
    pub fn joints_per_second(&self, milliseconds: f64) -> f64 {
        1e3 * self.joints_posed as f64 / milliseconds
    }

    /// Nanoseconds a joint if a frame takes so many milliseconds.
    pub fn nanoseconds_a_joint(&self, milliseconds: f64) -> f64 {
        1e6 * milliseconds / self.joints_posed as f64
    }
}

impl Run {
    /// Who posed, in order: a name and what it ran on.
    pub fn engines(&self) -> Vec<(String, &str)> {
        let mut engines = Vec::new();
        for case in &self.cases {
            let engine = (case.engine(), case.adapter.as_str());
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        engines
    }
}
