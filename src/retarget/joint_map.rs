//! The map of a retargeting: pairs of joints, and the movement of the root.

use crate::error::Error;
use crate::model::{Library, SkeletonId, no_such};
use crate::retarget::joints::are_joints;
use crate::retarget::names::{Side, match_joints};

/// The joints of two skeletons of a library that correspond to each other, and the movement of the root, for
/// [`Library::retarget`].
///
/// Joints are the nodes that skins name and the nodes between them; all nodes of a skeleton without skins.
#[derive(Debug, Clone, PartialEq)]
pub struct JointMap {
    /// The skeleton of the clips.
    pub source: SkeletonId,
    /// The skeleton that gets clips.
    pub target: SkeletonId,
    /// The pairs. Each joint is in at most one of them.
    pub pairs: Vec<JointPair>,
    /// The joint of the source whose translation is retargeted, which must have a partner. `None`, the default, is the first mapped
    /// joint in hierarchy order whose translation any clip of the source moves, or else the first mapped joint.
    pub root: Option<usize>,
    /// The size of the movement of the root.
    pub translation: RootTranslation,
    /// Joints that were left out, and a root that cannot move.
    pub remarks: Vec<MapRemark>,
}

/// A joint of the source and its partner in the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointPair {
    /// The joint of the source.
    pub source: usize,
    /// The joint of the target.
    pub target: usize,
    /// The reason for the pair.
    pub by: MatchedBy,
}

/// The reason for which two joints are a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchedBy {
    /// Their names are equal.
    Name,
    /// Their names are equal in lower case, without everything up to the last `:`, and without `_`, `-`, `.` and spaces.
    NormalizedName,
    /// They have the same humanoid role: by [`Skeleton::human_bones`](crate::Skeleton::human_bones), or by the usual names of
    /// Mixamo, Unreal's mannequin, VRM and Rigify.
    Role,
    /// The caller or a map file names them.
    Caller,
}

/// The size of the movement of the root: that of the source times a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RootTranslation {
    /// Times this number; by default the ratio of the heights of the roots above the lowest mapped joint, along +Y.
    Scaled(Option<f64>),
    /// As it is.
    Full,
    /// The root does not move.
    None,
}

impl Default for RootTranslation {
    fn default() -> Self {
        Self::Scaled(None)
    }
}

/// A reason for which joints have no partner, or the root does not move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapRemark {
    /// Several joints of a skeleton have the name or the role. They are left out.
    Ambiguous {
        /// The name, normalised name or role.
        name: String,
        /// The way in which it was compared.
        by: MatchedBy,
        /// The joints of the source with it.
        sources: Vec<usize>,
        /// The joints of the target with it.
        targets: Vec<usize>,
    },
    /// Two joints have the same name, but only one of them is the hips of a human. They are no pair, and at least one of them found no
    /// other partner.
    Roles {
        /// The joint of the source.
        source: usize,
        /// The joint of the target.
        target: usize,
        /// The roles of the two.
        roles: [String; 2],
    },
    /// The joint of the target is given by a matrix with shear, which cannot be animated. The pair is left out.
    Matrix {
        /// The joint of the source.
        source: usize,
        /// The joint of the target.
        target: usize,
    },
    /// A joint above the root of the target has a scale of 0 at rest, so that no translation brings the root to its place. The root does not
    /// move; the pair stays.
    ZeroScale {
        /// The root in the source.
        source: usize,
        /// The root in the target.
        target: usize,
        /// The joint of the target with the scale of 0.
        above: usize,
    },
}

impl JointMap {
    /// A map without pairs.
    pub fn new(source: SkeletonId, target: SkeletonId) -> Self {
        let (pairs, remarks) = (Vec::new(), Vec::new());
        Self { source, target, pairs, root: None, translation: RootTranslation::default(), remarks }
    }

    /// A map of the joints with equal names, then of those with equal normalised names, then of those with equal humanoid roles.
    /// Ambiguous joints are left out, with a remark.
    ///
    /// There is one exception. If two joints of equal names have different roles, and one of them is the hips, they are no pair by
    /// name, and each can get another partner by its role. `spine`, for example, is the hips of Rigify, but the lowest bone of the
    /// spine in VRM. If one of the two finds no other partner, there is a [`MapRemark::Roles`].
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton.
    pub fn by_names(library: &Library, source: SkeletonId, target: SkeletonId) -> Result<Self, Error> {
        let side = |id: SkeletonId| match library.skeletons().get(id.index()) {
            Some(skeleton) => Ok(Side::new(skeleton, are_joints(library, id))),
            None => Err(Error::Usage(no_such("skeleton", id.index(), "library", library.skeletons().len()))),
        };
        let (pairs, remarks) = match_joints(&mut side(source)?, &mut side(target)?);
        Ok(Self { pairs, remarks, ..Self::new(source, target) })
    }

    /// The partner of a joint of the source.
    pub fn target_of(&self, source: usize) -> Option<usize> {
        self.pairs.iter().find(|pair| pair.source == source).map(|pair| pair.target)
    }

    /// Checks that skeletons and joints exist, that each joint has at most one partner, and that the root has one.
    pub(super) fn check(&self, library: &Library) -> Result<(), Error> {
        let fault = |reason: String| Err(Error::Usage(format!("joint map: {reason}")));
        let count = library.skeletons().len();
        if let Some(id) = [self.source, self.target].into_iter().find(|id| id.index() >= count) {
            return fault(no_such("skeleton", id.index(), "library", count));
        }
        let joints: [fn(&JointPair) -> usize; 2] = [|pair| pair.source, |pair| pair.target];
        for ((id, side), joint_of) in [(self.source, "source"), (self.target, "target")].into_iter().zip(joints) {
            let skeleton = library.skeleton(id);
            let mut is_paired = vec![false; skeleton.joints().len()];
            for joint in self.pairs.iter().map(joint_of) {
                match is_paired.get_mut(joint) {
                    None => return fault(no_such("joint", joint, &format!("{side} skeleton"), is_paired.len())),
                    Some(true) => {
                        let name = skeleton.joint_name(joint);
                        return fault(format!("joint {name:?} of the {side} has two partners; give it one"));
                    }
                    Some(paired) => *paired = true,
                }
            }
        }
        if let Some(root) = self.root.filter(|&root| self.target_of(root).is_none()) {
            let name = library.skeleton(self.source).joint_name(root);
            return fault(format!(
                "the root is joint {name:?} of the source, which has no partner; choose a mapped joint"
            ));
        }
        match self.translation {
            RootTranslation::Scaled(Some(scale)) if !crate::model::is_usable(scale) => {
                fault(format!("the scale of the root is {scale}; expected a finite number in the range of an f32"))
            }
            _ => Ok(()),
        }
    }
}
