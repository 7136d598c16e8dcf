//! Weights per joint.

use std::cmp::Reverse;

use crate::error::Error;
use crate::model::{Selector, Skeleton, SkeletonId, no_such};

/// A weight per joint of a skeleton. The weight of a [`Layer`](crate::Layer) with this mask is multiplied by it.
///
/// Morph weights take the weight of their joint. Properties belong to no joint; masks do not affect them.
///
/// # Examples
/// ```
/// use posse::{Layer, LayerTime, Mask, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let mut library = demo::library()?;
/// let clip = library.find_clip("wave").expect("the demo waves");
/// let skeleton = library.clip(clip).skeleton;
/// // The right arm and all joints below it.
/// let joints = [("upper_arm.R", 1.0)];
/// let (mask, unknown) = Mask::named(Some("arm".into()), library.skeletons(), skeleton, &joints, true)?;
/// assert!(unknown.is_empty());
/// let hand = library.skeleton(skeleton).find_joint("hand.R").expect("a hand");
/// assert_eq!((mask.weights[hand], mask.weights[0]), (1.0, 0.0));
/// let mask = library.add_mask(mask)?;
/// let layer = Layer { mask: Some(mask), ..Layer::new(clip, LayerTime::At(0.5)) };
/// # assert!(posse::Crowd::new().push(skeleton, &[layer]).is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mask {
    /// The name of the mask, if it has one.
    pub name: Option<String>,
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// One weight per joint, 0 or more.
    pub weights: Vec<f64>,
}

impl Mask {
    /// Makes a mask from joint names and weights. Also returns the names that no joint has.
    ///
    /// A name selects all joints of that name, and a path or `NAME#K` the joints that a [`Selector`] finds. Of several
    /// texts that select a joint, the one that selects fewer joints counts, else the last. With `descendants`, a joint
    /// takes the weight of its nearest selected ancestor, if it is not selected itself. All other joints have weight 0.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton, or a weight is not a finite number of 0 or more.
    pub fn named<'a>(
        name: Option<String>,
        skeletons: &[Skeleton],
        id: SkeletonId,
        joints: &[(&'a str, f64)],
        descendants: bool,
    ) -> Result<(Self, Vec<&'a str>), Error> {
        let error = |reason: String| {
            let mask = name.as_deref().unwrap_or("unnamed");
            Err(Error::Usage(format!("mask {mask}: {reason}")))
        };
        let Some(skeleton) = skeletons.get(id.index()) else {
            return error(no_such("skeleton", id.index(), "library", skeletons.len()));
        };
        if let Some((joint, weight)) = joints.iter().find(|(_, weight)| !is_weight(*weight)) {
            return error(format!("the weight {weight} of joint {joint:?} is not a finite number of 0 or more"));
        }
        let selector = Selector::of_joints(skeleton);
        // Many texts may each select many joints, which are therefore looked up twice, not stored.
        let mut selected: Vec<(usize, &str, f64)> = Vec::new();
        let mut unknown = Vec::new();
        for &(text, weight) in joints {
            match selector.all(text).len() {
                0 => unknown.push(text),
                count => selected.push((count, text, weight)),
            }
        }
        selected.sort_by_key(|&(count, ..)| Reverse(count));
        let mut own = vec![None; skeleton.joints().len()];
        for (_, text, weight) in selected {
            selector.all(text).into_iter().for_each(|joint| own[joint] = Some(weight));
        }
        let mut weights: Vec<f64> = Vec::with_capacity(own.len());
        for (joint, own) in skeleton.joints().iter().zip(own) {
            let inherited = joint.parent.filter(|_| descendants).map(|parent| weights[parent]);
            weights.push(own.or(inherited).unwrap_or(0.0));
        }
        Ok((Self { name, skeleton: id, weights }, unknown))
    }
}

/// Returns `true` if a number is usable as a weight: finite, and 0 or more.
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
        // What selects one joint comes before what selects two.
        assert_eq!(mask(&[("c/b", 1.0), ("b", 0.5)], false).unwrap(), (vec![0.0, 0.5, 0.0, 1.0, 0.0], vec![]));
        assert_eq!(mask(&[("b#0", 2.0)], true).unwrap(), (vec![0.0, 2.0, 2.0, 2.0, 0.0], vec![]));
        assert!(mask(&[("a", -1.0)], true).is_err() && mask(&[("a", f64::NAN)], true).is_err());
        let refused = Mask::named(Some("arm".into()), &skeletons, SkeletonId(1), &[], false).unwrap_err();
        assert_eq!(refused.to_string(), "mask arm: there is no skeleton 1; the library has 1, numbered from 0");
    }
}
