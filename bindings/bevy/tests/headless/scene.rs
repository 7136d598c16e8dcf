//! The scene of most tests: placements of instances, their layers, and the camera.

use glam::{Affine3A, Mat4, Quat, Vec3, Vec4};
use posse::{Crowd, Error, Layer, LayerMode, LayerTime, Library, Mask, Playback, Skeleton, Ticks, WrapMode, demo};

/// A crowd of the built-in rig on the ground, and a camera.
pub struct Scene {
    /// The built-in rig and its clips.
    pub library: Library,
    /// The instances and their layers.
    pub crowd: Crowd,
    /// One placement per instance, in the order of the crowd.
    pub placements: Vec<Placement>,
    /// The camera.
    pub camera: Camera,
}

/// The placement of an instance.
#[derive(Debug, Clone, Copy)]
pub struct Placement {
    /// The position in metres.
    pub position: [f32; 3],
    /// The rotation about +Y from +Z, in radians.
    pub heading: f32,
}

/// A perspective camera without roll.
#[derive(Debug, Clone, Copy)]
pub struct Camera {
    /// The position in metres.
    pub eye: Vec3,
    /// The point in the middle of the picture.
    pub target: Vec3,
    /// The vertical field of view, in radians.
    pub field_of_view: f32,
    /// The width and height of the picture, in pixels.
    pub size: [u32; 2],
}

impl Camera {
    /// The distance of the near plane, in metres.
    pub const NEAR: f32 = 0.1;

    /// The matrix from the world to clip space. Depth is 1 at the near plane and 0 at infinity, as in Bevy.
    pub fn clip_from_world(&self) -> Mat4 {
        let back = (self.eye - self.target).normalize();
        let right = Vec3::Y.cross(back).normalize();
        let up = back.cross(right);
        let view_from_world = Mat4::from_cols(
            Vec4::new(right.x, up.x, back.x, 0.0),
            Vec4::new(right.y, up.y, back.y, 0.0),
            Vec4::new(right.z, up.z, back.z, 0.0),
            Vec4::new(-right.dot(self.eye), -up.dot(self.eye), -back.dot(self.eye), 1.0),
        );
        let [width, height] = self.size.map(|size| size as f32);
        let scale = (0.5 * self.field_of_view).tan().recip();
        let clip_from_view = Mat4::from_cols(
            Vec4::new(scale * height / width, 0.0, 0.0, 0.0),
            Vec4::new(0.0, scale, 0.0, 0.0),
            Vec4::new(0.0, 0.0, 0.0, -1.0),
            Vec4::new(0.0, 0.0, Self::NEAR, 0.0),
        );
        clip_from_view * view_from_world
    }
}

impl Placement {
    /// The transform from the space of the instance to the world.
    pub fn to_world(self) -> Affine3A {
        Affine3A::from_rotation_translation(Quat::from_rotation_y(self.heading), self.position.into())
    }
}

impl Scene {
    /// 24 instances, so far apart and seen from so high that no instance hides another, for a picture to check.
    ///
    /// # Errors
    /// The errors of the library.
    pub fn apart() -> Result<Self, Error> {
        let mut scene = Self::empty(Camera {
            eye: Vec3::new(0.0, 17.0, 15.0),
            target: Vec3::new(0.0, 0.5, 0.0),
            field_of_view: 0.62,
            size: [960, 720],
        })?;
        for instance in 0..24 {
            let (row, column) = (instance / 6, instance % 6);
            let position = [2.6 * (column as f32 - 2.5), 0.0, 3.2 * (row as f32 - 1.5)];
            scene.push(position, 0.7 * instance as f32, instance % 3 == 1)?;
        }
        Ok(scene)
    }

    /// The skeleton of all instances.
    pub fn skeleton(&self) -> &Skeleton {
        &self.library.skeletons()[0]
    }

    fn empty(camera: Camera) -> Result<Self, Error> {
        let mut library = demo::library()?;
        let skeleton = library.skeleton_ids().next().ok_or_else(|| Error::Usage("the demo has a skeleton".into()))?;
        let arm = [("upper_arm.R", 1.0)];
        let (mask, _) = Mask::named(Some("arm".into()), library.skeletons(), skeleton, &arm, true)?;
        library.add_mask(mask)?;
        Ok(Self { library, crowd: Crowd::new(), placements: Vec::new(), camera })
    }

    /// Adds an instance that blends a walk and a run, and may wave.
    fn push(&mut self, position: [f32; 3], heading: f32, waves: bool) -> Result<(), Error> {
        let instance = self.crowd.len();
        let effort = f64::from(spread(instance, 0.430_16));
        // Walk and run have the same cadence, so that both put the same foot down.
        let cycle = 1.05 - 0.35 * effort;
        let start = Ticks::from_seconds(-cycle * f64::from(spread(instance, 0.819_173)));
        let layer = |clip: &str, weight: f64| {
            let clip =
                self.library.find_clip(clip).ok_or_else(|| Error::Usage(format!("the demo has a clip {clip}")))?;
            let rate = self.library.clip(clip).duration() / cycle;
            Ok(Layer { weight, ..Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start, rate))) })
        };
        let mut layers = vec![layer("walk", 1.0 - effort)?, layer("run", effort)?];
        if waves {
            let wave = layer("wave", 1.0)?;
            let time = LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0));
            layers.push(Layer { time, mode: LayerMode::Override, mask: self.library.mask_ids().next(), ..wave });
        }
        let skeleton = self.library.clip(layers[0].clip).skeleton;
        self.crowd.push(skeleton, &layers)?;
        self.placements.push(Placement { position, heading });
        Ok(())
    }
}

/// A number from 0 to 1 for each index. The numbers are evenly distributed.
fn spread(index: usize, ratio: f64) -> f32 {
    ((index + 1) as f64 * ratio).fract() as f32
}
