//! One clip: its arrays, its writer and its facts.

use posse::bake::{ArrayLayout, ArrayRequest, find_joints};
use posse::{Error, Library, SkeletonId};

use crate::bake::facts::{Facts, SourceFacts, VERSION};
use crate::bake::format::{ClipHead, ClipWriter};
use crate::bake::frames::ClipFrames;
use crate::bake::inputs::{ClipFile, ListedClip};
use crate::bake::job::{Fault, Job};
use crate::bake::manifest::ListedSource;
use crate::bake::options::Options;
use crate::bake::part::{PartClip, Turn};
use crate::bake::sampler::{Block, Motion, Sampler};

/// The fault of a clip that binds to no node of the rig.
pub const UNBOUND: &str =
    "no track of the clip finds a node of its name in the rig; give a rig with the same joint names";

/// A skeleton with the arrays that are wanted of it.
pub struct Rig<'a> {
    pub library: &'a Library,
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    pub nodes: &'a [usize],
    pub layout: ArrayLayout,
}

impl<'a> Rig<'a> {
    /// The arrays of a skeleton. Fails if it lacks a joint of `--joints`.
    pub fn new(
        library: &'a Library,
        skeleton: SkeletonId,
        nodes: &'a [usize],
        options: &Options,
    ) -> Result<Self, Error> {
        let joints = match &options.joints {
            Some(names) => find_joints(library.skeleton(skeleton), names)?,
            None => nodes.to_vec(),
        };
        let Options { up, scale, quaternions, .. } = *options;
        let request = ArrayRequest { kinds: options.kinds.clone(), joints, up, scale, quaternions };
        let layout = ArrayLayout::new(library, skeleton, nodes, &request)?;
        Ok(Self { library, skeleton, nodes, layout })
    }

    /// The facts about a clip that its writer needs.
    pub fn head<'b>(&'b self, name: &'b str) -> ClipHead<'b> {
        let Self { library, skeleton, nodes, ref layout } = *self;
        ClipHead { library, skeleton, nodes, layout, name }
    }

    /// Begins the output of a clip. With a turn, the clip goes to the files of the share.
    pub fn begin<'b, 'w>(
        &'b self,
        job: &'b Job<'b>,
        turn: Option<&'b Turn<'b, 'w>>,
        name: &'b str,
    ) -> Result<Box<dyn ClipWriter + 'b>, Fault>
    where
        'w: 'b,
    {
        let head = self.head(name);
        match turn {
            Some(turn) => Ok(Box::new(PartClip::new(job, turn, head, job.out))),
            None => {
                let draft = job.tag.create(&job.out.join(job.output(name))).map_err(Fault::Output)?;
                job.options.format.begin(head, draft).map_err(Fault::of_writer)
            }
        }
    }

    /// Completes the output of a clip, and lists it in the manifest.
    pub fn finish(&self, job: &Job, writer: Box<dyn ClipWriter + '_>, facts: &Facts) -> Result<(), Fault> {
        let Some(draft) = writer.finish(facts).map_err(Fault::of_writer)? else { return Ok(()) };
        job.manifest.keep(draft, &job.output(&facts.clip), vec![ListedSource::new(facts)]).map_err(Fault::Output)
    }

    /// The facts of a clip, without warnings.
    pub fn facts(
        &self,
        options: &Options,
        clip: &ListedClip,
        frames: &ClipFrames,
        source: SourceFacts,
        engine: String,
    ) -> Facts {
        let joints = self.library.skeleton(self.skeleton).joints();
        let name_of = |&joint: &usize| joints[joint].name.clone().unwrap_or_default();
        let parent = |parent: &Option<usize>| parent.map_or(-1, |parent| i32::try_from(parent).unwrap_or(i32::MAX));
        Facts {
            clip: clip.name.clone(),
            fps: frames.grid.fps(),
            joint_names: self.layout.joints().iter().map(name_of).collect(),
            parents: self.layout.parents().iter().map(parent).collect(),
            quaternion_order: options.quaternions.name(),
            up_axis: options.up.name(),
            unit_scale: options.scale,
            source: SourceFacts {
                clip: clip.part.clip.clone(),
                mirrored: clip.part.mirrored,
                frames: frames.source,
                ..source
            },
            options: options.text.clone(),
            posse_version: VERSION,
            engine,
            warnings: Vec::new(),
        }
    }
}

/// The clips of a file that are baked with one skeleton.
pub struct ClipBake<'a, 'w> {
    pub job: &'a Job<'a>,
    pub file: &'a ClipFile,
    pub turn: Option<&'a Turn<'a, 'w>>,
    pub rig: Rig<'a>,
    pub source: &'a SourceFacts,
}

impl ClipBake<'_, '_> {
    /// Bakes frames of a motion as a clip. A bake that stops leaves it out.
    pub fn bake(&self, clip: &ListedClip, motion: &FramedMotion, sampler: &mut Sampler) -> Result<(), Fault> {
        let Self { job, file, rig, .. } = self;
        let FramedMotion { motion, frames, warnings } = motion;
        let mut writer = rig.begin(job, self.turn, &clip.name)?;
        let mut block = Block::new(&rig.layout);
        let mut first = frames.frames.start;
        while first < frames.frames.end && !job.is_stopped() {
            let end = block.end(first, frames.frames.end);
            block.fill(sampler, &rig.layout, frames, *motion, first..end)?;
            writer.append(&block.times, &block.arrays).map_err(Fault::of_writer)?;
            job.progress.add_frames(block.times.len());
            first = end;
        }
        if job.is_stopped() {
            return Ok(());
        }
        let facts = rig.facts(job.options, clip, frames, self.source.clone(), sampler.name());
        let facts = Facts { warnings: warnings.clone(), ..facts };
        rig.finish(job, writer, &facts)?;
        job.count_baked(file, &facts, frames.count());
        Ok(())
    }
}

/// A motion, and what of it is baked.
pub struct FramedMotion<'a> {
    pub motion: Motion<'a>,
    pub frames: ClipFrames,
    /// The warnings about it.
    pub warnings: Vec<String>,
}

/// The frame rate of a BVH file; `None` without a usable frame time.
pub fn bvh_fps(frame_time: f64) -> Option<f64> {
    Some(1.0 / frame_time).filter(|fps| *fps > 0.0 && fps.is_finite())
}
