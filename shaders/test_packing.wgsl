// Needs: pack
//! The test of a device before it writes skin matrices as `f16`: numbers that the host rounds, too.

/// The bits of two numbers, of which the first become the word of their halves.
@group(0) @binding(0) var<storage, read_write> tested: array<vec2<u32>>;

/// Packs two numbers.
@compute @workgroup_size(WORKGROUP_SIZE)
fn test_packing(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&tested) {
        tested[id.x].x = pack_halves(bitcast<vec2<f32>>(tested[id.x]));
    }
}
