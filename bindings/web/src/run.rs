//! The results of a measurement, and the JSON that `posse bench --from` reads.

use js_sys::Date;
use posse::low_level::Bandwidth;
use serde::Serialize;
use serde_json::{Value, json};

use crate::js::member;

/// The version of the JSON. It changes when the meaning of a field changes.
const FORMAT: u64 = 1;

/// A run.
pub struct MeasuredRun {
    adapter: String,
    rig: MeasuredRig,
    began: String,
    pub bandwidth: Option<Bandwidth>,
    pub cases: Vec<CrowdCase>,
    /// The sizes that were left out, with the reason.
    pub skipped: Vec<String>,
}

/// The rig that is measured.
pub struct MeasuredRig {
    pub file: Option<String>,
    /// The number of joints of the largest skeleton.
    pub joints: usize,
    pub keys: Option<usize>,
    pub depth: Option<usize>,
    /// The table of `posse bench` that has this rig.
    pub table: Option<&'static str>,
}

/// The measurement of a crowd.
pub struct CrowdCase {
    pub instances: usize,
    /// The joints of all instances together.
    pub joints: usize,
    pub wall: FrameTimes,
    pub gpu: Option<FrameTimes>,
    /// Bytes of poses per frame.
    pub bytes: u64,
    pub worst: f64,
}

/// The distribution of a time over many frames, in milliseconds.
#[derive(Serialize, Clone, Copy, Default)]
pub struct FrameTimes {
    pub median: f64,
    p5: f64,
    p95: f64,
    frames: usize,
}

/// A row for JavaScript: `MeasureRow` of `posse.d.ts`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MeasuredRow {
    instances: usize,
    joints: usize,
    milliseconds: f64,
    gpu_clock: bool,
    joints_per_second: f64,
    bytes_per_second: f64,
    bandwidth_share: Option<f64>,
    worst: f64,
}

impl FrameTimes {
    /// The distribution of times; `None` if there are none.
    pub fn new(milliseconds: &mut [f64]) -> Option<Self> {
        milliseconds.sort_by(f64::total_cmp);
        let last = milliseconds.len().checked_sub(1)?;
        let percentile = |part: f64| milliseconds[(part * last as f64).round() as usize];
        Some(Self { median: percentile(0.5), p5: percentile(0.05), p95: percentile(0.95), frames: last + 1 })
    }
}

impl MeasuredRun {
    /// A run that begins now.
    pub fn new(adapter: String, rig: MeasuredRig) -> Self {
        let began = String::from(Date::new_0().to_iso_string());
        Self { adapter, rig, began, bandwidth: None, cases: Vec::new(), skipped: Vec::new() }
    }

    /// The row of a case.
    pub fn row(&self, case: &CrowdCase) -> MeasuredRow {
        let milliseconds = case.gpu.unwrap_or(case.wall).median;
        let per_second = |amount: f64| 1e3 * amount / milliseconds.max(f64::MIN_POSITIVE);
        let bytes_per_second = per_second(case.bytes as f64);
        MeasuredRow {
            instances: case.instances,
            joints: case.joints,
            milliseconds,
            gpu_clock: case.gpu.is_some(),
            joints_per_second: per_second(case.joints as f64),
            bytes_per_second,
            bandwidth_share: self.bandwidth.map(|bandwidth| bytes_per_second / bandwidth.write),
            worst: case.worst,
        }
    }

    /// The JSON of the run.
    pub fn json(&self) -> Value {
        let navigator = |name: &str| member(&member(&js_sys::global(), "navigator"), name);
        json!({
            "format": FORMAT,
            "posse": env!("CARGO_PKG_VERSION"),
            "environment": {
                "command": "Measure my GPU, in a browser",
                "began": self.began,
                "machine": {
                    "threads": navigator("hardwareConcurrency").as_f64().map(|threads| threads as usize),
                    "system": navigator("userAgent").as_string(),
                    "architecture": "wasm32",
                },
            },
            "file": self.rig.file,
            "compressed": null,
            "crowd": null,
            "start_up_ms": {},
            "write_bandwidth_bytes_per_second": self.bandwidth.map(|bandwidth| bandwidth.write),
            "strided_write_bandwidth_bytes_per_second": self.bandwidth.and_then(|bandwidth| bandwidth.write_strided),
            "read_bandwidth_bytes_per_second": self.bandwidth.and_then(|bandwidth| bandwidth.read),
            "copy_bandwidth_bytes_per_second": self.bandwidth.map(|bandwidth| bandwidth.copy),
            "skipped": self.skipped,
            "baseline": null,
            "cases": self.cases.iter().map(|case| self.case_json(case)).collect::<Vec<_>>(),
        })
    }

    fn case_json(&self, case: &CrowdCase) -> Value {
        let row = self.row(case);
        let mut value = json!({
            "engine": "gpu",
            "adapter": self.adapter,
            "instances": case.instances,
            "skeletons": 1,
            "joints": self.rig.joints,
            "layers": 1,
            "keys": self.rig.keys,
            "depth": self.rig.depth,
            "outputs": ["skin"],
            "skin_format": "matrix",
            "instances_posed": case.instances,
            "joints_posed": case.joints,
            "joints_per_second": row.joints_per_second,
            "wall_ms": case.wall,
            "gpu_ms": case.gpu,
            "bytes_written": case.bytes,
            "bytes_per_second": row.bytes_per_second,
            "bandwidth_share": row.bandwidth_share,
            "within_contract": case.worst <= 1.0,
            "worst_share_of_contract": case.worst,
        });
        if let Some(table) = self.rig.table {
            value["table"] = json!(table);
        }
        value
    }
}
