//! Keys as integers: `step * (least + code)`, number by number.

use glam::DVec4;

/// The most bits of a code: all that an `f32` holds of an integer.
pub const MOST_BITS: u32 = 24;

/// How the numbers of a key become its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// They are the value.
    Numbers,
    /// They are a unit quaternion but for the one of this index, which is what makes its length 1, and is never negative.
    Dropped(usize),
    /// They are a quaternion that is normalised.
    Unit,
}

/// How fine the codes are to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fineness {
    /// About this from code to code, so that bits and errors are well spent.
    About(f64),
    /// At most this from code to code.
    AtMost(f64),
    /// So many bits for the number that moves most.
    Bits(u32),
}

/// Up to four numbers of all keys, as integers.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantised {
    /// How the numbers become a value.
    pub form: Form,
    /// What is added to the codes of each number.
    pub least: [i32; 4],
    /// What that is multiplied by.
    pub step: f32,
    /// Bits of the code of each number; 0 where it does not change.
    pub widths: [u32; 4],
    /// The codes, key after key.
    pub codes: Vec<[u32; 4]>,
}

impl Quantised {
    /// The nearest codes to some keys; `None` where a code would take too many bits. What is not used of the four numbers,
    /// or dropped, is 0 in all keys.
    pub fn new(keys: &[DVec4], form: Form, fineness: Fineness) -> Option<Self> {
        let low = keys.iter().fold(DVec4::INFINITY, |low, &key| low.min(key));
        let high = keys.iter().fold(DVec4::NEG_INFINITY, |high, &key| high.max(key));
        let step = match fineness {
            Fineness::About(wanted) => balanced(low, high, wanted),
            Fineness::AtMost(most) => most,
            Fineness::Bits(bits) => dyadic(low, high, bits),
        } as f32;
        if !step.is_finite() {
            return None;
        }
        let cell = f64::from(step);
        let still = if matches!(fineness, Fineness::About(_)) { STILL } else { 0.0 };
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
        Some(Self { form, least, step, widths, codes })
    }

    /// The value of a key, as the engines decode it but for their rounding.
    pub fn value(&self, key: usize) -> DVec4 {
        let number =
            |number: usize| f64::from(self.step) * (f64::from(self.least[number]) + f64::from(self.codes[key][number]));
        let mut numbers = DVec4::new(number(0), number(1), number(2), number(3));
        match self.form {
            Form::Numbers => {}
            Form::Dropped(index) => numbers[index] = (1.0 - numbers.length_squared()).max(0.0).sqrt(),
            Form::Unit => numbers = numbers.normalize_or(DVec4::W),
        }
        numbers
    }
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
