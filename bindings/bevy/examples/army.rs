//! Two armies that run at each other: `cargo run --example army -- FILE.png [SOLDIERS]` draws a picture without a
//! window.
//!
//! Legs and upper bodies play different clips through masks. Each step of the run is an event, which spawns a puff of
//! dust.

use std::f32::consts::FRAC_PI_2;
use std::path::Path;

use bevy::asset::RenderAssetUsages;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::light::NotShadowCaster;
use bevy::mesh::{Indices, PrimitiveTopology, VertexAttributeValues};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy::render::storage::ShaderBuffer;
use bevy_posse::posse::events::Event;
use bevy_posse::posse::{LayerMode, Mask, Ticks, demo};
use bevy_posse::{ClipEvent, ClipEvents, ClipLayer, CrowdRig, Posse, PossePlugin, PosseSystems, RigPart, crowd_mesh};

#[path = "headless/mod.rs"]
mod headless;

/// The result of a fallible step.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The size of the picture in pixels.
const SIZE: [u32; 2] = [800, 360];
/// The speed of the soldiers in metres per second, and the time that they have run in the picture.
const SPEED: f32 = 3.4;
const SECONDS: f32 = 3.0;
/// The life of a puff of dust in seconds, and the number of materials through which it fades.
const LIFE: f32 = 1.0;
const FADES: usize = 8;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, count) = match arguments.as_slice() {
        [file] => (file, 600),
        [file, count] => (file, count.parse()?),
        _ => return Err("give the name of the PNG file to write; then, if wanted, the number of soldiers".into()),
    };
    let mut app = headless::app(headless::plugins(Path::new("assets"), false));
    app.add_plugins(PossePlugin)
        .insert_resource(ClearColor(Color::srgb(0.72, 0.80, 0.88)))
        .add_systems(PreUpdate, kick_up.after(PosseSystems::Events))
        .add_systems(Update, (march, fade));
    headless::begin(&mut app);
    let film = set_stage(app.world_mut());
    spawn(app.world_mut(), count)?;
    for _ in 0..(SECONDS / headless::STEP.as_secs_f32()) as usize {
        app.update();
    }
    // Only the frames of the picture are drawn.
    let world = app.world_mut();
    world.query::<&mut Camera>().single_mut(world)?.is_active = true;
    headless::Picture::from_rows(SIZE, &headless::shoot(&mut app, &film)).save(Path::new(file))
}

/// A soldier.
#[derive(Component)]
struct Soldier;

/// Spawns the armies: red to the right, blue to the left.
fn spawn(world: &mut World, count: usize) -> Outcome<()> {
    let mut library = demo::library()?;
    let (Some(skeleton), Some(run)) = (library.skeleton_ids().next(), library.find_clip("run")) else {
        return Err("the human of the demo has a skeleton and a run".into());
    };
    let (upper, _) = Mask::named(Some("upper".into()), library.skeletons(), skeleton, &[("spine.1", 1.0)], true)?;
    library.add_mask(upper)?;
    let duration = library.clip(run).duration();
    let step = |phase: f64, foot: &str| Event {
        time: phase * duration,
        function: "step".into(),
        parameters: vec![foot.to_owned()],
    };
    library.set_events(run, vec![step(0.4, "left"), step(0.9, "right")])?;
    let (skin, _) = library.skins_of(skeleton).next().ok_or("the human of the demo has a skin")?;

    let body = posse_render::demo::body(library.skeleton(skeleton), 0.03)?;
    let material = StandardMaterial { perceptual_roughness: 0.9, ..default() };
    let part = RigPart { mesh: mesh(&body, [Vec3::ONE; 3]), material, skin, joint: None };
    let rig = CrowdRig::new(library, skeleton, vec![part], &mut world.resource_mut::<Assets<ShaderBuffer>>())?;
    let rig = world.resource_mut::<Assets<CrowdRig>>().add(rig);
    for (side, shirt) in [(1.0, Vec3::new(0.60, 0.05, 0.04)), (-1.0, Vec3::new(0.04, 0.13, 0.55))] {
        let looks = [Vec3::new(0.72, 0.45, 0.32), Vec3::new(0.50, 0.28, 0.17), Vec3::new(0.22, 0.11, 0.06)];
        let hairs = [Vec3::new(0.30, 0.18, 0.07), Vec3::new(0.03, 0.02, 0.02), Vec3::new(0.02, 0.02, 0.02)];
        let bodies =
            looks.iter().zip(hairs).filter_map(|(&look, hair)| crowd_mesh(mesh(&body, [look, hair, shirt]), 0));
        let bodies: Vec<_> = bodies.map(|body| world.resource_mut::<Assets<Mesh>>().add(body)).collect();
        for soldier in 0..count / 2 {
            let (rank, file) = (soldier / 30, soldier % 30);
            let spread = |ratio: f32| ((soldier + 1) as f32 * ratio).fract() - 0.5;
            let start = Ticks::from_seconds(-f64::from(spread(0.618_034)));
            let mut layers =
                vec![ClipLayer::looping("run").starting_at(start).at_rate(f64::from(1.0 + 0.1 * spread(0.57)))];
            if soldier % 3 != 1 {
                // Legs run, arms wave.
                let wave = ClipLayer { mode: LayerMode::Override, ..ClipLayer::looping("wave") };
                layers.push(wave.starting_at(start).at_rate(1.6).masked("upper"));
            }
            let x = 1.6 + 1.7 * rank as f32 + 0.9 * spread(0.754_878) + SPEED * SECONDS;
            let z = 4.5 - 1.3 * file as f32 + 0.7 * spread(0.569_84);
            let place = Transform::from_xyz(side * x, 0.0, z).with_rotation(Quat::from_rotation_y(-side * FRAC_PI_2));
            let body = Mesh3d(bodies[soldier % bodies.len()].clone());
            world.spawn((Soldier, Posse::new(rig.clone(), layers), ClipEvents, body, place));
        }
    }
    Ok(())
}

/// The mesh of a body, with the colours of skin, hair and shirt.
fn mesh(body: &posse::export::gltf::HumanMesh, [skin, hair, shirt]: [Vec3; 3]) -> Mesh {
    let colour = |[hairs, shirts, shorts, shoes]: [f32; 4]| {
        let rest = 1.0 - hairs - shirts - shorts - shoes;
        let cloth = shirts * shirt + shorts * 0.25 * shirt + Vec3::splat(0.02 * shoes);
        (cloth + hairs * hair + rest.max(0.0) * skin).extend(1.0).to_array()
    };
    let vertices = &body.vertices;
    let joints = VertexAttributeValues::Uint16x4(vertices.iter().map(|vertex| vertex.joints).collect());
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_POSITION,
            vertices.iter().map(|vertex| vertex.position).collect::<Vec<_>>(),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_NORMAL,
            vertices.iter().map(|vertex| vertex.normal).collect::<Vec<_>>(),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_COLOR,
            vertices.iter().map(|vertex| colour(vertex.parts)).collect::<Vec<_>>(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_JOINT_INDEX, joints)
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_WEIGHT,
            vertices.iter().map(|vertex| vertex.weights).collect::<Vec<_>>(),
        )
        .with_inserted_indices(Indices::U32(body.indices.clone()))
}

/// Moves the soldiers forward.
fn march(mut soldiers: Query<&mut Transform, With<Soldier>>, time: Res<Time>) {
    for mut place in &mut soldiers {
        let forward = place.rotation * Vec3::Z;
        place.translation += SPEED * time.delta_secs() * forward;
    }
}

/// A puff of dust, with its age in seconds.
#[derive(Component)]
struct Puff(f32);

/// The looks of dust, from new to old.
#[derive(Resource)]
struct Dust {
    mesh: Handle<Mesh>,
    materials: Vec<Handle<StandardMaterial>>,
}

/// Spawns dust at the feet that reach the ground.
fn kick_up(
    mut steps: MessageReader<ClipEvent>,
    soldiers: Query<&Transform, With<Soldier>>,
    dust: Res<Dust>,
    mut commands: Commands,
) {
    for step in steps.read().filter(|event| event.function == "step") {
        let Ok(place) = soldiers.get(step.entity) else { continue };
        let side = if step.parameters.iter().any(|foot| foot == "left") { 0.1 } else { -0.1 };
        let foot = place.transform_point(Vec3::new(side, 0.08, 0.1));
        let look = (Mesh3d(dust.mesh.clone()), MeshMaterial3d(dust.materials[0].clone()), NotShadowCaster);
        commands.spawn((Puff(0.0), look, Transform::from_translation(foot).with_scale(Vec3::ZERO)));
    }
}

/// Lets dust rise, grow, fade and go. It faces the camera.
fn fade(
    mut puffs: Query<(Entity, &mut Puff, &mut Transform, &mut MeshMaterial3d<StandardMaterial>)>,
    camera: Single<&GlobalTransform, With<Camera3d>>,
    (dust, time): (Res<Dust>, Res<Time>),
    mut commands: Commands,
) {
    for (entity, mut puff, mut place, mut material) in &mut puffs {
        puff.0 += time.delta_secs();
        let age = puff.0 / LIFE;
        let Some(faded) = dust.materials.get((age * FADES as f32) as usize) else {
            commands.entity(entity).despawn();
            continue;
        };
        material.0 = faded.clone();
        place.scale = Vec3::splat(0.4 + 1.1 * age);
        // It stands on the ground.
        place.translation.y = 0.35 * place.scale.y;
        place.rotation = camera.rotation();
    }
}

/// Spawns the ground, the sun and a camera that does not draw yet, and prepares the dust.
fn set_stage(world: &mut World) -> Handle<Image> {
    let (film, target) = headless::film(&mut world.resource_mut::<Assets<Image>>(), SIZE);
    world.spawn((
        Camera3d::default(),
        Camera { is_active: false, ..default() },
        Tonemapping::AcesFitted,
        target,
        DistanceFog {
            color: Color::srgb(0.72, 0.80, 0.88),
            falloff: FogFalloff::from_visibility_squared(75.0),
            ..default()
        },
        Transform::from_xyz(0.4, 3.2, 10.0).looking_at(Vec3::new(0.0, 0.6, 0.0), Vec3::Y),
    ));
    let plane = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(500.0, 500.0));
    let field = StandardMaterial { base_color: Color::srgb(0.46, 0.42, 0.26), perceptual_roughness: 1.0, ..default() };
    let field = world.resource_mut::<Assets<StandardMaterial>>().add(field);
    world.spawn((Mesh3d(plane), MeshMaterial3d(field)));
    world.spawn((
        DirectionalLight { shadow_maps_enabled: true, color: Color::srgb(1.0, 0.93, 0.82), ..default() },
        bevy::light::CascadeShadowConfigBuilder {
            num_cascades: 2,
            first_cascade_far_bound: 16.0,
            maximum_distance: 60.0,
            ..default()
        }
        .build(),
        Transform::IDENTITY.looking_to(Vec3::new(-0.5, -0.8, -0.6), Vec3::Y),
    ));
    world.insert_resource(bevy::light::GlobalAmbientLight { brightness: 500.0, ..default() });

    // White, fading from the middle to the edge.
    let alpha = |x: i32, y: i32| (1.0 - (x * x + y * y) as f32 / 1024.0).max(0.0).powi(2);
    let pixels = (-32..32).flat_map(|y| (-32..32).map(move |x| (x, y)));
    let pixels = pixels.flat_map(|(x, y)| [255, 255, 255, (255.0 * alpha(x, y)) as u8]).collect();
    let size = Extent3d { width: 64, height: 64, depth_or_array_layers: 1 };
    let image =
        Image::new(size, TextureDimension::D2, pixels, TextureFormat::Rgba8UnormSrgb, RenderAssetUsages::RENDER_WORLD);
    let image = world.resource_mut::<Assets<Image>>().add(image);
    let material = |fade: usize| StandardMaterial {
        base_color: Color::srgba(0.93, 0.87, 0.74, 0.85 * (1.0 - fade as f32 / FADES as f32)),
        base_color_texture: Some(image.clone()),
        alpha_mode: AlphaMode::Blend,
        unlit: true,
        ..default()
    };
    let materials =
        (0..FADES).map(|fade| world.resource_mut::<Assets<StandardMaterial>>().add(material(fade))).collect();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Rectangle::new(1.0, 1.0));
    world.insert_resource(Dust { mesh, materials });
    film
}
