//! Primitives into triangles (glTF 2.0, section 3.7.2).

use super::document::Primitive;
use crate::import::fault::Fault;
use crate::import::gltf::accessor::Integers;
use crate::import::gltf::at::At;
use crate::import::gltf::reader::Reader;
use crate::render::{Mesh, MorphTarget, Vertex};

const TRIANGLES: u32 = 4;
const STRIP: u32 = 5;
const FAN: u32 = 6;

/// A primitive's mesh; `texture_set` is the set of texture coordinates that its material wants.
pub(super) fn read(reader: &mut Reader, primitive: &Primitive, texture_set: u32, path: &At) -> Result<Mesh, Fault> {
    let mode = primitive.mode.unwrap_or(TRIANGLES);
    if !(TRIANGLES..=FAN).contains(&mode) {
        return Err(Fault::new(path.field("mode"), "points and lines are not known, only triangles, strips and fans"));
    }
    if primitive.extensions.contains_key("KHR_draco_mesh_compression") {
        return Err(Fault::new(path.field("extensions"), "KHR_draco_mesh_compression is not known"));
    }
    let attributes = path.field("attributes");
    let attribute = |reader: &mut Reader, name: &str, widths: &[usize], count: Option<usize>| {
        let Some(&accessor) = primitive.attributes.get(name) else { return Ok(None) };
        numbers(reader, accessor, widths, count, &attributes)
    };
    let Some((positions, 3)) = attribute(reader, "POSITION", &[3], None)? else {
        return Err(Fault::new(attributes, "there is no POSITION"));
    };
    let count = positions.len() / 3;
    reader.charge(&attributes, count as u64, size_of::<Vertex>() as u64)?;
    let mut vertices = vec![Vertex::default(); count];
    for (vertex, position) in vertices.iter_mut().zip(positions.as_chunks().0) {
        vertex.position = *position;
    }
    let normals = attribute(reader, "NORMAL", &[3], Some(count))?;
    if let Some((normals, _)) = &normals {
        vertices.iter_mut().zip(normals.as_chunks().0).for_each(|(vertex, normal)| vertex.normal = *normal);
    }
    if let Some((places, _)) = attribute(reader, &format!("TEXCOORD_{texture_set}"), &[2], Some(count))? {
        vertices.iter_mut().zip(places.as_chunks().0).for_each(|(vertex, place)| vertex.texture = *place);
    }
    if let Some((colours, width)) = attribute(reader, "COLOR_0", &[3, 4], Some(count))? {
        for (vertex, colour) in vertices.iter_mut().zip(colours.chunks_exact(width)) {
            for (channel, value) in vertex.colour.iter_mut().zip(colour) {
                *channel = (65535.0 * value).round().clamp(0.0, 65535.0) as u16;
            }
        }
    }
    influences(reader, primitive, &mut vertices, &attributes)?;
    let mut targets = Vec::with_capacity(primitive.targets.len());
    for (index, target) in primitive.targets.iter().enumerate() {
        let place = path.item("targets", index);
        let mut deltas = |name: &str| {
            let Some(&accessor) = target.get(name) else { return Ok(Vec::new()) };
            let deltas = numbers(reader, accessor, &[3], Some(count), &place)?;
            Ok(deltas.map_or_else(Vec::new, |(deltas, _)| deltas.as_chunks().0.to_vec()))
        };
        targets.push(MorphTarget { positions: deltas("POSITION")?, normals: deltas("NORMAL")? });
    }
    let indices = triangles(mode, &indices(reader, primitive, count, path)?);
    let mesh = Mesh { vertices, indices, targets };
    if normals.is_some() {
        return Ok(mesh);
    }
    let corner = size_of::<Vertex>() + 24 * mesh.targets.len();
    reader.charge(&attributes, mesh.indices.len() as u64, corner as u64)?;
    Ok(mesh.flat())
}

/// The numbers of an accessor of some width, with the width; as many elements as there are vertices.
fn numbers(
    reader: &mut Reader,
    accessor: usize,
    widths: &[usize],
    count: Option<usize>,
    path: &At,
) -> Result<Option<(Vec<f32>, usize)>, Fault> {
    let layout = reader.layout(accessor, path)?;
    if !widths.contains(&layout.width) {
        return Err(Fault::new(path, format!("accessor {accessor} has elements of {} numbers", layout.width)));
    }
    if count.is_some_and(|count| layout.count != count as u64) {
        let (count, found) = (count.unwrap_or(0), layout.count);
        return Err(Fault::new(path, format!("accessor {accessor} has {found} elements for {count} vertices")));
    }
    let numbers = reader.read(accessor, layout.count, Integers::AsDeclared, path)?;
    Ok(Some((numbers, layout.width)))
}

/// Joints and weights of all sets: of each vertex the eight that weigh most, their weights brought to a sum of 1.
fn influences(reader: &mut Reader, primitive: &Primitive, vertices: &mut [Vertex], path: &At) -> Result<(), Fault> {
    let mut sets = Vec::new();
    for set in 0.. {
        let [joints, weights] = ["JOINTS", "WEIGHTS"].map(|name| primitive.attributes.get(&format!("{name}_{set}")));
        let (Some(&joints), Some(&weights)) = (joints, weights) else { break };
        let joints = numbers(reader, joints, &[4], Some(vertices.len()), path)?;
        let weights = numbers(reader, weights, &[4], Some(vertices.len()), path)?;
        sets.extend(joints.zip(weights).map(|((joints, _), (weights, _))| (joints, weights)));
    }
    if sets.is_empty() {
        return Ok(());
    }
    for (index, vertex) in vertices.iter_mut().enumerate() {
        let of_set = |(joints, weights): &(Vec<f32>, Vec<f32>)| -> [(u16, f32); 4] {
            std::array::from_fn(|place| (joints[4 * index + place] as u16, weights[4 * index + place].max(0.0)))
        };
        let mut all: Vec<(u16, f32)> = sets.iter().flat_map(of_set).filter(|&(_, weight)| weight > 0.0).collect();
        if all.len() > 4 {
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            all.truncate(Vertex::INFLUENCES);
        }
        let sum: f32 = all.iter().map(|(_, weight)| weight).sum();
        // A vertex that nothing moves goes with the first joint, as it would in common viewers.
        if all.is_empty() {
            all.push((sets[0].0[4 * index] as u16, 1.0));
        }
        for (place, (joint, weight)) in all.into_iter().enumerate() {
            vertex.joints.as_flattened_mut()[place] = joint;
            vertex.weights.as_flattened_mut()[place] = if sum > 0.0 { weight / sum } else { weight };
        }
    }
    Ok(())
}

/// The indices of a primitive's corners; one after the other where it has none.
fn indices(reader: &mut Reader, primitive: &Primitive, count: usize, path: &At) -> Result<Vec<u32>, Fault> {
    let path = path.field("indices");
    let Some(accessor) = primitive.indices else { return Ok((0..count as u32).collect()) };
    let layout = reader.layout(accessor, &path)?;
    if layout.width != 1 || layout.is_float() {
        return Err(Fault::new(path, format!("accessor {accessor} is not of whole numbers")));
    }
    let numbers = reader.read(accessor, layout.count, Integers::AsDeclared, &path)?;
    let index = |number: f64| if number >= 0.0 && number < count as f64 { Some(number as u32) } else { None };
    let indices: Option<Vec<u32>> = numbers.iter().map(|&number| index(number)).collect();
    indices.ok_or_else(|| Fault::new(path, format!("an index is beyond the {count} vertices")))
}

/// Three corners a triangle, whatever the mode.
fn triangles(mode: u32, corners: &[u32]) -> Vec<u32> {
    match mode {
        STRIP => {
            // Every other one is turned, so that all face the same way.
            let turned = |(place, corner): (usize, &[u32])| match place % 2 {
                0 => [corner[0], corner[1], corner[2]],
                _ => [corner[0], corner[2], corner[1]],
            };
            corners.windows(3).enumerate().flat_map(turned).collect()
        }
        FAN => corners.get(1..).unwrap_or_default().windows(2).flat_map(|two| [two[0], two[1], corners[0]]).collect(),
        _ => corners[..corners.len() - corners.len() % 3].to_vec(),
    }
}
