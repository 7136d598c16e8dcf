//! The WGSL files of `shaders/`, and the WGSL that is generated from Rust.

use std::borrow::Cow;
use std::sync::Arc;

use crate::gpu::shader_text::shader_text;
use crate::model::{Interpolator, SkinFormat};
use crate::pack::record;

/// A shader file, or a text in its place.
#[derive(Debug, Clone)]
pub(super) struct ShaderFile {
    /// The path from the root of the repository, or a name for the text.
    pub name: Cow<'static, str>,
    /// The WGSL.
    pub text: Cow<'static, str>,
    /// The interpolator that the text calls. A compile error in the text is a fault of the interpolator.
    pub calls: Option<Arc<dyn Interpolator>>,
    /// True for files of this crate, from which unused branches and functions are removed. Interpolators stay whole, so that all their
    /// errors are reported.
    pub is_own: bool,
}

impl ShaderFile {
    /// A text with a name, which calls no interpolator.
    pub fn new(name: impl Into<Cow<'static, str>>, text: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), text: text.into(), calls: None, is_own: false }
    }
}

macro_rules! file {
    ($path:literal) => {
        ShaderFile {
            name: Cow::Borrowed(concat!("shaders/", $path)),
            text: Cow::Borrowed(shader_text!(concat!("../../shaders/", $path))),
            calls: None,
            is_own: true,
        }
    };
}

pub(super) const PHASE: ShaderFile = file!("shared/phase.wgsl");
pub(super) const SEARCH: ShaderFile = file!("shared/search.wgsl");
pub(super) const EASE: ShaderFile = file!("shared/ease.wgsl");
/// The files of kernels that sample, in the order of the stages.
pub(super) const SHARED: [ShaderFile; 7] = [
    PHASE,
    SEARCH,
    EASE,
    file!("shared/quat.wgsl"),
    file!("shared/sample.wgsl"),
    file!("shared/blend.wgsl"),
    file!("shared/root_joint.wgsl"),
];
pub(super) const SYNC: ShaderFile = file!("shared/sync.wgsl");
pub(super) const MATRIX: ShaderFile = file!("shared/matrix.wgsl");
pub(super) const HIERARCHY: ShaderFile = file!("shared/hierarchy.wgsl");
pub(super) const JOINTS_IN_WORKGROUP: ShaderFile = file!("shared/joints_in_workgroup.wgsl");
pub(super) const JOINTS_IN_STORAGE: ShaderFile = file!("shared/joints_in_storage.wgsl");
pub(super) const POSE_PART: ShaderFile = file!("pose/pose_part.wgsl");
pub(super) const POSE_JOINT: ShaderFile = file!("pose/pose_joint.wgsl");
pub(super) const POSE_COMMON: ShaderFile = file!("pose/pose_common.wgsl");
pub(super) const POSE: ShaderFile = file!("pose/pose.wgsl");
pub(super) const POSE_LAYERS: ShaderFile = file!("pose/pose_layers.wgsl");
pub(super) const DISPLACE: ShaderFile = file!("pose/displace.wgsl");
pub(super) const DISPLACE_NOTHING: ShaderFile = file!("pose/displace_nothing.wgsl");
pub(super) const INVERSE_KINEMATICS: ShaderFile = file!("shared/inverse_kinematics.wgsl");
pub(super) const GOALS: ShaderFile = file!("pose/goals.wgsl");
pub(super) const GOALS_RIGID: ShaderFile = file!("pose/goals_rigid.wgsl");
pub(super) const GOALS_GENERAL: ShaderFile = file!("pose/goals_general.wgsl");
pub(super) const GOALS_NOTHING: ShaderFile = file!("pose/goals_nothing.wgsl");
pub(super) const RESOLVE_GOALS: ShaderFile = file!("resolve_goals.wgsl");
pub(super) const PLAY: ShaderFile = file!("play.wgsl");
pub(super) const DRIVE: ShaderFile = file!("drive.wgsl");
pub(super) const ROOT_MOTION: ShaderFile = file!("root_motion.wgsl");
pub(super) const VISIBLE: ShaderFile = file!("visible.wgsl");
pub(super) const EVENTS: ShaderFile = file!("events.wgsl");
pub(super) const BANDWIDTH: ShaderFile = file!("bandwidth.wgsl");

/// The file that writes skin matrices in a format.
pub(super) const fn skin_writer(format: SkinFormat) -> ShaderFile {
    match format {
        SkinFormat::Matrix => file!("pose/skin_matrix.wgsl"),
        SkinFormat::HalfMatrix => file!("pose/skin_half.wgsl"),
        SkinFormat::DualQuaternion => file!("pose/skin_dual_quaternion.wgsl"),
    }
}

impl SkinFormat {
    /// WGSL functions for a shader that reads skin matrices in this format. Put them before the shader. They declare no binding
    /// and no entry point, and their names begin with `full_`, `half_` or `dual_quaternion`.
    /// [`OutputLayout::skin_start`](crate::pack::OutputLayout::skin_start) returns the position of a skin's matrices.
    ///
    /// ```wgsl
    /// @group(0) @binding(0) var<storage, read> joints: array<vec2<u32>>;
    ///
    /// fn joint(index: u32) -> DualQuaternion {
    ///     return dual_quaternion(joints[3u * index], joints[3u * index + 1u], joints[3u * index + 2u]);
    /// }
    /// ```
    pub const fn wgsl(self) -> &'static str {
        match self {
            Self::Matrix => include_str!("../../shaders/read/full_matrix.wgsl"),
            Self::HalfMatrix => include_str!("../../shaders/read/half_matrix.wgsl"),
            Self::DualQuaternion => include_str!("../../shaders/read/dual_quaternion.wgsl"),
        }
    }
}

/// The records and constants that Rust declares: a text for each Rust file. Errors name the Rust file.
pub(super) fn generated() -> impl Iterator<Item = ShaderFile> {
    record::SHARED.iter().map(|shared| {
        let file = ShaderFile::new(format!("{} (generated)", shared.file), shared.wgsl());
        ShaderFile { is_own: true, ..file }
    })
}
