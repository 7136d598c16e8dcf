//! The slide of the feet: the speed over the ground of a foot that is planted.
//!
//! Characters move over the ground at the speed and turn that the parameters of their blend space name, for ten
//! seconds. The planted foot is the one whose ball is lower, if the ball is less than 2 cm above its height on the
//! ground, and no change of the lower foot is nearer than a tenth of a cycle. The slide is the mean speed of its ball
//! over the ground, from frame to frame.

use posse::cpu::CpuEngine;
use posse::glam::{DVec2, DVec3};
use posse::{Crowd, Error, Layer, Library, Outputs, Ticks};

use super::RATE;
use super::feet::GROUND;
use super::gaits::{Gait, Gaits};
use super::layers::Layers;
use super::legs::find_joint;

/// The number of characters of the printed measurements.
const CHARACTERS: usize = 64;
/// The frames of a measurement.
const FRAMES: usize = 10 * RATE as usize;
/// The height in metres above the ground up to which a foot is planted.
const PLANTED: f64 = 0.02;

/// The speed in m/s and the turn in radians per cycle of a character, by its place among all characters (0 to 1) and
/// the seconds.
pub type Motion = fn(f64, f64) -> [f64; 2];

/// The ways in which characters move.
pub const MOTIONS: [(&str, Motion); 4] = [
    ("constant speeds", |part, _| [speed(part), 0.0]),
    ("changing speeds", |part, seconds| [speed(0.5 + 0.5 * (0.6 * seconds + 40.0 * part).sin()), 0.0]),
    ("turning", |part, _| [speed(part), (23.0 * part).sin() * Gaits::most_turn(speed(part))]),
    ("turning, changing", |part, seconds| {
        let now = speed(0.5 + 0.5 * (0.6 * seconds + 40.0 * part).sin());
        [now, (0.9 * seconds + 23.0 * part).sin() * Gaits::most_turn(now)]
    }),
];

/// From the speed of a walk to the speed of a run.
fn speed(part: f64) -> f64 {
    let [slow, fast] = Gaits::SPEEDS;
    slow + (fast - slow) * part
}

/// The slide of planted feet.
#[derive(Debug, Clone, Copy)]
pub struct Slide {
    /// The mean speed over the ground in m/s.
    pub mean: f64,
    /// The share of the frames in which a foot is planted.
    pub planted: f64,
}

/// Prints the slide of all motions, without and with synchronisation.
pub fn print(library: &Library, gaits: &Gaits, layers: &Layers) -> Result<(), Error> {
    println!("mean speed of a planted foot over the ground, in cm/s (share of the frames with a planted foot)");
    for &(gait, _) in &gaits.all {
        let own: Vec<_> = vec![layers.moving.clone(); 4];
        let slide = measure(library, gaits, &own, |_, _| [gait.speed, gait.turn])?;
        println!("{:20} alone     {:6.2} ({:2.0} %)", gait.name, 100.0 * slide.mean, 100.0 * slide.planted);
    }
    for (name, motion) in MOTIONS {
        let [apart, synced] = compare(library, gaits, layers, motion, CHARACTERS)?;
        println!(
            "{name:20} not synced {:6.2} ({:2.0} %), synced {:5.2} ({:2.0} %): {:.1} times less",
            100.0 * apart.mean,
            100.0 * apart.planted,
            100.0 * synced.mean,
            100.0 * synced.planted,
            apart.mean / synced.mean
        );
    }
    Ok(())
}

/// The slide of so many characters without synchronisation, and with it.
pub fn compare(
    library: &Library,
    gaits: &Gaits,
    layers: &Layers,
    motion: Motion,
    count: usize,
) -> Result<[Slide; 2], Error> {
    let apart: Vec<_> = (0..count).map(|index| layers.apart(Ticks(-(index as i64) * 977_777))).collect();
    let synced = vec![layers.moving.clone(); count];
    Ok([measure(library, gaits, &apart, motion)?, measure(library, gaits, &synced, motion)?])
}

/// The slide of characters with these layers.
pub fn measure(
    library: &Library,
    gaits: &Gaits,
    layers: &[Vec<Layer>],
    motion: impl Fn(f64, f64) -> [f64; 2],
) -> Result<Slide, Error> {
    let mut crowd = Crowd::new();
    for own in layers {
        crowd.push(gaits.skeleton, own)?;
    }
    let engine = CpuEngine::new(library)?;
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let mut posed = engine.crowd(&crowd, outputs)?;
    let skeleton = library.skeleton(gaits.skeleton);
    let balls = [find_joint(skeleton, "ball.L")?, find_joint(skeleton, "ball.R")?];
    let mut walkers: Vec<_> =
        (0..layers.len()).map(|index| MeasuredWalker::new(index as f64 / layers.len() as f64)).collect();
    for frame in 0..FRAMES {
        let now = Ticks(frame as i64 * Ticks::PER_SECOND / RATE);
        for (index, walker) in walkers.iter_mut().enumerate() {
            let [speed, turn] = motion(index as f64 / layers.len() as f64, now.to_seconds());
            walker.advance(speed, turn);
            posed.set_parameters(index, &[walker.cycles as f32, speed as f32, turn as f32]);
        }
        engine.pose(&mut posed, now);
        for (index, walker) in walkers.iter_mut().enumerate() {
            let pose = engine.read(&posed, index, outputs);
            walker.feet.push(balls.map(|ball| walker.on_ground(pose.model[ball].translation)));
        }
    }
    let speeds: Vec<f64> = walkers.iter().flat_map(MeasuredWalker::planted_speeds).collect();
    let mean = speeds.iter().sum::<f64>() / speeds.len().max(1) as f64;
    Ok(Slide { mean, planted: speeds.len() as f64 / (FRAMES * layers.len()) as f64 })
}

/// A character on its way, as `steer.wgsl` moves it.
struct MeasuredWalker {
    position: DVec2,
    heading: f64,
    cycles: f64,
    /// The balls of both feet in each frame, in the world.
    feet: Vec<[DVec3; 2]>,
    /// The frames of a tenth of a cycle, in each frame.
    margins: Vec<usize>,
}

impl MeasuredWalker {
    fn new(cycles: f64) -> Self {
        Self { position: DVec2::ZERO, heading: 0.0, cycles, feet: Vec::new(), margins: Vec::new() }
    }

    /// Moves along an arc for a frame.
    fn advance(&mut self, speed: f64, turn: f64) {
        let way = speed / RATE as f64;
        let cycles = way / Gait::metres_per_cycle(speed);
        let middle = self.heading + 0.5 * turn * cycles;
        self.position += way * DVec2::new(middle.sin(), middle.cos());
        self.heading += turn * cycles;
        self.cycles = (self.cycles + cycles).fract();
        self.margins.push((0.1 / cycles).ceil() as usize);
    }

    /// A point of the character in the world.
    fn on_ground(&self, point: DVec3) -> DVec3 {
        let (sin, cos) = self.heading.sin_cos();
        let [x, z] = [cos * point.x + sin * point.z, cos * point.z - sin * point.x];
        DVec3::new(self.position.x + x, point.y, self.position.y + z)
    }

    /// The speeds over the ground of the planted foot, in all frames that have one.
    fn planted_speeds(&self) -> Vec<f64> {
        let lower = |frame: usize| usize::from(self.feet[frame][1].y < self.feet[frame][0].y);
        let mut speeds = Vec::new();
        for frame in 1..self.feet.len() {
            let foot = lower(frame);
            let [before, now] = [self.feet[frame - 1][foot], self.feet[frame][foot]];
            let margin = self.margins[frame];
            let mut near = frame.saturating_sub(margin)..=(frame + margin).min(self.feet.len() - 1);
            if near.all(|other| lower(other) == foot) && before.y.max(now.y) < GROUND + PLANTED {
                let way = now - before;
                speeds.push(way.x.hypot(way.z) * RATE as f64);
            }
        }
        speeds
    }
}
