//! `posse bench`: the throughput of the engines on this machine.

pub mod args;
mod baseline;
mod cost;
mod crowd;
mod earlier;
mod engines;
mod page;
mod random;
mod report;
mod rig;
mod run_environment;
mod size;
mod soak;
mod text;

use std::path::Path;
use std::time::Duration;

use posse::measure::{Measurement, Workload};
use posse::{Error, Library, Outputs};

use self::args::Args;
use self::baseline::Baseline;
use self::cost::PlannedCase;
use self::engines::SharedStartUp;
use self::page::Format;
use self::page::run::Run;
use self::report::{Case, Report};
use self::rig::{CrowdShape, Rig};
use self::run_environment::RunEnvironment;
use self::size::Size;
use crate::Outcome;
use crate::engine::{Engine, EngineLibrary};
use crate::output::{self, Output, note};
use crate::progress::Progress;
use crate::start_up::StartUp;

/// The largest number of joints of a case: instances times joints.
const MAX_JOINTS: u64 = 1 << 28;
/// The crowd of the first pose.
const FIRST: CrowdShape = CrowdShape { instances: 1, layers: 1, additive: 0 };

/// Runs `posse bench`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    engines::check_adapter(args)?;
    if args.soak_control {
        return soak::answer(args);
    }
    if let Some(minutes) = args.soak {
        return soak::run(args, minutes);
    }
    // The page is opened first: a page that cannot be written fails before the measurement.
    let page = args.report.as_deref().map(open_page).transpose()?;
    let page = match (page, &args.from) {
        (Some((file, page)), Some(earlier)) => {
            return write_page(&earlier::read(earlier)?, file, page).map(|()| Outcome::Passed);
        }
        (page, _) => page,
    };
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let mut report = Report { environment: RunEnvironment::current(), baseline, ..Report::default() };
    match &args.crowd {
        Some(file) => crowd::measure(args, file, &mut report)?,
        None => measure(args, &mut report)?,
    }
    for remark in report.remarks() {
        note(&format!("note: {remark}"));
    }
    output::print(|out| if args.json { report.write_json(out) } else { report.write_text(out) })?;
    if let Some((file, mut page)) = page {
        let run = page.write(|_| report.run())?;
        write_page(&run, file, page)?;
    }
    Ok(if report.is_within() { Outcome::Passed } else { Outcome::Failed })
}

/// Opens the file of a page.
fn open_page(file: &Path) -> Result<(&Path, Output), Error> {
    Format::from_name(file)?;
    Ok((file, Output::create(Some(file))?))
}

/// Writes the page of a run, or its first plot.
fn write_page(run: &Run, file: &Path, mut page: Output) -> Result<(), Error> {
    let format = Format::from_name(file)?;
    page.write(|out| match format {
        Format::Page => run.write_page(out),
        Format::Plot => run.write_plot(out),
    })?;
    page.finish()
}

/// Measures crowds of each size with each engine.
fn measure(args: &Args, report: &mut Report) -> Result<(), Error> {
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
        for (Rig { library, cases }, compressed) in rigs.iter().zip(&compressed) {
            let engine_library = EngineLibrary::new(library, compressed.as_ref());
            let shared = SharedStartUp { load: &load, first: &rig::crowd(library, FIRST)? };
            let engine = match engines::open(args, engine_library, engine, shared, report) {
                Ok(Some(engine)) => engine,
                Ok(None) => break,
                Err(error) => {
                    // A rig that is too large for the engine is too large in all its cases.
                    skip_case(report, cases[0], error)?;
                    continue;
                }
            };
            for &case in cases {
                let PlannedCase { size, step } = case;
                if args.report.is_some() && step.is_some() && engines::takes_long(&engine, size) {
                    report.skip(format!(
                        "without {size} on the gpu engine: a software adapter takes too long for a page"
                    ));
                    progress.add(1);
                    continue;
                }
                match measure_case(args, &engine, engine_library.library(), size) {
                    Ok(measured) => {
                        let library_bytes = engine.library_bytes();
                        report.cases.push(Case { size, step, measured, library_bytes });
                    }
                    Err(error) => skip_case(report, case, error)?,
                }
                progress.add(1);
            }
        }
    }
    Ok(())
}

fn measure_case(args: &Args, engine: &Engine, library: &Library, size: Size) -> Result<Measurement, Error> {
    let crowd = rig::crowd(library, size.crowd())?;
    let workload = Workload { library, crowd: &crowd, outputs: Outputs::SKIN.with_skin_format(size.skin_format) };
    engine.measure(&workload, Duration::from_secs_f64(args.seconds))
}

/// Skips a case of a cost table that is too large for a device. Any other error, or an error of another case, is returned.
fn skip_case(report: &mut Report, case: PlannedCase, error: Error) -> Result<(), Error> {
    match error {
        Error::Limit { .. } | Error::Device(_) if case.step.is_some() => {
            report.skip(format!("without {}: {error}", case.size));
        }
        error => return Err(error),
    }
    Ok(())
}
