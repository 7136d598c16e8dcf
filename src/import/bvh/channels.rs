//! The channels of a joint: the columns of MOTION that move it.

use crate::model::Target;

/// One number of a joint in each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    /// The component of the translation along an axis.
    Position(usize),
    /// A rotation about an axis, in degrees.
    Rotation(usize),
}

impl Channel {
    /// The most channels of a joint.
    pub const MOST: u64 = 6;

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
    Rotation { joint: usize, turns: Vec<Turn> },
}

/// A rotation about an axis by the angle of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// 0 is x, 1 is y, 2 is z.
    pub axis: usize,
    pub column: usize,
}

impl Columns {
    /// The tracks of the channels of a joint, the first of which has the column `first`. Fails for a component that has two
    /// channels, and for more than three rotations.
    pub fn of_joint(joint: usize, offset: [f64; 3], channels: &[Channel], first: usize) -> Result<Vec<Self>, String> {
        let (mut positions, mut turns) = ([None; 3], Vec::new());
        for (column, &channel) in (first..).zip(channels) {
            match channel {
                Channel::Position(axis) if positions[axis].is_some() => {
                    let axis = ["X", "Y", "Z"][axis];
                    return Err(format!(
                        "{axis}position stands twice in CHANNELS; expected each position once at most"
                    ));
                }
                Channel::Position(axis) => positions[axis] = Some(column),
                Channel::Rotation(axis) => turns.push(Turn { axis, column }),
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
