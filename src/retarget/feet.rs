//! The feet of a human, by the roles of its joints.

use crate::model::{Library, SkeletonId};
use crate::reference::values::{Values, model_matrices};
use crate::retarget::body::{Body, Figure, SIDES};
use crate::retarget::joint_map::are_joints;

/// A foot of a human, with the leg that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Foot {
    /// The name of its joint; an empty text if the joint has none.
    pub name: String,
    /// `left` or `right`.
    pub side: &'static str,
    /// The hip, the knee and the ankle, as indices into the skeleton.
    pub leg: [usize; 3],
    /// The toes, or the end of the foot where the skeleton has no toes. `None` without either.
    pub toe: Option<usize>,
}

impl Foot {
    /// The joints by which it touches the ground: the ankle for the heel, and the toe.
    pub fn points(&self) -> impl Iterator<Item = usize> + use<> {
        [Some(self.leg[2]), self.toe].into_iter().flatten()
    }

    /// The joint that stays longest on the ground in a step: the toe, or the ankle without one.
    pub fn pivot(&self) -> usize {
        self.toe.unwrap_or(self.leg[2])
    }

    /// The feet of a skeleton of a library, the left one first. Empty unless the hips and both legs down to the feet
    /// are known, by the roles of retargeting, and the legs have a length in the rest pose.
    ///
    /// # Panics
    /// If the skeleton does not exist.
    ///
    /// # Examples
    /// ```
    /// use posse::{demo, quality::Foot};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let feet = Foot::of_skeleton(&library, library.clips()[0].skeleton);
    /// assert_eq!(feet.iter().map(|foot| foot.name.as_str()).collect::<Vec<_>>(), ["foot.L", "foot.R"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_skeleton(library: &Library, skeleton: SkeletonId) -> Vec<Self> {
        Self::of_body(library, skeleton, &Body::new(library.skeleton(skeleton), &are_joints(library, skeleton)))
    }

    pub(crate) fn of_body(library: &Library, skeleton: SkeletonId, body: &Body) -> Vec<Self> {
        if !body.has_legs() {
            return Vec::new();
        }
        let rest = model_matrices(library.skeleton(skeleton), &Values::at_rest(library.skeleton(skeleton)).local);
        if Figure::new(body, &rest).leg().is_none() {
            return Vec::new();
        }
        let joints = library.skeleton(skeleton).joints();
        let foot = |side: &'static str| -> Option<Self> {
            let [hip, knee, ankle] = ["UpperLeg", "LowerLeg", "Foot"].map(|role| body.on_side(side, role));
            let (hip, knee, ankle) = (hip?, knee?, ankle?);
            let toe = body.toes(side, ankle);
            let name = joints[ankle].name.clone().unwrap_or_default();
            Some(Self { name, side, leg: [hip, knee, ankle], toe })
        };
        SIDES.iter().filter_map(|&side| foot(side)).collect()
    }
}
