use posse::gpu::{GpuCrowd, GpuEngine, VisibleInstance};
use posse::packed::PackedLibrary;
use posse::parameters::{BlendSpace, WeightDriver};
use posse::transitions::NewTransition;
use posse::{
    Crowd, CrowdOptions, Evaluator, Layer, LayerTime, Library, Mixing, Outputs, Playback, Poses, Reference, Refusal,
    SkeletonId, Step, Ticks, WrapMode, contract,
};

use super::{add_clip, constant, follower, rig, step, ticks};
use crate::support::gpu_library::gpu_engine_for;
use crate::support::refusal::refusal;

fn engine(library: &Library) -> GpuEngine {
    gpu_engine_for(PackedLibrary::new(library).unwrap()).unwrap()
}

/// Records a step, runs it and reads every instance.
fn play(engine: &GpuEngine, crowd: &GpuCrowd, instances: usize, step: Step) -> Poses {
    let mut encoder = engine.gpu().device.create_command_encoder(&Default::default());
    crowd.encode(&mut encoder, step);
    engine.gpu().queue.submit([encoder.finish()]);
    let read = |instance| engine.read_instance(crowd, instance, Outputs::ALL).unwrap();
    Poses { instances: (0..instances).map(read).collect() }
}

#[track_caller]
fn assert_right(library: &Library, crowd: &Crowd, step: Step, found: &Poses) {
    let expected = Reference::new(library).evaluate_step(crowd, step, Outputs::ALL).unwrap();
    let report = contract::compare(library, crowd, step, &expected, found);
    assert!(report.is_within(), "{step:?}: {:?}", report.quantities());
}

/// Instances of a phase, followers and a blend space, driven by three parameters.
pub(super) fn driven(instances: usize) -> (Library, SkeletonId, Crowd) {
    let (mut library, skeleton) = rig();
    let clips = [1, 2, 3].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], seed));
    let space = library.add_blend_space(BlendSpace::new(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).unwrap());
    let mut crowd = Crowd::new();
    for _ in 0..instances {
        let driver = |point| Some(WeightDriver::Point { space, parameters: [0, 1], point });
        let phase = LayerTime::Phase { parameter: 2, wrap: WrapMode::Loop };
        let leader = Layer { driver: driver(0), ..Layer::new(clips[0], phase) };
        let own = |point: usize| Layer { driver: driver(point), ..follower(clips[point]) };
        crowd.push(skeleton, &[leader, own(1), own(2)]).unwrap();
    }
    (library, skeleton, crowd)
}

/// The parameters of an instance in a frame.
fn values(instance: usize, frame: usize) -> [f32; 3] {
    [0.1 * instance as f32, 0.2 * frame as f32, 0.3 * frame as f32 + 0.07 * instance as f32]
}

/// Gives the instances of a crowd parameters that go from one frame to the next in a step.
fn set_values(crowd: &mut Crowd, frame: usize, step: Step) {
    for instance in 0..crowd.len() {
        let [before, now] = [frame - 1, frame].map(|frame| values(instance, frame));
        let [from, to] = [step.from, step.to].map(Ticks::to_seconds);
        let parameter = |index: usize| {
            posse::parameters::Parameter::new(vec![[from, before[index].into()], [to, now[index].into()]]).unwrap()
        };
        crowd.set_parameters(instance, [0, 1, 2].map(parameter).to_vec()).unwrap();
    }
}

#[test]
fn parameters_go_from_the_last_frame_to_this_one() {
    let (library, _, mut crowd) = driven(9);
    let engine = engine(&library);
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    assert_eq!((on_gpu.parameter_count(), on_gpu.batches()[0].parameter_count()), (3, 3));
    assert_eq!(on_gpu.batches()[0].parameters().unwrap().size(), 9 * 3 * 4);
    let mut all: Vec<f32> = (0..9).flat_map(|instance| values(instance, 0)).collect();
    on_gpu.set_all_parameters(&all).unwrap();
    play(&engine, &on_gpu, 9, Step { from: Ticks(0), to: Ticks(0) });
    for frame in 1..4 {
        let step = step(0.1 * (frame - 1) as f64, 0.1 * frame as f64);
        all = (0..9).flat_map(|instance| values(instance, frame)).collect();
        on_gpu.set_all_parameters(&all).unwrap();
        // One instance by itself.
        on_gpu.set_parameters(4, &values(4, frame)).unwrap();
        let found = play(&engine, &on_gpu, 9, step);
        set_values(&mut crowd, frame, step);
        assert_right(&library, &crowd, step, &found);
    }
    let more_parameters = Refusal::MoreParameters { instance: 2, needed: 4, capacity: 3 };
    assert_eq!(refusal(on_gpu.set_parameters(2, &[0.0; 4])), Some(more_parameters));
    assert!(on_gpu.set_parameters(9, &[0.0]).is_err());
    assert!(on_gpu.set_all_parameters(&all[1..]).is_err());
}

/// A kernel of a caller that writes parameters.
const WRITER: &str = "
@group(0) @binding(0) var<storage, read_write> parameters: array<f32>;
@compute @workgroup_size(64)
fn write(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&parameters) {
        parameters[id.x] = select(0.25, 2.75, id.x % 3u == 2u);
    }
}
";

/// Records the writer for a buffer.
pub(super) fn record_writer(device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer) {
    let source = wgpu::ShaderSource::Wgsl(WRITER.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("write"),
        compilation_options: Default::default(),
        cache: None,
    });
    let entries = [wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }];
    let layout = &pipeline.get_bind_group_layout(0);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups((buffer.size() as u32 / 4).div_ceil(64), 1, 1);
}

#[test]
fn a_kernel_of_the_caller_writes_parameters() {
    let (library, _, mut crowd) = driven(5);
    let engine = engine(&library);
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    let device = &engine.gpu().device;
    let mut encoder = device.create_command_encoder(&Default::default());
    record_writer(device, &mut encoder, on_gpu.batches()[0].parameters().unwrap());
    on_gpu.encode(&mut encoder, Ticks(0));
    engine.gpu().queue.submit([encoder.finish()]);
    let read = |instance| engine.read_instance(&on_gpu, instance, Outputs::ALL).unwrap();
    let found = Poses { instances: (0..5).map(read).collect() };
    for instance in 0..5 {
        crowd.set_parameters(instance, vec![constant(0.25), constant(0.25), constant(2.75)]).unwrap();
    }
    assert_right(&library, &crowd, Ticks(0).into(), &found);
}

#[test]
fn drivers_and_parameters_without_room_are_refused() {
    let (library, skeleton, crowd) = driven(4);
    let mut plain = Crowd::new();
    for _ in 0..4 {
        plain.push(skeleton, &[Layer::new(library.clip_ids().next().unwrap(), LayerTime::At(0.0))]).unwrap();
    }
    let engine = engine(&library);
    let with = |options| GpuCrowd::with_options(engine.library(), &plain, Outputs::ALL, options).unwrap();
    let room = CrowdOptions { layers: 3, mixing: Mixing::Any, ..CrowdOptions::NONE };
    let without = with(room);
    assert!(without.batches()[0].parameters().is_none());
    let set = |on_gpu: &GpuCrowd| refusal(on_gpu.set_instance(engine.library(), 2, crowd.layers(2)));
    assert_eq!(set(&without), Some(Refusal::NoDrivers { instance: 2 }));
    let all = refusal(without.set_layers(engine.library(), &crowd));
    assert_eq!(all, Some(Refusal::NoDrivers { instance: 0 }));
    let more_parameters = |capacity| Some(Refusal::MoreParameters { instance: 2, needed: 3, capacity });
    let few = with(CrowdOptions { parameters: 2, ..room });
    assert_eq!(set(&few), more_parameters(2));
    let synced = with(CrowdOptions { drivers: true, ..room });
    assert_eq!(set(&synced), more_parameters(0));
    let clips: Vec<_> = library.clip_ids().collect();
    let playing = Layer::new(clips[0], LayerTime::Playing(Playback::looping(0.0, 1.0)));
    let layers = [playing, follower(clips[1])];
    synced.set_instance(engine.library(), 2, &layers).unwrap();
    let mut expected = plain.clone();
    expected.set(2, skeleton, &layers).unwrap();
    let step = step(0.2, 0.9);
    assert_right(&library, &expected, step, &play(&engine, &synced, 4, step));
    // With room, single instances and all are replaced.
    let enough = with(CrowdOptions { parameters: 9, ..room });
    assert_eq!(set(&enough), None);
    enough.set_layers(engine.library(), &crowd).unwrap();
    let found = play(&engine, &enough, 4, Ticks(0).into());
    assert_right(&library, &crowd, Ticks(0).into(), &found);
}

#[test]
fn transitions_find_room_are_interrupted_and_end() {
    let (mut library, skeleton) = rig();
    let clips = [1, 2, 3].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], seed));
    let playing = |clip| [Layer::new(clip, LayerTime::Playing(Playback::looping(0.1, 1.0)))];
    let engine = engine(&library);
    let mut crowd = Crowd::new();
    for _ in 0..6 {
        crowd.push(skeleton, &playing(clips[0])).unwrap();
    }
    let options = CrowdOptions { transitions: 2, ..CrowdOptions::NONE };
    let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
    let check = |crowd: &Crowd, now: f64| {
        let step = step(now, now);
        assert_right(&library, crowd, step, &play(&engine, &on_gpu, 6, step));
    };
    let begin = |crowd: &mut Crowd, instance: usize, clip: usize, now: f64| {
        let layers = playing(clips[clip]);
        let new = NewTransition::new(instance, &layers, ticks(now));
        refusal(on_gpu.transition(engine.library(), &library, crowd, &new))
    };
    assert_eq!(begin(&mut crowd, 4, 1, 1.0), None);
    check(&crowd, 1.0);
    check(&crowd, 1.05);
    assert_eq!(begin(&mut crowd, 1, 2, 1.1), None);
    // The second one of an instance interrupts its first one, in the same place.
    assert_eq!(begin(&mut crowd, 4, 2, 1.15), None);
    check(&crowd, 1.15);
    check(&crowd, 1.2);
    let unchanged = crowd.clone();
    let none_left = Refusal::MoreTransitions { instance: 0, capacity: 2 };
    assert_eq!(begin(&mut crowd, 0, 1, 1.2), Some(none_left));
    assert_eq!(crowd, unchanged);
    // After 16 half-lives, at 2.7 s, the transition of instance 1 is over, and its place is free.
    assert_eq!(begin(&mut crowd, 0, 1, 2.72), None);
    check(&crowd, 2.72);
    check(&crowd, 2.8);
    check(&crowd, 9.0);
    // New layers end a transition.
    on_gpu.set_instance(engine.library(), 0, &playing(clips[2])).unwrap();
    crowd.set(0, skeleton, &playing(clips[2])).unwrap();
    check(&crowd, 2.8);
    // All layers are replaced, with the transitions of the crowd.
    let new = playing(clips[0]);
    crowd.begin_transition(&library, &NewTransition::new(5, &new, ticks(3.0))).unwrap();
    crowd.set(4, skeleton, &playing(clips[1])).unwrap();
    on_gpu.set_layers(engine.library(), &crowd).unwrap();
    check(&crowd, 3.05);
}

#[test]
fn transitions_of_several_instances_begin_together_or_not_at_all() {
    let (mut library, skeleton) = rig();
    let clips = [1, 2].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], seed));
    let playing = |clip| [Layer::new(clip, LayerTime::Playing(Playback::looping(0.1, 1.0)))];
    let engine = engine(&library);
    let mut crowd = Crowd::new();
    for _ in 0..5 {
        crowd.push(skeleton, &playing(clips[0])).unwrap();
    }
    let options = CrowdOptions { transitions: 2, ..CrowdOptions::NONE };
    let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
    let check = |crowd: &Crowd, now: f64| {
        let step = step(now, now);
        assert_right(&library, crowd, step, &play(&engine, &on_gpu, 5, step));
    };
    let (layers, two_layers): (&[Layer], &[Layer]) = (&playing(clips[1]), &clips.map(playing).concat());
    let begin = |crowd: &mut Crowd, all: &[(usize, &[Layer])], now: f64| {
        let new = |&(instance, layers)| NewTransition::new(instance, layers, ticks(now));
        let all: Vec<NewTransition> = all.iter().map(new).collect();
        refusal(on_gpu.transitions(engine.library(), &library, crowd, &all))
    };
    let unchanged = crowd.clone();
    let refused = begin(&mut crowd, &[(3, layers), (0, layers), (2, layers)], 1.0);
    assert_eq!(refused, Some(Refusal::MoreTransitions { instance: 2, capacity: 2 }));
    let refused = begin(&mut crowd, &[(3, layers), (1, two_layers)], 1.0);
    assert_eq!(refused, Some(Refusal::MoreLayers { instance: 1, needed: 2, capacity: 1 }));
    assert_eq!(crowd, unchanged);
    check(&crowd, 1.05);
    // An instance that occurs twice needs one place.
    assert_eq!(begin(&mut crowd, &[(3, layers), (0, layers), (3, layers)], 1.0), None);
    assert_eq!([0, 1, 2, 3, 4].map(|instance| crowd.transition(instance).is_some()), [true, false, false, true, false]);
    check(&crowd, 1.0);
    check(&crowd, 1.05);
}

#[test]
fn crowds_without_room_refuse_transitions() {
    let (mut library, skeleton) = rig();
    let clip = add_clip(&mut library, skeleton, 1.0, &[], 1);
    let engine = engine(&library);
    let mut crowd = Crowd::new();
    let layers = [Layer::new(clip, LayerTime::At(0.5))];
    crowd.push(skeleton, &layers).unwrap();
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    let new = NewTransition::new(0, &layers, ticks(1.0));
    let error = on_gpu.transition(engine.library(), &library, &mut crowd, &new).unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::MoreTransitions { instance: 0, capacity: 0 }));
    assert!(error.to_string().contains("set CrowdOptions::transitions"), "{error}");
}

#[test]
fn visible_lists_and_transitions_share_a_buffer() {
    let (mut library, skeleton) = rig();
    let clips = [1, 2].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], seed));
    let playing = |clip| [Layer::new(clip, LayerTime::Playing(Playback::looping(0.1, 1.0)))];
    let engine = engine(&library);
    let mut crowd = Crowd::new();
    for _ in 0..20 {
        crowd.push(skeleton, &playing(clips[0])).unwrap();
    }
    let options = CrowdOptions { visible: true, transitions: 20, ..CrowdOptions::NONE };
    let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
    let batch = &on_gpu.batches()[0];
    let queue = &engine.gpu().queue;
    for instance in (0..20).step_by(3) {
        let layers = playing(clips[1]);
        let new = NewTransition::new(instance, &layers, ticks(1.0));
        on_gpu.transition(engine.library(), &library, &mut crowd, &new).unwrap();
    }
    let entries: Vec<VisibleInstance> =
        (0..20).step_by(2).map(|slot| VisibleInstance { slot, joints: u32::MAX, update_interval: 1 }).collect();
    queue.write_buffer(batch.visible().unwrap(), 0, bytemuck::bytes_of(&(entries.len() as u32)));
    queue.write_buffer(batch.visible().unwrap(), 4, bytemuck::cast_slice(&entries));
    let mut encoder = engine.gpu().device.create_command_encoder(&Default::default());
    let step = step(1.1, 1.1);
    on_gpu.encode_visible(&mut encoder, step, 0);
    queue.submit([encoder.finish()]);
    let (mut listed, mut found) = (Crowd::new(), Vec::new());
    for instance in (0..20).step_by(2) {
        let index = listed.push(skeleton, crowd.layers(instance)).unwrap();
        listed.set_transition(&library, index, crowd.transition(instance).cloned()).unwrap();
        found.push(engine.read_instance(&on_gpu, instance, Outputs::ALL).unwrap());
    }
    assert_right(&library, &listed, step, &Poses { instances: found });
}
