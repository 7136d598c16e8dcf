//! Random scenes: skeletons of any shape, any mix of modes, hard key times, hard quaternions, hard times to ask for.

use std::sync::Arc;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::{
    AdditiveReference, Clip, ClipId, Crowd, Curve, CurveEasing, Easing, Extrapolation, Fade, FadeShape, Interpolation,
    Interpolator, InterpolatorId, Joint, Layer, LayerMode, LayerTime, Library, Mask, Playback, Property, RootMotion,
    RootRotation, Skeleton, SkeletonId, Skin, Step, Target, Ticks, Timeline, Track, Transform, WrapMode,
};
use proptest::prelude::*;

/// A stream of numbers from a seed, so that a scene is small to shrink and its values need no strategy.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// A weight: often 1, sometimes 0, small, or more than 1.
    fn weight(&mut self) -> f64 {
        match self.below(6) {
            0 => 0.0,
            1 => self.within(0.0, 0.1),
            2 | 3 => self.within(0.0, 1.5),
            _ => 1.0,
        }
    }

    fn vector(&mut self, low: f64, high: f64) -> DVec3 {
        DVec3::new(self.within(low, high), self.within(low, high), self.within(low, high))
    }

    fn rotation(&mut self) -> DQuat {
        loop {
            let q = DQuat::from_xyzw(
                self.within(-1.0, 1.0),
                self.within(-1.0, 1.0),
                self.within(-1.0, 1.0),
                self.within(-1.0, 1.0),
            );
            if (0.1..1.0).contains(&q.length()) {
                return q.normalize();
            }
        }
    }
}

/// The shape of a skeleton.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    Chain,
    Star,
    Tree,
    Forest,
}

/// How key times lie.
#[derive(Debug, Clone, Copy)]
pub enum Spacing {
    Even,
    Uneven,
    /// Most keys a float apart, in a few places.
    Clustered,
}

/// How a track is eased.
#[derive(Debug, Clone, Copy)]
pub enum Eased {
    Not,
    /// By one easing.
    Alike,
    /// By another from key to key.
    ByKey,
}

/// An interpolation of our own, wider than a vector, whose result is narrower and depends on everything there is.
#[derive(Debug)]
struct Bent;

impl Interpolator for Bent {
    fn name(&self) -> &str {
        "bent"
    }

    fn width(&self) -> usize {
        6
    }

    fn result_width(&self) -> usize {
        5
    }

    fn lerp(&self, from: &[f64], to: &[f64], t: f64, seconds: f64, result: &mut [f64]) {
        for (number, result) in result.iter_mut().enumerate() {
            *result = from[number] + (to[number + 1] - from[number]) * t * t + t * seconds;
        }
    }

    fn wgsl(&self) -> &str {
        "fn bent_lerp(a: array<f32, 6>, b: array<f32, 6>, t: f32, seconds: f32) -> array<f32, 5> {
            var start = a;
            var end = b;
            var result: array<f32, 5>;
            for (var i = 0u; i < 5u; i += 1u) {
                result[i] = start[i] + (end[i + 1u] - start[i]) * t * t + t * seconds;
            }
            return result;
        }
        fn bent_no_lerp(value: array<f32, 6>) -> array<f32, 5> {
            return array<f32, 5>(value[0], value[1], value[2], value[3], value[4]);
        }"
    }
}

/// The property that `Bent` drives, and the one of quaternions that stay as they are.
const BENT: usize = 3;
const AS_IS: usize = 4;

/// A track of a clip.
#[derive(Debug, Clone, Copy)]
pub struct TrackSpec {
    part: usize,
    interpolation: Interpolation,
    keys: usize,
    spacing: Spacing,
    shared: bool,
    eased: Eased,
}

/// A scene before it is made, small enough to print.
#[derive(Debug, Clone)]
pub struct SceneSpec {
    seed: u64,
    joints: usize,
    shape: Shape,
    skins: usize,
    tracks: Vec<TrackSpec>,
    instances: usize,
}

/// A library of one skeleton, and a crowd of it.
pub struct Scene {
    pub library: Library,
    pub crowd: Crowd,
    /// A step of up to some minutes, forwards or back.
    pub step: Step,
}

/// Scenes of up to so many joints and keys a track.
pub fn scenes(most_joints: usize, most_keys: usize) -> impl Strategy<Value = SceneSpec> {
    let shape = prop_oneof![Just(Shape::Chain), Just(Shape::Star), Just(Shape::Tree), Just(Shape::Forest)];
    let interpolation =
        prop_oneof![Just(Interpolation::Step), Just(Interpolation::Linear), Just(Interpolation::CubicSpline)];
    let spacing = prop_oneof![Just(Spacing::Even), Just(Spacing::Uneven), Just(Spacing::Clustered)];
    let keys = prop_oneof![1..4_usize, 1..=most_keys.min(100), 1..=most_keys];
    let eased = prop_oneof![2 => Just(Eased::Not), 1 => Just(Eased::Alike), 1 => Just(Eased::ByKey)];
    let track = (0..10_usize, interpolation, keys, spacing, any::<bool>(), eased).prop_map(
        |(part, interpolation, keys, spacing, shared, eased)| TrackSpec {
            part,
            interpolation,
            keys,
            spacing,
            shared,
            eased,
        },
    );
    let joints = prop_oneof![1..8_usize, 1..=most_joints];
    (any::<u64>(), joints, shape, 0..3_usize, prop::collection::vec(track, 0..12), 1..70_usize).prop_map(
        |(seed, joints, shape, skins, tracks, instances)| SceneSpec { seed, joints, shape, skins, tracks, instances },
    )
}

impl SceneSpec {
    /// Makes the scene.
    pub fn scene(&self) -> Scene {
        let mut numbers = Numbers::new(self.seed);
        let mut roots = Numbers::new(!self.seed);
        let mut library = Library::new();
        let bent = library.add_interpolator(Arc::new(Bent)).unwrap();
        let skeleton = library.add_skeleton(skeleton(&mut numbers, self.joints, self.shape));
        for _ in 0..self.skins {
            library.add_skin(skin(&mut numbers, skeleton, self.joints)).unwrap();
        }
        for _ in 0..1 + numbers.below(3) {
            let length = (numbers.below(2) == 0).then(|| numbers.within(0.0, 5.0));
            let tracks = tracks(&mut numbers, library.skeleton(skeleton), &self.tracks, bent, length);
            let root_motion = root(&mut roots, library.skeleton(skeleton), &tracks);
            let clip = Clip { length, root_motion, ..Clip::new(Some("random".into()), skeleton, tracks) };
            library.add_clip(clip).unwrap();
        }
        for _ in 0..numbers.below(3) {
            let weights = (0..self.joints).map(|_| numbers.weight()).collect();
            library.add_mask(Mask { name: None, skeleton, weights }).unwrap();
        }
        let now = Ticks(numbers.below(1 << 42) as i64);
        let crowd = crowd(&mut numbers, &library, now, self.instances);
        let back = match roots.below(4) {
            0 => 0.0,
            1 => roots.within(-1.0, 1.0) * 1e8,
            _ => roots.within(-5e6, 5e6),
        };
        Scene { library, crowd, step: Step { from: Ticks(now.0 - back as i64), to: now } }
    }
}

fn skeleton(numbers: &mut Numbers, joints: usize, shape: Shape) -> Skeleton {
    let joint = |index: usize| {
        let parent = match shape {
            _ if index == 0 => None,
            Shape::Chain => Some(index - 1),
            Shape::Star => Some(0),
            Shape::Tree => Some(numbers.below(index)),
            Shape::Forest => numbers.below(index + 1).checked_sub(1),
        };
        let rest = Transform {
            translation: numbers.vector(-1.0, 1.0),
            rotation: numbers.rotation() * numbers.within(0.5, 2.0),
            scale: numbers.vector(0.9, 1.1) * if numbers.below(20) == 0 { -1.0 } else { 1.0 },
        };
        // A matrix with shear, which no translation, rotation and scale can say.
        let matrix = (numbers.below(8) == 0).then(|| DAffine3 {
            matrix3: DMat3::from_quat(numbers.rotation()) + DMat3::from_diagonal(numbers.vector(-0.1, 0.1)),
            translation: numbers.vector(-1.0, 1.0),
        });
        let targets = if numbers.below(4) == 0 { 1 + numbers.below(9) } else { 0 };
        let weights = (0..targets).map(|_| numbers.within(-1.0, 1.0)).collect();
        Joint { name: Some(format!("joint {index}")), parent, rest, matrix, weights }
    };
    let joints = (0..joints).map(joint).collect();
    let property = |name: &str, width: usize, rotation: bool| Property {
        name: name.into(),
        rest: if rotation { vec![0.0, 0.0, 0.0, 1.0] } else { vec![0.5; width] },
        rotation,
    };
    let properties = vec![
        property("/light", 1, false),
        property("/turn", 4, true),
        property("/colours", 6, false),
        property("/bent", 5, false),
        property("/as is", 4, false),
    ];
    Skeleton::new(Some("random".into()), joints, properties).unwrap()
}

/// A root joint for half of all clips, where they have a joint that can be one: mostly one that they move.
fn root(numbers: &mut Numbers, skeleton: &Skeleton, tracks: &[Track]) -> Option<RootMotion> {
    let driven = tracks.iter().filter_map(|track| match track.target {
        Target::Translation(joint) | Target::Rotation(joint) | Target::EulerAngles(joint) => Some(joint),
        _ => None,
    });
    let driven: Vec<usize> = driven.collect();
    let joint = match driven.len() {
        count if count > 0 && numbers.below(4) > 0 => driven[numbers.below(count)],
        _ => numbers.below(skeleton.joints().len()),
    };
    let root = RootMotion {
        joint,
        translation: [(); 3].map(|()| numbers.below(2) == 0),
        rotation: [RootRotation::None, RootRotation::Yaw, RootRotation::Full][numbers.below(3)],
    };
    (numbers.below(2) == 0 && skeleton.joints()[joint].matrix.is_none()).then_some(root)
}

fn skin(numbers: &mut Numbers, skeleton: SkeletonId, joints: usize) -> Skin {
    let joints: Vec<usize> = (0..1 + numbers.below(joints)).map(|_| numbers.below(joints)).collect();
    let bind = |_: &usize| {
        DAffine3::from_scale_rotation_translation(
            numbers.vector(0.8, 1.2),
            numbers.rotation(),
            numbers.vector(-1.0, 1.0),
        )
    };
    let inverse_bind = joints.iter().map(bind).collect();
    Skin { name: None, skeleton, joints, inverse_bind }
}

fn tracks(
    numbers: &mut Numbers,
    skeleton: &Skeleton,
    specs: &[TrackSpec],
    bent: InterpolatorId,
    length: Option<f64>,
) -> Vec<Track> {
    let mut tracks: Vec<Track> = Vec::new();
    let mut shared: Option<Arc<Timeline>> = None;
    for spec in specs {
        let joint = numbers.below(skeleton.joints().len());
        let targets = skeleton.joints()[joint].weights.len();
        let mut component = None;
        let (target, width) = match spec.part {
            0 => (Target::Translation(joint), 3),
            1 => (Target::Rotation(joint), 4),
            2 => (Target::Scale(joint), 3),
            3 if targets > 0 => (Target::Weights(joint), targets),
            4 if targets > 0 => {
                component = Some(numbers.below(targets));
                (Target::Weights(joint), 1)
            }
            6 => (Target::EulerAngles(joint), 3),
            7 => {
                component = Some(numbers.below(3));
                let target = [Target::Translation(joint), Target::EulerAngles(joint), Target::Scale(joint)];
                (target[numbers.below(3)], 1)
            }
            8 => {
                component = Some(numbers.below(6));
                (Target::Property(2), 1)
            }
            _ => {
                let property = numbers.below(skeleton.properties().len());
                (Target::Property(property), skeleton.properties()[property].rest.len())
            }
        };
        let (interpolation, width) = match target {
            Target::Property(BENT) => (Interpolation::Custom(bent), 6),
            Target::Property(AS_IS) if numbers.below(2) == 0 => (Interpolation::Slerp, 4),
            _ => (spec.interpolation, width),
        };
        let angles = matches!(target, Target::EulerAngles(_));
        let moves = angles || matches!(target, Target::Translation(_) | Target::Rotation(_) | Target::Scale(_));
        if moves && skeleton.joints()[joint].matrix.is_some() {
            continue;
        }
        let overlaps = |track: &Track| {
            let apart = track.component.is_some() && component.is_some() && track.component != component;
            let turned = match (track.target, target) {
                (Target::EulerAngles(a), Target::Rotation(b)) | (Target::Rotation(a), Target::EulerAngles(b)) => a == b,
                _ => false,
            };
            turned || (track.target == target && !apart)
        };
        if tracks.iter().any(overlaps) {
            continue;
        }
        let timeline = match &shared {
            Some(timeline) if spec.shared => timeline.clone(),
            _ => Arc::new(timeline(numbers, spec.keys, spec.spacing)),
        };
        shared = Some(timeline.clone());
        let rotation = matches!(target, Target::Rotation(_) | Target::Property(1));
        let values = match (rotation || interpolation == Interpolation::Slerp, interpolation) {
            (true, _) => rotations(numbers, &timeline, interpolation),
            (false, interpolation) => {
                let size = if angles { 400.0 } else { numbers.within(0.1, 10.0) };
                let (low, high) = if matches!(target, Target::Scale(_)) { (0.7, 1.4) } else { (-size, size) };
                let count = timeline.len() * width * interpolation.elements_per_key();
                (0..count).map(|_| numbers.within(low, high)).collect()
            }
        };
        let easing = match spec.eased {
            Eased::Not => CurveEasing::None,
            Eased::Alike => CurveEasing::One(easing(numbers)),
            Eased::ByKey => {
                CurveEasing::PerKey((0..numbers.below(timeline.len() + 2)).map(|_| easing(numbers)).collect())
            }
        };
        let mut curve =
            Curve::new(timeline.clone(), interpolation, width, values).unwrap().with_easing(easing).unwrap();
        // Loops without number, and lines without a direction to speak of, are for tests of limits.
        let gaps: Vec<f64> = timeline.times().windows(2).map(|pair| pair[1] - pair[0]).collect();
        let ends = [gaps.first(), gaps.last()];
        let lines = ends.into_iter().flatten().all(|&gap| gap > 1e-4);
        if length.is_some() && lines && timeline.last() - timeline.first() > 0.02 {
            let mut extrapolation = || {
                use Extrapolation::{Clamp, Linear, Loop, PingPong};
                [Clamp, Linear, Loop, PingPong][numbers.below(4)]
            };
            curve = curve.with_extrapolation(extrapolation(), extrapolation());
        }
        tracks.push(Track { target, component, curve });
    }
    tracks
}

/// Any easing: one with a name, or a Bezier curve that overshoots, folds, or is as in CSS.
fn easing(numbers: &mut Numbers) -> Easing {
    let (x, y) = match numbers.below(4) {
        0 => (numbers.within(1.0, 2.0), numbers.within(1.0, 20.0)),
        1 => (1.0, 2.0),
        _ => return Easing::from_id(numbers.below(44) as u32).unwrap(),
    };
    let mut point = || [numbers.within(1.0 - x, x), numbers.within(1.0 - y, y)];
    Easing::Bezier([point(), point()].concat().try_into().unwrap())
}

/// Key times as `f32` has them, as in files.
fn timeline(numbers: &mut Numbers, keys: usize, spacing: Spacing) -> Timeline {
    let mut time = numbers.within(-1.0, 2.0) as f32;
    let mut times = vec![f64::from(time)];
    while times.len() < keys {
        time = match spacing {
            Spacing::Even => (times[0] + times.len() as f64 / 30.0) as f32,
            Spacing::Uneven => time + numbers.within(0.001, 0.3) as f32,
            Spacing::Clustered if numbers.below(5) == 0 => time + numbers.within(0.001, 1.0) as f32,
            Spacing::Clustered => time.next_up(),
        };
        times.push(f64::from(time));
    }
    if numbers.below(3) > 0 {
        return Timeline::new(times).unwrap();
    }
    let window = [0.0, 1.03e-6, 3.1e-4][numbers.below(3)];
    if numbers.below(2) == 0 {
        let twin = times[numbers.below(times.len())];
        times.push(twin);
        times.sort_by(f64::total_cmp);
    }
    Timeline::snapping(times, window).unwrap()
}

fn rotations(numbers: &mut Numbers, timeline: &Timeline, interpolation: Interpolation) -> Vec<f64> {
    let mut values = Vec::new();
    let mut last = numbers.rotation();
    for key in 0..timeline.len() {
        let next = match numbers.below(8) {
            0 => -last,
            1 => last,
            2 => last * DQuat::from_axis_angle(numbers.vector(-1.0, 1.0).normalize(), std::f64::consts::PI),
            3 => last * numbers.within(0.9, 1.1),
            4 => numbers.rotation(),
            _ => last.normalize() * DQuat::from_axis_angle(DVec3::Z, numbers.within(-0.3, 0.3)),
        };
        if interpolation == Interpolation::CubicSpline {
            // Tangents as a file has them: a fraction of the value over the interval that they span.
            let gap = |a: usize, b: usize| {
                let times = timeline.times();
                if b < times.len() && times[a] < times[b] { times[b] - times[a] } else { 1.0 }
            };
            let before = if key > 0 { gap(key - 1, key) } else { 1.0 };
            let size = [0.2 / before, 0.2 / gap(key, key + 1)];
            values.extend((0..4).map(|_| numbers.within(-size[0], size[0])));
            values.extend(next.to_array());
            values.extend((0..4).map(|_| numbers.within(-size[1], size[1])));
        } else {
            values.extend(next.to_array());
        }
        last = next;
    }
    values
}

/// Times before, after, on, beside and between keys; some instances play, some rest. Half of all crowds have layers.
fn crowd(numbers: &mut Numbers, library: &Library, now: Ticks, instances: usize) -> Crowd {
    let skeleton = library.clips()[0].skeleton;
    let clips: Vec<ClipId> = library.clip_ids().collect();
    let layered = numbers.below(2) == 0;
    let mut crowd = Crowd::new();
    for _ in 0..instances {
        let count = if layered { numbers.below(5) + numbers.below(5) } else { (numbers.below(8) > 0).into() };
        let mut layer = || {
            let clip = clips[numbers.below(clips.len())];
            let time = time(numbers, library, clip);
            if layered { mixed(numbers, library, now, Layer::new(clip, time)) } else { Layer::new(clip, time) }
        };
        let layers: Vec<Layer> = (0..count).map(|_| layer()).collect();
        crowd.push(skeleton, &layers).unwrap();
    }
    crowd
}

/// When in its clip a layer is.
fn time(numbers: &mut Numbers, library: &Library, clip: ClipId) -> LayerTime {
    let timelines: Vec<&Timeline> = library.clip(clip).tracks.iter().map(|track| &**track.curve.timeline()).collect();
    if numbers.below(8) == 0 {
        let start = Ticks(numbers.below(1 << 42) as i64 - (1 << 41));
        let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
        let mut playback = Playback::new(wrap, start, numbers.within(-2.0, 2.0));
        if numbers.below(3) == 0 {
            playback.repeat_count = Some(numbers.within(0.0, 1e6));
        }
        if numbers.below(3) == 0 {
            let end = numbers.within(0.0, 5.0);
            playback.range = Some([numbers.within(0.0, end), end]);
        }
        return LayerTime::Playing(playback);
    }
    if timelines.is_empty() {
        return LayerTime::At(numbers.within(-1.0, 1.0));
    }
    let timeline = timelines[numbers.below(timelines.len())];
    let key = timeline.times()[numbers.below(timeline.len())];
    LayerTime::At(match numbers.below(6) {
        0 => timeline.first() - numbers.within(0.0, 1e6),
        1 => timeline.last() + numbers.within(0.0, 1e6),
        2 => key,
        3 => f64::from((key as f32).next_up()),
        4 => f64::from((key as f32).next_down()),
        _ => numbers.within(timeline.first(), timeline.last()),
    })
}

/// A layer with a weight, a mode, perhaps a mask, perhaps fades that begin before or after now.
fn mixed(numbers: &mut Numbers, library: &Library, now: Ticks, layer: Layer) -> Layer {
    let mode = [
        LayerMode::Blend,
        LayerMode::Blend,
        LayerMode::Override,
        LayerMode::Additive(AdditiveReference::First),
        LayerMode::Additive(AdditiveReference::Rest),
    ][numbers.below(5)];
    let mask = match library.masks().len() {
        masks if masks > 0 && numbers.below(2) == 0 => library.mask_ids().nth(numbers.below(masks)),
        _ => None,
    };
    let mut fade = || {
        let length = Ticks([0, numbers.below(1 << 22) as i64][numbers.below(2)]);
        let start = Ticks(now.0 + 1000 - numbers.below(1 << 22) as i64);
        let shape = [FadeShape::Linear, FadeShape::Smooth][numbers.below(2)];
        (numbers.below(3) == 0).then_some(Fade { start, length, shape })
    };
    let (fade_in, fade_out) = (fade(), fade());
    Layer { weight: numbers.weight(), mode, mask, fade_in, fade_out, ..layer }
}
