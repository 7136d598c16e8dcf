//! Joints: their list, their poses, and the skeleton of a clip without a rig.

use std::collections::HashMap;

use js_sys::{Float32Array, Object};
use posse::binding::UnboundClip;
use posse::glam::{DAffine3, DMat4};
use posse::{Joint, Pose, Skeleton, Transform};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::js::{self, Result};

/// A joint for JavaScript.
#[derive(Serialize)]
pub struct JointInfo<'a> {
    name: Option<&'a str>,
    parent: Option<usize>,
    /// The index of the node in the file.
    node: usize,
}

/// The joints of a skeleton. `nodes` has the joint of each node.
pub fn list<'a>(skeleton: &'a Skeleton, nodes: &[usize]) -> Vec<JointInfo<'a>> {
    let mut node_of: Vec<usize> = (0..skeleton.joints().len()).collect();
    for (node, &joint) in nodes.iter().enumerate() {
        if let Some(entry) = node_of.get_mut(joint) {
            *entry = node;
        }
    }
    let info =
        |(joint, node): (&'a Joint, usize)| JointInfo { name: joint.name.as_deref(), parent: joint.parent, node };
    skeleton.joints().iter().zip(node_of).map(info).collect()
}

/// A skeleton of the nodes that a clip names, for a clip without a rig. All stand at the origin until the clip moves
/// them.
pub fn of_targets(clip: &UnboundClip) -> Result<Skeleton> {
    let mut joints = vec![Joint::default()];
    let mut known: HashMap<Vec<String>, usize> = HashMap::from([(Vec::new(), 0)]);
    for track in &clip.tracks {
        let path = &track.target.path;
        for length in 1..=path.len() {
            let parent = known.get(&path[..length - 1]).copied();
            if !known.contains_key(&path[..length]) {
                known.insert(path[..length].to_vec(), joints.len());
                joints.push(Joint { name: path.get(length - 1).cloned(), parent, ..Joint::default() });
            }
        }
    }
    Ok(Skeleton::new(clip.name.clone(), joints, Vec::new())?)
}

/// A pose as an object of arrays of 32-bit floats.
pub fn pose(pose: &Pose) -> Result<JsValue> {
    let object = Object::new();
    let set = |name: &str, numbers: Vec<f32>| js::set(&object, name, &Float32Array::from(&numbers[..]));
    let parts =
        |part: fn(&Transform) -> Vec<f64>| pose.local.iter().flat_map(part).map(|number| number as f32).collect();
    set("translations", parts(|local| local.translation.to_array().into()));
    set("rotations", parts(|local| local.rotation.to_array().into()));
    set("scales", parts(|local| local.scale.to_array().into()));
    set("model", pose.model.iter().flat_map(columns).collect());
    set("skin", pose.skins.iter().flatten().flat_map(columns).collect());
    set("weights", pose.weights.iter().map(|&number| number as f32).collect());
    set("properties", pose.properties.iter().map(|&number| number as f32).collect());
    Ok(object.into())
}

/// The joint of each instance, below its count: a list of as many, or one number for all.
pub fn of_instances(instances: &[usize], joints: &JsValue, count: impl Fn(usize) -> usize) -> Result<Vec<usize>> {
    let check = |(&instance, number): (&usize, f64)| js::index("joint", number, count(instance));
    if let Some(joint) = joints.as_f64() {
        return instances.iter().zip(std::iter::repeat(joint)).map(check).collect();
    }
    let numbers = js::numbers("joints", joints)?;
    if numbers.len() != instances.len() {
        let (found, expected) = (numbers.len(), instances.len());
        return Err(JsError::new(&format!(
            "joints: found {found} numbers, expected one for each of {expected} instances"
        )));
    }
    instances.iter().zip(numbers).map(check).collect()
}

/// The numbers of an affine matrix in the outputs: three rows of four.
pub const ROWS: usize = 12;

/// The rows of an affine matrix in the outputs as 16 numbers, column-major.
pub fn columns_of_rows(rows: &[f32]) -> [f32; 16] {
    let number = |row: usize, column: usize| rows.get(4 * row + column).copied().unwrap_or_default();
    std::array::from_fn(|at| match (at % 4, at / 4) {
        (3, column) => f32::from(u8::from(column == 3)),
        (row, column) => number(row, column),
    })
}

/// A matrix as 16 numbers, column-major.
pub fn columns(matrix: &DAffine3) -> [f32; 16] {
    DMat4::from(*matrix).as_mat4().to_cols_array()
}
