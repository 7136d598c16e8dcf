//! Zip files of NumPy arrays.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use posse::Error;
use zip::read::ZipArchive;

use crate::bake::facts::StoredFacts;
use crate::npy;

/// The largest size of texts, in bytes. NumPy stores each text with the length of the longest.
pub const TEXTS: u64 = 256 << 20;

/// The bytes of the last record of a zip file without a comment.
const DIRECTORY_END: i64 = 22;

/// The facts of a file. The numbers of the arrays are not read, only their places and sizes.
pub fn read_facts(file: &Path) -> Result<StoredFacts, Error> {
    let failed = |source| Error::Io { file: file.to_path_buf(), source };
    let open = BufReader::new(File::open(file).map_err(failed)?);
    let mut zip = ZipArchive::new(open).map_err(|error| failed(error.into()))?;
    check_members(&mut zip).map_err(failed)?;
    check_end(file).map_err(failed)?;
    let mut text = |name: &str| {
        let fault = |reason: &str| Error::Import {
            file: file.to_path_buf(),
            path: name.into(),
            reason: format!("{reason}; this is no file of posse bake"),
        };
        let member = zip.by_name(&format!("{name}.npy")).map_err(|error| fault(&error.to_string()))?;
        let mut bytes = Vec::new();
        member.take(TEXTS).read_to_end(&mut bytes).map_err(failed)?;
        let texts = npy::parse_texts(&bytes).ok_or_else(|| fault("expected an array of text"))?;
        texts.into_iter().next().ok_or_else(|| fault("expected one text, found none"))
    };
    let source = serde_json::from_str(&text("source")?).map_err(|error| failed(error.into()))?;
    Ok(StoredFacts { clip: text("clip")?, source, options: text("options")?, posse_version: text("posse_version")? })
}

/// Checks that nothing follows the directory of the zip file.
fn check_end(file: &Path) -> io::Result<()> {
    let mut open = File::open(file)?;
    open.seek(SeekFrom::End(-DIRECTORY_END))?;
    let mut signature = [0; 4];
    open.read_exact(&mut signature)?;
    if signature == *b"PK\x05\x06" {
        return Ok(());
    }
    Err(io::Error::other("there are bytes after the directory of the zip file; expected a whole file"))
}

/// Checks that the members stand one after the other, from the beginning of the file to the central directory, each with the size
/// that the directory states. A file that has lost bytes anywhere is refused.
fn check_members(zip: &mut ZipArchive<impl Read + Seek>) -> io::Result<()> {
    let mut end = zip.offset();
    let mut is_whole = end == 0;
    for index in 0..zip.len() {
        let member = zip.by_index_raw(index)?;
        is_whole &= member.header_start() == end && member.compressed_size() == member.size();
        end = member.data_start().unwrap_or(end).saturating_add(member.size());
    }
    if is_whole && end == zip.central_directory_start() {
        return Ok(());
    }
    Err(io::Error::other("the arrays have other sizes than the directory of the zip file; expected a whole file"))
}
