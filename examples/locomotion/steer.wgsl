// Steers the characters, as boids: each keeps its distance from those around it, goes where they go, and follows a
// circle around the middle. Writes the parameters of the crowd: cycles, speed in m/s, turn in radians per cycle.

struct Walker {
    position: vec2f,
    // Radians from +z to +x.
    heading: f32,
    speed: f32,
    // Radians per cycle.
    turn: f32,
    cycles: f32,
    // The speed that it would like to have.
    wanted: f32,
    // 1 if it stands.
    stopped: f32,
}

struct Settings {
    count: u32,
    // The seconds of a frame.
    seconds: f32,
    // The radius of the place in metres.
    radius: f32,
    // The cells on a side of the grid.
    side: u32,
    // Metres per cycle at speed 0, and for each m/s more.
    stride: vec2f,
    // The speeds of walk and run.
    speeds: vec2f,
    // The most radians per cycle of walk and run.
    turns: vec2f,
    pad: vec2f,
}

@group(0) @binding(0) var<storage, read_write> walkers: array<Walker>;
@group(0) @binding(1) var<storage, read_write> parameters: array<f32>;
@group(0) @binding(2) var<uniform> settings: Settings;
// The walkers of the frame before.
@group(0) @binding(3) var<storage, read> others: array<Walker>;
// Cells of a grid: a number of characters, and the indices of the first ones.
@group(0) @binding(4) var<storage, read_write> cells: array<atomic<u32>>;

// The metres on a side of a cell, which is as far as a character looks.
const CELL: f32 = 2.5;
const CELL_WORDS: u32 = 16u;

fn cell_of(position: vec2f) -> vec2i {
    let middle = f32(settings.side) / 2.0;
    return clamp(vec2i(floor(position / CELL + middle)), vec2i(0), vec2i(i32(settings.side) - 1));
}

// Lists each character in its cell.
@compute @workgroup_size(64)
fn place(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= settings.count {
        return;
    }
    let cell = vec2u(cell_of(others[id.x].position));
    let start = CELL_WORDS * (cell.y * settings.side + cell.x);
    let before = atomicAdd(&cells[start], 1u);
    if before < CELL_WORDS - 1u {
        atomicStore(&cells[start + 1u + before], id.x);
    }
}

// The neighbours as a character sees them.
struct Neighbours {
    // Away from characters that are near.
    away: vec2f,
    // The way of those around.
    along: vec2f,
    // The speed that those ahead leave room for.
    room: f32,
}

fn see(one: Walker, index: u32, ahead: vec2f, seen: ptr<function, Neighbours>) {
    let other = others[index];
    let offset = other.position - one.position;
    let distance = max(length(offset), 0.01);
    if distance > CELL {
        return;
    }
    let forwards = dot(offset, ahead);
    let near = 1.0 - distance / CELL;
    // Those behind need no way around them.
    (*seen).away -= offset / distance * near * select(0.3, 1.0, forwards > 0.0);
    let way = vec2f(sin(other.heading), cos(other.heading));
    (*seen).along += way * near * select(0.0, 1.0, other.stopped == 0.0);
    let aside = abs(offset.x * ahead.y - offset.y * ahead.x);
    if forwards > 0.0 && aside < 0.6 {
        (*seen).room = min((*seen).room, max(other.speed * dot(way, ahead), 0.0) + 1.5 * (forwards - 0.9));
    }
}

fn look_around(one: Walker, self_index: u32, ahead: vec2f) -> Neighbours {
    var seen = Neighbours(vec2f(0.0), vec2f(0.0), 100.0);
    let middle = cell_of(one.position);
    let last = i32(settings.side) - 1;
    for (var y = max(middle.y - 1, 0); y <= min(middle.y + 1, last); y += 1) {
        for (var x = max(middle.x - 1, 0); x <= min(middle.x + 1, last); x += 1) {
            let start = CELL_WORDS * (u32(y) * settings.side + u32(x));
            let number = min(atomicLoad(&cells[start]), CELL_WORDS - 1u);
            for (var entry = 1u; entry <= number; entry += 1u) {
                let index = atomicLoad(&cells[start + entry]);
                if index != self_index {
                    see(one, index, ahead, &seen);
                }
            }
        }
    }
    return seen;
}

@compute @workgroup_size(64)
fn steer(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= settings.count {
        return;
    }
    var walker = others[id.x];
    let ahead = vec2f(sin(walker.heading), cos(walker.heading));
    let seen = look_around(walker, id.x, ahead);
    // Back to the middle beyond the radius, otherwise along a circle.
    let out = length(walker.position) / settings.radius;
    let round = vec2f(walker.position.y, -walker.position.x) / max(length(walker.position), 0.01);
    let place = mix(round, -walker.position / settings.radius, smoothstep(0.8, 1.2, out));
    let wish = normalize(2.0 * seen.away + 0.3 * seen.along + place + 0.5 * ahead);
    let moves = select(0.0, 1.0, walker.stopped == 0.0);

    let wanted = moves * clamp(seen.room, 0.4, walker.wanted);
    walker.speed += clamp(wanted - walker.speed, -4.0 * settings.seconds, 1.5 * settings.seconds);
    // The cycles of this frame, so that a planted foot stays where it is. Slower than a walk, the cycles slow down.
    let way = walker.speed * settings.seconds;
    let cycles = way / (settings.stride.x + settings.stride.y * max(walker.speed, settings.speeds.x));
    // A character turns no more per cycle than its gaits do.
    let share = saturate((walker.speed - settings.speeds.x) / (settings.speeds.y - settings.speeds.x));
    let most = mix(settings.turns.x, settings.turns.y, share);
    let side = select(wish.x * ahead.y - wish.y * ahead.x, 1.0, dot(wish, ahead) < -0.9);
    let turn = clamp(3.0 * side, -most, most);
    walker.turn = clamp(walker.turn + (turn - walker.turn) * min(1.0, 4.0 * settings.seconds), -most, most);
    // Along the chord of an arc.
    let middle = walker.heading + 0.5 * walker.turn * cycles;
    walker.position += vec2f(sin(middle), cos(middle)) * way;
    walker.heading += walker.turn * cycles;
    // A number of cycles stays small, so that it stays exact.
    walker.cycles = fract(walker.cycles + cycles);
    walkers[id.x] = walker;
    parameters[3u * id.x] = walker.cycles;
    parameters[3u * id.x + 1u] = walker.speed;
    parameters[3u * id.x + 2u] = walker.turn;
}
