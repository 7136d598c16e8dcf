//! The format packed: for each rig a file of tensors, in which all clips stand one after the other, and an index.
//!
//! A tensor is complete only when the clips of all shares are known. So a share writes a part, clip after clip: each
//! has a block with its rest pose, its times and its arrays, and the end of the file lists the blocks. `merge` then
//! writes the files of the rigs from the blocks of all shares. Parts are read by the same version of posse alone.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use posse::Error;
use posse::bake::ArrayKind;
use posse::glam::{DAffine3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bake::facts::{Facts, VERSION, open_regular, sha256_of_bytes};
use crate::bake::format::{ClipHead, PartPlace, PartWriter, TURN, part_name};
use crate::bake::manifest::ListedSource;
use crate::bake::spool::Spool;
use crate::draft::Draft;
use crate::npz::{NumberType, write_singles};
use crate::safetensors::{Header, Tensor};

/// The extension of parts.
pub const EXTENSION: &str = "packed";

/// The copy of the list of shares whose parts are merged. All parts that stand beside it are in the merged files.
pub const MERGED: &str = "merged.json";

/// The last bytes of a part.
const MAGIC: &[u8; 8] = b"POSSEPK1";

/// The bytes after the list of a part: its length, and [`MAGIC`].
const END: u64 = 16;

/// The bytes that are copied at a time.
pub const BUFFER: usize = 1 << 20;

/// The largest number of letters of a joint in the name of a file.
const MAX_LETTERS: usize = 32;

/// The part of the largest number below which a number of a rest pose is a rounding error. Poses that differ in nothing
/// else have the same bytes.
const ROUNDING: f64 = 1e-7;

/// What the clips of a file of tensors have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedRig {
    /// The digits of names and parents, as in manifests.
    pub skeleton: String,
    /// The names of the joints written.
    pub joint_names: Vec<String>,
    /// The nearest ancestor of each joint among them; -1 without one.
    pub parents: Vec<i32>,
    /// The arrays, in the order of the layout.
    arrays: Vec<PackedArray>,
    /// The names of the morph weights; empty if the file names none.
    pub weight_names: Vec<String>,
    /// The names of the feet of the array `contact`.
    pub contact_feet: Vec<String>,
    /// The order of the numbers of quaternions: `xyzw` or `wxyz`.
    pub quaternion_order: String,
    /// The axis that points up: `y`, `z`, or `unknown`.
    pub up_axis: String,
    /// The factor of lengths, the value of `--scale`.
    pub unit_scale: f64,
    /// `true` if lengths are metres, and false if nothing is known of their unit.
    pub is_in_metres: bool,
}

/// An array of a rig.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PackedArray {
    name: String,
    /// The lengths of the axes after the axis of frames.
    shape: Vec<u64>,
    is_boolean: bool,
}

impl PackedRig {
    /// The rig of a clip.
    fn new(head: &ClipHead, facts: &Facts) -> Self {
        let arrays = head.layout.arrays().iter().map(|array| PackedArray {
            name: array.name.clone(),
            shape: array.shape.iter().map(|&length| length as u64).collect(),
            is_boolean: array.kind == ArrayKind::Contact,
        });
        Self {
            skeleton: facts.rows.skeleton.clone(),
            joint_names: facts.joint_names.clone(),
            parents: facts.parents.clone(),
            arrays: arrays.collect(),
            weight_names: facts.weight_names.clone(),
            contact_feet: facts.contact_feet.clone(),
            quaternion_order: facts.quaternion_order.into(),
            up_axis: facts.up_axis.into(),
            unit_scale: facts.unit_scale,
            is_in_metres: facts.is_in_metres,
        }
    }

    /// The rig of a merged file, from its header, which lacks the place of the booleans among the arrays. The name of
    /// the file ends with digits of the whole rig, so the places are tried until the name is right. `None` if no place
    /// gives the name: then the header is damaged.
    fn of_file(name: &str, header: &Header, joint_names: Vec<String>, parents: Vec<i32>) -> Option<Self> {
        let text = |key: &str| header.metadata.get(key).map(String::as_str);
        let list = |key: &str| serde_json::from_str::<Vec<String>>(text(key).unwrap_or("[]")).ok();
        let constant = ["time", "parents", "rest_pos", "rest_quat"];
        let tensors = header.tensors.iter().map(|(tensor, _)| tensor);
        let arrays = tensors.filter(|tensor| !constant.contains(&tensor.name.as_str())).map(|tensor| PackedArray {
            name: tensor.name.clone(),
            shape: tensor.shape.get(1..).unwrap_or_default().to_vec(),
            is_boolean: tensor.kind == NumberType::Boolean,
        });
        let mut rig = Self {
            skeleton: text("skeleton")?.into(),
            joint_names,
            parents,
            arrays: arrays.collect(),
            weight_names: list("weight_names")?,
            contact_feet: list("contact_feet")?,
            quaternion_order: text("quaternion_order")?.into(),
            up_axis: text("up_axis")?.into(),
            unit_scale: text("unit_scale")?.parse().ok()?,
            is_in_metres: text("unit").is_some(),
        };
        if rig.name() == name {
            return Some(rig);
        }
        // The file has contacts, the only booleans, last.
        let contacts = rig.arrays.pop().filter(|array| array.is_boolean)?;
        (0..rig.arrays.len()).find_map(|at| {
            let mut rig = rig.clone();
            rig.arrays.insert(at, contacts.clone());
            (rig.name() == name).then_some(rig)
        })
    }

    /// The name of the file of the rig, without extension: its first joint, the number of its joints, and digits that
    /// are equal for equal rigs.
    pub fn name(&self) -> String {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
        let first = self.joint_names.first().map_or("none", String::as_str);
        let first: String = first.chars().map(letter).take(MAX_LETTERS).collect();
        // A list of texts and numbers has a text in any case.
        let mut digits = sha256_of_bytes(&serde_json::to_vec(self).unwrap_or_default());
        digits.truncate(16);
        format!("rig-{first}-{}-{digits}", self.joint_names.len())
    }

    /// The arrays with their indices in the layout: numbers first, then booleans, so that all are aligned.
    fn ordered(&self) -> impl Iterator<Item = (usize, &PackedArray)> {
        let of_kind =
            |is_boolean: bool| self.arrays.iter().enumerate().filter(move |(_, array)| array.is_boolean == is_boolean);
        of_kind(false).chain(of_kind(true))
    }

    /// The tensors with a row per frame, in the order of a block and of the file.
    pub fn row_tensors(&self, rows: u64) -> Vec<Tensor> {
        let time = Tensor { name: "time".into(), kind: NumberType::Double, shape: vec![rows] };
        let arrays = self.ordered().map(|(_, array)| Tensor {
            name: array.name.clone(),
            kind: if array.is_boolean { NumberType::Boolean } else { NumberType::Single },
            shape: [&[rows], array.shape.as_slice()].concat(),
        });
        std::iter::once(time).chain(arrays).collect()
    }

    /// The tensors of a number of rest poses: positions and rotations. A block begins with the tensors of one pose.
    pub fn rest_tensors(&self, poses: u64) -> [Tensor; 2] {
        let joints = self.joint_names.len() as u64;
        [("rest_pos", 3), ("rest_quat", 4)].map(|(name, width)| Tensor {
            name: name.into(),
            kind: NumberType::Single,
            shape: vec![poses, joints, width],
        })
    }

    /// The bytes of the block of a clip.
    fn block_bytes(&self, frames: u64) -> u64 {
        let tensors = self.rest_tensors(1).into_iter().chain(self.row_tensors(frames));
        tensors.fold(0, |bytes, tensor| bytes.saturating_add(tensor.bytes()))
    }
}

/// A clip in a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedClip {
    /// The index of its rig in the part.
    pub rig: usize,
    /// Digits that are equal for equal rest poses.
    pub rest: String,
    /// The place of its block in the part.
    pub offset: u64,
    /// The engine, with the instruction set if the bits depend on it.
    pub engine: String,
    /// The facts of the manifest.
    #[serde(flatten)]
    pub listed: ListedSource,
}

impl PackedClip {
    /// The number of its frames.
    pub fn frames(&self) -> u64 {
        self.listed.rows.as_ref().map_or(0, |rows| rows.frames)
    }
}

/// A line of the index.
#[derive(Debug, Serialize, Deserialize)]
pub struct IndexLine<'a> {
    /// The name of the file of the rig.
    pub rig: Cow<'a, str>,
    /// The first row of the clip in the tensors of the rig. It has as many rows as frames.
    pub first_row: u64,
    /// The rest pose of the clip among the rest poses of the rig.
    pub rest: u64,
    /// The engine, with the instruction set if the bits depend on it.
    pub engine: Cow<'a, str>,
    /// The facts of the manifest.
    #[serde(flatten)]
    pub listed: Cow<'a, ListedSource>,
}

/// The file of a rig, which is read.
pub struct RigFile {
    path: PathBuf,
    file: Mutex<File>,
    rig: PackedRig,
    /// The number of rest poses.
    poses: u64,
    /// The tensors with a row per rest pose, each with its place in the file, in the order of a block.
    rest_tensors: Vec<(Tensor, u64)>,
    /// The number of rows of all clips.
    rows: u64,
    /// The tensors with a row per frame, each with its place in the file, in the order of a block.
    row_tensors: Vec<(Tensor, u64)>,
}

impl RigFile {
    /// Opens the file of a rig.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, or is not as a merge writes it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Io { file: path.to_path_buf(), source };
        let damaged = || failed(io::Error::new(io::ErrorKind::InvalidData, "it is not the file of a rig"));
        let mut file = open_regular(path)?;
        let length = file.metadata().map_err(failed)?.len();
        let header = Header::read(&mut BufReader::new(&file)).map_err(failed)?;
        // Tensors follow without gaps, so that all of them are within the file.
        if header.tensors.last().is_none_or(|(tensor, start)| start.saturating_add(tensor.bytes()) != length) {
            return Err(damaged());
        }
        let find = |name: &str| header.tensors.iter().find(|(tensor, _)| tensor.name == name);
        let find_same = |tensor: Tensor| {
            let found = find(&tensor.name).filter(|(found, _)| *found == tensor);
            found.cloned().ok_or_else(damaged)
        };
        let length_of = |name: &str| find(name).and_then(|(tensor, _)| tensor.shape.first().copied());
        let names = header.metadata.get("joint_names");
        let names = names.and_then(|names| serde_json::from_str::<Vec<String>>(names).ok());
        let (Some(names), Some(poses), Some(rows)) = (names, length_of("rest_pos"), length_of("time")) else {
            return Err(damaged());
        };
        let (parents, start) = find_same(parents_tensor(names.len()))?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        (&file).take(parents.bytes()).read_to_end(&mut bytes).map_err(failed)?;
        let parents = bytes.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let rig = PackedRig::of_file(name, &header, names, parents).ok_or_else(damaged)?;
        let rest_tensors = rig.rest_tensors(poses).into_iter().map(&find_same).collect::<Result<_, _>>()?;
        let row_tensors = rig.row_tensors(rows).into_iter().map(&find_same).collect::<Result<_, _>>()?;
        Ok(Self { path: path.to_path_buf(), file: Mutex::new(file), rig, poses, rest_tensors, rows, row_tensors })
    }

    /// Returns `true` if the clips of an index have together this number of rows and this number of rest poses.
    pub fn has_exactly(&self, rows: u64, poses: u64) -> bool {
        (self.rows, self.poses) == (rows, poses)
    }

    /// Passes rows of each tensor of a list to a function that writes them, in blocks.
    fn copy(
        &self,
        tensors: &[(Tensor, u64)],
        first: u64,
        count: u64,
        write: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let failed = |error: io::Error| {
            let text = format!("{error}; run again; if it fails again, bake without --resume");
            Error::Io { file: self.path.clone(), source: io::Error::new(error.kind(), text) }
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = vec![0; BUFFER];
        for (tensor, start) in tensors {
            let width = tensor.bytes() / tensor.shape.first().copied().unwrap_or(0).max(1);
            let start = start.saturating_add(first.saturating_mul(width));
            read_blocks(&mut file, start, count.saturating_mul(width), &mut buffer, failed, &mut *write)?;
        }
        Ok(())
    }
}

/// The tensor of the parents of a number of joints.
pub fn parents_tensor(joints: usize) -> Tensor {
    Tensor { name: "parents".into(), kind: NumberType::Integer, shape: vec![joints as u64] }
}

/// Passes bytes of a file to a function that writes them, in blocks of the buffer. `failed` makes the error of a read
/// that fails.
pub fn read_blocks(
    file: &mut File,
    start: u64,
    bytes: u64,
    buffer: &mut [u8],
    failed: impl Fn(io::Error) -> Error,
    mut write: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    file.seek(SeekFrom::Start(start)).map_err(&failed)?;
    let mut left = bytes;
    while left > 0 {
        let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let block = &mut buffer[..length];
        file.read_exact(block).map_err(&failed)?;
        write(block)?;
        left -= length as u64;
    }
    Ok(())
}

/// A clip in the file of its rig, which goes into a part as it stands there.
pub struct CopiedClip<'a> {
    /// The file of its rig.
    pub file: &'a RigFile,
    /// Its first row.
    pub first_row: u64,
    /// Its rest pose among the rest poses of the rig.
    pub rest: u64,
    /// The engine, with the instruction set if the bits depend on it.
    pub engine: &'a str,
    /// The facts of the manifest.
    pub listed: &'a ListedSource,
}

/// The first line of the list of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartHead {
    pub posse_version: String,
    /// The hash of the list of inputs that was dealt to the shares; `None` without shares.
    pub list: Option<String>,
    /// The options that change an output.
    pub options: Value,
    pub rigs: Vec<PackedRig>,
    /// The number of the lines that follow, one per clip.
    clips: u64,
}

/// The list of a part.
#[derive(Debug)]
pub struct PartList {
    pub head: PartHead,
    pub clips: Vec<PackedClip>,
}

impl PartList {
    /// Reads the list of a part, and checks that its blocks fill the file.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, or is damaged.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut file = BufReader::new(open_regular(path)?);
        let failed = |source| Error::Io { file: path.to_path_buf(), source };
        let damaged = |reason: String| {
            let text = format!("the part is damaged: {reason}; bake its share again");
            failed(io::Error::new(io::ErrorKind::InvalidData, text))
        };
        let length = file.get_ref().metadata().map_err(failed)?.len();
        let Some(before_end) = length.checked_sub(END) else { return Err(damaged(format!("it has {length} bytes"))) };
        let mut end = [0; END as usize];
        file.seek(SeekFrom::Start(before_end)).and_then(|_| file.read_exact(&mut end)).map_err(failed)?;
        let list_bytes = end.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let start = before_end.checked_sub(list_bytes).filter(|_| end.ends_with(MAGIC));
        let Some(start) = start else { return Err(damaged("its end is missing".into())) };
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut lines = file.take(list_bytes);
        let mut text = Vec::new();
        lines.read_until(b'\n', &mut text).map_err(failed)?;
        let head: PartHead = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        let (mut clips, mut filled) = (Vec::new(), 0_u64);
        loop {
            text.clear();
            if lines.read_until(b'\n', &mut text).map_err(failed)? == 0 {
                break;
            }
            let clip: PackedClip = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
            let Some(rig) = head.rigs.get(clip.rig).filter(|_| clip.offset == filled) else {
                return Err(damaged(format!("clip {} has no place", clip.listed.clip)));
            };
            filled = filled.saturating_add(rig.block_bytes(clip.frames()));
            clips.push(clip);
        }
        if (filled, clips.len() as u64) != (start, head.clips) {
            let (found, expected) = (clips.len(), head.clips);
            return Err(damaged(format!("{start} bytes and {found} clips, not {filled} and {expected}")));
        }
        Ok(Self { head, clips })
    }
}

/// Begins the part of a share.
pub fn begin<'a>(place: PartPlace<'a>) -> Result<Box<dyn PartWriter + 'a>, Error> {
    let name = part_name(place.share, 0, EXTENSION);
    let draft = place.tag.create(&place.folder.join(&name))?;
    Ok(Box::new(PackedWriter { place, name, draft, rigs: Vec::new(), known: HashMap::new(), clips: Vec::new(), at: 0 }))
}

/// A writer of the part of a share.
struct PackedWriter<'a> {
    place: PartPlace<'a>,
    name: String,
    draft: Draft,
    rigs: Vec<PackedRig>,
    /// The indices of the rigs, by their names.
    known: HashMap<String, usize>,
    clips: Vec<PackedClip>,
    /// The place of the next block.
    at: u64,
}

impl PackedWriter<'_> {
    /// The index of a rig, and the name of the file that it gets when the shares are merged.
    fn index_of(&mut self, rig: &PackedRig) -> (usize, String) {
        let name = rig.name();
        let next = self.rigs.len();
        let index = *self.known.entry(name.clone()).or_insert(next);
        if index == next {
            self.rigs.push(rig.clone());
        }
        (index, format!("{name}.safetensors"))
    }

    /// Lists the clip whose block has been written, with the bytes of its rest pose.
    fn list(&mut self, rig: &PackedRig, index: usize, rest: &[u8], engine: String, listed: ListedSource) {
        let clip = PackedClip { rig: index, rest: sha256_of_bytes(rest), offset: self.at, engine, listed };
        self.at += rig.block_bytes(clip.frames());
        self.clips.push(clip);
    }
}

impl PartWriter for PackedWriter<'_> {
    fn add(&mut self, head: &ClipHead, clip: &mut Spool, facts: &Facts) -> Result<String, Error> {
        let rig = PackedRig::new(head, facts);
        let (index, name) = self.index_of(&rig);
        let rest = rest_pose(head, facts);
        let draft = &mut self.draft;
        draft.write_all(&rest).map_err(|error| draft.error(error))?;
        io::copy(&mut clip.times()?.bytes(), draft).map_err(|error| draft.error(error))?;
        for (array, PackedArray { is_boolean, .. }) in rig.ordered() {
            clip.each_block(array, |block| {
                let written = if *is_boolean {
                    draft.write_all(&block.iter().map(|&number| u8::from(number != 0.0)).collect::<Vec<u8>>())
                } else {
                    write_singles(draft, block)
                };
                written.map_err(|error| draft.error(error))
            })?;
        }
        self.list(&rig, index, &rest, facts.engine.clone(), ListedSource::new(facts));
        // Where it will be after the shares have been merged.
        Ok(name)
    }

    fn add_copy(&mut self, clip: &CopiedClip) -> Result<String, Error> {
        let CopiedClip { file, first_row, rest, engine, listed } = *clip;
        let (index, name) = self.index_of(&file.rig);
        let draft = &mut self.draft;
        let mut write = |block: &[u8]| draft.write_all(block).map_err(|error| draft.error(error));
        let mut pose = Vec::new();
        file.copy(&file.rest_tensors, rest, 1, &mut |block| {
            pose.extend_from_slice(block);
            write(block)
        })?;
        let frames = listed.rows.as_ref().map_or(0, |rows| rows.frames);
        file.copy(&file.row_tensors, first_row, frames, &mut write)?;
        self.list(&file.rig, index, &pose, engine.to_owned(), listed.clone());
        Ok(name)
    }

    fn declare(&mut self, _: &ClipHead) -> Result<(), Error> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        let Self { place, name, mut draft, rigs, clips, .. } = *self;
        let (options, list) = (place.manifest.options().clone(), place.list.map(str::to_owned));
        let head = PartHead { posse_version: VERSION.into(), list, options, rigs, clips: clips.len() as u64 };
        let mut bytes = write_line(&mut draft, &head)?;
        for clip in &clips {
            bytes += write_line(&mut draft, clip)?;
        }
        draft.write_all(&bytes.to_le_bytes()).map_err(|error| draft.error(error))?;
        draft.write_all(MAGIC).map_err(|error| draft.error(error))?;
        // The merged files lack this part, and a merge must not take it for one that it has merged.
        remove(&place.folder.join(MERGED))?;
        place.manifest.keep(draft, &name, clips.into_iter().map(|clip| clip.listed).collect())
    }
}

/// Removes a file, if it is there.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Io { file: path.to_path_buf(), source }),
        _ => Ok(()),
    }
}

/// Writes a line of JSON. Returns the number of its bytes.
pub fn write_line(draft: &mut Draft, line: &impl Serialize) -> Result<u64, Error> {
    let mut text = serde_json::to_vec(line).map_err(|error| draft.error(error))?;
    text.push(b'\n');
    draft.write_all(&text).map_err(|error| draft.error(error))?;
    Ok(text.len() as u64)
}

/// The rest pose of the joints written, each relative to its parent among them: all positions, then all rotations, as
/// little-endian bytes.
///
/// Positions are in the frame that the rotation of the parent makes, in the unit of the output, so that scales of nodes
/// above are in them. Where a root rests is not in the pose: BVH files store there the place at which a take begins.
fn rest_pose(head: &ClipHead, facts: &Facts) -> Vec<u8> {
    let skeleton = head.library.skeleton(head.skeleton);
    let mut model: Vec<(DAffine3, DQuat)> = Vec::with_capacity(skeleton.joints().len());
    for joint in skeleton.joints() {
        let matrix = joint.matrix.unwrap_or_else(|| joint.rest.to_affine());
        let rotation = joint.rest.rotation.normalize();
        model.push(match joint.parent.map(|parent| model[parent]) {
            Some((above, turned)) => (above * matrix, (turned * rotation).normalize()),
            None => (matrix, rotation),
        });
    }
    let (joints, is_turned) = (head.layout.joints(), facts.up_axis == "z");
    let local = joints.iter().zip(head.layout.parents()).map(|(&joint, parent)| {
        let (matrix, rotation) = model[joint];
        match parent.map(|parent| model[joints[parent]]) {
            Some((above, turned)) => {
                let inverse = turned.conjugate();
                (inverse * (matrix.translation - above.translation) * head.scale, inverse * rotation)
            }
            None => (DVec3::ZERO, if is_turned { TURN * rotation } else { rotation }),
        }
    });
    let (positions, rotations): (Vec<DVec3>, Vec<DQuat>) = local.unzip();
    let size = positions.iter().map(|position| position.abs().max_element()).fold(0.0, f64::max);
    let positions = positions.iter().flat_map(|position| position.to_array()).map(|number| rounded(number, size));
    let w_is_first = facts.quaternion_order == "wxyz";
    let rotations = rotations.iter().flat_map(|rotation| {
        // A quaternion and its negative are the same rotation. At 180 degrees, w is a rounding error.
        let [x, y, z, w] = rotation.to_array();
        let sign = [w, x, y, z].into_iter().find(|number| number.abs() > ROUNDING).map_or(1.0, f64::signum);
        let [x, y, z, w] = rotation.to_array().map(|number| sign * number);
        let numbers = if w_is_first { [w, x, y, z] } else { [x, y, z, w] };
        numbers.map(|number| rounded(number, 1.0))
    });
    positions.chain(rotations).flat_map(f32::to_le_bytes).collect()
}

/// A number of a rest pose, 0 for a rounding error.
fn rounded(number: f64, largest: f64) -> f32 {
    if number.abs() <= ROUNDING * largest { 0.0 } else { number as f32 }
}
