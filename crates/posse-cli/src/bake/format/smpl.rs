//! The format smpl and the layout phc: motion of a body of SMPL, under the names that programs of these bodies read.
//!
//! * **smpl** has the names of AMASS (<https://amass.is.tue.mpg.de>). `poses` has the rotation vectors of all joints,
//!   and the arrays of parts of the body the same numbers again, which files of AMASS for SMPL-X have beside it.
//! * **phc** has the names of the motions of PHC, as `scripts/data_process/convert_amass_data.py` of
//!   <https://github.com/ZhengyiLuo/PHC> makes them of AMASS: of the 24 joints of SMPL, in their order in `pose_aa`,
//!   and in the order of the humanoid of MuJoCo in the quaternions. The bodies of that humanoid are upright if they are
//!   not rotated: their axes are the axes of the world, with +X ahead and +Z up.
//!
//! `J` has the rest positions, so that both files can be read back without a model file.

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
use crate::npz::{NpzFile, NumberType};

/// The number of betas in files of AMASS.
const BETAS: usize = 16;
/// The most arrays of a file.
const MAX_COLUMNS: usize = 8;

/// The names of the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmplNames {
    /// The members of AMASS.
    Amass,
    /// The members of PHC.
    Phc,
}

/// Begins the file of a clip. Its arrays are the positions and the rotations in model space.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft, names: SmplNames) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    let skeleton = head.library.skeleton(head.skeleton);
    let body = match names {
        SmplNames::Amass => SmplBody::of_skeleton(skeleton)?,
        SmplNames::Phc => SmplBody::new(skeleton, BodyModel::Smpl)?,
    };
    body.notes().iter().for_each(|note| head.progress.note_of_first(head.name, note));
    let mut rows = vec![0; skeleton.joints().len()];
    for (row, &joint) in head.layout.joints().iter().enumerate() {
        rows[joint] = row;
    }
    let columns = match names {
        SmplNames::Amass => amass_columns(body.model(), draft.folder()),
        SmplNames::Phc => phc_columns(draft.folder()),
    };
    Ok(Box::new(SmplWriter { head, draft, names, body, rows, columns, frames: 0, up: DVec3::ZERO }))
}

/// A writer of one clip. The arrays wait until all frames are there, because a zip file holds them one after the other.
struct SmplWriter<'a> {
    head: ClipHead<'a>,
    draft: Draft,
    names: SmplNames,
    body: SmplBody,
    /// The row of each joint of the skeleton in the arrays of positions and rotations.
    rows: Vec<usize>,
    columns: Vec<Column>,
    frames: usize,
    /// The sum of the directions along which the body stands, for PHC.
    up: DVec3,
}

/// An array of the file: some of the numbers of each frame.
struct Column {
    name: &'static str,
    numbers: Range<usize>,
    /// The numbers of the last axis; all of them in an array of two axes.
    width: usize,
    spooled: SpooledNumbers,
}

impl Column {
    fn new(name: &'static str, numbers: Range<usize>, width: usize, folder: &Path) -> Self {
        Self { name, numbers, width, spooled: SpooledNumbers::new(MEMORY / MAX_COLUMNS, folder) }
    }

    fn shape(&self, frames: usize) -> Vec<usize> {
        let count = self.numbers.len();
        if count == self.width { vec![frames, count] } else { vec![frames, count / self.width, self.width] }
    }
}

/// The arrays of AMASS. A frame has the rotation vectors of the body, then the translation.
fn amass_columns(model: BodyModel, folder: &Path) -> Vec<Column> {
    let numbers = 3 * model.joint_count();
    let own: &[(&str, Range<usize>)] = match model {
        BodyModel::SmplX => &[("pose_jaw", 66..69), ("pose_eye", 69..75), ("pose_hand", 75..165)],
        BodyModel::SmplH => &[("pose_hand", 66..156)],
        BodyModel::Smpl | BodyModel::Body => &[],
    };
    let shared = [("poses", 0..numbers), ("root_orient", 0..3), ("pose_body", 3..66), ("trans", numbers..numbers + 3)];
    let all = shared.into_iter().chain(own.iter().cloned());
    all.map(|(name, numbers)| Column::new(name, numbers.clone(), numbers.len(), folder)).collect()
}

/// The numbers of a frame for PHC: rotation vectors, quaternions relative to the world and to the parent, the
/// translation, and the position of the pelvis.
const PHC_NUMBERS: usize = 72 + 2 * 96 + 6;

fn phc_columns(folder: &Path) -> Vec<Column> {
    let columns = [
        ("pose_aa", 0..72, 72),
        ("pose_quat_global", 72..168, 4),
        ("pose_quat", 168..264, 4),
        ("trans_orig", 264..267, 3),
        ("root_trans_offset", 267..270, 3),
    ];
    columns.into_iter().map(|(name, numbers, width)| Column::new(name, numbers, width, folder)).collect()
}

/// The numbers of the rotation of the pelvis in the world.
const PELVIS: Range<usize> = 72..76;
/// The share of the mean direction of a body along an axis from which on it stands along it. People stand along +Z in
/// most frames of motions, also of those in which they lie down.
const MIN_UP: f64 = 0.7;

/// A note on a world that has not +Z up, by the mean direction along which a body stands.
fn note_of_up(up: DVec3) -> Option<String> {
    let (axis, hint) = if up.y > 0.0 { ("+Y", "give --up z") } else { ("-Y", "leave out --up z") };
    (up.y.abs() > MIN_UP).then(|| format!("the body stands along {axis} in most frames, but PHC expects +Z up; {hint}"))
}

/// The joints of the humanoid of PHC, as their indices in SMPL: pelvis, left leg, right leg, spine, head, left arm,
/// right arm.
const HUMANOID: [usize; 24] = [0, 1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12, 15, 13, 16, 18, 20, 22, 14, 17, 19, 21, 23];

/// The rotation of a body that stands upright in the world of SMPL relative to the axes of the humanoid.
const UPRIGHT: DQuat = DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5);

/// The numbers of a frame for PHC.
fn phc_frame(body: &SmplBody, rotation: impl Fn(usize) -> DQuat, trans: DVec3, pelvis: DVec3) -> Vec<f64> {
    let mut numbers = Vec::with_capacity(PHC_NUMBERS);
    numbers.extend(body.rotation_vectors(&rotation).as_flattened());
    let upright: Vec<DQuat> =
        body.rotations(rotation).into_iter().map(|rotation| rotation * UPRIGHT.inverse()).collect();
    let parents: Vec<Option<usize>> = body.parents().collect();
    let relative = |joint: usize| match parents[joint] {
        Some(parent) => upright[parent].inverse() * upright[joint],
        None => upright[joint],
    };
    numbers.extend(HUMANOID.iter().flat_map(|&joint| upright[joint].to_array()));
    numbers.extend(HUMANOID.iter().flat_map(|&joint| relative(joint).to_array()));
    numbers.extend([trans, pelvis].iter().flat_map(DVec3::to_array));
    numbers
}

impl ClipWriter for SmplWriter<'_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        let Self { head, names, body, rows, columns, up, .. } = self;
        let kinds = || head.layout.arrays().iter().map(|array| array.kind);
        let of_kind = |kind| kinds().position(|found| found == kind).map_or(&[][..], |index| arrays[index].as_slice());
        let (positions, rotations) = (of_kind(ArrayKind::Pos), of_kind(ArrayKind::Quat));
        let joints = head.layout.joints().len();
        // The models add the rest position of the pelvis, unrotated.
        let origin = body.origin() * head.scale;
        for frame in 0..times.len() {
            let place = |joint: usize| frame * joints + rows[joint];
            let rotation = |joint: usize| DQuat::from_array(numbers(rotations, place(joint)).map(f64::from));
            let pelvis = DVec3::from(numbers(positions, place(body.pelvis())).map(f64::from));
            let frame = match names {
                SmplNames::Amass => {
                    let mut pose = body.rotation_vectors(rotation);
                    pose.push((pelvis - origin).to_array());
                    pose.into_flattened()
                }
                SmplNames::Phc => {
                    let frame = phc_frame(body, rotation, pelvis - origin, pelvis);
                    *up += DQuat::from_slice(&frame[PELVIS]) * DVec3::Z;
                    frame
                }
            };
            columns.iter_mut().try_for_each(|column| column.spooled.append(&frame[column.numbers.clone()]))?;
        }
        self.frames += times.len();
        Ok(())
    }

    fn finish(self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let Self { head, mut draft, names, body, columns, frames, up, .. } = *self;
        if let Some(note) = note_of_up(up / frames.max(1) as f64) {
            head.progress.note_of_first(head.name, &note);
        }
        let place = draft.place().to_path_buf();
        let mut file = NpzFile::new(&place, &mut draft);
        for mut column in columns {
            column.spooled.rewind()?;
            let shape = column.shape(frames);
            file.array(column.name, NumberType::Double, &shape, &mut column.spooled.bytes())?;
        }
        let rest = body.rest_positions().iter().flat_map(|position| (*position * head.scale).to_array());
        let (rest, fps) = (doubles(rest), facts.fps.to_le_bytes());
        let betas = doubles([0.0; BETAS]);
        match names {
            SmplNames::Amass => {
                // The two spellings of AMASS.
                file.array("mocap_framerate", NumberType::Double, &[], &mut fps.as_slice())?;
                file.array("mocap_frame_rate", NumberType::Double, &[], &mut fps.as_slice())?;
                file.array("betas", NumberType::Double, &[BETAS], &mut betas.as_slice())?;
                let model = match body.model() {
                    BodyModel::SmplX => "smplx",
                    BodyModel::SmplH => "smplh",
                    BodyModel::Smpl | BodyModel::Body => "smpl",
                };
                file.text("surface_model_type", model)?;
            }
            SmplNames::Phc => {
                file.array("fps", NumberType::Double, &[], &mut fps.as_slice())?;
                file.array("beta", NumberType::Double, &[BETAS], &mut betas.as_slice())?;
            }
        }
        file.array("J", NumberType::Double, &[body.model().joint_count(), 3], &mut rest.as_slice())?;
        file.text("gender", "neutral")?;
        // The joints of the arrays, which are the joints of the body.
        let parent = |parent: Option<usize>| parent.map_or(-1, |parent| i32::try_from(parent).unwrap_or(i32::MAX));
        let parents = body.parents().map(parent).collect();
        write_facts(&mut file, &Facts { joint_names: body.names(), parents, ..facts.clone() })?;
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

#[cfg(test)]
mod tests {
    use posse::{Joint, Skeleton, Transform};

    use super::*;

    #[test]
    fn a_body_that_stands_has_no_rotations_in_the_humanoid() {
        // The names of the humanoid of PHC, in its order, and in the order of SMPL: `SMPL_MUJOCO_NAMES` and
        // `SMPL_BONE_ORDER_NAMES` of `smpl_sim/smpllib/smpl_joint_names.py`.
        let mujoco = "Pelvis L_Hip L_Knee L_Ankle L_Toe R_Hip R_Knee R_Ankle R_Toe Torso Spine Chest Neck Head \
                      L_Thorax L_Shoulder L_Elbow L_Wrist L_Hand R_Thorax R_Shoulder R_Elbow R_Wrist R_Hand";
        let smpl = "Pelvis L_Hip R_Hip Torso L_Knee R_Knee Spine L_Ankle R_Ankle Chest L_Toe R_Toe Neck L_Thorax \
                    R_Thorax Head L_Shoulder R_Shoulder L_Elbow R_Elbow L_Wrist R_Wrist L_Hand R_Hand";
        let smpl: Vec<&str> = smpl.split_whitespace().collect();
        let order: Vec<&str> = HUMANOID.iter().map(|&joint| smpl[joint]).collect();
        assert_eq!(order, mujoco.split_whitespace().collect::<Vec<_>>());
        let joint = |name: &&str| {
            let rest = Transform { translation: DVec3::ZERO, ..Transform::IDENTITY };
            Joint { name: Some((*name).into()), rest, ..Joint::default() }
        };
        let skeleton = Skeleton::new(None, smpl.iter().map(joint).collect(), Vec::new()).unwrap();
        let body = SmplBody::new(&skeleton, BodyModel::Smpl).unwrap();
        // Stood up as in AMASS, by 90 degrees about +X, the body looks along -Y: the humanoid, which looks along +X if
        // it is not rotated, is rotated by -90 degrees about +Z.
        let stands = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let frame = phc_frame(&body, |_| stands, DVec3::new(1.0, 2.0, 3.0), DVec3::new(4.0, 5.0, 6.0));
        assert_eq!(frame.len(), PHC_NUMBERS);
        let near = |found: &[f64], expected: &[f64]| {
            found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12)
        };
        let half = std::f64::consts::FRAC_1_SQRT_2;
        assert!(near(&frame[..6], &[std::f64::consts::FRAC_PI_2, 0.0, 0.0, 0.0, 0.0, 0.0]));
        let turned = DQuat::from_slice(&frame[72..76]).dot(DQuat::from_xyzw(0.0, 0.0, -half, half));
        assert!((turned.abs() - 1.0).abs() < 1e-12, "{:?}", &frame[72..76]);
        assert!(frame[72..168].chunks(4).all(|rotation| near(rotation, &frame[72..76])));
        // Relative to their parents, the others are not rotated.
        assert!(frame[172..264].chunks(4).all(|rotation| (rotation[3].abs() - 1.0).abs() < 1e-12));
        assert_eq!(frame[264..], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!((DQuat::from_slice(&frame[PELVIS]) * DVec3::Z).distance(DVec3::Z) < 1e-12);
    }
}
