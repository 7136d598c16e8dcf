//! Random scenes: skeletons of any shape, any mix of modes, hard key times, hard quaternions, hard times to ask for.

/// An interpolation of our own.
mod bent;
/// Who is posed, and when.
mod crowds;
/// Skeletons and skins.
mod rigs;
/// What moves their instances.
mod roots;
/// What drives them.
mod tracks;
/// Without scales that differ from axis to axis.
mod uniform;

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::{Clip, Crowd, Interpolation, InterpolatorId, Library, Mask, Step, Ticks};
use proptest::prelude::*;

use self::bent::Bent;
use self::crowds::crowd;
use self::rigs::{skeleton, skin};
use self::roots::root;
use self::tracks::tracks;

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

/// A scene before it is made, small enough to print.
#[derive(Debug, Clone)]
pub struct SceneSpec {
    pub seed: u64,
    rigs: Vec<RigSpec>,
    tracks: Vec<TrackSpec>,
    instances: usize,
}

/// A library of one skeleton or several, and a crowd that mixes them.
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
    let rig = (joints, shape, 0..3_usize).prop_map(|(joints, shape, skins)| RigSpec { joints, shape, skins });
    let rigs = prop::collection::vec(rig, 1..5);
    (any::<u64>(), rigs, prop::collection::vec(track, 0..12), 1..70_usize)
        .prop_map(|(seed, rigs, tracks, instances)| SceneSpec { seed, rigs, tracks, instances })
}

impl SceneSpec {
    /// Whether this is one of so many scenes, by its seed.
    pub fn is_one_in(&self, scenes: u64) -> bool {
        self.seed.is_multiple_of(scenes)
    }

    /// Makes the scene.
    pub fn scene(&self) -> Scene {
        let (mut numbers, mut roots) = (Numbers::new(self.seed), Numbers::new(!self.seed));
        let mut library = Library::new();
        let bent = library.add_interpolator(Arc::new(Bent)).unwrap();
        for rig in &self.rigs {
            self.add_rig([&mut numbers, &mut roots], &mut library, rig, bent);
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

    /// Adds a skeleton with skins, clips and masks; one clip may be that of a skeleton before it.
    fn add_rig(&self, [numbers, roots]: [&mut Numbers; 2], library: &mut Library, rig: &RigSpec, bent: InterpolatorId) {
        let lent = library.clip_ids().collect::<Vec<_>>();
        let skeleton = library.add_skeleton(skeleton(numbers, rig.joints, rig.shape));
        for _ in 0..rig.skins {
            library.add_skin(skin(numbers, skeleton, rig.joints)).unwrap();
        }
        for _ in 0..1 + numbers.below(3) {
            let length = (numbers.below(2) == 0).then(|| numbers.within(0.0, 5.0));
            let tracks = tracks(numbers, library.skeleton(skeleton), &self.tracks, bent, length);
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
