use std::f64::consts::FRAC_1_SQRT_2;

use glam::{DMat3, DQuat, DVec3, DVec4};

use crate::gpu::function_tests::harness::{Random, run_with};
use crate::gpu::{AdapterKind, GpuContext, GpuEngine, GpuLibrary};
use crate::model::{Outputs, SkinFormat, Ticks};
use crate::{Evaluator, demo, half};

#[test]
fn halves_are_those_of_the_cpu() {
    let mut random = Random(11);
    let mut numbers: Vec<f32> = vec![0.0, -0.0, 65504.0, 65520.0, -1e30, f32::MAX, 2.0_f32.powi(-14), 1e-30];
    numbers.extend((0..20_000).map(|_| (random.within(-1.0..1.0) * 2.0_f64.powf(random.within(-30.0..20.0))) as f32));
    // Ties: numbers halfway between an `f16` and the next.
    numbers.extend((0..20_000).map(|_| f32::from_bits(random.bits() as u32 & 0x87ff_e000 | 0x3800_1000)));
    let values: Vec<[f32; 4]> = numbers.iter().map(|&number| [number; 4]).collect();
    let body = "return vec4(f32(pack_half(value_load(i).x)));";
    let found = run_with(SkinFormat::HalfMatrix, numbers.len(), body, &[], &values);
    for (&number, found) in numbers.iter().zip(found) {
        assert_eq!(found.x, f64::from(half::from_f32(number)), "{number:e}");
    }
}

#[test]
fn half_matrices_are_the_same_in_both_ways_to_pack() {
    let gpu = GpuContext::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"));
    let library = demo::library().unwrap();
    let crowd = demo::crowd(&library, 20).unwrap();
    let skins = |packs: Option<bool>| {
        let on_gpu = GpuLibrary::new(&gpu, &library).unwrap();
        // What is set already is not tested.
        if let Some(packs) = packs {
            on_gpu.cache.packs_to_nearest.set(packs).unwrap();
        }
        let mut engine = GpuEngine::with_library(gpu.clone(), on_gpu).unwrap();
        let outputs = Outputs::SKIN.with_skin_format(SkinFormat::HalfMatrix);
        let poses = engine.evaluate(&crowd, Ticks(70_000), outputs).unwrap();
        let packs = *engine.library().cache.packs_to_nearest.get().unwrap();
        (packs, poses.instances.into_iter().map(|pose| pose.skins).collect::<Vec<_>>())
    };
    let (tested, found) = skins(None);
    let [(_, by_integers), (_, by_device)] = [false, true].map(|packs| skins(Some(packs)));
    assert_eq!(found, by_integers);
    // A device that failed the test rounds in another way.
    assert!(!tested || by_device == by_integers);
    // Mesa's software renderer packs numbers to the nearest.
    assert!(tested || gpu.is_hardware() || !gpu.name().contains("llvmpipe"), "{}", gpu.name());
}

#[test]
fn a_rotation_matrix_becomes_its_quaternion() {
    let mut random = Random(12);
    let rotations: Vec<DQuat> = (0..20_000).map(|_| random.rotation()).collect();
    let rows = |rotation: &DQuat| DMat3::from_quat(rotation.normalize()).transpose().to_cols_array_2d();
    let values: Vec<[f32; 4]> =
        rotations.iter().flat_map(rows).map(|[x, y, z]| [x as f32, y as f32, z as f32, 0.0]).collect();
    let body =
        "return skin_rotation(value_load(3u * i).xyz, value_load(3u * i + 1u).xyz, value_load(3u * i + 2u).xyz);";
    let found = run_with(SkinFormat::DualQuaternion, rotations.len(), body, &[], &values);
    for (rotation, found) in rotations.iter().zip(found) {
        let found = DQuat::from_vec4(found);
        let off = (found - *rotation).length().min((found + *rotation).length());
        assert!(off < 1e-6, "{rotation}: {found}");
    }
}

/// The words of a joint, packed by hand.
fn words(rotation: DQuat, translation: DVec3, scale: f32) -> [u32; 6] {
    let [x, y, z, w] = rotation.to_array().map(|number| (32767.0 * number).round() as i16 as u16 as u32);
    let [tx, ty, tz] = translation.as_vec3().to_array().map(f32::to_bits);
    [x | y << 16, z | w << 16, tx, ty, tz, scale.to_bits()]
}

/// A point moved by two joints of equal weight, as a vertex shader moves it.
fn blended(joints: [[u32; 6]; 2], point: [f32; 3]) -> DVec3 {
    let [x, y, z] = point;
    let body = "
        var sum = DualQuaternion(vec4(0.0), vec4(0.0), 0.0);
        for (var at = 0u; at < 12u; at += 6u) {
            let joint = dual_quaternion(
                vec2(words[at], words[at + 1u]), vec2(words[at + 2u], words[at + 3u]), vec2(words[at + 4u], words[at + 5u]),
            );
            sum = dual_quaternion_add(sum, joint, 0.5);
        }
        return vec4(dual_quaternion_point(sum, value_load(0u).xyz), 0.0);";
    let found = run_with(SkinFormat::DualQuaternion, 1, body, joints.as_flattened(), &[[x, y, z, 0.0]]);
    found[0].truncate()
}

#[test]
fn two_joints_blend_as_dual_quaternions() {
    let still = words(DQuat::IDENTITY, DVec3::ZERO, 1.0);
    // A quarter turn about the vertical axis through (1, 0, 0). It takes the origin to (1, -1, 0).
    let turn = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let turned = words(turn, DVec3::new(1.0, -1.0, 0.0), 1.0);
    let near = |found: DVec3, expected: DVec3| assert!(found.distance(expected) < 1e-4, "{found}, not {expected}");
    near(blended([turned, turned], [2.0, 0.0, 0.0]), DVec3::new(1.0, 1.0, 0.0));
    // Half of it is an eighth of a turn about the same axis (Kavan et al. 2007, section 4): points keep their distance
    // from the axis. Blended matrices would give (1.5, 0.5, 0), which is nearer.
    let eighth = DVec3::new(1.0 + FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0);
    near(blended([still, turned], [2.0, 0.0, 0.0]), eighth);
    // A quaternion and its negative are the same rotation.
    near(blended([still, words(-turn, DVec3::new(1.0, -1.0, 0.0), 1.0)], [2.0, 0.0, 0.0]), eighth);
    // Scales are blended separately: 1 and 3 give 2, before the turn.
    let grown = words(turn, DVec3::new(1.0, -1.0, 0.0), 3.0);
    let centre = DVec3::new(1.0 - FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0);
    near(blended([still, grown], [1.0, 0.0, 0.0]), centre + DVec3::new(2.0, 2.0, 0.0) * FRAC_1_SQRT_2);
}

#[test]
fn a_joint_in_full_is_read_as_a_matrix() {
    // The rows 0 -2 0 1, 2 0 0 2 and 0 0 2 3, and a point.
    let values = [[0.0, -2.0, 0.0, 1.0], [2.0, 0.0, 0.0, 2.0], [0.0, 0.0, 2.0, 3.0], [1.0, 10.0, 100.0, 0.0]];
    let body = "
        let rows = full_matrix(value_load(0u), value_load(1u), value_load(2u));
        return vec4(full_matrix_point(rows, value_load(3u).xyz), 0.0);";
    let found = run_with(SkinFormat::Matrix, 1, body, &[], &values);
    assert_eq!(found[0], DVec4::new(-19.0, 4.0, 203.0, 0.0));
}

#[test]
fn a_joint_as_halves_is_read_as_a_matrix() {
    let row = |row: [f32; 4]| row.map(half::from_f32);
    let rows = [[0.0, -2.0, 0.0, 1.0], [2.0, 0.0, 0.0, 2.0], [0.0, 0.0, 2.0, 3.0]].map(row);
    let words: Vec<u32> = rows.as_flattened().chunks(2).map(|pair| pair[0] | pair[1] << 16).collect();
    let body = "
        let rows = half_matrix(vec2(words[0], words[1]), vec2(words[2], words[3]), vec2(words[4], words[5]));
        return vec4(half_matrix_point(rows, value_load(0u).xyz), 0.0);";
    let found = run_with(SkinFormat::HalfMatrix, 1, body, &words, &[[1.0, 10.0, 100.0, 0.0]]);
    assert_eq!(found[0], DVec4::new(-19.0, 4.0, 203.0, 0.0));
}
