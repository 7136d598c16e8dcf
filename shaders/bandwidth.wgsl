//! Writes memory, or copies it, and does nothing else: what an adapter can do at best.

@group(0) @binding(0) var<storage, read_write> memory: array<vec4<f32>>;

/// Every invocation writes 16 bytes in each of the rows of the grid, neighbours beside each other.
@compute @workgroup_size(256)
fn fill(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = arrayLength(&memory);
    let step = 256u * groups.x;
    for (var at = invocation.x; at < count; at += step) {
        memory[at] = vec4(f32(at), 1.0, 2.0, 3.0);
    }
}

/// Every invocation copies 16 bytes of each row of the first half to the second half: as much is read as is written.
@compute @workgroup_size(256)
fn copy(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let count = arrayLength(&memory) / 2u;
    let step = 256u * groups.x;
    for (var at = invocation.x; at < count; at += step) {
        memory[count + at] = memory[at];
    }
}
