//! `posse demo`: poses, measures and checks a crowd of the built-in rig.

use std::io::Write;
use std::time::Duration;

use posse::contract::Report;
use posse::measure::{Measurement, Workload};
use posse::{Error, Outputs, demo};

use crate::Outcome;
use crate::arguments::whole;
use crate::engine::{Engine, EngineArgs, EngineLibrary};
use crate::invocation::command_line;
use crate::output::{self, plural};
use crate::progress::Progress;
use crate::threads::default_threads;

/// Arguments of `posse demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The number of instances.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = whole::<u32>(1..=10_000_000))]
    instances: u32,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Runs `posse demo`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let selection = args.engine.selection()?;
    let library = demo::library()?;
    let crowd = demo::crowd(&library, args.instances as usize)?;
    let engine = Engine::open(EngineLibrary::Float(&library), selection, default_threads())?;
    let workload = Workload { library: &library, crowd: &crowd, outputs: Outputs::ALL };
    let progress = Progress::waiting("measuring");
    let measured = engine.measure(&workload, Duration::from_secs(2))?;
    drop(progress);
    let within = measured.check.as_ref().is_none_or(Report::is_within);
    output::print(|out| print(out, &measured, library.clips().len()))?;
    Ok(if within { Outcome::Passed } else { Outcome::Failed })
}

/// Prints the results, and the next commands.
fn print(out: &mut impl Write, measured: &Measurement, clips: usize) -> std::io::Result<()> {
    let milliseconds = |seconds: f64| 1e3 * seconds;
    let time = measured.device.unwrap_or(measured.wall);
    writeln!(out, "engine       {} ({})", measured.engine, measured.adapter)?;
    let (instances, joints) = (plural(measured.instances, "instance"), measured.joints);
    writeln!(
        out,
        "crowd        {instances}, {joints} joints, each instance plays one of {clips} clips at its own time and speed"
    )?;
    writeln!(
        out,
        "throughput   {:.1} million joints per second: local, model and skin matrices, morph weights, properties",
        measured.joints_per_second() / 1e6
    )?;
    writeln!(
        out,
        "frame        {:.3} ms median, {:.3} to {:.3} ms for 90 % of {} frames",
        milliseconds(time.median),
        milliseconds(time.p5),
        milliseconds(time.p95),
        time.frames
    )?;
    match &measured.check {
        None => writeln!(out, "cross-check  none: this engine is the reference of the others")?,
        Some(report) => print_check(out, report)?,
    }
    print_next(out)
}

/// Prints the next commands to try, which need no file either.
fn print_next(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "\nnext, here with the built-in human, or with a glTF, FBX or BVH file in place of demo")?;
    let mut next = vec![
        ("lists the contents of the file", vec!["inspect", "demo"]),
        ("evaluates poses, as JSON", vec!["eval", "demo", "--clip", "0", "--times", "0,0.5"]),
        ("compares every clip with the reference", vec!["verify", "demo"]),
    ];
    if cfg!(feature = "gpu") {
        next.push(("draws a picture", vec!["render", "demo", "-o", "picture.png"]));
    }
    let next: Vec<(&str, String)> =
        next.into_iter().map(|(result, arguments)| (result, command_line(&arguments))).collect();
    let width = next.iter().map(|(_, line)| line.chars().count()).max().unwrap_or(0);
    next.iter().try_for_each(|(result, line)| writeln!(out, "  {line:width$}  # {result}"))
}

/// Prints the error with the largest share of its bound.
fn print_check(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    let verdict = if report.is_within() { "within the contract" } else { "BEYOND THE CONTRACT" };
    let worst = report.quantities().into_iter().filter_map(|(name, worst)| Some((name, worst?)));
    let Some((name, worst)) = worst.max_by(|(_, a), (_, b)| a.share().total_cmp(&b.share())) else {
        return writeln!(out, "cross-check  nothing to compare");
    };
    writeln!(
        out,
        "cross-check  {verdict}: the worst error, of {name}, is {:.1e}; its bound is {:.1e}",
        worst.error, worst.allowed
    )
}
