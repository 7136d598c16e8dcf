// Meshes of three.js whose vertices are moved by the skin matrices of posse. The matrices stay on the GPU.

import {
  InstancedBufferAttribute, InstancedBufferGeometry, Mesh, MeshStandardNodeMaterial, StorageBufferAttribute,
} from "three/webgpu";
import {
  Fn, attribute, color, dot, hash, instanceIndex, materialColor, mix, normalLocal, positionLocal, storage, vec3, vec4,
} from "three/tsl";

/// Gives a buffer of posse to three.js, as an array of vec4. three.js makes no buffer for an attribute that already has
/// one.
function storageNode(renderer, buffer) {
  const matrices = new StorageBufferAttribute(new Float32Array(4), 4);
  renderer.backend.get(matrices).buffer = buffer;
  return storage(matrices, "vec4").toReadOnly();
}

/// The position of a vertex in the crowd. The normal is moved, too.
///
/// posse writes three rows of four numbers per joint, `rowsPerInstance` rows per instance; those of the skin begin at
/// `firstRow`.
function skinnedPosition(matrices, rowsPerInstance, firstRow, hasNormals) {
  return Fn(() => {
    const joints = attribute("skinIndex", "uvec4");
    const weights = attribute("skinWeight", "vec4");
    const start = instanceIndex.mul(rowsPerInstance).add(firstRow);
    const row = (index) => ["x", "y", "z", "w"]
      .map((lane) => matrices.element(start.add(joints[lane].mul(3)).add(index)).mul(weights[lane]))
      .reduce((sum, term) => sum.add(term));
    const rows = [0, 1, 2].map((index) => row(index).toVar());
    const move = (vector) => vec3(...rows.map((row) => dot(row, vector)));
    const position = move(vec4(positionLocal, 1)).toVar();
    if (hasNormals) normalLocal.assign(move(vec4(normalLocal, 0)).normalize());
    return position.add(attribute("place", "vec3"));
  })();
}

/// The index of a mesh's skin in the file. A mesh of several primitives is a group, which stands for the node.
function skinIndex({ json, associations }, mesh) {
  const node = associations.get(mesh)?.nodes ?? associations.get(mesh.parent)?.nodes;
  return json.nodes[node].skin;
}

/// One mesh of three.js per skinned mesh of a file: each draws all instances of the crowd in one call.
///
/// `places` holds xyz per instance. The skins of the file must belong to one skeleton; their matrices follow each
/// other.
export function skinnedCrowd(renderer, gltf, crowd, places) {
  const skins = gltf.parser.json.skins ?? [];
  const matrices = storageNode(renderer, crowd.skinBuffer());
  // A row has 16 bytes.
  const rowsPerInstance = crowd.skinStride / 16;
  const meshes = [];
  gltf.scene.traverse((found) => {
    if (!found.isSkinnedMesh) return;
    const geometry = new InstancedBufferGeometry().copy(found.geometry);
    geometry.instanceCount = crowd.count;
    geometry.setAttribute("place", new InstancedBufferAttribute(places, 3));
    const material = new MeshStandardNodeMaterial();
    material.copy(found.material);
    const before = skins.slice(0, skinIndex(gltf.parser, found)).reduce((sum, skin) => sum + skin.joints.length, 0);
    material.positionNode = skinnedPosition(matrices, rowsPerInstance, 3 * before, geometry.hasAttribute("normal"));
    material.colorNode = materialColor.mul(mix(color(0xff8f5c), color(0x7fb8ff), hash(instanceIndex)));
    const mesh = new Mesh(geometry, material);
    // The bounds of the geometry are those of one instance in the bind pose.
    mesh.frustumCulled = false;
    meshes.push(mesh);
  });
  return meshes;
}
