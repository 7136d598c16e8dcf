//! The format Parquet: one file per share, a row per frame.
//!
//! The clips of a file have the same arrays. A share with different rigs has several files, in the order in which the rigs come.

mod part;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::PathBuf;

use posse::Error;

use self::part::{Column, Part, columns};
use crate::bake::draft::Draft;
use crate::bake::facts::Facts;
use crate::bake::format::{ClipHead, PartPlace, PartWriter};
use crate::bake::spool::Spool;

/// Begins the files of a share.
pub fn begin<'a>(place: PartPlace<'a>) -> Result<Box<dyn PartWriter + 'a>, Error> {
    Ok(Box::new(ParquetWriter { place, parts: Vec::new() }))
}

/// A writer of the files of a share.
struct ParquetWriter<'a> {
    place: PartPlace<'a>,
    parts: Vec<Part>,
}

impl PartWriter for ParquetWriter<'_> {
    fn add(&mut self, head: &ClipHead, clip: &mut Spool, facts: &Facts) -> Result<(), Error> {
        let columns = columns(head.layout);
        let index = match self.parts.iter().position(|part| part.columns() == columns) {
            Some(index) => index,
            None => {
                self.begin_part(columns)?;
                self.parts.len() - 1
            }
        };
        self.parts[index].add(clip, facts)
    }

    fn declare(&mut self, head: &ClipHead) -> Result<(), Error> {
        if self.parts.is_empty() { self.begin_part(columns(head.layout)) } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        if self.parts.is_empty() {
            self.begin_part(Vec::new())?;
        }
        let written: Vec<PathBuf> = self.parts.iter().map(|part| part.file().to_path_buf()).collect();
        for part in self.parts {
            part.finish()?;
        }
        let old = part_files(&self.place)?.into_iter().filter(|file| !written.contains(file));
        for file in old {
            fs::remove_file(&file).map_err(|source| Error::Io { file, source })?;
        }
        Ok(())
    }
}

impl ParquetWriter<'_> {
    fn begin_part(&mut self, columns: Vec<Column>) -> Result<(), Error> {
        let suffix = match self.parts.len() {
            0 => String::new(),
            rig => format!("-{rig:02}"),
        };
        let file = self.place.folder.join(format!("{}{suffix}.parquet", stem(&self.place)));
        let draft = Draft::create(&file, self.place.tag)?;
        self.parts.push(Part::new(draft, columns)?);
        Ok(())
    }
}

/// The name of the first file of a share, without extension.
fn stem(place: &PartPlace) -> String {
    format!("part-{:05}-of-{:05}", place.share, place.shares)
}

/// The files of a share that are there, in order of their names.
pub fn part_files(place: &PartPlace) -> Result<Vec<PathBuf>, Error> {
    let stem = stem(place);
    let is_part = |name: &OsStr| {
        let suffix = name.to_str().and_then(|name| name.strip_prefix(&stem)?.strip_suffix(".parquet"));
        suffix.is_some_and(|suffix| {
            let digits = suffix.strip_prefix('-').unwrap_or("");
            suffix.is_empty() || digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(place.folder)? {
            let entry = entry?;
            if is_part(&entry.file_name()) {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    };
    match list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        result => result.map_err(|source| Error::Io { file: place.folder.to_path_buf(), source }),
    }
}
