//! Keys as integers: `step * (least + code)`, number by number.

use glam::DVec4;

use crate::pack::{Form, MOST_BITS, QuantizedKeys};

/// How fine the codes are to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QuantizationStep {
    /// About this from code to code, so that bits and errors are well spent.
    About(f64),
    /// At most this from code to code.
    AtMost(f64),
    /// So many bits for the number that moves most.
    Bits(u32),
}

/// The nearest codes to some keys; `None` where a code would take too many bits. What is not used of the four numbers,
/// or dropped, is 0 in all keys.
pub fn quantize_keys(keys: &[DVec4], form: Form, quantization_step: QuantizationStep) -> Option<QuantizedKeys> {
    let low = keys.iter().fold(DVec4::INFINITY, |low, &key| low.min(key));
    let high = keys.iter().fold(DVec4::NEG_INFINITY, |high, &key| high.max(key));
    let step = match quantization_step {
        QuantizationStep::About(wanted) => balanced(low, high, wanted),
        QuantizationStep::AtMost(most) => most,
        QuantizationStep::Bits(bits) => dyadic(low, high, bits),
    } as f32;
    if !step.is_finite() {
        return None;
    }
    let cell = f64::from(step);
    let still = if matches!(quantization_step, QuantizationStep::About(_)) { STILL } else { 0.0 };
    let mut codes = vec![[0; 4]; keys.len()];
    let (mut least, mut widths) = ([0; 4], [0; 4]);
    for number in 0..4 {
        if low[number] == 0.0 && high[number] == 0.0 {
            continue;
        }
        let (first, last) = multiples(low[number], high[number], cell, still);
        // Not so where the step is nothing.
        if !(first.abs().max(last.abs()) < f64::from(1_u32 << 30) && last - first < f64::from(1_u32 << MOST_BITS)) {
            return None;
        }
        least[number] = first as i32;
        let most = (last - first) as u32;
        widths[number] = u32::BITS - most.leading_zeros();
        for (key, codes) in keys.iter().zip(&mut codes) {
            codes[number] = ((key[number] / cell).round() - first).clamp(0.0, last - first) as u32;
        }
    }
    Some(QuantizedKeys { form, least, step, widths, codes })
}

/// The least power of two of which so many bits count from the lowest number to the highest: numbers of few digits are then
/// what they were.
fn dyadic(low: DVec4, high: DVec4, bits: u32) -> f64 {
    let most = f64::from((1_u32 << bits) - 1);
    // As fine as an f32 is at the largest number, where none changes.
    let largest = low.abs().max(high.abs()).max_element();
    let step = ((high - low).max_element() / most).max(largest / f64::from(1_u32 << MOST_BITS));
    let step = step.max(f64::from(f32::MIN_POSITIVE)).log2().ceil().exp2();
    let fits = |step: f64| (0..4).all(|number| counted(low[number], high[number], step, 0.0) <= most);
    if fits(step) { step } else { 2.0 * step }
}

/// What of a step numbers may move by and still be taken for one, though there be two multiples that they are nearest to.
const STILL: f64 = 0.5;

/// The least and the greatest of the multiples of a step that numbers within a range are nearest to; one of both for a range
/// within a part of a step.
fn multiples(low: f64, high: f64, step: f64, still: f64) -> (f64, f64) {
    if high - low <= still * step {
        let middle = (0.5 * (low + high) / step).round();
        return (middle, middle);
    }
    ((low / step).round(), (high / step).round())
}

/// How many steps there are from the one to the other.
fn counted(low: f64, high: f64, step: f64, still: f64) -> f64 {
    let (first, last) = multiples(low, high, step, still);
    last - first
}

/// A step near the wanted one, at which the ranges fill their codes well.
///
/// A number's bits grow by the logarithm of its steps and its error with their square. Where both are added up so that
/// their sum is least at the wanted step, were bits not whole, the best of those steps is taken at which some range just
/// takes a bit less.
fn balanced(low: DVec4, high: DVec4, wanted: f64) -> f64 {
    let bits = |step: f64| -> f64 {
        (0..4).map(|number| (counted(low[number], high[number], step, STILL) + 1.0).log2().ceil()).sum()
    };
    let ranges = (high - low).to_array();
    let moving = ranges.iter().filter(|&&range| range > wanted).count().max(1) as f64;
    let cost = |step: f64| bits(step) + moving / (2.0 * std::f64::consts::LN_2) * (step / wanted).powi(2);
    let mut best = (cost(wanted), wanted);
    for range in ranges.into_iter().filter(|&range| range > 0.0) {
        let nearest = (range / wanted).log2().round();
        for bits in [nearest - 1.0, nearest, nearest + 1.0] {
            // From end to end there are so many steps at the most, but for where the multiples happen to lie.
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
