//! BVH: a clip as text, which most tools of animation and motion capture read.
//!
//! The zero pose of a file, in which all angles are 0, is the rest pose of the skeleton, as Blender writes it: OFFSETs
//! are distances in model space at rest, and angles are relative to the rest pose (`zero_pose` has the formulas). So
//! places in model space are as in the clip, and rotations in model space are the rotations of the clip times the
//! inverse rotation of the rest pose: the same, if the rest pose has no rotations. Scales are in the distances. Where a
//! scale changes, places follow it.
//!
//! * The joints are the joints of skins and the joints between them, or all of a skeleton without skins. A joint above
//!   them moves the ROOT. Several separate branches become several ROOTs.
//! * A ROOT has six channels: position, then rotation in the order of the [`Options`]. Other joints have positions only
//!   if they move away from their OFFSETs by more than the noise of exporters. A position replaces the OFFSET, as in
//!   the files of Blender, MotionBuilder, Rokoko and LAFAN1, and for their readers and ours. The loader of three.js
//!   adds both: figures stand higher there by the OFFSET of the ROOT, and bones with positions are longer.
//! * Angles are in degrees, and continuous from frame to frame (`euler`).
//! * A joint named `PARENT_end` without joints below it becomes the End Site of its parent, unless it moves or rotates.
//!   Other joints at the end of a branch get an End Site: at the joint below that no skin has and whose name ends in
//!   `end` or `Nub`, else at a tenth of their own OFFSET.
//! * Names have no spaces and braces, because most readers split lines there: `_` stands for them. A name that occurs
//!   twice gets a number.
//! * The frame time is the reciprocal of the rate with all digits of an `f64`. Positions have seven digits of the size
//!   of the skeleton, angles six decimals.

pub use self::euler::RotationOrder;

use std::fmt::Write as _;
use std::io;

use glam::DVec3;

use self::euler::AXIS_NAMES;
use crate::error::Error;
use crate::export::unique_names::UniqueNames;
use crate::export::zero_pose::{FramedClip, Placed, ZeroPose, place, place_at_rest};
use crate::model::{ClipId, Joint, Library, Skeleton, SkeletonId, Transform, is_usable, no_such};
use crate::retarget::joint_map::are_joints;

mod euler;

/// The choices of a BVH file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// The order of the rotations of all joints. Default: ZXY.
    pub order: RotationOrder,
    /// The joints that are written. Default: the joints of skins and between them, or all of a skeleton without skins.
    pub joints: Option<Vec<usize>>,
}

/// A clip as a BVH file.
///
/// # Examples
/// ```
/// use posse::export::bvh::{ClipFile, Options};
/// use posse::{Library, demo, import};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo walks");
/// let mut text = Vec::new();
/// ClipFile::new(&library, walk, 30.0, &Options::default())?.write(&mut text)?;
///
/// let mut other = Library::new();
/// let asset = import::bvh::from_slice(&mut other, "walk.bvh".as_ref(), &text)?;
/// assert_eq!(asset.frame_time, 1.0 / 30.0);
/// # Ok(())
/// # }
/// ```
pub struct ClipFile<'a> {
    clip: FramedClip<'a>,
    writer: Writer<'a>,
}

impl<'a> ClipFile<'a> {
    /// The file of a clip at a frame rate. All frames are posed once.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such clip or joint, no joint is left, the place of a joint is beyond the range
    /// of an `f32`, or the rate is not finite and above 0; [`Error::Limit`] for too many frames.
    pub fn new(library: &'a Library, clip: ClipId, fps: f64, options: &Options) -> Result<Self, Error> {
        let framed = FramedClip::new(library, clip, fps)?;
        let mut writer = Writer::new(library, library.clip(clip).skeleton, options)?;
        let mut local = Vec::new();
        for frame in 0..framed.grid.len() {
            framed.local(frame, &mut local);
            writer.survey(&local)?;
        }
        Ok(Self { clip: framed, writer })
    }

    /// Notes on what the file does not hold, and on changed names.
    pub fn notes(&self) -> Vec<String> {
        self.writer.notes()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write(&mut self, out: &mut impl io::Write) -> io::Result<()> {
        let grid = self.clip.grid;
        let mut text = self.writer.head(grid.len(), grid.fps());
        let mut local = Vec::new();
        for frame in 0..grid.len() {
            self.clip.local(frame, &mut local);
            self.writer.row(&local, &mut text);
            out.write_all(text.as_bytes())?;
            text.clear();
        }
        out.flush()
    }
}

/// The largest difference of a joint that keeps its OFFSET, as a share of the size of the skeleton: 0.02 mm of a human.
/// Translations that exporters write for still bones differ by up to 2e-6 in glTF files of Mixamo's characters.
const MAX_STILL: f64 = 1e-5;

/// The largest rotation of an End Site that counts as rounding, as the sine of half its angle.
const MAX_END_ROTATION: f64 = 1e-4;

/// The largest change of a scale that counts as rounding.
const MAX_SCALE_ROUNDING: f64 = 1e-4;

/// Significant digits of positions, for the size of the skeleton.
const DIGITS: f64 = 7.0;

/// Decimals of angles in degrees.
const ANGLE_DECIMALS: usize = 6;

/// The length of an End Site as a share of the OFFSET of its joint; for a joint at its parent, as a share of ten times
/// the size of the skeleton.
const END_SHARE: f64 = 0.1;

/// The longest indentation. Deeper joints have no deeper one, so that the text of a long chain does not grow with its
/// square.
const MAX_INDENT: usize = 64;

/// The longest name in bytes, as readers have it.
const MAX_NAME: usize = 500;

/// A BVH file that is written frame by frame: first [`survey`](Self::survey) with all frames, then
/// [`head`](Self::head), then [`row`](Self::row) with all frames again.
pub struct Writer<'a> {
    skeleton: &'a Skeleton,
    order: RotationOrder,
    zero: ZeroPose,
    /// The name of each joint of `zero`.
    names: Vec<String>,
    /// True for the joints of `zero` that are End Sites unless they move. Frames in which they rotate make it false.
    may_be_end: Vec<bool>,
    /// True for the joints of `zero` that move away from their OFFSETs.
    moves: Vec<bool>,
    /// The first joint of the skeleton whose scale changes.
    scaled: Option<usize>,
    size: f64,
    decimals: usize,
    /// The angles of the last row.
    angles: Vec<DVec3>,
    placed: Vec<Placed>,
    local: Vec<Placed>,
    notes: Vec<String>,
}

impl<'a> Writer<'a> {
    /// A file of a skeleton.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton or joint, or no joint is left.
    pub fn new(library: &'a Library, skeleton: SkeletonId, options: &Options) -> Result<Self, Error> {
        let Some(model) = library.skeletons().get(skeleton.index()) else {
            return Err(Error::Usage(no_such("skeleton", skeleton.index(), "library", library.skeletons().len())));
        };
        let kept = Kept::new(library, skeleton, options)?;
        let zero = ZeroPose::new(model, &kept.joints, &place_at_rest(model));
        if zero.joints.is_empty() {
            return Err(Error::Usage("there are no joints; a BVH file needs one".into()));
        }
        let mut notes = Vec::new();
        let roots = zero.parents.iter().filter(|parent| parent.is_none()).count();
        if roots > 1 {
            notes.push(format!("the joints have {roots} roots; most readers of BVH files expect one ROOT"));
        }
        let size = zero.size();
        let count = zero.joints.len();
        Ok(Self {
            skeleton: model,
            order: options.order,
            names: names(model, &zero.joints, &mut notes),
            may_be_end: zero.joints.iter().map(|&joint| kept.ends[joint]).collect(),
            moves: vec![false; count],
            scaled: None,
            size,
            decimals: (DIGITS - size.log10().floor()).clamp(1.0, 12.0) as usize,
            angles: vec![DVec3::ZERO; count],
            placed: Vec::new(),
            local: Vec::new(),
            notes,
            zero,
        })
    }

    /// Looks at a frame: which joints move away from their OFFSETs, and if scales change. `local` has the local
    /// transforms of all joints of the skeleton.
    ///
    /// # Errors
    /// [`Error::Usage`] if the place of a joint is beyond the range of an `f32`, which readers have.
    pub fn survey(&mut self, local: &[Transform]) -> Result<(), Error> {
        self.place(local);
        let is_far = |placed: &Placed| !placed.place.to_array().into_iter().all(is_usable);
        if let Some(index) = self.local.iter().position(is_far) {
            let name = self.skeleton.joint_name(self.zero.joints[index]);
            return Err(Error::Usage(format!(
                "the place of {name} is beyond the range of an f32; use smaller lengths"
            )));
        }
        let most = MAX_STILL * self.size;
        for (index, &Placed { place, rotation }) in self.local.iter().enumerate() {
            self.moves[index] |= place.distance(self.zero.offsets[index]) > most;
            self.may_be_end[index] &= rotation.xyz().length() <= MAX_END_ROTATION;
        }
        if self.scaled.is_none() {
            let is_scaled = |joint: &Joint, transform: &Transform| {
                let change = (transform.scale - joint.rest.scale).abs().max_element();
                joint.matrix.is_none() && change > MAX_SCALE_ROUNDING * joint.rest.scale.abs().max_element()
            };
            let joints = self.skeleton.joints().iter().zip(local);
            self.scaled =
                joints.enumerate().find(|(_, (joint, local))| is_scaled(joint, local)).map(|(joint, _)| joint);
        }
        Ok(())
    }

    /// Notes on what the file does not hold, and on changed names. To be called after [`survey`](Self::survey).
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        if let Some(joint) = self.scaled {
            let name = self.skeleton.joint_name(joint);
            notes.push(format!("BVH has no scales; where that of {name} changes, only places follow it"));
        }
        notes
    }

    /// HIERARCHY, and the head of MOTION for a number of frames.
    pub fn head(&self, frames: u64, fps: f64) -> String {
        let mut text = String::from("HIERARCHY\n");
        let leaves = self.zero.leaves();
        let mut depths: Vec<usize> = Vec::with_capacity(leaves.len());
        let mut open = 0;
        for (index, parent) in self.zero.parents.iter().enumerate() {
            let depth = parent.map_or(0, |parent| depths[parent] + 1);
            depths.push(depth);
            close(&mut text, &mut open, depth);
            let offset = self.zero.offsets[index];
            if self.is_end(index) {
                self.push_end(&mut text, depth, offset);
                continue;
            }
            let keyword = if parent.is_none() { "ROOT" } else { "JOINT" };
            push_line(&mut text, depth, &format!("{keyword} {}", self.names[index]));
            push_line(&mut text, depth, "{");
            push_line(&mut text, depth + 1, &self.offset_line(offset));
            push_line(&mut text, depth + 1, &self.channels_line(index));
            open = depth + 1;
            if leaves[index] {
                let is_bone = parent.is_some() && offset.length() > MAX_STILL * self.size;
                let bone = if is_bone { offset } else { DVec3::Y * self.size * END_SHARE };
                self.push_end(&mut text, depth + 1, bone * END_SHARE);
            }
        }
        close(&mut text, &mut open, 0);
        // The reciprocal of a rate is that number again for a reader, because all digits are there.
        let _ = write!(text, "MOTION\nFrames: {frames}\nFrame Time: {}\n", 1.0 / fps);
        text
    }

    /// Appends the line of a frame. `local` has the local transforms of all joints of the skeleton.
    pub fn row(&mut self, local: &[Transform], text: &mut String) {
        self.place(local);
        let mut is_first = true;
        for index in 0..self.zero.joints.len() {
            if self.is_end(index) {
                continue;
            }
            let Placed { place, rotation } = self.local[index];
            let angles = self.order.angles(rotation, self.angles[index]);
            self.angles[index] = angles;
            let place = self.has_positions(index).then_some(place.to_array());
            let places = place.into_iter().flatten().map(|number| (number, self.decimals));
            for (number, decimals) in places.chain(angles.to_array().map(|angle| (angle, ANGLE_DECIMALS))) {
                if !std::mem::take(&mut is_first) {
                    text.push(' ');
                }
                push_number(text, number, decimals);
            }
        }
        text.push('\n');
    }

    /// Makes the joints of `zero` from a pose of the skeleton.
    fn place(&mut self, local: &[Transform]) {
        place(self.skeleton, local, &mut self.placed);
        self.zero.local(&self.placed, &mut self.local);
    }

    fn is_end(&self, index: usize) -> bool {
        self.may_be_end[index] && !self.moves[index]
    }

    fn has_positions(&self, index: usize) -> bool {
        self.moves[index] || self.zero.parents[index].is_none()
    }

    fn push_end(&self, text: &mut String, depth: usize, offset: DVec3) {
        push_line(text, depth, "End Site");
        push_line(text, depth, "{");
        push_line(text, depth + 1, &self.offset_line(offset));
        push_line(text, depth, "}");
    }

    fn offset_line(&self, offset: DVec3) -> String {
        let mut line = String::from("OFFSET");
        for number in offset.to_array() {
            line.push(' ');
            push_number(&mut line, number, self.decimals);
        }
        line
    }

    fn channels_line(&self, index: usize) -> String {
        let (count, positions) =
            if self.has_positions(index) { (6, " Xposition Yposition Zposition") } else { (3, "") };
        let [one, two, three] = self.order.axes().map(|axis| AXIS_NAMES[axis]);
        format!("CHANNELS {count}{positions} {one}rotation {two}rotation {three}rotation")
    }
}

/// The joints of a skeleton that a file has.
struct Kept {
    /// True for each joint that is written.
    joints: Vec<bool>,
    /// True for each of them that is an End Site unless it moves.
    ends: Vec<bool>,
}

impl Kept {
    fn new(library: &Library, id: SkeletonId, options: &Options) -> Result<Self, Error> {
        let skeleton = library.skeleton(id);
        let nodes = skeleton.joints();
        let mut joints = match &options.joints {
            None => are_joints(library, id),
            Some(listed) => {
                let mut joints = vec![false; nodes.len()];
                for &joint in listed {
                    let place = joints.get_mut(joint);
                    *place.ok_or_else(|| Error::Usage(no_such("joint", joint, "skeleton", nodes.len())))? = true;
                }
                joints
            }
        };
        let (mut is_leaf, mut is_last) = (vec![true; nodes.len()], joints.clone());
        for (joint, parent) in nodes.iter().enumerate().filter_map(|(joint, node)| Some((joint, node.parent?))) {
            is_leaf[parent] = false;
            is_last[parent] &= !joints[joint];
        }
        let mut ends = vec![false; nodes.len()];
        for (joint, node) in nodes.iter().enumerate().filter(|(joint, node)| is_leaf[*joint] && node.weights.is_empty())
        {
            let (Some(name), Some(parent)) = (node.name.as_deref(), node.parent) else { continue };
            if joints[joint] {
                let of_parent = nodes[parent].name.as_deref().and_then(|parent| name.strip_prefix(parent));
                ends[joint] = joints[parent] && of_parent.is_some_and(|end| end.eq_ignore_ascii_case("_end"));
            } else if options.joints.is_none() && is_last[parent] && is_end_name(name) {
                (joints[joint], ends[joint]) = (true, true);
                // A joint has one End Site.
                is_last[parent] = false;
            }
        }
        Ok(Self { joints, ends })
    }
}

/// True for the name of a joint that marks the end of a bone.
fn is_end_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["end", "nub"].iter().any(|end| name.ends_with(end))
}

/// The names of joints as BVH files can have them. Adds a note if some are changed.
fn names(skeleton: &Skeleton, joints: &[usize], notes: &mut Vec<String>) -> Vec<String> {
    let (mut unique, mut names) = (UniqueNames::default(), Vec::with_capacity(joints.len()));
    let (mut changed, mut example) = (0, None);
    for &joint in joints {
        let given = skeleton.joints()[joint].name.as_deref().unwrap_or_default();
        let name = unique.add(bvh_name(given));
        if name != given {
            changed += 1;
            example.get_or_insert_with(|| format!("{given:?} as {name}"));
        }
        names.push(name);
    }
    if let Some(example) = example {
        notes.push(format!(
            "{changed} names of joints have spaces or braces, are missing or occur twice, which readers of BVH files do not \
             expect; they are changed, {example}"
        ));
    }
    names
}

/// A name without spaces, braces and control characters. It is not empty.
fn bvh_name(name: &str) -> String {
    let name = name.trim();
    let end = (0..=name.len().min(MAX_NAME)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    let is_split = |letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '{' | '}');
    let name: String = name[..end].chars().map(|letter| if is_split(letter) { '_' } else { letter }).collect();
    if name.is_empty() { "joint".into() } else { name }
}

/// Closes the braces of joints down to a depth.
fn close(text: &mut String, open: &mut usize, depth: usize) {
    while *open > depth {
        *open -= 1;
        push_line(text, *open, "}");
    }
}

fn push_line(text: &mut String, depth: usize, line: &str) {
    text.extend(std::iter::repeat_n('\t', depth.min(MAX_INDENT)));
    text.push_str(line);
    text.push('\n');
}

/// Appends a number with at most these decimals, without zeros at its end.
fn push_number(text: &mut String, number: f64, decimals: usize) {
    let start = text.len();
    let _ = write!(text, "{number:.decimals$}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.').len();
    // Zeros before the point are digits.
    if text[start..].contains('.') {
        text.truncate(trimmed);
    }
    if &text[start..] == "-0" {
        text.replace_range(start.., "0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, decimals, expected) in [
            (0.0, 6, "0"),
            (-0.0, 6, "0"),
            (-1e-9, 6, "0"),
            (100.0, 3, "100"),
            (100.0, 0, "100"),
            (-2.5, 6, "-2.5"),
            (1.0 / 3.0, 4, "0.3333"),
            (1e-7, 9, "0.0000001"),
        ] {
            let mut text = String::from("10 ");
            push_number(&mut text, number, decimals);
            assert_eq!(text, format!("10 {expected}"));
        }
    }

    #[test]
    fn names_have_no_spaces_and_braces() {
        for (name, expected) in [
            ("Hips", "Hips"),
            ("mixamorig:Left Arm", "mixamorig:Left_Arm"),
            (" a\tb{c}\n", "a_b_c_"),
            ("\u{9aa8}\u{3000}\u{9aa8}", "\u{9aa8}_\u{9aa8}"),
            ("  ", "joint"),
        ] {
            assert_eq!(bvh_name(name), expected);
        }
        assert_eq!(bvh_name(&"\u{9aa8}".repeat(300)).len(), 498);
    }
}
