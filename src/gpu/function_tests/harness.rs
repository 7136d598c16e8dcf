use std::ops::Range;

use glam::{DQuat, DVec4};

use crate::gpu::kernels::bind_group_layout;
use crate::gpu::shader::Composed;
use crate::gpu::shader_files::ShaderFile;
use crate::gpu::{AdapterKind, GpuContext, Scopes, read_buffers, upload};
use crate::kernels::Pass;
use crate::kernels::plan::Plan;
use crate::model::{Mixing, SkinFormat};
use crate::pack::Features;
use crate::pack::record::SkeletonRecord;

/// Runs a piece of WGSL for each `i` below `count` and returns its values. Its inputs are in `words` and `values`.
pub fn run(count: usize, body: &str, words: &[u32], values: &[[f32; 4]]) -> Vec<DVec4> {
    run_with(SkinFormat::Matrix, count, body, words, values)
}

/// As [`run`], with the functions of a skin format that write, and the functions that read.
pub fn run_with(format: SkinFormat, count: usize, body: &str, words: &[u32], values: &[[f32; 4]]) -> Vec<DVec4> {
    let gpu = GpuContext::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"));
    let device = &gpu.device;
    let plan = Plan::new(Mixing::None, &SkeletonRecord::default(), 1).with_skin_format(format);
    let caller = format!(
        "{}fn test_case(i: u32) -> vec4<f32> {{ {body} }}
        @compute @workgroup_size(64) fn test(@builtin(global_invocation_id) id: vec3<u32>) {{
            if id.x < {count}u {{ local_out[id.x] = test_case(id.x); }}
        }}",
        format.wgsl()
    );
    let caller = ShaderFile::new("test", caller);
    let composed = Composed::pose_with_caller(&plan.kernel, Features::ALL, caller);
    let module = pollster::block_on(composed.compile(device)).unwrap();
    let scopes = Scopes::push(device);
    let group_layout = bind_group_layout(device, Pass::Pose);
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        bind_group_layouts: &[Some(&group_layout)],
        ..Default::default()
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&layout),
        module: &module,
        entry_point: Some("test"),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffers = Pass::Pose.bindings().iter().map(|binding| match binding.name {
        name @ "words" => upload((&gpu).into(), name, bytemuck::cast_slice(words)),
        name @ "values" => upload((&gpu).into(), name, bytemuck::cast_slice(values)),
        name => device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(name),
            size: if name == "local_out" { 16 * count as u64 } else { 256 },
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        }),
    });
    let buffers: Vec<wgpu::Buffer> = buffers.collect();
    let entries = (0..).zip(&buffers);
    let entries =
        entries.map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
    let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &group_layout,
        entries: &entries.collect::<Vec<_>>(),
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &bind_group, &[]);
    pass.dispatch_workgroups((count as u32).div_ceil(64), 1, 1);
    drop(pass);
    pollster::block_on(scopes.pop()).unwrap();
    let out = Pass::Pose.bindings().iter().position(|binding| binding.name == "local_out").unwrap();
    let wanted = [(&buffers[out], 0..16 * count as u64)];
    let bytes = pollster::block_on(read_buffers((&gpu).into(), encoder, &wanted)).unwrap();
    let numbers: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&bytes[0]);
    numbers.into_iter().map(|number| DVec4::from_array(number.map(f64::from))).collect()
}

/// Random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Bits in long runs, so that carries run far.
    pub fn rough_bits(&mut self) -> u64 {
        let [a, b, c] = [self.bits(), self.bits(), self.bits()];
        [a, a & b & c, a | b | c, 0, u64::MAX, 1 << (a % 64)][(b % 6) as usize]
    }

    /// A number in a range.
    pub fn within(&mut self, range: Range<f64>) -> f64 {
        range.start + (range.end - range.start) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A vector of numbers from -1 to 1.
    pub fn vector(&mut self) -> DVec4 {
        DVec4::from_array([(); 4].map(|()| self.within(-1.0..1.0)))
    }

    /// A rotation, rounded to `f32`.
    pub fn rotation(&mut self) -> DQuat {
        single(DQuat::from_vec4(self.vector().normalize()))
    }
}

/// A quaternion, rounded to `f32`.
pub fn single(q: DQuat) -> DQuat {
    q.as_quat().as_dquat()
}

/// The two words of a number, the lower first.
pub fn words(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}
