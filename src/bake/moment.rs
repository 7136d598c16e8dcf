//! A clip at a time.

use crate::model::ClipId;

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

    /// A clip at a time, with velocities from `step` seconds before to `step` seconds after it. Both times are clamped to 0 and
    /// the duration of the clip.
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
