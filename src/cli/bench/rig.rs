//! What `posse bench` plays: a file's rig, or generated ones, in crowds of some sizes.

use std::fmt;

use posse::demo;
use posse::error::Error;
use posse::model::crowd::Crowd;
use posse::model::id::{ClipId, SkeletonId};
use posse::model::layer::{Layer, LayerTime};
use posse::model::library::Library;
use posse::model::playback::Playback;
use posse::model::ticks::Ticks;

use super::cost::Step;
use crate::cli::question::limit;

/// The most joints of a generated rig.
const MOST_JOINTS: u64 = 1 << 20;

/// What makes a case comparable with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Instances of the crowd.
    pub instances: usize,
    /// Skeletons among them.
    pub skeletons: u32,
    /// Joints of the largest.
    pub joints: usize,
    /// Keys a track, of generated rigs.
    pub keys: Option<u32>,
    /// Levels of the hierarchy, of generated rigs.
    pub depth: Option<u32>,
    /// Layers of each instance, or the most that one has.
    pub layers: u32,
}

impl Size {
    /// Whether both play the same rigs, in whatever crowds.
    pub fn is_same_rig(&self, other: &Self) -> bool {
        Self { instances: 0, layers: 0, ..*self } == Self { instances: 0, layers: 0, ..*other }
    }

    /// The generated rigs: of several, each has a joint less than the one before.
    pub fn library(&self) -> Result<Library, Error> {
        limit("joints of a rig", self.joints as u64, MOST_JOINTS)?;
        let mut library = Library::new();
        for fewer in 0..self.skeletons as usize {
            let joints = self.joints.saturating_sub(fewer).max(1);
            let depth = self.depth.map_or(1, |depth| depth as usize).min(joints);
            demo::add_rig(&mut library, joints, self.keys.unwrap_or(1) as usize, depth)?;
        }
        Ok(library)
    }

    /// About how many bytes of memory a case takes at the most.
    pub fn bytes(&self) -> u64 {
        // Ten `f64` of a joint's key in the model, three vectors of `f32` in the packing, and once more on the device.
        let keys = 176 * u64::from(self.keys.unwrap_or(1)) * self.joints as u64 * u64::from(self.skeletons);
        // A skin matrix a joint; what an instance and its layers are in the model, packed, and on the device.
        let instance = 48 * self.joints as u64 + 100 + 400 * u64::from(self.layers);
        keys.saturating_add(instance.saturating_mul(self.instances as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instances, skeletons, joints, keys, depth, layers } = self;
        write!(f, "{instances} instances of {joints} joints, layers {layers}")?;
        if *skeletons > 1 {
            write!(f, ", skeletons {skeletons}")?;
        }
        let generated = [("keys", keys), ("depth", depth)];
        generated.iter().try_for_each(|(name, size)| size.map_or(Ok(()), |size| write!(f, ", {name} {size}")))
    }
}

/// A library and the crowds of it that are timed.
pub struct Rig {
    pub library: Library,
    /// The crowds, each with the cost table that it is a step of.
    pub crowds: Vec<(Size, Option<Step>)>,
}

/// Instances that play all clips in turn, each layer at its own time.
pub fn crowd(library: &Library, instances: usize, layers: u32) -> Result<Crowd, Error> {
    let clips: Vec<ClipId> = library.clip_ids().collect();
    let of = |skeleton: SkeletonId| clips.iter().copied().filter(move |&clip| library.clip(clip).skeleton == skeleton);
    let by_skeleton: Vec<Vec<ClipId>> = library.skeleton_ids().map(|skeleton| of(skeleton).collect()).collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let skeleton = library.clip(clips[instance % clips.len()]).skeleton;
        let own = &by_skeleton[skeleton.index()];
        let layer = |layer: usize| {
            let clip = own[(instance + layer) % own.len()];
            // The golden ratio spreads any number of starts evenly over a minute.
            let spread = (instance * layers as usize + layer) as f64 * 0.618_033_988_749_894_9;
            Layer::new(clip, LayerTime::Playing(Playback::looping(Ticks::from_seconds(-60.0 * spread.fract()), 1.0)))
        };
        crowd.push(skeleton, &(0..layers as usize).map(layer).collect::<Vec<_>>())?;
    }
    Ok(crowd)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { instances: 6, skeletons: 3, joints: 5, keys: Some(4), depth: Some(4), layers: 2 };

    #[test]
    fn mixed_crowds_take_their_skeletons_in_turn() {
        let library = SIZE.library().unwrap();
        let joints: Vec<usize> = library.skeletons().iter().map(|skeleton| skeleton.joints().len()).collect();
        assert_eq!(joints, [5, 4, 3]);
        let crowd = crowd(&library, SIZE.instances, SIZE.layers).unwrap();
        assert!(crowd.check(&library).is_ok(), "each clip is its own skeleton's");
        let skeletons: Vec<usize> = (0..crowd.len()).map(|instance| crowd.skeleton(instance).index()).collect();
        assert_eq!(skeletons, [0, 1, 2, 0, 1, 2]);
        assert!((0..crowd.len()).all(|instance| crowd.layers(instance).len() == 2));
    }

    #[test]
    fn memory_is_at_least_that_of_what_is_written() {
        let million = Size { instances: 1_000_000, joints: 16, ..SIZE };
        assert!((768_000_000..2_000_000_000).contains(&million.bytes()), "{}", million.bytes());
        assert_eq!(Size { instances: usize::MAX, ..SIZE }.bytes(), u64::MAX);
    }

    #[test]
    fn the_same_rig_is_played_by_crowds_of_any_size() {
        assert!(SIZE.is_same_rig(&Size { instances: 1, layers: 1, ..SIZE }));
        assert!(!SIZE.is_same_rig(&Size { keys: Some(5), ..SIZE }));
    }
}
