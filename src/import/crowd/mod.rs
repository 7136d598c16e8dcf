//! Crowd files: JSON that names glTF files, masks, and groups of instances with their layers.
//!
//! ```json
//! { "files": ["Fox.glb"],
//!   "masks": { "front": { "joints": { "b_Spine02_03": 1.0 }, "descendants": true } },
//!   "instances": [
//!     { "file": 0, "count": 1000, "spread": { "start": [0.0, 2.0], "rate": [0.9, 1.1], "seed": 7 },
//!       "layers": [
//!         { "clip": "Walk", "wrap": "loop", "weight": 0.7 },
//!         { "clip": "Run", "wrap": "loop", "weight": 0.3, "fade_in": { "start": 0.0, "seconds": 0.5, "shape": "smooth" } },
//!         { "clip": "Survey", "mode": "additive", "reference": "first", "weight": 0.5, "mask": "front" } ] } ] }
//! ```
//!
//! `"roots": [{ "clip": "Walk", "joint": "b_Hip_01", "translation": "xy", "rotation": "yaw" }]` gives clips root motion. The
//! axes are those of the space of the joint's parent, in which its keys are, and so are the motions that come of it: the
//! parent of this hip lies, so that x and y are horizontal and z is the height.
//! [`RootMotion::on_ground`](crate::RootMotion::on_ground) finds such axes.
//! `"yaw"` is about the instance's up axis, wherever that is there; `"full"` is all of the rotation. A joint that the clip has
//! no track for moves nothing, of which there is a warning.
//!
//! [`FORMAT`] describes all fields. `document` parses the JSON, `roots` names root joints, `groups` makes layers, `spread` sets instances of a group apart.

mod document;
mod groups;
mod roots;
mod spread;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use self::document::Document;
use self::groups::{Group, Groups};
use crate::error::Error;
use crate::import::fault::Fault;
use crate::import::gltf::{self, Asset};
use crate::import::{Warning, cocos};
use crate::model::{Crowd, Library, Ticks};

/// The format, by an example and a list of all fields: what `posse eval --help` shows.
///
#[doc = include_str!("format.md")]
pub const FORMAT: &str = include_str!("format.md");

/// A crowd file: its glTF files in a library, and its instances, groups unrolled.
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdFile {
    /// The files.
    pub files: Vec<PosedFile>,
    /// What was repaired or passed over in the crowd file itself; each asset has warnings of its own.
    pub warnings: Vec<Warning>,
    groups: Vec<Group>,
}

/// A glTF file of a crowd file.
#[derive(Debug, Clone, PartialEq)]
pub struct PosedFile {
    /// Its name, as the crowd file has it.
    pub name: String,
    /// What it has become; the same for files of the same name, unless `roots` names them.
    pub asset: Arc<Asset>,
}

impl CrowdFile {
    /// The most instances.
    pub const MAX_INSTANCES: usize = 1 << 24;
    /// The latest and, negative, the earliest second of the clock.
    // Any two times are less than an `i64` of ticks apart.
    pub const MAX_SECONDS: f64 = 4e12;

    /// A time on the clock, to the nearest tick; `None` beyond [`MAX_SECONDS`](Self::MAX_SECONDS).
    pub fn ticks(seconds: f64) -> Option<Ticks> {
        (seconds.abs() <= Self::MAX_SECONDS).then(|| Ticks::from_seconds(seconds))
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.groups.last().map_or(0, |group| group.instances.end)
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The groups that have instances: the instances of each, and the index of its file.
    pub fn groups(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        self.groups.iter().map(|group| (group.instances.clone(), group.file))
    }

    /// A crowd of some of the instances.
    ///
    /// # Errors
    /// Those of [`Crowd::push`], which a file that was loaded does not have.
    pub fn crowd(&self, instances: Range<usize>) -> Result<Crowd, Error> {
        let mut crowd = Crowd::new();
        let first = self.groups.partition_point(|group| group.instances.end <= instances.start);
        for group in &self.groups[first..] {
            let skeleton = self.files[group.file].asset.skeleton;
            let part = group.instances.start.max(instances.start)..group.instances.end.min(instances.end);
            if part.is_empty() {
                break;
            }
            for instance in part {
                crowd.push(skeleton, &group.layers(instance))?;
            }
        }
        Ok(crowd)
    }
}

/// Reads a crowd file, and the glTF files that it names, from its folder, into a library.
///
/// # Errors
/// [`Error::Io`] where the file cannot be read; [`Error::Import`] with a JSON path where it or a file that it names cannot
/// be used; [`Error::Limit`] beyond [`MAX_INSTANCES`](CrowdFile::MAX_INSTANCES), or where masks multiplied by joints are
/// too many. The library is then as it was before.
pub fn load(library: &mut Library, file: impl AsRef<Path>) -> Result<CrowdFile, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    let before = library.sizes();
    read(library, file, &bytes).inspect_err(|_| library.truncate(before))
}

fn read(library: &mut Library, file: &Path, bytes: &[u8]) -> Result<CrowdFile, Error> {
    let of_file = |fault: Fault| fault.of(file);
    let document = Document::parse(bytes).map_err(of_file)?;
    document.check_masks().map_err(of_file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut assets: HashMap<(&str, Option<usize>), Arc<Asset>> = HashMap::new();
    let mut files = Vec::with_capacity(document.files.len());
    for (index, name) in document.files.iter().enumerate() {
        // A file whose clips get roots is not another's, if only by name.
        let rooted = document.roots.iter().any(|root| root.file == index).then_some(index);
        let asset = match assets.get(&(name.as_str(), rooted)) {
            Some(asset) => Arc::clone(asset),
            None => {
                let place = |reason: String| Fault::new(format_args!("files[{index}]"), reason).of(file);
                Arc::new(posed_file(library, &folder.join(name), place)?)
            }
        };
        assets.insert((name, rooted), Arc::clone(&asset));
        files.push(PosedFile { name: name.clone(), asset });
    }
    let mut warnings = roots::set(library, &document, &files).map_err(of_file)?;
    let groups = Groups { file, document: &document, files: &files }.read(library)?;
    warnings.extend(unknown_joints(&document, library, &files));
    Ok(CrowdFile { files, warnings, groups })
}

fn posed_file(library: &mut Library, file: &Path, place: impl Fn(String) -> Error) -> Result<Asset, Error> {
    let bytes = std::fs::read(file).map_err(|error| place(format!("{}: {error}", file.display())))?;
    if cocos::is_clip(file, &bytes) {
        return Err(place(format!("{} is a Cocos clip, which has no nodes; name a glTF file", file.display())));
    }
    gltf::from_slice(library, file, &bytes, Some(file.parent().unwrap_or(Path::new(""))))
}

/// Warns of names in masks that no file has a joint for.
fn unknown_joints(document: &Document, library: &Library, files: &[PosedFile]) -> Vec<Warning> {
    let skeletons = files.iter().map(|file| file.asset.skeleton).collect::<HashSet<_>>().into_iter();
    let joints = skeletons.flat_map(|skeleton| library.skeleton(skeleton).joints());
    let known: HashSet<&str> = joints.filter_map(|joint| joint.name.as_deref()).collect();
    let names = document.masks.iter().flat_map(|(mask, entry)| entry.joints.keys().map(move |joint| (mask, joint)));
    let unknown = names.filter(|(_, joint)| !known.contains(joint.as_str()));
    let warning = |(mask, joint): (&String, &String)| Warning {
        path: format!("masks.{mask}.joints.{joint}"),
        message: "no file has a joint of this name; it counts for nothing".into(),
    };
    unknown.map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields that the parser expects of an object, from what it says of one that it does not.
    fn expected(json: &str) -> Vec<String> {
        let said = Document::parse(json.as_bytes()).unwrap_err().reason;
        let (_, fields) = said.split_once("expected ").expect(&said);
        fields.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_description_has_the_fields_that_the_parser_takes() {
        let list = FORMAT.split("```text").nth(1).unwrap().split("```").next().unwrap();
        let described = |level: usize| -> Vec<&str> {
            let names = list.lines().filter(|line| line.len() - line.trim_start().len() == level);
            names.flat_map(|line| line.split("  ").find(|part| !part.is_empty())).flat_map(|n| n.split(", ")).collect()
        };
        let mut all = 0;
        for (level, json) in [
            (0, r#"{ "?": 0 }"#),
            (2, r#"{ "masks": { "m": { "?": 0 } } }"#),
            (2, r#"{ "roots": [{ "?": 0 }] }"#),
            (2, r#"{ "instances": [{ "?": 0 }] }"#),
            (4, r#"{ "instances": [{ "spread": { "?": 0 } }] }"#),
            (4, r#"{ "instances": [{ "layers": [{ "?": 0 }] }] }"#),
            (6, r#"{ "instances": [{ "layers": [{ "fade_in": { "?": 0 } }] }] }"#),
        ] {
            let expected = expected(json);
            assert!(expected.len() > 1, "{json}: {expected:?}");
            for field in &expected {
                assert!(
                    described(level).contains(&field.as_str()),
                    "{field} of {json} is not in {:?}",
                    described(level)
                );
            }
            all += expected.len();
        }
        assert_eq!([0, 2, 4, 6].map(|level| described(level).len()).iter().sum::<usize>(), all, "no field too many");
    }

    #[test]
    fn the_example_of_the_description_is_a_crowd_file() {
        let json = FORMAT.split("```json").nth(1).unwrap().split("```").next().unwrap();
        let document = Document::parse(json.as_bytes()).unwrap();
        document.check_masks().unwrap();
        assert_eq!(document.instances.iter().map(|group| group.count).sum::<u64>(), 1002);
    }
}
