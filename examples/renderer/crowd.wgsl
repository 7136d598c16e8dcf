// The shading of the crowd, its shadows and the ground. This file follows skinning.wgsl.

/// The direction to the sun.
const SUN = vec3f(0.52, 0.62, 0.58);
const SUN_COLOUR = vec3f(1.0, 0.86, 0.66) * 1.12;
const SKY_COLOUR = vec3f(0.50, 0.62, 0.80);
const HAZE = vec3f(0.62, 0.72, 0.80);

struct VertexOutput {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) parts: vec4f,
    /// The distance from the camera, in metres.
    @location(3) distance: f32,
    @location(4) @interpolate(flat) instance: u32,
}

fn vertex_output(world: vec3f, normal: vec3f, parts: vec4f, instance: u32) -> VertexOutput {
    let clip = view.clip_from_world * vec4f(world, 1.0);
    return VertexOutput(clip, world, normal, parts, clip.w, instance);
}

/// A vertex of an instance, moved by its pose and its placement.
fn posed(vertex: Vertex, index: u32) -> VertexOutput {
    let placement = placements[index];
    let rows = skin_matrix(index, vertex.joints, vertex.weights);
    let world = placement.position + turned(transformed(rows, vec4f(vertex.position, 1.0)), placement.heading);
    let normal = turned(transformed(rows, vec4f(vertex.normal, 0.0)), placement.heading);
    return vertex_output(world, normal, vertex.parts, placement.instance);
}

@vertex
fn character_vertex(vertex: Vertex, @builtin(instance_index) index: u32) -> VertexOutput {
    return posed(vertex, index);
}

/// The same vertex, projected onto the ground along the sunlight.
@vertex
fn shadow_vertex(vertex: Vertex, @builtin(instance_index) index: u32) -> VertexOutput {
    let lit = posed(vertex, index);
    let ground = lit.world - SUN * (max(lit.world.y, 0.0) / SUN.y);
    return vertex_output(vec3f(ground.x, 0.004, ground.z), vec3f(0.0), vec4f(0.0), 0u);
}

@vertex
fn ground_vertex(@builtin(vertex_index) index: u32) -> VertexOutput {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    return vertex_output(vec3f(400.0 * corner.x, 0.0, 400.0 * corner.y), vec3f(0.0, 1.0, 0.0), vec4f(0.0), 0u);
}

@fragment
fn character_fragment(in: VertexOutput) -> @location(0) vec4f {
    let normal = normalize(in.normal);
    let sun = max(dot(normal, normalize(SUN)), 0.0);
    // Less light of the sky near the ground and from below.
    let sky = (0.55 + 0.45 * normal.y) * mix(0.55, 1.0, smoothstep(0.0, 1.2, in.world.y));
    let colour = body_colour(in.instance, in.parts) * (sun * SUN_COLOUR + sky * SKY_COLOUR * 0.7);
    return vec4f(hazy(colour, in.distance), 1.0);
}

@fragment
fn ground_fragment(in: VertexOutput) -> @location(0) vec4f {
    return vec4f(hazy(ground(in.world.xz) * (SUN_COLOUR * 0.6 + SKY_COLOUR * 0.6), in.distance), 1.0);
}

@fragment
fn shadow_fragment(in: VertexOutput) -> @location(0) vec4f {
    return vec4f(hazy(ground(in.world.xz) * SKY_COLOUR * 0.6, in.distance), 1.0);
}

/// The number of the instance instead of its colour, for a check of the picture: three digits in base 6, starting at 1.
@fragment
fn identity_fragment(in: VertexOutput) -> @location(0) vec4f {
    let number = in.instance + 1u;
    return vec4f(vec3f(vec3u(number, number / 6u, number / 36u) % 6u) / 5.0, 1.0);
}

/// A running track: red, with a white line between lanes.
fn ground(position: vec2f) -> vec3f {
    let lane = position.x / 1.25;
    let line = abs(fract(lane) - 0.5) * 1.12;
    let blur = max(fwidth(position.x), 0.001);
    // A line narrower than a pixel fades, so that it does not flicker.
    let white = (1.0 - smoothstep(0.025, 0.025 + blur, line)) * min(1.0, 0.05 / blur);
    let within = 1.0 - smoothstep(10.0, 10.0 + blur, abs(position.x));
    let grass = vec3f(0.20, 0.33, 0.13);
    return mix(grass, mix(vec3f(0.50, 0.17, 0.11), vec3f(0.85), white), within);
}

fn hazy(colour: vec3f, distance: f32) -> vec3f {
    return mix(HAZE, colour, exp(-pow(distance / 50.0, 2.0)));
}

/// The colour of an instance at a point of its body: hair, shirt, shorts and shoes by their shares; the rest is skin.
fn body_colour(instance: u32, parts: vec4f) -> vec3f {
    var shirts = array<vec3f, 8>(
        vec3f(0.80, 0.09, 0.10), vec3f(0.03, 0.36, 0.60), vec3f(0.95, 0.60, 0.05), vec3f(0.85, 0.85, 0.82),
        vec3f(0.02, 0.45, 0.33), vec3f(0.45, 0.12, 0.50), vec3f(0.95, 0.30, 0.12), vec3f(0.06, 0.60, 0.70),
    );
    var skins = array<vec3f, 5>(
        vec3f(0.80, 0.52, 0.38), vec3f(0.62, 0.36, 0.23), vec3f(0.38, 0.20, 0.12), vec3f(0.86, 0.62, 0.50),
        vec3f(0.20, 0.10, 0.06),
    );
    var hairs = array<vec3f, 5>(
        vec3f(0.03, 0.02, 0.02), vec3f(0.12, 0.06, 0.03), vec3f(0.45, 0.28, 0.10), vec3f(0.25, 0.08, 0.03),
        vec3f(0.30, 0.30, 0.32),
    );
    let bits = hash(instance);
    let shirt = shirts[bits % 8u];
    let shorts = mix(vec3f(0.03, 0.035, 0.06), shirts[(bits >> 9u) % 8u], f32((bits >> 13u) % 3u) * 0.35);
    let shoe = mix(vec3f(0.75), shirts[(bits >> 17u) % 8u], 0.7);
    let skin = skins[(bits >> 3u) % 5u];
    let hair = hairs[(bits >> 6u) % 5u];
    let rest = max(1.0 - dot(parts, vec4f(1.0)), 0.0);
    return parts.x * hair + parts.y * shirt + parts.z * shorts + parts.w * shoe + rest * skin;
}

/// A hash of a number. Source: C. Wellons, "Prospecting for hash functions", 2018: lowbias32.
fn hash(number: u32) -> u32 {
    var x = number + 1u;
    x = (x ^ (x >> 16u)) * 0x7feb352du;
    x = (x ^ (x >> 15u)) * 0x846ca68bu;
    return x ^ (x >> 16u);
}
