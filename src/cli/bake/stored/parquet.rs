//! Parquet files.
//!
//! The crate `parquet` is not used here: its reader of footers recurses as deep as a schema is nested, and allocates as many elements as
//! a footer states, so that a broken file could end the process.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use posse::Error;

use super::thrift::{Kind, Reader};
use crate::cli::bake::facts::StoredFacts;

/// The first and the last bytes of a file.
const MAGIC: [u8; 4] = *b"PAR1";
/// The field of the footer with the pairs of keys and values, and the field of a pair with its value.
const ENTRIES: i64 = 5;
const VALUE: i64 = 2;

/// The facts of the clips of a file, in their order.
pub fn read_facts(file: &Path) -> Result<Vec<StoredFacts>, Error> {
    let read = || -> io::Result<Vec<StoredFacts>> {
        let footer = read_footer(&mut File::open(file)?)?;
        let mut facts = Vec::new();
        let is_read = Reader(&footer).fields(|reader, id, kind| match (id, kind) {
            (ENTRIES, Kind::List) => read_entries(reader, &mut facts),
            _ => reader.skip(kind),
        });
        is_read.map(|()| facts).ok_or_else(|| io::Error::other("the footer is broken; expected a Parquet file"))
    };
    read().map_err(|source| Error::Io { file: file.to_path_buf(), source })
}

/// The bytes of the footer, which stands before its length and the last bytes.
fn read_footer(open: &mut File) -> io::Result<Vec<u8>> {
    let fault = || io::Error::other("this is no whole Parquet file");
    let mut head = [0; 4];
    open.read_exact(&mut head)?;
    let end = open.seek(SeekFrom::End(-8))?;
    let mut tail = [[0; 4]; 2];
    open.read_exact(tail.as_flattened_mut())?;
    let [length, magic] = tail;
    let length = u64::from(u32::from_le_bytes(length));
    let start =
        end.checked_sub(length).filter(|&start| start >= 4 && head == MAGIC && magic == MAGIC).ok_or_else(fault)?;
    open.seek(SeekFrom::Start(start))?;
    let mut footer = Vec::new();
    open.take(length).read_to_end(&mut footer)?;
    Ok(footer)
}

/// Adds the facts in a list of pairs of keys and values.
fn read_entries(reader: &mut Reader, facts: &mut Vec<StoredFacts>) -> Option<()> {
    let (count, kind) = reader.list()?;
    if count > 0 && kind != Kind::Struct {
        return None;
    }
    for _ in 0..count {
        reader.fields(|reader, id, kind| match (id, kind) {
            (VALUE, Kind::Binary) => {
                // The schema of Arrow stands among the facts.
                facts.extend(serde_json::from_slice::<StoredFacts>(reader.binary()?).ok());
                Some(())
            }
            _ => reader.skip(kind),
        })?;
    }
    Some(())
}
