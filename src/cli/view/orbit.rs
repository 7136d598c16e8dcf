//! How a mouse moves the camera.

use glam::Vec3;
use posse::render::Camera;

/// How steep the camera can look, in radians.
const STEEPEST: f32 = 1.5;
/// How much nearer a step of the wheel brings it.
const NEARER: f32 = 0.88;

/// Turns a camera about its target by a drag: to the right and down, in heights of the window. A whole height is half a turn.
pub fn turn(camera: &mut Camera, [right, down]: [f32; 2]) {
    let half = std::f32::consts::PI;
    camera.azimuth = (camera.azimuth - half * right).rem_euclid(2.0 * half);
    camera.elevation = (camera.elevation + half * down).clamp(-STEEPEST, STEEPEST);
}

/// Moves a camera with its target by a drag, so that what is at the target stays under the mouse.
pub fn pan(camera: &mut Camera, [right, down]: [f32; 2]) {
    let [across, up, _] = camera.axes();
    let height = 2.0 * camera.distance * (0.5 * camera.field_of_view).tan();
    let target = camera.target + height * (down * up - right * across);
    if target.is_finite() {
        camera.target = target;
    }
}

/// Brings a camera nearer by steps of a wheel, or away; within a range of distances.
pub fn zoom(camera: &mut Camera, steps: f32, [near, far]: [f32; 2]) {
    camera.distance = (camera.distance * NEARER.powf(steps.clamp(-20.0, 20.0))).clamp(near, far);
}

/// The range of distances that makes sense for what is so far from corner to corner, with figures of a size.
pub fn distances(extent: Vec3, figure_size: f32) -> [f32; 2] {
    let near = 0.02 * figure_size;
    [near, (20.0 * extent.length()).max(100.0 * near)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::{FRAC_PI_2, PI};

    fn camera() -> Camera {
        Camera { target: Vec3::ZERO, azimuth: 0.0, elevation: 0.0, distance: 10.0, field_of_view: FRAC_PI_2 }
    }

    #[test]
    fn a_drag_to_the_left_goes_around_to_the_right() {
        let mut camera = camera();
        turn(&mut camera, [-0.5, 0.0]);
        assert!(camera.eye().abs_diff_eq(Vec3::new(10.0, 0.0, 0.0), 1e-4), "{}", camera.eye());
        turn(&mut camera, [0.0, 100.0]);
        assert_eq!(camera.elevation, STEEPEST);
        turn(&mut camera, [-1.5, 0.0]);
        assert!(camera.azimuth.abs() < 1e-4 || (camera.azimuth - 2.0 * PI).abs() < 1e-4, "{}", camera.azimuth);
    }

    #[test]
    fn what_is_at_the_target_stays_under_the_mouse() {
        let mut camera = camera();
        // A field of view of a quarter turn is 20 high at a distance of 10.
        pan(&mut camera, [0.5, 0.25]);
        assert!(camera.target.abs_diff_eq(Vec3::new(-10.0, 5.0, 0.0), 1e-4), "{}", camera.target);
        let seen = camera.clip_from_world(1.0).project_point3(Vec3::ZERO);
        assert!((seen.x - 1.0).abs() < 1e-5 && (seen.y + 0.5).abs() < 1e-5, "{seen}");
    }

    #[test]
    fn the_wheel_goes_there_and_back_and_no_further_than_it_may() {
        let mut camera = camera();
        zoom(&mut camera, 3.0, [0.1, 100.0]);
        assert!((camera.distance - 10.0 * 0.88_f32.powi(3)).abs() < 1e-4);
        zoom(&mut camera, -3.0, [0.1, 100.0]);
        assert!((camera.distance - 10.0).abs() < 1e-4);
        (0..10).for_each(|_| zoom(&mut camera, 1e9, [0.1, 100.0]));
        assert_eq!(camera.distance, 0.1);
        (0..10).for_each(|_| zoom(&mut camera, -1e9, [0.1, 100.0]));
        assert_eq!(camera.distance, 100.0);
    }
}
