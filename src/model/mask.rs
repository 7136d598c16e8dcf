//! Weights by joint.

use std::collections::{HashMap, HashSet};

use crate::error::Error;
use crate::model::{Skeleton, SkeletonId};

/// A weight for each joint of a skeleton, by which layers that name it are weighted.
///
/// Morph weights are weighted as the joint they belong to; properties belong to no joint, and masks leave them alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Mask {
    /// The mask's name, where it has one.
    pub name: Option<String>,
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// A weight a joint, 0 or more.
    pub weights: Vec<f64>,
}

impl Mask {
    /// A mask for one of a library's skeletons, by joint names, each for all joints that are called so; of a name given twice the
    /// last weight counts. With `descendants` a joint has the weight of its nearest named ancestor, itself first. All other
    /// joints have 0.
    ///
    /// It comes with the names that no joint has.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no such skeleton, or a weight is not a finite number of 0 or more.
    pub fn named<'a>(
        name: Option<String>,
        skeletons: &[Skeleton],
        id: SkeletonId,
        joints: &[(&'a str, f64)],
        descendants: bool,
    ) -> Result<(Self, Vec<&'a str>), Error> {
        let fault = |reason: String| {
            let mask = name.as_deref().unwrap_or("unnamed");
            Err(Error::Usage(format!("mask {mask}: {reason}")))
        };
        let Some(skeleton) = skeletons.get(id.index()) else {
            return fault(format!("there is no skeleton {}", id.index()));
        };
        if let Some((joint, weight)) = joints.iter().find(|(_, weight)| !is_weight(*weight)) {
            return fault(format!("the weight {weight} of {joint} is not a number of 0 or more"));
        }
        let wanted: HashMap<&str, f64> = joints.iter().copied().collect();
        let mut weights: Vec<f64> = Vec::with_capacity(skeleton.joints().len());
        for joint in skeleton.joints() {
            let own = joint.name.as_deref().and_then(|name| wanted.get(name).copied());
            let inherited = joint.parent.filter(|_| descendants).map(|parent| weights[parent]);
            weights.push(own.or(inherited).unwrap_or(0.0));
        }
        let known: HashSet<&str> = skeleton.joints().iter().filter_map(|joint| joint.name.as_deref()).collect();
        let unknown = joints.iter().map(|(name, _)| *name).filter(|name| !known.contains(name)).collect();
        Ok((Self { name, skeleton: id, weights }, unknown))
    }
}

/// Whether a number can weigh a joint.
pub(crate) fn is_weight(weight: f64) -> bool {
    super::is_usable(weight) && weight >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;

    #[test]
    fn joints_take_the_weight_of_their_nearest_named_ancestor() {
        let joint = |name: &str, parent| Joint { name: Some(name.into()), parent, ..Joint::default() };
        let joints =
            vec![joint("a", None), joint("b", Some(0)), joint("c", Some(1)), joint("b", Some(2)), joint("d", None)];
        let skeletons = [Skeleton::new(None, joints, Vec::new()).unwrap()];
        let mask = |joints: &[(&'static str, f64)], descendants| {
            Mask::named(None, &skeletons, SkeletonId(0), joints, descendants)
                .map(|(mask, unknown)| (mask.weights, unknown))
        };
        assert_eq!(mask(&[("b", 0.5)], false).unwrap(), (vec![0.0, 0.5, 0.0, 0.5, 0.0], vec![]));
        assert_eq!(mask(&[("a", 2.0), ("c", 0.25)], true).unwrap(), (vec![2.0, 2.0, 0.25, 0.25, 0.0], vec![]));
        assert_eq!(mask(&[("z", 1.0)], true).unwrap(), (vec![0.0; 5], vec!["z"]));
        assert!(mask(&[("a", -1.0)], true).is_err() && mask(&[("a", f64::NAN)], true).is_err());
        let nobody = Mask::named(Some("arm".into()), &skeletons, SkeletonId(1), &[], false).unwrap_err();
        assert_eq!(nobody.to_string(), "mask arm: there is no skeleton 1");
    }
}
