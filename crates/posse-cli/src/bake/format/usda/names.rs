//! Names that USD allows: letters, digits and `_` of ASCII, without a digit in front.

use std::collections::{HashMap, HashSet};

use posse::{Error, Joint};

/// The largest size of all joint paths together, in bytes. The paths of a deep chain grow with the square of its depth.
const PATHS: u64 = 256 << 20;

/// A name in which `_` stands for all that USD does not allow.
pub fn prim_name(name: &str) -> String {
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let prefix = if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    prefix.chars().chain(name.chars().map(allowed)).collect()
}

/// Names that occur once each: later ones of a name get a number.
#[derive(Default)]
pub struct UniqueNames {
    used: HashSet<String>,
    /// The last number of each name.
    numbers: HashMap<String, u64>,
}

impl UniqueNames {
    /// The name, with a number if it is taken.
    pub fn add(&mut self, name: String) -> String {
        if self.used.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_default();
        loop {
            *number += 1;
            let numbered = format!("{name}_{number}");
            if self.used.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// The path of each joint: the names from its root to itself, with `/` between them.
///
/// # Errors
/// [`Error::Limit`] if the paths together take more than 256 MiB.
pub fn joint_paths(joints: &[Joint]) -> Result<Vec<String>, Error> {
    let (mut paths, mut names) = (Vec::<String>::with_capacity(joints.len()), UniqueNames::default());
    let mut needed = 0;
    for joint in joints {
        let name = prim_name(joint.name.as_deref().unwrap_or("joint"));
        let path = joint.parent.map_or(name.clone(), |parent| format!("{}/{name}", paths[parent]));
        needed += path.len() as u64;
        if needed > PATHS {
            let what = "bytes of the joint paths of a USD skeleton; use another --format".into();
            return Err(Error::Limit { what, needed, allowed: PATHS });
        }
        paths.push(names.add(path));
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_only_what_usd_allows() {
        for (name, expected) in [
            ("Hips", "Hips"),
            ("mixamorig:Left Arm.001", "mixamorig_Left_Arm_001"),
            ("3rd", "_3rd"),
            ("", "_"),
            ("hüfte/骨", "h_fte__"),
        ] {
            assert_eq!(prim_name(name), expected);
        }
    }

    #[test]
    fn paths_are_unique() {
        let joint = |name: &str, parent| Joint { name: Some(name.into()), parent, ..Joint::default() };
        let joints = [
            joint("hip", None),
            joint("leg.l", Some(0)),
            joint("leg l", Some(0)),
            joint("leg_l_1", Some(0)),
            joint("foot", Some(2)),
            Joint::default(),
            joint("hip", None),
        ];
        let expected = ["hip", "hip/leg_l", "hip/leg_l_1", "hip/leg_l_1_1", "hip/leg_l_1/foot", "joint", "hip_1"];
        assert_eq!(joint_paths(&joints).unwrap(), expected);
    }

    #[test]
    fn a_deep_chain_of_long_names_is_refused() {
        let name = "x".repeat(100_000);
        let joint = |parent: Option<usize>| Joint { name: Some(name.clone()), parent, ..Joint::default() };
        let joints: Vec<Joint> = (0..100).map(|index: usize| joint(index.checked_sub(1))).collect();
        assert!(matches!(joint_paths(&joints), Err(Error::Limit { .. })));
    }
}
