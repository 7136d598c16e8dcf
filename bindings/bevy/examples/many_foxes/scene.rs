//! The scene of Bevy's stress test `many_foxes`: rings of running foxes that turn, a ground, a sun with shadows, a
//! camera that sees all.

use std::f32::consts::{PI, TAU};

use bevy::animation::graph::{AnimationGraph, AnimationGraphHandle, AnimationNodeIndex};
use bevy::animation::{AnimatedBy, AnimationPlayer, AnimationTargetId};
use bevy::camera::RenderTarget;
use bevy::camera::primitives::{Aabb, Frustum};
use bevy::camera::visibility::{DynamicSkinnedMeshBounds, NoCpuCulling, NoFrustumCulling, VisibilityClass};
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::gltf::{Gltf, GltfAssetLabel, GltfExtras, GltfMaterial, GltfMaterialName, GltfMesh, GltfMeshName};
use bevy::mesh::skinning::SkinnedMesh;
use bevy::pbr::gltf::standard_material_from_gltf_material;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::camera::CameraRenderGraph;
use bevy::transform::components::TransformTreeChanged;
use bevy::world_serialization::WorldInstanceReady;
use bevy_posse::{ClipLayer, CrowdRig, CrowdRigParts, Posse, posse::Ticks};

/// The distance between foxes and between rings, in metres.
const SPACING: f32 = 2.0;
/// The speed of the rings, in metres per second.
const SPEED: f32 = 2.0;
/// The third clip of the model.
const RUN: usize = 2;

/// The animation of the foxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Bevy,
    Posse,
    /// None: the mesh without its joints, one entity per fox. The floor of what Bevy takes for entities that move.
    Rigid,
}

/// The loaded model.
pub enum Model {
    Bevy(Handle<WorldAsset>, Handle<AnimationGraph>, AnimationNodeIndex),
    Posse(Handle<CrowdRig>),
    Rigid(Handle<Gltf>),
}

/// A ring with its angular velocity.
#[derive(Component)]
pub struct Ring(f32);

/// The time in the clip at which a fox begins, in seconds.
#[derive(Component, Clone, Copy)]
struct Phase(f32);

/// A fox that one entity draws.
#[derive(Component, Clone, Copy)]
struct Fox;

/// The components that decide whether a camera sees a mesh.
type Drawn = (&'static ViewVisibility, &'static GlobalTransform, &'static Aabb);

/// A render graph that draws nothing.
#[derive(ScheduleLabel, Debug, Hash, PartialEq, Eq, Clone)]
struct Nothing;

impl Model {
    /// Asks for the model.
    pub fn load(side: Side, file: &str, world: &mut World) -> Self {
        let server = world.resource::<AssetServer>().clone();
        match side {
            Side::Posse => return Self::Posse(server.load(file.to_owned())),
            Side::Rigid => return Self::Rigid(server.load(file.to_owned())),
            Side::Bevy => {}
        }
        let clip = server.load(GltfAssetLabel::Animation(RUN).from_asset(file.to_owned()));
        let (graph, node) = AnimationGraph::from_clip(clip);
        let graph = world.resource_mut::<Assets<AnimationGraph>>().add(graph);
        Self::Bevy(server.load(GltfAssetLabel::Scene(0).from_asset(file.to_owned())), graph, node)
    }

    /// True once all of the model is there.
    pub fn is_loaded(&self, world: &World) -> bool {
        match self {
            Self::Bevy(scene, ..) => world.resource::<AssetServer>().is_loaded_with_dependencies(scene),
            Self::Posse(rig) => world.resource::<CrowdRigParts>().bounds(rig).is_some(),
            Self::Rigid(file) => world.resource::<AssetServer>().is_loaded_with_dependencies(file),
        }
    }

    /// Spawns the foxes in their rings.
    pub fn spawn(&self, world: &mut World, count: usize) {
        if let Self::Bevy(_, graph, node) = self {
            let (graph, node) = (graph.clone(), *node);
            world.add_observer(
                move |ready: On<WorldInstanceReady>,
                      phases: Query<&Phase>,
                      children: Query<&Children>,
                      mut players: Query<&mut AnimationPlayer>,
                      mut commands: Commands| {
                    let Ok(&Phase(phase)) = phases.get(ready.entity) else { return };
                    for child in children.iter_descendants(ready.entity) {
                        let Ok(mut player) = players.get_mut(child) else { continue };
                        player.play(node).repeat().seek_to(phase);
                        commands.entity(child).insert(AnimationGraphHandle(graph.clone()));
                    }
                },
            );
        }
        let rigid = match self {
            Self::Rigid(file) => rigid(file, world),
            _ => None,
        };
        let (mut ring, mut left) = (1, count);
        while left > 0 {
            let radius = SPACING * ring as f32;
            let in_ring = ((TAU * radius / SPACING) as usize).min(left);
            let direction = if ring % 2 == 0 { 1.0 } else { -1.0 };
            let parent =
                world.spawn((Ring(direction * SPEED / radius), Transform::default(), Visibility::default())).id();
            for fox in 0..in_ring {
                let angle = TAU * fox as f32 / in_ring as f32;
                let turn = if direction > 0.0 { PI } else { 0.0 };
                let place = Transform::from_xyz(radius * angle.cos(), 0.0, radius * angle.sin())
                    .with_rotation(Quat::from_rotation_y(turn - angle))
                    .with_scale(Vec3::splat(0.01));
                let phase = (0.37 * (fox + 7 * ring) as f32) % 1.0;
                match self {
                    Self::Bevy(scene, ..) => {
                        world.spawn((WorldAssetRoot(scene.clone()), Phase(phase), place, ChildOf(parent)));
                    }
                    Self::Posse(rig) => {
                        let run = ClipLayer::looping("Run").starting_at(Ticks::from_seconds(-f64::from(phase)));
                        world.spawn((Posse::new(rig.clone(), [run]), Fox, place, ChildOf(parent)));
                    }
                    Self::Rigid(_) => {
                        // Culled by the GPU, as the foxes of posse.
                        let Some(drawn) = rigid.clone() else { return };
                        world.spawn((drawn, Fox, NoCpuCulling, place, ChildOf(parent)));
                    }
                }
            }
            left -= in_ring;
            ring += 1;
        }
    }

    /// The number of foxes that play and that a camera sees.
    pub fn visible(&self, world: &mut World) -> usize {
        match self {
            Self::Bevy(..) => {
                let mut players = world.query::<&AnimationPlayer>();
                let playing = players.iter(world).filter(|player| player.playing_animations().next().is_some()).count();
                let mut meshes = world.query_filtered::<&ViewVisibility, With<SkinnedMesh>>();
                playing.min(meshes.iter(world).filter(|visibility| visibility.get()).count())
            }
            Self::Posse(_) | Self::Rigid(_) => {
                // The GPU culls these, so that `ViewVisibility` does not know the camera.
                let mut cameras = world.query_filtered::<&Frustum, With<Camera>>();
                let Ok(frustum) = cameras.single(world).copied() else { return 0 };
                let mut meshes = world.query_filtered::<Drawn, (With<Fox>, With<Mesh3d>)>();
                let sees = |place: &GlobalTransform, bounds: &Aabb| {
                    frustum.intersects_obb(bounds, &place.affine(), true, true)
                };
                meshes.iter(world).filter(|(shown, place, bounds)| shown.get() && sees(place, bounds)).count()
            }
        }
    }
}

/// The first mesh of a file without its joints, and its material.
fn rigid(file: &Handle<Gltf>, world: &mut World) -> Option<(Mesh3d, MeshMaterial3d<StandardMaterial>)> {
    let mesh = world.resource::<Assets<Gltf>>().get(file)?.meshes.first()?;
    let primitive = world.resource::<Assets<GltfMesh>>().get(mesh)?.primitives.first()?;
    let material = world.resource::<Assets<GltfMaterial>>().get(primitive.material.as_ref()?)?;
    let material = standard_material_from_gltf_material(material);
    let mut mesh = world.resource::<Assets<Mesh>>().get(&primitive.mesh)?.clone();
    mesh.remove_attribute(Mesh::ATTRIBUTE_JOINT_INDEX);
    mesh.remove_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    Some((Mesh3d(mesh), MeshMaterial3d(world.resource_mut::<Assets<StandardMaterial>>().add(material))))
}

/// Registers the types of scenes from glTF files. Bevy does so by its default feature `reflect_auto_register`, which
/// the plugin does not need.
pub fn register_types(app: &mut App) {
    app.register_type::<Name>()
        .register_type::<Transform>()
        .register_type::<GlobalTransform>()
        .register_type::<TransformTreeChanged>()
        .register_type::<Visibility>()
        .register_type::<InheritedVisibility>()
        .register_type::<ViewVisibility>()
        .register_type::<VisibilityClass>()
        .register_type::<NoFrustumCulling>()
        .register_type::<DynamicSkinnedMeshBounds>()
        .register_type::<Aabb>()
        .register_type::<Mesh3d>()
        .register_type::<MeshMaterial3d<StandardMaterial>>()
        .register_type::<SkinnedMesh>()
        .register_type::<GltfMeshName>()
        .register_type::<GltfMaterialName>()
        .register_type::<GltfExtras>()
        .register_type::<AnimationPlayer>()
        .register_type::<AnimationTargetId>()
        .register_type::<AnimatedBy>()
        .register_type::<Children>()
        .register_type::<ChildOf>();
}

/// Turns the rings.
pub fn turn(mut rings: Query<(&Ring, &mut Transform)>, time: Res<Time>) {
    for (ring, mut transform) in &mut rings {
        transform.rotate_y(ring.0 * time.delta_secs());
    }
}

/// Leaves the culling of Bevy's foxes to the GPU.
pub fn cull_by_gpu(meshes: Query<Entity, (With<SkinnedMesh>, Without<NoCpuCulling>)>, mut commands: Commands) {
    for mesh in &meshes {
        commands.entity(mesh).insert(NoCpuCulling);
    }
}

/// Spawns the ground, the sun and the camera, for that many foxes. Without `draws`, the camera has an empty render
/// graph.
pub fn set_stage(app: &mut App, count: usize, target: RenderTarget, draws: bool) {
    let radius = SPACING * (2.0 + (count as f32 / PI).sqrt());
    let world = app.world_mut();
    let ground = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(5000.0, 5000.0));
    let grass = world.resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.3, 0.5, 0.3));
    world.spawn((Mesh3d(ground), MeshMaterial3d(grass)));
    world.spawn((
        DirectionalLight { shadow_maps_enabled: true, ..default() },
        bevy::light::CascadeShadowConfigBuilder {
            first_cascade_far_bound: 0.9 * radius,
            maximum_distance: 2.8 * radius,
            ..default()
        }
        .build(),
        Transform::from_rotation(Quat::from_euler(EulerRot::ZYX, 0.0, 1.0, -PI / 4.0)),
    ));
    let eye = radius * Vec3::new(1.25, 0.75, 1.5);
    let camera = world
        .spawn((
            Camera3d::default(),
            Tonemapping::AcesFitted,
            target,
            Projection::Perspective(PerspectiveProjection { far: 4.0 * radius, ..default() }),
            Transform::from_translation(eye).looking_at(Vec3::ZERO, Vec3::Y),
        ))
        .id();
    if !draws {
        world.entity_mut(camera).insert(CameraRenderGraph::new(Nothing));
        app.sub_app_mut(RenderApp).init_schedule(Nothing);
    }
}
