//! The JSON of a benchmark, read for a page.

use std::collections::BTreeMap;

use posse::SkinFormat;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::SkinFormatChoice;
use crate::bench::run_environment::RunEnvironment;

/// A run of `posse bench`.
#[derive(Debug, Deserialize)]
pub struct Run {
    /// The version of posse.
    pub posse: String,
    /// The command, its start time and the machine; `None` for runs of older versions. Earlier, the field had another name.
    #[serde(alias = "circumstances")]
    pub environment: Option<RunEnvironment>,
    /// The file of the rig, if there is one.
    pub file: Option<String>,
    /// The crowd file, if there is one.
    pub crowd: Option<String>,
    /// The start-up of each engine, by name: the milliseconds of each step.
    pub start_up_ms: BTreeMap<String, Map<String, Value>>,
    /// The write bandwidth of the GPU memory.
    pub write_bandwidth_bytes_per_second: Option<f64>,
    /// The copy bandwidth of the GPU memory: bytes read plus bytes written.
    pub copy_bandwidth_bytes_per_second: Option<f64>,
    /// The cases and engines that were left out, with the reason.
    pub skipped: Vec<String>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// The measurement of a crowd with an engine.
#[derive(Debug, Deserialize)]
pub struct Case {
    pub engine: String,
    /// The adapter or the threads of the engine.
    pub adapter: String,
    /// The cost table; `None` for other cases.
    pub table: Option<String>,
    pub instances: u64,
    pub skeletons: u64,
    /// The number of joints of the largest skeleton.
    pub joints: u64,
    pub keys: Option<u64>,
    pub depth: Option<u64>,
    /// The clips of each skeleton; `None` for files, and for runs of older versions.
    pub clips: Option<u64>,
    pub layers: u64,
    /// The layers that are additive; 0 for runs of older versions.
    #[serde(default)]
    pub additive: u64,
    /// The format of skin matrices; matrices for runs of versions without skin formats.
    #[serde(default)]
    pub skin_format: SkinFormatChoice,
    /// The number of instances that were posed: the reference poses only a part. `None` for the earliest runs.
    pub instances_posed: Option<u64>,
    /// The number of joints of all posed instances.
    pub joints_posed: u64,
    pub wall_ms: Times,
    pub gpu_ms: Option<Times>,
    /// The bytes that the engine keeps for its library; `None` for the reference, and for runs of older versions.
    pub library_bytes: Option<u64>,
    /// Bytes per frame; `None` for the reference.
    pub bytes_written: Option<u64>,
    pub bytes_per_second: Option<f64>,
    /// The share of the write bandwidth of the GPU.
    pub bandwidth_share: Option<f64>,
    pub within_contract: Option<bool>,
    pub worst_share_of_contract: Option<f64>,
}

/// The distribution of a time over many frames, in milliseconds.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Times {
    pub median: f64,
    pub p5: f64,
    pub p95: f64,
    pub frames: u64,
}

impl Case {
    /// The times of the GPU's own clock if it has one, otherwise of the host's clock.
    pub fn times(&self) -> Times {
        self.gpu_ms.unwrap_or(self.wall_ms)
    }

    /// The label of the engine and its skin format: `gpu`, `cpu, 4 threads`, `gpu, half`.
    pub fn engine_label(&self) -> String {
        let threads = self.adapter.split(',').next().filter(|_| self.engine == "cpu");
        let format = SkinFormat::from(self.skin_format);
        let format = Some(format.name()).filter(|_| format != SkinFormat::Matrix);
        [Some(self.engine.as_str()), threads, format].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Joints per second, for a time per frame in milliseconds.
    pub fn joints_per_second(&self, milliseconds: f64) -> f64 {
        1e3 * self.joints_posed as f64 / milliseconds
    }

    /// Nanoseconds per joint, for a time per frame in milliseconds.
    pub fn nanoseconds_per_joint(&self, milliseconds: f64) -> f64 {
        1e6 * milliseconds / self.joints_posed as f64
    }
}

/// An engine of a run, with a skin format.
#[derive(Debug, PartialEq)]
pub struct MeasuredEngine<'a> {
    /// The label of the engine and its skin format.
    pub label: String,
    /// The adapter or the threads of the engine.
    pub adapter: &'a str,
}

impl MeasuredEngine<'_> {
    /// Returns true if this engine measured the case.
    pub fn measured(&self, case: &Case) -> bool {
        case.engine_label() == self.label && case.adapter == self.adapter
    }
}

impl Run {
    /// The engines, in the order of their first cases.
    pub fn engines(&self) -> Vec<MeasuredEngine<'_>> {
        let mut engines = Vec::new();
        for case in &self.cases {
            let engine = MeasuredEngine { label: case.engine_label(), adapter: &case.adapter };
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        engines
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_environment_of_an_older_run_is_read_from_its_old_name() {
        let environment = json!({ "command": "posse bench", "began": "", "machine": { "architecture": "x86_64" } });
        for name in ["environment", "circumstances"] {
            let run = json!({ "posse": "0.1.0", "start_up_ms": {}, "skipped": [], "cases": [], name: environment });
            let run: Run = serde_json::from_value(run).unwrap();
            assert_eq!(run.environment.unwrap().command, "posse bench");
        }
    }
}
