use glam::{DAffine3, DVec3};
use posse::curves::{Interpolation, Target};
use posse::packed::PackedLibrary;
use posse::transitions::{Fade, FadeShape};
use posse::{
    AdditiveReference, Crowd, Joint, Layer, LayerMode, LayerTime, Library, Mask, Outputs, Skin, SkinFormat, Ticks,
    Transform,
};

use super::{NOW, assert_evaluates, engine};
use crate::support::build::{self, curve};
use crate::support::gpu_library::pose_kernels;
use crate::support::scenes::Numbers;

/// What the scales of a rig are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scales {
    /// Above 0, as dual quaternions need.
    Positive,
    /// Of either sign, and 0, which hides a joint.
    Any,
    /// The scales of one joint differ by axis.
    Uneven,
}

/// The hierarchy of a rig.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Roots alone: no round.
    Roots,
    /// A root and its children: one round.
    Star,
    /// Trees of up to 100 joints, nearly chains.
    Trees,
    /// A chain: the most rounds that the number of joints can take.
    Chain,
}

/// True for joints that are given by a matrix for which their rest transform can stand.
fn has_matrix(joint: usize) -> bool {
    joint.is_multiple_of(11)
}

/// A rig with two clips and a mask. All joints but the last, and every seventh, have a skin matrix; the last one has
/// uneven scales, which nothing with a skin follows.
fn rig(joints: usize, shape: Shape, scales: Scales) -> Library {
    let mut numbers = Numbers::new(joints as u64);
    let last = joints - 1;
    let parent = |index: usize, numbers: &mut Numbers| match shape {
        Shape::Roots => None,
        Shape::Star => (index > 0).then_some(0),
        Shape::Trees => (!index.is_multiple_of(100)).then(|| index - 1 - numbers.below(2) % index),
        Shape::Chain => index.checked_sub(1),
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
            matrix: has_matrix(index).then(|| rest.to_affine()),
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
        for joint in (clip..joints).step_by(2).filter(|&joint| !has_matrix(joint)) {
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

#[test]
fn skins_alone_are_right_for_scales_of_all_kinds() {
    use Scales::{Any, Positive, Uneven};
    use Shape::{Chain, Roots, Star, Trees};
    use SkinFormat::{DualQuaternion, HalfMatrix, Matrix};

    for (joints, shape, scales, formats) in [
        (5, Trees, Any, &[Matrix][..]),
        (16, Trees, Uneven, &[Matrix, HalfMatrix][..]),
        (17, Roots, Any, &[Matrix][..]),
        (24, Trees, Any, &[Matrix, HalfMatrix][..]),
        (28, Trees, Any, &[Matrix][..]),
        (32, Star, Positive, &[DualQuaternion][..]),
        (64, Trees, Any, &[Matrix, HalfMatrix][..]),
        (64, Trees, Uneven, &[Matrix][..]),
        (43, Trees, Positive, &[DualQuaternion][..]),
        (48, Trees, Uneven, &[Matrix][..]),
        (65, Trees, Positive, &[Matrix, DualQuaternion][..]),
        (96, Trees, Any, &[Matrix][..]),
        (130, Trees, Uneven, &[Matrix][..]),
        (192, Trees, Any, &[Matrix][..]),
        (200, Trees, Any, &[Matrix][..]),
        // The last of 256 joints has the place of those that are nobody's.
        (256, Chain, Positive, &[Matrix, DualQuaternion][..]),
    ] {
        let library = rig(joints, shape, scales);
        let crowd = crowd(&library);
        let kernels = pose_kernels(&PackedLibrary::new(&library).unwrap(), &crowd, Outputs::SKIN);
        // One layer, layers that blend, and any layers.
        assert_eq!(kernels.len(), 3);
        let rounds = match shape {
            Roots => "_skins_0_rounds",
            Star => "_skins_1_rounds",
            Trees => "_rounds",
            // The last of 256 joints is 255 levels deep: eight bits.
            Chain => "_skins_8_rounds",
        };
        let is_right = |name: &str| name.contains(rounds) && name.contains("_uniform") == (scales != Uneven);
        assert!(kernels.iter().all(|(_, name)| is_right(name)), "{shape:?}: {kernels:?}");
        let mut engine = engine(&library);
        for format in formats {
            assert_evaluates(&mut engine, &library, &crowd, Outputs::SKIN.with_skin_format(*format));
        }
    }
}
