// Needs: view
// The ground and the sky.

struct VertexOutput {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
}

/// The ground: a square of two triangles.
@vertex
fn ground_vertex(@builtin(vertex_index) index: u32) -> VertexOutput {
    var corners = array<u32, GROUND_VERTICES>(0u, 1u, 2u, 2u, 1u, 3u);
    let number = corners[index];
    let corner = vec2f(f32(number & 1u), f32(number >> 1u)) * 2.0 - 1.0;
    let reach = 6.0 * view.haze;
    let world = vec3f(view.middle.x + reach * corner.x, view.ground, view.middle.z + reach * corner.y);
    return VertexOutput(view.clip_from_world * vec4f(world, 1.0), world);
}

/// The share of a pixel that lines of a grid cover, 0 to 1. A line thinner than a pixel fades, so that it does not
/// flicker.
fn grid(position: vec2f, spacing: f32, width: f32) -> f32 {
    let cell = position / spacing;
    let pixel = max(fwidth(cell), vec2f(1e-6));
    let half = 0.5 * width / spacing;
    let distance = abs(fract(cell - 0.5) - 0.5);
    let line = (1.0 - smoothstep(vec2f(half), half + pixel, distance)) * min(vec2f(1.0), 2.0 * half / pixel);
    // Several lines per pixel fade out.
    let fine = line * (1.0 - smoothstep(vec2f(0.2), vec2f(0.6), pixel));
    return max(fine.x, fine.y);
}

@fragment
fn ground_fragment(in: VertexOutput) -> @location(0) vec4f {
    let up = vec3f(0.0, 1.0, 0.0);
    let shade = sunlight(in.world, up);
    let distance = length(in.world.xz - view.middle.xz) / view.radius;
    let lines = grid(in.world.xz, view.grid, 0.02 * view.grid) * (1.0 - smoothstep(1.0, 3.5, distance));
    let lit = view.sky_light + max(view.sun.y, 0.0) * view.sun_colour * shade;
    let sunny = view.sky_light + max(view.sun.y, 0.0) * view.sun_colour;
    // `ground_colour` is the colour in the sun: the light is divided by the light of a sunny point.
    let colour = view.ground_colour * (1.0 - view.grid_contrast * lines) * lit / sunny;
    if view.transparent > 0.0 {
        return vec4f(0.0, 0.0, 0.0, 0.6 * (1.0 - shade));
    }
    return vec4f(hazy(colour, in.world), 1.0);
}

/// A triangle that covers the picture, infinitely far away.
@vertex
fn sky_vertex(@builtin(vertex_index) index: u32) -> VertexOutput {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return VertexOutput(vec4f(corner, 0.0, 1.0), view.forward + corner.x * view.right + corner.y * view.up);
}

@fragment
fn sky_fragment(in: VertexOutput) -> @location(0) vec4f {
    let height = normalize(in.world).y;
    let colour = mix(view.horizon, view.zenith, smoothstep(0.0, 0.7, max(height, 0.0)));
    return vec4f(colour, 1.0) * (1.0 - view.transparent);
}
