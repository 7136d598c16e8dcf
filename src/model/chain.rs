//! Chains: the joints that inverse kinematics turns.

use crate::model::{Skeleton, SkeletonId, is_usable, no_such};

/// Joints of a skeleton that inverse kinematics turns towards a target. Instances refer to them by a [`Goal`](crate::Goal).
///
/// # Examples
/// ```
/// use glam::DVec3;
/// use posse::{
///     Chain, ChainKind, Crowd, Evaluator, Goal, GoalTarget, Joint, Library, Outputs, Reference, Skeleton, Ticks, Transform,
/// };
///
/// # fn main() -> Result<(), posse::Error> {
/// // A leg that points down, with bones of 0.5 m, and its knee a little in front.
/// let joint = |parent, x, y| {
///     let rest = Transform { translation: DVec3::new(x, y, 0.0), ..Transform::IDENTITY };
///     Joint { parent, rest, ..Joint::default() }
/// };
/// let leg = vec![joint(None, 0.0, 1.0), joint(Some(0), 0.1, -0.5), joint(Some(1), -0.1, -0.5)];
/// let mut library = Library::new();
/// let skeleton = library.add_skeleton(Skeleton::new(None, leg, Vec::new())?);
/// let kind = ChainKind::TwoBone { joints: [0, 1, 2], pole: Some([1.0, 0.0, 0.0]), hold: true };
/// let chain = library.add_chain(Chain { name: Some("leg".into()), skeleton, kind })?;
///
/// // The ankle goes onto a step.
/// let mut crowd = Crowd::new();
/// let instance = crowd.push(skeleton, &[])?;
/// let step = [0.2, 0.3, 0.1];
/// crowd.set_goals(instance, [Goal::new(chain, GoalTarget::Point(step))])?;
/// let poses = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL)?;
/// assert!(poses.instances[0].model[2].translation.distance(step.into()) < 1e-9);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The name of the chain, if it has one.
    pub name: Option<String>,
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The joints, and the way in which they turn.
    pub kind: ChainKind,
}

/// The joints of a chain, and the way in which they turn.
#[derive(Debug, Clone, PartialEq)]
pub enum ChainKind {
    /// Two bones, such as a leg: the first two joints turn, so that the third reaches the target, or comes as near as the bones
    /// allow.
    TwoBone {
        /// The joints, each below the one before it, not necessarily its child: hip, knee, ankle.
        joints: [usize; 3],
        /// The direction in model space to which the middle joint points; `None` leaves it in the plane that the pose and the
        /// target give it. It need not have length 1.
        pole: Option<[f64; 3]>,
        /// True if the third joint keeps the model rotation of the pose, as a foot on the ground does.
        hold: bool,
    },
    /// One joint that looks at the target.
    Aim {
        /// The joint.
        joint: usize,
        /// The direction in the joint's own space that turns to the target. It need not have length 1.
        forward: [f64; 3],
        /// The largest turn in radians, 0 or more; pi is no limit.
        limit: f64,
    },
}

impl Chain {
    /// The joints, in order.
    pub fn joints(&self) -> &[usize] {
        match &self.kind {
            ChainKind::TwoBone { joints, .. } => joints,
            ChainKind::Aim { joint, .. } => std::slice::from_ref(joint),
        }
    }

    /// The reason for which a chain does not fit its skeleton, as a message.
    pub(crate) fn fault(&self, skeleton: &Skeleton) -> Option<String> {
        let count = skeleton.joints().len();
        if let Some(&joint) = self.joints().iter().find(|&&joint| joint >= count) {
            return Some(no_such("joint", joint, "skeleton", count));
        }
        let named = |joint: usize| match &skeleton.joints()[joint].name {
            Some(name) => format!("{joint} ({name:?})"),
            None => joint.to_string(),
        };
        if let Some(&joint) = self.joints().iter().find(|&&joint| skeleton.joints()[joint].matrix.is_some()) {
            return Some(format!("joint {} is given by a matrix and cannot turn; choose another", named(joint)));
        }
        if let Some(pair) = self.joints().windows(2).find(|pair| !skeleton.is_below(pair[1], pair[0])) {
            let [above, below] = [pair[0], pair[1]].map(named);
            return Some(format!("joint {below} is not below joint {above}; order the joints from the body outwards"));
        }
        let unusable = |vector: &[f64; 3]| vector.iter().copied().find(|&number| !is_usable(number));
        let (what, number) = match &self.kind {
            ChainKind::TwoBone { pole, .. } => ("pole", pole.as_ref().and_then(unusable)),
            ChainKind::Aim { forward, .. } => ("forward direction", unusable(forward)),
        };
        if let Some(number) = number {
            return Some(format!("the {what} has the number {number}, which is not finite in the range of an f32"));
        }
        match self.kind {
            ChainKind::Aim { limit, .. } if !is_usable(limit) || limit < 0.0 => {
                Some(format!("the limit {limit} is not a finite number of radians of 0 or more"))
            }
            _ => None,
        }
    }
}
