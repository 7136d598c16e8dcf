//! The engines of a bake, and the frames that they fill.

use std::ops::Range;
#[cfg(feature = "gpu")]
use std::sync::OnceLock;

use posse::bake::{self, ArrayKind, ArrayLayout, ArrayShape, Moment};
use posse::cpu::CpuEngine;
#[cfg(feature = "gpu")]
use posse::gpu::{AdapterKind, GpuContext};
use posse::quality::{FootContacts, FootLock};
use posse::{ClipId, Error, Evaluator, Layer, Library};

use crate::bake::frames::ClipFrames;
#[cfg(feature = "gpu")]
use crate::engine::StartUp;
use crate::engine::{Engine, EngineChoice, EngineLibrary, EngineSelection};
use crate::threads::default_threads;

/// The bytes of the frames that are handed to a writer at once.
const BLOCK_BYTES: usize = 4 << 20;
/// The largest number of frames that are handed to a writer at once.
const MAX_FRAMES: usize = 4096;

/// An engine for a library. Workers have one each, so that it takes one thread.
pub enum ClipSampler<'a> {
    Cpu(Box<CpuEngine>),
    Other(Box<dyn Evaluator + 'a>),
}

impl<'a> ClipSampler<'a> {
    /// The name of the engine in the facts of outputs: with the arithmetic by which the bits of the CPU engine differ.
    pub fn name(&self) -> String {
        match self {
            Self::Cpu(engine) => format!("cpu, {}", bake::arithmetic(engine)),
            Self::Other(engine) if engine.engine() == "gpu" => format!("gpu, {}", engine.adapter()),
            Self::Other(engine) => engine.engine().to_owned(),
        }
    }

    /// Fills arrays for frames of a clip.
    fn sample(&mut self, layout: &ArrayLayout, moments: &[Moment], out: &mut [&mut [f32]]) -> Result<(), Error> {
        match self {
            Self::Cpu(engine) => layout.sample(engine, moments, out),
            Self::Other(engine) => layout.sample_with(engine.as_mut(), moments, out),
        }
    }

    fn evaluator(&mut self) -> &mut (dyn Evaluator + 'a) {
        match self {
            Self::Cpu(engine) => engine.as_mut(),
            Self::Other(engine) => engine.as_mut(),
        }
    }
}

/// The engines of a bake. Those on the GPU share a device, which is opened for the first of them.
pub struct Engines<'s> {
    selection: EngineSelection<'s>,
    #[cfg(feature = "gpu")]
    gpu: OnceLock<GpuContext>,
}

impl<'s> Engines<'s> {
    /// Engines of a kind. None is open.
    pub fn new(selection: EngineSelection<'s>) -> Self {
        Self {
            selection,
            #[cfg(feature = "gpu")]
            gpu: OnceLock::new(),
        }
    }

    /// Opens an engine for a library.
    pub fn open<'a>(&self, library: &'a Library) -> Result<ClipSampler<'a>, Error> {
        let keys = EngineLibrary::new(library, None);
        let engine = match self.selection.choice {
            EngineChoice::Auto | EngineChoice::Cpu => {
                return Ok(ClipSampler::Cpu(Box::new(CpuEngine::with_threads(library, 1)?)));
            }
            #[cfg(feature = "gpu")]
            EngineChoice::Gpu => Engine::with_gpu(self.gpu()?, keys, default_threads(), &mut StartUp::default())?,
            _ => Engine::open(keys, self.selection, default_threads())?,
        };
        Ok(ClipSampler::Other(engine.into_evaluator()))
    }

    /// The device of the bake.
    #[cfg(feature = "gpu")]
    fn gpu(&self) -> Result<GpuContext, Error> {
        if let Some(gpu) = self.gpu.get() {
            return Ok(gpu.clone());
        }
        let gpu = self.selection.adapter.open(AdapterKind::Any)?;
        Ok(self.gpu.get_or_init(|| gpu).clone())
    }
}

/// The motion of an output.
#[derive(Clone, Copy)]
pub enum OutputMotion<'a> {
    /// A clip, at its own times.
    Clip(ClipId),
    /// The layers of an instance, at times of the crowd clock.
    Layers(&'a [Layer]),
    /// A clip of a library whose feet are held.
    Locked(ClipId, &'a Library, &'a FootLock),
}

/// Consecutive frames of a clip: times and arrays, whose memory is used again.
pub struct Block {
    /// The frames of a block.
    count: u64,
    moments: Vec<Moment>,
    /// The times of the frames in the output.
    pub times: Vec<f64>,
    /// The numbers of each array.
    pub arrays: Vec<Vec<f32>>,
}

impl Block {
    /// A block for the arrays of a layout.
    pub fn new(layout: &ArrayLayout) -> Self {
        let widths: usize = layout.arrays().iter().map(ArrayShape::width).sum();
        let count = (BLOCK_BYTES / size_of::<f32>() / widths.max(1)).clamp(1, MAX_FRAMES) as u64;
        Self { count, moments: Vec::new(), times: Vec::new(), arrays: vec![Vec::new(); layout.arrays().len()] }
    }

    /// The end of a block that begins at a frame.
    pub fn end(&self, first: u64, all: u64) -> u64 {
        all.min(first + self.count)
    }

    /// Fills the arrays of contacts, after all others.
    pub fn fill_contacts(&mut self, layout: &ArrayLayout, contacts: &FootContacts) {
        let arrays = layout.arrays().iter().zip(&mut self.arrays);
        for (_, numbers) in arrays.filter(|(array, _)| array.kind == ArrayKind::Contact) {
            contacts.write(&self.times, numbers);
        }
    }

    /// Fills the block with the frames from `first` to before `end`.
    pub fn fill(
        &mut self,
        sampler: &mut ClipSampler,
        layout: &ArrayLayout,
        clip: &ClipFrames,
        motion: OutputMotion,
        frames: Range<u64>,
    ) -> Result<(), Error> {
        let grid = &clip.grid;
        self.times.clear();
        self.times.extend(frames.clone().map(|frame| clip.time(frame)));
        for (array, numbers) in layout.arrays().iter().zip(&mut self.arrays) {
            numbers.resize(self.times.len() * array.width(), 0.0);
        }
        let mut slices: Vec<&mut [f32]> = self.arrays.iter_mut().map(Vec::as_mut_slice).collect();
        match motion {
            OutputMotion::Clip(clip) => {
                self.moments.clear();
                self.moments.extend(frames.map(|frame| grid.moment(clip, frame)));
                sampler.sample(layout, &self.moments, &mut slices)
            }
            OutputMotion::Locked(clip, library, lock) => {
                self.moments.clear();
                self.moments.extend(frames.map(|frame| grid.moment(clip, frame)));
                let goals = |_: ClipId, time: f64| lock.goals(library, time);
                layout.sample_with_goals(sampler.evaluator(), &self.moments, &goals, &mut slices)
            }
            OutputMotion::Layers(layers) => {
                layout.sample_layers(sampler.evaluator(), layers, grid, frames, &mut slices)
            }
        }
    }
}
