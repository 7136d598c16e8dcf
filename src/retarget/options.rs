//! The choices of a retargeting, and the words for them in arguments and options.

use std::str::FromStr;

use glam::DVec3;

use crate::retarget::pose::ReferencePose;

/// The choices and the error bounds of a retargeting.
#[derive(Debug, Clone, PartialEq)]
pub struct RetargetOptions {
    /// The pose of the source that looks like a pose of the target. The rest pose by default.
    pub reference: ReferencePose,
    /// The pose of the target that looks like the reference pose. The rest pose by default.
    pub target_pose: ReferencePose,
    /// True, the default, if the bones of the reference pose are rotated to where the bones of the target's pose point.
    /// Without it, the two poses count as alike as they are.
    pub align: bool,
    /// The up axis of the source: one of the axes, or its opposite. `None`, the default, for the axis along which the
    /// figure stands in its clips or in its rest pose, and +Y where neither tells.
    pub source_up: Option<DVec3>,
    /// The rotation of the source about the up axis.
    pub facing: Facing,
    /// The ground of the source.
    pub ground: Ground,
    /// The joints whose translations and scales are carried over.
    pub translations: CarriedJoints,
    /// The largest error of resampled rotations in model space, in radians; 1e-4 by default.
    pub rotation_bound: f64,
    /// The largest error of a resampled translation of the root in model space, as a share of the rig's size; 1e-4 by
    /// default.
    pub translation_bound: f64,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            reference: ReferencePose::Rest,
            target_pose: ReferencePose::Rest,
            align: true,
            source_up: None,
            facing: Facing::Auto,
            ground: Ground::Auto,
            translations: CarriedJoints::All,
            rotation_bound: 1e-4,
            translation_bound: 1e-4,
        }
    }
}

impl RetargetOptions {
    /// The value of [`align`](Self::align) for a word: `auto` or `off`, in any case.
    ///
    /// # Errors
    /// The words that are expected.
    pub fn parse_align(text: &str) -> Result<bool, String> {
        of_word(text, &[("auto", true), ("off", false)]).ok_or_else(|| "expected auto or off".into())
    }

    /// The value of [`source_up`](Self::source_up) for a word: `auto`, or an axis as `z`, `+z` or `-z`, in any case.
    ///
    /// # Errors
    /// The words that are expected.
    pub fn parse_source_up(text: &str) -> Result<Option<DVec3>, String> {
        let axes = [("x", DVec3::X), ("y", DVec3::Y), ("z", DVec3::Z)];
        let (sign, axis) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
            (Some(axis), _) => (-1.0, axis),
            (None, axis) => (1.0, axis.unwrap_or(text)),
        };
        if text.eq_ignore_ascii_case("auto") {
            return Ok(None);
        }
        let axis = of_word(axis, &axes).ok_or("expected auto, x, y, z, -x, -y or -z")?;
        Ok(Some(sign * axis))
    }
}

/// The value of a word, in any case.
fn of_word<T: Copy>(text: &str, words: &[(&str, T)]) -> Option<T> {
    words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, value)| *value)
}

/// `auto`, `keep` or a finite number of degrees.
impl FromStr for Facing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let degrees = || text.trim().parse().ok().filter(|degrees: &f64| degrees.is_finite()).map(Self::Degrees);
        let found = of_word(text, &[("auto", Self::Auto), ("keep", Self::Keep)]).or_else(degrees);
        found.ok_or_else(|| "expected auto, keep or a number of degrees".into())
    }
}

/// `auto`, `zero` or `keep`.
impl FromStr for Ground {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = [("auto", Self::Auto), ("zero", Self::Zero), ("keep", Self::Keep)];
        of_word(text, &words).ok_or_else(|| "expected auto, zero or keep".into())
    }
}

/// `all` or `root`.
impl FromStr for CarriedJoints {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        of_word(text, &[("all", Self::All), ("root", Self::Root)]).ok_or_else(|| "expected all or root".into())
    }
}

/// The joints whose translations and scales are carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CarriedJoints {
    /// The root of the map alone: its translation.
    Root,
    /// All pairs of joints by names or by the caller whose nearest mapped joints above are a pair, too: their changes
    /// relative to the reference pose, times the factor of the root.
    #[default]
    All,
}

/// The rotation of the source's space about the up axis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Facing {
    /// The front of the source in the reference pose becomes the front of the target's rest pose: to the nearest
    /// quarter rotation within 20 degrees, else exactly. If the reference pose does not stand upright, +Z counts as the
    /// front, or -Y if +Z is up. If the pose of the target does not, nothing is rotated.
    #[default]
    Auto,
    /// Nothing is rotated.
    Keep,
    /// A rotation by an angle in degrees, counterclockwise if seen from above.
    Degrees(f64),
}

/// The ground on which the feet of a source come down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ground {
    /// At height 0 if the lowest point of the feet is within a tenth of a leg of it in a tenth of the poses of the clip
    /// or more, else at the lowest point over the clip.
    #[default]
    Auto,
    /// At height 0.
    Zero,
    /// Nowhere: the root moves up and down relative to the reference pose of the source and the rest pose of the
    /// target.
    Keep,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_any_case_and_errors_list_them() {
        assert_eq!(RetargetOptions::parse_align("auto"), Ok(true));
        assert_eq!(RetargetOptions::parse_align("OFF"), Ok(false));
        assert_eq!(RetargetOptions::parse_align("on"), Err("expected auto or off".into()));
        let up = RetargetOptions::parse_source_up;
        assert_eq!((up("Auto"), up("z"), up("+Z")), (Ok(None), Ok(Some(DVec3::Z)), Ok(Some(DVec3::Z))));
        assert_eq!((up("-x"), up("-Y")), (Ok(Some(-DVec3::X)), Ok(Some(-DVec3::Y))));
        for text in ["", "w", "--z", "+-z", "xy", "-auto"] {
            assert_eq!(up(text), Err("expected auto, x, y, z, -x, -y or -z".into()), "{text}");
        }
        let facing = |text: &str| text.parse::<Facing>();
        assert_eq!((facing("auto"), facing("Keep")), (Ok(Facing::Auto), Ok(Facing::Keep)));
        assert_eq!((facing("-90"), facing(" 720.5 ")), (Ok(Facing::Degrees(-90.0)), Ok(Facing::Degrees(720.5))));
        for text in ["back", "", "nan", "inf", "1e999"] {
            assert_eq!(facing(text), Err("expected auto, keep or a number of degrees".into()), "{text}");
        }
        assert_eq!(
            ["auto", "zero", "keep"].map(str::parse::<Ground>),
            [Ok(Ground::Auto), Ok(Ground::Zero), Ok(Ground::Keep)]
        );
        assert_eq!("floor".parse::<Ground>(), Err("expected auto, zero or keep".into()));
        assert_eq!(["all", "root"].map(str::parse::<CarriedJoints>), [Ok(CarriedJoints::All), Ok(CarriedJoints::Root)]);
        assert_eq!("none".parse::<CarriedJoints>(), Err("expected all or root".into()));
    }
}
