//! Root motion: the movement of an instance between two ticks of the crowd clock.
//!
//! A pass goes through the played part of a clip, forwards or backwards. Let `G` be the part of the root joint that
//! moves the instance. Within a pass, from clip time `a` to `b`, the instance moves by `G(a)^-1 G(b)`. The whole
//! movement is the product over the passes, in order. A jump of the clip from pass to pass is no movement.

use glam::{DQuat, DVec3};

use crate::model::SyncMap;
use crate::model::{Clip, Layer, LayerMode, LayerTime, Library, Motion, Playback, RootMotion, Step, Ticks};
use crate::reference::blend::{self, LayerShare};
use crate::reference::drive;
use crate::reference::instance::Instance;
use crate::reference::layers::Played;
use crate::reference::passes::Passes;
use crate::reference::values::Values;

/// The largest number of whole passes that are multiplied one by one. More passes are multiplied in pairs.
const MAX_PASSES: f64 = 512.0;

/// The movement of an instance in a step. The crowd must have been checked. `None` if no layer's clip names a root.
///
/// A step across the start of a transition has two parts: before the start, the layers that go out move the instance,
/// after it the layers that come in.
pub fn of_instance(instance: &Instance, step: Step) -> Option<Motion> {
    let Some(transition) = instance.transition else { return of_layers(instance, step) };
    let (before, start) = (instance.before(transition), transition.start);
    let [from_before, to_before] = [step.from < start, step.to < start];
    if from_before && to_before {
        return of_instance(&before, step);
    }
    if !from_before && !to_before {
        return of_layers(instance, step);
    }
    let [first, second] = [Step { to: start, ..step }, Step { from: start, ..step }];
    let parts = match from_before {
        true => [of_instance(&before, first), of_layers(instance, second)],
        false => [of_layers(instance, first), of_instance(&before, second)],
    };
    match parts {
        [Some(first), Some(second)] => Some(first.then(second)),
        [first, second] => first.or(second),
    }
}

/// The movement of an instance by its layers, without a transition.
pub(crate) fn of_layers(instance: &Instance, step: Step) -> Option<Motion> {
    let Instance { library, layers, .. } = *instance;
    layers.iter().find(|layer| library.clip(layer.clip).root_motion.is_some())?;
    let driven = instance.driven(step.to);
    let shares = (0..layers.len()).filter_map(|layer| share(instance, layer, &driven[layer].layer, step));
    let shares: Vec<LayerShare<Motion>> = shares.collect();
    let translation = |share: &LayerShare<Motion>| share.clone().map(|motion| motion.translation.to_array().to_vec());
    let rotation = |share: &LayerShare<Motion>| share.clone().map(|motion| motion.rotation);
    let translations: Vec<_> = shares.iter().map(translation).collect();
    let rotations: Vec<_> = shares.iter().map(rotation).collect();
    Some(Motion {
        translation: DVec3::from_slice(&blend::numbers(&[0.0; 3], &translations, false)),
        rotation: blend::rotation(DQuat::IDENTITY, &rotations),
    })
}

/// A layer's share in the motion, with its weight at the end of the step; `driven` is the layer without a driver at
/// that moment. Additive layers and layers without a root have none.
pub(crate) fn share(instance: &Instance, index: usize, driven: &Layer, step: Step) -> Option<LayerShare<Motion>> {
    let layer = &instance.layers[index];
    let clip = instance.library.clip(layer.clip);
    let root = clip.root_motion?;
    if matches!(layer.mode, LayerMode::Additive(_)) {
        return None;
    }
    let weight = Played::new(instance.library, driven, step.to).weight_at(Some(root.joint));
    let value = match layer.time {
        LayerTime::Phase { .. } | LayerTime::Synced { .. } => driven_way(instance, layer, root, step),
        time => of_layer(instance.library, clip, root, time, step),
    };
    Some(LayerShare { weight, mode: layer.mode, value, reference: Motion::IDENTITY })
}

/// The movement of a driven layer: from its clip time at one end of the step to that at the other, through the end of
/// the clip as often as the time wraps.
fn driven_way(instance: &Instance, layer: &Layer, root: RootMotion, step: Step) -> Motion {
    let clip = instance.library.clip(layer.clip);
    let duration = clip.duration();
    if duration == 0.0 {
        return Motion::IDENTITY;
    }
    let playback = Playback::looping(0.0, 1.0);
    let walk = Walk { library: instance.library, clip, root, playback, part: [0.0, duration] };
    let [from, to] = [step.from, step.to].map(|now| {
        let time = unwrapped_time(instance, layer, now) / duration;
        PlayMoment { pass: time.floor(), along: time - time.floor() }
    });
    walk.between(from, to)
}

/// The clip time of a driven layer, plus the duration for each wrap from the end of its clip to the start.
pub(crate) fn unwrapped_time(instance: &Instance, layer: &Layer, now: Ticks) -> f64 {
    let (library, moment) = (instance.library, instance.moment(now));
    let clip = library.clip(layer.clip);
    match layer.time {
        LayerTime::Phase { parameter, wrap } => {
            let playback = drive::cycles(wrap, clip.wrap);
            let passes = Passes::of_cycles(&playback, moment.values.get(parameter), clip.duration());
            let loops = PlayMoment::of_passes(&playback, clip.duration(), passes).loops(&playback);
            moment.clip_time(layer) + loops * clip.duration()
        }
        LayerTime::Synced { leader } => {
            let leader = &instance.layers[leader];
            let lead = library.clip(leader.clip);
            let duration = lead.duration();
            let loops = match leader.time {
                _ if duration == 0.0 => 0.0,
                LayerTime::Playing(playback) => {
                    let playback = playback.resolve_wrap(lead.wrap);
                    let [start, end] = playback.part(duration);
                    if start == end { 0.0 } else { PlayMoment::new(&playback, end - start, now).loops(&playback) }
                }
                LayerTime::Phase { parameter, wrap } => {
                    let playback = drive::cycles(wrap, lead.wrap);
                    let passes = Passes::of_cycles(&playback, moment.values.get(parameter), duration);
                    PlayMoment::of_passes(&playback, duration, passes).loops(&playback)
                }
                _ => 0.0,
            };
            SyncMap::new(lead, clip).unwrapped(moment.clip_time(leader)) + loops * clip.duration()
        }
        _ => moment.clip_time(layer),
    }
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
    let [from, to] = [step.from, step.to].map(|now| PlayMoment::new(&playback, end - start, now));
    // Passes before the start mirror those after it.
    if (from.pass < 0.0) == (to.pass < 0.0) {
        walk.between(from, to)
    } else {
        walk.between(from, PlayMoment::START).then(walk.between(PlayMoment::START, to))
    }
}

/// A moment of a play.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
struct PlayMoment {
    /// The pass, numbered from 0 at the start of the play; negative before the start.
    pass: f64,
    /// The fraction of the pass that is over, from 0 to 1 in the order of the clock.
    along: f64,
}

impl PlayMoment {
    const START: Self = Self { pass: 0.0, along: 0.0 };

    /// The moment of a tick, or the moment at which the play stops if that is earlier. A pass takes `length` seconds of
    /// the clip.
    fn new(playback: &Playback, length: f64, now: Ticks) -> Self {
        Self::of_passes(playback, length, Passes::new(playback, length, now))
    }

    /// The moment after some passes, or the moment at which the play stops if that is earlier.
    fn of_passes(playback: &Playback, length: f64, passes: Passes) -> Self {
        let Passes { before, seconds, backwards } = passes;
        let is_start = before == 0 && seconds == 0.0;
        if is_start {
            // A play backwards begins at the end of its part, before which the clip has jumped there.
            let at_end = backwards && playback.passes() > 0.0;
            return if at_end { Self { pass: -1.0, along: 1.0 } } else { Self::START };
        }
        if playback.passes() == 0.0 {
            // It jumps to the end of its only pass as soon as it moves.
            return if backwards { Self::START } else { Self { pass: -1.0, along: 1.0 } };
        }
        let (pass, along) = (before as f64, seconds / length);
        let most = playback.passes();
        let (pass, along) = match pass + along >= most {
            true if most > 0.0 && most.fract() == 0.0 => (most - 1.0, 1.0),
            true => (most.trunc(), most.fract()),
            false => (pass, along),
        };
        if backwards { Self { pass: -1.0 - pass, along: 1.0 - along } } else { Self { pass, along } }
    }

    /// The number of jumps from the end of the clip to its start since the start of the play, less those the other way.
    /// A ping-pong jumps at its start alone.
    fn loops(self, playback: &Playback) -> f64 {
        let passes = if playback.wrap.is_ping_pong() { self.pass.clamp(-1.0, 0.0) } else { self.pass };
        if playback.wrap.is_reverse() { -passes } else { passes }
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
    fn between(&self, from: PlayMoment, to: PlayMoment) -> Motion {
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
        if whole > MAX_PASSES {
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
