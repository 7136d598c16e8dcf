//! Retargeting of the clips of a collection onto the skeleton of another file, and mirror images of clips.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use posse::import::FileFormat;
use posse::import::bvh::LoadOptions;
use posse::retarget::{
    CarriedJoints, Facing, Ground, JointMap, MirrorMap, NamedReport, ReferencePose, RetargetOptions,
};
use posse::{Clip, ClipId, Error, Library, SkeletonId};
use pyo3::prelude::*;

use crate::load::{Collection, File, LoadedClip, LoadedRig};

/// The choices of a retargeting: an object with these attributes in Python.
#[derive(Debug, FromPyObject)]
pub struct Request {
    /// The file with the target; `None` for the built-in human.
    rig: Option<PathBuf>,
    /// The indices of the clips.
    clips: Vec<usize>,
    /// The JSON of a map, and its name for errors.
    map: Option<(PathBuf, Vec<u8>)>,
    /// `rest`, `CLIP[@SECONDS]` or `FILE[#CLIP][@SECONDS]`.
    reference: String,
    /// `rest` or `FILE[#CLIP][@SECONDS]`.
    target_pose: String,
    align: String,
    facing: FacingChoice,
    source_up: String,
    ground: String,
    translations: String,
    rotation_bound: f64,
    translation_bound: f64,
}

#[derive(Debug, FromPyObject)]
enum FacingChoice {
    Word(String),
    Degrees(f64),
}

/// The retargeted clips of a file, and the report about them.
#[derive(Debug)]
pub struct FileReport {
    /// The index of the file.
    pub file: usize,
    pub report: NamedReport,
}

/// The file that gets clips.
struct TargetFile {
    name: String,
    library: Library,
    skeleton: SkeletonId,
}

impl Collection {
    /// Retargets the clips of a request, file after file, each as if it were alone. `paths` are the files.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown word or clip, if no joint of a file has a partner, and for what
    /// [`Library::retarget`] refuses; errors of the files that the request names.
    pub fn retarget(&self, request: &Request, paths: &[PathBuf]) -> Result<(Self, Vec<FileReport>), Error> {
        let mut options = request.options()?;
        // The files of poses are read once for all sources.
        let of_poses = LoadOptions { end_sites: true, ..self.options };
        let reference = PoseChoice::new("reference", &request.reference, &of_poses)?;
        let target_pose = PoseChoice::new("target_pose", &request.target_pose, &of_poses)?;
        let File { library, skeleton, nodes, warnings, source: of_rig, .. } = match &request.rig {
            Some(path) => File::read(path, &self.options, None)?,
            None => File::demo()?,
        };
        let name = request.rig.as_ref().map_or_else(|| "the built-in human".into(), |path| path.display().to_string());
        let poses = || [&reference, &target_pose].into_iter().flatten();
        let of_poses = poses().filter_map(|choice| choice.file.as_ref()?.file.source.clone());
        let sources = self.sources.iter().cloned().chain(of_rig).chain(of_poses).collect();
        let of_rig = warnings.iter().map(|warning| format!("{name}: {warning}"));
        let warnings = of_rig.chain(poses().flat_map(PoseChoice::warnings)).collect();
        if let Some(choice) = &target_pose {
            options.target_pose = choice.of_target(&library, skeleton)?;
        }
        let mut target = TargetFile { name, library, skeleton };
        let (mut clips, mut reports) = (Vec::new(), Vec::new());
        for (file, path) in paths.iter().enumerate() {
            let wanted = |index: &&usize| self.clips.get(**index).is_some_and(|entry| entry.file == file);
            let wanted: Vec<usize> = request.clips.iter().filter(wanted).copied().collect();
            if !wanted.is_empty() {
                let in_file = |error: Error| match error {
                    Error::Usage(reason) => Error::Usage(format!("{}: {reason}", path.display())),
                    other => other,
                };
                let done = self.retarget_file(&wanted, &mut target, request, reference.as_ref(), &options);
                let (made, report) = done.map_err(in_file)?;
                clips.extend(made);
                reports.push(FileReport { file, report });
            }
        }
        // In the order of this collection, whose mirror images come after all files.
        clips.sort_by_key(|(_, index)| *index);
        let mut made = Self { warnings, options: self.options, sources, ..Self::default() };
        let skeleton = made.library.copy_skeleton(&target.library, target.skeleton)?;
        made.rigs.push(LoadedRig::new(&mut made.library, skeleton, nodes)?);
        for (clip, index) in clips {
            let LoadedClip { file, fps, .. } = self.clips[index];
            made.clips.push(LoadedClip { clip: made.library.add_clip(Clip { skeleton, ..clip })?, file, fps });
        }
        Ok((made, reports))
    }

    /// Retargets clips of one file. Returns each with the index of its original. Joints of the target that were given
    /// by matrices are given by translation, rotation and scale from then on.
    fn retarget_file(
        &self,
        wanted: &[usize],
        target: &mut TargetFile,
        request: &Request,
        reference: Option<&PoseChoice>,
        options: &RetargetOptions,
    ) -> Result<(Vec<(Clip, usize)>, NamedReport), Error> {
        let first = &self.clips[wanted[0]];
        let of_file = (0..self.clips.len()).filter(|&index| self.clips[index].file == first.file);
        let of_file: Vec<usize> = of_file.collect();
        // All clips of the file, as the choice of the root looks at all.
        let (mut library, source, clips) = self.alone(&of_file)?;
        let mut options = options.clone();
        if let Some(choice) = reference {
            options.reference = choice.of_source(&library, source)?;
        }
        let places = of_file.into_iter().zip(clips).filter(|(index, _)| wanted.contains(index));
        let (indices, clips): (Vec<usize>, Vec<ClipId>) = places.unzip();
        let onto = library.copy_skeleton(&target.library, target.skeleton)?;
        let map = match &request.map {
            Some((name, json)) => JointMap::from_json(&library, source, onto, name, json)?,
            None => JointMap::by_names(&library, source, onto)?,
        };
        if map.pairs.is_empty() {
            return Err(Error::Usage(format!(
                "no joint has a partner in {}; name pairs of joints with map={{\"joints\": {{...}}}}",
                target.name
            )));
        }
        let retargeting = library.retarget(&clips, &map, &options)?;
        let report = retargeting.named(&library);
        let made = retargeting.clips.iter().map(|made| library.clip(made.clip).clone()).zip(indices).collect();
        target.library = Library::new();
        target.skeleton = target.library.copy_skeleton(&library, onto)?;
        Ok((made, report))
    }

    /// The clips of this collection, and after them the mirror images of some, in the order of their indices. Each file
    /// is looked at as if it were alone. Also returns what looks wrong, with the file.
    ///
    /// # Errors
    /// The errors of [`posse::Library::mirror`].
    pub fn with_mirror_images(&self, wanted: &[usize], paths: &[PathBuf]) -> Result<(Self, Vec<String>), Error> {
        let mut is_wanted = vec![false; self.clips.len()];
        wanted.iter().for_each(|&index| is_wanted[index] = true);
        let mut of_files: Vec<Vec<usize>> = vec![Vec::new(); paths.len()];
        self.clips.iter().enumerate().for_each(|(index, entry)| of_files[entry.file].push(index));
        let mut images: Vec<Option<Clip>> = vec![None; self.clips.len()];
        let mut remarks: Vec<String> = Vec::new();
        for (path, of_file) in paths.iter().zip(&of_files) {
            if !of_file.iter().any(|&index| is_wanted[index]) {
                continue;
            }
            let in_file = |text: String| format!("{}: mirror image: {text}", path.display());
            let (mut library, skeleton, clips) = self.alone(of_file)?;
            let map = MirrorMap::new(&library, skeleton)?;
            let first = remarks.len();
            for (&index, clip) in of_file.iter().zip(clips).filter(|(index, _)| is_wanted[**index]) {
                let made = library.mirror(&[clip], &map).map_err(|error| Error::Usage(in_file(error.to_string())))?;
                let dropped = made.clips.iter().flat_map(|clip| &clip.dropped);
                let dropped = dropped.map(|track| map.describe_dropped(&library, track));
                let found = made.remarks.iter().map(|remark| map.describe(&library, remark)).chain(dropped);
                // Clips of a file have most remarks in common.
                let found: Vec<String> =
                    found.map(in_file).filter(|remark| !remarks[first..].contains(remark)).collect();
                remarks.extend(found);
                images[index] = made.clips.first().map(|made| library.clip(made.clip).clone());
            }
        }
        let mut made = self.clone();
        made.warnings.clear();
        for &index in wanted {
            let LoadedClip { clip, file, fps } = self.clips[index];
            let skeleton = self.library.clip(clip).skeleton;
            if let Some(image) = images[index].take() {
                let clip = made.library.add_clip(Clip { skeleton, ..image })?;
                made.clips.push(LoadedClip { clip, file, fps });
            }
        }
        Ok((made, remarks))
    }
}

impl Request {
    /// The choices without poses.
    fn options(&self) -> Result<RetargetOptions, Error> {
        Ok(RetargetOptions {
            align: value("align", &self.align, RetargetOptions::parse_align)?,
            facing: match &self.facing {
                FacingChoice::Word(text) => value("facing", text, Facing::from_str)?,
                FacingChoice::Degrees(degrees) => Facing::Degrees(*degrees),
            },
            source_up: value("source_up", &self.source_up, RetargetOptions::parse_source_up)?,
            ground: value("ground", &self.ground, Ground::from_str)?,
            translations: value("translations", &self.translations, CarriedJoints::from_str)?,
            rotation_bound: self.rotation_bound,
            translation_bound: self.translation_bound,
            ..RetargetOptions::default()
        })
    }
}

/// The value of `reference` or `target_pose`, unless it is `rest`. It follows the rules of the command `posse`.
struct PoseChoice<'a> {
    argument: &'static str,
    text: &'a str,
    /// The file that the text names; `None` if there is no such file.
    file: Option<PoseFile>,
}

impl<'a> PoseChoice<'a> {
    fn new(argument: &'static str, text: &'a str, options: &LoadOptions) -> Result<Option<Self>, Error> {
        if text == "rest" {
            return Ok(None);
        }
        Ok(Some(Self { argument, text, file: PoseFile::read(argument, text, options)? }))
    }

    /// The warnings about the file, each with its path.
    fn warnings(&self) -> Vec<String> {
        let of_file = |PoseFile { path, file, .. }: &PoseFile| -> Vec<String> {
            file.warnings.iter().map(|warning| format!("{path}: {warning}")).collect()
        };
        self.file.as_ref().map(of_file).unwrap_or_default()
    }

    /// The pose of a source, which has all clips of the library: of its clip of that name, else of the file, else of
    /// another clip that the text selects. Seconds follow after the last `@`.
    fn of_source(&self, library: &Library, source: SkeletonId) -> Result<ReferencePose, Error> {
        let &Self { argument, text, ref file } = self;
        let all: Vec<ClipId> = library.clip_ids().collect();
        let clips = library.clip_selector(&all);
        let select = |name: &str, no_file: &str| {
            let found = library.select_clip(&all, name);
            found.map_err(|error| Error::Usage(format!("{argument}: {no_file}{error}")))
        };
        if clips.has_name(text) {
            return Ok(ReferencePose::Clip { clip: select(text, "")?, time: 0.0 });
        }
        let timed = text.rsplit_once('@');
        if let Some((name, time)) = timed
            && clips.has_name(name)
        {
            return Ok(ReferencePose::Clip { clip: select(name, "")?, time: parse_seconds(argument, text, time)? });
        }
        if let Some(file) = file {
            return file.on(library, source, argument, text);
        }
        let (name, time) = match timed {
            Some((name, time)) => (name, parse_seconds(argument, text, time)?),
            None => (text, 0.0),
        };
        let no_file = if splits(text).next().is_some() { "there is no such file, and " } else { "" };
        Ok(ReferencePose::Clip { clip: select(name, no_file)?, time })
    }

    /// The pose of the target.
    fn of_target(&self, library: &Library, target: SkeletonId) -> Result<ReferencePose, Error> {
        let &Self { argument, text, ref file } = self;
        let Some(file) = file else {
            return Err(Error::Usage(format!(
                "{argument} {text}: there is no such file; expected 'rest' or a .glb, .gltf, .vrm, .vrma, .fbx or .bvh \
                 file"
            )));
        };
        file.on(library, target, argument, text)
    }
}

/// A file with a pose.
struct PoseFile {
    /// The path as it was given.
    path: String,
    file: File,
    /// The pose of its skeleton.
    pose: ReferencePose,
}

impl PoseFile {
    /// Reads the file of `FILE[#CLIP][@SECONDS]`: the rest pose with `#rest` and for a file without clips. `None` if
    /// there is no such file.
    ///
    /// # Errors
    /// The errors of the file, and [`Error::Usage`] for a clip that it does not have, for several clips without
    /// `#CLIP`, or for a time that is no finite number.
    fn read(argument: &str, text: &str, options: &LoadOptions) -> Result<Option<Self>, Error> {
        let Some((path, rest)) = splits(text).find(|(path, _)| Path::new(path).is_file()) else { return Ok(None) };
        let file = File::read(Path::new(path), options, None)?;
        let clips: Vec<ClipId> = file.library.clip_ids().collect();
        let selector = file.library.clip_selector(&clips);
        // The name of a clip may contain `@`.
        let (name, time) = match rest.strip_prefix('#') {
            Some(name) if selector.has_name(name) => (Some(name), None),
            Some(name) => match name.rsplit_once('@') {
                Some((name, time)) => (Some(name), Some(time)),
                None => (Some(name), None),
            },
            None => (None, rest.strip_prefix('@')),
        };
        let time = time.map_or(Ok(0.0), |time| parse_seconds(argument, text, time))?;
        let list = selector.list();
        let pose = match (name, clips.as_slice()) {
            (Some("rest"), _) | (None, []) => ReferencePose::Rest,
            (None, &[clip]) => ReferencePose::Clip { clip, time },
            (None, _) => {
                return Err(Error::Usage(format!(
                    "{argument} {text}: {path} has several clips; add #CLIP, or #rest for its rest pose: {list}"
                )));
            }
            (Some(name), _) => {
                let found = file.library.select_clip(&clips, name);
                let clip = found.map_err(|error| Error::Usage(format!("{argument} {text}: {error}")))?;
                ReferencePose::Clip { clip, time }
            }
        };
        Ok(Some(Self { path: path.to_owned(), file, pose }))
    }

    /// The pose of another skeleton, whose joints have the same names.
    fn on(&self, library: &Library, skeleton: SkeletonId, argument: &str, text: &str) -> Result<ReferencePose, Error> {
        let File { library: others, skeleton: other, .. } = &self.file;
        let found = ReferencePose::by_names(library.skeleton(skeleton), others, *other, &self.pose);
        found.map_err(|error| Error::Usage(format!("{argument} {text}: {error}")))
    }
}

/// The ways to split a text into the path of a file with joints and the text that follows it: the longest path first.
fn splits(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = std::iter::once(text.len()).chain(text.rmatch_indices(['#', '@']).map(|(at, _)| at));
    let has_joints = |path: &str| FileFormat::of_name(Path::new(path)).is_some_and(FileFormat::has_joints);
    ends.map(|at| text.split_at(at)).filter(move |(path, _)| has_joints(path))
}

/// The seconds of a pose `text`.
fn parse_seconds(argument: &str, text: &str, seconds: &str) -> Result<f64, Error> {
    let reason = match seconds.trim().parse::<f64>() {
        Ok(number) if number.abs() <= f64::from(f32::MAX) => return Ok(number),
        Ok(_) => String::from("expected a finite number in the range of a 32-bit float"),
        Err(_) => String::from("expected a number, for example 0.5"),
    };
    Err(Error::Usage(format!("{argument} {text}: the time {seconds:?}: {reason}")))
}

/// The value of an argument.
fn value<T>(argument: &str, text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, Error> {
    parse(text).map_err(|reason| Error::Usage(format!("{argument}={text:?}: {reason}")))
}
