// Needs: nothing
// The camera, the light and the shadow map of a pass.

@group(0) @binding(0) var<uniform> view: ViewRecord;
@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;

/// The share of sunlight that reaches a point, 0 to 1: the mean of a square of samples of the shadow map, each of four
/// texels.
fn sunlight(world: vec3f, normal: vec3f) -> f32 {
    let facing = dot(normal, view.sun);
    if facing <= 0.0 {
        return 0.0;
    }
    let moved = world + normal * view.shadow_offset * (1.5 - facing);
    let position = view.shadow_from_world * vec4f(moved, 1.0);
    if any(abs(position.xy) > vec2f(1.0)) {
        return 1.0;
    }
    // Points behind the depth range of the shadow map can be in shadow too.
    let depth = min(position.z, 1.0);
    let middle = view.shadow_part * vec2f(0.5 + 0.5 * position.x, 0.5 - 0.5 * position.y);
    var lit = 0.0;
    let half = 0.5 * f32(SHADOW_SAMPLES - 1u);
    for (var y = 0u; y < SHADOW_SAMPLES; y++) {
        for (var x = 0u; x < SHADOW_SAMPLES; x++) {
            let offset = (vec2f(f32(x), f32(y)) - half) * view.penumbra;
            lit += textureSampleCompareLevel(shadow_map, shadow_sampler, middle + offset, depth);
        }
    }
    return lit / f32(SHADOW_SAMPLES * SHADOW_SAMPLES);
}

/// A colour seen through the haze, which begins beyond the scene.
fn hazy(colour: vec3f, world: vec3f) -> vec3f {
    let beyond = length(world - view.eye) - length(view.middle - view.eye) - view.radius;
    let distance = max(beyond, 0.0) / view.haze;
    return mix(colour, view.horizon, 1.0 - exp(-distance * distance));
}

/// The light that a white matt surface reflects.
fn light(world: vec3f, normal: vec3f, shade: f32) -> vec3f {
    let sun = max(dot(normal, view.sun), 0.0) * shade;
    let above = 0.5 + 0.5 * normal.y;
    // Near the ground, surfaces that face it receive less light.
    let near = 1.0 - smoothstep(0.0, view.contact, world.y - view.ground);
    let open = 1.0 - 0.45 * near * (1.0 - 0.5 * above);
    return sun * view.sun_colour + mix(view.ground_light, view.sky_light, above) * open;
}
