// From where a scene is seen, and in which light. It goes before figure.wgsl, bones.wgsl and stage.wgsl.

/// The same for all that is drawn in a pass. It is `View` of src/render/view.rs.
struct View {
    /// Depth goes from 1 at the nearest to 0 at infinity; in the shadow's pass from 0 to 1.
    clip_from_world: mat4x4f,
    /// To the shadow map: x and y from -1 to 1, depth from 0 to 1.
    shadow_from_world: mat4x4f,
    eye: vec3f,
    /// The height of the ground.
    ground: f32,
    /// From the middle of the picture to its right edge, at distance 1.
    right: vec3f,
    /// From place to place at which the shadow map is sampled, in its texture coordinates.
    penumbra: f32,
    /// From the middle of the picture to its upper edge, at distance 1.
    up: vec3f,
    /// How far a surface is moved along its normal before it looks for its shadow, against shadows of its own.
    shadow_offset: f32,
    /// From the eye to the middle of the picture, of length 1.
    forward: vec3f,
    /// How far beyond the scene haze has taken two thirds of a colour.
    haze: f32,
    /// Towards the sun, of length 1.
    sun: vec3f,
    /// From line to line of the ground's grid.
    grid: f32,
    sun_colour: vec3f,
    /// Up to this height above the ground, it takes light of the sky away.
    contact: f32,
    /// Light from above.
    sky_light: vec3f,
    /// Of what size the scene is, from its middle.
    radius: f32,
    /// Light from below.
    ground_light: vec3f,
    /// How much darker than the ground its grid is; negative for lighter.
    grid_contrast: f32,
    zenith: vec3f,
    /// What bones are drawn with: nearer than all else where it is small, at their place where it is 1.
    bone_depth: f32,
    horizon: vec3f,
    /// How large a joint is drawn.
    joint_size: f32,
    ground_colour: vec3f,
    /// 1 where the background is nothing, and the ground only its shadows.
    transparent: f32,
    middle: vec3f,
    /// The part of the shadow map that is used, from its upper left corner, to the right and down.
    shadow_part: f32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;

/// How much of the sun reaches a point, 0 to 1: the mean of 36 places of the shadow map, each of four texels.
fn sunlight(world: vec3f, normal: vec3f) -> f32 {
    let facing = dot(normal, view.sun);
    if facing <= 0.0 {
        return 0.0;
    }
    let moved = world + normal * view.shadow_offset * (1.5 - facing);
    let place = view.shadow_from_world * vec4f(moved, 1.0);
    if any(abs(place.xy) > vec2f(1.0)) {
        return 1.0;
    }
    // Behind all that throws shadows, there are still shadows.
    let depth = min(place.z, 1.0);
    let middle = view.shadow_part * vec2f(0.5 + 0.5 * place.x, 0.5 - 0.5 * place.y);
    var lit = 0.0;
    for (var y = 0; y < 6; y++) {
        for (var x = 0; x < 6; x++) {
            let offset = (vec2f(f32(x), f32(y)) - 2.5) * view.penumbra;
            lit += textureSampleCompareLevel(shadow_map, shadow_sampler, middle + offset, depth);
        }
    }
    return lit / 36.0;
}

/// A colour behind the haze that is there beyond the scene.
fn hazy(colour: vec3f, world: vec3f) -> vec3f {
    let beyond = length(world - view.eye) - length(view.middle - view.eye) - view.radius;
    let distance = max(beyond, 0.0) / view.haze;
    return mix(colour, view.horizon, 1.0 - exp(-distance * distance));
}

/// The light that a matt surface gives off, of white colour.
fn light(world: vec3f, normal: vec3f, shade: f32) -> vec3f {
    let sun = max(dot(normal, view.sun), 0.0) * shade;
    let above = 0.5 + 0.5 * normal.y;
    // Near the ground, the ground hides the sky from what faces it.
    let near = 1.0 - smoothstep(0.0, view.contact, world.y - view.ground);
    let open = 1.0 - 0.45 * near * (1.0 - 0.5 * above);
    return sun * view.sun_colour + mix(view.ground_light, view.sky_light, above) * open;
}
