//! Extensions that a file requires.

use super::reader::Reader;
use crate::import::JsonPath;

/// Extensions that are supported, or that do not concern poses.
const HARMLESS: &[&str] = &[
    "EXT_mesh_features",
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_structural_metadata",
    "KHR_animation_pointer",
    "KHR_draco_mesh_compression",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_node_hoverability",
    "KHR_node_selectability",
    "KHR_node_visibility",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    "VRMC_vrm",
    "VRMC_vrm_animation",
];

/// Families of extensions that do not concern poses.
const HARMLESS_PREFIXES: &[&str] = &[
    "ADOBE_materials_",
    "EXT_lights_",
    "EXT_texture_",
    "KHR_lights_",
    "KHR_materials_",
    "KHR_texture_",
    "MSFT_texture_",
];

/// Warns of required extensions that are not known. The file is read without them.
pub(super) fn check(reader: &mut Reader) {
    for (index, name) in reader.document.extensions_required.iter().enumerate() {
        let name: &str = name;
        let harmless = HARMLESS.contains(&name);
        if !harmless && !HARMLESS_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            let path = JsonPath::top("extensionsRequired", index);
            reader.warn(path, format!("{name} is required, but not known; the file is read without it"));
        }
    }
}
