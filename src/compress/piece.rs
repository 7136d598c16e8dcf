//! A curve, however many clips have it, and what becomes of it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compress::curve::{Outcome, Resolution, can_be_quantized, quantize};
use crate::compress::displacement::is_of_joint;
use crate::compress::member::Member;
use crate::compress::tolerance::lever;
use crate::model::{Curve, Extrapolation, Interpolation};
use crate::pack::QuantizedCurve;

/// A curve of one clip or of several.
pub struct Piece {
    /// As it was.
    pub original: Curve,
    /// On the timeline that it is going to have.
    pub curve: Curve,
    pub rotation: bool,
    /// The clips and their tracks that have it.
    pub uses: Vec<(usize, usize)>,
    /// How far its keys may be off.
    pub tolerance: f64,
    /// Whether no displacement tells what it may be off by.
    pub strict: bool,
    /// Whether its keys stay as they are.
    pub is_float: bool,
}

/// What a piece has become.
#[derive(Clone)]
pub struct Candidate {
    pub curve: Curve,
    pub compressed: Option<Arc<QuantizedCurve>>,
}

impl Piece {
    /// Whether a curve of the same numbers is a copy of this one.
    pub fn is(&self, curve: &Curve, rotation: bool) -> bool {
        self.rotation == rotation
            && Arc::ptr_eq(self.curve.timeline(), curve.timeline())
            && self.curve.interpolation() == curve.interpolation()
            && self.curve.extrapolation() == curve.extrapolation()
            && self.curve.easing() == curve.easing()
    }

    /// What becomes of it; as it was where `must_pay` and integers take no less.
    pub fn make(&self, resolution: Resolution, must_pay: bool) -> Candidate {
        self.make_of(&self.curve, resolution, must_pay)
    }

    /// What becomes of it if its keys are rounded from those of another curve.
    pub fn make_of(&self, curve: &Curve, resolution: Resolution, must_pay: bool) -> Candidate {
        let outcome = if self.is_float { Outcome::Float } else { quantize(curve, self.rotation, resolution) };
        self.take(outcome, must_pay).unwrap_or_else(|| Candidate { curve: self.original.clone(), compressed: None })
    }

    /// How fine its keys have to be.
    pub fn resolution(&self) -> Resolution {
        Resolution::within(&self.curve, self.tolerance, self.strict)
    }

    /// The curve of what has become of it; none where that is as it was.
    fn take(&self, outcome: Outcome, must_pay: bool) -> Option<Candidate> {
        let Self { curve, .. } = self;
        let (interpolation, keys) = (curve.interpolation(), curve.timeline().len());
        let (values, compressed) = match outcome {
            Outcome::Float => return None,
            Outcome::Constant(value) => {
                let still = vec![0.0; value.len()];
                let key = match interpolation {
                    Interpolation::CubicSpline => [still.clone(), value, still].concat(),
                    _ => value,
                };
                (key.repeat(keys), None)
            }
            Outcome::Quantized(compressed) => (compressed.values(curve), Some(compressed)),
        };
        let floats = 16 * self.original.timeline().len();
        let pays = |compressed: &QuantizedCurve| !must_pay || compressed.bytes(keys) < compressed.columns() * floats;
        if !compressed.as_ref().is_none_or(pays) {
            return None;
        }
        // What an f32 cannot hold stays as it was.
        let curve = curve.with_values(interpolation, curve.width(), values).ok()?;
        Some(Candidate { curve, compressed: compressed.map(Arc::new) })
    }

    /// Bytes that its keys take, about.
    pub fn size(&self, made: &Candidate) -> usize {
        let Candidate { curve, compressed } = made;
        let keys = if curve.is_constant() { 1 } else { curve.timeline().len() };
        match compressed {
            Some(compressed) => compressed.bytes(keys),
            None => 16 * curve.interpolation().elements_per_key() * curve.width().div_ceil(4) * keys,
        }
    }
}

/// Each curve of some clips once, with all who have it. Numbers that displace nothing may be off by what is left of the bound.
pub fn pieces(members: &[Member], left: f64) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut by_values: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, member) in members.iter().enumerate() {
        for (index, track) in member.clip.tracks.iter().enumerate() {
            let original = &member.original.tracks()[index].curve;
            let rotation = track.target.is_rotation(member.original.skeleton());
            let curve = &track.curve;
            let share = left * member.original.share();
            let tolerance = match is_of_joint(track) {
                true => member.levers.tolerance(track, member.original.bound()),
                false if rotation => 0.5 * share / lever(curve),
                false => {
                    let keys = 0..original.timeline().len();
                    let largest = keys.flat_map(|key| original.value(key)).fold(0.0, |most: f64, x| most.max(x.abs()));
                    share * largest / lever(curve)
                }
            };
            let same = by_values.entry(curve.values_identity()).or_default();
            match same.iter().find(|&&piece| pieces[piece].is(curve, rotation)) {
                Some(&piece) => {
                    let piece = &mut pieces[piece];
                    piece.uses.push((number, index));
                    piece.tolerance = piece.tolerance.min(tolerance);
                    piece.strict |= !is_of_joint(track);
                }
                None => {
                    same.push(pieces.len());
                    pieces.push(Piece {
                        original: original.clone(),
                        curve: curve.clone(),
                        rotation,
                        uses: vec![(number, index)],
                        tolerance,
                        strict: !is_of_joint(track),
                        is_float: !can_be_quantized(original),
                    });
                }
            }
        }
    }
    pieces
}

/// Whether a curve's easings overshoot, or it has keys again beyond its own.
pub fn goes_beyond(curve: &Curve) -> bool {
    let again = [Extrapolation::Loop, Extrapolation::PingPong];
    lever(curve) > 1.0 + 1e-9 || curve.extrapolation().iter().any(|beyond| again.contains(beyond))
}
