//! `posse render`: pictures of crowds.

pub mod look;
mod studio;
pub mod subject;

use std::path::PathBuf;

use posse::error::Error;
use posse::render::encode;
use posse::render::view::Bones;

use crate::cli::output::Output;
use crate::cli::question::seconds;
use crate::cli::render::look::LookArgs;
use crate::cli::render::studio::Studio;
use crate::cli::render::subject::{Subject, SubjectArgs};

/// Arguments of `posse render`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    #[command(flatten)]
    look: LookArgs,
    /// The file that is written.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Pixels of the picture.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", value_parser = look::size)]
    size: [u32; 2],
    /// Seconds since the play began.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_hyphen_values = true, value_parser = seconds)]
    time: f64,
}

/// Runs `posse render`.
pub fn run(args: &Args) -> Result<(), Error> {
    let subject = Subject::load(&args.subject)?;
    let bones = args.look.bones(&subject) != Bones::Hidden;
    let studio = Studio::new(&subject, args.size, bones)?;
    let view = args.look.view(&subject, studio.aspect());
    let picture = studio.picture(Subject::ticks(args.time)?, &view)?;
    let mut output = Output::create(Some(&args.output))?;
    output.write(|out| encode::png::write(out, &picture))?;
    output.finish()
}
