//! Clips with targets by name, not yet bound to a skeleton.

use std::fmt;

use crate::model::{Curve, Event, InterpolatorId, WrapMode};

/// A clip whose targets are paths of names. [`Library::bind`](crate::Library::bind) binds it to any number of skeletons.
#[derive(Debug, Clone, PartialEq)]
pub struct UnboundClip {
    /// The name of the clip, if it has one.
    pub name: Option<String>,
    /// The duration in seconds.
    pub duration: f64,
    /// The default rate: seconds of the clip per second of play.
    pub speed: f64,
    /// The default behaviour at the ends.
    pub wrap: WrapMode,
    /// The events, ordered by time.
    pub events: Vec<Event>,
    /// The tracks.
    pub tracks: Vec<UnboundTrack>,
}

/// A target by name, and the curves that drive it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnboundTrack {
    /// The driven target.
    pub target: TargetPath,
    /// The kind of its value.
    pub kind: ValueKind,
    /// The values over time.
    pub curves: UnboundCurves,
}

/// A target by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TargetPath {
    /// Names from the root down, each selecting the first child of that name. The empty path is the root itself.
    pub path: Vec<String>,
    /// A component of the node, such as `cc.Sprite`; `None` for the node itself.
    pub component: Option<String>,
    /// The name of the property. `position`, `rotation`, `scale` and `eulerAngles` of a node move a joint.
    pub property: String,
    /// The index of the driven number of the property: 0 for x, r or width, and so on. `None` for the whole property.
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
    /// No curve: the track drives nothing.
    Empty,
    /// One curve, as wide as the value.
    Whole(Curve),
    /// One optional curve per number of the value, each 1 wide. A number without a curve keeps its value.
    Channels(Vec<Option<Curve>>),
}

/// The kind of a value, which gives its numbers their meaning.
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
    /// The index of the key whose value holds, for values that do not interpolate.
    Held,
    /// The result of an interpolator.
    Custom {
        /// The interpolator.
        interpolator: InterpolatorId,
        /// The number of numbers of the result.
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

/// Converts an unrounded colour to bytes: clamps each number to 0 and 255, then truncates it, as Cocos Creator did before release
/// 1.0. NaN becomes 0.
pub fn color_bytes(color: [f64; 4]) -> [u8; 4] {
    color.map(|channel| channel.clamp(0.0, 255.0) as u8)
}
