//! Groups of instances, with the masks of their layers.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::error::Error;
use crate::import::crowd::document::{CrowdDocument, GroupEntry, LayerEntry, Object, Spread, TransitionEntry};
use crate::import::crowd::goals::{Chains, GoalScope};
use crate::import::crowd::layers::{
    self, BlendSpaces, KnotLists, LayerScope, LayerTemplate, TransitionTemplate, with_offset,
};
use crate::import::crowd::{CrowdFile, PosedFile};
use crate::import::{FileError, JsonPath, list_names};
use crate::model::{Crowd, Goal, Library, Mask, MaskId, Parameter, SkeletonId};

/// The largest number of weights of all masks: one per joint, for each skeleton that a mask is used with.
const MAX_MASK_WEIGHTS: u64 = 1 << 24;

/// Instances that differ only by a spread.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub file: usize,
    pub instances: Range<usize>,
    spread: Spread,
    /// The factor of the size at which the instances are drawn.
    pub scale: f64,
    /// The parameters, which all instances share.
    parameters: Arc<[Parameter]>,
    /// The names of the parameters.
    pub parameter_names: Vec<String>,
    layers: Vec<LayerTemplate>,
    transition: Option<TransitionTemplate>,
    /// The goals, which all instances share.
    goals: Arc<[Goal]>,
}

impl Group {
    /// Adds instances of the group to a crowd.
    pub fn push(
        &self,
        library: &Library,
        crowd: &mut Crowd,
        skeleton: SkeletonId,
        instances: Range<usize>,
    ) -> Result<(), Error> {
        let mut last = None;
        for instance in instances {
            let offset = self.spread.offset((instance - self.instances.start) as u32);
            // Equal instances share the displacement of their transition.
            let single = match last.take().filter(|(other, _)| *other == offset) {
                Some((_, single)) => single,
                None => {
                    let mut single = Crowd::new();
                    single.push(skeleton, &with_offset(&self.layers, offset))?;
                    single.set_parameters(0, Arc::clone(&self.parameters))?;
                    single.set_goals(0, Arc::clone(&self.goals))?;
                    let transition = self.transition.as_ref().map(|transition| transition.with_offset(offset));
                    single.set_transition(library, 0, transition)?;
                    single
                }
            };
            crowd.push_copy(&single, 0);
            last = Some((offset, single));
        }
        Ok(())
    }
}

/// The input of reading groups.
pub(super) struct Groups<'a> {
    pub file: &'a Path,
    pub document: &'a CrowdDocument,
    pub files: &'a [PosedFile],
    pub spaces: &'a BlendSpaces<'a>,
}

/// The place of a list of layers: the path of an object, and the name of its field.
#[derive(Clone, Copy)]
struct ListPlace<'p> {
    path: &'p JsonPath<'p>,
    name: &'static str,
}

/// The masks, knots and chains that have been added to a library.
#[derive(Default)]
struct Added<'a> {
    masks: Masks<'a>,
    knots: KnotLists,
    chains: Chains,
}

/// The masks that have been added to a library, and the number of their weights.
#[derive(Default)]
struct Masks<'a> {
    ids: HashMap<(&'a str, SkeletonId), MaskId>,
    weights: u64,
}

impl<'a> Groups<'a> {
    /// Reads the groups that have instances. Adds the masks, knots and chains that they use to the library.
    pub fn read(&self, library: &mut Library) -> Result<Vec<Group>, Error> {
        let mut groups = Vec::new();
        let mut added = Added::default();
        let mut next = 0;
        for (index, entry) in self.document.instances.iter().enumerate() {
            let group = self.group(library, &mut added, index, entry)?;
            let (allowed, first) = (CrowdFile::MAX_INSTANCES as u64, next as u64);
            let needed = first.saturating_add(entry.count);
            if needed > allowed {
                return Err(Error::Limit { what: format!("{}: instances", self.file.display()), needed, allowed });
            }
            let instances = next..needed as usize;
            next = instances.end;
            if !instances.is_empty() {
                groups.push(Group { instances, ..group });
            }
        }
        Ok(groups)
    }

    /// Reads a group, still without instances.
    fn group(
        &self,
        library: &mut Library,
        added: &mut Added<'a>,
        index: usize,
        entry: &'a GroupEntry,
    ) -> Result<Group, Error> {
        let path = JsonPath::top("instances", index);
        let in_file = |error: FileError| error.in_file(self.file);
        let file = self.files.get(entry.file);
        let file =
            file.ok_or_else(|| in_file(FileError::index(path.field("file"), entry.file, "files", self.files.len())))?;
        if !(1e-6..=1e6).contains(&entry.scale) {
            let reason = format!("the scale is {}; expected a number from 1e-6 to 1e6", entry.scale);
            return Err(in_file(FileError::new(path.field("scale"), reason)));
        }
        let parameters = layers::read_parameters(&path, &entry.parameters).map_err(in_file)?;
        let parameter_names = entry.parameters.0.iter().map(|(name, _)| name.clone()).collect();
        let scope = LayerScope { entry, asset: &file.asset, spaces: self.spaces };
        let mut read_layers = |path: &JsonPath, name: &'static str, entries: &'a [Object<LayerEntry>]| {
            self.layers(library, added, scope, ListPlace { path, name }, entries)
        };
        let layers = read_layers(&path, "layers", &entry.layers)?;
        let place = path.field("transition");
        let read =
            |entry: &'a Object<TransitionEntry>| layers::read_transition(&place, entry, 1, &mut read_layers, &in_file);
        let transition = entry.transition.as_ref().map(read).transpose()?;
        let scope = GoalScope { entry, asset: &file.asset };
        let goals = scope.read(library, &mut added.chains, &path).map_err(in_file)?.into();
        let &GroupEntry { file, spread, scale, .. } = entry;
        Ok(Group { file, instances: 0..0, spread, scale, parameters, parameter_names, layers, transition, goals })
    }

    /// Reads a list of layers.
    fn layers(
        &self,
        library: &mut Library,
        added: &mut Added<'a>,
        scope: LayerScope,
        place: ListPlace,
        entries: &'a [Object<LayerEntry>],
    ) -> Result<Vec<LayerTemplate>, Error> {
        let ListPlace { path, name } = place;
        if entries.len() > Crowd::MAX_LAYERS {
            let reason = format!("there are {} layers; an instance has at most {}", entries.len(), Crowd::MAX_LAYERS);
            return Err(FileError::new(path.field(name), reason).in_file(self.file));
        }
        let mut layers = Vec::with_capacity(entries.len());
        for (index, layer) in entries.iter().enumerate() {
            let path = path.element(name, index);
            let read = scope.read(library, &mut added.knots, &path, layer, &layers);
            let mut template = read.map_err(|error| error.in_file(self.file))?;
            if let Some(name) = &layer.mask {
                template.layer.mask = Some(self.mask(library, &mut added.masks, &path, name, scope.asset.skeleton)?);
            }
            layers.push(template);
        }
        Ok(layers)
    }

    /// A mask for a skeleton. It is made on the first request.
    fn mask(
        &self,
        library: &mut Library,
        masks: &mut Masks<'a>,
        path: &JsonPath,
        name: &'a str,
        skeleton: SkeletonId,
    ) -> Result<MaskId, Error> {
        if let Some(&id) = masks.ids.get(&(name, skeleton)) {
            return Ok(id);
        }
        let Some(entry) = self.document.masks.get(name) else {
            let names: Vec<_> = self.document.masks.keys().map(String::as_str).collect();
            let reason = format!("there is no mask {name:?}; the file has: {}", list_names(&names));
            return Err(FileError::new(path.field("mask"), reason).in_file(self.file));
        };
        masks.weights += library.skeleton(skeleton).joints().len() as u64;
        if masks.weights > MAX_MASK_WEIGHTS {
            let what = format!("{}: masks x joints", self.file.display());
            return Err(Error::Limit { what, needed: masks.weights, allowed: MAX_MASK_WEIGHTS });
        }
        let joints: Vec<_> = entry.joints.iter().map(|(joint, weight)| (joint.as_str(), *weight)).collect();
        let (mask, _) = Mask::named(Some(name.into()), library.skeletons(), skeleton, &joints, entry.descendants)?;
        let id = library.add_mask(mask)?;
        masks.ids.insert((name, skeleton), id);
        Ok(id)
    }
}
