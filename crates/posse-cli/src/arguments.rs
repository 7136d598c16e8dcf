//! Arguments that several commands share, and the parsing of their values.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use posse::compress::{CompressedLibrary, ErrorBound, Length};
use posse::import::bvh::LoadOptions;
use posse::{Error, Library, SkinFormat};
use serde::Deserialize;

/// The options `--compress` and `--shell`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct CompressArgs {
    /// Compresses the keys. The bound is the largest displacement of a joint: a length in the rig's units (0.001), or a
    /// share of the rig's size (0.01%).
    #[arg(id = "compress", long = "compress", value_name = "LENGTH")]
    pub bound: Option<Length>,
    /// The distance from each joint at which the bound of --compress must still hold: a length, or a share of the rig's
    /// size.
    #[arg(long, value_name = "LENGTH", default_value = "3%", requires = "compress")]
    pub shell: Length,
}

impl CompressArgs {
    /// Compresses a library. Returns `None` without `--compress`.
    pub fn compress(self, library: &Library) -> Result<Option<CompressedLibrary>, Error> {
        let bound = |error| ErrorBound { error, shell: self.shell };
        self.bound.map(|error| CompressedLibrary::new(library, bound(error))).transpose()
    }
}

/// The options of reading BVH files; the frame rate is for files of SMPL, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, clap::Args)]
pub struct BvhArgs {
    /// The frames per second with which BVH files and npz files of SMPL are read, if their rate is missing or wrong.
    #[arg(long, value_name = "F", value_parser = parse_positive)]
    pub input_fps: Option<f64>,
    /// Leaves out the joints of End Sites of BVH files, usually NAME_end. A retargeting still aligns the last bones of
    /// its source by them.
    #[arg(long)]
    pub no_end_sites: bool,
}

impl BvhArgs {
    /// The options of the reader.
    pub fn options(self) -> LoadOptions {
        LoadOptions { fps: self.input_fps, end_sites: !self.no_end_sites }
    }

    /// The same arguments for the source of a retargeting, whose joints are not the joints of the results.
    pub fn of_source(self) -> Self {
        Self { no_end_sites: false, ..self }
    }
}

/// A skin format, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkinFormatChoice {
    /// Three rows of four f32: 48 bytes per joint.
    #[default]
    Matrix,
    /// Three rows of four f16: 24 bytes per joint.
    Half,
    /// A rotation of four snorm16, a translation and a uniform scale of f32: 24 bytes per joint. Scales must be
    /// uniform.
    DualQuaternion,
}

impl From<SkinFormatChoice> for SkinFormat {
    fn from(choice: SkinFormatChoice) -> Self {
        match choice {
            SkinFormatChoice::Matrix => Self::Matrix,
            SkinFormatChoice::Half => Self::HalfMatrix,
            SkinFormatChoice::DualQuaternion => Self::DualQuaternion,
        }
    }
}

/// Parses a number of seconds, or a number of frames per second. It must be in the range of an `f32`.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.abs() <= f64::from(f32::MAX) => Ok(number),
        Ok(_) => Err("expected a finite number in the range of a 32-bit float".into()),
        Err(_) => Err("expected a number, for example 0.5".into()),
    }
}

/// Parses a number above 0 in the range of an `f32`.
pub fn parse_positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number <= f64::from(f32::MAX) => Ok(number),
        Ok(_) => Err("expected a number above 0, in the range of a 32-bit float".into()),
        Err(_) => Err("expected a number above 0, for example 1.5".into()),
    }
}

/// A parser of whole numbers within a range.
pub fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected a whole number from {} to {}", range.start(), range.end()))
    }
}

/// Parses two times in seconds, the earlier one first.
pub fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let (start, end) = text.split_once(',').ok_or("expected two times in seconds, for example 0.5,2")?;
    match [parse_seconds(start)?, parse_seconds(end)?] {
        [start, end] if start <= end => Ok([start, end]),
        [start, end] => Err(format!("the range ends at {end} s, before it starts at {start} s")),
    }
}

/// Parses a width and a height, as in `1280x720`. Neither may be 0.
#[cfg(feature = "gpu")]
pub fn parse_size(text: &str) -> Result<[u32; 2], String> {
    two_numbers(text, "WIDTHxHEIGHT, each 1 or more, for example 1280x720")
}

/// Parses the columns and rows of a sheet, such as `6x2`.
#[cfg(feature = "gpu")]
pub fn parse_grid(text: &str) -> Result<[u32; 2], String> {
    two_numbers(text, "COLUMNSxROWS, each 1 or more, for example 6x2")
}

/// Parses two whole numbers of 1 or more with an `x` between them.
#[cfg(feature = "gpu")]
fn two_numbers(text: &str, expected: &str) -> Result<[u32; 2], String> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&number| number > 0);
    let numbers = text.split_once(['x', 'X']).and_then(|(one, other)| Some([number(one)?, number(other)?]));
    numbers.ok_or_else(|| format!("expected {expected}"))
}

/// Fails with [`Error::Limit`] if more is needed than allowed.
pub fn check_limit(what: &str, needed: u64, allowed: u64) -> Result<(), Error> {
    if needed > allowed { Err(Error::Limit { what: what.into(), needed, allowed }) } else { Ok(()) }
}
