use posse::cpu::CpuEngine;
use posse::events::{Event, EventList, Occurrence};
use posse::gpu::{GpuContext, GpuCrowd, GpuEvents};
use posse::low_level::record::{EventCount, Frame};
use posse::packed::PackedLibrary;
use posse::{
    Clip, Crowd, Error, Evaluator, Joint, Layer, LayerTime, Library, Outputs, Playback, Skeleton, Step, Ticks, WrapMode,
};

use super::{NOW, gpu_with_limits};
use crate::occurrences::assert_same;
use crate::support::each_engine::read_mapped;
use crate::support::gpu_library::gpu;
use crate::support::gpu_library::gpu_library_on;
use crate::support::scenes::Numbers;

/// Instances of two skeletons. Each skeleton has a clip of one second with events at 0.25 s and 0.75 s.
fn crowd_with_events(instances: usize) -> (Library, Crowd) {
    let mut library = Library::new();
    let clips = [1, 300].map(|joints| {
        let skeleton = Skeleton::new(None, vec![Joint::default(); joints], Vec::new()).unwrap();
        let skeleton = library.add_skeleton(skeleton);
        let events = [0.25, 0.75].map(|time| Event { time, ..Event::default() }).to_vec();
        let clip = Clip { length: Some(1.0), events, ..Clip::new(None, skeleton, Vec::new()) };
        (skeleton, library.add_clip(clip).unwrap())
    });
    let mut numbers = Numbers::new(9);
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let (skeleton, clip) = clips[usize::from(instance % 5 == 0)];
        let start = Ticks(numbers.ticks_below(1 << 40));
        let time = LayerTime::Playing(Playback::new(WrapMode::Loop, start, numbers.within(-2.0, 2.0)));
        crowd.push(skeleton, &vec![Layer::new(clip, time); 1 + instance % 3]).unwrap();
    }
    (library, crowd)
}

/// Makes a crowd on a device, with its list of events.
fn make_list(
    gpu: &GpuContext,
    library: &Library,
    crowd: &Crowd,
    capacity: usize,
) -> Result<(GpuCrowd, GpuEvents), Error> {
    let library = gpu_library_on(gpu, PackedLibrary::new(library)?)?;
    let crowd = GpuCrowd::new(&library, crowd, Outputs::NONE)?;
    let events = GpuEvents::new(&library, &crowd, capacity)?;
    Ok((crowd, events))
}

fn frame(from: i64) -> Step {
    Step { from: Ticks(NOW.0 + from), to: Ticks(NOW.0 + from + Ticks::PER_SECOND / 4) }
}

/// Records a step, runs it, and reads the list.
fn list(gpu: &GpuContext, events: &GpuEvents, step: Step) -> EventList {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    events.encode(&mut encoder, step);
    gpu.queue.submit([encoder.finish()]);
    events.read().unwrap()
}

fn expected(library: &Library, crowd: &Crowd, step: Step) -> EventList {
    let list = CpuEngine::new(library).unwrap().evaluate_events(crowd, step, 1 << 20).unwrap();
    assert!(list.missed == 0 && !list.events.is_empty());
    list
}

#[test]
fn two_steps_in_one_submission_do_not_disturb_each_other() {
    let (library, crowd) = crowd_with_events(100);
    let gpu = gpu();
    let GpuContext { device, queue, .. } = &gpu;
    let (on_gpu, events) = make_list(&gpu, &library, &crowd, 1000).unwrap();
    let copy = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: events.buffer().size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    events.encode(&mut encoder, frame(0));
    // As in a renderer, the first list is copied right after its step, and poses are recorded between the steps.
    encoder.copy_buffer_to_buffer(events.buffer(), 0, &copy, 0, copy.size());
    on_gpu.encode(&mut encoder, NOW);
    events.encode(&mut encoder, frame(1 << 30));
    queue.submit([encoder.finish()]);
    assert_same(&events.read().unwrap(), &expected(&library, &crowd, frame(1 << 30)), "the second");
    let bytes = read_mapped(device, &copy);
    let first = expected(&library, &crowd, frame(0));
    assert_same(&GpuEvents::list(&bytes), &first, "the first");
    // The buffer has its documented layout: four words, then five words per event, in any order.
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
    assert_eq!(words[..4], [first.events.len() as u32, 0, 0, 0]);
    let decode = |words: &[u32]| Occurrence {
        tick: Ticks((u64::from(words[1]) << 32 | u64::from(words[0])) as i64),
        instance: words[2] as usize,
        layer: words[3] as usize,
        event: words[4] as usize,
    };
    let mut found: Vec<Occurrence> = words[4..].chunks_exact(5).take(first.events.len()).map(decode).collect();
    found.sort_unstable();
    assert_eq!(found, first.events);
}

#[test]
fn a_step_uploads_only_its_clock() {
    // `encode` gets no queue, so everything that reaches the device is in the encoder: the step, and nothing per
    // instance.
    assert_eq!(size_of::<Frame>(), 32);
    let (library, crowd) = crowd_with_events(1000);
    let gpu = gpu();
    let (_, events) = make_list(&gpu, &library, &crowd, 10_000).unwrap();
    for step in [0, 1 << 24, 1 << 25].map(frame) {
        assert_same(&list(&gpu, &events, step), &expected(&library, &crowd, step), "");
    }
}

#[test]
fn a_crowd_in_several_buffers_lists_the_same_events() {
    // 300 joints take 14,400 bytes of matrices per instance.
    let (library, crowd) = crowd_with_events(600);
    let limits =
        wgpu::Limits { max_storage_buffer_binding_size: 1 << 20, max_buffer_size: 1 << 20, ..wgpu::Limits::default() };
    let gpu = gpu_with_limits(limits);
    let (on_gpu, events) = make_list(&gpu, &library, &crowd, 10_000).unwrap();
    assert!(on_gpu.batches().len() > 2, "{} batches", on_gpu.batches().len());
    assert_same(&list(&gpu, &events, frame(0)), &expected(&library, &crowd, frame(0)), "");
    // A list larger than a binding is refused before any buffer is made.
    match make_list(&gpu, &library, &crowd, 60_000) {
        Err(Error::Limit { needed, allowed, .. }) => assert_eq!((needed, allowed), (16 + 60_000 * 20, 1 << 20)),
        other => panic!("{other:?}"),
    }
    assert!(matches!(make_list(&gpu, &library, &crowd, usize::MAX), Err(Error::Limit { .. })));
}

#[test]
fn more_layers_than_a_row_of_workgroups_are_all_searched() {
    let (library, crowd) = crowd_with_events(3000);
    let limits = wgpu::Limits { max_compute_workgroups_per_dimension: 60, ..wgpu::Limits::default() };
    let gpu = gpu_with_limits(limits);
    let (_, events) = make_list(&gpu, &library, &crowd, 100_000).unwrap();
    assert_same(&list(&gpu, &events, frame(0)), &expected(&library, &crowd, frame(0)), "");
}

#[test]
fn a_list_that_overflows_keeps_real_events_and_counts_the_others() {
    let (library, crowd) = crowd_with_events(1000);
    let gpu = gpu();
    let whole = expected(&library, &crowd, frame(0));
    for capacity in [0, 1, 100, whole.events.len() - 1, whole.events.len()] {
        let (_, events) = make_list(&gpu, &library, &crowd, capacity).unwrap();
        let list = list(&gpu, &events, frame(0));
        assert_eq!((list.events.len(), list.missed as usize), (capacity, whole.events.len() - capacity));
        // Each event is in the whole list, and none is listed twice.
        assert!(list.events.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(list.events.iter().all(|found| whole.events.binary_search(found).is_ok()));
    }
}

#[test]
fn the_ends_of_the_clock_do_no_harm() {
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap());
    let clips = [1e-9, 1.0, 1e9].map(|length| {
        let events = [0.0, 0.5, 1.0].map(|part| Event { time: part * length, ..Event::default() }).to_vec();
        library.add_clip(Clip { length: Some(length), events, ..Clip::new(None, skeleton, Vec::new()) }).unwrap()
    });
    let mut numbers = Numbers::new(3);
    let ends = [i64::MIN, i64::MIN + 1, -(1 << 62), -1, 0, 1, 1 << 62, i64::MAX - 1, i64::MAX].map(Ticks);
    let mut crowd = Crowd::new();
    for _ in 0..200 {
        let start = ends[numbers.below(ends.len())];
        let rate = [1e4, -1e4, 1.0, 1e-9, -1e-300][numbers.below(5)];
        let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
        let time = LayerTime::Playing(Playback::new(wrap, start, rate));
        crowd.push(skeleton, &[Layer::new(clips[numbers.below(3)], time)]).unwrap();
    }
    let gpu = gpu();
    let (_, events) = make_list(&gpu, &library, &crowd, 0).unwrap();
    for step in ends.iter().flat_map(|&from| ends.iter().map(move |&to| Step { from, to })) {
        let expected = CpuEngine::new(&library).unwrap().evaluate_events(&crowd, step, 0).unwrap();
        assert_same(&list(&gpu, &events, step), &expected, &format!("{step:?}"));
        posse::Reference::new(&library).evaluate_events(&crowd, step, 0).unwrap();
    }
}

#[test]
fn a_count_beyond_64_bits_is_reported() {
    let head = |words: [u32; 4]| GpuEvents::list(bytemuck::bytes_of(&words));
    assert_eq!(size_of::<EventCount>(), 16);
    assert_eq!(head([0, 7, 2, 0]), EventList { events: Vec::new(), missed: (2 << 32) + 7 });
    assert_eq!(head([0, 7, 2, 1]).missed, u64::MAX);
    // A copy cut short.
    assert_eq!(head([9, 0, 0, 0]).events.len(), 0);
    assert_eq!(GpuEvents::list(&[1, 2, 3]), EventList::default());
}
