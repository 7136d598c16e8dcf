//! Kernels as files, for `benches/sass`.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::kernels;

/// Writes the kernels that pose whose names contain a text to a folder: the WGSL of each, and a JSON file with its name,
/// its entry point, the size of its workgroup, the joints that a workgroup poses, and the words of its buffers.
///
/// # Errors
/// A text with the first error.
pub fn write(folder: &Path, filter: &str) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for kernel in kernels::all().map_err(|error| error.to_string())? {
        let Some((size, buffers)) = &kernel.text.workgroup else { continue };
        if !kernel.name.contains(filter) {
            continue;
        }
        let buffers: Map<String, Value> =
            buffers.iter().map(|(name, words)| ((*name).to_owned(), json!(words))).collect();
        let description = json!({
            "kernel": kernel.name,
            "entry": kernel.text.pass.entry_point(),
            "size": size,
            "joints": kernel.joints * kernel.text.instances_per_group.unwrap_or(1),
            "buffers": buffers,
        });
        let name = kernel.name.replace([',', ' '], "_");
        for (extension, text) in [("wgsl", &kernel.text.wgsl), ("json", &description.to_string())] {
            let file = folder.join(format!("{name}.{extension}"));
            std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    Ok(())
}
