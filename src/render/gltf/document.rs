//! The parts of a glTF document that pictures need, as they stand; nothing here has been checked.
//!
//! They are parsed a second time, so that who wants no pictures does not pay for them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::import::fault::Fault;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub materials: Vec<Material>,
    #[serde(default)]
    pub textures: Vec<Texture>,
    #[serde(default)]
    pub samplers: Vec<Sampler>,
    #[serde(default)]
    pub images: Vec<Image>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    pub scene: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    #[serde(default)]
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    #[serde(default)]
    pub attributes: BTreeMap<String, usize>,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    pub mode: Option<u32>,
    #[serde(default)]
    pub targets: Vec<BTreeMap<String, usize>>,
    #[serde(default)]
    pub extensions: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    #[serde(default)]
    pub pbr_metallic_roughness: PbrMetallicRoughness,
    #[serde(default)]
    pub emissive_factor: [f32; 3],
    pub alpha_mode: Option<String>,
    pub alpha_cutoff: Option<f32>,
    #[serde(default)]
    pub double_sided: bool,
    #[serde(default)]
    pub extensions: MaterialExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PbrMetallicRoughness {
    pub base_color_factor: Option<[f32; 4]>,
    pub base_color_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct MaterialExtensions {
    #[serde(rename = "KHR_materials_unlit")]
    pub unlit: Option<serde::de::IgnoredAny>,
    #[serde(rename = "KHR_materials_pbrSpecularGlossiness")]
    pub specular_glossiness: Option<SpecularGlossiness>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpecularGlossiness {
    pub diffuse_factor: Option<[f32; 4]>,
    pub diffuse_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub index: usize,
    #[serde(default)]
    pub tex_coord: u32,
    #[serde(default)]
    pub extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TextureTransform>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureTransform {
    #[serde(default)]
    pub offset: [f32; 2],
    #[serde(default)]
    pub rotation: f32,
    pub scale: Option<[f32; 2]>,
    pub tex_coord: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Texture {
    pub sampler: Option<usize>,
    pub source: Option<usize>,
    #[serde(default)]
    pub extensions: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sampler {
    pub mag_filter: Option<u32>,
    pub wrap_s: Option<u32>,
    pub wrap_t: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image {
    pub uri: Option<String>,
    pub buffer_view: Option<usize>,
}

impl Document {
    /// Parses a document that the importer has read already; a fault has the JSON path at which the parser stopped.
    pub fn parse(json: &[u8]) -> Result<Self, Fault> {
        let mut parser = serde_json::Deserializer::from_slice(json);
        serde_path_to_error::deserialize(&mut parser)
            .map_err(|error| Fault::new(error.path().to_string(), error.inner().to_string()))
    }

    /// Which nodes the file's scene shows: all, where it has none.
    pub fn shown(&self) -> Vec<bool> {
        let Some(scene) = self.scenes.get(self.scene.unwrap_or(0)) else { return vec![true; self.nodes.len()] };
        let mut shown = vec![false; self.nodes.len()];
        let mut stack = scene.nodes.clone();
        while let Some(node) = stack.pop() {
            if let (Some(seen), Some(found)) = (shown.get_mut(node), self.nodes.get(node))
                && !*seen
            {
                *seen = true;
                stack.extend(&found.children);
            }
        }
        shown
    }
}
