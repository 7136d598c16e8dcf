//! Which engine is to answer.

use std::time::Duration;

use posse::low_level::all_threads;
use posse::measure::{self, Measurement, Workload};
use posse::{
    AdapterKind, CompressedLibrary, CpuEngine, Error, Evaluator, GpuContext, GpuEngine, GpuLibrary, Library,
    PackedLibrary, Reference,
};

use crate::cli::output::note;
use crate::cli::start_up::StartUp;

/// An engine, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// A hardware GPU where there is one, else the CPU.
    Auto,
    /// The GPU; a software adapter where there is no other.
    Gpu,
    /// The CPU.
    Cpu,
    /// The f64 reference.
    Reference,
}

/// The choice of an engine.
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// Which engine answers.
    #[arg(long, value_enum, default_value = "auto")]
    pub engine: Choice,
}

/// What an engine is made for.
#[derive(Clone, Copy)]
pub enum Keys<'a> {
    /// A library as it is.
    Float(&'a Library),
    /// A library with compressed keys.
    Compressed(&'a CompressedLibrary),
}

impl<'a> Keys<'a> {
    /// The compressed form of a library, where there is one.
    pub fn of(library: &'a Library, compressed: Option<&'a CompressedLibrary>) -> Self {
        compressed.map_or(Self::Float(library), Self::Compressed)
    }

    /// The library whose numbers the engine has.
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
    Cpu(CpuEngine),
    Reference(Reference<'a>),
}

impl<'a> Engine<'a> {
    /// The chosen engine.
    pub fn open(keys: Keys<'a>, choice: Choice) -> Result<Self, Error> {
        Self::open_timed(keys, choice, None, &mut StartUp::default())
    }

    /// The chosen engine, its library packed on so many threads, else on all, on which it then runs if it is the CPU's; and
    /// what each step towards it took.
    pub fn open_timed(
        keys: Keys<'a>,
        choice: Choice,
        threads: Option<usize>,
        start_up: &mut StartUp,
    ) -> Result<Self, Error> {
        let threads = threads.unwrap_or_else(all_threads);
        match choice {
            Choice::Reference => Ok(Self::Reference(Reference::new(keys.library()))),
            Choice::Cpu => Self::cpu(keys, threads, start_up),
            Choice::Gpu => Self::gpu(keys, AdapterKind::Any, threads, start_up),
            Choice::Auto => match Self::gpu(keys, AdapterKind::Hardware, threads, start_up) {
                Ok(engine) => Ok(engine),
                Err(error) => {
                    let why = match &error {
                        // What to install is said to who asks for the GPU.
                        Error::NoAdapter { wanted } => format!("no GPU adapter{wanted}"),
                        Error::Device(said) => said.lines().next().unwrap_or_default().to_owned(),
                        _ => return Err(error),
                    };
                    note(&format!("note: the CPU engine answers: {why}"));
                    Self::cpu(keys, threads, start_up)
                }
            },
        }
    }

    fn gpu(keys: Keys, kind: AdapterKind, threads: usize, start_up: &mut StartUp) -> Result<Self, Error> {
        let gpu = start_up.step("device", || GpuContext::new(kind))?;
        let packing = start_up.step("pack", || keys.pack(threads))?;
        let library = start_up.step("pipelines", || GpuLibrary::new(&gpu.device, packing))?;
        Ok(Self::Gpu(Box::new(GpuEngine::with_library(gpu, library))))
    }

    fn cpu(keys: Keys, threads: usize, start_up: &mut StartUp) -> Result<Self, Error> {
        let engine = || keys.pack(threads).map(|packing| CpuEngine::with_packing(packing, threads));
        start_up.step("pack", engine).map(Self::Cpu)
    }

    /// The engine, whichever it is.
    pub fn evaluator(&mut self) -> &mut (dyn Evaluator + 'a) {
        match self {
            Self::Gpu(engine) => engine.as_mut(),
            Self::Cpu(engine) => engine,
            Self::Reference(engine) => engine,
        }
    }

    /// Measures the engine for about a time.
    pub fn measure(&self, subject: &Workload, budget: Duration) -> Result<Measurement, Error> {
        match self {
            Self::Gpu(engine) => measure::gpu(engine, subject, budget),
            Self::Cpu(engine) => measure::cpu(engine, subject, budget),
            Self::Reference(_) => measure::reference(subject, budget),
        }
    }
}

/// The chosen engine, whichever it is.
pub fn open(keys: Keys, choice: Choice) -> Result<Box<dyn Evaluator + '_>, Error> {
    Ok(match Engine::open(keys, choice)? {
        Engine::Gpu(engine) => engine,
        Engine::Cpu(engine) => Box::new(engine),
        Engine::Reference(engine) => Box::new(engine),
    })
}

/// Says which engine answers, on stderr.
pub fn introduce(engine: &dyn Evaluator) {
    note(&format!("engine: {} ({})", engine.engine(), engine.adapter()));
}
