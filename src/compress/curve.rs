//! Quantization of one curve: each number becomes an integer `code`. The decoded number is `step * (least + code)`.

use glam::{DQuat, DVec4};

use crate::model::rotation::{self, unit};
use crate::model::{Curve, Extrapolation, Interpolation};
use crate::pack::{Form, MAX_BITS, QuantizedCurve, QuantizedKeys, storable_step};

/// The least absolute value of a dropped component. Below it, the square root that restores the component loses too
/// many digits.
const MIN_DROPPED: f64 = 0.3;
/// The largest deviation of a quaternion's length from 1 that counts as rounding of the file.
const LENGTH_ROUNDING: f64 = 1e-6;

/// The quantization steps of the values and of the tangents of a curve.
#[derive(Debug, Clone, Copy)]
pub struct Resolution {
    /// The step of the values.
    pub value: QuantizationStep,
    /// The step of the tangents, in units per second.
    pub tangent: QuantizationStep,
}

impl Resolution {
    /// A fixed number of bits per number.
    pub fn bits(bits: u32) -> Self {
        Self { value: QuantizationStep::Bits(bits), tangent: QuantizationStep::Bits(bits) }
    }

    /// Steps for keys that may differ from the original by about `tolerance`. If `strict`, each number differs by at
    /// most that.
    ///
    /// A spline's values get one half of the tolerance, and its tangents the other half. A change of a tangent changes
    /// the spline by at most 4/27 of that change times the key interval.
    pub fn within(curve: &Curve, tolerance: f64, strict: bool) -> Self {
        let numbers = curve.width().clamp(1, 4) as f64;
        let step = |tolerance: f64| match strict {
            true => QuantizationStep::AtMost(1.99 * tolerance),
            false => QuantizationStep::About(2.0 * tolerance / numbers.sqrt()),
        };
        if curve.interpolation() != Interpolation::CubicSpline {
            return Self { value: step(tolerance), tangent: step(tolerance) };
        }
        let intervals = curve.timeline().times().windows(2).map(|gap| gap[1] - gap[0]);
        let longest = intervals.fold(f64::MIN_POSITIVE, f64::max);
        Self { value: step(0.5 * tolerance), tangent: step(0.5 * tolerance * 27.0 / 8.0 / longest) }
    }
}

/// The result of a quantization.
#[derive(Debug, Clone)]
pub enum QuantizedOutcome {
    /// The curve keeps its `f32` keys.
    Float,
    /// All keys are rounded to this value.
    Constant(Vec<f64>),
    /// The keys are quantized.
    Quantized(QuantizedCurve),
}

/// Returns `true` if the keys of a curve can be quantized. Constant curves need no keys. Excluded are curves of a
/// caller's interpolator, which gives the keys a meaning unknown here; slerp of unnormalised quaternions, which depends
/// on their lengths; and linear extrapolation, which magnifies errors without limit.
pub fn can_be_quantized(curve: &Curve) -> bool {
    let linear = Extrapolation::Linear;
    !matches!(curve.interpolation(), Interpolation::Custom(_) | Interpolation::Slerp)
        && !curve.extrapolation().contains(&linear)
        && !curve.is_constant()
}

/// Returns `true` if the lengths of a rotation's keys have no effect: all are 1, up to a file's rounding to 16-bit
/// integers.
pub fn has_unit_keys(curve: &Curve) -> bool {
    let mut keys = 0..curve.timeline().len();
    keys.all(|key| (DQuat::from_slice(curve.value(key)).length() - 1.0).abs() <= 1e-4)
}

/// Quantizes a curve that [`can_be_quantized`]. `rotation` is true for curves of rotations.
pub fn quantize(curve: &Curve, rotation: bool, resolution: Resolution) -> QuantizedOutcome {
    let parts = if rotation && curve.interpolation() != Interpolation::CubicSpline {
        quantize_rotations(curve, resolution.value).map(|part| vec![vec![part]])
    } else {
        let firsts = (0..curve.width()).step_by(4);
        firsts.map(|first| quantize_numbers(curve, first, resolution)).collect()
    };
    let Some(parts) = parts else { return QuantizedOutcome::Float };
    let quantized = QuantizedCurve { parts };
    if quantized.width() > 0 {
        return QuantizedOutcome::Quantized(quantized);
    }
    // All keys have one value. A spline still moves between them if it has tangents.
    let has_no_tangents = (0..quantized.parts.len()).all(|part| {
        let tangents = quantized.parts[part].iter().step_by(2).filter(|_| quantized.parts[part].len() == 3);
        tangents.flat_map(|tangent| tangent.least).all(|least| least == 0)
    });
    if has_no_tangents {
        QuantizedOutcome::Constant(first_value(&quantized, curve))
    } else {
        QuantizedOutcome::Quantized(quantized)
    }
}

/// The value of the first key.
fn first_value(quantized: &QuantizedCurve, curve: &Curve) -> Vec<f64> {
    let value = |part: &Vec<QuantizedKeys>| part[part.len() / 2].value(0).to_array();
    quantized.parts.iter().flat_map(value).take(curve.width()).collect()
}

/// Quantizes up to four numbers of a curve, from `first` on.
fn quantize_numbers(curve: &Curve, first: usize, resolution: Resolution) -> Option<Vec<QuantizedKeys>> {
    let keys = |element: fn(&Curve, usize) -> &[f64]| -> Vec<DVec4> {
        let key = |key| first_four(&element(curve, key)[first..]);
        (0..curve.timeline().len()).map(key).collect()
    };
    let quantized = |element, step| quantize_keys(&keys(element), Form::Numbers, step);
    let value = quantized(Curve::value, resolution.value)?;
    if curve.interpolation() != Interpolation::CubicSpline {
        return Some(vec![value]);
    }
    let [arriving, leaving] = [Curve::in_tangent, Curve::out_tangent].map(|side| quantized(side, resolution.tangent));
    Some(vec![arriving?, value, leaving?])
}

/// The first four of some numbers, filled with zeros.
fn first_four(numbers: &[f64]) -> DVec4 {
    let mut four = [0.0; 4];
    four.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
    DVec4::from_array(four)
}

/// Quantizes the rotations of a curve. Stores three components if the fourth stays away from 0 over the whole curve,
/// else all four.
///
/// Slerp depends on the lengths of keys that are not of unit length. Such keys keep their lengths: all four components
/// are stored as they are.
fn quantize_rotations(curve: &Curve, quantization_step: QuantizationStep) -> Option<QuantizedKeys> {
    let slerped = curve.interpolation() == Interpolation::Linear;
    let lengths = || (0..curve.timeline().len()).map(|key| DQuat::from_slice(curve.value(key)).length());
    let rounding = match quantization_step {
        QuantizationStep::Bits(_) => LENGTH_ROUNDING,
        // A deviation that is small against a step has no effect.
        QuantizationStep::About(step) | QuantizationStep::AtMost(step) => (0.2 * step).max(LENGTH_ROUNDING),
    };
    let keeps_lengths =
        slerped && lengths().any(|length| is_slerped_as_stored(length) && (length - 1.0).abs() > rounding);
    // The rounding of a length must not change the decision to normalise the key.
    if keeps_lengths && lengths().any(|length| (length - 0.9).abs().min((length - 1.1).abs()) < 1e-3) {
        return None;
    }
    let mut keys: Vec<DVec4> = Vec::with_capacity(curve.timeline().len());
    for key in 0..curve.timeline().len() {
        let stored = DQuat::from_slice(curve.value(key));
        let rotation = if keeps_lengths { rotation::key(stored) } else { unit(stored) };
        let rotation = DVec4::from(rotation.unwrap_or(DQuat::IDENTITY));
        // Slerp takes the shorter arc, so that neighbouring keys need signs in one hemisphere.
        let negate = slerped && keys.last().is_some_and(|before| before.dot(rotation) < 0.0);
        keys.push(if negate { -rotation } else { rotation });
    }
    let quantized = match droppable_component(&keys, slerped) {
        _ if keeps_lengths => quantize_keys(&keys, Form::Numbers, quantization_step)?,
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
    // Rounding must not make the other arc the shorter one.
    let arcs = 1..if slerped { keys.len() } else { 1 };
    let keeps_arcs = arcs.into_iter().all(|key| quantized.value(key - 1).dot(quantized.value(key)) >= 0.0);
    keeps_arcs.then_some(quantized)
}

/// Returns `true` if slerp uses a quaternion of this length as it is stored. It normalises all others first.
fn is_slerped_as_stored(length: f64) -> bool {
    (0.9..=1.1).contains(&length)
}

/// The index of the component that stays farthest from 0 over all keys. If `one_sign`, it must also keep its sign.
/// `None` if every component comes nearer to 0 than [`MIN_DROPPED`].
fn droppable_component(keys: &[DVec4], one_sign: bool) -> Option<usize> {
    let least = |index: usize| {
        let sides = [1.0, -1.0].map(|side| keys.iter().map(|key| side * key[index]).fold(f64::INFINITY, f64::min));
        let either = keys.iter().map(|key| key[index].abs()).fold(f64::INFINITY, f64::min);
        if one_sign { sides[0].max(sides[1]) } else { either }
    };
    let (index, least) = (0..4).map(|index| (index, least(index))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (least >= MIN_DROPPED).then_some(index)
}

/// The requested quantization step: the difference between the numbers of neighbouring codes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QuantizationStep {
    /// About this step. The final step, within a factor of 4, balances bits against errors.
    About(f64),
    /// This step, so that no number differs by more than about half of it.
    AtMost(f64),
    /// The step that gives the number with the largest range this many bits.
    Bits(u32),
}

/// Quantizes keys to the nearest codes. `None` if a code needs more than [`MAX_BITS`] bits. Numbers that are dropped
/// or not used must be 0 in all keys.
pub fn quantize_keys(keys: &[DVec4], form: Form, quantization_step: QuantizationStep) -> Option<QuantizedKeys> {
    let low = keys.iter().fold(DVec4::INFINITY, |low, &key| low.min(key));
    let high = keys.iter().fold(DVec4::NEG_INFINITY, |high, &key| high.max(key));
    let step = storable_step(match quantization_step {
        QuantizationStep::About(wanted) => balanced_step(low, high, wanted),
        QuantizationStep::AtMost(most) => most,
        QuantizationStep::Bits(bits) => power_of_two_step(low, high, bits),
    });
    if !step.is_finite() {
        return None;
    }
    let exact_step = f64::from(step);
    let merged = if matches!(quantization_step, QuantizationStep::About(_)) { MERGED_RANGE } else { 0.0 };
    let mut codes = vec![[0; 4]; keys.len()];
    let (mut least, mut widths) = ([0; 4], [0; 4]);
    for number in 0..4 {
        if low[number] == 0.0 && high[number] == 0.0 {
            continue;
        }
        let (first, last) = nearest_multiples(low[number], high[number], exact_step, merged);
        // Written so that a step of 0, which gives NaN or infinity, is refused too.
        if !(first.abs().max(last.abs()) < f64::from(1_u32 << 30) && last - first < f64::from(1_u32 << MAX_BITS)) {
            return None;
        }
        least[number] = first as i32;
        let most = (last - first) as u32;
        widths[number] = u32::BITS - most.leading_zeros();
        for (key, codes) in keys.iter().zip(&mut codes) {
            codes[number] = ((key[number] / exact_step).round() - first).clamp(0.0, last - first) as u32;
        }
    }
    Some(QuantizedKeys { form, least, step, widths, codes })
}

/// The least power of two at which every range fits the bits. Numbers of few binary digits are then multiples of the
/// step, and stay exact.
fn power_of_two_step(low: DVec4, high: DVec4, bits: u32) -> f64 {
    let most = f64::from((1_u32 << bits) - 1);
    // If no number changes: the precision of an f32 at the largest number.
    let largest = low.abs().max(high.abs()).max_element();
    let step = ((high - low).max_element() / most).max(largest / f64::from(1_u32 << MAX_BITS));
    let step = step.max(f64::from(f32::MIN_POSITIVE)).log2().ceil().exp2();
    let fits = |step: f64| (0..4).all(|number| step_count(low[number], high[number], step, 0.0) <= most);
    if fits(step) { step } else { 2.0 * step }
}

/// The largest range, in steps, that is merged into one code even if its ends are nearest to two multiples.
const MERGED_RANGE: f64 = 0.5;

/// The multiples of a step nearest to the ends of a range. A range of at most `merged` steps has one multiple, nearest
/// to its middle.
fn nearest_multiples(low: f64, high: f64, step: f64, merged: f64) -> (f64, f64) {
    if high - low <= merged * step {
        let middle = (0.5 * (low + high) / step).round();
        return (middle, middle);
    }
    ((low / step).round(), (high / step).round())
}

/// The number of steps between the multiples nearest to the ends of a range.
fn step_count(low: f64, high: f64, step: f64, merged: f64) -> f64 {
    let (first, last) = nearest_multiples(low, high, step, merged);
    last - first
}

/// A step within a factor of 4 of the wanted one, at which the ranges fill their codes well.
///
/// The bits of a number grow with the negative logarithm of the step, and its squared error grows with the square of
/// the step. The cost adds both, with weights that make the sum least at the wanted step if bits were not whole
/// numbers. The candidates are the wanted step and the steps at which some range just needs one bit less; the one with
/// the least cost wins.
fn balanced_step(low: DVec4, high: DVec4, wanted: f64) -> f64 {
    let bits = |step: f64| -> f64 {
        (0..4).map(|number| (step_count(low[number], high[number], step, MERGED_RANGE) + 1.0).log2().ceil()).sum()
    };
    let ranges = (high - low).to_array();
    let moving = ranges.iter().filter(|&&range| range > wanted).count().max(1) as f64;
    let cost = |step: f64| bits(step) + moving / (2.0 * std::f64::consts::LN_2) * (step / wanted).powi(2);
    let mut best = (cost(wanted), wanted);
    for range in ranges.into_iter().filter(|&range| range > 0.0) {
        let nearest = (range / wanted).log2().round();
        for bits in [nearest - 1.0, nearest, nearest + 1.0] {
            // The number of steps in a range of n steps depends on the position of the multiples: n - 1, or n.
            for steps in [bits.exp2() - 1.0, bits.exp2() - 0.5, bits.exp2()] {
                let step = range / steps.max(0.5);
                if (0.25..=4.0).contains(&(step / wanted)) && cost(step) < best.0 {
                    best = (cost(step), step);
                }
            }
        }
    }
    best.1
}
