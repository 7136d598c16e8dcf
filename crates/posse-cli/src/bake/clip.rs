//! One clip: its arrays, its writer and its facts.

use std::borrow::Cow;

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest};
use posse::ik::ChainId;
use posse::{Error, Library, Skeleton, SkeletonId};

use crate::bake::facts::{Facts, RowFacts, SourceFacts, VERSION, skeleton_digits};
use crate::bake::format::{ClipHead, ClipWriter};
use crate::bake::frames::ClipFrames;
use crate::bake::inputs::{ListedClip, ListedFile};
use crate::bake::job::{BakeError, Job};
use crate::bake::manifest::ListedSource;
use crate::bake::measure::Measured;
use crate::bake::options::Options;
use crate::bake::part::{PartClip, Turn};
use crate::bake::progress::FileProgress;
use crate::bake::sampler::{Block, ClipSampler, OutputMotion};
use crate::quality::NO_FEET;

/// The error of a clip that binds to no node of the rig.
pub const UNBOUND: &str =
    "no track of the clip finds a node of its name in the rig; give a rig with the same joint names";

/// The error of a clip of which the file has no usable track.
pub const UNREADABLE: &str = "none of its tracks can be read; a warning names the reason";

/// A skeleton with the arrays that are wanted of it.
pub struct ArrayRig<'a> {
    pub library: &'a Library,
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file, and for formats with nodes all other joints.
    nodes: Cow<'a, [usize]>,
    pub layout: ArrayLayout,
    /// The joints of `--joints`; `None` without it.
    listed: Option<Vec<usize>>,
}

impl<'a> ArrayRig<'a> {
    /// The arrays of a skeleton. Fails if it lacks a joint of `--joints`.
    pub fn new(
        library: &'a Library,
        skeleton: SkeletonId,
        nodes: &'a [usize],
        options: &Options,
    ) -> Result<Self, Error> {
        let listed =
            options.joints.as_deref().map(|names| library.skeleton(skeleton).select_joints(names)).transpose()?;
        let count = nodes.len();
        let nodes = all_nodes(options, library.skeleton(skeleton), nodes);
        let joints = match &listed {
            Some(listed) if !options.format.needs_all_joints() => {
                let parent = |&joint: &usize| library.skeleton(skeleton).joints()[joint].parent;
                let carries = |other: &&usize| listed.iter().any(|joint| parent(joint) == Some(**other));
                listed.iter().chain(nodes[count..].iter().filter(carries)).copied().collect()
            }
            _ => nodes.to_vec(),
        };
        let Options { up, scale, quaternions, .. } = *options;
        let request = ArrayRequest { kinds: options.kinds.clone(), joints, up, scale, quaternions };
        let layout = ArrayLayout::new(library, skeleton, &nodes, &request)?;
        let layout = match &options.morphs {
            Some(names) => layout.with_weights(library, names)?,
            None => layout,
        };
        Ok(Self { library, skeleton, nodes, layout, listed })
    }

    /// The facts about a clip that its writer needs.
    pub fn head<'b>(&'b self, job: &'b Job<'b>, name: &'b str) -> ClipHead<'b> {
        let Self { library, skeleton, ref nodes, ref layout, ref listed } = *self;
        let (listed, scale, progress) = (listed.as_deref(), job.options.scale, &job.progress);
        ClipHead { library, skeleton, nodes, layout, listed, name, scale, progress }
    }

    /// Begins the output of a clip. With a turn, the clip goes to the files of the share.
    pub fn begin<'b, 'w>(
        &'b self,
        job: &'b Job<'b>,
        turn: Option<&'b Turn<'b, 'w>>,
        name: &'b str,
    ) -> Result<Box<dyn ClipWriter + 'b>, BakeError>
    where
        'w: 'b,
    {
        let head = self.head(job, name);
        match turn {
            Some(turn) => Ok(Box::new(PartClip::new(job, turn, head, job.out))),
            None => {
                let draft = job.tag.create(&job.out.join(job.output(name))).map_err(BakeError::Output)?;
                job.options.format.begin(head, draft).map_err(BakeError::of_writer)
            }
        }
    }

    /// Completes the output of a clip, and lists it in the manifest. Returns its path below OUT.
    pub fn finish(
        &self,
        job: &Job,
        turn: Option<&Turn>,
        writer: Box<dyn ClipWriter + '_>,
        facts: &Facts,
    ) -> Result<String, BakeError> {
        let Some(draft) = writer.finish(facts).map_err(BakeError::of_writer)? else {
            return Ok(turn.map(Turn::take_part).unwrap_or_default());
        };
        let output = job.output(&facts.clip);
        job.manifest.keep(draft, &output, vec![ListedSource::new(facts)]).map_err(BakeError::Output)?;
        Ok(output)
    }

    /// The facts of a clip, without warnings. Nothing is known of its unit, and its file has +Y up.
    pub fn facts(
        &self,
        options: &Options,
        clip: &ListedClip,
        frames: &ClipFrames,
        source: SourceFacts,
        engine: String,
    ) -> Facts {
        let skeleton = self.library.skeleton(self.skeleton);
        let joints = skeleton.joints();
        let has_names = skeleton.has_morph_names();
        let name_of = |&joint: &usize| joints[joint].name.clone().unwrap_or_default();
        let parent = |parent: &Option<usize>| parent.map_or(-1, |parent| i32::try_from(parent).unwrap_or(i32::MAX));
        let joint_names: Vec<String> = self.layout.joints().iter().map(name_of).collect();
        let parents: Vec<i32> = self.layout.parents().iter().map(parent).collect();
        let rows = RowFacts {
            frames: frames.count(),
            fps: frames.grid.fps(),
            seconds: frames.time(frames.frames.end - 1),
            joints: joint_names.len(),
            skeleton: skeleton_digits(&joint_names, &parents),
        };
        Facts {
            clip: clip.name.clone(),
            fps: rows.fps,
            joint_names,
            parents,
            quaternion_order: options.quaternions.name(),
            weight_names: if has_names { self.layout.weight_names().to_vec() } else { Vec::new() },
            contact_feet: self.layout.feet().iter().map(|foot| foot.name.clone()).collect(),
            quality: None,
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
            rows,
            is_in_metres: false,
        }
    }
}

/// The nodes of an output: the nodes of the file; for formats with nodes, also the joints that are no nodes of the
/// file, but carry translations of nodes.
fn all_nodes<'a>(options: &Options, skeleton: &Skeleton, nodes: &'a [usize]) -> Cow<'a, [usize]> {
    let count = skeleton.joints().len();
    if nodes.len() == count || !options.format.has_nodes() {
        return nodes.into();
    }
    let mut is_node = vec![false; count];
    nodes.iter().for_each(|&node| is_node[node] = true);
    nodes.iter().copied().chain((0..count).filter(|&joint| !is_node[joint])).collect()
}

/// The clips of a file that are baked with one skeleton.
pub struct ClipBake<'a, 'w> {
    /// The chains of the legs, if feet are to be held.
    pub chains: Option<&'a [ChainId]>,
    pub job: &'a Job<'a>,
    pub file: &'a ListedFile,
    pub turn: Option<&'a Turn<'a, 'w>>,
    pub rig: ArrayRig<'a>,
    pub source: &'a SourceFacts,
    pub progress: &'a FileProgress<'a>,
    /// `true` if lengths are metres.
    pub is_in_metres: bool,
    /// The axis that points up, by [`Options::up_axis`].
    pub up_axis: &'static str,
}

impl ClipBake<'_, '_> {
    /// Bakes frames of a motion as a clip. A bake that stops leaves it out.
    pub fn bake(&self, clip: &ListedClip, motion: &FramedMotion, sampler: &mut ClipSampler) -> Result<(), BakeError> {
        let Self { job, file, rig, .. } = self;
        let FramedMotion { motion, frames, warnings } = motion;
        let mut warnings = warnings.clone();
        let measured = self.measure(clip, frames, *motion, sampler)?;
        if measured.as_ref().is_some_and(|measured| measured.contacts.feet() == 0) {
            let warning = self.no_feet();
            // Once for all clips of the file.
            job.progress.note_once(&format!("warning: {}: {warning}", file.path.display()));
            warnings.push(warning);
        }
        let lock = measured.as_ref().and_then(|measured| measured.lock.as_ref());
        let motion = match (*motion, lock) {
            (OutputMotion::Clip(clip), Some(lock)) => OutputMotion::Locked(clip, rig.library, lock),
            (motion, _) => motion,
        };
        let mut writer = rig.begin(job, self.turn, &clip.name)?;
        let mut block = Block::new(&rig.layout);
        let mut first = frames.frames.start;
        while first < frames.frames.end && !job.is_stopped() {
            let end = block.end(first, frames.frames.end);
            block.fill(sampler, &rig.layout, frames, motion, first..end)?;
            if let Some(measured) = &measured {
                block.fill_contacts(&rig.layout, &measured.contacts);
            }
            writer.append(&block.times, &block.arrays).map_err(BakeError::of_writer)?;
            self.progress.add_frames(block.times.len(), frames.count());
            first = end;
        }
        if job.is_stopped() {
            return Ok(());
        }
        let facts = rig.facts(job.options, clip, frames, self.source.clone(), sampler.name());
        let quality = measured.and_then(|measured| measured.quality);
        let Self { is_in_metres, up_axis, .. } = *self;
        let facts = Facts { quality, warnings, is_in_metres, up_axis, ..facts };
        let output = rig.finish(job, self.turn, writer, &facts)?;
        job.count_baked(file, &output, &facts);
        Ok(())
    }

    /// Measures frames of a motion, if contacts or measures are wanted. Crowd files, which have layers, are refused
    /// before.
    fn measure(
        &self,
        listed: &ListedClip,
        frames: &ClipFrames,
        motion: OutputMotion,
        sampler: &mut ClipSampler,
    ) -> Result<Option<Measured>, Error> {
        let Self { job, rig, .. } = self;
        let (Some(_), OutputMotion::Clip(clip)) = (job.options.measuring(), motion) else { return Ok(None) };
        let head = rig.head(job, &listed.name);
        Measured::new(&head, frames, clip, self.chains, job.options.quality, sampler).map(Some)
    }

    /// The warning that no feet are known, with what follows for the options.
    fn no_feet(&self) -> String {
        let options = self.job.options;
        let results = [
            (options.kinds.contains(&ArrayKind::Contact), "the array contact is empty"),
            (options.quality, "feet are not measured"),
            (options.foot_lock, "no foot is held"),
        ];
        let results = results.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, result)| result);
        format!("{NO_FEET}; {}", results.collect::<Vec<_>>().join(", "))
    }
}

/// A motion, and what of it is baked.
pub struct FramedMotion<'a> {
    pub motion: OutputMotion<'a>,
    pub frames: ClipFrames,
    /// The warnings about it.
    pub warnings: Vec<String>,
}
