//! The visible list of a batch, by which the GPU selects the instances that are posed.

use wgpu::BufferUsages as Usages;

use crate::gpu::kernels::{VisibleKernels, bind_group};
use crate::gpu::{GpuLibrary, create_buffer};
use crate::kernels::{Pass, SIDE_WORKGROUP_SIZE};
use crate::pack::record::VisibleInstance;

/// The visible list of a batch, with the buffers that the kernels of `shaders/visible.wgsl` derive from it.
#[derive(Debug)]
pub(super) struct VisibleList {
    /// The list: a count, then that many entries.
    pub list: wgpu::Buffer,
    /// The number of instances that are due, the joints of each instance, and the slots of those due; displacements may
    /// follow.
    due: wgpu::Buffer,
    /// The workgroups of the dispatch that poses them.
    pub workgroups: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    collect: wgpu::ComputePipeline,
    measure: wgpu::ComputePipeline,
    collect_groups: u32,
    instance_count: u64,
}

impl VisibleList {
    /// Creates an empty list for a batch of `instance_count` instances. `due` has room for the instances that are due.
    pub fn new(
        library: &GpuLibrary,
        kernels: &VisibleKernels,
        frame: &wgpu::Buffer,
        batch: &wgpu::Buffer,
        due: &wgpu::Buffer,
        instance_count: u32,
    ) -> Self {
        let device = library.gpu().device;
        let count = u64::from(instance_count);
        let buffer = |label: &str, size: u64, usage: Usages| {
            let (label, usage) = (Some(label), usage | Usages::STORAGE);
            create_buffer(device, &wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
        };
        let list_size = 4 + count * size_of::<VisibleInstance>() as u64;
        let list = buffer("posse visible", list_size, Usages::COPY_DST | Usages::COPY_SRC);
        // COPY_SRC is for a test, which reads the buffer.
        let workgroups = buffer("posse workgroups", 12, Usages::INDIRECT | Usages::COPY_SRC);
        let bound = [&library.words, frame, batch, &list, due, &workgroups];
        let bind_group = bind_group(device, &kernels.layout, &bound);
        let most_groups = device.limits().max_compute_workgroups_per_dimension;
        Self {
            list,
            due: due.clone(),
            workgroups,
            bind_group,
            collect: kernels.collect.clone(),
            measure: kernels.measure.clone(),
            collect_groups: instance_count.div_ceil(SIDE_WORKGROUP_SIZE).min(most_groups),
            instance_count: count,
        }
    }

    /// Records that no instance is due.
    pub fn clear(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.due, 0, Some(4 + 4 * self.instance_count));
    }

    /// Records the collection of the instances that are due, and of the size of their dispatch.
    pub fn collect(&self, pass: &mut wgpu::ComputePass) {
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.push_debug_group(Pass::CollectVisible.entry_point());
        pass.set_pipeline(&self.collect);
        pass.dispatch_workgroups(self.collect_groups, 1, 1);
        pass.pop_debug_group();
        pass.push_debug_group(Pass::MeasureVisible.entry_point());
        pass.set_pipeline(&self.measure);
        pass.dispatch_workgroups(1, 1, 1);
        pass.pop_debug_group();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;
    use crate::gpu::{AdapterKind, GpuContext, GpuCrowd, read_buffers};
    use crate::model::{Outputs, Ticks};
    use crate::pack::CrowdOptions;

    #[test]
    fn the_dispatch_has_room_for_the_instances_that_are_due() {
        let limits = wgpu::Limits { max_compute_workgroups_per_dimension: 8, ..wgpu::Limits::default() };
        let gpu = GpuContext::with_limits(AdapterKind::Any, limits).unwrap_or_else(|error| panic!("{error}"));
        let GpuContext { device, queue, .. } = &gpu;
        let entry = |slot, update_interval| VisibleInstance { slot, joints: 9, update_interval };
        let each: Vec<VisibleInstance> = (0..40).map(|slot| entry(slot, 1)).collect();
        let half: Vec<VisibleInstance> = (0..40).map(|slot| entry(slot, 2)).collect();
        // One instance per workgroup for 64 joints, 16 for 4 joints, 8 for 8.
        for (joints, entries, expected) in [
            (64, &each[..], [8, 5, 1]),
            (64, &each[..8], [8, 1, 1]),
            (64, &each[..9], [8, 2, 1]),
            (64, &half[..], [8, 3, 1]),
            (64, &[], [0, 0, 1]),
            (64, &[entry(3, 1); 40], [1, 1, 1]),
            (64, &[entry(3, 1), entry(4, 1), entry(3, 1)], [2, 1, 1]),
            (64, &[entry(40, 1); 40], [0, 0, 1]),
            (4, &each[..], [3, 1, 1]),
            (4, &each[..17], [2, 1, 1]),
            (4, &half[..], [2, 1, 1]),
            (8, &each[..], [5, 1, 1]),
            (8, &half[..], [3, 1, 1]),
            (8, &each[..9], [2, 1, 1]),
            (8, &[], [0, 0, 1]),
        ] {
            let library = demo::rig(joints, 2, 2).unwrap();
            let crowd = demo::crowd(&library, 40).unwrap();
            let library = GpuLibrary::new(&gpu, &library).unwrap();
            let options = CrowdOptions { visible: true, ..CrowdOptions::default() };
            let crowd = GpuCrowd::with_options(&library, &crowd, Outputs::SKIN, options).unwrap();
            let visible = crowd.batches()[0].visible.as_ref().unwrap();
            queue.write_buffer(&visible.list, 0, bytemuck::bytes_of(&(entries.len() as u32)));
            queue.write_buffer(&visible.list, 4, bytemuck::cast_slice(entries));
            let mut encoder = device.create_command_encoder(&Default::default());
            crowd.encode_visible(&mut encoder, Ticks(0), 6);
            let bytes = pollster::block_on(read_buffers((&gpu).into(), encoder, &[(&visible.workgroups, 0..12)]))
                .unwrap()
                .remove(0);
            let found: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
            assert_eq!(found, expected, "{joints} joints, {entries:?}");
        }
    }
}
