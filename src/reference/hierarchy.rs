//! Stage 7: from local transforms to model matrices.

use glam::DAffine3;

use crate::model::{Skeleton, Transform};

/// The model matrix of each joint: the model matrix of its parent times its local matrix (glTF 2.0, section 3.5.3).
pub fn model(skeleton: &Skeleton, local: &[Transform]) -> Vec<DAffine3> {
    let mut model: Vec<DAffine3> = Vec::with_capacity(local.len());
    for (joint, transform) in skeleton.joints().iter().zip(local) {
        let matrix = joint.matrix.unwrap_or_else(|| transform.to_affine());
        model.push(joint.parent.map_or(matrix, |parent| model[parent] * matrix));
    }
    model
}
