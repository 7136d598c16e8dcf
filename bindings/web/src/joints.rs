//! Joints: their list, the search by name, their poses, and the skeleton of a clip without a rig.

use std::collections::HashMap;

use js_sys::{Float32Array, Object, Reflect};
use posse::glam::{DAffine3, DMat4};
use posse::{Joint, Pose, Skeleton, Transform, UnboundClip};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::js::Result;

/// The most names that an error lists.
const LISTED: usize = 5;

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

/// The joint of a name, or of the node `#INDEX`.
pub fn find(skeleton: &Skeleton, nodes: &[usize], name: &str) -> Result<usize> {
    if let Some(joint) = skeleton.find_joint(name) {
        return Ok(joint);
    }
    if let Some(index) = name.strip_prefix('#').and_then(|index| index.parse::<usize>().ok()) {
        let count = nodes.len();
        let missing = || JsError::new(&format!("there is no node {index}: the file has {count}, from #0 on"));
        return nodes.get(index).copied().ok_or_else(missing);
    }
    let mut near: Vec<(usize, &str)> = skeleton
        .joints()
        .iter()
        .filter_map(|joint| Some((distance(name, joint.name.as_deref()?), joint.name.as_deref()?)))
        .collect();
    near.sort();
    let near: Vec<String> = near.iter().take(LISTED).map(|(_, name)| format!("{name:?}")).collect();
    let hint = if near.is_empty() {
        "the joints have no names; give #INDEX of the node".to_owned()
    } else {
        format!("the nearest names are {}; #INDEX selects a node by its number", near.join(", "))
    };
    Err(JsError::new(&format!("there is no joint {name:?}: {hint}")))
}

/// The number of letters to insert, remove or replace between two names, without regard to case.
fn distance(a: &str, b: &str) -> usize {
    let [a, b]: [Vec<char>; 2] = [a, b].map(|text| text.to_lowercase().chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
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
    let set = |name: &str, numbers: Vec<f32>| {
        // A new object takes any member.
        let _ = Reflect::set(&object, &name.into(), &Float32Array::from(&numbers[..]));
    };
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

/// A matrix as 16 numbers, column-major.
pub fn columns(matrix: &DAffine3) -> [f32; 16] {
    DMat4::from(*matrix).as_mat4().to_cols_array()
}
