//! The renderer of the examples: the pixels that it draws from the skin matrices match the reference.

use posse::Ticks;

use crate::support::gpu_library::gpu;
use example::draw::Look;
use example::figure::Figure;
use example::picture::Picture;
use example::scene::Scene;
use example::{check::check, render};

#[path = "../../../examples/renderer/main.rs"]
#[expect(dead_code, reason = "only `main` uses the rest")]
mod example;

fn identity_picture(scene: &Scene, figure: &Figure, now: Ticks) -> Picture {
    render(&gpu(), scene, figure, now, Look::Identity, 1).unwrap()
}

#[test]
fn each_character_is_drawn_where_the_reference_poses_it() {
    let (scene, now) = (Scene::apart().unwrap(), Ticks::from_seconds(12.5));
    let figure = Figure::new(scene.skeleton(), 0.025).unwrap();
    check(&identity_picture(&scene, &figure, now), &scene, &figure, now).unwrap();
}

#[test]
fn a_picture_of_another_time_or_another_crowd_is_refused() {
    let (mut scene, now) = (Scene::apart().unwrap(), Ticks::from_seconds(12.5));
    let figure = Figure::new(scene.skeleton(), 0.025).unwrap();
    let picture = identity_picture(&scene, &figure, now);
    let error = |picture: &Picture, scene: &Scene, now| check(picture, scene, &figure, now).unwrap_err().to_string();
    let message = error(&picture, &scene, Ticks::from_seconds(12.6));
    assert!(message.contains("fills") || message.contains("not visible"), "{message}");
    scene.placements.swap(3, 4);
    assert_eq!(error(&picture, &scene, now).split(" at ").next(), Some("pelvis of instance 3 is not visible"));
    scene.placements.swap(3, 4);
    let mut stained = picture;
    stained.bytes[..3].fill(255);
    assert_eq!(error(&stained, &scene, now), "pixel (0, 0) shows no instance of the crowd: Some([255, 255, 255])");
}

#[test]
fn in_the_sun_characters_hide_the_ground_and_their_shadows_darken_it() {
    let (mut scene, now) = (Scene::apart().unwrap(), Ticks::from_seconds(12.5));
    let figure = Figure::new(scene.skeleton(), 0.025).unwrap();
    let sunny = |scene: &Scene| render(&gpu(), scene, &figure, now, Look::Sunny, 4).unwrap();
    let (numbers, crowded) = (identity_picture(&scene, &figure, now), sunny(&scene));
    for placement in &mut scene.placements {
        placement.position[0] += 10_000.0;
    }
    let empty = sunny(&scene);
    let [mut hidden, mut as_before, mut darker] = [0; 3];
    for (y, x) in (1..719).flat_map(|y| (1..959).map(move |x| (y, x))) {
        // Pixels at edges have mixed colours, so that only pixels inside or outside all around count.
        let around = [-1, 0, 1].into_iter().flat_map(|down| [-1, 0, 1].map(|right| (x + right, y + down)));
        let within = around.filter(|&(x, y)| numbers.pixel(x, y) != Some([0; 3])).count();
        let [now, before] = [&crowded, &empty].map(|picture| picture.pixel(x, y).unwrap());
        match within {
            9 if now != before => hidden += 1,
            9 => as_before += 1,
            0 if now != before => {
                assert!(now.iter().zip(before).all(|(now, before)| *now <= before), "({x}, {y}): {now:?}, {before:?}");
                darker += 1;
            }
            _ => {}
        }
    }
    assert!(hidden > 10_000 && 100 * as_before < hidden && darker > 5_000, "{hidden} {as_before} {darker}");
}
