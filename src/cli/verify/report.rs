//! What was found, file by file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use posse::contract::{Report, Worst};
use posse::error::Error;
use posse::evaluator::Evaluator;
use posse::model::library::Library;
use posse::model::skeleton::Skeleton;
use serde::Serialize;

use crate::cli::question::{Asked, Question};
use crate::cli::verify::compact;

/// The worst error of a quantity, and where it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Radians for rotations, else units; null where a number was missing or not finite.
    error: f64,
    /// The largest error within the contract.
    allowed: f64,
    /// Of what is allowed; more than 1 is beyond the contract.
    share: f64,
    /// The joint's name or number, the property's name, or the number of the weight.
    place: String,
    /// The clip's name or number; `rest` for the rest pose.
    clip: String,
    /// Seconds on the clip's axis.
    time: f64,
}

impl Finding {
    /// A finding of a report on a block of poses that began with the pose of number `first`.
    pub fn new(library: &Library, question: &Question, quantity: &str, worst: Worst, first: usize) -> Self {
        let clip = question.clip.map(|id| library.clip(id).name.clone().unwrap_or_else(|| id.index().to_string()));
        Self {
            error: worst.error,
            allowed: worst.allowed,
            share: worst.share(),
            place: place(library.skeleton(question.skeleton), quantity, worst),
            clip: clip.unwrap_or_else(|| "rest".into()),
            time: question.times[(first + worst.instance) / question.instances],
        }
    }

    /// Whether it is within what is allowed.
    pub fn is_within(&self) -> bool {
        self.share <= 1.0
    }

    /// Writes a line about it, without its end.
    pub fn write(&self, quantity: &str, out: &mut impl Write) -> io::Result<()> {
        let Self { error, allowed, share, place, clip, time } = self;
        let (unit, percent) = (if quantity == "rotation" { "rad" } else { "   " }, 100.0 * share);
        write!(
            out,
            "  {quantity:<11} {error:9.2e} {unit} {percent:4.0} % of {allowed:.1e}  {place}, clip {clip}, {time} s"
        )
    }
}

/// Where an error was: the joint's name or number, the property's name, or the number of the weight.
pub fn place(skeleton: &Skeleton, quantity: &str, worst: Worst) -> String {
    let name = match quantity {
        "weight" => Some(format!("weight {}", worst.place)),
        "motion" | "motion turn" => Some("root motion".into()),
        "property" => skeleton.properties().get(worst.place).map(|property| property.name.clone()),
        _ => skeleton.joints().get(worst.place).and_then(|joint| joint.name.clone()),
    };
    name.unwrap_or_else(|| format!("joint {}", worst.place))
}

/// The findings of a file, or why there are none.
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
    /// By quantity; null where there was nothing to compare.
    quantities: BTreeMap<&'static str, Option<Finding>>,
}

impl FileReport {
    /// A report without findings.
    pub fn new(file: &Path, engine: &dyn Evaluator, library: &Library, questions: &[Question]) -> Self {
        Self {
            file: file.display().to_string(),
            within: true,
            error: None,
            engine: Some(engine.engine()),
            adapter: Some(engine.adapter()),
            joints: library.skeletons().iter().map(|skeleton| skeleton.joints().len()).sum(),
            clips: questions.iter().filter(|question| question.clip.is_some()).count(),
            poses: questions.iter().map(Question::poses).sum(),
            quantities: Report::default().quantities().map(|(name, _)| (name, None)).into(),
        }
    }

    /// The report on a file that could not be checked.
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

    /// Keeps a finding that is worse than what is known.
    pub fn note(&mut self, quantity: &'static str, finding: Finding) {
        self.within &= finding.is_within();
        let worst = self.quantities.entry(quantity).or_default();
        if worst.as_ref().is_none_or(|worst| finding.share > worst.share) {
            *worst = Some(finding);
        }
    }

    /// Whether the file was checked, and all of it is within the contract.
    pub fn is_within(&self) -> bool {
        self.within
    }

    /// Whether the file could not be checked.
    pub fn is_unusable(&self) -> bool {
        self.error.is_some()
    }

    /// Prints a line for the file, and one for each quantity.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(error) = &self.error {
            // Most errors begin with the file's name.
            let error = error.strip_prefix(&format!("{}: ", self.file)).unwrap_or(error);
            return writeln!(out, "{}: not checked: {error}", self.file);
        }
        let verdict = if self.within { "within the contract" } else { "BEYOND THE CONTRACT" };
        let (engine, adapter) = (self.engine.unwrap_or_default(), self.adapter.as_deref().unwrap_or_default());
        let Self { file, joints, clips, poses, .. } = self;
        writeln!(out, "{file}: {verdict}: {engine} ({adapter}), {joints} joints, {clips} clips, {poses} poses")?;
        let quantities = Report::default().quantities().map(|(quantity, _)| quantity);
        for quantity in quantities.into_iter().chain([compact::QUANTITY]) {
            if let Some(finding) = self.quantities.get(quantity).and_then(Option::as_ref) {
                finding.write(quantity, out)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }
}
