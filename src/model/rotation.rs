//! Quaternions of any length, and Euler angles.

use glam::{DQuat, DVec3, DVec4, EulerRot};

/// The largest overshoot of an eased rotation past either end of its arc, in lengths of the arc. Fractions beyond are clamped.
/// No named easing overshoots by more than half an arc.
pub const MOST_ARCS: f64 = 32.0;

/// The largest `1 - cos` of the angle between two quaternions that slerp of unnormalised quaternions interpolates linearly.
pub const LEAST_ARC: f64 = 1e-6;

/// A quaternion normalised to unit length; `None` for zero. It works for every length that an `f64` holds.
///
/// Packing and reference share it, because the direction of a half turn can depend on the last bit.
pub fn unit(quaternion: DQuat) -> Option<DQuat> {
    let numbers = DVec4::from(quaternion);
    let largest = numbers.abs().max_element();
    (largest > 0.0).then(|| DQuat::from_vec4((numbers / largest).normalize()))
}

/// A rotation key for spherical interpolation: as stored if its length is within a tenth of 1, otherwise normalised. `None` for
/// zero.
///
/// glTF requires unit quaternions, and files round them to a few digits or to integers. Appendix C.4 of the specification applies
/// to the stored numbers. Normalising all keys first would turn the result by up to 7e-5 rad in existing files.
pub fn key(quaternion: DQuat) -> Option<DQuat> {
    if (0.9..=1.1).contains(&quaternion.length()) { Some(quaternion) } else { unit(quaternion) }
}

/// The rotation by angles in degrees about x, then z, then y, all axes of the parent (`Quat.fromEuler` of Cocos Creator).
pub fn from_euler_angles(degrees: DVec3) -> DQuat {
    let DVec3 { x, y, z } = degrees.map(f64::to_radians);
    DQuat::from_euler(EulerRot::YZX, y, z, x)
}

/// The angles in degrees that give a rotation, with z from -90 to 90. The quaternion may have any length; zero counts as the
/// identity.
pub fn to_euler_angles(rotation: DQuat) -> DVec3 {
    let (y, z, x) = unit(rotation).unwrap_or(DQuat::IDENTITY).to_euler(EulerRot::YZX);
    DVec3::new(x, y, z).map(f64::to_degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn euler_angles_turn_about_x_then_z_then_y() {
        let turned = from_euler_angles(DVec3::new(90.0, 90.0, 0.0)) * DVec3::Y;
        // About x, y goes to z, and about y, z goes to x.
        assert!((turned - DVec3::X).length() < 1e-15, "{turned}");
        let turned = from_euler_angles(DVec3::new(0.0, 90.0, 90.0)) * DVec3::X;
        // About z, x goes to y, which a turn about y does not change.
        assert!((turned - DVec3::Y).length() < 1e-15, "{turned}");
        for angles in [DVec3::new(10.0, -170.0, 80.0), DVec3::new(-120.0, 30.0, -45.0), DVec3::new(20.0, 50.0, 90.0)] {
            let rotation = from_euler_angles(angles);
            let again = from_euler_angles(to_euler_angles(rotation * 3.0));
            assert!(rotation.dot(again).abs() > 1.0 - 1e-12, "{angles}");
        }
    }
}
