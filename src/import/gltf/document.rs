//! The parts of a glTF document that animation needs, as they stand; nothing here has been checked.
//!
//! These are not the `gltf` crate's types: those hold node transforms in `f32`, refuse a whole file for a channel
//! without `target.node`, and parse meshes and materials that are not needed here. What has no field here is skipped
//! by the parser.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::import::fault::Fault;

/// Text of the file, copied only where it has escapes.
#[derive(Debug, Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document<'a> {
    #[serde(borrow)]
    pub asset: Option<AssetInfo<'a>>,
    #[serde(borrow, default)]
    pub extensions_required: Vec<Text<'a>>,
    #[serde(borrow, default)]
    pub buffers: Vec<Buffer<'a>>,
    #[serde(borrow, default)]
    pub buffer_views: Vec<BufferView<'a>>,
    #[serde(borrow, default)]
    pub accessors: Vec<Accessor<'a>>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(borrow, default)]
    pub nodes: Vec<Node<'a>>,
    #[serde(borrow, default)]
    pub skins: Vec<Skin<'a>>,
    #[serde(borrow, default)]
    pub animations: Vec<Animation<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AssetInfo<'a> {
    #[serde(borrow)]
    pub version: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Buffer<'a> {
    #[serde(borrow)]
    pub uri: Option<Text<'a>>,
    pub byte_length: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BufferView<'a> {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
    #[serde(borrow)]
    pub extensions: Option<BufferViewExtensions<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct BufferViewExtensions<'a> {
    #[serde(borrow, rename = "EXT_meshopt_compression")]
    pub ext_meshopt: Option<Compression<'a>>,
    #[serde(borrow, rename = "KHR_meshopt_compression")]
    pub khr_meshopt: Option<Compression<'a>>,
}

/// `EXT_meshopt_compression` or `KHR_meshopt_compression`, which have the same fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compression<'a> {
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
pub(crate) struct Accessor<'a> {
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
pub(crate) struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SparseIndices {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SparseValues {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Mesh {
    #[serde(default)]
    pub primitives: Vec<Primitive>,
    pub weights: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Primitive {
    #[serde(default)]
    pub targets: Vec<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node<'a> {
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
pub(crate) struct Skin<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(default)]
    pub joints: Vec<usize>,
    pub inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Animation<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub channels: Vec<Channel<'a>>,
    #[serde(borrow, default)]
    pub samplers: Vec<Sampler<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Channel<'a> {
    pub sampler: usize,
    #[serde(borrow)]
    pub target: ChannelTarget<'a>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ChannelTarget<'a> {
    pub node: Option<usize>,
    #[serde(borrow)]
    pub path: Option<Text<'a>>,
    #[serde(borrow)]
    pub extensions: Option<TargetExtensions<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TargetExtensions<'a> {
    #[serde(borrow, rename = "KHR_animation_pointer")]
    pub pointer: Option<AnimationPointer<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AnimationPointer<'a> {
    #[serde(borrow)]
    pub pointer: Text<'a>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Sampler<'a> {
    pub input: usize,
    pub output: usize,
    #[serde(borrow)]
    pub interpolation: Option<Text<'a>>,
}

impl<'a> BufferView<'a> {
    /// How the view is compressed, and the extension that says so.
    pub fn compression(&self) -> Option<(&Compression<'a>, &'static str)> {
        let extensions = self.extensions.as_ref()?;
        let ext = extensions.ext_meshopt.as_ref().map(|ext| (ext, "EXT_meshopt_compression"));
        ext.or(extensions.khr_meshopt.as_ref().map(|khr| (khr, "KHR_meshopt_compression")))
    }
}

impl Mesh {
    /// The number of morph targets; all primitives ought to have the same.
    pub fn target_count(&self) -> usize {
        self.primitives.iter().map(|primitive| primitive.targets.len()).max().unwrap_or(0)
    }
}

/// What a file is, or at least begins with, that is no JSON object.
fn foreign(bytes: &[u8]) -> String {
    let kinds: [(&[u8], &str); 5] = [
        (b"\x89PNG", "a PNG picture"),
        (b"\xFF\xD8\xFF", "a JPEG picture"),
        (b"PK\x03\x04", "a zip archive"),
        (b"Kaydara FBX", "an FBX file, which has to be converted"),
        (b"BLENDER", "a Blender file, which has to be exported"),
    ];
    match kinds.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, kind)) => format!("it is {kind}"),
        None => format!("it begins with {:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(8)])),
    }
}

impl<'a> Document<'a> {
    /// Parses a document; a fault has the JSON path at which the parser stopped.
    pub fn parse(json: &'a [u8]) -> Result<Self, Fault> {
        if json.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            let what = if json.is_empty() { "it is empty".into() } else { foreign(json) };
            return Err(Fault::new("file", format!("{what}; a glTF file is a GLB container or a JSON object")));
        }
        // All text checked at once takes less than each string on its own. Paths cost time, so they are only kept by a second
        // parse, once it is known that there is a fault, or bytes that are no text: what no field wants may be anything.
        let document = match std::str::from_utf8(json).map(serde_json::from_str::<Self>) {
            Ok(Ok(document)) => document,
            _ => parse_with_paths(json)?,
        };
        document.check_version()
    }

    /// Refuses a document of another version than 2.
    pub fn check_version(self) -> Result<Self, Fault> {
        match self.asset.as_ref().and_then(|asset| asset.version.as_deref()) {
            Some(version) if !is_version_2(version) => Err(wrong_version(version)),
            _ => Ok(self),
        }
    }
}

/// JSON without what may stand around it: a byte order mark before, padding zeros after.
pub(crate) fn trim(json: &[u8]) -> &[u8] {
    let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
    let end = json.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    json.get(..end).unwrap_or(json)
}

fn parse_with_paths(json: &[u8]) -> Result<Document<'_>, Fault> {
    #[derive(Deserialize)]
    struct Versioned<'a> {
        #[serde(borrow)]
        asset: AssetInfo<'a>,
    }
    // A document of glTF 1.0 has other types everywhere; its version is what matters.
    if let Ok(Versioned { asset: AssetInfo { version: Some(version) } }) = serde_json::from_slice(json)
        && !is_version_2(&version)
    {
        return Err(wrong_version(&version));
    }
    let mut parser = serde_json::Deserializer::from_slice(json);
    let document = serde_path_to_error::deserialize(&mut parser).map_err(|error| {
        // Where a key is cut off, the parser has a question mark for it.
        let path = error.path().to_string();
        let path = path.trim_end_matches(['.', '?']);
        Fault::new(if path.is_empty() { "JSON" } else { path }, error.inner().to_string())
    })?;
    parser.end().map_err(|error| Fault::new("JSON", error.to_string()))?;
    Ok(document)
}

fn is_version_2(version: &str) -> bool {
    version == "2" || version.starts_with("2.")
}

fn wrong_version(version: &str) -> Fault {
    Fault::new("asset.version", format!("glTF {version} is not supported, only 2.0 is"))
}
