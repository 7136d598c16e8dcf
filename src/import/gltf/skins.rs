//! Skins (glTF 2.0, section 3.7.3).

use glam::DAffine3;

use super::accessor::Integers;
use super::document::Skin as FileSkin;
use super::nodes::affine;
use super::reader::Reader;
use crate::import::{Fault, JsonPath};
use crate::model::{SkeletonId, Skin};

/// Reads a skin. `joints` holds the joint of each node.
pub(super) fn read(index: usize, reader: &mut Reader, joints: &[usize], skeleton: SkeletonId) -> Result<Skin, Fault> {
    let document = reader.document;
    let Some(skin) = document.skins.get(index) else {
        return Err(Fault::index("skins", index, "skins", document.skins.len()));
    };
    let mut skin_joints = Vec::with_capacity(skin.joints.len());
    for (position, &node) in skin.joints.iter().enumerate() {
        let joint = joints.get(node).ok_or_else(|| {
            Fault::index(JsonPath::top("skins", index).element("joints", position), node, "nodes", joints.len())
        })?;
        skin_joints.push(*joint);
    }
    let inverse_bind = inverse_bind(index, skin, reader)?;
    Ok(Skin { name: skin.name.as_deref().map(str::to_owned), skeleton, joints: skin_joints, inverse_bind })
}

fn inverse_bind(index: usize, skin: &FileSkin, reader: &mut Reader) -> Result<Vec<DAffine3>, Fault> {
    let count = skin.joints.len();
    let Some(accessor) = skin.inverse_bind_matrices else { return Ok(vec![DAffine3::IDENTITY; count]) };
    let skin_path = JsonPath::top("skins", index);
    let path = skin_path.field("inverseBindMatrices");
    let layout = reader.layout(accessor, &path)?;
    if layout.width != 16 || !layout.is_float() {
        return Err(Fault::new(path, format!("accessor {accessor} has to hold MAT4 floats")));
    }
    if layout.count < count as u64 {
        return Err(Fault::new(path, format!("there are {} matrices, but {count} joints", layout.count)));
    }
    let numbers: Vec<f64> = reader.read(accessor, count as u64, Integers::AsDeclared, &path)?;
    let mut matrices = Vec::with_capacity(count);
    for (element, matrix) in numbers.as_chunks::<16>().0.iter().enumerate() {
        matrices.push(affine(matrix, &format_args!("accessors[{accessor}], element {element}"), reader));
    }
    Ok(matrices)
}
