//! Groups of instances, and the layers of each.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use crate::error::Error;
use crate::import::crowd::document::{ClipName, Document, FadeEntry, GroupEntry, LayerEntry, Mode, Reference, Spread};
use crate::import::crowd::spread::SpreadOffset;
use crate::import::crowd::{CrowdFile, PosedFile};
use crate::import::gltf::Asset;
use crate::import::{Fault, JsonPath};
use crate::model::is_weight;
use crate::model::{
    AdditiveReference, ClipId, Crowd, Fade, Layer, LayerMode, LayerTime, Library, Mask, MaskId, Playback, SkeletonId,
    Ticks,
};

/// The largest number of weights of all masks: one per joint, for each skeleton that a mask is used with.
const MOST_MASK_WEIGHTS: u64 = 1 << 24;

/// Instances that differ only by a spread.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub file: usize,
    pub instances: Range<usize>,
    spread: Spread,
    layers: Vec<LayerTemplate>,
}

/// A layer without a spread: a start in seconds, a playback with the rate, and all else.
#[derive(Debug, Clone, PartialEq)]
struct LayerTemplate {
    start: f64,
    playback: Playback,
    layer: Layer,
}

impl LayerTemplate {
    /// The layer of an instance.
    fn with_offset(&self, offset: SpreadOffset) -> Layer {
        let (start, rate) = (Ticks::from_seconds(self.start + offset.seconds), self.playback.rate * offset.factor);
        Layer { time: LayerTime::Playing(Playback { start, rate, ..self.playback }), ..self.layer }
    }
}

impl Group {
    /// The layers of an instance of the group.
    pub fn layers(&self, instance: usize) -> Vec<Layer> {
        let offset = self.spread.offset((instance - self.instances.start) as u32);
        self.layers.iter().map(|layer| layer.with_offset(offset)).collect()
    }
}

/// The input of reading groups.
pub(super) struct Groups<'a> {
    pub file: &'a Path,
    pub document: &'a Document,
    pub files: &'a [PosedFile],
}

/// The masks that have been added to a library, and the number of their weights.
#[derive(Default)]
struct Masks<'a> {
    ids: HashMap<(&'a str, SkeletonId), MaskId>,
    weights: u64,
}

impl<'a> Groups<'a> {
    /// Reads the groups that have instances. Adds the masks that they use to the library.
    pub fn read(&self, library: &mut Library) -> Result<Vec<Group>, Error> {
        let mut groups = Vec::new();
        let mut masks = Masks::default();
        let mut next = 0;
        for (index, entry) in self.document.instances.iter().enumerate() {
            let path = JsonPath::top("instances", index);
            let file = self.files.get(entry.file).ok_or_else(|| {
                Fault::index(path.field("file"), entry.file, "files", self.files.len()).in_file(self.file)
            })?;
            let layers = self.layers(library, &mut masks, &path, entry, &file.asset)?;
            let (allowed, first) = (CrowdFile::MAX_INSTANCES as u64, next as u64);
            let needed = first.saturating_add(entry.count);
            if needed > allowed {
                return Err(Error::Limit { what: format!("{}: instances", self.file.display()), needed, allowed });
            }
            let instances = next..needed as usize;
            next = instances.end;
            if !instances.is_empty() {
                groups.push(Group { file: entry.file, instances, spread: entry.spread, layers });
            }
        }
        Ok(groups)
    }

    fn layers(
        &self,
        library: &mut Library,
        masks: &mut Masks<'a>,
        path: &JsonPath,
        entry: &'a GroupEntry,
        asset: &Asset,
    ) -> Result<Vec<LayerTemplate>, Error> {
        if entry.layers.len() > Crowd::MAX_LAYERS {
            let reason =
                format!("there are {} layers; an instance has at most {}", entry.layers.len(), Crowd::MAX_LAYERS);
            return Err(Fault::new(path.field("layers"), reason).in_file(self.file));
        }
        let mut layers = Vec::with_capacity(entry.layers.len());
        for (index, layer) in entry.layers.iter().enumerate() {
            let path = path.element("layers", index);
            let mut template = read_layer(library, &path, layer, asset).map_err(|fault| fault.in_file(self.file))?;
            check_ends(&template, &path, entry.spread).map_err(|fault| fault.in_file(self.file))?;
            if let Some(name) = &layer.mask {
                template.layer.mask = Some(self.mask(library, masks, &path, name, asset.skeleton)?);
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
            return Err(Fault::new(path.field("mask"), reason).in_file(self.file));
        };
        masks.weights += library.skeleton(skeleton).joints().len() as u64;
        if masks.weights > MOST_MASK_WEIGHTS {
            let what = format!("{}: masks x joints", self.file.display());
            return Err(Error::Limit { what, needed: masks.weights, allowed: MOST_MASK_WEIGHTS });
        }
        let joints: Vec<_> = entry.joints.iter().map(|(joint, weight)| (joint.as_str(), *weight)).collect();
        let (mask, _) = Mask::named(Some(name.into()), library.skeletons(), skeleton, &joints, entry.descendants)?;
        let id = library.add_mask(mask)?;
        masks.ids.insert((name, skeleton), id);
        Ok(id)
    }
}

/// Reads a layer without its mask.
fn read_layer(library: &Library, path: &JsonPath, entry: &LayerEntry, asset: &Asset) -> Result<LayerTemplate, Fault> {
    let clip = find_clip(library, path, &entry.clip, asset)?;
    if !is_weight(entry.weight) {
        let reason = format!("the weight {} is not a finite number of 0 or more", entry.weight);
        return Err(Fault::new(path.field("weight"), reason));
    }
    let playback = Playback::new(entry.wrap, Ticks::default(), entry.rate * library.clip(clip).speed);
    let read_fade = |name: &str, entry: Option<FadeEntry>| entry.map(|entry| fade(path, name, entry)).transpose();
    let layer = Layer {
        weight: entry.weight,
        mode: match (entry.mode, entry.reference) {
            (Mode::Blend, _) => LayerMode::Blend,
            (Mode::Override, _) => LayerMode::Override,
            (Mode::Additive, Reference::First) => LayerMode::Additive(AdditiveReference::First),
            (Mode::Additive, Reference::Rest) => LayerMode::Additive(AdditiveReference::Rest),
        },
        fade_in: read_fade("fade_in", entry.fade_in)?,
        fade_out: read_fade("fade_out", entry.fade_out)?,
        ..Layer::new(clip, LayerTime::Playing(playback))
    };
    Ok(LayerTemplate { start: entry.start, playback, layer })
}

/// The clip of a name or an index in an asset.
pub(super) fn find_clip(library: &Library, path: &JsonPath, wanted: &ClipName, asset: &Asset) -> Result<ClipId, Fault> {
    let name = |clip: &&ClipId| library.clip(**clip).name.as_deref();
    let found = match wanted {
        ClipName::Index(index) => asset.clips.get(*index),
        ClipName::Name(wanted) => asset.clips.iter().find(|clip| name(clip) == Some(wanted)),
    };
    found.copied().ok_or_else(|| {
        let names: Vec<_> = asset.clips.iter().map(|clip| name(&clip).unwrap_or("unnamed")).collect();
        let reason = format!("{} has no clip {wanted}; it has: {}", asset.file.display(), list_names(&names));
        Fault::new(path.field("clip"), reason)
    })
}

fn fade(path: &JsonPath, name: &str, entry: FadeEntry) -> Result<Fade, Fault> {
    let FadeEntry { start, seconds, shape } = entry;
    if seconds < 0.0 {
        let reason = format!("the fade takes {seconds} s, but has to take 0 s or more");
        return Err(Fault::new(path.field(name).field("seconds"), reason));
    }
    let start = ticks(path.field(name).field("start"), start)?;
    let length = ticks(path.field(name).field("seconds"), seconds)?;
    Ok(Fade { start, length, shape: shape.into() })
}

/// Checks a layer at both ends of a spread. All instances are between them.
fn check_ends(template: &LayerTemplate, path: &JsonPath, spread: Spread) -> Result<(), Fault> {
    for offset in spread.ends() {
        ticks(path.field("start"), template.start + offset.seconds)?;
        if let Some(reason) = template.with_offset(offset).fault() {
            return Err(Fault::new(path.field("rate"), reason));
        }
    }
    Ok(())
}

/// A time on the crowd clock.
fn ticks(path: impl fmt::Display, seconds: f64) -> Result<Ticks, Fault> {
    CrowdFile::ticks(seconds).ok_or_else(|| {
        let last = CrowdFile::MAX_SECONDS;
        Fault::new(
            path,
            format!("{seconds:e} s is beyond the crowd clock, which reaches from -{last:e} s to {last:e} s"),
        )
    })
}

/// The first 20 names, for messages.
pub(super) fn list_names(names: &[&str]) -> String {
    const MOST: usize = 20;
    match names {
        [] => "none".into(),
        names if names.len() > MOST => format!("{}, and {} more", names[..MOST].join(", "), names.len() - MOST),
        names => names.join(", "),
    }
}
