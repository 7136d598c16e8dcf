//! One file: read, imported, and baked clip by clip.

use posse::bake::{FrameGrid, native_fps};
use posse::import::bvh;
use posse::quality::FootLock;
use posse::{ClipId, Error, Library, SkeletonId};

use crate::bake::clip::{ClipBake, Rig, UNBOUND, grid};
use crate::bake::inputs::{ClipFile, Contents, Kind, ListedClip};
use crate::bake::job::{Fault, Job};
use crate::bake::part::{Part, Turn};
use crate::bake::progress::ClipLine;
use crate::bake::sampler::Motion;
use crate::bake::{crowd, facts, stream};
use crate::retargeting::Retargeted;
use crate::source::{Source, add_rig, bvh_fps};

/// The size in bytes from which BVH files are read in parts. All machines take the same way with a file.
const STREAM_FROM: u64 = 8 << 20;

/// Bakes the clips of a file. Faults are recorded.
pub fn bake(job: &Job, file: &ClipFile, turn: Option<&Turn>) {
    let contents = match &file.contents {
        Ok(contents) => contents,
        Err(message) => return job.fail(file, None, Fault::Input(Error::Usage(message.clone()))),
    };
    if contents.count == 0 {
        let path = file.path.to_string_lossy();
        job.progress.note(&format!("warning: {path}: the file has no clips"));
        job.progress.print(&ClipLine {
            clip: None,
            path: &path,
            status: "empty",
            frames: None,
            quality: None,
            message: None,
        });
    }
    if contents.clips.is_empty() {
        return;
    }
    let result = match contents.kind {
        Kind::Bvh if file.size >= STREAM_FROM && job.options.retarget.is_none() && !job.options.need_whole_clips() => {
            stream::bake(job, file, turn)
        }
        Kind::Crowd => crowd::bake(job, file, contents, turn),
        _ => bake_whole(job, file, contents, turn),
    };
    if let Err(fault) = result {
        job.fail(file, None, fault);
    }
}

/// Declares the arrays of a file to the writer of a share without clips.
pub fn declare(job: &Job, file: &ClipFile, part: &mut Part) -> Result<(), Fault> {
    let Ok(contents) = &file.contents else { return Ok(()) };
    // The motion is not needed.
    let loaded = match (&job.options.rig, contents.kind) {
        (Some(rig), _) => {
            let mut library = Library::new();
            let (skeleton, nodes) = add_rig(&mut library, rig, &mut |text| job.warn(text))?;
            Loaded { library, skeleton, nodes, clips: Vec::new(), unbound: Vec::new(), fps: None }
        }
        (None, Kind::Bvh) => {
            let reader = bvh::Reader::open(&file.path)?;
            let mut library = Library::new();
            let skeleton = library.add_skeleton(reader.skeleton().clone());
            let nodes = (0..reader.skeleton().joints().len()).collect();
            Loaded { library, skeleton, nodes, clips: Vec::new(), unbound: Vec::new(), fps: None }
        }
        (None, _) => Loaded::new(job, file, &facts::read_regular(&file.path)?)?,
    };
    let rig = Rig::new(&loaded.library, loaded.skeleton, &loaded.nodes, job.options)?;
    part.declare(&rig.head(&file.clips()[0].name)).map_err(Fault::of_writer)
}

/// Bakes the clips of a file that fits into memory.
fn bake_whole(job: &Job, file: &ClipFile, contents: &Contents, turn: Option<&Turn>) -> Result<(), Fault> {
    let bytes = facts::read_regular(&file.path)?;
    let source = file.source_of_bytes(contents.kind, &bytes)?;
    let is_new = |clip: &&ListedClip| turn.is_some() || !job.keeps(file, &clip.name, || Ok(source.clone()));
    let clips: Vec<&ListedClip> = contents.clips.iter().filter(is_new).collect();
    if clips.is_empty() {
        return Ok(());
    }
    let mut loaded = Loaded::new(job, file, &bytes)?;
    drop(bytes);
    if loaded.clips.len() != contents.count {
        let (now, before) = (loaded.clips.len(), contents.count);
        let reason = format!("the file has {now} clips, but had {before} when it was listed; run again");
        return Err(Fault::Input(Error::Usage(reason)));
    }
    let chains =
        job.options.foot_lock.then(|| FootLock::add_chains(&mut loaded.library, loaded.skeleton)).transpose()?;
    let rig = Rig::new(&loaded.library, loaded.skeleton, &loaded.nodes, job.options)?;
    let mut sampler = job.engines.open(&loaded.library)?;
    let bake = ClipBake { chains: chains.as_deref(), job, file, turn, rig, source: &source };
    for clip in clips {
        if job.is_stopped() {
            return Ok(());
        }
        let baked = loaded.motion(job, clip.index).map_err(Fault::from);
        let baked = baked.and_then(|motion| bake.bake(&clip.name, motion.grid, motion.motion, &mut sampler));
        if let Err(fault) = baked {
            job.fail(file, Some(&clip.name), fault);
        }
    }
    Ok(())
}

/// A clip with its frames.
struct ClipMotion {
    motion: Motion<'static>,
    grid: FrameGrid,
}

/// A file in memory.
struct Loaded {
    library: Library,
    skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    nodes: Vec<usize>,
    clips: Vec<ClipId>,
    /// The clips that bind to no joint of the rig.
    unbound: Vec<ClipId>,
    /// The frame rate of a BVH file.
    fps: Option<f64>,
}

impl Loaded {
    /// Imports a file, and binds its clips to the rig if there is one.
    fn new(job: &Job, file: &ClipFile, bytes: &[u8]) -> Result<Self, Error> {
        let source = match (&job.options.rig, &job.options.retarget) {
            (Some(rig), Some(map)) => {
                let source = Source::nodes_from_slice(&file.path, bytes, &mut |text| job.warn(text))?;
                let clips = source.clips.clone();
                Retargeted::reported(source, &file.path, rig, &clips, map, &mut |text| job.warn(text))?.source
            }
            (rig, _) => Source::from_slice(&file.path, bytes, rig.as_deref(), &mut |text| job.warn(text))?,
        };
        let Source { library, skeleton, joints: nodes, clips, unbound_clips: unbound, frame_time, .. } = source;
        let fps = frame_time.and_then(bvh_fps);
        Ok(Self { library, skeleton, nodes, clips, unbound, fps })
    }

    /// A clip, by its index in the file.
    fn motion(&self, job: &Job, index: usize) -> Result<ClipMotion, Error> {
        let id = self.clips[index];
        if self.unbound.contains(&id) {
            return Err(Error::Usage(UNBOUND.into()));
        }
        let clip = self.library.clip(id);
        let grid = grid(job.options, self.fps.or_else(|| native_fps(clip)), clip.duration())?;
        Ok(ClipMotion { motion: Motion::Clip(id), grid })
    }
}
