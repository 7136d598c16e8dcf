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

/// A key of a rotation as spherical interpolation takes it: as it is stored, where it is of unit length up to the rounding
/// of a file, and normalised where its length is off by more than a tenth.
///
/// glTF asks for unit quaternions, and files round them to a few digits or to integers. Appendix C.4 of the specification
/// then applies to what is stored; normalising first would turn the result by up to 7e-5 rad in files that exist.
pub fn key(quaternion: DQuat) -> Option<DQuat> {
    if (0.9..=1.1).contains(&quaternion.length()) { Some(quaternion) } else { unit(quaternion) }
}
