//! One file: read, imported, and baked clip by clip.

use std::collections::{BTreeSet, HashMap, HashSet};

use posse::bake::native_fps;
use posse::import::{FileFormat, bvh};
use posse::quality::FootLock;
use posse::retarget::MirrorMap;
use posse::{ClipId, Error, Library, SkeletonId};

use crate::bake::clip::{ArrayRig, ClipBake, FramedMotion, UNBOUND, UNREADABLE};
use crate::bake::frames::{ClipFrames, OwnRate};
use crate::bake::inputs::{Contents, ListedClip, ListedFile, RefusedClip};
use crate::bake::job::{BakeError, Job};
use crate::bake::options::Options;
use crate::bake::part::{ShareWriter, Turn};
use crate::bake::progress::{ClipLine, FileProgress};
use crate::bake::sampler::OutputMotion;
use crate::bake::{crowd, facts, stream};
use crate::output::plural;
use crate::retargeting::{Retargeted, SourceWarning};
use crate::source::{Nodes, ReadOptions, Source, with_bvh_options};

/// The size in bytes from which BVH files are read in parts. All machines take the same way with a file.
const STREAM_FROM: u64 = 8 << 20;

/// Bakes the clips of a file. Errors are recorded.
pub fn bake(job: &Job, file: &ListedFile, turn: Option<&Turn>) {
    let progress = &job.progress.begin_file(file.size, file.clips().len());
    let contents = match &file.contents {
        Ok(contents) => contents,
        Err(message) => return job.fail(file, None, BakeError::Input(Error::Usage(message.clone()))),
    };
    for RefusedClip { name, message } in &contents.refused {
        job.fail(file, Some(name), BakeError::Input(Error::Usage(message.clone())));
    }
    if contents.count == 0 {
        let path = file.path.to_string_lossy();
        job.progress.note(&format!("warning: {path}: the file has no clips"));
        job.progress.print(&ClipLine::new(None, &path, "empty"));
    }
    if contents.clips.is_empty() {
        return;
    }
    let result = match contents.kind {
        FileFormat::Bvh if file.size >= STREAM_FROM && !needs_whole(job.options) => {
            stream::bake(job, file, turn, progress)
        }
        FileFormat::Crowd => crowd::bake(job, file, contents, turn, progress),
        _ => bake_whole(job, file, contents, turn, progress),
    };
    if let Err(error) = result {
        job.fail(file, None, error);
    }
}

/// Returns `true` if the outputs of a clip depend on all of its file.
fn needs_whole(options: &Options) -> bool {
    options.retarget.is_some() || options.mirror || options.measuring().is_some()
}

/// Declares the arrays of a file to the writer of a share without clips.
pub fn declare(job: &Job, file: &ListedFile, part: &mut ShareWriter) -> Result<(), BakeError> {
    let Ok(contents) = &file.contents else { return Ok(()) };
    // The motion is not needed.
    let loaded = match (&job.options.rig, contents.kind) {
        (Some(rig), _) => {
            let mut library = Library::new();
            let Nodes { skeleton, joints, .. } = rig.add_to(&mut library)?;
            LoadedFile::without_clips(library, skeleton, joints)
        }
        (None, FileFormat::Bvh) => {
            let options = job.options.bvh.options();
            let reader = bvh::Reader::open_with(&file.path, &options).map_err(with_bvh_options)?;
            let mut library = Library::new();
            let skeleton = library.add_skeleton(reader.skeleton().clone());
            let nodes = (0..reader.skeleton().joints().len()).collect();
            LoadedFile::without_clips(library, skeleton, nodes)
        }
        (None, _) => LoadedFile::new(job, file, &facts::read_regular(&file.path)?)?,
    };
    let rig = ArrayRig::new(&loaded.library, loaded.skeleton, &loaded.nodes, job.options)?;
    part.declare(&rig.head(job, &file.clips()[0].name)).map_err(BakeError::of_writer)
}

/// Bakes the clips of a file that fits into memory.
fn bake_whole(
    job: &Job,
    file: &ListedFile,
    contents: &Contents,
    turn: Option<&Turn>,
    progress: &FileProgress,
) -> Result<(), BakeError> {
    let bytes = facts::read_regular(&file.path)?;
    let source = file.source_of_bytes(contents.kind, &bytes)?;
    let clips = job.new_clips(file, turn.is_some(), || Ok(source.clone()));
    if clips.is_empty() {
        return Ok(());
    }
    let mut loaded = LoadedFile::new(job, file, &bytes)?;
    drop(bytes);
    if loaded.clips.len() != contents.count {
        let (now, before) = (plural(loaded.clips.len(), "clip"), contents.count);
        let reason = format!(
            "the file has {now}, but had {before} when it was listed; run again, with a new plan if there is one"
        );
        return Err(BakeError::Input(Error::Usage(reason)));
    }
    loaded.mirror(job, file, &clips)?;
    // Engines are made after the chains.
    let LoadedFile { library, skeleton, .. } = &mut loaded;
    let chains = job.options.foot_lock.then(|| FootLock::add_chains(library, *skeleton));
    let chains = chains.map(|chains| {
        // Legs that cannot be chains are no reason to leave out the clips.
        chains.unwrap_or_else(|error| {
            let text = format!("{error}; no foot is held");
            job.warn(&format!("warning: {}: {text}", file.path.display()));
            loaded.warnings.push(SourceWarning { clip: None, text });
            Vec::new()
        })
    });
    let rig = ArrayRig::new(&loaded.library, loaded.skeleton, &loaded.nodes, job.options)?;
    let mut sampler = job.engines.open(&loaded.library)?;
    let (is_in_metres, up_axis) = (job.options.is_in_metres(contents.kind), job.options.up_axis(contents.kind));
    let chains = chains.as_deref();
    let bake = ClipBake { chains, job, file, turn, rig, source: &source, progress, is_in_metres, up_axis };
    let mut warned = HashSet::new();
    for clip in clips {
        if job.is_stopped() {
            return Ok(());
        }
        let motion = loaded.motion(job, file, clip, &mut warned).map_err(BakeError::from);
        let baked = motion.and_then(|motion| bake.bake(clip, &motion, &mut sampler));
        if let Err(error) = baked {
            job.fail(file, Some(&clip.name), error);
        }
    }
    Ok(())
}

/// A file in memory.
struct LoadedFile {
    library: Library,
    skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    nodes: Vec<usize>,
    clips: Vec<ClipId>,
    /// The clips of which no track can be read, or that bind to no joint of the rig, in ascending order.
    unbound: Vec<ClipId>,
    /// The mirror images of clips, or the reasons that there are none, by the indices of the clips in the file.
    mirror_images: HashMap<usize, Result<MirrorImage, String>>,
    /// Per clip, the frame rate that its file states: BVH, FBX and SMPL.
    fps: Vec<Option<f64>>,
    /// The warnings about the retargeting.
    warnings: Vec<SourceWarning>,
}

/// The mirror image of a clip.
struct MirrorImage {
    clip: ClipId,
    /// What looks wrong about it.
    warnings: Vec<String>,
}

impl LoadedFile {
    /// Imports a file, and binds its clips to the rig if there is one.
    fn new(job: &Job, file: &ListedFile, bytes: &[u8]) -> Result<Self, Error> {
        let read = ReadOptions { bvh: job.options.bvh, rest: job.options.proportions.as_ref() };
        let mut report = |line: &str| job.warn_of_import(file, line);
        let (source, warnings) = match (&job.options.rig, &job.options.retarget) {
            (Some(rig), Some(retargeter)) => {
                let read = ReadOptions { bvh: read.bvh.of_source(), ..read };
                let source = Source::nodes_from_slice(&file.path, bytes, read, &mut report)?;
                // All clips of the file are looked at together, so that the output of one is the same with others.
                let clips = source.usable_clips();
                let Retargeted { source, warnings, .. } = retargeter.retarget(source, &file.path, rig, &clips)?;
                (source, warnings)
            }
            (rig, _) => {
                let source = Source::from_slice(&file.path, bytes, rig.as_ref(), read, &mut report)?;
                (source, Vec::new())
            }
        };
        check_warnings(job, file, warnings.iter().filter(|warning| warning.clip.is_none()), true)?;
        let Source { library, skeleton, joints: nodes, clips, unbound_clips: unbound, own_fps: fps, .. } = source;
        Ok(Self { library, skeleton, nodes, clips, unbound, mirror_images: HashMap::new(), fps, warnings })
    }

    /// A skeleton without clips.
    fn without_clips(library: Library, skeleton: SkeletonId, nodes: Vec<usize>) -> Self {
        let (clips, unbound, warnings) = (Vec::new(), Vec::new(), Vec::new());
        Self { library, skeleton, nodes, clips, unbound, mirror_images: HashMap::new(), fps: Vec::new(), warnings }
    }

    /// Makes the mirror images of the clips that need one, and prints their warnings. All pieces of a clip share one.
    fn mirror(&mut self, job: &Job, file: &ListedFile, clips: &[&ListedClip]) -> Result<(), Error> {
        let is_bound = |index: &usize| self.unbound.binary_search(&self.clips[*index]).is_err();
        let mirrored = clips.iter().filter(|clip| clip.part.mirrored).map(|clip| clip.index);
        let mirrored: BTreeSet<usize> = mirrored.filter(is_bound).collect();
        if mirrored.is_empty() {
            return Ok(());
        }
        let map = MirrorMap::new(&self.library, self.skeleton)?;
        let mut known = HashSet::new();
        for index in mirrored {
            let made = self.library.mirror(&[self.clips[index]], &map);
            let image = made.map_err(|error| error.to_string()).and_then(|made| {
                let clip = made.clips.first().ok_or("it has no mirror image")?;
                let remarks = made.remarks.iter().map(|remark| map.describe(&self.library, remark));
                let dropped = clip.dropped.iter().map(|track| map.describe_dropped(&self.library, track));
                let warnings = remarks.chain(dropped).map(|warning| format!("mirror image: {warning}"));
                let warnings: Vec<String> = warnings.collect();
                match warnings.iter().find_map(|warning| strict_error(job, file, warning)) {
                    Some(error) => Err(error.to_string()),
                    None => Ok(MirrorImage { clip: clip.clip, warnings }),
                }
            });
            for warning in image.iter().flat_map(|image| &image.warnings) {
                if known.insert(warning.clone()) {
                    job.warn(&format!("warning: {}: {warning}", file.path.display()));
                }
            }
            self.mirror_images.insert(index, image);
        }
        Ok(())
    }

    /// A clip or its mirror image, with what of it is baked. Prints the warnings that are about this clip alone, unless
    /// another piece of it came before.
    fn motion(
        &self,
        job: &Job,
        file: &ListedFile,
        listed: &ListedClip,
        warned: &mut HashSet<ClipId>,
    ) -> Result<FramedMotion<'static>, Error> {
        let id = self.clips[listed.index];
        if self.unbound.binary_search(&id).is_ok() {
            let reason = if job.options.rig.is_some() { UNBOUND } else { UNREADABLE };
            return Err(Error::Usage(reason.into()));
        }
        let image = match self.mirror_images.get(&listed.index) {
            _ if !listed.part.mirrored => None,
            Some(Ok(image)) => Some(image),
            Some(Err(reason)) => return Err(Error::Usage(reason.clone())),
            None => return Err(Error::Usage("it has no mirror image".into())),
        };
        // A mirror image has the frames of the clip.
        let clip = self.library.clip(id);
        let of_file = self.fps.get(listed.index).copied().flatten();
        let own = OwnRate { keys: of_file.or_else(|| native_fps(clip)), has_frames: of_file.is_some() };
        let frames = ClipFrames::new(listed.part.range, job.options.frame_options(), own, clip.duration())?;
        job.warn_of_frames(file, listed, &frames);
        let of_clip = self.warnings.iter().filter(|warning| warning.clip == Some(id));
        check_warnings(job, file, of_clip, warned.insert(id))?;
        let about = self.warnings.iter().filter(|warning| warning.clip.is_none_or(|clip| clip == id));
        let of_image = image.into_iter().flat_map(|image| &image.warnings);
        let texts = about.map(|warning| &warning.text).chain(of_image).chain(frames.warnings());
        let warnings = texts.cloned().collect();
        let motion = OutputMotion::Clip(image.map_or(id, |image| image.clip));
        Ok(FramedMotion { motion, frames, warnings })
    }
}

/// Fails for warnings about a retargeting with `--strict-retarget`, or else prints them if they are new. Warnings that
/// several files share are printed for the first of them.
fn check_warnings<'a>(
    job: &Job,
    file: &ListedFile,
    warnings: impl Iterator<Item = &'a SourceWarning>,
    are_new: bool,
) -> Result<(), Error> {
    for SourceWarning { text, .. } in warnings {
        if let Some(error) = strict_error(job, file, text) {
            return Err(error);
        }
        if are_new {
            // The manifest has it for each clip.
            job.progress.note_of_first(file.path.display(), text);
        }
    }
    Ok(())
}

/// The error that `--strict-retarget` makes of a warning.
fn strict_error(job: &Job, file: &ListedFile, warning: &str) -> Option<Error> {
    job.options.retarget.as_ref().and_then(|options| options.strict_error(&file.path, warning))
}
