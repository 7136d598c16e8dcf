//! Crowds: instances, each with a skeleton and layers.

use crate::error::Error;
use crate::model::check_instance::check_instance;
use crate::model::{Layer, Library, SkeletonId};

/// Instances, each with a skeleton and the layers that animate it.
///
/// # Examples
/// ```
/// use posse::{Crowd, Layer, LayerTime, Playback, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo walks");
/// let skeleton = library.clip(walk).skeleton;
/// let mut crowd = Crowd::new();
/// let time = LayerTime::Playing(Playback::looping(Ticks(0), 1.0));
/// let walker = crowd.push(skeleton, &[Layer::new(walk, time)])?;
/// let idler = crowd.push(skeleton, &[])?; // in the rest pose
/// assert_eq!((walker, idler, crowd.len()), (0, 1, 2));
/// crowd.set(idler, skeleton, &[Layer::new(walk, LayerTime::At(0.25))])?;
/// crowd.check(&library)?;
/// # Ok(())
/// # }
/// ```
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

    /// Adds an instance and returns its index. Without a layer it stands in the rest pose.
    ///
    /// # Errors
    /// [`Error::Limit`] beyond [`MAX_LAYERS`](Self::MAX_LAYERS); [`Error::Instance`] if a time or weight is not finite, a weight,
    /// a repeat count or the length of a fade is negative, a rate is not from -1e4 to 1e4, or a range ends before it starts.
    pub fn push(&mut self, skeleton: SkeletonId, layers: &[Layer]) -> Result<usize, Error> {
        let instance = self.instances.len();
        check_layers(instance, layers)?;
        self.instances.push((skeleton, layers.to_vec()));
        Ok(instance)
    }

    /// Replaces the skeleton and the layers of an instance. The other instances stay unchanged.
    ///
    /// # Errors
    /// The same as [`push`](Self::push), and [`Error::Instance`] if there is no such instance. The crowd is then unchanged.
    pub fn set(&mut self, instance: usize, skeleton: SkeletonId, layers: &[Layer]) -> Result<(), Error> {
        check_layers(instance, layers)?;
        let count = self.len();
        let Some((old_skeleton, old_layers)) = self.instances.get_mut(instance) else {
            return Err(Error::Instance { instance, reason: format!("the crowd has {count} instances") });
        };
        *old_skeleton = skeleton;
        old_layers.clear();
        old_layers.extend_from_slice(layers);
        Ok(())
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// True if the crowd has no instance.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// The skeleton of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn skeleton(&self, instance: usize) -> SkeletonId {
        self.instances[instance].0
    }

    /// The layers of an instance, in order.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn layers(&self, instance: usize) -> &[Layer] {
        &self.instances[instance].1
    }

    /// Checks that every skeleton, clip and mask exists in a library, and that the clips and masks of an instance belong to its
    /// skeleton.
    ///
    /// # Errors
    /// [`Error::Instance`] with the first instance that fails the check.
    pub fn check(&self, library: &Library) -> Result<(), Error> {
        let mut instances = self.instances.iter().enumerate();
        instances.try_for_each(|(instance, (skeleton, layers))| check_instance(library, instance, *skeleton, layers))
    }
}

/// Checks the number of layers of an instance, and the numbers in them.
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
