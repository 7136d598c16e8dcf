//! The format npz: a file of NumPy arrays, one per array and fact.

use std::io::{self, BufReader, Read, Seek, Write};

use posse::Error;
use posse::bake::{ArrayKind, ArrayLayout, ArrayShape};
use posse::glam::{DQuat, DVec3};

use crate::bake::facts::Facts;
use crate::bake::format::{ClipHead, ClipWriter, NpzLayout};
use crate::bake::spool::{Spool, SpooledNumbers};
use crate::draft::Draft;
use crate::npz::{NpzFile, NumberType};

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

    fn finish(self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let Self { head, layout, mut draft, mut spool } = *self;
        let frames = usize::try_from(spool.frames()).map_err(|error| draft.error(io::Error::other(error)))?;
        let place = draft.place().to_path_buf();
        let mut file = NpzFile::new(&place, &mut draft);
        file.array("time", NumberType::Double, &[frames], &mut buffered(spool.times()?))?;
        let fps = facts.fps.to_le_bytes();
        // The rigs here have no hinges.
        match layout {
            NpzLayout::Plain | NpzLayout::Phc => file.array("fps", NumberType::Double, &[], &mut fps.as_slice())?,
            NpzLayout::Mjlab => {
                file.array("fps", NumberType::Double, &[1], &mut fps.as_slice())?;
                file.array("joint_pos", NumberType::Single, &[frames, 0], &mut io::empty())?;
                file.array("joint_vel", NumberType::Single, &[frames, 0], &mut io::empty())?;
            }
            NpzLayout::Gmr => {
                file.array("fps", NumberType::Double, &[], &mut fps.as_slice())?;
                file.array("dof_pos", NumberType::Single, &[frames, 0], &mut io::empty())?;
                write_bodies(&mut file, head.layout, &mut spool, frames)?;
                let names: Vec<&str> = facts.joint_names.iter().map(String::as_str).collect();
                file.texts("link_body_list", &[names.len()], &names)?;
            }
        }
        let is_written = |_: &(usize, &ArrayShape)| layout != NpzLayout::Gmr;
        for (index, array) in head.layout.arrays().iter().enumerate().filter(is_written) {
            let name = match layout {
                NpzLayout::Mjlab => mjlab_name(array.kind).unwrap_or(&array.name),
                _ => &array.name,
            };
            let shape = [&[frames], array.shape.as_slice()].concat();
            if array.kind == ArrayKind::Contact {
                write_booleans(&mut file, name, &shape, spool.array(index)?)?;
            } else {
                file.array(name, NumberType::Single, &shape, &mut buffered(spool.array(index)?))?;
            }
        }
        write_facts(&mut file, facts)?;
        file.finish()?;
        Ok(Some(draft))
    }
}

fn buffered(numbers: &mut SpooledNumbers) -> impl Read {
    BufReader::with_capacity(1 << 16, numbers.bytes())
}

/// Writes an array of booleans, which are stored as numbers: 0 is false.
fn write_booleans<W: Write + Seek>(
    file: &mut NpzFile<W>,
    name: &str,
    shape: &[usize],
    numbers: &mut SpooledNumbers,
) -> Result<(), Error> {
    let mut left = file.begin(name, NumberType::Boolean, shape)? as usize;
    let mut block = vec![0.0_f32; left.min(1 << 16)];
    while left > 0 {
        block.truncate(left);
        numbers.read(&mut block)?;
        file.write(&block.iter().map(|&number| u8::from(number != 0.0)).collect::<Vec<u8>>())?;
        left -= block.len();
    }
    Ok(())
}

/// Frames that are read at a time.
const FRAMES: usize = 256;

/// Writes the arrays of the motions of GMR: position and rotation of the root, which is the first joint, and the
/// positions of all joints relative to it, as `scripts/smplx_to_robot_dataset.py` of <https://github.com/YanjieZe/GMR>
/// stores them.
fn write_bodies<W: Write + Seek>(
    file: &mut NpzFile<W>,
    layout: &ArrayLayout,
    spool: &mut Spool,
    frames: usize,
) -> Result<(), Error> {
    let (arrays, count) = (layout.arrays(), layout.joints().len());
    let index = |kind| arrays.iter().position(|array| array.kind == kind);
    let (Some(pos), Some(quat), 1..) = (index(ArrayKind::Pos), index(ArrayKind::Quat), count) else {
        return Err(Error::Usage("--layout gmr needs a skeleton; the clip has no joints".into()));
    };
    for (name, array, width) in [("root_pos", pos, 3), ("root_rot", quat, 4)] {
        file.begin(name, NumberType::Single, &[frames, width])?;
        let row = spool.width(array);
        spool.each_block(array, |block| {
            let of_root: Vec<f32> = block.chunks_exact(row).flat_map(|row| row[..width].iter().copied()).collect();
            file.write_singles(&of_root)
        })?;
    }
    file.begin("local_body_pos", NumberType::Single, &[frames, count, 3])?;
    spool.rewind()?;
    loop {
        let (times, arrays) = spool.read(FRAMES)?;
        if times.is_empty() {
            return Ok(());
        }
        let mut local: Vec<f32> = Vec::with_capacity(arrays[pos].len());
        let rows = arrays[pos].chunks_exact(3 * count).zip(arrays[quat].chunks_exact(4 * count));
        for (places, rotations) in rows {
            let place = |place: &[f32; 3]| DVec3::from(place.map(f64::from));
            let (places, rotations) = (places.as_chunks::<3>().0, rotations.as_chunks::<4>().0);
            let (root, inverse) = (place(&places[0]), DQuat::from_array(rotations[0].map(f64::from)).inverse());
            local.extend(places.iter().flat_map(|at| (inverse * (place(at) - root)).as_vec3().to_array()));
        }
        file.write_singles(&local)?;
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

/// Writes the facts, one array each.
pub fn write_facts<W: Write + Seek>(file: &mut NpzFile<W>, facts: &Facts) -> Result<(), Error> {
    let names: Vec<&str> = facts.joint_names.iter().map(String::as_str).collect();
    file.texts("joint_names", &[names.len()], &names)?;
    let parents: Vec<u8> = facts.parents.iter().flat_map(|parent| parent.to_le_bytes()).collect();
    file.array("parents", NumberType::Integer, &[facts.parents.len()], &mut parents.as_slice())?;
    if !facts.contact_feet.is_empty() {
        let feet: Vec<&str> = facts.contact_feet.iter().map(String::as_str).collect();
        file.texts("contact_feet", &[feet.len()], &feet)?;
    }
    if !facts.weight_names.is_empty() {
        let names: Vec<&str> = facts.weight_names.iter().map(String::as_str).collect();
        file.texts("weight_names", &[names.len()], &names)?;
    }
    file.text("quaternion_order", facts.quaternion_order)?;
    file.text("up_axis", facts.up_axis)?;
    file.array("unit_scale", NumberType::Double, &[], &mut facts.unit_scale.to_le_bytes().as_slice())?;
    file.text("clip", &facts.clip)?;
    let source = serde_json::to_string(&facts.source).map_err(|error| Error::Usage(error.to_string()))?;
    file.text("source", &source)?;
    file.text("options", &facts.options)?;
    file.text("posse_version", facts.posse_version)?;
    file.text("engine", &facts.engine)
}
