//! Materials and textures (glTF 2.0, sections 3.8 and 3.9).

use std::collections::HashMap;

use ::gltf::json::material::{AlphaMode, Material as FileMaterial};
use ::gltf::json::texture::{Info, MagFilter, WrappingMode};
use ::gltf::json::validation::Checked;
use ::gltf::json::{Index, Root};
use glam::{Affine2, Mat2, Vec2};

use super::document::NO_IMAGE;
use crate::{Alpha, Figure, Image, Material, Texture, Wrap};
use posse::low_level::file::Reader;
use posse::low_level::file::{Fault, JsonPath};

/// Reads materials, each once, when a primitive first uses it.
///
/// It uses the structs that the crate parses from JSON. The crate's wrappers around them panic if an index is out of range.
pub(super) struct Materials<'a> {
    root: &'a Root,
    /// The index in the figure of each material of the file that has been read. `None` is the default material.
    read: HashMap<Option<usize>, usize>,
    /// The index in the figure of each image of the file that has been read; `None` if it is broken.
    images: HashMap<usize, Option<usize>>,
}

impl<'a> Materials<'a> {
    pub fn new(root: &'a Root) -> Self {
        Self { root, read: HashMap::new(), images: HashMap::new() }
    }

    /// The set of texture coordinates that the texture of a material uses.
    pub fn texture_set(&self, index: Option<usize>) -> u32 {
        let info = index.and_then(|index| self.root.materials.get(index)).and_then(texture);
        info.map_or(0, |info| {
            let transform = info.extensions.as_ref().and_then(|extensions| extensions.texture_transform.as_ref());
            transform.and_then(|transform| transform.tex_coord).unwrap_or(info.tex_coord)
        })
    }

    /// Reads a material of the file and returns its index in the figure. Without an index, it is the default material. `path` is
    /// the path of the primitive.
    pub fn read(&mut self, reader: &mut Reader, index: Option<usize>, path: &JsonPath, figure: &mut Figure) -> usize {
        if let Some(&known) = self.read.get(&index) {
            return known;
        }
        let material = match index.map(|index| (index, self.root.materials.get(index))) {
            None => Material::default(),
            Some((index, Some(material))) => self.material(reader, index, material, figure),
            Some((index, None)) => {
                reader.warn(path.field("material"), format!("there is no materials[{index}]; white is used"));
                Material::default()
            }
        };
        figure.materials.push(material);
        self.read.insert(index, figure.materials.len() - 1);
        figure.materials.len() - 1
    }

    fn material(&mut self, reader: &mut Reader, index: usize, file: &FileMaterial, figure: &mut Figure) -> Material {
        let glossy = file.extensions.as_ref().and_then(|extensions| extensions.pbr_specular_glossiness.as_ref());
        let plain = file.pbr_metallic_roughness.base_color_factor.0;
        let texture = texture(file).and_then(|info| self.texture(reader, index, info, figure));
        Material {
            base_colour: repair(glossy.map_or(plain, |glossy| glossy.diffuse_factor.0)),
            texture,
            emissive: repair(file.emissive_factor.0),
            alpha: match file.alpha_mode {
                Checked::Valid(AlphaMode::Opaque) => Alpha::Opaque,
                Checked::Valid(AlphaMode::Mask) => Alpha::Mask(file.alpha_cutoff.unwrap_or_default().0),
                Checked::Valid(AlphaMode::Blend) => Alpha::Blend,
                Checked::Invalid => {
                    reader.warn(
                        JsonPath::top("materials", index).field("alphaMode"),
                        "the mode is not OPAQUE, MASK or BLEND; OPAQUE is used",
                    );
                    Alpha::Opaque
                }
            },
            double_sided: file.double_sided,
            unlit: file.extensions.as_ref().is_some_and(|extensions| extensions.unlit.is_some()),
            ..Material::default()
        }
    }

    fn texture(&mut self, reader: &mut Reader, material: usize, info: &Info, figure: &mut Figure) -> Option<Texture> {
        let root = self.root;
        let material_path = JsonPath::top("materials", material);
        let index = info.index.value();
        let Some(texture) = root.textures.get(index) else {
            let message = format!("there is no textures[{index}]; a plain colour is used");
            reader.warn(material_path.field("pbrMetallicRoughness").field("baseColorTexture"), message);
            return None;
        };
        let texture_path = JsonPath::top("textures", index);
        if texture.source == Index::new(NO_IMAGE) {
            let names: Vec<&str> =
                texture.extensions.iter().flat_map(|extensions| extensions.others.keys()).map(String::as_str).collect();
            let message =
                format!("its image is only in {}, which is not supported; a plain colour is used", names.join(", "));
            reader.warn(texture_path.field("source"), message);
            return None;
        }
        let source = texture.source.value();
        let image =
            *self.images.entry(source).or_insert_with(|| match read_image(reader, root, source, &texture_path) {
                Ok(image) => {
                    figure.images.push(image);
                    Some(figure.images.len() - 1)
                }
                Err(fault) => {
                    reader.warn(fault.path, format!("{}; a plain colour is used", fault.reason));
                    None
                }
            });
        let sampler = texture.sampler.and_then(|sampler| root.samplers.get(sampler.value()));
        let wrap = |mode: Option<Checked<WrappingMode>>| match mode {
            Some(Checked::Valid(WrappingMode::ClampToEdge)) => Wrap::Clamp,
            Some(Checked::Valid(WrappingMode::MirroredRepeat)) => Wrap::Mirror,
            _ => Wrap::Repeat,
        };
        let nearest = Some(Checked::Valid(MagFilter::Nearest));
        Some(Texture {
            image: image?,
            wrap: [sampler.map(|sampler| sampler.wrap_s), sampler.map(|sampler| sampler.wrap_t)].map(wrap),
            nearest: sampler.is_some_and(|sampler| sampler.mag_filter == nearest),
            transform: transform(info),
        })
    }
}

/// The texture of the base colour of a material.
fn texture(material: &FileMaterial) -> Option<&Info> {
    let glossy = material.extensions.as_ref().and_then(|extensions| extensions.pbr_specular_glossiness.as_ref());
    glossy.map_or(&material.pbr_metallic_roughness.base_color_texture, |glossy| &glossy.diffuse_texture).as_ref()
}

/// Offset x rotation x scale, as `KHR_texture_transform` defines. A transform that is not finite becomes the identity.
fn transform(info: &Info) -> Affine2 {
    let transform = info.extensions.as_ref().and_then(|extensions| extensions.texture_transform.as_ref());
    let Some(transform) = transform else { return Affine2::IDENTITY };
    let (sin, cos) = transform.rotation.0.sin_cos();
    let rotation = Mat2::from_cols(Vec2::new(cos, -sin), Vec2::new(sin, cos));
    let scale = Mat2::from_diagonal(Vec2::from(transform.scale.0));
    let matrix = Affine2 { matrix2: rotation * scale, translation: Vec2::from(transform.offset.0) };
    if matrix.is_finite() { matrix } else { Affine2::IDENTITY }
}

/// Factors with negative numbers replaced by 0, and numbers that are not finite by 1.
fn repair<const N: usize>(factors: [f32; N]) -> [f32; N] {
    factors.map(|factor| if factor.is_finite() { factor.max(0.0) } else { 1.0 })
}

/// Reads an image: a file beside the document, a data URI, or a buffer view. `path` is the path of the texture.
fn read_image(reader: &mut Reader, root: &Root, index: usize, path: &JsonPath) -> Result<Image, Fault> {
    let count = root.images.len();
    let image = root.images.get(index).ok_or_else(|| Fault::index(path.field("source"), index, "images", count))?;
    let image_path = JsonPath::top("images", index);
    let decoded = match (&image.uri, image.buffer_view) {
        (Some(uri), _) => Image::decode(&reader.resource(uri, &image_path.field("uri"))?),
        (None, Some(view)) => Image::decode(reader.view(view.value(), &image_path.field("bufferView"))?.bytes()),
        (None, None) => Err("the image has neither a uri nor a bufferView".into()),
    };
    let image = decoded.map_err(|reason| Fault::new(&image_path, reason))?;
    // Twice, for the mip levels.
    reader.charge(&image_path, image.pixels.len() as u64, 2)?;
    Ok(image)
}
