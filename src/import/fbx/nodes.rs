//! Nodes become joints, with morph weights and skins.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use ufbx::{BlendChannel, BlendDeformer, Matrix, Mesh, Node, Scene, SkinDeformer};

use super::scene;
use crate::import::file_error::MemoryBudget;
use crate::import::{FileError, Warning};
use crate::model::{Joint, SkeletonId, Skin, Transform, is_usable};

/// The bytes of a morph weight, with a warning about it. Instances repeat the weights of a mesh.
const WEIGHT_BYTES: u64 = 512;
/// The bytes of a skin, and of a joint of it. Meshes can share a deformer, and repeat its joints.
const SKIN_BYTES: u64 = 256;
const SKIN_JOINT_BYTES: u64 = 128;

/// The nodes of a scene as joints.
pub struct Nodes<'a> {
    pub joints: Vec<Joint>,
    /// The joint of each node of the scene; `None` for the root, which is no node of the file.
    pub joint_of: Vec<Option<usize>>,
    /// The morph weights of each channel of blend shapes, by its element: joints and indices. Instances of a mesh share
    /// its channels.
    pub weights_of: HashMap<u32, Vec<(usize, usize)>>,
    /// The names of the channels of each mesh, by its element.
    morph_names_of: HashMap<u32, Arc<[String]>>,
    /// The same names, as the file has them.
    channel_names: HashSet<(u32, &'a str)>,
}

impl<'a> Nodes<'a> {
    /// Orders the nodes depth first. Their number is bounded by the memory of the parsed scene.
    pub fn read(scene: &'a Scene, budget: &mut MemoryBudget, warnings: &mut Vec<Warning>) -> Result<Self, FileError> {
        let count = scene.nodes.len();
        let (joints, joint_of) = (Vec::with_capacity(count), vec![None; count]);
        let (weights_of, morph_names_of, channel_names) = (HashMap::new(), HashMap::new(), HashSet::new());
        let mut nodes = Self { joints, joint_of, weights_of, morph_names_of, channel_names };
        let mut stack: Vec<(&'a Node, Option<usize>)> = Vec::new();
        stack.extend(scene.root_node.children.into_iter().map(|child| (child, None)));
        stack.reverse();
        while let Some((node, parent)) = stack.pop() {
            let joint = nodes.joints.len();
            nodes.add(node, parent, budget, warnings)?;
            let at = stack.len();
            stack.extend(node.children.into_iter().map(|child| (child, Some(joint))));
            stack[at..].reverse();
        }
        Ok(nodes)
    }

    fn add(
        &mut self,
        node: &'a Node,
        parent: Option<usize>,
        budget: &mut MemoryBudget,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), FileError> {
        let rest = transform(&node.local_transform);
        if !rest.is_usable() {
            let reason = "its transform has a number that is not finite in the range of an f32; export the file again";
            return Err(FileError::new(scene::label("node", &node.element.name), reason));
        }
        let joint = self.joints.len();
        if let Some(entry) = self.joint_of.get_mut(node.element.typed_id as usize) {
            *entry = Some(joint);
        }
        let mut weights = Vec::new();
        for (_, channel) in node.mesh.iter().flat_map(|mesh| channels(mesh)) {
            budget.charge(scene::label("blend shape", &channel.element.name), WEIGHT_BYTES)?;
            self.weights_of.entry(channel.element.element_id).or_default().push((joint, weights.len()));
            if channel.keyframes.len() > 1 {
                let path = scene::label("blend shape", &channel.element.name);
                let message = "it has shapes in between, which one weight stands for".into();
                warnings.push(Warning { path, message });
            }
            weights.push(if is_usable(channel.weight) { channel.weight } else { 0.0 });
        }
        let morph_names = match &node.mesh {
            Some(mesh) => self.morph_names(mesh, budget)?,
            None => Arc::default(),
        };
        // A scale helper has the name of all of them.
        let name = match &node.parent {
            Some(above) if node.is_scale_helper => Some(format!("{}_scale", &*above.element.name)),
            _ => scene::name(&node.element.name),
        };
        self.joints.push(Joint { name, parent, rest, weights, morph_names, ..Joint::default() });
        Ok(())
    }

    /// The names of the channels of a mesh; none if all of them are empty. The nodes that show a mesh share them.
    fn morph_names(&mut self, mesh: &'a Mesh, budget: &mut MemoryBudget) -> Result<Arc<[String]>, FileError> {
        let id = mesh.element.element_id;
        if let Some(names) = self.morph_names_of.get(&id) {
            return Ok(names.clone());
        }
        let short: HashSet<&str> = channels(mesh).map(|(blend, channel)| short_name(blend, channel)).collect();
        let are_unique = short.len() == channels(mesh).count();
        let mut names = Vec::new();
        for (blend, channel) in channels(mesh) {
            let name: &str = if are_unique { short_name(blend, channel) } else { &channel.element.name };
            budget.charge(scene::label("blend shape", name), name.len() as u64)?;
            names.push(name.to_owned());
            self.channel_names.insert((id, &*channel.element.name));
        }
        if names.iter().all(String::is_empty) {
            names.clear();
        }
        let names: Arc<[String]> = names.into();
        self.morph_names_of.insert(id, names.clone());
        Ok(names)
    }

    /// Returns `true` if a mesh, by its element, has a channel of blend shapes of this name.
    pub fn has_channel(&self, mesh: u32, name: &str) -> bool {
        self.channel_names.contains(&(mesh, name))
    }

    /// The skins of all meshes.
    pub fn skins(
        &self,
        scene: &Scene,
        skeleton: SkeletonId,
        budget: &mut MemoryBudget,
    ) -> Result<Vec<Skin>, FileError> {
        let mut skins = Vec::new();
        for mesh in &scene.meshes {
            let node = mesh.element.instances.into_iter().next();
            let name = node.map_or(&mesh.element.name, |node| &node.element.name);
            for deformer in &mesh.skin_deformers {
                let bytes = SKIN_BYTES + name.len() as u64 + SKIN_JOINT_BYTES * deformer.clusters.len() as u64;
                budget.charge(scene::label("skin deformer", &deformer.element.name), bytes)?;
                let (joints, inverse_bind) = self.clusters(deformer).unzip();
                skins.push(Skin { name: scene::name(name), skeleton, joints, inverse_bind });
            }
        }
        Ok(skins)
    }

    fn clusters(&self, deformer: &SkinDeformer) -> impl Iterator<Item = (usize, DAffine3)> {
        deformer.clusters.into_iter().filter_map(|cluster| {
            let bone = cluster.bone_node.as_ref()?.element.typed_id as usize;
            Some((self.joint_of.get(bone).copied().flatten()?, affine(&cluster.geometry_to_bone)))
        })
    }
}

/// The channels of the blend shapes of a mesh, with their deformers.
fn channels(mesh: &Mesh) -> impl Iterator<Item = (&BlendDeformer, &BlendChannel)> {
    mesh.blend_deformers.into_iter().flat_map(|blend| blend.channels.into_iter().map(move |channel| (blend, channel)))
}

/// The name of a channel, without the name of its deformer and a dot where the name of its shape has none: Maya writes
/// `deformer.smile` since FBX 7.2, and `smile` before and into glTF. A channel without a name has the name of its
/// shape.
fn short_name<'a>(blend: &'a BlendDeformer, channel: &'a BlendChannel) -> &'a str {
    let name: &str = &channel.element.name;
    let shape = channel.target_shape.as_ref().map_or("", |shape| &*shape.element.name);
    if name.is_empty() || name == shape {
        return shape;
    }
    let own = name.strip_prefix(&*blend.element.name).and_then(|rest| rest.strip_prefix('.'));
    own.filter(|own| !own.is_empty()).unwrap_or(name)
}

/// A local transform of the scene.
pub fn transform(transform: &ufbx::Transform) -> Transform {
    let ufbx::Transform { translation: t, rotation: r, scale: s } = *transform;
    Transform {
        translation: DVec3::new(t.x, t.y, t.z),
        rotation: DQuat::from_xyzw(r.x, r.y, r.z, r.w),
        scale: DVec3::new(s.x, s.y, s.z),
    }
}

/// The scale that the ancestors of a node give it in the rest pose; 1 if they have none that can be used.
pub fn parent_scale(node: &Node) -> f64 {
    let scale = node.parent.as_ref().map_or(1.0, |parent| {
        let matrix = affine(&parent.node_to_world).matrix3;
        [matrix.x_axis, matrix.y_axis, matrix.z_axis].into_iter().map(DVec3::length).fold(0.0, f64::max)
    });
    Some(scale).filter(|scale| scale.is_finite() && *scale > 0.0).unwrap_or(1.0)
}

/// A matrix of the scene. The last row is 0, 0, 0, 1.
fn affine(m: &Matrix) -> DAffine3 {
    DAffine3 {
        matrix3: DMat3::from_cols_array(&[m.m00, m.m10, m.m20, m.m01, m.m11, m.m21, m.m02, m.m12, m.m22]),
        translation: DVec3::new(m.m03, m.m13, m.m23),
    }
}
