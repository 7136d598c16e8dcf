//! What the stages share: the library, warnings, timelines, and a budget that keeps memory in proportion to the file.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::node::List;
use crate::error::Error;
use crate::import::Warning;
use crate::import::fault::Fault;
use crate::model::{Library, Timeline};

/// What the stages share.
pub(super) struct Reader<'l> {
    /// For its interpolators.
    pub library: &'l Library,
    pub warnings: Vec<Warning>,
    /// Bytes that may still be made of the file. A reference is a few bytes and can stand for the whole file.
    budget: u64,
    timelines: HashMap<(Vec<u64>, u64), Arc<Timeline>>,
}

/// What a curve takes besides its numbers.
pub(super) const CURVE_BYTES: usize = 256;

impl<'l> Reader<'l> {
    /// A reader of a file of so many bytes.
    pub fn new(library: &'l Library, file_bytes: usize) -> Self {
        let budget = (file_bytes as u64).saturating_mul(64).saturating_add(1 << 20);
        Self { library, warnings: Vec::new(), budget, timelines: HashMap::new() }
    }

    /// Takes note that so many bytes are made of what is here.
    pub fn charge(&mut self, place: impl fmt::Display, bytes: usize) -> Result<(), Fault> {
        match self.budget.checked_sub(bytes as u64) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(Fault::new(place, "so much is referred to so often that the clip outgrows its file 64 times")),
        }
    }

    /// Notes something that was repaired or passed over.
    pub fn warn(&mut self, place: impl fmt::Display, message: impl Into<String>) -> Result<(), Fault> {
        let warning = Warning { path: place.to_string(), message: message.into() };
        self.charge(&warning.path, warning.path.len() + warning.message.len())?;
        self.warnings.push(warning);
        Ok(())
    }

    /// The numbers of a list.
    pub fn numbers(&mut self, list: &List<'_>) -> Result<Vec<f64>, Fault> {
        self.charge(list.place(), 8 * list.len())?;
        list.nodes().map(|node| node?.number()).collect()
    }

    /// A timeline of these times, the same one for the same times; `None` where there are no times.
    pub fn timeline(&mut self, list: &List<'_>, times: Vec<f64>, window: f64) -> Result<Option<Arc<Timeline>>, Fault> {
        if times.is_empty() {
            return Ok(None);
        }
        let bits = (times.iter().map(|time| time.to_bits()).collect(), window.to_bits());
        if let Some(known) = self.timelines.get(&bits) {
            return Ok(Some(known.clone()));
        }
        let timeline = Timeline::snapping(times, window).map_err(|error| match error {
            Error::Timeline { key, reason } => Fault::new(list.place_of(key), reason),
            other => Fault::new(list.place(), other.to_string()),
        })?;
        Ok(Some(self.timelines.entry(bits).or_insert(Arc::new(timeline)).clone()))
    }
}
