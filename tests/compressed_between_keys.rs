//! The error bound of compressed libraries at random times between keys, where it is harder to hold: errors that cancel
//! each other at the keys do not cancel each other between them.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::compress::{CompressedLibrary, ErrorBound, Length};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::import::gltf;
use posse::rig::Property;
use posse::{ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Reference, Skeleton, Ticks, demo};

use crate::support::build::{clip, curve, degrees, joint};
use crate::support::cases::some_of;
use crate::support::displacement::{displacement, size};
use crate::support::skip::collected_or_skip;

/// Random numbers from 0 to 1, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from -1 to 1.
    fn signed(&mut self) -> f64 {
        2.0 * self.next() - 1.0
    }

    fn direction(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed()).normalize_or(DVec3::X)
    }
}

/// Asserts that joints, their shells, morph weights and properties of all clips are within the bound at random times,
/// and at the keys of both libraries.
#[track_caller]
fn assert_at_random_times(original: &Library, bound: ErrorBound, what: &str) {
    let compressed = CompressedLibrary::new(original, bound).unwrap();
    let Length::Share(share) = bound.error else { panic!("a share is expected") };
    let mut random = Random(7);
    for id in original.clip_ids() {
        let keys = |library: &Library| -> Vec<f64> {
            let tracks = &library.clip(id).tracks;
            let mut times: Vec<f64> = tracks.iter().flat_map(|track| track.curve.timeline().times()).copied().collect();
            times.sort_by(f64::total_cmp);
            times.dedup();
            times.iter().copied().step_by(times.len().div_ceil(500).max(1)).collect()
        };
        let mut times = [keys(original), keys(compressed.library())].concat();
        let first = times.iter().copied().fold(f64::INFINITY, f64::min);
        let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        times.extend((0..some_of(16_000)).map(|_| first + random.next() * (last - first)));
        let size = size(original, id);
        let (allowed, shell) = (bound.error.of(size), bound.shell.of(size));
        for times in times.chunks(500) {
            let found = displacement(original, compressed.library(), id, shell, times);
            assert!(found <= allowed, "{what}, {id:?}: {found} of {allowed}");
            assert_values(original, compressed.library(), id, share, times, what);
        }
    }
}

/// For each number of the morph weights, then of the properties, the largest number of its track; 0 without a track.
fn largest_numbers(library: &Library, id: ClipId) -> [Vec<f64>; 2] {
    let clip = library.clip(id);
    let skeleton = library.skeleton(clip.skeleton);
    let mut largest = [vec![0.0; skeleton.weight_count()], vec![0.0; skeleton.property_width()]];
    for Track { target, component, curve, .. } in &clip.tracks {
        let (kind, range) = match *target {
            Target::Weights(joint) => (0, skeleton.weight_ranges()[joint].clone()),
            Target::Property(property) => (1, skeleton.property_ranges()[property].clone()),
            _ => continue,
        };
        let keys = (0..curve.timeline().len()).flat_map(|key| curve.value(key));
        let number = keys.fold(0.0, |largest: f64, number| largest.max(number.abs()));
        let range = component.map_or(range.clone(), |component| range.start + component..range.start + component + 1);
        largest[kind][range].fill(number);
    }
    largest
}

/// Asserts that morph weights and properties differ by at most a share of the largest number of their track.
#[track_caller]
fn assert_values(original: &Library, compressed: &Library, id: ClipId, share: f64, times: &[f64], what: &str) {
    let largest = largest_numbers(original, id);
    let mut crowd = Crowd::new();
    for &time in times {
        crowd.push(original.clip(id).skeleton, &[Layer::new(id, LayerTime::At(time))]).unwrap();
    }
    let outputs = Outputs { weights: true, properties: true, ..Outputs::NONE };
    let [wanted, found] = [original, compressed]
        .map(|library| Reference::new(library).evaluate(&crowd, Ticks(0), outputs).unwrap().instances);
    for ((wanted, found), time) in wanted.iter().zip(&found).zip(times) {
        let kinds = [(&wanted.weights, &found.weights), (&wanted.properties, &found.properties)];
        for ((wanted, found), largest) in kinds.into_iter().zip(&largest) {
            for ((wanted, found), largest) in wanted.iter().zip(found).zip(largest) {
                let allowed = share * largest;
                assert!((wanted - found).abs() <= allowed, "{what}, {id:?} at {time}: {found}, not {wanted}");
            }
        }
    }
}

/// A chain of joints with animated translations and rotations, and a property.
#[derive(Debug, Clone, Copy)]
struct Chain {
    joints: usize,
    keys: u32,
    /// The most degrees that a joint turns from key to key.
    turn: f64,
    interpolation: Interpolation,
    /// `true` if every third joint has an animated scale.
    has_scales: bool,
    /// `true` if a property has steps, on the timeline of the joints.
    has_steps: bool,
}

/// The largest distance of a key time of a [`Chain`] from its even time, in seconds.
const JITTER: f64 = 2e-6;

impl Chain {
    /// Random numbers about `middle` as the keys of a curve, with random tangents if it is a spline.
    fn keys(&self, random: &mut Random, middle: &[f64], spread: f64) -> Vec<f64> {
        let elements = if self.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let mut keys = Vec::new();
        for element in 0..elements * self.keys {
            let is_value = elements == 1 || element % 3 == 1;
            keys.extend(middle.iter().map(|middle| if is_value { *middle } else { 0.0 } + spread * random.signed()));
        }
        keys
    }

    /// The rotations of a joint as the keys of a curve, with random tangents if it is a spline.
    fn turns(&self, random: &mut Random) -> Vec<f64> {
        let mut rotation = DQuat::IDENTITY;
        let mut keys = Vec::new();
        for _ in 0..self.keys {
            rotation *= degrees(random.direction(), self.turn * random.next());
            let mut tangent = || [(); 4].map(|()| 0.5 * random.signed());
            match self.interpolation {
                Interpolation::CubicSpline => keys.extend([tangent(), rotation.to_array(), tangent()].concat()),
                _ => keys.extend(rotation.to_array()),
            }
        }
        keys
    }

    /// The library with the chain. Its key times are even up to [`JITTER`].
    fn library(&self, random: &mut Random) -> Library {
        let joints = (0..self.joints).map(|index| joint(index.checked_sub(1), [0.3, 0.1, 0.0]));
        let property = |rest: &[f64]| Property { name: "property".into(), rest: rest.to_vec(), rotation: false };
        let properties = vec![property(&[0.0; 2]), property(&[0.0])];
        let mut made = Library::new();
        let skeleton = made.add_skeleton(Skeleton::new(None, joints.collect(), properties).unwrap());
        let times: Vec<f64> = (0..self.keys).map(|key| f64::from(key) / 8.0 + JITTER * random.next()).collect();
        let timeline = Arc::new(Timeline::new(times).unwrap());
        let curve = |interpolation, width, keys| Curve::new(timeline.clone(), interpolation, width, keys).unwrap();
        let mut tracks: Vec<(Target, Curve)> = Vec::new();
        for index in 0..self.joints {
            tracks.push((Target::Rotation(index), curve(self.interpolation, 4, self.turns(random))));
            let places = self.keys(random, &[0.3, 0.1, 0.0], 0.05);
            tracks.push((Target::Translation(index), curve(self.interpolation, 3, places)));
            if self.has_scales && index % 3 == 0 {
                tracks.push((Target::Scale(index), curve(self.interpolation, 3, self.keys(random, &[1.0; 3], 0.1))));
            }
        }
        tracks.push((Target::Property(0), curve(self.interpolation, 2, self.keys(random, &[30.0, 0.5], 0.5))));
        if self.has_steps {
            let steps = (0..self.keys).map(|_| random.signed()).collect();
            tracks.push((Target::Property(1), curve(Interpolation::Step, 1, steps)));
        }
        clip(&mut made, skeleton, tracks);
        made
    }
}

#[test]
fn chains_that_turn_far_from_key_to_key_are_within_the_bound() {
    let mut random = Random(1);
    for (joints, keys, turn) in [(1, 12, 170.0), (3, 20, 90.0), (6, 30, 40.0), (10, 24, 120.0), (12, 40, 10.0)] {
        for interpolation in [Interpolation::Linear, Interpolation::CubicSpline] {
            let has_scales = joints % 2 == 0;
            let chain = Chain { joints, keys, turn, interpolation, has_scales, has_steps: false };
            let made = chain.library(&mut random);
            for share in [1e-4, 1e-3] {
                assert_at_random_times(&made, ErrorBound::new(Length::Share(share)), &format!("{chain:?}, {share}"));
            }
        }
    }
}

#[test]
fn steps_stay_at_their_times() {
    let mut random = Random(2);
    for interpolation in [Interpolation::Linear, Interpolation::CubicSpline] {
        let chain = Chain { joints: 3, keys: 20, turn: 40.0, interpolation, has_scales: false, has_steps: true };
        let made = chain.library(&mut random);
        let share = 1e-3;
        let compressed = CompressedLibrary::new(&made, ErrorBound::new(Length::Share(share))).unwrap();
        let id = made.clip_ids().next().unwrap();
        let keys = made.clip(id).tracks[0].curve.timeline().times().to_vec();
        let times: Vec<f64> = keys.iter().flat_map(|key| [key - 1e-9, *key, key + 1e-9]).collect();
        assert_values(&made, compressed.library(), id, share, &times, &format!("{interpolation:?}"));
    }
}

#[test]
fn nearly_even_times_of_a_slow_chain_become_even() {
    let interpolation = Interpolation::Linear;
    let chain = Chain { joints: 2, keys: 40, turn: 2.0, interpolation, has_scales: true, has_steps: false };
    let made = chain.library(&mut Random(3));
    let bound = ErrorBound::new(Length::Share(1e-2));
    let compressed = CompressedLibrary::new(&made, bound).unwrap();
    let id = made.clip_ids().next().unwrap();
    let times = compressed.library().clip(id).tracks[0].curve.timeline().times();
    let step = (times[times.len() - 1] - times[0]) / 39.0;
    let off = |time: &f64| ((time - times[0]) / step - ((time - times[0]) / step).round()).abs();
    assert!(times.iter().all(|time| off(time) < 1e-9), "{times:?}");
    assert_at_random_times(&made, bound, "a slow chain");
}

/// A property that goes up and down between two numbers. Every second key lies below the straight line between its
/// neighbours by 0.495 of the bound, so that the removal of keys may take it out. Decoded with the step `step`, its
/// neighbours lie above their numbers by nearly half a step. Its time is off by as much as the shift of key times may
/// use up.
fn zigzag(bound: f64, step: f64) -> Library {
    let ends = [1.501 * step, (0.99 / step).floor() * step - 0.499 * step];
    let slope = ends[1] - ends[0];
    let shift = 0.0475 * bound / slope;
    let (mut times, mut values) = (Vec::new(), Vec::new());
    for key in 0..40_usize {
        let rises = key % 2 == 0;
        times.extend([key as f64, key as f64 + 0.5 + if rises { shift } else { -shift }]);
        values.extend([ends[key % 2], 0.5 * (ends[0] + ends[1]) - 0.495 * bound]);
    }
    times.push(40.0);
    values.push(1.0);
    let mut made = Library::new();
    let property = Property { name: "zigzag".into(), rest: vec![0.0], rotation: false };
    let skeleton = made.add_skeleton(Skeleton::new(None, Vec::new(), vec![property]).unwrap());
    clip(&mut made, skeleton, vec![(Target::Property(0), curve(Interpolation::Linear, 1, &times, &values))]);
    made
}

#[test]
fn errors_of_properties_that_add_up_are_within_the_bound() {
    // The steps that remain of the bound if removed keys use up half of it, shifted times 0.05 of it or of what is
    // left.
    for remaining_share in [0.45, 0.475, 0.5] {
        let bound = 1e-3;
        let step = f64::from(f32::from_bits(((1.99 * remaining_share * bound) as f32).to_bits() & 0x7fff_f800));
        assert_at_random_times(&zigzag(bound, step), ErrorBound::new(Length::Share(bound)), "zigzag");
    }
}

#[test]
fn the_clips_of_the_demo_are_within_the_bound_between_keys() {
    assert_at_random_times(&demo::library().unwrap(), ErrorBound::default(), "demo");
}

#[test]
fn real_clips_are_within_the_bound_between_keys() {
    let files = [
        "gltf/AnimatedMorphCube/AnimatedMorphCube.glb",
        "gltf/BoxAnimated/BoxAnimated.glb",
        "gltf/CesiumMan/CesiumMan.glb",
        "gltf/DancingRabbit/scene.gltf",
        "gltf/Fox/Fox.glb",
        "gltf/Ghost/ghost_v2.glb",
        "gltf/InterpolationTest/InterpolationTest.glb",
        "gltf/MorphStressTest/MorphStressTest.glb",
        "gltf/RiggedFigure/RiggedFigure.glb",
        "gltf/RiggedSimple/RiggedSimple.glb",
        "rigs/rig64.glb",
    ];
    for file in files {
        let Some(path) = collected_or_skip(file, "errors between the keys of a collected file") else { continue };
        let mut library = Library::new();
        gltf::load(&mut library, path).unwrap();
        assert_at_random_times(&library, ErrorBound::default(), file);
    }
}
