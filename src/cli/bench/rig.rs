//! What `posse bench` plays: a file's rig, or generated ones, in crowds of some sizes.

use posse::{ClipId, Crowd, Error, Layer, LayerTime, Library, Playback, SkeletonId, Ticks};

use super::cost::Step;
use super::size::Size;

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
    use crate::cli::bench::size::tests::SIZE;

    #[test]
    fn mixed_crowds_take_their_skeletons_in_turn() {
        let library = SIZE.library(false).unwrap();
        let joints: Vec<usize> = library.skeletons().iter().map(|skeleton| skeleton.joints().len()).collect();
        assert_eq!(joints, [5, 4, 3]);
        let crowd = crowd(&library, SIZE.instances, SIZE.layers).unwrap();
        assert!(crowd.check(&library).is_ok(), "each clip is its own skeleton's");
        let skeletons: Vec<usize> = (0..crowd.len()).map(|instance| crowd.skeleton(instance).index()).collect();
        assert_eq!(skeletons, [0, 1, 2, 0, 1, 2]);
        assert!((0..crowd.len()).all(|instance| crowd.layers(instance).len() == 2));
    }
}
