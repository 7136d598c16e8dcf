//! Compares posse with other engines: the same rig and clips, one engine after the other on this machine, in one table.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml --ignore-rust-version
//! ```
//!
//! The flag is for compilers older than 1.95, which Bevy requires. `--help` lists the options.
//!
//! The contenders: the CPU engine of posse on one and two threads, with each instruction set of the machine, and with
//! compressed keys; the GPU engine of posse on any adapter, including a software renderer; a plain scalar loop on glam;
//! bevy_animation on one thread, with at most 1,000 instances; and on one thread two C++ libraries, if `--ozz` and
//! `--acl` name their sources: ozz-animation and ACL. ozz-animation-rs is left out: it needs a nightly compiler and its
//! own archive format.
//!
//! The crowd: each instance has its own phase; time advances by 1/60 s per frame and wraps. Two blended clips have
//! equal weights and their own phases. In the last workload the instances play 50 clips in turn at random times, with
//! an additive layer each. Before the timing, the poses of each contender are compared with the `f64` reference of
//! posse, within a bound per contender. In each round, every contender plays once, so that noise of the machine affects
//! all equally. Rates are medians over rounds; ratios are medians of the ratios within a round.

mod bevy;
mod check;
#[path = "../../../tests/support/collected.rs"]
mod collected;
mod cpu;
mod gpu;
mod native;
mod scalar;
mod scene;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use posse::Error;
use posse::cpu::InstructionSet;
use posse::gpu::{AdapterKind, GpuContext};
use posse::packed::PackedLibrary;

use self::bevy::Bevy;
use self::cpu::Cpu;
use self::gpu::Gpu;
use self::native::{ACL, Native, OZZ, Program};
use self::scalar::Scalar;
use self::scene::{Contender, Scene, Workload};
use self::table::{Cell, Report};

/// The shortest time that a contender plays in a round, and the fewest frames.
const TURN: (Duration, u32) = (Duration::from_millis(60), 2);
/// The most instances of bevy_animation. One entity per joint takes much memory.
const BEVY_INSTANCES: usize = 1_000;
/// The largest accepted crowd. A million instances take about 3 GB per contender, with ozz-animation up to 16 GB.
const LARGEST_CROWD: u32 = 1_000_000;

/// Compares posse with a plain scalar loop, bevy_animation, ozz-animation and ACL, in million joints per second.
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
    /// The sources of ozz-animation 0.16, https://github.com/guillaumeblanc/ozz-animation, to compare with it, too.
    #[arg(long, value_name = "DIR")]
    ozz: Option<PathBuf>,
    /// The sources of ACL 2.1, https://github.com/nfrechette/acl, to compare with its local poses, too; then the
    /// sources of Realtime Math 2.2, https://github.com/nfrechette/rtm.
    #[arg(long, value_names = ["DIR", "RTM_DIR"], num_args = 2)]
    acl: Vec<PathBuf>,
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
    let mut programs = Vec::new();
    for (library, sources) in [(&OZZ, args.ozz.as_slice()), (&ACL, &args.acl)] {
        if !sources.is_empty() {
            programs.push(Program::compile(library, sources)?);
        }
    }
    let mut report = Report::new(&scene, gpu.as_ref(), args.rounds);
    let mut setup = Setup { scene, compressed: None, gpu, programs, only: &args.only };
    if setup.wants(&cpu::compressed_name()) {
        setup.compressed = Some(cpu::compress(&setup.scene.library)?);
    }
    for &instances in &args.instances {
        for workload in Workload::ALL {
            eprintln!("{instances} instances, {} ...", workload.name());
            play(&setup, workload, instances as usize, args.rounds, &mut report)?;
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
fn play(setup: &Setup, workload: Workload, instances: usize, rounds: u32, report: &mut Report) -> Result<(), Error> {
    let scene = &setup.scene;
    let named = |contender: Box<dyn Contender>| (contender.name(), workload, contender);
    let mut players: Vec<_> = setup.contenders(workload, instances)?.into_iter().map(named).collect();
    if workload == Workload::Blend && setup.wants(Scalar::NAME) {
        // The cost of two blended clips is also compared with the cost of one clip in the plain loop, in the same
        // rounds.
        let single = Scalar::new(scene, Workload::Skin, instances);
        players.push((table::SINGLE.into(), Workload::Skin, Box::new(single)));
    }
    let mut cells = Vec::new();
    for (name, plays, player) in &mut players {
        let error = check::check(scene, *plays, player.as_mut())?;
        cells.push(Cell::new(name.clone(), player.as_ref(), workload, instances, error));
    }
    for _ in 0..rounds {
        for ((_, _, player), cell) in players.iter_mut().zip(&mut cells) {
            cell.rates.push(turn(player.as_mut(), scene)?);
        }
    }
    report.add(cells);
    Ok(())
}

/// Joints per second over a turn. The first frame is a warm-up. It tells how many frames are played before the clock is
/// read again.
fn turn(contender: &mut dyn Contender, scene: &Scene) -> Result<f64, Error> {
    let start = Instant::now();
    contender.frame()?;
    let at_once = (TURN.0.as_secs_f64() / 4.0 / start.elapsed().as_secs_f64()).clamp(1.0, 1000.0) as u32;
    let start = Instant::now();
    let mut frames = 0;
    while frames < TURN.1 || start.elapsed() < TURN.0 {
        contender.frames(at_once)?;
        frames += at_once;
    }
    let joints = contender.instances() * scene.joints();
    Ok(joints as f64 * f64::from(frames) / start.elapsed().as_secs_f64())
}

/// The scene, and all else that contenders are made of.
struct Setup<'a> {
    scene: Scene,
    /// The library of the scene with compressed keys; `None` if no contender reads it.
    compressed: Option<PackedLibrary>,
    gpu: Option<GpuContext>,
    /// The compiled programs of C++ libraries.
    programs: Vec<Program>,
    /// Parts of names; empty for all contenders.
    only: &'a [String],
}

impl Setup<'_> {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }

    fn contenders(&self, workload: Workload, instances: usize) -> Result<Vec<Box<dyn Contender>>, Error> {
        let Self { scene, compressed, gpu, programs, .. } = self;
        let mut contenders: Vec<Box<dyn Contender>> = Vec::new();
        if self.wants(Scalar::NAME) {
            contenders.push(Box::new(Scalar::new(scene, workload, instances)));
        }
        for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
            for threads in [1, 2] {
                if self.wants(&cpu::name(instructions, threads)) {
                    contenders.push(Box::new(Cpu::new(scene, workload, instances, instructions, threads)?));
                }
            }
        }
        if let Some(compressed) = compressed {
            contenders.push(Box::new(Cpu::compressed(scene, compressed.clone(), workload, instances)?));
        }
        if let Some(gpu) = gpu.as_ref().filter(|_| self.wants(Gpu::NAME)) {
            contenders.push(Box::new(Gpu::new(scene, workload, instances, gpu.clone())?));
        }
        for program in programs.iter().filter(|program| self.wants(program.name()) && program.plays(workload)) {
            contenders.push(Box::new(Native::new(program, scene, workload, instances)?));
        }
        if self.wants(Bevy::NAME) && Bevy::plays(workload) {
            contenders.push(Box::new(Bevy::new(scene, workload, instances.min(BEVY_INSTANCES))?));
        }
        Ok(contenders)
    }
}
