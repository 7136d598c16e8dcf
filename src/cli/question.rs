//! What is asked of an engine, in blocks that fit into memory.

use std::ops::Range;

use posse::Phase;
use posse::import::crowd::CrowdFile;
use posse::low_level::reference::phase;
use posse::{
    ClipId, Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Playback, Pose, SkeletonId, Step, Ticks,
};

use crate::cli::progress::Progress;

/// Bytes of poses in memory at a time.
const BLOCK_BYTES: usize = 64 << 20;
/// Bytes of an instance's layers, at the most, roughly.
const LAYERS_BYTES: usize = 2048;
/// The most samples, and the most instances.
const MOST: u64 = 1 << 24;
/// The most samples times instances times joints.
const MOST_JOINTS: u64 = 1 << 32;

/// A clip, or the rest pose, at some times: sample by sample, and in a sample instance by instance.
#[derive(Debug, Clone)]
pub struct Question {
    /// Who is posed.
    pub skeleton: SkeletonId,
    /// The clip; the rest pose without one.
    pub clip: Option<ClipId>,
    /// Seconds on the clip's own axis, or since the play began.
    pub times: Vec<f64>,
    /// Instances at each time.
    pub instances: usize,
    /// Seconds by which each instance is ahead of the one before.
    pub phase: f64,
    /// How the clip plays; `None` where times are on its own axis.
    pub play: Option<Play>,
}

/// How a clip plays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Play {
    /// In a mode that is not the default one.
    pub playback: Playback,
    /// Seconds that the clip lasts.
    pub duration: f64,
}

impl Play {
    /// Whether the passes of so many seconds, either way, are a finite number.
    fn counts(&self, seconds: f64) -> bool {
        let [start, end] = self.playback.part(self.duration);
        end <= start || ((self.playback.rate.abs() * seconds + start) / (end - start)).is_finite()
    }

    /// Where the clip is so many seconds after the play began.
    fn at(&self, seconds: f64) -> Phase {
        let [start, _] = self.playback.part(self.duration);
        phase(&self.playback, self.playback.rate * seconds - start, self.duration)
    }
}

impl Question {
    /// Refuses what could only be a mistake.
    pub fn check(&self, library: &Library) -> Result<(), Error> {
        let ahead = (self.instances.saturating_sub(1) as f64 * self.phase).abs();
        let latest = self.times.iter().fold(0.0, |latest: f64, time| latest.max(time.abs()));
        if latest + ahead > f64::from(f32::MAX) {
            return Err(Error::Usage(format!("the last instance is {ahead:e} s ahead; give a smaller --phase")));
        }
        if self.play.is_some_and(|play| !play.counts(latest + ahead)) {
            return Err(Error::Usage("the clip is repeated too often to be counted; give smaller times".into()));
        }
        let (samples, instances) = (self.times.len() as u64, self.instances as u64);
        let joints = library.skeleton(self.skeleton).joints().len().max(1) as u64;
        limit("samples", samples, MOST)?;
        limit("instances", instances, MOST)?;
        limit("samples x instances x joints", samples.saturating_mul(instances).saturating_mul(joints), MOST_JOINTS)
    }

    /// The time of a pose: on the clip's axis, or since the play began.
    fn moment(&self, pose: usize) -> f64 {
        self.times[pose / self.instances] + (pose % self.instances) as f64 * self.phase
    }

    /// Where the clip is in a pose, if it plays.
    pub fn played(&self, pose: usize) -> Option<Phase> {
        self.play.map(|play| play.at(self.moment(pose)))
    }

    /// The crowd of a range of poses.
    pub fn crowd(&self, poses: Range<usize>) -> Result<Crowd, Error> {
        let mut crowd = Crowd::new();
        for pose in poses {
            let time = self.played(pose).map_or_else(|| self.moment(pose), |played| played.time);
            let layer = self.clip.map(|clip| Layer::new(clip, LayerTime::At(time)));
            crowd.push(self.skeleton, layer.as_slice())?;
        }
        Ok(crowd)
    }

    /// The poses in ranges of which each takes a bounded amount of memory.
    pub fn blocks(&self, library: &Library, outputs: Outputs) -> impl Iterator<Item = Range<usize>> + use<> {
        let (poses, block) = (self.poses(), BLOCK_BYTES / pose_bytes(library, self.skeleton, outputs));
        let block = block.max(1);
        (0..poses).step_by(block).map(move |first| first..poses.min(first + block))
    }
}

/// Shown a pose, with its number.
pub type Visit<'a> = dyn FnMut(usize, &Pose) -> Result<(), Error> + 'a;

/// Poses to ask an engine for: sample by sample, and in a sample instance by instance.
pub trait Asked {
    /// Seconds of each sample.
    fn times(&self) -> &[f64];

    /// Instances in each sample.
    fn instances(&self) -> usize;

    /// The number of poses.
    fn poses(&self) -> usize {
        self.times().len() * self.instances()
    }

    /// The poses in ranges, of which each takes a bounded amount of memory.
    fn blocks<'a>(&'a self, library: &Library, outputs: Outputs) -> Box<dyn Iterator<Item = Range<usize>> + 'a>;

    /// The crowd of a block, and the step at whose end it is posed.
    fn crowd(&self, block: Range<usize>) -> Result<(Crowd, Step), Error>;

    /// Asks an engine, and shows each pose, by its number, to a visitor.
    fn each_pose(
        &self,
        library: &Library,
        engine: &mut dyn Evaluator,
        outputs: Outputs,
        progress: &Progress,
        visit: &mut Visit,
    ) -> Result<(), Error> {
        for block in self.blocks(library, outputs) {
            let (crowd, step) = self.crowd(block.clone())?;
            let poses = engine.evaluate_step(&crowd, step, outputs)?;
            for (pose, answer) in block.clone().zip(&poses.instances) {
                visit(pose, answer)?;
            }
            progress.add(block.len());
        }
        Ok(())
    }
}

impl Asked for Question {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn blocks<'a>(&'a self, library: &Library, outputs: Outputs) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
        Box::new(self.blocks(library, outputs))
    }

    fn crowd(&self, block: Range<usize>) -> Result<(Crowd, Step), Error> {
        Ok((self.crowd(block)?, Ticks::default().into()))
    }
}

/// The instances of a crowd file at some times of its clock.
pub struct CrowdQuestion<'a> {
    file: &'a CrowdFile,
    times: Vec<f64>,
    ticks: Vec<Ticks>,
}

impl<'a> CrowdQuestion<'a> {
    /// The question, unless it could only be a mistake.
    pub fn new(library: &Library, file: &'a CrowdFile, times: Vec<f64>) -> Result<Self, Error> {
        let tick = |&time: &f64| {
            let beyond = || Error::Usage(format!("{time:e} s is beyond the crowd's clock; give a time nearer to 0"));
            CrowdFile::ticks(time).ok_or_else(beyond)
        };
        let ticks = times.iter().map(tick).collect::<Result<_, _>>()?;
        let samples = times.len() as u64;
        limit("samples", samples, MOST)?;
        let joints = |index: usize| library.skeleton(file.files[index].asset.skeleton).joints().len().max(1) as u64;
        let joints = file.groups().map(|(instances, index)| (instances.len() as u64).saturating_mul(joints(index)));
        let joints = joints.fold(0, u64::saturating_add);
        limit("samples x instances x joints", samples.saturating_mul(joints), MOST_JOINTS)?;
        Ok(Self { file, times, ticks })
    }

    /// The instances in ranges of which each takes a bounded amount of memory.
    fn blocks(&self, library: &Library, outputs: Outputs) -> Vec<Range<usize>> {
        let mut blocks = Vec::new();
        let (mut first, mut room) = (0, BLOCK_BYTES);
        for (instances, file) in self.file.groups() {
            let bytes = LAYERS_BYTES + pose_bytes(library, self.file.files[file].asset.skeleton, outputs);
            let mut next = instances.start;
            while next < instances.end {
                if room < bytes && first < next {
                    blocks.push(first..next);
                    (first, room) = (next, BLOCK_BYTES);
                }
                let count = (room / bytes).clamp(1, instances.end - next);
                next += count;
                room = room.saturating_sub(count * bytes);
            }
        }
        if first < self.file.len() {
            blocks.push(first..self.file.len());
        }
        blocks
    }
}

impl Asked for CrowdQuestion<'_> {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn instances(&self) -> usize {
        self.file.len()
    }

    fn blocks<'a>(&'a self, library: &Library, outputs: Outputs) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
        let (blocks, instances) = (self.blocks(library, outputs), self.instances());
        let of_sample = move |sample: usize| {
            let first = sample * instances;
            let later = move |block: &Range<usize>| first + block.start..first + block.end;
            blocks.iter().map(later).collect::<Vec<_>>()
        };
        Box::new((0..self.times.len()).flat_map(of_sample))
    }

    fn crowd(&self, block: Range<usize>) -> Result<(Crowd, Step), Error> {
        let sample = block.start / self.instances().max(1);
        let first = sample * self.instances();
        let step = Step { from: self.ticks[sample.saturating_sub(1)], to: self.ticks[sample] };
        Ok((self.file.crowd(block.start - first..block.end - first)?, step))
    }
}

/// How many instances, of whatever skeletons, take a bounded amount of memory.
pub fn mixed_block(library: &Library, outputs: Outputs) -> usize {
    let most = library.skeleton_ids().map(|id| pose_bytes(library, id, outputs)).max().unwrap_or(0);
    (BLOCK_BYTES / (LAYERS_BYTES + most)).max(1)
}

/// A number of seconds, or of frames a second.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.abs() <= f64::from(f32::MAX) => Ok(number),
        Ok(_) => Err("not a finite number that 32-bit floats hold".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Refuses a number beyond a limit.
pub fn limit(what: &str, needed: u64, allowed: u64) -> Result<(), Error> {
    if needed > allowed { Err(Error::Limit { what: what.into(), needed, allowed }) } else { Ok(()) }
}

/// Bytes that a pose takes in memory, with the crowd's own, roughly.
fn pose_bytes(library: &Library, id: SkeletonId, outputs: Outputs) -> usize {
    let skeleton = library.skeleton(id);
    let joints = skeleton.joints().len();
    let skin_joints: usize = library.skins_of(id).map(|(_, skin)| skin.joints.len()).sum();
    let numbers = [
        (outputs.local, 10 * joints),
        (outputs.model, 12 * joints),
        (outputs.skin, 12 * skin_joints),
        (outputs.weights, skeleton.weight_count()),
        (outputs.properties, skeleton.property_width()),
        (outputs.root_motion, 7),
    ];
    256 + 8 * numbers.iter().filter(|(wanted, _)| *wanted).map(|(_, numbers)| numbers).sum::<usize>()
}
