//! The report of a file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use posse::contract::Report;
use posse::{Error, Evaluator, Library};
use serde::Serialize;

use crate::evaluation::{ClipEvaluation, Evaluation};
use crate::verify::compressed;
use crate::verify::worst_error::WorstError;

/// The worst errors of a file, or the reason that it could not be checked.
#[derive(Debug, Serialize)]
pub struct FileReport {
    file: String,
    within: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    engine: Option<&'static str>,
    adapter: Option<String>,
    joints: usize,
    clips: usize,
    poses: usize,
    /// The worst error of each quantity; null if there was nothing to compare.
    quantities: BTreeMap<&'static str, Option<WorstError>>,
}

impl FileReport {
    /// A report without errors.
    pub fn new(file: &Path, engine: &dyn Evaluator, library: &Library, evaluations: &[ClipEvaluation]) -> Self {
        Self {
            file: file.display().to_string(),
            within: true,
            error: None,
            engine: Some(engine.engine()),
            adapter: Some(engine.adapter()),
            joints: library.skeletons().iter().map(|skeleton| skeleton.joints().len()).sum(),
            clips: evaluations.iter().filter(|evaluation| evaluation.clip.is_some()).count(),
            poses: evaluations.iter().map(ClipEvaluation::poses).sum(),
            quantities: Report::default().quantities().map(|(name, _)| (name, None)).into(),
        }
    }

    /// The report of a file that could not be checked.
    pub fn unusable(file: &Path, error: &Error) -> Self {
        Self {
            file: file.display().to_string(),
            within: false,
            error: Some(error.to_string()),
            engine: None,
            adapter: None,
            joints: 0,
            clips: 0,
            poses: 0,
            quantities: BTreeMap::new(),
        }
    }

    /// Adds an error. The worst error of each quantity is kept.
    pub fn add(&mut self, quantity: &'static str, new: WorstError) {
        self.within &= new.is_within();
        let worst = self.quantities.entry(quantity).or_default();
        if worst.as_ref().is_none_or(|worst| new.share > worst.share) {
            *worst = Some(new);
        }
    }

    /// Returns true if the file was checked and is within the contract.
    pub fn is_within(&self) -> bool {
        self.within
    }

    /// Returns true if the file could not be checked.
    pub fn is_unusable(&self) -> bool {
        self.error.is_some()
    }

    /// Prints a line for the file, and a line per quantity.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(error) = &self.error {
            // Most errors begin with the name of the file.
            let error = error.strip_prefix(&format!("{}: ", self.file)).unwrap_or(error);
            return writeln!(out, "{}: not checked: {error}", self.file);
        }
        let verdict = if self.within { "within the contract" } else { "BEYOND THE CONTRACT" };
        let (engine, adapter) = (self.engine.unwrap_or_default(), self.adapter.as_deref().unwrap_or_default());
        let Self { file, joints, clips, poses, .. } = self;
        writeln!(out, "{file}: {verdict}: {engine} ({adapter}), {joints} joints, {clips} clips, {poses} poses")?;
        let quantities = Report::default().quantities().map(|(quantity, _)| quantity);
        for quantity in quantities.into_iter().chain([compressed::QUANTITY]) {
            if let Some(worst) = self.quantities.get(quantity).and_then(Option::as_ref) {
                worst.write(quantity, out)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }
}
