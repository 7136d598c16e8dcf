//! The kernels of posse, compiled by Mesa's compiler for AMD GPUs. No GPU is needed: Mesa's RADV has a device that only
//! compiles, for each family of AMD's GPUs. The driver reports registers, shared memory, waves, instructions, spills,
//! and the compiler's estimate of cycles.
//!
//! cargo run -p posse-isa
//! cargo run -p posse-isa -- --check      # registers, shared memory and spills against limits.json
//! cargo run -p posse-isa -- --texts DIR  # writes the kernels for `benches/sass`, which asks NVIDIA's compiler
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
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;

use crate::report::{Compiled, Row};

/// The driver in Debian and in most distributions: its package is mesa-vulkan-drivers.
const DRIVER: &str = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json";
/// The names that RADV gives to the families. gfx1100 is the chip of the RX 7900.
const FAMILIES: [&str; 5] = ["polaris10", "vega10", "navi10", "navi21", "gfx1100"];
/// The exit code for a check that was skipped, as in Automake.
const SKIPPED: u8 = 77;

/// Compiles the kernels of posse by Mesa's compiler for AMD GPUs. No GPU is needed.
#[derive(Parser)]
struct Arguments {
    /// GPUs by RADV's names of families
    #[arg(long, value_delimiter = ',', default_values_t = FAMILIES.map(String::from))]
    family: Vec<String>,
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
    if !arguments.driver.exists() {
        return skipped(&format!(
            "{} is missing: install mesa-vulkan-drivers, or name it by --driver",
            arguments.driver.display()
        ));
    }
    if let Err(error) = device::loader() {
        return skipped(&format!("{error}: install libvulkan1"));
    }
    finish(run(&arguments))
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
        let compiled = compile(&arguments.kernel, issue::Rates::for_family(&family()))?;
        println!("{}", serde_json::to_string(&compiled).map_err(|error| error.to_string())?);
        return Ok(ExitCode::SUCCESS);
    }
    let all = arguments.family.iter().map(|family| compile_for(arguments, family));
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
        report::print(&all);
    }
    Ok(ExitCode::SUCCESS)
}

/// Compiles for a family, in a process of its own: RADV reads the family from the environment.
fn compile_for(arguments: &Arguments, family: &str) -> Result<Compiled, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["--worker", "--kernel", &arguments.kernel])
        .env("RADV_FORCE_FAMILY", family)
        .env("VK_DRIVER_FILES", &arguments.driver)
        .env("VK_ICD_FILENAMES", &arguments.driver)
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{family}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let compiled: Compiled = serde_json::from_str(&text).map_err(|error| format!("{family}: {error}: {text}"))?;
    Ok(Compiled { family: family.into(), ..compiled })
}

/// The family that the environment names.
fn family() -> String {
    std::env::var("RADV_FORCE_FAMILY").unwrap_or_default()
}

/// Compiles the kernels whose names contain a text, for the GPU of the environment.
fn compile(filter: &str, rates: issue::Rates) -> Result<Compiled, String> {
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
        let issue_cycles = kernel.counted.then(|| issue::cycles(&assembly, rates));
        rows.push(Row { kernel: kernel.name, joints: kernel.joints, instances_per_group, issue_cycles, statistics });
    }
    Ok(Compiled { family: String::new(), device: device.name.clone(), driver: device.driver.clone(), rows })
}
