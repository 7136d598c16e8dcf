// Meshes of three.js whose vertices are moved by skin matrices in a texture, on WebGL2: all instances in one call per
// mesh.

import {
  DataTexture, FloatType, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, NearestFilter, RGBAFormat,
} from "three";

/// The texels of a row of the texture.
const WIDTH = 1024;

/// The code that takes the place of three.js' own skinning in the vertex shader. A texel is a row of a matrix.
const SHADER = {
  "#include <skinning_pars_vertex>": `
    attribute vec4 skinIndex;
    attribute vec4 skinWeight;
    attribute vec3 place;
    uniform highp sampler2D skinMatrices;
    vec4 rowOf(float joint, int row) {
      int texel = gl_InstanceID * ROWS_PER_INSTANCE + FIRST_ROW + 3 * int(joint) + row;
      return texelFetch(skinMatrices, ivec2(texel % ${WIDTH}, texel / ${WIDTH}), 0);
    }
    vec4 skinRow(int row) {
      return skinWeight.x * rowOf(skinIndex.x, row) + skinWeight.y * rowOf(skinIndex.y, row)
        + skinWeight.z * rowOf(skinIndex.z, row) + skinWeight.w * rowOf(skinIndex.w, row);
    }`,
  "#include <skinbase_vertex>": "vec4 rows[3] = vec4[3](skinRow(0), skinRow(1), skinRow(2));",
  "#include <skinnormal_vertex>": `
    objectNormal = vec3(dot(rows[0].xyz, objectNormal), dot(rows[1].xyz, objectNormal), dot(rows[2].xyz, objectNormal));`,
  "#include <skinning_vertex>": `
    vec4 unmoved = vec4(transformed, 1.0);
    transformed = vec3(dot(rows[0], unmoved), dot(rows[1], unmoved), dot(rows[2], unmoved)) + place;`,
};

/// The index of a mesh's skin in the file. A mesh of several primitives is a group, which stands for the node.
function skinIndex({ json, associations }, mesh) {
  const node = associations.get(mesh)?.nodes ?? associations.get(mesh.parent)?.nodes;
  return json.nodes[node].skin;
}

/// One mesh of three.js per skinned mesh of a file, and a function that brings them the matrices of the crowd's last
/// pose.
///
/// `places` holds xyz per instance. The skins of the file must belong to one skeleton; their matrices follow each
/// other.
export function skinnedCrowd(gltf, crowd, places) {
  const rowsPerInstance = crowd.skinStride / 16;
  const height = Math.ceil((crowd.count * rowsPerInstance) / WIDTH);
  const texture = new DataTexture(new Float32Array(4 * WIDTH * height), WIDTH, height, RGBAFormat, FloatType);
  [texture.minFilter, texture.magFilter] = [NearestFilter, NearestFilter];
  const update = () => {
    texture.image.data.set(crowd.skinBuffer());
    texture.needsUpdate = true;
  };
  const skins = gltf.parser.json.skins ?? [];
  const meshes = [];
  gltf.scene.traverse((found) => {
    if (!found.isSkinnedMesh) return;
    const geometry = new InstancedBufferGeometry().copy(found.geometry);
    geometry.instanceCount = crowd.count;
    geometry.setAttribute("place", new InstancedBufferAttribute(places, 3));
    const before = skins.slice(0, skinIndex(gltf.parser, found)).reduce((sum, skin) => sum + skin.joints.length, 0);
    const material = found.material.clone();
    material.defines = { ...material.defines, ROWS_PER_INSTANCE: rowsPerInstance, FIRST_ROW: 3 * before };
    material.onBeforeCompile = (shader) => {
      shader.uniforms.skinMatrices = { value: texture };
      for (const [own, replaced] of Object.entries(SHADER)) shader.vertexShader = shader.vertexShader.replace(own, replaced);
    };
    const mesh = new Mesh(geometry, material);
    // The bounds of the geometry are those of one instance in the bind pose.
    mesh.frustumCulled = false;
    meshes.push(mesh);
  });
  return { meshes, update };
}
