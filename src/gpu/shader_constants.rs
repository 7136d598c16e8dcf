//! The constants of a kernel, known when it is compiled.

use std::fmt::Write;

use crate::gpu::plan::{PoseKernel, SpanRoom};
use crate::model::{Mixing, SkinFormat};
use crate::pack::Features;

/// Constants for the features that a library uses. They are known when its kernels are compiled, so that unused code is removed:
/// a branch that is never taken costs registers, and a software renderer executes both sides of it.
pub(super) fn feature_constants(features: Features) -> String {
    let Features { splines, beyond_gltf, matrices, roots, floats, quantized } = features;
    format!(
        "const HAS_SPLINES: bool = {splines};\nconst HAS_BEYOND_GLTF: bool = {beyond_gltf};\n\
         const HAS_MATRICES: bool = {matrices};\nconst HAS_ROOTS: bool = {roots};\n\
         const HAS_FLOATS: bool = {floats};\nconst HAS_QUANTIZED: bool = {quantized};\n"
    )
}

/// Constants of a kernel that poses.
pub(super) fn pose_constants(kernel: &PoseKernel) -> String {
    let &PoseKernel { mixing, workgroup, span_room, joints_in_lanes, skin_format, .. } = kernel;
    let mut code = String::new();
    for (name, value) in [
        ("WORKGROUP_SIZE", workgroup.size),
        ("SPAN_CAPACITY", workgroup.span_capacity(mixing, span_room)),
        ("PLAYED_CAPACITY", workgroup.played_capacity()),
        ("JOINT_CAPACITY", workgroup.joint_capacity.unwrap_or(0)),
        ("SKIN_ROWS", if skin_format == SkinFormat::DualQuaternion { 3 } else { 1 }),
    ] {
        // A write to a string does not fail.
        let _ = writeln!(code, "const {name}: u32 = {value}u;");
    }
    for (name, value) in [
        ("HAS_SHORT_ARCS", true),
        ("ONE_INSTANCE", workgroup.one_instance),
        ("LANE_PER_JOINT", workgroup.has_lane_per_joint()),
        ("JOINTS_IN_LANES", joints_in_lanes),
        ("SPANS_IN_LAYERS", span_room == SpanRoom::InLayers),
        ("SPANS_FIT", span_room != SpanRoom::TooMany),
        ("LAYERS_OVER", mixing == Mixing::Any),
    ] {
        let _ = writeln!(code, "const {name}: bool = {value};");
    }
    code
}
