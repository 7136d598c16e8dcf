use posse::gpu::VisibleInstance;
use posse::{Layer, LayerTime, Outputs, Playback, Ticks, WrapMode, demo};

use super::{ALL, Stage, VISIBLE, branches};
use crate::gpu::{NOW, only_clip};

/// The tick of a frame.
fn tick(frame: i64) -> Ticks {
    Ticks(NOW.0 + 40_001 * frame)
}

/// Runs 8 frames. After each, asserts that every instance holds the pose of the last frame in which it was due.
fn assert_posed_when_due(stage: &Stage, first_number: u32, update_interval: impl Fn(usize) -> u64) {
    stage.write_sentinel();
    let instances = stage.crowd.len();
    let mut last_due = vec![None; instances];
    for frame in 0..8 {
        let number = first_number.wrapping_add(frame as u32);
        for (instance, last_due) in last_due.iter_mut().enumerate() {
            let (_, slot) = stage.on_gpu.find(instance);
            // The number wraps at a multiple of 2 and 4, and the slots are small, so the interval stays even across the
            // wrap.
            if (u64::from(number) + slot as u64).is_multiple_of(update_interval(instance)) {
                *last_due = Some(tick(frame));
            }
        }
        stage.run_frame(tick(frame), number);
        stage.assert_holds(|instance| last_due[instance]);
    }
    assert!(last_due.iter().all(Option::is_some), "each instance was due within 8 frames");
}

#[test]
fn an_instance_is_posed_every_second_or_fourth_frame() {
    // One workgroup per instance, many instances per workgroup, matrices in storage; with one layer and with two.
    for (joints, instances) in [(60, 24), (3, 50), (300, 8)] {
        for mixes in [false, true] {
            let library = branches(joints, 7);
            let mut crowd = only_clip(&library, instances);
            if mixes {
                let skeleton = crowd.skeleton(0);
                let clip = library.clip_ids().next().unwrap();
                let other = Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(5), 1.5)));
                crowd.push(skeleton, &[Layer { weight: 0.4, ..crowd.layers(0)[0] }, other]).unwrap();
            }
            let stage = Stage::new(library, crowd, Outputs::ALL, VISIBLE);
            let update_interval = |instance: usize| [2, 4, 4, 1][instance / 4 % 4];
            stage.list_instances(|instance| Some((ALL, update_interval(instance) as u32)));
            for first_number in [0, 5, u32::MAX - 3] {
                assert_posed_when_due(&stage, first_number, update_interval);
            }
        }
    }
}

#[test]
fn any_update_interval_is_kept() {
    let library = demo::rig(20, 3, 4).unwrap();
    let crowd = only_clip(&library, 30);
    let stage = Stage::new(library, crowd, Outputs::SKIN, VISIBLE);
    let update_interval = |instance: usize| [1, 3, 5, 7, 8][instance % 5];
    stage.list_instances(|instance| Some((ALL, update_interval(instance) as u32)));
    stage.write_sentinel();
    let mut last_due = [None; 30];
    for frame in 0..8 {
        for (instance, last_due) in last_due.iter_mut().enumerate() {
            if (1000 + frame as usize + instance).is_multiple_of(update_interval(instance)) {
                *last_due = Some(tick(frame));
            }
        }
        stage.run_frame(tick(frame), 1000 + frame as u32);
        stage.assert_holds(|instance| last_due[instance]);
    }
    // An interval of 0 counts as 1, and the largest is due once in 2^32 frames.
    stage.list_instances(|instance| Some((ALL, [0, u32::MAX][instance % 2])));
    stage.write_sentinel();
    stage.run_frame(NOW, 1000);
    stage.assert_holds(|instance| (instance % 2 == 0).then_some(NOW));
}

#[test]
fn the_load_is_even_from_frame_to_frame() {
    let library = demo::rig(20, 3, 4).unwrap();
    let crowd = only_clip(&library, 40);
    let outputs = Outputs { local: true, ..Outputs::NONE };
    let stage = Stage::new(library, crowd, outputs, VISIBLE);
    for update_interval in [2, 4] {
        stage.list_instances(|_| Some((ALL, update_interval)));
        for number in 0..5 {
            stage.write_sentinel();
            stage.run_frame(NOW, number);
            let numbers = stage.read().remove(0).local;
            let posed = numbers.chunks(numbers.len() / 40).filter(|local| local[0] != super::SENTINEL).count();
            assert_eq!(posed, 40 / update_interval as usize);
        }
    }
}

#[test]
fn an_instance_listed_several_times_is_due_if_one_entry_is() {
    let library = demo::rig(20, 3, 4).unwrap();
    let crowd = only_clip(&library, 6);
    let stage = Stage::new(library, crowd, Outputs::ALL, VISIBLE);
    // Slot 1 is due in each odd frame by one entry, and in each frame by the other. Slot 2 is due in none of these
    // frames.
    let entry = |slot, update_interval| VisibleInstance { slot, joints: ALL, update_interval };
    stage.list(&stage.on_gpu.batches()[0], 4, &[entry(1, 2), entry(1, 1), entry(2, 4), entry(2, 4)]);
    for number in [0, 1] {
        stage.write_sentinel();
        stage.run_frame(NOW, number);
        stage.assert_holds(|instance| (instance == 1).then_some(NOW));
    }
}
