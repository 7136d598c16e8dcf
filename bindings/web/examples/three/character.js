// A skinned character as the bytes of a .glb: 11 joints with a box each, and the clips "walk" and "wave".

/// Each joint: name, parent, position from the parent, and the box that hangs on it: its centre from the joint, and its
/// half size.
const JOINTS = [
  ["hips", -1, [0, 0.95, 0], [0, 0.05, 0], [0.16, 0.12, 0.1]],
  ["spine", 0, [0, 0.17, 0], [0, 0.22, 0], [0.19, 0.22, 0.11]],
  ["head", 1, [0, 0.5, 0], [0, 0.12, 0], [0.1, 0.14, 0.11]],
  ["left arm", 1, [0.26, 0.42, 0], [0, -0.15, 0], [0.06, 0.17, 0.06]],
  ["left forearm", 3, [0, -0.3, 0], [0, -0.15, 0], [0.05, 0.17, 0.05]],
  ["right arm", 1, [-0.26, 0.42, 0], [0, -0.15, 0], [0.06, 0.17, 0.06]],
  ["right forearm", 5, [0, -0.3, 0], [0, -0.15, 0], [0.05, 0.17, 0.05]],
  ["left thigh", 0, [0.09, -0.05, 0], [0, -0.21, 0], [0.08, 0.23, 0.08]],
  ["left shin", 7, [0, -0.43, 0], [0, -0.22, 0], [0.06, 0.24, 0.07]],
  ["right thigh", 0, [-0.09, -0.05, 0], [0, -0.21, 0], [0.08, 0.23, 0.08]],
  ["right shin", 9, [0, -0.43, 0], [0, -0.22, 0], [0.06, 0.24, 0.07]],
];

/// Each clip: a duration in seconds, and per joint an axis and the angles at evenly spaced keys, in radians.
const CLIPS = {
  walk: [1, {
    "spine": [[0, 1, 0], [0.12, 0, -0.12, 0, 0.12]],
    "left arm": [[1, 0, 0], [0.5, 0, -0.5, 0, 0.5]],
    "left forearm": [[1, 0, 0], [-0.2, -0.3, -0.7, -0.4, -0.2]],
    "right arm": [[1, 0, 0], [-0.5, 0, 0.5, 0, -0.5]],
    "right forearm": [[1, 0, 0], [-0.7, -0.4, -0.2, -0.3, -0.7]],
    "left thigh": [[1, 0, 0], [-0.5, -0.1, 0.45, -0.2, -0.5]],
    "left shin": [[1, 0, 0], [0.1, 0.15, 0.4, 1, 0.1]],
    "right thigh": [[1, 0, 0], [0.45, -0.2, -0.5, -0.1, 0.45]],
    "right shin": [[1, 0, 0], [0.4, 1, 0.1, 0.15, 0.4]],
  }],
  wave: [1.5, {
    "head": [[0, 0, 1], [0, 0.15, 0, 0.15, 0]],
    "left arm": [[0, 0, 1], [2.2, 2.4, 2.2, 2.4, 2.2]],
    "left forearm": [[0, 0, 1], [0.7, -0.1, 0.7, -0.1, 0.7]],
  }],
};

/// The positions of the joints in the bind pose.
function bindPositions() {
  const positions = [];
  for (const [, parent, offset] of JOINTS) {
    positions.push(offset.map((number, axis) => number + (parent < 0 ? 0 : positions[parent][axis])));
  }
  return positions;
}

/// The boxes as one mesh. At its end near the joint, a box moves half with the joint's parent.
function mesh() {
  const [position, normal, joints, weights, indices] = [[], [], [], [], []];
  bindPositions().forEach((origin, joint) => {
    const [, parent, , centre, half] = JOINTS[joint];
    const isNear = (y) => parent >= 0 && Math.sign(y) !== Math.sign(centre[1]);
    for (let axis = 0; axis < 3; axis++) {
      for (const side of [-1, 1]) {
        const first = position.length / 3;
        for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
          const corner = [0, 0, 0];
          [corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3]] = [side, u, v];
          position.push(...corner.map((sign, at) => origin[at] + centre[at] + sign * half[at]));
          normal.push(...[0, 1, 2].map((at) => (at === axis ? side : 0)));
          const shares = isNear(corner[1]) ? [0.5, 0.5, 0, 0] : [1, 0, 0, 0];
          joints.push(joint, Math.max(parent, 0), 0, 0);
          weights.push(...shares);
        }
        const corners = side > 0 ? [0, 1, 2, 0, 2, 3] : [0, 2, 1, 0, 3, 2];
        indices.push(...corners.map((corner) => first + corner));
      }
    }
  });
  return { position, normal, joints, weights, indices };
}

/// Collects arrays in one binary buffer, with an accessor each.
class Arrays {
  accessors = [];
  bufferViews = [];
  #chunks = [];
  length = 0;

  /// Adds an array and returns the index of its accessor.
  add(array, type, width, more = {}) {
    const bytes = new Uint8Array(array.buffer);
    const componentType = { Uint8Array: 5121, Uint16Array: 5123, Float32Array: 5126 }[array.constructor.name];
    this.bufferViews.push({ buffer: 0, byteOffset: this.length, byteLength: bytes.length });
    this.accessors.push({ bufferView: this.bufferViews.length - 1, componentType, count: array.length / width, type, ...more });
    this.#chunks.push([this.length, bytes]);
    this.length += Math.ceil(bytes.length / 4) * 4;
    return this.accessors.length - 1;
  }

  bytes() {
    const all = new Uint8Array(this.length);
    for (const [at, bytes] of this.#chunks) all.set(bytes, at);
    return all;
  }
}

/// A clip as an animation of glTF.
function animation(arrays, name) {
  const [duration, turns] = CLIPS[name];
  const [samplers, channels] = [[], []];
  for (const [joint, [axis, angles]] of Object.entries(turns)) {
    const times = angles.map((_, key) => (duration * key) / (angles.length - 1));
    const rotations = angles.flatMap((angle) => [...axis.map((number) => number * Math.sin(angle / 2)), Math.cos(angle / 2)]);
    const input = arrays.add(new Float32Array(times), "SCALAR", 1, { min: [0], max: [duration] });
    const output = arrays.add(new Float32Array(rotations), "VEC4", 4);
    const node = JOINTS.findIndex(([name]) => name === joint);
    channels.push({ sampler: samplers.length, target: { node, path: "rotation" } });
    samplers.push({ input, output, interpolation: "LINEAR" });
  }
  return { name, samplers, channels };
}

/// The document of glTF and its binary buffer.
function gltf() {
  const arrays = new Arrays();
  const { position, normal, joints, weights, indices } = mesh();
  const corner = (choose) => [0, 1, 2].map((axis) => choose(...position.filter((_, at) => at % 3 === axis)));
  const extent = { min: corner(Math.min).map(Math.fround), max: corner(Math.max).map(Math.fround) };
  const primitive = {
    attributes: {
      POSITION: arrays.add(new Float32Array(position), "VEC3", 3, extent),
      NORMAL: arrays.add(new Float32Array(normal), "VEC3", 3),
      JOINTS_0: arrays.add(new Uint8Array(joints), "VEC4", 4),
      WEIGHTS_0: arrays.add(new Float32Array(weights), "VEC4", 4),
    },
    indices: arrays.add(new Uint16Array(indices), "SCALAR", 1),
    material: 0,
  };
  const inverses = bindPositions().flatMap(([x, y, z]) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -y, -z, 1]);
  const inverseBindMatrices = arrays.add(new Float32Array(inverses), "MAT4", 16);
  const nodes = JOINTS.map(([name, , translation], joint) => {
    const children = JOINTS.flatMap(([, parent], child) => (parent === joint ? [child] : []));
    return children.length ? { name, translation, children } : { name, translation };
  });
  const document = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0, nodes.length] }],
    nodes: [...nodes, { name: "figure", mesh: 0, skin: 0 }],
    meshes: [{ primitives: [primitive] }],
    materials: [{ pbrMetallicRoughness: { baseColorFactor: [0.75, 0.72, 0.68, 1], metallicFactor: 0, roughnessFactor: 0.8 } }],
    skins: [{ joints: JOINTS.map((_, joint) => joint), inverseBindMatrices }],
    animations: Object.keys(CLIPS).map((name) => animation(arrays, name)),
    accessors: arrays.accessors,
    bufferViews: arrays.bufferViews,
    buffers: [{ byteLength: arrays.length }],
  };
  return [document, arrays.bytes()];
}

/// The character as the bytes of a .glb.
export function character() {
  const [document, binary] = gltf();
  const json = new TextEncoder().encode(JSON.stringify(document));
  const jsonLength = Math.ceil(json.length / 4) * 4;
  const bytes = new Uint8Array(28 + jsonLength + binary.length).fill(0x20, 20, 20 + jsonLength);
  const view = new DataView(bytes.buffer);
  const header = [0x46546c67, 2, bytes.length, jsonLength, 0x4e4f534a];
  header.forEach((word, at) => view.setUint32(4 * at, word, true));
  bytes.set(json, 20);
  view.setUint32(20 + jsonLength, binary.length, true);
  view.setUint32(24 + jsonLength, 0x004e4942, true);
  bytes.set(binary, 28 + jsonLength);
  return bytes;
}
