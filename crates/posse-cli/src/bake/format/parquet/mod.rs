//! The format Parquet: one file per share, a row per frame.
//!
//! The clips of a file have the same arrays. A share with different rigs has several files, in the order in which the rigs come.

mod part;

use std::fs;

use posse::Error;

use self::part::{Column, Part, columns};
use crate::bake::facts::Facts;
use crate::bake::format::{ClipHead, PartPlace, PartWriter, part_name, part_names};
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
        let PartPlace { folder, share, manifest, .. } = self.place;
        let written: Vec<String> = (0..self.parts.len()).map(|rig| part_name(share, rig)).collect();
        for (part, name) in self.parts.into_iter().zip(&written) {
            let (draft, clips) = part.finish()?;
            manifest.keep(draft, name, clips)?;
        }
        for old in part_names(folder, share)?.iter().filter(|name| !written.contains(name)) {
            let file = folder.join(old);
            fs::remove_file(&file).map_err(|source| Error::Io { file, source })?;
        }
        Ok(())
    }
}

impl ParquetWriter<'_> {
    fn begin_part(&mut self, columns: Vec<Column>) -> Result<(), Error> {
        let file = self.place.folder.join(part_name(self.place.share, self.parts.len()));
        let draft = self.place.tag.create(&file)?;
        self.parts.push(Part::new(draft, columns)?);
        Ok(())
    }
}
