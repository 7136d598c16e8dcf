//! Morph targets of a file: squares that wander to the right and grow upwards.

use std::path::Path;

use bevy::camera::CameraProjection;
use bevy::core_pipeline::prepass::DepthPrepass;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::prelude::*;
use bevy_posse::{ClipLayer, CrowdClock, CrowdMaterial, CrowdRig, CrowdRigParts, Posse, PossePlugin};
use posse::{Crowd, Evaluator, Layer, LayerTime, Outputs, Playback, Reference, Ticks};

use crate::files::Folder;
use crate::headless;
use crate::motion::{Pane, add_pane, motion_in};
use crate::picture::Picture;

const SIZE: [u32; 2] = [480, 320];
/// The distance of the camera from the squares.
const DISTANCE: f32 = 9.0;
/// The way of a square to the right, and of its upper edge upwards, at weight 1.
const WAY: f32 = 3.0;
const GROWTH: f32 = 1.5;

/// The change of its normal from the z axis with the growth at weight 1: along the x axis at weight 0.5.
const TURN: [f32; 3] = [2.0, 0.0, -2.0];

/// A square of two triangles on the first of two joints. The clip takes the weights from 0 to 1 and 0.5 within two seconds.
fn write(folder: &Path) {
    let document = r#"{ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0, 1] }],
        "nodes": [{ "name": "square", "mesh": 0, "skin": 0 }, { "name": "below", "children": [2] }, { "name": "joint" }],
        "skins": [{ "joints": [1, 2] }],
        "meshes": [{ "weights": [0, 0], "primitives": [{
            "attributes": { "POSITION": 0, "NORMAL": 1, "JOINTS_0": 2, "WEIGHTS_0": 3 },
            "targets": [{ "POSITION": 4 }, { "POSITION": 5, "NORMAL": 8 }] }] }],
        "animations": [{ "name": "wander", "samplers": [{ "input": 6, "output": 7 }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }] }],
        "buffers": [{ "byteLength": 504, "uri": "square.bin" }],
        "bufferViews": [{ "buffer": 0, "byteLength": 72 }, { "buffer": 0, "byteOffset": 72, "byteLength": 72 },
            { "buffer": 0, "byteOffset": 144, "byteLength": 24 }, { "buffer": 0, "byteOffset": 168, "byteLength": 96 },
            { "buffer": 0, "byteOffset": 264, "byteLength": 72 }, { "buffer": 0, "byteOffset": 336, "byteLength": 72 },
            { "buffer": 0, "byteOffset": 408, "byteLength": 8 }, { "buffer": 0, "byteOffset": 416, "byteLength": 16 },
            { "buffer": 0, "byteOffset": 432, "byteLength": 72 }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0] },
            { "bufferView": 1, "componentType": 5126, "count": 6, "type": "VEC3" },
            { "bufferView": 2, "componentType": 5121, "count": 6, "type": "VEC4" },
            { "bufferView": 3, "componentType": 5126, "count": 6, "type": "VEC4" },
            { "bufferView": 4, "componentType": 5126, "count": 6, "type": "VEC3", "min": [3, 0, 0], "max": [3, 0, 0] },
            { "bufferView": 5, "componentType": 5126, "count": 6, "type": "VEC3", "min": [0, 0, 0], "max": [0, 1.5, 0] },
            { "bufferView": 6, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [2] },
            { "bufferView": 7, "componentType": 5126, "count": 4, "type": "SCALAR" },
            { "bufferView": 8, "componentType": 5126, "count": 6, "type": "VEC3" }] }"#;
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0_f32]];
    let mut numbers: Vec<f32> = corners.iter().flat_map(|&[x, y]| [x, y, 0.0]).collect();
    numbers.extend(corners.iter().flat_map(|_| [0.0, 0.0, 1.0]));
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.extend(corners.iter().flat_map(|_| [1u8, 0, 0, 0]));
    let mut numbers: Vec<f32> = corners.iter().flat_map(|_| [1.0, 0.0, 0.0, 0.0]).collect();
    numbers.extend(corners.iter().flat_map(|_| [WAY, 0.0, 0.0]));
    numbers.extend(corners.iter().flat_map(|&[_, y]| [0.0, GROWTH * y, 0.0]));
    numbers.extend([0.0, 2.0, 0.0, 0.0, 1.0, 0.5]);
    numbers.extend(corners.iter().flat_map(|_| TURN));
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    std::fs::write(folder.join("square.bin"), bytes).unwrap();
    std::fs::write(folder.join("square.gltf"), document).unwrap();
}

/// An app with squares, seen from the front.
struct Squares {
    app: App,
    film: Handle<Image>,
    rig: Handle<CrowdRig>,
    camera: Transform,
    /// The times of their clips, and their places.
    squares: Vec<(LayerTime, Vec3)>,
    _folder: Folder,
}

impl Squares {
    fn new(name: &str, times: &[LayerTime]) -> Self {
        let folder = Folder::new(name);
        write(&folder.0);
        let mut app = headless::app(&folder.0);
        app.add_plugins((PossePlugin, MaterialPlugin::<Pane>::default()));
        headless::begin(&mut app);
        let (film, target) = headless::film(&mut app.world_mut().resource_mut::<Assets<Image>>(), SIZE);
        let camera = Transform::from_xyz(0.0, 0.0, DISTANCE);
        let rig: Handle<CrowdRig> = app.world().resource::<AssetServer>().load("square.gltf");
        app.world_mut().spawn((
            Camera3d::default(),
            Camera { clear_color: Color::BLACK.into(), ..default() },
            target,
            camera,
            Msaa::Off,
            (Tonemapping::None, DebandDither::Disabled),
        ));
        headless::run_until(&mut app, |world| world.resource::<CrowdRigParts>().bounds(&rig).is_some());
        let extension = app.world().resource::<Assets<CrowdRig>>().get(&rig).unwrap().skinning();
        let base = StandardMaterial { base_color: Color::srgb(1.0, 0.0, 0.0), unlit: true, ..default() };
        let material = CrowdMaterial { base, extension };
        let material = app.world_mut().resource_mut::<Assets<CrowdMaterial>>().add(material);
        let mut squares = Vec::new();
        for (row, &time) in times.iter().enumerate() {
            let place = Vec3::new(-3.5, -3.0 + 2.0 * row as f32, 0.0);
            let layer = ClipLayer::new("wander", time);
            let look = (Transform::from_translation(place), MeshMaterial3d(material.clone()));
            app.world_mut().spawn((Posse::new(rig.clone(), [layer]), look));
            squares.push((time, place));
        }
        for _ in 0..4 {
            app.update();
        }
        Self { app, film, rig, camera, squares, _folder: folder }
    }

    /// The left lower and the right upper corner of each square in the reference.
    fn corners(&self, now: Ticks) -> Vec<[Vec3; 2]> {
        let rig = self.app.world().resource::<Assets<CrowdRig>>().get(&self.rig).unwrap();
        let clip = rig.library().find_clip("wander").unwrap();
        let mut crowd = Crowd::new();
        for &(time, _) in &self.squares {
            crowd.push(rig.skeleton(), &[Layer::new(clip, time)]).unwrap();
        }
        let outputs = Outputs { weights: true, ..Outputs::NONE };
        let poses = Reference::new(rig.library()).evaluate(&crowd, now, outputs).unwrap().instances;
        let corners = |(pose, &(_, place)): (&posse::Pose, &(LayerTime, Vec3))| {
            let [right, up] = [pose.weights[0], pose.weights[1]].map(|weight| weight as f32);
            let low = place + Vec3::X * WAY * right;
            [low, low + Vec3::new(1.0, 1.0 + GROWTH * up, 0.0)]
        };
        poses.iter().zip(&self.squares).map(corners).collect()
    }

    /// The place of a point in the picture.
    fn pixel(&self, point: Vec3) -> Vec2 {
        let [width, height] = SIZE.map(|size| size as f32);
        let projection = PerspectiveProjection { aspect_ratio: width / height, ..default() };
        let clip = projection.get_clip_from_view() * self.camera.to_matrix().inverse() * point.extend(1.0);
        0.5 * Vec2::new((1.0 + clip.x / clip.w) * width, (1.0 - clip.y / clip.w) * height)
    }

    fn shoot(&mut self) -> Picture {
        let film = self.film.clone();
        Picture::from_rows(SIZE, &headless::shoot(&mut self.app, &film))
    }

    /// Holds points just inside and outside of the edges of the squares to the picture.
    fn check(&self, picture: &Picture) {
        let now = self.app.world().resource::<CrowdClock>().now();
        for [low, high] in self.corners(now) {
            let [middle, half] = [0.5 * (low + high), 0.5 * (high - low)];
            for way in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y] {
                for (part, is_inside) in [(-0.06, true), (0.06, false)] {
                    let point = middle + way * (half + part);
                    let pixel = self.pixel(point);
                    let colour = picture.pixel(pixel.x as i64, pixel.y as i64).unwrap();
                    let is_red = colour[0] > 200 && colour[1] < 60;
                    assert_eq!(is_red, is_inside, "{colour:?} at {point} of the square from {low} to {high}");
                }
            }
        }
    }
}

/// Fixed times, so that each square has weights of its own, and one that plays.
fn times() -> Vec<LayerTime> {
    let playing = LayerTime::Playing(Playback::looping(Ticks(0), 1.0));
    vec![LayerTime::At(2.0), LayerTime::At(0.5), playing]
}

#[test]
fn morph_targets_move_vertices_by_the_weights_of_the_reference() {
    let mut squares = Squares::new("morphs", &times());
    let picture = squares.shoot();
    squares.check(&picture);
    let bounds = squares.app.world().resource::<CrowdRigParts>().bounds(&squares.rig).unwrap();
    assert!(bounds.max().x >= 4.0 && bounds.max().y >= 1.75, "{bounds:?}");

    // With a prepass, pixels would be missing where its depths are others.
    let world = squares.app.world_mut();
    let camera = world.query_filtered::<Entity, With<Camera3d>>().single(world).unwrap();
    world.entity_mut(camera).insert(DepthPrepass);
    world.resource_mut::<Time<Virtual>>().unpause();
    for _ in 0..4 {
        squares.app.update();
    }
    let picture = squares.shoot();
    squares.check(&picture);
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
    for _ in 0..4 {
        squares.app.update();
    }
    let picture = squares.shoot();
    let now = squares.app.world().resource::<CrowdClock>().now();
    for [low, high] in squares.corners(now) {
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
    let world = squares.app.world_mut();
    for (_, material) in world.resource_mut::<Assets<CrowdMaterial>>().iter_mut() {
        let rough = StandardMaterial { perceptual_roughness: 1.0, reflectance: 0.0, ..default() };
        material.base = StandardMaterial { base_color: Color::srgb(0.5, 0.5, 0.5), ..rough };
    }
    world.insert_resource(bevy::light::GlobalAmbientLight::NONE);
    let sun = DirectionalLight { illuminance: 5_000.0, ..default() };
    world.spawn((sun, Transform::IDENTITY.looking_to(Vec3::NEG_Z, Vec3::Y)));
    for _ in 0..3 {
        squares.app.update();
    }
    let picture = squares.shoot();
    let now = squares.app.world().resource::<CrowdClock>().now();
    let levels: Vec<f32> = squares
        .corners(now)
        .into_iter()
        .map(|[low, high]| {
            let pixel = squares.pixel(0.5 * (low + high));
            let colour = picture.pixel(pixel.x as i64, pixel.y as i64).unwrap();
            Srgba::gamma_function(f32::from(colour[0]) / 255.0)
        })
        .collect();
    // By the cosine of the angle: half way, the sum of both ends is turned by 45 degrees.
    let [ahead, half, aside] = levels[..] else { panic!("there are three squares") };
    assert!(ahead > 0.05 && ahead < 0.95 && aside < 0.02 * ahead, "{levels:?}");
    assert!((half / ahead - 0.5_f32.sqrt()).abs() < 0.04, "{levels:?}");
}

#[test]
fn motion_vectors_have_the_morphs_of_the_frame_before() {
    let mut squares = Squares::new("morph_motion", &times());
    let place = squares.camera;
    add_pane(squares.app.world_mut(), place);
    for _ in 0..4 {
        squares.app.update();
    }
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
