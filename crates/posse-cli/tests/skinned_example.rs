//! `examples/skinned_gltf.rs` without its window: characters are drawn where the reference poses them.

use glam::{DVec3, Mat4};
use posse::{Evaluator, Outputs, Reference, Ticks};
use posse_render::Picture;

use example::{Scene, draw};

#[path = "../../../examples/skinned_gltf.rs"]
#[allow(dead_code, reason = "only `main` uses the rest")]
mod example;

const SIZE: [u32; 2] = [1024, 512];

/// True for the pixels that hold a vertex, moved by the poses of the reference.
fn pixels_of_vertices(scene: &Scene, now: Ticks) -> Vec<bool> {
    let [width, height] = SIZE.map(f64::from);
    let clip_from_world = Mat4::from_cols_array(&scene.clip_from_world(SIZE)).as_dmat4();
    let poses = Reference::new(&scene.library).evaluate(&scene.crowd, now, Outputs::SKIN).unwrap().instances;
    let skeleton = scene.library.skeleton(scene.figure.skeleton);
    let mut pixels = vec![false; (SIZE[0] * SIZE[1]) as usize];
    for (pose, placement) in poses.iter().zip(&scene.placements) {
        let to_clip = clip_from_world * Mat4::from(*placement).as_dmat4();
        let mut mark = |vertex: DVec3| {
            let clip = to_clip * vertex.extend(1.0);
            let [x, y] = [0.5 * (1.0 + clip.x / clip.w) * width, 0.5 * (1.0 - clip.y / clip.w) * height];
            if (0.0..width).contains(&x) && (0.0..height).contains(&y) {
                pixels[y as usize * SIZE[0] as usize + x as usize] = true;
            }
        };
        scene.figure.parts.iter().for_each(|part| {
            scene.figure.positions(part, skeleton, pose, 1).for_each(&mut mark);
        });
    }
    pixels
}

/// The number of pixels with a vertex that no drawn pixel touches, and of drawn pixels that no pixel with a vertex
/// touches.
fn strays(drawn: &[bool], vertices: &[bool]) -> [usize; 2] {
    let [width, height] = SIZE.map(|side| side as usize);
    let touches = |pixels: &[bool], x: usize, y: usize| {
        let rows = y.saturating_sub(1)..height.min(y + 2);
        rows.flat_map(|y| pixels[y * width + x.saturating_sub(1)..y * width + width.min(x + 2)].iter()).any(|set| *set)
    };
    [(vertices, drawn), (drawn, vertices)].map(|(some, others)| {
        let is_stray = |&index: &usize| some[index] && !touches(others, index % width, index / width);
        (0..width * height).filter(is_stray).count()
    })
}

#[test]
fn characters_are_drawn_where_the_reference_poses_them() {
    let (scene, now) = (Scene::load(None).unwrap(), Ticks::from_seconds(12.5));
    let picture: Picture = draw(&scene, SIZE, now).unwrap();
    // No character reaches the corner.
    let sky = picture.pixel(0, 0);
    let drawn: Vec<bool> = picture.pixels.as_chunks::<4>().0.iter().map(|pixel| *pixel != sky).collect();
    let count = drawn.iter().filter(|drawn| **drawn).count();
    assert!(count > 20_000, "{count} pixels are drawn");
    let [here, later] = [now, Ticks::from_seconds(12.7)].map(|now| strays(&drawn, &pixels_of_vertices(&scene, now)));
    // Triangles that are smaller than a pixel may cover none. A fifth of a second later, characters are elsewhere.
    assert!(here[0] < 250 && here[1] == 0, "{here:?}");
    assert!(later[0] > 2500 && later[1] > 500, "{later:?}");
}
