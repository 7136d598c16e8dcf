//! Numbers as text.

/// A number with this many significant digits and no exponent: `12.34`, `1234`, `0.001234`.
pub fn digits(number: f64, digits: usize) -> String {
    if !number.is_finite() {
        return "-".into();
    }
    if number == 0.0 {
        return "0".into();
    }
    let before = number.abs().log10().floor() as i32 + 1;
    format!("{number:.*}", (digits as i32 - before).clamp(0, 12) as usize)
}

/// A label of an axis: `0.5`, `200`, `10k`, `1M`.
pub fn short(number: f64) -> String {
    let (number, unit) = match number {
        _ if number >= 1e9 => (number / 1e9, "G"),
        _ if number >= 1e6 => (number / 1e6, "M"),
        _ if number >= 1e3 => (number / 1e3, "k"),
        _ => (number, ""),
    };
    let text = digits(number, 3);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

/// A whole number in groups of three: `1,000,000`.
pub fn grouped(number: u64) -> String {
    let text = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_significant_digits() {
        let four = |number| digits(number, 4);
        assert_eq!([1234.5678, 12.345678, 0.00123456, 0.0].map(four), ["1235", "12.35", "0.001235", "0"]);
        assert_eq!(four(f64::INFINITY), "-");
        assert_eq!([0.5, 200.0, 1e4, 1.5e6, 2e9, 1.0].map(short), ["0.5", "200", "10k", "1.5M", "2G", "1"]);
        assert_eq!([7, 1000, 123_456, 1_000_000].map(grouped), ["7", "1,000", "123,456", "1,000,000"]);
    }
}
