//! The format smpl: motion of a body of SMPL, under the names that AMASS and its readers have.
//!
//! `poses` has the rotation vectors of all joints, and the arrays of parts of the body the same numbers again, which
//! files of AMASS for SMPL-X have beside it. `J` has the rest positions, so that the file can be read back without a
//! model file.

use std::ops::Range;
use std::path::Path;

use posse::Error;
use posse::bake::ArrayKind;
use posse::export::smpl::SmplBody;
use posse::glam::{DQuat, DVec3};
use posse::import::smpl::BodyModel;

use crate::bake::facts::Facts;
use crate::bake::format::npz::write_facts;
use crate::bake::format::{ClipHead, ClipWriter};
use crate::bake::spool::{MEMORY, SpooledNumbers};
use crate::draft::Draft;
use crate::npz::{Kind, NpzFile};

/// The number of betas in files of AMASS.
const BETAS: usize = 16;

/// Begins the file of a clip. Its arrays are the positions and the rotations in model space.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    let skeleton = head.library.skeleton(head.skeleton);
    let body = SmplBody::of_skeleton(skeleton)?;
    let mut columns = vec![None; skeleton.joints().len()];
    for (column, &joint) in head.layout.joints().iter().enumerate() {
        columns[joint] = Some(column);
    }
    if body.joints().any(|joint| columns[joint].is_none()) {
        return Err(Error::Usage("--format smpl writes all joints of the body; leave out --joints".into()));
    }
    let arrays = Column::of_body(body.model(), draft.folder());
    let trans = SpooledNumbers::new(MEMORY / 8, draft.folder());
    Ok(Box::new(SmplWriter { head, draft, body, columns, arrays, trans, frames: 0 }))
}

/// A writer of one clip. The arrays wait until all frames are there, because a zip file holds them one after the other.
struct SmplWriter<'a> {
    head: ClipHead<'a>,
    draft: Draft,
    body: SmplBody,
    /// The place of each joint of the skeleton in the arrays.
    columns: Vec<Option<usize>>,
    arrays: Vec<Column>,
    /// The positions of the pelvis.
    trans: SpooledNumbers,
    frames: usize,
}

/// An array of some of the numbers of a pose.
struct Column {
    name: &'static str,
    numbers: Range<usize>,
    spooled: SpooledNumbers,
}

impl Column {
    fn of_body(model: BodyModel, folder: &Path) -> Vec<Self> {
        let numbers = 3 * model.joint_count();
        let own: &[(&str, Range<usize>)] = match model {
            BodyModel::SmplX => &[("pose_jaw", 66..69), ("pose_eye", 69..75), ("pose_hand", 75..165)],
            BodyModel::SmplH => &[("pose_hand", 66..156)],
            BodyModel::Smpl | BodyModel::Body => &[],
        };
        let shared = [("poses", 0..numbers), ("root_orient", 0..3), ("pose_body", 3..66)];
        let all = shared.into_iter().chain(own.iter().cloned());
        all.map(|(name, numbers)| Self { name, numbers, spooled: SpooledNumbers::new(MEMORY / 8, folder) }).collect()
    }
}

impl ClipWriter for SmplWriter<'_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        let Self { head, body, columns, .. } = self;
        let kinds = || head.layout.arrays().iter().map(|array| array.kind);
        let of_kind = |kind| kinds().position(|found| found == kind).map_or(&[][..], |index| arrays[index].as_slice());
        let (positions, rotations) = (of_kind(ArrayKind::Pos), of_kind(ArrayKind::Quat));
        let joints = head.layout.joints().len();
        for frame in 0..times.len() {
            let place = |joint: usize| frame * joints + columns[joint].unwrap_or(0);
            let rotation = |joint: usize| DQuat::from_array(numbers(rotations, place(joint)).map(f64::from));
            let pose = body.rotation_vectors(rotation);
            for array in &mut self.arrays {
                array.spooled.append(&pose.as_flattened()[array.numbers.clone()])?;
            }
            let position: [f32; 3] = numbers(positions, place(body.pelvis()));
            self.trans.append(&position.map(f64::from))?;
        }
        self.frames += times.len();
        Ok(())
    }

    fn finish(self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let Self { mut draft, body, arrays, mut trans, frames, .. } = *self;
        let place = draft.place().to_path_buf();
        let mut file = NpzFile::new(&place, &mut draft);
        for Column { name, numbers, mut spooled } in arrays {
            spooled.rewind()?;
            file.array(name, Kind::Double, &[frames, numbers.len()], &mut spooled.bytes())?;
        }
        // The models add the rest position of the pelvis, unrotated.
        let origin = body.origin() * facts.unit_scale;
        trans.rewind()?;
        file.begin("trans", Kind::Double, &[frames, 3])?;
        for _ in 0..frames {
            let mut position = [0.0; 3];
            trans.read(&mut position)?;
            file.write(doubles((DVec3::from(position) - origin).to_array()).as_slice())?;
        }
        let rest: Vec<f64> =
            body.rest_positions().iter().flat_map(|position| (*position * facts.unit_scale).to_array()).collect();
        let fps = facts.fps.to_le_bytes();
        // The two spellings of AMASS.
        file.array("mocap_framerate", Kind::Double, &[], &mut fps.as_slice())?;
        file.array("mocap_frame_rate", Kind::Double, &[], &mut fps.as_slice())?;
        file.array("betas", Kind::Double, &[BETAS], &mut doubles([0.0; BETAS]).as_slice())?;
        file.array("J", Kind::Double, &[rest.len() / 3, 3], &mut doubles(rest).as_slice())?;
        file.text("gender", "neutral")?;
        let model = match body.model() {
            BodyModel::SmplX => "smplx",
            BodyModel::SmplH => "smplh",
            BodyModel::Smpl | BodyModel::Body => "smpl",
        };
        file.text("surface_model_type", model)?;
        write_facts(&mut file, facts)?;
        file.finish()?;
        Ok(Some(draft))
    }
}

/// Little-endian bytes of numbers.
fn doubles(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// The numbers of a joint.
fn numbers<const N: usize>(array: &[f32], place: usize) -> [f32; N] {
    array.as_chunks::<N>().0[place]
}
