//! The parts of a glTF document that animation needs, as the file has them. Nothing here has been checked.
//!
//! The types of the `gltf` crate do not serve: they hold node transforms in `f32`, refuse a whole file for a channel
//! without `target.node`, and parse meshes and materials, which animation does not need. The parser skips fields that
//! are not declared here.
//!
//! For callers that have loaded a file with the crate already, `loaded` makes the same library (feature `gltf`). The
//! renderer reads meshes, materials and images with the crate, which gets the document without its animations.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A text of the file. It is copied only if it has escapes.
#[derive(Debug, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The parts of a glTF document that the importer reads, as in the file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GltfDocument<'a> {
    /// `asset`.
    #[serde(borrow)]
    pub asset: Option<AssetInfo<'a>>,
    /// `extensionsRequired`.
    #[serde(borrow, default)]
    pub extensions_required: Vec<Text<'a>>,
    /// `buffers`.
    #[serde(borrow, default)]
    pub buffers: Vec<BufferSource<'a>>,
    /// `bufferViews`.
    #[serde(borrow, default)]
    pub buffer_views: Vec<BufferView<'a>>,
    /// `accessors`.
    #[serde(borrow, default)]
    pub accessors: Vec<Accessor<'a>>,
    /// `meshes`.
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    /// `nodes`.
    #[serde(borrow, default)]
    pub nodes: Vec<Node<'a>>,
    /// `skins`.
    #[serde(borrow, default)]
    pub skins: Vec<Skin<'a>>,
    /// `animations`.
    #[serde(borrow, default)]
    pub animations: Vec<Animation<'a>>,
    /// `extensions`.
    pub extensions: Option<RootExtensions>,
}

/// The extensions of the document that name humanoid bones and expressions. Their content is free here: an error in it
/// stops no file.
#[derive(Debug, Default, Deserialize)]
pub struct RootExtensions {
    #[serde(rename = "VRMC_vrm")]
    pub vrm: Option<Value>,
    #[serde(rename = "VRMC_vrm_animation")]
    pub vrm_animation: Option<Value>,
    /// The extension of VRM 0.x.
    #[serde(rename = "VRM")]
    pub vrm_0: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub struct AssetInfo<'a> {
    #[serde(borrow)]
    pub version: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferSource<'a> {
    #[serde(borrow)]
    pub uri: Option<Text<'a>>,
    pub byte_length: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferView<'a> {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
    #[serde(borrow)]
    pub extensions: Option<BufferViewExtensions<'a>>,
}

#[derive(Debug, Deserialize)]
pub struct BufferViewExtensions<'a> {
    #[serde(borrow, rename = "EXT_meshopt_compression")]
    pub ext_meshopt: Option<Compression<'a>>,
    #[serde(borrow, rename = "KHR_meshopt_compression")]
    pub khr_meshopt: Option<Compression<'a>>,
}

/// `EXT_meshopt_compression` or `KHR_meshopt_compression`, which have the same fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compression<'a> {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: u64,
    pub count: u64,
    #[serde(borrow)]
    pub mode: Text<'a>,
    #[serde(borrow)]
    pub filter: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor<'a> {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    pub count: u64,
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(default)]
    pub normalized: bool,
    pub sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseIndices {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseValues {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Debug, Deserialize)]
pub struct Mesh {
    #[serde(default)]
    pub primitives: Vec<Primitive>,
    pub weights: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
pub struct Primitive {
    #[serde(default)]
    pub targets: Vec<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
pub struct Node<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(default)]
    pub children: Vec<usize>,
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    pub mesh: Option<usize>,
    pub weights: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skin<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(default)]
    pub joints: Vec<usize>,
    pub inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub struct Animation<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub channels: Vec<Channel<'a>>,
    #[serde(borrow, default)]
    pub samplers: Vec<Sampler<'a>>,
}

#[derive(Debug, Deserialize)]
pub struct Channel<'a> {
    pub sampler: usize,
    #[serde(borrow)]
    pub target: ChannelTarget<'a>,
}

#[derive(Debug, Deserialize)]
pub struct ChannelTarget<'a> {
    pub node: Option<usize>,
    #[serde(borrow)]
    pub path: Option<Text<'a>>,
    #[serde(borrow)]
    pub extensions: Option<TargetExtensions<'a>>,
}

#[derive(Debug, Deserialize)]
pub struct TargetExtensions<'a> {
    #[serde(borrow, rename = "KHR_animation_pointer")]
    pub pointer: Option<AnimationPointer<'a>>,
}

#[derive(Debug, Deserialize)]
pub struct AnimationPointer<'a> {
    #[serde(borrow)]
    pub pointer: Text<'a>,
}

#[derive(Debug, Deserialize)]
pub struct Sampler<'a> {
    pub input: usize,
    pub output: usize,
    #[serde(borrow)]
    pub interpolation: Option<Text<'a>>,
}

impl<'a> BufferView<'a> {
    /// The compression of the view, if there is one, and the name of its extension.
    pub fn compression(&self) -> Option<(&Compression<'a>, &'static str)> {
        let extensions = self.extensions.as_ref()?;
        let ext = extensions.ext_meshopt.as_ref().map(|ext| (ext, "EXT_meshopt_compression"));
        ext.or(extensions.khr_meshopt.as_ref().map(|khr| (khr, "KHR_meshopt_compression")))
    }
}

impl Mesh {
    /// The number of morph targets: the largest of the primitives, which should all have the same.
    pub fn target_count(&self) -> usize {
        self.primitives.iter().map(|primitive| primitive.targets.len()).max().unwrap_or(0)
    }
}
