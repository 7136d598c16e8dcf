// Needs: figure
// Positions of vertices in the world, written to one pixel per vertex.

/// The width and height of the target, in pixels.
override probe_width: u32 = 1u;
override probe_height: u32 = 1u;

struct Probed {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) world: vec3f,
}

@vertex
fn probe_vertex(vertex: Vertex, @builtin(vertex_index) vertex_index: u32, @builtin(instance_index) index: u32) -> Probed {
    let pixel = index * part.vertex_count + vertex_index;
    let position = vec2f(f32(pixel % probe_width), f32(pixel / probe_width)) + 0.5;
    let size = vec2f(f32(probe_width), f32(probe_height));
    let corner = vec2f(-1.0, 1.0) + vec2f(2.0, -2.0) * position / size;
    return Probed(vec4f(corner, 0.0, 1.0), posed(vertex, vertex_index, index).world);
}

@fragment
fn probe_fragment(in: Probed) -> @location(0) vec4f {
    return vec4f(in.world, 1.0);
}
