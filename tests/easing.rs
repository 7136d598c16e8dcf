//! Easings, compared with hand-worked cases and with figures that Cocos Creator printed.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::curves::{Curve, CurveEasing, Easing, Interpolation, Target, Timeline};
use posse::low_level::reference::ease;
use posse::{ClipId, Crowd, Error, Layer, LayerTime, Library, Outputs, Ticks};
use serde_json::Value;

use crate::support::assert_close::{assert_close, assert_rotation};
use crate::support::build::{clip, curve, degrees, joint, library, one_track, pose_at};
use crate::support::each_engine::each_engine;
use crate::support::skip::collected_or_skip;

/// Each easing over one second, at each quarter: the expected values follow from the formulas, by hand.
#[test]
fn easings_are_as_worked_by_hand() {
    let root = 0.75_f64.sqrt();
    let half_root = 0.5_f64.sqrt();
    let cases = [
        (Easing::Linear, [0.25, 0.5, 0.75]),
        (Easing::Constant, [0.0; 3]),
        (Easing::QuadIn, [1.0 / 16.0, 0.25, 9.0 / 16.0]),
        (Easing::QuadOut, [7.0 / 16.0, 0.75, 15.0 / 16.0]),
        (Easing::CubicInOut, [1.0 / 16.0, 0.5, 15.0 / 16.0]),
        (Easing::QuartOutIn, [15.0 / 32.0, 0.5, 17.0 / 32.0]),
        (Easing::QuintIn, [1.0 / 1024.0, 1.0 / 32.0, 243.0 / 1024.0]),
        (Easing::SineInOut, [0.5 - half_root / 2.0, 0.5, 0.5 + half_root / 2.0]),
        (Easing::ExpoInOut, [1.0 / 64.0, 0.5, 63.0 / 64.0]),
        // At the middle it has neither of the values of the ends: 0 and 1 are special cases of the two halves.
        (Easing::ExpoOutIn, [31.0 / 64.0, 0.5, 33.0 / 64.0]),
        (Easing::CircInOut, [0.5 - root / 2.0, 0.5, 0.5 + root / 2.0]),
        // 2^(-10 (1 - k)) cos(5 pi (1 - k)); the cosine is the square root of a half, 0, and the negative of that root.
        (Easing::ElasticIn, [1.0 / 256.0, 0.0, -1.0 / 8.0]),
        (Easing::BackIn, [(2.70158 / 4.0 - 1.70158) / 16.0, (1.35079 - 1.70158) / 4.0, (2.026185 - 1.70158) * 0.5625]),
        (Easing::BounceOut, [7.5625 / 16.0, 0.765625, 0.97265625]),
        (Easing::Smooth, [0.15625, 0.5, 0.84375]),
        (Easing::Fade, [0.103515625, 0.5, 0.896484375]),
        // Its x is the parameter, and its y is the cube of the parameter.
        (Easing::Bezier([1.0 / 3.0, 0.0, 2.0 / 3.0, 0.0]), [1.0 / 64.0, 1.0 / 8.0, 27.0 / 64.0]),
    ];
    let easings = cases.map(|(easing, _)| easing);
    each_ramp(&easings, &[0.25, 0.5, 0.75], |engine, case, at, found| {
        let (easing, expected) = cases[case];
        assert_close(&[found], &[expected[at]], &format!("{engine}, {easing:?}, quarter {}", at + 1));
    });
}

#[test]
fn each_interval_has_its_own_easing_and_the_others_have_none() {
    let easings = [Easing::QuadIn, Easing::Linear, Easing::Bezier([0.3, 0.3, 0.8, 0.8]), Easing::Constant];
    let values = [0.0, 1.0, 3.0, 2.0, 4.0, 6.0];
    let times = [0.0, 1.0, 2.0, 4.0, 5.0, 6.0];
    let values: Vec<f64> = values.iter().flat_map(|&x| [x, 0.0, -x]).collect();
    let eased = curve(Interpolation::Linear, 3, &times, &values);
    let eased = eased.with_easing(CurveEasing::PerKey(easings.into())).unwrap();
    let (library, clip) = one_track(Target::Translation(0), eased);
    let expected = [
        (-1.0, 0.0),
        (0.5, 0.25),
        (1.0, 1.0),
        (1.5, 2.0),
        (3.0, 2.5),
        (4.75, 2.0),
        // A key that is hit does not use its own easing, or the easing of the key before.
        (5.0, 4.0),
        (5.5, 5.0),
        (7.0, 6.0),
    ];
    each_engine(&library, |engine| {
        for (time, x) in expected {
            let what = format!("{} at {time}", engine.engine());
            let found = pose_at(engine, &library, clip, time).local[0].translation;
            assert_close(&found.to_array(), &[x, 0.0, -x], &what);
        }
    });
}

#[test]
fn rotations_overshoot_along_their_arc() {
    let axis = DVec3::new(0.6, 0.0, 0.8);
    let turn = [DQuat::IDENTITY.to_array(), degrees(axis, 90.0).to_array()].concat();
    // At the middle, y is 3 (y1 + y2) / 8 + 1 / 8.
    for (y, fraction) in [(1.0, 0.875), (2.0, 1.625), (-1.0, -0.625), (10.0, 7.625), (-20.0, -14.875)] {
        let easing = CurveEasing::One(Easing::Bezier([0.25, y, 0.75, y]));
        let eased = curve(Interpolation::Linear, 4, &[0.0, 1.0], &turn).with_easing(easing).unwrap();
        let (library, clip) = one_track(Target::Rotation(0), eased);
        each_engine(&library, |engine| {
            let what = format!("{}, {fraction} of the arc", engine.engine());
            let found = pose_at(engine, &library, clip, 0.5).local[0].rotation;
            assert_rotation(found, degrees(axis, 90.0 * fraction), &what);
        });
    }
}

#[test]
fn splines_are_eased_and_steps_are_not() {
    let (mut library, skeleton) = library(vec![joint(None, [0.0; 3])]);
    let eased = |curve: Curve| curve.with_easing(CurveEasing::One(Easing::QuadIn)).unwrap();
    // From 0 with a velocity of 4 to 1 with a velocity of 0: (t^3 - 2 t^2 + t) 4 + 3 t^2 - 2 t^3, at t = 1 / 4.
    let spline = [[0.0; 3], [0.0; 3], [4.0, 0.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0], [0.0; 3]].concat();
    let step = [[1.0; 3], [2.0; 3]].concat();
    let tracks = vec![
        (Target::Translation(0), eased(curve(Interpolation::CubicSpline, 3, &[0.0, 1.0], &spline))),
        (Target::Scale(0), eased(curve(Interpolation::Step, 3, &[0.0, 1.0], &step))),
    ];
    let clip = clip(&mut library, skeleton, tracks);
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, clip, 0.5);
        assert_close(&[pose.local[0].translation.x], &[0.5625 + 0.15625], engine.engine());
        assert_close(&pose.local[0].scale.to_array(), &[1.0; 3], engine.engine());
    });
}

#[test]
fn each_curve_of_a_timeline_has_its_own_easing() {
    let (mut library, skeleton) = library(vec![joint(None, [0.0; 3]); 60]);
    let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
    let easing = |joint: usize| Easing::from_id(joint as u32 % 44).unwrap();
    let ramp = |joint: usize| {
        let values = vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        let curve = Curve::new(timeline.clone(), Interpolation::Linear, 3, values).unwrap();
        (Target::Translation(joint), curve.with_easing(CurveEasing::One(easing(joint))).unwrap())
    };
    let clip = clip(&mut library, skeleton, (0..60).map(ramp).collect());
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, clip, 0.3);
        for (joint, local) in pose.local.iter().enumerate() {
            let what = format!("{}, {:?}", engine.engine(), easing(joint));
            assert_close(&local.translation.to_array(), &[ease(easing(joint), 0.3); 3], &what);
        }
    });
}

#[test]
fn broken_bezier_points_are_refused() {
    let ramp = || curve(Interpolation::Linear, 1, &[0.0, 1.0], &[0.0, 1.0]);
    for number in [f64::NAN, f64::INFINITY, -1e300] {
        let easing = CurveEasing::PerKey([Easing::Linear, Easing::Bezier([0.0, 0.0, number, 1.0])].into());
        let refused = ramp().with_easing(easing);
        assert!(matches!(refused, Err(Error::Curve { value: 1, .. })), "{number}: {refused:?}");
    }
}

#[test]
fn extreme_bezier_points_do_no_harm() {
    let numbers = [0.0, 1.0, -1e6, 1e6, 1e-300, 1.0 / 3.0, 0.999_999_99];
    let mut easings = Vec::new();
    for x1 in numbers {
        easings.extend(numbers.map(|x2| Easing::Bezier([x1, -1e6, x2, 1e6])));
    }
    let ratios = [1e-300, 1e-9, 0.25, 0.5, 1.0 - 1e-12];
    each_ramp(&easings, &ratios, |engine, easing, at, found| {
        assert!(found.is_finite(), "{engine}: {:?} at {}: {found}", easings[easing], ratios[at]);
    });
}

/// The contents of a file of figures. If the file is not there, it prints a note and returns `None`.
fn figures(name: &str) -> Option<Value> {
    let file = collected_or_skip(&format!("cocos/{name}"), "the collected figures of easings")?;
    Some(serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// A joint that moves in x from 0 to 1 within a second, with one clip per easing.
fn ramps(easings: &[Easing]) -> (Library, Vec<ClipId>) {
    let (mut library, skeleton) = library(vec![joint(None, [0.0; 3])]);
    let ramp = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let eased = |easing: &Easing| ramp.clone().with_easing(CurveEasing::One(*easing)).unwrap();
    let curves: Vec<Curve> = easings.iter().map(eased).collect();
    let clips = curves.into_iter().map(|ramp| clip(&mut library, skeleton, vec![(Target::Translation(0), ramp)]));
    let clips = clips.collect();
    (library, clips)
}

/// Evaluates each easing at each ratio, all in one crowd, on every engine. `check` gets the name of the engine, the
/// index of the easing, the index of the ratio, and the value.
fn each_ramp(easings: &[Easing], ratios: &[f64], mut check: impl FnMut(&str, usize, usize, f64)) {
    let (library, clips) = ramps(easings);
    let mut crowd = Crowd::new();
    for &clip in &clips {
        for &ratio in ratios {
            crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(ratio))]).unwrap();
        }
    }
    each_engine(&library, |engine| {
        let poses = engine.evaluate(&crowd, Ticks(0), Outputs { local: true, ..Outputs::NONE }).unwrap();
        for (index, pose) in poses.instances.iter().enumerate() {
            check(engine.engine(), index / ratios.len(), index % ratios.len(), pose.local[0].translation.x);
        }
    });
}

/// The largest error of each engine. Each noted error must be allowed.
#[derive(Default)]
struct Worst(BTreeMap<String, f64>);

impl Worst {
    #[track_caller]
    fn note(&mut self, engine: &str, error: f64, allowed: f64, what: impl FnOnce() -> String) {
        let worst = self.0.entry(engine.to_string()).or_default();
        *worst = worst.max(error);
        assert!(error <= allowed, "{engine}: {} is off by {error:e}", what());
    }
}

#[test]
fn every_named_easing_is_as_collected() {
    let Some(figures) = figures("easing.json") else { return };
    let ratios = numbers(&figures["ratios"]);
    let methods = figures["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 44);
    let easings: Vec<Easing> =
        methods.iter().map(|method| Easing::from_name(method["name"].as_str().unwrap()).unwrap()).collect();
    let expected: Vec<Vec<f64>> = methods.iter().map(|method| numbers(&method["values"])).collect();
    for ((method, &easing), expected) in methods.iter().zip(&easings).zip(&expected) {
        assert_eq!(easing.id().map(u64::from), method["id"].as_u64(), "{easing:?}");
        for (&ratio, &expected) in ratios.iter().zip(expected) {
            let error = (ease(easing, ratio) - expected).abs();
            assert!(error <= 1e-12, "{easing:?} at {ratio} is off by {error:e}");
        }
    }
    let mut worst = Worst::default();
    each_ramp(&easings, &ratios, |engine, method, at, found| {
        // A key that is hit has its value, with any easing.
        let expected = if ratios[at] == 1.0 { 1.0 } else { expected[method][at] };
        let what = || format!("{:?} at {}", easings[method], ratios[at]);
        worst.note(engine, (found - expected).abs(), 2e-6 * expected.abs().max(1.0), what);
    });
    eprintln!("worst errors of named easings: {:?}", worst.0);
}

#[test]
fn every_bezier_easing_is_as_solved_exactly() {
    let Some(figures) = figures("bezier.json") else { return };
    let ratios = numbers(&figures["ratios"]);
    let curves = figures["curves"].as_array().unwrap();
    let easings: Vec<Easing> =
        curves.iter().map(|curve| Easing::Bezier(numbers(&curve["points"]).try_into().unwrap())).collect();
    let read_lists = |name: &str| -> Vec<Vec<f64>> { curves.iter().map(|curve| numbers(&curve[name])).collect() };
    let (exact, low, high) = (read_lists("exact"), read_lists("lo"), read_lists("hi"));
    let shortcut = |curve: usize| curves[curve]["identity_shortcut"] == true;
    let mut worst = Worst::default();
    for (curve, &easing) in easings.iter().enumerate() {
        assert_eq!(easing.is_linear(), shortcut(curve), "{easing:?}");
        for (at, &ratio) in ratios.iter().enumerate() {
            let expected = if shortcut(curve) { ratio } else { exact[curve][at] };
            let what = || format!("{easing:?} at {ratio}");
            worst.note("the f64 function", (ease(easing, ratio) - expected).abs(), 1e-12, what);
        }
    }
    each_ramp(&easings, &ratios, |engine, curve, at, found| {
        let ratio = ratios[at];
        if ratio == 0.0 || ratio == 1.0 {
            return assert_eq!(found, ratio, "a key is hit");
        }
        let what = || format!("{:?} at {ratio}: {found}", easings[curve]);
        let (low, high) = if shortcut(curve) { (ratio, ratio) } else { (low[curve][at], high[curve][at]) };
        worst.note(engine, (low - found).max(found - high).max(0.0), 2e-6, what);
    });
    eprintln!("worst errors of Bezier easings: {:?}", worst.0);
}
