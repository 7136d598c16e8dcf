use posse::curves::{Interpolation, Target, Track};
use posse::gpu::{GpuBatch, GpuCrowd, GpuEngine, VisibleInstance};
use posse::rig::Property;
use posse::{
    Clip, Crowd, CrowdOptions, Error, Layer, LayerTime, Library, Outputs, Playback, Poses, Skeleton, Ticks, WrapMode,
    demo,
};

use super::{ALL, Stage, VISIBLE, add, branches};
use crate::gpu::{NOW, assert_right, gpu_with_limits, only_clip, own_gpu, play};
use crate::support::build;
use crate::support::scenes::Numbers;

const LATER: Ticks = Ticks(NOW.0 + 333_333);

/// A culling kernel: instances stand on a line, and a camera sees those near it.
const CULL: &str = "
struct Entry { slot: u32, joints: u32, update_interval: u32 }
struct List { count: atomic<u32>, entries: array<Entry> }
@group(0) @binding(0) var<storage, read_write> list: List;
@group(0) @binding(1) var<storage, read> positions: array<i32>;
@group(0) @binding(2) var<storage, read> camera: i32;
@compute @workgroup_size(64)
fn run(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&positions) && abs(positions[id.x] - camera) < 300 {
        list.entries[atomicAdd(&list.count, 1u)] = Entry(id.x, 0xffffffffu, 1u);
    }
}";

/// The position of an instance on the line.
fn position(instance: usize) -> i32 {
    (instance as i32 * 619) % 1000
}

fn is_near(instance: usize, camera: i32) -> bool {
    (position(instance) - camera).abs() < 300
}

/// A crowd of skeletons for several kernels. One skeleton has no joints; instances of two have several layers.
fn mixed_crowd() -> (Library, Crowd) {
    let mut library = Library::new();
    let mut clips: Vec<_> =
        [branches(3, 2), branches(40, 7), branches(130, 20), branches(300, 31), demo::library().unwrap()]
            .iter()
            .map(|other| add(&mut library, other))
            .collect();
    let property = Property { name: "/alone".into(), rest: vec![0.25; 3], rotation: false };
    let bodiless = library.add_skeleton(Skeleton::new(None, Vec::new(), vec![property]).unwrap());
    let curve = build::curve(Interpolation::Linear, 3, &[0.0, 2.0], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let track = Track::new(Target::Property(0), curve);
    clips.push(library.add_clip(Clip::new(None, bodiless, vec![track])).unwrap());
    let mut numbers = Numbers::new(3);
    let mut crowd = Crowd::new();
    for instance in 0..180 {
        let clip = clips[instance % clips.len()];
        let start = Ticks(numbers.ticks_below(1 << 30));
        let layer =
            Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start, numbers.within(0.5, 2.0))));
        let mixes = instance % clips.len() == 1 || instance % clips.len() == 3;
        let more = Layer { weight: 0.5, time: LayerTime::At(0.3), ..layer };
        let layers = [layer, more];
        crowd.push(library.clip(clip).skeleton, &layers[..if mixes { 2 } else { 1 }]).unwrap();
    }
    (library, crowd)
}

/// Records the culling pass for a camera.
fn encode_culling(stage: &Stage, encoder: &mut wgpu::CommandEncoder, camera: i32) {
    let device = stage.device();
    let cull = super::Kernel::new(device, CULL);
    let upload = |numbers: &[i32]| {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4 * numbers.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        stage.queue().write_buffer(&buffer, 0, bytemuck::cast_slice(numbers));
        buffer
    };
    for batch in stage.on_gpu.batches() {
        let positions: Vec<i32> = batch.instances().iter().map(|&instance| position(instance)).collect();
        let list = batch.visible().unwrap();
        encoder.clear_buffer(list, 0, Some(4));
        let groups = positions.len().div_ceil(64) as u32;
        cull.encode(device, encoder, &[list, &upload(&positions), &upload(&[camera])], groups);
    }
}

#[test]
fn a_culling_pass_on_the_gpu_chooses_the_posed_instances() {
    let (library, crowd) = mixed_crowd();
    let stage = Stage::new(library, crowd, Outputs::ALL, VISIBLE);
    stage.write_sentinel();
    let mut encoder = stage.device().create_command_encoder(&Default::default());
    encode_culling(&stage, &mut encoder, 200);
    stage.on_gpu.encode_visible(&mut encoder, NOW, 0);
    stage.queue().submit([encoder.finish()]);
    stage.assert_holds(|instance| is_near(instance, 200).then_some(NOW));
}

#[test]
fn two_culled_frames_share_a_submission() {
    let (library, crowd) = mixed_crowd();
    let stage = Stage::new(library, crowd, Outputs::ALL, VISIBLE);
    stage.write_sentinel();
    let mut encoder = stage.device().create_command_encoder(&Default::default());
    for (number, (now, camera)) in (0..).zip([(NOW, 100), (LATER, 500)]) {
        encode_culling(&stage, &mut encoder, camera);
        stage.on_gpu.encode_visible(&mut encoder, now, number);
    }
    stage.queue().submit([encoder.finish()]);
    let tick = |instance| match (is_near(instance, 100), is_near(instance, 500)) {
        (_, true) => Some(LATER),
        (true, false) => Some(NOW),
        (false, false) => None,
    };
    stage.assert_holds(tick);
}

#[test]
fn lists_with_errors_do_no_harm() {
    // A workgroup holds 48 instances of the small rig, or one of the large rig, whose matrices are computed in the
    // output buffer.
    for (joints, instances) in [(2, 48), (300, 5)] {
        let library = branches(joints, 10);
        let crowd = only_clip(&library, instances);
        for outputs in [Outputs::ALL, Outputs::SKIN] {
            let stage = Stage::new(library.clone(), crowd.clone(), outputs, VISIBLE);
            let batch = &stage.on_gpu.batches()[0];
            let all = instances as u32;
            let entry = |slot: u32| VisibleInstance { slot, joints: ALL, update_interval: 0 };
            let every_entry: Vec<VisibleInstance> = (0..all).map(entry).collect();
            // Entries that an earlier list has left are beyond the count.
            let cases: [(&str, u32, Vec<VisibleInstance>, Vec<usize>); 7] = [
                ("all", all, every_entry.clone(), (0..instances).collect()),
                ("none, although entries are there", 0, every_entry.clone(), vec![]),
                ("the first two", 2, every_entry.clone(), vec![0, 1]),
                (
                    "a count beyond the list",
                    u32::MAX,
                    every_entry.iter().rev().copied().collect(),
                    (0..instances).collect(),
                ),
                ("one beyond", all + 1, every_entry, (0..instances).collect()),
                ("slots beyond the batch", 4, [all, u32::MAX, 3, 1 << 31].map(entry).into(), vec![3]),
                ("one slot again and again", u32::MAX, vec![entry(4); instances], vec![4]),
            ];
            for (what, count, entries, posed) in cases {
                stage.write_sentinel();
                stage.list(batch, count, &entries);
                stage.run_frame(NOW, 7);
                println!("{what}, {joints} joints");
                stage.assert_holds(|instance| posed.contains(&instance).then_some(NOW));
            }
        }
    }
}

#[test]
fn an_instance_listed_often_is_posed_once() {
    // The matrices are computed in the output buffer, where two workgroups at once would multiply twice.
    let library = branches(300, 31);
    let crowd = only_clip(&library, 120);
    let stage = Stage::new(library, crowd, Outputs::ALL, VISIBLE);
    stage.list(&stage.on_gpu.batches()[0], 120, &[VisibleInstance { slot: 7, joints: ALL, update_interval: 1 }; 120]);
    for number in 0..5 {
        stage.write_sentinel();
        stage.run_frame(NOW, number);
        stage.assert_holds(|instance| (instance == 7).then_some(NOW));
    }
}

#[test]
fn a_list_begins_empty_and_is_kept_between_frames() {
    let library = branches(40, 7);
    let crowd = only_clip(&library, 20);
    let stage = Stage::new(library, crowd, Outputs::ALL, VISIBLE);
    stage.write_sentinel();
    stage.run_frame(NOW, 0);
    stage.assert_holds(|_| None);
    stage.list_instances(|instance| (instance % 3 == 1).then_some((ALL, 1)));
    for (number, now) in [(1, NOW), (2, LATER)] {
        stage.run_frame(now, number);
        stage.assert_holds(|instance| (instance % 3 == 1).then_some(now));
    }
    // A frame that does not use the list poses all instances.
    let poses = play(&stage.engine, &stage.on_gpu, 20, NOW, Outputs::ALL);
    assert_right(&stage.library, &stage.crowd, NOW, Outputs::ALL, &poses);
}

#[test]
fn a_crowd_without_lists_poses_all_instances() {
    let library = branches(40, 7);
    let crowd = only_clip(&library, 20);
    let stage = Stage::new(library, crowd, Outputs::ALL, CrowdOptions::default());
    let batch = &stage.on_gpu.batches()[0];
    assert!(batch.visible().is_none() && batch.previous_skin().is_none());
    stage.write_sentinel();
    stage.run_frame(NOW, 3);
    stage.assert_holds(|_| Some(NOW));
}

#[test]
fn each_batch_has_a_list() {
    let library = demo::library().unwrap();
    let crowd = demo::crowd(&library, 1000).unwrap();
    let limits =
        wgpu::Limits { max_buffer_size: 1 << 20, max_storage_buffer_binding_size: 1 << 20, ..wgpu::Limits::default() };
    let stage = Stage::on(gpu_with_limits(limits), library, crowd, Outputs::ALL, VISIBLE);
    assert_eq!(stage.on_gpu.batches().len(), 3);
    let room = |batch: &GpuBatch| batch.visible().unwrap().size() as usize;
    assert!(stage.on_gpu.batches().iter().all(|batch| room(batch) == 4 + 12 * batch.instances().len()));
    stage.write_sentinel();
    let visible = |instance: usize| instance % 10 == 3;
    stage.list_instances(|instance| visible(instance).then_some((ALL, 1)));
    stage.run_frame(NOW, 0);
    stage.assert_holds(|instance| visible(instance).then_some(NOW));
}

#[test]
fn a_dispatch_of_visible_instances_can_have_several_rows() {
    let limits = wgpu::Limits { max_compute_workgroups_per_dimension: 8, ..wgpu::Limits::default() };
    let gpu = gpu_with_limits(limits);
    // One workgroup per instance; then 64 instances per workgroup, with more entries than a row of the first kernel has
    // invocations; then 8 instances per workgroup.
    for (joints, instances, listed) in [
        (30, 60, vec![0, 1, 7, 8, 9, 16, 17, 59]),
        (1, 3000, vec![0, 64, 513, 2999]),
        (8, 300, vec![0, 1, 8, 9, 64, 65, 128, 299]),
    ] {
        let library = branches(joints, 7);
        let crowd = only_clip(&library, instances);
        let outputs = Outputs { local: true, ..Outputs::NONE };
        let stage = Stage::on(gpu.clone(), library, crowd, outputs, VISIBLE);
        assert_eq!(stage.on_gpu.batches().len(), 1);
        for count in listed {
            stage.write_sentinel();
            stage.list_instances(|instance| (instance < count).then_some((ALL, 1)));
            stage.run_frame(NOW, 0);
            let borders = [0, count.saturating_sub(1), count, instances - 1].map(|slot| slot.min(instances - 1));
            for instance in borders {
                if instance < count {
                    let poses = Poses { instances: vec![stage.pose(instance)] };
                    assert_right(&stage.library, &stage.part(&[instance]), NOW, outputs, &poses);
                } else {
                    stage.assert_untouched(instance);
                }
            }
        }
    }
}

#[test]
fn more_visible_workgroups_than_a_dimension_allows_are_run() {
    let library = demo::rig(30, 2, 1).unwrap();
    let instances = 66_000;
    let crowd = only_clip(&library, instances);
    let outputs = Outputs { local: true, ..Outputs::NONE };
    let stage = Stage::new(library, crowd, outputs, VISIBLE);
    assert_eq!(stage.on_gpu.batches().len(), 1);
    stage.write_sentinel();
    let is_hidden = |instance: usize| instance == 100 || instance == instances - 2;
    stage.list_instances(|instance| (!is_hidden(instance)).then_some((ALL, 0)));
    stage.run_frame(NOW, 0);
    let numbers = stage.read().remove(0).local;
    let stride = numbers.len() / instances;
    let untouched = numbers.chunks(stride).enumerate().filter(|(_, local)| local[0] == super::SENTINEL);
    assert_eq!(untouched.map(|(slot, _)| slot).collect::<Vec<_>>(), [100, instances - 2]);
    for instance in [0, 65_534, 65_535, 65_536, instances - 1] {
        let poses = Poses { instances: vec![stage.pose(instance)] };
        assert_right(&stage.library, &stage.part(&[instance]), NOW, outputs, &poses);
    }
}

#[test]
fn a_lost_device_is_reported_when_results_are_read() {
    let library = demo::rig(5, 3, 2).unwrap();
    let crowd = only_clip(&library, 4);
    let engine = GpuEngine::new(own_gpu(wgpu::Limits::default()), &library).unwrap();
    let device = engine.gpu().device.clone();
    let options = CrowdOptions { visible: true, previous_skin: true, ..CrowdOptions::NONE };
    let make = || GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options);
    let on_gpu = make().unwrap();
    engine.wait().unwrap();
    device.destroy();
    let mut encoder = device.create_command_encoder(&Default::default());
    on_gpu.encode_visible(&mut encoder, NOW, 0);
    engine.gpu().queue.submit([encoder.finish()]);
    assert!(matches!(engine.wait(), Err(Error::Device(_))));
    assert!(matches!(make(), Err(Error::Device(_))));
}
