//! Joints by name.

use crate::error::Error;
use crate::model::Skeleton;

/// The largest number of names that a message lists.
const MOST_LISTED: usize = 5;

/// The joints with these names, in this order. Of several joints with one name it is the first.
///
/// # Errors
/// [`Error::Usage`] for names that no joint has, with the names nearest to the first of them.
///
/// # Examples
/// ```
/// use posse::{bake, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let skeleton = &library.skeletons()[0];
/// assert_eq!(bake::find_joints(skeleton, &["head"])?, [skeleton.find_joint("head").expect("a head")]);
/// let error = bake::find_joints(skeleton, &["Hand_L"]).expect_err("no such name").to_string();
/// assert!(error.contains("hand.L"), "{error}");
/// # Ok(())
/// # }
/// ```
pub fn find_joints(skeleton: &Skeleton, names: &[impl AsRef<str>]) -> Result<Vec<usize>, Error> {
    let found = names.iter().map(|name| skeleton.find_joint(name.as_ref()));
    found.collect::<Option<Vec<usize>>>().ok_or_else(|| {
        let names = names.iter().map(AsRef::as_ref);
        let missing: Vec<&str> = names.filter(|name| skeleton.find_joint(name).is_none()).collect();
        Error::Usage(missing_message(skeleton, &missing))
    })
}

/// The message for names that no joint has.
fn missing_message(skeleton: &Skeleton, missing: &[&str]) -> String {
    let quote = |name: &&str| format!("{name:?}");
    let listed = missing.iter().take(MOST_LISTED).map(quote).collect::<Vec<_>>().join(", nor ");
    let more = match missing.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let Some(first) = missing.first() else { return String::new() };
    let near = nearest(skeleton, first);
    let names = near.iter().map(quote).collect::<Vec<_>>().join(", ");
    let nearest = match (near.len(), missing.len()) {
        (0, _) => "the joints of this skeleton have no names".into(),
        (1, 1) => format!("the nearest name is {names}"),
        (_, 1) => format!("the nearest names are {names}"),
        (1, _) => format!("the name nearest to {first:?} is {names}"),
        _ => format!("the names nearest to {first:?} are {names}"),
    };
    format!("no joint is named {listed}{more}; {nearest}")
}

/// The names of joints nearest to a name, nearest first.
fn nearest<'a>(skeleton: &'a Skeleton, name: &str) -> Vec<&'a str> {
    let wanted = plain(name);
    let names = skeleton.joints().iter().filter_map(|joint| joint.name.as_deref());
    let mut near: Vec<(usize, &str)> = names.map(|name| (distance_of(&wanted, &plain(name)), name)).collect();
    near.sort();
    near.dedup();
    // A name that differs in more than a third of its letters helps only if there is no better one.
    let least = near.first().map_or(0, |(distance, _)| *distance);
    let most = least.max(wanted.len() / 3);
    near.into_iter().take_while(|(distance, _)| *distance <= most).take(MOST_LISTED).map(|(_, name)| name).collect()
}

/// The letters and digits of a name in lower case, at most 64.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).take(64).collect()
}

/// The distance of two plain names: 1 if one ends with the other, as with a prefix such as `mixamorig:`, otherwise the number of
/// letters to insert, remove or replace.
fn distance_of(one: &[char], other: &[char]) -> usize {
    let is_affix = !one.is_empty() && !other.is_empty() && (one.ends_with(other) || other.ends_with(one));
    if is_affix && one != other { 1 } else { edits(one, other) }
}

/// The Levenshtein distance: the least number of letters to insert, remove or replace.
fn edits(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != against);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;

    #[test]
    fn edits_are_counted() {
        let count = |one: &str, other: &str| edits(&plain(one), &plain(other));
        assert_eq!(
            [count("kitten", "sitting"), count("", "abc"), count("flaw", "lawn"), count("same", "same")],
            [3, 3, 2, 0]
        );
    }

    #[test]
    fn the_nearest_names_come_first() {
        let names = ["mixamorig:Hips", "mixamorig:LeftHand", "mixamorig:LeftHandIndex1", "mixamorig:RightHand", "tail"];
        let joint = |name: &&str| Joint { name: Some((*name).into()), ..Joint::default() };
        let skeleton = Skeleton::new(None, names.iter().map(joint).collect(), Vec::new()).unwrap();
        assert_eq!(nearest(&skeleton, "LeftHand")[0], "mixamorig:LeftHand");
        assert_eq!(nearest(&skeleton, "mixamorig_righthand"), ["mixamorig:RightHand", "mixamorig:LeftHand"]);
        assert_eq!(find_joints(&skeleton, &["tail", "mixamorig:Hips"]).unwrap(), [4, 0]);
        let message = find_joints(&skeleton, &["Tail"]).unwrap_err().to_string();
        assert_eq!(message, "no joint is named \"Tail\"; the nearest name is \"tail\"");
        let nameless = Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap();
        assert!(find_joints(&nameless, &["hip"]).unwrap_err().to_string().contains("have no names"));
    }
}
