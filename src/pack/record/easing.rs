//! The codes of easings.

use crate::pack::record::constants;

constants! {
    /// Code of an easing that changes nothing.
    pub const EASING_LINEAR: u32 = 0;
    /// Code of the easing that stays at 0.
    pub const EASING_CONSTANT: u32 = 1;
    /// Code of the first easing of a family, to which the part is added; families follow one another in fours.
    pub const EASING_QUAD: u32 = 2;
    /// As above.
    pub const EASING_CUBIC: u32 = 6;
    /// As above.
    pub const EASING_QUART: u32 = 10;
    /// As above.
    pub const EASING_QUINT: u32 = 14;
    /// As above.
    pub const EASING_SINE: u32 = 18;
    /// As above.
    pub const EASING_EXPO: u32 = 22;
    /// As above.
    pub const EASING_CIRC: u32 = 26;
    /// As above.
    pub const EASING_ELASTIC: u32 = 30;
    /// As above.
    pub const EASING_BACK: u32 = 34;
    /// As above.
    pub const EASING_BOUNCE: u32 = 38;
    /// Code of an easing without a family.
    pub const EASING_SMOOTH: u32 = 42;
    /// Code of an easing without a family.
    pub const EASING_FADE: u32 = 43;
    /// First code of a Bezier curve, to which the place of its two values is added: its control points, then the parameter and
    /// the x of its first and its second fold.
    pub const EASING_BEZIER: u32 = 44;
    /// Part of an easing family: as it is.
    pub const EASING_IN: u32 = 0;
    /// Turned by half a turn.
    pub const EASING_OUT: u32 = 1;
    /// The first half as it is, the second turned.
    pub const EASING_IN_OUT: u32 = 2;
    /// The first half turned, the second as it is.
    pub const EASING_OUT_IN: u32 = 3;
}
