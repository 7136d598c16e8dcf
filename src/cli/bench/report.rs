//! What `posse bench` prints.

use std::io::{self, Write};

use posse::measure::{Measurement, Statistics};
use serde_json::{Value, json};

/// All that was measured.
#[derive(Default)]
pub struct Report {
    /// The crowd file, where it is one that is timed.
    pub crowd: Option<String>,
    /// The cases, engine by engine.
    pub cases: Vec<Case>,
    /// Bytes a second that the GPU writes to its memory at best.
    pub write_bandwidth: Option<f64>,
    /// Why an engine was left out.
    pub skipped: Vec<String>,
}

/// A crowd on an engine.
pub struct Case {
    joints: usize,
    layers: u32,
    keys: Option<u32>,
    measured: Measurement,
}

impl Case {
    /// A measured crowd of rigs of so many joints and layers, or at most so many; of generated ones, with so many keys a
    /// track.
    pub fn new(joints: usize, layers: u32, keys: Option<u32>, measured: Measurement) -> Self {
        Self { joints, layers, keys, measured }
    }

    fn is_within(&self) -> bool {
        self.measured.check.as_ref().is_none_or(|check| check.is_within())
    }

    fn bandwidth_share(&self, bandwidth: Option<f64>) -> Option<f64> {
        (self.measured.engine == "gpu").then_some(self.measured.bytes_per_second() / bandwidth?)
    }

    fn json(&self, bandwidth: Option<f64>) -> Value {
        let measured = &self.measured;
        let worst = measured.check.as_ref().map(|check| {
            let shares = check.quantities().into_iter().filter_map(|(_, worst)| worst).map(|worst| worst.share());
            shares.fold(0.0, f64::max)
        });
        json!({
            "engine": measured.engine,
            "adapter": measured.adapter,
            "instances": measured.instances,
            "joints": self.joints,
            "layers": self.layers,
            "keys": self.keys,
            "outputs": ["skin"],
            "joints_per_second": measured.joints_per_second(),
            "wall_ms": milliseconds(&measured.wall),
            "gpu_ms": measured.device.as_ref().map(milliseconds),
            "bytes_written": measured.bytes,
            "bandwidth_share": self.bandwidth_share(bandwidth),
            "within_contract": measured.check.as_ref().map(|check| check.is_within()),
            "worst_share_of_contract": worst,
        })
    }
}

fn milliseconds(statistics: &Statistics) -> Value {
    json!({
        "median": 1e3 * statistics.median,
        "p5": 1e3 * statistics.p5,
        "p95": 1e3 * statistics.p95,
        "frames": statistics.frames,
    })
}

impl Report {
    /// Whether every case is as right as it must be.
    pub fn is_within(&self) -> bool {
        self.cases.iter().all(Case::is_within)
    }

    /// For machines.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let cases: Vec<Value> = self.cases.iter().map(|case| case.json(self.write_bandwidth)).collect();
        let report = json!({
            "posse": env!("CARGO_PKG_VERSION"),
            "crowd": self.crowd,
            "write_bandwidth_bytes_per_second": self.write_bandwidth,
            "skipped": self.skipped,
            "cases": cases,
        });
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)
    }

    /// For people.
    pub fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let mut adapters: Vec<(&str, &str)> = Vec::new();
        for case in &self.cases {
            let adapter = (case.measured.engine, case.measured.adapter.as_str());
            if !adapters.contains(&adapter) {
                adapters.push(adapter);
            }
        }
        for (engine, adapter) in adapters {
            writeln!(out, "{engine:<10} {adapter}")?;
        }
        if let Some(bandwidth) = self.write_bandwidth {
            writeln!(out, "{:<10} writes {:.1} GB/s at best", "gpu", bandwidth / 1e9)?;
        }
        writeln!(
            out,
            "\n{:<10} {:>9} {:>7} {:>7} {:>11} {:>10} {:>10} {:>10} {:>7}  check",
            "engine", "instances", "joints", "layers", "Mjoints/s", "ms", "p5", "p95", "of peak"
        )?;
        for case in &self.cases {
            let time = case.measured.device.unwrap_or(case.measured.wall);
            let share = case.bandwidth_share(self.write_bandwidth);
            let share = share.map_or("-".into(), |share| format!("{:.0} %", 100.0 * share));
            let check = match &case.measured.check {
                None => "is the check",
                Some(check) if check.is_within() => "ok",
                Some(_) => "BEYOND THE CONTRACT",
            };
            writeln!(
                out,
                "{:<10} {:>9} {:>7} {:>7} {:>11.2} {:>10.3} {:>10.3} {:>10.3} {:>7}  {check}",
                case.measured.engine,
                case.measured.instances,
                case.joints,
                case.layers,
                case.measured.joints_per_second() / 1e6,
                1e3 * time.median,
                1e3 * time.p5,
                1e3 * time.p95,
                share
            )?;
        }
        if let Some(crowd) = &self.crowd {
            writeln!(out, "\n{crowd}: joints and layers are the most that an instance has")?;
        }
        writeln!(out, "\nskin matrices, 48 bytes a joint; the GPU's own clock where it has one, without reading back")
    }
}
