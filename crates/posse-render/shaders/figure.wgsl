// Needs: full_matrix, view
// Figures, moved by the buffers that the pose kernel writes.

/// A vertex of a mesh, in the bind pose.
struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) texture: vec2f,
    @location(3) colour: vec4f,
    @location(4) joints: vec4u,
    @location(5) more_joints: vec4u,
    @location(6) weights: vec4f,
    @location(7) more_weights: vec4f,
}

/// Skin matrices or model matrices: three rows per matrix, all matrices of an instance in sequence.
@group(1) @binding(0) var<storage, read> matrices: array<vec4f>;
/// Morph weights and properties: `part.value_count` numbers per instance.
@group(1) @binding(1) var<storage, read> values: array<f32>;
@group(1) @binding(2) var<storage, read> instances: array<InstanceRecord>;
@group(2) @binding(0) var<uniform> part: PartRecord;
/// Displacements of position and normal, for each vertex of each morph target.
@group(2) @binding(1) var<storage, read> deltas: array<vec4f>;
@group(2) @binding(2) var<uniform> material: MaterialRecord;
@group(2) @binding(3) var base_texture: texture_2d<f32>;
@group(2) @binding(4) var base_sampler: sampler;
/// The matrices of the copies of the mesh, three rows each.
@group(2) @binding(5) var<storage, read> copies: array<vec4f>;
/// The indices of the numbers among the values of an instance that show the part: it is hidden if one is below 0.5.
@group(2) @binding(6) var<storage, read> visibility: array<u32>;
@group(2) @binding(7) var emission_texture: texture_2d<f32>;

struct VertexOutput {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) texture: vec2f,
    @location(3) colour: vec4f,
    /// The base colour of the material.
    @location(4) @interpolate(flat) base: vec4f,
    /// The emitted light, and the alpha below which pixels are discarded.
    @location(5) @interpolate(flat) emitted: vec4f,
    /// 1 if the matrices of the instance mirror the mesh, so that its triangles are clockwise as seen from outside.
    @location(6) @interpolate(flat) mirrored: u32,
}

fn matrix_at(row: u32) -> mat3x4f {
    return full_matrix(matrices[row], matrices[row + 1u], matrices[row + 2u]);
}

/// Adds the matrices of four joints, multiplied by their weights.
fn add_weighted(sum: mat3x4f, first_row: u32, joints: vec4u, weights: vec4f) -> mat3x4f {
    var rows = sum;
    for (var i = 0u; i < 4u; i++) {
        rows += weights[i] * matrix_at(first_row + 3u * joints[i]);
    }
    return rows;
}

/// The matrix that moves a vertex of an instance: the weighted mean of the matrices of its joints.
fn vertex_matrix(vertex: Vertex, index: u32) -> mat3x4f {
    let first_row = index * part.row_count + part.first_row;
    if part.influences == 0u {
        return matrix_at(first_row);
    }
    var rows = add_weighted(mat3x4f(), first_row, vertex.joints, vertex.weights);
    if part.influences > 4u {
        rows = add_weighted(rows, first_row, vertex.more_joints, vertex.more_weights);
    }
    return rows;
}

/// The product of two matrices: `second` moves a point first.
fn product(first: mat3x4f, second: mat3x4f) -> mat3x4f {
    var rows = second * mat3x3f(first[0].xyz, first[1].xyz, first[2].xyz);
    rows[0].w += first[0].w;
    rows[1].w += first[1].w;
    rows[2].w += first[2].w;
    return rows;
}

/// Returns `true` if a matrix mirrors: its determinant is negative.
fn mirrors(rows: mat3x4f) -> bool {
    return dot(rows[0].xyz, cross(rows[1].xyz, rows[2].xyz)) < 0.0;
}

/// Transforms a normal by the cofactors of a matrix, so that it stays perpendicular to the surface under any scale.
fn transform_normal(rows: mat3x4f, normal: vec3f) -> vec3f {
    let x = cross(rows[1].xyz, rows[2].xyz);
    let y = cross(rows[2].xyz, rows[0].xyz);
    let z = cross(rows[0].xyz, rows[1].xyz);
    // A mirroring matrix reverses the cofactors.
    let side = select(1.0, -1.0, mirrors(rows));
    return side * vec3f(dot(x, normal), dot(y, normal), dot(z, normal));
}

/// A dye of an instance, from four bytes.
fn dye(instance: u32, number: u32) -> vec4f {
    return unpack4x8unorm(instances[instance].dyes[number]);
}

/// A number of the material, or the one among the values of an instance that replaces it: see `PartRecord`.
fn current(number: f32, source: u32, index: u32) -> f32 {
    if source == 0u {
        return number;
    }
    return values[index * part.value_count + source - 1u];
}

/// Three of these numbers.
fn current_three(numbers: vec3f, sources: vec3u, index: u32) -> vec3f {
    let x = current(numbers.x, sources.x, index);
    return vec3f(x, current(numbers.y, sources.y, index), current(numbers.z, sources.z, index));
}

/// The material of an instance.
fn current_material(index: u32) -> MaterialRecord {
    var found = material;
    // A loop of at most one round: software adapters run both sides of a branch, but leave a loop at once.
    for (var once = 0u; once < (part.flags & PART_HAS_SOURCES); once++) {
        let sources = part.base_colour;
        let colour = current_three(found.base_colour.rgb, sources.xyz, index);
        found.base_colour = vec4f(colour, current(found.base_colour.a, sources.w, index));
        found.emissive = current_three(found.emissive, part.emissive, index);
        found.emissive_strength = current(found.emissive_strength, part.emissive_strength, index);
        found.cutoff = current(found.cutoff, part.cutoff, index);
        found.texture_scale.x = current(found.texture_scale.x, part.texture_scale.x, index);
        found.texture_scale.y = current(found.texture_scale.y, part.texture_scale.y, index);
        found.texture_offset.x = current(found.texture_offset.x, part.texture_offset.x, index);
        found.texture_offset.y = current(found.texture_offset.y, part.texture_offset.y, index);
        if part.texture_rotation != 0u {
            let angle = current(0.0, part.texture_rotation, index);
            found.texture_direction = vec2f(cos(angle), sin(angle));
        }
    }
    return found;
}

/// Returns `true` if a joint of the part, or one above it, hides the part in an instance.
fn is_hidden(index: u32) -> bool {
    var hidden = false;
    for (var i = 0u; i < part.visibility_count; i++) {
        hidden |= values[index * part.value_count + visibility[i]] < 0.5;
    }
    return hidden;
}

/// A vertex of an instance of a draw, moved by the pose and the transform of an instance of the crowd.
fn posed(vertex: Vertex, vertex_index: u32, draw_instance: u32) -> VertexOutput {
    let index = draw_instance / max(part.copy_count, 1u);
    var position = vertex.position;
    var normal = vertex.normal;
    for (var morph = 0u; morph < part.target_count; morph++) {
        let weight = values[index * part.value_count + part.first_value + morph];
        if weight != 0.0 {
            let delta = 2u * (morph * part.vertex_count + vertex_index);
            position += weight * deltas[delta].xyz;
            normal += weight * deltas[delta + 1u].xyz;
        }
    }
    var rows = vertex_matrix(vertex, index);
    let world = instances[index].world;
    let placed = full_matrix(world[0], world[1], world[2]);
    var mirrored = false;
    // Loops of at most one round, as in `current_material`.
    for (var once = 0u; once < part.flags / PART_MAY_MIRROR; once++) {
        // One joint tells whether a skin mirrors. A mean of joints that differ may be anything.
        let first_joint = select(0u, vertex.joints.x, part.influences > 0u);
        let moved = matrix_at(index * part.row_count + part.first_row + 3u * first_joint);
        mirrored = mirrors(moved) != mirrors(placed);
    }
    for (var once = 0u; once < min(part.copy_count, 1u); once++) {
        let row = 3u * (draw_instance % part.copy_count);
        let copy = full_matrix(copies[row], copies[row + 1u], copies[row + 2u]);
        rows = product(rows, copy);
        mirrored = mirrored != mirrors(copy);
    }
    var output: VertexOutput;
    output.world = full_matrix_point(placed, full_matrix_point(rows, position));
    output.normal = transform_normal(placed, transform_normal(rows, normal));
    output.mirrored = select(0u, 1u, mirrored);
    output.clip = view.clip_from_world * vec4f(output.world, 1.0);
    if is_hidden(index) {
        // Triangles whose corners are equal have no pixels.
        output.clip = vec4f(0.0, 0.0, 0.0, 1.0);
    }
    let own = current_material(index);
    output.base = own.base_colour;
    output.emitted = vec4f(own.emissive * own.emissive_strength, own.cutoff);
    let scaled = own.texture_scale * vertex.texture;
    let along = own.texture_direction;
    output.texture = own.texture_offset + vec2f(dot(along, scaled), along.x * scaled.y - along.y * scaled.x);
    if material.colours == COLOURS_DYES {
        let shares = vertex.colour;
        let rest = max(1.0 - dot(shares, vec4f(1.0)), 0.0);
        let mixed = shares.x * dye(index, 0u) + shares.y * dye(index, 1u) + shares.z * dye(index, 2u);
        output.colour = vec4f((mixed + shares.w * dye(index, 3u) + rest * dye(index, 4u)).rgb, 1.0);
    } else if material.colours == COLOURS_OVERLAY {
        output.colour = vertex.colour;
    } else {
        output.colour = vertex.colour * vec4f(dye(index, 0u).rgb, 1.0);
    }
    return output;
}

@vertex
fn figure_vertex(vertex: Vertex, @builtin(vertex_index) vertex_index: u32, @builtin(instance_index) index: u32) -> VertexOutput {
    return posed(vertex, vertex_index, index);
}

/// The base colour of a pixel, with its alpha.
fn base_colour(in: VertexOutput) -> vec4f {
    let base = in.base * textureSample(base_texture, base_sampler, in.texture);
    if material.colours == COLOURS_OVERLAY {
        return vec4f(mix(base.rgb, in.colour.rgb, in.colour.a), base.a);
    }
    return base * in.colour;
}

@fragment
fn figure_fragment(in: VertexOutput, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let base = base_colour(in);
    // Derivatives need all pixels of a quad, so they come before any discard.
    let flat_normal = normalize(cross(dpdx(in.world), dpdy(in.world)));
    let emitted = in.emitted.rgb * textureSample(emission_texture, base_sampler, in.texture).rgb;
    let outside = front != (in.mirrored == 1u);
    if base.a < in.emitted.w || (material.double_sided == 0u && !outside) {
        discard;
    }
    if material.unlit == 1u {
        return vec4f(hazy(base.rgb + emitted, in.world), base.a);
    }
    let eye = normalize(view.eye - in.world);
    // A zero normal is replaced by the normal of the triangle.
    var normal = select(-flat_normal, flat_normal, dot(flat_normal, eye) > 0.0);
    if dot(in.normal, in.normal) > 0.0 {
        normal = normalize(in.normal);
        normal = select(-normal, normal, outside);
    }
    let shade = sunlight(in.world, normal);
    let rim = pow(1.0 - max(dot(normal, eye), 0.0), 4.0) * 0.12;
    let gloss = pow(max(dot(normal, normalize(eye + view.sun)), 0.0), 40.0) * 0.06 * shade;
    let matt = base.rgb * (light(in.world, normal, shade) + rim * view.sky_light);
    return vec4f(hazy(matt + gloss * view.sun_colour + emitted, in.world), base.a);
}

/// The shadow of a surface with transparent pixels.
@fragment
fn shadow_fragment(in: VertexOutput) {
    if base_colour(in).a < max(in.emitted.w, 0.5) {
        discard;
    }
}
