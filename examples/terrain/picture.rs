//! Pictures of the characters on their hills.

use super::Hike;
use super::hills::Hills;
use super::output::Outcome;
use posse::glam::{Affine3A, Quat, Vec3};
use posse_render::demo;
use posse_render::{
    Bones, Bounds, Camera, Canvas, Figure, Material, Mesh, Mover, Part, Picture, Placement, PoseBuffers, Renderer,
    Scene, Stage, Target, Vertex, View,
};

/// The distance of the farthest ground in the shadows from the middle, in metres.
const SHOWN: f32 = 30.0;
/// The most points of the drawn ground on a side.
const MAX_SIDE: usize = 700;
/// The colour of the ground.
const GRASS: [f32; 4] = [0.23, 0.30, 0.12, 1.0];

/// The renderer of the pictures.
pub struct Drawing {
    renderer: Renderer,
    canvas: Canvas,
    figures: [Figure; 2],
    view: View,
}

impl Drawing {
    /// Pictures of a size in pixels.
    pub fn new(hike: &Hike, size: [u32; 2]) -> Outcome<Self> {
        let (gpu, target) = (hike.engine.gpu(), Target::default());
        let renderer = Renderer::new(&gpu.device, &gpu.queue, target)?;
        let canvas = Canvas::new(&gpu.device, target, size)?;
        let figures = [demo::figure(&hike.library, hike.rig.skeleton, 0.03)?, soil(hike)];
        let bounds = Bounds { low: Vec3::new(-SHOWN, -5.0, -SHOWN), high: Vec3::new(SHOWN, 6.0, SHOWN) };
        let target = Vec3::new(0.0, 1.0, 0.0);
        let camera = Camera { target, azimuth: 0.6, elevation: 0.2, distance: 26.0, field_of_view: 0.31 };
        let view = View { camera, stage: Stage::new(bounds, 1.8), bones: Bones::Hidden };
        Ok(Self { renderer, canvas, figures, view })
    }

    /// Draws the poses that the buffers of the crowd hold.
    pub fn picture(&self, hike: &Hike, frame: usize) -> Outcome<Picture> {
        let placement = |instance: usize| {
            let place = hike.walkers.place(instance, frame);
            let position = place.position.as_vec2();
            let height = hike.hills.height(place.position) as f32;
            let translation = Vec3::new(position.x, height, position.y);
            let rotation = Quat::from_rotation_y(place.heading as f32);
            Placement {
                transform: Affine3A::from_rotation_translation(rotation, translation),
                dyes: demo::dyes(instance),
            }
        };
        let mut placements: Vec<Placement> = (0..hike.walkers.0.len()).map(placement).collect();
        placements.push(Placement::default());
        let poses = hike.gpu_crowd.batches().iter().map(PoseBuffers::from);
        let scene = Scene::new(&self.renderer, &hike.library, &self.figures, poses, &placements)?;
        let encoder = hike.engine.gpu().device.create_command_encoder(&Default::default());
        Ok(Picture::draw(&self.renderer, encoder, &self.canvas, &scene, &self.view)?)
    }
}

/// The ground.
fn soil(hike: &Hike) -> Figure {
    let mut figure = Figure::empty(hike.rig.ground);
    figure.meshes.push(mesh(&hike.hills));
    figure.materials.push(Material { base_colour: GRASS, ..Material::default() });
    figure.parts.push(Part { mesh: 0, material: 0, mover: Mover::Skin(0), joint: 0 });
    figure
}

/// The mesh of the hills, with a part of their points if there are very many.
fn mesh(hills: &Hills) -> Mesh {
    let step = hills.side.div_ceil(MAX_SIDE);
    let lines: Vec<usize> = (0..hills.side).step_by(step).collect();
    let count = lines.len();
    let corner = |row: usize, column: usize| hills.point(lines[column.min(count - 1)], lines[row.min(count - 1)]);
    let mut vertices = Vec::with_capacity(count * count);
    for index in 0..count * count {
        let [row, column] = [index / count, index % count];
        let along = corner(row, column + 1) - corner(row, column.saturating_sub(1));
        let across = corner(row + 1, column) - corner(row.saturating_sub(1), column);
        let normal = across.cross(along).normalize_or_zero().as_vec3().to_array();
        vertices.push(Vertex {
            position: corner(row, column).as_vec3().to_array(),
            normal,
            weights: [[1.0, 0.0, 0.0, 0.0], [0.0; 4]],
            ..Vertex::default()
        });
    }
    let count = count as u32;
    let cells = (0..(count - 1) * (count - 1)).map(|cell| cell / (count - 1) * count + cell % (count - 1));
    let indices = cells.flat_map(|at| [at, at + count, at + 1, at + 1, at + count, at + count + 1]).collect();
    Mesh { vertices, indices, targets: Vec::new() }
}
