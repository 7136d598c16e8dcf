//! The engines that are measured.

use std::thread;

use posse::low_level::Bandwidth;
use posse::{AdapterKind, Crowd, Error, Outputs, Ticks};

use super::args::Args;
use super::report::Report;
use super::size::Size;
use crate::engine::{AdapterArgs, Engine, EngineChoice, EngineLibrary};
use crate::start_up::StartUp;

/// The number of joints of each case of a cost table.
const TABLE_JOINTS: u32 = 640_000;
/// The number of joints of each case of a cost table, if a page shows a software adapter.
const TABLE_JOINTS_IN_SOFTWARE: u32 = 64_000;
/// The largest number of joints of a case of a page that a software adapter poses.
const MAX_JOINTS_IN_SOFTWARE: u64 = 2_000_000;

/// An engine, and its number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineUnderTest {
    /// The engine.
    pub choice: EngineChoice,
    /// The threads of the CPU engine; `None` for one per core, and for other engines.
    pub threads: Option<usize>,
}

impl Args {
    /// The engines that are measured. The CPU engine is measured with each number of threads.
    pub fn engines_under_test(&self) -> Vec<EngineUnderTest> {
        let has_several_cores = || thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let threads: Vec<Option<usize>> = match &self.threads[..] {
            [] if self.report.is_some() && has_several_cores() => vec![Some(1), None],
            [] => vec![None],
            threads => threads.iter().copied().map(Some).collect(),
        };
        let with_threads = |&choice: &EngineChoice| match choice {
            EngineChoice::Cpu | EngineChoice::Auto => {
                threads.iter().map(|&threads| EngineUnderTest { choice, threads }).collect()
            }
            EngineChoice::Gpu | EngineChoice::Reference => vec![EngineUnderTest { choice, threads: None }],
        };
        self.engines().iter().flat_map(with_threads).collect()
    }

    /// The number of joints of each case of a cost table. The cases of all engines on a page have the same size, so a software
    /// adapter makes all of them smaller.
    pub fn joints_per_table_case(&self) -> u32 {
        let page_has_gpu = self.report.is_some() && self.engines().contains(&EngineChoice::Gpu);
        let in_software = || self.adapter.open(AdapterKind::Any).is_ok_and(|gpu| !gpu.is_hardware());
        self.table_joints
            .unwrap_or_else(|| if page_has_gpu && in_software() { TABLE_JOINTS_IN_SOFTWARE } else { TABLE_JOINTS })
    }
}

/// Fails if `--adapter` names no adapter, or if no engine uses it. The command calls it before its work begins.
pub fn check_adapter(args: &Args) -> Result<(), Error> {
    let uses_gpu = |choice: &&EngineChoice| matches!(choice, EngineChoice::Gpu | EngineChoice::Auto);
    let engine = args.engines().iter().find(uses_gpu).or(args.engines().first());
    engine.map_or(Ok(()), |&engine| args.adapter.with_engine(engine).map(|_| ()))
}

/// Returns true if the engine is a software adapter and the case takes it too long for a page.
pub fn takes_long(engine: &Engine, size: Size) -> bool {
    let in_software = matches!(engine, Engine::Gpu(engine) if !engine.gpu().is_hardware());
    in_software && (size.instances as u64).saturating_mul(size.joints as u64) > MAX_JOINTS_IN_SOFTWARE
}

/// The start-up work that engines of a library share.
#[derive(Clone, Copy)]
pub struct SharedStartUp<'a> {
    /// The steps before the engine: loading the program and the library.
    pub load: &'a StartUp,
    /// A crowd of one instance. Its pose is the last step.
    pub first: &'a Crowd,
}

/// Opens an engine.
///
/// The start-up of the first engine of each kind is added to the report, and the memory bandwidth of the first GPU. Returns
/// `None`, and adds a note to the report, if there is no adapter and other engines remain.
pub fn open<'a>(
    args: &Args,
    library: EngineLibrary<'a>,
    engine: EngineUnderTest,
    shared: SharedStartUp,
    report: &mut Report,
) -> Result<Option<Engine<'a>>, Error> {
    let mut start_up = shared.load.clone();
    let adapter = match engine.choice {
        EngineChoice::Gpu | EngineChoice::Auto => &args.adapter,
        EngineChoice::Cpu | EngineChoice::Reference => &AdapterArgs::default(),
    };
    let selection = adapter.with_engine(engine.choice)?;
    let mut engine = match Engine::open_timed(library, selection, engine.threads, &mut start_up) {
        Ok(engine) => engine,
        Err(error @ Error::NoAdapter { .. }) if args.engines().len() > 1 => {
            report.skip(format!("without the gpu engine: {error}"));
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let name = engine.evaluator().engine();
    if report.start_ups.iter().all(|(engine, _)| *engine != name) {
        start_up.step("first pose", || engine.evaluator().evaluate(shared.first, Ticks::default(), Outputs::SKIN))?;
        report.start_ups.push((name, start_up));
    }
    if let (Engine::Gpu(engine), None) = (&engine, report.bandwidth) {
        report.bandwidth = Some(Bandwidth::measure(engine.gpu())?);
    }
    Ok(Some(engine))
}
