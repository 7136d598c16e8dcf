//! `posse bench --soak`: measures a crowd that changes all the time, for minutes or days: its time per frame, memory and open files.

mod changing;
mod control;
mod frame_time;
mod layers;
mod page;
mod record;
mod resources;
mod squad;
mod stage;

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use posse::Error;

pub use self::control::answer;

use self::changing::Changes;
use self::control::Control;
use self::frame_time::FrameTime;
use self::record::{Meter, Minute, Record};
use self::stage::Stage;
use super::args::Args;
use super::page::Format;
use super::page::number::{digits, grouped};
use super::run_environment::RunEnvironment;
use crate::Outcome;
use crate::output::{self, note};

/// In one frame of this many, all poses are compared with the reference.
const CHECK: u64 = 1000;
/// After one frame of this many, a frame of the repeated crowd is timed beside the same frame of a new process.
const TIMED: u64 = 4;
/// The seconds after which the device is lost, and a line is added to the record.
const MINUTE: f64 = 60.0;
/// A shorter run has this many "minutes".
const FEWEST: f64 = 6.0;

/// Runs a crowd for some minutes.
pub fn run(args: &Args, minutes: f64) -> Result<Outcome, Error> {
    let &[instances] = &args.instances[..] else {
        return Err(Error::Usage("--soak poses one crowd; give --instances one number".into()));
    };
    let page = args.report.as_deref().map(super::open_page).transpose()?;
    let environment = RunEnvironment::current();
    let stage = Stage::new(&args.adapter, instances as usize)?;
    let record = match soak(args, stage, minutes) {
        Err(error @ Error::Device(_)) => {
            // The run shows that devices go on and come back; one that does not has failed it.
            note(&format!("error: {error}"));
            return Ok(Outcome::Failed);
        }
        result => result?,
    };
    output::print(|out| if args.json { write_json(&record, &environment, out) } else { record.write_text(out) })?;
    if let Some((file, mut page)) = page {
        let format = Format::from_name(file)?;
        page.write(|out| match format {
            Format::Page => record.write_page(out, &environment),
            Format::Plot => record.write_plot(out),
        })?;
        page.finish()?;
    }
    Ok(if record.is_within() && record.is_flat() { Outcome::Passed } else { Outcome::Failed })
}

fn soak(args: &Args, mut stage: Stage, minutes: f64) -> Result<Record, Error> {
    let whole = Duration::from_secs_f64(60.0 * minutes);
    let minute = Duration::from_secs_f64((whole.as_secs_f64() / FEWEST).min(MINUTE));
    let mut record = Record {
        adapter: stage.adapter(),
        instances: stage.instances(),
        changes: stage.changes(),
        checked: 0,
        worst_share: 0.0,
        minutes: Vec::new(),
    };
    note(&format!("posing {} instances for {}", record.instances, humantime::format_duration(whole)));
    let start = Instant::now();
    let (mut meter, mut began, mut frames) = (Meter::new()?, start, 0_u64);
    let mut control = Control::start(&args.adapter, record.instances)?;
    loop {
        let frame = Instant::now();
        stage.frame()?;
        meter.add(frame.elapsed());
        frames += 1;
        if frames.is_multiple_of(TIMED) {
            meter.add_pair(timed_pair(&mut stage, &mut control, frames.is_multiple_of(2 * TIMED))?);
        }
        let is_over = start.elapsed() >= whole;
        if frames.is_multiple_of(CHECK) || is_over {
            record.add_check(&stage.check()?);
        }
        if is_over || began.elapsed() >= minute {
            stage.lose_device()?;
            record.minutes.extend(meter.end(start.elapsed())?);
            record.changes = stage.changes();
            if let Some(last) = record.minutes.last() {
                note(&last.to_string());
            }
            began = Instant::now();
            if !is_over {
                // The old process ends first: what is measured is one process beside one other.
                drop(control);
                control = Control::start(&args.adapter, record.instances)?;
            }
        }
        if is_over {
            return Ok(record);
        }
    }
}

/// The times of the next frame here and in the new process, in this order or in the other one.
fn timed_pair(stage: &mut Stage, control: &mut Control, here_first: bool) -> Result<[FrameTime; 2], Error> {
    if here_first {
        return Ok([stage.repeated_frame()?, control.frame()?]);
    }
    let there = control.frame()?;
    Ok([stage.repeated_frame()?, there])
}

fn write_json(record: &Record, environment: &RunEnvironment, out: &mut impl Write) -> io::Result<()> {
    let frames: usize = record.minutes.iter().map(|minute| minute.frames).sum();
    let (passed, flat) = (record.is_within(), record.is_flat());
    let json = serde_json::json!({
        "environment": environment, "soak": record, "frames": frames, "is_within_contract": passed, "is_flat": flat,
    });
    serde_json::to_writer_pretty(&mut *out, &json)?;
    writeln!(out)
}

impl Record {
    /// Writes the result of the run.
    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let frames: usize = self.minutes.iter().map(|minute| minute.frames).sum();
        let (frames, checked) = (grouped(frames as u64), grouped(self.checked));
        writeln!(out, "{}", self.adapter)?;
        writeln!(out, "{frames} frames of {} instances; {}", grouped(self.instances as u64), self.changes)?;
        let (verdict, share) =
            (if self.is_within() { "within" } else { "BEYOND" }, digits(100.0 * self.worst_share, 3));
        writeln!(
            out,
            "{checked} frames compared with the reference: {verdict} the contract, at most {share} % of a bound"
        )?;
        for (name, unit, halves) in self.quantities() {
            let [first, second] = [halves.first, halves.second].map(|number| digits(number, 4));
            let growth = 100.0 * halves.growth();
            writeln!(
                out,
                "{name:<26} first half {first:>8} {unit:<3} second half {second:>8} {unit:<3} {growth:+.1} %"
            )?;
        }
        if !self.is_flat() {
            writeln!(out, "the time of a frame, memory or open files GROW from the first to the second half")?;
        }
        Ok(())
    }
}

impl fmt::Display for Minute {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let [median, memory] = [self.frame_ms[1], self.memory as f64 / 1e6].map(|number| digits(number, 4));
        write!(out, "{:.1} min: {} frames of {median} ms, {memory} MB", self.at, self.frames)?;
        if let Some([_, ratio, _]) = self.processor_ratio.or(self.frame_ratio) {
            write!(out, ", {ratio:.3} of the time in a new process")?;
        }
        self.files.map_or(Ok(()), |files| write!(out, ", {files} open files"))
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Self { squads, layers, transitions, refused, parameters, devices } = self;
        write!(
            out,
            "{squads} squads left and joined, {layers} other layers, {transitions} transitions ({refused} without room), \
             {parameters} other parameters, {devices} devices lost"
        )
    }
}
