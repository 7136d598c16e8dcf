//! The poses that a command evaluates, in blocks that fit into memory.

use std::ops::Range;

use posse::import::crowd::CrowdFile;
use posse::low_level::reference::phase;
use posse::playback::Phase;
use posse::quality::FootLock;
use posse::transitions::Transition;
use posse::{
    ClipId, Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Playback, Pose, SkeletonId, Step, Ticks,
};

use crate::arguments::check_limit;
use crate::progress::Progress;

/// The largest size in bytes of a block of poses.
const BLOCK_BYTES: usize = 64 << 20;
/// An upper estimate of the bytes of the layers of an instance.
const LAYERS_BYTES: usize = 2048;
/// The largest number of samples, and of instances.
const MAX_COUNT: u64 = 1 << 24;
/// The largest product of samples, instances and joints.
const MAX_JOINTS: u64 = 1 << 32;

/// A clip or the rest pose at given times, for one or more instances. The poses are ordered by sample, then by
/// instance.
#[derive(Debug, Clone)]
pub struct ClipEvaluation {
    /// The skeleton of all instances.
    pub skeleton: SkeletonId,
    /// The clip; `None` evaluates the rest pose.
    pub clip: Option<ClipId>,
    /// Seconds of the clip, or with `playback` seconds since the play began.
    pub times: Vec<f64>,
    /// The number of instances at each time; at least 1.
    pub instances: usize,
    /// Seconds by which each instance is ahead of the previous one.
    pub phase: f64,
    /// The playback of the clip; `None` if the times are times of the clip.
    pub playback: Option<ClipPlayback>,
    /// The lock of the feet of the clip; `None` leaves them as they are.
    pub lock: Option<FootLock>,
}

/// A clip that plays from time 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipPlayback {
    /// The playback, with a wrap mode other than the default.
    pub playback: Playback,
    /// The duration of the clip in seconds.
    pub duration: f64,
}

impl ClipPlayback {
    /// Returns `true` if the number of passes up to a time before or after the start is finite.
    fn has_finite_passes(&self, seconds: f64) -> bool {
        let [start, end] = self.playback.part(self.duration);
        end <= start || (self.playback.rate.abs() * seconds / (end - start)).is_finite()
    }

    /// The phase of the clip at a time in seconds since the play began, by the rule of [`posse::playback::clip_time`]:
    /// before the beginning, a mode that does not repeat waits.
    fn phase_at(&self, seconds: f64) -> Phase {
        let Playback { wrap, rate, .. } = self.playback;
        // -0 s counts as 0 s. Played seconds of -0 are the beginning of a play backwards, which a rate of 0 never has.
        let seconds = if wrap.repeats() { seconds } else { seconds.max(0.0) } + 0.0;
        let played = if rate == 0.0 { 0.0 } else { rate * seconds };
        phase(&self.playback, played, self.duration)
    }
}

impl ClipEvaluation {
    /// Fails if a time, the number of passes or the number of poses is too large.
    pub fn check(&self, library: &Library) -> Result<(), Error> {
        let ahead = (self.instances.saturating_sub(1) as f64 * self.phase).abs();
        let latest = self.times.iter().fold(0.0, |latest: f64, time| latest.max(time.abs()));
        if latest + ahead > f64::from(f32::MAX) {
            return Err(Error::Usage(format!("the last instance is {ahead:e} s ahead; give a smaller --phase")));
        }
        if self.playback.is_some_and(|playback| !playback.has_finite_passes(latest + ahead)) {
            return Err(Error::Usage("the clip is repeated too often to be counted; give smaller times".into()));
        }
        let (samples, instances) = (self.times.len() as u64, self.instances as u64);
        let joints = library.skeleton(self.skeleton).joints().len().max(1) as u64;
        check_limit("samples", samples, MAX_COUNT)?;
        check_limit("instances", instances, MAX_COUNT)?;
        check_limit(
            "samples x instances x joints",
            samples.saturating_mul(instances).saturating_mul(joints),
            MAX_JOINTS,
        )
    }

    /// The time of a pose: seconds of the clip, or since the play began.
    fn time_of(&self, pose: usize) -> f64 {
        self.times[pose / self.instances] + (pose % self.instances) as f64 * self.phase
    }

    /// The phase of the clip in a pose; `None` without playback.
    pub fn phase_of(&self, pose: usize) -> Option<Phase> {
        self.playback.map(|playback| playback.phase_at(self.time_of(pose)))
    }

    /// The time of the clip in a pose.
    fn clip_time(&self, pose: usize) -> f64 {
        self.phase_of(pose).map_or_else(|| self.time_of(pose), |phase| phase.time)
    }

    /// The crowd of a range of poses, without the lock of feet.
    pub fn crowd(&self, poses: Range<usize>) -> Result<Crowd, Error> {
        let mut crowd = Crowd::new();
        for pose in poses {
            let layer = self.clip.map(|clip| Layer::new(clip, LayerTime::At(self.clip_time(pose))));
            crowd.push(self.skeleton, layer.as_slice())?;
        }
        Ok(crowd)
    }

    /// Splits the poses into ranges. The poses of a range take a bounded amount of memory.
    pub fn blocks(&self, library: &Library, outputs: Outputs) -> impl Iterator<Item = Range<usize>> + use<> {
        let (poses, block) = (self.poses(), BLOCK_BYTES / pose_bytes(library, self.skeleton, outputs));
        let block = block.max(1);
        (0..poses).step_by(block).map(move |first| first..poses.min(first + block))
    }
}

/// A function that takes the number of a pose and the pose.
pub type VisitPose<'a> = dyn FnMut(usize, &Pose) -> Result<(), Error> + 'a;

/// Poses that an engine evaluates, ordered by sample, then by instance.
pub trait Evaluation {
    /// The time of each sample in seconds.
    fn times(&self) -> &[f64];

    /// The number of instances in each sample.
    fn instances(&self) -> usize;

    /// The number of poses.
    fn poses(&self) -> usize {
        self.times().len() * self.instances()
    }

    /// Splits the poses into ranges. The poses of a range take a bounded amount of memory.
    fn blocks<'a>(&'a self, library: &Library, outputs: Outputs) -> Box<dyn Iterator<Item = Range<usize>> + 'a>;

    /// The crowd of a block, and the step of time that it is evaluated for. The poses are those at the end of the step.
    fn crowd(&self, library: &Library, block: Range<usize>) -> Result<(Crowd, Step), Error>;

    /// Evaluates all poses with an engine, and passes each of them with its number to a function.
    fn each_pose(
        &self,
        library: &Library,
        engine: &mut dyn Evaluator,
        outputs: Outputs,
        progress: &Progress,
        visit: &mut VisitPose,
    ) -> Result<(), Error> {
        for block in self.blocks(library, outputs) {
            let (crowd, step) = self.crowd(library, block.clone())?;
            let poses = engine.evaluate_step(&crowd, step, outputs)?;
            for (number, pose) in block.clone().zip(&poses.instances) {
                visit(number, pose)?;
            }
            progress.add(block.len());
        }
        Ok(())
    }
}

impl Evaluation for ClipEvaluation {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn blocks<'a>(&'a self, library: &Library, outputs: Outputs) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
        Box::new(self.blocks(library, outputs))
    }

    fn crowd(&self, library: &Library, block: Range<usize>) -> Result<(Crowd, Step), Error> {
        let mut crowd = self.crowd(block.clone())?;
        if let Some(lock) = &self.lock {
            for (instance, pose) in block.enumerate() {
                crowd.set_goals(instance, lock.goals(library, self.clip_time(pose)))?;
            }
        }
        Ok((crowd, Ticks::default().into()))
    }
}

/// The instances of a crowd file at given times of the crowd clock.
pub struct CrowdEvaluation<'a> {
    file: &'a CrowdFile,
    times: Vec<f64>,
    ticks: Vec<Ticks>,
}

impl<'a> CrowdEvaluation<'a> {
    /// Creates the evaluation. Fails if a time is beyond the crowd clock, or if there are too many poses.
    pub fn new(library: &Library, file: &'a CrowdFile, times: Vec<f64>) -> Result<Self, Error> {
        let ticks = times.iter().map(|&time| clock_ticks(time)).collect::<Result<_, _>>()?;
        let samples = times.len() as u64;
        check_limit("samples", samples, MAX_COUNT)?;
        let joints = |index: usize| library.skeleton(file.files[index].asset.skeleton).joints().len().max(1) as u64;
        let joints = file.groups().map(|(instances, index)| (instances.len() as u64).saturating_mul(joints(index)));
        let joints = joints.fold(0, u64::saturating_add);
        check_limit("samples x instances x joints", samples.saturating_mul(joints), MAX_JOINTS)?;
        Ok(Self { file, times, ticks })
    }

    /// An estimate of the bytes of the transition of an instance of a group.
    fn transition_bytes(&self, library: &Library, group: &Range<usize>) -> usize {
        let first = self.file.crowd(library, group.start..group.start + 1);
        let Some(depth) = first.ok().and_then(|crowd| crowd.transition(0).map(Transition::depth)) else { return 0 };
        let all = Outputs { local: true, weights: true, properties: true, ..Outputs::NONE };
        2 * depth * library.skeleton_ids().map(|id| pose_bytes(library, id, all)).max().unwrap_or(0)
    }

    /// Splits the instances into ranges. The poses of a range take a bounded amount of memory.
    fn blocks(&self, library: &Library, outputs: Outputs) -> Vec<Range<usize>> {
        let mut blocks = Vec::new();
        let (mut first, mut room) = (0, BLOCK_BYTES);
        for (instances, file) in self.file.groups() {
            let skeleton = self.file.files[file].asset.skeleton;
            let bytes =
                LAYERS_BYTES + pose_bytes(library, skeleton, outputs) + self.transition_bytes(library, &instances);
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

impl Evaluation for CrowdEvaluation<'_> {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn instances(&self) -> usize {
        self.file.len()
    }

    fn blocks<'a>(&'a self, library: &Library, outputs: Outputs) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
        let (blocks, instances) = (self.blocks(library, outputs), self.instances());
        let blocks_of_sample = move |sample: usize| {
            let first = sample * instances;
            let shift = move |block: &Range<usize>| first + block.start..first + block.end;
            blocks.iter().map(shift).collect::<Vec<_>>()
        };
        Box::new((0..self.times.len()).flat_map(blocks_of_sample))
    }

    fn crowd(&self, library: &Library, block: Range<usize>) -> Result<(Crowd, Step), Error> {
        let sample = block.start / self.instances().max(1);
        let first = sample * self.instances();
        let step = Step { from: self.ticks[sample.saturating_sub(1)], to: self.ticks[sample] };
        Ok((self.file.crowd(library, block.start - first..block.end - first)?, step))
    }
}

/// Converts seconds to ticks of the crowd clock. Fails if the clock does not reach that time.
pub fn clock_ticks(seconds: f64) -> Result<Ticks, Error> {
    let beyond = || Error::Usage(format!("{seconds:e} s is beyond the crowd clock; give a time nearer to 0"));
    CrowdFile::ticks(seconds).ok_or_else(beyond)
}

/// The number of instances, of any skeletons of the library, that fit into a block.
pub fn mixed_block(library: &Library, outputs: Outputs) -> usize {
    let most = library.skeleton_ids().map(|id| pose_bytes(library, id, outputs)).max().unwrap_or(0);
    (BLOCK_BYTES / (LAYERS_BYTES + most)).max(1)
}

/// An estimate of the bytes of a pose and of its instance in the crowd.
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
    256 + 8 * numbers.iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, numbers)| numbers).sum::<usize>()
}
