//! The last line of a USD file. A file that has lost bytes does not end with it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use posse::Error;

use crate::cli::bake::draft::Draft;

/// The beginning of the line. The number of bytes before it follows.
const END: &str = "# bytes before this line: ";

/// The most bytes of the line, with the line break before it.
const LONGEST: u64 = 64;

/// Writes the line.
pub fn write_end(draft: &mut Draft) -> Result<(), Error> {
    let written = draft.stream_position().and_then(|bytes| writeln!(draft, "{END}{bytes}"));
    written.map_err(|error| draft.error(error))
}

/// Checks that a file ends with the line, and goes back to its beginning.
pub fn check_end(file: &mut File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST)))?;
    let mut tail = Vec::new();
    file.take(LONGEST).read_to_end(&mut tail)?;
    file.rewind()?;
    let line =
        tail.strip_suffix(b"\n").and_then(|lines| lines.rsplit(|&byte| byte == b'\n').next()).unwrap_or_default();
    let stated = str::from_utf8(line).ok().and_then(|line| line.strip_prefix(END)?.parse::<u64>().ok());
    if stated == Some(length.saturating_sub(line.len() as u64 + 1)) {
        return Ok(());
    }
    Err(io::Error::other(
        "the last line does not state the number of bytes before it; expected a whole file of posse bake",
    ))
}
