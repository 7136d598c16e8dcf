//! Custom interpolators: the same results in Rust and in WGSL, and errors that name the interpolator.

use std::sync::Arc;

use posse::contract::compare;
use posse::curves::{Curve, Interpolation, Interpolator, Target, Timeline, Track};
use posse::gpu::GpuEngine;
use posse::rig::Property;
use posse::{Clip, Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Reference, Skeleton, Ticks};

use crate::support::assert_close::assert_close;
use crate::support::each_engine::each_engine;
use crate::support::gpu_library::gpu;
use crate::support::gpu_library::gpu_engine;

#[path = "../examples/custom_interpolation.rs"]
#[expect(dead_code, reason = "its main prints what is asked for here")]
mod example;

#[test]
fn an_interpolator_can_turn_smoothly_and_move_in_steps() {
    let (library, clip) = example::library().unwrap();
    let half = |degrees: f64| (0.5 * degrees).to_radians();
    let place = |position: [f64; 3], degrees: f64| {
        let rotation = [0.0, half(degrees).sin(), 0.0, half(degrees).cos()];
        [&position[..], &rotation].concat()
    };
    let (first, second, third) = ([0.0; 3], [3.0, 0.0, 0.0], [0.0, 6.0, 0.0]);
    let cases = [
        (-1.0, place(first, 0.0)),
        (0.0, place(first, 0.0)),
        (0.25, place(first, 30.0)),
        (0.999, place(first, 119.88)),
        (1.0, place(second, 120.0)),
        (1.5, place(second, 180.0)),
        (2.0, place(third, 240.0)),
        (9.0, place(third, 240.0)),
    ];
    let times = cases.clone().map(|(time, _)| time);
    each_engine(&library, |engine| {
        let found = example::sample(engine, &library, clip, &times).unwrap();
        for (found, (time, wanted)) in found.iter().zip(&cases) {
            assert_close(found, wanted, &format!("{} at {time}", engine.engine()));
        }
    });
}

/// An interpolator that doubles its result, with the WGSL of the test.
#[derive(Debug)]
struct Twice(&'static str, &'static str);

impl Interpolator for Twice {
    fn name(&self) -> &str {
        self.0
    }

    fn width(&self) -> usize {
        1
    }

    fn lerp(&self, from: &[f64], to: &[f64], t: f64, _seconds: f64, result: &mut [f64]) {
        result[0] = 2.0 * (from[0] + (to[0] - from[0]) * t);
    }

    fn no_lerp(&self, value: &[f64], result: &mut [f64]) {
        result[0] = 2.0 * value[0];
    }

    fn wgsl(&self) -> &str {
        self.1
    }
}

const RIGHT: &str = "fn twice_lerp(a: array<f32, 1>, b: array<f32, 1>, t: f32, seconds: f32) -> array<f32, 1> {
    return array<f32, 1>(2.0 * (a[0] + (b[0] - a[0]) * t));
}
fn twice_no_lerp(value: array<f32, 1>) -> array<f32, 1> {
    return array<f32, 1>(2.0 * value[0]);
}";

/// A library with a clip of one curve, from 1 to 3 in one second.
fn twice(wgsl: &'static str) -> (Library, Crowd) {
    let mut library = Library::new();
    let id = library.add_interpolator(Arc::new(Twice("twice", wgsl))).unwrap();
    let property = Property { name: "doubled".into(), rest: vec![0.0], rotation: false };
    let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), vec![property]).unwrap());
    let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
    let curve = Curve::new(timeline, Interpolation::Custom(id), 1, vec![1.0, 3.0]).unwrap();
    let tracks = vec![Track::new(Target::Property(0), curve)];
    let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    let mut crowd = Crowd::new();
    for step in 0..=8 {
        let time = LayerTime::At(f64::from(step) / 8.0);
        crowd.push(skeleton, &[Layer::new(clip, time)]).unwrap();
    }
    (library, crowd)
}

/// Returns whether the GPU agrees with the reference.
fn agrees(wgsl: &'static str) -> bool {
    let (library, crowd) = twice(wgsl);
    let expected = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
    assert_eq!(expected.instances[2].properties, [3.0]);
    let found = gpu_engine(&library).unwrap().evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
    compare(&library, &crowd, Ticks(0), &expected, &found).is_within()
}

#[test]
fn two_languages_that_disagree_are_detected() {
    assert!(agrees(RIGHT));
    assert!(!agrees(
        "fn twice_lerp(a: array<f32, 1>, b: array<f32, 1>, t: f32, seconds: f32) -> array<f32, 1> {
            return array<f32, 1>(2.0 * (a[0] + (b[0] - a[0]) * t * t));
        }
        fn twice_no_lerp(value: array<f32, 1>) -> array<f32, 1> { return array<f32, 1>(2.0 * value[0]); }"
    ));
    assert!(!agrees(
        "fn twice_lerp(a: array<f32, 1>, b: array<f32, 1>, t: f32, seconds: f32) -> array<f32, 1> {
            return array<f32, 1>(2.0 * (a[0] + (b[0] - a[0]) * t));
        }
        fn twice_no_lerp(value: array<f32, 1>) -> array<f32, 1> { return value; }"
    ));
}

#[test]
fn a_shader_error_names_the_interpolator_and_its_line() {
    let error = |wgsl: &'static str| match GpuEngine::new(gpu(), &twice(wgsl).0) {
        Err(error @ Error::Shader { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it compiles: {wgsl}"),
    };
    let nothing = "// What is wrong is below.
fn twice_lerp(a: array<f32, 1>, b: array<f32, 1>, t: f32, seconds: f32) -> array<f32, 1> {
    return a;
}
fn twice_no_lerp(value: array<f32, 1>) -> array<f32, 1> {
    return array<f32, 1>(2.0 * nothing);
}";
    // The reason is in the words of the compiler, which is another one in a browser.
    let message = error(nothing);
    assert!(message.starts_with("interpolator twice:6: ") && message.contains("nothing"), "{message}");
    // A function that is missing, or has another signature, has no line in the text.
    let lerp = "fn twice_lerp(a: array<f32, 1>, b: array<f32, 1>, t: f32, seconds: f32) -> array<f32, 1> { return a; }";
    assert_eq!(
        error(lerp),
        "interpolator twice: function twice_no_lerp is missing; define it in the WGSL of the interpolator"
    );
    let other = error(
        "fn twice_lerp(a: f32) -> f32 { return a; }\nfn twice_no_lerp(a: array<f32, 1>) -> array<f32, 1> { return a; }",
    );
    let advice = "; it is called as twice_lerp(a: array<f32, 1>, b: array<f32, 1>, t: f32, seconds: f32) -> array<f32, 1> and \
                  as twice_no_lerp(value: array<f32, 1>) -> array<f32, 1>";
    assert!(other.starts_with("interpolator twice: ") && other.ends_with(advice), "{other}");
    for wgsl in ["", "fn twice_lerp("] {
        let error = error(wgsl);
        assert!(
            error.starts_with("interpolator twice: ") && !error.contains("wgsl") && !error.contains('\n'),
            "{error}"
        );
    }
}

#[test]
fn invalid_names_and_widths_are_refused() {
    #[derive(Debug)]
    struct Wide(usize);
    impl Interpolator for Wide {
        fn name(&self) -> &str {
            "wide"
        }
        fn width(&self) -> usize {
            self.0
        }
        fn lerp(&self, _: &[f64], _: &[f64], _: f64, _: f64, _: &mut [f64]) {}
        fn wgsl(&self) -> &str {
            ""
        }
    }
    let mut library = Library::new();
    library.add_interpolator(Arc::new(Twice("twice", RIGHT))).unwrap();
    for name in ["twice", "", "2nd", "a b", "a;b", "_a", "grün"] {
        assert!(library.add_interpolator(Arc::new(Twice(name, RIGHT))).is_err(), "{name:?}");
    }
    assert!(
        library.add_interpolator(Arc::new(Wide(0))).is_err() && library.add_interpolator(Arc::new(Wide(65))).is_err()
    );
    assert!(library.add_interpolator(Arc::new(Wide(64))).is_ok());
    assert_eq!(library.interpolators().len(), 2);
}

#[test]
fn an_interpolator_drives_only_properties_of_its_width() {
    let (library, _) = twice(RIGHT);
    let id = library.find_interpolator("twice").unwrap();
    let (skeleton, timeline) = (library.clips()[0].skeleton, Arc::new(Timeline::new(vec![0.0]).unwrap()));
    let error = |target: Target, id, width: usize| {
        let mut library = library.clone();
        let joints = vec![posse::Joint::default()];
        let wide = Property { name: "wide".into(), rest: vec![0.0; 3], rotation: false };
        let other = library.add_skeleton(Skeleton::new(None, joints, vec![wide]).unwrap());
        let curve = Curve::new(timeline.clone(), Interpolation::Custom(id), width, vec![0.0; width]).unwrap();
        library.add_clip(Clip::new(None, other, vec![Track::new(target, curve)])).map_err(|error| error.to_string())
    };
    assert!(error(Target::Property(0), id, 1).unwrap_err().contains("makes 1 numbers of 1"));
    assert!(error(Target::Translation(0), id, 3).unwrap_err().contains("whole properties"));
    assert!(library.skeleton(skeleton).properties().len() == 1);
    let mut stranger = Library::new();
    for _ in 0..1 {
        stranger.add_interpolator(Arc::new(Twice("other", RIGHT))).unwrap();
    }
    let far = stranger.add_interpolator(Arc::new(Twice("another", RIGHT))).unwrap();
    assert!(error(Target::Property(0), far, 1).unwrap_err().contains("there is no interpolator 1"));
}
