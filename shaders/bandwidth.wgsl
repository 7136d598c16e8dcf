// Needs: nothing
//! Kernels that only write memory, or only copy it: the upper bound of an adapter.

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
