//! Selection of clips and joints by the text that a person writes: a name, a path, a number.
//!
//! All commands, files and bindings select by one rule. A text means the first of these that there is:
//!
//! 1. `#I`: the clip or joint with the index I, counted from 0 in the order of the file. It reaches each one, whatever
//!    the names are.
//! 2. A name: all that have it, whatever its letters are.
//! 3. Of joints, a path: all whose path ends so. The path of a joint has the names from its root to itself, with `/`
//!    between them. A text that begins with `/` is a whole path.
//! 4. `NAME#K`: of all that the name or path selects, the one with the number K, counted from 0 in the order of the
//!    file.
//! 5. Of clips, a number alone: the index.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::Error;
use crate::model::{MAX_NAMES, Skeleton, list_names};

/// The largest number of names that a message lists, if it cannot list all.
const MAX_LISTED: usize = 5;

/// The largest number of `/` of a text at which the last name of a path may begin.
const MAX_SLASHES: usize = 64;

/// The largest length of a path in a message, in bytes without the last name.
const MAX_PATH: usize = 200;

/// The most names of a path that tells joints of one name apart.
const MAX_TELLING: usize = 8;

/// Clips or joints, of which a text selects one or several: `NAME`, `NAME#K` for number K of that name, `#I` for the
/// index I, and of joints the end of a path such as `Armature/Hips`. K and I count from 0 in the order of the file.
///
/// `#I` is always the index; otherwise a name that is equal to the whole text comes first. A number alone is the index
/// of a clip, if no clip has this name.
///
/// # Examples
/// ```
/// use posse::Selector;
///
/// # fn main() -> Result<(), posse::Error> {
/// let clips = Selector::of_clips([Some("take"), Some("take"), Some("run"), None]);
/// assert_eq!(clips.one("run")?, 2);
/// assert_eq!([clips.one("take#1")?, clips.one("#3")?], [1, 3]);
/// assert_eq!(clips.all("take"), [0, 1]);
/// let error = clips.one("take").expect_err("two clips").to_string();
/// assert_eq!(error, "2 clips are named \"take\"; write which one: take#0 (#0), take#1 (#1)");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Selector<'a> {
    /// `clip` or `joint`.
    noun: &'static str,
    /// The name and the result of each item, in the order of the file.
    items: Vec<(Option<&'a str>, usize)>,
    /// The positions of the items of each name.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// The file of each clip, if there are several files.
    files: Vec<&'a str>,
    /// The skeleton of joints.
    skeleton: Option<&'a Skeleton>,
}

impl<'a> Selector<'a> {
    /// Clips with these names. The results are their positions in the list.
    pub fn of_clips(names: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        Self::new("clip", names.into_iter().zip(0..).collect(), None)
    }

    /// The joints of a skeleton. The results are their indices in it; indices of texts follow the order of the file.
    pub fn of_joints(skeleton: &'a Skeleton) -> Self {
        let joints = skeleton.joints();
        let items = skeleton.file_order().map(|joint| (joints.get(joint).and_then(|it| it.name.as_deref()), joint));
        Self::new("joint", items.collect(), Some(skeleton))
    }

    fn new(noun: &'static str, items: Vec<(Option<&'a str>, usize)>, skeleton: Option<&'a Skeleton>) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, (name, _)) in items.iter().enumerate() {
            if let Some(name) = *name {
                by_name.entry(name).or_default().push(at);
            }
        }
        Self { noun, items, by_name, files: Vec::new(), skeleton }
    }

    /// The same clips with the file of each, which errors name.
    pub fn with_files(self, files: Vec<&'a str>) -> Self {
        Self { files, ..self }
    }

    /// All that a text selects, in the order of the file; nothing if there is none.
    pub fn all(&self, text: &str) -> Vec<usize> {
        self.positions(text).iter().map(|&at| self.items[at].1).collect()
    }

    /// The only one that a text selects.
    ///
    /// # Errors
    /// [`Error::Usage`] if the text selects nothing, with the names that there are, or the nearest ones; or if it
    /// selects several, with a text for each of them.
    pub fn one(&self, text: &str) -> Result<usize, Error> {
        match *self.positions(text) {
            [only] => Ok(self.items[only].1),
            [] => Err(Error::Usage(self.missing(&[text]))),
            _ => Err(Error::Usage(self.ambiguous(text))),
        }
    }

    /// Returns `true` if an item has exactly this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The index and the name of each item, for messages: `0 walk, 1 unnamed`. The list ends after 20.
    pub fn list(&self) -> String {
        let line = |(index, &(name, _)): (usize, &(Option<&str>, usize))| {
            format!("{index} {}", name.filter(|name| !name.is_empty()).unwrap_or("unnamed"))
        };
        list_names(self.items.iter().enumerate().map(line))
    }

    /// The positions of all that a text selects.
    fn positions(&self, text: &str) -> Cow<'_, [usize]> {
        let index = |digits: &str| whole_number(digits).filter(|&index| index < self.items.len());
        if let Some(index) = text.strip_prefix('#').and_then(index) {
            return vec![index].into();
        }
        let found = self.of_name(text);
        if !found.is_empty() {
            return found;
        }
        match numbered(text) {
            Some((name, number)) => self.of_name(name).get(number).copied().into_iter().collect(),
            None if self.skeleton.is_none() => index(text).into_iter().collect(),
            None => Cow::default(),
        }
    }

    /// The positions of the items with a name, else of the joints with a path that ends so.
    fn of_name(&self, text: &str) -> Cow<'_, [usize]> {
        if let Some(found) = self.by_name.get(text) {
            return found.into();
        }
        let Some(skeleton) = self.skeleton else { return Cow::default() };
        let mut found = Vec::new();
        // The last name may have `/` in it, too.
        for (slash, _) in text.rmatch_indices('/').take(MAX_SLASHES) {
            let named = text.get(slash + 1..).and_then(|last| self.by_name.get(last));
            let ends_so =
                |at: &&usize| self.items.get(**at).is_some_and(|&(_, joint)| path_ends_with(skeleton, joint, text));
            found.extend(named.into_iter().flatten().filter(ends_so).copied());
        }
        found.sort_unstable();
        found.into()
    }

    /// The message for a text that selects several items.
    fn ambiguous(&self, text: &str) -> String {
        let positions = self.positions(text);
        let line = |(number, &at): (usize, &usize)| {
            let place = match (self.skeleton, self.items.get(at), self.files.get(at)) {
                (Some(skeleton), Some((_, joint)), _) => path_of(skeleton, *joint),
                (.., Some(file)) => format!("#{at} of {file}"),
                _ => format!("#{at}"),
            };
            // `NAME#K` may be the name of another one.
            let of_name = format!("{text}#{number}");
            let is_own = *self.positions(&of_name) == [at];
            format!("{} ({place})", if is_own { of_name } else { format!("#{at}") })
        };
        let lines = list_names(positions.iter().enumerate().map(line));
        let what = if self.has_name(text) { "are named" } else { "have paths that end with" };
        format!("{} {}s {what} {text:?}; write which one: {lines}", positions.len(), self.noun)
    }

    /// The message for texts that select nothing.
    fn missing(&self, texts: &[&str]) -> String {
        let (noun, count) = (self.noun, self.items.len());
        if let [text] = texts {
            if text.strip_prefix('#').and_then(whole_number).is_some() {
                return format!("there is no {noun} {text:?}; there are {count}, numbered from #0");
            }
            let of_name = numbered(text).map(|(name, _)| (name, self.of_name(name).len()));
            if let Some((name, several @ 1..)) = of_name {
                return format!(
                    "there is no {noun} {text:?}; those of the name {name:?} end at {name}#{}",
                    several - 1
                );
            }
            if self.skeleton.is_none() && count <= MAX_NAMES {
                let (ranked, similar) = self.ranked(text);
                let near = ranked.first().filter(|(distance, _)| count > 1 && *distance <= similar);
                let near = near.map_or_else(String::new, |(_, name)| format!("; the nearest name is {name:?}"));
                return format!("there is no {noun} {text:?}; there are: {}{near}", self.list());
            }
        }
        let quote = |name: &&str| format!("{name:?}");
        let listed = texts.iter().take(MAX_LISTED).map(quote).collect::<Vec<_>>().join(", nor ");
        let more = match texts.len().saturating_sub(MAX_LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let Some(first) = texts.first() else { return String::new() };
        let near = self.nearest(first);
        let names = near.iter().map(quote).collect::<Vec<_>>().join(", ");
        let nearest = match (near.len(), texts.len()) {
            (0, _) => format!("the {noun}s have no names, only numbers from #0"),
            (1, 1) => format!("the nearest name is {names}"),
            (_, 1) => format!("the nearest names are {names}"),
            (1, _) => format!("the name nearest to {first:?} is {names}"),
            _ => format!("the names nearest to {first:?} are {names}"),
        };
        format!("no {noun} is named {listed}{more}; {nearest}")
    }

    /// The names nearest to a text, nearest first.
    fn nearest(&self, text: &str) -> Vec<&'a str> {
        let (near, similar) = self.ranked(text);
        // A name that is not similar helps only if there is no better one.
        let least = near.first().map_or(0, |(distance, _)| *distance);
        let most = least.max(similar);
        near.into_iter().take_while(|(distance, _)| *distance <= most).take(MAX_LISTED).map(|(_, name)| name).collect()
    }

    /// All names with their distances from a text, nearest first, and the largest distance of a similar name, which is
    /// a third of the letters of the text. Of a path, the last name counts.
    fn ranked(&self, text: &str) -> (Vec<(usize, &'a str)>, usize) {
        let last = if self.skeleton.is_some() { text.rsplit('/').next().unwrap_or(text) } else { text };
        let wanted = plain(last);
        let names = self.items.iter().filter_map(|(name, _)| *name);
        let mut near: Vec<(usize, &str)> = names.map(|name| (distance_of(&wanted, &plain(name)), name)).collect();
        near.sort();
        near.dedup();
        (near, wanted.len() / 3)
    }
}

impl Skeleton {
    /// The joints that these texts select, one each, in this order. [`Selector`] has the rule.
    ///
    /// # Errors
    /// [`Error::Usage`] for texts that select no joint, with the names nearest to the first of them; or for the first
    /// text that selects several, with their paths.
    ///
    /// # Examples
    /// ```
    /// use posse::demo;
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let skeleton = &library.skeletons()[0];
    /// let head = skeleton.find_joint("head").expect("a head");
    /// assert_eq!(skeleton.select_joints(&["head", "neck/head"])?, [head, head]);
    /// let error = skeleton.select_joints(&["Hand_L"]).expect_err("no such name").to_string();
    /// assert!(error.contains("hand.L"), "{error}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn select_joints(&self, texts: &[impl AsRef<str>]) -> Result<Vec<usize>, Error> {
        let selector = Selector::of_joints(self);
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let missing: Vec<&str> = texts.iter().copied().filter(|text| selector.positions(text).is_empty()).collect();
        if !missing.is_empty() {
            return Err(Error::Usage(selector.missing(&missing)));
        }
        texts.iter().map(|text| selector.one(text)).collect()
    }

    /// For each joint whose name others have, too, a text that selects it alone: the shortest end of its path that no
    /// other has, such as `Armature/Hips`, else `#I`. `None` for a joint with a name of its own, or without a name.
    pub fn telling_paths(&self) -> Vec<Option<String>> {
        let joints = self.joints();
        let name = |joint: usize| joints[joint].name.as_deref().filter(|name| !name.is_empty());
        let mut counts: HashMap<&str, usize> = HashMap::new();
        (0..joints.len()).filter_map(name).for_each(|name| *counts.entry(name).or_default() += 1);
        let mut paths = vec![None; joints.len()];
        // Of joints that are not told apart yet: the end of the path, and its uppermost joint.
        let shared = (0..joints.len()).filter_map(|joint| Some((joint, name(joint)?)));
        let shared = shared.filter(|(_, name)| counts.get(name).is_some_and(|&count| count > 1));
        let mut open: Vec<(usize, String, usize)> = shared.map(|(joint, name)| (joint, name.into(), joint)).collect();
        let mut ambiguous = Vec::new();
        for _ in 1..MAX_TELLING {
            let mut ends: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
            for (joint, path, top) in open.drain(..) {
                let longer = match self.parent_node(top) {
                    // It is the whole path.
                    None if path.starts_with('/') => None,
                    None => Some((format!("/{path}"), top)),
                    Some(above) => name(above).map(|name| (format!("{name}/{path}"), above)),
                };
                match longer.filter(|(path, _)| path.len() <= MAX_PATH) {
                    Some((path, top)) => ends.entry(path).or_default().push((joint, top)),
                    None => ambiguous.push(joint),
                }
            }
            for (path, of_path) in ends {
                match of_path.as_slice() {
                    // A name that is equal to the whole text would come first.
                    &[(joint, _)] if !counts.contains_key(path.as_str()) => paths[joint] = Some(path),
                    _ => open.extend(of_path.into_iter().map(|(joint, top)| (joint, path.clone(), top))),
                }
            }
        }
        ambiguous.extend(open.into_iter().map(|(joint, ..)| joint));
        if !ambiguous.is_empty() {
            let mut index = vec![0; joints.len()];
            self.file_order().enumerate().for_each(|(at, joint)| index[joint] = at);
            ambiguous.into_iter().for_each(|joint| paths[joint] = Some(format!("#{}", index[joint])));
        }
        paths
    }

    /// The joint that a text selects. [`Selector`] has the rule.
    ///
    /// # Errors
    /// [`Error::Usage`] if the text selects no joint, with the nearest names, or several, with their paths.
    pub fn select_joint(&self, text: &str) -> Result<usize, Error> {
        Selector::of_joints(self).one(text)
    }
}

/// The name and the number of `NAME#K`.
fn numbered(text: &str) -> Option<(&str, usize)> {
    let (name, number) = text.rsplit_once('#').filter(|(name, _)| !name.is_empty())?;
    Some((name, whole_number(number)?))
}

/// A number of digits alone.
fn whole_number(digits: &str) -> Option<usize> {
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns `true` if the path of a joint ends with a text, between two names or before `/`. A joint without a name
/// counts as one with an empty name, but is selected by no path.
fn path_ends_with(skeleton: &Skeleton, joint: usize, text: &str) -> bool {
    let name_of = |joint: usize| skeleton.joints().get(joint).and_then(|joint| joint.name.as_deref());
    if name_of(joint).is_none_or(str::is_empty) {
        return false;
    }
    let (mut at, mut rest) = (joint, text);
    loop {
        // Names may have `/` in them, so that the text is not split there.
        let Some(before) = rest.strip_suffix(name_of(at).unwrap_or_default()) else { return false };
        if before.is_empty() {
            return true;
        }
        let Some(before) = before.strip_suffix('/') else { return false };
        match skeleton.parent_node(at) {
            // A text that begins with `/` begins at a root.
            None => return before.is_empty(),
            Some(_) if before.is_empty() => return false,
            Some(parent) => (at, rest) = (parent, before),
        }
    }
}

/// The path of a joint, for messages. Of a very long one, the end.
fn path_of(skeleton: &Skeleton, joint: usize) -> String {
    let name_of = |joint: usize| skeleton.joints().get(joint).and_then(|joint| joint.name.as_deref());
    let mut names = vec![name_of(joint).unwrap_or_default()];
    let mut length = 0;
    for above in std::iter::successors(skeleton.parent_node(joint), |&above| skeleton.parent_node(above)) {
        let name = name_of(above).unwrap_or_default();
        length += name.len() + 1;
        if length > MAX_PATH {
            names.push("...");
            names.reverse();
            return names.join("/");
        }
        names.push(name);
    }
    names.push("");
    names.reverse();
    names.join("/")
}

/// The name nearest to a text, if they differ by a third of the letters of the text or less.
pub(crate) fn similar_name<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(text);
    let near = names.map(|name| (distance_of(&wanted, &plain(name)), name)).min()?;
    (near.0 <= wanted.len() / 3).then_some(near.1)
}

/// The letters and digits of a name in lower case, at most 64.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).take(64).collect()
}

/// The distance of two plain names: 1 if one ends with the other, as with a prefix such as `mixamorig:`, otherwise the
/// number of letters to insert, remove or replace.
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

    /// Joints with these names and parents.
    fn skeleton(joints: &[(&str, Option<usize>)]) -> Skeleton {
        let joint = |&(name, parent): &(&str, Option<usize>)| Joint {
            name: Some(name).filter(|name| !name.is_empty()).map(str::to_owned),
            parent,
            ..Joint::default()
        };
        Skeleton::new(None, joints.iter().map(joint).collect(), Vec::new()).unwrap()
    }

    #[test]
    fn clips_are_selected_by_name_number_and_index() {
        let names = ["take", "take", "1", "#0", "a/b", "take#9"].map(Some);
        let clips = Selector::of_clips(names.into_iter().chain([Some(""), None]));
        for (text, expected) in [
            ("take", &[0, 1][..]),
            ("take#0", &[0]),
            ("take#1", &[1]),
            ("take#2", &[]),
            // A name that is equal to the whole text comes first, except before the index.
            ("take#9", &[5]),
            ("1", &[2]),
            ("#1", &[1]),
            ("#0", &[0]),
            ("#0#0", &[3]),
            ("#7", &[7]),
            ("#8", &[]),
            ("7", &[7]),
            ("+7", &[]),
            ("#+7", &[]),
            ("", &[6]),
            ("a/b", &[4]),
            // Clips have no paths.
            ("b", &[]),
            ("Take", &[]),
        ] {
            assert_eq!(clips.all(text), expected, "{text}");
        }
    }

    #[test]
    fn joints_are_selected_by_name_path_number_and_index() {
        let joints = [
            ("Armature", None),
            ("Armature", Some(0)),
            ("Hips", Some(1)),
            ("Hand", Some(2)),
            ("Hand", Some(2)),
            ("tip", Some(3)),
            ("tip", Some(4)),
            ("a/b", Some(2)),
            ("c#1", Some(7)),
            ("", Some(7)),
            ("nail", Some(9)),
        ];
        let skeleton = skeleton(&joints);
        let selector = Selector::of_joints(&skeleton);
        for (text, expected) in [
            ("Armature", &[0, 1][..]),
            ("Armature#1", &[1]),
            ("/Armature", &[0]),
            ("Armature/Armature", &[1]),
            ("/Armature/Armature", &[1]),
            ("Armature/Hips", &[2]),
            ("/Armature/Hips", &[]),
            ("/Armature/Armature/Hips", &[2]),
            ("mature/Hips", &[]),
            ("Hips/Hand", &[3, 4]),
            ("Hips/Hand#1", &[4]),
            ("Hand/tip", &[5, 6]),
            ("tip#1", &[6]),
            ("a/b", &[7]),
            ("Hips/a/b", &[7]),
            ("a/b/c#1", &[8]),
            ("c#1", &[8]),
            ("c", &[]),
            ("a/b//nail", &[10]),
            ("a/b/", &[]),
            ("/", &[]),
            ("", &[]),
            ("#9", &[9]),
            // A number alone is no index.
            ("3", &[]),
        ] {
            assert_eq!(selector.all(text), expected, "{text}");
        }
    }

    #[test]
    fn an_ambiguous_text_is_answered_with_a_text_for_each() {
        let hands = [("Hips", None), ("Hand", Some(0)), ("Hand", Some(0)), ("Hand", Some(2))];
        let skeleton = skeleton(&hands);
        let selector = Selector::of_joints(&skeleton);
        let error = |text: &str| selector.one(text).unwrap_err().to_string();
        assert_eq!(
            error("Hand"),
            "3 joints are named \"Hand\"; write which one: Hand#0 (/Hips/Hand), Hand#1 (/Hips/Hand), Hand#2 \
             (/Hips/Hand/Hand)"
        );
        assert_eq!(
            error("Hips/Hand"),
            "2 joints have paths that end with \"Hips/Hand\"; write which one: Hips/Hand#0 (/Hips/Hand), Hips/Hand#1 \
             (/Hips/Hand)"
        );
        assert_eq!(error("Hand#3"), "there is no joint \"Hand#3\"; those of the name \"Hand\" end at Hand#2");
        assert_eq!(error("#4"), "there is no joint \"#4\"; there are 4, numbered from #0");
        // Each text selects what it stands for.
        let clips = Selector::of_clips(["go", "go", "go#0"].map(Some));
        let expected = "2 clips are named \"go\"; write which one: #0 (#0), go#1 (#1)";
        assert_eq!(clips.one("go").unwrap_err().to_string(), expected);
        let clips = Selector::of_clips([Some("go"), None, Some("go")]).with_files(vec!["a.glb", "a.glb", "b.glb"]);
        assert_eq!(
            clips.one("go").unwrap_err().to_string(),
            "2 clips are named \"go\"; write which one: go#0 (#0 of a.glb), go#1 (#2 of b.glb)"
        );
        assert_eq!(
            clips.one("run").unwrap_err().to_string(),
            "there is no clip \"run\"; there are: 0 go, 1 unnamed, 2 go"
        );
        let clips = Selector::of_clips(["Survey", "Walk", "Run"].map(Some));
        let listed = "there are: 0 Survey, 1 Walk, 2 Run";
        for (text, nearest) in
            [("walk", "; the nearest name is \"Walk\""), ("Rum", "; the nearest name is \"Run\""), ("jump", "")]
        {
            assert_eq!(
                clips.one(text).unwrap_err().to_string(),
                format!("there is no clip {text:?}; {listed}{nearest}")
            );
        }
    }

    #[test]
    fn numbers_count_in_the_order_of_the_file() {
        // The file has the root last.
        let joints = [("root", None), ("arm", Some(0)), ("arm", Some(1))];
        let skeleton = skeleton(&joints).in_file_order(vec![2, 1, 0]);
        let selector = Selector::of_joints(&skeleton);
        assert_eq!(["arm#0", "arm#1", "#0", "#2"].map(|text| selector.one(text).unwrap()), [2, 1, 2, 0]);
    }

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
        let skeleton = skeleton(&names.map(|name| (name, None)));
        let selector = Selector::of_joints(&skeleton);
        assert_eq!(selector.nearest("LeftHand")[0], "mixamorig:LeftHand");
        assert_eq!(selector.nearest("mixamorig_righthand"), ["mixamorig:RightHand", "mixamorig:LeftHand"]);
        assert_eq!(skeleton.select_joints(&["tail", "mixamorig:Hips"]).unwrap(), [4, 0]);
        let message = skeleton.select_joints(&["Tail"]).unwrap_err().to_string();
        assert_eq!(message, "no joint is named \"Tail\"; the nearest name is \"tail\"");
        let nameless = Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap();
        assert!(nameless.select_joints(&["hip"]).unwrap_err().to_string().contains("have no names"));
    }

    #[test]
    fn a_path_tells_joints_of_one_name_apart() {
        let joints = [
            ("Armature", None),
            ("Hips", Some(0)),
            ("Body", None),
            ("Hips", Some(2)),
            ("tip", Some(3)),
            ("tip", Some(3)),
            ("Hips", None),
            ("", Some(2)),
            ("x", Some(7)),
            ("x", Some(2)),
            ("Body/x", Some(0)),
        ];
        let skeleton = skeleton(&joints);
        let paths = skeleton.telling_paths();
        let found: Vec<&str> = paths.iter().map(|path| path.as_deref().unwrap_or("")).collect();
        // The path of the first `x` has a joint without a name; the path of the second one is the name of another
        // joint.
        assert_eq!(found, ["", "Armature/Hips", "", "Body/Hips", "#4", "#5", "/Hips", "", "#8", "/Body/x", ""]);
        for (joint, path) in paths.iter().enumerate().filter_map(|(joint, path)| Some((joint, path.as_ref()?))) {
            assert_eq!(skeleton.select_joint(path).unwrap(), joint, "{path}");
        }
    }
}
