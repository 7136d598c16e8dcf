//! The format glb: nodes, skins and one animation, with a key per frame.

use std::io::Write;
use std::sync::Once;

use gltf::json::accessor::{Accessor, ComponentType, GenericComponentType, Type};
use gltf::json::animation::{Animation, Channel as JsonChannel, Interpolation, Property, Sampler, Target};
use gltf::json::buffer::{Buffer, View};
use gltf::json::scene::UnitQuaternion;
use gltf::json::validation::{Checked, USize64};
use gltf::json::{Asset, Index, Node, Root, Scene, Skin};
use posse::bake::{ArrayKind, ArrayLayout};
use posse::glam::{DAffine3, DMat4};
use posse::{Error, Joint, Transform};

use crate::bake::facts::Facts;
use crate::bake::format::{ClipHead, ClipWriter, Space};
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

/// The keys of one part of the transform of a node.
#[derive(Debug, Clone, Copy)]
pub struct Channel {
    /// The joint.
    pub joint: usize,
    /// The index of the array of the keys.
    pub array: usize,
    /// The part.
    pub kind: ArrayKind,
    /// The position of the joint in the array.
    pub position: usize,
    /// Numbers per key.
    pub numbers: usize,
}

/// The first frame of each array, and the joints whose later frames differ from it.
pub struct Motion {
    first: Vec<Vec<f32>>,
    moves: Vec<Vec<bool>>,
    last_time: Option<f32>,
}

impl Motion {
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

    /// The channels of the file, array after array: those that differ from the rest pose in any frame. If none does, it is the
    /// first possible one, so that the file has an animation of that duration.
    ///
    /// A node with a matrix cannot have channels.
    pub fn channels(&self, head: &ClipHead, space: Space) -> Vec<Channel> {
        let joints = head.library.skeleton(head.skeleton).joints();
        let mut first_possible = None;
        let mut channels = Vec::new();
        for (array, shape) in head.layout.arrays().iter().enumerate() {
            for (position, &joint) in head.layout.joints().iter().enumerate() {
                if joints[joint].matrix.is_some() {
                    continue;
                }
                let rest = space.rest(&joints[joint]);
                let rest = match shape.kind {
                    ArrayKind::LocalPos => rest.translation.as_vec3().to_array().to_vec(),
                    ArrayKind::LocalQuat => rest.rotation.as_quat().to_array().to_vec(),
                    _ => rest.scale.as_vec3().to_array().to_vec(),
                };
                let numbers = rest.len();
                let channel = Channel { joint, array, kind: shape.kind, position, numbers };
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

/// The document of a clip. The binary chunk has first the inverse bind matrices, then the times, then the keys of each channel.
pub struct Document {
    root: Root,
    /// The node of each joint.
    nodes: Vec<u32>,
    inverse_binds: Vec<[f32; 16]>,
    /// The bytes of the binary chunk so far.
    bytes: u64,
}

impl Document {
    /// The nodes and skins of a skeleton, in the order of its file.
    pub fn new(head: &ClipHead, space: Space) -> Self {
        let joints = head.library.skeleton(head.skeleton).joints();
        let mut nodes = vec![0; joints.len()];
        head.nodes.iter().zip(0..).for_each(|(&joint, node)| nodes[joint] = node);
        let mut root =
            Root { nodes: head.nodes.iter().map(|&joint| node(&joints[joint], space)).collect(), ..Root::default() };
        let mut roots = Vec::new();
        for (&joint, index) in head.nodes.iter().zip(0..) {
            match joints[joint].parent {
                Some(parent) => {
                    root.nodes[nodes[parent] as usize].children.get_or_insert_default().push(Index::new(index))
                }
                None => roots.push(Index::new(index)),
            }
        }
        root.scenes = vec![Scene { extensions: None, extras: None, name: None, nodes: roots }];
        root.scene = Some(Index::new(0));
        let mut document = Self { root, nodes, inverse_binds: Vec::new(), bytes: 0 };
        document.add_skins(head, space);
        document
    }

    fn add_skins(&mut self, head: &ClipHead, space: Space) {
        let skins =
            || head.library.skins_of(head.skeleton).map(|(_, skin)| skin).filter(|skin| !skin.joints.is_empty());
        let count: usize = skins().map(|skin| skin.joints.len()).sum();
        if count == 0 {
            return;
        }
        let view = self.add_view(count as u64 * 64);
        let mut first = 0;
        for skin in skins() {
            let accessor = self.add_accessor(view, first * 64, skin.joints.len() as u64, Type::Mat4);
            first += skin.joints.len() as u64;
            // The vertices are those of the file: they are scaled here.
            let scale = DAffine3::from_scale(posse::glam::DVec3::splat(space.scale()));
            self.inverse_binds.extend(skin.inverse_bind.iter().map(|&matrix| columns(scale * matrix)));
            self.root.skins.push(Skin {
                extensions: None,
                extras: None,
                inverse_bind_matrices: Some(accessor),
                joints: skin.joints.iter().map(|&joint| Index::new(self.nodes[joint])).collect(),
                name: skin.name.clone(),
                skeleton: None,
            });
        }
    }

    /// Adds the animation: channels in the order of their keys in the binary chunk.
    pub fn animate(&mut self, name: &str, channels: &[Channel], last_time: f32, frames: u64) {
        if channels.is_empty() {
            return;
        }
        let numbers = 1 + channels.iter().map(|channel| channel.numbers as u64).sum::<u64>();
        let view = self.add_view(numbers * frames * 4);
        let times = self.add_accessor(view, 0, frames, Type::Scalar);
        let accessor = &mut self.root.accessors[times.value()];
        accessor.min = Some(vec![0.0_f32].into());
        accessor.max = Some(vec![last_time].into());
        let mut place = frames * 4;
        let mut animation = Animation {
            extensions: None,
            extras: None,
            channels: Vec::new(),
            name: Some(name.to_owned()),
            samplers: Vec::new(),
        };
        for (channel, index) in channels.iter().zip(0..) {
            let kind = if channel.numbers == 4 { Type::Vec4 } else { Type::Vec3 };
            let output = self.add_accessor(view, place, frames, kind);
            place += channel.numbers as u64 * frames * 4;
            let interpolation = Checked::Valid(Interpolation::Linear);
            animation.samplers.push(Sampler { extensions: None, extras: None, input: times, interpolation, output });
            let path = Checked::Valid(match channel.kind {
                ArrayKind::LocalPos => Property::Translation,
                ArrayKind::LocalQuat => Property::Rotation,
                _ => Property::Scale,
            });
            let node = Index::new(self.nodes[channel.joint]);
            let target = Target { extensions: None, extras: None, node, path };
            animation.channels.push(JsonChannel { sampler: Index::new(index), target, extensions: None, extras: None });
        }
        self.root.animations.push(animation);
    }

    /// The bytes of the binary chunk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The inverse bind matrices of all skins, column after column.
    pub fn inverse_binds(&self) -> &[[f32; 16]] {
        &self.inverse_binds
    }

    /// The JSON with the facts, padded with spaces to a multiple of 4 bytes.
    pub fn json(&mut self, facts: &Facts) -> serde_json::Result<Vec<u8>> {
        self.root.asset = Asset {
            extras: serde_json::from_str(&serde_json::to_string(facts)?)?,
            generator: Some(concat!("posse ", env!("CARGO_PKG_VERSION")).into()),
            ..Asset::default()
        };
        if self.bytes > 0 {
            let byte_length = USize64(self.bytes);
            self.root.buffers = vec![Buffer { byte_length, name: None, uri: None, extensions: None, extras: None }];
        }
        let mut json = serde_json::to_vec(&self.root)?;
        json.resize(json.len().next_multiple_of(4), b' ');
        Ok(json)
    }

    fn add_view(&mut self, bytes: u64) -> Index<View> {
        let view = View {
            buffer: Index::new(0),
            byte_length: USize64(bytes),
            byte_offset: Some(USize64(self.bytes)),
            byte_stride: None,
            name: None,
            target: None,
            extensions: None,
            extras: None,
        };
        self.bytes += bytes;
        self.root.push(view)
    }

    fn add_accessor(&mut self, view: Index<View>, place: u64, count: u64, kind: Type) -> Index<Accessor> {
        self.root.push(Accessor {
            buffer_view: Some(view),
            byte_offset: Some(USize64(place)),
            count: USize64(count),
            component_type: Checked::Valid(GenericComponentType(ComponentType::F32)),
            extensions: None,
            extras: None,
            type_: Checked::Valid(kind),
            min: None,
            max: None,
            name: None,
            normalized: false,
            sparse: None,
        })
    }
}

/// A node in the rest pose.
fn node(joint: &Joint, space: Space) -> Node {
    let name = joint.name.clone();
    if joint.matrix.is_some() {
        return Node { name, matrix: Some(columns(space.rest_matrix(joint))), ..Node::default() };
    }
    let Transform { translation, rotation, scale } = space.rest(joint);
    Node {
        name,
        translation: Some(translation.as_vec3().to_array()),
        rotation: Some(UnitQuaternion(rotation.as_quat().to_array())),
        scale: Some(scale.as_vec3().to_array()),
        ..Node::default()
    }
}

/// The numbers of a matrix, column after column.
fn columns(matrix: DAffine3) -> [f32; 16] {
    DMat4::from(matrix).as_mat4().to_cols_array()
}
