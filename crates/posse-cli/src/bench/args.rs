//! The arguments of `posse bench`.

use std::path::PathBuf;

use clap::ArgGroup;
use clap::builder::ArgPredicate;
use posse::gpu::AdapterKind;
use posse::{Crowd, SkinFormat};

use super::case::{Scales, Size, Table};
use crate::arguments::{CompressArgs, SkinFormatChoice, whole};
use crate::engine::{AdapterArgs, EngineChoice};
use crate::threads::MAX_THREADS;

/// The default of `--table`: all cost tables with `--report`, unless an option is present that selects other cases.
const DEFAULT_TABLES: [(&str, ArgPredicate, Option<&str>); 9] = [
    ("from", ArgPredicate::IsPresent, None),
    ("file", ArgPredicate::IsPresent, None),
    ("crowd", ArgPredicate::IsPresent, None),
    ("instances", ArgPredicate::IsPresent, None),
    ("joints", ArgPredicate::IsPresent, None),
    ("keys", ArgPredicate::IsPresent, None),
    ("depth", ArgPredicate::IsPresent, None),
    ("layers", ArgPredicate::IsPresent, None),
    ("report", ArgPredicate::IsPresent, Some("instances,layers,keys,depth,joints,skeletons,clips,additive")),
];

/// The number of joints of each case of a cost table.
const TABLE_JOINTS: u32 = 640_000;
/// The number of joints of each case of a cost table, if a page shows a software adapter.
const TABLE_JOINTS_IN_SOFTWARE: u32 = 64_000;

/// Arguments of `posse bench`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("tables").args(["table", "report"]).multiple(true))]
pub struct Args {
    /// A .glb, .gltf, .vrm, .fbx or .bvh file. Its clips are played. Default: generated rigs.
    pub file: Option<PathBuf>,
    /// A crowd file. Its crowd is measured unchanged. `posse eval --help` describes crowd files.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["file", "table", "instances", "joints", "keys", "depth", "layers"]
    )]
    pub crowd: Option<PathBuf>,
    /// Cost tables: the time per joint as one size grows and the others are fixed [default of --report: all].
    #[arg(
        long,
        value_enum,
        value_name = "TABLE,TABLE",
        value_delimiter = ',',
        conflicts_with_all = ["file", "instances", "joints", "keys", "depth", "layers"],
        default_value_ifs = DEFAULT_TABLES,
        hide_default_value = true
    )]
    pub table: Vec<Table>,
    /// Joints of each case of a cost table, over all instances; not for table `instances` [default: 640000; of --report
    /// with a software adapter 64000].
    #[arg(long, value_name = "N", requires = "tables", value_parser = whole::<u32>(1..=1 << 28))]
    pub table_joints: Option<u32>,
    /// The largest estimated memory of a case of a cost table in gigabytes. Larger cases are left out.
    #[arg(long, value_name = "GB", default_value_t = 2.0, requires = "tables", value_parser = parse_gigabytes)]
    pub memory: f64,
    /// The numbers of instances.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [100, 1_000, 10_000], value_parser = whole(1..=u32::MAX))]
    pub instances: Vec<u32>,
    /// The numbers of joints of the generated rigs.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [16, 64, 256], conflicts_with = "file", value_parser = whole(1..=u32::MAX))]
    pub joints: Vec<u32>,
    /// The number of keys per track of the generated rigs, at 30 Hz.
    #[arg(long, value_name = "N", default_value_t = 60, conflicts_with = "file", value_parser = whole::<u32>(1..=100_000))]
    pub keys: u32,
    /// The number of levels of the generated rigs; at most their number of joints.
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "file", value_parser = whole::<u32>(1..=100_000))]
    pub depth: u32,
    /// The numbers of layers per instance, blended with equal weights.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [1], value_parser = whole(1..=Crowd::MAX_LAYERS as u32))]
    pub layers: Vec<u32>,
    /// The scales of the generated rigs, each measured. Dual quaternions are measured with uniform ones only [default:
    /// uneven; with --skin-format dual-quaternion uniform].
    #[arg(
        long,
        value_enum,
        value_name = "SCALES,SCALES",
        value_delimiter = ',',
        conflicts_with_all = ["file", "crowd"]
    )]
    pub scales: Vec<Scales>,
    /// The angle between neighbouring rotation keys of the generated rigs in degrees [default: one swing per clip, at
    /// most 3 degrees per key].
    #[arg(
        long,
        value_name = "DEGREES",
        conflicts_with_all = ["file", "crowd"],
        value_parser = whole::<u32>(1..=170)
    )]
    pub key_angle: Option<u32>,
    /// The formats of skin matrices.
    #[arg(long, value_enum, value_name = "FORMAT,FORMAT", value_delimiter = ',', default_values_t = [SkinFormatChoice::Matrix])]
    pub skin_format: Vec<SkinFormatChoice>,
    /// The engines. `gpu` uses a software adapter if there is no hardware GPU [default: gpu,cpu,reference; of tables
    /// gpu,cpu].
    #[arg(long = "engine", value_enum, value_name = "ENGINE,ENGINE", value_delimiter = ',')]
    pub engines: Vec<EngineChoice>,
    #[command(flatten)]
    pub adapter: AdapterArgs,
    /// The numbers of threads of the CPU engine, each measured [default: one per core; of --report 1 and one per core].
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = whole(1..=MAX_THREADS))]
    pub threads: Vec<usize>,
    /// Seconds per case and engine [default: 0.5; of --report 0.2].
    #[arg(
        long,
        default_value_t = 0.5,
        default_value_if("report", ArgPredicate::IsPresent, "0.2"),
        hide_default_value = true,
        value_parser = parse_seconds
    )]
    pub seconds: f64,
    #[command(flatten)]
    pub compress: CompressArgs,
    /// The JSON of an earlier run. Each case is compared with the same case of that run, by the ratio of throughputs.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    pub json: bool,
    /// Also writes a page of plots and tables, an .html file that draws its own JSON. Without sizes, the page has all
    /// cost tables, which takes a minute or two.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The JSON of an earlier run, or of a measurement that the page in the browser saved. Its tables are printed, or
    /// with --report its page is written. Nothing is measured.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "file", "crowd", "table", "table_joints", "memory", "instances", "joints", "keys", "depth", "layers",
            "scales", "key_angle", "skin_format", "engines", "adapter", "threads", "seconds", "baseline", "json"
        ]
    )]
    pub from: Option<PathBuf>,
}

impl Args {
    /// The skin formats, in the order of the option.
    pub fn skin_formats(&self) -> impl Iterator<Item = SkinFormat> {
        self.skin_format.iter().map(|&format| format.into())
    }

    /// The scales of generated rigs.
    pub fn scales(&self) -> &[Scales] {
        let has_dual_quaternions = self.skin_formats().any(|format| format == SkinFormat::DualQuaternion);
        match &self.scales[..] {
            [] if has_dual_quaternions => &[Scales::Uniform],
            [] => &[Scales::Uneven],
            scales => scales,
        }
    }

    /// A size with each skin format that its scales allow.
    pub fn with_skin_formats(&self, size: Size) -> impl Iterator<Item = Size> {
        let is_possible =
            move |format: &SkinFormat| *format != SkinFormat::DualQuaternion || size.scales != Some(Scales::Uneven);
        self.skin_formats().filter(is_possible).map(move |skin_format| Size { skin_format, ..size })
    }

    /// The selected engines, or the default.
    pub fn engines(&self) -> &[EngineChoice] {
        match &self.engines[..] {
            [] if self.table.is_empty() || self.report.is_some() => {
                &[EngineChoice::Gpu, EngineChoice::Cpu, EngineChoice::Reference]
            }
            [] => &[EngineChoice::Gpu, EngineChoice::Cpu],
            engines => engines,
        }
    }

    /// The number of joints of each case of a cost table. The cases of all engines on a page have the same size, so a
    /// software adapter makes all of them smaller.
    pub fn joints_per_table_case(&self) -> u32 {
        let page_has_gpu = self.report.is_some() && self.engines().contains(&EngineChoice::Gpu);
        let in_software = || self.adapter.open(AdapterKind::Any).is_ok_and(|gpu| !gpu.is_hardware());
        self.table_joints
            .unwrap_or_else(|| if page_has_gpu && in_software() { TABLE_JOINTS_IN_SOFTWARE } else { TABLE_JOINTS })
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds from 0 to 600".into()),
    }
}

fn parse_gigabytes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(gigabytes) if (0.0..=1e6).contains(&gigabytes) => Ok(gigabytes),
        _ => Err("expected a number of gigabytes from 0 to 1e6".into()),
    }
}
