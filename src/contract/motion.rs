//! The bounds of root motion.
//!
//! From clip time `a` to `b`, a clip moves its instance by `G(a)^-1 W^n G(b)`. `G` is the part of its root joint that moves the
//! instance, and `W` is the movement of one loop, from the start of the played part to its end, repeated `n` times. Errors of
//! `W` grow with `n`. An error of its rotation displaces points that are up to `n` loops away.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use crate::contract::bounds::{Local, Magnitudes, Part};
use crate::contract::mixed::{self, Term, WEIGHT};
use crate::contract::sizes::{NARROW, share_of};
use crate::contract::slack::Clock;
use crate::model::{Layer, LayerTime, Library, Motion, RootMotion, RootRotation, Step, Ticks};
use crate::reference::layers::Played;
use crate::reference::{phase, root_motion};

/// The bounds of an instance's motion: a distance, and an angle in radians.
pub fn bounds(library: &Library, layers: &[Layer], step: Step, magnitudes: &mut Magnitudes) -> [f64; 2] {
    let (mut moved, mut turned) = (Vec::new(), Vec::new());
    for layer in layers {
        let (Some(root), Some(share)) =
            (library.clip(layer.clip).root_motion, root_motion::share(library, layer, step))
        else {
            continue;
        };
        let played = Played::new(library, layer, step.to);
        let slip = WEIGHT * played.full_weight * played.mask_at(Some(root.joint));
        let [distance, angle] = of_layer(library, layer, root, step, share.value, magnitudes);
        let distances = share.clone().map(|motion| motion.translation);
        moved.push(Term { share: distances, own: distance, reference: 0.0, slip });
        turned.push(Term { share: share.map(|motion| motion.rotation), own: angle, reference: 0.0, slip });
    }
    let distance = mixed::vectors(DVec3::ZERO, share_of(0.0), &moved, false);
    [distance, mixed::rotation(DQuat::IDENTITY, NARROW, &turned)]
}

/// The bounds of the motion of a layer's clip.
fn of_layer(
    library: &Library,
    layer: &Layer,
    root: RootMotion,
    step: Step,
    motion: Motion,
    magnitudes: &mut Magnitudes,
) -> [f64; 2] {
    let clip = library.clip(layer.clip);
    let LayerTime::Playing(playback) = layer.time else { return [share_of(0.0), NARROW] };
    let playback = playback.resolve_wrap(clip.wrap);
    let [start, end] = playback.part(clip.duration());
    let mut part_at = |time: f64, clock: Clock| {
        let local = Local::sampled(library, layer.clip, time, clock, magnitudes);
        (root_motion::part(library, clip, root, time), local.part(library, clip, root, time))
    };
    let mut part_now = |now: Ticks| part_at(phase::clip_time(layer.time, now, clip), Clock::new(layer.time, now));
    let [(from, from_off), (to, to_off)] = [part_now(step.from), part_now(step.to)];
    let passes = [step.from, step.to].map(|now| (phase::played(&playback, now) / (end - start)).floor());
    let count = if end > start { (passes[1] - passes[0]).abs().min(2.0 * playback.passes()) + 2.0 } else { 0.0 };
    let (mut loops, mut loops_off) = (0.0, Part::default());
    if count > 2.0 || from != to {
        let [(first, first_off), (last, last_off)] = [start, end].map(|time| part_at(time, Clock::STANDING));
        let one_loop = last.then(first.inverse());
        let sizes = first.translation.length() + last.translation.length();
        let angle = first_off.rotation + last_off.rotation + if turns(root) { NARROW } else { 0.0 };
        let distance =
            first_off.translation + last_off.translation + angle * first.translation.length() + NARROW * sizes;
        loops = count * one_loop.translation.length();
        loops_off = Part { translation: count * (distance + angle * loops), rotation: count * angle };
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
