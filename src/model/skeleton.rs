//! Joints, their hierarchy and rest pose.

use glam::DAffine3;

use crate::error::Error;
use crate::model::Transform;

/// A joint: a node of a hierarchy, whether or not a skin uses it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Joint {
    /// The joint's name, where it has one.
    pub name: Option<String>,
    /// Index of the parent, smaller than the joint's own; `None` for a root.
    pub parent: Option<usize>,
    /// The local transform where no clip says otherwise.
    pub rest: Transform,
    /// The local matrix, where the joint is given by one that need not be a translation, rotation and scale.
    ///
    /// Such a joint cannot be animated; [`rest`](Self::rest) is then its nearest transform, for information.
    pub matrix: Option<DAffine3>,
    /// Morph weights where no clip says otherwise, one a morph target; empty for a joint without.
    pub weights: Vec<f64>,
}

/// A value that belongs to no joint, such as a material's colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// What it is called in results; for glTF its JSON pointer.
    pub name: String,
    /// The value where no clip says otherwise, 1 number or more.
    pub rest: Vec<f64>,
    /// Whether the value is a quaternion xyzw that interpolates as a rotation.
    pub rotation: bool,
}

impl Property {
    fn check(&self) -> Result<(), Error> {
        let usable = self.rest.iter().all(|&number| super::is_usable(number));
        let rotation = self.rest.len() == 4 && self.rest.iter().any(|&number| number != 0.0);
        if self.rest.is_empty() || !usable || (self.rotation && !rotation) {
            return Err(Error::Usage(format!("property {}: its rest value is not usable", self.name)));
        }
        Ok(())
    }
}

/// Joints, parents before children, and the properties that are animated with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    name: Option<String>,
    joints: Vec<Joint>,
    properties: Vec<Property>,
}

impl Skeleton {
    /// A skeleton of these joints, parents before children.
    ///
    /// # Errors
    /// [`Error::Skeleton`] where a parent does not come before its child, a number is not finite or beyond what an
    /// `f32` holds, or a rotation is zero; [`Error::Usage`] where a property has no numbers, or not the four of a rotation.
    pub fn new(name: Option<String>, joints: Vec<Joint>, properties: Vec<Property>) -> Result<Self, Error> {
        for (index, joint) in joints.iter().enumerate() {
            let fault = |reason: &str| Err(Error::Skeleton { joint: index, reason: reason.into() });
            if joint.parent.is_some_and(|parent| parent >= index) {
                return fault("its parent does not come before it");
            }
            if !joint.rest.is_usable() {
                return fault("its rest pose has a number that is not finite, or a rotation that is zero");
            }
            if joint.matrix.is_some_and(|matrix| !matrix.to_cols_array().into_iter().all(super::is_usable)) {
                return fault("its matrix has a number that is not finite");
            }
            if !joint.weights.iter().all(|&weight| super::is_usable(weight)) {
                return fault("a morph weight is not a finite number");
            }
        }
        properties.iter().try_for_each(Property::check)?;
        Ok(Self { name, joints, properties })
    }

    /// Adds a property, and gives its index.
    ///
    /// # Errors
    /// [`Error::Usage`] where it has no numbers, or not the four of a rotation.
    pub(crate) fn add_property(&mut self, property: Property) -> Result<usize, Error> {
        property.check()?;
        self.properties.push(property);
        Ok(self.properties.len() - 1)
    }

    /// The skeleton's name, where it has one.
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

    /// The first joint of this name, by index: of several on a branch the one nearest to the root.
    pub fn find_joint(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name.as_deref() == Some(name))
    }

    /// Each joint's depth: 0 for a root, else one more than its parent's.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.joints.len());
        for joint in &self.joints {
            depths.push(joint.parent.map_or(0, |parent| depths[parent] + 1));
        }
        depths
    }

    /// The number of morph weights of all joints together.
    pub fn weight_count(&self) -> usize {
        self.joints.iter().map(|joint| joint.weights.len()).sum()
    }

    /// The number of numbers of all properties together.
    pub fn property_width(&self) -> usize {
        self.properties.iter().map(|property| property.rest.len()).sum()
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
}
