//! The colours of a retargeting's picture: the left and the right limbs of a figure, on bones and on meshes.

use std::collections::{HashMap, HashSet};

use posse::{Error, SkeletonId};
use posse_render::{Figure, Material, Mover, Part, Vertex, VertexColours, demo, gltf};

use crate::output::{note, warn_of_file};
use crate::retargeting::Retargeted;
use crate::source::Rig as RigFile;

/// The length in metres of the sides of the triangles of the built-in figure.
const BODY_SIDE: f64 = 0.013;
/// The share by which the colour of a side replaces the colour of a mesh.
const STRENGTH: f32 = 0.85;
/// The share by which grey of the same brightness replaces the colour of a mesh without a texture.
const PALENESS: f32 = 0.7;
/// The colour of text, in sRGB.
pub const INK: [u8; 3] = [60, 63, 68];

/// A side of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodySide {
    Left,
    Right,
    Middle,
}

impl BodySide {
    /// The side of a role. Eyes belong to the head.
    pub fn of_role(role: &str) -> Self {
        match role {
            _ if role.ends_with("Eye") => Self::Middle,
            _ if role.starts_with("left") => Self::Left,
            _ if role.starts_with("right") => Self::Right,
            _ => Self::Middle,
        }
    }

    /// The linear colour.
    pub fn colour(self) -> [f32; 3] {
        match self {
            Self::Left => [0.02, 0.16, 0.62],
            Self::Right => [0.78, 0.14, 0.01],
            Self::Middle => [0.12, 0.12, 0.13],
        }
    }

    /// The colour of text, in sRGB.
    pub fn bytes(self) -> [u8; 3] {
        match self {
            Self::Left => [38, 112, 206],
            Self::Right => [205, 94, 10],
            Self::Middle => INK,
        }
    }
}

/// The meshes of the target that its body moves, in the colours of the sides; without parts if there are none. The
/// skeleton has a side for each joint, and whether it is one of the body.
pub fn coloured_body(
    retargeted: &Retargeted,
    skeleton: SkeletonId,
    sides: &[BodySide],
    is_body: &[bool],
    target: &RigFile,
) -> Result<Figure, Error> {
    let Retargeted { source, .. } = retargeted;
    let file = &target.path;
    let figure = match (&target.bytes, &source.asset) {
        (None, _) => demo::figure(&source.library, skeleton, BODY_SIDE)?,
        (Some(bytes), Some(asset)) => {
            let (figure, warnings) = gltf::from_slice(asset, bytes, file.parent())?;
            warn_of_file(file, &warnings, &mut note)?;
            figure
        }
        // A BVH file has no meshes.
        (Some(_), None) => Figure::empty(skeleton),
    };
    let skins: Vec<&[usize]> = source.library.skins_of(skeleton).map(|(_, skin)| skin.joints.as_slice()).collect();
    Ok(coloured(Figure { skeleton, ..figure }, &skins, sides, is_body))
}

/// What the colours of the vertices of a mesh depend on, besides its material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Tint {
    /// All have the colour of a side.
    Side(BodySide),
    /// The joints of a skin move them.
    Skin(usize),
}

/// The parts of a figure that its body moves, in the colours of the sides. Parts that show a mesh in the same colours
/// share it: a mesh can be large, and the number of parts, too.
fn coloured(figure: Figure, skins: &[&[usize]], sides: &[BodySide], is_body: &[bool]) -> Figure {
    let Figure { skeleton, mut meshes, mut parts, materials, images, copies, .. } = figure;
    let joints_of_skin = |skin: usize| skins.get(skin).copied().unwrap_or_default();
    parts.retain(|part| match part.mover {
        Mover::Skin(skin) => joints_of_skin(skin).iter().any(|&joint| is_body[joint]),
        Mover::Joint | Mover::Copies(_) => is_body[part.joint],
    });
    let look = |part: &Part| {
        let tint = match part.mover {
            Mover::Skin(skin) => Tint::Skin(skin),
            Mover::Joint | Mover::Copies(_) => Tint::Side(sides[part.joint]),
        };
        (part.mesh, part.material, tint)
    };
    // The number of looks of each mesh that are still to be made: the last one takes it.
    let mut left = vec![0_usize; meshes.len()];
    parts.iter().map(look).collect::<HashSet<_>>().into_iter().for_each(|(mesh, ..)| left[mesh] += 1);
    let mut body = Figure { images, copies, ..Figure::empty(skeleton) };
    let (mut known, mut known_materials) = (HashMap::new(), HashMap::new());
    for part in parts {
        let material = &materials[part.material];
        let (_, _, tint) = look(&part);
        let new_mesh = *known.entry(look(&part)).or_insert_with(|| {
            left[part.mesh] -= 1;
            let is_last = left[part.mesh] == 0;
            let mut mesh = if is_last { std::mem::take(&mut meshes[part.mesh]) } else { meshes[part.mesh].clone() };
            for vertex in &mut mesh.vertices {
                vertex.colour = match tint {
                    Tint::Side(side) => tinted(vertex, material, &[(side, 1.0)]),
                    Tint::Skin(skin) => {
                        let joints = joints_of_skin(skin);
                        let influences = vertex.joints.as_flattened().iter().zip(vertex.weights.as_flattened());
                        let side =
                            |(index, weight): (&u16, &f32)| Some((sides[*joints.get(usize::from(*index))?], *weight));
                        tinted(vertex, material, &influences.filter_map(side).collect::<Vec<_>>())
                    }
                };
            }
            body.meshes.push(mesh);
            body.meshes.len() - 1
        });
        let new_material = *known_materials.entry(part.material).or_insert_with(|| {
            let (base_colour, vertex_colours) = match material.texture {
                Some(_) => (material.base_colour, VertexColours::Overlay),
                None => ([1.0; 4], VertexColours::Factors),
            };
            // Without light, a limb in front of another one of its colour would not stand out.
            body.materials.push(Material {
                base_colour,
                vertex_colours,
                unlit: false,
                emissive: [0.0; 3],
                ..material.clone()
            });
            body.materials.len() - 1
        });
        body.parts.push(Part { mesh: new_mesh, material: new_material, ..part });
    }
    body
}

/// The colour of a vertex that joints of sides of the body move by these weights. With a texture, it is an overlay; own
/// colours without a texture become paler, so that none looks like the colour of a side.
fn tinted(vertex: &Vertex, material: &Material, shares: &[(BodySide, f32)]) -> [u16; 4] {
    let [left, right] = [BodySide::Left, BodySide::Right].map(|side| {
        let weights = shares.iter().filter(|(other, _)| *other == side).map(|(_, weight)| weight.max(0.0));
        weights.sum::<f32>().min(1.0)
    });
    let strength = STRENGTH * (left + right).min(1.0);
    let mix = |one: f32, other: f32, share: f32| one + share * (other - one);
    let [of_left, of_right] = [BodySide::Left.colour(), BodySide::Right.colour()];
    let of_side = [0, 1, 2].map(|channel: usize| {
        mix(of_left[channel], of_right[channel], if left + right > 0.0 { right / (left + right) } else { 0.0 })
    });
    let own = vertex.colour.map(|number| f32::from(number) / 65535.0);
    let [red, green, blue, alpha] = material.base_colour;
    let paler = |colour: [f32; 3]| {
        let grey = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2];
        [0, 1, 2].map(|channel: usize| mix(mix(colour[channel], grey, PALENESS), of_side[channel], strength))
    };
    let (colour, alpha) = match (material.texture, material.vertex_colours) {
        (Some(_), _) => (of_side, strength),
        (None, VertexColours::Dyes) => {
            let [a, b, c, d] = own;
            let shares = [a, b, c, d, (1.0 - own.iter().sum::<f32>()).max(0.0)];
            let dyes = demo::dyes(0);
            let dyed = |channel: usize| shares.iter().zip(dyes).map(|(share, dye)| share * dye[channel]).sum::<f32>();
            (paler([0, 1, 2].map(dyed)), 1.0)
        }
        (None, _) => (paler([red * own[0], green * own[1], blue * own[2]]), alpha * own[3]),
    };
    let [red, green, blue] = colour;
    [red, green, blue, alpha].map(|number| (65535.0 * number.clamp(0.0, 1.0)).round() as u16)
}

#[cfg(test)]
mod tests {
    use posse_render::Mesh;

    use super::*;

    #[test]
    fn parts_that_look_alike_share_a_mesh() {
        let mesh = || Mesh { vertices: vec![Vertex::default(); 3], indices: vec![0, 1, 2], targets: Vec::new() };
        let library = posse::demo::library().unwrap();
        let skeleton = library.skeleton_ids().next().unwrap();
        let part = |mesh: usize, joint: usize| Part { mesh, material: 0, mover: Mover::Joint, joint };
        // 1000 parts of one mesh, at joints of two sides and in the middle, and one that no joint of the body moves.
        let mut parts: Vec<Part> = (0..1000).map(|index| part(0, index % 3)).collect();
        parts.extend([part(1, 0), part(1, 3)]);
        let materials = vec![Material::default()];
        let figure = Figure { meshes: vec![mesh(), mesh()], parts, materials, ..Figure::empty(skeleton) };
        let sides = [BodySide::Left, BodySide::Right, BodySide::Middle, BodySide::Left];
        let body = coloured(figure, &[], &sides, &[true, true, true, false]);
        assert_eq!((body.parts.len(), body.meshes.len(), body.materials.len()), (1001, 4, 1));
        let colour = |part: usize| body.meshes[body.parts[part].mesh].vertices[0].colour;
        assert_eq!([colour(3), colour(4), colour(5), colour(1000)], [colour(0), colour(1), colour(2), colour(0)]);
        assert!(colour(0) != colour(1) && colour(1) != colour(2) && colour(0) != colour(2));
        assert!(body.meshes.iter().all(|mesh| mesh.vertices.len() == 3));
    }
}
