//! Clips at fixed times, posed without a crowd.

use crate::cpu::block::outputs::OutputSlices;
use crate::cpu::engine::CpuEngine;
use crate::cpu::keys::source::PackedSource;
use crate::cpu::pose::{self, Scratch, WriteGroup};
use crate::cpu::simd::{Kernel, LARGEST_BLOCK, Lanes, Token};
use crate::error::Error;
use crate::model::{ClipId, Layer, LayerTime, Outputs, SkeletonId};
use crate::pack::record::LayerRecord;
use crate::pack::{OutputLayout, OutputNumbers, pack_layer};

/// A clip of a skeleton at a fixed time in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClipTime {
    pub clip: ClipId,
    pub time: f64,
}

/// Poses clips of one skeleton at fixed times, on the calling thread. Its memory is reused from call to call.
///
/// The numbers are the numbers of an instance with one plain layer, except for rounding: they are computed without the
/// estimates of a processor, so that their bits depend only on its [`arithmetic`](crate::bake::arithmetic).
pub(crate) struct ClipPoser<'a> {
    engine: &'a CpuEngine,
    source: PackedSource<'a>,
    layout: OutputLayout,
    records: Vec<LayerRecord>,
    numbers: OutputNumbers,
    scratch: Scratch,
}

impl<'a> ClipPoser<'a> {
    /// A poser of the clips of a skeleton.
    ///
    /// # Errors
    /// [`Error::Usage`] if the library of the engine has no such skeleton.
    pub fn new(engine: &'a CpuEngine, skeleton: SkeletonId, outputs: Outputs) -> Result<Self, Error> {
        let source = engine.source(skeleton)?;
        let layout = OutputLayout::new(&source.skeleton.record, outputs);
        let mut scratch = Scratch::new();
        scratch.resize(source.skeleton.record.joint_count as usize, LARGEST_BLOCK);
        Ok(Self { engine, source, layout, records: Vec::new(), numbers: OutputNumbers::default(), scratch })
    }

    /// Poses the clips at these times, which animate the skeleton. Clips that the library does not have are left at
    /// rest.
    pub fn pose(&mut self, times: &[ClipTime]) -> &OutputNumbers {
        let library = self.source.library;
        let rest_clip = self.source.skeleton.record.rest_clip;
        let record = |at: &ClipTime| {
            let record = pack_layer(library, &Layer::new(at.clip, LayerTime::At(at.time)));
            record.unwrap_or(LayerRecord { clip: rest_clip, ..Default::default() })
        };
        self.records.clear();
        self.records.extend(times.iter().map(record));
        self.numbers.resize(&self.layout, times.len());
        let work = PoseClips {
            source: self.source,
            layout: &self.layout,
            records: &self.records,
            scratch: &mut self.scratch,
            to: OutputSlices::new(&mut self.numbers),
        };
        self.engine.instructions().run_exact(work);
        &self.numbers
    }
}

/// The work of one call.
struct PoseClips<'a> {
    source: PackedSource<'a>,
    layout: &'a OutputLayout,
    records: &'a [LayerRecord],
    scratch: &'a mut Scratch,
    to: OutputSlices<'a>,
}

impl Kernel for PoseClips<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: Token<L>) {
        let Self { source, layout, records, scratch, to } = self;
        for (layers, mut to) in records.chunks(L::BLOCK).zip(to.chunks(layout, L::BLOCK)) {
            scratch.found.find::<L>(source, layers, 0);
            pose::sample(token, source, layers, layout, scratch, &mut to);
            L::call(token, WriteGroup { source, instances: layers.len(), layout, scratch, to });
        }
    }
}
