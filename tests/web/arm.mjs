// A small glTF file, whose poses are worked out by hand: an arm of three nodes, "shoulder" at (0, 1, 0), "elbow" 2
// above it, and a node without a name 1 beside the elbow. It has no mesh.
//
// * Clip "swing", 1 s: the shoulder turns from 0 to 90 degrees about Z, LINEAR.
// * Clip "slide", 2 s: the elbow moves from x = 0 to x = 4, LINEAR.
// * A clip without a name, 1 s: the shoulder stands turned by 180 degrees about Z from its first key to its last.

const HALF = Math.SQRT1_2;

/// Joins arrays of floats, or of the kind that is given, to one buffer, with an accessor and a view of each.
export function pack(arrays) {
  const types = { 1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4" };
  const componentTypes = { Uint8Array: 5121, Uint16Array: 5123, Float32Array: 5126 };
  const bufferViews = [];
  const accessors = [];
  const chunks = [];
  let byteOffset = 0;
  for (const { size, numbers, kind = Float32Array, ...more } of arrays) {
    const bytes = Buffer.from(new kind(numbers).buffer);
    bufferViews.push({ buffer: 0, byteOffset, byteLength: bytes.length });
    const range = size === 1 && kind === Float32Array ? { min: [numbers[0]], max: [numbers.at(-1)] } : {};
    const [componentType, count, type] = [componentTypes[kind.name], numbers.length / size, types[size]];
    accessors.push({ bufferView: accessors.length, componentType, count, type, ...range, ...more });
    const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
    bytes.copy(padded);
    chunks.push(padded);
    byteOffset += padded.length;
  }
  return { bufferViews, accessors, buffer: Buffer.concat(chunks) };
}

/// The document and its buffer. All lengths are multiplied by `size`; names begin with `prefix`.
function build({ size = 1, prefix = "" } = {}) {
  const { bufferViews, accessors, buffer } = pack([
    { size: 1, numbers: [0, 1] },
    { size: 1, numbers: [0, 2] },
    { size: 4, numbers: [0, 0, 0, 1, 0, 0, HALF, HALF] },
    { size: 3, numbers: [0, 2, 0, 4, 2, 0].map((number) => number * size) },
    { size: 4, numbers: [0, 0, 1, 0, 0, 0, 1, 0] },
  ]);
  const clip = (input, output, node, path) => ({
    samplers: [{ input, output, interpolation: "LINEAR" }],
    channels: [{ sampler: 0, target: { node, path } }],
  });
  const document = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [
      { name: `${prefix}shoulder`, translation: [0, size, 0], children: [1] },
      { name: `${prefix}elbow`, translation: [0, 2 * size, 0], children: [2] },
      { translation: [size, 0, 0] },
    ],
    buffers: [{ byteLength: buffer.length }],
    bufferViews,
    accessors,
    animations: [
      { name: `${prefix}swing`, ...clip(0, 2, 0, "rotation") },
      { name: `${prefix}slide`, ...clip(1, 3, 1, "translation") },
      clip(0, 4, 0, "rotation"),
    ],
  };
  return { document, buffer };
}

/// The arm as the bytes of a .glb file.
export function armAsGlb(options) {
  const { document, buffer } = build(options);
  return glb(document, buffer);
}

/// The arm without its clips as the bytes of a .vrm file: glTF with the extension of VRM 1.0.
export function armAsVrm() {
  const { document, buffer } = build();
  delete document.animations;
  const humanBones = { rightUpperArm: { node: 0 }, rightLowerArm: { node: 1 }, rightHand: { node: 2 } };
  const meta = { name: "arm", authors: ["posse"], licenseUrl: "https://vrm.dev/licenses/1.0/" };
  document.extensionsUsed = ["VRMC_vrm"];
  document.extensions = { VRMC_vrm: { specVersion: "1.0", meta, humanoid: { humanBones } } };
  return glb(document, buffer);
}

/// A document and its buffer as the bytes of a .glb file.
export function glb(document, buffer) {
  const text = JSON.stringify(document);
  const json = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4));
  const head = (...numbers) => Buffer.from(new Uint32Array(numbers).buffer);
  const [GLTF, JSON_CHUNK, BIN_CHUNK] = [0x46546c67, 0x4e4f534a, 0x004e4942];
  const total = 12 + 8 + json.length + 8 + buffer.length;
  return Buffer.concat([head(GLTF, 2, total, json.length, JSON_CHUNK), json, head(buffer.length, BIN_CHUNK), buffer]);
}

/// The arm as the bytes of a .gltf file, and of its buffer `arm data.bin`.
export function armAsGltf() {
  const { document, buffer } = build();
  document.buffers[0].uri = "arm%20data.bin";
  return { gltf: Buffer.from(JSON.stringify(document)), bin: buffer };
}

/// A model matrix, column-major: turned by an angle about Z, at (x, y, 0).
export function turned(degrees, x, y) {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return [cos, sin, 0, 0, -sin, cos, 0, 0, 0, 0, 1, 0, x, y, 0, 1];
}

/// The elbow of "swing" at a time.
export function swungElbow(time) {
  const degrees = 90 * (((time % 1) + 1) % 1);
  const angle = (degrees * Math.PI) / 180;
  return turned(degrees, -2 * Math.sin(angle), 1 + 2 * Math.cos(angle));
}

/// The elbow of "slide" at a time.
export function slidElbow(time) {
  return turned(0, 2 * (((time % 2) + 2) % 2), 3);
}
