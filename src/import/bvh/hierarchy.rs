//! HIERARCHY: joints and their channels, the columns of MOTION that move a joint.

use std::collections::HashMap;
use std::io::BufRead;

use glam::DVec3;

use crate::error::Error;
use crate::import::Warning;
use crate::import::bvh::lines::Words;
use crate::import::file_error::shorten;
use crate::model::{Joint, Target, Transform};

/// The most joints of a file. The memory of a joint is larger than its text.
const MAX_JOINTS: usize = 1 << 20;

/// The joints of a file, and the tracks that its columns make.
#[derive(Debug, Default)]
pub(super) struct Hierarchy {
    /// The joints, parents before children, in the order of the file.
    pub joints: Vec<Joint>,
    /// The tracks, in the order of the joints.
    pub tracks: Vec<Columns>,
    /// The number of columns of MOTION.
    pub columns: usize,
    pub warnings: Vec<Warning>,
}

/// The index of an End Site that is left out, which no joint has.
const LEFT_OUT: usize = usize::MAX;

/// A joint that has begun, and has not ended.
struct Open {
    /// The index of the joint, or [`LEFT_OUT`].
    joint: usize,
    /// The line of ROOT, JOINT or End Site.
    line: u64,
    is_end_site: bool,
    has_offset: bool,
    has_children: bool,
    /// The channels, after CHANNELS.
    channels: Option<Vec<BvhChannel>>,
    /// The column of the first channel.
    first_column: usize,
}

/// A hierarchy that is being read.
#[derive(Default)]
struct Builder {
    hierarchy: Hierarchy,
    /// The joints around the present word, roots first.
    open: Vec<Open>,
    /// The line of the first joint of each name.
    names: HashMap<String, u64>,
    /// `true` if End Sites become joints.
    end_sites: bool,
}

impl Hierarchy {
    /// Reads the words up to MOTION, with it. Without `end_sites`, End Sites become no joints.
    pub fn read(words: &mut Words<impl BufRead>, end_sites: bool) -> Result<Self, Error> {
        let mut builder = Builder { end_sites, ..Builder::default() };
        words.keyword("HIERARCHY", "HIERARCHY, the first word of a BVH file")?;
        while builder.read_part(words)? {}
        let mut hierarchy = builder.hierarchy;
        if let Some(names) = words.shift_jis_names() {
            hierarchy.rename(&names);
        }
        // Joints end after their children, but tracks have the order of the joints.
        hierarchy.tracks.sort_by_key(|track| match *track {
            Columns::Translation { joint, .. } => (joint, 0),
            Columns::Rotation { joint, .. } => (joint, 1),
        });
        Ok(hierarchy)
    }
}

impl Builder {
    /// Reads a keyword and what belongs to it. Returns `false` after MOTION.
    fn read_part(&mut self, words: &mut Words<impl BufRead>) -> Result<bool, Error> {
        let word = words.need(expected_word(self.open.last()))?;
        let keyword = word.to_ascii_uppercase();
        match (keyword.as_str(), self.open.last_mut()) {
            ("ROOT", None) | ("JOINT", Some(Open { is_end_site: false, .. })) => {
                let name = words.name(&keyword)?;
                self.begin(words, name, false)?;
            }
            ("END", Some(Open { is_end_site: false, joint, .. })) => {
                let parent = self.hierarchy.joints.get(*joint).and_then(|joint| joint.name.as_deref());
                let name = match words.end_site_name()? {
                    Some(name) => name,
                    None => format!("{}_end", parent.unwrap_or_default()),
                };
                self.begin(words, name, true)?;
            }
            ("OFFSET", Some(open)) => self.hierarchy.read_offset(words, open)?,
            ("CHANNELS", Some(open)) if !open.is_end_site => self.hierarchy.read_channels(words, open)?,
            ("}", Some(open)) => {
                self.hierarchy.end(words, open)?;
                self.open.pop();
            }
            ("MOTION", None) if !self.hierarchy.joints.is_empty() => return Ok(false),
            (_, open) => return Err(unexpected(words, &word, open.as_deref())),
        }
        Ok(true)
    }

    fn begin(&mut self, words: &mut Words<impl BufRead>, name: String, is_end_site: bool) -> Result<(), Error> {
        let line = words.line();
        let Self { hierarchy, open, names, end_sites } = self;
        if hierarchy.joints.len() == MAX_JOINTS {
            return Err(words.error(format!("the hierarchy has more than {MAX_JOINTS} joints; split the file")));
        }
        words.keyword("{", &format!("`{{` after the name of {:?}", shorten(&name)))?;
        let parent = open.last_mut().map(|parent| {
            parent.has_children = true;
            parent.joint
        });
        let is_left_out = is_end_site && !*end_sites;
        open.push(Open {
            joint: if is_left_out { LEFT_OUT } else { hierarchy.joints.len() },
            line,
            is_end_site,
            has_offset: false,
            has_children: false,
            channels: None,
            first_column: 0,
        });
        if is_left_out {
            return Ok(());
        }
        if let Some(first) = names.get(&name) {
            // One warning suffices: a copied branch repeats each name.
            if hierarchy.warnings.is_empty() {
                let message = format!(
                    "the name {:?} is also that of the joint of line {first}; a path or NAME#K selects one of \
                     them. Further repeated names are not listed",
                    shorten(&name)
                );
                hierarchy.warnings.push(Warning { path: format!("line {line}"), message });
            }
        } else {
            names.insert(name.clone(), line);
        }
        hierarchy.joints.push(Joint { name: Some(name), parent, ..Joint::default() });
        Ok(())
    }
}

impl Hierarchy {
    /// Replaces names of joints, and the same names before `_end`.
    fn rename(&mut self, names: &HashMap<String, String>) {
        for name in self.joints.iter_mut().filter_map(|joint| joint.name.as_mut()) {
            if let Some(new) = names.get(name.as_str()) {
                new.clone_into(name);
            } else if let Some(new) = name.strip_suffix("_end").and_then(|parent| names.get(parent)) {
                *name = format!("{new}_end");
            }
        }
    }

    fn read_offset(&mut self, words: &mut Words<impl BufRead>, open: &mut Open) -> Result<(), Error> {
        if open.has_offset {
            return Err(words.error("OFFSET stands twice in one joint; expected it once"));
        }
        let mut offset = [0.0; 3];
        for (number, axis) in offset.iter_mut().zip(["x", "y", "z"]) {
            *number = words.number(&format!("the {axis} of OFFSET, a finite number in the range of an f32"))?;
        }
        open.has_offset = true;
        if let Some(joint) = self.joints.get_mut(open.joint) {
            joint.rest = Transform { translation: DVec3::from(offset), ..Transform::IDENTITY };
        }
        Ok(())
    }

    fn read_channels(&mut self, words: &mut Words<impl BufRead>, open: &mut Open) -> Result<(), Error> {
        if open.channels.is_some() {
            return Err(words.error("CHANNELS stands twice in one joint; expected it once"));
        }
        if open.has_children {
            return Err(words.error(
                "CHANNELS stands after a child of the joint, so that the order of the columns is not clear; move it before \
                 the children",
            ));
        }
        let count = words.count("the number of channels, 0 to 6")?;
        if count > BvhChannel::MAX_COUNT {
            return Err(words.error(format!("found {count} channels; expected 0 to {}", BvhChannel::MAX_COUNT)));
        }
        let mut channels = Vec::new();
        for index in 0..count {
            let expected = format!(
                "channel {} of {count}: Xposition, Yposition, Zposition, Xrotation, Yrotation or Zrotation",
                index + 1
            );
            let word = words.need(&expected)?;
            let channel = BvhChannel::from_word(&word);
            let channel =
                channel.ok_or_else(|| words.error(format!("found {:?}; expected {expected}", shorten(&word))))?;
            channels.push(channel);
        }
        // The tracks need the OFFSET, which may follow. Errors have the line of CHANNELS.
        Columns::of_joint(open.joint, [0.0; 3], &channels, 0).map_err(|reason| words.error(reason))?;
        open.first_column = self.columns;
        self.columns += channels.len();
        open.channels = Some(channels);
        Ok(())
    }

    fn end(&mut self, words: &Words<impl BufRead>, open: &Open) -> Result<(), Error> {
        let Some(joint) = self.joints.get(open.joint) else { return Ok(()) };
        if !open.has_offset {
            let (name, line) = (shorten(joint.name.as_deref().unwrap_or_default()), open.line);
            return Err(words.error(format!(
                "{name:?} of line {line} ends without an OFFSET; expected `OFFSET x y z` before `}}`"
            )));
        }
        let offset = joint.rest.translation.to_array();
        let channels = open.channels.as_deref().unwrap_or_default();
        let tracks = Columns::of_joint(open.joint, offset, channels, open.first_column);
        self.tracks.extend(tracks.map_err(|reason| words.error(reason))?);
        Ok(())
    }
}

/// The words that may follow.
fn expected_word(open: Option<&Open>) -> &'static str {
    match open {
        None => "ROOT or MOTION",
        Some(Open { is_end_site: true, .. }) => "OFFSET or `}`, as it is inside an End Site",
        Some(_) => "OFFSET, CHANNELS, JOINT, End Site or `}`",
    }
}

/// The error of a word at a place where it cannot stand.
fn unexpected(words: &Words<impl BufRead>, word: &str, open: Option<&Open>) -> Error {
    let expected = expected_word(open);
    let hint = match (word.to_ascii_uppercase().as_str(), open) {
        ("JOINT", None) => ". A joint outside all others is a ROOT",
        ("}", None) => ". There is one `}` more than `{`",
        ("MOTION", None) => ". There is no joint before MOTION",
        ("MOTION", Some(_)) => ". A `}` is missing before MOTION",
        ("CHANNELS", Some(_)) => ". An End Site has no channels",
        (upper, Some(joint)) if joint.channels.is_some() && BvhChannel::from_word(upper).is_some() => {
            ". CHANNELS announces fewer channels than it lists"
        }
        _ => "",
    };
    words.error(format!("found {:?}; expected {expected}{hint}", shorten(word)))
}

/// One number of a joint in each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BvhChannel {
    /// The component of the translation along an axis.
    Position(usize),
    /// A rotation about an axis, in degrees.
    Rotation(usize),
}

impl BvhChannel {
    /// The most channels of a joint.
    pub const MAX_COUNT: u64 = 6;

    /// The channel of a word such as `Xposition`, in any case.
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let axis = ["x", "y", "z"].into_iter().position(|axis| word.starts_with(axis))?;
        match word.get(1..) {
            Some("position") => Some(Self::Position(axis)),
            Some("rotation") => Some(Self::Rotation(axis)),
            _ => None,
        }
    }
}

/// A track and the columns that it is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Columns {
    /// The translation of a joint.
    Translation {
        joint: usize,
        /// The OFFSET, for components without a column.
        offset: [f64; 3],
        columns: [Option<usize>; 3],
    },
    /// The rotation of a joint: the product of turns, in the order of the file.
    Rotation { joint: usize, turns: Vec<AxisRotation> },
}

/// A rotation about an axis by the angle of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AxisRotation {
    /// 0 is x, 1 is y, 2 is z.
    pub axis: usize,
    pub column: usize,
}

impl Columns {
    /// The tracks of the channels of a joint, the first of which has the column `first`. Fails for a component that has
    /// two channels, and for more than three rotations.
    pub fn of_joint(
        joint: usize,
        offset: [f64; 3],
        channels: &[BvhChannel],
        first: usize,
    ) -> Result<Vec<Self>, String> {
        let (mut positions, mut turns) = ([None; 3], Vec::new());
        for (column, &channel) in (first..).zip(channels) {
            match channel {
                BvhChannel::Position(axis) if positions[axis].is_some() => {
                    let axis = ["X", "Y", "Z"][axis];
                    return Err(format!(
                        "{axis}position stands twice in CHANNELS; expected each position once at most"
                    ));
                }
                BvhChannel::Position(axis) => positions[axis] = Some(column),
                BvhChannel::Rotation(axis) => turns.push(AxisRotation { axis, column }),
            }
        }
        if turns.len() > 3 {
            return Err(format!("CHANNELS has {} rotations; expected at most 3 per joint", turns.len()));
        }
        let mut tracks = Vec::new();
        if positions.iter().any(Option::is_some) {
            tracks.push(Self::Translation { joint, offset, columns: positions });
        }
        if !turns.is_empty() {
            tracks.push(Self::Rotation { joint, turns });
        }
        Ok(tracks)
    }

    /// The target of the track.
    pub fn target(&self) -> Target {
        match *self {
            Self::Translation { joint, .. } => Target::Translation(joint),
            Self::Rotation { joint, .. } => Target::Rotation(joint),
        }
    }
}
