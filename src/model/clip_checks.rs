//! Checks that a clip fits its skeleton.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::model::{
    Clip, Curve, Event, Extrapolation, Interpolation, Interpolator, InterpolatorId, RootMotion, Skeleton, Target,
    Track, no_such,
};

/// The interpolators of a library, by id.
type Interpolators = [Arc<dyn Interpolator>];

/// The most keys that unrolled loops may add to the curves of a clip.
const MOST_LOOPED_KEYS: usize = 1 << 20;

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
    markers_fault(markers, clip.duration()).map_or(Ok(()), |reason| Err(format!("clip {name}: {reason}")))
}

/// The first sync marker of a clip of a duration that cannot be used, as a message.
pub(crate) fn markers_fault(markers: &[f64], duration: f64) -> Option<String> {
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
            let fault = "is given by a matrix, which cannot be animated; choose another joint";
            Err(format!("clip {name}: root motion: joint {joint} {fault}"))
        }
        Some(_) => Ok(()),
    }
}

/// Checks that the tracks of a clip fit its skeleton, and that each target is driven once. An error has the index of its track.
pub(super) fn check_tracks(
    interpolators: &Interpolators,
    skeleton: &Skeleton,
    clip: &Clip,
) -> Result<(), (usize, String)> {
    let mut driven = Driven(HashMap::with_capacity(clip.tracks.len()));
    let mut keys = 0_usize;
    for (index, track) in clip.tracks.iter().enumerate() {
        let fault = |reason: String| Err((index, reason));
        check_track(interpolators, skeleton, track).or_else(fault)?;
        if !driven.insert(track) {
            return fault(format!("{:?} is driven by an earlier track too; remove one of the two", track.target));
        }
        if clip.length.is_none() && track.curve.extrapolation() != [Extrapolation::Clamp; 2] {
            return fault("its curve extrapolates, but the clip has no length; give it one".into());
        }
        keys = keys.saturating_add(track.curve.looped_keys(clip.length));
        if keys > MOST_LOOPED_KEYS {
            return fault(format!(
                "looped over the clip, its curves have more than {MOST_LOOPED_KEYS} keys; shorten the clip"
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

/// Checks a curve with a custom interpolator. `property` is the width of the driven property, if the target is a whole property
/// that is not a rotation.
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
