//! `posse bench`: how fast the engines are here.

pub mod args;
mod baseline;
mod cost;
mod crowd;
mod earlier;
mod engines;
mod page;
mod report;
mod rig;
mod run_environment;
mod size;
mod text;

use std::path::Path;
use std::time::Duration;

use posse::low_level::Bandwidth;
use posse::measure::{Measurement, Workload};
use posse::{Crowd, Error, Library, Outputs, SkinFormat, Ticks};

use self::args::Args;
use self::baseline::Baseline;
use self::cost::Step;
use self::engines::EngineUnderTest;
use self::page::format::Format;
use self::page::plan;
use self::page::run::Run;
use self::report::{Case, Report};
use self::rig::Rig;
use self::run_environment::RunEnvironment;
use self::size::Size;
use crate::cli::Outcome;
use crate::cli::arguments::check_limit;
use crate::cli::engine::{Engine, EngineChoice, EngineLibrary};
use crate::cli::output::{self, Output, file_name, note};
use crate::cli::progress::Progress;
use crate::cli::source::Source;
use crate::cli::start_up::StartUp;

/// The most joints of a case: instances times joints.
const MOST_JOINTS: u64 = 1 << 28;

/// Runs `posse bench`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    // Whether the page can be written shows before anything is measured.
    let page = args.report.as_deref().map(page).transpose()?;
    let page = match (page, &args.from) {
        (Some((file, page)), Some(earlier)) => {
            return draw(&earlier::read(earlier)?, file, page).map(|()| Outcome::Passed);
        }
        (page, _) => page,
    };
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let mut report = Report { environment: RunEnvironment::here(), baseline, ..Report::default() };
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
        draw(&run, file, page)?;
    }
    Ok(if report.is_within() { Outcome::Passed } else { Outcome::Failed })
}

/// The file of a page, to be written.
fn page(file: &Path) -> Result<(&Path, Output), Error> {
    Format::of(file)?;
    Ok((file, Output::create(Some(file))?))
}

/// Writes the page of a run, or its first plot.
fn draw(run: &Run, file: &Path, mut page: Output) -> Result<(), Error> {
    let format = Format::of(file)?;
    page.write(|out| match format {
        Format::Page => run.write_page(out),
        Format::Plot => run.write_plot(out),
    })?;
    page.finish()
}

/// Times crowds of each size on each engine.
fn measure(args: &Args, report: &mut Report) -> Result<(), Error> {
    let mut load = StartUp::measure_program();
    let rigs = rigs(args, &mut load, report)?;
    if rigs.iter().any(|rig| rig.library.clips().is_empty()) {
        return Err(Error::Usage("there is no clip to play; a file with animations is needed".into()));
    }
    let cases: usize = rigs.iter().map(|rig| rig.crowds.len()).sum();
    let engines = args.engines_under_test();
    let progress = Progress::new(cases * engines.len(), "cases");
    let compressed_libraries: Vec<_> =
        rigs.iter().map(|rig| args.compress.compress(&rig.library)).collect::<Result<_, _>>()?;
    report.compressed = args.compress.bound;
    for engine in engines {
        for (Rig { library, crowds }, compressed) in rigs.iter().zip(&compressed_libraries) {
            let keys = EngineLibrary::new(library, compressed.as_ref());
            let first = rig::crowd(library, 1, 1)?;
            let engine = match open(args, keys, engine, (&load, &first), report) {
                Ok(Some(engine)) => engine,
                Ok(None) => break,
                Err(error) => {
                    // Whatever is too large of a rig is so for all its crowds.
                    leave_out(report, crowds[0], error)?;
                    continue;
                }
            };
            for &(size, step) in crowds {
                if args.report.is_some() && step.is_some() && plan::takes_long(&engine, size) {
                    report.skip(format!("without {size} on the gpu engine: a software adapter takes long for it"));
                    progress.add(1);
                    continue;
                }
                match time(args, &engine, keys.library(), size) {
                    Ok(measured) => report.cases.push(Case { size, step, measured }),
                    Err(error) => leave_out(report, (size, step), error)?,
                }
                progress.add(1);
            }
        }
    }
    Ok(())
}

fn time(args: &Args, engine: &Engine, library: &Library, size: Size) -> Result<Measurement, Error> {
    let crowd = rig::crowd(library, size.instances, size.layers)?;
    let workload = Workload { library, crowd: &crowd, outputs: Outputs::SKIN.with_skin_format(size.skin_format) };
    engine.measure(&workload, Duration::from_secs_f64(args.seconds))
}

/// Goes on without a case of a cost table that a device has no room for, and says so; elsewhere that is an error.
fn leave_out(report: &mut Report, (size, step): (Size, Option<Step>), error: Error) -> Result<(), Error> {
    match error {
        Error::Limit { .. } | Error::Device(_) if step.is_some() => report.skip(format!("without {size}: {error}")),
        error => return Err(error),
    }
    Ok(())
}

/// An engine, whose bandwidth is measured where it is a GPU and that is not done, and whose start-up is kept where it is
/// the first of its kind; `None`, and a note, where there is no adapter for one of several.
fn open<'a>(
    args: &Args,
    keys: EngineLibrary<'a>,
    EngineUnderTest { choice, threads }: EngineUnderTest,
    (load, first): (&StartUp, &Crowd),
    report: &mut Report,
) -> Result<Option<Engine<'a>>, Error> {
    let mut start_up = load.clone();
    let mut engine = match Engine::open_timed(keys, choice, threads, &mut start_up) {
        Ok(engine) => engine,
        // One engine less is still a benchmark, unless it is all that was asked for.
        Err(error @ Error::NoAdapter { .. }) if args.engines().len() > 1 => {
            report.skip(format!("without the gpu engine: {error}"));
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let name = engine.evaluator().engine();
    if report.start_ups.iter().all(|(engine, _)| *engine != name) {
        start_up.step("first pose", || engine.evaluator().evaluate(first, Ticks::default(), Outputs::SKIN))?;
        report.start_ups.push((name, start_up));
    }
    if let (Engine::Gpu(engine), None) = (&engine, report.bandwidth) {
        report.bandwidth = Some(Bandwidth::measure(engine.gpu())?);
    }
    Ok(Some(engine))
}

/// What is played. Loading the first rig is a step of starting up.
fn rigs(args: &Args, load: &mut StartUp, report: &mut Report) -> Result<Vec<Rig>, Error> {
    let sizes = |size: Size| {
        let of = move |&instances: &u32| {
            args.layers.iter().map(move |&layers| Size { instances: instances as usize, layers, ..size })
        };
        let written = |size| args.skin_formats().map(move |skin_format| (Size { skin_format, ..size }, None));
        args.instances.iter().flat_map(of).flat_map(written)
    };
    let size = Size {
        instances: 0,
        skeletons: 1,
        joints: 0,
        keys: None,
        depth: None,
        layers: 0,
        skin_format: SkinFormat::Matrix,
    };
    if let Some(file) = &args.file {
        let Source { library, skeleton, .. } = load.step("load", || Source::load_gltf(file))?;
        report.file = Some(file_name(file));
        let joints = library.skeleton(skeleton).joints().len();
        let crowds: Vec<_> = sizes(Size { joints, ..size }).collect();
        check_joints(&crowds)?;
        return Ok(vec![Rig { library, crowds }]);
    }
    let cases: Vec<(Size, Option<Step>)> = if args.table.is_empty() {
        let rig = |&joints: &u32| {
            let depth = Some(args.depth.min(joints));
            sizes(Size { joints: joints as usize, keys: Some(args.keys), depth, ..size })
        };
        args.joints.iter().flat_map(rig).collect()
    } else {
        let is_drawn = args.report.is_some() && args.engines().contains(&EngineChoice::Gpu);
        let joints = args.table_joints.unwrap_or_else(|| plan::table_joints(is_drawn));
        let cases = args.table.iter().flat_map(|table| table.cases(joints));
        let written = |(size, step)| args.skin_formats().map(move |skin_format| (Size { skin_format, ..size }, step));
        let mut cases: Vec<_> = cases.flat_map(written).collect();
        cases.retain(|(size, _)| {
            let needed = size.bytes() as f64 / 1e9;
            if needed > args.memory {
                report.skip(format!("without {size}: it takes {needed:.2} GB, --memory allows {}", args.memory));
            }
            needed <= args.memory
        });
        cases
    };
    check_joints(&cases)?;
    let mut rigs: Vec<Rig> = Vec::new();
    for case @ (size, _) in cases {
        match rigs.last_mut() {
            Some(rig) if rig.crowds[0].0.is_same_rig(&size) => rig.crowds.push(case),
            None => rigs.push(Rig { library: load.step("load", || size.library(args.uniform()))?, crowds: vec![case] }),
            Some(_) => rigs.push(Rig { library: size.library(args.uniform())?, crowds: vec![case] }),
        }
    }
    Ok(rigs)
}

fn check_joints(cases: &[(Size, Option<Step>)]) -> Result<(), Error> {
    let joints = |(size, _): &(Size, Option<Step>)| (size.instances as u64).saturating_mul(size.joints as u64);
    check_limit("instances x joints of a case", cases.iter().map(joints).max().unwrap_or(0), MOST_JOINTS)
}
