//! Reads primitives into meshes of triangles (glTF 2.0, section 3.7.2).

use ::gltf::Primitive;
use ::gltf::json::Index;
use ::gltf::json::accessor::Accessor;
use ::gltf::json::mesh::Primitive as FilePrimitive;
use ::gltf::json::validation::Checked;
use ::gltf::mesh::{Mode, Semantic};

use super::buffers::Buffers;
use crate::{Mesh, MorphTarget, Vertex};
use posse::low_level::file::{Component, Reader};
use posse::low_level::file::{Fault, JsonPath};

/// The component types that the readers of the crate support for colours and weights.
const FRACTIONS: &[Component] = &[Component::U8, Component::U16, Component::F32];
/// The component types that they support for joints.
const JOINTS: &[Component] = &[Component::U8, Component::U16];
/// The component types that they support for indices.
const INDICES: &[Component] = &[Component::U8, Component::U16, Component::U32];

/// A primitive, with everything that its accessors are read from.
struct Source<'s, 'a, 'b, 'r> {
    reader: &'s mut Reader<'b>,
    buffers: &'s mut Buffers<'a, 'b>,
    primitive: &'s Primitive<'r>,
    /// The primitive as parsed from JSON. The methods of [`Primitive`] panic if an index in it is out of range.
    json: &'s FilePrimitive,
}

impl Source<'_, '_, '_, '_> {
    fn attribute(&self, semantic: Semantic) -> Option<Index<Accessor>> {
        self.json.attributes.get(&Checked::Valid(semantic)).copied()
    }

    /// Reads elements of three numbers. With `count`, there must be as many elements as vertices.
    fn read_vec3(
        &mut self,
        accessor: Option<Index<Accessor>>,
        count: Option<usize>,
        path: &JsonPath,
    ) -> Result<Option<Vec<[f32; 3]>>, Fault> {
        let Some(accessor) = accessor else { return Ok(None) };
        let checked = self.buffers.check(self.reader, accessor, &[3], count, path)?;
        self.buffers.vectors(&checked).map(Some)
    }
}

/// Reads the mesh of a primitive. `texture_set` is the set of texture coordinates that its material uses.
pub(super) fn read<'b>(
    reader: &mut Reader<'b>,
    buffers: &mut Buffers<'_, 'b>,
    primitive: &Primitive,
    json: &FilePrimitive,
    texture_set: u32,
    path: &JsonPath,
) -> Result<Mesh, Fault> {
    let mode = match json.mode {
        Checked::Valid(mode @ (Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)) => mode,
        _ => {
            return Err(Fault::new(
                path.field("mode"),
                "points and lines are not supported, only triangles, strips and fans",
            ));
        }
    };
    if primitive.extension_value("KHR_draco_mesh_compression").is_some() {
        return Err(Fault::new(path.field("extensions"), "KHR_draco_mesh_compression is not supported"));
    }
    let mut source = Source { reader, buffers, primitive, json };
    let attributes = path.field("attributes");
    let Some(positions) = source.read_vec3(source.attribute(Semantic::Positions), None, &attributes)? else {
        return Err(Fault::new(attributes, "there is no POSITION"));
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
            Ok(source.read_vec3(accessor, Some(count), &target_path)?.unwrap_or_default()) as Result<_, Fault>
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
fn read_colours(source: &mut Source, vertices: &mut [Vertex], path: &JsonPath) -> Result<(), Fault> {
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

/// Reads the joints and weights of all sets. Each vertex keeps the eight joints of the largest weights; its weights are scaled to a
/// sum of 1.
fn read_influences(source: &mut Source, vertices: &mut [Vertex], path: &JsonPath) -> Result<(), Fault> {
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
fn read_indices(source: &mut Source, count: usize, path: &JsonPath) -> Result<Vec<u32>, Fault> {
    let path = path.field("indices");
    let Some(accessor) = source.json.indices else { return Ok((0..count as u32).collect()) };
    let checked = source.buffers.check(source.reader, accessor, &[1], None, &path)?;
    checked.check_component(INDICES, &path)?;
    let crate_reader = source.primitive.reader(|buffer| source.buffers.bytes(&buffer));
    let indices = checked.elements(|| Some(crate_reader.read_indices()?.into_u32()));
    match indices.iter().all(|&index| (index as usize) < count) {
        true => Ok(indices),
        false => Err(Fault::new(path, format!("an index is beyond the {count} vertices"))),
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
