// Needs: nothing
//! Kernels that only write memory, only read it, or only copy it: the upper bounds of an adapter.

@group(0) @binding(0) var<storage, read_write> memory: array<vec4<f32>>;

/// Writes 16 bytes per invocation and round. Neighbouring invocations write neighbouring addresses.
@compute @workgroup_size(256)
fn fill(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = arrayLength(&memory);
    let step = 256u * groups.x;
    for (var at = invocation.x; at < count; at += step) {
        memory[at] = vec4(f32(at), 1.0, 2.0, 3.0);
    }
}

/// Writes 48 bytes per invocation, as the pose pass writes the skin matrix of a joint: one workgroup per 64 matrices,
/// and rows at a stride of 48 bytes between neighbouring invocations.
@compute @workgroup_size(64)
fn fill_strided(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = 3u * (64u * (group.y * groups.x + group.x) + lane);
    if at + 2u < arrayLength(&memory) {
        memory[at] = vec4(f32(at), 1.0, 2.0, 3.0);
        memory[at + 1u] = vec4(1.0, f32(at), 2.0, 3.0);
        memory[at + 2u] = vec4(1.0, 2.0, f32(at), 3.0);
    }
}

/// Reads 16 bytes per invocation and round. No kernel writes a negative number, so that nothing is written, but the
/// compiler does not know.
@compute @workgroup_size(256)
fn read_memory(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = arrayLength(&memory);
    let step = 256u * groups.x;
    var least = vec4(0.0);
    for (var at = invocation.x; at < count; at += step) {
        least = min(least, memory[at]);
    }
    if any(least < vec4(0.0)) {
        memory[invocation.x] = least;
    }
}

/// Copies 16 bytes per invocation and round from the first half to the second half: as many bytes are read as are
/// written.
@compute @workgroup_size(256)
fn copy(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = arrayLength(&memory) / 2u;
    let step = 256u * groups.x;
    for (var at = invocation.x; at < count; at += step) {
        memory[count + at] = memory[at];
    }
}
