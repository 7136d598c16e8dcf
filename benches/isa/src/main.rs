//! The kernels of posse, compiled by Mesa's compilers for AMD's and NVIDIA's GPUs. No GPU is needed: Mesa's RADV has a
//! device that only compiles, for each family of AMD's GPUs, and NVK runs on a library that stands in for the kernel's
//! driver. The drivers report registers, shared memory, instructions and spills, RADV also waves and the compiler's
//! estimate of cycles.
//!
//! cargo run -p posse-isa
//! cargo run -p posse-isa -- --nvk        # NVIDIA's Turing and Ampere
//! cargo run -p posse-isa -- --check      # registers, shared memory and spills against limits.json
//! cargo run -p posse-isa -- --texts DIR  # writes the kernels for `benches/sass`, which asks NVIDIA's compiler
//!
//! NVK's compiler makes three times the instructions of NVIDIA's own, which `benches/sass` asks. Its figures are for
//! users of NVK, and a third opinion on the rank of kernels. Debian 13 has the driver and the library, in the packages
//! mesa-vulkan-drivers, mesa-drm-shim and libvulkan1. On other systems, `--nvk FOLDER` takes a folder into which these
//! packages and the packages that they depend on were extracted, by `dpkg -x`.
//!
//! It exits with 77 if the driver or the Vulkan loader is missing, or if limits.json is of another version of the
//! driver.

mod device;
mod issue;
mod kernels;
mod limits;
mod report;
mod spirv;
mod texts;

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;

use crate::report::{Compiled, Row};

/// The driver in Debian and in most distributions: its package is mesa-vulkan-drivers.
const DRIVER: &str = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json";
/// The names that RADV gives to the families. gfx1100 is the chip of the RX 7900.
const FAMILIES: [&str; 5] = ["polaris10", "vega10", "navi10", "navi21", "gfx1100"];
/// Chips by the numbers of nouveau, of Turing and Ampere. The library knows no later ones.
const CHIPS: [&str; 2] = ["0x162", "0x172"];
/// The folder of libraries of Debian's packages.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";
/// The exit code for a check that was skipped, as in Automake.
const SKIPPED: u8 = 77;

/// Compiles the kernels of posse by Mesa's compilers for AMD's or NVIDIA's GPUs. No GPU is needed.
#[derive(Parser)]
struct Arguments {
    /// GPUs by RADV's names of families, or with --nvk by the numbers of chips [default: polaris10, vega10, navi10,
    /// navi21, gfx1100; with --nvk 0x162, 0x172]
    #[arg(long, value_delimiter = ',')]
    family: Vec<String>,
    /// Compiles for NVIDIA's GPUs by NVK, with the packages of Debian 13 in a folder [default of the folder: /]
    #[arg(
        long,
        value_name = "FOLDER",
        num_args = 0..=1,
        default_missing_value = "/",
        conflicts_with_all = ["driver", "check", "store", "texts"]
    )]
    nvk: Option<PathBuf>,
    /// Only kernels whose name contains this text
    #[arg(long, default_value = "")]
    kernel: String,
    /// RADV's file for the Vulkan loader
    #[arg(long, default_value = DRIVER)]
    driver: PathBuf,
    /// Prints JSON, with all statistics of the driver
    #[arg(long)]
    json: bool,
    /// Compares registers, shared memory and spills with limits.json; exits with 1 if a kernel exceeds one
    #[arg(long, conflicts_with = "json")]
    check: bool,
    /// Writes the figures of all families to limits.json
    #[arg(long, conflicts_with_all = ["json", "check", "kernel", "family"])]
    store: bool,
    /// Writes the kernels that pose to a folder, as WGSL with the words of their buffers
    #[arg(long, conflicts_with_all = ["json", "check", "store"])]
    texts: Option<PathBuf>,
    /// Compiles for the GPU of the environment and prints JSON: one process per family
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.texts {
        return finish(texts::write(folder, &arguments.kernel).map(|()| ExitCode::SUCCESS));
    }
    if let Some(missing) = missing(&arguments) {
        return skipped(&missing);
    }
    finish(run(&arguments))
}

/// What is missing, with the packages that have it.
fn missing(arguments: &Arguments) -> Option<String> {
    if let Some(root) = &arguments.nvk {
        let files = NvkFiles::new(root);
        let missing = files.all().into_iter().find(|file| !file.exists())?;
        let packages =
            "install mesa-vulkan-drivers and mesa-drm-shim of Debian 13, or name a folder with them by --nvk";
        return Some(format!("{} is missing: {packages}", missing.display()));
    }
    if !arguments.driver.exists() {
        let driver = arguments.driver.display();
        return Some(format!("{driver} is missing: install mesa-vulkan-drivers, or name it by --driver"));
    }
    device::loader().err().map(|error| format!("{error}: install libvulkan1"))
}

/// The files of Debian's packages by which NVK compiles without a GPU.
struct NvkFiles {
    /// The folder of the libraries.
    libraries: PathBuf,
    /// The dynamic linker, which belongs to the C library there.
    linker: PathBuf,
    /// NVK's file for the Vulkan loader.
    driver: PathBuf,
    /// The library that stands in for the kernel's driver.
    shim: PathBuf,
}

impl NvkFiles {
    /// The files in a folder of packages.
    fn new(root: &Path) -> Self {
        let libraries = root.join(LIBRARIES);
        let driver = root.join("usr/share/vulkan/icd.d/nouveau_icd.json");
        let (linker, shim) = (libraries.join("ld-linux-x86-64.so.2"), libraries.join("libnouveau_noop_drm_shim.so"));
        Self { libraries, linker, driver, shim }
    }

    fn all(&self) -> [&Path; 3] {
        [&self.linker, &self.driver, &self.shim]
    }

    /// The command that runs a program with these files, for a chip.
    fn command(&self, program: &Path, chip: &str) -> Command {
        let mut command = Command::new(&self.linker);
        command.arg("--library-path").arg(&self.libraries).arg("--preload").arg(&self.shim).arg(program);
        command.env("NOUVEAU_CHIPSET", chip);
        with_driver(command, &self.driver)
    }
}

/// A command whose Vulkan loader takes a driver.
fn with_driver(mut command: Command, driver: &Path) -> Command {
    command.env("VK_DRIVER_FILES", driver).env("VK_ICD_FILENAMES", driver).env("MESA_SHADER_CACHE_DISABLE", "true");
    command
}

/// The exit code of a run, whose error is printed.
fn finish(result: Result<ExitCode, String>) -> ExitCode {
    result.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

/// Prints the reason for which nothing is checked.
fn skipped(reason: &str) -> ExitCode {
    eprintln!("SKIPPED: {reason}");
    ExitCode::from(SKIPPED)
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    if arguments.worker {
        let compiled = compile(&arguments.kernel, family().as_deref().map(issue::Rates::for_family))?;
        println!("{}", serde_json::to_string(&compiled).map_err(|error| error.to_string())?);
        return Ok(ExitCode::SUCCESS);
    }
    let known: &[&str] = if arguments.nvk.is_some() { &CHIPS } else { &FAMILIES };
    let families = if arguments.family.is_empty() {
        known.iter().map(|&name| name.into()).collect()
    } else {
        arguments.family.clone()
    };
    let all = families.iter().map(|family: &String| compile_for(arguments, family));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    if all.iter().any(|compiled| compiled.rows.is_empty()) {
        return Err(format!("no name of a kernel contains {:?}", arguments.kernel));
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?);
    } else if arguments.store {
        limits::store(&all)?;
    } else if arguments.check {
        let limits = limits::read()?;
        if let Some(compiled) = all.iter().find(|compiled| compiled.driver != limits.driver) {
            return Ok(skipped(&format!("limits.json is of {}, this is {}", limits.driver, compiled.driver)));
        }
        let errors = limits.errors(&all, arguments.kernel.is_empty());
        errors.iter().for_each(|error| eprintln!("{error}"));
        println!("{} kernels for each of {} GPUs, {} errors", all[0].rows.len(), all.len(), errors.len());
        return Ok(ExitCode::from(u8::from(!errors.is_empty())));
    } else {
        report::print(&all, if arguments.nvk.is_some() { &report::NVK_COLUMNS } else { &report::RADV_COLUMNS });
    }
    Ok(ExitCode::SUCCESS)
}

/// Compiles for a family, in a process of its own: both drivers read the family from the environment.
fn compile_for(arguments: &Arguments, family: &str) -> Result<Compiled, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = match &arguments.nvk {
        Some(root) => NvkFiles::new(root).command(&program, family),
        None => {
            let mut command = with_driver(Command::new(program), &arguments.driver);
            command.env("RADV_FORCE_FAMILY", family);
            command
        }
    };
    let output =
        command.args(["--worker", "--kernel", &arguments.kernel]).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{family}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let compiled: Compiled = serde_json::from_str(&text).map_err(|error| format!("{family}: {error}: {text}"))?;
    Ok(Compiled { family: family.into(), ..compiled })
}

/// The family of RADV that the environment names; `None` for NVK.
fn family() -> Option<String> {
    std::env::var("RADV_FORCE_FAMILY").ok()
}

/// Compiles the kernels whose names contain a text, for the GPU of the environment.
fn compile(filter: &str, rates: Option<issue::Rates>) -> Result<Compiled, String> {
    let device = device::Device::new()?;
    let mut rows = Vec::new();
    for kernel in kernels::all().map_err(|error| error.to_string())? {
        if !kernel.name.contains(filter) {
            continue;
        }
        let error = |error: String| format!("{}: {error}", kernel.name);
        let module = spirv::translate(&kernel.text.wgsl, kernel.text.pass.entry_point()).map_err(error)?;
        let entry_point = CString::new(kernel.text.pass.entry_point()).map_err(|error| error.to_string())?;
        let (statistics, assembly) = device.compile(&module, &entry_point).map_err(error)?;
        let instances_per_group = kernel.text.instances_per_group;
        let issue_cycles = rates.filter(|_| kernel.counted).map(|rates| issue::cycles(&assembly, rates));
        rows.push(Row { kernel: kernel.name, joints: kernel.joints, instances_per_group, issue_cycles, statistics });
    }
    Ok(Compiled { family: String::new(), device: device.name.clone(), driver: device.driver.clone(), rows })
}
