//! The selection of an engine.

use std::time::Duration;

use posse::measure::{self, Measurement, Workload};
use posse::{
    AdapterKind, CompressedLibrary, CpuEngine, Error, Evaluator, GpuContext, GpuEngine, GpuLibrary, Library,
    PackedLibrary, Reference,
};

use crate::cli::output::note;
use crate::cli::start_up::StartUp;
use crate::cli::threads::default_threads;

/// The name of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineChoice {
    /// A hardware GPU if there is one, otherwise the CPU.
    Auto,
    /// The GPU, or a software adapter if there is no hardware GPU.
    Gpu,
    /// The CPU.
    Cpu,
    /// The f64 reference.
    Reference,
}

/// The option `--engine`.
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// The engine that evaluates the poses.
    #[arg(long, value_enum, default_value = "auto")]
    pub engine: EngineChoice,
}

/// The library of an engine, in one of two forms of keys.
#[derive(Clone, Copy)]
pub enum EngineLibrary<'a> {
    /// A library with float keys.
    Float(&'a Library),
    /// A library with compressed keys.
    Compressed(&'a CompressedLibrary),
}

impl<'a> EngineLibrary<'a> {
    /// The compressed library if there is one, otherwise the library.
    pub fn new(library: &'a Library, compressed: Option<&'a CompressedLibrary>) -> Self {
        compressed.map_or(Self::Float(library), Self::Compressed)
    }

    /// The library with the values that the engine evaluates: those of the decoded keys if they are compressed.
    pub fn library(self) -> &'a Library {
        match self {
            Self::Float(library) => library,
            Self::Compressed(compressed) => compressed.library(),
        }
    }

    fn pack(self, threads: usize) -> Result<PackedLibrary, Error> {
        match self {
            Self::Float(library) => PackedLibrary::with_threads(library, threads),
            Self::Compressed(compressed) => compressed.pack_with_threads(threads),
        }
    }
}

/// An engine for a library.
pub enum Engine<'a> {
    Gpu(Box<GpuEngine>),
    Cpu(Box<CpuEngine>),
    Reference(Reference<'a>),
}

impl<'a> Engine<'a> {
    /// Opens an engine. The library is packed on `threads` threads, and the CPU engine runs on the same number.
    pub fn open(library: EngineLibrary<'a>, choice: EngineChoice, threads: usize) -> Result<Self, Error> {
        Self::open_timed(library, choice, Some(threads), &mut StartUp::default())
    }

    /// Opens an engine, and adds the time of each step to `start_up`. The library is packed on `threads` threads, by default on
    /// [`default_threads`]; the CPU engine runs on the same number.
    pub fn open_timed(
        library: EngineLibrary<'a>,
        choice: EngineChoice,
        threads: Option<usize>,
        start_up: &mut StartUp,
    ) -> Result<Self, Error> {
        let threads = threads.unwrap_or_else(default_threads);
        match choice {
            EngineChoice::Reference => Ok(Self::Reference(Reference::new(library.library()))),
            EngineChoice::Cpu => Self::cpu(library, threads, start_up),
            EngineChoice::Gpu => Self::gpu(library, AdapterKind::Any, threads, start_up),
            EngineChoice::Auto => match Self::gpu(library, AdapterKind::Hardware, threads, start_up) {
                Ok(engine) => Ok(engine),
                Err(error) => {
                    let reason = match &error {
                        // The full message says what to install, which matters only for `--engine gpu`.
                        Error::NoAdapter { wanted } => format!("no GPU adapter{wanted}"),
                        Error::Device(message) => message.lines().next().unwrap_or_default().to_owned(),
                        _ => return Err(error),
                    };
                    note(&format!("note: the CPU engine answers: {reason}"));
                    Self::cpu(library, threads, start_up)
                }
            },
        }
    }

    fn gpu(library: EngineLibrary, kind: AdapterKind, threads: usize, start_up: &mut StartUp) -> Result<Self, Error> {
        let gpu = start_up.step("device", || GpuContext::new(kind))?;
        Self::with_gpu(gpu, library, threads, start_up)
    }

    /// Opens the GPU engine on a device that is open. The library is packed on `threads` threads.
    pub fn with_gpu(
        gpu: GpuContext,
        library: EngineLibrary,
        threads: usize,
        start_up: &mut StartUp,
    ) -> Result<Self, Error> {
        let packed = start_up.step("pack", || library.pack(threads))?;
        let library = start_up.step("pipelines", || GpuLibrary::new(&gpu, packed))?;
        Ok(Self::Gpu(Box::new(GpuEngine::with_library(gpu, library)?)))
    }

    fn cpu(library: EngineLibrary, threads: usize, start_up: &mut StartUp) -> Result<Self, Error> {
        let engine = || library.pack(threads).map(|packed| CpuEngine::from_packed(packed, threads));
        start_up.step("pack", engine).map(Box::new).map(Self::Cpu)
    }

    /// The engine as a trait object.
    pub fn evaluator(&mut self) -> &mut (dyn Evaluator + 'a) {
        match self {
            Self::Gpu(engine) => engine.as_mut(),
            Self::Cpu(engine) => engine.as_mut(),
            Self::Reference(engine) => engine,
        }
    }

    /// The engine as a trait object of its own.
    pub fn into_evaluator(self) -> Box<dyn Evaluator + 'a> {
        match self {
            Self::Gpu(engine) => engine,
            Self::Cpu(engine) => engine,
            Self::Reference(engine) => Box::new(engine),
        }
    }

    /// The bytes that the engine keeps for its library, of the GPU engine those of its buffers; `None` for the reference, which reads
    /// the model.
    pub fn library_bytes(&self) -> Option<u64> {
        match self {
            Self::Gpu(engine) => Some(engine.library().size()),
            Self::Cpu(engine) => Some(engine.size() as u64),
            Self::Reference(_) => None,
        }
    }

    /// Measures the engine for about the time of the budget.
    pub fn measure(&self, workload: &Workload, budget: Duration) -> Result<Measurement, Error> {
        match self {
            Self::Gpu(engine) => measure::gpu(engine, workload, budget),
            Self::Cpu(engine) => measure::cpu(engine, workload, budget),
            Self::Reference(_) => measure::reference(workload, budget),
        }
    }
}

/// Opens an engine as a trait object, with the default number of threads.
pub fn open(library: EngineLibrary, choice: EngineChoice) -> Result<Box<dyn Evaluator + '_>, Error> {
    Engine::open(library, choice, default_threads()).map(Engine::into_evaluator)
}

/// Prints the name of the engine and its adapter to stderr.
pub fn print_name(engine: &dyn Evaluator) {
    note(&format!("engine: {} ({})", engine.engine(), engine.adapter()));
}
