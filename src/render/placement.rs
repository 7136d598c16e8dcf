//! Where instances stand, and their colours.

use std::f32::consts::TAU;

use glam::{Affine3A, Quat, Vec3};

/// Where an instance stands, and its colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// From the instance's space to the world.
    pub transform: Affine3A,
    /// Colours, linear: what the base colour is multiplied by, or what clothes are dyed with.
    pub dyes: [[f32; 3]; 5],
}

impl Default for Placement {
    fn default() -> Self {
        Self { transform: Affine3A::IDENTITY, dyes: [[1.0; 3]; 5] }
    }
}

/// Places for a crowd whose instances need so much room from side to side: a disc, filled evenly from its middle, all facing
/// about the same way. One instance alone stands in the middle, and is not turned.
///
/// The spiral is H. Vogel's, "A better way to construct the sunflower head", 1979.
pub fn sunflower(count: usize, room: f32) -> impl Iterator<Item = Affine3A> {
    let golden = TAU * (1.0 - 0.618_034);
    // Neighbours in the spiral are about 1.7 of its units apart.
    let unit = room / 1.7;
    (0..count).map(move |instance| {
        let away = if count == 1 { 0.0 } else { unit * (instance as f32 + 0.5).sqrt() };
        let position = Vec3::new(away * (golden * instance as f32).cos(), 0.0, away * (golden * instance as f32).sin());
        let turned = if count == 1 { 0.0 } else { 0.9 * (chance(instance, 7) - 0.5) };
        Affine3A::from_rotation_translation(Quat::from_rotation_y(turned), position)
    })
}

/// A tint that differs a little from instance to instance; white for the first.
pub fn tint(instance: usize) -> [f32; 3] {
    if instance == 0 {
        return [1.0; 3];
    }
    let bright = 0.72 + 0.28 * chance(instance, 1);
    let warm = 0.24 * (chance(instance, 2) - 0.5);
    let green = 0.12 * (chance(instance, 3) - 0.5);
    [bright * (1.0 + warm), bright * (1.0 + green), bright * (1.0 - warm)].map(|channel| channel.min(1.0))
}

/// A number from 0 to 1 for each index, of so many that have nothing to do with each other.
pub fn chance(index: usize, which: u32) -> f32 {
    // C. Wellons, "Prospecting for hash functions", 2018: lowbias32.
    let mut x = (index as u32).wrapping_add(which.wrapping_mul(0x9E37_79B9)).wrapping_add(1);
    x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    x ^= x >> 16;
    x as f32 / u32::MAX as f32
}

/// A linear colour as `0xAABBGGRR`, linear, as shaders unpack it.
pub(super) fn pack_colour(colour: [f32; 3]) -> u32 {
    let [r, g, b] = colour.map(|channel| (255.0 * channel).round().clamp(0.0, 255.0) as u32);
    r | g << 8 | b << 16 | 0xFF << 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_have_the_room_that_they_need_and_hardly_more() {
        let places: Vec<Vec3> = sunflower(500, 2.0).map(|place| place.translation.into()).collect();
        let nearest = |place: usize| {
            let others = places.iter().enumerate().filter(|(other, _)| *other != place);
            others.map(|(_, other)| other.distance(places[place])).fold(f32::MAX, f32::min)
        };
        let nearest: Vec<f32> = (0..500).map(nearest).collect();
        assert!(nearest.iter().all(|distance| (1.8..2.4).contains(distance)), "{nearest:?}");
        assert_eq!(sunflower(1, 2.0).next(), Some(Affine3A::IDENTITY));
    }
}
