// Needs: view
// Skeletons: an octahedron for each bone, and one at each joint.

@group(1) @binding(0) var<storage, read> matrices: array<vec4f>;
@group(1) @binding(2) var<storage, read> instances: array<InstanceRecord>;
@group(2) @binding(0) var<uniform> part: PartRecord;
/// The joints at the two ends of each bone, and its colour in four bytes. A joint itself is a pair of equal indices.
@group(2) @binding(1) var<storage, read> bones: array<vec4u>;

struct VertexOutput {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) @interpolate(flat) normal: vec3f,
    @location(2) @interpolate(flat) colour: vec3f,
}

fn joint_at(instance: u32, joint: u32) -> vec3f {
    let row = instance * part.row_count + 3u * joint;
    let local = vec4f(matrices[row].w, matrices[row + 1u].w, matrices[row + 2u].w, 1.0);
    let world = instances[instance].world;
    return vec3f(dot(world[0], local), dot(world[1], local), dot(world[2], local));
}

/// A corner of an octahedron around a bone: 0 is its start, 5 its end; 1 to 4 are around it, at the share `waist` of
/// its length.
fn corner(start: vec3f, end: vec3f, width: f32, waist: f32, index: u32) -> vec3f {
    let along = end - start;
    let length = max(length(along), 1e-12);
    let axis = along / length;
    let helper = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), abs(axis.y) < 0.9);
    let right = normalize(cross(helper, axis));
    let up = cross(axis, right);
    let around = array(right, up, -right, -up);
    if index == 0u {
        return start;
    }
    if index == 5u {
        return end;
    }
    return start + waist * along + width * around[index - 1u];
}

@vertex
fn bone_vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) bone_index: u32) -> VertexOutput {
    var corners = array<u32, BONE_VERTICES>(
        0u, 2u, 1u, 0u, 3u, 2u, 0u, 4u, 3u, 0u, 1u, 4u, 5u, 1u, 2u, 5u, 2u, 3u, 5u, 3u, 4u, 5u, 4u, 1u,
    );
    // `vertex_count` is the number of bones per instance.
    let instance = bone_index / part.vertex_count;
    let bone = bones[bone_index % part.vertex_count];
    var start = joint_at(instance, bone.x);
    var end = joint_at(instance, bone.y);
    var width = 0.5 * view.joint_size;
    var waist = 0.5;
    let colour = unpack4x8unorm(bone.z).rgb;
    if bone.x == bone.y {
        start.y -= width;
        end.y += width;
    } else {
        width = min(0.1 * length(end - start), view.joint_size);
        waist = 0.15;
    }
    let first = 3u * (index / 3u);
    let a = corner(start, end, width, waist, corners[first]);
    let b = corner(start, end, width, waist, corners[first + 1u]);
    let c = corner(start, end, width, waist, corners[first + 2u]);
    let normal = cross(b - a, c - a);
    let world = corner(start, end, width, waist, corners[index]);
    var clip = view.clip_from_world * vec4f(world, 1.0);
    // With a `bone_depth` below 1, bones have depths nearer than everything else and hide only each other.
    clip.z = mix(clip.w, clip.z, view.bone_depth);
    return VertexOutput(clip, world, normal / max(length(normal), 1e-30), colour);
}

@fragment
fn bone_fragment(in: VertexOutput) -> @location(0) vec4f {
    let shade = select(1.0, sunlight(in.world, in.normal), view.bone_depth == 1.0);
    return vec4f(hazy(in.colour * light(in.world, in.normal, shade), in.world), 1.0);
}
