//! Retargeting of the clips of a collection onto the skeleton of another file.

use std::path::PathBuf;

use posse::glam::DVec3;
use posse::{
    CarriedJoints, Clip, ClipId, Error, Facing, Ground, JointMap, Library, NamedReport, ReferencePose, RetargetOptions,
    SkeletonId,
};
use pyo3::prelude::*;

use crate::load::{Collection, Entry, File, Rig};

/// The choices of a retargeting: an object with these attributes in Python.
#[derive(Debug, FromPyObject)]
pub struct Request {
    /// The file with the target; `None` for the built-in human.
    rig: Option<PathBuf>,
    /// The indices of the clips.
    clips: Vec<usize>,
    /// The JSON of a map, and its name for errors.
    map: Option<(PathBuf, Vec<u8>)>,
    reference: Option<PoseName>,
    target_pose: Option<PoseName>,
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

/// A pose other than the rest pose.
#[derive(Debug, FromPyObject)]
struct PoseName {
    /// A file with joints of the same names; `None` for the file of the clips.
    file: Option<PathBuf>,
    /// The name or the index of a clip in the file. `None` for its first clip, or its rest pose if it has none.
    clip: Option<String>,
    seconds: f64,
}

/// The retargeted clips of a file, and the report about them.
#[derive(Debug)]
pub struct FileReport {
    /// The index of the file.
    pub file: usize,
    pub report: NamedReport,
}

/// The file that gets clips.
struct Target {
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
        let File { library, skeleton, nodes, warnings, .. } = match &request.rig {
            Some(path) => File::read(path)?,
            None => File::demo()?,
        };
        let name = request.rig.as_ref().map_or_else(|| "the built-in human".into(), |path| path.display().to_string());
        let warnings = warnings.iter().map(|warning| format!("{name}: {warning}")).collect();
        if let Some(pose) = &request.target_pose {
            options.target_pose = pose.find("target_pose", &library, skeleton)?;
        }
        let mut target = Target { name, library, skeleton };
        let (mut clips, mut reports) = (Vec::new(), Vec::new());
        for (file, path) in paths.iter().enumerate() {
            let wanted = |index: &&usize| self.clips.get(**index).is_some_and(|entry| entry.file == file);
            let wanted: Vec<usize> = request.clips.iter().filter(wanted).copied().collect();
            if !wanted.is_empty() {
                let in_file = |error: Error| match error {
                    Error::Usage(reason) => Error::Usage(format!("{}: {reason}", path.display())),
                    other => other,
                };
                let (made, report) = self.retarget_file(&wanted, &mut target, request, &options).map_err(in_file)?;
                clips.extend(made);
                reports.push(FileReport { file, report });
            }
        }
        let mut made = Self { warnings, ..Self::default() };
        let skeleton = made.library.copy_skeleton(&target.library, target.skeleton)?;
        made.rigs.push(Rig { skeleton, nodes });
        for (clip, index) in clips {
            let Entry { file, fps, .. } = self.clips[index];
            made.clips.push(Entry { clip: made.library.add_clip(Clip { skeleton, ..clip })?, file, fps });
        }
        Ok((made, reports))
    }

    /// Retargets clips of one file. Returns each with the index of its original. Joints of the target that were given by
    /// matrices are given by translation, rotation and scale from then on.
    fn retarget_file(
        &self,
        wanted: &[usize],
        target: &mut Target,
        request: &Request,
        options: &RetargetOptions,
    ) -> Result<(Vec<(Clip, usize)>, NamedReport), Error> {
        let first = &self.clips[wanted[0]];
        let of_file = self.clips.iter().enumerate().filter(|(_, entry)| entry.file == first.file);
        let of_file: Vec<(usize, &Entry)> = of_file.collect();
        let mut library = Library::new();
        let source = library.copy_skeleton(&self.library, self.library.clip(first.clip).skeleton)?;
        // All clips of the file, as the choice of the root looks at all.
        let mut clips: Vec<ClipId> = Vec::new();
        for (_, entry) in &of_file {
            let clip = self.library.clip(entry.clip).clone();
            clips.push(library.add_clip(Clip { skeleton: source, ..clip })?);
        }
        let mut options = options.clone();
        if let Some(pose) = &request.reference {
            options.reference = match &pose.file {
                None => pose.find_in("reference", &library, &clips)?,
                Some(_) => pose.find("reference", &library, source)?,
            };
        }
        let places = of_file.iter().zip(&clips).filter(|((index, _), _)| wanted.contains(index));
        let (indices, clips): (Vec<usize>, Vec<ClipId>) = places.map(|(&(index, _), &clip)| (index, clip)).unzip();
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
}

impl Request {
    /// The choices without poses.
    fn options(&self) -> Result<RetargetOptions, Error> {
        let axes = [
            ("auto", None),
            ("x", Some(DVec3::X)),
            ("y", Some(DVec3::Y)),
            ("z", Some(DVec3::Z)),
            ("-x", Some(-DVec3::X)),
            ("-y", Some(-DVec3::Y)),
            ("-z", Some(-DVec3::Z)),
        ];
        let grounds = [("auto", Ground::Auto), ("zero", Ground::Zero), ("keep", Ground::Keep)];
        let carried = [("all", CarriedJoints::All), ("root", CarriedJoints::Root)];
        Ok(RetargetOptions {
            align: word("align", &self.align, &[("auto", true), ("off", false)])?,
            facing: match &self.facing {
                FacingChoice::Word(text) => {
                    let hint = "or a number of degrees";
                    choose("facing", text, &[("auto", Facing::Auto), ("keep", Facing::Keep)], hint)?
                }
                FacingChoice::Degrees(degrees) => Facing::Degrees(*degrees),
            },
            source_up: word("source_up", &self.source_up, &axes)?,
            ground: word("ground", &self.ground, &grounds)?,
            translations: word("translations", &self.translations, &carried)?,
            rotation_bound: self.rotation_bound,
            translation_bound: self.translation_bound,
            ..RetargetOptions::default()
        })
    }
}

impl PoseName {
    /// The pose of the other file, on a skeleton with joints of the same names.
    fn find(&self, argument: &str, library: &Library, skeleton: SkeletonId) -> Result<ReferencePose, Error> {
        let Some(path) = &self.file else {
            return Err(Error::Usage(format!("{argument}: expected 'rest' or a glTF or BVH file")));
        };
        let other = File::read(path)?;
        let clips: Vec<ClipId> = other.library.clip_ids().collect();
        let pose = match self.clip.as_deref() {
            Some("rest") => ReferencePose::Rest,
            None if clips.is_empty() => ReferencePose::Rest,
            _ => self.find_in(argument, &other.library, &clips)?,
        };
        let found = ReferencePose::by_names(library.skeleton(skeleton), &other.library, other.skeleton, &pose);
        found.map_err(|error| Error::Usage(format!("{argument}: {}: {error}", path.display())))
    }

    /// The pose of one of these clips.
    fn find_in(&self, argument: &str, library: &Library, clips: &[ClipId]) -> Result<ReferencePose, Error> {
        let name = |clip: &ClipId| library.clip(*clip).name.as_deref();
        let wanted = self.clip.as_deref();
        let by_name = clips.iter().find(|clip| wanted.is_none() || name(clip) == wanted);
        let by_index = || clips.get(wanted?.parse::<usize>().ok()?);
        let Some(&clip) = by_name.or_else(by_index) else {
            let names: Vec<&str> = clips.iter().map(|clip| name(clip).unwrap_or("unnamed")).collect();
            return Err(Error::Usage(format!(
                "{argument}: there is no clip {:?}; there are: {}",
                wanted.unwrap_or_default(),
                if names.is_empty() { "none".into() } else { names.join(", ") }
            )));
        };
        Ok(ReferencePose::Clip { clip, time: self.seconds })
    }
}

/// The value of a word.
fn word<T: Copy>(argument: &str, text: &str, values: &[(&str, T)]) -> Result<T, Error> {
    choose(argument, text, values, "")
}

/// The value of a word. `hint` ends the error.
fn choose<T: Copy>(argument: &str, text: &str, values: &[(&str, T)], hint: &str) -> Result<T, Error> {
    let found = values.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let words: Vec<String> = values.iter().map(|(word, _)| format!("'{word}'")).collect();
        let list = format!("{} {hint}", words.join(", "));
        Error::Usage(format!("{argument}={text:?}; expected one of {}", list.trim_end()))
    })
}
