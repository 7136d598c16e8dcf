//! A plain scalar loop, as a first implementation in the `f32` types of glam.
//!
//! For each instance and joint: a binary search in the key times of each channel, lerp or glam's slerp, and products of
//! affine matrices. The data is not rearranged for speed, but the loop wastes nothing: curves with the same key times
//! share them, keys are dense arrays, frames allocate nothing, and only the last result is written. One search for all
//! channels of a joint, which some files allow, would make it a tenth faster with skin matrices.

use std::sync::Arc;

use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Quat, Vec3A};
use posse::curves::{Curve, Target, Timeline};
use posse::{ClipId, Error, Pose, Transform};

use crate::scene::{ADDITIVE_WEIGHT, Contender, FRAME, Scene, Workload};

/// The plain scalar loop.
pub struct Scalar {
    workload: Workload,
    rig: Rig,
    /// By clip, then by joint.
    clips: Vec<Vec<Joint>>,
    duration: f32,
    /// By instance, the clip below an additive layer; empty for other workloads.
    mixed: Vec<usize>,
    /// By instance, for each layer.
    times: Vec<[f32; 2]>,
    /// The local poses of one instance, per clip, and its model matrices.
    scratch: [Vec<Local>; 2],
    models: Vec<Affine3A>,
    /// The kept outputs, instance after instance.
    locals: Vec<Local>,
    matrices: Vec<Affine3A>,
}

/// The data that all instances share, except clips.
struct Rig {
    parents: Vec<Option<usize>>,
    skin_joints: Vec<usize>,
    inverse_bind: Vec<Affine3A>,
}

/// A local pose.
#[derive(Clone, Copy, Default)]
struct Local {
    translation: Vec3A,
    rotation: Quat,
    scale: Vec3A,
}

/// The channels of a joint.
struct Joint {
    translation: Channel<Vec3A>,
    rotation: Channel<Quat>,
    scale: Channel<Vec3A>,
}

/// The keys of one value, at least two.
struct Channel<T> {
    times: Arc<[f32]>,
    values: Vec<T>,
}

impl<T: Copy> Channel<T> {
    /// The keys before and after a time, and the fraction of the way between them.
    #[inline]
    fn at(&self, time: f32) -> (T, T, f32) {
        let next = self.times.partition_point(|&key| key <= time).clamp(1, self.times.len() - 1);
        let (before, after) = (self.times[next - 1], self.times[next]);
        let fraction = ((time - before) / (after - before)).clamp(0.0, 1.0);
        (self.values[next - 1], self.values[next], fraction)
    }
}

impl Joint {
    #[inline]
    fn sample(&self, time: f32) -> Local {
        let (a, b, fraction) = self.translation.at(time);
        let translation = a.lerp(b, fraction);
        let (a, b, fraction) = self.rotation.at(time);
        let rotation = a.slerp(b, fraction);
        let (a, b, fraction) = self.scale.at(time);
        Local { translation, rotation, scale: a.lerp(b, fraction) }
    }
}

impl Local {
    /// The blend of two poses with equal weights. At the half, the normalised mean equals slerp.
    #[inline]
    fn mean(&self, other: &Self) -> Self {
        Self {
            translation: self.translation.lerp(other.translation, 0.5),
            rotation: self.rotation.lerp(other.rotation, 0.5),
            scale: self.scale.lerp(other.scale, 0.5),
        }
    }

    /// Adds the differences of an additive clip at a time, by its weight. Scales do not change.
    #[inline]
    fn add(&mut self, differences: &Joint, time: f32, weight: f32) {
        let (a, b, fraction) = differences.translation.at(time);
        self.translation += weight * a.lerp(b, fraction);
        let (a, b, fraction) = differences.rotation.at(time);
        self.rotation *= Quat::IDENTITY.lerp(a.slerp(b, fraction), weight);
    }

    #[inline]
    fn matrix(&self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale.into(), self.rotation, self.translation.into())
    }
}

impl Rig {
    /// The model matrices of one instance.
    #[inline]
    fn models(&self, locals: &[Local], models: &mut [Affine3A]) {
        for (joint, (parent, local)) in self.parents.iter().zip(locals).enumerate() {
            let own = local.matrix();
            models[joint] = match *parent {
                Some(parent) => models[parent] * own,
                None => own,
            };
        }
    }

    /// The skin matrices of one instance.
    #[inline]
    fn skins(&self, models: &[Affine3A], to: &mut [Affine3A]) {
        for ((to, &joint), bind) in to.iter_mut().zip(&self.skin_joints).zip(&self.inverse_bind) {
            *to = models[joint] * *bind;
        }
    }
}

/// The local poses of one instance in one clip. Sampling all joints first and multiplying after is faster than both at
/// once.
#[inline]
fn sample(joints: &[Joint], time: f32, to: &mut [Local]) {
    for (to, joint) in to.iter_mut().zip(joints) {
        *to = joint.sample(time);
    }
}

impl Scalar {
    /// The name in the table.
    pub const NAME: &str = "scalar loop";

    /// The loop for a number of instances.
    pub fn new(scene: &Scene, workload: Workload, instances: usize) -> Self {
        let joints = scene.library.skeleton(scene.skeleton).joints();
        let skin = scene.skin();
        let outputs = workload.outputs();
        let room = |wanted: bool, count: usize| if wanted { instances * count } else { 0 };
        let matrices = room(outputs.model, joints.len()) + room(outputs.skin, skin.joints.len());
        let phases = |instance| scene.phases(workload, instance).map(|phase| phase.to_seconds() as f32);
        let clip = |&clip: &ClipId| channels(scene, clip);
        let (mixed, clips) = match workload {
            Workload::Mixed => {
                let mut clips: Vec<_> = scene.mixed.iter().map(clip).collect();
                clips.push(differences(clip(&scene.additive)));
                ((0..instances).map(|instance| scene.mixed_clip(instance)).collect(), clips)
            }
            _ => (Vec::new(), scene.clips[..workload.layers()].iter().map(clip).collect()),
        };
        Self {
            workload,
            rig: Rig {
                parents: joints.iter().map(|joint| joint.parent).collect(),
                skin_joints: skin.joints.clone(),
                inverse_bind: skin.inverse_bind.iter().map(DAffine3::as_affine3a).collect(),
            },
            mixed,
            clips,
            duration: scene.duration() as f32,
            times: (0..instances).map(phases).collect(),
            scratch: [(); 2].map(|()| vec![Local::default(); joints.len()]),
            models: vec![Affine3A::IDENTITY; joints.len()],
            locals: vec![Local::default(); room(outputs.local, joints.len())],
            matrices: vec![Affine3A::IDENTITY; matrices],
        }
    }
}

impl Contender for Scalar {
    fn name(&self) -> String {
        Self::NAME.into()
    }

    fn instances(&self) -> usize {
        self.times.len()
    }

    fn bound(&self) -> f64 {
        2e-5
    }

    fn frame(&mut self) -> Result<(), Error> {
        let Self { workload, rig, clips, mixed, duration, times, scratch: [first, second], models, locals, matrices } =
            self;
        let joints = rig.parents.len();
        for (instance, times) in times.iter_mut().enumerate() {
            for time in times.iter_mut() {
                *time += FRAME.to_seconds() as f32;
                if *time >= *duration {
                    *time -= *duration;
                }
            }
            if *workload == Workload::Sample {
                sample(&clips[0], times[0], &mut locals[instance * joints..][..joints]);
                continue;
            }
            sample(&clips[mixed.get(instance).copied().unwrap_or(0)], times[0], first);
            if *workload == Workload::Mixed {
                for (first, joint) in first.iter_mut().zip(&clips[clips.len() - 1]) {
                    first.add(joint, times[1], ADDITIVE_WEIGHT as f32);
                }
            }
            if *workload == Workload::Blend {
                sample(&clips[1], times[1], second);
                for (first, second) in first.iter_mut().zip(second.iter()) {
                    *first = first.mean(second);
                }
            }
            if *workload == Workload::Model {
                rig.models(first, &mut matrices[instance * joints..][..joints]);
                continue;
            }
            rig.models(first, models);
            let count = rig.skin_joints.len();
            rig.skins(models, &mut matrices[instance * count..][..count]);
        }
        Ok(())
    }

    fn pose(&self, instance: usize) -> Result<Pose, Error> {
        let part = |count: usize| instance * count..(instance + 1) * count;
        let matrices = |count| self.matrices[part(count)].iter().map(wide).collect();
        let joints = self.rig.parents.len();
        let local = |local: &Local| Transform {
            translation: local.translation.as_dvec3(),
            rotation: local.rotation.as_dquat(),
            scale: local.scale.as_dvec3(),
        };
        Ok(match self.workload {
            Workload::Sample => {
                Pose { local: self.locals[part(joints)].iter().map(local).collect(), ..Pose::default() }
            }
            Workload::Model => Pose { model: matrices(joints), ..Pose::default() },
            Workload::Skin | Workload::Blend | Workload::Mixed => {
                Pose { skins: vec![matrices(self.rig.skin_joints.len())], ..Pose::default() }
            }
        })
    }
}

/// The channels of a clip by joint.
fn channels(scene: &Scene, clip: ClipId) -> Vec<Joint> {
    let curve = |target| scene.curve(clip, target);
    let vector = |key: &[f64]| DVec3::from_slice(key).as_vec3a();
    let quaternion = |key: &[f64]| DQuat::from_slice(key).as_quat();
    let mut known = Known::new();
    let joint = |(index, joint): (usize, &posse::Joint)| Joint {
        translation: channel(&mut known, curve(Target::Translation(index)), &joint.rest.translation.to_array(), vector),
        rotation: channel(&mut known, curve(Target::Rotation(index)), &joint.rest.rotation.to_array(), quaternion),
        scale: channel(&mut known, curve(Target::Scale(index)), &joint.rest.scale.to_array(), vector),
    };
    scene.library.skeleton(scene.skeleton).joints().iter().enumerate().map(joint).collect()
}

/// The channels of an additive clip as differences from its first key, so that no frame subtracts them.
fn differences(mut joints: Vec<Joint>) -> Vec<Joint> {
    for joint in &mut joints {
        let first = joint.translation.values[0];
        joint.translation.values.iter_mut().for_each(|value| *value -= first);
        let first = joint.rotation.values[0].conjugate();
        joint.rotation.values.iter_mut().for_each(|value| *value = first * *value);
    }
    joints
}

/// Timelines, each with its key times.
type Known = Vec<(Arc<Timeline>, Arc<[f32]>)>;

/// The channel of a curve. Without a curve, it has two keys at rest.
fn channel<T: Copy>(known: &mut Known, curve: Option<&Curve>, rest: &[f64], value: impl Fn(&[f64]) -> T) -> Channel<T> {
    let Some(curve) = curve else { return Channel { times: [0.0, 1.0].into(), values: vec![value(rest); 2] } };
    let values = curve.values().chunks_exact(rest.len()).map(value).collect();
    if let Some((_, times)) = known.iter().find(|(known, _)| Arc::ptr_eq(known, curve.timeline())) {
        return Channel { times: times.clone(), values };
    }
    let times: Arc<[f32]> = curve.timeline().times().iter().map(|&time| time as f32).collect();
    known.push((curve.timeline().clone(), times.clone()));
    Channel { times, values }
}

fn wide(matrix: &Affine3A) -> DAffine3 {
    let [x, y, z] = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis].map(|axis| axis.as_dvec3());
    DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: matrix.translation.as_dvec3() }
}
