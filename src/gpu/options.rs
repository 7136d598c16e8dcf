//! What a crowd on the GPU is made for.

use crate::model::{Crowd, Mixing};

/// What a crowd on the GPU is made for, beyond posing all instances with the layers that they begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CrowdOptions {
    /// Lists of the instances that are visible: see [`GpuBatch::visible`](crate::gpu::GpuBatch::visible) and
    /// [`GpuCrowd::encode_visible`](crate::gpu::GpuCrowd::encode_visible).
    pub visible: bool,
    /// The skin matrices of the frame before: see [`GpuBatch::previous_skin`](crate::gpu::GpuBatch::previous_skin).
    pub previous_skin: bool,
    /// How many layers each instance may come to have: 0, the default, for as many as those of its [`Mixing`] begin with, up to
    /// [`Crowd::MAX_LAYERS`]; a greater number counts as that many. Each takes 104 bytes an instance, used or not.
    pub layers: usize,
    /// How the layers of each instance may come to be mixed; where there is room for several, they may blend at least. An
    /// instance that begins with more has more. All pay for it, used or not: the kernels that mix take longer.
    pub mixing: Mixing,
}

impl CrowdOptions {
    /// Nothing more: the default.
    pub const NONE: Self = Self { visible: false, previous_skin: false, layers: 0, mixing: Mixing::None };

    /// How many layers there is to be room for at least, and how they may be mixed.
    pub(super) fn room(&self) -> (usize, Mixing) {
        let several = if self.layers > 1 { Mixing::Blend } else { Mixing::None };
        (self.layers.min(Crowd::MAX_LAYERS), self.mixing.max(several))
    }
}
