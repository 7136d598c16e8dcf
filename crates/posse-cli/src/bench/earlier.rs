//! Reads the JSON of an earlier `posse bench --json`.

use std::fs;
use std::path::Path;

use posse::Error;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The version of the JSON. It changes when the meaning of a field changes.
pub const FORMAT: u64 = 1;

/// Reads the fields of `T` from the JSON of a run.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Import`] if it is not the JSON of this version of `posse bench`.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
    parse(&bytes).map_err(|(place, reason)| Error::Import { file: path.to_path_buf(), path: place, reason })
}

/// Parses the fields of `T`. An error is the JSON path of a value, and the reason.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, (String, String)> {
    let hint = "give a file that `posse bench --json` printed";
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| ("JSON".to_owned(), format!("{error}; {hint}")))?;
    match value.get("format").map(|format| (format, format.as_u64())) {
        Some((_, Some(FORMAT))) => {}
        Some((format, _)) => {
            let reason = format!("found version {format}, expected {FORMAT}; run the benchmark again with this posse");
            return Err(("format".into(), reason));
        }
        None => return Err(("format".into(), format!("it is missing; {hint}"))),
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        // The path of a missing field is that of its object. The path of the whole file is empty.
        let path = error.path().to_string();
        let path = path.trim_end_matches(['.', '?']);
        (if path.is_empty() { "JSON" } else { path }.to_owned(), error.inner().to_string())
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Run {
        cases: Vec<Case>,
    }

    #[derive(Debug, Deserialize)]
    struct Case {
        joints: u32,
    }

    fn read(run: Value) -> Result<Run, (String, String)> {
        parse(run.to_string().as_bytes())
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
