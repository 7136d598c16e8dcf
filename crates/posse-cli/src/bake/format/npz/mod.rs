//! The format npz: a zip file of `.npy` files, one per array and fact. Nothing in it depends on when or where it is written.

use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;

use posse::Error;
use posse::bake::ArrayKind;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use crate::bake::draft::Draft;
use crate::bake::facts::Facts;
use crate::bake::format::{ClipHead, ClipWriter, NpzLayout};
use crate::bake::spool::{Spool, SpooledNumbers};
use crate::bake::stored::npz::TEXTS;
use crate::npy;
use crate::output::UntilError;
use crate::write_error::with_remedy;

/// Begins the file of a clip.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft, layout: NpzLayout) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    let spool = Spool::new(head.layout, draft.folder());
    Ok(Box::new(NpzWriter { head, layout, draft, spool }))
}

/// A writer of one clip. The arrays wait until all frames are there, because a zip file holds them one after the other.
struct NpzWriter<'a> {
    head: ClipHead<'a>,
    layout: NpzLayout,
    draft: Draft,
    spool: Spool,
}

impl ClipWriter for NpzWriter<'_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        self.spool.append(times, arrays)
    }

    fn finish(self: Box<Self>, facts: &Facts) -> Result<(), Error> {
        let Self { head, layout, mut draft, mut spool } = *self;
        let frames = usize::try_from(spool.frames()).map_err(|error| draft.error(io::Error::other(error)))?;
        let mut file = NpzFile::new(&mut draft);
        file.numbers("time", "<f8", &[frames], spool.times()?)?;
        match layout {
            NpzLayout::Plain => file.bytes("fps", "<f8", &[], &facts.fps.to_le_bytes())?,
            NpzLayout::Mjlab => {
                file.bytes("fps", "<f8", &[1], &facts.fps.to_le_bytes())?;
                // The rigs here have no hinges.
                file.bytes("joint_pos", "<f4", &[frames, 0], &[])?;
                file.bytes("joint_vel", "<f4", &[frames, 0], &[])?;
            }
        }
        for (index, array) in head.layout.arrays().iter().enumerate() {
            let name = match layout {
                NpzLayout::Plain => &array.name,
                NpzLayout::Mjlab => mjlab_name(array.kind).unwrap_or(&array.name),
            };
            let shape = [&[frames], array.shape.as_slice()].concat();
            file.numbers(name, "<f4", &shape, spool.array(index)?)?;
        }
        file.facts(facts)?;
        file.finish()?;
        draft.keep()
    }
}

/// The name of an array in the motion files of mjlab.
fn mjlab_name(kind: ArrayKind) -> Option<&'static str> {
    Some(match kind {
        ArrayKind::Pos => "body_pos_w",
        ArrayKind::Quat => "body_quat_w",
        ArrayKind::Linvel => "body_lin_vel_w",
        ArrayKind::Angvel => "body_ang_vel_w",
        _ => return None,
    })
}

/// An npz file that is being written.
struct NpzFile<'a> {
    place: PathBuf,
    zip: ZipWriter<UntilError<&'a mut Draft>>,
}

impl<'a> NpzFile<'a> {
    fn new(draft: &'a mut Draft) -> Self {
        Self { place: draft.place().to_path_buf(), zip: ZipWriter::new(UntilError::new(draft)) }
    }

    /// An array of numbers that are little-endian bytes already.
    fn bytes(&mut self, name: &str, kind: &str, shape: &[usize], numbers: &[u8]) -> Result<(), Error> {
        let header = npy::header(kind, shape).map_err(|error| self.error(error))?;
        self.member(name, &header, numbers.len() as u64, &mut &*numbers)
    }

    /// An array of spooled numbers.
    fn numbers(&mut self, name: &str, kind: &str, shape: &[usize], numbers: &mut SpooledNumbers) -> Result<(), Error> {
        let header = npy::header(kind, shape).map_err(|error| self.error(error))?;
        let bytes = if kind == "<f8" { 8 } else { 4 } * shape.iter().map(|&length| length as u64).product::<u64>();
        self.member(name, &header, bytes, &mut BufReader::with_capacity(1 << 16, numbers.bytes()))
    }

    fn text(&mut self, name: &str, text: &str) -> Result<(), Error> {
        self.texts(name, &[], &[text])
    }

    fn texts(&mut self, name: &str, shape: &[usize], texts: &[&str]) -> Result<(), Error> {
        let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let needed = 4 * texts.len() as u64 * longest as u64;
        if needed > TEXTS {
            let what = format!("{}: {name}: bytes of {} texts of {longest} letters", self.place.display(), texts.len());
            return Err(Error::Limit { what, needed, allowed: TEXTS });
        }
        let array = npy::texts(shape, texts).map_err(|error| self.error(error))?;
        self.member(name, &array, 0, &mut io::empty())
    }

    /// A file in the zip file: a header, and the given number of bytes after it.
    fn member(&mut self, name: &str, header: &[u8], bytes: u64, rest: &mut impl Read) -> Result<(), Error> {
        // Files of 4 GiB or more need the large size fields of the zip format.
        let large = header.len() as u64 + bytes > u64::from(u32::MAX);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .system(System::Unix)
            .unix_permissions(0o644)
            .large_file(large);
        let started = self.zip.start_file(format!("{name}.npy"), options).map_err(io::Error::from);
        let written = started.and_then(|()| self.zip.write_all(header)).and_then(|()| io::copy(rest, &mut self.zip));
        match written {
            Ok(written) if written == bytes => Ok(()),
            Ok(written) => Err(self.error(io::Error::other(format!("{name}: {written} of {bytes} bytes are there")))),
            Err(error) => Err(self.error(error)),
        }
    }

    fn facts(&mut self, facts: &Facts) -> Result<(), Error> {
        let names: Vec<&str> = facts.joint_names.iter().map(String::as_str).collect();
        self.texts("joint_names", &[names.len()], &names)?;
        let parents: Vec<u8> = facts.parents.iter().flat_map(|parent| parent.to_le_bytes()).collect();
        self.bytes("parents", "<i4", &[facts.parents.len()], &parents)?;
        self.text("quaternion_order", facts.quaternion_order)?;
        self.text("up_axis", facts.up_axis)?;
        self.bytes("unit_scale", "<f8", &[], &facts.unit_scale.to_le_bytes())?;
        self.text("clip", &facts.clip)?;
        let source = serde_json::to_string(&facts.source).map_err(|error| self.error(error.into()))?;
        self.text("source", &source)?;
        self.text("options", &facts.options)?;
        self.text("posse_version", facts.posse_version)?;
        self.text("engine", &facts.engine)
    }

    fn finish(self) -> Result<(), Error> {
        let Self { place, zip } = self;
        zip.finish().map(|_| ()).map_err(|error| Error::Io { file: place, source: with_remedy(error.into()) })
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Io { file: self.place.clone(), source: with_remedy(source) }
    }
}
