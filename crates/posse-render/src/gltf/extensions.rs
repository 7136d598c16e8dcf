//! Extensions of glTF that change what a figure shows: copies of meshes (`EXT_mesh_gpu_instancing`), and the properties
//! that animations change (`KHR_animation_pointer`): the visibility of nodes (`KHR_node_visibility`) and the fields of
//! materials.

use std::collections::{HashMap, HashSet};

use ::gltf::json::Index;
use ::gltf::json::accessor::Accessor;
use ::gltf::json::scene::Node;
use glam::{Affine3A, Quat, Vec3};
use posse::import::gltf::Asset;
use posse::low_level::file::{FileError, GltfDocument, JsonPath, Reader};
use serde_json::Value;

use super::document::{Buffers, VISIBILITY};
use crate::{FigureProperty, MaterialField, PropertyRole};

const INSTANCING: &str = "EXT_mesh_gpu_instancing";

/// Reads the transforms of the copies of the mesh of a node; `None` if the node has the mesh itself.
pub(super) fn read_copies<'b>(
    reader: &mut Reader<'b>,
    buffers: &mut Buffers<'_, 'b>,
    index: usize,
    node: &Node,
) -> Result<Option<Vec<Affine3A>>, FileError> {
    let Some(extension) = node.extensions.as_ref().and_then(|extensions| extensions.others.get(INSTANCING)) else {
        return Ok(None);
    };
    let path = JsonPath::top("nodes", index);
    let path = path.field("extensions");
    let path = path.field(INSTANCING);
    let path = path.field("attributes");
    let attributes = extension.get("attributes").and_then(Value::as_object);
    let mut count = None;
    let mut attribute = |name: &str, width: usize| {
        let Some(accessor) = attributes.and_then(|attributes| attributes.get(name)) else { return Ok(None) };
        let path = path.field(name);
        let number = accessor.as_u64().and_then(|accessor| u32::try_from(accessor).ok());
        let accessor: Index<Accessor> =
            Index::new(number.ok_or_else(|| {
                FileError::new(&path, format!("it is {accessor}; expected the index of an accessor"))
            })?);
        let checked = buffers.check(reader, accessor, &[width], None, &path)?;
        let found = checked.layout.count;
        let expected = *count.get_or_insert(found);
        if found != expected {
            return Err(FileError::new(&path, format!("it has {found} elements, another attribute has {expected}")));
        }
        reader.charge(&path, found, size_of::<Affine3A>() as u64)?;
        Ok(Some(checked))
    };
    let translations = attribute("TRANSLATION", 3)?;
    let rotations = attribute("ROTATION", 4)?;
    let scales = attribute("SCALE", 3)?;
    let Some(count) = count else {
        return Err(FileError::new(&path, "there is neither TRANSLATION nor ROTATION nor SCALE"));
    };
    let translations: Option<Vec<[f32; 3]>> = translations.map(|checked| buffers.vectors(&checked)).transpose()?;
    let rotations: Option<Vec<[f32; 4]>> = rotations.map(|checked| buffers.vectors(&checked)).transpose()?;
    let scales: Option<Vec<[f32; 3]>> = scales.map(|checked| buffers.vectors(&checked)).transpose()?;
    let vector = |list: &Option<Vec<[f32; 3]>>, copy: usize, default: Vec3| {
        list.as_ref().and_then(|list| list.get(copy)).map_or(default, |&numbers| Vec3::from(numbers))
    };
    let transform = |copy: usize| {
        let rotation = rotations.as_ref().and_then(|list| list.get(copy)).map(|&numbers| Quat::from_array(numbers));
        // A rotation of length 0 becomes the identity, as the rotation of a node does.
        let rotation = rotation.filter(|rotation| rotation.length() > 1e-6).map_or(Quat::IDENTITY, Quat::normalize);
        let (scale, translation) = (vector(&scales, copy, Vec3::ONE), vector(&translations, copy, Vec3::ZERO));
        Affine3A::from_scale_rotation_translation(scale, rotation, translation)
    };
    Ok(Some((0..count as usize).map(transform).collect()))
}

/// A pointer of an animation.
struct Pointer<'a> {
    text: &'a str,
    /// The first animation with the pointer, and its channel.
    place: [usize; 2],
}

/// The pointers of all animations of a document, each once.
pub(super) struct Pointers<'a>(Vec<Pointer<'a>>);

impl<'a> Pointers<'a> {
    pub fn new(document: &'a GltfDocument) -> Self {
        let (mut known, mut pointers) = (HashSet::new(), Vec::new());
        for (animation, channels) in document.animations.iter().map(|animation| &animation.channels).enumerate() {
            for (channel, target) in channels.iter().map(|channel| &channel.target).enumerate() {
                let pointer = target.extensions.as_ref().and_then(|extensions| extensions.pointer.as_ref());
                let text: Option<&str> = pointer.map(|pointer| &*pointer.pointer);
                if let Some(text) = text.filter(|&text| known.insert(text)) {
                    pointers.push(Pointer { text, place: [animation, channel] });
                }
            }
        }
        Self(pointers)
    }

    /// The nodes whose visibility is animated.
    pub fn shown_nodes(&self) -> HashSet<usize> {
        self.0.iter().filter_map(|pointer| shown_node(&pointer.text.split('/').skip(1).collect::<Vec<_>>())).collect()
    }

    /// The properties of the skeleton that change a figure. `materials` has the index in the figure of each material
    /// that parts use. A pointer to a field of them that pictures do not show is a warning.
    pub fn properties(
        &self,
        reader: &mut Reader,
        asset: &Asset,
        materials: &HashMap<Option<usize>, usize>,
    ) -> Vec<FigureProperty> {
        let mut properties = Vec::new();
        for Pointer { text, place: [animation, channel] } in &self.0 {
            let tokens: Vec<&str> = text.split('/').skip(1).collect();
            let mut role = shown_node(&tokens).and_then(|node| Some(PropertyRole::Visible(*asset.joints.get(node)?)));
            if let ["materials", index, field @ ..] = tokens.as_slice()
                && let Some(&material) = index.parse().ok().and_then(|index| materials.get(&Some(index)))
            {
                role = material_field(field).map(|field| PropertyRole::Material(material, field));
                if role.is_none() {
                    let path = JsonPath::top("animations", *animation);
                    let path = path.element("channels", *channel);
                    reader.warn(path.field("target"), format!("pictures do not show {text}"));
                }
            }
            properties.extend(role.map(|role| FigureProperty { name: (*text).into(), role }));
        }
        properties
    }
}

/// The node whose visibility a pointer names.
fn shown_node(tokens: &[&str]) -> Option<usize> {
    match tokens {
        ["nodes", node, "extensions", VISIBILITY, "visible"] => node.parse().ok(),
        _ => None,
    }
}

/// The field of a material that a pointer names below the material; `None` for a field that pictures do not show.
fn material_field(tokens: &[&str]) -> Option<MaterialField> {
    const GLOSSY: &str = "KHR_materials_pbrSpecularGlossiness";
    const TRANSFORM: &str = "KHR_texture_transform";
    Some(match tokens {
        ["pbrMetallicRoughness", "baseColorFactor"] => MaterialField::BaseColour,
        ["extensions", GLOSSY, "diffuseFactor"] => MaterialField::BaseColour,
        ["emissiveFactor"] => MaterialField::Emissive,
        ["extensions", "KHR_materials_emissive_strength", "emissiveStrength"] => MaterialField::EmissiveStrength,
        ["alphaCutoff"] => MaterialField::AlphaCutoff,
        ["pbrMetallicRoughness", "baseColorTexture", "extensions", TRANSFORM, field]
        | ["extensions", GLOSSY, "diffuseTexture", "extensions", TRANSFORM, field] => match *field {
            "offset" => MaterialField::TextureOffset,
            "rotation" => MaterialField::TextureRotation,
            "scale" => MaterialField::TextureScale,
            _ => return None,
        },
        _ => return None,
    })
}

/// Families of extensions that change what is seen.
const SEEN: [&str; 4] = ["ADOBE_materials_", "EXT_lights_", "KHR_lights_", "KHR_materials_"];
/// The properties that pictures show.
const SHOWN: [&str; 3] =
    ["KHR_materials_emissive_strength", "KHR_materials_pbrSpecularGlossiness", "KHR_materials_unlit"];

/// Warns of required extensions for materials and lights that pictures do not show. The importer warns of unknown ones.
pub(super) fn check_required(reader: &mut Reader) {
    let document = reader.document;
    for (index, name) in document.extensions_required.iter().enumerate() {
        let name: &str = name;
        if SEEN.iter().any(|family| name.starts_with(family)) && !SHOWN.contains(&name) {
            let path = JsonPath::top("extensionsRequired", index);
            reader.warn(path, format!("{name} is required, but pictures do not show it"));
        }
    }
}
