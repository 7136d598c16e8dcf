//! The state of the machine while it is measured, without which a time may be the time of something else.
//!
//! * Of a GPU: clocks, power, temperature, and the reasons for which the driver lowers the clocks. A GPU may run at half
//!   its clock. Of NVIDIA, the driver's program `nvidia-smi` prints the state; of AMD on Linux, the kernel's driver has
//!   it in files below `/sys`. A thread collects it while cases are measured. Nothing is set or locked.
//! * Of the processor: how long the threads of this process wait for a core. A share of the time well above 0 says that
//!   other programs kept the machine busy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use posse::gpu::GpuContext;
use posse::wgpu;
use serde::{Deserialize, Serialize};

/// The time between two samples.
const PERIOD: Duration = Duration::from_millis(50);
/// The vendor numbers of PCI.
const NVIDIA: u32 = 0x10DE;
const AMD: u32 = 0x1002;
/// What `nvidia-smi` tells of the cards.
const IDENTITY: &str =
    "pci.bus_id,uuid,ecc.mode.current,mig.mode.current,pcie.link.gen.current,pcie.link.width.current";
/// What `nvidia-smi` tells for each sample, before the reasons for lower clocks.
const SAMPLE: &str = "clocks.sm,clocks.mem,power.draw,temperature.gpu";
/// The names of the field with the reasons, the present one first.
const REASONS: [&str; 2] = ["clocks_event_reasons.active", "clocks_throttle_reasons.active"];
/// The bits of that field, by NVML's names (nvml.h, `nvmlClocksEventReason...`).
const REASON_BITS: [&str; 9] = [
    "idle",
    "applications clocks setting",
    "software power cap",
    "hardware slowdown",
    "sync boost",
    "software thermal slowdown",
    "hardware thermal slowdown",
    "hardware power brake",
    "display clock setting",
];

/// The share of the time of its threads above which a case was measured on a busy machine. On an idle one it is below
/// 1 %.
pub const MAX_WAITED: f64 = 0.05;

/// The adapter that was measured, by wgpu and by the driver's program. Values that are not known are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuIdentity {
    /// The name.
    pub name: String,
    /// The backend of wgpu: `vulkan`.
    pub backend: String,
    /// The name of the driver.
    pub driver: String,
    /// The version of the driver, and more that it says of itself.
    pub driver_info: String,
    /// The vendor's number, by PCI: 4318 for NVIDIA.
    pub vendor: u32,
    /// The vendor's number of the device.
    pub device: u32,
    /// The place on the PCI bus: `0000:01:00.0`.
    pub pci_bus_id: Option<String>,
    /// The UUID.
    pub uuid: Option<String>,
    /// Whether errors of memory are corrected, which takes bandwidth: `Enabled`, `Disabled`.
    pub ecc: Option<String>,
    /// Whether the GPU is cut into instances: `Enabled`, `Disabled`.
    pub mig: Option<String>,
    /// The generation and the width of the PCI link: `gen 5 x16`.
    pub pcie: Option<String>,
    /// Where the state comes from: `nvidia-smi` or `sysfs`; `None` if it is not read.
    pub state_from: Option<String>,
    /// The reason for which the state is not read.
    pub state_missing: Option<String>,
}

/// A sample of the state. Values that are not known are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct StateSample {
    core_mhz: Option<f64>,
    memory_mhz: Option<f64>,
    watts: Option<f64>,
    celsius: Option<f64>,
    /// The bits of the reasons for lower clocks.
    reasons: Option<u64>,
}

/// The state of a GPU during a case. Values that are not known are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuState {
    /// The number of samples.
    pub samples: u64,
    /// The clock of the cores in megahertz.
    pub core_mhz: Option<StateRange>,
    /// The clock of the memory in megahertz.
    pub memory_mhz: Option<StateRange>,
    /// The power in watts.
    pub watts: Option<StateRange>,
    /// The temperature in degrees Celsius.
    pub celsius: Option<StateRange>,
    /// The reasons for which the driver lowered the clocks in any sample.
    pub throttle_reasons: Option<Vec<String>>,
}

/// The median of some samples, and the least and the greatest of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StateRange {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl StateRange {
    /// The range of some numbers; `None` without any.
    fn new(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        Some(Self { median: values[values.len() / 2], min, max })
    }
}

impl GpuState {
    /// The state over some samples; `None` without any.
    fn new(samples: &[StateSample]) -> Option<Self> {
        let range = |value: fn(&StateSample) -> Option<f64>| StateRange::new(samples.iter().filter_map(value));
        let reasons = samples.iter().filter_map(|sample| sample.reasons).reduce(|all, reasons| all | reasons);
        (!samples.is_empty()).then(|| Self {
            samples: samples.len() as u64,
            core_mhz: range(|sample| sample.core_mhz),
            memory_mhz: range(|sample| sample.memory_mhz),
            watts: range(|sample| sample.watts),
            celsius: range(|sample| sample.celsius),
            throttle_reasons: reasons.map(reason_names),
        })
    }
}

/// The names of reasons. That the GPU idles between frames lowers clocks, too.
fn reason_names(bits: u64) -> Vec<String> {
    let named = REASON_BITS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    let unknown = bits >> REASON_BITS.len() << REASON_BITS.len();
    let unknown = (unknown != 0).then(|| format!("{unknown:#x}"));
    named.map(|(_, name)| (*name).to_owned()).chain(unknown).collect()
}

/// Collects the state of a GPU until it is dropped.
pub struct GpuMonitor {
    samples: Arc<Mutex<Vec<StateSample>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl GpuMonitor {
    /// The identity of an adapter, and a monitor of its state if that can be read.
    pub fn new(gpu: &GpuContext) -> (GpuIdentity, Option<Self>) {
        Self::with_sources(identity(&gpu.info), gpu.is_hardware(), "nvidia-smi", Path::new("/sys/class/drm"))
    }

    /// As `new`, with the program of NVIDIA and the folder of Linux for graphics cards.
    fn with_sources(
        mut identity: GpuIdentity,
        is_hardware: bool,
        program: &str,
        cards: &Path,
    ) -> (GpuIdentity, Option<Self>) {
        let monitor = match identity.vendor {
            _ if !is_hardware => Err("a software renderer has no clocks of its own".to_owned()),
            NVIDIA => Self::by_program(&mut identity, program),
            AMD => Self::by_files(&identity, cards),
            vendor => Err(format!("no source is known for vendor {vendor:#x}")),
        };
        match monitor {
            Ok((source, monitor)) => {
                identity.state_from = Some(source.to_owned());
                (identity, Some(monitor))
            }
            Err(reason) => {
                identity.state_missing = Some(reason);
                (identity, None)
            }
        }
    }

    /// A monitor by NVIDIA's program, which also knows more of the identity.
    fn by_program(identity: &mut GpuIdentity, program: &str) -> Result<(&'static str, Self), String> {
        let list = query(program, IDENTITY, None)?;
        let rows: Vec<Vec<&str>> = list.lines().map(fields).filter(|row| row.len() == 6).collect();
        let bus = identity.pci_bus_id.as_deref();
        let row = match &rows[..] {
            [row] if bus.is_none() => Some(row),
            rows => rows.iter().find(|row| bus.is_some_and(|bus| is_same_bus(row[0], bus))),
        };
        let row = row.ok_or_else(|| format!("{program} does not list the adapter"))?;
        let [uuid, ecc, mig] = [1, 2, 3].map(|index| known(row[index]).map(str::to_owned));
        let pcie = known(row[4]).zip(known(row[5])).map(|(generation, width)| format!("gen {generation} x{width}"));
        (identity.ecc, identity.mig, identity.pcie) = (ecc, mig, pcie);
        let uuid = uuid.ok_or_else(|| format!("{program} has no UUID of the adapter"))?;
        identity.uuid = Some(uuid.clone());
        let wanted = REASONS.iter().map(|reasons| format!("{SAMPLE},{reasons}"));
        let sample = |wanted: &str| query(program, wanted, Some(&uuid)).ok().and_then(|line| parse_line(&line));
        // A field that a driver does not know is an error of the program.
        let wanted = wanted.chain([SAMPLE.to_owned()]).find(|wanted| sample(wanted).is_some());
        let wanted = wanted.ok_or_else(|| format!("{program} does not tell clocks"))?;
        let program = program.to_owned();
        let read = move || parse_line(&query(&program, &wanted, Some(&uuid)).ok()?);
        Ok(("nvidia-smi", Self::with_reader(read)))
    }

    /// A monitor by the files of AMD's driver.
    fn by_files(identity: &GpuIdentity, cards: &Path) -> Result<(&'static str, Self), String> {
        let device = amd_device(identity.pci_bus_id.as_deref(), cards)
            .ok_or_else(|| format!("{} has no card of AMD's driver at the adapter's place", cards.display()))?;
        Ok(("sysfs", Self::with_reader(move || read_files(&device))))
    }

    /// A monitor whose thread calls a function for each sample.
    fn with_reader(read: impl Fn() -> Option<StateSample> + Send + 'static) -> Self {
        let mut monitor = Self { samples: Arc::default(), is_over: Arc::default(), thread: None };
        let (samples, is_over) = (monitor.samples.clone(), monitor.is_over.clone());
        monitor.thread = Some(thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let sample = read();
                samples.lock().unwrap_or_else(PoisonError::into_inner).extend(sample);
                thread::sleep(PERIOD);
            }
        }));
        monitor
    }

    /// The state since the last call, or since the monitor was made; `None` without a sample.
    pub fn take(&self) -> Option<GpuState> {
        let samples = std::mem::take(&mut *self.samples.lock().unwrap_or_else(PoisonError::into_inner));
        GpuState::new(&samples)
    }
}

impl Drop for GpuMonitor {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has collected less.
            let _ = thread.join();
        }
    }
}

/// The identity of an adapter, by wgpu.
fn identity(info: &wgpu::AdapterInfo) -> GpuIdentity {
    GpuIdentity {
        name: info.name.clone(),
        backend: info.backend.to_string(),
        driver: info.driver.clone(),
        driver_info: info.driver_info.clone(),
        vendor: info.vendor,
        device: info.device,
        pci_bus_id: Some(info.device_pci_bus_id.clone()).filter(|bus| !bus.is_empty()),
        ..GpuIdentity::default()
    }
}

/// What NVIDIA's program tells of a card, or of all. An error is the reason for which it does not.
fn query(program: &str, wanted: &str, card: Option<&str>) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg(format!("--query-gpu={wanted}")).arg("--format=csv,noheader,nounits").stdin(Stdio::null());
    command.args(card.map(|card| format!("--id={card}")));
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(format!("{program} failed: {}", text.trim())) }
}

/// The fields of a line.
fn fields(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}

/// A field that the program knows: others are `[N/A]` or `[Not Supported]`.
fn known(field: &str) -> Option<&str> {
    Some(field).filter(|field| !field.is_empty() && !field.starts_with('['))
}

/// True if two places on the PCI bus are the same. The domain has four digits for some programs and eight for others.
fn is_same_bus(one: &str, other: &str) -> bool {
    let short = |bus: &str| bus.trim_start_matches('0').to_ascii_lowercase();
    short(one) == short(other)
}

/// The sample of a line of NVIDIA's program; `None` for a line that is none, or that has no clock.
fn parse_line(line: &str) -> Option<StateSample> {
    let fields = fields(line);
    let number = |index: usize| fields.get(index).and_then(|field| field.parse().ok());
    let reasons = fields.get(4).and_then(|field| u64::from_str_radix(field.strip_prefix("0x")?, 16).ok());
    let sample =
        StateSample { core_mhz: number(0), memory_mhz: number(1), watts: number(2), celsius: number(3), reasons };
    sample.core_mhz.map(|_| sample)
}

/// The folder of the files of a card of AMD's driver, by its place on the PCI bus; without a place, the only card.
fn amd_device(bus: Option<&str>, cards: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(cards).ok()?.filter_map(Result::ok);
    let devices = entries.map(|entry| entry.path().join("device")).filter(|device| device.join("pp_dpm_sclk").exists());
    let place = |device: &PathBuf| Some(fs::canonicalize(device).ok()?.file_name()?.to_string_lossy().into_owned());
    let mut devices: Vec<(String, PathBuf)> = devices.filter_map(|device| Some((place(&device)?, device))).collect();
    devices.sort();
    // A card has several names.
    devices.dedup_by(|one, other| one.0 == other.0);
    match bus {
        Some(bus) => devices.into_iter().find(|(place, _)| is_same_bus(place, bus)).map(|(_, device)| device),
        None => devices.pop().filter(|_| devices.is_empty()).map(|(_, device)| device),
    }
}

/// The sample of a card of AMD's driver. Its reasons for lower clocks are in no text file.
fn read_files(device: &Path) -> Option<StateSample> {
    let monitors = fs::read_dir(device.join("hwmon")).ok();
    let monitor = monitors.and_then(|mut entries| entries.next()?.ok()).map(|entry| entry.path());
    let number =
        |name: &str| -> Option<f64> { fs::read_to_string(monitor.as_ref()?.join(name)).ok()?.trim().parse().ok() };
    let clock = |name: &str| current_clock(&fs::read_to_string(device.join(name)).ok()?);
    let sample = StateSample {
        core_mhz: clock("pp_dpm_sclk"),
        memory_mhz: clock("pp_dpm_mclk"),
        // Microwatts, and thousandths of a degree.
        watts: number("power1_average").or_else(|| number("power1_input")).map(|power| 1e-6 * power),
        celsius: number("temp1_input").map(|temperature| 1e-3 * temperature),
        reasons: None,
    };
    (sample != StateSample::default()).then_some(sample)
}

/// The present one of the clocks of a file: `1: 1650Mhz *`.
fn current_clock(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_end().ends_with('*'))?;
    let (_, clock) = line.split_once(':')?;
    clock.trim().to_ascii_lowercase().split("mhz").next()?.trim().parse().ok()
}

/// The times of all threads of this process since each began, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadTimes {
    ran: u64,
    waited: u64,
}

impl ThreadTimes {
    /// The present times. `None` if the system does not tell them: only Linux does.
    fn now() -> Option<Self> {
        let mut sum = Self { ran: 0, waited: 0 };
        for task in fs::read_dir("/proc/self/task").ok()? {
            // A thread that has ended meanwhile has no file.
            let Ok(text) = fs::read_to_string(task.ok()?.path().join("schedstat")) else { continue };
            let Self { ran, waited } = Self::parse(&text)?;
            (sum.ran, sum.waited) = (sum.ran.saturating_add(ran), sum.waited.saturating_add(waited));
        }
        Some(sum)
    }

    /// The times of a thread: nanoseconds on a core, nanoseconds in which it could run and had none, and a count.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse().ok());
        Some(Self { ran: numbers.next()?, waited: numbers.next()? })
    }

    /// The share of the time since earlier times in which threads waited. `None` if none ran.
    fn waited_since(self, earlier: Self) -> Option<f64> {
        let (ran, waited) = (self.ran.saturating_sub(earlier.ran), self.waited.saturating_sub(earlier.waited));
        (ran > 0).then(|| waited as f64 / (ran as f64 + waited as f64))
    }
}

/// The result of some work, and the share of the time of the process's threads in which they waited for a core.
pub fn with_waited<T>(work: impl FnOnce() -> T) -> (T, Option<f64>) {
    let before = ThreadTimes::now();
    let result = work();
    (result, ThreadTimes::now().zip(before).and_then(|(now, before)| now.waited_since(before)))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_line_is_clocks_power_temperature_and_reasons() {
        let sample = parse_line("1980, 3201, 412.53, 51, 0x0000000000000004\n").unwrap();
        let expected = StateSample {
            core_mhz: Some(1980.0),
            memory_mhz: Some(3201.0),
            watts: Some(412.53),
            celsius: Some(51.0),
            reasons: Some(4),
        };
        assert_eq!(sample, expected);
        // Values that a card does not have.
        let sample = parse_line("300, 405, [N/A], 40, [Not Supported]").unwrap();
        assert_eq!((sample.watts, sample.celsius, sample.reasons), (None, Some(40.0), None));
        assert_eq!(["", "[N/A], 405", "Field \"clocks\" is not a valid field to query."].map(parse_line), [None; 3]);
    }

    /// The bits of nvml.h.
    #[test]
    fn reasons_have_the_names_of_their_bits() {
        assert_eq!(reason_names(0), [""; 0]);
        assert_eq!(reason_names(0x4 | 0x40), ["software power cap", "hardware thermal slowdown"]);
        assert_eq!(reason_names(0x100 | 0x1_0000), ["display clock setting", "0x10000"]);
    }

    #[test]
    fn a_state_has_the_median_and_the_ends() {
        let sample = |core, reasons| StateSample { core_mhz: Some(core), reasons, ..StateSample::default() };
        let state = GpuState::new(&[sample(900.0, Some(1)), sample(1980.0, Some(4)), sample(1700.0, None)]).unwrap();
        assert_eq!((state.samples, state.watts), (3, None));
        assert_eq!(state.core_mhz, Some(StateRange { median: 1700.0, min: 900.0, max: 1980.0 }));
        assert_eq!(state.throttle_reasons.unwrap(), ["idle", "software power cap"]);
        assert_eq!(GpuState::new(&[]), None);
    }

    fn adapter(vendor: u32, bus: &str) -> GpuIdentity {
        GpuIdentity { vendor, pci_bus_id: Some(bus.to_owned()), ..GpuIdentity::default() }
    }

    /// The reason for which a state is not read.
    fn reason(identity: GpuIdentity, is_hardware: bool, program: &str, cards: &Path) -> String {
        let (identity, monitor) = GpuMonitor::with_sources(identity, is_hardware, program, cards);
        assert!(monitor.is_none());
        identity.state_missing.unwrap()
    }

    #[test]
    fn a_state_that_is_not_read_has_a_reason() {
        let folder = TempDir::new().unwrap();
        let missing = "no-such-program-of-a-driver";
        let reason = |vendor, is_hardware| reason(adapter(vendor, "0000:01:00.0"), is_hardware, missing, folder.path());
        assert!(reason(NVIDIA, true).starts_with(missing));
        assert!(reason(AMD, true).contains("no card of AMD's driver"));
        assert!(reason(0x8086, true).contains("0x8086"));
        assert!(reason(NVIDIA, false).contains("software renderer"));
    }

    /// Waits for a sample.
    fn state(monitor: &GpuMonitor) -> GpuState {
        (0..200).find_map(|_| monitor.take().or_else(|| (thread::sleep(PERIOD), None).1)).expect("a sample in 10 s")
    }

    /// A program in the place of NVIDIA's: an older one, which has two cards and knows the older name of the reasons.
    #[cfg(unix)]
    #[test]
    fn the_state_of_the_adapters_card_comes_from_the_program() {
        use std::os::unix::fs::PermissionsExt;

        let folder = TempDir::new().unwrap();
        let program = folder.path().join("nvidia-smi");
        let script = r#"#!/bin/sh
case "$*" in
*pci.bus_id*) echo '00000000:01:00.0, GPU-aa, [N/A], [N/A], 4, 16'; echo '00000000:C1:00.0, GPU-bb, Enabled, Disabled, 5, 16';;
*clocks_event_reasons*) echo 'Field "clocks_event_reasons.active" is not a valid field to query.'; exit 2;;
*GPU-bb*) echo '1980, 3201, 412.53, 51, 0x0000000000000004';;
*) exit 6;;
esac
"#;
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let program = program.to_str().unwrap();
        let (identity, monitor) =
            GpuMonitor::with_sources(adapter(NVIDIA, "0000:c1:00.0"), true, program, folder.path());
        assert_eq!(identity.state_from.as_deref(), Some("nvidia-smi"));
        let found = [identity.uuid, identity.ecc, identity.mig, identity.pcie].map(Option::unwrap);
        assert_eq!(found, ["GPU-bb", "Enabled", "Disabled", "gen 5 x16"]);
        let state = state(&monitor.unwrap());
        assert_eq!(state.core_mhz.unwrap().median, 1980.0);
        assert_eq!(state.throttle_reasons.unwrap(), ["software power cap"]);
        assert!(reason(adapter(NVIDIA, "0000:02:00.0"), true, program, folder.path()).contains("does not list"));
    }

    /// Files as AMD's driver has them, below links as Linux has them: of two cards, one with two names.
    #[cfg(unix)]
    #[test]
    fn the_state_of_the_adapters_card_comes_from_its_files() {
        let folder = TempDir::new().unwrap();
        let cards = folder.path().join("drm");
        for (card, bus, clock) in
            [("card0", "0000:03:00.0", 500), ("renderD128", "0000:03:00.0", 500), ("card1", "0000:0a:00.0", 2430)]
        {
            let device = folder.path().join(bus);
            fs::create_dir_all(device.join("hwmon/hwmon4")).unwrap();
            let clocks = format!("0: 96Mhz\n1: {clock}Mhz *\n2: 2600Mhz\n");
            for (file, text) in [
                ("pp_dpm_sclk", clocks.as_str()),
                ("pp_dpm_mclk", "0: 96Mhz \n1: 1218Mhz *\n"),
                ("hwmon/hwmon4/power1_average", "231000000\n"),
                ("hwmon/hwmon4/temp1_input", "61000\n"),
            ] {
                fs::write(device.join(file), text).unwrap();
            }
            fs::create_dir_all(cards.join(card)).unwrap();
            std::os::unix::fs::symlink(&device, cards.join(card).join("device")).unwrap();
        }
        let (identity, monitor) = GpuMonitor::with_sources(adapter(AMD, "0000:0a:00.0"), true, "none", &cards);
        assert_eq!(identity.state_from.as_deref(), Some("sysfs"));
        let state = state(&monitor.unwrap());
        let [core, memory, watts, celsius] = [state.core_mhz, state.memory_mhz, state.watts, state.celsius];
        let medians = [core, memory, watts, celsius].map(|range| range.unwrap().median.round());
        assert_eq!(medians, [2430.0, 1218.0, 231.0, 61.0]);
        assert_eq!(state.throttle_reasons, None);
        // Without a place, two cards are one too many.
        let nowhere = GpuIdentity { pci_bus_id: None, ..adapter(AMD, "") };
        assert!(reason(nowhere, true, "none", &cards).contains("no card"));
    }

    #[test]
    fn the_share_of_waiting_is_that_of_the_files() {
        let times = |text| ThreadTimes::parse(text).unwrap();
        let [before, after] = ["1000 500 2\n", "4000 1500 9\n"].map(times);
        assert_eq!(after.waited_since(before), Some(0.25));
        assert_eq!(before.waited_since(before), None, "nothing ran");
        assert_eq!(["", "1", "a 2 3", "1 b"].map(ThreadTimes::parse), [None; 4]);
        let (sum, waited) =
            with_waited(|| (0..1_000_000_u64).fold(0, |sum, number| sum ^ std::hint::black_box(number)));
        assert!(sum < 1 << 20 && waited.is_none_or(|waited| (0.0..1.0).contains(&waited)), "{waited:?}");
    }
}
