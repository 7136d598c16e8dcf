//! bevy_animation: one entity per joint, one `AnimationPlayer` per instance, its systems without a window, on one
//! thread.
//!
//! `+ model` adds the transform propagation of Bevy. `+ skin` adds a system that multiplies matrices into one array, as
//! the renderer of Bevy does when it extracts skins.

use std::time::Duration;

use bevy_animation::graph::AnimationGraph;
use bevy_animation::prelude::{AnimatableCurve, AnimatableKeyframeCurve, AnimationGraphHandle};
use bevy_animation::{AnimatedBy, AnimationClip, AnimationPlayer, AnimationPlugin, AnimationTargetId, animated_field};
use bevy_app::{App, PostUpdate, TaskPoolPlugin};
use bevy_asset::{AssetPlugin, Assets, Handle};
use bevy_ecs::prelude::{ChildOf, Entity, IntoScheduleConfigs, Query, ResMut, Resource};
use bevy_math::{Mat4, Quat, Vec3};
use bevy_time::Time;
use bevy_transform::components::{GlobalTransform, Transform};
use bevy_transform::{TransformPlugin, TransformSystems};
use glam::{DAffine3, DMat4, DQuat, DVec3};
use posse::curves::{Curve, Target};
use posse::{Error, Pose};

use crate::scene::{Contender, FRAME, Scene, Workload};

/// An app with the systems of bevy_animation.
pub struct Bevy {
    app: App,
    workload: Workload,
    /// By instance, then by joint.
    joints: Vec<Vec<Entity>>,
    skin_joints: usize,
}

/// The joints of all skins, and their matrices.
#[derive(Resource)]
struct Skins {
    /// By instance and joint of the skin.
    joints: Vec<Entity>,
    inverse_bind: Vec<Mat4>,
    matrices: Vec<Mat4>,
}

impl Bevy {
    /// The name in the table.
    pub const NAME: &str = "bevy_animation";

    /// Returns true if Bevy can play a workload. An additive layer of Bevy turns a joint before the pose below, a layer
    /// of posse after it, so that the poses would differ.
    pub fn plays(workload: Workload) -> bool {
        workload != Workload::Mixed
    }

    /// An app with a number of instances. The workload is one that Bevy [`plays`](Self::plays).
    ///
    /// # Errors
    /// [`Error::Usage`] if Bevy refuses a curve.
    pub fn new(scene: &Scene, workload: Workload, instances: usize) -> Result<Self, Error> {
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default(), AnimationPlugin));
        app.insert_resource(Time::<()>::default());
        if workload != Workload::Sample {
            app.add_plugins(TransformPlugin);
        }
        let mut clips: Vec<Handle<AnimationClip>> = Vec::new();
        for clip in 0..workload.layers() {
            clips.push(app.world_mut().resource_mut::<Assets<AnimationClip>>().add(clip_of(scene, clip)?));
        }
        // The graph's root blends all clips, here with equal weights.
        let (graph, nodes) = AnimationGraph::from_clips(clips);
        let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);

        let skeleton = scene.library.skeleton(scene.skeleton).joints();
        let mut joints: Vec<Vec<Entity>> = Vec::with_capacity(instances);
        for instance in 0..instances {
            let mut player = AnimationPlayer::default();
            for (&node, phase) in nodes.iter().zip(scene.phases(workload, instance)) {
                player.play(node).repeat().set_seek_time(phase.to_seconds() as f32);
            }
            let player = app.world_mut().spawn((player, AnimationGraphHandle(graph.clone()))).id();
            let mut entities: Vec<Entity> = Vec::with_capacity(skeleton.len());
            for (index, joint) in skeleton.iter().enumerate() {
                let rest = Transform {
                    translation: vector(&joint.rest.translation.to_array()),
                    rotation: quaternion(&joint.rest.rotation.to_array()),
                    scale: vector(&joint.rest.scale.to_array()),
                };
                let mut entity = app.world_mut().spawn((rest, target(index), AnimatedBy(player)));
                if let Some(parent) = joint.parent {
                    entity.insert(ChildOf(entities[parent]));
                }
                entities.push(entity.id());
            }
            joints.push(entities);
        }
        let skin = scene.skin();
        if workload.outputs().skin {
            let all = joints.iter().flat_map(|joints| skin.joints.iter().map(|&joint| joints[joint]));
            let all: Vec<Entity> = all.collect();
            let inverse_bind = skin.inverse_bind.iter().map(|&bind| matrix(DMat4::from(bind))).collect();
            let matrices = vec![Mat4::IDENTITY; all.len()];
            app.insert_resource(Skins { joints: all, inverse_bind, matrices });
            app.add_systems(PostUpdate, extract_skins.after(TransformSystems::Propagate));
        }
        app.finish();
        app.cleanup();
        // Assets are available one frame after they are added. The clock does not advance here.
        for _ in 0..3 {
            app.update();
        }
        Ok(Self { app, workload, joints, skin_joints: skin.joints.len() })
    }
}

/// The matrix of each joint times its inverse bind matrix, as the renderer of Bevy computes it.
fn extract_skins(joints: Query<&GlobalTransform>, mut skins: ResMut<Skins>) {
    let Skins { joints: wanted, inverse_bind, matrices } = &mut *skins;
    let binds = inverse_bind.iter().cycle();
    for ((joint, bind), to) in joints.iter_many(&*wanted).zip(binds).zip(matrices) {
        let Ok(joint) = joint else { continue };
        *to = joint.to_matrix() * *bind;
    }
}

impl Contender for Bevy {
    fn name(&self) -> String {
        Self::NAME.into()
    }

    fn instances(&self) -> usize {
        self.joints.len()
    }

    fn bound(&self) -> f64 {
        2e-5
    }

    fn frame(&mut self) -> Result<(), Error> {
        let frame = Duration::from_secs_f64(FRAME.to_seconds());
        self.app.world_mut().resource_mut::<Time>().advance_by(frame);
        self.app.update();
        Ok(())
    }

    fn pose(&self, instance: usize) -> Result<Pose, Error> {
        let world = self.app.world();
        let missing = || Error::Usage(format!("{}: an entity of instance {instance} has gone", Self::NAME));
        let mut pose = Pose::default();
        match self.workload {
            Workload::Sample => {
                for &joint in &self.joints[instance] {
                    pose.local.push(local(world.get(joint).ok_or_else(missing)?));
                }
            }
            Workload::Model => {
                for &joint in &self.joints[instance] {
                    let global: &GlobalTransform = world.get(joint).ok_or_else(missing)?;
                    pose.model.push(wide(&global.to_matrix()));
                }
            }
            Workload::Skin | Workload::Blend | Workload::Mixed => {
                let matrices = &world.resource::<Skins>().matrices[instance * self.skin_joints..][..self.skin_joints];
                pose.skins.push(matrices.iter().map(wide).collect());
            }
        }
        Ok(pose)
    }
}

fn target(joint: usize) -> AnimationTargetId {
    [format!("joint {joint}")].into_iter().collect()
}

/// Converts a clip of a scene for Bevy.
fn clip_of(scene: &Scene, clip: usize) -> Result<AnimationClip, Error> {
    let curve = |target| scene.curve(scene.clips[clip], target);
    let mut result = AnimationClip::default();
    for joint in 0..scene.library.skeleton(scene.skeleton).joints().len() {
        if let Some(curve) = curve(Target::Translation(joint)) {
            let field = animated_field!(Transform::translation);
            result.add_curve_to_target(target(joint), AnimatableCurve::new(field, keys(curve, vector)?));
        }
        if let Some(curve) = curve(Target::Rotation(joint)) {
            let field = animated_field!(Transform::rotation);
            result.add_curve_to_target(target(joint), AnimatableCurve::new(field, keys(curve, quaternion)?));
        }
        if let Some(curve) = curve(Target::Scale(joint)) {
            let field = animated_field!(Transform::scale);
            result.add_curve_to_target(target(joint), AnimatableCurve::new(field, keys(curve, vector)?));
        }
    }
    Ok(result)
}

fn keys<T>(curve: &Curve, value: impl Fn(&[f64]) -> T) -> Result<AnimatableKeyframeCurve<T>, Error>
where
    T: bevy_animation::prelude::Animatable,
{
    let times = curve.timeline().times().iter().map(|&time| time as f32);
    let keys = times.zip(curve.values().chunks_exact(curve.width()).map(value));
    AnimatableKeyframeCurve::new(keys).map_err(|error| Error::Usage(format!("{}: {error}", Bevy::NAME)))
}

// Bevy may use another version of glam than posse, so values are converted through plain numbers.

fn vector(numbers: &[f64]) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|index| numbers[index] as f32))
}

fn quaternion(numbers: &[f64]) -> Quat {
    Quat::from_array(std::array::from_fn(|index| numbers[index] as f32))
}

fn matrix(matrix: DMat4) -> Mat4 {
    Mat4::from_cols_array(&matrix.to_cols_array().map(|number| number as f32))
}

fn wide(matrix: &Mat4) -> DAffine3 {
    DAffine3::from_mat4(DMat4::from_cols_array(&matrix.to_cols_array().map(f64::from)))
}

fn local(transform: &Transform) -> posse::Transform {
    posse::Transform {
        translation: DVec3::from_array(transform.translation.to_array().map(f64::from)),
        rotation: DQuat::from_array(transform.rotation.to_array().map(f64::from)),
        scale: DVec3::from_array(transform.scale.to_array().map(f64::from)),
    }
}
