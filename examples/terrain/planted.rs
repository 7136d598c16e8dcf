//! The share of planted feet that are on the ground.
//!
//! A foot is planted in the part of its cycle in which the walk holds its ball still on flat ground. It is on the
//! ground if the height of its ball over the ground is within 1 cm of what it is on flat ground.

use posse::Outputs;
use posse::glam::{DVec2, DVec3};

use super::feet::GROUND;
use super::output::Outcome;
use super::steps::SIDES;
use super::{Hike, RATE};

/// The number of characters.
const CHARACTERS: usize = 500;
/// The frames, one in ten of which is measured.
const FRAMES: usize = 10 * RATE as usize;
/// The largest distance in metres from the ground.
const NEAR: f64 = 0.01;

/// Prints the share with and without inverse kinematics.
pub fn print() -> Outcome<()> {
    for (name, reaches) in [("with inverse kinematics", true), ("without", false)] {
        let share = measure(CHARACTERS, FRAMES, reaches)?;
        println!("{name:24} {:5.1} % of planted feet within 1 cm of the ground", 100.0 * share);
    }
    Ok(())
}

/// The share of planted feet on the ground, of so many characters in every tenth of so many frames.
pub fn measure(characters: usize, frames: usize, reaches: bool) -> Outcome<f64> {
    let hike = Hike::new(characters, Outputs { model: true, ..Outputs::NONE }, reaches)?;
    let (batch, _) = hike.gpu_crowd.find(0);
    let (mut planted, mut near) = (0_usize, 0_usize);
    for frame in (0..frames).step_by(10) {
        hike.play(frame);
        let model = hike.engine.read(batch, 0..characters)?.model;
        for (slot, &instance) in batch.instances().iter().enumerate() {
            let place = hike.walkers.place(instance, frame);
            for (leg, [_, late]) in hike.rig.legs.iter().zip(SIDES) {
                if hike.rig.gait.is_planted(place.cycles - late) {
                    let at = slot * batch.layout().model + 12 * leg.joints[3];
                    let ball = DVec3::from([3, 7, 11].map(|number| f64::from(model[at + number])));
                    let height = ball.y + hike.hills.height(place.position);
                    let under: DVec2 = place.position + place.turned(ball.x, ball.z);
                    planted += 1;
                    near += usize::from((height - hike.hills.height(under) - GROUND).abs() < NEAR);
                }
            }
        }
    }
    Ok(near as f64 / planted.max(1) as f64)
}
