//! The view of a scene: camera, light, ground and sky.

use glam::{Mat4, Vec3};

use crate::image::linear;
use crate::record::ViewRecord;
use crate::{Bounds, Camera, Target};

/// The view of a scene: a camera, the surroundings, and the bones.
///
/// # Examples
/// ```
/// use posse_render::{Background, Bones, Bounds, Camera, Stage, View};
///
/// let bounds = Bounds { low: [-1.0, 0.0, -1.0].into(), high: [1.0, 1.8, 1.0].into() };
/// let stage = Stage { background: Background::Colour([40, 44, 52]), ..Stage::new(bounds, 1.8) };
/// let camera = Camera::default().fitted(&bounds.corners(), 16.0 / 9.0, 0.05);
/// let view = View { camera, stage, bones: Bones::Hidden };
/// assert_eq!(view.stage.bounds, bounds);
/// assert!(view.camera.distance > 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The camera.
    pub camera: Camera,
    /// The ground, the sky and the sun around the scene.
    pub stage: Stage,
    /// The drawing of bones.
    pub bones: Bones,
}

/// The drawing of the bones of skeletons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bones {
    /// Bones are not drawn.
    #[default]
    Hidden,
    /// Bones are drawn like meshes, and meshes can hide them.
    Solid,
    /// Bones are drawn in front of everything else.
    Over,
}

/// The ground, the sky and the sun, sized for a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// A box around everything that is drawn, at all times that are drawn. The ground is its lower side.
    pub bounds: Bounds,
    /// The size of a figure, in world units, more than 0. It scales the softness of shadows, the grid of the ground,
    /// and bones.
    pub figure_size: f32,
    /// The background.
    pub background: Background,
    /// The direction to the sun, of length 1.
    pub sun: Vec3,
}

/// The background of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// The sky of a bright day.
    #[default]
    Sky,
    /// One colour for the background and the ground: red, green and blue in sRGB.
    Colour([u8; 3]),
    /// No background: pictures have an alpha channel, and the ground shows only its shadows.
    Transparent,
}

impl Stage {
    /// A stage for a scene of these bounds with figures of this size. A size that is not finite and positive becomes 1;
    /// empty bounds become a cube of that size.
    pub fn new(bounds: Bounds, figure_size: f32) -> Self {
        let figure_size = if figure_size.is_finite() && figure_size > 0.0 { figure_size } else { 1.0 };
        let sun = Vec3::new(-0.32, 0.78, 0.54).normalize();
        Self { bounds: bounds.with_volume_or(figure_size), figure_size, background: Background::default(), sun }
    }

    /// The distance from the centre of the bounds to a corner.
    fn radius(&self) -> f32 {
        0.5 * self.bounds.size().length()
    }

    /// The matrix from the world to the shadow map, and the width of the shadow map in world units.
    pub(super) fn shadow_from_world(&self) -> (Mat4, f32) {
        let back = self.sun.normalize_or(Vec3::Y);
        let right = back.any_orthonormal_vector();
        let up = back.cross(right);
        let rows = [right, up, back];
        let mut within = Bounds::EMPTY;
        for corner in self.bounds.corners() {
            within.add(Vec3::from(rows.map(|row| row.dot(corner))));
        }
        // A square, so that a penumbra is as wide as it is high, with a margin at the edges.
        let size = within.size();
        let width = 1.06 * size.x.max(size.y) + 1e-6 * self.figure_size;
        let deep = 1.06 * size.z + 1e-6 * self.figure_size;
        let middle = within.middle();
        let scale = Vec3::new(2.0 / width, 2.0 / width, -1.0 / deep);
        let offset = Vec3::new(0.0, 0.0, 0.5) - middle * scale;
        let columns = [0, 1, 2].map(|axis| (Vec3::from(rows.map(|row| row[axis])) * scale).extend(0.0));
        (Mat4::from_cols(columns[0], columns[1], columns[2], offset.extend(1.0)), width)
    }

    /// The distance between lines of the ground's grid: 1, 2 or 5 times a power of ten, near 0.6 times the size of a
    /// figure.
    fn grid(&self) -> f32 {
        let wanted = 0.6 * self.figure_size;
        let power = 10.0_f32.powf(wanted.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        steps.into_iter().min_by(|a, b| (a - wanted).abs().total_cmp(&(b - wanted).abs())).unwrap_or(power)
    }
}

/// The distance between samples of a shadow, in texels, chosen so that the samples of a row leave no gaps.
const SAMPLE_TEXELS: f32 = 1.25;

/// The quality of shadows.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShadowQuality {
    /// The texels per side of the shadow map.
    pub texels: u32,
    /// The samples of the shadow map per row and per column of a square. Their mean is the share of sunlight that
    /// reaches a point.
    pub samples: u32,
}

impl ShadowQuality {
    /// The quality for a target. Software renderers, which draw with one sample per pixel, spend most of a picture on
    /// the samples of shadows.
    pub fn of(target: Target) -> Self {
        if target.samples == 1 { Self { texels: 1024, samples: 2 } } else { Self { texels: 4096, samples: 6 } }
    }

    /// The number of texels used per side of a shadow map of this width in world units. A penumbra always has the same
    /// number of texels; they are chosen so that it is a hundredth of a figure wide, if the map has enough.
    fn used_texels(self, stage: &Stage, width: f32) -> u32 {
        let wanted = self.samples as f32 * SAMPLE_TEXELS * width / (0.02 * stage.figure_size);
        (wanted.ceil() as u32).clamp(64, self.texels)
    }
}

impl ViewRecord {
    /// The record of a view, for pictures of an aspect ratio (width / height).
    pub fn new(view: &View, aspect: f32, shadows: ShadowQuality) -> Self {
        let View { camera, stage, bones } = view;
        let (shadow_from_world, width) = stage.shadow_from_world();
        let [across, upwards] = camera.halves(aspect);
        let [right, up, back] = camera.axes();
        let used = shadows.used_texels(stage, width);
        let texel = width / used as f32;
        let (zenith, horizon, ground_colour, grid_contrast) = match stage.background {
            Background::Sky | Background::Transparent => {
                (Vec3::new(0.20, 0.42, 0.74), Vec3::new(0.70, 0.80, 0.88), Vec3::new(0.54, 0.56, 0.52), 0.22)
            }
            Background::Colour(bytes) => {
                let colour = Vec3::from(bytes.map(linear));
                let contrast = if colour.max_element() < 0.25 { -0.35 } else { 0.22 };
                (colour, colour, colour, contrast)
            }
        };
        Self {
            clip_from_world: camera.clip_from_world(aspect),
            shadow_from_world,
            eye: camera.eye(),
            ground: stage.bounds.low.y,
            right: across * right,
            penumbra: SAMPLE_TEXELS / shadows.texels as f32,
            up: upwards * up,
            shadow_offset: 2.5 * texel,
            forward: -back,
            haze: 2.5 * (camera.distance + stage.radius()),
            sun: stage.sun,
            grid: stage.grid(),
            sun_colour: Vec3::new(0.86, 0.78, 0.66),
            contact: 0.25 * stage.figure_size,
            sky_light: Vec3::new(0.44, 0.50, 0.60),
            radius: stage.radius(),
            ground_light: Vec3::new(0.27, 0.25, 0.21),
            grid_contrast,
            zenith,
            bone_depth: if *bones == Bones::Over { 0.5 } else { 1.0 },
            horizon,
            joint_size: 0.018 * stage.figure_size,
            ground_colour,
            transparent: if stage.background == Background::Transparent { 1.0 } else { 0.0 },
            middle: stage.bounds.middle(),
            shadow_part: used as f32 / shadows.texels as f32,
        }
    }

    /// The number of texels that are used per side of the shadow map.
    pub fn shadow_texels(view: &View, shadows: ShadowQuality) -> u32 {
        shadows.used_texels(&view.stage, view.stage.shadow_from_world().1)
    }

    /// The record of the same view for the pass that draws the shadow map.
    pub fn for_shadow(self) -> Self {
        Self { clip_from_world: self.shadow_from_world, bone_depth: 1.0, ..self }
    }
}
