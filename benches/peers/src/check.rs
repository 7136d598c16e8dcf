//! Compares the poses of a contender with the poses of the reference.

use posse::{Error, Evaluator, Pose, Reference, Ticks};

use crate::scene::{Contender, FRAME, Scene, Workload};

/// The number of instances that are compared, evenly spaced over all.
const CHECKED: usize = 64;
/// Frames that a contender plays before the comparison. Some instances have then started their clip again.
const FRAMES: i64 = 5;

/// Plays a new contender for some frames, and returns the largest difference between its numbers and the numbers of the
/// reference.
///
/// # Errors
/// [`Error::Usage`] if the difference exceeds the bound of the contender.
pub fn check(scene: &Scene, workload: Workload, contender: &mut dyn Contender) -> Result<f64, Error> {
    for _ in 0..FRAMES {
        contender.frame()?;
    }
    let count = contender.instances().min(CHECKED);
    let last = contender.instances() - 1;
    let instances: Vec<usize> = (0..count).map(|index| index * last / (count - 1).max(1)).collect();
    let crowd = scene.crowd(workload, instances.iter().copied())?;
    let now = Ticks(FRAMES * FRAME.0);
    let expected = Reference::new(&scene.library).evaluate(&crowd, now, workload.outputs())?;
    let mut worst = 0.0_f64;
    for (&instance, expected) in instances.iter().zip(&expected.instances) {
        worst = worst.max(difference(expected, &contender.pose(instance)?));
    }
    if worst <= contender.bound() {
        return Ok(worst);
    }
    let (name, workload, bound) = (contender.name(), workload.name(), contender.bound());
    Err(Error::Usage(format!(
        "{name}, {workload}: the poses differ by {worst:e} from the reference; the bound is {bound:e}"
    )))
}

/// The largest difference between two numbers; infinite if a number is missing or not a number.
fn difference(expected: &Pose, actual: &Pose) -> f64 {
    let (expected_numbers, actual_numbers) = (numbers(expected, expected), numbers(actual, expected));
    if expected.local.len() != actual.local.len()
        || expected_numbers.len() != actual_numbers.len()
        || expected_numbers.is_empty()
    {
        return f64::INFINITY;
    }
    let differences = expected_numbers.iter().zip(&actual_numbers).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |worst, new| {
        if new <= worst {
            worst
        } else if new.is_nan() {
            f64::INFINITY
        } else {
            new
        }
    })
}

/// All numbers of a pose. Rotations have the sign of the rotations of the expected pose.
fn numbers(pose: &Pose, expected: &Pose) -> Vec<f64> {
    let locals = pose.local.iter().zip(&expected.local).flat_map(|(local, expected)| {
        let rotation = if local.rotation.dot(expected.rotation) < 0.0 { -local.rotation } else { local.rotation };
        [&local.translation.to_array()[..], &rotation.to_array(), &local.scale.to_array()].concat()
    });
    let matrices = pose.model.iter().chain(pose.skins.iter().flatten());
    locals.chain(matrices.flat_map(|matrix| matrix.to_cols_array())).collect()
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat, DVec3};
    use posse::Transform;
    use posse::cpu::InstructionSet;

    use super::*;
    use crate::{
        bevy::Bevy,
        cpu::{self, Cpu},
        scalar::Scalar,
    };

    #[test]
    fn all_contenders_pose_the_demo_rig_as_the_reference_does() {
        let scene = Scene::demo().unwrap();
        let compressed = cpu::compress(&scene.library).unwrap();
        for workload in Workload::ALL {
            let mut cpu = Cpu::new(&scene, workload, 20, InstructionSet::widest(), 1).unwrap();
            check(&scene, workload, &mut cpu).unwrap();
            check(&scene, workload, &mut Cpu::compressed(&scene, compressed.clone(), workload, 20).unwrap()).unwrap();
            check(&scene, workload, &mut Scalar::new(&scene, workload, 20)).unwrap();
            if Bevy::plays(workload) {
                check(&scene, workload, &mut Bevy::new(&scene, workload, 20).unwrap()).unwrap();
            }
        }
    }

    #[test]
    fn a_contender_that_is_a_frame_ahead_is_refused() {
        let scene = Scene::demo().unwrap();
        let mut early = Scalar::new(&scene, Workload::Skin, 20);
        early.frame().unwrap();
        assert!(matches!(check(&scene, Workload::Skin, &mut early), Err(Error::Usage(_))));
    }

    #[test]
    fn differences_count_and_signs_of_quaternions_do_not() {
        let pose = |x: f64, rotation| Pose {
            local: vec![Transform { translation: DVec3::X * x, rotation, ..Transform::IDENTITY }],
            model: vec![DAffine3::IDENTITY],
            ..Pose::default()
        };
        let turned = DQuat::from_rotation_x(1.0);
        assert_eq!(difference(&pose(1.0, turned), &pose(1.25, -turned)), 0.25);
        // A half turn whose w is of either sign.
        let [near, far] = [1e-4, -1e-4].map(|w| DQuat::from_xyzw(1.0, 0.0, 0.0, w));
        assert!((difference(&pose(1.0, near), &pose(1.0, -far)) - 2e-4).abs() < 1e-9);
        assert_eq!(difference(&pose(1.0, turned), &pose(f64::NAN, turned)), f64::INFINITY);
        assert_eq!(difference(&pose(1.0, turned), &Pose::default()), f64::INFINITY);
        assert_eq!(difference(&Pose::default(), &Pose::default()), f64::INFINITY);
    }
}
