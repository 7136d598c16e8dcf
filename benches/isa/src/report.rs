//! The table of compiled kernels.

use serde::{Deserialize, Serialize};

use crate::device::Statistics;

/// The kernels compiled for a GPU.
#[derive(Serialize, Deserialize)]
pub struct Compiled {
    /// RADV's name of the family.
    pub family: String,
    /// The name of the GPU.
    pub device: String,
    /// The driver with its version.
    pub driver: String,
    /// A row per kernel.
    pub rows: Vec<Row>,
}

/// A compiled kernel.
#[derive(Serialize, Deserialize)]
pub struct Row {
    /// The name of the case.
    pub kernel: String,
    /// The joints of the rig; 0 for kernels that do not pose.
    pub joints: u32,
    /// The instances that a workgroup poses.
    pub instances_per_group: Option<u32>,
    /// Cycles in which a wave issues vector instructions, if they are counted.
    pub issue_cycles: Option<u64>,
    /// The driver's statistics.
    pub statistics: Statistics,
}

impl Row {
    /// A statistic by the driver's name; 0 if the driver does not tell it.
    pub fn of(&self, name: &str) -> u64 {
        self.statistics.get(name).copied().unwrap_or(0)
    }

    /// Spilled registers of both kinds.
    pub fn spills(&self) -> u64 {
        self.of("Spilled VGPRs") + self.of("Spilled SGPRs")
    }
}

/// Columns: their titles, and the names of the statistics.
const COLUMNS: [(&str, &str); 7] = [
    ("latency", "Latency"),
    ("inverse throughput", "Inverse Throughput"),
    ("instructions", "Instructions"),
    ("VGPRs", "VGPRs"),
    ("SGPRs", "SGPRs"),
    ("shared memory", "LDS size"),
    ("waves", "Subgroups per SIMD"),
];

/// Prints the rows as tables of Markdown.
///
/// Issue cycles are counted by `issue.rs`. Latency, from the start of a wave to its end, and inverse throughput are estimates of the
/// driver, in which each loop runs eight times: a loop that is removed shows as more than it cost. Waves are those that a SIMD holds
/// at a time.
pub fn print(all: &[Compiled]) {
    for Compiled { family, device, driver, rows } in all {
        println!("\n{family}: {device}, {driver}\n");
        let titles: Vec<_> = COLUMNS.iter().map(|(title, _)| *title).collect();
        println!("| kernel | issue cycles | {} | spills |", titles.join(" | "));
        println!("|---|---|{}---|", "---|".repeat(COLUMNS.len()));
        for row in rows {
            let numbers: Vec<_> = COLUMNS.iter().map(|(_, name)| row.of(name).to_string()).collect();
            let issue_cycles = row.issue_cycles.map_or_else(String::new, |cycles| cycles.to_string());
            println!("| {} | {issue_cycles} | {} | {} |", row.kernel, numbers.join(" | "), row.spills());
        }
    }
}
