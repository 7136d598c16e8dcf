//! Skeletons: joints, their hierarchy and rest pose, and properties; and skins, the joints that deform a mesh.

use std::ops::Range;
use std::sync::Arc;

use glam::DAffine3;

use crate::error::Error;
use crate::model::{SkeletonId, Transform};

/// The largest difference of a matrix from its translation, rotation and scale, relative to its largest number, or to
/// 1, that counts as rounding.
const MAX_SHEAR: f64 = 1e-6;

/// The letters of a joint's name in the name of a morph weight: each weight repeats them.
const MAX_LETTERS: usize = 64;

/// A joint: a node of a hierarchy. It need not belong to a skin.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Joint {
    /// The name of the joint, if it has one.
    pub name: Option<String>,
    /// Index of the parent, smaller than the index of the joint; `None` for a root.
    pub parent: Option<usize>,
    /// The local transform in the rest pose. Parts that no clip drives keep it.
    pub rest: Transform,
    /// The local matrix, if the joint is given by a matrix, which need not be a translation, rotation and scale.
    ///
    /// Such a joint cannot be animated. Its [`rest`](Self::rest) is then the nearest transform, for information.
    pub matrix: Option<DAffine3>,
    /// Rest values of the morph weights, one per morph target; empty for a joint without morph targets.
    pub weights: Vec<f64>,
    /// The names of the morph targets, one per weight, with an empty text for one without a name; empty if the file
    /// names none. [`Library::share_clip`](crate::Library::share_clip) and
    /// [`Library::retarget`](crate::Library::retarget) match weights by them.
    pub morph_names: Arc<[String]>,
}

impl Joint {
    /// The name of a morph target; `None` for one without a name, or if there is no such morph target.
    pub fn morph_name(&self, index: usize) -> Option<&str> {
        self.morph_names.get(index).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The name of a morph target for messages: its index for one without a name.
    pub(crate) fn morph_label(&self, index: usize) -> String {
        self.morph_name(index).map_or_else(|| index.to_string(), str::to_owned)
    }

    /// Returns `true` if the joint is given by a matrix that no translation, rotation and scale can stand for.
    pub(crate) fn has_shear(&self) -> bool {
        self.matrix.is_some_and(|matrix| {
            let largest = matrix.to_cols_array().into_iter().map(f64::abs).fold(1.0, f64::max);
            !self.rest.to_affine().abs_diff_eq(matrix, MAX_SHEAR * largest)
        })
    }
}

/// An animated value that belongs to no joint, such as the colour of a material.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The name in results; for glTF the JSON pointer.
    pub name: String,
    /// The rest value, 1 number or more.
    pub rest: Vec<f64>,
    /// `true` if the value is a quaternion xyzw that interpolates as a rotation.
    pub rotation: bool,
}

impl Property {
    fn check(&self) -> Result<(), Error> {
        let is_rotation = self.rest.len() == 4 && self.rest.iter().any(|&number| number != 0.0);
        let expected = if self.rest.is_empty() {
            "one number or more"
        } else if !self.rest.iter().all(|&number| super::is_usable(number)) {
            "finite numbers in the range of an f32"
        } else if self.rotation && !is_rotation {
            "a quaternion of 4 numbers that are not all 0, because it is a rotation"
        } else {
            return Ok(());
        };
        Err(Error::Usage(format!("property {}: its rest value is {:?}; expected {expected}", self.name, self.rest)))
    }
}

/// The role of a joint in a human body, as a file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanBone {
    /// The name of the role in VRM 1.0, such as `leftUpperArm`.
    pub role: String,
    /// The joint.
    pub joint: usize,
}

/// An expression of a face, as a VRM file declares it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expression {
    /// The name in VRM 1.0, such as `aa` or `happy`, or the name of an expression of the file's own.
    pub name: String,
    /// `true` if the expression is on above a weight of 0.5, and else off.
    pub is_binary: bool,
    /// The effect on the expressions of lip sync: `aa`, `ih`, `ou`, `ee` and `oh`.
    pub override_mouth: ExpressionOverride,
    /// The effect on `blink`, `blinkLeft` and `blinkRight`.
    pub override_blink: ExpressionOverride,
    /// The effect on `lookUp`, `lookDown`, `lookLeft` and `lookRight`.
    pub override_look_at: ExpressionOverride,
    /// The joint whose local translation along x is the weight of the expression, from 0 to 1, in a VRM animation.
    pub driver: Option<usize>,
    /// The morph weights that the expression moves, in a VRM model.
    pub binds: Vec<MorphBind>,
}

/// The effect of an expression on the expressions that it would break: lip sync, blinking and gaze.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ExpressionOverride {
    /// No effect.
    #[default]
    None,
    /// They are off while the weight of this expression is above 0.
    Block,
    /// Their weights are multiplied by 1 less the weight of this expression.
    Blend,
}

/// A morph weight that an expression moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MorphBind {
    /// The joint with the weights.
    pub joint: usize,
    /// The index of the weight.
    pub index: usize,
    /// The morph weight at a weight of 1 of the expression.
    pub weight: f64,
}

/// Joints, parents before children, and the properties of the clips that animate them.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    name: Option<String>,
    joints: Vec<Joint>,
    properties: Vec<Property>,
    human_bones: Vec<HumanBone>,
    expressions: Vec<Expression>,
    /// The joint of each node, in the order of the file; empty if the joints have that order.
    file_order: Vec<usize>,
    /// The joints that are no nodes of the file, in order. Each carries the translation of the next joint, its only
    /// child.
    carriers: Vec<usize>,
}

impl Skeleton {
    /// A skeleton of these joints, parents before children.
    ///
    /// # Errors
    /// [`Error::Skeleton`] if a parent does not come before its child, a number is not finite or beyond the range of an
    /// `f32`, a rotation is zero, or there are names of morph targets, but not one per weight; [`Error::Usage`] if a
    /// property has no numbers, or is a rotation without 4 numbers.
    pub fn new(name: Option<String>, joints: Vec<Joint>, properties: Vec<Property>) -> Result<Self, Error> {
        for (index, joint) in joints.iter().enumerate() {
            let error = |reason: &str| Err(Error::Skeleton { joint: index, reason: reason.into() });
            if let Some(parent) = joint.parent.filter(|&parent| parent >= index) {
                return error(&format!(
                    "its parent is joint {parent}; order the joints so that parents come before children"
                ));
            }
            if !joint.rest.is_usable() {
                return error(
                    "its rest pose has a number that is not finite in the range of an f32, or a rotation of length 0",
                );
            }
            if joint.matrix.is_some_and(|matrix| !matrix.to_cols_array().into_iter().all(super::is_usable)) {
                return error("its matrix has a number that is not finite in the range of an f32");
            }
            if !joint.weights.iter().all(|&weight| super::is_usable(weight)) {
                return error("a morph weight is not a finite number in the range of an f32");
            }
            let (names, weights) = (joint.morph_names.len(), joint.weights.len());
            if names != 0 && names != weights {
                return error(&format!(
                    "it has {names} names of morph targets for {weights} morph weights; give one name per weight, or none"
                ));
            }
        }
        properties.iter().try_for_each(Property::check)?;
        let (human_bones, expressions, file_order, carriers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { name, joints, properties, human_bones, expressions, file_order, carriers })
    }

    /// The same skeleton with roles of its joints in a human body.
    /// [`JointMap::by_names`](crate::retarget::JointMap::by_names) matches the joints of two skeletons by them.
    ///
    /// # Errors
    /// [`Error::Skeleton`] if there is no such joint.
    pub fn with_human_bones(self, human_bones: Vec<HumanBone>) -> Result<Self, Error> {
        match human_bones.iter().find(|bone| bone.joint >= self.joints.len()) {
            Some(HumanBone { role, joint }) => {
                let reason = super::no_such("joint", *joint, "skeleton", self.joints.len());
                Err(Error::Skeleton { joint: *joint, reason: format!("{reason}; it was given as {role}") })
            }
            None => Ok(Self { human_bones, ..self }),
        }
    }

    /// The same skeleton with expressions of its face. [`Library::retarget`](crate::Library::retarget) carries the
    /// weights of expressions over to expressions of the same name.
    ///
    /// # Errors
    /// [`Error::Skeleton`] if there is no such joint or no such morph weight, or a weight is not finite in the range of
    /// an `f32`.
    pub fn with_expressions(self, expressions: Vec<Expression>) -> Result<Self, Error> {
        for Expression { name, driver, binds, .. } in &expressions {
            let joints = driver.iter().copied().chain(binds.iter().map(|bind| bind.joint));
            if let Some(joint) = joints.into_iter().find(|&joint| joint >= self.joints.len()) {
                let reason = super::no_such("joint", joint, "skeleton", self.joints.len());
                return Err(Error::Skeleton { joint, reason: format!("{reason}; expression {name} names it") });
            }
            for &MorphBind { joint, index, weight } in binds {
                let count = self.joints[joint].weights.len();
                if index >= count || !super::is_usable(weight) {
                    let reason = format!(
                        "expression {name} moves its morph weight {index} by {weight}; it has {count}, which take finite numbers"
                    );
                    return Err(Error::Skeleton { joint, reason });
                }
            }
        }
        Ok(Self { expressions, ..self })
    }

    /// The same skeleton with the joint of each node of its file, each joint at most once. A joint without a node
    /// carries the translation of the next joint, its only child.
    pub(crate) fn in_file_order(self, joints: Vec<usize>) -> Self {
        let is_same = joints.iter().copied().eq(0..self.joints.len());
        let mut has_node = vec![false; self.joints.len()];
        joints.iter().for_each(|&joint| has_node[joint] = true);
        let carriers = (0..has_node.len()).filter(|&joint| !has_node[joint]).collect();
        Self { file_order: if is_same { Vec::new() } else { joints }, carriers, ..self }
    }

    /// Returns `true` if a joint is no node of the file, but carries the translation of the next joint.
    pub(crate) fn is_carrier(&self, joint: usize) -> bool {
        self.carriers.binary_search(&joint).is_ok()
    }

    /// The joint of the node that a joint belongs to: itself, or the next one if it carries the translation of that.
    pub(crate) fn node_joint(&self, joint: usize) -> usize {
        joint + usize::from(self.is_carrier(joint))
    }

    /// The joint with the translation of the node of a joint: itself, or its parent if that carries the translation.
    pub(crate) fn translation_joint(&self, joint: usize) -> usize {
        let parent = self.joints[joint].parent;
        parent.filter(|&parent| self.is_carrier(parent)).unwrap_or(joint)
    }

    /// The joint of the node above the node of a joint; `None` at a root of the file.
    pub(crate) fn parent_node(&self, joint: usize) -> Option<usize> {
        self.joints[self.translation_joint(joint)].parent
    }

    /// The joints in the order of their file, in which a [`Selector`](crate::Selector) counts them.
    pub(crate) fn file_order(&self) -> impl Iterator<Item = usize> {
        let rest = if self.file_order.is_empty() { 0..self.joints.len() } else { 0..0 };
        self.file_order.iter().copied().chain(rest)
    }

    /// The same skeleton with joints that are given by translation, rotation and scale in place of a matrix, so that
    /// clips can animate them. A joint whose matrix has shear, which these cannot stand for, keeps it.
    ///
    /// # Examples
    /// ```
    /// use posse::{Joint, Skeleton, Transform};
    /// use posse::glam::{DAffine3, DVec3};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let raised = DAffine3::from_translation(DVec3::Y);
    /// let mut sheared = raised;
    /// sheared.matrix3.y_axis.x = 0.5;
    /// let joint = |matrix| Joint { matrix: Some(matrix), rest: Transform::from_affine(matrix), ..Joint::default() };
    /// let skeleton = Skeleton::new(None, vec![joint(raised), joint(sheared)], Vec::new())?.animatable();
    /// assert_eq!(skeleton.joints()[0].matrix, None);
    /// assert_eq!(skeleton.joints()[1].matrix, Some(sheared));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn animatable(mut self) -> Self {
        self.joints.iter_mut().filter(|joint| !joint.has_shear()).for_each(|joint| joint.matrix = None);
        self
    }

    /// The same skeleton with a joint that is given by its rest transform in place of a matrix.
    pub(crate) fn without_matrix(mut self, joint: usize) -> Self {
        self.joints[joint].matrix = None;
        self
    }

    /// Adds a property and returns its index.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has no numbers, or is a rotation without 4 numbers.
    pub(crate) fn add_property(&mut self, property: Property) -> Result<usize, Error> {
        property.check()?;
        self.properties.push(property);
        Ok(self.properties.len() - 1)
    }

    /// The name of the skeleton, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The joints, parents before children.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The properties, in the order of their indices.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// The roles of joints in a human body, with their names in VRM 1.0, if the file of the skeleton declares them: the
    /// glTF extensions `VRMC_vrm`, `VRMC_vrm_animation` and, of VRM 0.x, `VRM` do.
    pub fn human_bones(&self) -> &[HumanBone] {
        &self.human_bones
    }

    /// The expressions of the face, if the file of the skeleton declares them: the glTF extensions `VRMC_vrm`,
    /// `VRMC_vrm_animation` and, of VRM 0.x, `VRM` do.
    pub fn expressions(&self) -> &[Expression] {
        &self.expressions
    }

    /// The joint of this name with the least index. Of several on one branch, it is the joint nearest to the root.
    /// [`select_joint`](Self::select_joint) is for names that a person writes.
    pub fn find_joint(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name.as_deref() == Some(name))
    }

    /// The name of a joint for messages: `joint 7` for one without a name, or if there is no such joint. A joint that
    /// carries the translation of a node has the name of the node.
    pub fn joint_name(&self, joint: usize) -> String {
        let name = self.joints.get(self.node_joint(joint)).and_then(|found| found.name.clone());
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("joint {joint}"))
    }

    /// The depth of each joint: 0 for a root, otherwise one more than the depth of its parent.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.joints.len());
        for joint in &self.joints {
            depths.push(joint.parent.map_or(0, |parent| depths[parent] + 1));
        }
        depths
    }

    /// The ancestors of a joint, from its parent to the root.
    ///
    /// # Panics
    /// If there is no such joint.
    pub fn ancestors(&self, joint: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.joints[joint].parent, |&parent| self.joints[parent].parent)
    }

    /// Returns `true` if a joint is below another one: its child, or the child of a joint below.
    ///
    /// # Panics
    /// If there is no such joint.
    pub fn is_below(&self, joint: usize, above: usize) -> bool {
        self.ancestors(joint).any(|ancestor| ancestor == above)
    }

    /// The number of morph weights of all joints together.
    pub fn weight_count(&self) -> usize {
        self.joints.iter().map(|joint| joint.weights.len()).sum()
    }

    /// The range of the morph weights of each joint among the weights of all joints, as in
    /// [`Pose::weights`](crate::Pose::weights).
    pub fn weight_ranges(&self) -> Vec<Range<usize>> {
        consecutive_ranges(self.joints.iter().map(|joint| joint.weights.len()))
    }

    /// The name of a morph weight: the names of its joint and its morph target, such as `Face.smile`. A morph target
    /// without a name has its index. Of the name of the joint, it has 64 letters at most.
    pub fn weight_name(&self, joint: usize, index: usize) -> String {
        let mut name: String = self.joint_name(joint).chars().take(MAX_LETTERS).collect();
        name.push('.');
        match self.joints.get(joint).and_then(|joint| joint.morph_name(index)) {
            Some(morph) => name + morph,
            None => format!("{name}{index}"),
        }
    }

    /// Returns `true` if a joint has names of morph targets.
    pub fn has_morph_names(&self) -> bool {
        self.joints.iter().any(|joint| !joint.morph_names.is_empty())
    }

    /// The number of numbers of all properties together.
    pub fn property_width(&self) -> usize {
        self.properties.iter().map(|property| property.rest.len()).sum()
    }

    /// The range of the numbers of each property among the numbers of all properties, as in
    /// [`Pose::properties`](crate::Pose::properties).
    pub fn property_ranges(&self) -> Vec<Range<usize>> {
        consecutive_ranges(self.properties.iter().map(|property| property.rest.len()))
    }
}

/// Consecutive ranges with these lengths, from 0.
pub(crate) fn consecutive_ranges(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut next = 0;
    let range = |length| {
        let first = next;
        next += length;
        first..next
    };
    lengths.map(range).collect()
}

/// Joints that deform a mesh, each with its inverse bind matrix. Several skins may share one skeleton.
///
/// [`Library::add_skin`](crate::Library::add_skin) checks it against its skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// The name of the skin, if it has one.
    pub name: Option<String>,
    /// The skeleton of the joints.
    pub skeleton: SkeletonId,
    /// Indices of joints, in the order in which the vertices of a mesh refer to them.
    pub joints: Vec<usize>,
    /// One matrix per joint: from the space of the mesh to the space of the joint, in the bind pose.
    pub inverse_bind: Vec<DAffine3>,
}

/// The format of the skin matrices that an engine writes: full, or half the bytes.
/// [`Outputs::with_skin_format`](crate::Outputs::with_skin_format) selects it.
///
/// The reference returns the matrices of every format unrounded. [`contract`](crate::contract) bounds the errors of the
/// other engines. [`wgsl`](Self::wgsl) returns the functions that read a format in a shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SkinFormat {
    /// Three rows of four `f32`, the translation in the last column: 48 bytes.
    #[default]
    Matrix,
    /// The same three rows of four `f16`: 24 bytes. The first number is in the lower half of its word.
    ///
    /// Each number is the nearest `f16`, ties to even. A number beyond 65504 becomes 65504 with its sign.
    HalfMatrix,
    /// A rotation, a translation and a uniform scale, from which a vertex shader makes a dual quaternion: 24 bytes.
    ///
    /// First comes the unit quaternion xyzw as four `snorm16`, of either sign, with x in the lower half of the first
    /// word. Then come the translation xyz and the scale as four `f32`. A vertex is scaled, then rotated, then
    /// translated. The reader normalises the quaternion, because rounding changes its length. The dual part is half the
    /// product of the translation, as a quaternion with w = 0, and the rotation.
    ///
    /// The format cannot hold non-uniform scales, mirrors and shear. A crowd that uses a skeleton, skin or clip with
    /// any of them is refused before evaluation.
    DualQuaternion,
}

impl SkinFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Matrix, Self::HalfMatrix, Self::DualQuaternion];

    /// Words of 32 bits per joint.
    pub const fn words(self) -> usize {
        match self {
            Self::Matrix => 12,
            Self::HalfMatrix | Self::DualQuaternion => 6,
        }
    }

    /// Bytes per joint.
    pub const fn bytes(self) -> usize {
        4 * self.words()
    }

    /// The name of the format: `matrix`, `half` or `dual-quaternion`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matrix => "matrix",
            Self::HalfMatrix => "half",
            Self::DualQuaternion => "dual-quaternion",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_joint_of_a_name_is_found() {
        let joint = |name: &str, parent| Joint { name: Some(name.into()), parent, ..Joint::default() };
        let joints = vec![Joint::default(), joint("hip", Some(0)), joint("foot", Some(1)), joint("foot", Some(2))];
        let skeleton = Skeleton::new(None, joints, Vec::new()).unwrap();
        assert_eq!(["hip", "foot", "tail", ""].map(|name| skeleton.find_joint(name)), [Some(1), Some(2), None, None]);
    }

    #[test]
    fn ranges_follow_one_another() {
        let joint = |weights| Joint { weights: vec![0.0; weights], ..Joint::default() };
        let property = |numbers| Property { name: "colour".into(), rest: vec![0.0; numbers], rotation: false };
        let joints = vec![joint(2), joint(0), joint(3)];
        let skeleton = Skeleton::new(None, joints, vec![property(4), property(1)]).unwrap();
        assert_eq!(skeleton.weight_ranges(), [0..2, 2..2, 2..5]);
        assert_eq!(skeleton.property_ranges(), [0..4, 4..5]);
    }
}
