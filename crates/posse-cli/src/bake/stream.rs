//! A long BVH file: read, posed and written in parts, so that memory does not grow with its length.
//!
//! A frame needs the keys around it only, so that a window of some thousand keys gives the same numbers as the whole
//! file. The size of the file decides between the two, so that all machines do the same.
//!
//! The window moves forward, and serves the pieces of the file in the order of their first frames. Pieces that begin
//! before the window wait for a further pass over the file. Without pieces that overlap, one pass serves all.

use std::cell::OnceCell;
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;

use posse::bake::FrameGrid;
use posse::import::FileFormat;
use posse::import::bvh::{Keys, LoadOptions, Reader, count_frames};
use posse::{ClipId, Error, Library, SkeletonId};

use crate::bake::clip::{ArrayRig, UNBOUND};
use crate::bake::facts::{Facts, HashingReader, RunningHash, SourceFacts, open_regular};
use crate::bake::frames::{ClipFrames, OwnRate};
use crate::bake::inputs::{ListedClip, ListedFile};
use crate::bake::job::{BakeError, Job};
use crate::bake::part::Turn;
use crate::bake::progress::FileProgress;
use crate::bake::sampler::{Block, OutputMotion};
use crate::output::warn_of_file;
use crate::source::{Nodes, with_bvh_options};

/// The bytes of the keys of a window.
const WINDOW_BYTES: usize = 4 << 20;
/// The bytes of a key of a joint with a position and a rotation.
const KEY_BYTES: usize = 7 * size_of::<f64>();
/// The largest part of the window size that velocities may need at once.
const MAX_WINDOWS: u64 = 8;
/// The bytes that are read at once.
const BUFFER: usize = 1 << 20;

/// Bakes the clip of a file, or pieces of it, in parts.
///
/// A frame is posed from the keys around it, which are the same in all parts. Its numbers are the numbers of the whole
/// file, except where a rotation is constant over a part, but not over the file: it then has the bits of its key,
/// without the rounding of slerp. Parts begin at the same frames for a piece as for the whole clip.
///
/// The last piece is complete when the file has been read to its end. A row that cannot be read is an error of the
/// file: the pieces that are complete by then stay, and the others are missing.
pub fn bake(job: &Job, file: &ListedFile, turn: Option<&Turn>, progress: &FileProgress) -> Result<(), BakeError> {
    let hashed = OnceCell::new();
    let source = || {
        let hashed = hashed.get_or_init(|| file.source(FileFormat::Bvh).map_err(|error| error.to_string()));
        hashed.clone().map_err(Error::Usage)
    };
    let clips = job.new_clips(file, turn.is_some(), source);
    if clips.is_empty() || job.is_stopped() {
        return Ok(());
    }
    let mut window = Window::open(file, &job.options.bvh.options(), None)?;
    let mut warned = 0;
    window.warn(job, file, &mut warned)?;
    let mut library = Library::new();
    let own = library.add_skeleton(window.reader.skeleton().clone());
    let (skeleton, nodes) = match &job.options.rig {
        Some(rig) => {
            let Nodes { skeleton, joints, .. } = rig.add_to(&mut library)?;
            (skeleton, joints)
        }
        None => (own, (0..window.reader.skeleton().joints().len()).collect()),
    };
    let rig = ArrayRig::new(&library, skeleton, &nodes, job.options)?;
    let rate = OwnRate { keys: window.reader.fps(), has_frames: true };
    let mut pieces = Vec::new();
    for clip in clips {
        match ClipFrames::new(clip.part.range, job.options.frame_options(), rate, window.reader.duration()) {
            Ok(frames) => {
                job.warn_of_frames(file, clip, &frames);
                pieces.push(StreamedPiece { clip, frames });
            }
            // The others may be right.
            Err(error) => job.fail(file, Some(&clip.name), error.into()),
        }
    }
    if turn.is_none() {
        pieces.sort_by_key(|piece| (piece.frames.frames.start, piece.frames.frames.end));
    }
    // Pieces that are complete before the end of the file state its hash, too.
    let source = (pieces.len() > 1).then(source).transpose()?;
    let streamed = StreamedFile { job, file, turn, rig, skeletons: [own, skeleton], progress };
    while !pieces.is_empty() && !job.is_stopped() {
        let later = streamed.bake_in_order(pieces, &mut window, source.as_ref());
        window.warn(job, file, &mut warned)?;
        pieces = later?;
        if !pieces.is_empty() {
            window = Window::open(file, &job.options.bvh.options(), Some(window.reader.frames()))?;
        }
    }
    Ok(())
}

/// A piece of a file, or its whole clip.
struct StreamedPiece<'a> {
    clip: &'a ListedClip,
    frames: ClipFrames,
}

/// A file that is read in parts, with the skeletons of the file and of the clips.
struct StreamedFile<'a, 'w> {
    job: &'a Job<'a>,
    file: &'a ListedFile,
    turn: Option<&'a Turn<'a, 'w>>,
    rig: ArrayRig<'a>,
    skeletons: [SkeletonId; 2],
    progress: &'a FileProgress<'a>,
}

impl StreamedFile<'_, '_> {
    /// Bakes the pieces that a window comes by, and returns the others. In the files of a share, pieces keep their
    /// order. The errors of a piece are recorded. Fails if the file cannot be read.
    fn bake_in_order<'p>(
        &self,
        pieces: Vec<StreamedPiece<'p>>,
        window: &mut Window,
        source: Option<&SourceFacts>,
    ) -> Result<Vec<StreamedPiece<'p>>, BakeError> {
        let Self { job, file, turn, .. } = self;
        let (count, mut later) = (pieces.len(), Vec::new());
        for (index, piece) in pieces.into_iter().enumerate() {
            if turn.is_some() && !later.is_empty() || self.is_behind(&piece, window) {
                later.push(piece);
                continue;
            }
            let is_last = index + 1 == count && later.is_empty();
            let baked = self.bake(&piece, window, source, is_last);
            if let Err(error) = baked {
                // No later piece can be read.
                if window.is_broken {
                    return Err(error);
                }
                job.fail(file, Some(&piece.clip.name), error);
            }
            if job.is_stopped() {
                break;
            }
        }
        Ok(later)
    }

    /// Returns `true` if a window has passed the first keys of a piece.
    fn is_behind(&self, piece: &StreamedPiece, window: &Window) -> bool {
        let grid = &piece.frames.grid;
        let part = window.part(grid, piece.frames.frames.start);
        // A piece whose keys are too many fails when it is baked.
        window.keys_of(grid, &part, self.rig.layout.has_velocities()).is_ok_and(|keys| !window.has_ahead(&keys))
    }

    /// Bakes a piece. For the last one, or without the source, reads the file to its end.
    fn bake(
        &self,
        piece: &StreamedPiece,
        window: &mut Window,
        source: Option<&SourceFacts>,
        is_last: bool,
    ) -> Result<(), BakeError> {
        let Self { job, file, rig, skeletons, .. } = self;
        let StreamedPiece { clip, frames } = piece;
        let grid = frames.grid;
        let mut writer = rig.begin(job, self.turn, &clip.name)?;
        let mut block = Block::new(&rig.layout);
        let (mut first, mut engine) = (frames.frames.start, String::new());
        while first < frames.frames.end && !job.is_stopped() {
            let part = window.part(&grid, first);
            let keys = window.keys_of(&grid, &part, rig.layout.has_velocities())?;
            window.cover(&keys)?;
            let (library, id) = window.library(job, rig.library, *skeletons)?;
            let mut sampler = job.engines.open(&library)?;
            let end = frames.frames.end.min(part.end);
            while first < end && !job.is_stopped() {
                let block_end = block.end(first, end);
                block.fill(&mut sampler, &rig.layout, frames, OutputMotion::Clip(id), first..block_end)?;
                writer.append(&block.times, &block.arrays).map_err(BakeError::of_writer)?;
                self.progress.add_frames(block.times.len(), frames.count());
                first = block_end;
            }
            engine = sampler.name();
        }
        if job.is_stopped() {
            return Ok(());
        }
        let source = match source {
            Some(source) if !is_last => source.clone(),
            known => {
                window.read_rest()?;
                let sha256 = window.sha256.digits();
                if known.is_some_and(|known| known.sha256 != sha256) {
                    return Err(Error::Usage("the file has changed while it was read; run again".into()).into());
                }
                SourceFacts { path: file.below.clone(), sha256, ..SourceFacts::default() }
            }
        };
        let facts = rig.facts(job.options, clip, frames, source, engine);
        let is_in_metres = job.options.is_in_metres(FileFormat::Bvh);
        let facts = Facts { warnings: frames.warnings().cloned().collect(), is_in_metres, ..facts };
        let output = rig.finish(job, self.turn, writer, &facts)?;
        job.count_baked(file, &output, &facts);
        Ok(())
    }
}

/// The input of a reader.
type Input = BufReader<HashingReader<File>>;

/// The keys of a file around the frames that are posed.
struct Window {
    reader: Reader<Input>,
    /// The hash of what has been read.
    sha256: RunningHash,
    keys: Keys,
    /// The number of keys of a window.
    most: u64,
    /// `true` if the file cannot be read any further.
    is_broken: bool,
}

impl Window {
    /// Opens a file before its first row. Without the number of its rows, they are counted.
    fn open(file: &ListedFile, options: &LoadOptions, rows: Option<u64>) -> Result<Self, Error> {
        let input = HashingReader::new(open_regular(&file.path)?);
        let sha256 = input.hash();
        let input = BufReader::with_capacity(BUFFER, input);
        let mut reader = Reader::with_options(&file.path, input, options).map_err(with_bvh_options)?;
        let rows = match rows {
            Some(rows) => rows,
            None => count_frames(&file.path, options)?.max(reader.frames()),
        };
        reader.set_frames(rows).map_err(with_bvh_options)?;
        let joints = reader.skeleton().joints().len();
        let most = (WINDOW_BYTES / KEY_BYTES / joints.max(1)).clamp(64, 8192) as u64;
        Ok(Self { reader, sha256, keys: Keys::new(), most, is_broken: false })
    }

    /// Prints the warnings of the file that have not been printed. With `--strict`, fails for the first.
    fn warn(&self, job: &Job, file: &ListedFile, printed: &mut usize) -> Result<(), Error> {
        let new = self.reader.warnings().iter().skip(*printed);
        *printed = self.reader.warnings().len().max(*printed);
        warn_of_file(&file.path, new, &mut |text| job.warn(text))
    }

    /// The number of frames at a rate that a window serves, at least 1.
    fn frames(&self, fps: f64) -> u64 {
        let seconds = self.most as f64 * self.reader.frame_time();
        // `as` turns a number beyond the range of the integer into its largest one.
        ((seconds * fps) as u64).max(1)
    }

    /// The part of all frames that has a frame: the frames that a window serves.
    fn part(&self, grid: &FrameGrid, frame: u64) -> Range<u64> {
        let most = self.frames(grid.fps());
        let begin = frame - frame % most;
        begin..grid.len().min(begin.saturating_add(most))
    }

    /// The keys around the frames of a part and between them. Fails for more keys than are kept in memory.
    fn keys_of(&self, grid: &FrameGrid, part: &Range<u64>, velocities: bool) -> Result<Range<u64>, Error> {
        let last = part.end - 1;
        let [from, to] = if velocities {
            [grid.span(part.start)[0], grid.span(last)[1]]
        } else {
            [part.start, last].map(|at| grid.time(at))
        };
        let last_key = self.reader.frames().saturating_sub(1);
        // A key more on each side, because the quotients are rounded.
        let key = |time: f64| if last_key == 0 { 0.0 } else { time / self.reader.frame_time() };
        let first = (key(from).floor() as u64).saturating_sub(1);
        let end = (key(to).ceil() as u64).saturating_add(2).min(self.reader.frames());
        let most = MAX_WINDOWS * self.most;
        if end.saturating_sub(first) > most {
            let keys = end - first;
            return Err(Error::Usage(format!(
                "the velocities of a frame span {keys} keys, but {most} are kept in memory; give a larger --fps, or leave out linvel \
                 and angvel"
            )));
        }
        Ok(first..end)
    }

    /// Returns `true` if [`cover`](Self::cover) leaves the keys of a range, and no others.
    fn has_ahead(&self, keys: &Range<u64>) -> bool {
        keys.start >= self.keys.first() && self.next_key() <= keys.end
    }

    /// The key after the window.
    fn next_key(&self) -> u64 {
        self.keys.first() + self.keys.len() as u64
    }

    /// Reads on until the keys of a range are there, and drops earlier ones.
    fn cover(&mut self, keys: &Range<u64>) -> Result<(), Error> {
        loop {
            let before = usize::try_from(keys.start.saturating_sub(self.keys.first())).unwrap_or(usize::MAX);
            self.keys.drop_front(before);
            if self.next_key() >= keys.end || self.read(keys.end - self.next_key())? == 0 {
                return Ok(());
            }
        }
    }

    /// Reads up to `count` keys, at most the keys of a window.
    fn read(&mut self, count: u64) -> Result<usize, Error> {
        let read = self.reader.read(count.min(self.most) as usize, &mut self.keys);
        self.is_broken |= read.is_err();
        read
    }

    /// A library with the keys as a clip. The skeletons are the skeleton of the file, and the one that the clip
    /// animates.
    fn library(&self, job: &Job, library: &Library, skeletons: [SkeletonId; 2]) -> Result<(Library, ClipId), Error> {
        let mut part = library.clone();
        let [own, rig] = skeletons;
        let clip = part.add_clip(self.keys.clip(own, None)?)?;
        if own == rig {
            return Ok((part, clip));
        }
        let sharing = part.share_clip(clip, rig)?;
        if sharing.tracks.iter().all(Option::is_none) {
            return Err(Error::Usage(UNBOUND.into()));
        }
        // Each part has the errors of the others.
        sharing.issues.iter().for_each(|error| job.progress.note_once(&format!("warning: {error}")));
        Ok((part, sharing.clip))
    }

    /// Reads the file to its end.
    fn read_rest(&mut self) -> Result<(), Error> {
        loop {
            self.keys.drop_front(usize::MAX);
            if self.read(u64::MAX)? == 0 {
                return Ok(());
            }
        }
    }
}
