//! Where the joints of a body rest, which motions do not say.
//!
//! A model file has the joints of the mean shape, `J`, or their regressor `J_regressor` of the vertices `v_template`.
//! The shape of a subject moves them by a linear function of its `betas`: by `J_shapedirs` of the joints, or by
//! `shapedirs` of the vertices, of which the regressor makes directions of the joints. (Loper et al., "SMPL: A Skinned
//! Multi-Person Linear Model", 2015, equations 8 and 10; `vertices2joints` in `smplx/lbs.py` of
//! <https://github.com/vchoutas/smplx>.)

use std::path::Path;

use glam::DVec3;

use super::body::{self, BodyAtRest, BodyModel, SHARED_COUNT};
use super::motion::Members;
use super::npy::Array;
use crate::error::Error;
use crate::import::file_error::MemoryBudget;
use crate::import::{FileError, Warning};
use crate::model::{Skeleton, is_usable};

/// Where the joints of bodies rest: by a model file, or by a skeleton.
///
/// A model file has the mean shape of a body, and most have the directions in which `betas` change it. The joints of a
/// skeleton are the same for all subjects.
#[derive(Debug, Clone, PartialEq)]
pub struct Proportions {
    /// The joints of the mean shape.
    skeleton: Skeleton,
    /// What betas do, or the reason that they do nothing.
    shapes: Result<Shapes, String>,
}

/// The shapes of a body.
#[derive(Debug, Clone, PartialEq)]
struct Shapes {
    model: BodyModel,
    /// The displacement of each joint in metres, by one unit of each beta.
    directions: Vec<Vec<DVec3>>,
}

/// The largest number of betas of a body, as of the package `smplx`.
const MAX_BETAS: usize = 300;
/// The number of betas of a model file of SMPL-X with fewer shapes than that. Those after them are expressions.
const FEW_BETAS: usize = 10;

impl Proportions {
    /// The proportions of a skeleton with the joints of the bodies, by their names in the models or in their FBX files.
    /// It stands with its feet down -Y, its left arm along +X, and looks to +Z, in metres or centimetres.
    ///
    /// The translations of motions are relative to the origin of the models, which is in the chest. A skeleton whose
    /// pelvis rests more than half a metre from its origin, which may be between the feet, is moved: its pelvis rests
    /// where an adult does.
    pub fn of_skeleton(skeleton: Skeleton) -> Self {
        Self { skeleton, shapes: Err("a skeleton has one shape; a model file has those of all betas".into()) }
    }

    /// The proportions of the bytes of a model file: an `.npz` file with the rest positions `J` (also `J_template`), or
    /// with `J_regressor` and `v_template`, whose product they are. Betas change them if it has `J_shapedirs`, or
    /// `J_regressor` and `shapedirs`. `name` is the name of the file in errors; it is not opened.
    ///
    /// # Errors
    /// [`Error::Import`] with the name of an array, if the file has no rest positions, or not the positions of a body.
    pub fn from_slice(name: &Path, bytes: &[u8]) -> Result<Self, Error> {
        Self::read(bytes).map_err(|error| error.in_file(name))
    }

    fn read(bytes: &[u8]) -> Result<Self, FileError> {
        let mut members = Members::open(bytes)?;
        let expected = "it is no model file of SMPL: it lacks J, or J_regressor and v_template";
        let (model, positions) = rest_positions(&mut members, expected)?;
        let skeleton = Skeleton::new(None, body::joints_at(model, &positions), Vec::new());
        let skeleton = skeleton.map_err(|error| FileError::new("joints", error.to_string()))?;
        // The mean shape can be used without the others.
        let shapes = match directions(&mut members, model) {
            Ok(Some(directions)) => Ok(Shapes { model, directions }),
            Ok(None) => Err("the model file has no J_shapedirs, and no J_regressor with shapedirs".into()),
            Err(error) => Err(format!("{} of the model file: {}", error.path, error.reason)),
        };
        Ok(Self { skeleton, shapes })
    }

    /// The rest positions of a body in metres, for the betas of a file, and warnings about them.
    pub(super) fn rest_positions(
        &self,
        model: BodyModel,
        betas: Option<&Array>,
    ) -> Result<(Vec<DVec3>, Vec<Warning>), FileError> {
        let in_joints = |reason: String| FileError::new("joints", reason);
        let rest = BodyAtRest::new(model, &self.skeleton).map_err(|missing| {
            in_joints(format!("the skeleton lacks joints of the body: {missing}; expected the names of SMPL"))
        })?;
        if !rest.stands() {
            let expected = body::REST_POSE;
            return Err(in_joints(format!("the skeleton does not rest as the body does; expected {expected}")));
        }
        let mut warnings = Vec::new();
        let mut positions = rest.positions_in_model();
        if rest.metre > CENTIMETRES {
            positions.iter_mut().for_each(|position| *position *= 0.01);
            let message = "the skeleton has lengths of centimetres, which are divided by 100".into();
            warnings.push(Warning { path: "joints".into(), message });
        }
        if let Some(betas) = betas {
            let message = self.change_shape(model, betas, &mut positions)?;
            warnings.extend(message.map(|message| Warning { path: betas.name().into(), message }));
        }
        Ok((positions, warnings))
    }

    /// Moves joints of the mean shape to the shape of betas: `J_template + J_shapedirs . betas`. Returns what was left
    /// out.
    fn change_shape(
        &self,
        model: BodyModel,
        betas: &Array,
        positions: &mut [DVec3],
    ) -> Result<Option<String>, FileError> {
        // Some files repeat them for each frame, or have an estimate per frame.
        let [rows, width] = betas.rows();
        let count = if rows == 0 { 0 } else { width };
        let beta = |index: usize| betas.number(0, index);
        if let Some(index) = (0..count).find(|&index| !is_usable(beta(index))) {
            let reason = format!("number {} is {}; expected finite numbers", index + 1, beta(index));
            return Err(FileError::new(betas.name(), reason));
        }
        let Some(last) = (0..count).rfind(|&index| beta(index) != 0.0) else { return Ok(None) };
        let shapes = match &self.shapes {
            Ok(shapes) if shapes.model.shares_shapes_with(model) => shapes,
            Ok(shapes) => {
                let [own, of_file] = [model.name(), shapes.model.name()];
                return Ok(Some(not_used(&format!("the motion is of {own}, and the model file of {of_file}"))));
            }
            Err(reason) => return Ok(Some(not_used(reason))),
        };
        let directions = shapes.directions.iter().take(last + 1).enumerate();
        let displacement = |joint: usize| -> Option<DVec3> {
            let of_joint = |(index, direction): (usize, &Vec<DVec3>)| Some(beta(index) * *direction.get(joint)?);
            directions.clone().map(of_joint).sum()
        };
        // The bodies have the same first joints. Others that the model file lacks move with their parents.
        let known_joints = if shapes.model == model { positions.len() } else { SHARED_COUNT };
        let mut moved: Vec<DVec3> = Vec::with_capacity(positions.len());
        for (index, joint) in model.joints().iter().enumerate() {
            let own = displacement(index).filter(|_| index < known_joints);
            let of_parent = || joint.parent.and_then(|parent| moved.get(parent)).copied();
            moved.push(own.or_else(of_parent).unwrap_or_default());
        }
        positions.iter_mut().zip(&moved).for_each(|(position, moved)| *position += *moved);
        let known = shapes.directions.len();
        let changes = (1..rows).any(|row| (0..count).any(|index| betas.number(row, index) != beta(index)));
        let notes = [
            (last >= known).then(|| format!("only the first {known} are used: the model file has no more")),
            changes.then(|| "they change from frame to frame; the body has the shape of the first frame".to_owned()),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        Ok((!notes.is_empty()).then(|| notes.join("; ")))
    }
}

fn not_used(reason: &str) -> String {
    format!("they are not used, so that the body does not have the shape of its subject: {reason}")
}

/// The length of a metre beyond which the lengths of a skeleton are centimetres.
const CENTIMETRES: f64 = 20.0;

impl BodyModel {
    /// Returns `true` if the betas of two bodies mean the same shapes: SMPL-H has the shapes of SMPL.
    fn shares_shapes_with(self, other: Self) -> bool {
        [self, other].contains(&Self::Body) || (self == Self::SmplX) == (other == Self::SmplX)
    }
}

/// The body and the rest positions of a file. `missing` is the reason of the error for a file without them.
pub(super) fn rest_positions(members: &mut Members, missing: &str) -> Result<(BodyModel, Vec<DVec3>), FileError> {
    if let Some(joints) = members.array(&["J", "J_template"])? {
        let [count, width] = joints.rows();
        let model = body_of_count(&joints, if width == 3 { count } else { 0 })?;
        return Ok((model, (0..count).map(|joint| joints.vector(joint, 0, 1)).collect()));
    }
    let (Some(regressor), Some(vertices)) = (members.array(&["J_regressor"])?, members.array(&["v_template"])?) else {
        return Err(FileError::new("zip", format!("{missing}; the arrays are {}", members.directory.list())));
    };
    let [count, _] = regressor.rows();
    let model = body_of_count(&regressor, count)?;
    check_vertices(&regressor, &vertices, 1)?;
    let regressed = regress(&regressor, &vertices, 1, &mut members.budget)?;
    Ok((model, regressed.into_iter().flatten().collect()))
}

/// The displacement of each joint by one unit of each beta; `None` if the file does not tell.
fn directions(members: &mut Members, model: BodyModel) -> Result<Option<Vec<Vec<DVec3>>>, FileError> {
    let joints = model.joint_count();
    if let Some(array) = members.array(&["J_shapedirs", "J_dirs"])? {
        let [rows, width] = array.rows();
        if rows != joints || !width.is_multiple_of(3) {
            let shape = array.shape();
            return Err(FileError::new(array.name(), format!("its shape is {shape:?}; expected ({joints}, 3, betas)")));
        }
        let betas = width / 3;
        let direction = |beta: usize| (0..joints).map(|joint| array.vector(joint, beta, betas)).collect();
        return Ok(Some((0..betas.min(MAX_BETAS)).map(direction).collect()));
    }
    let (Some(regressor), Some(shapes)) = (members.array(&["J_regressor"])?, members.array(&["shapedirs"])?) else {
        return Ok(None);
    };
    if regressor.rows()[0] != joints {
        let shape = regressor.shape();
        return Err(FileError::new(regressor.name(), format!("its shape is {shape:?}; expected ({joints}, vertices)")));
    }
    let betas = shapes.rows()[1] / 3;
    check_vertices(&regressor, &shapes, betas)?;
    let used = match model {
        BodyModel::SmplX if betas < MAX_BETAS => betas.min(FEW_BETAS),
        _ => betas.min(MAX_BETAS),
    };
    Ok(Some(regress(&regressor, &shapes, betas, &mut members.budget)?.into_iter().take(used).collect()))
}

/// Per column of three numbers of each vertex the sums over vertices, weighted by the regressor of each joint. Most
/// weights are 0; a file in which most are not could claim much time with few bytes, so that the work is charged as
/// memory.
fn regress(
    regressor: &Array,
    vertices: &Array,
    columns: usize,
    budget: &mut MemoryBudget,
) -> Result<Vec<Vec<DVec3>>, FileError> {
    let [joints, count] = regressor.rows();
    let mut sums = vec![vec![DVec3::ZERO; joints]; columns.min(MAX_BETAS)];
    let work = (sums.len() * size_of::<DVec3>()) as u64;
    for joint in 0..joints {
        for vertex in 0..count {
            let weight = regressor.number(joint, vertex);
            if weight == 0.0 {
                continue;
            }
            budget.charge(regressor.name(), work)?;
            for (column, sums) in sums.iter_mut().enumerate() {
                if let Some(sum) = sums.get_mut(joint) {
                    *sum += weight * vertices.vector(vertex, column, columns);
                }
            }
        }
    }
    Ok(sums)
}

/// Fails for an array that does not have three numbers per column of each vertex of a regressor.
fn check_vertices(regressor: &Array, vertices: &Array, columns: usize) -> Result<(), FileError> {
    let [_, count] = regressor.rows();
    if vertices.rows() == [count, 3 * columns] {
        return Ok(());
    }
    let (one, other) = (regressor.shape(), vertices.shape());
    Err(FileError::new(
        regressor.name(),
        format!("its shape {one:?} does not fit that of {}, {other:?}", vertices.name().trim_end_matches(".npy")),
    ))
}

/// The body with the number of joints of an array.
fn body_of_count(array: &Array, count: usize) -> Result<BodyModel, FileError> {
    BodyModel::of_count(count).ok_or_else(|| {
        let reason = format!("its shape is {:?}; expected 24 joints (SMPL), 52 (SMPL-H) or 55 (SMPL-X)", array.shape());
        FileError::new(array.name(), reason)
    })
}
