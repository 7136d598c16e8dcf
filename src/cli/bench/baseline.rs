//! `posse bench --baseline`: an earlier run, to compare with.

use std::fmt;
use std::path::Path;

use posse::Error;
use serde::Deserialize;

use super::earlier;
use super::size::Size;
use crate::cli::arguments::SkinFormatChoice;
use crate::cli::output::file_name;

/// What `posse bench --json` printed, as far as a comparison needs it.
#[derive(Debug, Deserialize)]
pub struct Baseline {
    /// The file that it was read from, without its folder.
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
    /// What the engine ran on.
    pub adapter: String,
    instances: usize,
    skeletons: u32,
    joints: usize,
    keys: Option<u32>,
    depth: Option<u32>,
    layers: u32,
    /// Of runs before there was a choice, matrices.
    #[serde(default)]
    skin_format: SkinFormatChoice,
    /// The throughput.
    pub joints_per_second: f64,
}

/// What tells a case from the others of its run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key<'a> {
    /// The engine's name.
    pub engine: &'a str,
    /// The rig's file, where it has one.
    pub file: Option<&'a str>,
    /// The crowd's file, where it has one.
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
    /// As those of [`earlier::read`]; [`Error::Import`] where a throughput is none.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut baseline: Self = earlier::read(path)?;
        baseline.check().map_err(|(place, reason)| Error::Import { file: path.to_path_buf(), path: place, reason })?;
        baseline.name = file_name(path);
        Ok(baseline)
    }

    /// The place of a fault and what is wrong there.
    fn check(&self) -> Result<(), (String, String)> {
        for (index, case) in self.cases.iter().enumerate() {
            // JSON has no infinity, but a number may be too large for a float.
            if !(case.joints_per_second > 0.0 && case.joints_per_second.is_finite()) {
                let reason = format!("{} is no throughput; a finite number above 0 is", case.joints_per_second);
                return Err((format!("cases[{index}].joints_per_second"), reason));
            }
        }
        Ok(())
    }

    /// What tells one of its cases from the others.
    pub fn key<'a>(&'a self, case: &'a EarlierCase) -> Key<'a> {
        let EarlierCase { instances, skeletons, joints, keys, depth, layers, skin_format, .. } = *case;
        Key {
            engine: &case.engine,
            file: self.file.as_deref(),
            crowd: self.crowd.as_deref(),
            size: Size { instances, skeletons, joints, keys, depth, layers, skin_format: skin_format.into() },
        }
    }

    /// The same case of the earlier run; where there are several, that on the same adapter, else the first.
    pub fn find(&self, key: &Key, adapter: &str) -> Option<&EarlierCase> {
        let same = || self.cases.iter().filter(|case| self.key(case) == *key);
        same().find(|case| case.adapter == adapter).or_else(|| same().next())
    }
}

#[cfg(test)]
mod tests {
    use posse::SkinFormat;
    use serde_json::{Value, json};

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
    fn a_case_is_found_by_all_that_tells_it_from_others() {
        let baseline = baseline(run());
        let skin_format = SkinFormat::Matrix;
        let size =
            Size { instances: 10, skeletons: 1, joints: 5, keys: Some(60), depth: Some(5), layers: 1, skin_format };
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
            Key { size: Size { layers: 2, ..size }, ..key },
            Key { size: Size { skin_format: SkinFormat::HalfMatrix, ..size }, ..key },
        ];
        assert!(others.iter().all(|key| baseline.find(key, "2 threads").is_none()));
        assert_eq!(key.to_string(), "cpu: 10 instances of 5 joints, layers 1, keys 60, depth 5");
    }

    #[test]
    fn of_the_same_case_on_several_threads_that_on_as_many_is_found() {
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
    fn what_is_no_throughput_is_named_by_its_place() {
        assert!(baseline(run()).check().is_ok());
        for throughput in [0.0, -1.0] {
            let mut run = run();
            run["cases"][0]["joints_per_second"] = json!(throughput);
            assert_eq!(baseline(run).check().unwrap_err().0, "cases[0].joints_per_second");
        }
    }
}
