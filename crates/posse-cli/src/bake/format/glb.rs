//! The format glb: nodes, skins and one animation, with a key per frame.

use std::io::Write;

use posse::bake::{ArrayKind, ArrayLayout};
use posse::curves::Target;
use posse::low_level::FrameAnimation;
use posse::{Error, Joint};

use crate::bake::facts::Facts;
use crate::bake::format::{ClipHead, ClipWriter, OutputSpace, in_space};
use crate::bake::spool::Spool;
use crate::draft::Draft;
use crate::npz;

/// The bytes of the columns that are gathered in one pass over an array.
const COLUMNS: u64 = 32 << 20;

/// Begins the file of a clip. Its arrays are the local translations, rotations and scales.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    if head.library.skeleton(head.skeleton).weight_count() > 0 {
        let text =
            "glb files have no meshes here, so morph weights are left out; --format npz --arrays weights has them";
        head.progress.note_of_first(head.name, text);
    }
    let spool = Spool::new(head.layout, draft.folder());
    let motion = FrameMotion::new(head.layout);
    Ok(Box::new(GlbWriter { head, draft, spool, motion }))
}

/// A writer of one clip. The keys of a node stand together in the file, so that frames wait until all of them are
/// there.
struct GlbWriter<'a> {
    head: ClipHead<'a>,
    draft: Draft,
    spool: Spool,
    motion: FrameMotion,
}

impl ClipWriter for GlbWriter<'_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        self.motion.append(times, arrays).map_err(|reason| Error::Usage(format!("{}: {reason}", self.head.name)))?;
        self.spool.append(times, arrays)
    }

    fn finish(self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let Self { head, mut draft, mut spool, motion } = *self;
        let (library, skeleton) = in_space(&head, OutputSpace::new(facts))?;
        let head = ClipHead { library: &library, skeleton, ..head };
        write(&head, &mut draft, Frames { spool: &mut spool, motion: &motion, is_vrm: false }, facts)?;
        Ok(Some(draft))
    }
}

/// The frames of a file.
pub struct Frames<'a> {
    pub spool: &'a mut Spool,
    pub motion: &'a FrameMotion,
    /// True for a VRM animation.
    pub is_vrm: bool,
}

/// Writes a file of the nodes and skins of a clip, which are in the space of the output.
pub fn write(head: &ClipHead, draft: &mut Draft, frames: Frames, facts: &Facts) -> Result<(), Error> {
    let Frames { spool, motion, is_vrm } = frames;
    let channels = motion.channels(head.layout, head.library.skeleton(head.skeleton).joints());
    let targets = Vec::from_iter(channels.iter().map(|channel| channel.target));
    let (frames, last_time) = (spool.frames(), motion.last_time());
    let animation = FrameAnimation { name: head.name, targets: &targets, frames, last_time, is_vrm };
    let facts = serde_json::to_value(facts).map_err(|error| draft.error(error))?;
    let bytes = animation.glb_head(head.library, head.skeleton, head.nodes, facts).map_err(with_hint)?;
    draft.write_all(&bytes).map_err(|error| draft.error(error))?;
    if !channels.is_empty() {
        write_times(draft, spool)?;
        write_channels(draft, spool, &channels)?;
    }
    Ok(())
}

/// Says what to do about a file that is too large.
fn with_hint(error: Error) -> Error {
    match error {
        Error::Limit { what, needed, allowed } => {
            Error::Limit { what: format!("{what}; use a lower --fps or another --format"), needed, allowed }
        }
        error => error,
    }
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

/// Writes the keys of each channel, one channel after the other. Several channels of an array are gathered in one pass
/// over it.
fn write_channels(draft: &mut Draft, spool: &mut Spool, channels: &[NodeChannel]) -> Result<(), Error> {
    for of_array in channels.chunk_by(|channel, next| channel.array == next.array) {
        let NodeChannel { array, numbers, .. } = of_array[0];
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

/// The keys of one part of the transform of a node.
#[derive(Debug, Clone, Copy)]
pub struct NodeChannel {
    /// The joint, and the part of its transform.
    pub target: Target,
    /// The index of the array of the keys.
    pub array: usize,
    /// The position of the joint in the array.
    pub position: usize,
    /// Numbers per key.
    pub numbers: usize,
}

/// The first frame of each array, and the joints whose later frames differ from it.
pub struct FrameMotion {
    first: Vec<Vec<f32>>,
    moves: Vec<Vec<bool>>,
    last_time: Option<f32>,
}

impl FrameMotion {
    pub fn new(layout: &ArrayLayout) -> Self {
        let arrays = layout.arrays();
        Self {
            first: vec![Vec::new(); arrays.len()],
            moves: arrays.iter().map(|_| vec![false; layout.joints().len()]).collect(),
            last_time: None,
        }
    }

    /// Compares frames with the first one. The error is the reason for which the file cannot hold them.
    pub fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), String> {
        for &time in times {
            if self.last_time.is_some_and(|last| last >= time as f32) {
                return Err(format!(
                    "two frames near {time:?} s have the same time as the 32-bit numbers of glTF; use a lower --fps or another \
                     --format"
                ));
            }
            self.last_time = Some(time as f32);
        }
        for ((numbers, first), moves) in arrays.iter().zip(&mut self.first).zip(&mut self.moves) {
            let width = numbers.len() / times.len().max(1);
            if width == 0 {
                continue;
            }
            if first.is_empty() {
                first.extend_from_slice(&numbers[..width]);
            }
            let per_joint = width / moves.len();
            for frame in numbers.chunks_exact(width).filter(|frame| frame != first) {
                let pairs = frame.chunks_exact(per_joint).zip(first.chunks_exact(per_joint));
                moves.iter_mut().zip(pairs).for_each(|(moves, pair)| *moves |= pair.0 != pair.1);
            }
        }
        Ok(())
    }

    /// The time of the last frame.
    pub fn last_time(&self) -> f32 {
        self.last_time.unwrap_or(0.0)
    }

    /// The channels of the file, array after array: the channels that differ from the rest pose in any frame. If none
    /// does, it is the first possible one, so that the file has an animation of that duration.
    ///
    /// A node with a matrix cannot have channels.
    pub fn channels(&self, layout: &ArrayLayout, joints: &[Joint]) -> Vec<NodeChannel> {
        let mut first_possible = None;
        let mut channels = Vec::new();
        for (array, shape) in layout.arrays().iter().enumerate() {
            for (position, &joint) in layout.joints().iter().enumerate() {
                if joints[joint].matrix.is_some() {
                    continue;
                }
                let rest = joints[joint].rest;
                let (target, rest) = match shape.kind {
                    ArrayKind::LocalPos => (Target::Translation(joint), rest.translation.as_vec3().to_array().to_vec()),
                    ArrayKind::LocalQuat => (Target::Rotation(joint), rest.rotation.as_quat().to_array().to_vec()),
                    _ => (Target::Scale(joint), rest.scale.as_vec3().to_array().to_vec()),
                };
                let numbers = rest.len();
                let channel = NodeChannel { target, array, position, numbers };
                first_possible.get_or_insert(channel);
                if self.moves[array][position] || self.first[array][position * numbers..][..numbers] != rest {
                    channels.push(channel);
                }
            }
        }
        if channels.is_empty() {
            channels.extend(first_possible);
        }
        channels
    }
}
