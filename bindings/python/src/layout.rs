//! The class `_posse.Layout`: the arrays of a skeleton.

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, QuaternionOrder, UpAxis, find_joints};
use pyo3::prelude::*;

use crate::error::{Error, to_python};
use crate::load::Collection;

/// The arrays that a caller asked for, of one skeleton.
#[pyclass(frozen, module = "posse._posse")]
#[derive(Debug)]
pub struct Layout {
    /// The index of the skeleton.
    #[pyo3(get)]
    pub skeleton: usize,
    /// The arrays.
    pub arrays: ArrayLayout,
    names: Vec<String>,
}

/// The space of the numbers, by the names of the options: a dictionary in Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Space {
    up: String,
    scale: f64,
    quaternions: String,
}

impl Layout {
    /// The arrays of these kinds, for the joints of these names in their order; without names for all nodes of the file.
    ///
    /// # Errors
    /// `posse.Error` for an unknown kind, joint, axis or order, and for what [`ArrayLayout::new`] refuses.
    pub fn new(
        collection: &Collection,
        skeleton: usize,
        kinds: &[String],
        joints: Option<&[String]>,
        space: &Space,
    ) -> PyResult<Self> {
        let rig = collection.rigs.get(skeleton).ok_or_else(|| Error::new_err(format!("no skeleton {skeleton}")))?;
        let found = collection.library.skeleton(rig.skeleton);
        let joints = match joints {
            Some(names) => find_joints(found, names).map_err(to_python)?,
            None => rig.nodes.clone(),
        };
        let kinds = kinds.iter().map(|name| name.parse::<ArrayKind>()).collect::<Result<_, _>>().map_err(to_python)?;
        let (up, quaternions) = (up_axis(&space.up)?, quaternion_order(&space.quaternions)?);
        let request = ArrayRequest { kinds, joints, up, scale: space.scale, quaternions };
        let arrays = ArrayLayout::new(&collection.library, rig.skeleton, &rig.nodes, &request).map_err(to_python)?;
        let names = joint_names(found, arrays.joints());
        Ok(Self { skeleton, arrays, names })
    }
}

#[pymethods]
impl Layout {
    /// The name, the kind and the shape without the axis of times of each array.
    #[getter]
    fn arrays(&self) -> Vec<(String, &'static str, Vec<usize>)> {
        self.arrays.arrays().iter().map(|array| (array.name.clone(), array.kind.name(), array.shape.clone())).collect()
    }

    /// The names of the joints.
    #[getter]
    fn joint_names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The nearest ancestor of each joint among the joints, -1 without one.
    #[getter]
    fn parents(&self) -> Vec<i32> {
        self.arrays.parents().iter().map(|parent| parent.map_or(-1, |parent| parent as i32)).collect()
    }

    /// True if an array is a velocity.
    #[getter]
    fn has_velocities(&self) -> bool {
        self.arrays.has_velocities()
    }
}

/// The names of joints.
fn joint_names(skeleton: &posse::Skeleton, joints: &[usize]) -> Vec<String> {
    joints.iter().map(|&joint| skeleton.joints()[joint].name.clone().unwrap_or_default()).collect()
}

fn up_axis(name: &str) -> PyResult<UpAxis> {
    let axes = [UpAxis::Y, UpAxis::Z];
    let found = axes.into_iter().find(|axis| axis.name() == name);
    found.ok_or_else(|| Error::new_err(format!("up={name:?}; expected 'y' or 'z'")))
}

fn quaternion_order(name: &str) -> PyResult<QuaternionOrder> {
    let orders = [QuaternionOrder::Xyzw, QuaternionOrder::Wxyz];
    let found = orders.into_iter().find(|order| order.name() == name);
    found.ok_or_else(|| Error::new_err(format!("quaternions={name:?}; expected 'xyzw' or 'wxyz'")))
}
