//! The renderer of the examples: what it draws straight from the skin matrices is where the reference says.

use posse::Ticks;

use crate::support::each_engine::gpu;
use example::draw::Look;
use example::figure::Figure;
use example::picture::Picture;
use example::scene::Scene;
use example::{check::check, render};

#[path = "../examples/renderer/main.rs"]
#[expect(dead_code, reason = "its main draws the picture of the README")]
mod example;

fn identities(scene: &Scene, figure: &Figure, now: Ticks) -> Picture {
    render(&gpu(), scene, figure, now, (Look::Identity, 1)).unwrap()
}

#[test]
fn each_character_is_drawn_where_the_reference_poses_it() {
    let (scene, now) = (Scene::apart().unwrap(), Ticks::from_seconds(12.5));
    let figure = Figure::new(scene.skeleton(), 0.025).unwrap();
    check(&identities(&scene, &figure, now), &scene, &figure, now).unwrap();
}

#[test]
fn a_picture_of_another_moment_or_of_others_is_found_out() {
    let (mut scene, now) = (Scene::apart().unwrap(), Ticks::from_seconds(12.5));
    let figure = Figure::new(scene.skeleton(), 0.025).unwrap();
    let picture = identities(&scene, &figure, now);
    let fault = |picture: &Picture, scene: &Scene, now| check(picture, scene, &figure, now).unwrap_err().to_string();
    let message = fault(&picture, &scene, Ticks::from_seconds(12.6));
    assert!(message.contains("fills") || message.contains("not seen"), "{message}");
    scene.places.swap(3, 4);
    assert_eq!(fault(&picture, &scene, now).split(" at ").next(), Some("pelvis of instance 3 is not seen"));
    scene.places.swap(3, 4);
    let mut stained = picture;
    stained.bytes[..3].fill(255);
    assert_eq!(fault(&stained, &scene, now), "pixel (0, 0) is of nobody: Some([255, 255, 255])");
}

#[test]
fn the_sunny_picture_has_characters_where_the_other_has_numbers() {
    let (scene, now) = (Scene::apart().unwrap(), Ticks::from_seconds(12.5));
    let figure = Figure::new(scene.skeleton(), 0.04).unwrap();
    let numbers = identities(&scene, &figure, now);
    let sunny = render(&gpu(), &scene, &figure, now, (Look::Sunny, 4)).unwrap();
    assert_eq!(sunny.size, numbers.size);
    // Shirts, hair and skins are of many colours, the ground is of few.
    let colours = |of_characters: bool| {
        let pixels = sunny.bytes.chunks_exact(4).zip(numbers.bytes.chunks_exact(4));
        let chosen = pixels.filter(|(_, number)| (number[..3] != [0; 3]) == of_characters);
        chosen
            .map(|(pixel, _)| [pixel[0], pixel[1], pixel[2]].map(|byte| byte / 32))
            .collect::<std::collections::HashSet<_>>()
    };
    assert!(colours(true).len() > 60 && colours(false).len() < 60, "{} {}", colours(true).len(), colours(false).len());
}
