//! The question: who is to be posed, and when.

use crate::error::Error;
use crate::model::{Layer, Library, SkeletonId};

/// Why a clip cannot move an instance: it and its skeleton and the instance's skeleton, by index and by name.
pub(crate) fn clip_of_another(
    clip: (usize, Option<&str>),
    moves: (usize, Option<&str>),
    instance: (usize, Option<&str>),
) -> String {
    let called = |(index, name): (usize, Option<&str>)| match name {
        Some(name) => format!("{index} ({name:?})"),
        None => index.to_string(),
    };
    let [clip, moves, instance] = [clip, moves, instance].map(called);
    format!("clip {clip} is another skeleton's: it moves skeleton {moves}, the instance has skeleton {instance}")
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
                        let called = |id: SkeletonId| (id.index(), library.skeleton(id).name());
                        let clip_called = (layer.clip.index(), clip.name.as_deref());
                        return fault(clip_of_another(clip_called, called(clip.skeleton), called(*skeleton)));
                    }
                    Some(_) => {}
                }
                match layer.mask.map(|mask| (mask, library.masks().get(mask.index()))) {
                    Some((mask, None)) => return fault(format!("the library has no mask {}", mask.index())),
                    Some((mask, Some(found))) if found.skeleton != *skeleton => {
                        return fault(format!("mask {} is another skeleton's", mask.index()));
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
