//! The colours of joints, and of vertices that overlay their material.

use posse_render::{Bones, Picture, Placement, Vertex, VertexColours};

use super::scenes::Shot;

/// The built-in human without its mesh.
fn bones() -> Shot {
    let mut shot = Shot::people(&[0.5]);
    shot.figures[0].parts.clear();
    Shot { bones: Bones::Solid, ..shot }
}

/// True for each joint of the left side.
fn are_left(shot: &Shot) -> Vec<bool> {
    let skeleton = shot.library.skeleton(shot.figures[0].skeleton);
    (0..skeleton.joints().len()).map(|joint| skeleton.joint_name(joint).ends_with(".L")).collect()
}

/// The numbers of green, magenta and orange pixels. Orange is the usual colour of joints.
fn counts(picture: &Picture) -> [usize; 3] {
    let mut counts = [0; 3];
    for pixel in picture.pixels.as_chunks::<4>().0 {
        let [red, green, blue] = [0, 1, 2].map(|channel| i32::from(pixel[channel]));
        counts[0] += usize::from(green > red + 60 && green > blue + 60);
        counts[1] += usize::from(red > green + 60 && blue > green + 60);
        counts[2] += usize::from(red > green + 40 && green > blue + 40);
    }
    counts
}

const GREEN: [f32; 3] = [0.0, 0.8, 0.0];
const MAGENTA: [f32; 3] = [0.8, 0.0, 0.8];

#[test]
fn joints_and_the_bones_that_lead_from_them_have_the_colours_of_the_figure() {
    let mut shot = bones();
    let usual = shot.picture();
    let [greens, magentas, oranges] = counts(&usual);
    assert!(greens == 0 && magentas == 0 && oranges > 15, "{greens} {magentas} {oranges}");
    let colours = are_left(&shot).into_iter().map(|left| Some(if left { GREEN } else { MAGENTA }));
    shot.figures[0].joint_colours = colours.collect();
    let [greens, magentas, oranges] = counts(&shot.picture());
    assert!(greens > 10 && magentas > 20 && oranges == 0, "{greens} {magentas} {oranges}");
    // Joints beyond the list have the usual colours.
    shot.figures[0].joint_colours.clear();
    assert!(shot.picture() == usual);
}

#[test]
fn joints_without_a_colour_are_not_drawn() {
    let mut shot = bones();
    let colours = are_left(&shot).into_iter().map(|left| left.then_some(GREEN));
    shot.figures[0].joint_colours = colours.collect();
    let [greens, _, oranges] = counts(&shot.picture());
    assert!(greens > 10 && oranges == 0, "{greens} {oranges}");
    let joints = shot.figures[0].joint_colours.len();
    shot.figures[0].joint_colours = vec![None; joints];
    assert_eq!(counts(&shot.picture()), [0; 3]);
}

#[test]
fn an_overlay_replaces_the_base_colour_by_its_share() {
    let drawn = |use_of_colours: VertexColours, base: [f32; 3], vertex: [u16; 4]| -> Picture {
        let mut shot = Shot::people(&[0.5]);
        let [red, green, blue] = base;
        let figure = &mut shot.figures[0];
        (figure.materials[0].base_colour, figure.materials[0].vertex_colours) =
            ([red, green, blue, 1.0], use_of_colours);
        figure.meshes[0].vertices.iter_mut().for_each(|vertex_of_mesh| vertex_of_mesh.colour = vertex);
        shot.placements[0] = Placement::default();
        shot.picture()
    };
    let (base, over) = ([0.1, 0.3, 0.7], [0.8, 0.2, 0.0]);
    let overlay = |share: f32| {
        let [red, green, blue] = over.map(|number: f32| (65535.0 * number) as u16);
        drawn(VertexColours::Overlay, base, [red, green, blue, (65535.0 * share) as u16])
    };
    for (share, expected) in [(0.0, base), (1.0, over), (0.5, [0.45, 0.25, 0.35])] {
        let (found, expected) = (overlay(share), drawn(VertexColours::Factors, expected, Vertex::WHITE));
        let most = found.pixels.iter().zip(&expected.pixels).map(|(one, other)| one.abs_diff(*other)).max();
        assert!(most <= Some(1), "{share}: {most:?}");
    }
    assert!(overlay(0.0) != overlay(0.5));
}
