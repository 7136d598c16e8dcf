//! The JSON of a glb file.

use gltf::json::accessor::{Accessor, ComponentType, GenericComponentType, Type};
use gltf::json::animation::{Animation, Channel as JsonChannel, Interpolation, Property, Sampler, Target};
use gltf::json::buffer::{Buffer, View};
use gltf::json::scene::UnitQuaternion;
use gltf::json::validation::{Checked, USize64};
use gltf::json::{Asset, Index, Node, Root, Scene, Skin};
use posse::bake::ArrayKind;
use posse::glam::{DAffine3, DMat4};
use posse::{Joint, Transform};

use super::motion::Channel;
use crate::bake::facts::Facts;
use crate::bake::format::ClipHead;
use crate::bake::format::rest::Space;

/// The document of a clip. The binary chunk has first the inverse bind matrices, then the times, then the keys of each channel.
pub struct Document {
    root: Root,
    /// The node of each joint.
    nodes: Vec<u32>,
    inverse_binds: Vec<[f32; 16]>,
    /// The bytes of the binary chunk so far.
    bytes: u64,
}

impl Document {
    /// The nodes and skins of a skeleton, in the order of its file.
    pub fn new(head: &ClipHead, space: Space) -> Self {
        let joints = head.library.skeleton(head.skeleton).joints();
        let mut nodes = vec![0; joints.len()];
        head.nodes.iter().zip(0..).for_each(|(&joint, node)| nodes[joint] = node);
        let mut root =
            Root { nodes: head.nodes.iter().map(|&joint| node(&joints[joint], space)).collect(), ..Root::default() };
        let mut roots = Vec::new();
        for (&joint, index) in head.nodes.iter().zip(0..) {
            match joints[joint].parent {
                Some(parent) => {
                    root.nodes[nodes[parent] as usize].children.get_or_insert_default().push(Index::new(index))
                }
                None => roots.push(Index::new(index)),
            }
        }
        root.scenes = vec![Scene { extensions: None, extras: None, name: None, nodes: roots }];
        root.scene = Some(Index::new(0));
        let mut document = Self { root, nodes, inverse_binds: Vec::new(), bytes: 0 };
        document.add_skins(head, space);
        document
    }

    fn add_skins(&mut self, head: &ClipHead, space: Space) {
        let skins =
            || head.library.skins_of(head.skeleton).map(|(_, skin)| skin).filter(|skin| !skin.joints.is_empty());
        let count: usize = skins().map(|skin| skin.joints.len()).sum();
        if count == 0 {
            return;
        }
        let view = self.add_view(count as u64 * 64);
        let mut first = 0;
        for skin in skins() {
            let accessor = self.add_accessor(view, first * 64, skin.joints.len() as u64, Type::Mat4);
            first += skin.joints.len() as u64;
            // The vertices are those of the file: they are scaled here.
            let scale = DAffine3::from_scale(posse::glam::DVec3::splat(space.scale()));
            self.inverse_binds.extend(skin.inverse_bind.iter().map(|&matrix| columns(scale * matrix)));
            self.root.skins.push(Skin {
                extensions: None,
                extras: None,
                inverse_bind_matrices: Some(accessor),
                joints: skin.joints.iter().map(|&joint| Index::new(self.nodes[joint])).collect(),
                name: skin.name.clone(),
                skeleton: None,
            });
        }
    }

    /// Adds the animation: channels in the order of their keys in the binary chunk.
    pub fn animate(&mut self, name: &str, channels: &[Channel], last_time: f32, frames: u64) {
        if channels.is_empty() {
            return;
        }
        let numbers = 1 + channels.iter().map(|channel| channel.numbers as u64).sum::<u64>();
        let view = self.add_view(numbers * frames * 4);
        let times = self.add_accessor(view, 0, frames, Type::Scalar);
        let accessor = &mut self.root.accessors[times.value()];
        accessor.min = Some(vec![0.0_f32].into());
        accessor.max = Some(vec![last_time].into());
        let mut place = frames * 4;
        let mut animation = Animation {
            extensions: None,
            extras: None,
            channels: Vec::new(),
            name: Some(name.to_owned()),
            samplers: Vec::new(),
        };
        for (channel, index) in channels.iter().zip(0..) {
            let kind = if channel.numbers == 4 { Type::Vec4 } else { Type::Vec3 };
            let output = self.add_accessor(view, place, frames, kind);
            place += channel.numbers as u64 * frames * 4;
            let interpolation = Checked::Valid(Interpolation::Linear);
            animation.samplers.push(Sampler { extensions: None, extras: None, input: times, interpolation, output });
            let path = Checked::Valid(match channel.kind {
                ArrayKind::LocalPos => Property::Translation,
                ArrayKind::LocalQuat => Property::Rotation,
                _ => Property::Scale,
            });
            let node = Index::new(self.nodes[channel.joint]);
            let target = Target { extensions: None, extras: None, node, path };
            animation.channels.push(JsonChannel { sampler: Index::new(index), target, extensions: None, extras: None });
        }
        self.root.animations.push(animation);
    }

    /// The bytes of the binary chunk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The inverse bind matrices of all skins, column after column.
    pub fn inverse_binds(&self) -> &[[f32; 16]] {
        &self.inverse_binds
    }

    /// The JSON with the facts, padded with spaces to a multiple of 4 bytes.
    pub fn json(&mut self, facts: &Facts) -> serde_json::Result<Vec<u8>> {
        self.root.asset = Asset {
            extras: serde_json::from_str(&serde_json::to_string(facts)?)?,
            generator: Some(concat!("posse ", env!("CARGO_PKG_VERSION")).into()),
            ..Asset::default()
        };
        if self.bytes > 0 {
            let byte_length = USize64(self.bytes);
            self.root.buffers = vec![Buffer { byte_length, name: None, uri: None, extensions: None, extras: None }];
        }
        let mut json = serde_json::to_vec(&self.root)?;
        json.resize(json.len().next_multiple_of(4), b' ');
        Ok(json)
    }

    fn add_view(&mut self, bytes: u64) -> Index<View> {
        let view = View {
            buffer: Index::new(0),
            byte_length: USize64(bytes),
            byte_offset: Some(USize64(self.bytes)),
            byte_stride: None,
            name: None,
            target: None,
            extensions: None,
            extras: None,
        };
        self.bytes += bytes;
        self.root.push(view)
    }

    fn add_accessor(&mut self, view: Index<View>, place: u64, count: u64, kind: Type) -> Index<Accessor> {
        self.root.push(Accessor {
            buffer_view: Some(view),
            byte_offset: Some(USize64(place)),
            count: USize64(count),
            component_type: Checked::Valid(GenericComponentType(ComponentType::F32)),
            extensions: None,
            extras: None,
            type_: Checked::Valid(kind),
            min: None,
            max: None,
            name: None,
            normalized: false,
            sparse: None,
        })
    }
}

/// A node in the rest pose.
fn node(joint: &Joint, space: Space) -> Node {
    let name = joint.name.clone();
    if joint.matrix.is_some() {
        return Node { name, matrix: Some(columns(space.rest_matrix(joint))), ..Node::default() };
    }
    let Transform { translation, rotation, scale } = space.rest(joint);
    Node {
        name,
        translation: Some(translation.as_vec3().to_array()),
        rotation: Some(UnitQuaternion(rotation.as_quat().to_array())),
        scale: Some(scale.as_vec3().to_array()),
        ..Node::default()
    }
}

/// The numbers of a matrix, column after column.
fn columns(matrix: DAffine3) -> [f32; 16] {
    DMat4::from(matrix).as_mat4().to_cols_array()
}
