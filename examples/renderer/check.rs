//! Whether a picture shows who it must show, and where: each instance's pixels against the reference's poses.

use glam::{DAffine3, DVec3, Mat4};
use posse::{Evaluator, Outputs, Reference, Ticks};

use super::Outcome;
use super::figure::{Figure, Vertex};
use super::picture::Picture;
use super::scene::Scene;

/// Joints that lie well within the body, so that the pixel at the joint is the instance's.
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

/// How far the edge of an instance may be from where its outermost vertex is, in pixels: one covers no pixel's centre
/// until half a pixel further in, and an outermost corner is thinner than that.
const EDGE: f64 = 1.5;

/// Checks a picture of [`Look::Identity`](super::draw::Look::Identity), with one sample a pixel, of a scene in which none
/// hides another:
///
/// * at the joints of each instance, as the reference poses them, there is the instance;
/// * its pixels end where its outermost vertices are, moved by the reference's skin matrices;
/// * all other pixels are empty.
///
/// # Errors
/// The first that is not so, in words.
pub fn check(picture: &Picture, scene: &Scene, figure: &Figure, now: Ticks) -> Outcome<()> {
    let outputs = Outputs { model: true, skin: true, ..Outputs::NONE };
    let poses = Reference::new(&scene.library).evaluate(&scene.crowd, now, outputs)?.instances;
    let clip_from_world = scene.camera.clip_from_world();
    let mut found = vec![Bounds::NONE; scene.places.len()];
    for (y, x) in (0..i64::from(picture.size[1])).flat_map(|y| (0..i64::from(picture.size[0])).map(move |x| (y, x))) {
        match who(picture, x, y) {
            None => {}
            Some(instance) if instance < found.len() => found[instance].add([x as f64 + 0.5, y as f64 + 0.5]),
            Some(_) => return Err(format!("pixel ({x}, {y}) is of nobody: {:?}", picture.pixel(x, y)).into()),
        }
    }
    for (instance, (pose, place)) in poses.iter().zip(&scene.places).enumerate() {
        let to_world = DAffine3::from_mat4(Mat4::from(place.to_world()).as_dmat4());
        let pixel = |point: DVec3| project(clip_from_world, picture.size, to_world.transform_point3(point));
        for (joint, matrix) in scene.skeleton().joints().iter().zip(&pose.model) {
            let name = joint.name.as_deref().unwrap_or_default();
            let [x, y] = pixel(matrix.translation);
            if JOINTS.contains(&name) && who(picture, x.floor() as i64, y.floor() as i64) != Some(instance) {
                return Err(format!("{name} of instance {instance} is not seen at ({x:.1}, {y:.1})").into());
            }
        }
        let mut wanted = Bounds::NONE;
        for vertex in &figure.vertices {
            wanted.add(pixel(skinned(vertex, &pose.skins[0])));
        }
        let found = found[instance];
        let off = wanted.0.iter().zip(found.0).map(|(wanted, found)| (wanted - found).abs()).fold(0.0, f64::max);
        if off.is_nan() || off > EDGE {
            return Err(format!("instance {instance} fills {found:.1?}, and should {wanted:.1?}").into());
        }
    }
    Ok(())
}

/// The instance that a pixel is of.
fn who(picture: &Picture, x: i64, y: i64) -> Option<usize> {
    let digit = |byte: u8| {
        // The picture is in sRGB, the digits are linear fifths. (IEC 61966-2-1.)
        let value = f64::from(byte) / 255.0;
        let linear = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
        (5.0 * linear).round() as usize
    };
    let [ones, sixes, thirty_sixes] = picture.pixel(x, y)?.map(digit);
    (ones + 6 * sixes + 36 * thirty_sixes).checked_sub(1)
}

/// Where the picture has a point of the world, in pixels from the upper left corner.
fn project(clip_from_world: Mat4, size: [u32; 2], point: DVec3) -> [f64; 2] {
    let clip = clip_from_world.as_dmat4() * point.extend(1.0);
    [0.5 * (1.0 + clip.x / clip.w) * f64::from(size[0]), 0.5 * (1.0 - clip.y / clip.w) * f64::from(size[1])]
}

/// A vertex, moved by the mean of its joints' matrices.
fn skinned(vertex: &Vertex, matrices: &[DAffine3]) -> DVec3 {
    let position = glam::Vec3::from(vertex.position).as_dvec3();
    let moved =
        vertex.joints.iter().zip(vertex.weights).map(|(&joint, weight)| {
            f64::from(weight) / 255.0 * matrices[usize::from(joint)].transform_point3(position)
        });
    moved.sum()
}

/// The least and greatest x and y of points.
#[derive(Debug, Clone, Copy)]
struct Bounds([f64; 4]);

impl Bounds {
    const NONE: Self = Self([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);

    fn add(&mut self, [x, y]: [f64; 2]) {
        let [left, top, right, bottom] = self.0;
        self.0 = [left.min(x), top.min(y), right.max(x), bottom.max(y)];
    }
}
