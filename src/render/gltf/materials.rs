//! Materials and textures (glTF 2.0, sections 3.8 and 3.9).

use std::collections::HashMap;

use glam::{Affine2, Mat2, Vec2};

use super::document::{Document, Material as FileMaterial, TextureInfo};
use super::images;
use crate::import::gltf::at::At;
use crate::import::gltf::reader::Reader;
use crate::render::{Alpha, Figure, Material, Texture, Wrap};

const NEAREST: u32 = 9728;
const CLAMP: u32 = 33071;
const MIRROR: u32 = 33648;

/// Materials, read where they are first used.
pub(super) struct Materials<'a> {
    document: &'a Document,
    /// The figure's material for each of the file's, `None` for the default one.
    read: HashMap<Option<usize>, usize>,
    images: HashMap<usize, Option<usize>>,
}

impl<'a> Materials<'a> {
    pub fn new(document: &'a Document) -> Self {
        Self { document, read: HashMap::new(), images: HashMap::new() }
    }

    /// The set of texture coordinates that a material's texture uses.
    pub fn texture_set(&self, index: Option<usize>) -> u32 {
        let info = index.and_then(|index| self.document.materials.get(index)).and_then(texture);
        info.map_or(0, |info| {
            let transform = info.extensions.transform.as_ref();
            transform.and_then(|transform| transform.tex_coord).unwrap_or(info.tex_coord)
        })
    }

    /// The figure's material for one of the file's; the default one where there is none. `path` is the primitive's.
    pub fn read(&mut self, reader: &mut Reader, index: Option<usize>, path: &At, figure: &mut Figure) -> usize {
        if let Some(&known) = self.read.get(&index) {
            return known;
        }
        let material = match index.map(|index| (index, self.document.materials.get(index))) {
            None => Material::default(),
            Some((index, Some(material))) => self.material(reader, index, material, figure),
            Some((index, None)) => {
                reader.warn(path.field("material"), format!("there is no materials[{index}]; plain white is used"));
                Material::default()
            }
        };
        figure.materials.push(material);
        self.read.insert(index, figure.materials.len() - 1);
        figure.materials.len() - 1
    }

    fn material(&mut self, reader: &mut Reader, index: usize, file: &FileMaterial, figure: &mut Figure) -> Material {
        let glossy = file.extensions.specular_glossiness.as_ref();
        let factor = glossy.map_or(file.pbr_metallic_roughness.base_color_factor, |glossy| glossy.diffuse_factor);
        let texture = texture(file).and_then(|info| self.texture(reader, index, info, figure));
        let cutoff = file.alpha_cutoff.unwrap_or(0.5);
        let place = At::top("materials", index);
        Material {
            base_colour: usable(factor.unwrap_or([1.0; 4])),
            texture,
            emissive: usable(file.emissive_factor),
            alpha: match file.alpha_mode.as_deref() {
                None | Some("OPAQUE") => Alpha::Opaque,
                Some("MASK") => Alpha::Mask(cutoff),
                Some("BLEND") => Alpha::Blend,
                Some(other) => {
                    reader.warn(place.field("alphaMode"), format!("{other:?} is not a mode; OPAQUE is used"));
                    Alpha::Opaque
                }
            },
            double_sided: file.double_sided,
            unlit: file.extensions.unlit.is_some(),
            ..Material::default()
        }
    }

    fn texture(
        &mut self,
        reader: &mut Reader,
        material: usize,
        info: &TextureInfo,
        figure: &mut Figure,
    ) -> Option<Texture> {
        let document = self.document;
        let of_material = At::top("materials", material);
        let Some(texture) = document.textures.get(info.index) else {
            let message = format!("there is no textures[{}]; a plain colour is used", info.index);
            reader.warn(of_material.field("pbrMetallicRoughness").field("baseColorTexture"), message);
            return None;
        };
        let place = At::top("textures", info.index);
        let Some(source) = texture.source else {
            let names: Vec<&str> = texture.extensions.keys().map(String::as_str).collect();
            let message =
                format!("its image is only in {}, which is not known; a plain colour is used", names.join(", "));
            reader.warn(place.field("source"), message);
            return None;
        };
        let image =
            *self.images.entry(source).or_insert_with(|| match images::read(reader, document, source, &place) {
                Ok(image) => {
                    figure.images.push(image);
                    Some(figure.images.len() - 1)
                }
                Err(fault) => {
                    reader.warn(fault.path, format!("{}; a plain colour is used", fault.reason));
                    None
                }
            });
        let sampler = texture.sampler.and_then(|sampler| document.samplers.get(sampler));
        let wrap = |wrap: Option<u32>| match wrap {
            Some(CLAMP) => Wrap::Clamp,
            Some(MIRROR) => Wrap::Mirror,
            _ => Wrap::Repeat,
        };
        Some(Texture {
            image: image?,
            wrap: [sampler.and_then(|sampler| sampler.wrap_s), sampler.and_then(|sampler| sampler.wrap_t)].map(wrap),
            nearest: sampler.is_some_and(|sampler| sampler.mag_filter == Some(NEAREST)),
            transform: transform(info),
        })
    }
}

/// The texture of a material's base colour.
fn texture(material: &FileMaterial) -> Option<&TextureInfo> {
    let glossy = material.extensions.specular_glossiness.as_ref();
    glossy.map_or(&material.pbr_metallic_roughness.base_color_texture, |glossy| &glossy.diffuse_texture).as_ref()
}

/// Offset x rotation x scale, as `KHR_texture_transform` has it.
fn transform(info: &TextureInfo) -> Affine2 {
    let Some(transform) = &info.extensions.transform else { return Affine2::IDENTITY };
    let (sin, cos) = transform.rotation.sin_cos();
    let rotation = Mat2::from_cols(Vec2::new(cos, -sin), Vec2::new(sin, cos));
    let scale = Mat2::from_diagonal(Vec2::from(transform.scale.unwrap_or([1.0; 2])));
    let matrix = Affine2 { matrix2: rotation * scale, translation: Vec2::from(transform.offset) };
    if matrix.is_finite() { matrix } else { Affine2::IDENTITY }
}

/// Factors from 0 on; a number beyond what 32 bits hold is white.
fn usable<const N: usize>(factors: [f32; N]) -> [f32; N] {
    factors.map(|factor| if factor.is_finite() { factor.max(0.0) } else { 1.0 })
}
