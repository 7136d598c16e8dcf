// Needs: nothing
//! Visible lists: the listed instances that are due, and the size of the dispatch that poses them.
//!
//! There are two kernels, one after the other. Before them, the host clears the count of those due and the joints of
//! all instances.
//!
//! A visible list does not change the pose kernels, which read the slot of their instance from the list of due
//! instances. Joints beyond the number that an entry asks for use an empty clip, and so the rest pose, level by level,
//! so that whole waves have nothing to sample.

/// Indices, key times and records of the library. The loaders of records read them.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// The step of the clock, and the number of the frame.
@group(0) @binding(1) var<uniform> frame: Frame;
/// The record that all instances of the batch share.
@group(0) @binding(2) var<uniform> batch: BatchRecord;
/// The visible list, written by a culling pass.
@group(0) @binding(3) var<storage, read> visible: VisibleList;
/// The instances that are due: their number; then for each instance of the batch 0, or the number of joints that are
/// sampled plus 1; then the slots of those due, in no order.
@group(0) @binding(4) var<storage, read_write> due: array<atomic<u32>>;
/// The workgroups of the dispatch that poses them.
@group(0) @binding(5) var<storage, read_write> workgroups: array<u32, 3>;

/// The visible list.
struct VisibleList {
    /// The number of entries. Entries beyond the number of instances are ignored.
    count: u32,
    entries: array<VisibleInstance>,
}

/// Collects the listed instances that are due: each once, with the most joints of its entries.
@compute @workgroup_size(VISIBLE_WORKGROUP_SIZE)
fn visible_collect(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = min(visible.count, batch.instance_count);
    for (var index = invocation.x; index < count; index += VISIBLE_WORKGROUP_SIZE * groups.x) {
        let entry = visible.entries[index];
        let slot = entry.slot;
        if slot >= batch.instance_count || (frame.number + slot) % max(entry.update_interval, 1u) != 0u {
            continue;
        }
        let joints = min(entry.joints, batch.skeleton.joint_count);
        if atomicMax(&due[1u + slot], joints + 1u) == 0u {
            let at = atomicAdd(&due[0], 1u);
            atomicStore(&due[1u + batch.instance_count + at], slot);
        }
    }
}

/// Computes the size of the dispatch: rows of workgroups, each as long as the device allows.
@compute @workgroup_size(1)
fn visible_measure() {
    let groups = (atomicLoad(&due[0]) + batch.instances_per_group - 1u) / batch.instances_per_group;
    let rows = (groups + batch.groups_per_row - 1u) / batch.groups_per_row;
    workgroups = array(min(groups, batch.groups_per_row), rows, 1u);
}
