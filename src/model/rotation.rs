//! Quaternions of any length.

use glam::{DQuat, DVec4};

/// A quaternion at unit length; `None` for zero. No length is too small or too large.
///
/// Packing and reference share it: which way a half turn goes can hang on the last bit.
pub fn unit(quaternion: DQuat) -> Option<DQuat> {
    let numbers = DVec4::from(quaternion);
    let largest = numbers.abs().max_element();
    (largest > 0.0).then(|| DQuat::from_vec4((numbers / largest).normalize()))
}
