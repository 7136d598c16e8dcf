//! The values of properties that a file leaves out, which are what their pointers rest at.

use std::f64::consts::FRAC_PI_4;

/// The default of a property, known by the last name of its pointer, in each of its components; 0 where there is no other, or
/// where it is infinite. From the property tables of glTF 2.0 and of its extensions for materials, textures, lights and nodes.
pub(super) fn default_of(pointer: &str) -> f64 {
    match pointer.rsplit('/').next().unwrap_or_default() {
        "baseColorFactor" | "metallicFactor" | "roughnessFactor" => 1.0,
        // Of a texture transform, or a normal texture; and of an occlusion texture.
        "scale" | "strength" => 1.0,
        "emissiveStrength" | "specularFactor" | "specularColorFactor" | "attenuationColor" => 1.0,
        "color" | "intensity" => 1.0,
        "visible" | "selectable" | "hoverable" => 1.0,
        "alphaCutoff" => 0.5,
        "ior" => 1.5,
        "iridescenceIor" => 1.3,
        "iridescenceThicknessMinimum" => 100.0,
        "iridescenceThicknessMaximum" => 400.0,
        "outerConeAngle" => FRAC_PI_4,
        _ => 0.0,
    }
}
