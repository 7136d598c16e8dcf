//! A curve whose keys are integers.

use glam::{DQuat, DVec4};

use crate::compress::quantize::{QuantizationStep, quantize_keys};
use crate::model::rotation::{self, unit};
use crate::model::{Curve, Interpolation};
use crate::pack::{Form, QuantizedCurve, QuantizedKeys};

/// A dropped component is at least this, or the square root that it comes from loses too many digits.
const LEAST_DROPPED: f64 = 0.3;
/// A length this near to 1 is rounding of a file.
const ROUNDED: f64 = 1e-6;

/// How fine the values and the tangents are to be.
#[derive(Debug, Clone, Copy)]
pub struct Resolution {
    /// Of the values.
    pub value: QuantizationStep,
    /// Of the tangents, in units per second.
    pub tangent: QuantizationStep,
}

impl Resolution {
    /// So many bits for each number.
    pub fn bits(bits: u32) -> Self {
        Self { value: QuantizationStep::Bits(bits), tangent: QuantizationStep::Bits(bits) }
    }

    /// For keys that may be about so far off, or, where `strict`, each number at most so far.
    ///
    /// Of what a spline may be off by, its values get a half, and so do its tangents, which at worst move it by 4/27 of the
    /// key interval each.
    pub fn within(curve: &Curve, tolerance: f64, strict: bool) -> Self {
        let numbers = curve.width().clamp(1, 4) as f64;
        let quantization_step = |tolerance: f64| match strict {
            true => QuantizationStep::AtMost(1.99 * tolerance),
            false => QuantizationStep::About(2.0 * tolerance / numbers.sqrt()),
        };
        if curve.interpolation() != Interpolation::CubicSpline {
            return Self { value: quantization_step(tolerance), tangent: quantization_step(tolerance) };
        }
        let intervals = curve.timeline().times().windows(2).map(|gap| gap[1] - gap[0]);
        let longest = intervals.fold(f64::MIN_POSITIVE, f64::max);
        Self {
            value: quantization_step(0.5 * tolerance),
            tangent: quantization_step(0.5 * tolerance * 27.0 / 8.0 / longest),
        }
    }
}

/// What becomes of a curve.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It stays as it is.
    Float,
    /// All its keys have this value.
    Constant(Vec<f64>),
    /// Its keys are integers.
    Quantized(QuantizedCurve),
}

/// Whether the keys of a curve can be integers at all: not those of interpolators, whose meaning nobody knows, nor
/// quaternions whose length counts, nor what goes on in straight lines, which magnify any error.
pub fn can_be_quantized(curve: &Curve) -> bool {
    let linear = crate::model::Extrapolation::Linear;
    !matches!(curve.interpolation(), Interpolation::Custom(_) | Interpolation::Slerp)
        && !curve.extrapolation().contains(&linear)
        && !curve.is_constant()
}

/// Whether the lengths of a rotation's keys have no effect: they are 1, but for a file's rounding to integers of 16 bits.
pub fn has_unit_keys(curve: &Curve) -> bool {
    let mut keys = 0..curve.timeline().len();
    keys.all(|key| (DQuat::from_slice(curve.value(key)).length() - 1.0).abs() <= 1e-4)
}

/// What becomes of a curve that can be compressed. `rotation` says that it is one of rotations.
pub fn quantize(curve: &Curve, rotation: bool, resolution: Resolution) -> Outcome {
    let found = if rotation && curve.interpolation() != Interpolation::CubicSpline {
        rotations(curve, resolution.value).map(|part| vec![vec![part]])
    } else {
        let firsts = (0..curve.width()).step_by(4);
        firsts.map(|first| numbers(curve, first, resolution)).collect()
    };
    let Some(parts) = found else { return Outcome::Float };
    let compressed = QuantizedCurve { parts };
    if compressed.width() > 0 {
        return Outcome::Quantized(compressed);
    }
    let still = (0..compressed.parts.len()).all(|part| {
        let tangents = compressed.parts[part].iter().step_by(2).filter(|_| compressed.parts[part].len() == 3);
        tangents.flat_map(|tangent| tangent.least).all(|least| least == 0)
    });
    // Between keys that are alike, a spline moves by its tangents.
    if still { Outcome::Constant(constant(&compressed, curve)) } else { Outcome::Quantized(compressed) }
}

fn constant(compressed: &QuantizedCurve, curve: &Curve) -> Vec<f64> {
    let value = |part: &Vec<QuantizedKeys>| part[part.len() / 2].value(0).to_array();
    compressed.parts.iter().flat_map(value).take(curve.width()).collect()
}

/// Four numbers of a curve, or those that are left.
fn numbers(curve: &Curve, first: usize, resolution: Resolution) -> Option<Vec<QuantizedKeys>> {
    let keys = |element: fn(&Curve, usize) -> &[f64]| -> Vec<DVec4> {
        let key = |key| some(&element(curve, key)[first..]);
        (0..curve.timeline().len()).map(key).collect()
    };
    let quantized = |element, quantization_step| quantize_keys(&keys(element), Form::Numbers, quantization_step);
    let value = quantized(Curve::value, resolution.value)?;
    if curve.interpolation() != Interpolation::CubicSpline {
        return Some(vec![value]);
    }
    let [arriving, leaving] = [Curve::in_tangent, Curve::out_tangent].map(|side| quantized(side, resolution.tangent));
    Some(vec![arriving?, value, leaving?])
}

/// The first four of some numbers, filled with zeros.
fn some(numbers: &[f64]) -> DVec4 {
    let mut some = [0.0; 4];
    some.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
    DVec4::from_array(some)
}

/// The rotations of a curve: the three numbers beside one that stays away from 0 over the whole curve, or all four.
///
/// Where keys that are slerped are not of unit length, which then has an effect, it is kept: all four are what they are.
fn rotations(curve: &Curve, quantization_step: QuantizationStep) -> Option<QuantizedKeys> {
    let slerped = curve.interpolation() == Interpolation::Linear;
    let lengths = || (0..curve.timeline().len()).map(|key| DQuat::from_slice(curve.value(key)).length());
    let rounded = match quantization_step {
        QuantizationStep::Bits(_) => ROUNDED,
        // What is small beside a step does not show.
        QuantizationStep::About(step) | QuantizationStep::AtMost(step) => (0.2 * step).max(ROUNDED),
    };
    let uneven = slerped && lengths().any(|length| taken_as_is(length) && (length - 1.0).abs() > rounded);
    // Rounding must not decide whether a key is normalised.
    if uneven && lengths().any(|length| (length - 0.9).abs().min((length - 1.1).abs()) < 1e-3) {
        return None;
    }
    let mut keys: Vec<DVec4> = Vec::with_capacity(curve.timeline().len());
    for key in 0..curve.timeline().len() {
        let stored = DQuat::from_slice(curve.value(key));
        let rotation = if uneven { rotation::key(stored) } else { unit(stored) };
        let rotation = DVec4::from(rotation.unwrap_or(DQuat::IDENTITY));
        // Between the keys the way goes along the shorter arc, so that signs hang together.
        let turned = slerped && keys.last().is_some_and(|before| before.dot(rotation) < 0.0);
        keys.push(if turned { -rotation } else { rotation });
    }
    let quantized = match dropped(&keys, slerped) {
        _ if uneven => quantize_keys(&keys, Form::Numbers, quantization_step)?,
        Some(index) => {
            for key in &mut keys {
                if key[index] < 0.0 {
                    *key = -*key;
                }
                key[index] = 0.0;
            }
            quantize_keys(&keys, Form::Dropped(index), quantization_step)?
        }
        None => quantize_keys(&keys, Form::Unit, quantization_step)?,
    };
    // Rounding must not make another arc the shorter one.
    let arcs = 1..if slerped { keys.len() } else { 1 };
    let same = arcs.into_iter().all(|key| quantized.value(key - 1).dot(quantized.value(key)) >= 0.0);
    same.then_some(quantized)
}

/// Whether slerping takes a quaternion of this length as it is stored.
fn taken_as_is(length: f64) -> bool {
    (0.9..=1.1).contains(&length)
}

/// The component that stays farthest from 0, of one sign throughout where signs hang together; none where it comes too near.
fn dropped(keys: &[DVec4], one_sign: bool) -> Option<usize> {
    let least = |index: usize| {
        let sides = [1.0, -1.0].map(|side| keys.iter().map(|key| side * key[index]).fold(f64::INFINITY, f64::min));
        let either = keys.iter().map(|key| key[index].abs()).fold(f64::INFINITY, f64::min);
        if one_sign { sides[0].max(sides[1]) } else { either }
    };
    let (index, least) = (0..4).map(|index| (index, least(index))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (least >= LEAST_DROPPED).then_some(index)
}
