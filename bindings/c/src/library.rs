//! A library that grows file by file, and its snapshots for crowds.

use std::path::Path;
use std::sync::{Arc, Mutex};

use posse::binding::PropertyTracks;
use posse::cpu::CpuEngine;
use posse::import::Warning;
use posse::import::bvh::LoadOptions as BvhOptions;
use posse::import::{FileFormat, bvh, cocos, fbx, gltf, recognize};
use posse::parameters::{BlendSpace, Knots};
use posse::root_motion::RootMotion;
use posse::{ClipId, Mask, Skeleton};

use crate::error::{Error, Outcome};
use crate::layer;
use crate::layout;
use crate::numbers::{Parts, item, number};
use crate::types::{
    self, ClipInfo, Item, JointInfo, LibraryInfo, LoadOptions, Loaded, POSSE_NONE, SkeletonInfo, SkinJointInfo, Status,
};

/// A library with a handle.
#[derive(Default)]
pub struct Library {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Shared with the crowds until it changes.
    parts: Arc<Parts>,
    /// What was repaired in files or left out.
    warnings: Vec<String>,
    /// The snapshot of the present parts, if a crowd has needed one.
    snapshot: Option<Arc<Snapshot>>,
}

/// A library as it was when a crowd was made, with its engine. It does not change.
pub struct Snapshot {
    pub parts: Arc<Parts>,
    pub engine: CpuEngine,
}

impl Library {
    /// Reads a file into the library.
    pub fn load_file(&self, file: &str, options: &LoadOptions) -> Outcome<Loaded> {
        let path = Path::new(file);
        let bytes = std::fs::read(path).map_err(|source| posse::Error::Io { file: path.to_path_buf(), source })?;
        self.load(path, &bytes, Some(path.parent().unwrap_or(Path::new(""))), options)
    }

    /// Reads the bytes of a file into the library. `folder` is the folder of the files that it refers to.
    pub fn load(&self, file: &Path, bytes: &[u8], folder: Option<&Path>, options: &LoadOptions) -> Outcome<Loaded> {
        self.change(|parts, warnings| {
            let counts = |parts: &Parts, warnings: &Vec<String>| {
                [parts.library.skeletons().len(), parts.library.clips().len(), warnings.len()].map(number)
            };
            let first = counts(parts, warnings);
            let new = read(parts, file, bytes, folder, options)?;
            warnings.extend(new.iter().map(|warning| format!("{}: {warning}", file.display())));
            let end = counts(parts, warnings);
            let [skeleton_count, clip_count, warning_count] = std::array::from_fn(|list| end[list] - first[list]);
            let [first_skeleton, first_clip, first_warning] = first;
            let struct_size = 0;
            Ok(Loaded {
                struct_size,
                first_skeleton,
                skeleton_count,
                first_clip,
                clip_count,
                first_warning,
                warning_count,
            })
        })
    }

    /// Gives a clip to another skeleton, by the names of joints. Returns the new clip.
    pub fn share_clip(&self, clip: u32, skeleton: u32) -> Outcome<u32> {
        self.change(|parts, warnings| {
            let (clip, skeleton) = (parts.clip_id(clip)?, parts.skeleton_id(skeleton)?);
            let sharing = parts.library.share_clip(clip, skeleton)?;
            warnings.extend(sharing.issues.iter().map(ToString::to_string));
            Ok(number(sharing.clip.index()))
        })
    }

    /// Sets or removes the joint of a clip that moves instances over the ground.
    pub fn set_root_motion(&self, clip: u32, joint: u32) -> Outcome<()> {
        self.change(|parts, _| {
            let id = parts.clip_id(clip)?;
            let root = if joint == POSSE_NONE {
                None
            } else {
                let skeleton = parts.library.skeleton(parts.library.clip(id).skeleton);
                item("joint", skeleton.joints().iter(), joint)?;
                Some(RootMotion::on_ground(skeleton, joint as usize)?)
            };
            parts.library.set_root_motion(id, root)?;
            Ok(())
        })
    }

    /// Adds a mask of one weight per joint. Returns its index.
    pub fn add_mask(&self, skeleton: u32, weights: &[f32]) -> Outcome<u32> {
        self.change(|parts, _| {
            let skeleton = parts.skeleton_id(skeleton)?;
            let weights = weights.iter().map(|&weight| f64::from(weight)).collect();
            Ok(number(parts.library.add_mask(Mask { name: None, skeleton, weights })?.index()))
        })
    }

    /// Adds joints that inverse kinematics rotates. Returns the index of the chain.
    pub fn add_chain(&self, chain: &types::Chain) -> Outcome<u32> {
        self.change(|parts, _| {
            let chain = layer::chain(parts, chain)?;
            Ok(number(parts.library.add_chain(chain)?.index()))
        })
    }

    /// Adds a weight as a function of a parameter. Returns its index.
    pub fn add_knots(&self, pairs: &[f32]) -> Outcome<u32> {
        self.change(|parts, _| {
            let id = parts.library.add_knots(Knots::new(in_pairs(pairs))?);
            parts.knots.push(id);
            Ok(number(parts.knots.len() - 1))
        })
    }

    /// Adds a blend space of points. Returns its index.
    pub fn add_blend_space(&self, points: &[f32]) -> Outcome<u32> {
        self.change(|parts, _| {
            let id = parts.library.add_blend_space(BlendSpace::new(in_pairs(points))?);
            parts.blend_spaces.push(id);
            Ok(number(parts.blend_spaces.len() - 1))
        })
    }

    /// The index of the item that a text selects.
    pub fn find(&self, kind: Item, owner: u32, text: &str) -> Outcome<u32> {
        self.read(|State { parts, .. }| {
            let library = &parts.library;
            let in_text = |error: posse::Error| Error::new(Status::Name, error.to_string());
            let found = match kind {
                Item::Clip => {
                    let skeleton = if owner == POSSE_NONE { None } else { Some(parts.skeleton_id(owner)?) };
                    let is_own = |id: &ClipId| skeleton.is_none_or(|skeleton| library.clip(*id).skeleton == skeleton);
                    let clips: Vec<ClipId> = library.clip_ids().filter(is_own).collect();
                    library.select_clip(&clips, text).map_err(in_text)?.index()
                }
                Item::Joint => parts.skeleton(owner)?.select_joint(text).map_err(in_text)?,
                Item::Skeleton => find_name("skeleton", library.skeletons().iter().map(Skeleton::name), text)?,
                Item::Event => {
                    let events = parts.clip(owner)?.events.iter();
                    find_name("event", events.map(|event| Some(event.function.as_str())), text)?
                }
                Item::Property => {
                    let properties = parts.skeleton(owner)?.properties().iter();
                    find_name("property", properties.map(|property| Some(property.name.as_str())), text)?
                }
                Item::Skin => {
                    let skins = library.skins_of(parts.skeleton_id(owner)?);
                    let names: Vec<Option<&str>> = skins.map(|(_, skin)| skin.name.as_deref()).collect();
                    find_name("skin", names.into_iter(), text)?
                }
                Item::Weight | Item::Warning => {
                    return Err(Error::argument(
                        "morph weights and warnings are not found by name; go through their names",
                    ));
                }
            };
            Ok(number(found))
        })
    }

    /// The name of an item; empty for one without a name.
    pub fn name(&self, kind: Item, owner: u32, index: u32) -> Outcome<String> {
        self.read(|State { parts, warnings, .. }| {
            let name = match kind {
                Item::Skeleton => parts.skeleton(index)?.name().map(str::to_owned),
                Item::Clip => parts.clip(index)?.name.clone(),
                Item::Joint => item("joint", parts.skeleton(owner)?.joints().iter(), index)?.name.clone(),
                Item::Event => Some(item("event", parts.clip(owner)?.events.iter(), index)?.function.clone()),
                Item::Property => {
                    Some(item("property", parts.skeleton(owner)?.properties().iter(), index)?.name.clone())
                }
                Item::Weight => Some(weight_name(parts.skeleton(owner)?, index)?),
                Item::Warning => Some(item("warning", warnings.iter(), index)?.clone()),
                Item::Skin => {
                    let skins: Vec<_> = parts.library.skins_of(parts.skeleton_id(owner)?).collect();
                    item("skin", skins.iter(), index)?.1.name.clone()
                }
            };
            Ok(name.unwrap_or_default())
        })
    }

    pub fn info(&self) -> Outcome<LibraryInfo> {
        self.read(|State { parts, warnings, .. }| {
            let library = &parts.library;
            Ok(LibraryInfo {
                skeleton_count: number(library.skeletons().len()),
                clip_count: number(library.clips().len()),
                mask_count: number(library.masks().len()),
                warning_count: number(warnings.len()),
                ..LibraryInfo::default()
            })
        })
    }

    pub fn skeleton_info(&self, skeleton: u32) -> Outcome<SkeletonInfo> {
        self.read(|State { parts, .. }| {
            let id = parts.skeleton_id(skeleton)?;
            let skeleton = parts.library.skeleton(id);
            let skins = || parts.library.skins_of(id);
            Ok(SkeletonInfo {
                joint_count: number(skeleton.joints().len()),
                skin_count: number(skins().count()),
                skin_joint_count: number(skins().map(|(_, skin)| skin.joints.len()).sum()),
                weight_count: number(skeleton.weight_count()),
                property_count: number(skeleton.properties().len()),
                property_width: number(skeleton.property_width()),
                ..SkeletonInfo::default()
            })
        })
    }

    pub fn joint_info(&self, skeleton: u32, joint: u32) -> Outcome<JointInfo> {
        self.read(|State { parts, .. }| {
            let joint = item("joint", parts.skeleton(skeleton)?.joints().iter(), joint)?;
            Ok(JointInfo {
                parent: joint.parent.map_or(POSSE_NONE, number),
                weight_count: number(joint.weights.len()),
                translation: joint.rest.translation.to_array().map(|number| number as f32),
                rotation: joint.rest.rotation.to_array().map(|number| number as f32),
                scale: joint.rest.scale.to_array().map(|number| number as f32),
                ..JointInfo::default()
            })
        })
    }

    /// A joint of the skins of a skeleton, in the order of the skin matrices.
    pub fn skin_joint(&self, skeleton: u32, index: u32) -> Outcome<SkinJointInfo> {
        self.read(|State { parts, .. }| {
            let skins = parts.library.skins_of(parts.skeleton_id(skeleton)?).enumerate();
            let joints: Vec<_> = skins
                .flat_map(|(skin, (_, own))| own.joints.iter().zip(&own.inverse_bind).map(move |joint| (skin, joint)))
                .collect();
            let &(skin, (&joint, inverse_bind)) = item("joint of a skin", joints.iter(), index)?;
            Ok(SkinJointInfo {
                skin: number(skin),
                joint: number(joint),
                inverse_bind: layout::rows(inverse_bind),
                ..SkinJointInfo::default()
            })
        })
    }

    pub fn clip_info(&self, clip: u32) -> Outcome<ClipInfo> {
        self.read(|State { parts, .. }| {
            let clip = parts.clip(clip)?;
            let wrap = posse::WrapMode::ALL.iter().position(|mode| *mode == clip.wrap).unwrap_or(0);
            Ok(ClipInfo {
                duration: clip.duration(),
                speed: clip.speed,
                skeleton: number(clip.skeleton.index()),
                wrap: number(wrap),
                event_count: number(clip.events.len()),
                has_root_motion: u32::from(clip.root_motion.is_some()),
                ..ClipInfo::default()
            })
        })
    }

    /// The time of an event in its clip, in seconds.
    pub fn event_time(&self, clip: u32, event: u32) -> Outcome<f64> {
        self.read(|State { parts, .. }| Ok(item("event", parts.clip(clip)?.events.iter(), event)?.time))
    }

    /// The library as it is now, with its engine. Crowds of an unchanged library share both.
    pub fn snapshot(&self) -> Outcome<Arc<Snapshot>> {
        let mut state = self.state.lock().map_err(|_| Error::poisoned())?;
        if let Some(snapshot) = &state.snapshot {
            return Ok(Arc::clone(snapshot));
        }
        let parts = Arc::clone(&state.parts);
        // The threads belong to the caller.
        let engine = CpuEngine::with_threads(&parts.library, 1)?;
        let snapshot = Arc::new(Snapshot { parts, engine });
        state.snapshot = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    fn read<T>(&self, work: impl FnOnce(&State) -> Outcome<T>) -> Outcome<T> {
        let state = self.state.lock().map_err(|_| Error::poisoned())?;
        work(&state)
    }

    fn change<T>(&self, work: impl FnOnce(&mut Parts, &mut Vec<String>) -> Outcome<T>) -> Outcome<T> {
        let mut state = self.state.lock().map_err(|_| Error::poisoned())?;
        let State { parts, warnings, snapshot } = &mut *state;
        *snapshot = None;
        // Crowds keep the parts that they have; without crowds, nothing is copied.
        work(Arc::make_mut(parts), warnings)
    }
}

/// Reads the bytes of a file of any format.
fn read(
    parts: &mut Parts,
    file: &Path,
    bytes: &[u8],
    folder: Option<&Path>,
    options: &LoadOptions,
) -> Outcome<Vec<Warning>> {
    let library = &mut parts.library;
    let refused = |text: &str| Err(Error::new(Status::File, format!("{}: {text}", file.display())));
    match recognize(file, bytes)? {
        FileFormat::Gltf if cfg!(feature = "gltf") => Ok(gltf::from_slice(library, file, bytes, folder)?.warnings),
        FileFormat::Fbx if cfg!(feature = "fbx") => Ok(fbx::from_slice(library, file, bytes)?.warnings),
        FileFormat::Bvh if cfg!(feature = "bvh") => {
            let fps = (options.fps != 0.0).then_some(options.fps);
            let options = BvhOptions { fps, ..BvhOptions::default() };
            Ok(bvh::from_slice_with(library, file, bytes, &options)?.warnings)
        }
        FileFormat::CocosClip if cfg!(feature = "cocos") => {
            let Some(skeleton) =
                usize::try_from(options.skeleton).ok().and_then(|index| library.skeleton_ids().nth(index))
            else {
                return refused(
                    "a clip of Cocos Creator moves the joints of a skeleton that was loaded before; there is none of that index",
                );
            };
            let cocos::ClipFile { clip, mut warnings } = cocos::from_slice(library, file, bytes)?;
            let binding = library.bind(skeleton, &clip, PropertyTracks::Bound)?;
            let path = "the binding".to_owned();
            warnings
                .extend(binding.issues.iter().map(|issue| Warning { path: path.clone(), message: issue.to_string() }));
            Ok(warnings)
        }
        FileFormat::Smpl => refused("motion of SMPL is not read through the C interface; convert it to glTF or BVH"),
        FileFormat::Crowd => refused("crowd files are not read through the C interface; load the files that it names"),
        format => refused(&format!(
            "this build of the C interface does not read the format {format:?}; build it with the feature of its name"
        )),
    }
}

/// The position of the only name that is equal to a text.
fn find_name<'a>(kind: &str, names: impl Iterator<Item = Option<&'a str>>, text: &str) -> Outcome<usize> {
    let mut found = names.enumerate().filter(|(_, name)| *name == Some(text)).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Error::new(Status::Name, format!("there is no {kind} of the name {text:?}"))),
        (Some(first), Some(second)) => {
            let text = format!("the {kind}s {first} and {second} have the name {text:?}; use the index");
            Err(Error::new(Status::Name, text))
        }
    }
}

/// The name of a morph weight among the weights of all joints.
fn weight_name(skeleton: &Skeleton, index: u32) -> Outcome<String> {
    let ranges = skeleton.weight_ranges();
    let at = index as usize;
    let joint = ranges.iter().position(|range| range.contains(&at));
    let Some((joint, range)) = joint.and_then(|joint| Some((joint, ranges.get(joint)?))) else {
        return Err(Error::index("morph weight", index, skeleton.weight_count()));
    };
    Ok(skeleton.weight_name(joint, at - range.start))
}

fn in_pairs(numbers: &[f32]) -> Vec<[f64; 2]> {
    numbers.as_chunks::<2>().0.iter().map(|pair| pair.map(f64::from)).collect()
}
