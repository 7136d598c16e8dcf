//! Plays whose seconds of the clip fall on the end of a pass by decimal numbers, but beside it by their `f64`.

use posse::curves::{Interpolation, Target, Track};
use posse::events::{Event, Occurrence};
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, Crowd, Joint, Layer, LayerTime, Library, Outputs, Playback, SkeletonId, Step, Ticks, WrapMode};

use crate::support::build::{curve, library};
use crate::support::each_engine::each_engine;
use crate::support::scenes::Numbers;

const NOW: Ticks = Ticks(1 << 45);

/// Seconds from the first key to the second one: less than any play here takes in a tick.
const INSTANT: f64 = 1.0 / (1 << 24) as f64;

// x of the joint at the start of the part, within it, and at its end.
const START: f64 = 1.0;
const WITHIN: f64 = 2.0;
const END: f64 = 3.0;

/// A clip that steps when the part begins, an instant later, and when the part ends. It is a second longer than the
/// part. Its events lie at the start and at the end of the part, and its joint moves the instance.
fn stepping(library: &mut Library, skeleton: SkeletonId, part: [f64; 2]) -> Layer {
    let [start, end] = part;
    let times = [start, start + INSTANT, end, end + 1.0];
    let values = [START, WITHIN, END, 4.0].map(|x| [x, 0.0, 0.0]).concat();
    let track = Track::new(Target::Translation(0), curve(Interpolation::Step, 3, &times, &values));
    let clip = Clip {
        events: [start, end].map(|time| Event { time, ..Event::default() }).to_vec(),
        ..Clip::new(None, skeleton, vec![track])
    };
    let playback = Playback { range: Some(part), ..Playback::new(WrapMode::Loop, NOW, 1.0) };
    Layer::new(library.add_clip(clip).unwrap(), LayerTime::Playing(playback))
}

/// A play that has made a whole number of passes at the tick `NOW`.
struct Case {
    playback: Playback,
    passes: i64,
}

impl Case {
    /// A rate of so many tenths, for so many seconds. A mode that does not repeat stops after these passes.
    fn new(wrap: WrapMode, tenths: i64, seconds: f64, part: [f64; 2]) -> Self {
        let start = Ticks(NOW.0 - (seconds * Ticks::PER_SECOND as f64) as i64);
        let rate = tenths as f64 / 10.0;
        let passes = (rate * seconds / (part[1] - part[0])).abs().round() as i64;
        let repeat_count = if wrap.repeats() { None } else { Some(passes as f64) };
        let playback = Playback { repeat_count, range: Some(part), ..Playback::new(wrap, start, rate) };
        Self { playback, passes }
    }

    fn forwards(&self) -> bool {
        (self.playback.start <= NOW) == (self.playback.rate > 0.0)
    }

    /// x at `NOW`: the last pass is over, and no other has begun.
    fn expected(&self) -> f64 {
        let odd = self.passes % 2 == 1;
        let at_end = match self.playback.wrap {
            WrapMode::Default | WrapMode::Normal | WrapMode::Loop => self.forwards(),
            WrapMode::Reverse | WrapMode::LoopReverse => !self.forwards(),
            WrapMode::PingPong => odd == self.forwards(),
            WrapMode::PingPongReverse => odd != self.forwards(),
        };
        if at_end { END } else { START }
    }
}

/// Asserts x of every case on every engine: at `NOW`, and a tick before and after.
fn check(parts: &[[f64; 2]], cases: &[(usize, Case)]) {
    let (mut library, skeleton) = library(vec![Joint::default()]);
    let layers: Vec<Layer> = parts.iter().map(|&part| stepping(&mut library, skeleton, part)).collect();
    let mut crowd = Crowd::new();
    for (part, case) in cases {
        crowd.push(skeleton, &[Layer { time: LayerTime::Playing(case.playback), ..layers[*part] }]).unwrap();
    }
    each_engine(&library, |engine| {
        for off in [-1, 0, 1] {
            let now = Ticks(NOW.0 + off);
            let poses = engine.evaluate(&crowd, now, Outputs { local: true, ..Outputs::NONE }).unwrap();
            for (pose, (_, case)) in poses.instances.iter().zip(cases) {
                let stays = !case.playback.wrap.repeats() && off > 0;
                let expected = if off == 0 || stays { case.expected() } else { WITHIN };
                let found = pose.local[0].translation.x;
                let what = format!("{} at {off} ticks: {:?}", engine.engine(), case.playback);
                assert!((found - expected).abs() < 1e-5, "{found}, not {expected}: {what}");
            }
        }
    });
}

#[test]
fn a_product_that_is_the_end_but_for_rounding_is_the_end() {
    // 0.8 as an f64 is more than 4 / 5 by 4.4e-17, so that after 12.5 s it has played 5.6e-16 s more than 10 s. 0.7 is
    // less than 7 / 10, and 0.5 is exact.
    let part = [0.0, 10.0];
    let mut cases = Vec::new();
    for wrap in WrapMode::ALL {
        for (tenths, seconds) in [(8, 12.5), (7, 100.0), (5, 20.0), (8, 25.0), (3, 100_000.0)] {
            cases.push((0, Case::new(wrap, tenths, seconds, part)));
            cases.push((0, Case::new(wrap, -tenths, seconds, part)));
            if wrap.repeats() {
                cases.push((0, Case::new(wrap, tenths, -seconds, part)));
                cases.push((0, Case::new(wrap, -tenths, -seconds, part)));
            }
        }
    }
    check(&[part], &cases);
}

#[test]
fn tenths_that_end_a_pass_at_random() {
    let parts = [[0.0, 10.0], [0.0, 1.0], [1.0, 3.5], [0.25, 0.5], [2.0, 5.0]];
    let mut numbers = Numbers::new(8);
    let mut cases = Vec::new();
    for wrap in WrapMode::ALL.into_iter().cycle().take(1400) {
        let part = numbers.below(parts.len());
        let [start, end] = parts[part];
        let tenths = 1 + numbers.ticks_below(40);
        // So many tenths make a whole number of passes in these seconds, which the clock can tell.
        let factor = 1 << tenths.trailing_zeros().min(3);
        let seconds = (1 + numbers.below(200)) as f64 * 10.0 * (end - start) / f64::from(factor);
        let tenths = if numbers.below(2) == 0 { tenths } else { -tenths };
        let seconds = if wrap.repeats() && numbers.below(2) == 0 { -seconds } else { seconds };
        cases.push((part, Case::new(wrap, tenths, seconds, parts[part])));
    }
    check(&parts, &cases);
}

/// Loops forwards and backwards, with rates above and below the decimal number.
fn loops(part: [f64; 2]) -> Vec<Case> {
    let rates = [(8, 12.5), (7, 100.0), (3, 1000.0), (-8, 12.5), (-7, 100.0)];
    rates.into_iter().map(|(tenths, seconds)| Case::new(WrapMode::Loop, tenths, seconds, part)).collect()
}

#[test]
fn events_at_both_ends_are_reached_at_that_tick() {
    let part = [0.0, 10.0];
    let (mut library, skeleton) = library(vec![Joint::default()]);
    let layer = stepping(&mut library, skeleton, part);
    let mut crowd = Crowd::new();
    for case in loops(part) {
        crowd.push(skeleton, &[Layer { time: LayerTime::Playing(case.playback), ..layer }]).unwrap();
    }
    let both = |instance| [0, 1].map(|event| Occurrence { tick: NOW, instance, layer: 0, event });
    let events: Vec<Occurrence> = (0..crowd.len()).flat_map(both).collect();
    each_engine(&library, |engine| {
        for (off, expected) in [(-1, &[][..]), (0, &events), (1, &[])] {
            let step = Step { from: Ticks(NOW.0 + off - 1), to: Ticks(NOW.0 + off) };
            let found = engine.evaluate_events(&crowd, step, 64).unwrap();
            assert_eq!(found.events, expected, "{} at {off} ticks", engine.engine());
        }
    });
}

#[test]
fn root_motion_has_the_whole_of_each_pass() {
    let part = [0.0, 10.0];
    let (mut library, skeleton) = library(vec![Joint::default()]);
    let still = stepping(&mut library, skeleton, part);
    let root_motion = Some(RootMotion { joint: 0, translation: [true, false, false], rotation: RootRotation::None });
    let clip = library.add_clip(Clip { root_motion, ..library.clip(still.clip).clone() }).unwrap();
    let cases = loops(part);
    each_engine(&library, |engine| {
        for case in &cases {
            let Playback { start, rate, .. } = case.playback;
            let mut crowd = Crowd::new();
            crowd.push(skeleton, &[Layer::new(clip, LayerTime::Playing(case.playback))]).unwrap();
            let passes = case.passes as f64 * (END - START) * rate.signum();
            // The last step of a pass, and the first one of the next.
            let (last, first) =
                if rate > 0.0 { (END - WITHIN, WITHIN - START) } else { (START - WITHIN, WITHIN - END) };
            for (off, expected) in [(-1, passes - last), (0, passes), (1, passes + first)] {
                let step = Step { from: start, to: Ticks(NOW.0 + off) };
                let outputs = Outputs { root_motion: true, ..Outputs::NONE };
                let poses = engine.evaluate_step(&crowd, step, outputs).unwrap();
                let moved = poses.instances[0].root_motion.unwrap().translation.x;
                let what = format!("{} at {off} ticks: {:?}", engine.engine(), case.playback);
                assert!((moved - expected).abs() < 1e-4, "{moved}, not {expected}: {what}");
            }
        }
    });
}
