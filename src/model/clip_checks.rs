//! Whether a clip fits its skeleton.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::model::{Clip, Event, Extrapolation, Interpolation, Interpolator, RootMotion, Skeleton, Target, Track};

/// Those of a library, by id.
type Interpolators = [Arc<dyn Interpolator>];

/// The most keys of a clip's curves with their loops.
const MOST_LOOPED_KEYS: usize = 1 << 20;

/// What the tracks of a clip drive.
struct Driven(HashMap<Target, Option<HashSet<usize>>>);

impl Driven {
    /// Notes what a track drives; `false` where that is driven already.
    fn insert(&mut self, track: &Track) -> bool {
        let twin = match track.target {
            Target::Rotation(joint) => Some(Target::EulerAngles(joint)),
            Target::EulerAngles(joint) => Some(Target::Rotation(joint)),
            _ => None,
        };
        if twin.is_some_and(|twin| self.0.contains_key(&twin)) {
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

/// What is wrong with how a clip plays, if anything.
pub(super) fn check_play(clip: &Clip) -> Result<(), String> {
    let name = clip.name.as_deref().unwrap_or("unnamed");
    let length = clip.length.unwrap_or(0.0);
    if !super::is_usable(length) || length < 0.0 {
        return Err(format!("clip {name}: its length {length} is not a number of 0 or more"));
    }
    if clip.speed.is_nan() || clip.speed.abs() > 1e4 {
        return Err(format!("clip {name}: its speed {} is not from -1e4 to 1e4", clip.speed));
    }
    check_events(name, &clip.events)
}

/// What is wrong with events for a clip of this name, if anything.
pub(super) fn check_events(name: &str, events: &[Event]) -> Result<(), String> {
    if let Some(event) = events.iter().find(|event| !super::is_usable(event.time)) {
        return Err(format!("clip {name}: the time {} of event {} is no number", event.time, event.function));
    }
    match events.is_sorted_by(|a, b| a.time <= b.time) {
        true => Ok(()),
        false => Err(format!("clip {name}: its events are not ordered by time")),
    }
}

/// What is wrong with a root joint for a clip, if anything.
pub(super) fn check_root(clip: &Clip, root: Option<RootMotion>, skeleton: &Skeleton) -> Result<(), String> {
    let Some(RootMotion { joint, .. }) = root else { return Ok(()) };
    let name = clip.name.as_deref().unwrap_or("unnamed");
    match skeleton.joints().get(joint) {
        None => {
            let joints = skeleton.joints().len();
            Err(format!("clip {name}: its root is joint {joint}, and the skeleton has {joints}"))
        }
        Some(found) if found.matrix.is_some() => {
            Err(format!("clip {name}: its root is joint {joint}, which is given by a matrix, and no clip moves it"))
        }
        Some(_) => Ok(()),
    }
}

/// Checks that a clip's tracks fit its skeleton, each target driven once. A fault comes with the index of its track.
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
            return fault(format!("{:?} is driven by an earlier track already", track.target));
        }
        if clip.length.is_none() && track.curve.extrapolation() != [Extrapolation::Clamp; 2] {
            return fault("its curve goes on beyond its keys, but the clip has no length".into());
        }
        keys = keys.saturating_add(track.curve.looped_keys(clip.length));
        if keys > MOST_LOOPED_KEYS {
            return fault(format!("looped over the clip, its curves are more than {MOST_LOOPED_KEYS} keys"));
        }
    }
    Ok(())
}

fn check_track(interpolators: &Interpolators, skeleton: &Skeleton, track: &Track) -> Result<(), String> {
    let joint = |joint: usize| {
        let count = skeleton.joints().len();
        skeleton.joints().get(joint).ok_or_else(|| format!("there is no joint {joint}, the skeleton has {count}"))
    };
    let movable = |index: usize| {
        let matrix = joint(index)?.matrix.is_some();
        if matrix { Err(format!("joint {index} is given by a matrix and cannot be animated")) } else { Ok(()) }
    };
    let target_width = match track.target {
        Target::Translation(index) | Target::Scale(index) | Target::EulerAngles(index) => movable(index).map(|()| 3)?,
        Target::Rotation(index) => movable(index).map(|()| 4)?,
        Target::Weights(index) => joint(index)?.weights.len(),
        Target::Property(index) => {
            let count = skeleton.properties().len();
            let property = skeleton.properties().get(index);
            property.ok_or_else(|| format!("there is no property {index}, the skeleton has {count}"))?.rest.len()
        }
    };
    let curve = &track.curve;
    let rotation = track.target.is_rotation(skeleton);
    let width = match track.component {
        None => target_width,
        Some(_) if rotation => return Err("no single number of a rotation can be driven".into()),
        Some(component) if component < target_width => 1,
        Some(component) => {
            return Err(format!("its target has {target_width} numbers, there is no number {component}"));
        }
    };
    if let Interpolation::Custom(id) = curve.interpolation() {
        let count = interpolators.len();
        let interpolator = interpolators.get(id.0);
        let interpolator = interpolator.ok_or_else(|| format!("there is no interpolator {}, but {count}", id.0))?;
        let (from, to) = (interpolator.width(), interpolator.result_width());
        if rotation || track.component.is_some() || !matches!(track.target, Target::Property(_)) {
            return Err("an interpolator drives whole properties that are no rotations, nothing else".into());
        }
        if (curve.width(), width) != (from, to) {
            let (curve, name) = (curve.width(), interpolator.name());
            return Err(format!("{name} makes {to} numbers of {from}; the curve has {curve}, the property {width}"));
        }
        return Ok(());
    }
    if curve.width() != width {
        return Err(format!("its curve is {} numbers wide, its target {width}", curve.width()));
    }
    if curve.interpolation() == Interpolation::Slerp && (rotation || !matches!(track.target, Target::Property(_))) {
        return Err("rotations are interpolated spherically by LINEAR; SLERP is for other properties".into());
    }
    if rotation
        && curve.interpolation() != Interpolation::CubicSpline
        && let Some(key) = curve.zero_key()
    {
        return Err(format!("the rotation at key {key} is the zero quaternion"));
    }
    Ok(())
}
