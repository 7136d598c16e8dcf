//! Root motion: the movement of an instance between two ticks of the crowd clock.
//!
//! A pass goes through the played part of a clip, forwards or backwards. Let `G` be the part of the root joint that moves the
//! instance. Within a pass, from clip time `a` to `b`, the instance moves by `G(a)^-1 G(b)`. The whole movement is the product
//! over the passes, in order. A jump of the clip from pass to pass is no movement.

use glam::{DQuat, DVec3};

use crate::model::{Clip, Layer, LayerMode, LayerTime, Library, Motion, Playback, RootMotion, Step, Ticks};
use crate::reference::blend::{self, Share};
use crate::reference::layers::Played;
use crate::reference::passes::Passes;
use crate::reference::values::Values;

/// The largest number of whole passes that are multiplied one by one. More passes are multiplied in pairs.
const MOST_PASSES: f64 = 512.0;

/// The movement of an instance in a step. The crowd must have been checked. `None` if no layer's clip names a root.
pub fn of_instance(library: &Library, layers: &[Layer], step: Step) -> Option<Motion> {
    layers.iter().find(|layer| library.clip(layer.clip).root_motion.is_some())?;
    let shares: Vec<Share<Motion>> = layers.iter().filter_map(|layer| share(library, layer, step)).collect();
    let translation = |share: &Share<Motion>| share.clone().map(|motion| motion.translation.to_array().to_vec());
    let rotation = |share: &Share<Motion>| share.clone().map(|motion| motion.rotation);
    let translations: Vec<_> = shares.iter().map(translation).collect();
    let rotations: Vec<_> = shares.iter().map(rotation).collect();
    Some(Motion {
        translation: DVec3::from_slice(&blend::numbers(&[0.0; 3], &translations, false)),
        rotation: blend::rotation(DQuat::IDENTITY, &rotations),
    })
}

/// A layer's share in the motion, with its weight at the end of the step. Additive layers and layers without a root have none.
pub(crate) fn share(library: &Library, layer: &Layer, step: Step) -> Option<Share<Motion>> {
    let clip = library.clip(layer.clip);
    let root = clip.root_motion?;
    if matches!(layer.mode, LayerMode::Additive(_)) {
        return None;
    }
    let weight = Played::new(library, layer, step.to).weight_at(Some(root.joint));
    let value = of_layer(library, clip, root, layer.time, step);
    Some(Share { weight, mode: layer.mode, value, reference: Motion::IDENTITY })
}

/// The part of a clip's root joint that moves the instance, at a time of the clip.
pub(crate) fn part(library: &Library, clip: &Clip, root: RootMotion, time: f64) -> Motion {
    let local = Values::sampled(library, clip, time).local[root.joint];
    root.part(&local, root.up(library.skeleton(clip.skeleton)))
}

/// The movement of a layer's clip in a step. A layer that does not play does not move.
fn of_layer(library: &Library, clip: &Clip, root: RootMotion, time: LayerTime, step: Step) -> Motion {
    let LayerTime::Playing(playback) = time else { return Motion::IDENTITY };
    let playback = playback.resolve_wrap(clip.wrap);
    let [start, end] = playback.part(clip.duration());
    if start == end {
        return Motion::IDENTITY;
    }
    let walk = Walk { library, clip, root, playback, part: [start, end] };
    let [from, to] = [step.from, step.to].map(|now| Moment::new(&playback, end - start, now));
    // Passes before the start mirror those after it.
    if (from.pass < 0.0) == (to.pass < 0.0) {
        walk.between(from, to)
    } else {
        walk.between(from, Moment::START).then(walk.between(Moment::START, to))
    }
}

/// A moment of a play.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
struct Moment {
    /// The pass, numbered from 0 at the start of the play; negative before the start.
    pass: f64,
    /// The fraction of the pass that is over, from 0 to 1 in the order of the clock.
    along: f64,
}

impl Moment {
    const START: Self = Self { pass: 0.0, along: 0.0 };

    /// The moment of a tick, or the moment at which the play stops if that is earlier. A pass takes `length` seconds of the clip.
    fn new(playback: &Playback, length: f64, now: Ticks) -> Self {
        let Passes { before, seconds, backwards } = Passes::new(playback, length, now);
        let (pass, along) = (before as f64, seconds / length);
        let most = playback.passes();
        let (pass, along) = match pass + along >= most {
            true if most > 0.0 && most.fract() == 0.0 => (most - 1.0, 1.0),
            true => (most.trunc(), most.fract()),
            false => (pass, along),
        };
        if backwards { Self { pass: -1.0 - pass, along: 1.0 - along } } else { Self { pass, along } }
    }
}

/// Passes through a part of a clip.
struct Walk<'a> {
    library: &'a Library,
    clip: &'a Clip,
    root: RootMotion,
    playback: Playback,
    part: [f64; 2],
}

impl Walk<'_> {
    /// The movement from one moment to another, both on the same side of the start.
    fn between(&self, from: Moment, to: Moment) -> Motion {
        if to < from {
            return self.between(to, from).inverse();
        }
        if from.pass == to.pass {
            return self.within(from.pass, from.along, to.along);
        }
        let begin = self.within(from.pass, from.along, 1.0);
        let end = self.within(to.pass, 0.0, to.along);
        let mut whole = to.pass - from.pass - 1.0;
        let mut pass = from.pass + 1.0;
        let mut middle = Motion::IDENTITY;
        if whole > MOST_PASSES {
            // Every two successive passes move the instance by the same motion.
            let pairs = (whole / 2.0).floor();
            middle = power(self.within(pass, 0.0, 1.0).then(self.within(pass + 1.0, 0.0, 1.0)), pairs);
            (pass, whole) = (pass + 2.0 * pairs, whole - 2.0 * pairs);
        }
        for _ in 0..whole as u32 {
            middle = middle.then(self.within(pass, 0.0, 1.0));
            pass += 1.0;
        }
        begin.then(middle).then(end)
    }

    /// The movement within a pass, from one fraction of it to another. Passes before the start have negative numbers.
    fn within(&self, pass: f64, from: f64, to: f64) -> Motion {
        let number = if pass < 0.0 { -1.0 - pass } else { pass };
        let turned = self.playback.wrap.is_ping_pong() && number % 2.0 == 1.0;
        let back = turned != self.playback.wrap.is_reverse();
        let [start, end] = self.part;
        let at = |along: f64| {
            let along = if back { 1.0 - along } else { along };
            let time = if along == 1.0 { end } else { start + (end - start) * along };
            part(self.library, self.clip, self.root, time)
        };
        at(from).inverse().then(at(to))
    }
}

/// A movement, repeated a number of times.
fn power(motion: Motion, mut times: f64) -> Motion {
    let (mut result, mut square) = (Motion::IDENTITY, motion);
    while times > 0.0 {
        if times % 2.0 == 1.0 {
            result = result.then(square);
        }
        square = square.then(square);
        times = (times / 2.0).floor();
    }
    result
}
