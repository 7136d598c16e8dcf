//! The JSON of earlier runs: for `--baseline`, a comparison, and for `--from`, a page.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use posse::Error;
use posse::kernels::Pass;
use posse::low_level::file::parse_json;
use posse::measure::Statistics;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::case::{Scales, Size};
use super::machine_state::{GpuIdentity, GpuState};
use crate::arguments::SkinFormatChoice;
use crate::output::file_name;
use crate::source;

/// The version of the JSON. It changes when the meaning of a field changes.
pub const FORMAT: u64 = 1;

/// Reads the JSON of a run: the whole for a page, and the fields that the page and the tables read.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Import`] if it is not the JSON of this version of `posse bench`.
pub fn read_run(path: &Path) -> Result<(Value, EarlierRun), Error> {
    read(path)
}

/// Reads the JSON of a run, as a whole and its fields in `T`.
fn read<T: DeserializeOwned>(path: &Path) -> Result<(Value, T), Error> {
    let bytes = source::read(path)?;
    parse(&bytes).map_err(|(place, reason)| Error::Import { file: path.to_path_buf(), path: place, reason })
}

/// Parses the JSON of a run, and the fields of `T` from it. An error is the JSON path of a value, and the reason.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<(Value, T), (String, String)> {
    let hint = "give a file that `posse bench --json` printed";
    let value: Value = parse_json(bytes).map_err(|error| (error.path, format!("{}; {hint}", error.reason)))?;
    match value.get("format").map(|format| (format, format.as_u64())) {
        Some((_, Some(FORMAT))) => {}
        Some((format, _)) => {
            let reason = format!("found version {format}, expected {FORMAT}; run the benchmark again with this posse");
            return Err(("format".into(), reason));
        }
        None => return Err(("format".into(), format!("it is missing; {hint}"))),
    }
    let fields = parse_json(bytes).map_err(|error| (error.path, error.reason))?;
    Ok((value, fields))
}

/// The fields of the JSON of a run that the page and the tables read. The page does without fields that are `None`.
#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "the page reads the JSON itself")]
pub struct EarlierRun {
    posse: String,
    #[serde(alias = "circumstances")]
    environment: Option<PageEnvironment>,
    file: Option<String>,
    /// The crowd file, if there is one.
    pub crowd: Option<String>,
    /// The bound of compressed keys.
    pub compressed: Option<String>,
    start_up_ms: BTreeMap<String, BTreeMap<String, f64>>,
    /// Bytes per second that the GPU writes.
    pub write_bandwidth_bytes_per_second: Option<f64>,
    /// Bytes per second that the GPU writes in the shape of the pose pass.
    pub strided_write_bandwidth_bytes_per_second: Option<f64>,
    /// Bytes per second that the GPU reads.
    pub read_bandwidth_bytes_per_second: Option<f64>,
    /// The GPU.
    pub gpu: Option<GpuIdentity>,
    /// Bytes per second that the GPU reads and writes in a copy.
    pub copy_bandwidth_bytes_per_second: Option<f64>,
    skipped: Vec<String>,
    /// The cases.
    pub cases: Vec<MeasuredCase>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "the page reads the JSON itself")]
struct PageEnvironment {
    command: String,
    began: Option<String>,
    machine: Option<PageMachine>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "the page reads the JSON itself")]
struct PageMachine {
    processor: Option<String>,
    cores: Option<u64>,
    threads: Option<u64>,
    memory: Option<u64>,
    system: Option<String>,
    architecture: Option<String>,
}

/// A case of an earlier run, as the page and the tables show it. The names are the names of the JSON.
#[derive(Debug, Deserialize)]
#[allow(dead_code, missing_docs, reason = "the page reads the JSON itself")]
pub struct MeasuredCase {
    pub engine: String,
    pub adapter: String,
    pub instances: u64,
    pub skeletons: u64,
    pub joints: u64,
    pub layers: u64,
    pub joints_posed: u64,
    pub wall_ms: TimeSpread,
    pub gpu_ms: Option<TimeSpread>,
    pub gpu_back_to_back_ms: Option<TimeSpread>,
    pub gpu_pass_ms: Option<BTreeMap<String, TimeSpread>>,
    pub gpu_state: Option<GpuState>,
    pub kernels: Option<Vec<String>>,
    pub table: Option<String>,
    // Any number is drawn, also one that a comparison cannot read.
    pub keys: Option<f64>,
    pub depth: Option<f64>,
    pub clips: Option<f64>,
    pub additive: Option<u64>,
    pub scales: Option<Scales>,
    pub key_angle: Option<f64>,
    pub skin_format: Option<String>,
    pub instances_posed: Option<u64>,
    pub library_bytes: Option<u64>,
    pub bytes_written: Option<u64>,
    bytes_per_second: Option<f64>,
    bandwidth_share: Option<f64>,
    pub within_contract: Option<bool>,
    pub worst_share_of_contract: Option<f64>,
    pub waited: Option<f64>,
}

impl MeasuredCase {
    /// The times of the passes in the order of a frame, in seconds.
    pub fn passes(&self) -> Vec<(&'static str, Statistics)> {
        let of_pass = |pass: Pass| {
            let times = self.gpu_pass_ms.as_ref()?.get(pass.entry_point())?;
            Some((pass.entry_point(), times.statistics()))
        };
        Pass::ALL.into_iter().filter_map(of_pass).collect()
    }
}

/// The distribution of a time in milliseconds.
#[derive(Debug, Deserialize)]
pub struct TimeSpread {
    median: f64,
    p5: f64,
    p95: f64,
    /// `None` in runs of versions without it.
    p99: Option<f64>,
    frames: u64,
}

impl TimeSpread {
    /// The distribution in seconds.
    pub fn statistics(&self) -> Statistics {
        let [median, p5, p95] = [self.median, self.p5, self.p95].map(|milliseconds| 1e-3 * milliseconds);
        let p99 = self.p99.map(|milliseconds| 1e-3 * milliseconds);
        Statistics { median, p5, p95, p99, frames: self.frames as usize }
    }
}

/// The fields of the JSON of an earlier run that a comparison needs.
#[derive(Debug, Deserialize)]
pub struct Baseline {
    /// The name of the JSON file, without its folder.
    #[serde(skip)]
    pub name: String,
    file: Option<String>,
    crowd: Option<String>,
    /// The cases.
    pub cases: Vec<EarlierCase>,
}

/// A case of an earlier run.
#[derive(Debug, Deserialize)]
pub struct EarlierCase {
    engine: String,
    /// The adapter or the threads of the engine.
    pub adapter: String,
    instances: usize,
    skeletons: u32,
    joints: usize,
    keys: Option<u32>,
    depth: Option<u32>,
    /// `None` for rigs of files, and for runs of versions without this field, whose rigs had one clip.
    clips: Option<u32>,
    layers: u32,
    /// 0 for runs of versions without additive layers.
    #[serde(default)]
    additive: u32,
    /// Matrices for runs of versions without skin formats.
    #[serde(default)]
    skin_format: SkinFormatChoice,
    /// `None` for rigs of files, and for runs of versions without this field.
    scales: Option<Scales>,
    /// `None` without it, and for runs of versions without this field, whose keys were close.
    key_angle: Option<u32>,
    /// Joints per second.
    pub joints_per_second: f64,
}

/// The identity of a case within its run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key<'a> {
    /// The engine's name.
    pub engine: &'a str,
    /// The file of the rig, if there is one.
    pub file: Option<&'a str>,
    /// The crowd file, if there is one.
    pub crowd: Option<&'a str>,
    /// The sizes.
    pub size: Size,
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.engine, self.size)?;
        self.file.or(self.crowd).map_or(Ok(()), |file| write!(f, " of {file}"))
    }
}

impl Baseline {
    /// Reads a run.
    ///
    /// # Errors
    /// The errors of [`read_run`], and [`Error::Import`] if a throughput is not a positive finite number.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (_, mut baseline) = read::<Self>(path)?;
        baseline.check().map_err(|(place, reason)| Error::Import { file: path.to_path_buf(), path: place, reason })?;
        baseline.name = file_name(path);
        Ok(baseline)
    }

    /// Checks the throughputs. An error is the JSON path of a value, and the reason.
    fn check(&self) -> Result<(), (String, String)> {
        for (index, case) in self.cases.iter().enumerate() {
            // JSON has no infinity, but a number can be too large for an `f64`.
            if !(case.joints_per_second > 0.0 && case.joints_per_second.is_finite()) {
                let reason =
                    format!("{} is not a throughput; expected a finite number above 0", case.joints_per_second);
                return Err((format!("cases[{index}].joints_per_second"), reason));
            }
        }
        Ok(())
    }

    /// The identity of a case.
    pub fn key<'a>(&'a self, case: &'a EarlierCase) -> Key<'a> {
        let EarlierCase { instances, skeletons, joints, keys, depth, layers, additive, skin_format, key_angle, .. } =
            *case;
        let (clips, skin_format) = (case.clips.or(keys.map(|_| 1)), skin_format.into());
        let scales = case.scales.or(keys.map(|_| self.scales_of_earlier_versions()));
        Key {
            engine: &case.engine,
            file: self.file.as_deref(),
            crowd: self.crowd.as_deref(),
            size: Size {
                instances,
                skeletons,
                joints,
                keys,
                depth,
                clips,
                layers,
                additive,
                skin_format,
                scales,
                key_angle,
            },
        }
    }

    /// The scales of all generated rigs of a run that does not say them: they were uniform if dual quaternions were
    /// among its formats.
    fn scales_of_earlier_versions(&self) -> Scales {
        let is_dual_quaternion = |case: &EarlierCase| case.skin_format == SkinFormatChoice::DualQuaternion;
        if self.cases.iter().any(is_dual_quaternion) { Scales::Uniform } else { Scales::Uneven }
    }

    /// Finds the case with the same identity. Of several, returns that with the same adapter, otherwise the first.
    pub fn find(&self, key: &Key, adapter: &str) -> Option<&EarlierCase> {
        let same = || self.cases.iter().filter(|case| self.key(case) == *key);
        same().find(|case| case.adapter == adapter).or_else(|| same().next())
    }
}

#[cfg(test)]
mod tests {
    use posse::SkinFormat;
    use serde_json::json;

    use super::*;

    fn run() -> Value {
        let case = json!({
            "engine": "cpu", "adapter": "2 threads", "instances": 10, "skeletons": 1, "joints": 5, "keys": 60, "depth": 5,
            "layers": 1, "joints_per_second": 2e6
        });
        json!({ "format": 1, "posse": "0.1.0", "file": null, "crowd": null, "cases": [case] })
    }

    fn baseline(run: Value) -> Baseline {
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn a_case_is_found_by_its_whole_identity() {
        let baseline = baseline(run());
        let size = Size {
            instances: 10,
            skeletons: 1,
            joints: 5,
            keys: Some(60),
            depth: Some(5),
            clips: Some(1),
            layers: 1,
            additive: 0,
            skin_format: SkinFormat::Matrix,
            scales: Some(Scales::Uneven),
            key_angle: None,
        };
        let key = Key { engine: "cpu", file: None, crowd: None, size };
        assert_eq!(baseline.find(&key, "2 threads").unwrap().joints_per_second, 2e6);
        let others = [
            Key { engine: "gpu", ..key },
            Key { file: Some("fox.glb"), ..key },
            Key { crowd: Some("crowd.json"), ..key },
            Key { size: Size { instances: 11, ..size }, ..key },
            Key { size: Size { skeletons: 2, ..size }, ..key },
            Key { size: Size { joints: 6, ..size }, ..key },
            Key { size: Size { keys: None, ..size }, ..key },
            Key { size: Size { depth: Some(4), ..size }, ..key },
            Key { size: Size { clips: Some(2), ..size }, ..key },
            Key { size: Size { layers: 2, ..size }, ..key },
            Key { size: Size { additive: 1, ..size }, ..key },
            Key { size: Size { skin_format: SkinFormat::HalfMatrix, ..size }, ..key },
            Key { size: Size { scales: Some(Scales::Uniform), ..size }, ..key },
            Key { size: Size { key_angle: Some(60), ..size }, ..key },
        ];
        assert!(others.iter().all(|key| baseline.find(key, "2 threads").is_none()));
        assert_eq!(key.to_string(), "cpu: 10 instances of 5 joints, layers 1, keys 60, depth 5");
    }

    /// A run of a version that did not say the scales had uniform ones for all formats beside dual quaternions.
    #[test]
    fn the_scales_of_earlier_versions_follow_from_their_formats() {
        let mut run = run();
        let mut packed = run["cases"][0].clone();
        packed["skin_format"] = json!("dual-quaternion");
        run["cases"].as_array_mut().unwrap().push(packed);
        let scales = |run: Value| {
            let baseline = baseline(run);
            baseline.cases.iter().map(|case| baseline.key(case).size.scales).collect::<Vec<_>>()
        };
        assert_eq!(scales(run.clone()), [Some(Scales::Uniform); 2]);
        run["cases"][0]["scales"] = json!("uneven");
        assert_eq!(scales(run.clone()), [Scales::Uneven, Scales::Uniform].map(Some));
        run["cases"].as_array_mut().unwrap().pop();
        run["cases"][0].as_object_mut().unwrap().remove("scales");
        assert_eq!(scales(run.clone()), [Some(Scales::Uneven)]);
        run["cases"][0]["keys"] = Value::Null;
        assert_eq!(scales(run), [None], "the rig of a file");
    }

    #[test]
    fn the_case_with_the_same_number_of_threads_is_found() {
        let mut run = run();
        let mut other = run["cases"][0].clone();
        (other["adapter"], other["joints_per_second"]) = (json!("1 thread"), json!(1e6));
        run["cases"].as_array_mut().unwrap().push(other);
        let baseline = baseline(run);
        let key = baseline.key(&baseline.cases[0]);
        let found = |adapter| baseline.find(&key, adapter).unwrap().joints_per_second;
        assert_eq!(["1 thread", "2 threads", "3 threads"].map(found), [1e6, 2e6, 2e6]);
    }

    #[test]
    fn an_error_names_the_path_of_a_wrong_throughput() {
        assert!(baseline(run()).check().is_ok());
        for throughput in [0.0, -1.0] {
            let mut run = run();
            run["cases"][0]["joints_per_second"] = json!(throughput);
            assert_eq!(baseline(run).check().unwrap_err().0, "cases[0].joints_per_second");
        }
    }

    #[derive(Debug, Deserialize)]
    struct Run {
        cases: Vec<Case>,
    }

    #[derive(Debug, Deserialize)]
    struct Case {
        joints: u32,
    }

    fn read(run: Value) -> Result<Run, (String, String)> {
        parse(run.to_string().as_bytes()).map(|(_, run)| run)
    }

    #[test]
    fn values_that_a_page_reads_are_checked() {
        let text = include_str!("../../tests/benchmark_page/browser.json");
        let error = |pointer: &str, value: Value| {
            let mut run: Value = serde_json::from_str(text).unwrap();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            run.pointer_mut(parent).unwrap()[name] = value;
            parse::<EarlierRun>(run.to_string().as_bytes()).err().map(|(place, _)| place)
        };
        for (pointer, wrong) in [
            ("/file", json!(1)),
            ("/write_bandwidth_bytes_per_second", json!("fast")),
            ("/environment/command", json!(null)),
            ("/environment/began", json!(1)),
            ("/environment/machine", json!("fast")),
            ("/environment/machine/cores", json!("two")),
            ("/cases/0/table", json!(1)),
            ("/cases/0/keys", json!("many")),
            ("/cases/0/depth", json!([])),
            ("/cases/0/skin_format", json!(1)),
            ("/cases/0/library_bytes", json!("many")),
            ("/cases/0/bytes_written", json!("many")),
            ("/cases/0/bytes_per_second", json!("many")),
            ("/cases/0/within_contract", json!(1)),
        ] {
            let place = pointer[1..].replace("/0", "[0]").replace('/', ".");
            assert_eq!(error(pointer, wrong), Some(place), "{pointer}");
            let is_optional = pointer != "/environment/command";
            assert!(!is_optional || error(pointer, json!(null)).is_none(), "{pointer}");
        }
        let earlier =
            text.replace("\"environment\"", "\"circumstances\"").replace("\"command\": ", "\"command\": 1, \"was\": ");
        assert_eq!(parse::<EarlierRun>(earlier.as_bytes()).unwrap_err().0, "circumstances.command");
    }

    #[test]
    fn a_reader_gets_the_fields_of_its_type() {
        let run = read(json!({ "format": 1, "posse": "0.1.0", "cases": [{ "joints": 5, "layers": 1 }] })).unwrap();
        assert_eq!(run.cases[0].joints, 5);
    }

    #[test]
    fn errors_name_the_path_of_the_value() {
        assert_eq!(parse::<Run>(b"Mjoints/s").unwrap_err().0, "JSON");
        assert_eq!(parse::<Run>(b"[]").unwrap_err().0, "format");
        assert_eq!(read(json!({ "format": 7, "cases": [] })).unwrap_err().0, "format");
        assert_eq!(read(json!({ "format": "1", "cases": [] })).unwrap_err().0, "format");
        assert_eq!(read(json!({ "format": 1, "cases": 3 })).unwrap_err().0, "cases");
        assert_eq!(read(json!({ "format": 1, "cases": [{ "joints": -1 }] })).unwrap_err().0, "cases[0].joints");
        let (place, reason) = read(json!({ "format": 1, "cases": [{}] })).unwrap_err();
        assert_eq!(place, "cases[0]");
        assert!(reason.contains("joints"), "{reason}");
    }
}
