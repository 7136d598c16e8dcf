//! `posse adapters`: the adapters of the machine, and their use for posse.

use std::collections::HashMap;
use std::io::{self, Write};

use posse::gpu::{AdapterDescription, AdapterKind, GpuContext, Shortfall};
use posse::low_level::kernel_limits;
use posse::{Error, wgpu};
use serde::Serialize;

use crate::output::{self, note, printable_line};

/// The end of `posse adapters --help`.
pub const HELP: &str = "\
--adapter NAME|INDEX of the other commands selects an adapter. Environment variables of wgpu narrow the choice of all commands:
  WGPU_BACKEND        backends that are used: vulkan, metal, dx12, webgpu, or several separated by commas
  WGPU_ADAPTER_NAME   a part of the name of the adapter, in any case; --adapter takes precedence
  WGPU_POWER_PREF     low prefers an integrated GPU; high and none prefer a discrete one, as by default";

/// Arguments of `posse adapters`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// The limits that decide how many instances fit a dispatch and a buffer, beside
/// `max_compute_workgroups_per_dimension`. Any value is enough.
const SIZES: [&str; 2] = ["max_storage_buffer_binding_size", "max_buffer_size"];

/// Runs `posse adapters`.
pub fn run(args: &Args) -> Result<(), Error> {
    let adapters = GpuContext::adapters()?;
    let default = GpuContext::default_adapter(AdapterKind::Any);
    if let Err(error) = &default {
        note(&format!("note: {error}"));
    }
    let default = default.ok().map(|adapter| adapter.index);
    let rows: Vec<AdapterRow> = adapters.iter().map(|adapter| AdapterRow::new(adapter, default)).collect();
    output::print(|out| {
        if args.json {
            let list = AdapterList { adapters: &rows, needed: needed() };
            serde_json::to_writer_pretty(&mut *out, &list)?;
            writeln!(out)
        } else {
            write_text(out, &rows)
        }
    })
}

/// Values of limits by name.
type Limits = serde_json::Map<String, serde_json::Value>;

/// The JSON of the command.
#[derive(Serialize)]
struct AdapterList<'a> {
    adapters: &'a [AdapterRow],
    /// The least limits.
    needed: Limits,
}

/// An adapter in the output.
#[derive(Serialize)]
struct AdapterRow {
    index: usize,
    name: String,
    backend: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    driver: String,
    driver_version: String,
    vendor_id: u32,
    device_id: u32,
    /// `true` if the adapter has a clock for measurements.
    clock: bool,
    /// `true` if `--engine gpu` uses the adapter without `--adapter`.
    default: bool,
    sufficient: bool,
    shortfalls: Vec<Short>,
    limits: Limits,
}

/// A shortfall in the JSON.
#[derive(Serialize)]
struct Short {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    needed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<u64>,
    #[serde(skip)]
    text: String,
}

impl AdapterRow {
    fn new(adapter: &AdapterDescription, default: Option<usize>) -> Self {
        let AdapterDescription { index, info, .. } = adapter;
        Self {
            index: *index,
            name: info.name.clone(),
            backend: info.backend.to_str(),
            kind: type_name(info.device_type),
            driver: info.driver.clone(),
            driver_version: info.driver_info.clone(),
            vendor_id: info.vendor,
            device_id: info.device,
            clock: adapter.has_clock,
            default: default == Some(*index),
            sufficient: adapter.is_sufficient(),
            shortfalls: adapter.shortfalls.iter().map(Short::new).collect(),
            limits: limits(&adapter.limits),
        }
    }

    /// The cells of the table.
    fn cells(&self) -> [String; 7] {
        let used = match (self.sufficient, self.default) {
            (false, _) => "no, see below",
            (true, true) => "by default",
            (true, false) => "with --adapter",
        };
        let clock = if self.clock { "yes" } else { "no" };
        let driver = format!("{} {}", self.driver, self.driver_version);
        let name = printable_line(&self.name).into_owned();
        [
            self.index.to_string(),
            name,
            self.backend.into(),
            self.kind.into(),
            printable_line(driver.trim()).into_owned(),
            clock.into(),
            used.into(),
        ]
    }
}

impl Short {
    fn new(shortfall: &Shortfall) -> Self {
        let text = shortfall.to_string();
        match *shortfall {
            Shortfall::Limit { name, needed, allowed } => {
                Self { name, needed: Some(needed), allowed: Some(allowed), text }
            }
            Shortfall::Feature { name } => Self { name, needed: None, allowed: None, text },
            // A kind that this command does not know.
            _ => Self { name: "other", needed: None, allowed: None, text },
        }
    }
}

/// The limits that posse uses, by name.
fn limits(all: &wgpu::Limits) -> Limits {
    let unlimited = wgpu::Limits::unlimited();
    let mut values = HashMap::new();
    unlimited.check_limits_with_fail_fn(all, false, |name, _, value| values.extend([(name, value)]));
    all.check_limits_with_fail_fn(&unlimited, false, |name, value, _| values.extend([(name, value)]));
    // A limit of neither list has the value of `unlimited`, which is the same for all.
    let value = |name: &str| values.get(name).copied().unwrap_or(unlimited.max_buffer_size);
    let names = needed().into_iter().map(|(name, _)| name).chain(SIZES.map(str::to_owned));
    names.map(|name| (name.clone(), value(&name).into())).collect()
}

/// The least values of limits, by name: of all limits that [`kernel_limits`] sets, which the engine
/// checks.
fn needed() -> Limits {
    let unlimited = wgpu::Limits::unlimited();
    let mut needed = Limits::new();
    unlimited.check_limits_with_fail_fn(&kernel_limits(unlimited.clone()), false, |name, _, least| {
        needed.insert(name.to_owned(), least.into());
    });
    needed
}

fn type_name(kind: wgpu::DeviceType) -> &'static str {
    match kind {
        wgpu::DeviceType::DiscreteGpu => "discrete",
        wgpu::DeviceType::IntegratedGpu => "integrated",
        wgpu::DeviceType::VirtualGpu => "virtual",
        wgpu::DeviceType::Cpu => "software",
        wgpu::DeviceType::Other => "other",
    }
}

/// Writes a table of the adapters, a table of their limits, and the reasons why some are not enough.
fn write_text(out: &mut impl Write, rows: &[AdapterRow]) -> io::Result<()> {
    let Some(first) = rows.first() else { return writeln!(out, "no adapters") };
    let head = ["index", "name", "backend", "type", "driver", "clock", "used"].map(String::from);
    let table: Vec<_> = [head.to_vec()].into_iter().chain(rows.iter().map(|row| row.cells().to_vec())).collect();
    write_table(out, &table)?;
    writeln!(out)?;
    let mut head = vec!["limit".to_owned(), "needed".to_owned()];
    head.extend(rows.iter().map(|row| format!("adapter {}", row.index)));
    let needed = needed();
    let line = |name: &String| {
        let values = rows.iter().map(|row| row.limits.get(name).map_or_else(String::new, ToString::to_string));
        let needed = needed.get(name).map_or_else(String::new, ToString::to_string);
        [name.clone(), needed].into_iter().chain(values).collect()
    };
    let table: Vec<Vec<String>> = [head].into_iter().chain(first.limits.keys().map(line)).collect();
    write_table(out, &table)?;
    for row in rows.iter().filter(|row| !row.sufficient) {
        writeln!(out, "\nadapter {} is not enough for posse:", row.index)?;
        row.shortfalls.iter().try_for_each(|short| writeln!(out, "  {}", short.text))?;
    }
    Ok(())
}

/// Writes a table with columns as wide as their longest cells.
fn write_table(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    rows.iter().try_for_each(|row| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_those_that_the_engine_checks() {
        let needed = needed();
        let least = posse::gpu::GpuLibrary::required_limits();
        for (name, value) in [
            ("max_storage_buffers_per_shader_stage", u64::from(least.max_storage_buffers_per_shader_stage)),
            ("max_compute_workgroup_storage_size", least.max_compute_workgroup_storage_size.into()),
            ("max_bind_groups", 1),
        ] {
            assert_eq!(needed.get(name), Some(&value.into()), "{name}");
        }
        assert!(!needed.contains_key("max_buffer_size") && !needed.contains_key("max_texture_dimension_2d"));
        // A value below, at and above the values of `unlimited`.
        let all = wgpu::Limits {
            max_buffer_size: 1 << 40,
            max_bind_groups: wgpu::Limits::unlimited().max_bind_groups,
            ..wgpu::Limits::default()
        };
        let limits = limits(&all);
        assert_eq!(limits.len(), needed.len() + SIZES.len());
        assert_eq!(limits["max_buffer_size"], 1_u64 << 40);
        assert_eq!(limits["max_bind_groups"], i32::MAX);
        assert_eq!(limits["max_compute_workgroup_size_x"], wgpu::Limits::default().max_compute_workgroup_size_x);
    }

    #[test]
    fn an_adapter_that_is_not_enough_is_listed_with_the_reasons() {
        let limit = Shortfall::Limit { name: "max_storage_buffers_per_shader_stage", needed: 8, allowed: 4 };
        let row = |index, shortfalls: &[Shortfall]| AdapterRow {
            index,
            name: format!("name {index}"),
            backend: "vulkan",
            kind: "discrete",
            driver: "driver".into(),
            driver_version: "1.2".into(),
            vendor_id: 1,
            device_id: 2,
            clock: true,
            default: index == 0,
            sufficient: shortfalls.is_empty(),
            shortfalls: shortfalls.iter().map(Short::new).collect(),
            limits: limits(&wgpu::Limits::default()),
        };
        let rows = [row(0, &[]), row(1, &[limit, Shortfall::Feature { name: "COMPUTE_SHADERS" }])];
        let mut text = Vec::new();
        write_text(&mut text, &rows).unwrap();
        let text = String::from_utf8(text).unwrap();
        for part in [
            "0      name 0  vulkan   discrete  driver 1.2  yes    by default\n",
            "1      name 1  vulkan   discrete  driver 1.2  yes    no, see below\n",
            "adapter 1 is not enough for posse:\n  max_storage_buffers_per_shader_stage: 8 needed, 4 allowed\n  the feature",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let json = serde_json::to_value(&rows[1]).unwrap();
        let shortfalls = serde_json::json!([
            { "name": "max_storage_buffers_per_shader_stage", "needed": 8, "allowed": 4 },
            { "name": "COMPUTE_SHADERS" }
        ]);
        assert_eq!(json["shortfalls"], shortfalls);
        assert_eq!(json["sufficient"], false);
    }
}
