//! `posse bench --baseline`: an earlier run, to compare with.

use std::path::Path;
use std::{fmt, fs};

use posse::error::Error;
use serde::Deserialize;

use super::size::Size;
use crate::cli::output::file_name;
use crate::cli::skin_format::SkinFormatChoice;

/// The version of the JSON that `posse bench` prints, raised where what a name stands for changes.
pub const FORMAT: u64 = 1;

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
    /// [`Error::Io`] where the file cannot be read; [`Error::Import`] where it is not what this version of `posse bench`
    /// prints.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
        let mut baseline = Self::parse(&bytes).map_err(|(place, reason)| Error::Import {
            file: path.to_path_buf(),
            path: place,
            reason,
        })?;
        baseline.name = file_name(path);
        Ok(baseline)
    }

    /// A run; or the place of a fault and what is wrong there.
    fn parse(bytes: &[u8]) -> Result<Self, (String, String)> {
        let hint = "give a file that `posse bench --json` printed";
        let value: serde_json::Value =
            serde_json::from_slice(bytes).map_err(|error| ("JSON".to_owned(), format!("{error}; {hint}")))?;
        match value.get("format").map(|format| (format, format.as_u64())) {
            Some((_, Some(FORMAT))) => {}
            Some((format, _)) => {
                let reason =
                    format!("{format} is another version than {FORMAT}; run the baseline again with this posse");
                return Err(("format".into(), reason));
            }
            None => return Err(("format".into(), format!("it is missing; {hint}"))),
        }
        let baseline: Self = serde_path_to_error::deserialize(value).map_err(|error| {
            // What a missing name is missing from is the whole where nothing else is named.
            let path = error.path().to_string();
            let path = path.trim_end_matches(['.', '?']);
            (if path.is_empty() { "JSON" } else { path }.to_owned(), error.inner().to_string())
        })?;
        for (index, case) in baseline.cases.iter().enumerate() {
            // JSON has no infinity, but a number may be too large for a float.
            if !(case.joints_per_second > 0.0 && case.joints_per_second.is_finite()) {
                let reason = format!("{} is no throughput; a finite number above 0 is", case.joints_per_second);
                return Err((format!("cases[{index}].joints_per_second"), reason));
            }
        }
        Ok(baseline)
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

    /// The same case of the earlier run, the first where there are several.
    pub fn find(&self, key: &Key) -> Option<&EarlierCase> {
        self.cases.iter().find(|case| self.key(case) == *key)
    }
}

#[cfg(test)]
mod tests {
    use posse::model::skin_format::SkinFormat;
    use serde_json::{Value, json};

    use super::*;

    fn run() -> Value {
        let case = json!({
            "engine": "cpu", "adapter": "2 threads", "instances": 10, "skeletons": 1, "joints": 5, "keys": 60, "depth": 5,
            "layers": 1, "joints_per_second": 2e6
        });
        json!({ "format": 1, "posse": "0.1.0", "file": null, "crowd": null, "cases": [case] })
    }

    fn fault(change: impl FnOnce(&mut Value)) -> (String, String) {
        let mut run = run();
        change(&mut run);
        Baseline::parse(run.to_string().as_bytes()).unwrap_err()
    }

    #[test]
    fn a_case_is_found_by_all_that_tells_it_from_others() {
        let baseline = Baseline::parse(run().to_string().as_bytes()).unwrap();
        let skin_format = SkinFormat::Matrix;
        let size =
            Size { instances: 10, skeletons: 1, joints: 5, keys: Some(60), depth: Some(5), layers: 1, skin_format };
        let key = Key { engine: "cpu", file: None, crowd: None, size };
        assert_eq!(baseline.find(&key).unwrap().joints_per_second, 2e6);
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
        assert!(others.iter().all(|key| baseline.find(key).is_none()));
        assert_eq!(key.to_string(), "cpu: 10 instances of 5 joints, layers 1, keys 60, depth 5");
    }

    #[test]
    fn faults_are_named_by_their_place() {
        assert_eq!(Baseline::parse(b"Mjoints/s").unwrap_err().0, "JSON");
        assert_eq!(Baseline::parse(b"[]").unwrap_err().0, "format");
        assert_eq!(fault(|run| run["format"] = json!(7)).0, "format");
        assert_eq!(fault(|run| run["format"] = json!("1")).0, "format");
        assert_eq!(fault(|run| run["cases"] = json!(3)).0, "cases");
        assert_eq!(fault(|run| run["cases"][0]["skin_format"] = json!("third")).0, "cases[0].skin_format");
        assert_eq!(fault(|run| run["cases"][0]["joints"] = json!(-1)).0, "cases[0].joints");
        for throughput in [0.0, -1.0] {
            let place = fault(|run| run["cases"][0]["joints_per_second"] = json!(throughput)).0;
            assert_eq!(place, "cases[0].joints_per_second");
        }
        let (place, reason) = fault(|run| drop(run["cases"][0].as_object_mut().unwrap().remove("layers")));
        assert_eq!(place, "cases[0]");
        assert!(reason.contains("layers"), "{reason}");
    }
}
