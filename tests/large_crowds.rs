//! Crowds whose results are larger than the caches, so that the CPU engine uses streaming stores.

use glam::{DAffine3, DQuat, DVec3};
use posse::cpu::{CpuBatch, CpuEngine, InstructionSet};
use posse::curves::{Interpolation, Target};
use posse::{
    AdditiveReference, Clip, Crowd, Evaluator, Joint, Layer, LayerMode, LayerTime, Library, Outputs, Playback,
    Reference, Skin, SkinFormat, Ticks, Transform, WrapMode, contract, demo,
};

use crate::support::build;

/// The number of instances, with about 64 joints each. Even 24 bytes per joint are more than the 6 MiB above which the
/// engine uses streaming stores.
const INSTANCES: usize = 6000;

/// Asserts that each instruction set poses some instances of a large crowd as the reference does.
#[track_caller]
fn assert_posed(library: &Library, large: &Crowd, format: SkinFormat) {
    let now = Ticks::from_seconds(12.3);
    let outputs = Outputs::SKIN.with_skin_format(format);
    let joints: usize = (0..INSTANCES).map(|instance| library.skeleton(large.skeleton(instance)).joints().len()).sum();
    assert!(format.bytes() * joints > CACHES);
    let mut small = Crowd::new();
    let asked: Vec<usize> = (0..INSTANCES).step_by(97).collect();
    for &instance in &asked {
        small.push(large.skeleton(instance), large.layers(instance)).unwrap();
    }
    let expected = Reference::new(library).evaluate(&small, now, outputs).unwrap();
    for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        let engine = CpuEngine::new(library).unwrap().with_instructions(instructions);
        let mut posed = engine.crowd(large, outputs).unwrap();
        engine.pose(&mut posed, now);
        let read = |&instance: &usize| engine.read(&posed, instance, outputs);
        let actual = posse::Poses { instances: asked.iter().map(read).collect() };
        let report = contract::compare_as(format, library, &small, now, &expected, &actual);
        assert!(report.is_within() && report.skin.is_some(), "{}: {:?}", instructions.name(), report.quantities());
    }
}

#[test]
fn a_crowd_larger_than_the_caches_is_posed_as_a_small_one() {
    let library = demo::library().unwrap();
    let large = demo::crowd(&library, INSTANCES).unwrap();
    assert_posed(&library, &large, SkinFormat::Matrix);
    assert_posed(&library, &large, SkinFormat::HalfMatrix);
}

#[test]
fn dual_quaternions_larger_than_the_caches_are_posed_as_a_small_crowd() {
    let mut library = Library::new();
    // One joint more than whole blocks of any instruction set.
    let skeleton = demo::add_uniform_rig(&mut library, 65, 4, 8).unwrap();
    let clip = library.clip_ids().next().unwrap();
    let mut large = Crowd::new();
    for instance in 0..INSTANCES as i64 {
        let time = LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(-9973 * instance), 1.0));
        large.push(skeleton, &[Layer::new(clip, time)]).unwrap();
    }
    assert_posed(&library, &large, SkinFormat::DualQuaternion);
}

/// The bytes of transforms and matrices above which the engine uses streaming stores.
const CACHES: usize = 6 << 20;

/// The bits of all outputs of a crowd, instance after instance. `is_large` says whether the engine uses streaming
/// stores.
#[track_caller]
fn all_bits(engine: &CpuEngine, crowd: &Crowd, outputs: Outputs, is_large: bool) -> Vec<Vec<u32>> {
    let mut posed = engine.crowd(crowd, outputs).unwrap();
    let bytes = |batch: &CpuBatch| {
        let layout = &batch.layout;
        4 * (layout.local + layout.model + layout.skin) * batch.instances.len()
    };
    assert_eq!(posed.batches().iter().map(bytes).sum::<usize>() > CACHES, is_large);
    engine.pose(&mut posed, Ticks::from_seconds(7.7));
    let mut all = vec![Vec::new(); crowd.len()];
    for batch in posed.batches() {
        for (slot, &instance) in batch.instances.iter().enumerate() {
            all[instance] = bits(batch, slot);
        }
    }
    all
}

/// Stores past the caches fill whole cache lines. Of most rigs, two instances share a line.
#[test]
fn a_crowd_larger_than_the_caches_has_the_same_bits_as_its_parts() {
    for joints in [1, 3, 5, 6, 7, 9, 10, 62, 63, 64, 65, 257, 1025, 1027] {
        let mut library = Library::new();
        let skeleton = demo::add_uniform_rig(&mut library, joints, 7, joints.min(9)).unwrap();
        let clip = library.clip_ids().next().unwrap();
        // Slots in another order than the joints, and more of them.
        let slots: Vec<usize> = (0..joints).rev().chain([0, joints - 1, 0]).collect();
        let inverse_bind = vec![DAffine3::from_scale(DVec3::splat(0.5)); slots.len()];
        library.add_skin(Skin { name: None, skeleton, joints: slots, inverse_bind }).unwrap();
        for format in SkinFormat::ALL {
            let outputs = Outputs::ALL.with_skin_format(format);
            let bytes = joints * (48 + 48) + (2 * joints + 3) * format.bytes();
            let crowd = |instances: std::ops::Range<usize>| {
                let mut crowd = Crowd::new();
                for instance in instances {
                    let time = LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(-7919 * instance as i64), 1.0));
                    crowd.push(skeleton, &[Layer::new(clip, time)]).unwrap();
                }
                crowd
            };
            let (half, count) = (CACHES / bytes / 2, CACHES / bytes + 1);
            for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
                let engine = CpuEngine::with_threads(&library, 2).unwrap().with_instructions(instructions);
                let large = all_bits(&engine, &crowd(0..count), outputs, true);
                let parts = [0..half, half..count].map(|part| all_bits(&engine, &crowd(part), outputs, false));
                let different = large.iter().zip(parts.iter().flatten()).position(|(large, part)| large != part);
                assert_eq!(different, None, "{}: {joints} joints, {}", instructions.name(), format.name());
            }
        }
    }
}

/// The bits of all outputs of an instance in a slot of a batch.
fn bits(batch: &CpuBatch, slot: usize) -> Vec<u32> {
    let (layout, numbers) = (&batch.layout, &batch.numbers);
    let arrays = [
        (&numbers.local, layout.local),
        (&numbers.model, layout.model),
        (&numbers.skin, layout.skin),
        (&numbers.values, layout.values),
        (&numbers.root_motion, layout.root_motion),
    ];
    arrays
        .into_iter()
        .flat_map(|(array, width)| &array[slot * width..][..width])
        .map(|number| number.to_bits())
        .collect()
}

/// Asserts that each instance of a crowd has the numbers that it has alone, bit by bit, in each instruction set.
#[track_caller]
fn assert_same_alone(library: &Library, crowd: &Crowd, outputs: Outputs) {
    let now = Ticks::from_seconds(7.7);
    for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        let engine = CpuEngine::with_threads(library, 1).unwrap().with_instructions(instructions);
        let mut posed = engine.crowd(crowd, outputs).unwrap();
        engine.pose(&mut posed, now);
        for batch in posed.batches() {
            for (slot, &instance) in batch.instances.iter().enumerate() {
                let mut single = Crowd::new();
                single.push(crowd.skeleton(instance), crowd.layers(instance)).unwrap();
                let mut alone = engine.crowd(&single, outputs).unwrap();
                engine.pose(&mut alone, now);
                let same = bits(batch, slot) == bits(&alone.batches()[0], 0);
                assert!(same, "{}: instance {instance} of {}", instructions.name(), crowd.len());
            }
        }
    }
}

/// Numbers of instances: less than half a group of any instruction set, whole groups, and groups with some instances
/// left over.
const COUNTS: [usize; 6] = [1, 3, 8, 16, 23, 41];

#[test]
fn an_instance_has_the_same_bits_alone_and_beside_others() {
    let library = demo::library().unwrap();
    for count in COUNTS {
        let crowd = demo::crowd(&library, count).unwrap();
        assert_same_alone(&library, &crowd, Outputs::ALL);
        assert_same_alone(&library, &crowd, Outputs::ALL.with_skin_format(SkinFormat::HalfMatrix));
    }
}

#[test]
fn rigs_of_all_sizes_have_the_same_bits_alone_and_beside_others() {
    for joints in [1, 2, 3, 5, 16, 17, 64, 65, 257] {
        let mut library = Library::new();
        let skeleton = demo::add_uniform_rig(&mut library, joints, 7, joints.min(9)).unwrap();
        let clip = library.clip_ids().next().unwrap();
        let mask =
            posse::Mask { name: None, skeleton, weights: (0..joints).map(|joint| 1.0 / (joint + 1) as f64).collect() };
        let mask = library.add_mask(mask).unwrap();
        for modes in [
            [LayerMode::Blend, LayerMode::Blend],
            [LayerMode::Blend, LayerMode::Override],
            [LayerMode::Additive(AdditiveReference::First), LayerMode::Additive(AdditiveReference::Rest)],
        ] {
            for count in COUNTS {
                let mut crowd = Crowd::new();
                for instance in 0..count as i64 {
                    let layer = |offset: i64| {
                        let start = Ticks(-7919 * (instance + offset));
                        Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0)))
                    };
                    let [mode, above] = modes;
                    let masked = (instance % 3 == 0).then_some(mask);
                    // Some instances leave out a layer that those beside them have.
                    let weight = if instance % 5 == 1 { 0.0 } else { 0.4 };
                    let layers = [
                        layer(0),
                        Layer { mode, weight, mask: masked, ..layer(11) },
                        Layer { mode: above, weight: 0.3, ..layer(23) },
                    ];
                    let used = if instance % 4 == 0 { 1 } else { 3 };
                    crowd.push(skeleton, &layers[..used]).unwrap();
                }
                for format in SkinFormat::ALL {
                    assert_same_alone(&library, &crowd, Outputs::ALL.with_skin_format(format));
                }
            }
        }
    }
}

/// Sums of zeros have one sign, whatever the number of instances: a chain in a plane, turned by negative angles, with
/// an inverse bind matrix that has negative zeros.
#[test]
fn zeros_have_the_same_signs_alone_and_beside_others() {
    let turned = |parent: Option<usize>| Joint {
        parent,
        rest: Transform { rotation: DQuat::from_xyzw(0.0, 0.0, -0.6, 0.8), ..Transform::IDENTITY },
        ..Joint::default()
    };
    let (mut library, skeleton) = build::library(vec![turned(None), turned(Some(0)), turned(Some(1))]);
    let negative = DAffine3::from_cols_array(&[1.0, -0.0, -0.0, -0.0, 1.0, -0.0, -0.0, -0.0, 1.0, -0.0, -0.0, -0.0]);
    library.add_skin(Skin { name: None, skeleton, joints: vec![0, 1, 2], inverse_bind: vec![negative; 3] }).unwrap();
    let clip = library.add_clip(Clip::new(None, skeleton, Vec::new())).unwrap();
    for count in COUNTS {
        let mut crowd = Crowd::new();
        for _ in 0..count {
            crowd.push(skeleton, &[Layer::new(clip, LayerTime::At(0.0))]).unwrap();
        }
        for format in SkinFormat::ALL {
            assert_same_alone(&library, &crowd, Outputs::ALL.with_skin_format(format));
        }
    }
}

/// An additive layer that does not turn a joint leaves its rotation, whatever its weight.
#[test]
fn a_large_weight_of_no_difference_changes_nothing() {
    let (mut library, skeleton) = build::library(vec![Joint::default(); 3]);
    let still = build::curve(Interpolation::Linear, 4, &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let clip =
        build::clip(&mut library, skeleton, (0..3).map(|joint| (Target::Rotation(joint), still.clone())).collect());
    for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        let engine = CpuEngine::new(&library).unwrap().with_instructions(instructions);
        for reference in [AdditiveReference::First, AdditiveReference::Rest] {
            for weight in [1.0, 16_777_216.0, 33_554_432.0, 1e30] {
                let added =
                    Layer { mode: LayerMode::Additive(reference), weight, ..Layer::new(clip, LayerTime::At(0.5)) };
                let mut crowd = Crowd::new();
                for _ in 0..20 {
                    crowd.push(skeleton, &[Layer::new(clip, LayerTime::At(0.5)), added]).unwrap();
                }
                let pose = engine.query(&crowd, 7, Ticks(0), Outputs::ALL).unwrap();
                for local in pose.local {
                    // With AVX2, processors differ in the last bit of a reciprocal square root.
                    let may_round = instructions == InstructionSet::Avx2;
                    let is_unturned =
                        may_round && local.rotation.xyz() == DVec3::ZERO && (local.rotation.w - 1.0).abs() < 1e-7;
                    let rotation = if is_unturned { DQuat::IDENTITY } else { local.rotation };
                    let local = Transform { rotation, ..local };
                    assert_eq!(local, Transform::IDENTITY, "{} at {weight}", instructions.name());
                }
            }
        }
    }
}
