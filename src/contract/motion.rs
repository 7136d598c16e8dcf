//! The bounds of root motion.
//!
//! From clip time `a` to `b`, a clip moves its instance by `G(a)^-1 W^n G(b)`. `G` is the part of its root joint that
//! moves the instance, and `W` is the movement of one loop, from the start of the played part to its end, repeated `n`
//! times. Errors of `W` grow with `n`. An error of its rotation displaces points that are up to `n` loops away.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use crate::contract::bounds::{Local, Magnitudes, MotionBound};
use crate::contract::mixed::{self, Term, WEIGHT};
use crate::contract::sizes::{NARROW, share_of};
use crate::contract::slack::Clock;
use crate::model::{ClipId, Layer, LayerTime, Library, Motion, RootMotion, RootRotation, Step};
use crate::reference::instance::Instance;
use crate::reference::layers::Played;
use crate::reference::{phase, root_motion};

/// The bounds of an instance's motion: a distance, and an angle in radians.
pub fn bounds(instance: &Instance, step: Step, magnitudes: &mut Magnitudes) -> [f64; 2] {
    let Some(transition) = instance.transition else { return of_layers(instance, step, magnitudes) };
    let (before, start) = (instance.before(transition), transition.start);
    let [from_before, to_before] = [step.from < start, step.to < start];
    if from_before && to_before {
        return bounds(&before, step, magnitudes);
    }
    if !from_before && !to_before {
        return of_layers(instance, step, magnitudes);
    }
    let [out, into] = match from_before {
        true => [Step { to: start, ..step }, Step { from: start, ..step }],
        false => [Step { from: start, ..step }, Step { to: start, ..step }],
    };
    let length = |motion: Option<Motion>| motion.map_or(0.0, |motion| motion.translation.length());
    let lengths = [length(root_motion::of_instance(&before, out)), length(root_motion::of_layers(instance, into))];
    let parts = [bounds(&before, out, magnitudes), of_layers(instance, into, magnitudes)];
    let angle = parts[0][1] + parts[1][1];
    [parts[0][0] + parts[1][0] + angle * (lengths[0] + lengths[1]), angle.min(PI)]
}

/// The bounds of an instance's motion by its layers.
fn of_layers(instance: &Instance, step: Step, magnitudes: &mut Magnitudes) -> [f64; 2] {
    let (mut moved, mut turned) = (Vec::new(), Vec::new());
    for (index, driven) in instance.driven(step.to).iter().enumerate() {
        let layer = &driven.layer;
        let (Some(root), Some(share)) =
            (instance.library.clip(layer.clip).root_motion, root_motion::share(instance, index, layer, step))
        else {
            continue;
        };
        let played = Played::new(instance.library, layer, step.to);
        let slip = WEIGHT * driven.full_weight * played.mask_at(Some(root.joint));
        let way = Way::new(instance, &instance.layers[index], step);
        let [distance, angle] = of_way(instance.library, &way, root, share.value, magnitudes);
        let distances = share.clone().map(|motion| motion.translation);
        let is_driven = driven.has_driven_weight;
        moved.push(Term { share: distances, own: distance, reference: 0.0, slip, is_driven });
        turned.push(Term { share: share.map(|motion| motion.rotation), own: angle, reference: 0.0, slip, is_driven });
    }
    let distance = mixed::vectors(DVec3::ZERO, share_of(0.0), &moved, false);
    [distance, mixed::rotation(DQuat::IDENTITY, NARROW, &turned)]
}

/// The way of a layer through its clip in a step.
struct Way {
    clip: ClipId,
    /// The clip times at both ends of the step, and their errors.
    ends: [(f64, Clock); 2],
    /// The ends of the played part.
    part: [f64; 2],
    /// The largest number of passes that the way goes through.
    count: f64,
}

impl Way {
    fn new(instance: &Instance, layer: &Layer, step: Step) -> Option<Self> {
        let clip = instance.library.clip(layer.clip);
        let moments = [step.from, step.to];
        match layer.time {
            LayerTime::At(_) => None,
            LayerTime::Playing(playback) => {
                let playback = playback.resolve_wrap(clip.wrap);
                let [start, end] = playback.part(clip.duration());
                let passes = moments.map(|now| (phase::played(&playback, now) / (end - start)).floor());
                let count =
                    if end > start { (passes[1] - passes[0]).abs().min(2.0 * playback.passes()) + 2.0 } else { 0.0 };
                let clock = |now| Clock::new(layer.time, now, clip.duration());
                let ends = moments.map(|now| (phase::clip_time(layer.time, now, clip), clock(now)));
                Some(Self { clip: layer.clip, ends, part: [start, end], count })
            }
            LayerTime::Phase { .. } | LayerTime::Synced { .. } => {
                let duration = clip.duration();
                if duration == 0.0 {
                    return None;
                }
                let ends = moments.map(|now| {
                    let moment = instance.moment(now);
                    let error = moment.time_error(layer);
                    (moment.clip_time(layer), Clock::of_layer(LayerTime::At(0.0), now, duration, error))
                });
                let times = moments.map(|now| (root_motion::unwrapped_time(instance, layer, now) / duration).floor());
                Some(Self { clip: layer.clip, ends, part: [0.0, duration], count: (times[1] - times[0]).abs() + 2.0 })
            }
        }
    }
}

/// The bounds of the motion by a layer's clip. A layer without a way does not move.
fn of_way(
    library: &Library,
    way: &Option<Way>,
    root: RootMotion,
    motion: Motion,
    magnitudes: &mut Magnitudes,
) -> [f64; 2] {
    let Some(Way { clip: id, ends, part: [start, end], count }) = *way else { return [share_of(0.0), NARROW] };
    let clip = library.clip(id);
    let mut part_at = |time: f64, clock: Clock| {
        let local = Local::sampled(library, id, time, clock, magnitudes);
        (root_motion::part(library, clip, root, time), local.part(library, clip, root, time))
    };
    let [(from, from_off), (to, to_off)] = ends.map(|(time, clock)| part_at(time, clock));
    let (mut loops, mut loops_off) = (0.0, MotionBound::default());
    if count > 2.0 || from != to {
        let [(first, first_off), (last, last_off)] = [start, end].map(|time| part_at(time, Clock::STANDING));
        let one_loop = last.then(first.inverse());
        let sizes = first.translation.length() + last.translation.length();
        let angle = first_off.rotation + last_off.rotation + if turns(root) { NARROW } else { 0.0 };
        let distance =
            first_off.translation + last_off.translation + angle * first.translation.length() + NARROW * sizes;
        loops = count * one_loop.translation.length();
        loops_off = MotionBound { translation: count * (distance + angle * loops), rotation: count * angle };
    }
    let angle = from_off.rotation + to_off.rotation + loops_off.rotation + NARROW;
    let distance = from_off.translation
        + to_off.translation
        + loops_off.translation
        + loops_off.rotation * to.translation.length()
        + from_off.rotation * motion.translation.length()
        + NARROW * (loops + from.translation.length() + to.translation.length());
    [distance.max(share_of(0.0)), angle.min(PI)]
}

fn turns(root: RootMotion) -> bool {
    root.rotation != RootRotation::None
}
