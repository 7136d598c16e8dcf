//! `posse bench`: the throughput of the engines on this machine.

pub mod args;
mod case;
mod earlier;
mod machine_state;
mod measure;
mod page;
mod report;
mod rig;
mod text;

use std::path::Path;

use posse::Error;

use self::args::Args;
use self::earlier::Baseline;
use self::report::{Report, RunEnvironment};
use crate::Outcome;
use crate::output::{self, Output, note};

/// Runs `posse bench`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    measure::check_adapter(args)?;
    // The page is opened first: a page that cannot be written fails before the measurement.
    let page = args
        .report
        .as_deref()
        .map(|file| page::check_name(file).and_then(|()| Output::create(Some(file))))
        .transpose()?;
    if let Some(file) = &args.from {
        return show(file, page);
    }
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let mut report = Report { environment: RunEnvironment::current(), baseline, ..Report::default() };
    match &args.crowd {
        Some(file) => measure::measure_crowd(args, file, &mut report)?,
        None => measure::measure_rigs(args, &mut report)?,
    }
    for remark in report.remarks() {
        note(&format!("note: {remark}"));
    }
    output::print(|out| if args.json { report.write_json(out) } else { report.write_text(out) })?;
    if let Some(mut page) = page {
        page.write(|out| page::write(&report.json(), out))?;
        page.finish()?;
    }
    Ok(if report.is_within() { Outcome::Passed } else { Outcome::Failed })
}

/// Shows an earlier run: on a page, or without one as text.
fn show(file: &Path, page: Option<Output>) -> Result<Outcome, Error> {
    let (json, run) = earlier::read_run(file)?;
    match page {
        Some(mut page) => {
            page.write(|out| page::write(&json, out))?;
            page.finish()?;
        }
        None => {
            let report = Report::of_earlier(&run).map_err(|(path, reason)| Error::Import {
                file: file.to_path_buf(),
                path,
                reason,
            })?;
            output::print(|out| report.write_text(out))?;
        }
    }
    Ok(Outcome::Passed)
}
