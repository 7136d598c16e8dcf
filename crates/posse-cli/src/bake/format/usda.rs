//! The format usda: a UsdSkel skeleton and animation, as text. Times are frames.

use std::fmt::{self, Arguments, Display, Write as _};
use std::io::{Seek, Write};

use posse::bake::{ArrayKind, ArrayShape};
use posse::glam::DAffine3;
use posse::low_level::UniqueNames;
use posse::{Error, Joint};

use crate::bake::facts::Facts;
use crate::bake::format::{ClipHead, ClipWriter, OutputSpace};
use crate::bake::spool::Spool;
use crate::draft::Draft;

/// Begins the file of a clip. Its arrays are the local translations, rotations with w first and scales, and the morph
/// weights.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    let spool = Spool::new(head.layout, draft.folder());
    let arrays = head.layout.arrays().len();
    let (first, moves) = (vec![Vec::new(); arrays], vec![false; arrays]);
    Ok(Box::new(UsdaWriter { head, draft, spool, first, moves, last_time: 0.0 }))
}

/// A writer of one clip. Each attribute has all of its frames together, so that frames wait until all of them are
/// there.
struct UsdaWriter<'a> {
    head: ClipHead<'a>,
    draft: Draft,
    spool: Spool,
    /// The first frame of each array.
    first: Vec<Vec<f32>>,
    /// True for arrays with a frame that differs from the first.
    moves: Vec<bool>,
    /// The time of the last frame in seconds.
    last_time: f64,
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
        self.last_time = times.last().copied().unwrap_or(self.last_time);
        self.spool.append(times, arrays)
    }

    fn finish(mut self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let name = prim_name(self.head.name.rsplit('/').next().unwrap_or_default());
        let paths = joint_paths(self.head.library.skeleton(self.head.skeleton).joints())?;
        let json = serde_json::to_string(facts).map_err(|error| self.draft.error(error))?;
        let last = last_code(self.spool.frames(), self.last_time, facts.fps);
        let Facts { fps, is_in_metres, .. } = *facts;
        // Y is what readers assume of a file without the axis.
        let up = if facts.up_axis == "z" { "z" } else { "y" };
        let stage = Stage { facts: Some(&json), root: &name, fps, last, up, is_in_metres };
        stage.write(&mut self.draft)?;
        self.line(format_args!("def SkelRoot \"{name}\"\n{{"))?;
        self.write_skeleton(&name, &paths, OutputSpace::new(facts))?;
        self.write_animation(&paths, last)?;
        self.line(format_args!("}}"))?;
        write_end(&mut self.draft)?;
        Ok(Some(self.draft))
    }
}

impl UsdaWriter<'_> {
    fn line(&mut self, line: Arguments) -> Result<(), Error> {
        writeln!(self.draft, "{line}").map_err(|error| self.draft.error(error))
    }

    fn write_skeleton(&mut self, root: &str, paths: &[String], space: OutputSpace) -> Result<(), Error> {
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

    fn write_animation(&mut self, paths: &[String], last: f64) -> Result<(), Error> {
        let skeleton = self.head.library.skeleton(self.head.skeleton).joints();
        let joints = self.head.layout.joints();
        // A matrix need not have a translation, rotation and scale. Its joint keeps the rest pose.
        let positions: Vec<usize> = (0..joints.len()).filter(|&at| skeleton[joints[at]].matrix.is_none()).collect();
        self.line(format_args!("    def SkelAnimation \"Animation\"\n    {{"))?;
        let layout = self.head.layout;
        for (index, shape) in layout.arrays().iter().enumerate() {
            let weights: Vec<usize> = (0..shape.width()).collect();
            if shape.kind != ArrayKind::Weights {
                self.write_attribute(index, shape, &positions, last)?;
            } else if !weights.is_empty() {
                let names = self.weight_names();
                self.line(format_args!(
                    "        uniform token[] blendShapes = {}",
                    List(names.iter().map(|name| Quoted(name)))
                ))?;
                self.write_attribute(index, shape, &weights, last)?;
            }
        }
        let joints = List(positions.iter().map(|&position| Quoted(&paths[joints[position]])));
        self.line(format_args!("        uniform token[] joints = {joints}\n    }}"))
    }

    /// The names of the morph weights: the joint, and the name or the index of the morph target.
    fn weight_names(&self) -> Vec<String> {
        let mut names = UniqueNames::default();
        self.head.layout.weight_names().iter().map(|name| names.add(prim_name(name))).collect()
    }

    /// Writes an array as an attribute, with the elements at these positions. If all frames are equal, it has a single
    /// value. `last` is the time code of the last frame.
    fn write_attribute(
        &mut self,
        index: usize,
        shape: &ArrayShape,
        positions: &[usize],
        last: f64,
    ) -> Result<(), Error> {
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
        let (width, frames_of_clip, mut frame_number) = (spool.width(index), spool.frames(), 0_u64);
        spool.each_block(index, |frames| {
            frames.chunks_exact(width).try_for_each(|frame| {
                let code = if frame_number + 1 == frames_of_clip { last } else { frame_number as f64 };
                let line = format!("            {code}: {},\n", values(frame));
                frame_number += 1;
                draft.write_all(line.as_bytes()).map_err(|error| draft.error(error))
            })
        })?;
        self.line(format_args!("        }}"))
    }
}

/// The time code of the last of some frames, the last at a time in seconds. It is a whole number unless that frame is
/// the end of a clip between two frames; the end may be off a frame by the rounding of an `f32`.
fn last_code(frames: u64, time: f64, fps: f64) -> f64 {
    let (code, number) = (time * fps, frames.saturating_sub(1) as f64);
    if number - code > 1e-3 { code } else { number }
}

/// A character of a crowd.
pub struct Character {
    /// The name.
    pub name: String,
    /// The path of its file, relative to the file of the crowd, with `/` between folders.
    pub path: String,
    /// The number of its frames.
    pub frames: u64,
}

/// Writes a file that refers to the file of each character, in their order. All of them have the same rate and up axis,
/// and metres.
pub fn write_crowd(mut draft: Draft, characters: &[Character], fps: f64, up: &str) -> Result<Draft, Error> {
    let frames = characters.iter().map(|character| character.frames).max().unwrap_or(0);
    let last = frames.saturating_sub(1) as f64;
    Stage { facts: None, root: "Crowd", fps, last, up, is_in_metres: true }.write(&mut draft)?;
    let mut text = String::from("def Xform \"Crowd\" (\n    kind = \"assembly\"\n)\n{\n");
    let mut names = UniqueNames::default();
    for Character { name, path, .. } in characters {
        let name = names.add(prim_name(name));
        // Three @ may enclose a path with an @ in it; three in the path need a backslash.
        let path = path.replace("@@@", "\\@@@");
        text.push_str(&format!(
            "    def \"{name}\" (\n        prepend references = @@@./{path}@@@\n    )\n    {{\n    }}\n"
        ));
    }
    text.push_str("}\n");
    draft.write_all(text.as_bytes()).map_err(|error| draft.error(error))?;
    write_end(&mut draft)?;
    Ok(draft)
}

/// The head of a file.
pub struct Stage<'a> {
    /// The facts as JSON.
    pub facts: Option<&'a str>,
    /// The prim that others refer to.
    pub root: &'a str,
    pub fps: f64,
    /// The time code of the last frame.
    pub last: f64,
    /// `y` or `z`.
    pub up: &'a str,
    /// `true` if lengths are metres. Otherwise nothing is stated about their unit.
    pub is_in_metres: bool,
}

impl Stage<'_> {
    /// Writes the head, up to the first prim.
    pub fn write(&self, draft: &mut Draft) -> Result<(), Error> {
        let Self { root, fps, last, up, is_in_metres, .. } = self;
        let facts = self
            .facts
            .map(|facts| format!("    customLayerData = {{\n        string posse = {}\n    }}\n", Quoted(facts)));
        let (facts, up) = (facts.unwrap_or_default(), up.to_uppercase());
        let unit = if *is_in_metres { "    metersPerUnit = 1\n" } else { "" };
        let head = format!(
            "#usda 1.0\n(\n{facts}    defaultPrim = \"{root}\"\n    endTimeCode = {last}\n    framesPerSecond = {fps}\n\
             {unit}    startTimeCode = 0\n    timeCodesPerSecond = {fps}\n    upAxis = \"{up}\"\n)\n\n"
        );
        draft.write_all(head.as_bytes()).map_err(|error| draft.error(error))
    }
}

/// Writes the last line, which states the number of bytes before it. A reader finds with it that a file has lost its
/// end.
pub fn write_end(draft: &mut Draft) -> Result<(), Error> {
    let written = draft.stream_position().and_then(|bytes| writeln!(draft, "# bytes before this line: {bytes}"));
    written.map_err(|error| draft.error(error))
}

/// The largest size of all joint paths together, in bytes. The paths of a deep chain grow with the square of its depth.
const PATHS: u64 = 256 << 20;

/// A name in which `_` stands for all that USD does not allow.
pub fn prim_name(name: &str) -> String {
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let prefix = if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    prefix.chars().chain(name.chars().map(allowed)).collect()
}

/// The path of each joint: the names from its root to itself, with `/` between them.
///
/// # Errors
/// [`Error::Limit`] if the paths together take more than 256 MiB.
pub fn joint_paths(joints: &[Joint]) -> Result<Vec<String>, Error> {
    let (mut paths, mut names) = (Vec::<String>::with_capacity(joints.len()), UniqueNames::default());
    let mut needed = 0;
    for joint in joints {
        let name = prim_name(joint.name.as_deref().unwrap_or("joint"));
        let path = joint.parent.map_or(name.clone(), |parent| format!("{}/{name}", paths[parent]));
        needed += path.len() as u64;
        if needed > PATHS {
            let what = "bytes of the joint paths of a USD skeleton; use another --format".into();
            return Err(Error::Limit { what, needed, allowed: PATHS });
        }
        paths.push(names.add(path));
    }
    Ok(paths)
}

/// A list of values in brackets.
pub struct List<I>(pub I);

impl<I: Iterator<Item: Display> + Clone> Display for List<I> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('[')?;
        for (index, value) in self.0.clone().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(out, "{comma}{value}")?;
        }
        out.write_char(']')
    }
}

/// Numbers in parentheses; a single number without them.
#[derive(Clone, Copy)]
pub struct Tuple<'a>(pub &'a [f32]);

impl Display for Tuple<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [number] => write!(out, "{number}"),
            [x, y, z] => write!(out, "({x}, {y}, {z})"),
            numbers => {
                let numbers: Vec<String> = numbers.iter().map(f32::to_string).collect();
                write!(out, "({})", numbers.join(", "))
            }
        }
    }
}

/// A text in quotes.
pub struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(out, "\\{letter}")?,
                '\n' => out.write_str("\\n")?,
                '\r' => out.write_str("\\r")?,
                _ => out.write_char(letter)?,
            }
        }
        out.write_char('"')
    }
}

/// A matrix for row vectors: the translation is in the last row.
pub struct Matrix(pub DAffine3);

impl Display for Matrix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [self.0.matrix3.x_axis, self.0.matrix3.y_axis, self.0.matrix3.z_axis, self.0.translation];
        out.write_char('(')?;
        for (row, (last, comma)) in rows.into_iter().zip([(0, ", "), (0, ", "), (0, ", "), (1, "")]) {
            // The sum turns -0 into 0.
            write!(out, "({}, {}, {}, {last}){comma}", row.x + 0.0, row.y + 0.0, row.z + 0.0)?;
        }
        out.write_char(')')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_only_what_usd_allows() {
        for (name, expected) in [
            ("Hips", "Hips"),
            ("mixamorig:Left Arm.001", "mixamorig_Left_Arm_001"),
            ("3rd", "_3rd"),
            ("", "_"),
            ("hüfte/骨", "h_fte__"),
        ] {
            assert_eq!(prim_name(name), expected);
        }
    }

    #[test]
    fn paths_are_unique() {
        let joint = |name: &str, parent| Joint { name: Some(name.into()), parent, ..Joint::default() };
        let joints = [
            joint("hip", None),
            joint("leg.l", Some(0)),
            joint("leg l", Some(0)),
            joint("leg_l_1", Some(0)),
            joint("foot", Some(2)),
            Joint::default(),
            joint("hip", None),
        ];
        let expected = ["hip", "hip/leg_l", "hip/leg_l_1", "hip/leg_l_1_1", "hip/leg_l_1/foot", "joint", "hip_1"];
        assert_eq!(joint_paths(&joints).unwrap(), expected);
    }

    #[test]
    fn a_deep_chain_of_long_names_is_refused() {
        let name = "x".repeat(100_000);
        let joint = |parent: Option<usize>| Joint { name: Some(name.clone()), parent, ..Joint::default() };
        let joints: Vec<Joint> = (0..100).map(|index: usize| joint(index.checked_sub(1))).collect();
        assert!(matches!(joint_paths(&joints), Err(Error::Limit { .. })));
    }

    #[test]
    fn texts_have_escapes_in_quotes() {
        assert_eq!(Quoted("ü ' 骨").to_string(), "\"ü ' 骨\"");
        assert_eq!(Quoted(r#"{"a":"b\c"}"#).to_string(), r#""{\"a\":\"b\\c\"}""#);
        assert_eq!(Quoted("two\nlines\r").to_string(), r#""two\nlines\r""#);
    }

    #[test]
    fn values_read_as_in_usd() {
        assert_eq!(List([1.5, -0.25].iter()).to_string(), "[1.5, -0.25]");
        assert_eq!(Tuple(&[1.0, 0.5, 1e-7]).to_string(), "(1, 0.5, 0.0000001)");
        assert_eq!(Tuple(&[1.0, 0.0, 0.0, 0.5]).to_string(), "(1, 0, 0, 0.5)");
        let moved = DAffine3::from_translation(posse::glam::DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(Matrix(moved).to_string(), "((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 2, 3, 1))");
    }
}
