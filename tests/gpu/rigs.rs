use std::sync::Arc;

use glam::{DAffine3, DVec3};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::rig::Property;
use posse::{Clip, Crowd, Joint, Layer, LayerTime, Library, Outputs, Skeleton, Skin, SkinFormat, demo};

use super::{NOW, assert_evaluates, engine, only_clip};
use crate::support::build::{self, joint};
use crate::support::scenes::Numbers;

/// Every output alone, all outputs, and none.
fn each_alone() -> [Outputs; 7] {
    let none = Outputs::NONE;
    [
        Outputs::ALL,
        none,
        Outputs { local: true, ..none },
        Outputs { model: true, ..none },
        Outputs { skin: true, ..none },
        Outputs { weights: true, ..none },
        Outputs { properties: true, ..none },
    ]
}

#[test]
fn rigs_at_the_sizes_where_kernels_change_are_posed() {
    for joints in [
        1, 2, 3, 4, 5, 8, 9, 13, 15, 16, 17, 24, 31, 32, 33, 43, 48, 49, 63, 64, 65, 96, 97, 128, 130, 160, 161, 192,
        193, 255, 256, 257, 513,
    ] {
        let library = demo::rig(joints, 9, joints.min(12)).unwrap();
        let mut engine = engine(&library);
        // More instances of the smaller rigs than a workgroup holds, and not a multiple of that number.
        let instances = match joints {
            ..17 => 70,
            17..49 => 26,
            _ => 5,
        };
        let crowd = only_clip(&library, instances);
        for outputs in [Outputs::ALL, Outputs::SKIN] {
            assert_evaluates(&mut engine, &library, &crowd, outputs);
        }
    }
}

#[test]
#[cfg(not(target_arch = "wasm32"))]
fn a_measurement_covers_rigs_of_all_sizes() {
    use posse::measure::{self, Workload};

    let mut library = Library::new();
    let [small, middle, large] = [8, 129, 1025].map(|joints| demo::add_rig(&mut library, joints, 2, 4).unwrap());
    let clip = |skeleton| library.clip_ids().find(|&clip| library.clip(clip).skeleton == skeleton).unwrap();
    let crowd = |layers: usize| {
        let mut crowd = Crowd::new();
        for (skeleton, count) in [(small, 3), (middle, 4), (large, 5)] {
            let layers = vec![Layer::new(clip(skeleton), LayerTime::At(0.01)); layers];
            (0..count).for_each(|_| assert!(crowd.push(skeleton, &layers).is_ok()));
        }
        crowd
    };
    for layers in [1, 8] {
        let subject = Workload { library: &library, crowd: &crowd(layers), outputs: Outputs::SKIN };
        let measured = measure::gpu(&engine(&library), &subject, std::time::Duration::ZERO).unwrap();
        assert_eq!(measured.instances, 12, "layers {layers}");
        assert!(measured.check.unwrap().is_within(), "layers {layers}");
    }
}

#[test]
fn a_chain_of_500_joints_is_posed() {
    let library = demo::rig(500, 9, 500).unwrap();
    assert_evaluates(&mut engine(&library), &library, &only_clip(&library, 3), Outputs::ALL);
}

#[test]
fn a_rig_of_3000_joints_is_posed() {
    for depth in [10, 3000] {
        let library = demo::rig(3000, 4, depth).unwrap();
        let mut engine = engine(&library);
        for outputs in [Outputs::ALL, Outputs::SKIN] {
            assert_evaluates(&mut engine, &library, &only_clip(&library, 3), outputs);
        }
    }
}

/// Skins with some of the joints, in another order: a joint has a skin matrix or none. A second skin has the other
/// joints, or shares some with the first.
#[test]
fn skins_of_some_joints_are_posed_at_the_sizes_where_kernels_change() {
    for joints in [8, 20, 64, 100, 256, 300] {
        for strides in [&[3][..], &[2, 2], &[3, 2]] {
            let mut library = own_timelines(joints);
            let skeleton = library.skeleton_ids().next().unwrap();
            for (skin, &stride) in strides.iter().enumerate() {
                let joints: Vec<usize> = (skin..joints).step_by(stride).rev().collect();
                let bind = |&joint: &usize| DAffine3::from_translation(DVec3::new(joint as f64, 1.0, -0.5));
                let inverse_bind = joints.iter().map(bind).collect();
                library.add_skin(Skin { name: None, skeleton, joints, inverse_bind }).unwrap();
            }
            let crowd = only_clip(&library, 3);
            let mut engine = engine(&library);
            for outputs in [Outputs::ALL, Outputs::SKIN, Outputs::SKIN.with_skin_format(SkinFormat::HalfMatrix)] {
                assert_evaluates(&mut engine, &library, &crowd, outputs);
            }
        }
    }
}

/// Roots only: the hierarchy has no round.
#[test]
fn rigs_of_roots_are_posed() {
    for joints in [5, 40, 200] {
        let library = demo::rig(joints, 9, 1).unwrap();
        assert_evaluates(&mut engine(&library), &library, &only_clip(&library, 3), Outputs::ALL);
    }
}

/// A rig whose tracks have one timeline each.
fn own_timelines(joints: usize) -> Library {
    let mut numbers = Numbers::new(joints as u64);
    let rig: Vec<Joint> = (0..joints).map(|index| joint(index.checked_sub(1).map(|_| 0), [0.1, 0.2, 0.0])).collect();
    let (mut library, skeleton) = build::library(rig);
    let mut track = |target: Target| {
        let mut time = 0.0;
        let times: Vec<f64> = (0..12).map(|_| (time, time += numbers.within(0.01, 0.3)).0).collect();
        let values: Vec<f64> = (0..36).map(|_| numbers.within(-1.0, 1.0)).collect();
        (target, build::curve(Interpolation::Linear, 3, &times, &values))
    };
    let tracks = (0..joints).flat_map(|joint| [Target::Translation(joint), Target::Scale(joint)]);
    let tracks: Vec<_> = tracks.map(&mut track).collect();
    build::clip(&mut library, skeleton, tracks);
    library
}

#[test]
fn more_timelines_than_workgroup_memory_holds_are_searched() {
    // There are twice as many timelines as joints. Workgroup memory has room for 64, 128, 192, 256 and 512 timelines;
    // for small rigs, the instances of a workgroup share it.
    for joints in [5, 16, 32, 33, 64, 128, 256, 400] {
        let library = own_timelines(joints);
        assert_evaluates(&mut engine(&library), &library, &only_clip(&library, 9), Outputs::ALL);
    }
}

/// A library of three skeletons: a rig with two skins, weights and properties; properties without joints; joints
/// without skins.
fn mixed() -> Library {
    let mut library = Library::new();
    let property = |name: &str, width: usize| Property { name: name.into(), rest: vec![0.25; width], rotation: false };
    let mut joints: Vec<Joint> = (0..70).map(|index: usize| joint(index.checked_sub(1), [0.0, 0.1, 0.0])).collect();
    joints[3].weights = vec![0.1, 0.2, 0.3, 0.4, 0.5];
    joints[9].weights = vec![0.6];
    let rig = library
        .add_skeleton(Skeleton::new(None, joints, vec![property("/light", 1), property("/colours", 6)]).unwrap());
    for joints in [vec![1, 0, 69], vec![5; 80]] {
        let inverse_bind = joints.iter().map(|&j| DAffine3::from_translation(DVec3::splat(j as f64 * -0.01))).collect();
        library.add_skin(Skin { name: None, skeleton: rig, joints, inverse_bind }).unwrap();
    }
    let bodiless = library.add_skeleton(Skeleton::new(None, Vec::new(), vec![property("/alone", 3)]).unwrap());
    let plain = library.add_skeleton(Skeleton::new(None, vec![joint(None, [1.0, 2.0, 3.0]); 2], Vec::new()).unwrap());

    let timeline = Arc::new(Timeline::new(vec![0.0, 0.4, 1.0]).unwrap());
    let mut numbers = Numbers::new(6);
    let mut curve = |width: usize| {
        let values = (0..3 * width).map(|_| numbers.within(-1.0, 1.0)).collect();
        Curve::new(timeline.clone(), Interpolation::Linear, width, values).unwrap()
    };
    let clips = [
        (rig, vec![Target::Weights(3), Target::Property(1), Target::Translation(1), Target::Translation(40)], None),
        (rig, vec![Target::Property(0)], Some(Target::Weights(9))),
        (bodiless, vec![Target::Property(0)], None),
        (plain, vec![Target::Translation(1)], None),
    ];
    for (skeleton, targets, single) in clips {
        let width = |target: Target| match (target, skeleton == rig) {
            (Target::Weights(_), _) => 5,
            (Target::Property(1), _) => 6,
            (Target::Property(_), true) => 1,
            _ => 3,
        };
        let mut tracks: Vec<Track> =
            targets.into_iter().map(|target| Track::new(target, curve(width(target)))).collect();
        tracks.extend(single.map(|target| Track::component(target, 0, curve(1))));
        library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    }
    library
}

#[test]
fn a_crowd_mixes_skeletons_and_gives_each_output_alone() {
    let library = mixed();
    let clips: Vec<_> = library.clip_ids().collect();
    let skeletons: Vec<_> = library.skeleton_ids().collect();
    let mut numbers = Numbers::new(7);
    let mut crowd = Crowd::new();
    for _ in 0..90 {
        let time = LayerTime::At(numbers.within(-0.2, 1.2));
        match numbers.below(7) {
            0..3 => crowd.push(skeletons[numbers.below(3)], &[]).unwrap(),
            _ => {
                let clip = clips[numbers.below(clips.len())];
                crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, time)]).unwrap()
            }
        };
    }
    let mut engine = engine(&library);
    for outputs in each_alone() {
        assert_evaluates(&mut engine, &library, &crowd, outputs);
    }
}

#[test]
fn an_empty_crowd_is_posed() {
    let empty = Library::new();
    assert_evaluates(&mut engine(&empty), &empty, &Crowd::new(), Outputs::ALL);
    let library = mixed();
    assert_evaluates(&mut engine(&library), &library, &Crowd::new(), Outputs::ALL);
}

#[test]
fn outputs_that_are_not_requested_have_no_buffer() {
    let library = demo::rig(300, 4, 5).unwrap();
    let engine = engine(&library);
    let crowd = only_clip(&library, 3);
    for outputs in each_alone() {
        let gpu_crowd = posse::gpu::GpuCrowd::new(engine.library(), &crowd, outputs).unwrap();
        let batch = &gpu_crowd.batches()[0];
        let found = [batch.local(), batch.model(), batch.skin()].map(|buffer| buffer.is_some());
        assert_eq!(found, [outputs.local, outputs.model, outputs.skin]);
        assert!(batch.values().is_none(), "the rig has neither weights nor properties");
        super::play(&engine, &gpu_crowd, 3, NOW, outputs);
    }
}
