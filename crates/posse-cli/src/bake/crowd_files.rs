//! The files that a crowd file names.

use std::collections::HashSet;
use std::path::Path;

use posse::Error;
use posse::import::gltf;

/// The paths of the glTF files of a crowd file, and of the buffers beside them, relative to the folder of the crowd file.
pub fn list(path: &Path, bytes: &[u8]) -> Result<Vec<String>, Error> {
    let document: serde_json::Value = serde_json::from_slice(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes))
        .map_err(|error| Error::Import { file: path.to_path_buf(), path: "JSON".into(), reason: error.to_string() })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let names = document["files"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
    let mut paths: Vec<String> = Vec::new();
    for name in names {
        let outline = gltf::Outline::read(folder.join(name)).unwrap_or_default();
        let below = |buffer: &String| Path::new(name).with_file_name(buffer).to_string_lossy().into_owned();
        paths.push(name.to_owned());
        paths.extend(outline.buffers.iter().map(below));
    }
    let mut known = HashSet::new();
    paths.retain(|path| known.insert(path.clone()));
    Ok(paths)
}
