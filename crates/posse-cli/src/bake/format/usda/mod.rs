//! The format usda: a UsdSkel skeleton and animation, as text. Times are frames.

mod crowd;
mod names;
mod stage;
mod text;

use std::fmt::Arguments;
use std::io::Write;

use posse::bake::{ArrayKind, ArrayShape};
use posse::glam::DAffine3;
use posse::{Error, Joint};

pub use self::crowd::{Character, write_crowd};
use self::names::{UniqueNames, joint_paths, prim_name};
use self::stage::{Stage, write_end};
use self::text::{List, Matrix, Quoted, Tuple};
use crate::bake::facts::Facts;
use crate::bake::format::rest::Space;
use crate::bake::format::{ClipHead, ClipWriter};
use crate::bake::spool::Spool;
use crate::draft::Draft;

/// Begins the file of a clip. Its arrays are the local translations, rotations with w first and scales, and the morph weights.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    let spool = Spool::new(head.layout, draft.folder());
    let arrays = head.layout.arrays().len();
    let (first, moves) = (vec![Vec::new(); arrays], vec![false; arrays]);
    Ok(Box::new(UsdaWriter { head, draft, spool, first, moves }))
}

/// A writer of one clip. Each attribute has all of its frames together, so that frames wait until all of them are there.
struct UsdaWriter<'a> {
    head: ClipHead<'a>,
    draft: Draft,
    spool: Spool,
    /// The first frame of each array.
    first: Vec<Vec<f32>>,
    /// True for arrays with a frame that differs from the first.
    moves: Vec<bool>,
}

impl ClipWriter for UsdaWriter<'_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        for (index, numbers) in arrays.iter().enumerate() {
            let (width, first) = (self.spool.width(index), &mut self.first[index]);
            if width > 0 && !numbers.is_empty() {
                if first.is_empty() {
                    first.extend_from_slice(&numbers[..width]);
                }
                self.moves[index] |= numbers.chunks_exact(width).any(|frame| frame != first);
            }
        }
        self.spool.append(times, arrays)
    }

    fn finish(mut self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let name = prim_name(self.head.name.rsplit('/').next().unwrap_or_default());
        let paths = joint_paths(self.head.library.skeleton(self.head.skeleton).joints())?;
        let json = serde_json::to_string(facts).map_err(|error| self.draft.error(error))?;
        let stage =
            Stage { facts: Some(&json), root: &name, fps: facts.fps, frames: self.spool.frames(), up: facts.up_axis };
        stage.write(&mut self.draft)?;
        self.line(format_args!("def SkelRoot \"{name}\"\n{{"))?;
        self.write_skeleton(&name, &paths, Space::new(facts))?;
        self.write_animation(&paths)?;
        self.line(format_args!("}}"))?;
        write_end(&mut self.draft)?;
        Ok(Some(self.draft))
    }
}

impl UsdaWriter<'_> {
    fn line(&mut self, line: Arguments) -> Result<(), Error> {
        writeln!(self.draft, "{line}").map_err(|error| self.draft.error(error))
    }

    fn write_skeleton(&mut self, root: &str, paths: &[String], space: Space) -> Result<(), Error> {
        let joints = self.head.library.skeleton(self.head.skeleton).joints();
        let rest = List(joints.iter().map(|joint| Matrix(space.rest_matrix(joint)))).to_string();
        let bind = List(self.bind_pose(joints).into_iter().map(|matrix| Matrix(space.in_model(matrix)))).to_string();
        let joints = List(paths.iter().map(|path| Quoted(path)));
        self.line(format_args!(
            "    def Skeleton \"Skeleton\" (\n        prepend apiSchemas = [\"SkelBindingAPI\"]\n    )\n    {{\n        \
                     uniform matrix4d[] bindTransforms = {bind}\n        \
                     uniform token[] joints = {joints}\n        \
                     uniform matrix4d[] restTransforms = {rest}\n        \
                     rel skel:animationSource = </{root}/Animation>\n    }}\n"
        ))
    }

    /// The model matrix of each joint in the bind pose: from the first skin with the joint, else the rest pose.
    fn bind_pose(&self, joints: &[Joint]) -> Vec<DAffine3> {
        let mut bind = Vec::<DAffine3>::with_capacity(joints.len());
        for joint in joints {
            let local = joint.matrix.unwrap_or_else(|| joint.rest.to_affine());
            bind.push(joint.parent.map_or(local, |parent| bind[parent] * local));
        }
        let skins: Vec<_> = self.head.library.skins_of(self.head.skeleton).collect();
        for (_, skin) in skins.into_iter().rev() {
            for (&joint, inverse) in skin.joints.iter().zip(&skin.inverse_bind) {
                let matrix = inverse.inverse();
                if matrix.is_finite() {
                    bind[joint] = matrix;
                }
            }
        }
        bind
    }

    fn write_animation(&mut self, paths: &[String]) -> Result<(), Error> {
        let skeleton = self.head.library.skeleton(self.head.skeleton).joints();
        let joints = self.head.layout.joints();
        // A matrix need not have a translation, rotation and scale. Its joint keeps the rest pose.
        let positions: Vec<usize> = (0..joints.len()).filter(|&at| skeleton[joints[at]].matrix.is_none()).collect();
        self.line(format_args!("    def SkelAnimation \"Animation\"\n    {{"))?;
        let layout = self.head.layout;
        for (index, shape) in layout.arrays().iter().enumerate() {
            let weights: Vec<usize> = (0..shape.width()).collect();
            if shape.kind != ArrayKind::Weights {
                self.write_attribute(index, shape, &positions)?;
            } else if !weights.is_empty() {
                let names = self.weight_names();
                self.line(format_args!(
                    "        uniform token[] blendShapes = {}",
                    List(names.iter().map(|name| Quoted(name)))
                ))?;
                self.write_attribute(index, shape, &weights)?;
            }
        }
        let joints = List(positions.iter().map(|&position| Quoted(&paths[joints[position]])));
        self.line(format_args!("        uniform token[] joints = {joints}\n    }}"))
    }

    /// The names of the morph weights: the joint, and the index of the weight.
    fn weight_names(&self) -> Vec<String> {
        let joints = self.head.library.skeleton(self.head.skeleton).joints();
        let mut names = UniqueNames::default();
        let of_joint = |joint: &usize| {
            let name = prim_name(joints[*joint].name.as_deref().unwrap_or("joint"));
            (0..joints[*joint].weights.len()).map(move |index| format!("{name}_{index}")).collect::<Vec<_>>()
        };
        self.head.nodes.iter().flat_map(of_joint).map(|name| names.add(name)).collect()
    }

    /// Writes an array as an attribute, with the elements at these positions. If all frames are equal, it has a single value.
    fn write_attribute(&mut self, index: usize, shape: &ArrayShape, positions: &[usize]) -> Result<(), Error> {
        let (kind, name) = match shape.kind {
            ArrayKind::LocalPos => ("float3[]", "translations"),
            ArrayKind::LocalQuat => ("quatf[]", "rotations"),
            ArrayKind::LocalScale => ("half3[]", "scales"),
            _ => ("float[]", "blendShapeWeights"),
        };
        let numbers = shape.shape.get(1).copied().unwrap_or(1);
        let values = |frame: &[f32]| {
            List(positions.iter().map(|&position| Tuple(&frame[position * numbers..][..numbers]))).to_string()
        };
        if !self.moves[index] {
            let first = values(&self.first[index]);
            return self.line(format_args!("        {kind} {name} = {first}"));
        }
        self.line(format_args!("        {kind} {name}.timeSamples = {{"))?;
        let Self { spool, draft, .. } = self;
        let (width, mut time) = (spool.width(index), 0_u64);
        spool.each_block(index, |frames| {
            frames.chunks_exact(width).try_for_each(|frame| {
                let line = format!("            {time}: {},\n", values(frame));
                time += 1;
                draft.write_all(line.as_bytes()).map_err(|error| draft.error(error))
            })
        })?;
        self.line(format_args!("        }}"))
    }
}
