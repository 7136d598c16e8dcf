//! The memory that the stages of a thread share.

use crate::cpu::abreast::{self, Abreast};
use crate::cpu::block::arcs::Arcs;
use crate::cpu::block::group_layers::GroupLayers;
use crate::cpu::block::joints::Parts;
use crate::cpu::block::mixer::Mixer;
use crate::cpu::block::search::GroupSpans;
use crate::cpu::decoded::DecodedClips;
use crate::cpu::goals::Reach;
use crate::cpu::prefetch::Ahead;
use crate::cpu::simd::Matrix;
use crate::cpu::stages::search::Span;
use crate::cpu::values::MixedValues;

/// Memory that the instances of a thread use one after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The spans of all timelines of the clips at work.
    pub spans: Vec<Span>,
    /// The spans of a group of instances of one layer each that needs no mixing.
    pub found: GroupSpans,
    /// The weights and spans of a group of instances whose layers are mixed.
    pub layered: GroupLayers,
    /// The keys of the next group, or of the next instance where layers are mixed.
    pub ahead: Ahead,
    /// The parts of the joints of a group of instances, instance after instance.
    pub parts: Parts,
    /// The sampled parts of the joints of a layer.
    pub sampled: Parts,
    /// Rotations with separate keys.
    pub scattered: Arcs,
    pub mixer: Mixer,
    /// The morph weights and properties of an instance whose layers are mixed.
    pub values: MixedValues,
    /// The columns and rows of clips with quantized keys.
    pub decoded: DecodedClips,
    /// The rows of the local matrices.
    pub locals: Parts,
    /// The model matrices.
    pub models: Vec<Matrix>,
    /// The memory of goals.
    pub reach: Reach,
    /// The memory of instances that are posed abreast.
    pub abreast: Abreast,
}

impl Scratch {
    /// Makes room for groups of `instances` instances with `joints` joints.
    pub fn resize(&mut self, joints: usize, instances: usize) {
        self.parts.resize(instances * abreast::stride(joints));
        self.sampled.resize(joints);
        self.mixer.resize(joints);
        self.locals.resize(joints);
        self.models.resize(joints, Matrix::default());
    }
}
