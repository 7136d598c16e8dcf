use glam::{DAffine3, DVec3};
use posse::curves::{Interpolation, Target};
use posse::kernels::{DeviceCrowd, DeviceLimits, Pass};
use posse::packed::PackedLibrary;
use posse::transitions::{Fade, FadeShape};
use posse::{
    AdditiveReference, Crowd, CrowdOptions, Joint, Layer, LayerMode, LayerTime, Library, Mask, Outputs, Skin,
    SkinFormat, Ticks, Transform,
};

use super::{NOW, assert_evaluates, engine};
use crate::support::build::{self, curve};
use crate::support::scenes::Numbers;

/// What the scales of a rig are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scales {
    /// Above 0, as dual quaternions need.
    Positive,
    /// Of either sign, and 0, which hides a joint.
    Any,
    /// Those of one joint differ by axis.
    Uneven,
}

/// A rig of two trees with two clips and a mask. All joints but the last, and every seventh, have a skin matrix; the
/// last one has uneven scales, which nothing with a skin follows.
fn rig(joints: usize, scales: Scales) -> Library {
    let mut numbers = Numbers::new(joints as u64);
    let last = joints - 1;
    // Nearly a chain: the most rounds that the number of joints can take.
    let parent = |index: usize, numbers: &mut Numbers| {
        (!index.is_multiple_of(100)).then(|| index - 1 - numbers.below(2) % index)
    };
    let scale = |numbers: &mut Numbers| {
        let sign = if scales == Scales::Any && numbers.below(4) == 0 { -1.0 } else { 1.0 };
        DVec3::splat(sign * numbers.within(0.95, 1.05))
    };
    let mut joint = |index: usize| {
        let translation = numbers.vector(-0.3, 0.3);
        let rest = Transform { translation, rotation: numbers.rotation(), scale: scale(&mut numbers) };
        let uneven = Transform { scale: DVec3::new(1.0, 2.0, -3.0), ..rest };
        Joint {
            parent: parent(index, &mut numbers),
            rest: if index == last { uneven } else { rest },
            ..Joint::default()
        }
    };
    let (mut library, skeleton) = build::library((0..joints).map(&mut joint).collect());
    let bound: Vec<usize> = (0..last).filter(|joint| joint % 7 != 3).rev().collect();
    let bind = |_: &usize| {
        DAffine3::from_scale_rotation_translation(scale(&mut numbers), numbers.rotation(), numbers.vector(-1.0, 1.0))
    };
    let inverse_bind = bound.iter().map(bind).collect();
    library.add_skin(Skin { name: None, skeleton, joints: bound, inverse_bind }).unwrap();
    for (clip, interpolation) in [Interpolation::Linear, Interpolation::CubicSpline].into_iter().enumerate() {
        let mut track = |target: Target, element: &mut dyn FnMut(&mut Numbers) -> Vec<f64>, width: usize| {
            let values = (0..3 * interpolation.elements_per_key()).flat_map(|_| element(&mut numbers));
            (target, curve(interpolation, width, &[0.0, 0.5, 2.0], &values.collect::<Vec<_>>()))
        };
        let mut tracks = Vec::new();
        for joint in (clip..joints).step_by(2) {
            tracks.push(track(
                Target::Translation(joint),
                &mut |numbers| numbers.vector(-0.3, 0.3).to_array().into(),
                3,
            ));
            tracks.push(track(Target::Rotation(joint), &mut |numbers| numbers.rotation().to_array().into(), 4));
            let hides = scales == Scales::Any && joint == 40;
            let uneven = scales == Scales::Uneven && joint == 14;
            let mut key = 0.0;
            let mut number = |numbers: &mut Numbers| {
                key += 1.0;
                let scale = if hides { 2.0 - key } else { scale(numbers).x };
                // As rounded in files.
                vec![scale, scale * (1.0 + 4e-7), if uneven { 1.1 } else { scale * (1.0 - 4e-7) }]
            };
            tracks.push(track(Target::Scale(joint), &mut number, 3));
        }
        build::clip(&mut library, skeleton, tracks);
    }
    let weights = (0..joints).map(|_| numbers.within(0.0, 1.0)).collect();
    library.add_mask(Mask { name: None, skeleton, weights }).unwrap();
    library
}

/// Instances with one layer, with two that blend, and with layers of all modes.
fn crowd(library: &Library) -> Crowd {
    let skeleton = library.skeleton_ids().next().unwrap();
    let clips: Vec<_> = library.clip_ids().collect();
    let layer = |clip: usize, time: f64| Layer::new(clips[clip], LayerTime::At(time));
    let fade = Fade { start: Ticks(NOW.0 - 1000), length: Ticks(2500), shape: FadeShape::Smooth };
    let mask = library.mask_ids().next();
    let mut crowd = Crowd::new();
    let mut push = |layers: &[Layer]| assert!(crowd.push(skeleton, layers).is_ok());
    push(&[]);
    // More instances than a workgroup of small rigs holds.
    for time in [-1.0, 0.3, 0.5, 1.7, 3.0, 0.1, 0.2, 0.9, 1.1, 1.3, 1.9, 2.3, 2.7] {
        push(&[layer(0, time)]);
        push(&[layer(1, time)]);
        push(&[layer(0, time), Layer { weight: 0.4, mask, fade_in: Some(fade), ..layer(1, 1.0) }]);
        push(&[Layer { weight: 0.002, ..layer(0, time) }, Layer { weight: 0.0, ..layer(1, 1.0) }]);
        push(&[
            layer(0, 1.0),
            Layer { mode: LayerMode::Override, weight: 0.5, mask, ..layer(1, time) },
            Layer { mode: LayerMode::Additive(AdditiveReference::First), ..layer(0, time) },
            Layer { mode: LayerMode::Additive(AdditiveReference::Rest), weight: 0.3, ..layer(1, time) },
        ]);
    }
    crowd
}

/// The kernels that pose a crowd for skins alone.
fn kernels(library: &Library, crowd: &Crowd) -> Vec<String> {
    let packed = PackedLibrary::new(library).unwrap();
    let (options, limits) = (CrowdOptions::NONE, DeviceLimits::default());
    let crowd = DeviceCrowd::new(&packed, crowd, Outputs::SKIN, options, limits).unwrap();
    let dispatches = crowd.batches.into_iter().flat_map(|batch| batch.dispatches);
    dispatches.filter(|dispatch| dispatch.pass == Pass::Pose).map(|dispatch| dispatch.kernel).collect()
}

#[test]
fn skins_alone_are_right_for_scales_of_all_kinds() {
    use Scales::{Any, Positive, Uneven};
    use SkinFormat::{DualQuaternion, HalfMatrix, Matrix};

    for (joints, scales, formats) in [
        (5, Any, &[Matrix][..]),
        (16, Uneven, &[Matrix, HalfMatrix][..]),
        (24, Any, &[Matrix, HalfMatrix][..]),
        (28, Any, &[Matrix][..]),
        (32, Positive, &[DualQuaternion][..]),
        (64, Any, &[Matrix, HalfMatrix][..]),
        (64, Uneven, &[Matrix][..]),
        (43, Positive, &[DualQuaternion][..]),
        (48, Uneven, &[Matrix][..]),
        (65, Positive, &[Matrix, DualQuaternion][..]),
        (96, Any, &[Matrix][..]),
        (130, Uneven, &[Matrix][..]),
        (192, Any, &[Matrix][..]),
        (200, Any, &[Matrix][..]),
        // The last of 256 joints has the place of those that are nobody's.
        (256, Positive, &[Matrix, DualQuaternion][..]),
    ] {
        let library = rig(joints, scales);
        let crowd = crowd(&library);
        let names = kernels(&library, &crowd);
        // One layer, layers that blend, and any layers.
        assert_eq!(names.len(), 3);
        assert!(names.iter().all(|name| name.contains("_uniform_") == (scales != Uneven)), "{names:?}");
        let mut engine = engine(&library);
        for format in formats {
            assert_evaluates(&mut engine, &library, &crowd, Outputs::SKIN.with_skin_format(*format));
        }
    }
}
