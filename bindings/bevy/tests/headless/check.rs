//! Checks a picture: the pixels of each instance against the poses of the reference.

use glam::{DAffine3, DVec3, Mat4};
use posse::{Evaluator, Outputs, Reference, Ticks};

use crate::Outcome;
use crate::figure::{Figure, Vertex};
use crate::headless::Picture;
use crate::scene::Scene;

/// Joints well inside the body, so that the pixel at the joint belongs to the instance.
const JOINTS: [&str; 14] = [
    "pelvis",
    "spine.3",
    "head",
    "upper_arm.L",
    "upper_arm.R",
    "lower_arm.L",
    "lower_arm.R",
    "hand.L",
    "hand.R",
    "thigh.L",
    "calf.L",
    "calf.R",
    "foot.L",
    "foot.R",
];

/// The largest distance between the edge of an instance and its outermost vertex, in pixels. An edge covers the centre
/// of a pixel only half a pixel further in, and an outermost corner is thinner than that.
const EDGE: f64 = 1.5;

/// Checks a picture, with one sample per pixel, in which colours tell the numbers of instances as in
/// [`Stage::spawn`](crate::stage::Stage::spawn), and no instance hides another:
///
/// * the pixels at the joints of an instance, as the reference poses them, show the instance;
/// * the pixels of an instance end at its outermost vertices, moved by the skin matrices of the reference;
/// * all other pixels are empty.
///
/// # Errors
/// A message about the first rule that the picture breaks.
pub fn check(picture: &Picture, scene: &Scene, figure: &Figure, now: Ticks) -> Outcome<()> {
    let outputs = Outputs { model: true, skin: true, ..Outputs::NONE };
    let poses = Reference::new(&scene.library).evaluate(&scene.crowd, now, outputs)?.instances;
    let clip_from_world = scene.camera.clip_from_world();
    let mut found = vec![Bounds::NONE; scene.placements.len()];
    for (y, x) in (0..i64::from(picture.size[1])).flat_map(|y| (0..i64::from(picture.size[0])).map(move |x| (y, x))) {
        match instance_at(picture, x, y) {
            None => {}
            Some(instance) if instance < found.len() => found[instance].add([x as f64 + 0.5, y as f64 + 0.5]),
            Some(_) => {
                return Err(
                    format!("pixel ({x}, {y}) shows no instance of the crowd: {:?}", picture.pixel(x, y)).into()
                );
            }
        }
    }
    for (instance, (pose, placement)) in poses.iter().zip(&scene.placements).enumerate() {
        let to_world = DAffine3::from_mat4(Mat4::from(placement.to_world()).as_dmat4());
        let pixel = |point: DVec3| project(clip_from_world, picture.size, to_world.transform_point3(point));
        for (joint, matrix) in scene.skeleton().joints().iter().zip(&pose.model) {
            let name = joint.name.as_deref().unwrap_or_default();
            let [x, y] = pixel(matrix.translation);
            if JOINTS.contains(&name) && instance_at(picture, x.floor() as i64, y.floor() as i64) != Some(instance) {
                return Err(format!("{name} of instance {instance} is not visible at ({x:.1}, {y:.1})").into());
            }
        }
        let mut wanted = Bounds::NONE;
        for vertex in &figure.vertices {
            wanted.add(pixel(skinned(vertex, &pose.skins[0])));
        }
        let found = found[instance];
        let off = wanted.0.iter().zip(found.0).map(|(wanted, found)| (wanted - found).abs()).fold(0.0, f64::max);
        if off.is_nan() || off > EDGE {
            return Err(format!("instance {instance} fills {found:.1?}, but should fill {wanted:.1?}").into());
        }
    }
    Ok(())
}

/// The instance that a pixel shows.
fn instance_at(picture: &Picture, x: i64, y: i64) -> Option<usize> {
    let digit = |byte: u8| {
        // The picture is in sRGB, the digits are linear fifths. (IEC 61966-2-1.)
        let value = f64::from(byte) / 255.0;
        let linear = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
        (5.0 * linear).round() as usize
    };
    let [ones, sixes, thirty_sixes] = picture.pixel(x, y)?.map(digit);
    (ones + 6 * sixes + 36 * thirty_sixes).checked_sub(1)
}

/// The position of a point of the world in the picture, in pixels from the upper left corner.
fn project(clip_from_world: Mat4, size: [u32; 2], point: DVec3) -> [f64; 2] {
    let clip = clip_from_world.as_dmat4() * point.extend(1.0);
    [0.5 * (1.0 + clip.x / clip.w) * f64::from(size[0]), 0.5 * (1.0 - clip.y / clip.w) * f64::from(size[1])]
}

/// The position of a vertex, moved by the weighted mean of the matrices of its joints.
fn skinned(vertex: &Vertex, matrices: &[DAffine3]) -> DVec3 {
    let position = glam::Vec3::from(vertex.position).as_dvec3();
    let terms =
        vertex.joints.iter().zip(vertex.weights).map(|(&joint, weight)| {
            f64::from(weight) / 255.0 * matrices[usize::from(joint)].transform_point3(position)
        });
    terms.sum()
}

/// The smallest x and y, then the largest x and y, of points.
#[derive(Debug, Clone, Copy)]
struct Bounds([f64; 4]);

impl Bounds {
    const NONE: Self = Self([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);

    fn add(&mut self, point: [f64; 2]) {
        let [x, y] = point;
        let [left, top, right, bottom] = self.0;
        self.0 = [left.min(x), top.min(y), right.max(x), bottom.max(y)];
    }
}
