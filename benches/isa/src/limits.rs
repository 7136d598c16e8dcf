//! Limits of registers, shared memory and spills, kept in `limits.json`.
//!
//! The number of instructions is not limited, since most changes of a kernel change it. The limits are those of a version of the driver:
//! another one places registers differently.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::report::{Compiled, Row};

/// The limits of all kernels.
#[derive(Serialize, Deserialize)]
pub struct Limits {
    /// The driver with its version.
    pub driver: String,
    /// Limits by the name of the kernel, by family.
    families: BTreeMap<String, BTreeMap<String, Limit>>,
}

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
    /// The figures of a kernel.
    ///
    /// # Errors
    /// A text if the driver does not report one of them.
    fn from_row(row: &Row) -> Result<Self, String> {
        Ok(Self {
            vgprs: row.statistic("VGPRs")?,
            sgprs: row.statistic("SGPRs")?,
            shared: row.statistic("LDS size")?,
            spills: row.spills()?,
        })
    }

    /// A text for each figure that exceeds this limit.
    fn exceeded_by<'a>(&'a self, found: &'a Self) -> impl Iterator<Item = String> + 'a {
        let pairs = [
            ("vector registers", found.vgprs, self.vgprs),
            ("scalar registers", found.sgprs, self.sgprs),
            ("bytes of shared memory", found.shared, self.shared),
            ("spilled registers", found.spills, self.spills),
        ];
        let over = pairs.into_iter().filter(|(_, found, limit)| found > limit);
        over.map(|(what, found, limit)| format!("{found} {what}, at most {limit} are allowed"))
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("limits.json")
}

/// Writes the figures of compiled kernels as their limits.
///
/// # Errors
/// A text if the driver does not report a figure, or if the file cannot be written.
pub fn store(all: &[Compiled]) -> Result<(), String> {
    let mut limits = Limits { driver: String::new(), families: BTreeMap::new() };
    for Compiled { family, driver, rows, .. } in all {
        let of_family = rows.iter().map(|row| Ok((row.kernel.clone(), Limit::from_row(row)?)));
        limits.families.insert(family.clone(), of_family.collect::<Result<_, String>>()?);
        limits.driver.clone_from(driver);
    }
    let text = serde_json::to_string_pretty(&limits).map_err(|error| error.to_string())?;
    std::fs::write(file(), text + "\n").map_err(|error| format!("{}: {error}", file().display()))
}

/// The limits of the file.
///
/// # Errors
/// A text if the file cannot be read.
pub fn read() -> Result<Limits, String> {
    let text = std::fs::read_to_string(file()).map_err(|error| format!("{}: {error}", file().display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file().display()))
}

impl Limits {
    /// A text for each limit that a kernel exceeds, for each figure that the driver does not report, and for each kernel without
    /// limits. If all kernels have been compiled, also for limits without a kernel.
    pub fn faults(&self, all: &[Compiled], all_kernels: bool) -> Vec<String> {
        let mut faults = Vec::new();
        for Compiled { family, rows, .. } in all {
            let limits = self.families.get(family);
            for row in rows {
                let place = format!("{family}, {}", row.kernel);
                match (limits.and_then(|limits| limits.get(&row.kernel)), Limit::from_row(row)) {
                    (_, Err(fault)) => faults.push(format!("{family}, {fault}")),
                    (None, _) => faults.push(format!("{place}: limits.json has no limits; --store writes them")),
                    (Some(limit), Ok(found)) => {
                        faults.extend(limit.exceeded_by(&found).map(|fault| format!("{place}: {fault}")));
                    }
                }
            }
            let names = limits.into_iter().flat_map(|limits| limits.keys());
            let left = names.filter(|name| all_kernels && !rows.iter().any(|row| row.kernel == **name));
            faults.extend(left.map(|name| format!("{family}, {name}: limits without a kernel; --store removes them")));
        }
        faults
    }
}
