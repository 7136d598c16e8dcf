//! What a crowd on the GPU is made for.

use crate::model::crowd::Crowd;
use crate::model::mixing::Mixing;

/// What a crowd on the GPU is made for, beyond posing all instances with the layers that they begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CrowdOptions {
    /// Lists of the instances that are seen: see [`Chunk::seen`](crate::gpu::chunk::Chunk::seen) and
    /// [`GpuCrowd::encode_seen`](crate::gpu::crowd::GpuCrowd::encode_seen).
    pub seen: bool,
    /// The skin matrices of the frame before: see [`Chunk::previous_skin`](crate::gpu::chunk::Chunk::previous_skin).
    pub previous_skin: bool,
    /// How many layers each instance may come to have, from 0, the default, to [`Crowd::MAX_LAYERS`], and no more. Where the
    /// crowd begins with more of a skeleton, there is room for those. Each takes 104 bytes an instance, used or not.
    pub layers: usize,
    /// How the layers of each instance may come to be mixed, in room for several blended at least. Where the crowd begins
    /// with more of a skeleton, so it is. All instances pay for it, used or not: posing with room for more than they need
    /// takes longer.
    pub mixing: Mixing,
}

impl CrowdOptions {
    /// Nothing more: the default.
    pub const NONE: Self = Self { seen: false, previous_skin: false, layers: 0, mixing: Mixing::None };

    /// How many layers there is to be room for at least, and how they may be mixed.
    pub(super) fn room(&self) -> (usize, Mixing) {
        let several = if self.layers > 1 { Mixing::Blend } else { Mixing::None };
        (self.layers.min(Crowd::MAX_LAYERS), self.mixing.max(several))
    }
}
