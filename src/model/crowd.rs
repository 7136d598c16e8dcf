//! The question: who is to be posed, and when.

use std::fmt;

use crate::error::Error;
use crate::model::{Layer, Library, MaskId, SkeletonId};

/// An index into a library, with the name of the item if it has one: `3 ("walk")`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub index: usize,
    pub name: Option<&'a str>,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.index)?;
        self.name.map_or(Ok(()), |name| write!(out, " ({name:?})"))
    }
}

/// The message for a layer whose clip belongs to another skeleton than the instance.
pub(crate) fn clip_mismatch(clip: Named, clip_skeleton: Named, instance_skeleton: Named) -> String {
    format!("clip {clip} animates skeleton {clip_skeleton}, but the instance uses skeleton {instance_skeleton}")
}

/// The message for a layer whose mask belongs to another skeleton than the instance.
pub(crate) fn mask_mismatch(mask: MaskId, mask_skeleton: SkeletonId, instance_skeleton: SkeletonId) -> String {
    let [mask, own, wanted] = [mask.index(), mask_skeleton.index(), instance_skeleton.index()];
    format!("mask {mask} is for skeleton {own}, but the instance uses skeleton {wanted}")
}

/// Instances, each a skeleton with the layers that move it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crowd {
    instances: Vec<(SkeletonId, Vec<Layer>)>,
}

impl Crowd {
    /// The most layers of an instance.
    pub const MAX_LAYERS: usize = 8;

    /// An empty crowd.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an instance, and gives its index. Without a layer it stands in its rest pose.
    ///
    /// # Errors
    /// [`Error::Limit`] beyond [`MAX_LAYERS`](Self::MAX_LAYERS); [`Error::Instance`] where a time or weight is not finite, a
    /// weight or the length of a fade negative, a rate not from -1e4 to 1e4, a repeat count not 0 or more, or a range not
    /// from a start to an end.
    pub fn push(&mut self, skeleton: SkeletonId, layers: &[Layer]) -> Result<usize, Error> {
        let instance = self.instances.len();
        check_layers(instance, layers)?;
        self.instances.push((skeleton, layers.to_vec()));
        Ok(instance)
    }

    /// Gives an instance other layers, and another skeleton if need be. The others stay as they are.
    ///
    /// # Errors
    /// As those of [`push`](Self::push), and [`Error::Instance`] where there is no such instance; nothing is changed then.
    pub fn set(&mut self, instance: usize, skeleton: SkeletonId, layers: &[Layer]) -> Result<(), Error> {
        check_layers(instance, layers)?;
        let count = self.len();
        let Some((its_skeleton, its_layers)) = self.instances.get_mut(instance) else {
            return Err(Error::Instance { instance, reason: format!("the crowd has {count} instances") });
        };
        *its_skeleton = skeleton;
        its_layers.clear();
        its_layers.extend_from_slice(layers);
        Ok(())
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// An instance's skeleton.
    ///
    /// # Panics
    /// Where there is no such instance.
    pub fn skeleton(&self, instance: usize) -> SkeletonId {
        self.instances[instance].0
    }

    /// An instance's layers, in order.
    ///
    /// # Panics
    /// Where there is no such instance.
    pub fn layers(&self, instance: usize) -> &[Layer] {
        &self.instances[instance].1
    }

    /// Checks that every skeleton, clip and mask exists in a library and that they belong together.
    ///
    /// # Errors
    /// [`Error::Instance`] naming the first instance for which that is not so.
    pub fn check(&self, library: &Library) -> Result<(), Error> {
        for (instance, (skeleton, layers)) in self.instances.iter().enumerate() {
            let fault = |reason: String| Err(Error::Instance { instance, reason });
            if skeleton.index() >= library.skeletons().len() {
                return fault(format!("the library has no skeleton {}", skeleton.index()));
            }
            for layer in layers {
                match library.clips().get(layer.clip.index()) {
                    None => return fault(format!("the library has no clip {}", layer.clip.index())),
                    Some(clip) if clip.skeleton != *skeleton => {
                        let named = |id: SkeletonId| Named { index: id.index(), name: library.skeleton(id).name() };
                        let named_clip = Named { index: layer.clip.index(), name: clip.name.as_deref() };
                        return fault(clip_mismatch(named_clip, named(clip.skeleton), named(*skeleton)));
                    }
                    Some(_) => {}
                }
                match layer.mask.map(|mask| (mask, library.masks().get(mask.index()))) {
                    Some((mask, None)) => return fault(format!("the library has no mask {}", mask.index())),
                    Some((mask, Some(found))) if found.skeleton != *skeleton => {
                        return fault(mask_mismatch(mask, found.skeleton, *skeleton));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Checks the number of an instance's layers, and theirs.
pub(crate) fn check_layers(instance: usize, layers: &[Layer]) -> Result<(), Error> {
    if layers.len() > Crowd::MAX_LAYERS {
        let what = format!("layers of instance {instance}");
        return Err(Error::Limit { what, needed: layers.len() as u64, allowed: Crowd::MAX_LAYERS as u64 });
    }
    match layers.iter().find_map(Layer::fault) {
        Some(reason) => Err(Error::Instance { instance, reason }),
        None => Ok(()),
    }
}
