//! The selection of an engine, and its start-up time: the steps from the start of the program to the first pose.

#[cfg(feature = "gpu")]
use std::env;
#[cfg(feature = "gpu")]
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use posse::compress::CompressedLibrary;
use posse::cpu::CpuEngine;
#[cfg(feature = "gpu")]
use posse::gpu::{AdapterDescription, AdapterKind, GpuContext, GpuEngine, GpuLibrary};
use posse::measure::{self, Measurement, Workload};
use posse::packed::PackedLibrary;
use posse::{Error, Evaluator, Library, Reference};

use crate::output::note;
use crate::threads::default_threads;
#[cfg(not(feature = "gpu"))]
use crate::without_gpu;

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

/// The options `--engine` and `--adapter`.
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// The engine that evaluates the poses.
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineChoice,
    #[command(flatten)]
    adapter: AdapterArgs,
}

impl EngineArgs {
    /// The engine, and its adapter.
    ///
    /// # Errors
    /// The errors of [`AdapterArgs::with_engine`].
    pub fn selection(&self) -> Result<EngineSelection<'_>, Error> {
        self.adapter.with_engine(self.engine)
    }
}

/// The option `--adapter`.
#[derive(Debug, Default, clap::Args)]
pub struct AdapterArgs {
    /// The adapter of the GPU: a part of its name in any case, or its index in the list of `posse adapters`. Default:
    /// the best one.
    #[arg(long, value_name = "NAME|INDEX")]
    adapter: Option<String>,
}

impl AdapterArgs {
    /// The adapter that the option names; `None` without the option.
    ///
    /// # Errors
    /// [`Error::Usage`] with a list of the adapters if none is meant, or several.
    #[cfg(feature = "gpu")]
    pub fn find(&self) -> Result<Option<AdapterDescription>, Error> {
        let found = self.adapter.as_deref().map(GpuContext::find_adapter).transpose();
        found.map_err(|error| Error::Usage(format!("--adapter: {error}")))
    }

    /// There is no adapter.
    ///
    /// # Errors
    /// [`Error::Usage`] with the option.
    #[cfg(not(feature = "gpu"))]
    pub fn find(&self) -> Result<(), Error> {
        self.adapter.as_ref().map_or(Ok(()), |_| Err(without_gpu::error()))
    }

    /// Opens the adapter that the option names, or the best one of a kind.
    #[cfg(feature = "gpu")]
    pub fn open(&self, kind: AdapterKind) -> Result<GpuContext, Error> {
        match self.find()? {
            Some(found) => GpuContext::with_adapter(&found.adapter),
            None => GpuContext::new(kind),
        }
    }

    /// Returns `true` if the option is given.
    #[cfg(feature = "gpu")]
    pub fn is_given(&self) -> bool {
        self.adapter.is_some()
    }

    /// Opens the adapter that the option names, or the best one, to draw pictures with, and prints its name.
    ///
    /// # Errors
    /// [`Error::Usage`] with the package to install if there is none; the errors of [`open`](Self::open).
    #[cfg(feature = "gpu")]
    pub fn open_to_draw(&self) -> Result<GpuContext, Error> {
        let gpu = self.open(AdapterKind::Any).map_err(explain_missing_adapter)?;
        note(&format!("engine: gpu ({})", gpu.name()));
        Ok(gpu)
    }

    /// Adds an engine. With an adapter, `auto` is the GPU engine.
    ///
    /// # Errors
    /// [`Error::Usage`] for an adapter that is not found, and for an adapter of an engine that uses none.
    pub fn with_engine(&self, choice: EngineChoice) -> Result<EngineSelection<'_>, Error> {
        self.find()?;
        let choice = match (&self.adapter, choice) {
            (Some(_), EngineChoice::Auto) => EngineChoice::Gpu,
            (Some(name), EngineChoice::Cpu | EngineChoice::Reference) => {
                return Err(Error::Usage(format!("--adapter {name}: the engine uses no adapter; use --engine gpu")));
            }
            #[cfg(not(feature = "gpu"))]
            (None, EngineChoice::Gpu) => return Err(without_gpu::error()),
            (_, choice) => choice,
        };
        Ok(EngineSelection { choice, adapter: self })
    }
}

/// Replaces the error for a missing adapter, which suggests another engine, by one that names the package to install.
/// Only the GPU can draw.
#[cfg(feature = "gpu")]
fn explain_missing_adapter(error: Error) -> Error {
    match error {
        Error::NoAdapter { wanted } => Error::Usage(format!(
            "no GPU adapter{wanted}, and pictures need one. Install your GPU's Vulkan, Metal or DirectX 12 driver, or a \
             software driver (Debian and Ubuntu: apt-get install mesa-vulkan-drivers)"
        )),
        other => other,
    }
}

/// An engine, and the adapter of the GPU engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineSelection<'a> {
    /// The engine.
    pub choice: EngineChoice,
    /// The adapter.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "only the GPU engine has one"))]
    pub adapter: &'a AdapterArgs,
}

/// The steps of a start-up, in order.
#[derive(Debug, Clone, Default)]
pub struct StartUp {
    /// The name of each step, and its seconds.
    pub steps: Vec<(&'static str, f64)>,
}

impl StartUp {
    /// Measures the first step, the loading of the program by the system.
    ///
    /// A program cannot measure its own loading, so the program is started once more with `--version`. If that fails,
    /// the step is left out.
    #[cfg(feature = "gpu")]
    pub fn measure_program() -> Self {
        let mut start_up = Self::default();
        let start = Instant::now();
        let status = env::current_exe().and_then(|program| {
            Command::new(program)
                .arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
        });
        if status.is_ok_and(|status| status.success()) {
            start_up.steps.push(("program", start.elapsed().as_secs_f64()));
        }
        start_up
    }

    /// Runs a step, and stores its time.
    pub fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.steps.push((name, start.elapsed().as_secs_f64()));
        result
    }

    /// The total of all steps in seconds.
    #[cfg(feature = "gpu")]
    pub fn seconds(&self) -> f64 {
        self.steps.iter().map(|(_, seconds)| seconds).sum()
    }
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

    /// The library with the values that the engine evaluates: the decoded keys if they are compressed.
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
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuEngine>),
    Cpu(Box<CpuEngine>),
    Reference(Reference<'a>),
}

impl<'a> Engine<'a> {
    /// Opens an engine. The library is packed on `threads` threads, and the CPU engine runs on the same number.
    pub fn open(library: EngineLibrary<'a>, selection: EngineSelection, threads: usize) -> Result<Self, Error> {
        Self::open_timed(library, selection, Some(threads), &mut StartUp::default())
    }

    /// Opens an engine, and adds the time of each step to `start_up`. The library is packed on `threads` threads, by
    /// default on [`default_threads`]; the CPU engine runs on the same number.
    pub fn open_timed(
        library: EngineLibrary<'a>,
        selection: EngineSelection,
        threads: Option<usize>,
        start_up: &mut StartUp,
    ) -> Result<Self, Error> {
        let threads = threads.unwrap_or_else(default_threads);
        #[cfg(feature = "gpu")]
        let mut open_gpu = |kind| {
            let gpu = start_up.step("device", || selection.adapter.open(kind))?;
            Self::with_gpu(gpu, library, threads, start_up)
        };
        match selection.choice {
            EngineChoice::Reference => Ok(Self::Reference(Reference::new(library.library()))),
            EngineChoice::Cpu => Self::cpu(library, threads, start_up),
            #[cfg(not(feature = "gpu"))]
            EngineChoice::Auto => Self::cpu(library, threads, start_up),
            #[cfg(not(feature = "gpu"))]
            EngineChoice::Gpu => Err(without_gpu::error()),
            #[cfg(feature = "gpu")]
            EngineChoice::Gpu => open_gpu(AdapterKind::Any),
            #[cfg(feature = "gpu")]
            EngineChoice::Auto => match open_gpu(AdapterKind::Hardware) {
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

    /// Opens the GPU engine on a device that is open. The library is packed on `threads` threads.
    #[cfg(feature = "gpu")]
    pub fn with_gpu(
        gpu: GpuContext,
        library: EngineLibrary,
        threads: usize,
        start_up: &mut StartUp,
    ) -> Result<Self, Error> {
        let packed = start_up.step("pack", || library.pack(threads))?;
        let library = start_up.step("pipelines", || GpuLibrary::from_packed(&gpu, packed))?;
        Ok(Self::Gpu(Box::new(GpuEngine::with_library(gpu, library)?)))
    }

    fn cpu(library: EngineLibrary, threads: usize, start_up: &mut StartUp) -> Result<Self, Error> {
        let engine = || library.pack(threads).map(|packed| CpuEngine::from_packed(packed, threads));
        start_up.step("pack", engine).map(Box::new).map(Self::Cpu)
    }

    /// The engine as a trait object.
    pub fn evaluator(&mut self) -> &mut (dyn Evaluator + 'a) {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(engine) => engine.as_mut(),
            Self::Cpu(engine) => engine.as_mut(),
            Self::Reference(engine) => engine,
        }
    }

    /// The engine as a trait object of its own.
    pub fn into_evaluator(self) -> Box<dyn Evaluator + 'a> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(engine) => engine,
            Self::Cpu(engine) => engine,
            Self::Reference(engine) => Box::new(engine),
        }
    }

    /// The bytes that the engine keeps for its library, of the GPU engine the bytes of its buffers; `None` for the
    /// reference, which reads the model.
    #[cfg(feature = "gpu")]
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
            #[cfg(feature = "gpu")]
            Self::Gpu(engine) => measure::gpu(engine, workload, budget),
            Self::Cpu(engine) => measure::cpu(engine, workload, budget),
            Self::Reference(_) => measure::reference(workload, budget),
        }
    }
}

/// Opens an engine as a trait object, with the default number of threads.
pub fn open<'a>(library: EngineLibrary<'a>, selection: EngineSelection) -> Result<Box<dyn Evaluator + 'a>, Error> {
    Engine::open(library, selection, default_threads()).map(Engine::into_evaluator)
}

/// Prints the name of the engine and its adapter to stderr.
pub fn print_name(engine: &dyn Evaluator) {
    note(&format!("engine: {} ({})", engine.engine(), engine.adapter()));
}
