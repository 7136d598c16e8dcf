use posse::gpu::{GpuCrowd, GpuEngine, VisibleInstance};
use posse::transitions::{Fade, FadeShape};
use posse::{
    AdditiveReference, ClipId, Crowd, CrowdOptions, Error, Layer, LayerMode, LayerTime, Library, Mixing, Outputs,
    Poses, Refusal, SkeletonId, Ticks, demo,
};

use super::{NOW, assert_right, engine, play};
use crate::support::refusal::refusal;

/// A library of a rig with one clip, its skeleton and its clip.
fn rig() -> (Library, SkeletonId, ClipId) {
    let library = demo::rig(20, 30, 4).unwrap();
    let (skeleton, clip) = (library.skeleton_ids().next().unwrap(), library.clip_ids().next().unwrap());
    (library, skeleton, clip)
}

fn crowd_of(skeleton: SkeletonId, instances: usize, layers: &dyn Fn(usize) -> Vec<Layer>) -> Crowd {
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        crowd.push(skeleton, &layers(instance)).unwrap();
    }
    crowd
}

fn at(clip: ClipId, time: f64, weight: f64) -> Layer {
    Layer { weight, ..Layer::new(clip, LayerTime::At(time)) }
}

/// Asserts that a crowd on the GPU has the poses that the reference gives for a CPU crowd.
#[track_caller]
fn assert_poses(engine: &GpuEngine, library: &Library, on_gpu: &GpuCrowd, crowd: &Crowd) {
    let poses = play(engine, on_gpu, crowd.len(), NOW, Outputs::ALL);
    assert_right(library, crowd, NOW, Outputs::ALL, &poses);
}

#[test]
fn layers_are_replaced_in_place_or_all_are_refused() {
    let (library, skeleton, clip) = rig();
    let engine = engine(&library);
    let gpu_crowd = |crowd: &Crowd| GpuCrowd::new(engine.library(), crowd, Outputs::ALL).unwrap();
    let set = |on_gpu: &GpuCrowd, crowd: &Crowd| refusal(on_gpu.set_layers(engine.library(), crowd));
    let crowd = |instances, layers: &dyn Fn(usize) -> Vec<Layer>| crowd_of(skeleton, instances, layers);
    let at = |time, weight| at(clip, time, weight);
    let plain = |from: f64| crowd(9, &move |instance| vec![at(from + 0.1 * instance as f64, 1.0)]);
    let on_gpu = gpu_crowd(&plain(0.0));
    let others = plain(0.35);
    assert_eq!(set(&on_gpu, &others), None);
    let poses = play(&engine, &on_gpu, others.len(), NOW, Outputs::ALL);
    assert_right(&library, &others, NOW, Outputs::ALL, &poses);
    // Fewer instances, more layers, and a weight that must be blended: each would need another GPU crowd.
    let two = crowd(9, &|_| vec![at(0.1, 0.5), at(0.2, 0.5)]);
    let some_faint = crowd(9, &|instance| vec![at(0.1, if instance < 4 { 1.0 } else { 0.05 })]);
    let more_mixing = |instance, needed, capacity| Refusal::MoreMixing { instance, needed, capacity };
    for (unfit, expected) in [
        (&crowd(8, &|_| vec![at(0.1, 1.0)]), Refusal::OtherInstances),
        (&two, Refusal::MoreLayers { instance: 0, needed: 2, capacity: 1 }),
        (&some_faint, more_mixing(4, Mixing::Blend, Mixing::None)),
    ] {
        assert_eq!(set(&on_gpu, unfit), Some(expected));
    }
    let same = play(&engine, &on_gpu, others.len(), NOW, Outputs::ALL);
    assert_eq!(same, poses, "refused layers change nothing");
    // A crowd made for blending accepts any weight, but no other mode.
    let mixing = gpu_crowd(&two);
    let others = crowd(9, &|instance| vec![at(0.3, 0.1 * instance as f64), at(0.6, 0.03)]);
    assert_eq!(set(&mixing, &others), None);
    let over = crowd(9, &|_| vec![at(0.3, 1.0), Layer { mode: LayerMode::Override, ..at(0.6, 0.5) }]);
    assert_eq!(set(&mixing, &over), Some(more_mixing(0, Mixing::Any, Mixing::Blend)));
    assert_poses(&engine, &library, &mixing, &others);
    // Fewer layers than the crowd has room for, and no layers.
    let fewer = crowd(9, &|instance| vec![at(0.3, 1.0); instance % 3 % 2]);
    assert_eq!(set(&mixing, &fewer), None);
    assert_poses(&engine, &library, &mixing, &fewer);
}

#[test]
fn instances_with_different_mixing_are_in_different_batches() {
    let (library, skeleton, clip) = rig();
    let over = |time| Layer { mode: LayerMode::Override, ..at(clip, time, 0.5) };
    let crowd = crowd_of(skeleton, 10, &|instance| {
        let time = 0.1 * instance as f64;
        match instance % 5 {
            0 => vec![at(clip, time, 1.0), at(clip, 0.3, 0.5)],
            1 => vec![at(clip, time, 1.0), at(clip, 0.3, 0.5), over(0.7)],
            2 => vec![],
            _ => vec![at(clip, time, 1.0)],
        }
    });
    // The batches by kernel: plain, blended, all others.
    let expected = [vec![2, 3, 4, 7, 8, 9], vec![0, 5], vec![1, 6]];
    let engine = engine(&library);
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    assert!(on_gpu.batches().iter().map(|batch| batch.instances()).eq(expected.iter().map(Vec::as_slice)));
    assert_poses(&engine, &library, &on_gpu, &crowd);
    // Each instance has the room of its batch.
    let two = [at(clip, 0.3, 0.5), at(clip, 0.6, 0.5)];
    let set = |on_gpu: &GpuCrowd, instance| refusal(on_gpu.set_instance(engine.library(), instance, &two));
    assert_eq!(set(&on_gpu, 3), Some(Refusal::MoreLayers { instance: 3, needed: 2, capacity: 1 }));
    assert_eq!([0, 1].map(|instance| set(&on_gpu, instance)), [None; 2]);
    // With room for all layers and modes, all instances are in one batch.
    let options = CrowdOptions { layers: 2, mixing: Mixing::Any, ..CrowdOptions::default() };
    let with_room = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
    assert_eq!(with_room.batches().len(), 1);
    assert_eq!(set(&with_room, 3), None);
    let mut changed = crowd.clone();
    changed.set(3, skeleton, &two).unwrap();
    assert_poses(&engine, &library, &with_room, &changed);
}

#[test]
fn a_crowd_of_single_layers_with_room_accepts_more_layers() {
    let (library, skeleton, clip) = rig();
    let at = |time, weight| at(clip, time, weight);
    let plain = crowd_of(skeleton, 9, &|instance| vec![at(0.1 * instance as f64, 1.0)]);
    let fade = Fade { start: Ticks(NOW.0 - 300), length: Ticks(1000), shape: FadeShape::Smooth };
    let faded = crowd_of(skeleton, 9, &|instance| {
        vec![at(0.3, 1.0), Layer { fade_in: Some(fade), ..at(0.1 * instance as f64, 1.0) }]
    });
    let over = crowd_of(skeleton, 9, &|instance| {
        let mode = [LayerMode::Override, LayerMode::Additive(AdditiveReference::First)][instance % 2];
        vec![at(0.3, 1.0), Layer { mode, ..at(0.1 * instance as f64, 0.4) }, at(0.5, 0.7)]
    });
    let four = crowd_of(skeleton, 9, &|_| vec![at(0.1, 1.0); 4]);
    let refuse = |capacity| Some(Refusal::MoreLayers { instance: 0, needed: 4, capacity });
    let more_mixing = Some(Refusal::MoreMixing { instance: 0, needed: Mixing::Any, capacity: Mixing::Blend });
    let engine = engine(&library);
    for (layers, mixing, mixed, too_many) in [
        (3, Mixing::None, more_mixing, refuse(3)),
        (3, Mixing::Any, None, refuse(3)),
        (4, Mixing::Any, None, None),
        // No instance can have more than eight layers.
        (99, Mixing::Blend, more_mixing, None),
    ] {
        let options = CrowdOptions { layers, mixing, ..CrowdOptions::default() };
        let on_gpu = GpuCrowd::with_options(engine.library(), &plain, Outputs::ALL, options).unwrap();
        assert_poses(&engine, &library, &on_gpu, &plain);
        for (crowd, expected) in [(&faded, None), (&over, mixed), (&four, too_many), (&plain, None)] {
            assert_eq!(refusal(on_gpu.set_layers(engine.library(), crowd)), expected, "{options:?}");
            if expected.is_none() {
                assert_poses(&engine, &library, &on_gpu, crowd);
            }
        }
    }
}

#[test]
fn one_instance_gets_other_layers_and_the_others_keep_theirs() {
    // Instances of two skeletons alternate, so that the slot of an instance is not its index.
    let mut library = demo::rig(20, 30, 4).unwrap();
    let other = demo::add_uniform_rig(&mut library, 7, 5, 3).unwrap();
    let clip_of = |skeleton| library.clip_ids().find(|&clip| library.clip(clip).skeleton == skeleton).unwrap();
    let skeletons = [library.skeleton_ids().next().unwrap(), other];
    let clips = skeletons.map(clip_of);
    let mut crowd = Crowd::new();
    for instance in 0..11 {
        crowd.push(skeletons[instance % 2], &[at(clips[instance % 2], 0.1 * instance as f64, 1.0)]).unwrap();
    }
    let engine = engine(&library);
    let mut crowd = crowd.clone();
    let options = CrowdOptions { layers: 3, ..CrowdOptions::default() };
    let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
    let set = |instance: usize, layers: &[Layer]| on_gpu.set_instance(engine.library(), instance, layers);
    for instance in [7, 2, 10, 0, 7] {
        let clip = clips[instance % 2];
        // No layer, one, two or three layers.
        let layers = &[at(clip, 0.7, 0.5), at(clip, 0.2, 1.0), at(clip, 0.4, 2.0)][..instance % 4];
        set(instance, layers).unwrap();
        crowd.set(instance, skeletons[instance % 2], layers).unwrap();
        assert_poses(&engine, &library, &on_gpu, &crowd);
    }
    // Several at once, neighbours in a batch and others; of two entries for an instance, the last counts.
    let lists = [(9, 0.1), (1, 0.2), (3, 0.3), (4, 0.4), (9, 0.5)]
        .map(|(instance, time)| (instance, [at(clips[instance % 2], time, 1.0)]));
    let entries = lists.each_ref().map(|(instance, layers)| (*instance, &layers[..]));
    on_gpu.set_instances(engine.library(), &entries).unwrap();
    for (instance, layers) in &lists {
        crowd.set(*instance, skeletons[instance % 2], layers).unwrap();
    }
    assert_poses(&engine, &library, &on_gpu, &crowd);
    // Layers that do not fit, that the library does not have, or that no crowd accepts, change nothing.
    let before = play(&engine, &on_gpu, crowd.len(), NOW, Outputs::ALL);
    let over = Layer { mode: LayerMode::Override, ..at(clips[1], 0.5, 1.0) };
    let more_mixing = Refusal::MoreMixing { instance: 3, needed: Mixing::Any, capacity: Mixing::Blend };
    assert_eq!(refusal(set(3, &[at(clips[1], 0.5, 1.0), over])), Some(more_mixing));
    let four = [at(clips[1], 0.5, 1.0); 4];
    let more_layers = Refusal::MoreLayers { instance: 3, needed: 4, capacity: 3 };
    assert_eq!(refusal(set(3, &four)), Some(more_layers));
    let entries = [(1, &four[..1]), (3, &four[..])];
    let second = refusal(on_gpu.set_instances(engine.library(), &entries));
    assert_eq!(second, Some(more_layers), "the first fits");
    for (instance, layer, reason) in [
        (11, at(clips[1], 0.5, 1.0), "there is no instance 11; the crowd has 11"),
        (3, at(clips[0], 0.5, 1.0), "but the instance uses skeleton"),
        (3, at(clips[1], f64::NAN, 1.0), "finite"),
    ] {
        let error = set(instance, &[layer]).unwrap_err();
        assert!(matches!(&error, Error::Instance { instance: found, .. } if *found == instance), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert!(matches!(set(3, &[at(clips[1], 0.5, 1.0); 9]), Err(Error::Limit { needed: 9, .. })));
    assert_eq!(play(&engine, &on_gpu, crowd.len(), NOW, Outputs::ALL), before);
}

#[test]
fn an_instance_missing_from_the_lists_is_not_posed_until_its_slot_is_used_again() {
    let (library, skeleton, clip) = rig();
    let crowd = crowd_of(skeleton, 5, &|instance| vec![at(clip, 0.1 * instance as f64, 1.0)]);
    let engine = engine(&library);
    let (device, queue) = (&engine.gpu().device, &engine.gpu().queue);
    let options = CrowdOptions { visible: true, ..CrowdOptions::default() };
    let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
    let local = |instance| engine.read_instance(&on_gpu, instance, Outputs::ALL).unwrap().local;
    let draw = |places: &[u32]| {
        let entries: Vec<VisibleInstance> =
            places.iter().map(|&slot| VisibleInstance { slot, joints: u32::MAX, update_interval: 1 }).collect();
        let list = on_gpu.batches()[0].visible().unwrap();
        queue.write_buffer(list, 0, bytemuck::bytes_of(&(entries.len() as u32)));
        queue.write_buffer(list, 4, bytemuck::cast_slice(&entries));
        let mut encoder = device.create_command_encoder(&Default::default());
        on_gpu.encode_visible(&mut encoder, NOW, 0);
        queue.submit([encoder.finish()]);
    };
    draw(&[0, 1, 2, 3, 4]);
    let last = local(3);
    // Instance 3 is not posed any more, with any layers; the others are.
    on_gpu.set_instance(engine.library(), 3, &[at(clip, 0.65, 1.0)]).unwrap();
    draw(&[0, 1, 2, 4]);
    assert_eq!(local(3), last);
    // A new instance uses the slot.
    draw(&[0, 1, 2, 3, 4]);
    let mut now = crowd.clone();
    now.set(3, skeleton, &[at(clip, 0.65, 1.0)]).unwrap();
    let read = |instance| engine.read_instance(&on_gpu, instance, Outputs::ALL).unwrap();
    let poses = Poses { instances: (0..5).map(read).collect() };
    assert_right(&library, &now, NOW, Outputs::ALL, &poses);
    assert_ne!(local(3), last);
}

#[test]
fn a_refusal_names_its_reason_and_a_hint() {
    let more_layers = Refusal::MoreLayers { instance: 7, needed: 3, capacity: 1 };
    let more_mixing = Refusal::MoreMixing { instance: 7, needed: Mixing::Any, capacity: Mixing::Blend };
    assert_eq!(
        more_layers.to_string(),
        "instance 7 has 3 layers, but the crowd has capacity for 1: set CrowdOptions::layers"
    );
    assert_eq!(
        more_mixing.to_string(),
        "instance 7 needs override and additive layers, but the crowd was made for blending: set CrowdOptions::mixing"
    );
    assert!(Refusal::OtherInstances.to_string().contains("make a new crowd"));
}
