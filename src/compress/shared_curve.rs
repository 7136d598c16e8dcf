//! Clips that share curves, and a curve of one or several of them with its quantization.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compress::compensation::{Compensation, ErrorCompensation};
use crate::compress::curve::{QuantizedOutcome, Resolution, can_be_quantized, quantize};
use crate::compress::displacement::{Original, is_of_joint, largest_number};
use crate::compress::tolerance::{ErrorPropagation, easing_gain};
use crate::model::rotation::unit;
use crate::model::{Clip, Curve, Extrapolation, Interpolation, Skeleton, Target, Track};
use crate::pack::QuantizedCurve;

/// One of the clips that share curves.
pub struct SharedClip<'a> {
    pub original: &'a Original<'a>,
    /// The clip, with its curves on the timelines that they will have.
    pub clip: &'a Clip,
    pub compensation: ErrorCompensation,
    pub propagation: ErrorPropagation,
}

impl<'a> SharedClip<'a> {
    /// A clip. `may_change` returns true for tracks with a curve that no other track uses.
    pub fn new(
        original: &'a Original<'a>,
        clip: &'a Clip,
        compensation: Compensation,
        may_change: impl Fn(&Track) -> bool,
    ) -> Self {
        let may_change: Vec<bool> = clip.tracks.iter().map(may_change).collect();
        let compensation = ErrorCompensation::new(original.library(), clip, &may_change, compensation);
        let propagation = ErrorPropagation::new(original, clip, compensation.joints());
        Self { original, clip, compensation, propagation }
    }
}

/// A track of one of the clips that share curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackUse {
    /// The index of the clip among the clips that share curves.
    pub clip: usize,
    /// The index of the track in the clip.
    pub track: usize,
}

/// A curve of one clip or of several.
pub struct SharedCurve {
    /// The original curve.
    pub original: Curve,
    /// The same curve on the timeline that it will have.
    pub curve: Curve,
    /// True for curves of rotations.
    pub rotation: bool,
    /// The value of the rest pose, which takes no bytes if the curve becomes constant. `None` if its tracks have
    /// several.
    pub rest: Option<Vec<f64>>,
    /// The tracks with this curve.
    pub uses: Vec<TrackUse>,
    /// The largest error of its keys.
    pub tolerance: f64,
    /// `true` if the curve displaces no joint: then the tolerance holds for each number, and no measured displacement
    /// changes it.
    pub strict: bool,
    /// `true` if the curve keeps its original keys.
    pub is_float: bool,
}

/// A possible result for a curve.
#[derive(Clone)]
pub struct Candidate {
    /// The curve as the engines decode it.
    pub curve: Curve,
    /// Its quantized keys. `None` if it is constant or keeps its original keys.
    pub quantized: Option<Arc<QuantizedCurve>>,
}

impl SharedCurve {
    /// Returns `true` if a curve with the same numbers is a copy of this one.
    pub fn is_copy(&self, curve: &Curve, rotation: bool) -> bool {
        self.rotation == rotation
            && Arc::ptr_eq(self.curve.timeline(), curve.timeline())
            && self.curve.interpolation() == curve.interpolation()
            && self.curve.extrapolation() == curve.extrapolation()
            && self.curve.easing() == curve.easing()
    }

    /// Quantizes the curve. If `must_pay`, it keeps its original keys unless quantized keys take fewer bytes, and it
    /// becomes the rest pose if all its keys are nearer to that than its tolerance.
    pub fn candidate(&self, resolution: Resolution, must_pay: bool) -> Candidate {
        self.candidate_from(&self.curve, resolution, must_pay)
    }

    /// Quantizes the keys of another curve on the same timeline in place of its own.
    pub fn candidate_from(&self, keys: &Curve, resolution: Resolution, must_pay: bool) -> Candidate {
        let outcome = if self.is_float { QuantizedOutcome::Float } else { quantize(keys, self.rotation, resolution) };
        self.accept(outcome, must_pay).unwrap_or_else(|| Candidate { curve: self.original.clone(), quantized: None })
    }

    /// The quantization steps that the tolerance allows.
    pub fn resolution(&self) -> Resolution {
        Resolution::within(&self.curve, self.tolerance, self.strict)
    }

    /// The candidate of an outcome; `None` if the curve keeps its original keys.
    fn accept(&self, outcome: QuantizedOutcome, must_pay: bool) -> Option<Candidate> {
        let Self { curve, .. } = self;
        let (interpolation, keys) = (curve.interpolation(), curve.timeline().len());
        let (values, quantized) = match outcome {
            QuantizedOutcome::Float => return None,
            QuantizedOutcome::Constant(value) => {
                let value = self.near_rest().filter(|_| must_pay).unwrap_or(value);
                let tangent = vec![0.0; value.len()];
                let key = match interpolation {
                    Interpolation::CubicSpline => [tangent.clone(), value, tangent].concat(),
                    _ => value,
                };
                (key.repeat(keys), None)
            }
            QuantizedOutcome::Quantized(quantized) => (quantized.values(curve), Some(quantized)),
        };
        let float_bytes = 16 * self.original.timeline().len();
        let pays = |quantized: &QuantizedCurve| !must_pay || quantized.bytes(keys) < quantized.columns() * float_bytes;
        if !quantized.as_ref().is_none_or(pays) {
            return None;
        }
        // A curve with decoded values outside the range of an f32 keeps its original keys.
        let curve = curve.with_values(interpolation, curve.width(), values).ok()?;
        Some(Candidate { curve, quantized: quantized.map(Arc::new) })
    }

    /// The value of the rest pose, if all keys are nearer to it than the tolerance.
    fn near_rest(&self) -> Option<Vec<f64>> {
        let rest = self.rest.as_ref()?;
        let distance = |key: usize| {
            let differences = self.curve.value(key).iter().zip(rest).map(|(number, rest)| number - rest);
            differences.map(|difference| difference * difference).sum::<f64>().sqrt()
        };
        let farthest = (0..self.curve.timeline().len()).map(distance).fold(0.0, f64::max);
        (farthest <= self.tolerance).then(|| rest.clone())
    }

    /// The approximate number of bytes of a candidate's keys.
    pub fn size(&self, candidate: &Candidate) -> usize {
        let Candidate { curve, quantized } = candidate;
        if curve.is_constant() && self.rest.as_deref() == Some(curve.value(0)) {
            return 0;
        }
        let keys = if curve.is_constant() { 1 } else { curve.timeline().len() };
        match quantized {
            Some(quantized) => quantized.bytes(keys),
            None => 16 * curve.interpolation().elements_per_key() * curve.width().div_ceil(4) * keys,
        }
    }
}

/// Collects each curve of some clips once, with all its uses. A curve that displaces no joint gets `remaining_share` of
/// the bound as its tolerance.
pub fn shared_curves(clips: &[SharedClip], remaining_share: f64) -> Vec<SharedCurve> {
    let mut curves: Vec<SharedCurve> = Vec::new();
    let mut by_values: HashMap<usize, Vec<usize>> = HashMap::new();
    for (clip_index, shared_clip) in clips.iter().enumerate() {
        for (index, track) in shared_clip.clip.tracks.iter().enumerate() {
            let original = &shared_clip.original.tracks()[index].curve;
            let rotation = track.target.is_rotation(shared_clip.original.skeleton());
            let curve = &track.curve;
            let share = remaining_share * shared_clip.original.share();
            let tolerance = match is_of_joint(track) {
                true => shared_clip.propagation.tolerance(track, shared_clip.original.bound()),
                false if rotation => 0.5 * share / easing_gain(curve),
                false => share * largest_number(original) / easing_gain(curve),
            };
            let rest = rest_of(shared_clip.original.skeleton(), track);
            let track_use = TrackUse { clip: clip_index, track: index };
            let same_values = by_values.entry(curve.values_identity()).or_default();
            match same_values.iter().find(|&&index| curves[index].is_copy(curve, rotation)) {
                Some(&index) => {
                    let shared = &mut curves[index];
                    shared.rest = shared.rest.take().filter(|value| Some(value) == rest.as_ref());
                    shared.uses.push(track_use);
                    shared.tolerance = shared.tolerance.min(tolerance);
                    shared.strict |= !is_of_joint(track);
                }
                None => {
                    same_values.push(curves.len());
                    curves.push(SharedCurve {
                        original: original.clone(),
                        curve: curve.clone(),
                        rotation,
                        rest,
                        uses: vec![track_use],
                        tolerance,
                        strict: !is_of_joint(track),
                        is_float: !can_be_quantized(original),
                    });
                }
            }
        }
    }
    curves
}

/// The value of a joint's translation, rotation or scale in the rest pose.
fn rest_of(skeleton: &Skeleton, track: &Track) -> Option<Vec<f64>> {
    let rest = |joint: usize| &skeleton.joints()[joint].rest;
    match track.target {
        _ if track.component.is_some() => None,
        Target::Translation(joint) => Some(rest(joint).translation.to_array().to_vec()),
        Target::Rotation(joint) => unit(rest(joint).rotation).map(|rotation| rotation.to_array().to_vec()),
        Target::Scale(joint) => Some(rest(joint).scale.to_array().to_vec()),
        _ => None,
    }
}

/// Returns `true` if a curve's easings overshoot, or if it loops beyond its keys.
pub fn goes_beyond(curve: &Curve) -> bool {
    let loops = [Extrapolation::Loop, Extrapolation::PingPong];
    easing_gain(curve) > 1.0 + 1e-9 || curve.extrapolation().iter().any(|extrapolation| loops.contains(extrapolation))
}
