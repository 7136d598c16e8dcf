//! Compares posse with other engines: the same rig and clips, one engine after the other on this machine, in one table.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml --ignore-rust-version
//! ```
//!
//! The flag is for compilers older than 1.95, which Bevy requires. `--help` lists the options.
//!
//! The contenders: the CPU engine of posse on one and two threads, with each instruction set of the machine; the GPU engine of
//! posse on any adapter, including a software renderer; a plain scalar loop on glam; and bevy_animation on one thread, with at most
//! 1,000 instances. ozz-animation-rs is left out: it needs a nightly compiler and its own archive format.
//!
//! The crowd: each instance has its own phase; time advances by 1/60 s per frame and wraps. Two blended clips have equal weights and
//! their own phases. In the last workload the instances play 50 clips in turn at random times, with an additive layer each. Before the timing, the poses of each contender are compared with the `f64` reference of posse, within a bound
//! per contender. In each round, every contender plays once, so that noise of the machine affects all equally. Rates are medians
//! over rounds; ratios are medians of the ratios within a round.

mod bevy;
mod check;
mod cpu;
mod gpu;
mod scalar;
mod scene;
mod table;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use posse::{AdapterKind, Error, GpuContext, InstructionSet};

use self::bevy::Bevy;
use self::cpu::Cpu;
use self::gpu::Gpu;
use self::scalar::Scalar;
use self::scene::{Contender, Scene, Workload};
use self::table::{Cell, Report};

/// The shortest time that a contender plays in a round, and the fewest frames.
const TURN: (Duration, u32) = (Duration::from_millis(60), 2);
/// The most instances of bevy_animation. One entity per joint takes much memory.
const BEVY_INSTANCES: usize = 1_000;
/// The largest accepted crowd. A million instances take about 3 GB per contender.
const LARGEST_CROWD: u32 = 1_000_000;

/// Compares posse with a plain scalar loop and bevy_animation, in million joints per second.
#[derive(Debug, Parser)]
struct Args {
    /// Sizes of the crowds.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [10_000, 100], value_parser = clap::value_parser!(u32).range(1..=i64::from(LARGEST_CROWD)))]
    instances: Vec<u32>,
    /// The number of rounds.
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Only contenders with this text in their name. May be given more than once.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<(), Error> {
    let scene = Scene::load()?;
    let gpu = match GpuContext::new(AdapterKind::Any) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            eprintln!("note: without posse's GPU engine: {error}");
            None
        }
    };
    let mut report = Report::new(&scene, gpu.as_ref(), args.rounds);
    for &instances in &args.instances {
        for workload in Workload::ALL {
            eprintln!("{instances} instances, {} ...", workload.name());
            play(&scene, workload, instances as usize, gpu.as_ref(), args, &mut report)?;
        }
    }
    if report.is_empty() {
        return Err(Error::Usage(format!(
            "no contender has any of {:?} in its name; leave --only out to see all names",
            args.only
        )));
    }
    print!("{}", if args.json { report.json() } else { report.text() });
    Ok(())
}

/// Checks all contenders of a workload, then times them round after round.
fn play(
    scene: &Scene,
    workload: Workload,
    instances: usize,
    gpu: Option<&GpuContext>,
    args: &Args,
    report: &mut Report,
) -> Result<(), Error> {
    let named = |contender: Box<dyn Contender>| (contender.name(), workload, contender);
    let mut players: Vec<_> = contenders(scene, workload, instances, gpu, &args.only)?.into_iter().map(named).collect();
    if workload == Workload::Blend && wanted(&args.only, Scalar::NAME) {
        // The cost of two blended clips is also compared with the cost of one clip in the plain loop, in the same rounds.
        let single = Scalar::new(scene, Workload::Skin, instances);
        players.push((table::SINGLE.into(), Workload::Skin, Box::new(single)));
    }
    let mut cells = Vec::new();
    for (name, plays, player) in &mut players {
        let error = check::check(scene, *plays, player.as_mut())?;
        cells.push(Cell::new(name.clone(), player.as_ref(), workload, instances, error));
    }
    for _ in 0..args.rounds {
        for ((_, _, player), cell) in players.iter_mut().zip(&mut cells) {
            cell.rates.push(turn(player.as_mut(), scene)?);
        }
    }
    report.add(cells);
    Ok(())
}

/// Joints per second over a turn. The first frame is a warm-up and not timed.
fn turn(contender: &mut dyn Contender, scene: &Scene) -> Result<f64, Error> {
    contender.frame()?;
    let start = Instant::now();
    let mut frames = 0;
    while frames < TURN.1 || start.elapsed() < TURN.0 {
        contender.frame()?;
        frames += 1;
    }
    let joints = contender.instances() * scene.joints();
    Ok(joints as f64 * f64::from(frames) / start.elapsed().as_secs_f64())
}

fn wanted(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|part| name.contains(part.as_str()))
}

fn contenders(
    scene: &Scene,
    workload: Workload,
    instances: usize,
    gpu: Option<&GpuContext>,
    only: &[String],
) -> Result<Vec<Box<dyn Contender>>, Error> {
    let mut contenders: Vec<Box<dyn Contender>> = Vec::new();
    if wanted(only, Scalar::NAME) {
        contenders.push(Box::new(Scalar::new(scene, workload, instances)));
    }
    for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        for threads in [1, 2] {
            if wanted(only, &cpu::name(instructions, threads)) {
                contenders.push(Box::new(Cpu::new(scene, workload, instances, instructions, threads)?));
            }
        }
    }
    if let Some(gpu) = gpu.filter(|_| wanted(only, Gpu::NAME)) {
        contenders.push(Box::new(Gpu::new(scene, workload, instances, gpu.clone())?));
    }
    if wanted(only, Bevy::NAME) && Bevy::plays(workload) {
        contenders.push(Box::new(Bevy::new(scene, workload, instances.min(BEVY_INSTANCES))?));
    }
    Ok(contenders)
}
