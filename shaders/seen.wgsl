//! Which of the listed instances are posed now, and how large the dispatch is that poses them.
//!
//! Two kernels, one after the other. Before them the count of those due and the joints of all are set to 0.

/// Indices, key times and records of the library, where the loaders of records look.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// The clock, and the number of the frame.
@group(0) @binding(1) var<uniform> frame: Frame;
/// What the instances share.
@group(0) @binding(2) var<uniform> batch: Batch;
/// What is seen, as a culling pass lists it.
@group(0) @binding(3) var<storage, read> seen: Seen;
/// What is due: how many, then for each instance of the chunk 0 or one more than the joints that are sampled, then the places
/// of those due, in no order.
@group(0) @binding(4) var<storage, read_write> due: array<atomic<u32>>;
/// Workgroups of the dispatch that poses them.
@group(0) @binding(5) var<storage, read_write> workgroups: array<u32, 3>;

/// The list of what is seen.
struct Seen {
    /// How many entries there are. Those beyond the number of instances are left out.
    count: u32,
    entries: array<SeenEntry>,
}

/// Collects the listed instances that are due: each once, with the most joints that an entry of it asks for.
@compute @workgroup_size(SEEN_WORKGROUP_SIZE)
fn seen_collect(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = min(seen.count, batch.instance_count);
    for (var index = invocation.x; index < count; index += SEEN_WORKGROUP_SIZE * groups.x) {
        let entry = seen.entries[index];
        let place = entry.place;
        if place >= batch.instance_count || (frame.number + place) % max(entry.divider, 1u) != 0u {
            continue;
        }
        let joints = min(entry.joints, batch.skeleton.joint_count);
        if atomicMax(&due[1u + place], joints + 1u) == 0u {
            let at = atomicAdd(&due[0], 1u);
            atomicStore(&due[1u + batch.instance_count + at], place);
        }
    }
}

/// Measures the dispatch: rows of workgroups, as long as the device allows.
@compute @workgroup_size(1)
fn seen_measure() {
    let groups = (atomicLoad(&due[0]) + batch.instances_per_group - 1u) / batch.instances_per_group;
    let rows = (groups + batch.groups_per_row - 1u) / batch.groups_per_row;
    workgroups = array(min(groups, batch.groups_per_row), rows, 1u);
}
