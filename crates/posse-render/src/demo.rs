//! The body of the built-in human of [`posse::demo`]: a mesh, and a figure with dyes.

use std::collections::HashMap;

use glam::{DVec3, USizeVec3};
use posse::export::gltf::{BodyVertex, HumanMesh};
use posse::{Error, Library, Skeleton, SkeletonId};

use crate::placement::chance;
use crate::{Figure, Material, Mesh, Mover, Part, Vertex, VertexColours};

/// The figure of the human of [`posse::demo::library`]. The dyes of an instance colour its clothes. `side` is the
/// approximate length of a triangle's side in metres, as in [`body`](fn@body).
///
/// # Errors
/// The errors of [`body`](fn@body).
pub fn figure(library: &Library, skeleton: SkeletonId, side: f64) -> Result<Figure, Error> {
    let body = body(library.skeleton(skeleton), side)?;
    let vertices = body.vertices.iter().map(vertex).collect();
    let mesh = Mesh { vertices, indices: body.indices, targets: Vec::new() };
    let material = Material { vertex_colours: VertexColours::Dyes, ..Material::default() };
    let part = Part { mesh: 0, material: 0, mover: Mover::Skin(0), joint: 0 };
    let (meshes, parts, materials) = (vec![mesh], vec![part], vec![material]);
    Ok(Figure { meshes, parts, materials, ..Figure::empty(skeleton) })
}

fn vertex(body_vertex: &BodyVertex) -> Vertex {
    let &BodyVertex { position, normal, joints, weights, parts } = body_vertex;
    Vertex {
        position,
        normal,
        colour: parts.map(|part| (65535.0 * part) as u16),
        joints: [joints, [0; 4]],
        weights: [weights, [0.0; 4]],
        ..Vertex::default()
    }
}

/// The dyes of an instance: the colours of hair, shirt, shorts, shoes, and skin, in this order.
pub fn dyes(instance: usize) -> [[f32; 3]; 5] {
    const SHIRTS: [[f32; 3]; 9] = [
        [0.72, 0.06, 0.07],
        [0.03, 0.26, 0.52],
        [0.90, 0.50, 0.05],
        [0.82, 0.82, 0.78],
        [0.02, 0.36, 0.26],
        [0.36, 0.10, 0.42],
        [0.85, 0.22, 0.10],
        [0.05, 0.48, 0.58],
        [0.90, 0.74, 0.22],
    ];
    const SKINS: [[f32; 3]; 5] =
        [[0.80, 0.52, 0.38], [0.62, 0.36, 0.23], [0.38, 0.20, 0.12], [0.86, 0.62, 0.50], [0.20, 0.10, 0.06]];
    const HAIRS: [[f32; 3]; 5] =
        [[0.03, 0.02, 0.02], [0.12, 0.06, 0.03], [0.45, 0.28, 0.10], [0.25, 0.08, 0.03], [0.30, 0.30, 0.32]];
    let pick = |colours: &[[f32; 3]], stream| {
        let index = (chance(instance, stream) * colours.len() as f32) as usize;
        colours[index.min(colours.len() - 1)]
    };
    let mix =
        |a: [f32; 3], b: [f32; 3], share: f32| [0, 1, 2].map(|channel| a[channel] + share * (b[channel] - a[channel]));
    // The share of a colour in the dark shorts: 0, a quarter or a half.
    let share = 0.25 * (3.0 * chance(instance, 13)).floor();
    let shorts = mix([0.03, 0.035, 0.06], pick(&SHIRTS, 12), share);
    let shoes = mix([0.75; 3], pick(&SHIRTS, 14), 0.7);
    [pick(&HAIRS, 10), pick(&SHIRTS, 11), shorts, shoes, pick(&SKINS, 15)]
}

/// Makes a body for the skeleton of [`library`](posse::demo::library), in its rest pose.
///
/// `side` is the approximate length of the sides of the triangles in metres: 0.025 for crowds, less for close views.
///
/// # Errors
/// [`Error::Usage`] if the skeleton has other joints, or the side is not from 0.005 to 0.1.
pub fn body(skeleton: &Skeleton, side: f64) -> Result<HumanMesh, Error> {
    if !(0.005..=0.1).contains(&side) {
        return Err(Error::Usage(format!("the side of the triangles is {side} m; expected 0.005 to 0.1")));
    }
    let cones = Cones::new(skeleton).map_err(Error::Usage)?;
    let surface = surface(|point| cones.distance(point), cones.steepest_slope(), BOX[0], BOX[1], side);
    let vertices = surface.points.iter().map(|&point| cones.vertex(point)).collect();
    Ok(HumanMesh { vertices, indices: surface.indices })
}

/// The corners of a box that contains the whole body, with the soles.
const BOX: [DVec3; 2] = [DVec3::new(-1.0, -0.15, -0.3), DVec3::new(1.0, 1.85, 0.3)];

/// The material of the surface, in the order of [`BodyVertex::parts`].
#[derive(Clone, Copy, PartialEq)]
enum BodyPart {
    Hair,
    Shirt,
    Shorts,
    Shoe,
    Skin,
}

/// A rounded cone: joint, offset and radius of its start; joint, offset and radius of its end; material. Offsets and
/// radii are in metres. The cone belongs to the joint of its start.
type Cone = (&'static str, [f64; 3], f64, &'static str, [f64; 3], f64, BodyPart);

/// Chains of cones on the left side or in the middle, each with the signs of x of its sides. The right side is
/// mirrored.
const CHAINS: [(&[f64], &[Cone]); 4] =
    [(&[1.0], &HEAD), (&[1.0, -1.0], &TRUNK), (&[1.0, -1.0], &ARM), (&[1.0, -1.0], &LEG)];

const HEAD: [Cone; 5] = [
    ("neck", [0.0, -0.03, -0.005], 0.058, "head", [0.0, 0.0, -0.01], 0.055, BodyPart::Skin),
    ("head", [0.0, 0.02, 0.02], 0.07, "head", [0.0, 0.09, 0.005], 0.095, BodyPart::Skin),
    ("head", [0.0, 0.035, 0.092], 0.017, "head", [0.0, 0.065, 0.088], 0.012, BodyPart::Skin),
    ("head", [0.0, 0.125, -0.012], 0.098, "head", [0.0, 0.06, -0.03], 0.09, BodyPart::Hair),
    ("jaw", [0.0, -0.02, 0.01], 0.05, "jaw", [0.0, -0.01, -0.02], 0.055, BodyPart::Skin),
];

const TRUNK: [Cone; 5] = [
    ("pelvis", [0.075, -0.045, -0.01], 0.11, "spine.1", [0.055, -0.03, 0.0], 0.105, BodyPart::Shorts),
    ("spine.1", [0.055, -0.03, 0.0], 0.105, "spine.2", [0.055, 0.0, 0.0], 0.105, BodyPart::Shirt),
    ("spine.2", [0.055, 0.0, 0.0], 0.105, "spine.3", [0.07, 0.0, 0.0], 0.112, BodyPart::Shirt),
    ("spine.3", [0.07, 0.0, 0.0], 0.112, "spine.4", [0.085, 0.0, -0.005], 0.105, BodyPart::Shirt),
    ("spine.4", [0.085, 0.0, -0.005], 0.105, "clavicle.L", [0.04, -0.02, -0.02], 0.075, BodyPart::Shirt),
];

const ARM: [Cone; 8] = [
    ("clavicle.L", [0.04, -0.02, -0.02], 0.075, "upper_arm.L", [0.0; 3], 0.066, BodyPart::Shirt),
    ("upper_arm.L", [0.0; 3], 0.066, "upper_arm_twist.L", [0.0; 3], 0.055, BodyPart::Shirt),
    ("upper_arm_twist.L", [0.0; 3], 0.055, "lower_arm.L", [0.0; 3], 0.045, BodyPart::Skin),
    ("lower_arm.L", [0.0; 3], 0.045, "lower_arm_twist.L", [0.0; 3], 0.043, BodyPart::Skin),
    ("lower_arm_twist.L", [0.0; 3], 0.043, "hand.L", [0.0; 3], 0.031, BodyPart::Skin),
    ("hand.L", [0.0; 3], 0.031, "middle.1.L", [0.0; 3], 0.034, BodyPart::Skin),
    ("middle.1.L", [0.0; 3], 0.034, "middle.3.L", [0.0; 3], 0.022, BodyPart::Skin),
    ("thumb.1.L", [0.0; 3], 0.022, "thumb.3.L", [0.0; 3], 0.018, BodyPart::Skin),
];

const LEG: [Cone; 6] = [
    ("thigh.L", [0.005, -0.01, 0.0], 0.1, "thigh_twist.L", [0.0; 3], 0.084, BodyPart::Shorts),
    ("thigh_twist.L", [0.0; 3], 0.084, "calf.L", [0.0, 0.0, 0.005], 0.06, BodyPart::Skin),
    ("calf.L", [0.0, 0.0, 0.005], 0.06, "calf_twist.L", [0.0, 0.06, -0.012], 0.06, BodyPart::Skin),
    ("calf_twist.L", [0.0, 0.06, -0.012], 0.06, "foot.L", [0.0; 3], 0.042, BodyPart::Skin),
    ("foot.L", [0.0, -0.03, -0.03], 0.046, "ball.L", [0.0, 0.025, 0.0], 0.045, BodyPart::Shoe),
    ("ball.L", [0.0, 0.025, 0.0], 0.045, "ball.L", [0.0, 0.012, 0.07], 0.036, BodyPart::Shoe),
];

/// The distance in metres within which chains melt into each other.
const MELT: f64 = 0.035;
/// The distance in metres within which joints share vertices.
const SHARE: f64 = 0.07;

/// The cones at their places in the rest pose.
struct Cones {
    cones: Vec<Placed>,
    parents: Vec<Option<usize>>,
}

struct Placed {
    joint: usize,
    chain: usize,
    part: BodyPart,
    ends: [DVec3; 2],
    radii: [f64; 2],
}

impl Cones {
    fn new(skeleton: &Skeleton) -> Result<Self, String> {
        let joints = skeleton.joints();
        let mut rest: Vec<DVec3> = Vec::with_capacity(joints.len());
        for joint in joints {
            let offset = joint.rest.translation;
            rest.push(joint.parent.map_or(offset, |parent| rest[parent] + offset));
        }
        let absent =
            |name: &str| format!("the skeleton has no joint {name:?}; a body needs the human of demo::library");
        let find = |name: &str| skeleton.find_joint(name).ok_or_else(|| absent(name));
        let mut cones = Vec::new();
        let mut chain = 0;
        for (sides, table) in CHAINS {
            for &side in sides {
                for (joint, from, start, other, to, end, part) in table {
                    let find = |name: &str| find(&if side < 0.0 { name.replace(".L", ".R") } else { (*name).into() });
                    let (joint, other) = (find(joint)?, find(other)?);
                    let mirror = DVec3::new(side, 1.0, 1.0);
                    let ends = [rest[joint] + mirror * DVec3::from(*from), rest[other] + mirror * DVec3::from(*to)];
                    cones.push(Placed { joint, chain, part: *part, ends, radii: [*start, *end] });
                }
                chain += 1;
            }
        }
        Ok(Self { cones, parents: joints.iter().map(|joint| joint.parent).collect() })
    }

    /// The distance of a point from the surface, negative inside.
    fn distance(&self, point: DVec3) -> f64 {
        let melt = |a: f64, b: f64| {
            let near = (MELT - (a - b).abs()).max(0.0) / MELT;
            a.min(b) - near * near * MELT / 4.0
        };
        let chains = self.cones.chunk_by(|a, b| a.chain == b.chain);
        let chain = |cones: &[Placed]| cones.iter().map(|cone| cone.distance(point)).fold(f64::INFINITY, f64::min);
        chains.map(chain).fold(f64::INFINITY, melt)
    }

    /// The most by which the distance changes per metre. Where chains melt, its gradient is a weighted mean of theirs,
    /// so that it is no steeper.
    fn steepest_slope(&self) -> f64 {
        self.cones.iter().map(Placed::steepest_slope).fold(1.0, f64::max)
    }

    fn vertex(&self, point: DVec3) -> BodyVertex {
        // The wide difference hides the edge between one cone and the next.
        let slope = |axis: DVec3| self.distance(point + 0.015 * axis) - self.distance(point - 0.015 * axis);
        let normal = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)).normalize_or_zero();
        let mut near: Vec<(f64, &Placed)> = self.cones.iter().map(|cone| (cone.distance(point), cone)).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (least, nearest) = near[0];
        // One leg must not pull at the other: only joints on one chain share vertices.
        let mut shares: Vec<(usize, f64)> = Vec::new();
        for (distance, cone) in &near {
            let share = (1.0 - (distance - least) / SHARE).max(0.0).powi(2);
            if !(self.is_above(cone.joint, nearest.joint) || self.is_above(nearest.joint, cone.joint)) || share == 0.0 {
                continue;
            }
            match shares.iter_mut().find(|(joint, _)| *joint == cone.joint) {
                Some((_, sum)) => *sum = sum.max(share),
                None => shares.push((cone.joint, share)),
            }
        }
        shares.truncate(4);
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        let share =
            |index: usize| shares.get(index).map_or((0, 0.0), |&(joint, share)| (joint as u16, (share / sum) as f32));
        let shares = [0, 1, 2, 3].map(share);
        let part = |part: BodyPart| {
            let nearest = near.iter().find(|(_, cone)| cone.part == part).map_or(1.0, |(distance, _)| *distance);
            // Seams of clothes are narrow.
            (1.0 - (nearest - least) / 0.003).max(0.0)
        };
        let parts = [BodyPart::Hair, BodyPart::Shirt, BodyPart::Shorts, BodyPart::Shoe, BodyPart::Skin].map(part);
        let sum: f64 = parts.iter().sum();
        let [hair, shirt, shorts, shoe, _] = parts.map(|part| (part / sum) as f32);
        BodyVertex {
            position: point.as_vec3().to_array(),
            normal: normal.as_vec3().to_array(),
            joints: shares.map(|(joint, _)| joint),
            weights: shares.map(|(_, weight)| weight),
            parts: [hair, shirt, shorts, shoe],
        }
    }

    /// Returns `true` if a joint is equal to another or is its ancestor.
    fn is_above(&self, joint: usize, other: usize) -> bool {
        let mut next = Some(other);
        while let Some(index) = next {
            if index == joint {
                return true;
            }
            next = self.parents[index];
        }
        false
    }
}

impl Placed {
    fn distance(&self, point: DVec3) -> f64 {
        let along = self.ends[1] - self.ends[0];
        let part = ((point - self.ends[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        point.distance(self.ends[0] + part * along) - (self.radii[0] + part * (self.radii[1] - self.radii[0]))
    }

    /// The most by which the distance changes per metre: by 1 across the axis and by the change of the radius along it,
    /// at right angles.
    fn steepest_slope(&self) -> f64 {
        let change = (self.radii[1] - self.radii[0]) / self.ends[0].distance(self.ends[1]);
        change.hypot(1.0)
    }
}

/// Points and triangles, anticlockwise as seen from the side on which the function is positive.
struct Surface {
    /// The points.
    points: Vec<DVec3>,
    /// Three indices of points per triangle.
    indices: Vec<u32>,
}

/// Makes the surface of a distance function within a box of cubic cells: one point per cell that the surface crosses,
/// and two triangles per edge that it crosses (S. F. F. Gibson, "Constrained elastic surface nets", 1998). The function
/// must change by at most `steepest` per unit of length; otherwise parts of the surface are missing. With infinity, it
/// is evaluated at each corner.
fn surface(distance: impl Fn(DVec3) -> f64, steepest: f64, low: DVec3, high: DVec3, cell: f64) -> Surface {
    let counts = ((high - low) / cell).ceil().as_usizevec3() + 1;
    let position = |corner: USizeVec3| low + cell * corner.as_dvec3();
    let index = |corner: USizeVec3| (corner.z * counts.y + corner.y) * counts.x + corner.x;
    let corners = || {
        let USizeVec3 { x, y, z } = counts;
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| USizeVec3::new(x, y, z))))
    };
    let mut are_inside: Vec<bool> = Vec::with_capacity(counts.element_product());
    for corner in corners() {
        if index(corner) < are_inside.len() {
            continue;
        }
        let value = distance(position(corner));
        // The corners of the row that are nearer than the surface have the same sign.
        let same_sign = (value.abs() / (steepest * cell)).ceil() as usize;
        are_inside.resize(index(corner) + same_sign.clamp(1, counts.x - corner.x), value < 0.0);
    }
    let inside = |corner: USizeVec3| are_inside[index(corner)];
    let axes = [USizeVec3::X, USizeVec3::Y, USizeVec3::Z];

    let mut surface = Surface { points: Vec::new(), indices: Vec::new() };
    let mut points: HashMap<USizeVec3, u32> = HashMap::new();
    for corner in corners().filter(|corner| corner.cmplt(counts - 1).all()) {
        let around = [0, 1, 2, 3, 4, 5, 6, 7].map(|bits| corner + USizeVec3::new(bits & 1, bits >> 1 & 1, bits >> 2));
        let within = around.iter().filter(|corner| inside(**corner)).count();
        if within % 8 == 0 {
            continue;
        }
        // The centre of the cell, moved to the surface.
        let mut point = position(corner) + 0.5 * cell;
        for _ in 0..4 {
            let slope = |axis: DVec3| distance(point + 1e-4 * axis) - distance(point - 1e-4 * axis);
            let slope = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)).normalize_or_zero();
            point -= distance(point) * slope;
        }
        points.insert(corner, surface.points.len() as u32);
        surface.points.push(point);
    }
    for corner in corners() {
        for turn in 0..3 {
            let [along, right, up] = [0, 1, 2].map(|axis| axes[(turn + axis) % 3]);
            let next = corner + along;
            if next.cmpge(counts).any() || inside(corner) == inside(next) {
                continue;
            }
            let around = [right + up, up, USizeVec3::ZERO, right].map(|back| {
                let cell = corner.cmpge(back).all().then(|| corner - back);
                cell.and_then(|cell| points.get(&cell).copied())
            });
            if let [Some(a), Some(b), Some(c), Some(d)] = around {
                let quad = if inside(corner) { [a, b, c, a, c, d] } else { [a, c, b, a, d, c] };
                surface.indices.extend(quad);
            }
        }
    }
    surface
}

#[cfg(test)]
mod tests {
    use posse::demo;

    use super::*;

    #[test]
    fn the_body_is_closed_stands_on_the_ground_and_belongs_to_its_joints() {
        let library = demo::library().unwrap();
        let skeleton = library.skeletons().first().unwrap();
        let body = body(skeleton, 0.04).unwrap();
        let heights = || body.vertices.iter().map(|vertex| vertex.position[1]);
        assert!(heights().fold(f32::MAX, f32::min).abs() < 0.03 && heights().fold(0.0, f32::max) > 1.7);
        // Each edge occurs once in each direction.
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for triangle in body.indices.chunks(3) {
            edges.extend((0..3).map(|corner| (triangle[corner], triangle[(corner + 1) % 3])));
        }
        let mut back: Vec<(u32, u32)> = edges.iter().map(|&(from, to)| (to, from)).collect();
        edges.sort();
        back.sort();
        assert!(edges == back, "there is a hole");
        for vertex in &body.vertices {
            let sum: f32 = vertex.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-6 && vertex.joints.iter().all(|&joint| joint < 64));
            assert!(vertex.parts.iter().sum::<f32>() < 1.0 + 1e-6);
        }
        assert!(super::body(skeleton, 0.0).is_err());
        assert!(super::body(demo::rig(3, 2, 1).unwrap().skeletons().first().unwrap(), 0.04).is_err());
    }

    #[test]
    fn the_distance_of_a_cone_changes_by_no_more_than_its_steepest_slope() {
        let (joint, chain, part) = (0, 0, BodyPart::Skin);
        let cone = Placed { joint, chain, part, ends: [DVec3::ZERO, 0.03 * DVec3::X], radii: [0.06, 0.0] };
        // By 1 and 2, at right angles.
        assert!((cone.steepest_slope() - 5.0_f64.sqrt()).abs() < 1e-12);
        let mut steepest = 0.0_f64;
        for turn in 0..360 {
            let direction = DVec3::new(f64::from(turn).to_radians().cos(), f64::from(turn).to_radians().sin(), 0.0);
            for start in [DVec3::new(0.01, 0.02, 0.0), DVec3::new(0.03, 0.05, 0.0), DVec3::new(-0.02, 0.0, 0.04)] {
                let change = cone.distance(start + 1e-4 * direction) - cone.distance(start);
                steepest = steepest.max(change.abs() / 1e-4);
            }
        }
        assert!((cone.steepest_slope() - 1e-3..=cone.steepest_slope() + 1e-9).contains(&steepest), "{steepest}");
    }

    #[test]
    fn the_body_is_that_of_the_signs_of_all_corners() {
        let library = demo::library().unwrap();
        let cones = Cones::new(library.skeletons().first().unwrap()).unwrap();
        let surface = |steepest| surface(|point| cones.distance(point), steepest, BOX[0], BOX[1], 0.04);
        let (all, found) = (surface(f64::INFINITY), surface(cones.steepest_slope()));
        assert!(all.points == found.points && all.indices == found.indices);
    }

    const CENTRE: DVec3 = DVec3::new(0.1, 0.0, -0.1);

    /// The surface of a ball of radius 0.7, and the number of evaluations.
    fn ball(steepest: f64) -> (Surface, usize) {
        let count = std::cell::Cell::new(0);
        let distance = |point: DVec3| {
            count.set(count.get() + 1);
            point.distance(CENTRE) - 0.7
        };
        let surface = surface(distance, steepest, DVec3::new(-1.0, -0.9, -0.85), DVec3::new(1.1, 0.9, 0.65), 0.05);
        (surface, count.get())
    }

    #[test]
    fn the_surface_of_a_ball_is_found_with_fewer_evaluations() {
        let (all, all_count) = ball(f64::INFINITY);
        let (found, count) = ball(1.0);
        assert!(found.points == all.points && found.indices == all.indices);
        // Of at least 43 x 37 x 31 corners.
        assert!(count < all_count - 35_000, "{count} of {all_count}");
        assert!(found.points.iter().all(|point| (point.distance(CENTRE) - 0.7).abs() < 1e-6));
        // A closed surface of triangles without holes has two per point, less four (Euler).
        assert!(found.points.len() > 2000 && found.indices.len() == 3 * (2 * found.points.len() - 4));
        // A bound below the slope of the function.
        assert!(ball(0.5).0.points != all.points);
    }

    #[test]
    fn a_function_without_a_zero_has_no_surface() {
        for value in [1.0, -1.0, f64::INFINITY, f64::NAN] {
            let found = surface(|_| value, 1.0, DVec3::ZERO, DVec3::ONE, 0.1);
            assert!(found.points.is_empty() && found.indices.is_empty(), "{value}");
        }
    }
}
