//! Quantization of keys: replaces each number by an integer `code`. The decoded number is `step * (least + code)`.

use glam::DVec4;

use crate::pack::{Form, MOST_BITS, QuantizedKeys, storable_step};

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

/// Quantizes keys to the nearest codes. `None` if a code needs more than [`MOST_BITS`] bits. Numbers that are dropped or not used
/// must be 0 in all keys.
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
        if !(first.abs().max(last.abs()) < f64::from(1_u32 << 30) && last - first < f64::from(1_u32 << MOST_BITS)) {
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

/// The least power of two at which every range fits the bits. Numbers of few binary digits are then multiples of the step, and
/// stay exact.
fn power_of_two_step(low: DVec4, high: DVec4, bits: u32) -> f64 {
    let most = f64::from((1_u32 << bits) - 1);
    // If no number changes: the precision of an f32 at the largest number.
    let largest = low.abs().max(high.abs()).max_element();
    let step = ((high - low).max_element() / most).max(largest / f64::from(1_u32 << MOST_BITS));
    let step = step.max(f64::from(f32::MIN_POSITIVE)).log2().ceil().exp2();
    let fits = |step: f64| (0..4).all(|number| step_count(low[number], high[number], step, 0.0) <= most);
    if fits(step) { step } else { 2.0 * step }
}

/// The largest range, in steps, that is merged into one code even if its ends are nearest to two multiples.
const MERGED_RANGE: f64 = 0.5;

/// The multiples of a step nearest to the ends of a range. A range of at most `merged` steps has one multiple, nearest to its
/// middle.
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
/// The bits of a number grow with the negative logarithm of the step, and its squared error grows with the square of the step.
/// The cost adds both, with weights that make the sum least at the wanted step if bits were not whole numbers. The candidates are
/// the wanted step and the steps at which some range just needs one bit less; the one with the least cost wins.
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
