//! Packed skin formats of half the size: hand-worked cases to the bit, random cases within the contract, and scales
//! that dual quaternions cannot store.

/// Uniform scales, which dual quaternions need.
mod uniform_scale;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::cpu::{CpuEngine, InstructionSet};
use posse::gpu::GpuCrowd;
use posse::low_level::skin_format;
use posse::packed::PackedLibrary;
use posse::{
    Crowd, Evaluator, Joint, Library, Outputs, Reference, Skeleton, SkeletonId, Skin, SkinFormat, Ticks, Transform,
    contract,
};
use proptest::prelude::*;

use crate::support::assert_close::assert_matrix;
use crate::support::build::{degrees, joint, library};
use crate::support::cases::cases;
use crate::support::each_engine::{each_engine, fast_engines, gpu_unless_left_out};
use crate::support::gpu_library::{gpu_engine, pose_kernels};
use crate::support::scenes::{Scene, SceneSpec, scenes};

/// A library with one joint in its rest pose, and a crowd of one instance.
fn rest_pose_crowd(rest: Transform) -> (Library, Crowd) {
    let (mut library, skeleton) = library(vec![Joint { rest, ..Joint::default() }]);
    let inverse_bind = vec![DAffine3::IDENTITY];
    library.add_skin(Skin { name: None, skeleton, joints: vec![0], inverse_bind }).unwrap();
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[]).unwrap();
    (library, crowd)
}

/// The words of the skin matrices that each engine except the reference writes.
fn words(library: &Library, crowd: &Crowd, format: SkinFormat) -> Vec<(&'static str, Vec<u32>)> {
    let outputs = Outputs::SKIN.with_skin_format(format);
    let mut all = Vec::new();
    for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_available()) {
        let engine = CpuEngine::new(library).unwrap().with_instructions(instructions);
        let mut posed = engine.crowd(crowd, outputs).unwrap();
        engine.pose(&mut posed, Ticks(0));
        all.push((instructions.name(), posed.batches()[0].numbers.skin.iter().map(|word| word.to_bits()).collect()));
    }
    if gpu_unless_left_out().is_none() {
        return all;
    }
    let engine = gpu_engine(library).unwrap();
    let device = &engine.gpu().device;
    let on_gpu = GpuCrowd::new(engine.library(), crowd, outputs).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    on_gpu.encode(&mut encoder, Ticks(0));
    engine.gpu().queue.submit([encoder.finish()]);
    let batch = &on_gpu.batches()[0];
    let joints: usize = library.skins_of(crowd.skeleton(0)).map(|(_, skin)| skin.joints.len()).sum();
    assert_eq!(batch.skin().unwrap().size(), (format.bytes() * joints * crowd.len()) as u64);
    let skin = engine.read(batch, 0..crowd.len()).unwrap().skin;
    all.push(("gpu", skin.iter().map(|word| word.to_bits()).collect()));
    all
}

#[test]
fn skins_of_a_skeleton_are_stored_one_after_the_other() {
    let (mut library, one) = library(vec![joint(None, [0.0; 3])]);
    let other = library.add_skeleton(Skeleton::new(None, vec![joint(None, [0.0; 3])], Vec::new()).unwrap());
    // Each joint of a skin is moved along x by another number. The second skin belongs to another skeleton.
    let mut number = 0.0;
    let mut skin = |skeleton, joints: usize| {
        let bind = |_| {
            number += 1.0;
            DAffine3::from_translation(DVec3::X * number)
        };
        let inverse_bind = (0..joints).map(bind).collect();
        library.add_skin(Skin { name: None, skeleton, joints: vec![0; joints], inverse_bind }).unwrap()
    };
    let skins = [skin(one, 2), skin(other, 5), skin(one, 3), skin(one, 1)];
    let mut crowd = Crowd::new();
    crowd.push(one, &[]).unwrap();
    for format in SkinFormat::ALL {
        let engine = CpuEngine::new(&library).unwrap();
        let posed = engine.crowd(&crowd, Outputs::SKIN.with_skin_format(format)).unwrap();
        let layout = &posed.batches()[0].layout;
        assert_eq!(
            skins.map(|skin| layout.skin_start(&library, skin)),
            [0, 0, 2, 5].map(|joint| joint * format.words())
        );
        assert_eq!(layout.skin, 6 * format.words());
        for (_, words) in words(&library, &crowd, format) {
            let numbers: Vec<f32> = words.into_iter().map(f32::from_bits).collect();
            let first = |skin: usize| skin_format::matrix(format, &numbers[layout.skin_start(&library, skins[skin])..]);
            assert_eq!([0, 2, 3].map(|skin| first(skin).translation.x), [1.0, 8.0, 11.0]);
        }
    }
}

#[test]
fn half_matrices_are_as_worked_by_hand() {
    // A third of a turn about the diagonal takes x to y, y to z, z to x. Scaled by 2 and moved by (1, 2, 3), the rows
    // are 0 0 2 1, 2 0 0 2, 0 2 0 3. As f16, 1 is 0x3c00, 2 is 0x4000, 3 is 0x4200.
    let rotation = DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5);
    let (library, crowd) =
        rest_pose_crowd(Transform { translation: DVec3::new(1.0, 2.0, 3.0), rotation, scale: DVec3::splat(2.0) });
    for (engine, words) in words(&library, &crowd, SkinFormat::HalfMatrix) {
        let expected = [0x0000_0000, 0x3c00_4000, 0x0000_4000, 0x4000_0000, 0x4000_0000, 0x4200_0000];
        assert_eq!(words, expected, "{engine}: {words:x?}");
    }
}

#[test]
fn dual_quaternions_are_as_worked_by_hand() {
    // A quarter turn about z is (0, 0, sqrt 1/2, sqrt 1/2). In steps of 1 / 32767, that is 23169.8, rounded to 23170,
    // or 0x5a82.
    let rotation = degrees(DVec3::Z, 90.0);
    for scale in [2.0, 1e-9, 1e9] {
        let (library, crowd) =
            rest_pose_crowd(Transform { translation: DVec3::new(1.0, 2.0, 3.0), rotation, scale: DVec3::splat(scale) });
        for (engine, words) in words(&library, &crowd, SkinFormat::DualQuaternion) {
            assert_eq!(words[..2], [0x0000_0000, 0x5a82_5a82], "{engine}: {words:x?}");
            assert_eq!(words[2..5], [1.0_f32, 2.0, 3.0].map(f32::to_bits), "{engine}: {words:x?}");
            let found = f64::from(f32::from_bits(words[5]));
            assert!((found / scale - 1.0).abs() < 1e-6, "{engine}: {found}");
        }
    }
}

#[test]
fn every_format_decodes_to_the_matrix() {
    // Half a turn about an axis between two others: w of the quaternion is 0, and x and y are the largest in turn.
    for axis in [DVec3::new(0.8, 0.0, 0.6), DVec3::new(0.6, 0.8, 0.0), DVec3::new(0.0, 0.6, 0.8)] {
        let rest = Transform {
            translation: DVec3::new(-0.25, 0.5, 1.5),
            rotation: degrees(axis, 180.0),
            scale: DVec3::splat(1.25),
        };
        let (library, crowd) = rest_pose_crowd(rest);
        let expected = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::SKIN).unwrap();
        // By hand: twice the projection on the axis, minus the vector itself.
        let turned = |vector: DVec3| 1.25 * (2.0 * axis.dot(vector) * axis - vector);
        let linear = DMat3::from_cols(turned(DVec3::X), turned(DVec3::Y), turned(DVec3::Z));
        let by_hand = DAffine3::from_mat3_translation(linear, rest.translation);
        assert_matrix(expected.instances[0].skins[0][0], by_hand, "reference");
        for format in SkinFormat::ALL {
            each_engine(&library, |engine| {
                let outputs = Outputs::SKIN.with_skin_format(format);
                let actual = engine.evaluate(&crowd, Ticks(0), outputs).unwrap();
                let report = contract::compare_as(format, &library, &crowd, Ticks(0), &expected, &actual);
                assert!(report.is_within() && report.skin.is_some(), "{} {format:?}: {report:?}", engine.engine());
                let found = actual.instances[0].skins[0][0];
                let off =
                    (found.matrix3 - by_hand.matrix3).to_cols_array().into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                assert!(off < 1e-3, "{} {format:?}: {found}", engine.engine());
            });
        }
    }
}

#[test]
fn numbers_beyond_the_largest_half_are_clamped_to_it() {
    let scale = DVec3::splat(1e6);
    let (library, crowd) =
        rest_pose_crowd(Transform { translation: DVec3::new(-7e4, 65519.0, 0.0), scale, ..Transform::IDENTITY });
    for (engine, words) in words(&library, &crowd, SkinFormat::HalfMatrix) {
        let expected = [0x0000_7bff, 0xfbff_0000, 0x7bff_0000, 0x7bff_0000, 0x0000_0000, 0x0000_7bff];
        assert_eq!(words, expected, "{engine}: {words:x?}");
    }
    let outputs = Outputs::SKIN.with_skin_format(SkinFormat::HalfMatrix);
    let expected = Reference::new(&library).evaluate(&crowd, Ticks(0), outputs).unwrap();
    each_engine(&library, |engine| {
        let actual = engine.evaluate(&crowd, Ticks(0), outputs).unwrap();
        let report = contract::compare_as(SkinFormat::HalfMatrix, &library, &crowd, Ticks(0), &expected, &actual);
        assert!(report.is_within(), "{}: {report:?}", engine.engine());
    });
}

#[test]
fn a_scale_of_zero_gives_the_identity_rotation() {
    let (library, crowd) =
        rest_pose_crowd(Transform { scale: DVec3::ZERO, translation: DVec3::X, ..Transform::IDENTITY });
    for (engine, words) in words(&library, &crowd, SkinFormat::DualQuaternion) {
        assert_eq!(words, [0, 0x7fff_0000, 1.0_f32.to_bits(), 0, 0, 0], "{engine}: {words:x?}");
    }
}

/// Compares every fast engine with the reference in a format, with some outputs. Compressed libraries are compared in
/// other tests.
fn check(scene: &Scene, outputs: Outputs, format: SkinFormat) {
    let Scene { library, crowd, step } = scene;
    let outputs = outputs.with_skin_format(format);
    let expected = Reference::new(library).evaluate_step(crowd, *step, outputs).unwrap();
    fast_engines(&|| PackedLibrary::new(library).unwrap(), &mut |engine| {
        let actual = engine.evaluate_step(crowd, *step, outputs).unwrap();
        let report = contract::compare_as(format, library, crowd, *step, &expected, &actual);
        assert!(report.is_within(), "{} {format:?}: {:?}", engine.engine(), report.quantities());
    });
}

proptest! {
    #![proptest_config(cases(12, 2027))]

    #[test]
    fn small_scenes(spec in scenes(12, 20)) {
        check(&spec.plain_scene(), Outputs::ALL, SkinFormat::HalfMatrix);
        check(&spec.plain_scene().uniform(), Outputs::ALL, SkinFormat::DualQuaternion);
    }
}

proptest! {
    #![proptest_config(cases(3, 2027))]

    #[test]
    fn large_scenes(spec in scenes(700, 100)) {
        check(&spec.plain_scene(), Outputs::ALL, SkinFormat::HalfMatrix);
        check(&spec.plain_scene().uniform(), Outputs::ALL, SkinFormat::DualQuaternion);
    }

    /// For skins alone, the GPU engine has kernels for uniform scales.
    #[test]
    fn skins_alone(spec in scenes(256, 30).prop_filter("no kernel for uniform scales", has_uniform_kernels)) {
        let scene = spec.plain_scene().uniform();
        let packed = PackedLibrary::new(&scene.library).unwrap();
        for (skeleton, kernel) in pose_kernels(&packed, &scene.crowd, Outputs::SKIN) {
            prop_assert!(kernel.contains("_uniform") || !needs_uniform_kernel(&scene, skeleton), "{kernel}");
        }
        for format in SkinFormat::ALL {
            check(&scene, Outputs::SKIN, format);
        }
    }
}

/// Returns `true` if a scene with uniform scales has instances of a skeleton that needs the kernel for uniform scales.
fn has_uniform_kernels(spec: &SceneSpec) -> bool {
    let scene = spec.plain_scene().uniform();
    (0..scene.crowd.len()).any(|instance| needs_uniform_kernel(&scene, scene.crowd.skeleton(instance)))
}

/// Returns `true` for a skeleton with a skin and a lane per joint. Of every second one, the joints have one skin matrix
/// at most, and no matrices of their own: see [`Scene::uniform`].
fn needs_uniform_kernel(Scene { library, .. }: &Scene, skeleton: SkeletonId) -> bool {
    let has_lanes = (17..=256).contains(&library.skeleton(skeleton).joints().len());
    has_lanes && skeleton.index().is_multiple_of(2) && library.skins_of(skeleton).next().is_some()
}

#[test]
fn formats_have_their_documented_size() {
    assert_eq!(SkinFormat::ALL.map(SkinFormat::bytes), [48, 24, 24]);
    assert_eq!(Outputs::SKIN.skin_format, SkinFormat::Matrix);
    let (library, crowd) = rest_pose_crowd(Transform::IDENTITY);
    for format in SkinFormat::ALL {
        for (engine, words) in words(&library, &crowd, format) {
            assert_eq!(4 * words.len(), format.bytes(), "{engine}");
        }
    }
}
