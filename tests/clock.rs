//! Time does not drift: after thirty days, every engine has the phase of exact arithmetic.

use posse::curves::{Interpolation, Target};
use posse::{Crowd, Layer, LayerTime, Outputs, Playback, Ticks, WrapMode};

use crate::support::assert_close::assert_vector;
use crate::support::build::{clip, curve, joint, library, one_track, pose_at};
use crate::support::each_engine::each_engine;
use crate::support::scenes::Numbers;

const DAY: i64 = 86_400 * Ticks::PER_SECOND;

/// A finite, positive number as `mantissa * 2^exponent`, with a mantissa of 53 bits.
fn parts(number: f64) -> (i128, i32) {
    let bits = number.to_bits();
    let exponent = (bits >> 52) as i32;
    assert!((1..2047).contains(&exponent), "{number} is not a normal positive number");
    (i128::from(bits & ((1 << 52) - 1) | 1 << 52), exponent - 1075)
}

/// `ticks * 2^-20 * rate`, wrapped into `[0, duration)`, in integer arithmetic. It is exact until the result becomes an
/// `f64`.
fn exact_phase(ticks: i64, rate: f64, duration: f64) -> f64 {
    if ticks == 0 || rate == 0.0 {
        return 0.0;
    }
    let (rate_mantissa, rate_exponent) = parts(rate.abs());
    let (modulus, unit) = parts(duration);
    let played = i128::from(ticks) * rate_mantissa * rate.signum() as i128;
    let shift = rate_exponent - 20 - unit;
    if shift >= 0 {
        // In units of the last bit of the duration: 2^shift times the units, doubled step by step and wrapped each
        // time.
        let doubled = (0..shift).fold(played.rem_euclid(modulus), |phase, _| 2 * phase % modulus);
        return doubled as f64 * 2.0_f64.powi(unit);
    }
    // In units of the played time, of which the duration has 2^-shift times as many. Beyond 2^127 it is never reached.
    let modulus = if shift > -70 { modulus << -shift } else { i128::MAX };
    if modulus == i128::MAX && played < 0 {
        return duration + played as f64 * 2.0_f64.powi(unit + shift);
    }
    played.rem_euclid(modulus) as f64 * 2.0_f64.powi(unit + shift)
}

#[test]
fn exact_arithmetic_agrees_with_hand_worked_cases() {
    let second = Ticks::PER_SECOND;
    assert_eq!(exact_phase(5 * second / 2, 1.0, 2.0), 0.5);
    assert_eq!(exact_phase(second / 2, -1.0, 2.0), 1.5);
    assert_eq!(exact_phase(7 * second, 1e6, 3.0), 1.0, "7,000,000 s modulo 3 s");
    assert_eq!(exact_phase(second, 1e-30, 2.0), 1e-30);
    assert_eq!(exact_phase(-second, 1e-30, 2.0), 2.0);
    assert_eq!(exact_phase(3, 0.0, 2.0), 0.0);
    assert_eq!(exact_phase(30 * DAY, 1.0, 0.75), 0.0);
    // 0.1 as an f64 is a tenth plus 0.1 * 2^-54, so ten of them are 1 + 2^-54.
    assert_eq!(exact_phase(10 * second, 0.1, 1.0), 2.0_f64.powi(-54));
}

#[test]
fn after_thirty_days_the_phase_is_exact_to_ten_microseconds() {
    let mut numbers = Numbers::new(30);
    let (mut library, skeleton) = library(vec![joint(None, [0.0; 3])]);
    let mut crowd = Crowd::new();
    let mut truth = Vec::new();
    let now = Ticks(30 * DAY + 12_345);
    for _ in 0..40 {
        // From a millisecond to half a minute.
        let duration = 10.0_f64.powf(numbers.within(-3.0, 1.5));
        let line = curve(Interpolation::Linear, 3, &[0.0, duration], &[0.0, 0.0, 0.0, duration, 0.0, 0.0]);
        let clip = clip(&mut library, skeleton, vec![(Target::Translation(0), line)]);
        for _ in 0..50 {
            let rate = match numbers.below(6) {
                0 => 1.0,
                1 => 0.0,
                2 => 10.0_f64.powf(numbers.within(-12.0, -3.0)),
                3 => numbers.within(-1e4, 1e4),
                4 => [1e4, -1e4][numbers.below(2)],
                _ => numbers.within(-3.0, 3.0),
            };
            let start = match numbers.below(3) {
                0 => Ticks(0),
                1 => Ticks(numbers.ticks_below(60 * DAY) - 30 * DAY),
                _ => Ticks(now.0 - numbers.ticks_below(1000)),
            };
            crowd
                .push(skeleton, &[Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start, rate)))])
                .unwrap();
            truth.push((exact_phase(now.0 - start.0, rate, duration), duration));
        }
    }
    each_engine(&library, |engine| {
        let poses = engine.evaluate(&crowd, now, Outputs { local: true, ..Outputs::NONE }).unwrap();
        for (instance, (pose, &(exact, duration))) in poses.instances.iter().zip(&truth).enumerate() {
            let phase = pose.local[0].translation.x;
            let apart = (phase - exact).abs();
            // The end of one pass is the start of the next.
            let error = apart.min((duration - apart).abs());
            let layer = crowd.layers(instance)[0];
            assert!(error < 1e-5, "{}: {phase} s, exactly {exact} s of {duration} s; {layer:?}", engine.engine());
        }
    });
}

#[test]
fn a_clock_that_stands_goes_back_or_jumps_by_years_gives_the_pose_of_its_time() {
    let (mut library, skeleton) = library(vec![joint(None, [0.0; 3])]);
    let mut crowd = Crowd::new();
    let mut plays = Vec::new();
    for duration in [1.5, 0.375, 20.0] {
        let line = curve(Interpolation::Linear, 3, &[0.0, duration], &[0.0, 0.0, 0.0, duration, 0.0, 0.0]);
        let clip = clip(&mut library, skeleton, vec![(Target::Translation(0), line)]);
        for rate in [1.0, -1.0, 2.5, 0.0] {
            crowd.push(skeleton, &[Layer::new(clip, LayerTime::Playing(Playback::looping(0.0, rate)))]).unwrap();
            plays.push((rate, duration));
        }
    }
    const YEAR: i64 = 365 * DAY;
    let moments =
        [5 * DAY, 5 * DAY, 5 * DAY - 1, 0, -1, 10 * YEAR + 7, 3, -250 * YEAR - 1, 250 * YEAR, -3 * DAY, 12_345];
    each_engine(&library, |engine| {
        for now in moments {
            let poses = engine.evaluate(&crowd, Ticks(now), Outputs { local: true, ..Outputs::NONE }).unwrap();
            for (pose, &(rate, duration)) in poses.instances.iter().zip(&plays) {
                let (phase, exact) = (pose.local[0].translation.x, exact_phase(now, rate, duration));
                let apart = (phase - exact).abs();
                let error = apart.min((duration - apart).abs());
                assert!(error < 1e-5, "{}, tick {now}, rate {rate}: {phase} s, exactly {exact} s", engine.engine());
            }
        }
        // The ends of the range of ticks.
        for now in [i64::MAX, i64::MIN, i64::MAX, 0, i64::MIN] {
            let poses = engine.evaluate(&crowd, Ticks(now), Outputs { local: true, ..Outputs::NONE }).unwrap();
            for (pose, &(rate, duration)) in poses.instances.iter().zip(&plays) {
                let phase = pose.local[0].translation.x;
                assert!((0.0..=duration).contains(&phase), "{}, tick {now}, rate {rate}: {phase} s", engine.engine());
            }
        }
    });
}

#[test]
fn keys_far_from_zero_are_found() {
    // The keys are 1 ms apart, a day from zero, where the steps of an f32 are 8 ms.
    let times: Vec<f64> = (0..100).map(|key| 86_400.0 + f64::from(key) / 1000.0).collect();
    let values: Vec<f64> = (0..300).map(f64::from).collect();
    let (library, clip) = one_track(Target::Translation(0), curve(Interpolation::Step, 3, &times, &values));
    each_engine(&library, |engine| {
        for (&time, value) in times.iter().zip(values.chunks(3)) {
            let what = format!("{} at {time}", engine.engine());
            let found = pose_at(engine, &library, clip, time).local[0].translation;
            assert_vector(found, [value[0], value[1], value[2]], &what);
        }
    });
}
