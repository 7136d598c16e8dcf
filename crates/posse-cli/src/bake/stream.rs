//! A long BVH file: read, posed and written in parts, so that memory does not grow with its length.
//!
//! A frame needs the keys around it only, so that a window of some thousand keys gives the same numbers as the whole
//! file. The size of the file decides between the two, so that all machines do the same.

use std::cell::OnceCell;
use std::io::{BufRead, BufReader};

use posse::import::bvh::{Keys, Reader, count_frames};
use posse::{ClipId, Error, Library, SkeletonId};

use crate::bake::clip::{Rig, UNBOUND};
use crate::bake::facts::{Facts, HashingReader, SourceFacts, open_regular};
use crate::bake::frames::{ClipFrames, OwnRate};
use crate::bake::inputs::{ClipFile, Kind, ListedClip};
use crate::bake::job::{Fault, Job};
use crate::bake::part::Turn;
use crate::bake::sampler::{Block, Motion};
use crate::source::{Nodes, bvh_fps};

/// The bytes of the keys of a window.
const WINDOW_BYTES: usize = 4 << 20;
/// The bytes of a key of a joint with a position and a rotation.
const KEY_BYTES: usize = 7 * size_of::<f64>();
/// The largest part of the window size that velocities may need at once.
const MOST_WINDOWS: u64 = 8;
/// The bytes that are read at once.
const BUFFER: usize = 1 << 20;

/// Bakes the clip of a file, or pieces of it, in parts.
///
/// A frame is posed from the keys around it, which are the same in all parts. Its numbers are those of the whole file,
/// except where a rotation is constant over a part, but not over the file: it then has the bits of its key, without the
/// rounding of slerp. Parts begin at the same frames for a piece as for the whole clip.
pub fn bake(job: &Job, file: &ClipFile, turn: Option<&Turn>) -> Result<(), Fault> {
    let hashed = OnceCell::new();
    let source = || {
        let hashed = hashed.get_or_init(|| file.source(Kind::Bvh).map_err(|error| error.to_string()));
        hashed.clone().map_err(Error::Usage)
    };
    let mut known = None;
    for clip in file.clips() {
        if job.is_stopped() {
            return Ok(());
        }
        if turn.is_none() && job.resume && job.keeps(file, clip, source) {
            continue;
        }
        bake_clip(job, file, turn, clip, &mut known)?;
    }
    Ok(())
}

/// Bakes a clip. `known` is the source, once the file has been read to its end.
fn bake_clip(
    job: &Job,
    file: &ClipFile,
    turn: Option<&Turn>,
    clip: &ListedClip,
    known: &mut Option<SourceFacts>,
) -> Result<(), Fault> {
    let name = clip.name.as_str();
    let input = HashingReader::new(open_regular(&file.path)?);
    let sha256 = input.hash();
    let mut reader = Reader::new(&file.path, BufReader::with_capacity(BUFFER, input))?;
    reader.set_frames(count_frames(&file.path)?.max(reader.frames()))?;
    for warning in reader.warnings().iter().filter(|_| known.is_none()) {
        job.warn(&format!("warning: {}: {warning}", file.path.display()));
    }
    let mut library = Library::new();
    let own = library.add_skeleton(reader.skeleton().clone());
    let own_joints = reader.skeleton().joints().len();
    let (skeleton, nodes) = match &job.options.rig {
        Some(rig) => {
            let Nodes { skeleton, joints, .. } = rig.add_to(&mut library)?;
            (skeleton, joints)
        }
        None => (own, (0..own_joints).collect()),
    };
    let rig = Rig::new(&library, skeleton, &nodes, job.options)?;
    let rate = OwnRate { keys: bvh_fps(reader.frame_time()), has_frames: true };
    let frames = match ClipFrames::new(clip.part.range, job.options.fps, rate, reader.duration()) {
        Ok(frames) => frames,
        // Other pieces of the file may be right.
        Err(error) => {
            job.fail(file, Some(name), error.into());
            return Ok(());
        }
    };
    job.warn_of_frames(file, clip, &frames);
    let grid = frames.grid;
    let mut writer = rig.begin(job, turn, name)?;
    let mut block = Block::new(&rig.layout);
    let mut window = Window::new(reader, own_joints);
    let velocities = rig.layout.has_velocities();
    let (mut first, mut engine) = (frames.frames.start, String::new());
    while first < frames.frames.end && !job.is_stopped() {
        let most = window.frames(grid.fps());
        let begin = first - first % most;
        let last = grid.len().min(begin.saturating_add(most)) - 1;
        let [from, to] =
            if velocities { [grid.span(begin)[0], grid.span(last)[1]] } else { [begin, last].map(|at| grid.time(at)) };
        window.cover(from, to)?;
        let (part, id) = window.library(job, &library, [own, skeleton])?;
        let mut sampler = job.engines.open(&part)?;
        let end = frames.frames.end.min(last + 1);
        while first < end && !job.is_stopped() {
            let block_end = block.end(first, end);
            block.fill(&mut sampler, &rig.layout, &frames, Motion::Clip(id), first..block_end)?;
            writer.append(&block.times, &block.arrays).map_err(Fault::of_writer)?;
            job.progress.add_frames(block.times.len());
            first = block_end;
        }
        engine = sampler.name();
    }
    if job.is_stopped() {
        return Ok(());
    }
    let source = match known {
        Some(source) => source.clone(),
        None => {
            window.read_rest()?;
            let sha256 = sha256.digits();
            known.insert(SourceFacts { path: file.below.clone(), sha256, ..SourceFacts::default() }).clone()
        }
    };
    let facts = rig.facts(job.options, clip, &frames, source, engine);
    let facts = Facts { warnings: Vec::from_iter(frames.warning.clone()), ..facts };
    rig.finish(job, writer, &facts)?;
    job.count_baked(file, &facts, frames.count());
    Ok(())
}

/// The keys of a file around the frames that are posed.
struct Window<R: BufRead> {
    reader: Reader<R>,
    keys: Keys,
    /// The number of keys of a window.
    most: u64,
}

impl<R: BufRead> Window<R> {
    fn new(reader: Reader<R>, joints: usize) -> Self {
        let most = (WINDOW_BYTES / KEY_BYTES / joints.max(1)).clamp(64, 8192) as u64;
        Self { reader, keys: Keys::new(), most }
    }

    /// The number of frames at a rate that a window serves, at least 1.
    fn frames(&self, fps: f64) -> u64 {
        let seconds = self.most as f64 * self.reader.frame_time();
        // `as` turns a number beyond the range of the integer into its largest one.
        ((seconds * fps) as u64).max(1)
    }

    /// Reads on until the keys around two times and between them are there, and drops earlier ones.
    fn cover(&mut self, from: f64, to: f64) -> Result<(), Error> {
        let last_key = self.reader.frames().saturating_sub(1);
        // A key more on each side, because the quotients are rounded.
        let key = |time: f64| if last_key == 0 { 0.0 } else { time / self.reader.frame_time() };
        let first = (key(from).floor() as u64).saturating_sub(1);
        let end = (key(to).ceil() as u64).saturating_add(2).min(self.reader.frames());
        let most = MOST_WINDOWS * self.most;
        if end.saturating_sub(first) > most {
            let keys = end - first;
            return Err(Error::Usage(format!(
                "the velocities of a frame span {keys} keys, but {most} are kept in memory; give a larger --fps, or leave out linvel \
                 and angvel"
            )));
        }
        loop {
            let before = usize::try_from(first.saturating_sub(self.keys.first())).unwrap_or(usize::MAX);
            self.keys.drop_front(before);
            let next = self.keys.first() + self.keys.len() as u64;
            if next >= end || self.read(end - next)? == 0 {
                return Ok(());
            }
        }
    }

    /// Reads up to `count` keys, at most those of a window.
    fn read(&mut self, count: u64) -> Result<usize, Error> {
        self.reader.read(count.min(self.most) as usize, &mut self.keys)
    }

    /// A library with the keys as a clip. The skeletons are that of the file, and the one that the clip animates.
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
        // Each part has the faults of the others.
        sharing.faults.iter().for_each(|fault| job.progress.note_once(&format!("warning: {fault}")));
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
