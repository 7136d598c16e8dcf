//! The ways of the feet: on the ground they stay where they are, and the character moves on over them.

use std::f64::consts::{PI, TAU};

use posse::glam::{DQuat, DVec2, DVec3};

use super::gaits::Gait;

/// The height in metres of the ball of a planted foot, as in the rest pose.
pub const GROUND: f64 = 0.02;
/// Half the distance in metres between the tracks of the feet.
const TRACK: f64 = 0.075;
/// The part of the time on the ground after which the heel rises.
const HEEL_RISES: f64 = 0.45;
/// The angle in radians of a foot before it lands, the toes up.
const TOES: f64 = -0.2;
/// The distance in metres from the ball of a foot to its heel.
const LENGTH: f64 = 0.16;

/// A foot at a moment, in the space of the character.
pub struct Foot {
    /// The position of the ball of the foot.
    pub ball: DVec3,
    /// The model rotation of the foot.
    pub rotation: DQuat,
    /// The direction of the toes about +Y, in radians.
    pub yaw: f64,
    /// The angle in radians by which the toes bend up against the foot.
    pub bend: f64,
}

impl Gait {
    /// The foot of a side (1 is the left one) at a phase of its own cycle, which begins when the character is over it.
    pub fn foot(&self, side: f64, phase: f64) -> Foot {
        // From its landing on.
        let phase = (phase + 0.5 * self.duty).rem_euclid(1.0);
        let pitch = self.pitch(phase);
        let (spot, height) = if phase < self.duty {
            (self.planted(side, phase), 0.0)
        } else {
            let swung = (phase - self.duty) / (1.0 - self.duty);
            // The foot is highest before the middle of its swing.
            let wave = 0.5 - 0.5 * (TAU * swung.powf(0.75)).cos();
            // Where the toes point up, the heel is over the ground.
            (self.swing(side, swung), self.lift * wave + LENGTH * (-pitch).sin().max(0.0))
        };
        let bend = if phase < self.duty { pitch } else { pitch.max(0.0) * (1.0 - smooth((phase - self.duty) / 0.15)) };
        let rotation = DQuat::from_rotation_y(spot.z) * DQuat::from_rotation_x(pitch);
        Foot { ball: DVec3::new(spot.x, GROUND + height, spot.y), rotation, yaw: spot.z, bend }
    }

    /// Returns `true` if the ball of a foot stays on the ground at a phase of its own cycle.
    pub fn is_planted(&self, phase: f64) -> bool {
        (phase + 0.5 * self.duty).rem_euclid(1.0) < self.duty
    }

    /// The spot of a planted foot: x and z of its ball, and its yaw. The spot is fixed on the ground, over which the
    /// character moves along an arc.
    fn planted(&self, side: f64, phase: f64) -> DVec3 {
        // The foot is in its place when the character has made half the way over it.
        let since = phase - 0.5 * self.duty;
        let angle = self.turn * since;
        let way = Self::metres_per_cycle(self.speed) * since;
        // The point that the character has reached: the chord of the arc, at half the angle.
        let chord = if angle == 0.0 { way } else { way * (0.5 * angle).sin() / (0.5 * angle) };
        let reached = chord * DVec2::new((0.5 * angle).sin(), (0.5 * angle).cos());
        let from = DVec2::new(side * TRACK, self.reach) - reached;
        // In the space of the character, which has turned by the angle.
        let (sin, cos) = angle.sin_cos();
        DVec3::new(cos * from.x - sin * from.y, sin * from.x + cos * from.y, 0.1 * side - angle)
    }

    /// The spot of a foot in the air, from 0 at lift-off to 1 at landing. Both with the speed that it has on the
    /// ground.
    fn swing(&self, side: f64, swung: f64) -> DVec3 {
        let step = 1e-4;
        let speed = |phase| (self.planted(side, phase + step) - self.planted(side, phase - step)) / (2.0 * step);
        let length = 1.0 - self.duty;
        let ends = [self.planted(side, self.duty), self.planted(side, 0.0)];
        let speeds = [length * speed(self.duty), length * speed(0.0)];
        let [t, r] = [swung, 1.0 - swung];
        r * r * (1.0 + 2.0 * t) * ends[0] + t * t * (1.0 + 2.0 * r) * ends[1] + r * t * (r * speeds[0] - t * speeds[1])
    }

    /// The angle of a foot about x, positive with the heel up.
    fn pitch(&self, phase: f64) -> f64 {
        let highest = self.duty + 0.06;
        let points = [
            [HEEL_RISES * self.duty, 0.0],
            [highest, self.heel],
            [0.6 * highest + 0.4, 0.5 * self.heel * self.run],
            [0.93, TOES],
            [1.0, 0.0],
        ];
        let next = points.iter().position(|point| phase < point[0]).unwrap_or(points.len() - 1);
        let [from, to] = [points[next.saturating_sub(1)], points[next]];
        if next == 0 { 0.0 } else { from[1] + (to[1] - from[1]) * smooth((phase - from[0]) / (to[0] - from[0])) }
    }
}

/// A smooth step from 0 to 1.
fn smooth(x: f64) -> f64 {
    0.5 - 0.5 * (PI * x.clamp(0.0, 1.0)).cos()
}
