//! The ways of the characters: circles around the middle, each at its own pace. Where a character is follows from the
//! frame alone.

use posse::glam::DVec2;

use super::RATE;
use super::gaits::{Gait, WALK};

/// The square metres per character.
const ROOM: f64 = 8.0;
/// The radius of the innermost circle in metres.
const MIN_RADIUS: f64 = 3.0;

/// A character, as `terrain.wgsl` has it: the radius of its circle in metres, its angle at frame 0, its cycles of two
/// steps at frame 0 and per frame.
pub type Walker = [f32; 4];

/// All characters.
pub struct Walkers(pub Vec<Walker>);

/// The place of a character.
pub struct Place {
    /// Its position: x and z.
    pub position: DVec2,
    /// The direction in which it walks, in radians from +z to +x.
    pub heading: f64,
    /// Its cycles of two steps.
    pub cycles: f64,
}

impl Walkers {
    /// Characters that fill a disc evenly.
    pub fn new(count: usize) -> Self {
        let radius = (ROOM * count as f64 / std::f64::consts::PI).sqrt();
        let walker = |index: usize| {
            let part = |ratio: f64| (index as f64 * ratio).fract();
            let own = MIN_RADIUS + radius * ((index as f64 + 0.5) / count as f64).sqrt();
            let pace = 0.85 + 0.3 * part(0.569_84);
            let per_frame = pace * WALK.speed / Self::stride() / RATE as f64;
            [own, std::f64::consts::TAU * part(0.618_034), part(0.819_17), per_frame].map(|number| number as f32)
        };
        Self((0..count).map(walker).collect())
    }

    /// The metres of a cycle.
    pub fn stride() -> f64 {
        Gait::metres_per_cycle(WALK.speed)
    }

    /// The radius of the outermost circle.
    pub fn radius(&self) -> f64 {
        self.0.last().map_or(0.0, |walker| walker[0].into())
    }

    /// The place of a character in a frame.
    pub fn place(&self, index: usize, frame: usize) -> Place {
        let [radius, angle, start, per_frame] = self.0[index].map(f64::from);
        let walked = per_frame * frame as f64;
        let angle = angle + walked * Self::stride() / radius;
        let position = radius * DVec2::new(angle.sin(), angle.cos());
        Place { position, heading: angle + std::f64::consts::FRAC_PI_2, cycles: (start + walked).fract() }
    }
}

impl Place {
    /// A direction or offset of the character on the ground, in the world.
    pub fn turned(&self, x: f64, z: f64) -> DVec2 {
        let (sin, cos) = self.heading.sin_cos();
        DVec2::new(cos * x + sin * z, cos * z - sin * x)
    }
}
