//! Files from bytes: the kinds of files, and the parts of a library that they become.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
#[cfg(feature = "gpu")]
use std::rc::Rc;

use posse::binding::PropertyTracks;
use posse::import::{FileFormat, bvh, cocos, gltf, recognize};
use posse::{ClipId, Library, Mask, SkeletonId};
#[cfg(feature = "gpu")]
use posse_render::Figure;
use wasm_bindgen::prelude::*;

use crate::joints;
use crate::js::{Result, index};

/// The content of a file.
#[derive(Clone)]
pub struct Source {
    /// The name of the file; `human` for the built-in human.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "measurements and retargetings name it"))]
    pub name: String,
    pub library: Library,
    /// The skeletons, each with the joint of each node of its file.
    pub nodes: Vec<Vec<usize>>,
    /// The clips of which no track can be read.
    pub left_out: Vec<ClipId>,
    /// The meshes and images of glTF files, by skeleton. Copies of the content share them.
    #[cfg(feature = "gpu")]
    pub figures: Rc<Vec<Figure>>,
    /// The errors that were repaired or passed over.
    pub warnings: Vec<String>,
    /// The report of the retargeting that made the clips.
    #[cfg(feature = "retarget")]
    pub retargeting: Option<posse::retarget::NamedReport>,
}

/// The bytes of the files beside a document.
pub type Files = HashMap<String, Vec<u8>>;

impl Source {
    /// A library without meshes, whose nodes are in the order of the joints.
    pub fn new(name: &str, library: Library, warnings: Vec<String>) -> Self {
        Self {
            name: name.into(),
            nodes: library.skeletons().iter().map(|skeleton| (0..skeleton.joints().len()).collect()).collect(),
            library,
            left_out: Vec::new(),
            #[cfg(feature = "gpu")]
            figures: Rc::default(),
            warnings,
            #[cfg(feature = "retarget")]
            retargeting: None,
        }
    }

    /// The built-in human. Its meshes are made when it is drawn.
    pub fn demo() -> Result<Self> {
        Ok(Self::new("human", posse::demo::library()?, Vec::new()))
    }

    /// Reads a file of any kind. A Cocos clip gets a skeleton of the nodes that it names.
    pub fn read(name: &str, bytes: &[u8], files: &Files) -> Result<Self> {
        let file = Path::new(name);
        match recognize(file, bytes)? {
            FileFormat::Gltf => {}
            FileFormat::Bvh => return Self::read_bvh(file, bytes),
            FileFormat::CocosClip => return Self::read_cocos(file, bytes),
            FileFormat::Fbx => {
                return Err(JsError::new(&format!(
                    "{name} is FBX, which is not read here; convert it to glTF 2.0, for example with `posse bake --format glb` or Blender"
                )));
            }
            FileFormat::Smpl => {
                return Err(JsError::new(&format!(
                    "{name} is a file of SMPL, which is not read here; `posse bake --format glb` makes it glTF"
                )));
            }
            FileFormat::Crowd => {
                return Err(JsError::new(&format!(
                    "{name} is a crowd file, which is not read here; give the files it names"
                )));
            }
        }
        let find = |path: &str| find(files, path);
        let mut library = Library::new();
        let asset = gltf::from_slice_with(&mut library, file, bytes, &find)?;
        let warnings = asset.warnings.iter().map(ToString::to_string).collect();
        let source = Self::new(name, library, warnings);
        #[cfg(feature = "gpu")]
        let source = {
            let (figure, drawing) = posse_render::gltf::from_slice_with(&asset, bytes, &find)?;
            let warnings = source.warnings.into_iter().chain(drawing.iter().map(ToString::to_string)).collect();
            Self { figures: Rc::new(vec![figure]), warnings, ..source }
        };
        Ok(Self { nodes: vec![asset.joints], left_out: asset.left_out_clips, ..source })
    }

    fn read_bvh(file: &Path, bytes: &[u8]) -> Result<Self> {
        let mut library = Library::new();
        let asset = bvh::from_slice(&mut library, file, bytes)?;
        let warnings = asset.warnings.iter().map(ToString::to_string).collect();
        Ok(Self::new(&file.to_string_lossy(), library, warnings))
    }

    fn read_cocos(file: &Path, bytes: &[u8]) -> Result<Self> {
        let cocos::ClipFile { clip, warnings } = cocos::from_slice(&Library::new(), file, bytes)?;
        let mut library = Library::new();
        let skeleton = library.add_skeleton(joints::of_targets(&clip)?);
        let warnings = warnings.iter().map(ToString::to_string).collect();
        let mut source = Self::new(&file.to_string_lossy(), library, warnings);
        source.bind(file, skeleton, &clip)?;
        Ok(source)
    }

    /// Adds a Cocos clip that moves the nodes of the first skeleton. Returns the number of the clip.
    pub fn add_cocos_clip(&mut self, name: &str, bytes: &[u8]) -> Result<usize> {
        let file = Path::new(name);
        if recognize(file, bytes)? != FileFormat::CocosClip {
            return Err(JsError::new(&format!("{name}: it is not a clip of Cocos Creator; other files are loaded")));
        }
        let Some(skeleton) = self.library.skeleton_ids().next() else {
            return Err(JsError::new("the library has no skeleton; load a glTF or BVH file first"));
        };
        let cocos::ClipFile { clip, warnings } = cocos::from_slice(&self.library, file, bytes)?;
        self.warnings.extend(warnings.iter().map(ToString::to_string));
        self.bind(file, skeleton, &clip)?;
        Ok(self.library.clips().len() - 1)
    }

    /// The skeleton of a number.
    pub fn skeleton(&self, number: f64) -> Result<SkeletonId> {
        let skeleton = index("skeleton", number, self.library.skeletons().len())?;
        self.library.skeleton_ids().nth(skeleton).ok_or_else(|| JsError::new("there is no such skeleton"))
    }

    /// Adds a mask of weights by joint name. Returns the number of the mask.
    pub fn add_mask(&mut self, skeleton: f64, weights: &BTreeMap<String, f64>, descendants: bool) -> Result<usize> {
        let id = self.skeleton(skeleton)?;
        let named: Vec<(&str, f64)> = weights.iter().map(|(name, weight)| (name.as_str(), *weight)).collect();
        let (mask, unknown) = Mask::named(None, self.library.skeletons(), id, &named, descendants)?;
        if let Some(name) = unknown.first() {
            // It fails with the nearest names.
            self.library.skeleton(id).select_joint(name)?;
        }
        self.library.add_mask(mask)?;
        Ok(self.library.masks().len() - 1)
    }

    fn bind(&mut self, file: &Path, skeleton: SkeletonId, clip: &posse::binding::UnboundClip) -> Result<()> {
        let binding = self.library.bind(skeleton, clip, PropertyTracks::Bound)?;
        if binding.tracks.iter().all(|track| track.joint.is_none() && track.property.is_none()) {
            return Err(JsError::new(&format!(
                "{}: no track of the clip finds a node of its path in the rig; give a rig with the same names",
                file.display()
            )));
        }
        self.warnings.extend(binding.issues.iter().map(ToString::to_string));
        Ok(())
    }
}

/// The bytes of a file by its path. A page that was given files by a drop knows their names alone, without folders.
fn find<'a>(files: &'a Files, path: &str) -> Option<&'a [u8]> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let base = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let exact = files.iter().find(|(name, _)| name.strip_prefix("./").unwrap_or(name) == path);
    let mut by_name = files.iter().filter(|(name, _)| base(name) == base(path));
    let only = by_name.next().filter(|_| by_name.next().is_none());
    exact.or(only).map(|(_, bytes)| bytes.as_slice())
}
