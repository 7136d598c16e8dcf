//! Libraries that take the place of one another under a crowd: parts of a long clip, compressed or not.

use glam::{DAffine3, DVec3};
use posse::compress::CompressedLibrary;
use posse::cpu::CpuEngine;
use posse::curves::{Interpolation, Target};
use posse::gpu::{GpuCrowd, GpuEngine, GpuEvents};
use posse::packed::PackedLibrary;
use posse::{Crowd, Error, Layer, LayerTime, Library, Outputs, Playback, Poses, Skin, Ticks, demo};
use proptest::prelude::*;

use super::{assert_device_error, assert_right, only_clip, own_gpu, play};
use crate::support::build::{self, curve, joint};
use crate::support::cases::cases;
use crate::support::gpu_library::{gpu_engine_for, pose_kernels};
use crate::support::scenes::{Scene, scenes};
use crate::trim::two_parts;

/// The demo library with its clip of walking trimmed to a range of its second.
fn part(range: [f64; 2]) -> Library {
    let mut library = demo::library().unwrap();
    let walk = library.find_clip("walk").unwrap();
    library.trim_clips(&[(walk, range)]).unwrap();
    library
}

/// Instances that walk, each a little later than the one before, and stand in between.
fn walkers(library: &Library) -> Crowd {
    let (walk, idle) = (library.find_clip("walk").unwrap(), library.find_clip("idle").unwrap());
    let mut crowd = Crowd::new();
    for instance in 0..6 {
        let play = |clip| {
            let play = Playback::looping(-0.01 * f64::from(instance), 1.0);
            Layer { weight: 0.5, ..Layer::new(clip, LayerTime::Playing(play)) }
        };
        let layers = if instance % 2 == 0 { vec![play(walk)] } else { vec![play(walk), play(idle)] };
        crowd.push(library.clip(walk).skeleton, &layers).unwrap();
    }
    crowd
}

#[test]
fn a_crowd_plays_on_while_parts_replace_one_another() {
    let whole = demo::library().unwrap();
    let crowd = walkers(&whole);
    let outputs = Outputs { root_motion: false, ..Outputs::ALL };
    let parts = [part([0.0, 0.4]), part([0.3, 0.7]), part([0.6, 1.0])];
    let compressed = CompressedLibrary::with_width(&parts[1], 15).unwrap();
    let packed =
        [PackedLibrary::new(&parts[0]).unwrap(), compressed.pack().unwrap(), PackedLibrary::new(&parts[2]).unwrap()];
    let mut first = packed[0].clone();
    packed[1..].iter().for_each(|other| first.reserve_for(other).unwrap());
    let mut engine = gpu_engine_for(first).unwrap();
    let size = engine.library().size();
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, outputs).unwrap();
    for (index, start) in [(0, 0.0), (1, 0.3), (2, 0.6), (0, 0.0)] {
        engine.replace_library(packed[index].clone()).unwrap();
        let library = if index == 1 { compressed.library() } else { &whole };
        for seconds in [start, start + 0.2, start + 0.34] {
            let now = Ticks::from_seconds(seconds);
            let poses = play(&engine, &on_gpu, crowd.len(), now, outputs);
            assert_right(library, &crowd, now, outputs, &poses);
        }
    }
    assert_eq!(engine.library().size(), size);
    // A crowd that is made now fits, too.
    let late = GpuCrowd::new(engine.library(), &crowd, outputs).unwrap();
    let now = Ticks::from_seconds(0.1);
    assert_right(&whole, &crowd, now, outputs, &play(&engine, &late, crowd.len(), now, outputs));
}

#[test]
fn poses_and_events_are_those_of_an_engine_of_the_new_library() {
    proptest!(cases(8, 0x3e5b), |(spec in scenes(8, 20))| {
        let Scene { library, crowd, step } = spec.with_goals(spec.moving_scene());
        let [first, second] = two_parts(&spec, &library);
        let mut engines = [first, second.clone()].map(|packed| gpu_engine_for(packed).unwrap());
        let made = engines.each_ref().map(|engine| {
            let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
            let events = GpuEvents::new(engine.library(), &on_gpu, 1000).unwrap();
            (on_gpu, events)
        });
        let frame = |engine: &GpuEngine, (on_gpu, events): &(GpuCrowd, GpuEvents)| {
            let mut encoder = engine.gpu().device.create_command_encoder(&Default::default());
            on_gpu.encode(&mut encoder, step);
            events.encode(&mut encoder, step);
            engine.gpu().queue.submit([encoder.finish()]);
            let read = |instance| engine.read_instance(on_gpu, instance, Outputs::ALL).unwrap();
            ((0..crowd.len()).map(read).collect::<Vec<_>>(), events.read().unwrap())
        };
        engines.iter().zip(&made).for_each(|(engine, made)| drop(frame(engine, made)));
        engines[0].replace_library(second).unwrap();
        let [(poses, events), (expected, expected_events)] = [0, 1].map(|index| frame(&engines[index], &made[index]));
        assert_eq!(poses, expected, "{spec:#?}");
        assert_eq!(events, expected_events, "{spec:#?}");
    });
}

#[test]
fn a_library_that_does_not_fit_is_refused_and_the_old_one_stays() {
    let (first, other) = (part([0.0, 0.2]), part([0.0, 1.0]));
    let crowd = walkers(&first);
    let mut engine = gpu_engine_for(PackedLibrary::new(&first).unwrap()).unwrap();
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::SKIN).unwrap();
    match engine.replace_library(PackedLibrary::new(&other).unwrap()) {
        Err(Error::Limit { what, needed, allowed }) => {
            assert!(what.contains("reserve_for") && needed > allowed, "{what}: {needed} of {allowed}");
        }
        other => panic!("{other:?}"),
    }
    let now = Ticks::from_seconds(0.1);
    assert_right(&first, &crowd, now, Outputs::SKIN, &play(&engine, &on_gpu, crowd.len(), now, Outputs::SKIN));
    // The capacity of a library that takes the place of another is not the capacity of the buffers.
    let mut larger = PackedLibrary::new(&first).unwrap();
    larger.reserve_for(&PackedLibrary::new(&other).unwrap()).unwrap();
    engine.replace_library(larger).unwrap();
    assert!(matches!(engine.replace_library(PackedLibrary::new(&other).unwrap()), Err(Error::Limit { .. })));
    // Keys that the kernels of the engine cannot read.
    let compressed = CompressedLibrary::with_width(&first, 8).unwrap().pack().unwrap();
    let error = engine.replace_library(compressed).unwrap_err().to_string();
    assert!(error.contains("kinds of curves or scales that the engine was not made for"), "{error}");
    assert_right(&first, &crowd, now, Outputs::SKIN, &play(&engine, &on_gpu, crowd.len(), now, Outputs::SKIN));
}

/// A chain of 20 joints that grows, with a skin of one inverse bind matrix per joint. The z axis of the last matrix is
/// longer than the others by `stretch`.
fn growing_chain(stretch: f64) -> Library {
    let joints = (0..20).map(|index: usize| joint(index.checked_sub(1), [0.1, 0.2, 0.0])).collect();
    let (mut library, skeleton) = build::library(joints);
    let bind = |joint: usize| {
        let z = if joint == 19 { 1.0 + stretch } else { 1.0 };
        let mut bind = DAffine3::from_scale(DVec3::new(1.0, 1.0, z));
        bind.translation = DVec3::new(-0.1, -0.2, 0.5) * joint as f64;
        bind
    };
    let inverse_bind = (0..20).map(bind).collect();
    library.add_skin(Skin { name: None, skeleton, joints: (0..20).collect(), inverse_bind }).unwrap();
    let growth = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[1.0, 1.0, 1.0, 1.5, 1.5, 1.5]);
    build::clip(&mut library, skeleton, vec![(Target::Scale(3), growth)]);
    library
}

#[test]
fn inverse_binds_with_a_uniform_scale_and_without_replace_one_another() {
    let libraries = [0.0, 1e-5].map(growing_chain);
    let packed = libraries.each_ref().map(|library| PackedLibrary::new(library).unwrap());
    let crowd = only_clip(&libraries[0], 5);
    let (outputs, now) = (Outputs::SKIN, Ticks::from_seconds(0.3));
    let is_uniform = |packed: &PackedLibrary| {
        pose_kernels(packed, &crowd, outputs).iter().all(|(_, kernel)| kernel.contains("_uniform"))
    };
    assert_eq!(packed.each_ref().map(is_uniform), [true, false]);
    for (first, then) in [(0, 1), (1, 0)] {
        let mut engine = CpuEngine::from_packed(packed[first].clone(), 1);
        let mut posed = engine.crowd(&crowd, outputs).unwrap();
        engine.pose(&mut posed, now);
        engine.replace_library(packed[then].clone()).unwrap();
        engine.pose(&mut posed, now);
        let poses = Poses { instances: (0..crowd.len()).map(|one| engine.read(&posed, one, outputs)).collect() };
        assert_right(&libraries[then], &crowd, now, outputs, &poses);

        // The kernel of uniform scales does not suit the other library, unless that is known beforehand.
        let mut first_packed = packed[first].clone();
        if first == 0 {
            let mut engine = gpu_engine_for(first_packed.clone()).unwrap();
            let error = engine.replace_library(packed[then].clone()).unwrap_err().to_string();
            assert!(error.contains("curves or scales that the engine was not made for"), "{error}");
            first_packed.reserve_for(&packed[then]).unwrap();
            assert!(!is_uniform(&first_packed));
        }
        let mut engine = gpu_engine_for(first_packed).unwrap();
        let on_gpu = GpuCrowd::new(engine.library(), &crowd, outputs).unwrap();
        for index in [first, then, first] {
            engine.replace_library(packed[index].clone()).unwrap();
            let poses = play(&engine, &on_gpu, crowd.len(), now, outputs);
            assert_right(&libraries[index], &crowd, now, outputs, &poses);
        }
    }
}

#[test]
fn a_lost_device_is_an_error_of_the_next_read() {
    let library = part([0.0, 0.5]);
    let mut engine = GpuEngine::new(own_gpu(wgpu::Limits::default()), &library).unwrap();
    let on_gpu = GpuCrowd::new(engine.library(), &walkers(&library), Outputs::SKIN).unwrap();
    engine.gpu().device.destroy();
    engine.replace_library(PackedLibrary::new(&library).unwrap()).unwrap();
    assert_device_error(engine.read_instance(&on_gpu, 0, Outputs::SKIN), "a replaced library");
}
