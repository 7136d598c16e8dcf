//! The clips of the human: its motions, sampled at keys.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use crate::demo::motion::{IDLE, JUMP, Motion, RUN, WALK, WAVE, crouch, flight, wave};
use crate::error::Error;
use crate::model::{Clip, Curve, Interpolation, Skeleton, SkeletonId, Target, Timeline, Track};

/// The clips of the human.
pub fn all(skeleton: &Skeleton, id: SkeletonId) -> Result<Vec<Clip>, Error> {
    let joint = |name: &str| skeleton.find_joint(name);
    let head = joint("head").unwrap_or_default();
    let pelvis = joint("pelvis").unwrap_or_default();

    let mut idle = Keys::even(4.0)?.body(skeleton, &IDLE, Interpolation::Linear)?;
    // Eyes jump from one direction to the next.
    let glances = Keys::at(4.0, &[0.0, 0.2, 0.45, 0.8, 1.0])?;
    for eye in ["eye.L", "eye.R"].into_iter().filter_map(joint) {
        let look = |phase: f64| DQuat::from_rotation_y(0.2 * wave(phase)).to_array().to_vec();
        replace(&mut idle, Target::Rotation(eye), glances.curve(Interpolation::Step, look)?);
    }
    let blinks = Keys::at(4.0, &[0.0, 0.30, 0.32, 0.35, 0.80, 0.83, 0.86, 1.0])?;
    let blink =
        |phase: f64| vec![0.1, if (0.31..0.34).contains(&phase) || (0.82..0.84).contains(&phase) { 1.0 } else { 0.0 }];
    idle.push(Track::new(Target::Weights(head), blinks.curve(Interpolation::Linear, blink)?));

    let walk = Keys::even(1.0)?.body(skeleton, &WALK, Interpolation::Linear)?;
    let run = Keys::even(0.7)?.body(skeleton, &RUN, Interpolation::Linear)?;

    let slow = Keys::at(2.0, &(0..=16).map(|key| f64::from(key) / 16.0).collect::<Vec<_>>())?;
    let mut waving = slow.body(skeleton, &WAVE, Interpolation::CubicSpline)?;
    let smile = slow.curve(Interpolation::CubicSpline, |phase| vec![0.5 - 0.5 * wave(phase + 0.25)])?;
    waving.push(Track::component(Target::Weights(head), 0, smile));
    let light = slow.curve(Interpolation::CubicSpline, |phase| vec![0.5 + 0.5 * wave(phase), 0.2, 0.1])?;
    waving.push(Track::new(Target::Property(0), light));

    // Fast parts have dense keys, as after key reduction.
    let phases: Vec<f64> =
        [0, 4, 7, 9, 11, 13, 14, 15, 17, 20, 23, 25, 26, 27, 29, 32, 36, 40].map(|key| f64::from(key) / 40.0).into();
    let leap = Keys::at(1.4, &phases)?;
    let mut jump = leap.body(skeleton, &JUMP, Interpolation::Linear)?;
    let stretch = |phase: f64| {
        let stretch = 1.0 + 0.06 * flight(phase) - 0.08 * crouch(phase);
        DVec3::new(stretch.recip().sqrt(), stretch, stretch.recip().sqrt()).to_array().to_vec()
    };
    jump.push(Track::new(Target::Scale(pelvis), leap.curve(Interpolation::Linear, stretch)?));
    let flash =
        leap.curve(Interpolation::Step, |phase| if flight(phase) > 0.0 { vec![1.0; 3] } else { vec![0.1; 3] })?;
    jump.push(Track::new(Target::Property(0), flash));

    let clips = [("idle", idle), ("walk", walk), ("run", run), ("wave", waving), ("jump", jump)];
    Ok(clips.map(|(name, tracks)| Clip::new(Some(name.into()), id, tracks)).into())
}

fn replace(tracks: &mut Vec<Track>, target: Target, curve: Curve) {
    tracks.retain(|track| track.target != target);
    tracks.push(Track::new(target, curve));
}

/// A timeline and the phases of its keys. The last phase equals the first, so that a clip loops.
struct Keys {
    timeline: Arc<Timeline>,
    phases: Vec<f64>,
    duration: f64,
}

impl Keys {
    /// Even keys, 30 per second.
    fn even(duration: f64) -> Result<Self, Error> {
        let gaps = (30.0 * duration).round();
        Self::at(duration, &(0..=gaps as u32).map(|key| f64::from(key) / gaps).collect::<Vec<_>>())
    }

    /// Keys at these phases, from 0 to 1.
    fn at(duration: f64, phases: &[f64]) -> Result<Self, Error> {
        let timeline = Arc::new(Timeline::new(phases.iter().map(|phase| phase * duration).collect())?);
        Ok(Self { timeline, phases: phases.iter().map(|phase| phase.fract()).collect(), duration })
    }

    /// A curve of a function of the phase. The tangents of cubic splines are central differences.
    fn curve(&self, interpolation: Interpolation, value: impl Fn(f64) -> Vec<f64>) -> Result<Curve, Error> {
        let mut values = Vec::new();
        for &phase in &self.phases {
            if interpolation == Interpolation::CubicSpline {
                let step = 1e-3;
                let (before, after) = (value((phase - step).rem_euclid(1.0)), value((phase + step).fract()));
                let slope =
                    before.iter().zip(&after).map(|(before, after)| (after - before) / (2.0 * step * self.duration));
                let tangent: Vec<f64> = slope.collect();
                values.extend(tangent.iter().copied().chain(value(phase)).chain(tangent.iter().copied()));
            } else {
                values.extend(value(phase));
            }
        }
        let width = value(0.0).len();
        Curve::new(self.timeline.clone(), interpolation, width, values)
    }

    /// Tracks of the rotations of all joints and of the translation of the pelvis.
    fn body(&self, skeleton: &Skeleton, motion: &Motion, interpolation: Interpolation) -> Result<Vec<Track>, Error> {
        let mut tracks = Vec::with_capacity(skeleton.joints().len() + 1);
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let name = joint.name.as_deref().unwrap_or_default();
            let rotation = |phase: f64| motion.rotation(name, phase).to_array().to_vec();
            tracks.push(Track::new(Target::Rotation(index), self.curve(interpolation, rotation)?));
            if joint.parent.is_none() {
                let position = |phase: f64| (joint.rest.translation + motion.shift(phase)).to_array().to_vec();
                tracks.push(Track::new(Target::Translation(index), self.curve(interpolation, position)?));
            }
        }
        Ok(tracks)
    }
}
