//! Visible lists, on a device with the default limits and no features.

/// Lists from a culling pass on the GPU, and lists with errors.
mod culling;
/// Instances with fewer joints, compared with clips without the tracks of the other joints.
mod detail;
/// Skin matrices of the previous frame.
mod previous;
/// Instances that are posed every second or fourth frame.
mod update_intervals;

use std::sync::Arc;

use glam::DAffine3;
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::gpu::{GpuBatch, GpuContext, GpuCrowd, GpuEngine, VisibleInstance};
use posse::packed::OutputNumbers as Read;
use posse::{
    Clip, ClipId, Crowd, CrowdOptions, Joint, Library, Outputs, Pose, Poses, Skeleton, SkeletonId, Skin, Step, Ticks,
};

use super::{assert_right, engine_on, gpu_with_limits};
use crate::support::build::joint;
use crate::support::scenes::Numbers;

/// All joints.
const ALL: u32 = u32::MAX;
/// A number that is in no pose.
const SENTINEL: f32 = -12345.0;
const VISIBLE: CrowdOptions = CrowdOptions { visible: true, ..CrowdOptions::NONE };

/// A crowd on the GPU, with the library and the crowd that it is compared with.
struct Stage {
    library: Library,
    crowd: Crowd,
    engine: GpuEngine,
    on_gpu: GpuCrowd,
    outputs: Outputs,
}

impl Stage {
    fn new(library: Library, crowd: Crowd, outputs: Outputs, options: CrowdOptions) -> Self {
        Self::on(gpu_with_limits(wgpu::Limits::default()), library, crowd, outputs, options)
    }

    fn on(gpu: GpuContext, library: Library, crowd: Crowd, outputs: Outputs, options: CrowdOptions) -> Self {
        let engine = engine_on(gpu, &library);
        let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, outputs, options).unwrap();
        Self { library, crowd, engine, on_gpu, outputs }
    }

    fn device(&self) -> &wgpu::Device {
        &self.engine.gpu().device
    }

    fn queue(&self) -> &wgpu::Queue {
        &self.engine.gpu().queue
    }

    /// Writes the list of a batch: a count, and entries, whose number can differ from the count.
    fn list(&self, batch: &GpuBatch, count: u32, entries: &[VisibleInstance]) {
        let list = batch.visible().expect("a list");
        self.queue().write_buffer(list, 0, bytemuck::bytes_of(&count));
        self.queue().write_buffer(list, 4, bytemuck::cast_slice(entries));
    }

    /// Lists instances of the crowd in the lists of their batches.
    fn list_instances(&self, entry: impl Fn(usize) -> Option<(u32, u32)>) {
        for batch in self.on_gpu.batches() {
            let listed = (0..).zip(batch.instances());
            let listed = listed.filter_map(|(slot, &instance)| {
                entry(instance).map(|(joints, update_interval)| VisibleInstance { slot, joints, update_interval })
            });
            let listed: Vec<VisibleInstance> = listed.collect();
            self.list(batch, listed.len() as u32, &listed);
        }
    }

    /// Writes the sentinel into all buffers of poses.
    fn write_sentinel(&self) {
        let run = Kernel::new(
            self.device(),
            "@group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
            @compute @workgroup_size(64)
            fn run(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
                for (var at = id.x; at < arrayLength(&numbers); at += 64u * groups.x) { numbers[at] = -12345.0; }
            }",
        );
        let mut encoder = self.device().create_command_encoder(&Default::default());
        for batch in self.on_gpu.batches() {
            for buffer in [batch.local(), batch.model(), batch.skin(), batch.values()].into_iter().flatten() {
                run.encode(self.device(), &mut encoder, &[buffer], 8);
            }
        }
        self.queue().submit([encoder.finish()]);
    }

    /// Runs a frame of the visible instances.
    fn run_frame(&self, step: impl Into<Step>, frame_number: u32) {
        let mut encoder = self.device().create_command_encoder(&Default::default());
        self.on_gpu.encode_visible(&mut encoder, step, frame_number);
        self.queue().submit([encoder.finish()]);
    }

    /// Reads the numbers of all batches.
    fn read(&self) -> Vec<Read> {
        let batches = self.on_gpu.batches().iter();
        batches.map(|batch| self.engine.read(batch, 0..batch.instances().len()).unwrap()).collect()
    }

    fn pose(&self, instance: usize) -> Pose {
        self.engine.read_instance(&self.on_gpu, instance, self.outputs).unwrap()
    }

    /// A crowd of only these instances.
    fn part(&self, instances: &[usize]) -> Crowd {
        let mut part = Crowd::new();
        for &instance in instances {
            part.push(self.crowd.skeleton(instance), self.crowd.layers(instance)).unwrap();
        }
        part
    }

    /// Asserts that each instance holds the pose of its tick, or the sentinel if it has no tick.
    #[track_caller]
    fn assert_holds(&self, tick: impl Fn(usize) -> Option<Ticks>) {
        let mut by_tick = std::collections::BTreeMap::<Ticks, Vec<usize>>::new();
        for instance in 0..self.crowd.len() {
            match tick(instance) {
                Some(tick) => by_tick.entry(tick).or_default().push(instance),
                None => self.assert_untouched(instance),
            }
        }
        for (tick, instances) in by_tick {
            let poses = Poses { instances: instances.iter().map(|&instance| self.pose(instance)).collect() };
            assert_right(&self.library, &self.part(&instances), tick, self.outputs, &poses);
        }
    }

    #[track_caller]
    fn assert_untouched(&self, instance: usize) {
        let (batch, slot) = self.on_gpu.find(instance);
        let Read { local, model, skin, values, .. } = self.engine.read(batch, slot..slot + 1).unwrap();
        let numbers = [&local[..], &model, &skin, &values].concat();
        assert!(numbers.iter().all(|&number| number == SENTINEL), "instance {instance} was touched");
    }
}

/// A compute kernel of a test, with storage buffers.
struct Kernel(wgpu::ComputePipeline);

impl Kernel {
    fn new(device: &wgpu::Device, code: &str) -> Self {
        let source = wgpu::ShaderSource::Wgsl(code.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        Self(device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("run"),
            compilation_options: Default::default(),
            cache: None,
        }))
    }

    fn encode(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        buffers: &[&wgpu::Buffer],
        groups: u32,
    ) {
        let entries = (0..).zip(buffers);
        let entries: Vec<_> = entries
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = &self.0.get_bind_group_layout(0);
        let bind_group =
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.0);
        pass.set_bind_group(0, &bind_group, &[]);
        pass.dispatch_workgroups(groups, 1, 1);
    }
}

/// A skeleton of branches of a few joints, one after the other, so that the joints of a level are spread over it. It
/// has a skin, and a clip of two seconds that moves, turns and scales every joint.
fn branches(joints: usize, branch: usize) -> Library {
    let parent = |index: usize| if index % branch == 1 { Some(0) } else { index.checked_sub(1) };
    let parents: Vec<Option<usize>> = (0..joints).map(parent).collect();
    tree(&parents)
}

/// A skeleton with these parents, with such a skin and clip.
fn tree(parents: &[Option<usize>]) -> Library {
    let mut numbers = Numbers::new(parents.len() as u64);
    let rig: Vec<Joint> = parents.iter().map(|&parent| joint(parent, [0.1, 0.2, -0.05])).collect();
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, rig, Vec::new()).unwrap());
    let inverse_bind = parents.iter().map(|_| DAffine3::from_scale(glam::DVec3::splat(0.5))).collect();
    library.add_skin(Skin { name: None, skeleton, joints: (0..parents.len()).collect(), inverse_bind }).unwrap();
    let timeline = Arc::new(Timeline::new(vec![0.0, 0.7, 2.0]).unwrap());
    let mut track = |target: Target, width: usize| {
        let mut value = |number: usize| match target {
            Target::Rotation(_) if number % 4 == 3 => 1.0,
            Target::Rotation(_) => numbers.within(-0.5, 0.5),
            Target::Scale(_) => numbers.within(0.9, 1.1),
            _ => numbers.within(-0.3, 0.3),
        };
        let values = (0..3 * width).map(&mut value).collect();
        Track::new(target, Curve::new(timeline.clone(), Interpolation::Linear, width, values).unwrap())
    };
    let of_joint = |joint| [(Target::Translation(joint), 3), (Target::Rotation(joint), 4), (Target::Scale(joint), 3)];
    let tracks = (0..parents.len()).flat_map(of_joint).map(|(target, width)| track(target, width)).collect();
    library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    library
}

/// Adds the skeletons of another library with their skins and clips. Returns the first added clip.
fn add(library: &mut Library, other: &Library) -> ClipId {
    let skeletons: Vec<SkeletonId> =
        other.skeletons().iter().map(|skeleton| library.add_skeleton(skeleton.clone())).collect();
    for skin in other.skins() {
        library.add_skin(Skin { skeleton: skeletons[skin.skeleton.index()], ..skin.clone() }).unwrap();
    }
    let clips: Vec<ClipId> = other
        .clips()
        .iter()
        .map(|clip| library.add_clip(Clip { skeleton: skeletons[clip.skeleton.index()], ..clip.clone() }).unwrap())
        .collect();
    clips[0]
}
