//! Humanoid bones of VRM 1.0: those of a model (`VRMC_vrm`), and those of an animation (`VRMC_vrm_animation`).
//!
//! Sources: <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/humanoid.md> and
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm_animation-1.0/README.md>. Both have an object
//! `humanoid.humanBones` of roles, each with the index of its `node`.

use std::collections::HashSet;

use serde_json::Value;

use super::reader::Reader;
use crate::import::JsonPath;
use crate::model::HumanBone;

/// The humanoid bones of a document. `joints` has the joint of each node. A fault is a warning.
pub(super) fn read(reader: &mut Reader, joints: &[usize]) -> Vec<HumanBone> {
    let Some(extensions) = &reader.document.extensions else { return Vec::new() };
    let both = [(&extensions.vrm, "VRMC_vrm"), (&extensions.vrm_animation, "VRMC_vrm_animation")];
    let (mut bones, mut nodes, mut roles) = (Vec::new(), HashSet::new(), HashSet::new());
    for (extension, name) in both {
        let found =
            extension.as_ref().and_then(|value| value.pointer("/humanoid/humanBones")).and_then(Value::as_object);
        for (role, bone) in found.into_iter().flatten() {
            let node = bone.get("node").and_then(Value::as_u64).and_then(|node| usize::try_from(node).ok());
            let joint = node.and_then(|node| joints.get(node).copied());
            let fault = match joint {
                None => {
                    format!("it is {bone}; expected the index of one of {} nodes; the bone is ignored", joints.len())
                }
                Some(joint) if !nodes.insert(joint) || !roles.insert(role) => {
                    "its role or its node occurs before, too; the bone is ignored".into()
                }
                Some(joint) => {
                    bones.push(HumanBone { role: role.clone(), joint });
                    continue;
                }
            };
            let root = JsonPath::ROOT;
            let extensions = root.field("extensions");
            let path = extensions.field(name);
            let path = path.field("humanoid");
            let path = path.field("humanBones");
            reader.warn(path.field(role), fault);
        }
    }
    bones
}
