//! The class `_posse.Layout`: the arrays of a skeleton.

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, ArrayShape, QuaternionOrder, UpAxis};
use pyo3::prelude::*;

use crate::error::{Error, to_python};
use crate::load::Collection;

/// The arrays that a caller asked for, of one skeleton.
#[pyclass(frozen, module = "posse_animation._posse")]
#[derive(Debug)]
pub struct Layout {
    /// The index of the skeleton.
    #[pyo3(get)]
    pub skeleton: usize,
    /// The arrays.
    pub arrays: ArrayLayout,
    names: Vec<String>,
    /// The names of the joints of the skins, if there are arrays of them.
    skin_names: Vec<String>,
}

/// The arrays that a caller wants: an object with these attributes in Python.
#[derive(Debug, FromPyObject)]
pub struct Request {
    kinds: Vec<String>,
    joints: Option<Vec<String>>,
    up: String,
    scale: f64,
    quaternions: String,
    morphs: Option<Vec<String>>,
}

impl Layout {
    /// The arrays of a request. The texts select joints and morph weights, in their order; without texts, all of the
    /// file are selected.
    ///
    /// # Errors
    /// `posse.Error` for an unknown kind, joint, axis or order, and for what [`ArrayLayout::new`] refuses.
    pub fn new(collection: &Collection, skeleton: usize, request: Request) -> PyResult<Self> {
        let Request { kinds, joints, up, scale, quaternions, morphs } = request;
        let rig = collection.rigs.get(skeleton).ok_or_else(|| Error::new_err(format!("no skeleton {skeleton}")))?;
        let found = collection.library.skeleton(rig.skeleton);
        let joints = match joints {
            Some(names) => found.select_joints(&names).map_err(to_python)?,
            None => rig.nodes.clone(),
        };
        let kinds = kinds.iter().map(|name| name.parse::<ArrayKind>());
        let kinds = kinds.collect::<Result<Vec<_>, _>>().map_err(to_python)?;
        let skins = collection.library.skins_of(rig.skeleton).filter(|_| kinds.contains(&ArrayKind::Skin));
        let skin_names = skins.flat_map(|(_, skin)| joint_names(found, &skin.joints)).collect();
        let (up, quaternions) = (up_axis(&up)?, quaternion_order(&quaternions)?);
        let request = ArrayRequest { kinds, joints, up, scale, quaternions };
        let arrays = ArrayLayout::new(&collection.library, rig.skeleton, &rig.nodes, &request).map_err(to_python)?;
        let arrays = match morphs {
            Some(morphs) => arrays.with_weights(&collection.library, &morphs).map_err(to_python)?,
            None => arrays,
        };
        let names = joint_names(found, arrays.joints());
        Ok(Self { skeleton, arrays, names, skin_names })
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

    /// The names of the morph weights of the array `weights`; empty without it.
    #[getter]
    fn weight_names(&self) -> Vec<String> {
        self.arrays.weight_names().to_vec()
    }

    /// The names of the feet of the array `contact`; empty without it.
    #[getter]
    fn contact_feet(&self) -> Vec<String> {
        self.arrays.feet().iter().map(|foot| foot.name.clone()).collect()
    }

    /// The nearest ancestor of each joint among the joints, -1 without one.
    #[getter]
    fn parents(&self) -> Vec<i32> {
        self.arrays.parents().iter().map(|parent| parent.map_or(-1, |parent| parent as i32)).collect()
    }

    /// True if the arrays of another layout have the same names and shapes, and the same joints and morph weights in
    /// them, by their names.
    fn has_columns_of(&self, other: PyRef<'_, Self>) -> bool {
        fn columns(layout: &Layout) -> (&[ArrayShape], [&[String]; 3]) {
            let Layout { arrays, names, skin_names, .. } = layout;
            (arrays.arrays(), [names, skin_names, arrays.weight_names()])
        }
        columns(self) == columns(&other)
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
