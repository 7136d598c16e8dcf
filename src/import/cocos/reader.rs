//! The state that all stages share.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::node::List;
use crate::error::Error;
use crate::import::memory_budget::MemoryBudget;
use crate::import::{Fault, Warning};
use crate::model::{Library, Timeline};

/// Bytes that any file may allocate.
const ALLOWANCE: u64 = 1 << 20;

/// The state that all stages share: the library, warnings, timelines and a memory budget.
pub(super) struct Reader<'l> {
    /// The library of the interpolators.
    pub library: &'l Library,
    pub warnings: Vec<Warning>,
    /// A reference takes a few bytes and can stand for the whole file.
    budget: MemoryBudget,
    timelines: HashMap<(Vec<u64>, u64), Arc<Timeline>>,
}

/// The memory of a curve without its numbers.
pub(super) const CURVE_BYTES: usize = 256;

impl<'l> Reader<'l> {
    /// A reader of a file of `file_bytes` bytes.
    pub fn new(library: &'l Library, file_bytes: usize) -> Self {
        let budget = MemoryBudget::new(file_bytes, ALLOWANCE);
        Self { library, warnings: Vec::new(), budget, timelines: HashMap::new() }
    }

    /// Charges the memory that the place `path` of the file asks for.
    pub fn charge(&mut self, path: impl fmt::Display, bytes: usize) -> Result<(), Fault> {
        self.budget.charge(path, bytes as u64)
    }

    /// Notes a fault that was repaired or passed over.
    pub fn warn(&mut self, path: impl fmt::Display, message: impl Into<String>) -> Result<(), Fault> {
        let warning = Warning { path: path.to_string(), message: message.into() };
        self.charge(&warning.path, warning.path.len() + warning.message.len())?;
        self.warnings.push(warning);
        Ok(())
    }

    /// The numbers of a list.
    pub fn numbers(&mut self, list: &List<'_>) -> Result<Vec<f64>, Fault> {
        self.charge(list.path(), 8 * list.len())?;
        list.nodes().map(|node| node?.number()).collect()
    }

    /// A timeline of key times in seconds. Equal times and windows share one timeline. `None` without times.
    pub fn timeline(&mut self, list: &List<'_>, times: Vec<f64>, window: f64) -> Result<Option<Arc<Timeline>>, Fault> {
        if times.is_empty() {
            return Ok(None);
        }
        let bits = (times.iter().map(|time| time.to_bits()).collect(), window.to_bits());
        if let Some(known) = self.timelines.get(&bits) {
            return Ok(Some(known.clone()));
        }
        let timeline = Timeline::snapping(times, window).map_err(|error| match error {
            Error::Timeline { key, reason } => Fault::new(list.item_path(key), reason),
            other => Fault::new(list.path(), other.to_string()),
        })?;
        Ok(Some(self.timelines.entry(bits).or_insert(Arc::new(timeline)).clone()))
    }
}
