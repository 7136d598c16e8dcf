//! Documents of skeletons, for skeletons that come from no glTF file.

use std::path::PathBuf;

use glam::{DAffine3, DMat4};
use serde_json::{Map, Value, json};

use super::Document;
use crate::error::Error;
use crate::model::{Joint, Library, SkeletonId, no_such};
use crate::retarget::key_budget::KeyBudget;

impl Document {
    /// A document of the nodes and skins of a skeleton, with a node per joint, in their order.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton.
    pub fn of_skeleton(library: &Library, id: SkeletonId) -> Result<Self, Error> {
        let Some(skeleton) = library.skeletons().get(id.index()) else {
            return Err(Error::Usage(no_such("skeleton", id.index(), "library", library.skeletons().len())));
        };
        let joints = skeleton.joints();
        let mut nodes: Vec<Map<String, Value>> = joints.iter().map(node).collect();
        let mut roots = Vec::new();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); joints.len()];
        for (index, joint) in joints.iter().enumerate() {
            joint.parent.map_or(&mut roots, |parent| &mut children[parent]).push(index);
        }
        for (node, children) in nodes.iter_mut().zip(children).filter(|(_, children)| !children.is_empty()) {
            node.insert("children".into(), children.into());
        }
        let mut json = Map::new();
        let generator = concat!("posse ", env!("CARGO_PKG_VERSION"));
        json.insert("asset".into(), json!({ "version": "2.0", "generator": generator }));
        if !nodes.is_empty() {
            json.insert("scene".into(), 0.into());
            json.insert("scenes".into(), json!([{ "nodes": roots }]));
            json.insert("nodes".into(), nodes.into());
        }
        let mut document = Self {
            name: PathBuf::from(skeleton.name().unwrap_or("skeleton")),
            json,
            bin: Vec::new(),
            nodes: (0..joints.len()).collect(),
            free_accessors: Vec::new(),
            free_views: Vec::new(),
            budget: KeyBudget::new(),
            warnings: Vec::new(),
        };
        for (_, skin) in library.skins_of(id).filter(|(_, skin)| !skin.joints.is_empty()) {
            let bytes: Vec<u8> = skin.inverse_bind.iter().flat_map(|&matrix| column_bytes(matrix)).collect();
            let view = document.add_view(&bytes);
            let accessor = json!({
                "bufferView": view, "componentType": 5126, "count": skin.joints.len(), "type": "MAT4",
            });
            let accessor = document.add_accessor(accessor);
            let mut entry = json!({ "inverseBindMatrices": accessor, "joints": skin.joints });
            if let Some(name) = &skin.name {
                entry["name"] = name.as_str().into();
            }
            document.array("skins").push(entry);
        }
        Ok(document)
    }
}

fn node(joint: &Joint) -> Map<String, Value> {
    let mut node = Map::new();
    if let Some(name) = &joint.name {
        node.insert("name".into(), name.as_str().into());
    }
    if let Some(matrix) = joint.matrix {
        node.insert("matrix".into(), json!(DMat4::from(matrix).to_cols_array()));
        return node;
    }
    node.insert("translation".into(), json!(joint.rest.translation.to_array()));
    node.insert("rotation".into(), json!(joint.rest.rotation.normalize().to_array()));
    node.insert("scale".into(), json!(joint.rest.scale.to_array()));
    node
}

fn column_bytes(matrix: DAffine3) -> Vec<u8> {
    DMat4::from(matrix).as_mat4().to_cols_array().into_iter().flat_map(f32::to_le_bytes).collect()
}
