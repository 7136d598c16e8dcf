//! CPU time per frame of everything except drawing, in the same scene: for Bevy's own animation, for posse, and for
//! Bevy's meshes without any animation. The last is the floor for any animation that leaves one entity per fox to Bevy.
//!
//! `cargo run --release --example many_foxes -- Fox.glb 1000 10000 50000` runs one process per side and number of
//! foxes, and prints a table, with the ratios to Bevy's animation. With `--still`, the rings do not turn. With
//! `--gpu-culling`, Bevy's foxes are culled by the GPU alone, as the foxes of posse always are. With `--cold`, each
//! frame begins with cold caches on all sides: a software renderer, which runs the kernels of posse between frames on
//! the cores of the measurement, leaves none warm. With `--one-thread`, Bevy runs the systems of all sides one after
//! another, on one thread. `--bevy --picture FILE.png`, or `--posse` or `--rigid`, draws the scene of one side.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_posse::PossePlugin;

#[path = "../headless/mod.rs"]
mod headless;
mod meter;
mod scene;

use meter::{Frame, Span, Watch};
use scene::{Model, Side};

/// The result of a fallible step.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The numbers of frames before and in the measurement.
const WARM_UP: usize = 10;
const FRAMES: usize = 40;

/// The command line.
#[derive(Debug, Clone, Default)]
struct Options {
    file: PathBuf,
    counts: Vec<usize>,
    /// The side, in a process that measures.
    side: Option<Side>,
    still: bool,
    gpu_culling: bool,
    cold: bool,
    one_thread: bool,
    /// The number of frames to measure, in place of [`FRAMES`].
    frames: Option<usize>,
    picture: Option<PathBuf>,
}

impl Options {
    fn read(arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let (mut options, mut arguments) = (Self::default(), arguments);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--still" => options.still = true,
                "--gpu-culling" => options.gpu_culling = true,
                "--one-thread" => options.one_thread = true,
                "--cold" => options.cold = true,
                "--bevy" => options.side = Some(Side::Bevy),
                "--posse" => options.side = Some(Side::Posse),
                "--rigid" => options.side = Some(Side::Rigid),
                "--frames" => options.frames = Some(arguments.next().ok_or("--frames: expected a number")?.parse()?),
                "--picture" => options.picture = Some(arguments.next().ok_or("--picture: expected a file")?.into()),
                _ if options.file.as_os_str().is_empty() => options.file = std::fs::canonicalize(argument)?,
                count => options.counts.push(count.parse().map_err(|_| format!("{count}: expected a number"))?),
            }
        }
        if options.file.as_os_str().is_empty() {
            return Err("expected the path of Fox.glb".into());
        }
        if options.counts.is_empty() {
            options.counts = vec![1000, 10_000, 50_000];
        }
        Ok(options)
    }
}

fn main() -> Outcome<()> {
    let options = Options::read(std::env::args().skip(1))?;
    match options.side {
        Some(side) => {
            let numbers = measure(side, options.counts[0], &options)?;
            println!("numbers: {}", numbers.map(|number| format!("{number:.4}")).join(" "));
            Ok(())
        }
        None => compare(&options),
    }
}

/// The columns of the table.
const COLUMNS: [&str; 9] = ["CPU", "main", "extract", "prepare", "record", "wall", "spawn CPU", "memory", "peak"];

/// Measures the sides in turn, each in a process of its own, and prints a table.
fn compare(options: &Options) -> Outcome<()> {
    println!("| foxes | side | {} |\n|---:|---|{}", COLUMNS.join(" | "), "---:|".repeat(COLUMNS.len()));
    for count in &options.counts {
        let mut rows = Vec::new();
        for side in ["--bevy", "--posse", "--rigid"] {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg(&options.file).arg(count.to_string()).arg(side);
            command.args(options.still.then_some("--still"));
            command.args(options.gpu_culling.then_some("--gpu-culling"));
            command.args(options.cold.then_some("--cold"));
            command.args(options.one_thread.then_some("--one-thread"));
            if let Some(frames) = options.frames {
                command.arg("--frames").arg(frames.to_string());
            }
            let output = command.output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            let numbers = text.lines().find_map(|line| line.strip_prefix("numbers: "));
            let Some(numbers) = numbers else {
                println!("| {count} | {} | {} |", &side[2..], output.status);
                continue;
            };
            let numbers: Vec<f64> = numbers.split(' ').map(str::parse).collect::<Result<_, _>>()?;
            let cells: Vec<String> = numbers.iter().map(|number| format!("{number:.2}")).collect();
            println!("| {count} | {} | {} |", &side[2..], cells.join(" | "));
            rows.push((&side[2..], numbers));
        }
        let Some(((first, bevy), others)) = rows.split_first().filter(|((first, _), _)| *first == "bevy") else {
            continue;
        };
        for (side, numbers) in others {
            let ratios = bevy.iter().zip(numbers).map(|(bevy, other)| format!("{:.1}", bevy / other));
            println!("| {count} | {first} / {side} | {} |", ratios.collect::<Vec<_>>().join(" | "));
        }
    }
    Ok(())
}

/// Spawns the scene and measures its frames: the columns of the table, in milliseconds and MiB.
fn measure(side: Side, count: usize, options: &Options) -> Outcome<[f64; COLUMNS.len()]> {
    let folder = options.file.parent().unwrap_or(Path::new(""));
    let name = options.file.file_name().unwrap_or_default().to_string_lossy();
    let mut plugins = headless::plugins(folder, false);
    if options.one_thread {
        plugins = plugins.set(TaskPoolPlugin { task_pool_options: TaskPoolOptions::with_num_threads(1) });
    }
    let mut app = headless::app(plugins);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_nanos(16_666_667)));
    match side {
        Side::Bevy => scene::register_types(&mut app),
        Side::Posse => {
            app.add_plugins(PossePlugin);
        }
        Side::Rigid => {}
    }
    if !options.still {
        app.add_systems(Update, scene::turn);
    }
    meter::add_marks(&mut app);
    headless::begin(&mut app);
    let size = [1200, 560];
    let (film, target) = headless::film(&mut app.world_mut().resource_mut::<Assets<Image>>(), size);
    scene::set_stage(&mut app, count, target, options.picture.is_some());
    let model = Model::load(side, &name, app.world_mut());
    if options.gpu_culling && side == Side::Bevy {
        app.add_systems(Update, scene::cull_by_gpu);
    }
    headless::run_until(&mut app, |world| model.is_loaded(world));
    for _ in 0..5 {
        app.update();
    }
    if options.one_thread {
        meter::use_one_thread(&mut app);
    }

    let before = meter::memory("VmRSS");
    let mut watch = Watch::start();
    model.spawn(app.world_mut(), count);
    let mut spawn = watch.lap();
    for waited in 0.. {
        spawn += meter::frame(&mut app).total();
        let visible = model.visible(app.world_mut());
        match waited {
            _ if visible == count => break,
            100 => return Err(format!("{visible} of {count} foxes are there after 100 frames").into()),
            _ => {}
        }
    }
    for _ in 0..WARM_UP {
        app.update();
    }
    let mut caches = meter::Caches::default();
    let frame = |_| {
        if options.cold {
            caches.fill();
        }
        meter::frame(&mut app)
    };
    let frames: Vec<Frame> = (0..options.frames.unwrap_or(FRAMES)).map(frame).collect();
    if model.visible(app.world_mut()) != count {
        return Err("foxes have left the view".into());
    }
    if let Some(file) = &options.picture {
        headless::Picture::from_rows(size, &headless::shoot(&mut app, &film)).save(file)?;
    }
    let cpu = |part: fn(&Frame) -> Span| median(frames.iter().map(|frame| part(frame).cpu));
    Ok([
        cpu(Frame::total),
        cpu(|frame| frame.main),
        cpu(|frame| frame.extract),
        cpu(|frame| frame.prepare),
        cpu(|frame| frame.record),
        median(frames.iter().map(|frame| frame.total().wall)),
        milliseconds(spawn.cpu),
        meter::memory("VmRSS") - before,
        meter::memory("VmHWM"),
    ])
}

fn milliseconds(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

/// The median in milliseconds.
fn median(times: impl Iterator<Item = Duration>) -> f64 {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, |&time| milliseconds(time))
}
