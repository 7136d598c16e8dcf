//! One file: read, imported, and baked clip by clip.

use std::collections::{HashMap, HashSet};

use posse::bake::{FrameGrid, native_fps};
use posse::import::bvh;
use posse::{ClipId, Error, Library, MirrorMap, SkeletonId};

use crate::bake::clip::{ClipBake, Rig, UNBOUND, bvh_fps, grid};
use crate::bake::inputs::{ClipFile, Contents, Kind, ListedClip};
use crate::bake::job::{Fault, Job};
use crate::bake::options::Options;
use crate::bake::part::{Part, Turn};
use crate::bake::progress::ClipLine;
use crate::bake::sampler::Motion;
use crate::bake::{crowd, facts, stream};
use crate::retargeting::Retargeted;
use crate::source::{Source, add_rig};

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
        job.progress.print(&ClipLine { clip: None, path: &path, status: "empty", frames: None, message: None });
    }
    if contents.clips.is_empty() {
        return;
    }
    let result = match contents.kind {
        Kind::Bvh if file.size >= STREAM_FROM && !needs_whole(job.options) => stream::bake(job, file, turn),
        Kind::Crowd => crowd::bake(job, file, contents, turn),
        _ => bake_whole(job, file, contents, turn),
    };
    if let Err(fault) = result {
        job.fail(file, None, fault);
    }
}

/// Returns true if the poses of a clip depend on all of its file.
fn needs_whole(options: &Options) -> bool {
    options.retarget.is_some() || options.mirror
}

/// Declares the arrays of a file to the writer of a share without clips.
pub fn declare(job: &Job, file: &ClipFile, part: &mut Part) -> Result<(), Fault> {
    let Ok(contents) = &file.contents else { return Ok(()) };
    // The motion is not needed.
    let loaded = match (&job.options.rig, contents.kind) {
        (Some(rig), _) => {
            let mut library = Library::new();
            let (skeleton, nodes) = add_rig(&mut library, rig, &mut |text| job.warn(text))?;
            Loaded {
                library,
                skeleton,
                nodes,
                clips: Vec::new(),
                unbound: Vec::new(),
                mirrors: HashMap::new(),
                fps: None,
            }
        }
        (None, Kind::Bvh) => {
            let reader = bvh::Reader::open(&file.path)?;
            let mut library = Library::new();
            let skeleton = library.add_skeleton(reader.skeleton().clone());
            let nodes = (0..reader.skeleton().joints().len()).collect();
            Loaded {
                library,
                skeleton,
                nodes,
                clips: Vec::new(),
                unbound: Vec::new(),
                mirrors: HashMap::new(),
                fps: None,
            }
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
    let is_new = |clip: &&ListedClip| turn.is_some() || !job.keeps(file, &clip.name, || Ok(source.clone().of(clip)));
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
    loaded.mirror(job, file, &clips)?;
    let rig = Rig::new(&loaded.library, loaded.skeleton, &loaded.nodes, job.options)?;
    let mut sampler = job.engines.open(&loaded.library)?;
    let bake = ClipBake { job, file, turn, rig };
    for clip in clips {
        if job.is_stopped() {
            return Ok(());
        }
        let source = source.clone().of(clip);
        let baked = loaded.motion(job, clip).map_err(Fault::from);
        let baked = baked.and_then(|motion| bake.bake(&clip.name, &source, motion.grid, motion.motion, &mut sampler));
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
    /// The mirror images of clips, or the reasons that there are none, by the indices of the clips in the file.
    mirrors: HashMap<usize, Result<ClipId, String>>,
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
        Ok(Self { library, skeleton, nodes, clips, unbound, mirrors: HashMap::new(), fps })
    }

    /// Makes the mirror images of the clips that need one.
    fn mirror(&mut self, job: &Job, file: &ClipFile, clips: &[&ListedClip]) -> Result<(), Error> {
        let is_bound = |clip: &&&ListedClip| clip.mirrored && !self.unbound.contains(&self.clips[clip.index]);
        let mirrored: Vec<&ListedClip> = clips.iter().filter(is_bound).copied().collect();
        if mirrored.is_empty() {
            return Ok(());
        }
        let map = MirrorMap::new(&self.library, self.skeleton)?;
        let path = file.path.display();
        let mut known = HashSet::new();
        for clip in mirrored {
            let made = self.library.mirror(&[self.clips[clip.index]], &map).map(|made| {
                let remarks = made.remarks.iter().map(|remark| map.describe(&self.library, remark));
                let tracks = made.clips.iter().flat_map(|made| &made.dropped);
                let dropped = tracks.map(|track| map.describe_dropped(&self.library, track));
                let warnings = remarks.chain(dropped).filter(|warning| known.insert(warning.clone()));
                warnings.for_each(|warning| job.warn(&format!("warning: {path}: mirror image: {warning}")));
                made.clips.first().map(|made| made.clip)
            });
            let made = made.map_err(|error| error.to_string());
            self.mirrors.insert(clip.index, made.and_then(|made| made.ok_or_else(|| "it has no mirror image".into())));
        }
        Ok(())
    }

    /// A clip of the file, or its mirror image.
    fn motion(&self, job: &Job, clip: &ListedClip) -> Result<ClipMotion, Error> {
        let id = self.clips[clip.index];
        if self.unbound.contains(&id) {
            return Err(Error::Usage(UNBOUND.into()));
        }
        let id = match self.mirrors.get(&clip.index) {
            _ if !clip.mirrored => id,
            Some(Ok(mirrored)) => *mirrored,
            Some(Err(reason)) => return Err(Error::Usage(reason.clone())),
            None => return Err(Error::Usage("it has no mirror image".into())),
        };
        let clip = self.library.clip(id);
        let grid = grid(job.options, self.fps.or_else(|| native_fps(clip)), clip.duration())?;
        Ok(ClipMotion { motion: Motion::Clip(id), grid })
    }
}
