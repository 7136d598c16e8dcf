//! Compares the vertices of the vertex shader with those moved by the poses of the reference.

use glam::{Affine3A, DVec3, Quat, Vec3};
use posse::import::gltf;
use posse::{Evaluator, Layer, LayerTime, Library, Outputs, Reference, Ticks};
use posse_render::{Mover, gltf as figure_gltf};

use super::files;
use super::scenes::Shot;
use crate::support::skip;

/// The largest distance between vertices of the shader and of the reference, as a fraction of the size of the figure;
/// and the number of vertices.
pub fn worst(shot: &Shot, reference: &Shot) -> (f64, usize) {
    let outputs = Outputs { model: true, skin: true, weights: true, ..Outputs::NONE };
    let poses = Reference::new(&reference.library).evaluate(&reference.crowd, Ticks(0), outputs).unwrap().instances;
    let figure = &reference.figures[0];
    let skeleton = reference.library.skeleton(figure.skeleton);
    let size = figure.bounds(skeleton, &poses).size().length();
    let found = shot.positions();
    assert_eq!(found.len(), figure.parts.len());
    let (mut worst, mut count) = (0.0_f64, 0);
    for (part, found) in figure.parts.iter().zip(&found) {
        let expected = poses.iter().zip(&reference.placements).flat_map(|(pose, placement)| {
            let to_world = |point: DVec3| glam::Mat4::from(placement.transform).as_dmat4().transform_point3(point);
            figure.positions(part, skeleton, pose, 1).map(to_world)
        });
        let expected: Vec<DVec3> = expected.collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            worst = worst.max(Vec3::from(*found).as_dvec3().distance(expected) / f64::from(size));
            count += 1;
        }
    }
    (worst, count)
}

#[test]
fn people_match_the_reference_at_their_time_and_at_no_other() {
    let (shot, other) = (Shot::people(&[0.3, 0.7, 0.1, 1.9, 0.6]), Shot::people(&[0.3, 0.75, 0.1, 1.9, 0.6]));
    let (distance, count) = worst(&shot, &shot);
    assert!(distance < 1e-4 && count > 2000, "{distance:e} of {count}");
    assert!(worst(&shot, &other).0 > 1e-3);
}

#[test]
fn two_skins_two_morph_targets_and_a_mirrored_node_match_values_worked_out_by_hand() {
    let (library, figure) = files::two_skins();
    let mut shot = Shot::alone(library, figure, 0.5);
    shot.placements[0].transform = Affine3A::from_rotation_translation(
        Quat::from_rotation_y(std::f32::consts::FRAC_PI_2),
        Vec3::new(0.0, 0.0, 10.0),
    );
    let found = shot.positions();
    // See `two_skins`: at 0.5 s node 0 has moved by (0, 1, 0) and the weights are 0.5 and 0.25. A quarter turn takes
    // (x, y, z) to (z, y, -x).
    let assert_near = |found: [f32; 3], expected: [f32; 3]| {
        assert!(Vec3::from(found).distance(Vec3::from(expected)) < 1e-5, "{found:?} is not {expected:?}");
    };
    // The first skin's only joint: node 0, whose inverse bind matrix moves by (1, 0, 0): (0, 0, 0) to (1, 1, 0).
    assert_near(found[0][0], [0.0, 1.0, 9.0]);
    // The second skin: half of node 0 and half of node 1, at (0, 0, 4) with an inverse bind matrix of scale 2: (1,
    // 0, 0) becomes half of (1, 1, 0) and half of (2, 0, 4).
    assert_near(found[1][1], [2.0, 0.5, 8.5]);
    // The morphed mesh moves with node 2, of scale (-1, 1, 1) at (0, 0, -2). Its vertex (1, 0, 0) goes up by 0.5 x 2
    // and by 0.25 x 4 in z: (1, 1, 1), mirrored (-1, 1, 1), moved (-1, 1, -1).
    assert_near(found[2][1], [-1.0, 1.0, 11.0]);
    assert!(worst(&shot, &shot).0 < 1e-6);
}

#[test]
fn third_party_files_match_the_reference() {
    let files = [
        "Fox/Fox.glb",
        "CesiumMan/CesiumMan.glb",
        "CesiumMan-meshopt/CesiumMan-meshopt.glb",
        "Ghost/ghost_v2.glb",
        "DancingRabbit/scene.gltf",
        "MorphStressTest/MorphStressTest.glb",
        "AnimatedMorphCube-Quantized/AnimatedMorphCube.gltf",
        "RiggedFigure/RiggedFigure.glb",
        "BoxAnimated/BoxAnimated.glb",
        "SimpleSkin/SimpleSkin.gltf",
        "SparseWeights/box_sparse.glb",
    ];
    for file in files {
        let file = skip::collected_or_skip(&format!("gltf/{file}"), "vertices of a third-party file");
        let Some(file) = file else { continue };
        let mut library = Library::new();
        let asset = gltf::load(&mut library, &file).unwrap();
        let (figure, warnings) = figure_gltf::load(&asset).unwrap();
        assert!(warnings.is_empty() && !figure.parts.is_empty(), "{}: {warnings:?}", file.display());
        let duration = library.clip(asset.clips[0]).duration();
        let mut shot = Shot::alone(library, figure, 0.0);
        shot.crowd = posse::Crowd::new();
        for time in [0.0, 0.37 * duration, 0.8 * duration] {
            shot.crowd.push(asset.skeleton, &[Layer::new(asset.clips[0], LayerTime::At(time))]).unwrap();
        }
        shot.placements = vec![shot.placements[0]; 3];
        let (distance, count) = worst(&shot, &shot);
        assert!(distance < 1e-4 && count > 0, "{}: {distance:e} of {count}", file.display());
    }
}

#[test]
fn figures_with_wrong_indices_are_refused() {
    let shot = Shot::people(&[0.3]);
    let check = |change: &dyn Fn(&mut posse_render::Figure)| {
        let mut figure = shot.figures[0].clone();
        change(&mut figure);
        figure.check(&shot.library).map_err(|error| error.to_string())
    };
    assert_eq!(check(&|_| {}), Ok(()));
    let message = |change: &dyn Fn(&mut posse_render::Figure)| check(change).unwrap_err();
    assert_eq!(message(&|figure| figure.parts[0].mesh = 1), "figure, part 0: there is no mesh 1");
    assert_eq!(message(&|figure| figure.parts[0].joint = 64), "figure, part 0: there is no joint 64");
    assert_eq!(message(&|figure| figure.materials.clear()), "figure, part 0: there is no material 0");
    assert_eq!(message(&|figure| figure.parts[0].mover = Mover::Skin(1)), "figure, part 0: there is no skin 1");
    assert_eq!(
        message(&|figure| figure.meshes[0].indices[5] = 1 << 30),
        "figure, part 0: there is no vertex 1073741824"
    );
    let beyond = message(&|figure| figure.meshes[0].vertices[7].joints[0][3] = 64);
    assert_eq!(beyond, "figure, part 0: there is no joint 64 of skin 0");
}
