//! Parameters, knots, blend spaces, synchronised layers and transitions: hand-worked cases.

/// Parameters, and the times and weights that follow from them.
mod drivers;
/// Synchronised layers, with and without markers, and their root motion.
mod sync;
/// Transitions: both kinds, in each other, with root motion and events.
mod transitions;

use glam::DQuat;
use posse::curves::{Interpolation, Target, Track};
use posse::parameters::Parameter;
use posse::transitions::Transition;
use posse::{
    Clip, ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Playback, Pose, SkeletonId, Ticks, WrapMode,
};

use crate::support::assert_close::assert_close;
use crate::support::build::{curve, joint, library};
use crate::support::each_engine::each_engine;

/// A library of two joints. Its clips show their time by the translations of a joint along x.
struct Rig {
    library: Library,
    skeleton: SkeletonId,
}

impl Rig {
    fn new() -> Self {
        let (library, skeleton) = library(vec![joint(None, [0.0; 3]), joint(None, [0.0; 3])]);
        Self { library, skeleton }
    }

    /// Adds a clip that moves a joint along x at a speed.
    fn moving(&mut self, joint: usize, seconds: f64, speed: f64) -> ClipId {
        let keys = [0.0, 0.0, 0.0, speed * seconds, 0.0, 0.0];
        self.add(Target::Translation(joint), curve(Interpolation::Linear, 3, &[0.0, seconds], &keys))
    }

    /// Adds a clip in which the first joint stays at x.
    fn standing(&mut self, x: f64) -> ClipId {
        self.add(Target::Translation(0), curve(Interpolation::Linear, 3, &[0.0], &[x, 0.0, 0.0]))
    }

    /// Adds a clip that turns the first joint by one of two rotations to the other in a second.
    fn turning(&mut self, from: DQuat, to: DQuat) -> ClipId {
        let keys = [from.to_array(), to.to_array()];
        self.add(Target::Rotation(0), curve(Interpolation::Linear, 4, &[0.0, 1.0], keys.as_flattened()))
    }

    fn add(&mut self, target: Target, curve: posse::curves::Curve) -> ClipId {
        let clip = Clip::new(None, self.skeleton, vec![Track::new(target, curve)]);
        self.library.add_clip(clip).unwrap()
    }

    /// A crowd of one instance with layers and parameters.
    fn crowd(&self, layers: &[Layer], parameters: Vec<Parameter>) -> Crowd {
        let mut crowd = Crowd::new();
        crowd.push(self.skeleton, layers).unwrap();
        crowd.set_parameters(0, parameters).unwrap();
        crowd
    }

    /// A crowd of one instance without parameters, in a transition.
    fn in_transition(&self, layers: &[Layer], transition: Transition) -> Crowd {
        let mut crowd = self.crowd(layers, Vec::new());
        crowd.set_transition(&self.library, 0, Some(transition)).unwrap();
        crowd
    }

    /// Asserts the translation of a joint along x at some seconds of the clock.
    #[track_caller]
    fn assert_x(&self, crowd: &Crowd, joint: usize, cases: &[(f64, f64)]) {
        each_engine(&self.library, |engine| {
            for &(seconds, expected) in cases {
                let what = format!("{} at {seconds} s", engine.engine());
                assert_close(&[pose(engine, crowd, seconds).local[joint].translation.x], &[expected], &what);
            }
        });
    }
}

/// All outputs of the first instance at some seconds of the clock.
fn pose(engine: &mut dyn Evaluator, crowd: &Crowd, seconds: f64) -> Pose {
    engine.evaluate(crowd, Ticks::from_seconds(seconds), Outputs::ALL).unwrap().instances.remove(0)
}

/// A layer that plays from second 0 at rate 1.
fn playing(clip: ClipId, wrap: WrapMode) -> Layer {
    Layer::new(clip, LayerTime::Playing(Playback::new(wrap, Ticks(0), 1.0)))
}

/// A layer that loops from second 0 on.
fn looping(clip: ClipId) -> Layer {
    playing(clip, WrapMode::Loop)
}

/// A layer that follows another one.
fn synced(clip: ClipId, leader: usize) -> Layer {
    Layer::new(clip, LayerTime::Synced { leader })
}

/// A layer whose time is a number of cycles, the value of a parameter.
fn phase(clip: ClipId, parameter: usize, wrap: WrapMode) -> Layer {
    Layer::new(clip, LayerTime::Phase { parameter, wrap })
}

fn constant(value: f64) -> Parameter {
    Parameter::constant(value).unwrap()
}

fn keyed(keys: &[[f64; 2]]) -> Parameter {
    Parameter::new(keys.to_vec()).unwrap()
}
