//! Compares small scenes with stored pictures, with the tolerance of `likeness`.
//!
//! `cargo test --release -- --ignored store_the_pictures` stores them again. Look at them before you commit them.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use posse_render::{Bones, Picture, Target, encode};

use super::files;
use super::likeness::{differences, error, share_beyond};
use super::scenes::Shot;

const TIMES: [f64; 5] = [0.3, 0.7, 0.1, 0.9, 0.6];

fn people() -> Shot {
    Shot::people(&TIMES)
}

/// Two instances with their bones.
fn bones() -> Shot {
    Shot { bones: Bones::Over, ..Shot::people(&[0.5, 0.2]) }
}

/// Two skins, morph targets and a mirrored node.
fn triangles() -> Shot {
    let (library, figure) = files::two_skins();
    Shot::alone(library, figure, 0.5)
}

/// The name of a picture, and its scene.
type Stored = (&'static str, fn() -> Shot);

const SHOTS: [Stored; 3] = [("people", people), ("bones", bones), ("triangles", triangles)];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/pictures/{name}.png"))
}

fn stored(name: &str) -> Picture {
    let decoder = png::Decoder::new(BufReader::new(File::open(path(name)).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    let pixels = bytes[..frame.buffer_size()].chunks(3).flat_map(|rgb| [rgb[0], rgb[1], rgb[2], 255]).collect();
    Picture { size: [frame.width, frame.height], pixels }
}

#[test]
#[ignore = "it stores pictures"]
fn store_the_pictures() {
    for (name, shot) in SHOTS {
        encode::write_png(fs::File::create(path(name)).unwrap(), &shot().picture()).unwrap();
    }
}

#[test]
fn small_scenes_match_their_stored_pictures() {
    for (name, shot) in SHOTS {
        assert_eq!(error(&shot().picture(), &stored(name)), None, "{name}");
    }
}

/// A shadow is darker than the ground by more than 40 of 255. Edges, which have one sample, differ by less in the mean of
/// a square.
#[test]
fn with_one_sample_per_pixel_shadows_are_at_the_same_places() {
    let quick = people().picture_for(Target { samples: 1, ..Target::default() });
    let differences = differences(&quick, &stored("people"));
    let share = share_beyond(&differences, 40.0);
    assert!(share < 0.01, "{:.2} % of the squares", 100.0 * share);
    let beyond = share_beyond(&differences, 15.0);
    assert!(beyond < 0.15, "{:.2} % of the squares", 100.0 * beyond);
}

#[test]
fn swapped_instances_another_time_and_another_mesh_are_detected() {
    let stored = stored("people");
    let mut swapped = people();
    swapped.placements.swap(1, 3);
    assert!(error(&swapped.picture(), &stored).is_some(), "two instances are swapped");
    let mut later = TIMES;
    later[2] += 0.15;
    assert!(error(&Shot::people(&later).picture(), &stored).is_some(), "one instance is 0.15 s later");
    let mut thin = people();
    for vertex in &mut thin.figures[0].meshes[0].vertices {
        vertex.position = [0, 1, 2].map(|axis| vertex.position[axis] - 0.012 * vertex.normal[axis]);
    }
    assert!(error(&thin.picture(), &stored).is_some(), "all instances are thinner by 1.2 cm");
    let mut naked = people();
    naked.placements[2].dyes[1] = naked.placements[2].dyes[4];
    assert!(error(&naked.picture(), &stored).is_some(), "one instance has no shirt");
}
