//! The measurement: each engine poses crowds of rigs of each size, or the crowd of a crowd file.

use std::collections::HashSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

use posse::low_level::Bandwidth;
use posse::measure::Workload;
use posse::{Crowd, Error, Library, Outputs, Ticks};

use super::args::Args;
use super::case::{CrowdShape, MAX_JOINTS, PlannedCase, Size, TableStep};
use super::machine_state::{GpuMonitor, with_waited};
use super::report::{Case, Report};
use super::rig::{self, BenchRig};
use crate::arguments::check_limit;
use crate::engine::{AdapterArgs, Engine, EngineChoice, EngineLibrary, StartUp};
use crate::output::file_name;
use crate::progress::Progress;
use crate::source::load_crowd_file;

/// The crowd of the first pose.
const FIRST: CrowdShape = CrowdShape { instances: 1, layers: 1, additive: 0 };
/// The largest number of joints of a case of a page that a software adapter poses.
const MAX_JOINTS_IN_SOFTWARE: u64 = 2_000_000;

/// Measures crowds of each size with each engine.
pub fn measure_rigs(args: &Args, report: &mut Report) -> Result<(), Error> {
    let mut load = StartUp::measure_program();
    let rigs = rig::load_rigs(args, &mut load, report)?;
    if rigs.iter().any(|rig| rig.library.clips().is_empty()) {
        return Err(Error::Usage("there is no clip to play; a file with animations is needed".into()));
    }
    let cases: usize = rigs.iter().map(|rig| rig.cases.len()).sum();
    let engines = args.engines_under_test();
    let progress = Progress::new(cases * engines.len(), "cases");
    let compressed: Vec<_> = rigs.iter().map(|rig| args.compress.compress(&rig.library)).collect::<Result<_, _>>()?;
    report.compressed = args.compress.bound;
    for engine in engines {
        let is_crowded = engine.is_crowded();
        // Other engines are measured without it.
        let mut monitor = None;
        for (BenchRig { library, cases }, compressed) in rigs.iter().zip(&compressed) {
            let engine_library = EngineLibrary::new(library, compressed.as_ref());
            let shared = SharedStartUp { load: &load, first: &rig::crowd(library, FIRST)? };
            let engine = match open(args, engine_library, engine, shared, report) {
                Ok(Some(engine)) => engine,
                Ok(None) => break,
                Err(error) => {
                    // A rig that is too large for the engine is too large in all its cases.
                    skip_case(report, cases[0], error)?;
                    continue;
                }
            };
            watch(&engine, &mut monitor, report);
            let measuring = Measuring { args, engine: &engine, is_crowded, monitor: monitor.as_ref() };
            for &case in cases {
                let PlannedCase { size, step } = case;
                if args.report.is_some() && step.is_some() && takes_long(&engine, size) {
                    report.skip(format!(
                        "without {size} on the gpu engine: a software adapter takes too long for a page"
                    ));
                    progress.add(1);
                    continue;
                }
                match measuring.case(engine_library.library(), size, step) {
                    Ok(case) => report.cases.push(case),
                    Err(error) => skip_case(report, case, error)?,
                }
                progress.add(1);
            }
        }
    }
    Ok(())
}

/// An engine that is measured.
struct Measuring<'a> {
    args: &'a Args,
    engine: &'a Engine<'a>,
    /// True if the engine has more threads than there are cores, so that they wait for each other.
    is_crowded: bool,
    /// The monitor of the GPU, if the engine runs on one whose state can be read.
    monitor: Option<&'a GpuMonitor>,
}

impl Measuring<'_> {
    /// Measures a crowd of a size.
    fn case(&self, library: &Library, size: Size, step: Option<TableStep>) -> Result<Case, Error> {
        let crowd = rig::crowd(library, size.crowd())?;
        self.crowd(library, &crowd, size, step)
    }

    /// Measures a crowd.
    fn crowd(&self, library: &Library, crowd: &Crowd, size: Size, step: Option<TableStep>) -> Result<Case, Error> {
        let workload = Workload { library, crowd, outputs: Outputs::SKIN.with_skin_format(size.skin_format) };
        // What the monitor has seen before is of other work.
        self.monitor.map(GpuMonitor::take);
        let (measured, waited) =
            with_waited(|| self.engine.measure(&workload, Duration::from_secs_f64(self.args.seconds)));
        let gpu_state = self.monitor.and_then(GpuMonitor::take);
        let case = Case::new(size, step, measured?);
        let waited = waited.filter(|_| !self.is_crowded);
        Ok(Case { library_bytes: self.engine.library_bytes(), waited, gpu_state, ..case })
    }
}

/// Begins to watch the GPU of an engine, if it has one, and adds its identity to the report.
fn watch(engine: &Engine, monitor: &mut Option<GpuMonitor>, report: &mut Report) {
    if let (Engine::Gpu(engine), None) = (engine, &monitor) {
        let (identity, found) = GpuMonitor::new(engine.gpu());
        (report.gpu, *monitor) = (Some(identity), found);
    }
}

/// Skips a case of a cost table that is too large for a device. Any other error, or an error of another case, is
/// returned.
fn skip_case(report: &mut Report, case: PlannedCase, error: Error) -> Result<(), Error> {
    match error {
        Error::Limit { .. } | Error::Device(_) if case.step.is_some() => {
            report.skip(format!("without {}: {error}", case.size));
        }
        error => return Err(error),
    }
    Ok(())
}

/// Measures the crowd with each engine.
pub fn measure_crowd(args: &Args, path: &Path, report: &mut Report) -> Result<(), Error> {
    let mut library = Library::new();
    let mut load = StartUp::measure_program();
    let file = load.step("load", || load_crowd_file(&mut library, path))?;
    if file.is_empty() {
        return Err(Error::Usage(format!("{}: the crowd has no instance; give a group a count", path.display())));
    }
    let joints = |index: usize| library.skeleton(file.files[index].asset.skeleton).joints().len();
    let all = file.groups().map(|(instances, index)| instances.len() as u64 * joints(index) as u64);
    check_limit("joints of the crowd", all.sum(), MAX_JOINTS)?;
    let crowd = file.crowd(&library, 0..file.len())?;
    let skeletons = file.groups().map(|(_, index)| file.files[index].asset.skeleton);
    let size = Size {
        instances: crowd.len(),
        skeletons: skeletons.collect::<HashSet<_>>().len() as u32,
        layers: (0..crowd.len()).map(|instance| crowd.layers(instance).len() as u32).max().unwrap_or(0),
        ..Size::of_rig(file.groups().map(|(_, index)| joints(index)).max().unwrap_or(0))
    };
    let compressed = args.compress.compress(&library)?;
    report.compressed = args.compress.bound;
    let engine_library = EngineLibrary::new(&library, compressed.as_ref());
    report.crowd = Some(file_name(path));
    let engines = args.engines_under_test();
    let progress = Progress::new(engines.len(), "engines");
    for engine in engines {
        let shared = SharedStartUp { load: &load, first: &file.crowd(engine_library.library(), 0..1)? };
        let is_crowded = engine.is_crowded();
        let Some(engine) = open(args, engine_library, engine, shared, report)? else { continue };
        let mut monitor = None;
        watch(&engine, &mut monitor, report);
        let measuring = Measuring { args, engine: &engine, is_crowded, monitor: monitor.as_ref() };
        for size in args.with_skin_formats(size) {
            report.cases.push(measuring.crowd(engine_library.library(), &crowd, size, None)?);
        }
        progress.add(1);
    }
    Ok(())
}

/// An engine, and its number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EngineUnderTest {
    /// The engine.
    choice: EngineChoice,
    /// The threads of the CPU engine; `None` for one per core, and for other engines.
    threads: Option<usize>,
}

impl EngineUnderTest {
    /// Returns true if the engine has more threads than there are cores.
    fn is_crowded(self) -> bool {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        self.threads.is_some_and(|threads| threads > cores)
    }
}

impl Args {
    /// The engines that are measured. The CPU engine is measured with each number of threads.
    fn engines_under_test(&self) -> Vec<EngineUnderTest> {
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
}

/// Fails if `--adapter` names no adapter, or if no engine uses it. The command calls it before its work begins.
pub fn check_adapter(args: &Args) -> Result<(), Error> {
    let uses_gpu = |choice: &&EngineChoice| matches!(choice, EngineChoice::Gpu | EngineChoice::Auto);
    let engine = args.engines().iter().find(uses_gpu).or(args.engines().first());
    engine.map_or(Ok(()), |&engine| args.adapter.with_engine(engine).map(|_| ()))
}

/// Returns true if the engine is a software adapter and the case takes it too long for a page.
fn takes_long(engine: &Engine, size: Size) -> bool {
    let in_software = matches!(engine, Engine::Gpu(engine) if !engine.gpu().is_hardware());
    in_software && (size.instances as u64).saturating_mul(size.joints as u64) > MAX_JOINTS_IN_SOFTWARE
}

/// The start-up work that engines of a library share.
#[derive(Clone, Copy)]
struct SharedStartUp<'a> {
    /// The steps before the engine: loading the program and the library.
    load: &'a StartUp,
    /// A crowd of one instance. Its pose is the last step.
    first: &'a Crowd,
}

/// Opens an engine.
///
/// The start-up of the first engine of each kind is added to the report, and the memory bandwidth of the first GPU.
/// Returns `None`, and adds a note to the report, if there is no adapter and other engines remain.
fn open<'a>(
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
