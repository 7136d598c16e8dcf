//! The workloads: a rig, two of its clips, and the phases of instances.

use std::path::Path;

use posse::curves::{Curve, Interpolation, Target};
use posse::import::gltf;
use posse::{
    AdditiveReference, ClipId, Crowd, Error, Layer, LayerMode, LayerTime, Library, Outputs, Playback, Pose, SkeletonId,
    Skin, Ticks, WrapMode, demo,
};

use crate::collected;

/// The duration of a frame.
pub const FRAME: Ticks = Ticks(Ticks::PER_SECOND / 60);

/// The work of a contender in each frame. Only the last result of each instance is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    /// Local poses of one clip.
    Sample,
    /// Model matrices of one clip.
    Model,
    /// Skin matrices of one clip.
    Skin,
    /// Skin matrices of two clips blended half and half.
    Blend,
    /// Skin matrices of mixed clips, each instance at a random time of its own clip, with an additive layer at another
    /// random time.
    Mixed,
}

impl Workload {
    /// All workloads. Each does more than the one before.
    pub const ALL: [Self; 5] = [Self::Sample, Self::Model, Self::Skin, Self::Blend, Self::Mixed];

    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Model => "+ model",
            Self::Skin => "+ skin",
            Self::Blend => "two clips, + skin",
            Self::Mixed => "50 clips, additive, + skin",
        }
    }

    /// The number of layers per instance.
    pub fn layers(self) -> usize {
        if matches!(self, Self::Blend | Self::Mixed) { 2 } else { 1 }
    }

    /// The outputs that are kept.
    pub fn outputs(self) -> Outputs {
        match self {
            Self::Sample => Outputs { local: true, ..Outputs::NONE },
            Self::Model => Outputs { model: true, ..Outputs::NONE },
            Self::Skin | Self::Blend | Self::Mixed => Outputs::SKIN,
        }
    }
}

/// An engine under test.
pub trait Contender {
    /// The name in the table.
    fn name(&self) -> String;

    /// The number of instances per frame.
    fn instances(&self) -> usize;

    /// The largest allowed difference of a number of a pose from the reference: metres, or components of unit
    /// quaternions.
    fn bound(&self) -> f64;

    /// Advances the clock, which starts at 0, by a [`FRAME`], and poses all instances.
    ///
    /// # Errors
    /// Errors of the contender.
    fn frame(&mut self) -> Result<(), Error>;

    /// Plays several frames. A contender in another process overrides it, so that a frame costs no message.
    ///
    /// # Errors
    /// Errors of the contender.
    fn frames(&mut self, count: u32) -> Result<(), Error> {
        (0..count).try_for_each(|_| self.frame())
    }

    /// The kept outputs of the latest pose of an instance.
    ///
    /// # Errors
    /// Errors of the contender.
    fn pose(&self, instance: usize) -> Result<Pose, Error>;
}

/// The number of clips that are mixed.
pub const MIXED: usize = 50;
/// The weight of additive layers.
pub const ADDITIVE_WEIGHT: f64 = 0.5;

/// A rig, and its clips, all of the same length.
pub struct Scene {
    /// The source of the rig.
    pub source: String,
    /// The rig and its clips.
    pub library: Library,
    /// The skeleton of all instances.
    pub skeleton: SkeletonId,
    /// The clips; workloads of one clip play the first.
    pub clips: [ClipId; 2],
    /// The clips that are mixed: copies of both, each begun at another key.
    pub mixed: Vec<ClipId>,
    /// The clip of additive layers: the second clip without scales. Its first key is the reference.
    pub additive: ClipId,
}

impl Scene {
    /// The collected rig `rigs/rig64.glb`. Without it, a note is printed and the demo rig of posse is
    /// used.
    ///
    /// # Errors
    /// [`Error::Usage`] if the file lacks the clips `full_a` and `full_b` of the same length, or does not have one
    /// skin.
    pub fn load() -> Result<Self, Error> {
        if let Some(file) = collected::collected("rigs/rig64.glb") {
            return Self::rig64(&file);
        }
        eprintln!("note: rigs/rig64.glb is missing; the demo rig of posse is used instead, with its one clip twice");
        Self::demo()
    }

    /// The demo rig of posse. Its one clip is used twice.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn demo() -> Result<Self, Error> {
        let library = demo::rig(64, 60, 11)?;
        let clip = library.clip_ids().next().ok_or_else(|| Error::Usage("the demo rig has no clip".into()))?;
        Self::new("posse's demo rig".into(), library, [clip; 2])
    }

    fn rig64(file: &Path) -> Result<Self, Error> {
        let mut library = Library::new();
        gltf::load(&mut library, file)?;
        let find = |name| library.find_clip(name).ok_or_else(|| Error::Usage(format!("rig64.glb has no clip {name}")));
        let clips = [find("full_a")?, find("full_b")?];
        Self::new("rig64.glb, clips full_a and full_b".into(), library, clips)
    }

    fn new(source: String, mut library: Library, clips: [ClipId; 2]) -> Result<Self, Error> {
        let skeleton = library.clip(clips[0]).skeleton;
        let [a, b] = clips.map(|clip| library.clip(clip).duration());
        let linear = |clip| library.clip(clip).tracks.iter().all(|track| is_plain(&track.curve));
        if a != b || library.skins_of(skeleton).count() != 1 || !clips.into_iter().all(linear) {
            let reason = "clips of the same length, LINEAR curves of two keys or more and one skin are needed";
            return Err(Error::Usage(format!("{source}: {reason}")));
        }
        let mut mixed = Vec::with_capacity(MIXED);
        for index in 0..MIXED {
            let clip = demo::shifted_clip(library.clip(clips[index % 2]), index)?;
            mixed.push(library.add_clip(clip)?);
        }
        let mut additive = library.clip(clips[1]).clone();
        additive.tracks.retain(|track| !matches!(track.target, Target::Scale(_)));
        let additive = library.add_clip(additive)?;
        Ok(Self { source, library, skeleton, clips, mixed, additive })
    }

    /// The number of joints of the skin, which rates count. Other nodes of the file are posed too, but not counted.
    pub fn joints(&self) -> usize {
        self.skin().joints.len()
    }

    /// The duration of each clip in seconds.
    pub fn duration(&self) -> f64 {
        self.library.clip(self.clips[0]).duration()
    }

    /// The skin.
    pub fn skin(&self) -> &Skin {
        let mut skins = self.library.skins_of(self.skeleton);
        // The constructor has checked that there is one skin.
        skins.next().map(|(_, skin)| skin).unwrap_or_else(|| unreachable!("a scene has one skin"))
    }

    /// The curve of a clip for a target.
    pub fn curve(&self, clip: ClipId, target: Target) -> Option<&Curve> {
        self.library.clip(clip).tracks.iter().find(|track| track.target == target).map(|track| &track.curve)
    }

    /// The phases of an instance in its clips at time 0, in ticks. Multiples of two irrational ratios distribute them
    /// evenly; phases of mixed clips are random.
    pub fn phases(&self, workload: Workload, instance: usize) -> [Ticks; 2] {
        let phases = match workload {
            Workload::Mixed => [0, 1].map(|layer| random(2 * instance as u64 + layer)),
            _ => [0.618_033_988_749_894_9, 0.754_877_666_246_692_8].map(|ratio| (instance as f64 * ratio).fract()),
        };
        phases.map(|phase| Ticks::from_seconds(phase * self.duration()))
    }

    /// The index in [`mixed`](Self::mixed) of the clip of an instance.
    pub fn mixed_clip(&self, instance: usize) -> usize {
        instance % self.mixed.len()
    }

    /// A crowd of some of the instances.
    ///
    /// # Errors
    /// None: the clips of a scene belong to its skeleton.
    pub fn crowd(&self, workload: Workload, instances: impl Iterator<Item = usize>) -> Result<Crowd, Error> {
        let mut crowd = Crowd::new();
        for instance in instances {
            let [first, second] =
                self.phases(workload, instance).map(|phase| Playback::new(WrapMode::Loop, Ticks(-phase.0), 1.0));
            let layer = |clip, playback| Layer::new(clip, LayerTime::Playing(playback));
            let layers = match workload {
                Workload::Mixed => {
                    let mode = LayerMode::Additive(AdditiveReference::First);
                    let additive = Layer { mode, weight: ADDITIVE_WEIGHT, ..layer(self.additive, second) };
                    [layer(self.mixed[self.mixed_clip(instance)], first), additive]
                }
                _ => [layer(self.clips[0], first), layer(self.clips[1], second)],
            };
            crowd.push(self.skeleton, &layers[..workload.layers()])?;
        }
        Ok(crowd)
    }
}

/// A random number from 0 to 1, the same for the same seed: SplitMix64 (Steele, Lea and Flood, 2014).
fn random(seed: u64) -> f64 {
    let mut bits = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// True if every contender can play a curve.
fn is_plain(curve: &Curve) -> bool {
    curve.interpolation() == Interpolation::Linear && curve.timeline().len() > 1
}
