// Puts the feet of the characters on the ground. Writes the parameters of the crowd: cycles, the metres by which the
// pelvis sinks, and for each foot the target of its ankle and a point over it.

struct Walker {
    // The radius of its circle in metres.
    radius: f32,
    // The angle on its circle at frame 0.
    angle: f32,
    // Cycles of two steps: at frame 0, and per frame.
    start: f32,
    per_frame: f32,
}

struct Settings {
    count: u32,
    frame: f32,
    // The metres of a cycle.
    stride: f32,
    // The metres from one height of the texture to the next.
    cell: f32,
    // The position of the first height, along both axes.
    first: f32,
    // The number of heights on a side.
    side: u32,
    pad: vec2f,
}

@group(0) @binding(0) var<storage, read_write> parameters: array<f32>;
@group(0) @binding(1) var<storage, read> walkers: array<Walker>;
// For each row of a cycle and each foot over flat ground: the ball, the way from it to the ankle, and the foot's
// direction upwards.
@group(0) @binding(2) var<storage, read> steps: array<vec4f>;
@group(0) @binding(3) var<uniform> settings: Settings;
@group(0) @binding(4) var heights: texture_2d<f32>;

const ROWS: u32 = 96u;
const PARAMETERS: u32 = 14u;
// Half the length of a foot in metres: the slope of the ground is that under a foot.
const FOOT: f32 = 0.1;

fn height_at(at: vec2f) -> f32 {
    let cells = clamp((at - settings.first) / settings.cell, vec2f(0.0), vec2f(f32(settings.side) - 1.001));
    let low = vec2u(cells);
    let part = cells - floor(cells);
    let near = vec2f(textureLoad(heights, low, 0).x, textureLoad(heights, low + vec2u(1u, 0u), 0).x);
    let far = vec2f(textureLoad(heights, low + vec2u(0u, 1u), 0).x, textureLoad(heights, low + vec2u(1u, 1u), 0).x);
    let rows = vec2f(mix(near.x, near.y, part.x), mix(far.x, far.y, part.x));
    return mix(rows.x, rows.y, part.y);
}

fn normal_at(at: vec2f) -> vec3f {
    let x = height_at(at + vec2f(FOOT, 0.0)) - height_at(at - vec2f(FOOT, 0.0));
    let z = height_at(at + vec2f(0.0, FOOT)) - height_at(at - vec2f(0.0, FOOT));
    return normalize(vec3f(-x, 2.0 * FOOT, -z));
}

// A vector, turned by the shortest rotation from one direction to another, which are not opposite.
fn turn(vector: vec3f, before: vec3f, after: vec3f) -> vec3f {
    let axis = cross(before, after);
    return dot(before, after) * vector + cross(axis, vector) + axis * (dot(axis, vector) / (1.0 + dot(before, after)));
}

struct Foot {
    ankle: vec3f,
    over: vec3f,
    // The height of the ground under it, over that under the character.
    ground: f32,
}

fn foot(index: u32, cycles: f32, position: vec2f, heading: f32, ground: f32) -> Foot {
    let along = fract(cycles) * f32(ROWS);
    let row = min(u32(along), ROWS - 1u);
    let part = along - f32(row);
    let at = 3u * (2u * row + index);
    let flat = array(
        mix(steps[at].xyz, steps[at + 6u].xyz, part),
        mix(steps[at + 1u].xyz, steps[at + 7u].xyz, part),
        normalize(mix(steps[at + 2u].xyz, steps[at + 8u].xyz, part)),
    );
    let ahead = vec2f(sin(heading), cos(heading));
    let left = vec2f(ahead.y, -ahead.x);
    let place = position + flat[0].x * left + flat[0].z * ahead;
    let normal = normal_at(place);
    let up = vec3f(dot(normal.xz, left), normal.y, dot(normal.xz, ahead));
    // The sole turns with the ground, about the ball.
    let upwards = turn(flat[2], vec3f(0.0, 1.0, 0.0), up);
    let under = height_at(place) - ground;
    let ankle = flat[0] + vec3f(0.0, under, 0.0) + turn(flat[1], flat[2], upwards);
    return Foot(ankle, ankle + upwards, under);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= settings.count {
        return;
    }
    let walker = walkers[id.x];
    let walked = walker.per_frame * settings.frame;
    let angle = walker.angle + walked * settings.stride / walker.radius;
    let position = walker.radius * vec2f(sin(angle), cos(angle));
    let heading = angle + 1.57079633;
    let cycles = fract(walker.start + walked);
    let ground = height_at(position);
    let left = foot(0u, cycles, position, heading, ground);
    let right = foot(1u, cycles, position, heading, ground);
    let at = PARAMETERS * id.x;
    parameters[at] = cycles;
    // The pelvis stays over the lower foot.
    parameters[at + 1u] = max(0.0, -min(left.ground, right.ground));
    write(at + 2u, left.ankle);
    write(at + 5u, left.over);
    write(at + 8u, right.ankle);
    write(at + 11u, right.over);
}

fn write(at: u32, vector: vec3f) {
    parameters[at] = vector.x;
    parameters[at + 1u] = vector.y;
    parameters[at + 2u] = vector.z;
}
