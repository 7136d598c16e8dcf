//! WGSL for vertex shaders that read skin matrices.

use crate::model::SkinFormat;

impl SkinFormat {
    /// Functions for a shader that reads skin matrices in this format, to be put before it: they declare no binding and no
    /// entry point, and their names begin with `full_`, `half_` or `dual_quaternion`. Where the matrices of an instance's
    /// skin begin, [`OutputLayout::skin_start`](crate::pack::OutputLayout::skin_start) says.
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
