//! The outcome of reading and posing any file.

use std::path::Path;

use posse::binding::{PropertyTracks, UnboundClip, UnboundCurves, UnboundTrack};
use posse::cpu::CpuEngine;
use posse::curves::{Curve, Extrapolation};
use posse::import::cocos;
use posse::packed::PackedLibrary;
use posse::{
    Crowd, Error, Evaluator, Joint, Layer, LayerTime, Library, Outputs, Playback, Reference, Skeleton, Ticks,
    Transform, WrapMode, contract,
};

/// The outcome of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    Refused,
    /// Its curves loop too often over the clip, so it cannot be bound.
    Unbound,
    Posed,
}

/// Reads a file, binds the clip in both ways, and asserts that two engines pose it alike.
pub fn check(library: &Library, bytes: &[u8]) -> Outcome {
    let file = match cocos::from_slice(library, Path::new("random.anim"), bytes) {
        Ok(file) => file,
        Err(Error::Import { path, reason, .. }) => {
            assert!(!path.is_empty() && !reason.is_empty());
            return Outcome::Refused;
        }
        Err(other) => panic!("{other}"),
    };
    let joint =
        |name: &str, parent| Joint { name: Some(name.into()), parent, rest: Transform::IDENTITY, ..Joint::default() };
    let mut joints = vec![joint("root", None), joint("arm", Some(0)), joint("hand", Some(1)), joint("hand", Some(1))];
    joints.push(Joint { matrix: Some(glam::DAffine3::IDENTITY), ..joint("board", Some(0)) });
    let outcomes = [(PropertyTracks::All, Vec::new()), (PropertyTracks::Bound, joints)]
        .map(|(properties, joints)| pose(library.clone(), &file.clip, properties, joints));
    outcomes.into_iter().find(|outcome| *outcome != Outcome::Posed).unwrap_or(Outcome::Posed)
}

fn pose(mut library: Library, clip: &UnboundClip, properties: PropertyTracks, joints: Vec<Joint>) -> Outcome {
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    let binding = match library.bind(skeleton, clip, properties) {
        Ok(binding) => binding,
        Err(Error::Track { reason, .. }) if reason.contains("looped over the clip") => return Outcome::Unbound,
        Err(other) => panic!("{other}"),
    };
    assert_eq!(binding.tracks.len(), clip.tracks.len());
    PackedLibrary::new(&library).unwrap();
    // The clip has nothing to pose.
    if library.skeleton(skeleton).joints().is_empty() && library.skeleton(skeleton).properties().is_empty() {
        return Outcome::Posed;
    }
    let curves = || clip.tracks.iter().flat_map(curves_of);
    // At times beyond 1e6 s, no engine is exact at the seams of loops.
    if curves().any(|curve| loops(curve) && curve.timeline().times().iter().any(|time| time.abs() > 1e6)) {
        return Outcome::Posed;
    }
    let length = clip.duration;
    // Times that are not near the seams of passes, where rounding changes the pose.
    let times = [0.0, 0.09173, 0.26537, 0.51931, 0.76811, 0.98713].map(|part| LayerTime::At(part * length));
    let plays = WrapMode::ALL.map(|wrap| LayerTime::Playing(Playback::new(wrap, Ticks::default(), clip.speed)));
    let keys = curves().flat_map(|curve| curve.timeline().times()).take(5).map(|&time| LayerTime::At(time));
    let mut crowd = Crowd::new();
    for time in times.into_iter().chain(plays).chain(keys) {
        crowd.push(skeleton, &[Layer::new(binding.clip, time)]).unwrap();
    }
    let now = Ticks::from_seconds(1.7320508);
    let expected = Reference::new(&library).evaluate(&crowd, now, Outputs::ALL).unwrap();
    let actual = CpuEngine::with_threads(&library, 1).unwrap().evaluate(&crowd, now, Outputs::ALL).unwrap();
    let report = contract::compare(&library, &crowd, now, &expected, &actual);
    if is_everyday(clip) && curves().all(|curve| curve_is_everyday(curve, length) && !has_seam(curve, &crowd, length)) {
        let worst = report.quantities().into_iter().flat_map(|(_, worst)| worst);
        let layers: Vec<_> = worst.map(|worst| crowd.layers(worst.instance)).collect();
        assert!(report.is_within(), "{properties:?}: {:?}\n{layers:?}", report.quantities());
    }
    Outcome::Posed
}

pub fn curves_of(track: &UnboundTrack) -> Vec<&Curve> {
    match &track.curves {
        UnboundCurves::Empty => Vec::new(),
        UnboundCurves::Whole(curve) => vec![curve],
        UnboundCurves::Channels(curves) => curves.iter().flatten().collect(),
    }
}

/// Returns whether `f32` is precise enough for a clip. Engines may differ on other clips.
fn is_everyday(clip: &UnboundClip) -> bool {
    let speed = clip.speed.abs();
    (clip.duration == 0.0 || (1e-2..=1e3).contains(&clip.duration)) && (speed == 0.0 || (1e-3..=1e2).contains(&speed))
}

/// Returns whether `f32` distinguishes the key times of a curve, and can hold its values even if an easing overshoots.
fn curve_is_everyday(curve: &Curve, length: f64) -> bool {
    let times = curve.timeline().times();
    let apart = |pair: &[f64]| pair[0] == pair[1] || pair[1] - pair[0] >= 1e-5 + 1e-4 * length;
    let shared = |pair: Option<&[f64]>| pair.is_some_and(|pair| pair[0] == pair[1]);
    // Curves whose keys share the first or the last time are left out, since they differ beyond it.
    !shared(times.get(..2))
        && !shared(times.len().checked_sub(2).and_then(|start| times.get(start..)))
        && times.windows(2).all(apart)
        && times.iter().all(|time| time.abs() <= 1e3)
        && curve.values().iter().all(|value| value.abs() <= 1e6)
}

fn loops(curve: &Curve) -> bool {
    curve.extrapolation().iter().any(|how| matches!(how, Extrapolation::Loop | Extrapolation::PingPong))
}

/// Returns whether the loop of a curve starts again at a sampled time or at an end of the clip, so that rounding
/// changes the pose.
fn has_seam(curve: &Curve, crowd: &Crowd, length: f64) -> bool {
    let timeline = curve.timeline();
    let (first, span) = (timeline.first(), timeline.last() - timeline.first());
    let times = (0..crowd.len()).flat_map(|instance| crowd.layers(instance)).filter_map(|layer| match layer.time {
        LayerTime::At(time) => Some(time),
        LayerTime::Playing(_) | LayerTime::Phase { .. } | LayerTime::Synced { .. } => None,
    });
    let at_seam = |time: f64| {
        let passes = (time - first) / span;
        let inside = time >= first && time <= timeline.last();
        !inside && (passes - passes.round()).abs() * span <= 1e-6 + 1e-7 * length
    };
    loops(curve) && span > 0.0 && times.chain([0.0, length]).any(at_seam)
}
