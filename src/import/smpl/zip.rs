//! Zip files: the members that a file lists at its end, stored or deflated.
//!
//! A zip file is read from its end: the last record names the place of the central directory, and the directory the
//! place, the sizes and the checksum of each member (APPNOTE.TXT of PKWARE, sections 4.3 and 4.4). A member is read
//! when it is asked for, so that a member that nobody needs may hold anything.

use std::borrow::Cow;
use std::collections::BTreeMap;

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::import::FileError;
use crate::import::file_error::{MemoryBudget, shorten};
use crate::model::list_names;

/// The first bytes of a member, and of the last record of a file.
const MEMBER: &[u8] = b"PK\x03\x04";
const END: &[u8] = b"PK\x05\x06";
/// The first bytes of an entry of the central directory.
const ENTRY: &[u8] = b"PK\x01\x02";
/// The sizes of these records without names and comments.
const MEMBER_SIZE: usize = 30;
const END_SIZE: usize = 22;
const ENTRY_SIZE: usize = 46;
/// The largest comment behind the last record.
const MAX_COMMENT: usize = 0xFFFF;
/// The size that stands for one in the extra field of 64-bit sizes, and the tag of this field.
const IN_EXTRA: u64 = 0xFFFF_FFFF;
const EXTRA_64: u16 = 1;
/// The bytes of memory of an entry besides its name.
const ENTRY_MEMORY: u64 = 160;

/// The members of a zip file, by name. Of several members with one name, the last counts, as for Python.
#[derive(Debug)]
pub(super) struct Directory {
    members: BTreeMap<String, Member>,
}

/// A member, as the directory describes it.
#[derive(Debug, Clone, Copy)]
struct Member {
    is_encrypted: bool,
    method: u16,
    checksum: u32,
    packed: u64,
    size: u64,
    offset: u64,
}

/// The name of the first member of a zip file, by its first bytes; `None` for other bytes.
pub(super) fn first_name(bytes: &[u8]) -> Option<&[u8]> {
    let length = Record(bytes).checked(MEMBER, MEMBER_SIZE)?.u16(26);
    bytes.get(MEMBER_SIZE..MEMBER_SIZE + usize::from(length))
}

/// The bytes at the end of a file within which its directory lies, unless there are a thousand members or more.
pub(super) const TAIL: u64 = 1 << 17;

impl Directory {
    /// Reads the directory from the end of a file, whose first byte has the offset `start` in the file.
    pub fn read(tail: &[u8], start: u64, budget: &mut MemoryBudget) -> Result<Self, FileError> {
        let error = |reason: &str| FileError::new("zip", reason);
        let from = tail.len().saturating_sub(END_SIZE + MAX_COMMENT);
        let searched = tail.get(from..).unwrap_or_default();
        let found = searched.windows(END.len()).rposition(|bytes| bytes == END);
        let end = found.and_then(|found| Record(searched.get(found..)?).checked(END, END_SIZE));
        let end = end.ok_or_else(|| error("there is no central directory at the end; the file may be cut off"))?;
        let (count, size, offset) = (end.u16(10), u64::from(end.u32(12)), u64::from(end.u32(16)));
        if count == 0xFFFF || size == IN_EXTRA || offset == IN_EXTRA {
            return Err(error("its directory has 64-bit places; files of 4 GiB or of 65535 members are not read"));
        }
        let place = offset.checked_sub(start).and_then(|place| usize::try_from(place).ok());
        let entries = place.and_then(|place| tail.get(place..)?.get(..size as usize));
        let mut entries = entries.ok_or_else(|| error("its central directory lies outside of the file"))?;
        let mut members = BTreeMap::new();
        for index in 0..count {
            let broken = || FileError::new("zip", format!("entry {index} of its central directory is damaged"));
            let entry = Record(entries).checked(ENTRY, ENTRY_SIZE).ok_or_else(broken)?;
            let [name, extra, comment] = [28, 30, 32].map(|place| usize::from(entry.u16(place)));
            let end = ENTRY_SIZE + name + extra + comment;
            let (Some(name), Some(rest)) = (entries.get(ENTRY_SIZE..ENTRY_SIZE + name), entries.get(end..)) else {
                return Err(broken());
            };
            let extra = entries.get(ENTRY_SIZE + name.len()..end - comment).unwrap_or_default();
            budget.charge("zip", ENTRY_MEMORY + 2 * name.len() as u64)?;
            let name = String::from_utf8_lossy(name).into_owned();
            members.insert(name, Member::new(entry, extra).ok_or_else(broken)?);
            entries = rest;
        }
        Ok(Self { members })
    }

    /// Returns `true` if there is a member.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// The names of all members, for messages.
    pub fn list(&self) -> String {
        list_names(self.members.keys().map(|name| shorten(name.trim_end_matches(".npy"))))
    }

    /// The content of a member of the file with these bytes; `None` if there is no such member.
    pub fn content<'a>(
        &self,
        file: &'a [u8],
        name: &str,
        budget: &mut MemoryBudget,
    ) -> Result<Option<Cow<'a, [u8]>>, FileError> {
        let Some(member) = self.members.get(name) else { return Ok(None) };
        let content = member.content(file, name, budget)?;
        if crc32fast::hash(&content) != member.checksum {
            return Err(FileError::new(
                name,
                "its bytes do not have the checksum that the zip file states; copy it anew",
            ));
        }
        Ok(Some(content))
    }
}

impl Member {
    /// The member of an entry of the directory. 64-bit sizes stand in the extra field, in the order of the fields that
    /// they replace.
    fn new(entry: Record, extra: &[u8]) -> Option<Self> {
        let mut member = Self {
            is_encrypted: entry.u16(8) & 1 == 1,
            method: entry.u16(10),
            checksum: entry.u32(16),
            packed: entry.u32(20).into(),
            size: entry.u32(24).into(),
            offset: entry.u32(42).into(),
        };
        let mut large = extra_64(extra).chunks_exact(8);
        for field in [&mut member.size, &mut member.packed, &mut member.offset] {
            if *field == IN_EXTRA {
                *field = u64::from_le_bytes(large.next()?.try_into().ok()?);
            }
        }
        Some(member)
    }

    fn content<'a>(&self, file: &'a [u8], name: &str, budget: &mut MemoryBudget) -> Result<Cow<'a, [u8]>, FileError> {
        if self.is_encrypted {
            return Err(FileError::new(name, "it is encrypted; expected a plain zip file"));
        }
        let outside = || FileError::new(name, "its bytes lie outside of the file, which may be cut off");
        let header = usize::try_from(self.offset).ok().and_then(|offset| file.get(offset..)).ok_or_else(outside)?;
        let record = Record(header).checked(MEMBER, MEMBER_SIZE).ok_or_else(outside)?;
        let start = MEMBER_SIZE + usize::from(record.u16(26)) + usize::from(record.u16(28));
        let packed = usize::try_from(self.packed).ok().and_then(|packed| header.get(start..)?.get(..packed));
        let packed = packed.ok_or_else(outside)?;
        let wrong = |found: &str| {
            FileError::new(name, format!("it has {found}; the zip file states {} bytes. Copy the file anew", self.size))
        };
        match self.method {
            0 if self.packed == self.size => Ok(Cow::Borrowed(packed)),
            0 => Err(wrong(&format!("{} bytes", self.packed))),
            8 => {
                budget.charge(name, self.size)?;
                let limit = usize::try_from(self.size).map_err(|_| outside())?;
                match decompress_to_vec_with_limit(packed, limit) {
                    Ok(content) if content.len() == limit => Ok(Cow::Owned(content)),
                    Ok(content) => Err(wrong(&format!("{} bytes", content.len()))),
                    Err(_) => Err(wrong("other or damaged content")),
                }
            }
            other => Err(FileError::new(
                name,
                format!(
                    "its compression is method {other}; expected stored or deflated members, as numpy.savez writes"
                ),
            )),
        }
    }
}

/// The content of the extra field of 64-bit sizes; empty without one.
fn extra_64(mut extra: &[u8]) -> &[u8] {
    while let [tag_low, tag_high, size_low, size_high, rest @ ..] = extra {
        let size = usize::from(u16::from_le_bytes([*size_low, *size_high]));
        let Some((content, after)) = rest.split_at_checked(size) else { break };
        if u16::from_le_bytes([*tag_low, *tag_high]) == EXTRA_64 {
            return content;
        }
        extra = after;
    }
    &[]
}

/// A record of little-endian numbers. Numbers beyond its end are 0.
#[derive(Clone, Copy)]
struct Record<'a>(&'a [u8]);

impl Record<'_> {
    /// The record, if it has this size and begins with this mark.
    fn checked(self, mark: &[u8], size: usize) -> Option<Self> {
        (self.0.len() >= size && self.0.starts_with(mark)).then_some(self)
    }

    fn u16(self, place: usize) -> u16 {
        self.0.get(place..).and_then(|bytes| bytes.first_chunk()).copied().map_or(0, u16::from_le_bytes)
    }

    fn u32(self, place: usize) -> u32 {
        self.0.get(place..).and_then(|bytes| bytes.first_chunk()).copied().map_or(0, u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip file of one member, written as section 4.3 of APPNOTE.TXT describes it.
    fn zip(name: &str, method: u16, packed: &[u8], content: &[u8]) -> Vec<u8> {
        let head = |packed: u32| {
            [
                &20_u16.to_le_bytes()[..],
                &[0; 2],
                &method.to_le_bytes(),
                &[0; 4],
                &crc32fast::hash(content).to_le_bytes(),
                &packed.to_le_bytes(),
                &(content.len() as u32).to_le_bytes(),
                &(name.len() as u16).to_le_bytes(),
            ]
            .concat()
        };
        let head = head(packed.len() as u32);
        let member = [MEMBER, &head, &[0; 2], name.as_bytes(), packed].concat();
        let entry = [ENTRY, &[20, 0], &head, &[0; 16], name.as_bytes()].concat();
        let end = [
            END,
            &[0, 0, 0, 0, 1, 0, 1, 0],
            &(entry.len() as u32).to_le_bytes(),
            &(member.len() as u32).to_le_bytes(),
            &[0; 2],
        ];
        [member, entry, end.concat()].concat()
    }

    fn content(file: &[u8], name: &str) -> Result<Option<Vec<u8>>, String> {
        let mut budget = MemoryBudget::new(file.len(), 1 << 16);
        let directory = Directory::read(file, 0, &mut budget).map_err(|error| error.reason)?;
        let content = directory.content(file, name, &mut budget).map_err(|error| error.reason)?;
        Ok(content.map(Cow::into_owned))
    }

    #[test]
    fn stored_and_deflated_members_are_read() {
        assert_eq!(content(&zip("a", 0, b"abc", b"abc"), "a"), Ok(Some(b"abc".to_vec())));
        assert_eq!(content(&zip("a", 0, b"abc", b"abc"), "b"), Ok(None));
        // `zlib.compressobj(9, zlib.DEFLATED, -15)` of Python makes these bytes of 64 letters `a`.
        let packed = [0x4b, 0x4c, 0xa4, 0x0c, 0x00, 0x00];
        assert_eq!(content(&zip("a", 8, &packed, &[b'a'; 64]), "a"), Ok(Some(vec![b'a'; 64])));
        // A comment may follow, and contain the mark of the last record's beginning.
        let mut file = zip("a", 0, b"abc", b"abc");
        let place = file.len() - 2;
        file[place] = 3;
        file.extend(b"PK!");
        assert_eq!(content(&file, "a"), Ok(Some(b"abc".to_vec())));
    }

    #[test]
    fn damaged_files_are_refused() {
        let whole = zip("a", 0, b"abc", b"abc");
        for end in 0..whole.len() {
            assert!(content(&whole[..end], "a").is_err(), "{end}");
        }
        let mut other = whole.clone();
        other[MEMBER_SIZE + 1] ^= 1;
        assert!(content(&other, "a").is_err_and(|reason| reason.contains("checksum")));
        let bomb = zip("a", 8, &[0x4b, 0x4c, 0xa4, 0x0c, 0x00, 0x00], &vec![b'a'; 1 << 20]);
        assert!(content(&bomb, "a").is_err_and(|reason| reason.contains("memory budget")));
        assert!(content(&zip("a", 8, &[0x4b], b"abc"), "a").is_err_and(|reason| reason.contains("damaged")));
        assert!(content(&zip("a", 12, b"abc", b"abc"), "a").is_err_and(|reason| reason.contains("method 12")));
    }
}
