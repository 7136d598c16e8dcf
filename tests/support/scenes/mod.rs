//! Random scenes: skeletons of any shape, any mix of modes, and key times, quaternions and sample times that are hard
//! to evaluate.

/// A custom interpolator.
mod bent;
/// Crowds: instances, layers, and the times of layers.
mod crowds;
/// Goals of instances, and their chains.
mod goals;
/// Parameters, drivers, sync markers and transitions.
mod motion;
/// Skeletons and skins.
mod rigs;
/// Root motion of clips.
mod roots;
/// Tracks of clips.
mod tracks;
/// Scenes whose scales are the same along all axes.
mod uniform_scale;

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::curves::{Interpolation, InterpolatorId};
use posse::{Clip, Crowd, Library, Mask, Step, Ticks};
use proptest::prelude::*;

use self::bent::Bent;
use self::crowds::crowd;
use self::rigs::{skeleton, skin};
use self::roots::root;
use self::tracks::tracks;

/// A stream of random numbers from a seed. Since a scene is its seed, it shrinks fast and its values need no strategy.
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

    /// As `below`, for ticks, which a `usize` of a browser cannot hold.
    pub fn ticks_below(&mut self, count: i64) -> i64 {
        (self.next() % count as u64) as i64
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

    pub fn vector(&mut self, low: f64, high: f64) -> DVec3 {
        DVec3::new(self.within(low, high), self.within(low, high), self.within(low, high))
    }

    pub fn rotation(&mut self) -> DQuat {
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

/// The distances between key times.
#[derive(Debug, Clone, Copy)]
pub enum Spacing {
    Even,
    Uneven,
    /// A few groups of keys; in a group, each key is the next `f32` after the one before.
    Clustered,
}

/// The easing of a track.
#[derive(Debug, Clone, Copy)]
pub enum Eased {
    Not,
    /// One easing for all keys.
    Alike,
    /// One easing per key.
    ByKey,
}

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

/// A skeleton with its skins.
#[derive(Debug, Clone, Copy)]
pub struct RigSpec {
    joints: usize,
    shape: Shape,
    skins: usize,
}

/// The description of a scene, small enough to print.
#[derive(Debug, Clone)]
pub struct SceneSpec {
    pub seed: u64,
    rigs: Vec<RigSpec>,
    tracks: Vec<TrackSpec>,
    instances: usize,
    style: Style,
}

/// What the tracks of a scene may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// All that a library can have.
    Any,
    /// What glTF has. With `one_timeline`, all tracks of a clip share one.
    Gltf { one_timeline: bool },
}

/// A library of one or more skeletons, and a crowd that mixes them.
pub struct Scene {
    pub library: Library,
    pub crowd: Crowd,
    /// A step of up to some minutes, forwards or backwards.
    pub step: Step,
}

impl Scene {
    /// The crowd with transitions with the displacements of the poses of another library.
    pub fn crowd_of(&self, library: &Library) -> Crowd {
        let mut crowd = self.crowd.clone();
        for instance in 0..crowd.len() {
            if let Some(transition) = self.crowd.transition(instance) {
                crowd.set_transition(library, instance, Some(transition.clone())).unwrap();
            }
        }
        crowd
    }
}

/// Scenes with at most `most_joints` joints per skeleton and `most_keys` keys per track.
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
    let rig = (joints, shape, 0..3_usize).prop_map(|(joints, shape, skins)| RigSpec { joints, shape, skins });
    let rigs = prop::collection::vec(rig, 1..5);
    (any::<u64>(), rigs, prop::collection::vec(track, 0..12), 1..70_usize)
        .prop_map(|(seed, rigs, tracks, instances)| SceneSpec { seed, rigs, tracks, instances, style: Style::Any })
}

/// Two streams of numbers: one for everything except root motion, and one for root motion.
struct Streams<'a> {
    numbers: &'a mut Numbers,
    roots: &'a mut Numbers,
}

impl SceneSpec {
    /// Returns whether this is one scene in this many, by its seed.
    pub fn is_one_in(&self, scenes: u64) -> bool {
        self.seed.is_multiple_of(scenes)
    }

    /// A scene of the same description, with what glTF has. One half of these scenes have one timeline per clip.
    pub fn into_gltf(self) -> Self {
        Self { style: Style::Gltf { one_timeline: self.is_one_in(2) }, ..self }
    }

    /// Makes the scene. Half of all scenes have parameters, synchronised layers and transitions; half of these and half
    /// of the others have goals.
    pub fn scene(&self) -> Scene {
        let scene = if (self.seed / 8).is_multiple_of(2) { self.plain_scene() } else { self.moving_scene() };
        if (self.seed / 16).is_multiple_of(2) { scene } else { self.with_goals(scene) }
    }

    /// A scene of this description with goals for its instances.
    pub fn with_goals(&self, scene: Scene) -> Scene {
        let Scene { mut library, mut crowd, step } = scene;
        // Numbers of its own, so that the rest is as in the scene.
        let mut numbers = Numbers::new(self.seed.rotate_left(16));
        let chains = goals::add_chains(&mut numbers, &mut library);
        goals::set_goals(&mut numbers, &library, &chains, &mut crowd, step.to);
        Scene { library, crowd, step }
    }

    /// Makes the scene with parameters, drivers of layers, sync markers and transitions.
    pub fn moving_scene(&self) -> Scene {
        let Scene { mut library, crowd, step } = self.plain_scene();
        // Numbers of its own, so that the rest is as in the plain scene.
        let mut numbers = Numbers::new(self.seed.rotate_left(32));
        let drivers = motion::add_drivers(&mut numbers, &mut library);
        let crowd = motion::move_crowd(&mut numbers, &library, &drivers, &crowd, step.to);
        Scene { library, crowd, step }
    }

    /// Makes the scene without parameters, drivers, sync markers and transitions.
    pub fn plain_scene(&self) -> Scene {
        let (mut numbers, mut roots) = (Numbers::new(self.seed), Numbers::new(!self.seed));
        let mut library = Library::new();
        let bent = library.add_interpolator(Arc::new(Bent)).unwrap();
        for rig in &self.rigs {
            let mut streams = Streams { numbers: &mut numbers, roots: &mut roots };
            self.add_rig(&mut streams, &mut library, rig, bent);
        }
        let now = Ticks(numbers.ticks_below(1 << 42));
        let crowd = crowd(&mut numbers, &library, now, self.instances);
        let back = match roots.below(4) {
            0 => 0.0,
            1 => roots.within(-1.0, 1.0) * 1e8,
            _ => roots.within(-5e6, 5e6),
        };
        Scene { library, crowd, step: Step { from: Ticks(now.0 - back as i64), to: now } }
    }

    /// Adds a skeleton with skins, clips and masks. One clip may be shared from an earlier skeleton.
    fn add_rig(&self, streams: &mut Streams, library: &mut Library, rig: &RigSpec, bent: InterpolatorId) {
        let Streams { numbers, roots } = streams;
        let lent = library.clip_ids().collect::<Vec<_>>();
        let skeleton = library.add_skeleton(skeleton(numbers, rig.joints, rig.shape));
        for _ in 0..rig.skins {
            library.add_skin(skin(numbers, skeleton, rig.joints)).unwrap();
        }
        for _ in 0..1 + numbers.below(3) {
            let length = (numbers.below(2) == 0).then(|| numbers.within(0.0, 5.0));
            let tracks = tracks(numbers, library.skeleton(skeleton), (&self.tracks, self.style), bent, length);
            let root_motion = root(roots, library.skeleton(skeleton), &tracks);
            let clip = Clip { length, root_motion, ..Clip::new(Some("random".into()), skeleton, tracks) };
            library.add_clip(clip).unwrap();
        }
        if !lent.is_empty() && numbers.below(2) == 0 {
            library.share_clip(lent[numbers.below(lent.len())], skeleton).unwrap();
        }
        for _ in 0..numbers.below(3) {
            let weights = (0..rig.joints).map(|_| numbers.weight()).collect();
            library.add_mask(Mask { name: None, skeleton, weights }).unwrap();
        }
    }
}
