//! The kinds of arrays.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// A kind of array. Its name is that of the array in files; several skins add their index to it.
///
/// # Examples
/// ```
/// use posse::bake::ArrayKind;
///
/// assert_eq!("local_quat".parse::<ArrayKind>()?, ArrayKind::LocalQuat);
/// assert_eq!(ArrayKind::Pos.to_string(), "pos");
/// # Ok::<(), posse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArrayKind {
    /// Positions of joints in model space, 3 numbers each.
    Pos,
    /// Rotations of joints in model space, quaternions of unit length: the products of the local rotations from the root to the
    /// joint. Scales do not affect them.
    Quat,
    /// Velocities of joints in model space, per second.
    Linvel,
    /// Angular velocities of joints in model space: the axis times radians per second.
    Angvel,
    /// Translations of joints relative to their parents.
    LocalPos,
    /// Rotations of joints relative to their parents, quaternions of unit length.
    LocalQuat,
    /// Scales of joints, one factor per axis.
    LocalScale,
    /// Skin matrices, 4 rows of 4 numbers; one array per skin.
    Skin,
    /// Morph weights, joint after joint.
    Weights,
    /// Numbers of all properties, property after property.
    Properties,
    /// Position and rotation of the first joint in model space, 7 numbers.
    Root,
}

impl ArrayKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Pos,
        Self::Quat,
        Self::Linvel,
        Self::Angvel,
        Self::LocalPos,
        Self::LocalQuat,
        Self::LocalScale,
        Self::Skin,
        Self::Weights,
        Self::Properties,
        Self::Root,
    ];

    /// The name, for example `local_pos`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pos => "pos",
            Self::Quat => "quat",
            Self::Linvel => "linvel",
            Self::Angvel => "angvel",
            Self::LocalPos => "local_pos",
            Self::LocalQuat => "local_quat",
            Self::LocalScale => "local_scale",
            Self::Skin => "skin",
            Self::Weights => "weights",
            Self::Properties => "properties",
            Self::Root => "root",
        }
    }

    /// Returns true for velocities, which need the pose before and after a time.
    pub fn is_velocity(self) -> bool {
        matches!(self, Self::Linvel | Self::Angvel)
    }
}

impl fmt::Display for ArrayKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for ArrayKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::Usage(format!("there is no array {name:?}; expected one of {names}"))
        })
    }
}
