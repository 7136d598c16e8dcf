//! Clips: tracks that play together, and events; and the checks that a clip fits its skeleton.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::model::{
    Curve, Extrapolation, Interpolation, Interpolator, InterpolatorId, Playback, RootMotion, Skeleton, SkeletonId,
    Target, Ticks, Track, WrapMode, no_such,
};

/// Tracks that play together on one skeleton.
///
/// [`Library::add_clip`](crate::Library::add_clip) checks it against its skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// The name of the clip, if it has one.
    pub name: Option<String>,
    /// The skeleton whose joints and properties the tracks drive.
    pub skeleton: SkeletonId,
    /// The tracks, each target at most once.
    pub tracks: Vec<Track>,
    /// The duration in seconds, if it does not follow from the keys. The time of the clip is then clamped to 0 and this
    /// length.
    pub length: Option<f64>,
    /// The default rate: seconds of the clip per second of play, from -1e4 to 1e4.
    pub speed: f64,
    /// The default behaviour at the ends.
    pub wrap: WrapMode,
    /// The events, ordered by time.
    pub events: Vec<Event>,
    /// The root joint, and the part of its movement that moves the instance; `None` by default. The movement is in the
    /// space of the parent of the joint.
    pub root_motion: Option<RootMotion>,
    /// The sync markers in seconds, strictly increasing, from 0 to less than the duration; none by default. A layer
    /// that follows another one ([`LayerTime::Synced`](crate::LayerTime)) reaches its markers when the other one
    /// reaches its own.
    pub markers: Vec<f64>,
}

impl Clip {
    /// The name for messages: `unnamed` without one.
    pub(crate) fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("unnamed")
    }

    /// A clip of these tracks, at speed 1 and in mode [`WrapMode::Default`], without length, events, root motion and
    /// markers.
    pub fn new(name: Option<String>, skeleton: SkeletonId, tracks: Vec<Track>) -> Self {
        Self {
            name,
            skeleton,
            tracks,
            length: None,
            speed: 1.0,
            wrap: WrapMode::Default,
            events: Vec::new(),
            root_motion: None,
            markers: Vec::new(),
        }
    }

    /// The duration in seconds: the [`length`](Self::length), or else the time of the last key of all tracks. It is 0
    /// without tracks, or if all keys are at or before 0.
    pub fn duration(&self) -> f64 {
        let last = || self.tracks.iter().map(|track| track.curve.timeline().last()).fold(0.0, f64::max);
        self.length.unwrap_or_else(last)
    }

    /// The times of the events that call a function and can be sync markers: those from 0 to less than the duration,
    /// each once.
    pub fn event_times(&self, function: &str) -> Vec<f64> {
        let duration = self.duration();
        let events = self.events.iter().filter(|event| event.function == function);
        let mut times: Vec<f64> =
            events.map(|event| event.time).filter(|time| (0.0..duration).contains(time)).collect();
        times.dedup();
        times
    }

    /// A time clamped to 0 and the length of the clip. Without a length the time is unchanged, and each track clamps it
    /// to its own keys.
    pub fn keep(&self, seconds: f64) -> f64 {
        self.length.map_or(seconds, |length| seconds.clamp(0.0, length))
    }
}

impl Playback {
    /// Plays a whole clip at its own speed and in its own mode.
    pub fn of(clip: &Clip, start: Ticks) -> Self {
        Self::new(clip.wrap, start, clip.speed)
    }
}

/// A call that a clip makes when its play passes a time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Event {
    /// Seconds on the axis of the clip.
    pub time: f64,
    /// The name of the function to call.
    pub function: String,
    /// The arguments of the call: strings as they are, other values as JSON.
    pub parameters: Vec<String>,
}

/// An event of a clip that the play of a layer has reached in a step of the crowd clock.
///
/// An event is reached at the first tick at which the play, in its direction, is at the time of the event or beyond it.
/// A thousandth of a tick before the time counts as at the time. Each pass counts separately:
///
/// * An event at the start of the played part is reached when a pass begins there, an event at its end when a pass ends
///   there. An event at the turn of a ping-pong is reached once per turn.
/// * A mode that does not repeat reaches the events at its first frame at the tick of its start. A mode that repeats
///   has played for ever: at the seam of two passes it reaches the events at the end of the one and at the start of the
///   next. After its last pass, a play reaches nothing.
/// * Events outside the played part or the clip are never reached. A layer reaches nothing at a fixed time, at rate 0,
///   or if its clip or part has no duration.
/// * A layer reaches events only while it has a weight: nothing if its own weight is 0, nothing up to the start of a
///   fade-in, and nothing from the end of a fade-out on. Masks have no effect.
/// * More than 2^62 passes after its start, which are ages for the shortest clips, a play reaches nothing.
/// * A layer with a driven weight reaches events in a step if its weight at the end of the step is above 2^-20. A
///   synchronised layer reaches an event when its leader is at the time that belongs to the event. A layer whose time
///   is a parameter, and one that follows it, reach nothing.
/// * In a step across the start of a transition, the index of a layer is one among the layers at the tick of the event.
/// * A step backwards or of no length reaches nothing. Consecutive steps reach together the same events as one step
///   over all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence {
    /// The tick at which the event was reached: after `from` of the step, at or before `to`.
    pub tick: Ticks,
    /// Index of the instance in the crowd.
    pub instance: usize,
    /// Index of the layer in the instance.
    pub layer: usize,
    /// Index of the event in its clip.
    pub event: usize,
}

/// The events that a crowd has reached in a step, up to a capacity.
///
/// Per layer and step, the list has room for the first [`MAX_PER_LAYER`](Self::MAX_PER_LAYER) events, whatever its
/// capacity. That is more than a frame has. To list all events of several minutes, use several steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventList {
    /// The listed events, ordered by tick, then instance, layer and event.
    pub events: Vec<Occurrence>,
    /// The number of events that are not listed. `u64::MAX` means that number or more.
    pub missed: u64,
}

impl EventList {
    /// The most events of one layer that are listed in a step. Further events are counted.
    pub const MAX_PER_LAYER: usize = 256;
}

/// The interpolators of a library, by id.
type Interpolators = [Arc<dyn Interpolator>];

/// The most keys that unrolled loops may add to the curves of a clip.
const MAX_LOOPED_KEYS: usize = 1 << 20;

/// The targets that tracks drive, each with the driven components; `None` if a track drives the whole target.
struct Driven(HashMap<Target, Option<HashSet<usize>>>);

impl Driven {
    /// Adds the target of a track; `false` if an earlier track drives it.
    fn insert(&mut self, track: &Track) -> bool {
        let other_form = match track.target {
            Target::Rotation(joint) => Some(Target::EulerAngles(joint)),
            Target::EulerAngles(joint) => Some(Target::Rotation(joint)),
            _ => None,
        };
        if other_form.is_some_and(|target| self.0.contains_key(&target)) {
            return false;
        }
        match track.component {
            None => self.0.insert(track.target, None).is_none(),
            Some(component) => match self.0.entry(track.target).or_insert_with(|| Some(HashSet::new())) {
                Some(components) => components.insert(component),
                None => false,
            },
        }
    }
}

/// Checks the length, the speed and the events of a clip.
pub(super) fn check_play(clip: &Clip) -> Result<(), String> {
    let name = clip.label();
    let length = clip.length.unwrap_or(0.0);
    if !super::is_usable(length) || length < 0.0 {
        return Err(format!("clip {name}: its length is {length} s; expected a finite number of 0 or more"));
    }
    if clip.speed.is_nan() || clip.speed.abs() > 1e4 {
        return Err(format!("clip {name}: its speed is {}; expected -1e4 to 1e4", clip.speed));
    }
    check_events(name, &clip.events)
}

/// Checks the events of a clip of this name.
pub(super) fn check_events(name: &str, events: &[Event]) -> Result<(), String> {
    if let Some(index) = events.iter().position(|event| !super::is_usable(event.time)) {
        let Event { time, function, .. } = &events[index];
        return Err(format!("clip {name}: event {index} ({function:?}) is at {time} s; expected a finite time"));
    }
    let Some(pair) = events.windows(2).position(|pair| pair[0].time > pair[1].time) else { return Ok(()) };
    let [before, after] = [events[pair].time, events[pair + 1].time];
    let index = pair + 1;
    Err(format!("clip {name}: event {index} is at {after} s, event {pair} at {before} s; order the events by time"))
}

/// Checks the sync markers of a clip.
pub(super) fn check_markers(clip: &Clip, markers: &[f64]) -> Result<(), String> {
    let name = clip.label();
    markers_error(markers, clip.duration()).map_or(Ok(()), |reason| Err(format!("clip {name}: {reason}")))
}

/// The first sync marker of a clip of a duration that cannot be used, as a message.
pub(crate) fn markers_error(markers: &[f64], duration: f64) -> Option<String> {
    if let Some(index) = markers.iter().position(|time| !(0.0..duration).contains(time)) {
        let marker = markers[index];
        return Some(format!(
            "marker {index} is at {marker} s; expected 0 or more, and less than the {duration} s of the clip"
        ));
    }
    let pair = markers.windows(2).find(|pair| pair[1] <= pair[0])?;
    Some(format!("a marker at {} s follows one at {} s; markers must increase", pair[1], pair[0]))
}

/// Checks the root joint of a clip.
pub(super) fn check_root(clip: &Clip, root: Option<RootMotion>, skeleton: &Skeleton) -> Result<(), String> {
    let Some(RootMotion { joint, .. }) = root else { return Ok(()) };
    let name = clip.label();
    match skeleton.joints().get(joint) {
        None => {
            let reason = no_such("joint", joint, "skeleton", skeleton.joints().len());
            Err(format!("clip {name}: root motion: {reason}"))
        }
        Some(found) if found.matrix.is_some() => {
            let error = "is given by a matrix, which cannot be animated; choose another joint";
            Err(format!("clip {name}: root motion: joint {joint} {error}"))
        }
        Some(_) => Ok(()),
    }
}

/// Checks that the tracks of a clip fit its skeleton, and that each target is driven once. An error has the index of
/// its track.
pub(super) fn check_tracks(
    interpolators: &Interpolators,
    skeleton: &Skeleton,
    clip: &Clip,
) -> Result<(), (usize, String)> {
    let mut driven = Driven(HashMap::with_capacity(clip.tracks.len()));
    let mut keys = 0_usize;
    for (index, track) in clip.tracks.iter().enumerate() {
        let error = |reason: String| Err((index, reason));
        check_track(interpolators, skeleton, track).or_else(error)?;
        if !driven.insert(track) {
            return error(format!("{:?} is driven by an earlier track too; remove one of the two", track.target));
        }
        if clip.length.is_none() && track.curve.extrapolation() != [Extrapolation::Clamp; 2] {
            return error("its curve extrapolates, but the clip has no length; give it one".into());
        }
        keys = keys.saturating_add(track.curve.looped_keys(clip.length));
        if keys > MAX_LOOPED_KEYS {
            return error(format!(
                "looped over the clip, its curves have more than {MAX_LOOPED_KEYS} keys; shorten the clip"
            ));
        }
    }
    Ok(())
}

fn check_track(interpolators: &Interpolators, skeleton: &Skeleton, track: &Track) -> Result<(), String> {
    let joint = |joint: usize| {
        let joints = skeleton.joints();
        joints.get(joint).ok_or_else(|| no_such("joint", joint, "skeleton", joints.len()))
    };
    let movable = |index: usize| match joint(index)?.matrix {
        Some(_) => Err(format!("joint {index} is given by a matrix, which cannot be animated")),
        None => Ok(()),
    };
    let target_width = match track.target {
        Target::Translation(index) | Target::Scale(index) | Target::EulerAngles(index) => movable(index).map(|()| 3)?,
        Target::Rotation(index) => movable(index).map(|()| 4)?,
        Target::Weights(index) => joint(index)?.weights.len(),
        Target::Property(index) => {
            let properties = skeleton.properties();
            let property = properties.get(index);
            property.ok_or_else(|| no_such("property", index, "skeleton", properties.len()))?.rest.len()
        }
    };
    let curve = &track.curve;
    let rotation = track.target.is_rotation(skeleton);
    let width = match track.component {
        None => target_width,
        Some(_) if rotation => return Err("no single number of a rotation can be driven; drive all four".into()),
        Some(component) if component < target_width => 1,
        Some(component) => {
            return Err(no_such("number", component, "target", target_width));
        }
    };
    if let Interpolation::Custom(id) = curve.interpolation() {
        let is_property = !rotation && track.component.is_none() && matches!(track.target, Target::Property(_));
        return check_interpolator(interpolators, id, curve, is_property.then_some(width));
    }
    if curve.width() != width {
        return Err(format!(
            "its curve is {} numbers wide, its target {width}; the widths must be equal",
            curve.width()
        ));
    }
    if curve.interpolation() == Interpolation::Slerp && (rotation || !matches!(track.target, Target::Property(_))) {
        return Err("Slerp is for properties that are not rotations; Linear interpolates rotations spherically".into());
    }
    if rotation
        && curve.interpolation() != Interpolation::CubicSpline
        && let Some(key) = curve.zero_key()
    {
        return Err(format!("the rotation at key {key} is the zero quaternion; expected a length above 0"));
    }
    Ok(())
}

/// Checks a curve with a custom interpolator. `property` is the width of the driven property, if the target is a whole
/// property that is not a rotation.
fn check_interpolator(
    interpolators: &Interpolators,
    id: InterpolatorId,
    curve: &Curve,
    property: Option<usize>,
) -> Result<(), String> {
    let interpolator = interpolators.get(id.0);
    let interpolator = interpolator.ok_or_else(|| no_such("interpolator", id.0, "library", interpolators.len()))?;
    let Some(property) = property else {
        return Err("interpolators can drive only whole properties that are not rotations".into());
    };
    let (from, to) = (interpolator.width(), interpolator.result_width());
    if (curve.width(), property) != (from, to) {
        let (curve, name) = (curve.width(), interpolator.name());
        return Err(format!(
            "interpolator {name:?} makes {to} numbers of {from}, but the curve has {curve} and the property {property}"
        ));
    }
    Ok(())
}
