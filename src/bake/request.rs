//! What a caller wants: kinds of arrays, the times of clips, and the space of the numbers.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::Error;
use crate::import::fbx::MIN_SAMPLE_RATE;
use crate::import::{Asset, FileFormat};
use crate::model::{Clip, ClipId, Library};

/// The axis that points up in results. The model's own axis is +Y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum UpAxis {
    /// +Y, as in the model.
    #[default]
    Y,
    /// +Z: model space is turned by +90 degrees about +X, so that `(x, y, z)` becomes `(x, -z, y)`.
    Z,
}

/// The order of the numbers of a quaternion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum QuaternionOrder {
    /// x, y, z, w.
    #[default]
    Xyzw,
    /// w, x, y, z.
    Wxyz,
}

impl UpAxis {
    /// Its name: `y` or `z`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Y => "y",
            Self::Z => "z",
        }
    }

    /// Turns a direction, a point or an angular velocity from the model to results with this axis up. It is exact,
    /// because numbers only change places and signs.
    #[inline(always)]
    pub fn turn(self, vector: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = vector;
        match self {
            Self::Y => vector,
            Self::Z => [x, -z, y],
        }
    }
}

impl QuaternionOrder {
    /// Its name: `xyzw` or `wxyz`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xyzw => "xyzw",
            Self::Wxyz => "wxyz",
        }
    }
}

/// The arrays that a caller wants, their joints and their space.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayRequest {
    /// The kinds of arrays, in the order of the results. A kind that is listed twice counts once.
    pub kinds: Vec<ArrayKind>,
    /// The joints of the arrays per joint, as indices into the skeleton, each at most once.
    pub joints: Vec<usize>,
    /// The axis that points up.
    pub up: UpAxis,
    /// The factor of lengths, more than 0. 1 by default.
    pub scale: f64,
    /// The order of the numbers of quaternions.
    pub quaternions: QuaternionOrder,
}

impl ArrayRequest {
    /// Positions and rotations of these joints, with +Y up, in the unit of the model.
    pub fn of_joints(joints: &[usize]) -> Self {
        Self {
            kinds: vec![ArrayKind::Pos, ArrayKind::Quat],
            joints: joints.to_vec(),
            up: UpAxis::Y,
            scale: 1.0,
            quaternions: QuaternionOrder::Xyzw,
        }
    }
}

/// A kind of array. Its name is the name of the array in files; several skins add their index to it.
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
    /// Rotations of joints in model space, quaternions of unit length: the products of the local rotations from the
    /// root to the joint. Scales do not affect them.
    Quat,
    /// Velocities of joints in model space, per second.
    Linvel,
    /// Angular velocities of joints in model space: the axis times radians per second. The rotations from the moment
    /// before and to the moment after are each the shorter one, so that a joint may turn by up to 180 degrees in each.
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
    /// Rotations of joints in model space, 6 numbers each: the first two columns of the rotation matrix, which are the
    /// directions of the x and the y axis of the joint. Unlike quaternions, they are continuous in the rotation: Zhou
    /// et al., On the continuity of rotation representations in neural networks, CVPR 2019, section 4.
    Rot6d,
    /// The same of rotations relative to the parents.
    LocalRot6d,
    /// The part of the movement of the first joint that is over the ground, 7 numbers: its position in model space with
    /// height 0, and the rotation about the up axis since the rest pose, the twist of the joint's rotation. It is the
    /// movement of [`RootMotion::on_ground`](crate::root_motion::RootMotion::on_ground) for a joint that has no
    /// rotation at rest and whose parents have no translation.
    RootMotion,
    /// Contacts of feet with the ground, one number per foot of [`ArrayLayout::feet`](crate::bake::ArrayLayout::feet):
    /// 1 in contact, 0 elsewhere. A contact is a matter of the whole clip, not of a moment, so that
    /// [`sample`](crate::bake::ArrayLayout::sample) leaves these arrays as they are:
    /// [`FootContacts::write`](crate::quality::FootContacts::write) fills them.
    Contact,
}

impl ArrayKind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
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
        Self::Contact,
        Self::Rot6d,
        Self::LocalRot6d,
        Self::RootMotion,
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
            Self::Contact => "contact",
            Self::Rot6d => "rot6d",
            Self::LocalRot6d => "local_rot6d",
            Self::RootMotion => "root_motion",
        }
    }

    /// Returns `true` for velocities, which need the pose before and after a time.
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

/// A clip at a time in seconds, with the times that its velocities are measured between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// The clip.
    pub clip: ClipId,
    /// The time in seconds.
    pub time: f64,
    /// The time before it, for velocities; `time` if there is none.
    pub before: f64,
    /// The time after it, for velocities; `time` if there is none. Velocities are 0 if it is not after `before`.
    pub after: f64,
}

impl Moment {
    /// A clip at a time, without velocities: they are 0.
    pub fn at(clip: ClipId, time: f64) -> Self {
        Self { clip, time, before: time, after: time }
    }

    /// A clip at a time, with velocities from `step` seconds before to `step` seconds after it. Both times are clamped
    /// to 0 and the duration of the clip.
    ///
    /// # Examples
    /// ```
    /// use posse::bake::Moment;
    ///
    /// # let library = posse::demo::library()?;
    /// let clip = library.find_clip("walk").expect("the demo walks");
    /// let moment = Moment::new(clip, 0.1, 0.25, 1.0);
    /// assert_eq!([moment.before, moment.time, moment.after], [0.0, 0.1, 0.35]);
    /// # Ok::<(), posse::Error>(())
    /// ```
    pub fn new(clip: ClipId, time: f64, step: f64, duration: f64) -> Self {
        let clamp = |time: f64| time.min(duration).max(0.0);
        Self { clip, time, before: clamp(time - step), after: clamp(time + step) }
    }

    /// The time before, the time itself and the time after.
    pub(super) fn times(&self) -> [f64; 3] {
        [self.before, self.time, self.after]
    }

    /// The inverse of the time from `before` to `after`; 0 if `after` is not after `before`.
    pub(super) fn rate(&self) -> f64 {
        let length = self.after - self.before;
        if length > 0.0 { 1.0 / length } else { 0.0 }
    }
}

/// The frame rate of clips whose keys have none: frames per second.
pub const DEFAULT_FPS: f64 = 30.0;

/// The largest number of frames of a [`FrameGrid`].
pub const MAX_FRAMES: u64 = 1 << 32;

/// The least tolerance of the last frame, in frames.
const TOLERANCE: f64 = 1e-3;

/// The tolerance of the last frame as a share of all frames: two roundings of an `f32`.
const TOLERANCE_SHARE: f64 = 1.0 / 4_194_304.0;

/// The largest difference of key gaps of one rate, as a share of their mean.
const GAP_SHARE: f64 = 1e-3;

/// The rounding of an `f32` between neighbouring key times, as a share of the time.
const ROUNDING: f64 = 1.0 / 8_388_608.0;

/// The times of a clip at a frame rate: `frame / fps`, from 0 to the duration, or from the start of a part of the clip
/// to its end.
///
/// The last frame may be a little later than the duration, because files store key times in `f32`; its time is then the
/// duration. The tolerance is 1e-3 frames, and for more than 4,194 frames 2^-22 of their number.
///
/// # Examples
/// ```
/// use posse::bake::FrameGrid;
///
/// # fn main() -> Result<(), posse::Error> {
/// // The last of 91 keys at 30 Hz, rounded to an f32.
/// let duration = f64::from(2.999_999_8_f32);
/// let grid = FrameGrid::new(30.0, duration)?;
/// assert_eq!((grid.len(), grid.time(1), grid.time(90)), (91, 1.0 / 30.0, duration));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameGrid {
    fps: f64,
    /// The duration of the clip.
    duration: f64,
    /// Start and end of the part in seconds.
    part: [f64; 2],
    len: u64,
}

impl FrameGrid {
    /// The frames of a clip with a duration in seconds.
    ///
    /// # Errors
    /// * [`Error::Usage`] if the rate is not finite and more than 0, or the duration is not finite and 0 or more.
    /// * [`Error::Limit`] for more than [`MAX_FRAMES`] frames.
    pub fn new(fps: f64, duration: f64) -> Result<Self, Error> {
        if !(fps > 0.0 && fps.is_finite()) {
            return Err(Error::Usage(format!("the frame rate is {fps} per second; expected a finite number above 0")));
        }
        if !(duration >= 0.0 && duration.is_finite()) {
            return Err(Error::Usage(format!("the duration is {duration} s; expected a finite number of 0 or more")));
        }
        // `as` turns a number beyond the range of the integer into its largest one.
        let len = (last_frame(0.0, duration, fps) as u64).saturating_add(1);
        if len > MAX_FRAMES {
            let what = format!("frames of {duration} s at {fps} per second");
            return Err(Error::Limit { what, needed: len, allowed: MAX_FRAMES });
        }
        Ok(Self { fps, duration, part: [0.0, duration], len })
    }

    /// The frames of a part of a clip with a duration in seconds: from the start of the part, each `1 / fps` after the
    /// one before, to its end. Both are clamped to 0 and the duration.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and [`Error::Usage`] if the part ends before it starts, or is not finite.
    pub fn of_part(fps: f64, duration: f64, part: [f64; 2]) -> Result<Self, Error> {
        let whole = Self::new(fps, duration)?;
        let [start, end] = part;
        if !(start <= end && start.is_finite() && end.is_finite()) {
            let reason = format!("the part from {start} s to {end} s is not finite, or ends before it starts");
            return Err(Error::Usage(reason));
        }
        let [start, end] = part.map(|time| time.clamp(0.0, duration));
        let len = (last_frame(start, end, fps) as u64).saturating_add(1);
        Ok(Self { part: [start, end], len, ..whole })
    }

    /// The frames with one more at the end of the clip or of the part, if the last frame is before it. It is less than
    /// `1 / fps` after the frame before it.
    pub fn with_end(self) -> Self {
        Self { len: self.len + u64::from(self.rest() > 0.0), ..self }
    }

    /// The seconds from the last frame to the end of the clip or of the part; 0 within the tolerance.
    pub fn rest(&self) -> f64 {
        let ([start, end], last) = (self.part, (self.len - 1) as f64);
        let tolerance = TOLERANCE.max(end * self.fps * TOLERANCE_SHARE);
        if (end - start) * self.fps - last > tolerance { end - self.time(self.len - 1) } else { 0.0 }
    }

    /// The number of frames, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is always a frame")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Frames per second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// The duration of the clip in seconds.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// The start and the end of the part of the clip, in seconds: 0 and the duration for the whole clip.
    pub fn part(&self) -> [f64; 2] {
        self.part
    }

    /// The time of a frame in seconds, at most the duration, or the end of the part.
    pub fn time(&self, frame: u64) -> f64 {
        let [start, end] = self.part;
        (start + frame as f64 / self.fps).min(end)
    }

    /// True for a frame that is earlier than its number says: at the end of the clip or of the part.
    pub fn is_clamped(&self, frame: u64) -> bool {
        let [start, end] = self.part;
        start + frame as f64 / self.fps > end
    }

    /// The times between which the velocities of a frame are measured: `1 / fps` before and after its time, or the ends
    /// of the clip.
    pub fn span(&self, frame: u64) -> [f64; 2] {
        let [start, end] = self.part;
        // A time that is clamped to the end is less than `1 / fps` after the frame before.
        let before = match frame.checked_sub(1) {
            _ if self.is_clamped(frame) => (end - 1.0 / self.fps).max(0.0),
            // Frames share the poses of their neighbours, so that the times must have the same bits.
            Some(before) => self.time(before),
            None => (start - 1.0 / self.fps).max(0.0),
        };
        [before, (start + frame.saturating_add(1) as f64 / self.fps).min(self.duration)]
    }

    /// A clip at a frame. Its velocities are measured over its [`span`](Self::span).
    pub fn moment(&self, clip: ClipId, frame: u64) -> Moment {
        let [before, after] = self.span(frame);
        Moment { clip, time: self.time(frame), before, after }
    }
}

/// The index of the last frame from one time to another, in seconds: `floor((to - from) x fps + tolerance)`, with the
/// tolerance of [`FrameGrid`] for the frames up to the later time. It is a whole number or infinite, if the times are
/// in order.
pub fn last_frame(from: f64, to: f64, fps: f64) -> f64 {
    let rounding = from.abs().max(to.abs()) * fps * TOLERANCE_SHARE;
    ((to - from) * fps + TOLERANCE.max(rounding)).floor()
}

/// The frame rate of the keys of a clip, if all gaps between keys are within 1e-3 of their mean, and within the
/// rounding of an `f32` of their times. `None` without gaps.
///
/// A rate within the rounding of an `f32` of a whole number is that number.
pub fn native_fps(clip: &Clip) -> Option<f64> {
    let mut known = HashSet::new();
    let timelines = clip.tracks.iter().map(|track| track.curve.timeline());
    let timelines: Vec<&[f64]> =
        timelines.filter(|timeline| known.insert(Arc::as_ptr(timeline))).map(|timeline| timeline.times()).collect();
    let gaps: usize = timelines.iter().map(|times| times.len() - 1).sum();
    let lengths: f64 = timelines.iter().map(|times| times[times.len() - 1] - times[0]).sum();
    let mean = lengths / gaps as f64;
    let is_even = |pair: &[f64]| {
        let tolerance = GAP_SHARE * mean + ROUNDING * pair[0].abs().max(pair[1].abs());
        (pair[1] - pair[0] - mean).abs() <= tolerance
    };
    if gaps == 0 || mean <= 0.0 || !timelines.iter().all(|times| times.windows(2).all(is_even)) {
        return None;
    }
    let (fps, whole) = (1.0 / mean, (1.0 / mean).round());
    Some(if (fps - whole).abs() <= whole * TOLERANCE_SHARE { whole } else { fps })
}

/// The frame rate of a clip of a file that states one, but may have keys at any times, as FBX does: the rate of evenly
/// spaced keys that are samples of a motion, [`MIN_SAMPLE_RATE`] per second and more, otherwise the rate of the file.
pub fn own_fps(clip: &Clip, of_file: Option<f64>) -> Option<f64> {
    native_fps(clip).filter(|fps| *fps >= MIN_SAMPLE_RATE).or(of_file)
}

/// The frame rate of each clip of a file, in its order, as the file states it; `None` for all clips of glTF. The rate
/// of FBX is [`own_fps`].
pub fn stated_fps(library: &Library, asset: &Asset) -> Vec<Option<f64>> {
    let fps = |clip: &ClipId| match asset.format {
        FileFormat::Fbx => own_fps(library.clip(*clip), asset.frame_rate),
        _ => asset.frame_rate,
    };
    asset.clips.iter().map(fps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_a_part_begin_at_its_start_and_may_keep_its_end() {
        let times = |grid: FrameGrid| (0..grid.len()).map(|frame| grid.time(frame)).collect::<Vec<_>>();
        let part = FrameGrid::of_part(4.0, 3.0, [0.6, 1.45]).unwrap();
        assert_eq!(times(part), [0.6, 0.85, 1.1, 0.6 + 0.75]);
        assert_eq!((part.part(), part.duration()), ([0.6, 1.45], 3.0));
        assert!((part.rest() - 0.1).abs() < 1e-12);
        assert_eq!(times(part.with_end()), [0.6, 0.85, 1.1, 0.6 + 0.75, 1.45]);
        // Velocities look beyond the ends of the part, but not of the clip.
        assert_eq!([part.span(0), part.span(3)], [[0.35, 0.85], [1.1, 0.6 + 1.0]]);
        assert_eq!(part.with_end().span(4), [1.2, 0.6 + 1.25]);
        assert_eq!(times(FrameGrid::of_part(1.0, 2.0, [-1.0, 9.0]).unwrap()), [0.0, 1.0, 2.0]);
        assert!(FrameGrid::of_part(1.0, 2.0, [1.0, 0.5]).is_err());
        // The rounding of an `f32` is no rest.
        let rounded = FrameGrid::new(30.0, f64::from(3.000_000_2_f32)).unwrap();
        assert_eq!((rounded.rest(), rounded.with_end()), (0.0, rounded));
        let short = FrameGrid::new(15.0, 0.1).unwrap();
        assert_eq!(times(short.with_end()), [0.0, 1.0 / 15.0, 0.1]);
    }
}
