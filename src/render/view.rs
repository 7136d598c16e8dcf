//! How a scene is seen: camera, light, ground and sky.

use glam::{Mat4, Vec3};

use crate::render::image::linear;
use crate::render::record::{SHADOW_SAMPLES, ViewRecord};
use crate::render::{Bounds, Camera};

/// How a scene is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// From where.
    pub camera: Camera,
    /// Where the scene is, and what is around it.
    pub stage: Stage,
    /// Whether bones are seen.
    pub bones: Bones,
}

/// Whether the bones of skeletons are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bones {
    /// No.
    #[default]
    Hidden,
    /// As things among others.
    Solid,
    /// Over all else.
    Over,
}

/// The ground, the sky and the sun, to the measure of a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// How far all that is seen reaches, whenever.
    pub bounds: Bounds,
    /// How large a figure is: what shadows, the ground's grid and bones are measured by.
    pub figure_size: f32,
    /// What is behind all.
    pub background: Background,
    /// Towards the sun, of length 1.
    pub sun: Vec3,
}

/// What is behind all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// A bright day.
    #[default]
    Sky,
    /// A colour, in sRGB, of the ground too.
    Colour([u8; 3]),
    /// Nothing: pictures have an alpha, and the ground is but the shadows on it.
    Transparent,
}

impl Stage {
    /// A stage for a scene of these bounds, with figures of this size; both are repaired where they are empty or not finite.
    pub fn new(bounds: Bounds, figure_size: f32) -> Self {
        let figure_size = if figure_size.is_finite() && figure_size > 0.0 { figure_size } else { 1.0 };
        let sun = Vec3::new(-0.32, 0.78, 0.54).normalize();
        Self { bounds: bounds.or(figure_size), figure_size, background: Background::default(), sun }
    }

    /// From its middle to a corner of its bounds.
    fn radius(&self) -> f32 {
        0.5 * self.bounds.size().length()
    }

    /// From the world to the shadow map, and how wide that is in the world.
    pub(super) fn shadow_from_world(&self) -> (Mat4, f32) {
        let back = self.sun.normalize_or(Vec3::Y);
        let right = back.any_orthonormal_vector();
        let up = back.cross(right);
        let rows = [right, up, back];
        let mut within = Bounds::EMPTY;
        for corner in self.bounds.corners() {
            within.add(Vec3::from(rows.map(|row| row.dot(corner))));
        }
        // A square, so that a penumbra is as wide as it is high; and some room at the edges.
        let size = within.size();
        let width = 1.06 * size.x.max(size.y) + 1e-6 * self.figure_size;
        let deep = 1.06 * size.z + 1e-6 * self.figure_size;
        let middle = within.middle();
        let scale = Vec3::new(2.0 / width, 2.0 / width, -1.0 / deep);
        let offset = Vec3::new(0.0, 0.0, 0.5) - middle * scale;
        let columns = [0, 1, 2].map(|axis| (Vec3::from(rows.map(|row| row[axis])) * scale).extend(0.0));
        (Mat4::from_cols(columns[0], columns[1], columns[2], offset.extend(1.0)), width)
    }

    /// From line to line of the ground's grid: 1, 2 or 5 times a power of ten, near half the size of a figure.
    fn grid(&self) -> f32 {
        let wanted = 0.6 * self.figure_size;
        let power = 10.0_f32.powf(wanted.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        steps.into_iter().min_by(|a, b| (a - wanted).abs().total_cmp(&(b - wanted).abs())).unwrap_or(power)
    }
}

/// From sample to sample of a shadow, in texels: so that those of a row have no gaps.
const SAMPLE_TEXELS: f32 = 1.25;

/// Texels a side that are used of a shadow map so wide in the world: so many that a penumbra, which is always as many texels
/// wide, is a hundredth of a figure; or all there are.
fn shadow_texels(stage: &Stage, width: f32, texels: u32) -> u32 {
    let wanted = SHADOW_SAMPLES as f32 * SAMPLE_TEXELS * width / (0.02 * stage.figure_size);
    (wanted.ceil() as u32).clamp(64, texels)
}

impl ViewRecord {
    /// The record of a view, for pictures so many times as wide as high, and a shadow map of so many texels a side.
    pub fn new(view: &View, aspect: f32, texels: u32) -> Self {
        let View { camera, stage, bones } = view;
        let (shadow_from_world, width) = stage.shadow_from_world();
        let [across, upwards] = camera.halves(aspect);
        let [right, up, back] = camera.axes();
        let used = shadow_texels(stage, width, texels);
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
            penumbra: SAMPLE_TEXELS / texels as f32,
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
            shadow_part: used as f32 / texels as f32,
        }
    }

    /// The texels a side of the shadow map that are used.
    pub fn shadow_texels(view: &View, texels: u32) -> u32 {
        shadow_texels(&view.stage, view.stage.shadow_from_world().1, texels)
    }

    /// The same for the pass that makes the shadow map.
    pub fn of_shadow(self) -> Self {
        Self { clip_from_world: self.shadow_from_world, bone_depth: 1.0, ..self }
    }
}
