//! A body for the human: a mesh of a runner around the joints. Each vertex follows up to four joints.

use glam::DVec3;

use posse::export::gltf::{Body, BodyVertex};
use posse::{Error, Skeleton};

use super::surface::surface;

/// Makes a body for the skeleton of [`library`](posse::demo::library), in its rest pose.
///
/// `side` is the approximate length of the sides of the triangles in metres: 0.025 for crowds, less for close views.
///
/// # Errors
/// [`Error::Usage`] if the skeleton has other joints, or the side is not from 0.005 to 0.1.
pub fn body(skeleton: &Skeleton, side: f64) -> Result<Body, Error> {
    if !(0.005..=0.1).contains(&side) {
        return Err(Error::Usage(format!("the side of the triangles is {side} m; expected 0.005 to 0.1")));
    }
    let cones = Cones::new(skeleton).map_err(Error::Usage)?;
    let surface = surface(|point| cones.distance(point), cones.steepest_slope(), BOX[0], BOX[1], side);
    let vertices = surface.points.iter().map(|&point| cones.vertex(point)).collect();
    Ok(Body { vertices, indices: surface.indices })
}

/// The corners of a box that contains the whole body, with the soles.
const BOX: [DVec3; 2] = [DVec3::new(-1.0, -0.15, -0.3), DVec3::new(1.0, 1.85, 0.3)];

/// The material of the surface, in the order of [`BodyVertex::parts`].
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Hair,
    Shirt,
    Shorts,
    Shoe,
    Skin,
}

/// A rounded cone: joint, offset and radius of its start; joint, offset and radius of its end; material. Offsets and radii are in
/// metres. The cone belongs to the joint of its start.
type Cone = (&'static str, [f64; 3], f64, &'static str, [f64; 3], f64, Part);

/// Chains of cones on the left side or in the middle, each with the signs of x of its sides. The right side is mirrored.
const CHAINS: [(&[f64], &[Cone]); 4] =
    [(&[1.0], &HEAD), (&[1.0, -1.0], &TRUNK), (&[1.0, -1.0], &ARM), (&[1.0, -1.0], &LEG)];

const HEAD: [Cone; 5] = [
    ("neck", [0.0, -0.03, -0.005], 0.058, "head", [0.0, 0.0, -0.01], 0.055, Part::Skin),
    ("head", [0.0, 0.02, 0.02], 0.07, "head", [0.0, 0.09, 0.005], 0.095, Part::Skin),
    ("head", [0.0, 0.035, 0.092], 0.017, "head", [0.0, 0.065, 0.088], 0.012, Part::Skin),
    ("head", [0.0, 0.125, -0.012], 0.098, "head", [0.0, 0.06, -0.03], 0.09, Part::Hair),
    ("jaw", [0.0, -0.02, 0.01], 0.05, "jaw", [0.0, -0.01, -0.02], 0.055, Part::Skin),
];

const TRUNK: [Cone; 5] = [
    ("pelvis", [0.075, -0.045, -0.01], 0.11, "spine.1", [0.055, -0.03, 0.0], 0.105, Part::Shorts),
    ("spine.1", [0.055, -0.03, 0.0], 0.105, "spine.2", [0.055, 0.0, 0.0], 0.105, Part::Shirt),
    ("spine.2", [0.055, 0.0, 0.0], 0.105, "spine.3", [0.07, 0.0, 0.0], 0.112, Part::Shirt),
    ("spine.3", [0.07, 0.0, 0.0], 0.112, "spine.4", [0.085, 0.0, -0.005], 0.105, Part::Shirt),
    ("spine.4", [0.085, 0.0, -0.005], 0.105, "clavicle.L", [0.04, -0.02, -0.02], 0.075, Part::Shirt),
];

const ARM: [Cone; 8] = [
    ("clavicle.L", [0.04, -0.02, -0.02], 0.075, "upper_arm.L", [0.0; 3], 0.066, Part::Shirt),
    ("upper_arm.L", [0.0; 3], 0.066, "upper_arm_twist.L", [0.0; 3], 0.055, Part::Shirt),
    ("upper_arm_twist.L", [0.0; 3], 0.055, "lower_arm.L", [0.0; 3], 0.045, Part::Skin),
    ("lower_arm.L", [0.0; 3], 0.045, "lower_arm_twist.L", [0.0; 3], 0.043, Part::Skin),
    ("lower_arm_twist.L", [0.0; 3], 0.043, "hand.L", [0.0; 3], 0.031, Part::Skin),
    ("hand.L", [0.0; 3], 0.031, "middle.1.L", [0.0; 3], 0.034, Part::Skin),
    ("middle.1.L", [0.0; 3], 0.034, "middle.3.L", [0.0; 3], 0.022, Part::Skin),
    ("thumb.1.L", [0.0; 3], 0.022, "thumb.3.L", [0.0; 3], 0.018, Part::Skin),
];

const LEG: [Cone; 6] = [
    ("thigh.L", [0.005, -0.01, 0.0], 0.1, "thigh_twist.L", [0.0; 3], 0.084, Part::Shorts),
    ("thigh_twist.L", [0.0; 3], 0.084, "calf.L", [0.0, 0.0, 0.005], 0.06, Part::Skin),
    ("calf.L", [0.0, 0.0, 0.005], 0.06, "calf_twist.L", [0.0, 0.06, -0.012], 0.06, Part::Skin),
    ("calf_twist.L", [0.0, 0.06, -0.012], 0.06, "foot.L", [0.0; 3], 0.042, Part::Skin),
    ("foot.L", [0.0, -0.03, -0.03], 0.046, "ball.L", [0.0, 0.025, 0.0], 0.045, Part::Shoe),
    ("ball.L", [0.0, 0.025, 0.0], 0.045, "ball.L", [0.0, 0.012, 0.07], 0.036, Part::Shoe),
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
    part: Part,
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

    /// The most by which the distance changes per metre. Where chains melt, its gradient is a weighted mean of theirs, so that it is no steeper.
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
        let part = |part: Part| {
            let nearest = near.iter().find(|(_, cone)| cone.part == part).map_or(1.0, |(distance, _)| *distance);
            // Seams of clothes are narrow.
            (1.0 - (nearest - least) / 0.003).max(0.0)
        };
        let parts = [Part::Hair, Part::Shirt, Part::Shorts, Part::Shoe, Part::Skin].map(part);
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

    /// True if a joint is equal to another or is its ancestor.
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

    /// The most by which the distance changes per metre: by 1 across the axis and by the change of the radius along it, at right angles.
    fn steepest_slope(&self) -> f64 {
        let change = (self.radii[1] - self.radii[0]) / self.ends[0].distance(self.ends[1]);
        change.hypot(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posse::demo;

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
        let (joint, chain, part) = (0, 0, Part::Skin);
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
}
