//! The threads of the CPU engine: any number of them gives the same bits, in every frame and from every caller.

use std::thread;

use posse::cpu::{CpuBatch, CpuEngine};
use posse::parameters::Parameter;
use posse::{Crowd, Layer, LayerTime, Library, Outputs, Playback, Ticks, WrapMode, demo};

/// The bits of all outputs of a batch.
fn bits(batch: &CpuBatch) -> Vec<u32> {
    let numbers = &batch.numbers;
    let arrays = [&numbers.local, &numbers.model, &numbers.skin, &numbers.values, &numbers.root_motion];
    arrays.into_iter().flatten().map(|number| number.to_bits()).collect()
}

/// The bits of some frames of a crowd, batch after batch.
fn frames(engine: &CpuEngine, crowd: &Crowd, frames: i64) -> Vec<Vec<u32>> {
    let mut posed = engine.crowd(crowd, Outputs::ALL).unwrap();
    let frame = |frame: i64| {
        engine.pose(&mut posed, Ticks(31_337 * frame));
        posed.batches().iter().flat_map(bits).collect()
    };
    (0..frames).map(frame).collect()
}

/// A library of rigs with one to 16 joints and one clip each, and a crowd that takes them in turn.
fn many_skeletons(skeletons: usize, instances: usize) -> (Library, Crowd) {
    let mut library = Library::new();
    for index in 0..skeletons {
        let joints = 1 + index % 16;
        demo::add_rig(&mut library, joints, 3, joints.min(5)).unwrap();
    }
    let clips: Vec<_> = library.clip_ids().collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let clip = clips[instance % clips.len()];
        let time = LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(-9973 * instance as i64), 1.0));
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, time)]).unwrap();
    }
    (library, crowd)
}

#[test]
fn a_thousand_skeletons_with_few_instances_have_the_same_bits_on_any_number_of_threads() {
    let (library, crowd) = many_skeletons(1000, 3300);
    let expected = frames(&CpuEngine::with_threads(&library, 1).unwrap(), &crowd, 2);
    assert_ne!(expected[0], expected[1], "the crowd moves");
    for threads in [2, 7] {
        let found = frames(&CpuEngine::with_threads(&library, threads).unwrap(), &crowd, 2);
        assert!(found == expected, "{threads} threads");
    }
}

#[test]
fn the_threads_of_an_engine_pose_frame_after_frame_of_crowds_of_several_sizes() {
    let (library, large) = many_skeletons(40, 2000);
    let (_, small) = many_skeletons(40, 5);
    let (one, several) = [1, 4].map(|threads| CpuEngine::with_threads(&library, threads).unwrap()).into();
    for _ in 0..3 {
        assert!(frames(&several, &large, 20) == frames(&one, &large, 20));
        assert!(frames(&several, &small, 20) == frames(&one, &small, 20));
    }
}

#[test]
fn an_engine_poses_crowds_of_several_callers_at_once() {
    let (library, crowd) = many_skeletons(40, 2000);
    let engine = CpuEngine::with_threads(&library, 3).unwrap();
    let expected = frames(&CpuEngine::with_threads(&library, 1).unwrap(), &crowd, 10);
    thread::scope(|scope| {
        let callers: Vec<_> = (0..4).map(|_| scope.spawn(|| frames(&engine, &crowd, 10))).collect();
        for caller in callers {
            assert!(caller.join().unwrap() == expected);
        }
    });
}

#[test]
fn an_engine_poses_inside_a_pool_of_its_caller() {
    let (library, crowd) = many_skeletons(40, 2000);
    let engine = CpuEngine::with_threads(&library, 2).unwrap();
    let expected = frames(&CpuEngine::with_threads(&library, 1).unwrap(), &crowd, 10);
    let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // More tasks than threads: a thread that waits for the engine may begin another task.
    let found: Vec<_> = pool.install(|| {
        let mut found = vec![Vec::new(); 6];
        rayon_core::scope(|scope| {
            for found in &mut found {
                scope.spawn(|_| *found = frames(&engine, &crowd, 10));
            }
        });
        found
    });
    assert!(found.iter().all(|found| *found == expected));
}

#[test]
fn instances_of_mixed_clips_keep_their_poses() {
    let library = demo::library().unwrap();
    let mixed = demo::crowd(&library, 300).unwrap();
    let engine = CpuEngine::with_threads(&library, 2).unwrap();
    let now = Ticks::from_seconds(2.5);
    let mut posed = engine.crowd(&mixed, Outputs::ALL).unwrap();
    engine.pose(&mut posed, now);
    for instance in 0..mixed.len() {
        let alone = engine.query(&mixed, instance, now, Outputs::ALL).unwrap();
        assert_eq!(engine.read(&posed, instance, Outputs::ALL), alone, "instance {instance}");
    }
    let batches = posed.batches();
    let clips = batches.iter().map(|batch| {
        let clips: Vec<_> = batch.instances.iter().map(|&instance| mixed.layers(instance)[0].clip).collect();
        assert!(clips.is_sorted(), "instances of one clip follow one another");
        clips.len()
    });
    assert_eq!(clips.sum::<usize>(), mixed.len());
}

/// Rigs with keys beyond the caches of a core, and a crowd that mixes instances of one layer, of two, and of one that a
/// parameter drives.
fn large_keys() -> (Library, Crowd) {
    let mut library = Library::new();
    for skeleton in 0..9 {
        // The matrices of the largest rig are written instance by instance, and its rows of keys are longer than what
        // is asked for at once.
        demo::add_rig(&mut library, if skeleton == 3 { 300 } else { 40 }, 60, 7).unwrap();
        let clip = library.clips()[library.clips().len() - 1].clone();
        library.add_clip(demo::shifted_clip(&clip, 1).unwrap()).unwrap();
    }
    let clips: Vec<_> = library.clip_ids().collect();
    let mut crowd = Crowd::new();
    for instance in 0..1200 {
        let skeleton = instance * 7 % 9;
        let clip = clips[2 * skeleton + instance / 9 % 2];
        let playing = |clip| {
            Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(-9973 * instance as i64), 1.0)))
        };
        let layers = match skeleton % 3 {
            1 => vec![playing(clip)],
            0 => vec![playing(clip), Layer { weight: 0.5, ..playing(clips[2 * skeleton]) }],
            _ => vec![Layer::new(clip, LayerTime::Phase { parameter: 0, wrap: WrapMode::Loop })],
        };
        let index = crowd.push(library.clip(clip).skeleton, &layers).unwrap();
        if skeleton % 3 == 2 {
            crowd.set_parameters(index, vec![Parameter::new(vec![[0.0, 0.003 * instance as f64]]).unwrap()]).unwrap();
        }
    }
    (library, crowd)
}

#[test]
fn keys_that_are_loaded_ahead_are_those_of_the_instances() {
    let (library, crowd) = large_keys();
    let now = Ticks::from_seconds(0.7);
    for threads in [1, 3] {
        let engine = CpuEngine::with_threads(&library, threads).unwrap();
        let mut posed = engine.crowd(&crowd, Outputs::ALL).unwrap();
        engine.pose(&mut posed, now);
        for instance in 0..crowd.len() {
            let alone = engine.query(&crowd, instance, now, Outputs::ALL).unwrap();
            assert_eq!(engine.read(&posed, instance, Outputs::ALL), alone, "{threads} threads, instance {instance}");
        }
    }
}

#[test]
fn an_empty_crowd_is_posed_by_any_number_of_threads() {
    let library = demo::library().unwrap();
    for threads in [1, 2, 7] {
        let engine = CpuEngine::with_threads(&library, threads).unwrap();
        let mut posed = engine.crowd(&Crowd::new(), Outputs::ALL).unwrap();
        engine.pose(&mut posed, Ticks(1));
        assert!(posed.batches().iter().all(|batch| batch.instances.is_empty()));
    }
}
