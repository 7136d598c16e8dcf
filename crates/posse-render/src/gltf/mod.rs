//! Meshes, materials and textures of glTF files, as a [`Figure`].
//!
//! A figure shows the base colour of materials and emitted light with their textures; of extensions, unlit and
//! specular-glossiness materials, the strength of emitted light, transforms of textures, hidden nodes and copies of
//! meshes, and the animations of all these by pointers. It does not show metallic and rough surfaces, further textures
//! of materials, other extensions of materials, lights, cameras, points and lines.
//!
//! A mesh, material or image that is broken or not supported is left out with a [`Warning`]: a picture without a
//! texture is still useful.
//!
//! The `gltf` crate parses the document, and its readers read the meshes. They panic on some broken files; therefore
//! the reader of the importer, which loads and decompresses buffers, checks all accessors first.
//!
//! # Examples
//! ```
//! use std::path::Path;
//! use posse::{Library, import};
//!
//! # fn main() -> Result<(), posse::Error> {
//! let file = br#"{
//!     "asset": { "version": "2.0" },
//!     "buffers": [{ "byteLength": 36, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA" }],
//!     "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
//!     "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
//!     "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
//!     "nodes": [{ "mesh": 0 }]
//! }"#;
//! let mut library = Library::new();
//! let asset = import::gltf::from_slice(&mut library, Path::new("triangle.gltf"), file, None)?;
//! let (figure, warnings) = posse_render::gltf::from_slice(&asset, file, None)?;
//! assert!(warnings.is_empty());
//! assert_eq!(figure.meshes[0].vertices[1].position, [1.0, 0.0, 0.0]);
//! # Ok(())
//! # }
//! ```

mod document;
mod extensions;

use std::collections::HashMap;
use std::path::Path;

use ::gltf::json::accessor::Accessor;
use ::gltf::json::material::{AlphaMode, Material as FileMaterial};
use ::gltf::json::mesh::Primitive as FilePrimitive;
use ::gltf::json::texture::{Info, MagFilter, WrappingMode};
use ::gltf::json::validation::Checked;
use ::gltf::json::{Index, Root};
use ::gltf::mesh::{Mode, Semantic};
use ::gltf::{Document, Primitive};
use glam::Vec2;
use posse::Error;
use posse::import::Warning;
use posse::import::gltf::Asset;
use posse::low_level::file::{
    Component, FileError, Files, FilesByName, GltfDocument, JsonPath, Reader, document_text, open_container,
};

use self::document::{Buffers, NO_IMAGE, Shown};
use self::extensions::Pointers;
use crate::{Alpha, Figure, Image, Material, Mesh, MorphTarget, Mover, Part, Texture, TextureTransform, Vertex, Wrap};

/// Reads the figure of an asset from the file that the asset was loaded from, and from external buffers and images.
///
/// # Errors
/// The errors of [`from_slice`], and [`Error::Io`] if the file cannot be read.
pub fn load(asset: &Asset) -> Result<(Figure, Vec<Warning>), Error> {
    let file = &asset.file;
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.clone(), source })?;
    from_slice(asset, &bytes, Some(file.parent().unwrap_or(Path::new(""))))
}

/// Reads the figure of an asset from the bytes that the asset was read from. `folder` holds external buffers and
/// images; with `None`, a file that has some gets warnings.
///
/// # Errors
/// [`Error::Import`] with a JSON path if the bytes are not a glTF document. Errors of single meshes, materials and
/// images are warnings.
pub fn from_slice(asset: &Asset, bytes: &[u8], folder: Option<&Path>) -> Result<(Figure, Vec<Warning>), Error> {
    read_figure(asset, bytes, Files::in_folder(folder))
}

/// As [`from_slice`], with the bytes of external buffers and images from a function: see
/// [`import::gltf::from_slice_with`](posse::import::gltf::from_slice_with). A file that is missing is a warning.
///
/// # Errors
/// The errors of [`from_slice`].
pub fn from_slice_with<'b>(
    asset: &Asset,
    bytes: &[u8],
    files: &dyn Fn(&str) -> Option<&'b [u8]>,
) -> Result<(Figure, Vec<Warning>), Error> {
    read_figure(asset, bytes, Files::Given(&FilesByName(files)))
}

fn read_figure(asset: &Asset, bytes: &[u8], files: Files) -> Result<(Figure, Vec<Warning>), Error> {
    let with_file = |error: FileError| error.in_file(&asset.file);
    // The importer has already returned these warnings.
    let container = open_container(bytes, &mut Vec::new()).map_err(with_file)?;
    let json = document_text(container.json, &mut Vec::new()).map_err(with_file)?;
    let accessors = GltfDocument::parse(&json).map_err(with_file)?;
    let document = document::parse(&json, &accessors).map_err(with_file)?;
    let mut reader = Reader::new(&accessors, container.bin.into_iter().collect(), files, bytes.len());
    let figure = read(&mut reader, &document, asset);
    Ok((figure, reader.warnings))
}

fn read(reader: &mut Reader, document: &Document, asset: &Asset) -> Figure {
    let mut figure = Figure::empty(asset.skeleton);
    let root = document.as_json();
    let mut materials = Materials::new(root);
    let mut buffers = Buffers::new(document);
    let pointers = Pointers::new(reader.document);
    let shown = document::shown_nodes(root, &pointers.shown_nodes());
    extensions::check_required(reader);
    // The meshes and materials of the primitives of each mesh. A mesh is read at the first node of the scene that has
    // it.
    let mut read: Vec<Option<Vec<(usize, usize)>>> = vec![None; root.meshes.len()];
    for (index, (node, &shown)) in root.nodes.iter().zip(&shown).enumerate() {
        let (Some(mesh), Some(&joint)) = (node.mesh, asset.joints.get(index)) else { continue };
        if shown == Shown::Elsewhere {
            continue;
        }
        let (Some(slot), Some(mesh)) = (read.get_mut(mesh.value()), document.meshes().nth(mesh.value())) else {
            continue;
        };
        let primitives = slot.get_or_insert_with(|| {
            let mesh_path = JsonPath::top("meshes", mesh.index());
            let mut found = Vec::with_capacity(mesh.primitives().len());
            for (primitive, json) in mesh.primitives().zip(&root.meshes[mesh.index()].primitives) {
                let path = mesh_path.element("primitives", primitive.index());
                let material_index = json.material.map(|material| material.value());
                let material = materials.read(reader, material_index, &path, &mut figure);
                let texture_set = materials.texture_set(material_index);
                match read_mesh(reader, &mut buffers, &primitive, json, texture_set, &path) {
                    Ok(mesh) => {
                        found.push((figure.meshes.len(), material));
                        figure.meshes.push(mesh);
                    }
                    Err(error) => reader.warn(error.path, format!("{}; the primitive is not drawn", error.reason)),
                }
            }
            found
        });
        if shown == Shown::Hidden {
            continue;
        }
        let mut skin = node.skin.map(|skin| skin.value());
        let missing = match skin.map(|skin| asset.skins.get(skin)) {
            Some(Some(id)) if asset.left_out_skins.contains(id) => Some("the skin is left out"),
            Some(None) => Some("there is no skin with this index"),
            Some(Some(_)) | None => None,
        };
        if let Some(reason) = missing {
            reader.warn(format!("nodes[{index}].skin"), format!("{reason}; the mesh moves with its node"));
            skin = None;
        }
        let mut by_joint = Mover::Joint;
        match extensions::read_copies(reader, &mut buffers, index, node) {
            Ok(Some(_)) if skin.is_some() => reader.warn(
                format!("nodes[{index}].extensions.EXT_mesh_gpu_instancing"),
                "copies of a mesh with a skin are not supported; the mesh is drawn once",
            ),
            Ok(Some(copies)) => {
                by_joint = Mover::Copies(figure.copies.len());
                figure.copies.push(copies);
            }
            Ok(None) => {}
            Err(error) => reader.warn(error.path, format!("{}; the mesh is drawn once", error.reason)),
        }
        for &(mesh, material) in primitives.iter() {
            let mover = match skin {
                Some(skin) if figure.meshes[mesh].influences() > 0 => Mover::Skin(skin),
                _ => by_joint,
            };
            figure.parts.push(Part { mesh, material, mover, joint });
        }
    }
    figure.properties = pointers.properties(reader, asset, &materials.read);
    check_skins(reader, &mut figure, asset);
    figure
}

/// Replaces joint indices of vertices beyond the joints of the skin by 0, with a warning.
fn check_skins(reader: &mut Reader, figure: &mut Figure, asset: &Asset) {
    for index in 0..figure.parts.len() {
        let Part { mesh, mover: Mover::Skin(skin), .. } = figure.parts[index] else { continue };
        let Some(count) = reader.document.skins.get(skin).map(|skin| skin.joints.len()) else { continue };
        let is_beyond = |joint: u16| usize::from(joint) >= count;
        if figure.meshes[mesh]
            .vertices
            .iter()
            .any(|vertex| vertex.joints.as_flattened().iter().any(|&joint| is_beyond(joint)))
        {
            let file = asset.file.display();
            let message =
                format!("a mesh of {file} names joints beyond the {count} of its skin; the first joint is used");
            reader.warn(format!("skins[{skin}].joints"), message);
            let mut own = figure.meshes[mesh].clone();
            for joint in own.vertices.iter_mut().flat_map(|vertex| vertex.joints.as_flattened_mut()) {
                *joint = if is_beyond(*joint) { 0 } else { *joint };
            }
            figure.parts[index].mesh = figure.meshes.len();
            figure.meshes.push(own);
        }
    }
}

/// The component types that the readers of the crate support for colours and weights.
const FRACTIONS: &[Component] = &[Component::U8, Component::U16, Component::F32];
/// The component types that they support for joints.
const JOINTS: &[Component] = &[Component::U8, Component::U16];
/// The component types that they support for indices.
const INDICES: &[Component] = &[Component::U8, Component::U16, Component::U32];

/// A primitive, with everything that its accessors are read from.
struct PrimitiveSource<'s, 'a, 'b, 'r> {
    reader: &'s mut Reader<'b>,
    buffers: &'s mut Buffers<'a, 'b>,
    primitive: &'s Primitive<'r>,
    /// The primitive as parsed from JSON. The methods of [`Primitive`] panic if an index in it is out of range.
    json: &'s FilePrimitive,
}

impl PrimitiveSource<'_, '_, '_, '_> {
    fn attribute(&self, semantic: Semantic) -> Option<Index<Accessor>> {
        self.json.attributes.get(&Checked::Valid(semantic)).copied()
    }

    /// Reads elements of three numbers. With `count`, there must be as many elements as vertices.
    fn read_vec3(
        &mut self,
        accessor: Option<Index<Accessor>>,
        count: Option<usize>,
        path: &JsonPath,
    ) -> Result<Option<Vec<[f32; 3]>>, FileError> {
        let Some(accessor) = accessor else { return Ok(None) };
        let checked = self.buffers.check(self.reader, accessor, &[3], count, path)?;
        self.buffers.vectors(&checked).map(Some)
    }
}

/// Reads the mesh of a primitive, as triangles (glTF 2.0, section 3.7.2). `texture_set` is the set of texture
/// coordinates that its material uses.
fn read_mesh<'b>(
    reader: &mut Reader<'b>,
    buffers: &mut Buffers<'_, 'b>,
    primitive: &Primitive,
    json: &FilePrimitive,
    texture_set: u32,
    path: &JsonPath,
) -> Result<Mesh, FileError> {
    let mode = match json.mode {
        Checked::Valid(mode @ (Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)) => mode,
        _ => {
            return Err(FileError::new(
                path.field("mode"),
                "points and lines are not supported, only triangles, strips and fans",
            ));
        }
    };
    if primitive.extension_value("KHR_draco_mesh_compression").is_some() {
        return Err(FileError::new(path.field("extensions"), "KHR_draco_mesh_compression is not supported"));
    }
    let mut source = PrimitiveSource { reader, buffers, primitive, json };
    let attributes = path.field("attributes");
    let Some(positions) = source.read_vec3(source.attribute(Semantic::Positions), None, &attributes)? else {
        return Err(FileError::new(attributes, "there is no POSITION"));
    };
    let count = positions.len();
    source.reader.charge(&attributes, count as u64, size_of::<Vertex>() as u64)?;
    let mut vertices = vec![Vertex::default(); count];
    vertices.iter_mut().zip(positions).for_each(|(vertex, position)| vertex.position = position);
    let normals = source.read_vec3(source.attribute(Semantic::Normals), Some(count), &attributes)?;
    let is_flat = normals.is_none();
    vertices.iter_mut().zip(normals.into_iter().flatten()).for_each(|(vertex, normal)| vertex.normal = normal);
    if let Some(accessor) = source.attribute(Semantic::TexCoords(texture_set)) {
        let checked = source.buffers.check(source.reader, accessor, &[2], Some(count), &attributes)?;
        let coordinates = source.buffers.vectors(&checked)?;
        vertices.iter_mut().zip(coordinates).for_each(|(vertex, texture)| vertex.texture = texture);
    }
    read_colours(&mut source, &mut vertices, &attributes)?;
    read_influences(&mut source, &mut vertices, &attributes)?;
    let mut targets = Vec::new();
    for (index, target) in json.targets.iter().flatten().enumerate() {
        let target_path = path.element("targets", index);
        let mut deltas = |accessor| {
            Ok(source.read_vec3(accessor, Some(count), &target_path)?.unwrap_or_default()) as Result<_, FileError>
        };
        targets.push(MorphTarget { positions: deltas(target.positions)?, normals: deltas(target.normals)? });
    }
    let indices = triangles(mode, &read_indices(&mut source, count, path)?);
    let mesh = Mesh { vertices, indices, targets };
    if !is_flat {
        return Ok(mesh);
    }
    let corner = size_of::<Vertex>() + 24 * mesh.targets.len();
    source.reader.charge(&attributes, mesh.indices.len() as u64, corner as u64)?;
    Ok(mesh.flat())
}

/// Reads the colours of the first set. Colours without alpha are opaque.
fn read_colours(source: &mut PrimitiveSource, vertices: &mut [Vertex], path: &JsonPath) -> Result<(), FileError> {
    let Some(accessor) = source.attribute(Semantic::Colors(0)) else { return Ok(()) };
    let checked = source.buffers.check(source.reader, accessor, &[3, 4], Some(vertices.len()), path)?;
    checked.check_component(FRACTIONS, path)?;
    let crate_reader = source.primitive.reader(|buffer| source.buffers.bytes(&buffer));
    let colours = checked.floats(|| Some(crate_reader.read_colors(0)?.into_rgba_f32()))?;
    for (vertex, colour) in vertices.iter_mut().zip(colours) {
        vertex.colour = colour.map(|value| (65535.0 * value).round().clamp(0.0, 65535.0) as u16);
    }
    Ok(())
}

/// Reads the joints and weights of all sets. Each vertex keeps the eight joints of the largest weights; its weights are
/// scaled to a sum of 1.
fn read_influences(source: &mut PrimitiveSource, vertices: &mut [Vertex], path: &JsonPath) -> Result<(), FileError> {
    let mut sets = Vec::new();
    for set in 0.. {
        let both = [source.attribute(Semantic::Joints(set)), source.attribute(Semantic::Weights(set))];
        let [Some(joints), Some(weights)] = both else { break };
        let mut check = |accessor| source.buffers.check(source.reader, accessor, &[4], Some(vertices.len()), path);
        let (joints, weights) = (check(joints)?, check(weights)?);
        joints.check_component(JOINTS, path)?;
        weights.check_component(FRACTIONS, path)?;
        let crate_reader = source.primitive.reader(|buffer| source.buffers.bytes(&buffer));
        sets.push((
            joints.elements(|| Some(crate_reader.read_joints(set)?.into_u16())),
            weights.floats(|| Some(crate_reader.read_weights(set)?.into_f32()))?,
        ));
    }
    if sets.is_empty() {
        return Ok(());
    }
    for (index, vertex) in vertices.iter_mut().enumerate() {
        let set_influences = |(joints, weights): &(Vec<[u16; 4]>, Vec<[f32; 4]>)| -> [(u16, f32); 4] {
            std::array::from_fn(|number| (joints[index][number], weights[index][number].max(0.0)))
        };
        let mut all: Vec<(u16, f32)> =
            sets.iter().flat_map(set_influences).filter(|&(_, weight)| weight > 0.0).collect();
        if all.len() > 4 {
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            all.truncate(Vertex::INFLUENCES);
        }
        let sum: f32 = all.iter().map(|(_, weight)| weight).sum();
        // A vertex without weights moves with its first joint, as in common viewers.
        if all.is_empty() {
            all.push((sets[0].0[index][0], 1.0));
        }
        for (number, (joint, weight)) in all.into_iter().enumerate() {
            vertex.joints.as_flattened_mut()[number] = joint;
            vertex.weights.as_flattened_mut()[number] = if sum > 0.0 { weight / sum } else { weight };
        }
    }
    Ok(())
}

/// Reads the indices of the corners of a primitive. Without indices, they are 0, 1, 2, ...
fn read_indices(source: &mut PrimitiveSource, count: usize, path: &JsonPath) -> Result<Vec<u32>, FileError> {
    let path = path.field("indices");
    let Some(accessor) = source.json.indices else { return Ok((0..count as u32).collect()) };
    let checked = source.buffers.check(source.reader, accessor, &[1], None, &path)?;
    checked.check_component(INDICES, &path)?;
    let crate_reader = source.primitive.reader(|buffer| source.buffers.bytes(&buffer));
    let indices = checked.elements(|| Some(crate_reader.read_indices()?.into_u32()));
    match indices.iter().all(|&index| (index as usize) < count) {
        true => Ok(indices),
        false => Err(FileError::new(path, format!("an index is beyond the {count} vertices"))),
    }
}

/// The corners as a list of triangles, three indices per triangle.
fn triangles(mode: Mode, corners: &[u32]) -> Vec<u32> {
    match mode {
        Mode::TriangleStrip => {
            // Every other triangle is reversed, so that all face the same way.
            let orient = |(number, corner): (usize, &[u32])| match number % 2 {
                0 => [corner[0], corner[1], corner[2]],
                _ => [corner[0], corner[2], corner[1]],
            };
            corners.windows(3).enumerate().flat_map(orient).collect()
        }
        Mode::TriangleFan => {
            corners.get(1..).unwrap_or_default().windows(2).flat_map(|two| [two[0], two[1], corners[0]]).collect()
        }
        _ => corners[..corners.len() - corners.len() % 3].to_vec(),
    }
}

/// Reads materials and their textures, each once, when a primitive first uses it (glTF 2.0, sections 3.8 and 3.9).
///
/// It uses the structs that the crate parses from JSON. The crate's wrappers around them panic if an index is out of
/// range.
struct Materials<'a> {
    root: &'a Root,
    /// The index in the figure of each material of the file that has been read. `None` is the default material.
    read: HashMap<Option<usize>, usize>,
    /// The index in the figure of each image of the file that has been read; `None` if it is broken.
    images: HashMap<usize, Option<usize>>,
}

impl<'a> Materials<'a> {
    fn new(root: &'a Root) -> Self {
        Self { root, read: HashMap::new(), images: HashMap::new() }
    }

    /// The set of texture coordinates that the texture of a material uses.
    fn texture_set(&self, index: Option<usize>) -> u32 {
        let material = index.and_then(|index| self.root.materials.get(index));
        material.and_then(|material| texture(material).or(material.emissive_texture.as_ref())).map_or(0, texture_set)
    }

    /// Reads a material of the file and returns its index in the figure. Without an index, it is the default material.
    /// `path` is the path of the primitive.
    fn read(&mut self, reader: &mut Reader, index: Option<usize>, path: &JsonPath, figure: &mut Figure) -> usize {
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
        let path = JsonPath::top("materials", index);
        let metallic = path.field("pbrMetallicRoughness");
        let base_path = metallic.field("baseColorTexture");
        let base =
            texture(file).and_then(|info| self.texture(reader, info, base_path, "a plain colour is used", figure));
        let emissive = repair(file.emissive_factor.0);
        let mut emissive_image = None;
        // An animation may light it up.
        let is_animated = self.root.extensions_used.iter().any(|name| name == "KHR_animation_pointer");
        let mut emits = is_animated || emissive != [0.0; 3];
        if let Some(info) = file.emissive_texture.as_ref().filter(|_| emits) {
            emissive_image = self.emissive_image(reader, file, info, path.field("emissiveTexture"), figure);
            // Most images of emission are dark nearly everywhere.
            emits = emissive_image.is_some();
        }
        Material {
            base_colour: repair(glossy.map_or(plain, |glossy| glossy.diffuse_factor.0)),
            texture: base,
            emissive: if emits { emissive } else { [0.0; 3] },
            emissive_image,
            emissive_strength: repair([emissive_strength(file)])[0],
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

    /// Reads the image of the emitted light of a material, if its texture has the coordinates of the base colour's.
    fn emissive_image(
        &mut self,
        reader: &mut Reader,
        material: &FileMaterial,
        info: &Info,
        path: JsonPath,
        figure: &mut Figure,
    ) -> Option<usize> {
        let place = |info: &Info| (texture_set(info), transform(info));
        if place(info) != texture(material).map_or_else(|| (texture_set(info), TextureTransform::default()), place) {
            let message = "it has other texture coordinates than the base colour, which is not supported";
            reader.warn(path, format!("{message}; no light is emitted"));
            return None;
        }
        self.texture(reader, info, path, "no light is emitted", figure).map(|texture| texture.image)
    }

    /// Reads a texture. `path` is the path of its use, and `instead` is what is shown without it, for warnings.
    fn texture(
        &mut self,
        reader: &mut Reader,
        info: &Info,
        path: JsonPath,
        instead: &str,
        figure: &mut Figure,
    ) -> Option<Texture> {
        let root = self.root;
        let index = info.index.value();
        let Some(texture) = root.textures.get(index) else {
            reader.warn(path, format!("there is no textures[{index}]; {instead}"));
            return None;
        };
        let texture_path = JsonPath::top("textures", index);
        if texture.source == Index::new(NO_IMAGE) {
            let names: Vec<&str> =
                texture.extensions.iter().flat_map(|extensions| extensions.others.keys()).map(String::as_str).collect();
            let message = format!("its image is only in {}, which is not supported; {instead}", names.join(", "));
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
                Err(error) => {
                    reader.warn(error.path, format!("{}; {instead}", error.reason));
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

/// The set of texture coordinates of a texture.
fn texture_set(info: &Info) -> u32 {
    let transform = info.extensions.as_ref().and_then(|extensions| extensions.texture_transform.as_ref());
    transform.and_then(|transform| transform.tex_coord).unwrap_or(info.tex_coord)
}

/// The factor of the emitted light of a material.
fn emissive_strength(material: &FileMaterial) -> f32 {
    let extension =
        material.extensions.as_ref().and_then(|extensions| extensions.others.get("KHR_materials_emissive_strength"));
    extension.and_then(|extension| extension.get("emissiveStrength")?.as_f64()).map_or(1.0, |strength| strength as f32)
}

/// The transform of a texture. A transform that is not finite becomes the identity.
fn transform(info: &Info) -> TextureTransform {
    let transform = info.extensions.as_ref().and_then(|extensions| extensions.texture_transform.as_ref());
    let Some(transform) = transform else { return TextureTransform::default() };
    let found = TextureTransform {
        offset: Vec2::from(transform.offset.0),
        rotation: transform.rotation.0,
        scale: Vec2::from(transform.scale.0),
    };
    if found.to_affine().is_finite() { found } else { TextureTransform::default() }
}

/// Factors with negative numbers replaced by 0, and numbers that are not finite by 1.
fn repair<const N: usize>(factors: [f32; N]) -> [f32; N] {
    factors.map(|factor| if factor.is_finite() { factor.max(0.0) } else { 1.0 })
}

/// Reads an image: a file beside the document, a data URI, or a buffer view. `path` is the path of the texture.
fn read_image(reader: &mut Reader, root: &Root, index: usize, path: &JsonPath) -> Result<Image, FileError> {
    let count = root.images.len();
    let image = root.images.get(index).ok_or_else(|| FileError::index(path.field("source"), index, "images", count))?;
    let image_path = JsonPath::top("images", index);
    let decoded = match (&image.uri, image.buffer_view) {
        (Some(uri), _) => Image::decode(&reader.resource(uri, &image_path.field("uri"))?),
        (None, Some(view)) => Image::decode(reader.view(view.value(), &image_path.field("bufferView"))?.bytes()),
        (None, None) => Err("the image has neither a uri nor a bufferView".into()),
    };
    let image = decoded.map_err(|reason| FileError::new(&image_path, reason))?;
    // Twice, for the mip levels.
    reader.charge(&image_path, image.pixels.len() as u64, 2)?;
    Ok(image)
}
