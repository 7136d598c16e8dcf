//! Clips whose targets are named, not yet those of a skeleton.

use std::fmt;

use crate::model::{Curve, Event, InterpolatorId, WrapMode};

/// A clip whose targets are paths of names: to be bound to a skeleton, or to many, by
/// [`Library::bind`](crate::Library::bind).
#[derive(Debug, Clone, PartialEq)]
pub struct UnboundClip {
    /// The clip's name, where it has one.
    pub name: Option<String>,
    /// Seconds that it lasts.
    pub duration: f64,
    /// Seconds of the clip in a second of play, where nobody says otherwise.
    pub speed: f64,
    /// What happens at the ends, where nobody says otherwise.
    pub wrap: WrapMode,
    /// What it calls, ordered by time.
    pub events: Vec<Event>,
    /// What moves.
    pub tracks: Vec<UnboundTrack>,
}

/// A target by name, and what drives it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnboundTrack {
    /// What is driven.
    pub target: TargetPath,
    /// What kind of value it has.
    pub kind: ValueKind,
    /// Its values over time.
    pub curves: UnboundCurves,
}

/// A target by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TargetPath {
    /// Names from the root down, each the first child of that name; none is the root itself.
    pub path: Vec<String>,
    /// A component of the node, such as `cc.Sprite`; `None` for the node itself.
    pub component: Option<String>,
    /// The property. `position`, `rotation`, `scale` and `eulerAngles` of a node move a joint.
    pub property: String,
    /// The one number of the property that is driven, where it is not all of it: 0 for x, r or width, and so on.
    pub element: Option<usize>,
}

impl fmt::Display for TargetPath {
    /// `/path/of/names:component.property.element`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "/{}:", self.path.join("/"))?;
        if let Some(component) = &self.component {
            write!(out, "{component}.")?;
        }
        write!(out, "{}", self.property)?;
        self.element.map_or(Ok(()), |element| write!(out, ".{element}"))
    }
}

/// Curves of an unbound track.
#[derive(Debug, Clone, PartialEq)]
pub enum UnboundCurves {
    /// None: nothing is driven.
    Empty,
    /// One, as wide as the value.
    Whole(Curve),
    /// One a number of the value, each 1 wide; what has none keeps its value.
    Channels(Vec<Option<Curve>>),
}

/// What kind of value a property has, and so what its numbers mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// A number.
    Number,
    /// x and y.
    Vec2,
    /// x, y and z.
    Vec3,
    /// x, y, z and w.
    Vec4,
    /// A quaternion xyzw.
    Quat,
    /// Red, green, blue and alpha from 0 to 255, unrounded; see [`color_bytes`].
    Color,
    /// Width and height.
    Size,
    /// x, y, width and height.
    Rect,
    /// Something that does not interpolate: the index of the key whose value holds.
    Held,
    /// What an interpolator makes.
    Custom {
        /// Whose value it is.
        interpolator: InterpolatorId,
        /// Numbers of the result.
        width: usize,
    },
}

impl ValueKind {
    /// The number of numbers of a value.
    pub fn width(self) -> usize {
        match self {
            Self::Number | Self::Held => 1,
            Self::Vec2 | Self::Size => 2,
            Self::Vec3 => 3,
            Self::Vec4 | Self::Quat | Self::Color | Self::Rect => 4,
            Self::Custom { width, .. } => width,
        }
    }
}

/// The bytes of a colour whose numbers are unrounded: kept within 0 to 255, then cut to whole numbers, as Cocos Creator
/// did before release 1.0. What is not a number is 0.
pub fn color_bytes(color: [f64; 4]) -> [u8; 4] {
    color.map(|channel| channel.clamp(0.0, 255.0) as u8)
}
