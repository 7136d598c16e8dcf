//! A curve, however many clips have it, and what becomes of it.

use std::sync::Arc;

use crate::model::curve::Curve;
use crate::model::extrapolation::Extrapolation;
use crate::model::interpolation::Interpolation;
use crate::pack::compact::curve::{CompactCurve, Outcome, Resolution, compact};
use crate::pack::compact::tolerance::lever;

/// A curve of one clip or of several.
pub struct Piece {
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
pub struct Made {
    pub curve: Curve,
    pub compact: Option<Arc<CompactCurve>>,
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
    pub fn make(&self, resolution: Resolution, must_pay: bool) -> Made {
        self.make_of(&self.curve, resolution, must_pay)
    }

    /// What becomes of it if its keys are rounded from those of another curve.
    pub fn make_of(&self, curve: &Curve, resolution: Resolution, must_pay: bool) -> Made {
        let outcome = if self.is_float { Outcome::Float } else { compact(curve, self.rotation, resolution) };
        self.take(outcome, must_pay).unwrap_or_else(|| Made { curve: self.curve.clone(), compact: None })
    }

    /// How fine its keys have to be.
    pub fn resolution(&self) -> Resolution {
        Resolution::within(&self.curve, self.tolerance, self.strict)
    }

    /// The curve of what has become of it; none where that is as it was.
    fn take(&self, outcome: Outcome, must_pay: bool) -> Option<Made> {
        let Self { curve, .. } = self;
        let (interpolation, keys) = (curve.interpolation(), curve.timeline().len());
        let (values, compact) = match outcome {
            Outcome::Float => return None,
            Outcome::Constant(value) => {
                let still = vec![0.0; value.len()];
                let key = match interpolation {
                    Interpolation::CubicSpline => [still.clone(), value, still].concat(),
                    _ => value,
                };
                (key.repeat(keys), None)
            }
            Outcome::Compact(compact) => (compact.values(curve), Some(compact)),
        };
        let pays = |compact: &CompactCurve| !must_pay || compact.bytes(keys) < 16 * compact.columns() * keys;
        if !compact.as_ref().is_none_or(pays) {
            return None;
        }
        // What an f32 cannot hold stays as it was.
        let curve = curve.with_values(interpolation, curve.width(), values).ok()?;
        Some(Made { curve, compact: compact.map(Arc::new) })
    }

    /// Bytes that its keys take, about.
    pub fn size(&self, made: &Made) -> usize {
        let keys = if made.curve.is_constant() { 1 } else { self.curve.timeline().len() };
        match &made.compact {
            Some(compact) => compact.bytes(keys),
            None => 16 * self.curve.interpolation().elements_per_key() * self.curve.width().div_ceil(4) * keys,
        }
    }
}

/// Whether a curve's easings overshoot, or it has keys again beyond its own.
pub fn goes_beyond(curve: &Curve) -> bool {
    let again = [Extrapolation::Loop, Extrapolation::PingPong];
    lever(curve) > 1.0 + 1e-9 || curve.extrapolation().iter().any(|beyond| again.contains(beyond))
}
