use posse::{CrowdOptions, Library, Outputs, Poses, SkinFormat, Step, Ticks, demo};

use super::{ALL, Stage, branches};
use crate::gpu::{NOW, assert_right, only_clip};
use crate::support::each_engine::read_mapped;

const PREVIOUS: CrowdOptions = CrowdOptions { previous_skin: true, ..CrowdOptions::NONE };
const BOTH: CrowdOptions = CrowdOptions { visible: true, ..PREVIOUS };

fn tick(frame: i64) -> Ticks {
    Ticks(NOW.0 + 40_001 * frame)
}

fn step(from: i64, to: i64) -> Step {
    Step { from: tick(from), to: tick(to) }
}

/// The skin matrices of the only batch of a stage: the previous ones, and the present ones.
fn skins(stage: &Stage) -> [Vec<f32>; 2] {
    let batch = &stage.on_gpu.batches()[0];
    let (device, queue) = (stage.device(), stage.queue());
    let mut encoder = device.create_command_encoder(&Default::default());
    let copies = [batch.previous_skin().unwrap(), batch.skin().unwrap()].map(|buffer| {
        let copy = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        copy
    });
    queue.submit([encoder.finish()]);
    copies.map(|copy| bytemuck::pod_collect_to_vec(&read_mapped(device, &copy)))
}

/// Asserts that the present skin matrices are the matrices of a tick.
#[track_caller]
fn assert_present(stage: &Stage, now: Ticks) {
    let poses = Poses { instances: (0..stage.crowd.len()).map(|instance| stage.pose(instance)).collect() };
    assert_right(&stage.library, &stage.crowd, now, stage.outputs, &poses);
}

#[test]
fn previous_matrices_are_those_of_the_previous_step_except_after_a_cut() {
    for joints in [3, 40, 300] {
        let library = branches(joints, 7);
        let crowd = only_clip(&library, 9);
        let stage = Stage::new(library, crowd, Outputs::SKIN, PREVIOUS);
        let encode = |step: Step| {
            let mut encoder = stage.device().create_command_encoder(&Default::default());
            stage.on_gpu.encode(&mut encoder, step);
            stage.queue().submit([encoder.finish()]);
            assert_present(&stage, step.to);
            skins(&stage)
        };
        // The first frame has no previous frame.
        let [previous, first] = encode(step(0, 0));
        assert_eq!(previous, first);
        let [previous, second] = encode(step(0, 1));
        assert_eq!(previous, first);
        assert_ne!(second, first);
        let [previous, third] = encode(step(1, 2));
        assert_eq!(previous, second);
        // A cut to another time, and one step from there.
        let [previous, cut] = encode(step(100, 100));
        assert_eq!(previous, cut);
        assert_ne!(cut, third);
        let [previous, _] = encode(step(100, 101));
        assert_eq!(previous, cut);
    }
}

#[test]
fn instances_that_are_not_posed_stand_still() {
    let library = branches(40, 7);
    let crowd = only_clip(&library, 16);
    let stage = Stage::new(library, crowd, Outputs::SKIN, BOTH);
    // The first four are not listed. The next four are due every second frame, then four every fourth frame, and the
    // last four in every frame.
    let update_interval = |instance: usize| [0, 2, 4, 1][instance / 4];
    let is_due = |instance: usize, frame: i64| {
        update_interval(instance) > 0 && (frame as usize + instance).is_multiple_of(update_interval(instance))
    };
    let mut encoder = stage.device().create_command_encoder(&Default::default());
    stage.on_gpu.encode(&mut encoder, tick(0));
    stage.queue().submit([encoder.finish()]);
    stage.list_instances(|instance| (instance >= 4).then_some((ALL, update_interval(instance) as u32)));
    let [_, mut last] = skins(&stage);
    let mut last_due = [tick(0); 16];
    for frame in 1..9 {
        stage.run_frame(step(frame - 1, frame), frame as u32);
        let [previous, present] = skins(&stage);
        assert_eq!(previous, last, "the matrices before frame {frame}");
        let stride = present.len() / 16;
        for (instance, (before, after)) in previous.chunks(stride).zip(present.chunks(stride)).enumerate() {
            assert_eq!(before != after, is_due(instance, frame), "instance {instance} in frame {frame}");
            if is_due(instance, frame) {
                last_due[instance] = tick(frame);
            }
        }
        stage.assert_holds(|instance| Some(last_due[instance]));
        last = present;
    }
    // After a cut no instance moves, including instances that are not posed.
    stage.run_frame(tick(50), 0);
    let [previous, present] = skins(&stage);
    assert_eq!(previous, present);
    assert_ne!(present, last);
}

#[test]
fn packed_matrices_are_kept_like_full_ones() {
    for format in [SkinFormat::HalfMatrix, SkinFormat::DualQuaternion] {
        let mut library = Library::new();
        demo::add_uniform_rig(&mut library, 64, 3, 10).unwrap();
        let crowd = only_clip(&library, 10);
        let stage = Stage::new(library, crowd, Outputs::SKIN.with_skin_format(format), BOTH);
        let mut encoder = stage.device().create_command_encoder(&Default::default());
        stage.on_gpu.encode(&mut encoder, tick(0));
        stage.queue().submit([encoder.finish()]);
        let words =
            |stage: &Stage| skins(stage).map(|skin| skin.iter().map(|word| word.to_bits()).collect::<Vec<u32>>());
        let [previous, first] = words(&stage);
        assert_eq!(previous, first);
        assert_eq!(first.len(), 10 * 64 * 6);
        stage.list_instances(|instance| (instance % 2 == 0).then_some((ALL, 1)));
        stage.run_frame(step(0, 1), 1);
        let [previous, second] = words(&stage);
        assert_eq!(previous, first);
        for (instance, (before, after)) in first.chunks(64 * 6).zip(second.chunks(64 * 6)).enumerate() {
            assert_eq!(before != after, instance % 2 == 0, "{format:?}, instance {instance}");
        }
        stage.assert_holds(|instance| Some(tick(i64::from(instance % 2 == 0))));
    }
}

#[test]
fn two_steps_in_one_submission_keep_the_matrices_of_the_first() {
    let library = branches(40, 7);
    let crowd = only_clip(&library, 5);
    let stage = Stage::new(library, crowd, Outputs::SKIN, PREVIOUS);
    let mut encoder = stage.device().create_command_encoder(&Default::default());
    stage.on_gpu.encode(&mut encoder, tick(0));
    stage.on_gpu.encode(&mut encoder, step(0, 1));
    stage.queue().submit([encoder.finish()]);
    let [previous, present] = skins(&stage);
    assert_present(&stage, tick(1));
    let mut encoder = stage.device().create_command_encoder(&Default::default());
    stage.on_gpu.encode(&mut encoder, tick(0));
    stage.queue().submit([encoder.finish()]);
    assert_present(&stage, tick(0));
    let [_, alone] = skins(&stage);
    assert_eq!(previous, alone);
    assert_ne!(previous, present);
}

#[test]
fn previous_matrices_exist_only_if_they_are_requested() {
    let library = demo::rig(5, 3, 2).unwrap();
    let crowd = only_clip(&library, 2);
    let find_size = |outputs, options| {
        let stage = Stage::new(library.clone(), crowd.clone(), outputs, options);
        stage.on_gpu.batches()[0].previous_skin().map(wgpu::Buffer::size)
    };
    assert_eq!(find_size(Outputs::ALL, PREVIOUS), Some(2 * 5 * 48));
    assert_eq!(find_size(Outputs { skin: false, ..Outputs::ALL }, PREVIOUS), None);
    assert_eq!(find_size(Outputs::ALL, CrowdOptions::default()), None);
}
