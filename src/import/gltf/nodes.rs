//! Nodes become joints (glTF 2.0, section 3.5), with skins (section 3.7.3) and humanoid bones; and the extensions that
//! a file requires.

use std::collections::HashSet;
use std::fmt;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use serde_json::Value;

use crate::import::gltf::accessor::Integers;
use crate::import::gltf::document::{GltfDocument, Mesh, Node, Skin as FileSkin};
use crate::import::gltf::reader::Reader;
use crate::import::{FileError, JsonPath};
use crate::model::{HumanBone, Joint, SkeletonId, Skin, Transform, is_usable};

/// The parts of the transform of a node that animations drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Moved {
    pub translation: bool,
    /// The rotation or the scale.
    pub others: bool,
    /// `true` if a channel drives a part by its path, which is not for nodes with a matrix. A pointer may drive the
    /// translation.
    pub by_path: bool,
}

/// The nodes of a document in the order of joints: parents before children, otherwise the order of the file.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    /// The node of each joint.
    nodes: Vec<usize>,
    /// The joint of each node.
    pub joints: Vec<usize>,
    /// The joints that have only the translation of their node, whose own joint follows.
    carriers: HashSet<usize>,
    /// The parent node of each node.
    parents: Vec<Option<usize>>,
}

impl Hierarchy {
    /// Orders the nodes. Any number of roots and any depth are possible.
    ///
    /// # Errors
    /// A child that does not exist, a node with two parents, and a cycle.
    pub fn new(document: &GltfDocument) -> Result<Self, FileError> {
        let count = document.nodes.len();
        // The parent of each node, and the position of the node among the children of the parent.
        let mut parents: Vec<Option<(usize, usize)>> = vec![None; count];
        for (parent, node) in document.nodes.iter().enumerate() {
            for (position, &child) in node.children.iter().enumerate() {
                let path = || format!("nodes[{parent}].children[{position}]");
                let known = parents.get_mut(child).ok_or_else(|| FileError::index(path(), child, "nodes", count))?;
                if let Some((other, _)) = *known {
                    return Err(FileError::new(
                        path(),
                        format!("node {child} has two parents: node {other} names it, too"),
                    ));
                }
                *known = Some((parent, position));
            }
        }
        let in_order = parents.iter().enumerate().all(|(node, parent)| parent.is_none_or(|(parent, _)| parent < node));
        let nodes = if in_order { (0..count).collect() } else { preorder(document, &parents)? };
        let mut joints = vec![0; count];
        for (joint, &node) in nodes.iter().enumerate() {
            if let Some(entry) = joints.get_mut(node) {
                *entry = joint;
            }
        }
        let parents = parents.into_iter().map(|parent| parent.map(|(parent, _)| parent)).collect();
        Ok(Self { nodes, joints, parents, carriers: HashSet::new() })
    }

    /// Gives another joint, above its own, to each node of which animations drive the translation alone and whose
    /// matrix has shear, which no rotation and scale can stand for: the translation belongs to the new joint, the rest
    /// of the matrix stays its own. In the object model of glTF, a pointer to the translation of a node with a
    /// matrix is one to the last column.
    ///
    /// Returns the new index of each joint, and the joint of its translation; nothing if no node gets a joint.
    pub(super) fn split(&mut self, document: &GltfDocument, moved: &[Moved]) -> Vec<[usize; 2]> {
        let is_split = |&node: &usize| {
            let moved = moved.get(node).copied().unwrap_or_default();
            let matrix = document.nodes.get(node).and_then(|node| node.matrix.as_ref());
            moved.translation && !moved.others && matrix.is_some_and(|matrix| !is_rigid_or_scaled(&linear(matrix)))
        };
        if !self.nodes.iter().any(is_split) {
            return Vec::new();
        }
        let (mut nodes, mut places) = (Vec::with_capacity(self.nodes.len()), Vec::with_capacity(self.nodes.len()));
        for node in std::mem::take(&mut self.nodes) {
            let translation = nodes.len();
            if is_split(&node) {
                self.carriers.insert(translation);
                nodes.push(node);
            }
            if let Some(joint) = self.joints.get_mut(node) {
                *joint = nodes.len();
            }
            places.push([nodes.len(), translation]);
            nodes.push(node);
        }
        self.nodes = nodes;
        places
    }

    /// The joints, in order. `moved` has the movement of each node.
    pub(super) fn joints(&self, reader: &mut Reader, moved: &[Moved]) -> Result<Vec<Joint>, FileError> {
        let document = reader.document;
        let target_counts: Vec<usize> = document.meshes.iter().map(Mesh::target_count).collect();
        for (index, (mesh, &count)) in document.meshes.iter().zip(&target_counts).enumerate() {
            if mesh.primitives.iter().any(|primitive| primitive.targets.len() != count) {
                let message = format!("the primitives have different numbers of morph targets; {count} are used");
                reader.warn(JsonPath::top("meshes", index).field("primitives"), message);
            }
        }
        let mut joints = Vec::with_capacity(self.nodes.len());
        for (joint, &index) in self.nodes.iter().enumerate() {
            let Some(node) = document.nodes.get(index) else { continue };
            let parent = self.parents.get(index).copied().flatten();
            let parent = parent.and_then(|parent| self.joints.get(parent).copied());
            let above = joint.checked_sub(1).filter(|above| self.carriers.contains(above));
            let moved = match above {
                Some(_) => Moved::default(),
                None => moved.get(index).copied().unwrap_or_default(),
            };
            if self.carriers.contains(&joint) {
                let Some([.., x, y, z, _]) = node.matrix else { continue };
                let rest = Transform { translation: DVec3::new(x, y, z), ..Transform::IDENTITY };
                joints.push(Joint { parent, rest, ..Joint::default() });
                continue;
            }
            let (mut rest, mut matrix) = transform(index, node, moved, reader)?;
            if above.is_some() {
                rest.translation = DVec3::ZERO;
                matrix = matrix.map(|matrix| DAffine3 { translation: DVec3::ZERO, ..matrix });
            }
            joints.push(Joint {
                name: node.name.as_deref().map(str::to_owned),
                parent: above.or(parent),
                rest,
                matrix,
                weights: weights(index, node, &target_counts, reader)?,
                ..Joint::default()
            });
        }
        Ok(joints)
    }
}

/// The nodes depth first from each root, children in the order of the file. Nodes that no root leads to are in or below
/// a cycle.
fn preorder(document: &GltfDocument, parents: &[Option<(usize, usize)>]) -> Result<Vec<usize>, FileError> {
    let mut order = Vec::with_capacity(parents.len());
    let mut found = vec![false; parents.len()];
    let mut stack = Vec::new();
    for root in (0..parents.len()).filter(|&node| parents.get(node).is_some_and(Option::is_none)) {
        stack.push(root);
        while let Some(node) = stack.pop() {
            order.push(node);
            if let Some(found) = found.get_mut(node) {
                *found = true;
            }
            stack.extend(document.nodes.get(node).iter().flat_map(|node| node.children.iter().rev()));
        }
    }
    let Some(lost) = found.iter().position(|&found| !found) else { return Ok(order) };
    // From a lost node, as many steps up as there are nodes end inside of the cycle.
    let up = |node: usize| parents.get(node).copied().flatten().map_or(node, |(parent, _)| parent);
    let child = (0..parents.len()).fold(lost, |node, _| up(node));
    let (parent, position) = parents.get(child).copied().flatten().unwrap_or_default();
    let reason = format!("node {child} is its own ancestor");
    Err(FileError::new(JsonPath::top("nodes", parent).element("children", position), reason))
}

/// The rest transform of a node, and its matrix if the node has one that no channel takes apart.
fn transform(
    index: usize,
    node: &Node,
    moved: Moved,
    reader: &mut Reader,
) -> Result<(Transform, Option<DAffine3>), FileError> {
    let error = |field: &str| {
        FileError::new(JsonPath::top("nodes", index).field(field), "it has a number that exceeds the range of f32")
    };
    let parts = [
        ("translation", node.translation.as_ref().map(|numbers| numbers.as_slice())),
        ("rotation", node.rotation.as_ref().map(|numbers| numbers.as_slice())),
        ("scale", node.scale.as_ref().map(|numbers| numbers.as_slice())),
        ("matrix", node.matrix.as_ref().map(|numbers| numbers.as_slice())),
    ];
    for (field, numbers) in parts {
        if numbers.is_some_and(|numbers| !numbers.iter().all(|&number| is_usable(number))) {
            return Err(error(field));
        }
    }
    if let Some(matrix) = &node.matrix {
        let node_path = JsonPath::top("nodes", index);
        let path = node_path.field("matrix");
        if node.translation.is_some() || node.rotation.is_some() || node.scale.is_some() {
            reader.warn(&path, "the node also has a translation, rotation or scale; the matrix is used");
        }
        let matrix = affine(matrix, &path, reader);
        let rest = Transform::from_affine(matrix);
        if !rest.is_usable() {
            return Err(error("matrix"));
        }
        if moved.others || moved.by_path {
            reader.warn(path, "the node is animated; the matrix is decomposed into translation, rotation and scale");
        }
        if moved != Moved::default() {
            return Ok((rest, None));
        }
        return Ok((rest, Some(matrix)));
    }
    let mut rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    if rotation.length() < ZERO_ROTATION {
        reader.warn(JsonPath::top("nodes", index).field("rotation"), "its length is 0; the identity is used");
        rotation = DQuat::IDENTITY;
    }
    let translation = node.translation.map_or(DVec3::ZERO, DVec3::from);
    let scale = node.scale.map_or(DVec3::ONE, DVec3::from);
    Ok((Transform { translation, rotation, scale }, None))
}

/// The columns of the linear part of a column-major matrix.
fn linear(matrix: &[f64; 16]) -> DMat3 {
    let [a, b, c, _, d, e, f, _, g, h, i, ..] = *matrix;
    DMat3::from_cols_array(&[a, b, c, d, e, f, g, h, i])
}

/// Returns `true` if a rotation and a scale stand for a linear map, but for the rounding of `f32`: it has no shear.
fn is_rigid_or_scaled(linear: &DMat3) -> bool {
    let decomposed = Transform::from_affine(DAffine3::from_mat3(*linear)).to_affine().matrix3;
    let size = linear.to_cols_array().iter().fold(0.0_f64, |size, number| size.max(number.abs()));
    decomposed.abs_diff_eq(*linear, 1e-5 * size)
}

/// The length below which the direction of a quaternion is not reliable.
pub(super) const ZERO_ROTATION: f64 = 1e-6;

/// The affine part of a column-major matrix. A last row other than 0, 0, 0, 1 is dropped, with a warning.
pub(super) fn affine(matrix: &[f64; 16], path: &dyn fmt::Display, reader: &mut Reader) -> DAffine3 {
    let [a, b, c, p, d, e, f, q, g, h, i, r, x, y, z, s] = *matrix;
    if [p, q, r, s - 1.0].into_iter().any(|number| number.abs() > 1e-6) {
        reader.warn(path, format!("its last row is {p} {q} {r} {s}; 0 0 0 1 is used"));
    }
    DAffine3 { matrix3: DMat3::from_cols_array(&[a, b, c, d, e, f, g, h, i]), translation: DVec3::new(x, y, z) }
}

/// The rest weights of a node, one per morph target: of the node, else of its mesh, else zeros.
fn weights(index: usize, node: &Node, target_counts: &[usize], reader: &mut Reader) -> Result<Vec<f64>, FileError> {
    let node_path = JsonPath::top("nodes", index);
    let path = node_path.field("mesh");
    let (mesh, count) = match node.mesh {
        Some(mesh) => match target_counts.get(mesh) {
            Some(&count) => (Some(mesh), count),
            None => return Err(FileError::index(path, mesh, "meshes", target_counts.len())),
        },
        None => (None, 0),
    };
    reader.charge(&path, count as u64, 8)?;
    let node_weights = node.weights.as_ref().map(|weights| (weights, format!("nodes[{index}].weights")));
    let mesh_weights = || {
        let weights = reader.document.meshes.get(mesh?)?.weights.as_ref()?;
        Some((weights, format!("meshes[{}].weights", mesh?)))
    };
    let Some((given, path)) = node_weights.or_else(mesh_weights) else { return Ok(vec![0.0; count]) };
    if let Some(position) = given.iter().position(|&weight| !is_usable(weight)) {
        return Err(FileError::new(format!("{path}[{position}]"), "it exceeds the range of f32"));
    }
    if given.len() != count {
        let message = format!("there are {} weights for {count} morph targets; missing weights are 0", given.len());
        reader.warn(path, message);
    }
    Ok(given.iter().copied().chain(std::iter::repeat(0.0)).take(count).collect())
}

/// Reads a skin. `joints` holds the joint of each node.
pub(super) fn read_skin(
    index: usize,
    reader: &mut Reader,
    joints: &[usize],
    skeleton: SkeletonId,
) -> Result<Skin, FileError> {
    let document = reader.document;
    let Some(skin) = document.skins.get(index) else {
        return Err(FileError::index("skins", index, "skins", document.skins.len()));
    };
    let mut skin_joints = Vec::with_capacity(skin.joints.len());
    for (position, &node) in skin.joints.iter().enumerate() {
        let joint = joints.get(node).ok_or_else(|| {
            FileError::index(JsonPath::top("skins", index).element("joints", position), node, "nodes", joints.len())
        })?;
        skin_joints.push(*joint);
    }
    let inverse_bind = inverse_bind(index, skin, reader)?;
    Ok(Skin { name: skin.name.as_deref().map(str::to_owned), skeleton, joints: skin_joints, inverse_bind })
}

fn inverse_bind(index: usize, skin: &FileSkin, reader: &mut Reader) -> Result<Vec<DAffine3>, FileError> {
    let count = skin.joints.len();
    let Some(accessor) = skin.inverse_bind_matrices else { return Ok(vec![DAffine3::IDENTITY; count]) };
    let skin_path = JsonPath::top("skins", index);
    let path = skin_path.field("inverseBindMatrices");
    let layout = reader.layout(accessor, &path)?;
    if layout.width != 16 || !layout.is_float() {
        return Err(FileError::new(path, format!("accessor {accessor} has to hold MAT4 floats")));
    }
    if layout.count < count as u64 {
        return Err(FileError::new(path, format!("there are {} matrices, but {count} joints", layout.count)));
    }
    let numbers: Vec<f64> = reader.read(accessor, count as u64, Integers::AsDeclared, &path)?;
    let mut matrices = Vec::with_capacity(count);
    for (element, matrix) in numbers.as_chunks::<16>().0.iter().enumerate() {
        matrices.push(affine(matrix, &format_args!("accessors[{accessor}], element {element}"), reader));
    }
    Ok(matrices)
}

// Humanoid bones of VRM: bones of a model of VRM 1.0 (`VRMC_vrm`) or 0.x (`VRM`), and bones of an animation
// (`VRMC_vrm_animation`).
//
// Sources: <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/humanoid.md>,
// <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm_animation-1.0/README.md> and
// <https://github.com/vrm-c/vrm-specification/blob/master/specification/0.0/schema/vrm.humanoid.bone.schema.json>. The
// first two have an object `humanoid.humanBones` of roles, each with the index of its `node`. VRM 0.x has an array of
// objects with a `bone` and its `node`. Its roles are the roles of VRM 1.0 but for two joints of the thumb.

/// The humanoid bones of a document, with the roles of VRM 1.0. `joints` has the joint of each node. An error is a
/// warning. The bones of VRM 0.x count only in a file without bones of VRM 1.0: some files have both, for old readers.
pub(super) fn read_human_bones(reader: &mut Reader, joints: &[usize]) -> Vec<HumanBone> {
    let Some(extensions) = &reader.document.extensions else { return Vec::new() };
    let mut bones = HumanBones { joints, found: Vec::new(), taken: HashSet::new(), roles: HashSet::new() };
    for (extension, name) in [(&extensions.vrm, "VRMC_vrm"), (&extensions.vrm_animation, "VRMC_vrm_animation")] {
        for (role, bone) in human_bones(extension).and_then(Value::as_object).into_iter().flatten() {
            if let Err(error) = bones.add(role.clone(), bone) {
                let extensions = JsonPath::ROOT.field("extensions");
                let path = extensions.field(name);
                let path = path.field("humanoid");
                let path = path.field("humanBones");
                reader.warn(path.field(role), error);
            }
        }
    }
    let of_vrm_0 = human_bones(&extensions.vrm_0).and_then(Value::as_array).filter(|_| bones.found.is_empty());
    for (index, bone) in of_vrm_0.into_iter().flatten().enumerate() {
        let added = match bone.get("bone").and_then(Value::as_str) {
            Some(role) => bones.add(role_of_vrm_0(role), bone),
            None => Err(format!("it is {bone}; expected a bone with its name; it is ignored")),
        };
        if let Err(error) = added {
            reader.warn(format_args!("extensions.VRM.humanoid.humanBones[{index}]"), error);
        }
    }
    bones.found
}

/// The member `humanoid.humanBones` of an extension.
fn human_bones(extension: &Option<Value>) -> Option<&Value> {
    extension.as_ref().and_then(|value| value.pointer("/humanoid/humanBones"))
}

/// The role in VRM 1.0 of a bone of VRM 0.x, which calls the metacarpal of the thumb proximal.
fn role_of_vrm_0(bone: &str) -> String {
    match bone {
        "leftThumbProximal" => "leftThumbMetacarpal",
        "leftThumbIntermediate" => "leftThumbProximal",
        "rightThumbProximal" => "rightThumbMetacarpal",
        "rightThumbIntermediate" => "rightThumbProximal",
        other => other,
    }
    .into()
}

/// The humanoid bones that are read.
struct HumanBones<'a> {
    /// The joint of each node.
    joints: &'a [usize],
    found: Vec<HumanBone>,
    /// The joints that have a role.
    taken: HashSet<usize>,
    /// The roles that have a joint.
    roles: HashSet<String>,
}

impl HumanBones<'_> {
    /// Adds a bone with the index of its `node`, or tells why it is ignored.
    fn add(&mut self, role: String, bone: &Value) -> Result<(), String> {
        let node = bone.get("node").and_then(Value::as_u64).and_then(|node| usize::try_from(node).ok());
        let Some(joint) = node.and_then(|node| self.joints.get(node).copied()) else {
            let count = self.joints.len();
            return Err(format!("it is {bone}; expected the index of one of {count} nodes; the bone is ignored"));
        };
        if !self.taken.insert(joint) || !self.roles.insert(role.clone()) {
            return Err("its role or its node occurs before, too; the bone is ignored".into());
        }
        self.found.push(HumanBone { role, joint });
        Ok(())
    }
}

/// Extensions that are supported, or that do not concern poses.
const HARMLESS: &[&str] = &[
    "EXT_mesh_features",
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_structural_metadata",
    "KHR_animation_pointer",
    "KHR_draco_mesh_compression",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_node_hoverability",
    "KHR_node_selectability",
    "KHR_node_visibility",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    "VRM",
    "VRMC_vrm",
    "VRMC_vrm_animation",
];

/// Families of extensions that do not concern poses.
const HARMLESS_PREFIXES: &[&str] = &[
    "ADOBE_materials_",
    "EXT_lights_",
    "EXT_texture_",
    "KHR_lights_",
    "KHR_materials_",
    "KHR_texture_",
    "MSFT_texture_",
];

/// Warns of required extensions that are not known. The file is read without them.
pub(super) fn check_extensions(reader: &mut Reader) {
    for (index, name) in reader.document.extensions_required.iter().enumerate() {
        let name: &str = name;
        let harmless = HARMLESS.contains(&name);
        if !harmless && !HARMLESS_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            let path = JsonPath::top("extensionsRequired", index);
            reader.warn(path, format!("{name} is required, but not known; the file is read without it"));
        }
    }
}
