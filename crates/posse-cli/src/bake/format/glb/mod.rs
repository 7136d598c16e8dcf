//! The format glb: nodes, skins and one animation, with a key per frame.

mod document;
mod motion;

use std::io::Write;
use std::sync::Once;

use posse::Error;

use self::document::Document;
use self::motion::{Channel, Motion};
use crate::bake::facts::Facts;
use crate::bake::format::rest::Space;
use crate::bake::format::{ClipHead, ClipWriter};
use crate::bake::spool::Spool;
use crate::draft::Draft;
use crate::npz;
use crate::output::note;

/// The first words of a file: the name of the format, and its version.
const MAGIC: [u32; 2] = [u32::from_le_bytes(*b"glTF"), 2];
/// The types of the chunks.
const JSON: u32 = u32::from_le_bytes(*b"JSON");
const BIN: u32 = u32::from_le_bytes(*b"BIN\0");

/// The bytes of the columns that are gathered in one pass over an array.
const COLUMNS: u64 = 32 << 20;

/// The note on morph weights, printed once.
static WEIGHTS: Once = Once::new();

/// Begins the file of a clip. Its arrays are the local translations, rotations and scales.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    if head.library.skeleton(head.skeleton).weight_count() > 0 {
        WEIGHTS.call_once(|| {
            note(&format!(
                "warning: {}: glb files have no meshes here, so morph weights are left out; --format npz --arrays weights \
                 has them",
                head.name
            ));
        });
    }
    let spool = Spool::new(head.layout, draft.folder());
    let motion = Motion::new(head.layout);
    Ok(Box::new(GlbWriter { head, draft, spool, motion }))
}

/// A writer of one clip. The keys of a node stand together in the file, so that frames wait until all of them are there.
struct GlbWriter<'a> {
    head: ClipHead<'a>,
    draft: Draft,
    spool: Spool,
    motion: Motion,
}

impl ClipWriter for GlbWriter<'_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        self.motion.append(times, arrays).map_err(|reason| Error::Usage(format!("{}: {reason}", self.head.name)))?;
        self.spool.append(times, arrays)
    }

    fn finish(self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let Self { head, mut draft, mut spool, motion } = *self;
        let space = Space::new(facts);
        let channels = motion.channels(&head, space);
        let mut document = Document::new(&head, space);
        document.animate(head.name, &channels, motion.last_time(), spool.frames());
        let json = document.json(facts).map_err(|error| draft.error(error))?;
        write_head(&mut draft, &json, document.bytes(), head.name)?;
        for matrix in document.inverse_binds() {
            write_numbers(&mut draft, matrix)?;
        }
        if !channels.is_empty() {
            write_times(&mut draft, &mut spool)?;
            write_channels(&mut draft, &mut spool, &channels)?;
        }
        Ok(Some(draft))
    }
}

/// Writes everything before the binary chunk's content. `json` is a multiple of 4 bytes long.
fn write_head(draft: &mut Draft, json: &[u8], bytes: u64, name: &str) -> Result<(), Error> {
    let binary = if bytes == 0 { 0 } else { 8 + bytes };
    let needed = 12 + 8 + json.len() as u64 + binary;
    let (Ok(all), Ok(json_length), Ok(bytes)) = (needed.try_into(), json.len().try_into(), u32::try_from(bytes)) else {
        let what = format!("{name}: bytes of a glb file; use a lower --fps or another --format");
        return Err(Error::Limit { what, needed, allowed: u32::MAX.into() });
    };
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut head = words(&[MAGIC[0], MAGIC[1], all, json_length, JSON]);
    head.extend(json);
    if bytes > 0 {
        head.extend(words(&[bytes, BIN]));
    }
    draft.write_all(&head).map_err(|error| draft.error(error))
}

fn write_numbers(draft: &mut Draft, numbers: &[f32]) -> Result<(), Error> {
    npz::write_singles(draft, numbers).map_err(|error| draft.error(error))
}

fn write_times(draft: &mut Draft, spool: &mut Spool) -> Result<(), Error> {
    let mut left = spool.frames();
    let times = spool.times()?;
    while left > 0 {
        let mut block = vec![0.0_f64; left.min(1 << 16) as usize];
        times.read(&mut block)?;
        left -= block.len() as u64;
        write_numbers(draft, &block.iter().map(|&time| time as f32).collect::<Vec<f32>>())?;
    }
    Ok(())
}

/// Writes the keys of each channel, one channel after the other. Several channels of an array are gathered in one pass over it.
fn write_channels(draft: &mut Draft, spool: &mut Spool, channels: &[Channel]) -> Result<(), Error> {
    for of_array in channels.chunk_by(|channel, next| channel.array == next.array) {
        let Channel { array, numbers, .. } = of_array[0];
        let at_once = (COLUMNS / (spool.frames() * 4 * numbers as u64).max(1)).max(1);
        for gathered in of_array.chunks(usize::try_from(at_once).unwrap_or(usize::MAX)) {
            let mut columns = vec![Vec::new(); gathered.len()];
            let width = spool.width(array);
            spool.each_block(array, |frames| {
                for frame in frames.chunks_exact(width) {
                    for (channel, column) in gathered.iter().zip(&mut columns) {
                        column.extend_from_slice(&frame[channel.position * numbers..][..numbers]);
                    }
                }
                // A single channel may be larger than the memory.
                if let [column] = columns.as_mut_slice() {
                    write_numbers(draft, column)?;
                    column.clear();
                }
                Ok(())
            })?;
            columns.iter().try_for_each(|column| write_numbers(draft, column))?;
        }
    }
    Ok(())
}
