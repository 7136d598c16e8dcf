//! Parquet files.
//!
//! The crate `parquet` is not used here: its reader of footers recurses as deep as a schema is nested, and allocates as many elements as
//! a footer states, so that a broken file could end the process.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use posse::Error;

use super::thrift::{Kind, Reader};
use crate::bake::facts::StoredFacts;

/// The first and the last bytes of a file.
const MAGIC: [u8; 4] = *b"PAR1";
/// The field of the footer with the pairs of keys and values, and the field of a pair with its value.
const ENTRIES: i64 = 5;
const VALUE: i64 = 2;
/// The field of the footer with the groups of rows, the field of a group with its columns, and the field of a column with its facts.
const GROUPS: i64 = 4;
const COLUMNS: i64 = 1;
const FACTS: i64 = 3;
/// The facts of a column: its size in the file, and the places of its pages of numbers and of its dictionary.
const SIZE: i64 = 7;
const PAGES: i64 = 9;
const DICTIONARY: i64 = 11;

/// The facts of the clips of a file, in their order. The numbers of the columns are not read, only their places and sizes.
pub fn read_facts(file: &Path) -> Result<Vec<StoredFacts>, Error> {
    let read = || -> io::Result<Vec<StoredFacts>> {
        let (footer, start) = read_footer(&mut File::open(file)?)?;
        let (mut facts, mut columns) = (Vec::new(), Columns { end: MAGIC.len() as u64, is_whole: true });
        let is_read = Reader(&footer).fields(|reader, id, kind| match (id, kind) {
            (ENTRIES, Kind::List) => read_entries(reader, &mut facts),
            (GROUPS, Kind::List) => columns.read_groups(reader),
            _ => reader.skip(kind),
        });
        is_read.ok_or_else(|| io::Error::other("the footer is broken; expected a Parquet file"))?;
        if columns.is_whole && columns.end == start {
            return Ok(facts);
        }
        Err(io::Error::other("the columns have other sizes than the footer states; expected a whole file"))
    };
    read().map_err(|source| Error::Io { file: file.to_path_buf(), source })
}

/// The columns of a file, which stand one after the other, from the first bytes to the footer. A file that has lost bytes anywhere is
/// refused.
struct Columns {
    /// The end of those that are read.
    end: u64,
    /// False if one begins elsewhere than at the end of the one before it.
    is_whole: bool,
}

impl Columns {
    fn read_groups(&mut self, reader: &mut Reader) -> Option<()> {
        reader.structs(|reader, id, kind| match (id, kind) {
            (COLUMNS, Kind::List) => reader.structs(|reader, id, kind| match (id, kind) {
                (FACTS, Kind::Struct) => self.read_column(reader),
                _ => reader.skip(kind),
            }),
            _ => reader.skip(kind),
        })
    }

    fn read_column(&mut self, reader: &mut Reader) -> Option<()> {
        let (mut start, mut size) = (i64::MAX, 0);
        reader.fields(|reader, id, kind| {
            match (id, kind) {
                (PAGES | DICTIONARY, Kind::Integer) => start = start.min(reader.integer()?),
                (SIZE, Kind::Integer) => size = reader.integer()?,
                _ => reader.skip(kind)?,
            }
            Some(())
        })?;
        self.is_whole &= u64::try_from(start) == Ok(self.end);
        self.end = self.end.checked_add(u64::try_from(size).ok()?)?;
        Some(())
    }
}

/// The bytes of the footer, which stands before its length and the last bytes, and its place.
fn read_footer(open: &mut File) -> io::Result<(Vec<u8>, u64)> {
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
    Ok((footer, start))
}

/// Adds the facts in a list of pairs of keys and values.
fn read_entries(reader: &mut Reader, facts: &mut Vec<StoredFacts>) -> Option<()> {
    reader.structs(|reader, id, kind| match (id, kind) {
        (VALUE, Kind::Binary) => {
            // The schema of Arrow stands among the facts.
            facts.extend(serde_json::from_slice::<StoredFacts>(reader.binary()?).ok());
            Some(())
        }
        _ => reader.skip(kind),
    })
}
