//! Morph targets: squares that wander to the right and grow upwards.

use bevy::core_pipeline::prepass::DepthPrepass;
use bevy::gltf::GltfPlugin;
use bevy::mesh::MeshCompressionArgs;
use bevy::prelude::*;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_posse::{CrowdClock, CrowdRigParts};
use posse::LayerTime;

use crate::headless;
use crate::motion::{add_pane, motion_in};
use crate::squares::{SIZE, Squares, WAY, times, write};

#[test]
fn morph_targets_move_vertices_by_the_weights_of_the_reference() {
    let mut squares = Squares::new("morphs", &times());
    squares.check();
    let bounds = squares.app.world().resource::<CrowdRigParts>().bounds(&squares.rig).unwrap();
    assert!(bounds.max().x >= 4.0 && bounds.max().y >= 1.75, "{bounds:?}");

    // With a prepass, pixels would be missing where its depths are others.
    let world = squares.app.world_mut();
    let camera = world.query_filtered::<Entity, With<Camera3d>>().single(world).unwrap();
    world.entity_mut(camera).insert(DepthPrepass);
    world.resource_mut::<Time<Virtual>>().unpause();
    squares.frames(4);
    squares.check();
}

/// The transparent pass draws them, without the prepass.
#[test]
fn transparent_squares_have_their_morphs() {
    let mut squares = Squares::new("morph_transparent", &times());
    let red = Color::srgb(1.0, 0.0, 0.0);
    squares.paint(&StandardMaterial { base_color: red, unlit: true, alpha_mode: AlphaMode::Blend, ..default() });
    squares.frames(3);
    squares.check();
}

/// Bevy's glTF loader compresses positions, normals, tangents, texture coordinates and weights.
#[test]
fn compressed_squares_have_their_morphs() {
    let mut squares = Squares::with("morph_compressed", 1, ("wander", &times()), |plugins| {
        plugins.set(GltfPlugin { mesh_compression: MeshCompressionArgs::regular(), ..default() })
    });
    squares.check();
    let bounds = squares.app.world().resource::<CrowdRigParts>().bounds(&squares.rig).unwrap();
    assert!(bounds.max().x >= 4.0 && bounds.max().x < 5.0 && bounds.max().y >= 1.75, "{bounds:?}");
}

/// The sun shines from the left onto a wall behind the squares.
#[test]
fn shadows_have_the_morphs_of_their_squares() {
    let mut squares = Squares::new("morph_shadows", &times());
    let world = squares.app.world_mut();
    let wall = world.resource_mut::<Assets<Mesh>>().add(Rectangle::new(60.0, 60.0));
    let white = StandardMaterial { perceptual_roughness: 1.0, reflectance: 0.0, ..default() };
    let white = world.resource_mut::<Assets<StandardMaterial>>().add(white);
    world.spawn((Mesh3d(wall), MeshMaterial3d(white), Transform::from_xyz(0.0, 0.0, -2.0)));
    let sun = Vec3::new(0.75, 0.0, -1.0);
    world.spawn((
        DirectionalLight { shadow_maps_enabled: true, ..default() },
        bevy::light::CascadeShadowConfigBuilder { num_cascades: 1, maximum_distance: 40.0, ..default() }.build(),
        Transform::IDENTITY.looking_to(sun, Vec3::Y),
    ));
    squares.frames(4);
    let picture = squares.shoot();
    for [low, high] in squares.corners_now() {
        // The right half of the shadow is not behind the square. Beyond its upper and right edges, the wall is bright.
        let part = |x: f32, y: f32| low + Vec3::new(x, y * (high.y - low.y), 0.0) + 2.0 * sun;
        for (x, y, is_dark) in [(0.85, 0.5, true), (0.85, 0.9, true), (0.85, 1.15, false), (1.2, 0.5, false)] {
            let pixel = squares.pixel(part(x, y));
            let colour = picture.pixel(pixel.x as i64, pixel.y as i64).unwrap();
            let level = colour.into_iter().max().unwrap();
            let is_right = if is_dark { level < 90 } else { level > 110 };
            assert!(is_right, "{colour:?} at {x} and {y} of the shadow of the square from {low} to {high}");
        }
    }
}

/// At the end of the clip, the light comes along the surface.
#[test]
fn normals_turn_with_their_targets() {
    let mut squares = Squares::new("morph_normals", &[LayerTime::At(0.0), LayerTime::At(1.0), LayerTime::At(2.0)]);
    let levels = levels(&mut squares, grey(), Vec3::NEG_Z);
    // By the cosine of the angle: half way, the sum of both ends is turned by 45 degrees.
    let [ahead, half, aside] = levels[..] else { panic!("there are three squares") };
    assert!(ahead > 0.05 && ahead < 0.95 && aside < 0.02 * ahead, "{levels:?}");
    assert!((half / ahead - 0.5_f32.sqrt()).abs() < 0.04, "{levels:?}");
}

/// A normal map leans all normals along the tangent, into the light, which comes along the surface.
#[test]
fn tangents_turn_with_their_targets() {
    let times = [LayerTime::At(0.0), LayerTime::At(1.0), LayerTime::At(2.0)];
    let mut squares = Squares::with("morph_tangents", 1, ("twist", &times), |plugins| plugins);
    // The vector 0.6, 0, 0.8.
    let lean = Image::new_fill(
        Extent3d { width: 1, height: 1, depth_or_array_layers: 1 },
        TextureDimension::D2,
        &[204, 128, 230, 255],
        TextureFormat::Rgba8Unorm,
        default(),
    );
    let lean = squares.app.world_mut().resource_mut::<Assets<Image>>().add(lean);
    let material = StandardMaterial { normal_map_texture: Some(lean), ..grey() };
    let levels = levels(&mut squares, material, Vec3::NEG_X);
    let [along, half, across] = levels[..] else { panic!("there are three squares") };
    assert!(along > 0.05 && along < 0.95 && across < 0.04 * along, "{levels:?}");
    assert!(half > 0.4 * along && half < 0.8 * along, "{levels:?}");
}

/// A material whose brightness follows from the angle to the light alone.
fn grey() -> StandardMaterial {
    let rough = StandardMaterial { perceptual_roughness: 1.0, reflectance: 0.0, ..default() };
    StandardMaterial { base_color: Color::srgb(0.5, 0.5, 0.5), ..rough }
}

/// The brightness of squares with a material in the light of the sun alone.
fn levels(squares: &mut Squares, material: StandardMaterial, sunlight: Vec3) -> Vec<f32> {
    squares.paint(&material);
    let world = squares.app.world_mut();
    world.insert_resource(bevy::light::GlobalAmbientLight::NONE);
    let sun = DirectionalLight { illuminance: 5_000.0, ..default() };
    world.spawn((sun, Transform::IDENTITY.looking_to(sunlight, Vec3::Y)));
    squares.frames(3);
    squares.levels()
}

#[test]
fn motion_vectors_have_the_morphs_of_the_frame_before() {
    let mut squares = Squares::new("morph_motion", &times());
    let place = squares.camera;
    add_pane(squares.app.world_mut(), place);
    squares.frames(4);
    let step = squares.app.world().resource::<CrowdClock>().step();
    let world = squares.app.world_mut();
    let camera = world.query_filtered::<Entity, With<Camera3d>>().single(world).unwrap();
    world.get_mut::<Camera>(camera).unwrap().is_active = false;
    let picture = squares.shoot();
    let (before, now) = (squares.corners(step.from), squares.corners(step.to));
    for (index, (before, now)) in before.into_iter().zip(now).enumerate() {
        let [from, to] = [before, now].map(|[low, high]| squares.pixel(0.5 * (low + high)));
        let found = motion_in(picture.pixel(to.x as i64, to.y as i64).unwrap(), SIZE);
        assert!((to - from).length() > 1.0 || index < 2, "the square moves by {}", to - from);
        assert!(found.distance(to - from) < 0.3, "square {index} moves by {}, but the vectors say {found}", to - from);
    }
}

/// All pictures of a camera, in their order.
#[derive(Resource, Default)]
struct Reel(Vec<Vec<u8>>);

/// Each frame shows the old file or the new one, and none a part of either.
#[test]
fn morphs_of_a_file_change_from_one_frame_to_the_next() {
    let still = [LayerTime::At(2.0), LayerTime::At(1.0), LayerTime::At(0.5)];
    let mut squares = Squares::new("morph_again", &still);
    squares.check();
    let film = squares.film.clone();
    let before = headless::shoot(&mut squares.app, &film);

    let world = squares.app.world_mut();
    world.init_resource::<Reel>();
    let mut reader = world.spawn(Readback::texture(film));
    reader.observe(|picture: On<ReadbackComplete>, mut reel: ResMut<Reel>| reel.0.push(picture.data.clone()));
    let reader = reader.id();
    squares.displacements[0] = 0.5 * WAY;
    write(&squares.folder.0, 0.5 * WAY, 1);
    headless::run_until(&mut squares.app, |world| world.resource::<Reel>().0.last().is_some_and(|now| *now != before));
    squares.frames(20);
    squares.app.world_mut().despawn(reader);
    squares.check();
    let film = squares.film.clone();
    let after = headless::shoot(&mut squares.app, &film);
    let reel = &squares.app.world().resource::<Reel>().0;
    let [old, new] = [&before, &after].map(|kept| reel.iter().filter(|picture| *picture == kept).count());
    assert!(new > 0 && old + new == reel.len(), "{} of {} pictures show neither", reel.len() - old - new, reel.len());
}
