//! Squares from a file, which morph targets move to the right, let grow upwards, and shade.

use std::path::Path;

use bevy::app::PluginGroupBuilder;
use bevy::camera::CameraProjection;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::prelude::*;
use bevy_posse::{ClipLayer, CrowdClock, CrowdMaterial, CrowdRig, CrowdRigParts, Posse, PossePlugin};
use posse::{Crowd, Evaluator, Layer, LayerTime, Outputs, Playback, Reference, Ticks};

use crate::files::Folder;
use crate::headless::{self, Picture};
use crate::motion::Pane;

pub const SIZE: [u32; 2] = [480, 320];
/// The distance of the camera from the squares.
const DISTANCE: f32 = 9.0;
/// The way of a square to the right, and of its upper edge upwards, at weight 1.
pub const WAY: f32 = 3.0;
const GROWTH: f32 = 1.5;
/// The change of its normal from the z axis with the growth at weight 1: along the x axis at weight 0.5.
const TURN: [f32; 3] = [2.0, 0.0, -2.0];
/// The change of its tangent from the x axis at weight 1: along the y axis.
const TWIST: [f32; 3] = [-1.0, 1.0, 0.0];

/// The buffer of a document, with its views and accessors.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl Buffer {
    /// Adds vectors of numbers, and returns the index of their accessor.
    fn floats<const N: usize>(&mut self, vectors: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = vectors.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        let limits = |pick: fn(f32, f32) -> f32| {
            vectors.iter().copied().reduce(|a, b| std::array::from_fn(|axis| pick(a[axis], b[axis]))).unwrap()
        };
        let limits = format!(r#", "min": {:?}, "max": {:?}"#, limits(f32::min), limits(f32::max));
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        self.push(&bytes, vectors.len(), &format!(r#""componentType": 5126, "type": "{kind}"{limits}"#))
    }

    fn push(&mut self, bytes: &[u8], count: usize, kind: &str) -> usize {
        let (start, length) = (self.bytes.len(), bytes.len());
        self.views.push(format!(r#"{{ "buffer": 0, "byteOffset": {start}, "byteLength": {length} }}"#));
        self.accessors.push(format!(r#"{{ "bufferView": {}, "count": {count}, {kind} }}"#, self.accessors.len()));
        self.bytes.extend(bytes);
        self.accessors.len() - 1
    }
}

/// A square of two triangles on the first of two joints, several times on top of itself. The clip `wander` takes the
/// weights of its way and of its growth from 0 to 1 and 0.5 within two seconds, and `twist` the weight of its tangent
/// to 1.
pub fn write(folder: &Path, way: f32, copies: usize) {
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0_f32]].repeat(copies);
    let mut buffer = Buffer::default();
    let mut each = |vector: fn([f32; 2], f32) -> [f32; 3]| {
        buffer.floats(&corners.iter().map(|&corner| vector(corner, way)).collect::<Vec<_>>())
    };
    let [positions, normals] = [each(|[x, y], _| [x, y, 0.0]), each(|_, _| [0.0, 0.0, 1.0])];
    let [ways, growths] = [each(|_, way| [way, 0.0, 0.0]), each(|[_, y], _| [0.0, GROWTH * y, 0.0])];
    let [turns, twists] = [each(|_, _| TURN), each(|_, _| TWIST)];
    let tangents = buffer.floats(&vec![[1.0, 0.0, 0.0, 1.0]; corners.len()]);
    let uvs = buffer.floats(&corners);
    let joints: Vec<u8> = corners.iter().flat_map(|_| [1, 0, 0, 0]).collect();
    let joints = buffer.push(&joints, corners.len(), r#""componentType": 5121, "type": "VEC4""#);
    let weights = buffer.floats(&vec![[1.0, 0.0, 0.0, 0.0]; corners.len()]);
    let times = buffer.floats(&[[0.0], [2.0]]);
    let animation = |name: &str, weights: usize| {
        format!(
            r#"{{ "name": "{name}", "samplers": [{{ "input": {times}, "output": {weights} }}],
                "channels": [{{ "sampler": 0, "target": {{ "node": 0, "path": "weights" }} }}] }}"#
        )
    };
    let wander = animation("wander", buffer.floats(&[0.0, 0.0, 0.0, 1.0, 0.5, 0.0].map(|weight| [weight])));
    let twist = animation("twist", buffer.floats(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0].map(|weight| [weight])));
    let (length, views, accessors) = (buffer.bytes.len(), buffer.views.join(", "), buffer.accessors.join(", "));
    let document = format!(
        r#"{{ "asset": {{ "version": "2.0" }}, "scene": 0, "scenes": [{{ "nodes": [0, 1] }}],
        "nodes": [{{ "name": "square", "mesh": 0, "skin": 0 }}, {{ "name": "below", "children": [2] }}, {{ "name": "joint" }}],
        "skins": [{{ "joints": [1, 2] }}],
        "meshes": [{{ "weights": [0, 0, 0], "primitives": [{{
            "attributes": {{ "POSITION": {positions}, "NORMAL": {normals}, "TANGENT": {tangents}, "TEXCOORD_0": {uvs},
                "JOINTS_0": {joints}, "WEIGHTS_0": {weights} }},
            "targets": [{{ "POSITION": {ways} }}, {{ "POSITION": {growths}, "NORMAL": {turns} }}, {{ "TANGENT": {twists} }}]
        }}] }}],
        "animations": [{wander}, {twist}],
        "buffers": [{{ "byteLength": {length}, "uri": "square.bin" }}],
        "bufferViews": [{views}], "accessors": [{accessors}] }}"#
    );
    std::fs::write(folder.join("square.bin"), buffer.bytes).unwrap();
    std::fs::write(folder.join("square.gltf"), document).unwrap();
}

/// An app with squares, seen from the front.
pub struct Squares {
    pub app: App,
    pub film: Handle<Image>,
    pub rig: Handle<CrowdRig>,
    pub camera: Transform,
    pub folder: Folder,
    /// The way at weight 1, and the growth.
    pub displacements: [f32; 2],
    clip: &'static str,
    /// The times of their clips, and their places.
    squares: Vec<(LayerTime, Vec3)>,
}

impl Squares {
    /// Squares that wander.
    pub fn new(name: &str, times: &[LayerTime]) -> Self {
        Self::with(name, 1, ("wander", times), |plugins| plugins)
    }

    /// Squares of several copies that play a clip, one for each time, with other plugins of Bevy.
    pub fn with(
        name: &str,
        copies: usize,
        (clip, times): (&'static str, &[LayerTime]),
        change: impl FnOnce(PluginGroupBuilder) -> PluginGroupBuilder,
    ) -> Self {
        let folder = Folder::new(name);
        write(&folder.0, WAY, copies);
        let mut app = headless::app(change(headless::plugins(&folder.0, true)));
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
            let look = (Transform::from_translation(place), MeshMaterial3d(material.clone()));
            app.world_mut().spawn((Posse::new(rig.clone(), [ClipLayer::new(clip, time)]), look));
            squares.push((time, place));
        }
        let mut all = Self { app, film, rig, camera, folder, displacements: [WAY, GROWTH], clip, squares };
        all.frames(4);
        all
    }

    /// Runs frames.
    pub fn frames(&mut self, count: usize) {
        for _ in 0..count {
            self.app.update();
        }
    }

    /// Changes the material of all squares.
    pub fn paint(&mut self, base: &StandardMaterial) {
        for (_, material) in self.app.world_mut().resource_mut::<Assets<CrowdMaterial>>().iter_mut() {
            material.base = base.clone();
        }
    }

    /// The left lower and the right upper corner of each square in the reference.
    pub fn corners(&self, now: Ticks) -> Vec<[Vec3; 2]> {
        let rig = self.app.world().resource::<Assets<CrowdRig>>().get(&self.rig).unwrap();
        let clip = rig.library().find_clip(self.clip).unwrap();
        let mut crowd = Crowd::new();
        for &(time, _) in &self.squares {
            crowd.push(rig.skeleton(), &[Layer::new(clip, time)]).unwrap();
        }
        let outputs = Outputs { weights: true, ..Outputs::NONE };
        let poses = Reference::new(rig.library()).evaluate(&crowd, now, outputs).unwrap().instances;
        let corners = |(pose, &(_, place)): (&posse::Pose, &(LayerTime, Vec3))| {
            let [right, up] = [0, 1].map(|target| pose.weights[target] as f32 * self.displacements[target]);
            let low = place + Vec3::X * right;
            [low, low + Vec3::new(1.0, 1.0 + up, 0.0)]
        };
        poses.iter().zip(&self.squares).map(corners).collect()
    }

    /// The corners at the present time.
    pub fn corners_now(&self) -> Vec<[Vec3; 2]> {
        self.corners(self.app.world().resource::<CrowdClock>().now())
    }

    /// The place of a point in the picture.
    pub fn pixel(&self, point: Vec3) -> Vec2 {
        let [width, height] = SIZE.map(|size| size as f32);
        let projection = PerspectiveProjection { aspect_ratio: width / height, ..default() };
        let clip = projection.get_clip_from_view() * self.camera.to_matrix().inverse() * point.extend(1.0);
        0.5 * Vec2::new((1.0 + clip.x / clip.w) * width, (1.0 - clip.y / clip.w) * height)
    }

    pub fn shoot(&mut self) -> Picture {
        let film = self.film.clone();
        Picture::from_rows(SIZE, &headless::shoot(&mut self.app, &film))
    }

    /// Takes a picture, and holds points just inside and outside of the edges of the squares to it.
    pub fn check(&mut self) {
        let picture = self.shoot();
        for [low, high] in self.corners_now() {
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

    /// Takes a picture, and returns the brightness in the middle of each square, without the curve of sRGB.
    pub fn levels(&mut self) -> Vec<f32> {
        let picture = self.shoot();
        let level = |[low, high]: [Vec3; 2]| {
            let pixel = self.pixel(0.5 * (low + high));
            let colour = picture.pixel(pixel.x as i64, pixel.y as i64).unwrap();
            Srgba::gamma_function(f32::from(colour[0]) / 255.0)
        };
        self.corners_now().into_iter().map(level).collect()
    }
}

/// Fixed times, so that each square has weights of its own, and one that plays.
pub fn times() -> Vec<LayerTime> {
    let playing = LayerTime::Playing(Playback::looping(0.0, 1.0));
    vec![LayerTime::At(2.0), LayerTime::At(0.5), playing]
}
