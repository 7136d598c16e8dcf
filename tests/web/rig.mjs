// A skinned rig as the bytes of a .glb, for measurements: every joint rotates, with keys of its own times.

/// A .glb of one skinned triangle and a chain of joints, each with `keys` rotations about an axis over 1 s.
export function rig(joints, keys) {
  const [bufferViews, accessors, chunks] = [[], [], []];
  let length = 0;
  const add = (array, type, count, more = {}) => {
    const componentType = { Uint8Array: 5121, Float32Array: 5126 }[array.constructor.name];
    bufferViews.push({ buffer: 0, byteOffset: length, byteLength: array.byteLength });
    accessors.push({ bufferView: bufferViews.length - 1, componentType, count, type, ...more });
    chunks.push([length, array]);
    length += Math.ceil(array.byteLength / 4) * 4;
    return accessors.length - 1;
  };
  const all = Array.from({ length: joints }, (_, joint) => joint);
  const triangle = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]);
  const attributes = {
    POSITION: add(triangle, "VEC3", 3, { min: [0, 0, 0], max: [1, 1, 0] }),
    JOINTS_0: add(new Uint8Array(12), "VEC4", 3),
    WEIGHTS_0: add(new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), "VEC4", 3),
  };
  // Joint j is bound at (0, 0.1 j, 0).
  const inverses = all.flatMap((joint) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -0.1 * joint, 0, 1]);
  const inverseBindMatrices = add(new Float32Array(inverses), "MAT4", joints);
  const [samplers, channels] = [[], []];
  for (const node of all) {
    const times = Array.from({ length: keys }, (_, key) => key / (keys - 1));
    const rotations = times.flatMap((time) => {
      const angle = 0.4 * Math.sin(2 * Math.PI * time + node);
      const axis = [Math.sin(node), Math.cos(node), 0];
      return [...axis.map((number) => number * Math.sin(angle / 2)), Math.cos(angle / 2)];
    });
    const input = add(new Float32Array(times), "SCALAR", keys, { min: [0], max: [1] });
    channels.push({ sampler: samplers.length, target: { node, path: "rotation" } });
    samplers.push({ input, output: add(new Float32Array(rotations), "VEC4", keys), interpolation: "LINEAR" });
  }
  const nodes = all.map((joint) => ({
    name: `joint ${joint}`,
    translation: [0, joint > 0 ? 0.1 : 0, 0],
    ...(joint + 1 < joints && { children: [joint + 1] }),
  }));
  const document = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0, joints] }],
    nodes: [...nodes, { name: "figure", mesh: 0, skin: 0 }],
    meshes: [{ primitives: [{ attributes }] }],
    skins: [{ joints: all, inverseBindMatrices }],
    animations: [{ name: "turn", samplers, channels }],
    accessors,
    bufferViews,
    buffers: [{ byteLength: length }],
  };
  const json = Buffer.from(JSON.stringify(document));
  const jsonLength = Math.ceil(json.length / 4) * 4;
  const bytes = new Uint8Array(28 + jsonLength + length).fill(0x20, 20, 20 + jsonLength);
  const view = new DataView(bytes.buffer);
  [0x46546c67, 2, bytes.length, jsonLength, 0x4e4f534a].forEach((word, at) => view.setUint32(4 * at, word, true));
  bytes.set(json, 20);
  view.setUint32(20 + jsonLength, length, true);
  view.setUint32(24 + jsonLength, 0x004e4942, true);
  for (const [at, array] of chunks) bytes.set(new Uint8Array(array.buffer), 28 + jsonLength + at);
  return bytes;
}
