//! Placements of instances in the world, and layouts for crowds.

use std::f32::consts::TAU;

use glam::{Affine3A, Quat, Vec3};

/// The transform and the colours of an instance. Default: at the origin, white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// The transform from the space of the instance to the world.
    pub transform: Affine3A,
    /// Linear colours, 0 to 1 per channel. The material selects how they are used: see
    /// [`VertexColours`](crate::VertexColours).
    pub dyes: [[f32; 3]; 5],
}

impl Default for Placement {
    fn default() -> Self {
        Self { transform: Affine3A::IDENTITY, dyes: [[1.0; 3]; 5] }
    }
}

/// Transforms for a crowd of `count` instances, each `room` wide: an evenly filled disc around the origin, in which all
/// instances face about the same way. A single instance is at the origin and not turned.
///
/// Source: H. Vogel, "A better way to construct the sunflower head", 1979.
pub fn sunflower(count: usize, room: f32) -> impl Iterator<Item = Affine3A> {
    let golden = TAU * (1.0 - 0.618_034);
    // The distance between neighbours is about 1.7 units of the spiral.
    let unit = room / 1.7;
    (0..count).map(move |instance| {
        let radius = if count == 1 { 0.0 } else { unit * (instance as f32 + 0.5).sqrt() };
        let position =
            Vec3::new(radius * (golden * instance as f32).cos(), 0.0, radius * (golden * instance as f32).sin());
        let angle = if count == 1 { 0.0 } else { 0.9 * (chance(instance, 7) - 0.5) };
        Affine3A::from_rotation_translation(Quat::from_rotation_y(angle), position)
    })
}

/// A linear colour near white that differs a little between instances. Instance 0 is white.
pub fn tint(instance: usize) -> [f32; 3] {
    if instance == 0 {
        return [1.0; 3];
    }
    let bright = 0.72 + 0.28 * chance(instance, 1);
    let warm = 0.24 * (chance(instance, 2) - 0.5);
    let green = 0.12 * (chance(instance, 3) - 0.5);
    [bright * (1.0 + warm), bright * (1.0 + green), bright * (1.0 - warm)].map(|channel| channel.min(1.0))
}

/// A pseudo-random number from 0 to 1 for each index. Different streams are independent of each other.
pub fn chance(index: usize, stream: u32) -> f32 {
    // Source: C. Wellons, "Prospecting for hash functions", 2018: lowbias32.
    let mut x = (index as u32).wrapping_add(stream.wrapping_mul(0x9E37_79B9)).wrapping_add(1);
    x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    x ^= x >> 16;
    x as f32 / u32::MAX as f32
}

/// A linear colour as four linear bytes, `0xAABBGGRR`, for `unpack4x8unorm`. Alpha is 255.
pub(super) fn pack_colour(colour: [f32; 3]) -> u32 {
    let [r, g, b] = colour.map(|channel| (255.0 * channel).round().clamp(0.0, 255.0) as u32);
    r | g << 8 | b << 16 | 0xFF << 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_room_apart() {
        let positions: Vec<Vec3> = sunflower(500, 2.0).map(|transform| transform.translation.into()).collect();
        let nearest = |index: usize| {
            let others = positions.iter().enumerate().filter(|(other, _)| *other != index);
            others.map(|(_, other)| other.distance(positions[index])).fold(f32::MAX, f32::min)
        };
        let nearest: Vec<f32> = (0..500).map(nearest).collect();
        assert!(nearest.iter().all(|distance| (1.8..2.4).contains(distance)), "{nearest:?}");
        assert_eq!(sunflower(1, 2.0).next(), Some(Affine3A::IDENTITY));
    }
}
