//! Chains, the joints that inverse kinematics (IK) rotates, and goals, the targets that a chain of an instance reaches
//! for.

use crate::model::parameter::no_parameter;
use crate::model::{ChainId, ParameterValues, Skeleton, SkeletonId, is_usable, no_such};

/// Joints of a skeleton that inverse kinematics (IK) rotates towards a target: two bones until the last joint, the
/// effector, is there, or one joint until it points there. Instances refer to them by a [`Goal`].
///
/// # Examples
/// ```
/// use glam::DVec3;
/// use posse::ik::{Chain, ChainKind, Goal, GoalTarget};
/// use posse::{Crowd, Evaluator, Joint, Library, Outputs, Reference, Skeleton, Ticks, Transform};
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
    /// The joints, and how they rotate.
    pub kind: ChainKind,
}

/// The joints of a chain, and how they rotate.
#[derive(Debug, Clone, PartialEq)]
pub enum ChainKind {
    /// Two bones, such as a leg: the first two joints rotate, so that the third reaches the target, or comes as near as
    /// the bones allow.
    TwoBone {
        /// The joints, each below the one before it, not necessarily its child: hip, knee, ankle.
        joints: [usize; 3],
        /// The direction in model space to which the middle joint points; `None` leaves it in the plane that the pose
        /// and the target give it. It need not have length 1.
        pole: Option<[f64; 3]>,
        /// `true` if the third joint keeps the model rotation of the pose, as a foot on the ground does.
        hold: bool,
    },
    /// One joint that looks at the target.
    Aim {
        /// The joint.
        joint: usize,
        /// The direction in the joint's own space that rotates to the target. It need not have length 1.
        forward: [f64; 3],
        /// The largest rotation in radians, 0 or more; pi is no limit.
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
    pub(crate) fn error(&self, skeleton: &Skeleton) -> Option<String> {
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

/// A target for a chain of an instance. Goals act in order, after mixing and transition, each on the pose that the one
/// before left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// The chain. It must belong to the skeleton of the instance.
    pub chain: ChainId,
    /// The target.
    pub target: GoalTarget,
    /// The weight.
    pub weight: GoalWeight,
}

/// The target of a goal, in the instance's model space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GoalTarget {
    /// A fixed point.
    Point([f64; 3]),
    /// A point whose x, y and z are the values of the parameters with these indices.
    Parameters([usize; 3]),
}

/// The weight of a goal, from 0, which leaves the pose as it is, to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GoalWeight {
    /// A fixed weight from 0 to 1.
    Fixed(f64),
    /// The value of the parameter with this index, clamped to 0 and 1.
    Parameter(usize),
}

impl GoalTarget {
    /// The point, with the values of the parameters of the instance.
    pub fn at(&self, values: ParameterValues) -> [f64; 3] {
        match *self {
            Self::Point(point) => point,
            Self::Parameters(indices) => indices.map(|index| f64::from(values.get(index))),
        }
    }
}

impl GoalWeight {
    /// The weight from 0 to 1, with the values of the parameters of the instance.
    pub fn at(&self, values: ParameterValues) -> f64 {
        match *self {
            Self::Fixed(weight) => weight,
            Self::Parameter(index) => f64::from(values.get(index)).clamp(0.0, 1.0),
        }
    }
}

impl Goal {
    /// A goal with weight 1.
    pub fn new(chain: ChainId, target: GoalTarget) -> Self {
        Self { chain, target, weight: GoalWeight::Fixed(1.0) }
    }

    /// The indices of the parameters that it reads.
    pub fn parameters(&self) -> impl Iterator<Item = usize> + use<> {
        let target = match self.target {
            GoalTarget::Parameters(indices) => Some(indices),
            GoalTarget::Point(_) => None,
        };
        let weight = match self.weight {
            GoalWeight::Parameter(index) => Some(index),
            GoalWeight::Fixed(_) => None,
        };
        target.into_iter().flatten().chain(weight)
    }

    /// Returns `true` if it reads parameters.
    pub(crate) fn is_driven(&self) -> bool {
        self.parameters().next().is_some()
    }

    /// The first unusable number, as a message.
    pub(crate) fn error(&self) -> Option<String> {
        if let GoalTarget::Point(point) = self.target
            && let Some(number) = point.into_iter().find(|&number| !is_usable(number))
        {
            return Some(format!("the target has the number {number}, which is not finite in the range of an f32"));
        }
        if let GoalWeight::Fixed(weight) = self.weight
            && !(0.0..=1.0).contains(&weight)
        {
            return Some(format!("the weight {weight} of a goal is not from 0 to 1"));
        }
        self.parameters().find_map(no_parameter)
    }
}
