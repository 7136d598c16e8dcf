//! Groups of instances, and the layers of each.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use crate::error::Error;
use crate::import::crowd::document::{ClipName, Document, FadeEntry, GroupEntry, LayerEntry, Mode, Reference, Spread};
use crate::import::crowd::{CrowdFile, PosedFile};
use crate::import::fault::Fault;
use crate::import::gltf::Asset;
use crate::model::is_weight;
use crate::model::{
    AdditiveReference, ClipId, Crowd, Fade, Layer, LayerMode, LayerTime, Library, Mask, MaskId, Playback, SkeletonId,
    Ticks,
};

/// The most weights of all masks: one a joint, for each skeleton that a mask is used on.
const MOST_MASK_WEIGHTS: u64 = 1 << 24;

/// Instances that differ by a spread alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub file: usize,
    pub instances: Range<usize>,
    spread: Spread,
    layers: Vec<Started>,
}

/// A layer, and the seconds and the rate that the spread starts from.
#[derive(Debug, Clone, PartialEq)]
struct Started {
    start: f64,
    playback: Playback,
    layer: Layer,
}

impl Started {
    fn at(&self, [seconds, factor]: [f64; 2]) -> Layer {
        let (start, rate) = (Ticks::from_seconds(self.start + seconds), self.playback.rate * factor);
        Layer { time: LayerTime::Playing(Playback { start, rate, ..self.playback }), ..self.layer }
    }
}

impl Group {
    /// The layers of an instance, which is one of the group.
    pub fn layers(&self, instance: usize) -> Vec<Layer> {
        let spread = self.spread.at((instance - self.instances.start) as u32);
        self.layers.iter().map(|layer| layer.at(spread)).collect()
    }
}

/// What groups are read from.
pub(super) struct Groups<'a> {
    pub file: &'a Path,
    pub document: &'a Document,
    pub files: &'a [PosedFile],
}

/// Masks that are in a library, by name, and the number of their weights.
#[derive(Default)]
struct Masks<'a> {
    ids: HashMap<(&'a str, SkeletonId), MaskId>,
    weights: u64,
}

impl<'a> Groups<'a> {
    /// The groups that have instances; masks that they use go into the library.
    pub fn read(&self, library: &mut Library) -> Result<Vec<Group>, Error> {
        let mut groups = Vec::new();
        let mut masks = Masks::default();
        let mut next = 0;
        for (index, entry) in self.document.instances.iter().enumerate() {
            let path = format!("instances[{index}]");
            let file = self.files.get(entry.file).ok_or_else(|| {
                Fault::index(format_args!("{path}.file"), entry.file, "files", self.files.len()).of(self.file)
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
        path: &str,
        entry: &'a GroupEntry,
        asset: &Asset,
    ) -> Result<Vec<Started>, Error> {
        if entry.layers.len() > Crowd::MAX_LAYERS {
            let reason = format!("{} layers; an instance has at most {}", entry.layers.len(), Crowd::MAX_LAYERS);
            return Err(Fault::new(format_args!("{path}.layers"), reason).of(self.file));
        }
        let mut layers = Vec::with_capacity(entry.layers.len());
        for (index, layer) in entry.layers.iter().enumerate() {
            let path = format!("{path}.layers[{index}]");
            let mut started = started(library, &path, layer, asset).map_err(|fault| fault.of(self.file))?;
            check_ends(&started, &path, entry.spread).map_err(|fault| fault.of(self.file))?;
            if let Some(name) = &layer.mask {
                started.layer.mask = Some(self.mask(library, masks, &path, name, asset.skeleton)?);
            }
            layers.push(started);
        }
        Ok(layers)
    }

    /// A mask for a skeleton, made where it is first needed.
    fn mask(
        &self,
        library: &mut Library,
        masks: &mut Masks<'a>,
        path: &str,
        name: &'a str,
        skeleton: SkeletonId,
    ) -> Result<MaskId, Error> {
        if let Some(&id) = masks.ids.get(&(name, skeleton)) {
            return Ok(id);
        }
        let Some(entry) = self.document.masks.get(name) else {
            let names: Vec<_> = self.document.masks.keys().map(String::as_str).collect();
            let reason = format!("there is no mask {name:?}, but: {}", list(&names));
            return Err(Fault::new(format_args!("{path}.mask"), reason).of(self.file));
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

/// A layer but for its mask.
fn started(library: &Library, path: &str, entry: &LayerEntry, asset: &Asset) -> Result<Started, Fault> {
    let clip = find_clip(library, path, &entry.clip, asset)?;
    if !is_weight(entry.weight) {
        let reason = format!("the weight {} is not a finite number of 0 or more", entry.weight);
        return Err(Fault::new(format_args!("{path}.weight"), reason));
    }
    let playback = Playback::new(entry.wrap, Ticks::default(), entry.rate * library.clip(clip).speed);
    let fade_of = |name: &str, entry: Option<FadeEntry>| entry.map(|entry| fade(path, name, entry)).transpose();
    let layer = Layer {
        weight: entry.weight,
        mode: match (entry.mode, entry.reference) {
            (Mode::Blend, _) => LayerMode::Blend,
            (Mode::Override, _) => LayerMode::Override,
            (Mode::Additive, Reference::First) => LayerMode::Additive(AdditiveReference::First),
            (Mode::Additive, Reference::Rest) => LayerMode::Additive(AdditiveReference::Rest),
        },
        fade_in: fade_of("fade_in", entry.fade_in)?,
        fade_out: fade_of("fade_out", entry.fade_out)?,
        ..Layer::new(clip, LayerTime::Playing(playback))
    };
    Ok(Started { start: entry.start, playback, layer })
}

pub(super) fn find_clip(library: &Library, path: &str, wanted: &ClipName, asset: &Asset) -> Result<ClipId, Fault> {
    let name = |clip: &&ClipId| library.clip(**clip).name.as_deref();
    let found = match wanted {
        ClipName::Index(index) => asset.clips.get(*index),
        ClipName::Name(wanted) => asset.clips.iter().find(|clip| name(clip) == Some(wanted)),
    };
    found.copied().ok_or_else(|| {
        let names: Vec<_> = asset.clips.iter().map(|clip| name(&clip).unwrap_or("unnamed")).collect();
        let reason = format!("{} has no clip {wanted}, but: {}", asset.file.display(), list(&names));
        Fault::new(format_args!("{path}.clip"), reason)
    })
}

fn fade(path: &str, name: &str, entry: FadeEntry) -> Result<Fade, Fault> {
    let FadeEntry { start, seconds, shape } = entry;
    if seconds < 0.0 {
        let reason = format!("{seconds} s; a fade takes 0 s or more");
        return Err(Fault::new(format_args!("{path}.{name}.seconds"), reason));
    }
    let start = ticks(format_args!("{path}.{name}.start"), start)?;
    let length = ticks(format_args!("{path}.{name}.seconds"), seconds)?;
    Ok(Fade { start, length, shape: shape.into() })
}

/// Checks what the first and the last of a spread make of a layer: all else is between them.
fn check_ends(started: &Started, path: &str, spread: Spread) -> Result<(), Fault> {
    let [starts, rates] = spread.ends();
    for (seconds, factor) in starts.into_iter().zip(rates) {
        ticks(format_args!("{path}.start"), started.start + seconds)?;
        if let Some(reason) = started.at([seconds, factor]).fault() {
            return Err(Fault::new(format_args!("{path}.rate"), reason));
        }
    }
    Ok(())
}

/// A time on the crowd's clock.
fn ticks(path: impl fmt::Display, seconds: f64) -> Result<Ticks, Fault> {
    CrowdFile::ticks(seconds).ok_or_else(|| {
        let last = CrowdFile::MAX_SECONDS;
        Fault::new(
            path,
            format!("{seconds:e} s is beyond the crowd's clock, which goes from -{last:e} s to {last:e} s"),
        )
    })
}

/// Some names, for errors.
pub(super) fn list(names: &[&str]) -> String {
    const MOST: usize = 20;
    match names {
        [] => "none".into(),
        names if names.len() > MOST => format!("{}, and {} more", names[..MOST].join(", "), names.len() - MOST),
        names => names.join(", "),
    }
}
