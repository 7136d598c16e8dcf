//! Rigs made in code: a human with five clips, crowds of it, and rigs of any size for measurements.

mod human;
mod rig;

pub use rig::{RigMotion, add_moving_rig, add_rig, add_uniform_rig, rig, shifted_clip};

use crate::error::Error;
use crate::model::{Crowd, Layer, LayerTime, Library, Playback, Skeleton, Ticks, WrapMode};

/// A library of one human: 64 joints in metres, +Y up, facing +Z, with one skin, two morph weights (smile, blink), one
/// property, and the clips `idle`, `walk`, `run`, `wave` and `jump`, which all loop.
///
/// `wave` has cubic splines, `jump` has unevenly spaced keys, and `idle` has steps. All other curves are linear, with
/// 30 keys per second.
///
/// # Errors
/// None in practice. The result passes on the checks of the model.
pub fn library() -> Result<Library, Error> {
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(Some("human".into()), human::joints(), human::properties())?);
    library.add_skin(human::skin(library.skeleton(skeleton), skeleton))?;
    for clip in human::clips(library.skeleton(skeleton), skeleton)? {
        library.add_clip(clip)?;
    }
    Ok(library)
}

/// A crowd that plays the clips of a library. The instances take the clips in turn, each with its own start and rate
/// (0.8 to 1.2).
///
/// The same library and number always give the same crowd. Without clips, all instances stand at rest.
///
/// # Errors
/// [`Error::Usage`] if the library has no skeleton.
pub fn crowd(library: &Library, instances: usize) -> Result<Crowd, Error> {
    let clips: Vec<_> = library.clip_ids().collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        if clips.is_empty() {
            let skeleton = library.skeleton_ids().next();
            crowd.push(
                skeleton.ok_or_else(|| Error::Usage("the library has no skeleton to make a crowd of".into()))?,
                &[],
            )?;
            continue;
        }
        let clip = clips[instance % clips.len()];
        let start = Ticks::from_seconds(-spread(instance, GOLDEN) * library.clip(clip).duration());
        let time = LayerTime::Playing(Playback::new(WrapMode::Loop, start, 0.8 + 0.4 * spread(instance, PLASTIC)));
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, time)])?;
    }
    Ok(crowd)
}

/// The fraction of the golden ratio. Its multiples modulo 1 spread evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// The inverse of the plastic number. Its multiples modulo 1 spread evenly in a second dimension.
const PLASTIC: f64 = 0.754_877_666_246_692_8;

/// A number in `[0, 1)` per index. The numbers of all indices spread evenly.
fn spread(index: usize, ratio: f64) -> f64 {
    (index as f64 * ratio).fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::Evaluator;
    use crate::model::{Interpolation, Outputs};
    use crate::reference::Reference;

    #[test]
    fn the_human_stands_on_the_ground_with_its_left_hand_at_plus_x() {
        let library = library().unwrap();
        let skeleton = library.skeletons().first().unwrap();
        assert_eq!(skeleton.joints().len(), 64);
        let find = |name: &str| skeleton.find_joint(name).unwrap();
        let mut crowd = Crowd::new();
        crowd.push(library.skeleton_ids().next().unwrap(), &[]).unwrap();
        let pose = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap().instances.remove(0);
        let position = |name: &str| pose.model[find(name)].translation;
        assert!((1.5..1.7).contains(&position("head").y) && (0.0..0.1).contains(&position("ball.L").y));
        assert!(position("hand.L").x > 0.5 && position("ball.L").z > position("foot.L").z);
        for matrix in &pose.skins[0] {
            assert!(matrix.abs_diff_eq(glam::DAffine3::IDENTITY, 1e-12), "bound at rest: {matrix:?}");
        }
    }

    #[test]
    fn every_clip_loops_and_keeps_the_head_above_the_feet() {
        let library = library().unwrap();
        let skeleton = library.skeletons().first().unwrap();
        let find = |name: &str| skeleton.find_joint(name).unwrap();
        for clip in library.clip_ids() {
            let mut crowd = Crowd::new();
            let duration = library.clip(clip).duration();
            for time in [0.0, 0.3 * duration, 0.6 * duration, duration] {
                crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
            }
            let poses = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap().instances;
            assert_eq!(poses[0], poses[3], "{:?}", library.clip(clip).name);
            assert_ne!(poses[0].model, poses[1].model);
            for pose in &poses {
                let height = |name: &str| pose.model[find(name)].translation.y;
                assert!(height("head") - height("ball.R") > 1.0 && (-0.1..1.0).contains(&height("ball.R")));
                assert!(height("hand.R") < height("head"));
            }
        }
    }

    #[test]
    fn every_interpolation_is_there() {
        let library = library().unwrap();
        for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::CubicSpline] {
            let mut tracks = library.clips().iter().flat_map(|clip| &clip.tracks);
            assert!(tracks.any(|track| track.curve.interpolation() == interpolation), "{interpolation:?}");
        }
        let jump = library.clip(library.find_clip("jump").unwrap());
        assert!(jump.tracks.iter().all(|track| track.curve.timeline().step().is_none()));
    }

    #[test]
    fn crowds_are_the_same_each_time() {
        let library = library().unwrap();
        let crowd = crowd(&library, 100).unwrap();
        assert_eq!(crowd, super::crowd(&library, 100).unwrap());
        assert_eq!(crowd.len(), 100);
        assert!(crowd.check(&library).is_ok());
        assert!(matches!(super::crowd(&Library::new(), 1), Err(Error::Usage(_))));
    }
}
