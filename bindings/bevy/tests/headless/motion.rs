//! The motion vectors of the prepass.

use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass};
use bevy::prelude::*;
use bevy::render::render_resource::AsBindGroup;
use bevy::shader::{Shader, ShaderRef};
use bevy_posse::CrowdClock;
use posse::{Evaluator, Outputs, Reference, Ticks};

use crate::stage::Stage;

/// The linear change of a colour per motion of the width or height of the picture.
const SCALE: f32 = 32.0;
const SHADER: &str = "
import bevy_pbr::{prepass::utils::prepass_motion_vector, render::forward_io::VertexOutput};

@fragment
fn fragment(in: VertexOutput) -> @location(0) vec4<f32> {
    return vec4<f32>(0.5 + 32.0 * prepass_motion_vector(in.position, 0u), 0.0, 1.0);
}";

/// A pane that shows the motion vectors behind it.
#[derive(Asset, AsBindGroup, TypePath, Clone)]
pub struct Pane {}

impl Material for Pane {
    fn fragment_shader() -> ShaderRef {
        bevy::asset::uuid_handle!("5a3c3b5e-5f0e-4f0c-9d58-0d6a3b1f7c11").into()
    }

    fn alpha_mode(&self) -> AlphaMode {
        AlphaMode::Blend
    }
}

/// Adds a pane to an app with `MaterialPlugin::<Pane>`, a metre in front of its camera.
pub fn add_pane(world: &mut World, mut place: Transform) {
    let ShaderRef::Handle(shader) = Pane::fragment_shader() else { panic!("the shader has a handle") };
    let shader_text = Shader::from_wesl(SHADER, "pane.wesl");
    world.resource_mut::<Assets<Shader>>().insert(shader.id(), shader_text).unwrap();
    let pane = world.resource_mut::<Assets<Pane>>().add(Pane {});
    let square = world.resource_mut::<Assets<Mesh>>().add(Rectangle::new(4.0, 4.0));
    place.translation += 1.0 * place.forward();
    world.spawn((Mesh3d(square), MeshMaterial3d(pane), place));
    let eye = world.query_filtered::<Entity, With<Camera3d>>().single(world).unwrap();
    world.entity_mut(eye).insert((DepthPrepass, MotionVectorPrepass));
}

/// The motion that the pane shows in a colour, in pixels of a picture of this size.
pub fn motion_in(colour: [u8; 3], size: [u32; 2]) -> Vec2 {
    let linear = colour.map(|byte| Srgba::gamma_function(f32::from(byte) / 255.0) - 0.5);
    Vec2::new(linear[0] * size[0] as f32, linear[1] * size[1] as f32) / SCALE
}

/// The vectors at joints are the differences of the joints' pixels in two poses of the reference.
#[test]
fn motion_vectors_lead_from_the_pose_of_the_frame_before() {
    let mut stage = Stage::with(|app| {
        app.add_plugins(MaterialPlugin::<Pane>::default());
    });
    let camera = stage.scene.camera;
    let place = Transform::from_translation(camera.eye).looking_at(camera.target, Vec3::Y);
    let world = stage.app.world_mut();
    add_pane(world, place);
    let eye = world.query_filtered::<Entity, With<Camera3d>>().single(world).unwrap();
    stage.frames(4);
    let step = stage.app.world().resource::<CrowdClock>().step();
    // The image keeps the last frame with a step.
    stage.app.world_mut().get_mut::<Camera>(eye).unwrap().is_active = false;
    let film = stage.film.clone();
    let picture = stage.shoot(&film);

    let outputs = Outputs { model: true, ..Outputs::NONE };
    let [width, height] = camera.size.map(|size| size as f32);
    let clip_from_world = camera.clip_from_world();
    let pixels = |tick: Ticks| -> Vec<Vec2> {
        let poses = Reference::new(&stage.scene.library).evaluate(&stage.scene.crowd, tick, outputs).unwrap().instances;
        let joints = ["head", "hand.L", "hand.R", "calf.L", "calf.R", "foot.L"];
        let pixel = |point: Vec3| {
            let clip = clip_from_world * point.extend(1.0);
            0.5 * Vec2::new((1.0 + clip.x / clip.w) * width, (1.0 - clip.y / clip.w) * height)
        };
        let of_pose = |(pose, placement): (&posse::Pose, &crate::scene::Placement)| {
            let at = |name| pose.model[stage.scene.skeleton().find_joint(name).unwrap()].translation.as_vec3();
            joints.map(|name| pixel(placement.to_world().transform_point3(at(name))))
        };
        poses.iter().zip(&stage.scene.placements).flat_map(of_pose).collect()
    };
    let (mut moved, mut off) = (0.0, 0.0);
    for (before, now) in pixels(step.from).into_iter().zip(pixels(step.to)) {
        let colour = picture.pixel(now.x as i64, now.y as i64).unwrap();
        let found = motion_in(colour, camera.size);
        moved += (now - before).length();
        off += (now - before - found).length();
    }
    // The surface moves a little otherwise than the joint in it, and some joints are behind another part of the body.
    // Without motion vectors, the difference is as large as the motion.
    assert!(moved > 144.0 * 1.5, "joints move by {moved} pixels, too little for a test");
    assert!(off < 0.5 * moved, "joints move by {moved} pixels; the motion vectors are off by {off}");
}
