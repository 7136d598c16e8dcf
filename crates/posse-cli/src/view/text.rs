//! The text of the overlay: its colours, and the forms of names and numbers.

use egui::Color32;

/// The colour of text.
pub const TEXT: Color32 = Color32::from_gray(232);
/// The colour of labels, and of text of less weight.
pub const FAINT: Color32 = Color32::from_gray(165);

/// Cuts a name of more than 24 characters.
pub fn shortened(name: &str) -> String {
    const MAX_CHARACTERS: usize = 24;
    if name.chars().count() <= MAX_CHARACTERS {
        return name.into();
    }
    name.chars().take(MAX_CHARACTERS - 1).chain(['…']).collect()
}

/// Formats a number with about three digits and a word for its size.
pub fn abbreviated(number: f64) -> String {
    let (divisor, word) = match number {
        1e9.. => (1e9, " billion"),
        1e6.. => (1e6, " million"),
        1e3.. => (1e3, " thousand"),
        _ => (1.0, ""),
    };
    let number = number / divisor;
    let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.digits$}{word}")
}

/// Formats an integer in groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_abbreviated_or_grouped() {
        assert_eq!(
            [5.0, 12_345.0, 1.5e6, 2.0e9, 456e9].map(abbreviated),
            ["5.00", "12.3 thousand", "1.50 million", "2.00 billion", "456 billion"]
        );
        assert_eq!([0, 999, 1_000, 6_700_000].map(grouped), ["0", "999", "1,000", "6,700,000"]);
        assert_eq!(shortened("Walk"), "Walk");
        assert_eq!(shortened(&"é".repeat(30)).chars().count(), 24);
    }
}
