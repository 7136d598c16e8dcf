//! Words for left and right in the names of joints.
//!
//! A name is divided into words at signs, at digits and at capitals: `CC_Base_L_Thigh`, `LeftUpLeg`, `lShldr` and
//! `armR` have a word for a side. Whole words (`left`, `l`, `左`) count first, then words that contain `left` or
//! `right` (`leftarm`).

/// A name with a word for left or right.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SidedName {
    pub is_left: bool,
    /// The name without the word: equal for the two joints of a pair.
    pub rest: String,
}

/// The place of the word for the side in [`SidedName::rest`].
const PLACE: &str = "*";

impl SidedName {
    /// The side of a name. `None` without a word for a side, or with words for both.
    pub fn new(name: &str) -> Option<Self> {
        let words = words(name);
        let whole = |names: [[&str; 2]; 2]| {
            let side =
                |word: &String| Some((names.iter().position(|side| side.contains(&word.as_str()))? == 0, PLACE.into()));
            Self::of_words(&words, side)
        };
        let part = |word: &String| {
            let (has_left, has_right) = (word.contains("left"), word.contains("right"));
            let (is_left, side) = if has_left { (true, "left") } else { (false, "right") };
            (has_left != has_right).then(|| (is_left, word.replacen(side, PLACE, 1)))
        };
        whole([["left", "左"], ["right", "右"]])
            .or_else(|| whole([["l", "l"], ["r", "r"]]))
            .or_else(|| Self::of_words(&words, part))
    }

    /// The side of a name that begins with a small `l` or `r`, as `lfemur` does. It means something only if the other
    /// name of the pair exists, too.
    pub fn by_first_letter(name: &str) -> Option<Self> {
        let is_left = name.starts_with('l');
        let rest = name.strip_prefix(['l', 'r'])?;
        rest.starts_with(char::is_lowercase).then(|| Self { is_left, rest: format!("{PLACE}{rest}") })
    }

    /// The side of words. A function returns true for a word of the left, and what is left of it.
    fn of_words(words: &[String], side: impl Fn(&String) -> Option<(bool, String)>) -> Option<Self> {
        let sides: Vec<Option<(bool, String)>> = words.iter().map(side).collect();
        let is_left = sides.iter().flatten().next()?.0;
        if sides.iter().flatten().any(|(other, _)| *other != is_left) {
            return None;
        }
        let rest = words.iter().zip(&sides).map(|(word, side)| side.as_ref().map_or(word.as_str(), |(_, rest)| rest));
        Some(Self { is_left, rest: rest.collect::<Vec<_>>().join(" ") })
    }
}

/// 1 for a name with a word for left, -1 for one with a word for right, else 0.
pub(super) fn side_of_name(name: &str) -> i32 {
    SidedName::new(name).map_or(0, |found| if found.is_left { 1 } else { -1 })
}

/// The words of a name, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let (mut words, mut word) = (Vec::new(), String::new());
    for (index, &letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(index + 1);
        let is_side = |letter: char| letter == '左' || letter == '右';
        let begins = before.is_some_and(|before| {
            let is_capital =
                letter.is_uppercase() && (!before.is_uppercase() || after.is_some_and(|after| after.is_lowercase()));
            is_capital || is_side(letter) || is_side(before) || letter.is_numeric() != before.is_numeric()
        });
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_names_of_a_pair_have_one_rest() {
        let pairs = [
            ("mixamorig:LeftUpLeg", "mixamorig:RightUpLeg"),
            ("upperarm_l", "upperarm_r"),
            ("Bip01 L Thigh", "Bip01 R Thigh"),
            ("CC_Base_L_Thigh", "CC_Base_R_Thigh"),
            ("lShldr", "rShldr"),
            ("thumb.01.L", "thumb.01.R"),
            ("LThigh", "RThigh"),
            ("ArmL", "ArmR"),
            ("LEFT_HIP", "RIGHT_HIP"),
            ("leftarm", "rightarm"),
            ("J_Bip_L_UpperArm", "J_Bip_R_UpperArm"),
            ("左腕", "右腕"),
            ("L1", "R1"),
        ];
        for (left, right) in pairs {
            let [one, other] = [left, right].map(|name| SidedName::new(name).unwrap_or_else(|| panic!("{name}")));
            assert!(one.is_left && !other.is_left && one.rest == other.rest, "{one:?} {other:?}");
        }
        for name in ["Hips", "ROOT", "spine_01", "tail", "Lower", "ring", "", "left_right"] {
            assert_eq!(SidedName::new(name), None, "{name}");
        }
        let by_letter = |name| SidedName::by_first_letter(name).map(|found| (found.is_left, found.rest));
        assert_eq!(by_letter("lfemur"), Some((true, "*femur".into())));
        assert_eq!(by_letter("rfemur"), Some((false, "*femur".into())));
        assert_eq!(["Lower", "l", "head"].map(by_letter), [None, None, None]);
    }
}
