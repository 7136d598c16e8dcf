// Crowds in three.js: `PosseCrowd`, a group that draws all instances of a glTF file in one call per mesh.
//
// posse poses, three.js draws: its materials, lights, shadows and fog work as on any mesh. The vertices are moved by
// `positionNode`, the node of three.js' materials for that purpose, in the order in which three.js moves those of a
// `SkinnedMesh`: morph targets, then the matrices of the skin or of the node, then the matrix of the instance.
//
// A vertex shader reads all its numbers from textures, with one texel per row of a matrix: three.js has no public
// interface that takes a GPUBuffer, but `ExternalTexture` takes a GPUTexture, and WebGL 2 has no other arrays of this
// size. So poses on the GPU are copied there from buffer to texture, in the queue of the device (a few microseconds per
// megabyte); poses in WebAssembly are uploaded. The class uses nothing of three.js that is not documented.

import {
  AnimationMixer, Box3, BufferAttribute, BufferGeometry, Color, DataTexture, ExternalTexture, FloatType, Frustum, Group,
  Matrix4, Mesh, MeshBasicNodeMaterial, MeshLambertNodeMaterial, MeshPhongNodeMaterial, MeshPhysicalNodeMaterial,
  MeshStandardNodeMaterial, MeshToonNodeMaterial, NearestFilter, RedFormat, RGBAFormat, Sphere, TSL, Vector3,
} from "three/webgpu";

// Not from "three/tsl": development servers that bundle each import would give it a three.js of its own.
const {
  Fn, If, Loop, attribute, cross, dot, instanceIndex, int, ivec2, materialColor, normalLocal, positionLocal, sign,
  tangentLocal, textureLoad, varying, vec3, vec4, vertexIndex,
} = TSL;

/// The binary logarithm of the texels per row of a table. A row of one channel has a multiple of 256 bytes, as copies
/// from a buffer need. The 128 MiB of the largest buffer of poses are 4,096 rows, which all devices have.
const LOG_WIDTH = 11;
const WIDTH = 1 << LOG_WIDTH;

/// Texels per instance in the table of places: three rows of its matrix, and its colour with the number of its pose.
const PLACE_TEXELS = 4;

/// Poses per clip of which the sphere of a character is made.
const POSES_PER_CLIP = 8;

/// The texels of a shadow map's side, at least.
const SHADOW_TEXELS = 2048;

/// The materials that `GLTFLoader` makes, and others that may replace them.
const MATERIALS = {
  MeshBasicMaterial: MeshBasicNodeMaterial,
  MeshLambertMaterial: MeshLambertNodeMaterial,
  MeshPhongMaterial: MeshPhongNodeMaterial,
  MeshPhysicalMaterial: MeshPhysicalNodeMaterial,
  MeshStandardMaterial: MeshStandardNodeMaterial,
  MeshToonMaterial: MeshToonNodeMaterial,
};

/// An array of texels that vertex shaders read by index, in rows of a texture. With a device, it takes copies of the
/// device's buffers, else numbers of JavaScript.
class Table {
  #texels;
  #channels;
  #texture;

  constructor(texels, channels, device) {
    const height = Math.max(1, Math.ceil(texels / WIDTH));
    const format = channels === 1 ? RedFormat : RGBAFormat;
    [this.#texels, this.#channels] = [texels, channels];
    if (device) {
      this.#texture = new ExternalTexture(device.createTexture({
        label: "posse: poses",
        size: [WIDTH, height],
        format: channels === 1 ? "r32float" : "rgba32float",
        usage: GPUTextureUsage.COPY_DST | GPUTextureUsage.TEXTURE_BINDING,
      }));
      Object.assign(this.#texture, { format, type: FloatType, minFilter: NearestFilter, magFilter: NearestFilter });
    } else {
      this.#texture = new DataTexture(new Float32Array(WIDTH * height * channels), WIDTH, height, format, FloatType);
      this.#texture.needsUpdate = true;
    }
  }

  /// The numbers of a table without a device, with some after the last texel. `changed` uploads them.
  get numbers() {
    return this.#texture.image.data;
  }

  changed() {
    this.#texture.needsUpdate = true;
  }

  /// Encodes the copy of a buffer of the device.
  copy(buffer, encoder) {
    const bytesPerRow = 4 * this.#channels * WIDTH;
    const [rows, rest] = [this.#texels >> LOG_WIDTH, this.#texels % WIDTH];
    const copyRows = (row, size) => {
      const from = { buffer, offset: row * bytesPerRow, bytesPerRow };
      encoder.copyBufferToTexture(from, { texture: this.#texture.sourceTexture, origin: [0, row] }, size);
    };
    if (rows > 0) copyRows(0, [WIDTH, rows]);
    if (rest > 0) copyRows(rows, [rest, 1]);
  }

  /// Takes the numbers of instances from an array, `width` per instance.
  write(source, instances, width) {
    if (instances.length === 0) return;
    const first = instances[0];
    if (instances.every((instance, at) => instance === first + at)) {
      this.numbers.set(source.subarray(0, width * instances.length), width * first);
    } else {
      instances.forEach((instance, at) => {
        this.numbers.set(source.subarray(width * at, width * (at + 1)), width * instance);
      });
    }
    this.changed();
  }

  /// The node of a texel.
  load(index) {
    return textureLoad(this.#texture, ivec2(index.bitAnd(int(WIDTH - 1)), index.shiftRight(int(LOG_WIDTH))));
  }

  dispose() {
    this.#texture.dispose();
    this.#texture.sourceTexture?.destroy();
  }
}

/// Instances whose poses are in one table per output, with their meshes.
class Batch {
  /// Tables of the outputs that meshes read.
  #tables = {};
  #buffers;
  #device;
  /// The numbers of the instances in the crowd, in the order of the tables.
  instances;
  places;
  meshes = [];

  constructor(buffers, instances, device) {
    [this.#buffers, this.#device, this.instances] = [buffers, device, instances];
    this.places = new Table(PLACE_TEXELS * instances.length, 4);
  }

  /// Numbers per instance in an output.
  stride(output) {
    return this.#buffers[`${output}Stride`] / 4;
  }

  /// The table of an output; undefined if the crowd does not write the output.
  table(output) {
    if (!this.#buffers[output] || this.stride(output) === 0) return undefined;
    const channels = output === "values" ? 1 : 4;
    const texels = (this.instances.length * this.stride(output)) / channels;
    return (this.#tables[output] ??= new Table(texels, channels, this.#device));
  }

  /// Encodes the copies of the buffers.
  copy(encoder) {
    for (const [output, table] of Object.entries(this.#tables)) table.copy(this.#buffers[output], encoder);
  }

  /// Takes the poses of instances from arrays.
  write(buffers) {
    for (const [output, table] of Object.entries(this.#tables)) {
      table.write(buffers[output], buffers.instances, this.stride(output));
    }
  }

  dispose() {
    for (const table of [this.places, ...Object.values(this.#tables)]) table.dispose();
    for (const { material } of this.meshes) material.dispose();
  }
}

/// The node of a file that an object stands for or hangs on, and its matrix there. The primitives of a mesh are below
/// the object of their node. Without a node, the matrix is that in the scene.
function nodeOf({ scene, parser }, found) {
  const offset = new Matrix4();
  for (let object = found; object !== scene; object = object.parent) {
    const node = parser.associations.get(object)?.nodes;
    if (node !== undefined) return { node, offset };
    offset.premultiply(object.matrix);
  }
  return { node: undefined, offset };
}

/// The sums of the lengths before each element.
function starts(lengths) {
  let next = 0;
  return lengths.map((length) => (next += length) - length);
}

/// The meshes of a file: the object that is `found`, and its `mover`, the output whose rows from `start` on in an
/// instance move it, or null. Its vertices have to be moved by `offset` before. `isMirrored` tells if the object is at
/// rest. Its morph weights are the values from `firstWeight` on, of `weights` in all, if the file has the mesh.
function partsOf(gltf, joints) {
  const { scene, parser } = gltf;
  const { nodes = [], meshes = [], skins = [] } = parser.json;
  const firstOfSkin = starts(skins.map((skin) => 3 * skin.joints.length));
  const targets = ({ node }) =>
    (meshes[nodes[node]?.mesh]?.primitives ?? []).reduce((most, { targets = [] }) => Math.max(most, targets.length), 0);
  const counts = joints.map(targets);
  const [firstWeights, weights] = [starts(counts), counts.reduce((sum, count) => sum + count, 0)];
  const jointOf = new Map(joints.map(({ node }, joint) => [node, joint]));
  const parts = [];
  scene.updateWorldMatrix(true, true);
  const isSceneMirrored = scene.matrixWorld.determinant() < 0;
  scene.traverseVisible((found) => {
    if (!found.isMesh) return;
    const { node, offset } = nodeOf(gltf, found);
    const joint = jointOf.get(node);
    const firstWeight = parser.associations.has(found) ? firstWeights[joint] : undefined;
    const part = { found, offset, weights, firstWeight };
    if (found.isSkinnedMesh) {
      const skin = nodes[node]?.skin;
      if (skin === undefined) throw new Error(`the skinned mesh "${found.name}" is not of the file`);
      parts.push({ ...part, mover: "skin", start: firstOfSkin[skin], offset: new Matrix4(), isMirrored: false });
      return;
    }
    const isMirrored = found.matrixWorld.determinant() < 0 !== isSceneMirrored;
    parts.push({ ...part, mover: joint === undefined ? null : "model", start: 3 * joint, isMirrored });
  });
  return parts;
}

/// A geometry that the crowd can dispose of, with the attributes of a part. Without `keepsMorphs`, it has no morph
/// targets.
function geometryOf({ found: { geometry: source }, offset, isMirrored }, keepsMorphs) {
  const isMoved = !offset.equals(new Matrix4());
  const { attributes } = isMoved ? source.clone().applyMatrix4(offset) : source;
  const geometry = new BufferGeometry();
  for (const [name, values] of Object.entries(attributes)) geometry.setAttribute(name, values);
  geometry.setIndex(source.index);
  geometry.setDrawRange(source.drawRange.start, source.drawRange.count);
  if (keepsMorphs) {
    geometry.morphAttributes = source.morphAttributes;
    geometry.morphTargetsRelative = source.morphTargetsRelative;
  }
  if (isMirrored) {
    // three.js flips the triangles of mirrored objects, by a matrix that the crowd's meshes do not have.
    const count = source.index?.count ?? attributes.position.count;
    const corner = (at) => (source.index ? source.index.getX(at) : at);
    const flipped = Uint32Array.from({ length: count - (count % 3) }, (_, at) => corner(at + [0, 1, -1][at % 3]));
    geometry.setIndex(new BufferAttribute(flipped, 1));
  }
  return geometry;
}

/// The displacements of morph targets: per target and vertex a texel for the position, and one for the normal if the
/// targets move it.
function displacements({ morphAttributes: { position, normal }, attributes }) {
  const lists = [position, attributes.normal && normal].filter(Boolean);
  const vertices = attributes.position.count;
  const table = new Table(lists[0].length * vertices * lists.length, 4);
  const { numbers } = table;
  const delta = new Vector3();
  lists.forEach((targets, list) => targets.forEach((values, target) => {
    for (let vertex = 0; vertex < vertices; vertex++) {
      const at = 4 * ((target * vertices + vertex) * lists.length + list);
      delta.fromBufferAttribute(values, vertex).toArray(numbers, at);
    }
  }));
  return { table, vertices, targets: lists[0].length, texels: lists.length };
}

/// A vector moved by the rows of an affine matrix.
const move = (rows, vector) => vec3(...rows.map((row) => dot(row, vector)));

/// A normal moved by the inverse transpose of a matrix, but for its length.
function moveNormal(rows, normal) {
  const [x, y, z] = rows.map((row) => row.xyz);
  const cofactors = [cross(y, z), cross(z, x), cross(x, y)];
  return vec3(...cofactors.map((row) => dot(row, normal))).mul(sign(dot(x, cofactors[0])));
}

/// The node of a vertex in the crowd. Normal and tangent are moved, too.
function posed(part, batch, has) {
  const { places } = batch;
  return Fn(() => {
    const place = int(instanceIndex).mul(PLACE_TEXELS).toVar();
    const pose = int(places.load(place.add(3)).w).toVar();
    const position = positionLocal.toVar();
    const normal = has.normal ? normalLocal.toVar() : null;

    if (part.morph) {
      const { table, vertices, targets, texels } = part.morph;
      const values = batch.table("values");
      const first = pose.mul(batch.stride("values")).add(part.firstWeight).toVar();
      Loop(targets, ({ i }) => {
        const weight = values.load(first.add(i)).r.toVar();
        If(weight.notEqual(0), () => {
          const at = int(vertexIndex).add(i.mul(vertices)).mul(texels).toVar();
          position.addAssign(table.load(at).xyz.mul(weight));
          if (texels > 1) normal.addAssign(table.load(at.add(1)).xyz.mul(weight));
        });
      });
    }

    const matrices = part.mover && batch.table(part.mover);
    const first = part.mover && pose.mul(batch.stride(part.mover) / 4).add(part.start).toVar();
    const rows = {
      skin() {
        const sums = [0, 1, 2].map(() => vec4(0).toVar());
        for (const lane of ["x", "y", "z", "w"]) {
          const weight = attribute("skinWeight", "vec4")[lane];
          // Most vertices follow one or two joints.
          If(weight.notEqual(0), () => {
            const joint = int(attribute("skinIndex", "uvec4")[lane]).mul(3).add(first).toVar();
            sums.forEach((sum, row) => sum.addAssign(matrices.load(joint.add(row)).mul(weight)));
          });
        }
        return sums;
      },
      model: () => [0, 1, 2].map((row) => matrices.load(first.add(row)).toVar()),
    };
    const own = part.mover && rows[part.mover]();
    const placed = [0, 1, 2].map((row) => places.load(place.add(row)).toVar());
    const moveOwn = (vector, w) => (own ? move(own, vec4(vector, w)) : vector);

    if (normal) {
      // three.js moves the normals of a skin by its matrices themselves.
      const moved = part.mover === "model" ? moveNormal(own, normal) : moveOwn(normal, 0);
      normalLocal.assign(moveNormal(placed, moved).normalize());
    }
    if (has.tangent) tangentLocal.assign(move(placed, vec4(moveOwn(tangentLocal, 0), 0)));
    return move(placed, vec4(moveOwn(position, 1), 1));
  })();
}

/// A material with nodes that looks as another one.
function materialOf(found) {
  if (Array.isArray(found)) throw new Error("a mesh has several materials; split it, as glTF files do");
  if (found.isNodeMaterial) return found.clone();
  const NodeMaterial = MATERIALS[found.type];
  if (!NodeMaterial) {
    const known = Object.keys(MATERIALS).join(", ");
    throw new Error(`materials of the type ${found.type} are not drawn; use one of ${known}, or a node material`);
  }
  return new NodeMaterial().copy(found);
}

/// The boxes that hold a file's vertices: each in the space of an object that moves it. A skinned vertex lies between the
/// positions that its joints give it, each in the box of the joint.
function boxesOf(parts) {
  const boxes = new Map();
  const boxOf = (map, key) => map.get(key) ?? map.set(key, new Box3()).get(key);
  const [range, delta] = [new Box3(), new Vector3()];
  for (const { found } of parts) {
    const { attributes: { position, skinIndex, skinWeight }, morphAttributes } = found.geometry;
    const skinned = new Map();
    for (let at = 0; at < position.count; at++) {
      range.min.fromBufferAttribute(position, at);
      range.max.copy(range.min);
      for (const target of morphAttributes.position ?? []) {
        delta.fromBufferAttribute(target, at);
        for (const axis of ["x", "y", "z"]) range[delta[axis] < 0 ? "min" : "max"][axis] += delta[axis];
      }
      if (!found.isSkinnedMesh) boxOf(boxes, found).union(range);
      for (let lane = 0; found.isSkinnedMesh && lane < 4; lane++) {
        if (skinWeight.getComponent(at, lane) > 0) boxOf(skinned, skinIndex.getComponent(at, lane)).union(range);
      }
    }
    for (const [joint, box] of skinned) {
      const { bones, boneInverses } = found.skeleton;
      if (bones[joint]) boxOf(boxes, bones[joint]).union(box.applyMatrix4(boneInverses[joint]));
    }
  }
  return boxes;
}

/// A sphere about a character in all clips of its file: in poses of each, and at rest.
function reachOf({ scene, animations }, parts) {
  const boxes = boxesOf(parts);
  const [reach, box] = [new Box3(), new Box3()];
  const [matrix, toFile] = [new Matrix4(), new Matrix4()];
  const grow = () => {
    scene.updateWorldMatrix(true, true);
    toFile.copy(scene.matrixWorld).invert();
    for (const [object, own] of boxes) {
      reach.union(box.copy(own).applyMatrix4(matrix.multiplyMatrices(toFile, object.matrixWorld)));
    }
  };
  grow();
  const mixer = new AnimationMixer(scene);
  for (const clip of animations) {
    const action = mixer.clipAction(clip).play();
    for (let pose = 0; pose < POSES_PER_CLIP; pose++) {
      mixer.setTime((clip.duration * pose) / POSES_PER_CLIP);
      grow();
    }
    // Brings the scene back to rest.
    action.stop();
  }
  mixer.uncacheRoot(scene);
  scene.updateWorldMatrix(true, true);
  return reach.getBoundingSphere(new Sphere());
}

/// What an instance is set with, without new objects.
const scratch = { centre: new Vector3(), color: new Color() };

/// Instances of a glTF file that play clips: `three.d.ts` describes the members.
export class PosseCrowd extends Group {
  #crowd;
  #device;
  #batches;
  #geometries = [];
  #morphs = [];
  /// The texels of all instances, in the order of the crowd.
  #places;
  /// The centre and radius of each instance.
  #spheres;
  #reach;
  /// 1 for hidden instances: by `setVisibleAt`, and by `cull`.
  #hidden;
  #culled;
  #isChanged = true;
  #isTinted = false;

  constructor(gltf, library, crowd, device) {
    super();
    const { count, buffers } = crowd;
    if (count === 0) throw new Error("the crowd has no instances");
    const arrays = buffers.flatMap(({ skin, model, values }) => [skin, model, values]).filter(Boolean);
    const isOnDevice = arrays.some((array) => !ArrayBuffer.isView(array));
    if (isOnDevice && !device) {
      throw new Error("the poses of the crowd are on a GPU; give `gpu.device`, which the renderer must use, too");
    }
    this.#crowd = crowd;
    this.#device = isOnDevice ? device : undefined;
    this.#places = new Float32Array(4 * PLACE_TEXELS * count);
    this.#spheres = new Float32Array(4 * count);
    [this.#hidden, this.#culled] = [new Uint8Array(count), new Uint8Array(count)];
    this.boundingSphere = new Sphere();
    this.boundingBox = new Box3();
    // Arrays change their order when layers are replaced. So they are written in the order of the crowd.
    const all = Uint32Array.from({ length: count }, (_, instance) => instance);
    this.#batches = this.#device
      ? buffers.map((batch) => new Batch(batch, batch.instances, this.#device))
      : [new Batch(buffers[0], all)];
    for (const { instances } of this.#batches) {
      instances.forEach((instance, pose) => this.#places.set([1, 1, 1, pose], 4 * (PLACE_TEXELS * instance + 3)));
    }
    const parts = partsOf(gltf, library.joints(0));
    if (parts.length === 0) throw new Error("the file has no meshes to draw");
    for (const part of parts) this.#add(part);
    this.#reach = reachOf(gltf, parts);
    const matrix = new Matrix4();
    for (let instance = 0; instance < count; instance++) this.setMatrixAt(instance, matrix);
  }

  /// Adds the meshes of a part, one per batch.
  #add(part) {
    const { found, mover } = part;
    const { geometry: source } = found;
    const hasWeights = (batch) => batch.stride("values") >= part.weights && batch.table("values");
    const hasTargets = part.firstWeight !== undefined && source.morphAttributes.position?.length > 0;
    const isMorphed = hasTargets && this.#batches.every(hasWeights);
    if (isMorphed) {
      part.morph = displacements(source);
      this.#morphs.push(part.morph.table);
    }
    // Without weights of its own, an instance has those of the mesh at rest, which three.js applies.
    const geometry = geometryOf(part, !isMorphed);
    this.#geometries.push(geometry);
    const has = { normal: geometry.hasAttribute("normal"), tangent: geometry.hasAttribute("tangent") };
    for (const batch of this.#batches) {
      if (mover && !batch.table(mover)) {
        const kind = mover === "skin" ? "is skinned" : "hangs on a joint";
        throw new Error(`the mesh "${found.name}" ${kind}, but the crowd writes no ${mover} matrices; ` +
          `create it with { ${mover}: true } or by Crowd.spread`);
      }
      const material = materialOf(found.material);
      material.positionNode = posed(part, batch, has);
      const mesh = new Mesh(geometry, material);
      mesh.name = found.name;
      mesh.userData = found.userData;
      mesh.castShadow = mesh.receiveShadow = true;
      if (!isMorphed && found.morphTargetInfluences) mesh.morphTargetInfluences = [...found.morphTargetInfluences];
      // For culling, and for what asks for the size of an object.
      mesh.boundingSphere = this.boundingSphere;
      mesh.boundingBox = this.boundingBox;
      // The geometry is that of one instance at rest.
      mesh.raycast = () => {};
      if (this.#device) mesh.onBeforeRender = (renderer) => this.#checkDevice(renderer);
      batch.meshes.push(mesh);
      this.add(mesh);
    }
  }

  #checkDevice(renderer) {
    if (renderer.backend.device === this.#device) return;
    throw new Error("the renderer does not use the device of the crowd; create the renderer with " +
      "`new WebGPURenderer({ device: gpu.device })`, or the crowd with `posse/cpu`");
  }

  get crowd() {
    return this.#crowd;
  }

  get count() {
    return this.#hidden.length;
  }

  get reach() {
    return this.#reach;
  }

  set reach(sphere) {
    this.#reach = sphere.clone();
    for (let instance = 0; instance < this.count; instance++) {
      this.#updateSphere(instance, this.getMatrixAt(instance, new Matrix4()));
    }
  }

  pose(time) {
    this.#crowd.pose(time);
    if (!this.#device) {
      for (const buffers of this.#crowd.buffers) this.#batches[0].write(buffers);
      return;
    }
    const encoder = this.#device.createCommandEncoder();
    for (const batch of this.#batches) batch.copy(encoder);
    this.#device.queue.submit([encoder.finish()]);
  }

  setMatrixAt(instance, matrix) {
    const first = this.#place(instance);
    const { elements } = matrix;
    for (let row = 0; row < 3; row++) {
      for (let column = 0; column < 4; column++) this.#places[first + 4 * row + column] = elements[4 * column + row];
    }
    this.#updateSphere(instance, matrix);
  }

  getMatrixAt(instance, target) {
    const first = this.#place(instance);
    return target.set(...this.#places.subarray(first, first + 12), 0, 0, 0, 1);
  }

  setColorAt(instance, color) {
    const first = this.#place(instance);
    scratch.color.set(color).toArray(this.#places, first + 12);
    this.#isChanged = true;
    if (this.#isTinted) return;
    this.#isTinted = true;
    for (const { meshes, places } of this.#batches) {
      for (const { material } of meshes) {
        const tint = varying(places.load(int(instanceIndex).mul(PLACE_TEXELS).add(3)).rgb).setInterpolation("flat");
        material.colorNode = (material.colorNode ?? materialColor).mul(vec4(tint, 1));
        material.needsUpdate = true;
      }
    }
  }

  getColorAt(instance, target) {
    return target.fromArray(this.#places, this.#place(instance) + 12);
  }

  setVisibleAt(instance, isVisible) {
    this.#place(instance);
    this.#hidden[instance] = isVisible ? 0 : 1;
    this.#isChanged = true;
  }

  getVisibleAt(instance) {
    this.#place(instance);
    return this.#hidden[instance] === 0;
  }

  cull(camera, margin = 0) {
    const seen = new Frustum();
    const sphere = new Sphere();
    if (camera) {
      camera.updateWorldMatrix(true, false);
      this.updateWorldMatrix(true, false);
      const projection = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
      seen.setFromProjectionMatrix(projection, camera.coordinateSystem, camera.reversedDepth);
    }
    for (let instance = 0; instance < this.count; instance++) {
      const [x, y, z, radius] = this.#spheres.subarray(4 * instance, 4 * instance + 4);
      sphere.center.set(x, y, z);
      sphere.radius = radius + margin;
      const isCulled = camera && !seen.intersectsSphere(sphere.applyMatrix4(this.matrixWorld)) ? 1 : 0;
      if (isCulled === this.#culled[instance]) continue;
      this.#culled[instance] = isCulled;
      this.#isChanged = true;
    }
  }

  fitShadow(light) {
    this.updateWorldMatrix(true, false);
    const { center, radius } = this.boundingSphere.clone().applyMatrix4(this.matrixWorld);
    const direction = light.position.clone().sub(light.target.position).normalize();
    light.target.position.copy(center);
    light.target.updateMatrixWorld();
    light.position.copy(center).addScaledVector(direction, 2 * radius);
    const { camera, mapSize } = light.shadow;
    [camera.left, camera.right, camera.bottom, camera.top] = [-radius, radius, -radius, radius];
    [camera.near, camera.far] = [radius, 4 * radius];
    camera.updateProjectionMatrix();
    mapSize.setScalar(Math.max(mapSize.x, mapSize.y, SHADOW_TEXELS));
    // The side of a texel, so that surfaces do not shade themselves in stripes.
    light.shadow.normalBias = (2 * radius) / mapSize.x;
    light.castShadow = true;
  }

  /// three.js calls this before it draws a scene, and before it looks which objects are in view.
  updateMatrixWorld(force) {
    if (this.#isChanged) this.#placeVisible();
    super.updateMatrixWorld(force);
  }

  /// three.js calls this before it measures an object.
  updateWorldMatrix(updateParents, updateChildren) {
    if (this.#isChanged) this.#placeVisible();
    super.updateWorldMatrix(updateParents, updateChildren);
  }

  dispose() {
    this.clear();
    for (const batch of this.#batches) batch.dispose();
    for (const owned of [...this.#geometries, ...this.#morphs]) owned.dispose();
    this.#batches = [];
    [this.#geometries, this.#morphs] = [[], []];
  }

  /// The first number of an instance among the places.
  #place(instance) {
    if (!Number.isInteger(instance) || instance < 0 || instance >= this.count) {
      throw new RangeError(`instance: found ${instance}, expected 0 to ${this.count - 1}`);
    }
    return 4 * PLACE_TEXELS * instance;
  }

  #updateSphere(instance, matrix) {
    const { center, radius } = this.#reach;
    scratch.centre.copy(center).applyMatrix4(matrix).toArray(this.#spheres, 4 * instance);
    this.#spheres[4 * instance + 3] = radius * matrix.getMaxScaleOnAxis();
    this.#isChanged = true;
  }

  /// Writes the places of visible instances, one after another, and the bounds of all of them.
  #placeVisible() {
    this.#isChanged = false;
    const numbers = 4 * PLACE_TEXELS;
    this.boundingBox.makeEmpty();
    const sphere = new Sphere();
    for (const { instances, places, meshes } of this.#batches) {
      let visible = 0;
      for (const instance of instances) {
        if (this.#hidden[instance] || this.#culled[instance]) continue;
        places.numbers.set(this.#places.subarray(numbers * instance, numbers * (instance + 1)), numbers * visible);
        visible += 1;
        const [x, y, z, radius] = this.#spheres.subarray(4 * instance, 4 * instance + 4);
        this.boundingBox.expandByPoint(sphere.center.set(x - radius, y - radius, z - radius));
        this.boundingBox.expandByPoint(sphere.center.set(x + radius, y + radius, z + radius));
      }
      places.changed();
      for (const mesh of meshes) mesh.count = visible;
    }
    this.boundingBox.getBoundingSphere(this.boundingSphere);
  }
}
