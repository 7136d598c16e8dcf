//! Stage 8: from model matrices to skin matrices.

use glam::DAffine3;

use crate::model::Skin;

/// The skin matrix of each joint of a skin: its model matrix times its inverse bind matrix (glTF 2.0, section 3.7.3).
pub fn matrices(skin: &Skin, model: &[DAffine3]) -> Vec<DAffine3> {
    skin.joints.iter().zip(&skin.inverse_bind).map(|(&joint, inverse_bind)| model[joint] * *inverse_bind).collect()
}
