//! Pairs of joints by their names.

use std::collections::BTreeMap;

use crate::model::Skeleton;
use crate::retarget::conventions::Roles;
use crate::retarget::joint_map::{JointPair, MapRemark, MatchedBy};

/// A name without everything up to its last `:`, without `_`, `-`, `.` and spaces, in lower case.
pub(super) fn normalized(name: &str) -> String {
    let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
    name.chars().filter(|letter| !matches!(letter, '_' | '-' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The joints of a skeleton that can have a partner.
pub(super) struct Side<'a> {
    skeleton: &'a Skeleton,
    /// True for each joint that has no partner yet and is not ambiguous.
    is_free: Vec<bool>,
    pub roles: Roles,
}

impl<'a> Side<'a> {
    pub fn new(skeleton: &'a Skeleton, is_joint: Vec<bool>) -> Self {
        let roles = Roles::new(skeleton, &is_joint);
        Self { skeleton, is_free: is_joint, roles }
    }

    fn key(&self, joint: usize, by: MatchedBy) -> Option<String> {
        let name = || self.skeleton.joints()[joint].name.as_deref();
        match by {
            MatchedBy::Name => name().map(str::to_owned),
            MatchedBy::NormalizedName => name().map(normalized),
            MatchedBy::Role => self.roles.of_joint[joint].clone(),
            MatchedBy::Caller => None,
        }
    }
}

/// The role of the joint that moves the body.
const HIPS: &str = "hips";

/// Pairs joints by equal names, then by equal normalised names, then by roles. What is ambiguous is left out.
///
/// A name that is that of the hips on one side, but of another bone on the other, says nothing: `spine` is the hip bone of Rigify.
pub(super) fn match_joints(source: &mut Side, target: &mut Side) -> (Vec<JointPair>, Vec<MapRemark>) {
    let (mut pairs, mut remarks) = (Vec::new(), Vec::new());
    for by in [MatchedBy::Name, MatchedBy::NormalizedName, MatchedBy::Role] {
        let mut groups: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        for (index, side) in [&*source, &*target].into_iter().enumerate() {
            for joint in (0..side.is_free.len()).filter(|&joint| side.is_free[joint]) {
                if let Some(key) = side.key(joint, by).filter(|key| !key.is_empty()) {
                    groups.entry(key).or_default()[index].push(joint);
                }
            }
        }
        for (name, [sources, targets]) in groups {
            if sources.is_empty() || targets.is_empty() {
                continue;
            }
            if let ([from], [to]) = (sources.as_slice(), targets.as_slice()) {
                let roles = [source.roles.of_joint[*from].clone(), target.roles.of_joint[*to].clone()];
                if let [Some(of_source), Some(of_target)] = roles
                    && of_source != of_target
                    && [&of_source, &of_target].into_iter().any(|role| role == HIPS)
                {
                    let remark = MapRemark::Roles { source: *from, target: *to, roles: [of_source, of_target] };
                    // Equal names are equal when they are normalised, too.
                    if !remarks.contains(&remark) {
                        remarks.push(remark);
                    }
                    continue;
                }
                pairs.push(JointPair { source: *from, target: *to, by });
            } else {
                remarks.push(MapRemark::Ambiguous { name, by, sources: sources.clone(), targets: targets.clone() });
            }
            sources.iter().for_each(|&joint| source.is_free[joint] = false);
            targets.iter().for_each(|&joint| target.is_free[joint] = false);
        }
    }
    pairs.sort_by_key(|pair| pair.source);
    // Joints that found other partners need no remark.
    remarks.retain(|remark| match remark {
        MapRemark::Roles { source: from, target: to, .. } => source.is_free[*from] || target.is_free[*to],
        _ => true,
    });
    (pairs, remarks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normalized_name_has_no_namespace_separators_and_capitals() {
        for (name, expected) in [("mixamorig:Left_Up-Leg.1 b", "leftupleg1b"), ("a:b:C", "c"), ("", ""), ("x:", "")] {
            assert_eq!(normalized(name), expected);
        }
    }
}
