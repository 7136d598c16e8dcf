//! The clock of all characters.

use bevy::prelude::*;
use posse::{Step, Ticks};

/// The clock of all characters: the step of the present frame, in ticks of 2^-20 s.
///
/// It follows `Time`, and so the pause and the speed of `Time<Virtual>`. Layers name their starts by it.
#[derive(Resource, Debug, Clone, Copy)]
pub struct CrowdClock {
    step: Step,
}

impl Default for CrowdClock {
    fn default() -> Self {
        Self { step: Ticks(0).into() }
    }
}

impl CrowdClock {
    /// The tick of the present frame.
    pub fn now(&self) -> Ticks {
        self.step.to
    }

    /// The step from the frame before to the present one. While time is paused, it goes nowhere.
    pub fn step(&self) -> Step {
        self.step
    }
}

/// Moves the clock to the time of the frame.
pub(crate) fn advance(time: Res<Time>, mut clock: ResMut<CrowdClock>) {
    clock.step = Step { from: clock.step.to, to: Ticks::from_seconds(time.elapsed_secs_f64()) };
}
