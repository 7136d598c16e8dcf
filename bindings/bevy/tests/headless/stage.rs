//! A scene in an app: characters in colours that tell their numbers, and a camera.

use std::path::Path;

use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::mesh::{Indices, Mesh, PrimitiveTopology, VertexAttributeValues};
use bevy::prelude::*;
use bevy::render::storage::ShaderBuffer;
use bevy_posse::{ClipLayer, CrowdClock, CrowdMaterial, CrowdRig, CrowdRigParts, Posse, PossePlugin, RigPart};

use crate::figure::Figure;
use crate::headless::{self, Picture};
use crate::scene::{self, Scene};

/// An app with a scene.
pub struct Stage {
    pub app: App,
    pub scene: Scene,
    pub figure: Figure,
    pub rig: Handle<CrowdRig>,
    pub film: Handle<Image>,
    /// The entities of the instances.
    pub characters: Vec<Entity>,
}

impl Stage {
    /// The 24 characters of [`Scene::apart`], and a camera that sees them without tone mapping.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// The same with more plugins.
    pub fn with(add: impl FnOnce(&mut App)) -> Self {
        let scene = Scene::apart().unwrap();
        let figure = Figure::new(scene.skeleton(), 0.04).unwrap();
        let mut app = headless::app(headless::plugins(Path::new("assets"), false));
        app.add_plugins(PossePlugin);
        add(&mut app);
        headless::begin(&mut app);
        let rig = rig(&scene, &figure, app.world_mut());
        let rig = app.world_mut().resource_mut::<Assets<CrowdRig>>().add(rig);
        let mut stage = Self { app, scene, figure, rig, film: Handle::default(), characters: Vec::new() };
        stage.film = stage.add_camera();
        for instance in 0..stage.scene.crowd.len() {
            let character = stage.spawn(instance);
            stage.characters.push(character);
        }
        let rig = stage.rig.clone();
        headless::run_until(&mut stage.app, |world| world.resource::<CrowdRigParts>().bounds(&rig).is_some());
        stage.frames(3);
        stage
    }

    /// Adds a camera of the scene, with an image of its own.
    pub fn add_camera(&mut self) -> Handle<Image> {
        let camera = self.scene.camera;
        let world = self.app.world_mut();
        let (film, target) = headless::film(&mut world.resource_mut::<Assets<Image>>(), camera.size);
        world.spawn((
            Camera3d::default(),
            Camera { clear_color: Color::BLACK.into(), ..default() },
            target,
            Projection::Perspective(PerspectiveProjection {
                fov: camera.field_of_view,
                near: scene::Camera::NEAR,
                ..default()
            }),
            Transform::from_translation(camera.eye).looking_at(camera.target, Vec3::Y),
            Msaa::Off,
            (Tonemapping::None, DebandDither::Disabled),
        ));
        film
    }

    /// Spawns the character of an instance, in the colour that tells its number.
    pub fn spawn(&mut self, instance: usize) -> Entity {
        let number = instance + 1;
        let fifths = [number % 6, number / 6 % 6, number / 36].map(|digit| digit as f32 / 5.0);
        let base = StandardMaterial {
            base_color: Color::linear_rgb(fifths[0], fifths[1], fifths[2]),
            unlit: true,
            ..default()
        };
        self.spawn_in(instance, base)
    }

    /// Spawns the character of an instance with a material.
    pub fn spawn_in(&mut self, instance: usize, base: StandardMaterial) -> Entity {
        let layers = layers(&self.scene, instance);
        let transform = Transform::from_matrix(Mat4::from(self.scene.placements[instance].to_world()));
        let world = self.app.world_mut();
        let extension = world.resource::<Assets<CrowdRig>>().get(&self.rig).unwrap().skinning();
        let material = world.resource_mut::<Assets<CrowdMaterial>>().add(CrowdMaterial { base, extension });
        world.spawn((Posse::new(self.rig.clone(), layers), transform, MeshMaterial3d(material))).id()
    }

    /// Runs frames.
    pub fn frames(&mut self, count: usize) {
        for _ in 0..count {
            self.app.update();
        }
    }

    /// The picture of the present time. The clock stands still from then on.
    pub fn shoot(&mut self, film: &Handle<Image>) -> Picture {
        Picture::from_rows(self.scene.camera.size, &headless::shoot(&mut self.app, film))
    }

    /// Takes a picture, and holds it to the reference.
    pub fn check(&mut self) {
        let film = self.film.clone();
        self.check_film(&film);
    }

    /// Takes a picture of a camera, and holds it to the reference.
    pub fn check_film(&mut self, film: &Handle<Image>) {
        let picture = self.shoot(film);
        let now = self.app.world().resource::<CrowdClock>().now();
        self.hold(&picture, now);
    }

    /// Takes a picture, and holds it to the reference at another time.
    pub fn check_at(&mut self, tick: posse::Ticks) {
        let film = self.film.clone();
        let picture = self.shoot(&film);
        self.hold(&picture, tick);
    }

    fn hold(&self, picture: &Picture, now: posse::Ticks) {
        if let Err(error) = crate::check::check(picture, &self.scene, &self.figure, now) {
            let file = std::env::temp_dir().join("bevy_posse.png");
            picture.save(&file).unwrap();
            panic!("{error}; the picture is {}", file.display());
        }
    }
}

/// The layers of an instance, by name.
pub fn layers(scene: &Scene, instance: usize) -> Vec<ClipLayer> {
    let by_name = |layer: &posse::Layer| {
        let name = scene.library.clip(layer.clip).name.clone().unwrap();
        let mask = layer.mask.map(|_| "arm".into());
        ClipLayer { weight: layer.weight, mode: layer.mode, mask, ..ClipLayer::new(name, layer.time) }
    };
    scene.crowd.layers(instance).iter().map(by_name).collect()
}

/// The rig of the scene, with the figure as its mesh.
pub fn rig(scene: &Scene, figure: &Figure, world: &mut World) -> CrowdRig {
    rig_of(scene, figure, 1, world)
}

/// The rig of the scene, with the figure as each of its meshes.
pub fn rig_of(scene: &Scene, figure: &Figure, parts: usize, world: &mut World) -> CrowdRig {
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, default());
    let vertices = &figure.vertices;
    mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, vertices.iter().map(|vertex| vertex.position).collect::<Vec<_>>());
    mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, vertices.iter().map(|vertex| vertex.normal).collect::<Vec<_>>());
    let joints = vertices.iter().map(|vertex| vertex.joints.map(u16::from)).collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_INDEX, VertexAttributeValues::Uint16x4(joints));
    let weights = vertices.iter().map(|vertex| vertex.weights.map(|weight| f32::from(weight) / 255.0));
    mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights.collect::<Vec<_>>());
    mesh.insert_indices(Indices::U32(figure.indices.clone()));
    let skeleton = scene.library.skeleton_ids().next().unwrap();
    let (skin, _) = scene.library.skins_of(skeleton).next().unwrap();
    let part = RigPart { mesh, material: StandardMaterial::default(), skin, joint: None };
    let mut buffers = world.resource_mut::<Assets<ShaderBuffer>>();
    CrowdRig::new(scene.library.clone(), skeleton, vec![part; parts], &mut buffers).unwrap()
}
