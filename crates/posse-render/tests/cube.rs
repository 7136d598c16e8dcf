//! Parts of glTF files for pictures: a cube, and animated pointers.

use serde_json::{Value, json};

use crate::support::gltf_builder::GltfBuilder;

/// Adds the accessors of a cube around the origin, and returns a primitive of it. Each side has its normal.
pub fn cube_primitive(file: &mut GltfBuilder, half: f32) -> Value {
    let (mut positions, mut normals, mut indices) = (Vec::new(), Vec::new(), Vec::<u8>::new());
    for (axis, sign) in (0..3).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]) {
        let first = normals.len() as u8 / 3;
        // Counterclockwise as seen from outside: one of the other axes is reversed with the side.
        for [across, up] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
            let mut corner = [0.0; 3];
            (corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3]) = (sign, sign * across, up);
            positions.extend(corner.map(|number| half * number));
            normals.extend([0, 1, 2].map(|other| if other == axis { sign } else { 0.0 }));
        }
        indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }
    let (position, normal) = (file.floats("VEC3", &positions), file.floats("VEC3", &normals));
    let indices = file.accessor("SCALAR", 5121, false, indices.len(), &indices);
    json!({ "attributes": { "POSITION": position, "NORMAL": normal }, "indices": indices })
}

/// Adds an animation of one second that changes the value of a pointer from `from` to `to`.
pub fn animate_pointer(file: &mut GltfBuilder, pointer: &str, kind: &str, from: &[f32], to: &[f32]) {
    let (times, values) = (file.floats("SCALAR", &[0.0, 1.0]), file.floats(kind, &[from, to].concat()));
    let target = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": pointer } } });
    file.animate(target, times, values, "LINEAR");
}
