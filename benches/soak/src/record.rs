//! The record of a soak: a line per minute, its two halves side by side, and the clocks and counters behind it.

use std::fmt;
use std::time::{Duration, Instant};

use posse::Error;
use posse::contract::Report;
use serde::Serialize;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The greatest growth of memory, as a share of that in the first half.
const MEMORY_GROWTH: f64 = 0.02;
/// The greatest growth of the number of open files. A driver may open some of them late.
const FILE_GROWTH: f64 = 2.0;
/// The greatest growth of the time of a frame beside the time in a new process, as a share of the ratio in the first
/// half.
const TIME_GROWTH: f64 = 0.02;
/// A run is judged if it takes this many minutes.
const JUDGED: f64 = 6.0;

/// The measurements of a minute; of a run of less than six minutes, of a sixth of it.
#[derive(Debug, Clone, Serialize)]
pub struct Minute {
    /// The minutes from the start of the run to the end of this one.
    pub at: f64,
    /// The number of frames.
    pub frames: usize,
    /// The time of a frame in milliseconds: the 5th percentile, the median and the 95th percentile.
    pub frame_ms: [f64; 3],
    /// The ratio of the time of a frame here to its time in a new process: the quartiles of the pairs.
    pub frame_ratio: Option<[f64; 3]>,
    /// The same ratio of processor times.
    pub processor_ratio: Option<[f64; 3]>,
    /// The processor time of all threads in milliseconds per frame, with the checks, the loss of the device and the new
    /// one, and the crowd that begins anew on each device.
    pub processor_ms: f64,
    /// Resident memory in bytes at the end.
    pub memory: u64,
    /// Open files at the end; `None` if the system does not list them.
    pub files: Option<u64>,
}

/// The record of a run.
#[derive(Debug, Serialize)]
pub struct Record {
    /// The name of the device.
    pub adapter: String,
    /// The number of instances.
    pub instances: usize,
    /// The changes of the crowd.
    pub changes: Changes,
    /// The number of frames that were compared with the reference.
    pub checked: u64,
    /// The worst share of a bound of the contract; more than 1 is a failure.
    pub worst_share: f64,
    /// The minutes.
    pub minutes: Vec<Minute>,
}

/// The numbers of changes so far.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Changes {
    /// Squads that left, each with one that joined.
    pub squads: u64,
    /// Instances that got other layers.
    pub layers: u64,
    /// Transitions that began.
    pub transitions: u64,
    /// Transitions that were refused because the capacity for them was used up.
    pub refused: u64,
    /// Instances that got other parameters.
    pub parameters: u64,
    /// Devices that were lost and made anew.
    pub devices: u64,
}

impl fmt::Display for Changes {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Self { squads, layers, transitions, refused, parameters, devices } = self;
        write!(
            out,
            "{squads} squads left and joined, {layers} other layers, {transitions} transitions ({refused} beyond the \
             capacity), {parameters} other parameters, {devices} devices lost"
        )
    }
}

impl fmt::Display for Minute {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (median, memory) = (self.frame_ms[1], self.memory as f64 / 1e6);
        write!(out, "{:.1} min: {} frames of {median:.2} ms, {memory:.1} MB", self.at, self.frames)?;
        if let Some([_, ratio, _]) = self.processor_ratio.or(self.frame_ratio) {
            write!(out, ", {ratio:.3} of the time in a new process")?;
        }
        self.files.map_or(Ok(()), |files| write!(out, ", {files} open files"))
    }
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        writeln!(out, "{}", self.adapter)?;
        writeln!(out, "{} frames of {} instances; {}", self.frames(), self.instances, self.changes)?;
        let (verdict, share) = (if self.is_within() { "within" } else { "BEYOND" }, 100.0 * self.worst_share);
        let checked = self.checked;
        writeln!(
            out,
            "{checked} frames compared with the reference: {verdict} the contract, at most {share:.3} % of a bound"
        )?;
        for (name, unit, halves) in self.quantities() {
            let Halves { first, second } = halves;
            let growth = 100.0 * halves.growth();
            writeln!(
                out,
                "{name:<26} first half {first:>8.3} {unit:<3} second half {second:>8.3} {unit:<3} {growth:+.1} %"
            )?;
        }
        if !self.is_flat() {
            writeln!(out, "the time of a frame, memory or open files GROW from the first to the second half")?;
        }
        Ok(())
    }
}

/// A quantity in the two halves of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halves {
    /// The median of the minutes of the first half.
    pub first: f64,
    /// The median of the minutes of the second half.
    pub second: f64,
}

impl Halves {
    /// The growth, as a share of the first half.
    pub fn growth(self) -> f64 {
        if self.first == self.second { 0.0 } else { self.second / self.first - 1.0 }
    }
}

impl Record {
    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.minutes.iter().map(|minute| minute.frames).sum()
    }

    /// Adds a checked frame.
    pub fn add_check(&mut self, report: &Report) {
        let shares = report.quantities().into_iter().filter_map(|(_, worst)| worst).map(|worst| worst.share());
        // A share that is not a number is a failure.
        let share = shares.fold(0.0, |most: f64, share| if share <= most { most } else { share });
        self.checked += 1;
        self.worst_share = if share <= self.worst_share { self.worst_share } else { share };
    }

    /// The halves of a quantity, without the first sixth of the run, in which caches fill, and without minutes that do
    /// not have it; `None` if a half has none.
    pub fn halves(&self, quantity: impl Fn(&Minute) -> Option<f64>) -> Option<Halves> {
        let rest = &self.minutes[self.minutes.len().div_ceil(6)..];
        let [first, second] = [&rest[..rest.len() / 2], &rest[rest.len() / 2..]].map(|half| {
            let mut numbers: Vec<f64> = half.iter().filter_map(&quantity).collect();
            numbers.sort_by(f64::total_cmp);
            numbers.get(numbers.len() / 2).copied()
        });
        Some(Halves { first: first?, second: second? })
    }

    /// The quantities of the run, each with its unit and its halves.
    pub fn quantities(&self) -> Vec<(&'static str, &'static str, Halves)> {
        let mut quantities = Vec::new();
        let mut add = |name, unit, quantity: &dyn Fn(&Minute) -> Option<f64>| {
            quantities.extend(self.halves(quantity).map(|halves| (name, unit, halves)));
        };
        add("frame, median", "ms", &|minute| Some(minute.frame_ms[1]));
        add("processor time per frame", "ms", &|minute| Some(minute.processor_ms));
        if let Some(ratio) = self.time_ratio() {
            add("frame / new process", "", &ratio);
        }
        add("memory", "MB", &|minute| Some(minute.memory as f64 / 1e6));
        add("open files", "", &|minute| minute.files.map(|files| files as f64));
        quantities
    }

    /// The ratio of the time of a frame to its time in a new process, in a minute: of processor times, if
    /// most minutes have it. A short last minute may have none.
    fn time_ratio(&self) -> Option<fn(&Minute) -> Option<f64>> {
        let ratios: [fn(&Minute) -> Option<f64>; 2] = [
            |minute| minute.processor_ratio.map(|[_, median, _]| median),
            |minute| minute.frame_ratio.map(|[_, median, _]| median),
        ];
        let count = |ratio: fn(&Minute) -> Option<f64>| self.minutes.iter().filter_map(ratio).count();
        ratios.into_iter().find(|&ratio| 2 * count(ratio) > self.minutes.len())
    }

    /// True if the time of a frame, memory and open files do not grow, or if the run is too short to tell.
    pub fn is_flat(&self) -> bool {
        let memory = self.halves(|minute| Some(minute.memory as f64));
        let files = self.halves(|minute| minute.files.map(|files| files as f64));
        let is_judged = self.minutes.last().is_some_and(|minute| minute.at >= JUDGED);
        let time = self.time_ratio().and_then(|ratio| self.halves(ratio));
        !is_judged
            // Without the times of a new process, a run says nothing of its own.
            || (time.is_some_and(|halves| halves.growth() <= TIME_GROWTH)
                && memory.is_some_and(|halves| halves.growth() <= MEMORY_GROWTH)
                && files.is_none_or(|halves| halves.second - halves.first <= FILE_GROWTH))
    }

    /// True if all checked frames are within the contract, and at least one was checked.
    pub fn is_within(&self) -> bool {
        self.checked > 0 && self.worst_share <= 1.0
    }
}

/// Measures the current minute.
pub struct Meter {
    process: Process,
    processor: Duration,
    frames: Vec<f64>,
    pairs: Vec<[FrameTime; 2]>,
}

impl Meter {
    /// A meter at the begin of a minute.
    pub fn new() -> Result<Self, Error> {
        let mut process = Process::current();
        let processor = process.resources()?.processor;
        Ok(Self { process, processor, frames: Vec::new(), pairs: Vec::new() })
    }

    /// Adds the time of a frame.
    pub fn add(&mut self, frame: Duration) {
        self.frames.push(1e3 * frame.as_secs_f64());
    }

    /// Adds the times of a frame here and of the same frame in a new process.
    pub fn add_pair(&mut self, times: [FrameTime; 2]) {
        self.pairs.push(times);
    }

    /// Ends the minute, and begins the next one. Without a frame there is none.
    pub fn end(&mut self, at: Duration) -> Result<Option<Minute>, Error> {
        let resources = self.process.resources()?;
        let times = std::mem::take(&mut self.frames);
        let used = resources.processor.saturating_sub(std::mem::replace(&mut self.processor, resources.processor));
        let frames = times.len();
        let Some(frame_ms) = quantiles(times, [0.05, 0.5, 0.95]) else { return Ok(None) };
        let pairs = std::mem::take(&mut self.pairs);
        let ratios = |time: fn(FrameTime) -> Option<Duration>| {
            let ratio = |times: &[FrameTime; 2]| {
                let [here, there] = times.map(|times| time(times).map(|time| time.as_secs_f64()));
                here.zip(there).map(|(here, there)| here / there)
            };
            quantiles(pairs.iter().filter_map(ratio).collect(), [0.25, 0.5, 0.75])
        };
        Ok(Some(Minute {
            at: at.as_secs_f64() / 60.0,
            frames,
            frame_ms,
            frame_ratio: ratios(|time| Some(time.wall)),
            processor_ratio: ratios(|time| time.processor),
            processor_ms: 1e3 * used.as_secs_f64() / frames as f64,
            memory: resources.memory,
            files: resources.files,
        }))
    }
}

/// Numbers of a list at these parts of its order; `None` of an empty list.
fn quantiles(mut numbers: Vec<f64>, parts: [f64; 3]) -> Option<[f64; 3]> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    Some(parts.map(|part| numbers[(part * last as f64).round() as usize]))
}

/// The time of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameTime {
    /// The time from its begin to its end.
    pub wall: Duration,
    /// The processor time of all threads of the process; `None` if the system does not tell.
    pub processor: Option<Duration>,
}

/// Measures a frame from its begin on.
pub struct Clock {
    wall: Instant,
    processor: Option<Duration>,
}

impl Clock {
    /// Begins a frame.
    pub fn start() -> Self {
        Self { wall: Instant::now(), processor: processor_time() }
    }

    /// The time since the begin.
    pub fn elapsed(&self) -> FrameTime {
        let processor = self.processor.zip(processor_time());
        let processor = processor.map(|(before, after)| after.saturating_sub(before));
        FrameTime { wall: self.wall.elapsed(), processor }
    }
}

/// The processor time of this process so far.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into().ok()
}

/// `None`: such a clock is one of Unix.
#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

impl FrameTime {
    /// The time as a line of text: nanoseconds of both clocks.
    pub fn to_line(self) -> String {
        let processor = self.processor.map_or("-".into(), |time| time.as_nanos().to_string());
        format!("{} {processor}", self.wall.as_nanos())
    }

    /// Reads a line of `to_line`; `None` for any other text.
    pub fn from_line(line: &str) -> Option<Self> {
        let (wall, processor) = line.trim().split_once(' ')?;
        let time = |text: &str| text.parse().ok().map(Duration::from_nanos);
        let processor = if processor == "-" { None } else { Some(time(processor)?) };
        Some(Self { wall: time(wall)?, processor })
    }
}

/// The resources of this process at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Resources {
    /// Resident memory in bytes. It holds the memory of a software device, too.
    pub memory: u64,
    /// Open files, with the files of drivers; `None` if the system does not list them.
    pub files: Option<u64>,
    /// The processor time of all threads so far.
    pub processor: Duration,
}

/// This process, as the system sees it.
pub struct Process {
    system: System,
    id: Pid,
}

impl Process {
    /// This process.
    pub fn current() -> Self {
        Self { system: System::new(), id: Pid::from_u32(std::process::id()) }
    }

    /// Its resources now.
    pub fn resources(&mut self) -> Result<Resources, Error> {
        let kind = ProcessRefreshKind::nothing().with_memory().with_cpu();
        self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[self.id]), true, kind);
        let process = self.system.process(self.id);
        let process = process.ok_or_else(|| {
            Error::Usage("the system tells nothing of this process, so that there is nothing to measure".into())
        })?;
        Ok(Resources {
            memory: process.memory(),
            files: process.open_files().map(|count| count as u64),
            processor: Duration::from_millis(process.accumulated_cpu_time()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(memory: impl Fn(usize) -> u64, count: usize) -> Record {
        let minute = |index| Minute {
            at: index as f64 + 1.0,
            frames: 10,
            frame_ms: [1.0, 2.0, 3.0],
            frame_ratio: Some([0.9, 1.0, 1.1]),
            processor_ratio: Some([0.9, 1.0, 1.1]),
            processor_ms: 1.0,
            memory: memory(index),
            files: Some(7),
        };
        let minutes = (0..count).map(minute).collect();
        let changes = Changes::default();
        Record { adapter: String::new(), instances: 1, changes, checked: 1, worst_share: 0.5, minutes }
    }

    #[test]
    fn a_run_whose_memory_grows_is_not_flat() {
        assert!(record(|_| 1000, 60).is_flat());
        // The first sixth does not count, and single minutes do not either.
        assert!(record(|minute| if minute < 10 { 500 } else { 1000 }, 60).is_flat());
        assert!(record(|minute| if minute % 7 == 0 { 9000 } else { 1000 }, 60).is_flat());
        assert!(record(|minute| 1000 - minute as u64, 60).is_flat(), "memory that shrinks");
        // 1 byte per minute: the medians of minutes 11 to 35 and 36 to 60 are 25 apart.
        let grows = record(|minute| 1000 + minute as u64, 60);
        let halves = grows.halves(|minute| Some(minute.memory as f64)).unwrap();
        assert_eq!(halves, Halves { first: 1022.0, second: 1047.0 });
        assert!(!grows.is_flat());
        assert!(record(|minute| 1000 * minute as u64, 5).is_flat(), "too short to tell");
        let files = |more: u64| {
            let mut run = record(|_| 1000, 60);
            run.minutes.iter_mut().skip(35).for_each(|minute| minute.files = Some(7 + more));
            run
        };
        assert!(files(2).is_flat() && !files(3).is_flat());
        assert_eq!(record(|_| 1, 2).halves(|minute| Some(minute.at)), None);
    }

    #[test]
    fn a_run_whose_frames_grow_longer_than_those_of_new_processes_is_not_flat() {
        let run = |processor: &dyn Fn(usize) -> Option<f64>, wall: &dyn Fn(usize) -> Option<f64>| {
            let mut run = record(|_| 1000, 60);
            for (index, minute) in run.minutes.iter_mut().enumerate() {
                let quartiles = |ratio: f64| [ratio - 0.1, ratio, ratio + 0.1];
                minute.processor_ratio = processor(index).map(quartiles);
                minute.frame_ratio = wall(index).map(quartiles);
            }
            run
        };
        let steady = |_| Some(1.03);
        let grows = |index: usize| Some(1.0 + index as f64 / 1000.0);
        assert!(run(&steady, &steady).is_flat(), "the same from its begin to its end");
        assert!(!run(&grows, &steady).is_flat());
        assert!(run(&steady, &grows).is_flat(), "processor time decides");
        assert!(!run(&|_| None, &grows).is_flat(), "without it, the clock on the wall");
        assert!(run(&|index| (index < 59).then_some(1.0), &grows).is_flat(), "a last minute without a pair");
        assert!(!run(&|index| (index > 40).then_some(1.0), &grows).is_flat(), "too few minutes with processor times");
        assert!(!run(&|_| None, &|_| None).is_flat(), "without any, nothing is shown");
        assert!(!run(&|_| Some(f64::NAN), &steady).is_flat());
    }

    #[test]
    fn a_run_without_checks_or_beyond_a_bound_fails() {
        let passed = record(|_| 1, 6);
        assert!(passed.is_within());
        assert!(!Record { checked: 0, ..passed }.is_within());
        for worst_share in [1.1, f64::INFINITY, f64::NAN] {
            assert!(!Record { worst_share, ..record(|_| 1, 6) }.is_within());
        }
    }

    #[test]
    fn a_line_holds_a_time() {
        let wall = Duration::from_nanos(12_345_678);
        for processor in [None, Some(Duration::from_nanos(9))] {
            let time = FrameTime { wall, processor };
            assert_eq!(FrameTime::from_line(&time.to_line()), Some(time));
        }
        for other in ["", "1", "1 x", "x 1", "-1 1", "error: no adapter"] {
            assert_eq!(FrameTime::from_line(other), None, "{other}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn the_processor_time_is_that_of_work() {
        let clock = Clock::start();
        while clock.elapsed().processor.unwrap() < Duration::from_millis(5) {
            std::hint::black_box(0);
        }
        // Other tests of the process work meanwhile, on all processors.
        assert!(clock.elapsed().wall > Duration::from_micros(1));
    }

    /// Other tests of the process may free memory and close files meanwhile, but not as much.
    #[test]
    fn memory_and_files_are_counted() {
        let mut process = Process::current();
        let before = process.resources().unwrap();
        let block = vec![1_u8; 256 << 20];
        let files: Vec<_> = (0..200).map(|_| std::fs::File::open(std::env::current_exe().unwrap()).unwrap()).collect();
        let after = process.resources().unwrap();
        assert!(after.memory > before.memory + (128 << 20), "{before:?} {after:?}");
        if let (Some(before), Some(after)) = (before.files, after.files) {
            assert!(after > before + 100, "{before} {after}");
        }
        drop((block, files));
    }
}
