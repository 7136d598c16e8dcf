//! One clip: its arrays, its writer and its facts.

use posse::bake::{ArrayLayout, ArrayRequest, DEFAULT_FPS, FrameGrid, find_joints};
use posse::{ChainId, Error, Library, SkeletonId};

use crate::bake::facts::{Facts, SourceFacts, VERSION};
use crate::bake::format::{ClipHead, ClipWriter};
use crate::bake::inputs::ClipFile;
use crate::bake::job::{Fault, Job};
use crate::bake::manifest::ListedSource;
use crate::bake::measure::Measured;
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
        let output = job.output(&facts.clip);
        job.manifest.keep(draft, &output, vec![ListedSource::of(facts)]).map_err(Fault::Output)
    }

    /// The facts of a clip.
    pub fn facts(&self, options: &Options, name: &str, fps: f64, source: SourceFacts, engine: String) -> Facts {
        let joints = self.library.skeleton(self.skeleton).joints();
        let name_of = |&joint: &usize| joints[joint].name.clone().unwrap_or_default();
        let parent = |parent: &Option<usize>| parent.map_or(-1, |parent| i32::try_from(parent).unwrap_or(i32::MAX));
        Facts {
            clip: name.to_owned(),
            fps,
            joint_names: self.layout.joints().iter().map(name_of).collect(),
            parents: self.layout.parents().iter().map(parent).collect(),
            quaternion_order: options.quaternions.name(),
            contact_feet: self.layout.feet().iter().map(|foot| foot.name.clone()).collect(),
            quality: None,
            up_axis: options.up.name(),
            unit_scale: options.scale,
            source,
            options: options.text.clone(),
            posse_version: VERSION,
            engine,
        }
    }
}

/// The clips of a file that are baked with one skeleton.
pub struct ClipBake<'a, 'w> {
    /// The chains of the legs, if feet are to be held.
    pub chains: Option<&'a [ChainId]>,
    pub job: &'a Job<'a>,
    pub file: &'a ClipFile,
    pub turn: Option<&'a Turn<'a, 'w>>,
    pub rig: Rig<'a>,
    pub source: &'a SourceFacts,
}

impl ClipBake<'_, '_> {
    /// Bakes a motion under a name. A bake that stops leaves it out.
    pub fn bake(&self, name: &str, grid: FrameGrid, motion: Motion, sampler: &mut Sampler) -> Result<(), Fault> {
        let Self { job, file, rig, .. } = self;
        let measured = self.measure(&grid, motion, sampler)?;
        let lock = measured.as_ref().and_then(|measured| measured.lock.as_ref());
        let motion = match (motion, lock) {
            (Motion::Clip(clip), Some(lock)) => Motion::Locked(clip, rig.library, lock),
            _ => motion,
        };
        let mut writer = rig.begin(job, self.turn, name)?;
        let mut block = Block::new(&rig.layout);
        let mut first = 0;
        while first < grid.len() && !job.is_stopped() {
            let end = block.end(first, grid.len());
            block.fill(sampler, &rig.layout, &grid, motion, first..end)?;
            if let Some(measured) = &measured {
                block.fill_contacts(&rig.layout, &measured.contacts);
            }
            writer.append(&block.times, &block.arrays).map_err(Fault::of_writer)?;
            job.progress.add_frames(block.times.len());
            first = end;
        }
        if job.is_stopped() {
            return Ok(());
        }
        let mut facts = rig.facts(job.options, name, grid.fps(), self.source.clone(), sampler.name());
        facts.quality = measured.and_then(|measured| measured.quality);
        rig.finish(job, writer, &facts)?;
        job.count_baked(file, name, grid.len(), facts.quality.as_ref());
        Ok(())
    }

    /// Measures a motion, if its contacts or its quality are wanted.
    fn measure(&self, grid: &FrameGrid, motion: Motion, sampler: &mut Sampler) -> Result<Option<Measured>, Error> {
        let Self { job, file, rig, .. } = self;
        if !job.options.need_whole_clips() {
            return Ok(None);
        }
        let Motion::Clip(clip) = motion else {
            return Err(Error::Usage(
                "contacts, --quality and --foot-lock are those of a clip, but an instance of a crowd mixes layers; bake its clips"
                    .into(),
            ));
        };
        let measured = Measured::new(rig, grid, clip, self.chains, job.options.quality, sampler)?;
        if measured.contacts.feet() == 0 {
            job.warn(&format!(
                "warning: {}: no feet are known, because the joints have no names of a human; contacts are empty",
                file.path.display()
            ));
        }
        Ok(Some(measured))
    }
}

/// The frames of a clip: at the rate of `--fps`, otherwise at its own, otherwise at 30 per second.
pub fn grid(options: &Options, native: Option<f64>, duration: f64) -> Result<FrameGrid, Error> {
    FrameGrid::new(options.fps.or(native).unwrap_or(DEFAULT_FPS), duration)
}
