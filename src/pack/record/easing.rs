//! Codes of easings.

use crate::pack::record::constants;

constants! {
    /// Code of the linear easing.
    pub const EASING_LINEAR: u32 = 0;
    /// Code of the easing that is 0 up to the end.
    pub const EASING_CONSTANT: u32 = 1;
    /// First code of the `quad` easings. A variant, `EASING_IN` to `EASING_OUT_IN`, is added to it. Each name has four codes.
    pub const EASING_QUAD: u32 = 2;
    /// First code of the `cubic` easings.
    pub const EASING_CUBIC: u32 = 6;
    /// First code of the `quart` easings.
    pub const EASING_QUART: u32 = 10;
    /// First code of the `quint` easings.
    pub const EASING_QUINT: u32 = 14;
    /// First code of the `sine` easings.
    pub const EASING_SINE: u32 = 18;
    /// First code of the `expo` easings.
    pub const EASING_EXPO: u32 = 22;
    /// First code of the `circ` easings.
    pub const EASING_CIRC: u32 = 26;
    /// First code of the `elastic` easings.
    pub const EASING_ELASTIC: u32 = 30;
    /// First code of the `back` easings.
    pub const EASING_BACK: u32 = 34;
    /// First code of the `bounce` easings.
    pub const EASING_BOUNCE: u32 = 38;
    /// Code of the `smooth` easing, which has no variants.
    pub const EASING_SMOOTH: u32 = 42;
    /// Code of the `fade` easing, which has no variants.
    pub const EASING_FADE: u32 = 43;
    /// First code of a Bezier curve. The offset of its two values is added to it: the control points, then the parameter and the
    /// x of its first and its second fold.
    pub const EASING_BEZIER: u32 = 44;
    /// Variant of an easing: the function itself.
    pub const EASING_IN: u32 = 0;
    /// Variant of an easing: the function rotated by half a turn.
    pub const EASING_OUT: u32 = 1;
    /// Variant of an easing: the first half as `in`, the second as `out`.
    pub const EASING_IN_OUT: u32 = 2;
    /// Variant of an easing: the first half as `out`, the second as `in`.
    pub const EASING_OUT_IN: u32 = 3;
}
