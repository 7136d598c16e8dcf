//! The scale of an axis: its range and its labels.

/// The smallest distance of two labels, as a share of the axis.
const MIN_DISTANCE: f64 = 0.07;

/// A scale, linear from 0 or logarithmic.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    is_logarithmic: bool,
    /// The ends of the axis.
    pub range: [f64; 2],
    /// The values with a label, in ascending order.
    pub labels: Vec<f64>,
    /// The values with a finer line and no label.
    pub between: Vec<f64>,
}

impl Scale {
    /// A logarithmic scale over positive values. Each value has a label if there is room.
    pub fn of_steps(values: &[f64]) -> Self {
        let mut steps = values.to_vec();
        steps.sort_by(f64::total_cmp);
        steps.dedup();
        let (low, high) = (steps.first().copied().unwrap_or(1.0), steps.last().copied().unwrap_or(1.0));
        // A single value is in the middle.
        let range = if low < high { [low, high] } else { [low / 2.0, high * 2.0] };
        let mut scale = Self { is_logarithmic: true, range, labels: Vec::new(), between: Vec::new() };
        for step in steps {
            if scale.labels.last().is_none_or(|&last| scale.share(step) - scale.share(last) >= MIN_DISTANCE) {
                scale.labels.push(step);
            }
        }
        scale
    }

    /// A logarithmic scale over positive values, between round numbers.
    pub fn logarithmic(values: &[f64]) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let round: Vec<f64> =
            decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(decade))).collect();
        // The nearest round numbers below and above the values. They always differ.
        let first = round.iter().rposition(|&number| number <= low).unwrap_or(0);
        let last = round.iter().position(|&number| number >= high).unwrap_or(round.len() - 1).max(first + 1);
        let last = last.min(round.len() - 1);
        let range = [round[first], round[last]];
        let is_decade = |number: &f64| (number.log10() - number.log10().round()).abs() < 1e-9;
        let (labels, between) = if last - first <= 6 {
            (round[first..=last].to_vec(), Vec::new())
        } else {
            round[first..=last].iter().partition(|&number| is_decade(number))
        };
        Self { is_logarithmic: true, range, labels, between }
    }

    /// A linear scale from 0 to a round number above the values.
    pub fn linear(values: &[f64]) -> Self {
        let high = values.iter().copied().fold(0.0, f64::max);
        let high = if high > 0.0 { high } else { 1.0 };
        let decade = 10f64.powf(high.log10().floor());
        let step = [0.1, 0.2, 0.5, 1.0, 2.0].map(|digit| digit * decade).into_iter().find(|step| high / step <= 5.0);
        let step = step.unwrap_or(2.0 * decade);
        let steps = (high / step).ceil() as u32;
        let labels: Vec<f64> = (0..=steps).map(|index| f64::from(index) * step).collect();
        Self { is_logarithmic: false, range: [0.0, f64::from(steps) * step], labels, between: Vec::new() }
    }

    /// The position of a value: its logarithm on a logarithmic scale.
    pub fn position(&self, value: f64) -> f64 {
        if self.is_logarithmic { value.log10() } else { value }
    }

    /// The position of a value as a share of the axis, from 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let [low, high] = self.range.map(|end| self.position(end));
        (self.position(value) - low) / (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_labels_if_there_is_room() {
        let scale = Scale::of_steps(&[10.0, 1.0, 100.0, 10.0]);
        assert_eq!((scale.range, &scale.labels[..]), ([1.0, 100.0], &[1.0, 10.0, 100.0][..]));
        assert_eq!(scale.share(10.0), 0.5);
        assert_eq!(Scale::of_steps(&[1.0, 100.0, 101.0, 1e6]).labels, [1.0, 100.0, 1e6]);
        assert!((Scale::of_steps(&[8.0]).share(8.0) - 0.5).abs() < 1e-9, "a single value is in the middle");
    }

    #[test]
    fn logarithmic_scales_lie_between_round_numbers() {
        let scale = Scale::logarithmic(&[3.1, 47.0]);
        assert_eq!((scale.range, &scale.labels[..]), ([2.0, 50.0], &[2.0, 5.0, 10.0, 20.0, 50.0][..]));
        let scale = Scale::logarithmic(&[0.15, 230.0]);
        assert_eq!((scale.range[0], scale.range[1]), (0.1, 500.0));
        assert_eq!(scale.labels, [0.1, 1.0, 10.0, 100.0]);
        assert_eq!(scale.between.len(), 8);
        let [low, high] = Scale::logarithmic(&[1.0]).range;
        assert!(low <= 1.0 && 1.0 <= high && low < high);
        assert_eq!(Scale::logarithmic(&[]).range.len(), 2);
    }

    #[test]
    fn linear_scales_begin_at_0() {
        assert_eq!(Scale::linear(&[0.016, 0.021]).range, [0.0, 0.025]);
        assert_eq!(Scale::linear(&[0.9]).labels, [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Scale::linear(&[]).range, [0.0, 1.0]);
    }
}
