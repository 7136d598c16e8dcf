//! The gaits of the example, and their places in the blend space.

use posse::{ClipId, Error, Library, SkeletonId};

use super::clips;

/// A cycle of two steps. It begins when the character is over its left foot, in the middle of the time that this foot
/// is on the ground; half a cycle later the character is over its right foot. All gaits begin so, and mixtures set down
/// the same foot.
#[derive(Clone, Copy)]
pub struct Gait {
    /// The name of its clip.
    pub name: &'static str,
    /// Metres per second over the ground.
    pub speed: f64,
    /// Radians per cycle to the left.
    pub turn: f64,
    /// The part of the cycle that a foot is on the ground.
    pub duty: f64,
    /// The height in metres of the ball of a foot in the middle of its swing.
    pub lift: f64,
    /// The angle in radians of a foot at lift-off, the heel up.
    pub heel: f64,
    /// The position in metres of the ball of a foot before the pelvis, in the middle of its time on the ground.
    pub reach: f64,
    /// The mean height of the pelvis in metres.
    pub height: f64,
    /// The height in metres by which the pelvis rises and falls. A walk is highest over a planted foot, a run lowest
    /// (negative).
    pub bob: f64,
    /// The share of the built-in run in the arms; the rest is the built-in walk.
    pub run: f64,
}

/// The walk straight ahead.
pub const WALK: Gait = Gait {
    name: "walk",
    speed: 1.3,
    turn: 0.0,
    duty: 0.58,
    lift: 0.07,
    heel: 0.95,
    reach: 0.0,
    height: 0.9,
    bob: 0.015,
    run: 0.0,
};
const JOG: Gait = Gait {
    name: "jog",
    speed: 2.3,
    duty: 0.42,
    lift: 0.14,
    heel: 1.1,
    reach: -0.03,
    height: 0.87,
    bob: -0.025,
    run: 0.6,
    ..WALK
};
const RUN: Gait = Gait {
    name: "run",
    speed: 3.4,
    duty: 0.34,
    lift: 0.22,
    heel: 1.25,
    reach: -0.05,
    height: 0.85,
    bob: -0.035,
    run: 1.0,
    ..WALK
};

impl Gait {
    /// Metres per cycle at a speed. It is a linear function, so that a mixture of gaits with the mean speed `s` makes
    /// `metres_per_cycle(s)`, whatever its shares.
    pub fn metres_per_cycle(speed: f64) -> f64 {
        let [base, per_speed] = Self::STRIDE;
        base + per_speed * speed.max(WALK.speed)
    }

    /// The numbers of that function: metres per cycle at speed 0, and for each m/s more. Slower than a walk, steps do
    /// not shrink.
    pub const STRIDE: [f64; 2] = [0.78, 0.45];

    /// The length of the clip in seconds.
    pub fn duration(&self) -> f64 {
        Self::metres_per_cycle(self.speed) / self.speed
    }

    /// The same gait in a turn, with the knees bent a little more, since the outer foot is farther away.
    fn turning(self, name: &'static str, turn: f64) -> Self {
        Self { name, turn, height: self.height - 0.02, ..self }
    }
}

/// The gaits in the library of the built-in human.
pub struct Gaits {
    /// The skeleton of the built-in human.
    pub skeleton: SkeletonId,
    /// The clip of a character that stands.
    pub idle: ClipId,
    /// Walk, jog and run straight ahead, then walk and run to the left and to the right.
    pub all: Vec<(Gait, ClipId)>,
}

impl Gaits {
    /// The radians per cycle of the turning walk and of the turning run.
    pub const TURNS: [f64; 2] = [1.0, 0.6];

    /// The speeds of walk and run.
    pub const SPEEDS: [f64; 2] = [WALK.speed, RUN.speed];

    /// Adds the clips.
    pub fn add(library: &mut Library) -> Result<Self, Error> {
        let idle = clips::find(library, "idle")?;
        let [walk, run] = Self::TURNS;
        let gaits = [
            WALK,
            JOG,
            RUN,
            WALK.turning("walk to the left", walk),
            WALK.turning("walk to the right", -walk),
            RUN.turning("run to the left", run),
            RUN.turning("run to the right", -run),
        ];
        let all: Result<_, _> = gaits.into_iter().map(|gait| Ok((gait, clips::add(library, &gait)?))).collect();
        Ok(Self { skeleton: library.clip(idle).skeleton, idle, all: all? })
    }

    /// The most radians per cycle that a character turns at a speed.
    pub fn most_turn(speed: f64) -> f64 {
        let [slow, fast] = Self::SPEEDS;
        let share = ((speed - slow) / (fast - slow)).clamp(0.0, 1.0);
        Self::TURNS[0] + (Self::TURNS[1] - Self::TURNS[0]) * share
    }
}
