//! The camera of a window, which orbits about a target.

use glam::Vec3;
use posse_render::Camera;

/// The largest elevation of the camera in radians, above and below.
const MAX_ELEVATION: f32 = 1.5;
/// The factor of the distance for one step of the wheel.
const ZOOM_FACTOR: f32 = 0.88;

/// A movement of the mouse with a pressed button, in heights of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drag {
    pub right: f32,
    pub down: f32,
}

/// The range of the camera's distance from its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceRange {
    pub nearest: f32,
    pub farthest: f32,
}

impl DistanceRange {
    /// The range for a scene of an extent, with figures of a size.
    pub fn new(extent: Vec3, figure_size: f32) -> Self {
        let nearest = 0.02 * figure_size;
        Self { nearest, farthest: (20.0 * extent.length()).max(100.0 * nearest) }
    }
}

/// Turns a camera about its target. A drag by the height of the window is half a turn. The elevation is clamped.
pub fn turn(camera: &mut Camera, drag: Drag) {
    let half = std::f32::consts::PI;
    camera.azimuth = (camera.azimuth - half * drag.right).rem_euclid(2.0 * half);
    camera.elevation = (camera.elevation + half * drag.down).clamp(-MAX_ELEVATION, MAX_ELEVATION);
}

/// Moves a camera and its target so that the scene at the target follows the mouse.
pub fn pan(camera: &mut Camera, drag: Drag) {
    let [across, up, _] = camera.axes();
    let height = 2.0 * camera.distance * (0.5 * camera.field_of_view).tan();
    let target = camera.target + height * (drag.down * up - drag.right * across);
    if target.is_finite() {
        camera.target = target;
    }
}

/// Moves a camera towards its target by steps of a wheel, or away from it if they are negative. The distance is clamped to a
/// range.
pub fn zoom(camera: &mut Camera, steps: f32, range: DistanceRange) {
    let distance = camera.distance * ZOOM_FACTOR.powf(steps.clamp(-20.0, 20.0));
    camera.distance = distance.clamp(range.nearest, range.farthest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::{FRAC_PI_2, PI};

    const RANGE: DistanceRange = DistanceRange { nearest: 0.1, farthest: 100.0 };

    fn camera() -> Camera {
        Camera { target: Vec3::ZERO, azimuth: 0.0, elevation: 0.0, distance: 10.0, field_of_view: FRAC_PI_2 }
    }

    #[test]
    fn a_drag_to_the_left_moves_the_camera_to_the_right() {
        let mut camera = camera();
        turn(&mut camera, Drag { right: -0.5, down: 0.0 });
        assert!(camera.eye().abs_diff_eq(Vec3::new(10.0, 0.0, 0.0), 1e-4), "{}", camera.eye());
        turn(&mut camera, Drag { right: 0.0, down: 100.0 });
        assert_eq!(camera.elevation, MAX_ELEVATION);
        turn(&mut camera, Drag { right: -1.5, down: 0.0 });
        assert!(camera.azimuth.abs() < 1e-4 || (camera.azimuth - 2.0 * PI).abs() < 1e-4, "{}", camera.azimuth);
    }

    #[test]
    fn the_scene_at_the_target_follows_the_mouse() {
        let mut camera = camera();
        // A field of view of a quarter turn is 20 high at a distance of 10.
        pan(&mut camera, Drag { right: 0.5, down: 0.25 });
        assert!(camera.target.abs_diff_eq(Vec3::new(-10.0, 5.0, 0.0), 1e-4), "{}", camera.target);
        let projected = camera.clip_from_world(1.0).project_point3(Vec3::ZERO);
        assert!((projected.x - 1.0).abs() < 1e-5 && (projected.y + 0.5).abs() < 1e-5, "{projected}");
    }

    #[test]
    fn the_wheel_zooms_in_and_out_within_the_range() {
        let mut camera = camera();
        zoom(&mut camera, 3.0, RANGE);
        assert!((camera.distance - 10.0 * 0.88_f32.powi(3)).abs() < 1e-4);
        zoom(&mut camera, -3.0, RANGE);
        assert!((camera.distance - 10.0).abs() < 1e-4);
        (0..10).for_each(|_| zoom(&mut camera, 1e9, RANGE));
        assert_eq!(camera.distance, 0.1);
        (0..10).for_each(|_| zoom(&mut camera, -1e9, RANGE));
        assert_eq!(camera.distance, 100.0);
    }
}
