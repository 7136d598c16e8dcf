//! Limits of registers, shared memory and spills, kept in `limits.json`.
//!
//! The number of instructions is not limited: it changes with the version of the compiler.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::report::{Compiled, Row};

/// Limits by the name of the kernel, by family.
type Limits = BTreeMap<String, BTreeMap<String, Limit>>;

/// The most that a kernel may need.
#[derive(Serialize, Deserialize)]
struct Limit {
    /// Vector registers.
    vgprs: u64,
    /// Scalar registers.
    sgprs: u64,
    /// Bytes of shared memory.
    shared: u64,
    /// Spilled registers.
    spills: u64,
}

impl Limit {
    fn of(row: &Row) -> Self {
        Self { vgprs: row.of("VGPRs"), sgprs: row.of("SGPRs"), shared: row.of("LDS size"), spills: row.spills() }
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("limits.json")
}

/// Writes the figures of compiled kernels as their limits.
///
/// # Errors
/// A text if the file cannot be written.
pub fn store(all: &[Compiled]) -> Result<(), String> {
    let of_family =
        |compiled: &Compiled| compiled.rows.iter().map(|row| (row.kernel.clone(), Limit::of(row))).collect();
    let limits: Limits = all.iter().map(|compiled| (compiled.family.clone(), of_family(compiled))).collect();
    let text = serde_json::to_string_pretty(&limits).map_err(|error| error.to_string())?;
    std::fs::write(file(), text + "\n").map_err(|error| format!("{}: {error}", file().display()))
}

/// A text for each limit that a kernel exceeds, and for each kernel without limits.
///
/// # Errors
/// A text if the file cannot be read.
pub fn faults(all: &[Compiled]) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(file()).map_err(|error| format!("{}: {error}", file().display()))?;
    let limits: Limits = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file().display()))?;
    let mut faults = Vec::new();
    for Compiled { family, rows, .. } in all {
        for row in rows {
            let place = format!("{family}, {}", row.kernel);
            let Some(limit) = limits.get(family).and_then(|limits| limits.get(&row.kernel)) else {
                faults.push(format!("{place}: limits.json has no limits; --store writes them"));
                continue;
            };
            let found = Limit::of(row);
            let pairs = [
                ("vector registers", found.vgprs, limit.vgprs),
                ("scalar registers", found.sgprs, limit.sgprs),
                ("bytes of shared memory", found.shared, limit.shared),
                ("spilled registers", found.spills, limit.spills),
            ];
            let over = pairs.iter().filter(|(_, found, limit)| found > limit);
            faults.extend(
                over.map(|(what, found, limit)| format!("{place}: {found} {what}, at most {limit} are allowed")),
            );
        }
    }
    Ok(faults)
}
