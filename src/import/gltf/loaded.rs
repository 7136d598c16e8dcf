//! Documents that the `gltf` crate has loaded, as documents of the importer.

use std::borrow::Cow;

use ::gltf::buffer::Data;
use ::gltf::json::accessor::{Accessor as GivenAccessor, Type};
use ::gltf::json::animation::{Animation as GivenAnimation, Channel as GivenChannel, Interpolation, Property};
use ::gltf::json::buffer::View;
use ::gltf::json::scene::Node as GivenNode;
use ::gltf::json::validation::Checked;
use ::gltf::json::{Index, Root};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::document::{
    Accessor, Animation, AssetInfo, BufferSource, BufferView, BufferViewExtensions, Channel, ChannelTarget,
    Compression, GltfDocument, Mesh, Node, Primitive, RootExtensions, Sampler, Skin, Sparse, SparseIndices,
    SparseValues, Text,
};
use crate::import::{FileError, JsonPath};

/// A replacement for a word that the crate does not know and has not kept. It equals no word of glTF.
const UNKNOWN: &str = "a word that the gltf crate does not know";

/// The least number of bytes of an item in JSON.
const ITEM_BYTES: usize = 32;

/// The least number of bytes of a file with this document and its buffers.
pub(super) fn size(root: &Root, buffers: &[Data]) -> usize {
    let animation_items = |animation: &GivenAnimation| animation.channels.len() + animation.samplers.len();
    let items = root.accessors.len()
        + root.buffer_views.len()
        + root.nodes.len()
        + root.meshes.iter().map(|mesh| mesh.primitives.len()).sum::<usize>()
        + root.animations.iter().map(animation_items).sum::<usize>();
    items * ITEM_BYTES + buffers.iter().map(|data| data.len()).sum::<usize>()
}

/// The parts of a document that animation needs, with numbers as the crate has rounded them. Buffers have no URI, since
/// the caller gives their bytes.
pub(super) fn document(root: &Root) -> Result<GltfDocument<'_>, FileError> {
    let views = root.buffer_views.iter().enumerate().map(|(index, given)| view(index, given));
    let document = GltfDocument {
        asset: Some(AssetInfo { version: Some(text(&root.asset.version)) }),
        extensions_required: root.extensions_required.iter().map(|name| text(name)).collect(),
        buffers: root
            .buffers
            .iter()
            .map(|buffer| BufferSource { uri: None, byte_length: Some(buffer.byte_length.0) })
            .collect(),
        buffer_views: views.collect::<Result<_, _>>()?,
        accessors: root.accessors.iter().map(accessor).collect(),
        meshes: root.meshes.iter().map(mesh).collect(),
        nodes: root.nodes.iter().map(node).collect(),
        skins: root.skins.iter().map(skin).collect(),
        animations: root.animations.iter().map(animation).collect(),
        extensions: root.extensions.as_ref().map(|extensions| RootExtensions {
            vrm: extensions.others.get("VRMC_vrm").cloned(),
            vrm_animation: extensions.others.get("VRMC_vrm_animation").cloned(),
            vrm_0: extensions.others.get("VRM").cloned(),
        }),
    };
    document.check_version()
}

fn text(text: &str) -> Text<'_> {
    Text(Cow::Borrowed(text))
}

fn indices<T>(indices: &[Index<T>]) -> Vec<usize> {
    indices.iter().map(Index::value).collect()
}

fn widened(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().copied().map(f64::from).collect()
}

fn view(index: usize, view: &View) -> Result<BufferView<'_>, FileError> {
    let compression = |name: &'static str| -> Result<Option<Compression>, FileError> {
        let Some(given) = view.extensions.as_ref().and_then(|extensions| extensions.others.get(name)) else {
            return Ok(None);
        };
        let error = |error: serde_json::Error| {
            FileError::new(JsonPath::top("bufferViews", index).field("extensions").field(name), error.to_string())
        };
        Compression::deserialize(given).map(Some).map_err(error)
    };
    let extensions = BufferViewExtensions {
        ext_meshopt: compression("EXT_meshopt_compression")?,
        khr_meshopt: compression("KHR_meshopt_compression")?,
    };
    Ok(BufferView {
        buffer: view.buffer.value(),
        byte_offset: view.byte_offset.unwrap_or_default().0,
        byte_length: view.byte_length.0,
        byte_stride: view.byte_stride.map(|stride| stride.0 as u64),
        extensions: Some(extensions),
    })
}

fn accessor(accessor: &GivenAccessor) -> Accessor<'_> {
    let sparse = accessor.sparse.as_ref().map(|sparse| Sparse {
        count: sparse.count.0,
        indices: SparseIndices {
            buffer_view: sparse.indices.buffer_view.value(),
            byte_offset: sparse.indices.byte_offset.0,
            component_type: match sparse.indices.component_type {
                Checked::Valid(component) => component.0.as_gl_enum(),
                Checked::Invalid => 0,
            },
        },
        values: SparseValues {
            buffer_view: sparse.values.buffer_view.value(),
            byte_offset: sparse.values.byte_offset.0,
        },
    });
    Accessor {
        buffer_view: accessor.buffer_view.as_ref().map(Index::value),
        byte_offset: accessor.byte_offset.unwrap_or_default().0,
        component_type: match accessor.component_type {
            Checked::Valid(component) => component.0.as_gl_enum(),
            // The crate has not kept the code.
            Checked::Invalid => 0,
        },
        count: accessor.count.0,
        kind: text(match accessor.type_ {
            Checked::Valid(Type::Scalar) => "SCALAR",
            Checked::Valid(Type::Vec2) => "VEC2",
            Checked::Valid(Type::Vec3) => "VEC3",
            Checked::Valid(Type::Vec4) => "VEC4",
            Checked::Valid(Type::Mat2) => "MAT2",
            Checked::Valid(Type::Mat3) => "MAT3",
            Checked::Valid(Type::Mat4) => "MAT4",
            Checked::Invalid => UNKNOWN,
        }),
        normalized: accessor.normalized,
        sparse,
    }
}

fn mesh(mesh: &::gltf::json::Mesh) -> Mesh {
    let targets = |primitive: &::gltf::json::mesh::Primitive| primitive.targets.as_ref().map_or(0, Vec::len);
    Mesh {
        primitives: mesh.primitives.iter().map(|it| Primitive { targets: vec![IgnoredAny; targets(it)] }).collect(),
        weights: mesh.weights.as_deref().map(widened),
    }
}

fn node(node: &GivenNode) -> Node<'_> {
    Node {
        name: node.name.as_deref().map(text),
        children: node.children.as_deref().map(indices).unwrap_or_default(),
        matrix: node.matrix.map(|numbers| numbers.map(f64::from)),
        translation: node.translation.map(|numbers| numbers.map(f64::from)),
        rotation: node.rotation.map(|rotation| rotation.0.map(f64::from)),
        scale: node.scale.map(|numbers| numbers.map(f64::from)),
        mesh: node.mesh.as_ref().map(Index::value),
        weights: node.weights.as_deref().map(widened),
    }
}

fn skin(skin: &::gltf::json::Skin) -> Skin<'_> {
    Skin {
        name: skin.name.as_deref().map(text),
        joints: indices(&skin.joints),
        inverse_bind_matrices: skin.inverse_bind_matrices.as_ref().map(Index::value),
    }
}

fn animation(animation: &GivenAnimation) -> Animation<'_> {
    let sampler = |sampler: &::gltf::json::animation::Sampler| Sampler {
        input: sampler.input.value(),
        output: sampler.output.value(),
        interpolation: Some(text(match sampler.interpolation {
            Checked::Valid(Interpolation::Linear) => "LINEAR",
            Checked::Valid(Interpolation::Step) => "STEP",
            Checked::Valid(Interpolation::CubicSpline) => "CUBICSPLINE",
            Checked::Invalid => UNKNOWN,
        })),
    };
    Animation {
        name: animation.name.as_deref().map(text),
        channels: animation.channels.iter().map(channel).collect(),
        samplers: animation.samplers.iter().map(sampler).collect(),
    }
}

fn channel(channel: &GivenChannel) -> Channel<'_> {
    let path = text(match channel.target.path {
        Checked::Valid(Property::Translation) => "translation",
        Checked::Valid(Property::Rotation) => "rotation",
        Checked::Valid(Property::Scale) => "scale",
        Checked::Valid(Property::MorphTargetWeights) => "weights",
        Checked::Invalid => UNKNOWN,
    });
    let target = ChannelTarget { node: Some(channel.target.node.value()), path: Some(path), extensions: None };
    Channel { sampler: channel.sampler.value(), target }
}
