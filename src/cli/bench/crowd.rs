//! `posse bench --crowd`: a crowd file, timed as it is.

use std::path::Path;
use std::time::Duration;

use posse::error::Error;
use posse::measure::Subject;
use posse::model::library::Library;
use posse::model::outputs::Outputs;

use super::report::{Case, Report};
use super::{Args, MOST_JOINTS, open};
use crate::cli::crowd;
use crate::cli::output::file_name;
use crate::cli::progress::Progress;
use crate::cli::question::limit;

/// Times the crowd on each engine.
pub fn measure(args: &Args, path: &Path) -> Result<Report, Error> {
    let mut library = Library::new();
    let file = crowd::load(&mut library, path)?;
    if file.is_empty() {
        return Err(Error::Usage(format!("{}: there is no instance to pose; give a group a count", path.display())));
    }
    let joints = |index: usize| library.skeleton(file.files[index].asset.skeleton).joints().len();
    let all = file.groups().map(|(instances, index)| instances.len() as u64 * joints(index) as u64);
    limit("joints of the crowd", all.sum(), MOST_JOINTS)?;
    let most_joints = file.groups().map(|(_, index)| joints(index)).max().unwrap_or(0);
    let crowd = file.crowd(0..file.len())?;
    let most_layers = (0..crowd.len()).map(|instance| crowd.layers(instance).len() as u32).max().unwrap_or(0);
    let subject = Subject { library: &library, crowd: &crowd, outputs: Outputs::SKIN };

    let mut report = Report { crowd: Some(file_name(path)), ..Report::default() };
    let progress = Progress::new(args.engines.len(), "engines");
    for &choice in &args.engines {
        let Some(engine) = open(args, &library, choice, &mut report)? else { continue };
        let measured = engine.measure(&subject, Duration::from_secs_f64(args.seconds))?;
        report.cases.push(Case::new(most_joints, most_layers, None, measured));
        progress.add(1);
    }
    Ok(report)
}
