//! Vertices that Bevy has compressed, by the `mesh_compression` of its glTF loader: their values as `f32`.

use bevy::math::{Vec2, Vec3};
use bevy::mesh::{
    Mesh, MeshVertexAttribute, VertexAttributeValues as Values, octahedral_decode_signed, octahedral_decode_tangent,
};

/// An attribute without compression; another one as it is.
///
/// Bevy keeps the flags of compression for itself, so that a mesh that is made anew cannot have them.
pub(crate) fn decompressed(
    mesh: &Mesh,
    attribute: MeshVertexAttribute,
    values: &Values,
) -> (MeshVertexAttribute, Values) {
    let uvs = |channel: usize, attribute, values: &[[u16; 2]]| {
        let (low, high) = mesh.final_uv_ranges[channel].map_or((Vec2::ZERO, Vec2::ONE), |range| (range.min, range.max));
        let uv = |&uv: &[u16; 2]| (low + (high - low) * Vec2::from(uv.map(unorm16))).to_array();
        (attribute, Values::Float32x2(values.iter().map(uv).collect()))
    };
    match values {
        Values::Snorm16x4(_) if attribute.id == Mesh::ATTRIBUTE_POSITION.id => {
            (Mesh::ATTRIBUTE_POSITION, Values::Float32x3(positions(mesh).unwrap_or_default()))
        }
        Values::Snorm16x2(values) if attribute.id == Mesh::ATTRIBUTE_NORMAL.id => {
            let normal = |&normal: &[i16; 2]| octahedral_decode_signed(normal.map(snorm16).into()).to_array();
            (Mesh::ATTRIBUTE_NORMAL, Values::Float32x3(values.iter().map(normal).collect()))
        }
        Values::Snorm16x2(values) if attribute.id == Mesh::ATTRIBUTE_TANGENT.id => {
            let tangent = |&tangent: &[i16; 2]| {
                let (direction, sign) = octahedral_decode_tangent(tangent.map(snorm16).into());
                direction.extend(sign).to_array()
            };
            (Mesh::ATTRIBUTE_TANGENT, Values::Float32x4(values.iter().map(tangent).collect()))
        }
        Values::Unorm16x2(values) if attribute.id == Mesh::ATTRIBUTE_UV_0.id => uvs(0, Mesh::ATTRIBUTE_UV_0, values),
        Values::Unorm16x2(values) if attribute.id == Mesh::ATTRIBUTE_UV_1.id => uvs(1, Mesh::ATTRIBUTE_UV_1, values),
        other => (attribute, other.clone()),
    }
}

/// The positions of the vertices; `None` without any.
pub(crate) fn positions(mesh: &Mesh) -> Option<Vec<[f32; 3]>> {
    match mesh.attribute(Mesh::ATTRIBUTE_POSITION)? {
        Values::Float32x3(positions) => Some(positions.clone()),
        Values::Snorm16x4(positions) => {
            let (low, high) = mesh.final_aabb.map(|bounds| (Vec3::from(bounds.min), Vec3::from(bounds.max)))?;
            let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
            let position = |&[x, y, z, _]: &[i16; 4]| (centre + half * Vec3::from([x, y, z].map(snorm16))).to_array();
            Some(positions.iter().map(position).collect())
        }
        _ => None,
    }
}

/// The weights of joints, in each format that vertex buffers have for them; `None` in another one.
pub(crate) fn weights(values: Values) -> Option<Vec<[f32; 4]>> {
    match values {
        Values::Float32x4(weights) => Some(weights),
        Values::Float16x4(weights) => Some(weights.into_iter().map(|weights| weights.map(f32::from)).collect()),
        Values::Unorm16x4(weights) => Some(weights.into_iter().map(|weights| weights.map(unorm16)).collect()),
        Values::Snorm16x4(weights) => Some(weights.into_iter().map(|weights| weights.map(snorm16)).collect()),
        Values::Unorm8x4(weights) => {
            Some(weights.into_iter().map(|weights| weights.map(|weight| f32::from(weight) / 255.0)).collect())
        }
        Values::Snorm8x4(weights) => {
            Some(weights.into_iter().map(|weights| weights.map(|weight| f32::from(weight) / 127.0)).collect())
        }
        _ => None,
    }
}

fn unorm16(value: u16) -> f32 {
    f32::from(value) / 65535.0
}

fn snorm16(value: i16) -> f32 {
    (f32::from(value) / 32767.0).max(-1.0)
}

#[cfg(test)]
mod tests {
    use bevy::asset::RenderAssetUsages;
    use bevy::mesh::{MeshCompressionArgs, PrimitiveTopology};

    use super::*;

    #[test]
    fn compressed_vertices_come_back() {
        let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default());
        mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, vec![[1.0, 2.0, 3.0], [-4.0, 2.0, 0.5], [0.0, 2.0, -2.0]]);
        mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0, 0.6, 0.8], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]);
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_TANGENT,
            vec![[1.0, 0.0, 0.0, -1.0], [0.0, -1.0, 0.0, 1.0], [0.0, 0.6, -0.8, 1.0]],
        );
        mesh.insert_attribute(Mesh::ATTRIBUTE_UV_0, vec![[0.0, 3.0], [-1.0, 0.25], [1.0, 0.0]]);
        mesh.insert_attribute(Mesh::ATTRIBUTE_UV_1, vec![[0.5, 0.0], [0.5, 0.25], [0.5, 1.0]]);
        let quarters = vec![[0.25, 0.75, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.5, 0.25, 0.25, 0.0]];
        mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, quarters.clone());
        let compressed = mesh.clone().compressed_mesh(&MeshCompressionArgs::regular()).unwrap();
        let floats = |values: &Values| -> Vec<f32> {
            match values {
                Values::Float32x2(values) => values.as_flattened().to_vec(),
                Values::Float32x3(values) => values.as_flattened().to_vec(),
                Values::Float32x4(values) => values.as_flattened().to_vec(),
                other => panic!("{other:?}"),
            }
        };
        for (attribute, values) in mesh.attributes().filter(|(attribute, _)| attribute.name != "Vertex_JointWeight") {
            let given = compressed.attribute(attribute.id).unwrap();
            assert_ne!(given, values, "{} is not compressed", attribute.name);
            let (found, again) =
                decompressed(&compressed, MeshVertexAttribute { format: given.into(), ..*attribute }, given);
            assert_eq!(found.format, attribute.format);
            for (found, expected) in floats(&again).into_iter().zip(floats(values)) {
                assert!((found - expected).abs() < 2e-4, "{}: {found}, but expected {expected}", attribute.name);
            }
        }
        let given = compressed.attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT).unwrap().clone();
        assert!(matches!(given, Values::Unorm16x4(_)));
        for (found, expected) in weights(given).unwrap().into_iter().zip(quarters) {
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 2e-5), "{found:?}");
        }
    }
}
