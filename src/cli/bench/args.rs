//! What `posse bench` is asked.

use std::path::PathBuf;

use clap::ArgGroup;
use clap::builder::ArgPredicate;
use posse::{Crowd, SkinFormat};

use super::cost::Table;
use super::page::plan;
use crate::cli::arguments::CompressArgs;
use crate::cli::arguments::SkinFormatChoice;
use crate::cli::engine::EngineChoice;

/// Arguments of `posse bench`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("tables").args(["table", "report"]).multiple(true))]
pub struct Args {
    /// A .glb or .gltf file whose clips are played; without one, generated rigs.
    pub file: Option<PathBuf>,
    /// A crowd file, whose crowd is timed as it is. `posse eval --help` describes it.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["file", "table", "instances", "joints", "keys", "depth", "layers"]
    )]
    pub crowd: Option<PathBuf>,
    /// Cost tables: what a joint costs as one size grows and the others stay [default of --report: all].
    #[arg(
        long,
        value_enum,
        value_name = "TABLE,TABLE",
        value_delimiter = ',',
        conflicts_with_all = ["file", "instances", "joints", "keys", "depth", "layers"],
        default_value_ifs = plan::TABLES,
        hide_default_value = true
    )]
    pub table: Vec<Table>,
    /// Joints of each case of a cost table, of all instances together; those of table `instances` bring their own
    /// [default: 640000; of --report with a software adapter 64000].
    #[arg(long, value_name = "N", requires = "tables", value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    pub table_joints: Option<u32>,
    /// Gigabytes that a case of a cost table may take, roughly; one that would take more is left out.
    #[arg(long, value_name = "GB", default_value_t = 2.0, requires = "tables", value_parser = gigabytes)]
    pub memory: f64,
    /// Sizes of the crowds.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [100, 1_000, 10_000], value_parser = clap::value_parser!(u32).range(1..))]
    pub instances: Vec<u32>,
    /// Joints of the generated rigs.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [16, 64, 256], conflicts_with = "file", value_parser = clap::value_parser!(u32).range(1..))]
    pub joints: Vec<u32>,
    /// Keys of each track of the generated rigs, at 30 Hz.
    #[arg(long, value_name = "N", default_value_t = 60, conflicts_with = "file", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub keys: u32,
    /// Levels of the generated rigs' hierarchy, as far as their joints suffice.
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "file", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub depth: u32,
    /// Layers of each instance, blended with equal weights.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [1], value_parser = clap::value_parser!(u32).range(1..=Crowd::MAX_LAYERS as i64))]
    pub layers: Vec<u32>,
    /// How skin matrices are written. With dual-quaternion among them, generated rigs scale alike along all axes.
    #[arg(long, value_enum, value_name = "FORMAT,FORMAT", value_delimiter = ',', default_values_t = [SkinFormatChoice::Matrix])]
    pub skin_format: Vec<SkinFormatChoice>,
    /// The engines; `gpu` takes a software adapter where there is no other [default: gpu,cpu,reference; of tables gpu,cpu].
    #[arg(long = "engine", value_enum, value_name = "ENGINE,ENGINE", value_delimiter = ',')]
    pub engines: Vec<EngineChoice>,
    /// Threads of the CPU engine, which is timed with each number [default: one a core; of --report 1 and one a core].
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = threads)]
    pub threads: Vec<usize>,
    /// Seconds for each case and engine [default: 0.5; of --report 0.2].
    #[arg(
        long,
        default_value_t = 0.5,
        default_value_if("report", ArgPredicate::IsPresent, "0.2"),
        hide_default_value = true,
        value_parser = seconds
    )]
    pub seconds: f64,
    #[command(flatten)]
    pub compress: CompressArgs,
    /// What an earlier run printed as JSON: each case is compared with the same case of it, by ratio of throughput.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    pub json: bool,
    /// Writes a page of plots and tables too, an .html file without scripts, or as an .svg file its first plot
    /// alone. Without sizes, it is of all cost tables, which takes a minute or two.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// What an earlier run printed as JSON: the page is made of that, and nothing is measured.
    #[arg(
        long,
        value_name = "FILE",
        requires = "report",
        conflicts_with_all = [
            "file", "crowd", "table", "table_joints", "memory", "instances", "joints", "keys", "depth", "layers",
            "skin_format", "engines", "threads", "seconds", "baseline", "json"
        ]
    )]
    pub from: Option<PathBuf>,
}

impl Args {
    pub fn skin_formats(&self) -> impl Iterator<Item = SkinFormat> {
        self.skin_format.iter().map(|&format| format.into())
    }

    /// Whether what is played has to scale alike along all axes.
    pub fn uniform(&self) -> bool {
        self.skin_formats().any(|format| format == SkinFormat::DualQuaternion)
    }

    pub fn engines(&self) -> &[EngineChoice] {
        match &self.engines[..] {
            [] if self.table.is_empty() || self.report.is_some() => {
                &[EngineChoice::Gpu, EngineChoice::Cpu, EngineChoice::Reference]
            }
            [] => &[EngineChoice::Gpu, EngineChoice::Cpu],
            engines => engines,
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0 to 600 is needed".into()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("a number of threads from 1 to 1024 is needed".into()),
    }
}

fn gigabytes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(gigabytes) if (0.0..=1e6).contains(&gigabytes) => Ok(gigabytes),
        _ => Err("a number of gigabytes from 0 to 1e6 is needed".into()),
    }
}
