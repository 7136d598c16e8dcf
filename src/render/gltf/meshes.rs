//! Primitives into triangles (glTF 2.0, section 3.7.2).

use ::gltf::Primitive;
use ::gltf::json::Index;
use ::gltf::json::accessor::Accessor;
use ::gltf::json::mesh::Primitive as FilePrimitive;
use ::gltf::json::validation::Checked;
use ::gltf::mesh::{Mode, Semantic};

use super::buffers::Buffers;
use crate::import::fault::Fault;
use crate::import::gltf::accessor::Component;
use crate::import::gltf::at::At;
use crate::import::gltf::reader::Reader;
use crate::render::{Mesh, MorphTarget, Vertex};

/// What the crate's readers know colours, weights, joints and indices to be of.
const FRACTIONS: &[Component] = &[Component::U8, Component::U16, Component::F32];
const JOINTS: &[Component] = &[Component::U8, Component::U16];
const INDICES: &[Component] = &[Component::U8, Component::U16, Component::U32];

/// A primitive on its way to a mesh.
struct Source<'s, 'a, 'b, 'r> {
    reader: &'s mut Reader<'b>,
    buffers: &'s mut Buffers<'a, 'b>,
    primitive: &'s Primitive<'r>,
    /// The primitive as it stands: the crate's accessor over it panics where an index is beyond the end.
    json: &'s FilePrimitive,
}

impl Source<'_, '_, '_, '_> {
    fn attribute(&self, semantic: Semantic) -> Option<Index<Accessor>> {
        self.json.attributes.get(&Checked::Valid(semantic)).copied()
    }

    /// Elements of three numbers, as many as there are vertices where those are known.
    fn triples(
        &mut self,
        accessor: Option<Index<Accessor>>,
        count: Option<usize>,
        path: &At,
    ) -> Result<Option<Vec<[f32; 3]>>, Fault> {
        let Some(accessor) = accessor else { return Ok(None) };
        let checked = self.buffers.check(self.reader, accessor, &[3], count, path)?;
        self.buffers.vectors(&checked).map(Some)
    }
}

/// A primitive's mesh; `texture_set` is the set of texture coordinates that its material wants.
pub(super) fn read<'b>(
    reader: &mut Reader<'b>,
    buffers: &mut Buffers<'_, 'b>,
    primitive: &Primitive,
    json: &FilePrimitive,
    texture_set: u32,
    path: &At,
) -> Result<Mesh, Fault> {
    let mode = match json.mode {
        Checked::Valid(mode @ (Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)) => mode,
        _ => {
            return Err(Fault::new(
                path.field("mode"),
                "points and lines are not known, only triangles, strips and fans",
            ));
        }
    };
    if primitive.extension_value("KHR_draco_mesh_compression").is_some() {
        return Err(Fault::new(path.field("extensions"), "KHR_draco_mesh_compression is not known"));
    }
    let mut source = Source { reader, buffers, primitive, json };
    let attributes = path.field("attributes");
    let Some(positions) = source.triples(source.attribute(Semantic::Positions), None, &attributes)? else {
        return Err(Fault::new(attributes, "there is no POSITION"));
    };
    let count = positions.len();
    source.reader.charge(&attributes, count as u64, size_of::<Vertex>() as u64)?;
    let mut vertices = vec![Vertex::default(); count];
    vertices.iter_mut().zip(positions).for_each(|(vertex, position)| vertex.position = position);
    let normals = source.triples(source.attribute(Semantic::Normals), Some(count), &attributes)?;
    let is_flat = normals.is_none();
    vertices.iter_mut().zip(normals.into_iter().flatten()).for_each(|(vertex, normal)| vertex.normal = normal);
    if let Some(accessor) = source.attribute(Semantic::TexCoords(texture_set)) {
        let checked = source.buffers.check(source.reader, accessor, &[2], Some(count), &attributes)?;
        let places = source.buffers.vectors(&checked)?;
        vertices.iter_mut().zip(places).for_each(|(vertex, place)| vertex.texture = place);
    }
    colours(&mut source, &mut vertices, &attributes)?;
    influences(&mut source, &mut vertices, &attributes)?;
    let mut targets = Vec::new();
    for (index, target) in json.targets.iter().flatten().enumerate() {
        let place = path.item("targets", index);
        let mut deltas =
            |accessor| Ok(source.triples(accessor, Some(count), &place)?.unwrap_or_default()) as Result<_, Fault>;
        targets.push(MorphTarget { positions: deltas(target.positions)?, normals: deltas(target.normals)? });
    }
    let indices = triangles(mode, &indices(&mut source, count, path)?);
    let mesh = Mesh { vertices, indices, targets };
    if !is_flat {
        return Ok(mesh);
    }
    let corner = size_of::<Vertex>() + 24 * mesh.targets.len();
    source.reader.charge(&attributes, mesh.indices.len() as u64, corner as u64)?;
    Ok(mesh.flat())
}

/// The colours of the first set, opaque where they have no alpha.
fn colours(source: &mut Source, vertices: &mut [Vertex], path: &At) -> Result<(), Fault> {
    let Some(accessor) = source.attribute(Semantic::Colors(0)) else { return Ok(()) };
    let checked = source.buffers.check(source.reader, accessor, &[3, 4], Some(vertices.len()), path)?;
    checked.is_of(FRACTIONS, path)?;
    let crate_reader = source.primitive.reader(|buffer| source.buffers.bytes(&buffer));
    let colours = checked.floats(|| Some(crate_reader.read_colors(0)?.into_rgba_f32()))?;
    for (vertex, colour) in vertices.iter_mut().zip(colours) {
        vertex.colour = colour.map(|value| (65535.0 * value).round().clamp(0.0, 65535.0) as u16);
    }
    Ok(())
}

/// Joints and weights of all sets: of each vertex the eight that weigh most, their weights brought to a sum of 1.
fn influences(source: &mut Source, vertices: &mut [Vertex], path: &At) -> Result<(), Fault> {
    let mut sets = Vec::new();
    for set in 0.. {
        let both = [source.attribute(Semantic::Joints(set)), source.attribute(Semantic::Weights(set))];
        let [Some(joints), Some(weights)] = both else { break };
        let mut check = |accessor| source.buffers.check(source.reader, accessor, &[4], Some(vertices.len()), path);
        let (joints, weights) = (check(joints)?, check(weights)?);
        joints.is_of(JOINTS, path)?;
        weights.is_of(FRACTIONS, path)?;
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
        let of_set = |(joints, weights): &(Vec<[u16; 4]>, Vec<[f32; 4]>)| -> [(u16, f32); 4] {
            std::array::from_fn(|place| (joints[index][place], weights[index][place].max(0.0)))
        };
        let mut all: Vec<(u16, f32)> = sets.iter().flat_map(of_set).filter(|&(_, weight)| weight > 0.0).collect();
        if all.len() > 4 {
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            all.truncate(Vertex::INFLUENCES);
        }
        let sum: f32 = all.iter().map(|(_, weight)| weight).sum();
        // A vertex that nothing moves goes with the first joint, as it would in common viewers.
        if all.is_empty() {
            all.push((sets[0].0[index][0], 1.0));
        }
        for (place, (joint, weight)) in all.into_iter().enumerate() {
            vertex.joints.as_flattened_mut()[place] = joint;
            vertex.weights.as_flattened_mut()[place] = if sum > 0.0 { weight / sum } else { weight };
        }
    }
    Ok(())
}

/// The indices of a primitive's corners; one after the other where it has none.
fn indices(source: &mut Source, count: usize, path: &At) -> Result<Vec<u32>, Fault> {
    let path = path.field("indices");
    let Some(accessor) = source.json.indices else { return Ok((0..count as u32).collect()) };
    let checked = source.buffers.check(source.reader, accessor, &[1], None, &path)?;
    checked.is_of(INDICES, &path)?;
    let crate_reader = source.primitive.reader(|buffer| source.buffers.bytes(&buffer));
    let indices = checked.elements(|| Some(crate_reader.read_indices()?.into_u32()));
    match indices.iter().all(|&index| (index as usize) < count) {
        true => Ok(indices),
        false => Err(Fault::new(path, format!("an index is beyond the {count} vertices"))),
    }
}

/// Three corners a triangle, whatever the mode.
fn triangles(mode: Mode, corners: &[u32]) -> Vec<u32> {
    match mode {
        Mode::TriangleStrip => {
            // Every other one is turned, so that all face the same way.
            let turned = |(place, corner): (usize, &[u32])| match place % 2 {
                0 => [corner[0], corner[1], corner[2]],
                _ => [corner[0], corner[2], corner[1]],
            };
            corners.windows(3).enumerate().flat_map(turned).collect()
        }
        Mode::TriangleFan => {
            corners.get(1..).unwrap_or_default().windows(2).flat_map(|two| [two[0], two[1], corners[0]]).collect()
        }
        _ => corners[..corners.len() - corners.len() % 3].to_vec(),
    }
}
