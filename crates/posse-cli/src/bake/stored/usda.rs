//! Files in USD's text format.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use posse::Error;

use crate::bake::facts::StoredFacts;

/// The beginning of the line with the facts.
pub const FACTS: &str = "string posse = ";

/// The beginning of the last line. The number of bytes before it follows. A file that has lost bytes does not end with it.
pub const END: &str = "# bytes before this line: ";

/// The most bytes of the last line, with the line break before it.
const LONGEST_END: u64 = 64;

/// The most bytes that are searched for the facts.
const LARGEST_FACTS: u64 = 1 << 30;

/// The facts of a file. Its frames are not read, but its end is.
pub fn read_facts(file: &Path) -> Result<StoredFacts, Error> {
    let read = || -> io::Result<StoredFacts> {
        let mut open = File::open(file)?;
        check_end(&mut open)?;
        for line in BufReader::new(open.take(LARGEST_FACTS)).lines().take(8) {
            let facts = line?.trim().strip_prefix(FACTS).and_then(unquoted);
            if let Some(facts) = facts {
                return Ok(serde_json::from_str(&facts)?);
            }
        }
        Err(io::Error::other("this is no usda file of posse bake"))
    };
    read().map_err(|source| Error::Io { file: file.to_path_buf(), source })
}

/// Checks that the file of a crowd is there, from beginning to end.
pub fn check_crowd(file: &Path) -> Result<(), Error> {
    let checked = File::open(file).and_then(|mut open| check_end(&mut open));
    checked.map_err(|source| Error::Io { file: file.to_path_buf(), source })
}

/// Checks that a file ends with its last line, and goes back to its beginning.
fn check_end(file: &mut File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_END)))?;
    let mut tail = Vec::new();
    file.take(LONGEST_END).read_to_end(&mut tail)?;
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

/// The text that a writer has put into quotes; `None` for other text.
pub fn unquoted(quoted: &str) -> Option<String> {
    let mut letters = quoted.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '"' => return None,
            '\\' => match letters.next()? {
                'n' => '\n',
                'r' => '\r',
                escaped => escaped,
            },
            letter => letter,
        });
    }
    Some(text)
}
