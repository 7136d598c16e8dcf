//! posse beside its peers: the same rig and clips, one after the other on this machine, in one table.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml --ignore-rust-version
//! ```
//!
//! The flag is for compilers older than the one that Bevy asks for, 1.95. `--help` names the options.
//!
//! Who plays: posse's CPU engine on one thread and two, with each instruction set that the machine has; posse's GPU engine on
//! whatever adapter there is, a software renderer included; a plain scalar loop on glam; and bevy_animation on one thread, of
//! at most 1,000 instances. ozz-animation-rs is left out: it needs a nightly compiler and archives of its own.
//!
//! The crowd: each instance at a phase of its own, time advanced by 1/60 s a frame and wrapped. Blended clips are at phases of
//! their own, half and half. Before anyone is timed, their poses are compared with posse's `f64` reference, to within a bound
//! of their own. Then come rounds, in each of which everyone plays once, so that the machine's noise hits all alike. Rates are
//! medians over rounds; ratios are medians of the ratios within a round.

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
use posse::{InstructionSet, AdapterKind, Error, GpuContext};

use self::bevy::Bevy;
use self::cpu::Cpu;
use self::gpu::Gpu;
use self::scalar::Scalar;
use self::scene::{Contender, Scene, Workload};
use self::table::{Cell, Report};

/// How long a contender plays in a round, and how many frames at least.
const TURN: (Duration, u32) = (Duration::from_millis(60), 2);
/// Instances of bevy_animation at most: an entity a joint takes room.
const BEVY_INSTANCES: usize = 1_000;
/// Instances that may be asked for: a million take some 3 GB for each contender.
const LARGEST_CROWD: u32 = 1_000_000;

/// posse beside a plain scalar loop and bevy_animation, in million joints a second.
#[derive(Debug, Parser)]
struct Args {
    /// Sizes of the crowds.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [10_000, 100], value_parser = clap::value_parser!(u32).range(1..=i64::from(LARGEST_CROWD)))]
    instances: Vec<u32>,
    /// How often everyone plays.
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Only those whose name has this in it; may be given more than once.
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
        return Err(Error::Usage(format!("nobody's name has any of {:?} in it", args.only)));
    }
    print!("{}", if args.json { report.json() } else { report.text() });
    Ok(())
}

/// Everyone who plays a workload, checked, then timed round after round.
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
        // What two blended clips cost is also compared with the plain loop's cost of a single one, in the same rounds.
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

/// Joints a second over a turn, whose first frame warms up.
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
    if wanted(only, Bevy::NAME) {
        contenders.push(Box::new(Bevy::new(scene, workload, instances.min(BEVY_INSTANCES))?));
    }
    Ok(contenders)
}
