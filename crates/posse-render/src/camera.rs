//! The camera of a view.

use glam::{Mat4, Vec3, Vec4};

/// A camera that orbits a target, without roll: +Y is up in its pictures.
///
/// # Examples
/// ```
/// use posse_render::Camera;
///
/// let camera = Camera { azimuth: 0.0, elevation: 0.0, distance: 5.0, ..Camera::default() };
/// assert!((camera.eye() - glam::Vec3::new(0.0, 0.0, 5.0)).length() < 1e-6);
/// // The target is in the middle of the picture.
/// let clip = camera.clip_from_world(16.0 / 9.0) * camera.target.extend(1.0);
/// assert!((clip.x / clip.w).abs() < 1e-6 && (clip.y / clip.w).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// The point in the middle of the picture.
    pub target: Vec3,
    /// The angle about +Y around the target, in radians. At 0 the camera is on the +Z side, at a quarter turn on the +X
    /// side.
    pub azimuth: f32,
    /// The angle above the target, in radians. It is clamped to ±1.55, a little less than a quarter turn.
    pub elevation: f32,
    /// The distance from the target, more than 0.
    pub distance: f32,
    /// The vertical field of view, in radians.
    pub field_of_view: f32,
}

impl Camera {
    /// The default field of view, in radians.
    pub const FIELD_OF_VIEW: f32 = 0.6;
    /// The distance of the near plane, as a fraction of the distance to the target.
    const NEAR: f32 = 0.01;
    /// The largest elevation, in radians. At a quarter turn, no direction of the picture would be up.
    const STEEPEST: f32 = 1.55;

    /// The position of the camera.
    pub fn eye(&self) -> Vec3 {
        self.target + self.distance * self.back()
    }

    /// The unit vectors to the right, up, and back (from the target to the eye).
    pub fn axes(&self) -> [Vec3; 3] {
        let back = self.back();
        let right = Vec3::new(self.azimuth.cos(), 0.0, -self.azimuth.sin());
        [right, back.cross(right), back]
    }

    fn back(&self) -> Vec3 {
        let elevation = self.elevation.clamp(-Self::STEEPEST, Self::STEEPEST);
        let (sin, cos) = self.azimuth.sin_cos();
        Vec3::new(elevation.cos() * sin, elevation.sin(), elevation.cos() * cos)
    }

    /// Half the width and half the height of the picture at distance 1, for an aspect ratio (width / height).
    pub fn halves(&self, aspect: f32) -> [f32; 2] {
        let half = (0.5 * self.field_of_view).tan();
        [aspect * half, half]
    }

    /// The matrix from the world to clip space, for an aspect ratio (width / height). Depth is 1 at the near plane and
    /// 0 at infinity.
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        let [right, up, back] = self.axes();
        let eye = self.eye();
        let view_from_world = Mat4::from_cols(
            Vec4::new(right.x, up.x, back.x, 0.0),
            Vec4::new(right.y, up.y, back.y, 0.0),
            Vec4::new(right.z, up.z, back.z, 0.0),
            Vec4::new(-right.dot(eye), -up.dot(eye), -back.dot(eye), 1.0),
        );
        let [across, upwards] = self.halves(aspect);
        let clip_from_view = Mat4::from_cols(
            Vec4::new(across.recip(), 0.0, 0.0, 0.0),
            Vec4::new(0.0, upwards.recip(), 0.0, 0.0),
            Vec4::new(0.0, 0.0, 0.0, -1.0),
            Vec4::new(0.0, 0.0, Self::NEAR * self.distance, 0.0),
        );
        clip_from_view * view_from_world
    }

    /// The camera moved so that points fill the picture, for an aspect ratio (width / height). `margin` is the fraction
    /// of the picture that stays free on each side. The angles stay; without points, so does the position.
    pub fn fitted(mut self, points: &[Vec3], aspect: f32, margin: f32) -> Self {
        if points.is_empty() {
            return self;
        }
        let [right, up, back] = self.axes();
        let halves = self.halves(aspect).map(|half| half * (1.0 - 2.0 * margin));
        let sum: Vec3 = points.iter().sum();
        self.target = sum / points.len() as f32;
        // The middle of the picture depends on the distance, and the distance on the middle: a few iterations settle
        // both.
        for _ in 0..8 {
            let to_camera_axes = |point: &Vec3| {
                let offset = *point - self.target;
                [offset.dot(right), offset.dot(up), offset.dot(back)]
            };
            let needed_distance = |point: &Vec3| {
                let [x, y, z] = to_camera_axes(point);
                z + (x.abs() / halves[0]).max(y.abs() / halves[1])
            };
            self.distance = points.iter().map(needed_distance).fold(0.0, f32::max).max(1e-6);
            let mut edges = [[f32::INFINITY; 2], [f32::NEG_INFINITY; 2]];
            for point in points {
                let [x, y, z] = to_camera_axes(point);
                let depth = (self.distance - z).max(1e-3 * self.distance);
                for (axis, value) in [x / depth, y / depth].into_iter().enumerate() {
                    edges[0][axis] = edges[0][axis].min(value);
                    edges[1][axis] = edges[1][axis].max(value);
                }
            }
            let middle = [0, 1].map(|axis| 0.5 * (edges[0][axis] + edges[1][axis]));
            self.target += self.distance * (middle[0] * right + middle[1] * up);
        }
        self
    }
}

impl Default for Camera {
    /// A camera in front of the origin, a little to the side and above, at distance 1.
    fn default() -> Self {
        let field_of_view = Self::FIELD_OF_VIEW;
        Self { target: Vec3::ZERO, azimuth: 0.55, elevation: 0.22, distance: 1.0, field_of_view }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_in_the_middle_and_the_edges_are_the_field_of_view() {
        let camera = Camera { target: Vec3::new(1.0, 2.0, 3.0), distance: 10.0, ..Camera::default() };
        let project = |point: Vec3| {
            let clip = camera.clip_from_world(2.0) * point.extend(1.0);
            (clip / clip.w).truncate()
        };
        assert!(project(camera.target).truncate().length() < 1e-6);
        let [right, up, back] = camera.axes();
        // The upper edge of the picture: the tangent of half the field of view, at distance 10.
        let half = 10.0 * 0.3_f32.tan();
        assert!((project(camera.target + half * up).y - 1.0).abs() < 1e-5);
        assert!((project(camera.target + 2.0 * half * right).x - 1.0).abs() < 1e-5);
        // Reversed depth: at 1 % of the distance from the eye it is 1, at the target 0.01.
        assert!((project(camera.target + 9.9 * back).z - 1.0).abs() < 1e-4);
        assert!((project(camera.target).z - 0.01).abs() < 1e-6);
    }

    #[test]
    fn at_azimuth_0_it_looks_from_the_front_and_at_a_quarter_turn_from_plus_x() {
        let eye_at = |azimuth| Camera { azimuth, elevation: 0.0, distance: 2.0, ..Camera::default() }.eye();
        assert!(eye_at(0.0).abs_diff_eq(Vec3::new(0.0, 0.0, 2.0), 1e-6));
        assert!(eye_at(std::f32::consts::FRAC_PI_2).abs_diff_eq(Vec3::new(2.0, 0.0, 0.0), 1e-6));
    }

    #[test]
    fn fitted_points_touch_the_margin_and_none_lies_beyond() {
        let points = [0, 1, 2, 3, 4, 5, 6, 7].map(|corner| {
            Vec3::new((corner & 1) as f32 * 4.0, (corner >> 1 & 1) as f32 * 1.5, (corner >> 2) as f32 * 9.0)
        });
        let camera = Camera::default().fitted(&points, 1.5, 0.05);
        let clip_from_world = camera.clip_from_world(1.5);
        let mut largest = 0.0_f32;
        for point in points {
            let clip = clip_from_world * point.extend(1.0);
            largest = largest.max((clip.x / clip.w).abs()).max((clip.y / clip.w).abs());
        }
        assert!((largest - 0.9).abs() < 0.01, "{largest}");
    }
}
