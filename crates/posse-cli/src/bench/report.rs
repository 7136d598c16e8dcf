//! The results of `posse bench`, and their JSON.

use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use clap::ValueEnum;
use posse::SkinFormat;
use posse::compress::Length;
use posse::low_level::Bandwidth;
use posse::measure::{Measurement, Statistics};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::case::{Scales, Size, Table, TableStep};
use super::earlier::{Baseline, EarlierCase, EarlierRun, FORMAT, Key, MeasuredCase, TimeSpread};
use super::machine_state::{GpuIdentity, GpuState, MAX_WAITED};
use crate::engine::StartUp;
use crate::invocation::quote;
use crate::output::{file_name, note};

/// The results of a run.
#[derive(Default)]
pub struct Report {
    /// The command, its start time and the machine.
    pub environment: RunEnvironment,
    /// The file of the rig, if there is one.
    pub file: Option<String>,
    /// The crowd file, if there is one.
    pub crowd: Option<String>,
    /// The bound of compressed keys; `None` for float keys.
    pub compressed: Option<Length>,
    /// The start-up of each engine, by name.
    pub start_ups: Vec<(&'static str, StartUp)>,
    /// The cases, engine by engine.
    pub cases: Vec<Case>,
    /// The memory bandwidth of the GPU.
    pub bandwidth: Option<Bandwidth>,
    /// The GPU; `None` if none was measured.
    pub gpu: Option<GpuIdentity>,
    /// The cases and engines that were left out, with the reason.
    pub skipped: Vec<String>,
    /// The earlier run of `--baseline`.
    pub baseline: Option<Baseline>,
}

/// The measurement of a crowd with an engine.
pub struct Case {
    /// The size of the crowd. The reference poses only a part of it.
    pub size: Size,
    /// The step of a cost table; `None` for other cases.
    pub step: Option<TableStep>,
    /// The measurement.
    pub measured: Measurement,
    /// The bytes that the engine keeps for its library; `None` for the reference, which reads the model.
    pub library_bytes: Option<u64>,
    /// The comparison with the reference; `None` for the reference itself.
    pub check: Option<CaseCheck>,
    /// The share of the time of the threads in which they waited for a core; `None` if it is not known.
    pub waited: Option<f64>,
    /// The clocks and the power of the GPU; `None` for other engines, and if they are not known.
    pub gpu_state: Option<GpuState>,
}

/// The comparison of a case with the reference.
#[derive(Debug, Clone, Copy)]
pub struct CaseCheck {
    /// True if every error is within its bound.
    pub is_within: bool,
    /// The largest error as a share of its bound; `None` if an earlier run does not say.
    worst_share: Option<f64>,
}

impl Case {
    /// The case of a measurement, of which nothing beside the measurement is known.
    pub fn new(size: Size, step: Option<TableStep>, measured: Measurement) -> Self {
        let check = measured.check.as_ref().map(|check| {
            let shares = check.quantities().into_iter().filter_map(|(_, worst)| worst).map(|worst| worst.share());
            CaseCheck { is_within: check.is_within(), worst_share: Some(shares.fold(0.0, f64::max)) }
        });
        Self { size, step, measured, library_bytes: None, check, waited: None, gpu_state: None }
    }

    /// The case of an earlier run. An error is the name of a field, and the reason.
    fn of_earlier(case: &MeasuredCase) -> Result<Self, (&'static str, String)> {
        let engine = ["gpu", "cpu", "reference"].into_iter().find(|engine| *engine == case.engine);
        let engine = engine.ok_or_else(|| {
            ("engine", format!("there is no engine {:?}; expected gpu, cpu or reference", case.engine))
        })?;
        let format = case.skin_format.as_deref().unwrap_or(SkinFormat::Matrix.name());
        let formats = [SkinFormat::Matrix, SkinFormat::HalfMatrix, SkinFormat::DualQuaternion];
        let skin_format = formats.into_iter().find(|known| known.name() == format).ok_or_else(|| {
            let known = formats.map(SkinFormat::name).join(", ");
            ("skin_format", format!("there is no skin format {format:?}; expected one of {known}"))
        })?;
        let size = Size {
            instances: case.instances as usize,
            skeletons: case.skeletons as u32,
            joints: case.joints as usize,
            keys: case.keys.map(|keys| keys as u32),
            depth: case.depth.map(|depth| depth as u32),
            clips: case.clips.map(|clips| clips as u32),
            layers: case.layers as u32,
            additive: case.additive.unwrap_or(0) as u32,
            skin_format,
            scales: case.scales,
            key_angle: case.key_angle.map(|angle| angle as u32),
        };
        let table = Table::value_variants().iter().find(|table| Some(table.name()) == case.table.as_deref());
        let measured = Measurement {
            engine,
            adapter: case.adapter.clone(),
            instances: case.instances_posed.unwrap_or(case.instances) as usize,
            joints: case.joints_posed as usize,
            wall: case.wall_ms.statistics(),
            device: case.gpu_ms.as_ref().map(TimeSpread::statistics),
            back_to_back: case.gpu_back_to_back_ms.as_ref().map(TimeSpread::statistics),
            passes: case.passes(),
            kernels: case.kernels.clone().unwrap_or_default(),
            bytes: case.bytes_written.unwrap_or(0),
            check: None,
        };
        let check =
            case.within_contract.map(|is_within| CaseCheck { is_within, worst_share: case.worst_share_of_contract });
        let step = table.map(|table| table.step_of(&size));
        let (library_bytes, waited, gpu_state) = (case.library_bytes, case.waited, case.gpu_state.clone());
        Ok(Self { size, step, measured, library_bytes, check, waited, gpu_state })
    }

    /// Returns true if the poses are within the contract, or come from the reference.
    pub fn is_within(&self) -> bool {
        self.check.is_none_or(|check| check.is_within)
    }

    /// Returns true if other programs kept the machine busy, so that the times are not the times of the engine.
    pub fn was_busy(&self) -> bool {
        self.waited.is_some_and(|waited| waited > MAX_WAITED)
    }

    /// Bytes of poses written per second; `None` for the reference.
    pub fn bytes_per_second(&self) -> Option<f64> {
        (self.measured.bytes > 0).then(|| self.measured.bytes_per_second())
    }

    /// The share of the write bandwidth of the GPU; `None` for other engines.
    pub fn bandwidth_share(&self, bandwidth: Option<Bandwidth>) -> Option<f64> {
        (self.measured.engine == "gpu").then_some(self.bytes_per_second()? / bandwidth?.write)
    }

    /// The share of the bandwidth of writes in the shape of the pose pass, 48 bytes per invocation; `None` for other
    /// engines and other skin formats.
    pub fn strided_share(&self, bandwidth: Option<Bandwidth>) -> Option<f64> {
        let is_strided = self.measured.engine == "gpu" && self.size.skin_format == SkinFormat::Matrix;
        Some(self.bytes_per_second().filter(|_| is_strided)? / bandwidth?.write_strided?)
    }
}

impl Report {
    /// The report of an earlier run, without its start-ups. An error is the JSON path of a value, and the reason.
    pub fn of_earlier(run: &EarlierRun) -> Result<Self, (String, String)> {
        let read = |(index, case)| {
            Case::of_earlier(case).map_err(|(field, reason)| (format!("cases[{index}].{field}"), reason))
        };
        let bandwidth = run.write_bandwidth_bytes_per_second.zip(run.copy_bandwidth_bytes_per_second);
        Ok(Self {
            crowd: run.crowd.clone(),
            compressed: run.compressed.as_ref().and_then(|length| length.parse().ok()),
            cases: run.cases.iter().enumerate().map(read).collect::<Result<_, _>>()?,
            bandwidth: bandwidth.map(|(write, copy)| Bandwidth {
                write,
                write_strided: run.strided_write_bandwidth_bytes_per_second,
                read: run.read_bandwidth_bytes_per_second,
                copy,
            }),
            gpu: run.gpu.clone(),
            ..Self::default()
        })
    }

    /// Adds a message about a case or an engine that is left out, and prints it to stderr.
    pub fn skip(&mut self, message: String) {
        note(&format!("note: {message}"));
        self.skipped.push(message);
    }

    /// Returns true if every case is within the contract.
    pub fn is_within(&self) -> bool {
        self.cases.iter().all(Case::is_within)
    }

    /// The cost per joint of a case of a cost table, relative to the cost at the base of the table: of the medians, and
    /// of the 5th percentiles, which other work on the machine disturbs least.
    pub fn relative_cost(&self, case: &Case) -> Option<[f64; 2]> {
        self.cost_relative_to(case.step?.table.base(), case)
    }

    /// The cost per joint of a case of table `additive`, relative to the cost of one layer.
    pub fn cost_of_one_layer(&self, case: &Case) -> Option<[f64; 2]> {
        let step = case.step.filter(|step| step.table == Table::Additive)?;
        self.cost_relative_to(TableStep { value: 1, additive: 0, ..step }, case)
    }

    fn cost_relative_to(&self, base: TableStep, case: &Case) -> Option<[f64; 2]> {
        let is_base = |other: &&Case| {
            let is_same_kind = other.size.skin_format == case.size.skin_format && other.size.scales == case.size.scales;
            other.step == Some(base) && ran_on(&other.measured) == ran_on(&case.measured) && is_same_kind
        };
        let base = self.cases.iter().find(is_base)?;
        let costs = |measured: &Measurement| {
            let Statistics { median, p5, .. } = measured.device.unwrap_or(measured.wall);
            [median, p5].map(|seconds| seconds / measured.joints as f64)
        };
        let ([median, p5], [base_median, base_p5]) = (costs(&case.measured), costs(&base.measured));
        Some([median / base_median, p5 / base_p5])
    }

    /// The throughput of a case, divided by the throughput of the earlier run.
    pub fn baseline_ratio(&self, case: &Case) -> Option<f64> {
        let earlier = self.earlier(case)?;
        Some(case.measured.joints_per_second() / earlier.joints_per_second)
    }

    /// Finds the same case of the earlier run.
    fn earlier(&self, case: &Case) -> Option<&EarlierCase> {
        self.baseline.as_ref()?.find(&self.key(case), &case.measured.adapter)
    }

    /// Remarks on the comparison with the earlier run: cases that only one of the two runs has, and different adapters.
    pub fn remarks(&self) -> Vec<String> {
        let Some(baseline) = &self.baseline else { return Vec::new() };
        let mut remarks = Vec::new();
        let mut add = |remark: String| {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        };
        for case in &self.cases {
            let Measurement { engine, adapter, .. } = &case.measured;
            match self.earlier(case) {
                None => add(format!("not in {}: {}", baseline.name, self.key(case))),
                Some(earlier) if earlier.adapter != *adapter => {
                    add(format!("{engine} is {adapter}, in {} it was {}", baseline.name, earlier.adapter));
                }
                Some(_) => {}
            }
        }
        for key in baseline.cases.iter().map(|case| baseline.key(case)) {
            if self.cases.iter().all(|case| self.key(case) != key) {
                add(format!("only in {}: {key}", baseline.name));
            }
        }
        remarks
    }

    /// What to say if the machine was busy during cases.
    pub fn busy_remark(&self) -> Option<String> {
        let busy = self.cases.iter().filter(|case| case.was_busy());
        let most = busy.clone().filter_map(|case| case.waited).fold(0.0, f64::max);
        let (count, all) = (busy.count(), self.cases.len());
        (count > 0).then(|| {
            format!(
                "the machine was busy in {count} of {all} cases: threads waited for a core for up to {:.0} % of their time. \
                 The times of these cases are not those of the engine; measure again when the machine is idle",
                100.0 * most
            )
        })
    }

    /// Returns true if the machine was busy during a case, or during another one of the same cost table and engine.
    pub fn is_doubtful(&self, case: &Case) -> bool {
        let table = |case: &Case| case.step.map(|step| step.table);
        let is_beside =
            |other: &&Case| table(other) == table(case) && ran_on(&other.measured) == ran_on(&case.measured);
        self.cases.iter().filter(is_beside).any(Case::was_busy)
    }

    fn key<'a>(&'a self, case: &'a Case) -> Key<'a> {
        let (file, crowd) = (self.file.as_deref(), self.crowd.as_deref());
        Key { engine: case.measured.engine, file, crowd, size: case.size }
    }

    /// Writes the results as JSON.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &self.json())?;
        writeln!(out)
    }

    /// The results as JSON.
    pub fn json(&self) -> Value {
        let start_ups = self.start_ups.iter().map(|(engine, start_up)| (engine.to_string(), start_up_json(start_up)));
        json!({
            "format": FORMAT,
            "posse": env!("CARGO_PKG_VERSION"),
            "environment": self.environment,
            "file": self.file,
            "compressed": self.compressed.map(|length| length.to_string()),
            "crowd": self.crowd,
            "start_up_ms": start_ups.collect::<Map<_, _>>(),
            "write_bandwidth_bytes_per_second": self.bandwidth.map(|bandwidth| bandwidth.write),
            "strided_write_bandwidth_bytes_per_second": self.bandwidth.and_then(|bandwidth| bandwidth.write_strided),
            "read_bandwidth_bytes_per_second": self.bandwidth.and_then(|bandwidth| bandwidth.read),
            "copy_bandwidth_bytes_per_second": self.bandwidth.map(|bandwidth| bandwidth.copy),
            "gpu": self.gpu,
            "skipped": self.skipped,
            "baseline": self.baseline.as_ref().map(|baseline| json!({
                "file": baseline.name,
                "remarks": self.remarks(),
            })),
            "cases": self.cases.iter().map(|case| self.case_json(case)).collect::<Vec<_>>(),
        })
    }

    fn case_json(&self, case: &Case) -> Value {
        let Case { size, step, measured, library_bytes, check, waited, gpu_state } = case;
        let passes = measured.passes.iter().map(|(pass, seconds)| ((*pass).to_owned(), milliseconds(seconds)));
        let mut value = json!({
            "engine": measured.engine,
            "adapter": measured.adapter,
            "instances": size.instances,
            "skeletons": size.skeletons,
            "joints": size.joints,
            "clips": size.clips,
            "layers": size.layers,
            "additive": size.additive,
            "keys": size.keys,
            "depth": size.depth,
            "scales": size.scales.map(Scales::name),
            "key_angle": size.key_angle,
            "outputs": ["skin"],
            "skin_format": size.skin_format.name(),
            "instances_posed": measured.instances,
            "joints_posed": measured.joints,
            "joints_per_second": measured.joints_per_second(),
            "wall_ms": milliseconds(&measured.wall),
            "gpu_ms": measured.device.as_ref().map(milliseconds),
            "gpu_back_to_back_ms": measured.back_to_back.as_ref().map(milliseconds),
            "gpu_pass_ms": (!measured.passes.is_empty()).then(|| passes.collect::<Map<_, _>>()),
            "gpu_state": gpu_state,
            "kernels": (!measured.kernels.is_empty()).then_some(&measured.kernels),
            "library_bytes": library_bytes,
            "bytes_written": (measured.bytes > 0).then_some(measured.bytes),
            "bytes_per_second": case.bytes_per_second(),
            "bandwidth_share": case.bandwidth_share(self.bandwidth),
            "strided_bandwidth_share": case.strided_share(self.bandwidth),
            "within_contract": check.map(|check| check.is_within),
            "worst_share_of_contract": check.and_then(|check| check.worst_share),
            "waited": waited,
        });
        if let Some(step) = step {
            value["table"] = json!(step.table.name());
            let [median, p5] = self.relative_cost(case).map_or([None; 2], |costs| costs.map(Some));
            value["relative_cost"] = json!(median);
            value["relative_cost_of_p5"] = json!(p5);
            value["relative_cost_at_most"] = json!(step.at_most());
            if let Some([median, p5]) = self.cost_of_one_layer(case) {
                value["relative_cost_to_one_layer"] = json!(median);
                value["relative_cost_to_one_layer_of_p5"] = json!(p5);
            }
        }
        if self.baseline.is_some() {
            value["baseline_ratio"] = json!(self.baseline_ratio(case));
        }
        value
    }
}

/// The identity of the engine of a measurement: the CPU engine may run with several numbers of threads.
fn ran_on(measured: &Measurement) -> (&str, &str) {
    (measured.engine, &measured.adapter)
}

fn milliseconds(statistics: &Statistics) -> Value {
    json!({
        "median": 1e3 * statistics.median,
        "p5": 1e3 * statistics.p5,
        "p95": 1e3 * statistics.p95,
        "p99": statistics.p99.map(|p99| 1e3 * p99),
        "frames": statistics.frames,
    })
}

fn start_up_json(start_up: &StartUp) -> Value {
    let steps = start_up.steps.iter().map(|(name, seconds)| (name.replace(' ', "_"), json!(1e3 * seconds)));
    steps.chain([("total".to_owned(), json!(1e3 * start_up.seconds()))]).collect::<Map<_, _>>().into()
}

/// The environment of a benchmark.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunEnvironment {
    /// The command, quoted for a shell.
    pub command: String,
    /// The start time in UTC: `2026-11-21T16:00:00Z`.
    pub began: String,
    /// The machine.
    pub machine: Machine,
}

/// A machine. Values that the system does not report are `None`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Machine {
    /// The name of the processor.
    processor: Option<String>,
    /// The number of physical cores.
    cores: Option<usize>,
    /// The number of threads that can run at once, within the limits of the process.
    threads: Option<usize>,
    /// Bytes of memory.
    memory: Option<u64>,
    /// The operating system and its version.
    system: Option<String>,
    /// The instruction set: `x86_64`.
    architecture: String,
}

impl RunEnvironment {
    /// The environment of this process.
    pub fn current() -> Self {
        let began = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let arguments = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        Self { command: command(arguments), began, machine: Machine::current() }
    }
}

impl Machine {
    /// This machine.
    fn current() -> Self {
        let wanted = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(wanted);
        let processor = system.cpus().first().map(|cpu| cpu.brand().trim().to_owned());
        Self {
            processor: processor.filter(|name| !name.is_empty()),
            cores: System::physical_core_count(),
            threads: std::thread::available_parallelism().ok().map(Into::into),
            memory: Some(system.total_memory()).filter(|&bytes| bytes > 0),
            system: System::long_os_version(),
            architecture: env::consts::ARCH.into(),
        }
    }
}

/// The command that runs the program again in a shell. The program has no folder, and arguments are quoted if
/// necessary.
fn command(mut arguments: impl Iterator<Item = String>) -> String {
    let program = arguments.next().map(|program| file_name(Path::new(&program)));
    program.into_iter().chain(arguments).map(|argument| quote(&argument)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_quoted_for_a_shell() {
        let arguments = ["/opt/bin/posse", "bench", "--report", "it's here.html", "--joints=1,2", ""];
        let expected = r"posse bench --report 'it'\''s here.html' --joints=1,2 ''";
        assert_eq!(command(arguments.iter().map(|argument| argument.to_string())), expected);
    }

    #[test]
    fn times_are_in_utc() {
        let began = RunEnvironment::current().began;
        assert_eq!((began.len(), began.ends_with('Z')), ("2026-11-21T16:00:00Z".len(), true), "{began}");
    }
}
