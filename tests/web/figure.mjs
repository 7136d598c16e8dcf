// A glTF file with all that a crowd in three.js draws, as the bytes of a .glb: a figure of boxes, with
//
// * "body", skinned to hips and chest, in two materials;
// * "cape", skinned to chest and arm, with a morph target;
// * "hat", which hangs on the chest and is mirrored by its scale, and "blade", the same mesh, which hangs on the arm;
// * "face", which hangs on the chest and has two morph targets that move normals, too;
// * "stone", which stands still.
//
// The clip "bend", 1 s, rotates all joints and moves all morph weights; "hop", 0.8 s, moves hips and arm and leaves the
// weights at rest.

import { glb, pack } from "./arm.mjs";

const COLOURS = {
  skin: [0.8, 0.6, 0.5],
  cloth: [0.2, 0.4, 0.8],
  cape: [0.8, 0.15, 0.1],
  metal: [0.6, 0.6, 0.65],
  stone: [0.3, 0.5, 0.3],
};
const MATERIALS = Object.keys(COLOURS);

/// A box of four vertices per side: positions, normals and the corners of triangles.
function box([x, y, z], [width, height, depth]) {
  const [centre, half] = [[x, y, z], [width / 2, height / 2, depth / 2]];
  const [positions, normals, indices] = [[], [], []];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const first = positions.length / 3;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const signs = [];
        [signs[axis], signs[(axis + 1) % 3], signs[(axis + 2) % 3]] = [side, u, v];
        positions.push(...signs.map((sign, at) => centre[at] + sign * half[at]));
        normals.push(...[0, 1, 2].map((at) => (at === axis ? side : 0)));
      }
      indices.push(...(side > 0 ? [0, 1, 2, 0, 2, 3] : [0, 2, 1, 0, 3, 2]).map((corner) => first + corner));
    }
  }
  return { positions, normals, indices };
}

/// A rotation by an angle about an axis.
function rotation(angle, axis) {
  return [...axis.map((number) => number * Math.sin(angle / 2)), Math.cos(angle / 2)];
}

/// The figure. The positions of the joints in the bind pose are those of the nodes at rest.
export function figure() {
  const arrays = [];
  const add = (array) => arrays.push(array) - 1;
  const addVectors = (numbers, more) => add({ size: 3, numbers, ...more });

  /// A primitive. `share` gives the share of the skin's first joint at a height, and `targets` a vector per vertex from
  /// its position, for each morph target.
  const primitive = ({ positions, normals, indices }, material, { share, targets } = {}) => {
    const vertices = Array.from({ length: positions.length / 3 }, (_, at) => positions.slice(3 * at, 3 * at + 3));
    const extent = (choose) => [0, 1, 2].map((axis) => Math.fround(choose(...vertices.map((vertex) => vertex[axis]))));
    const attributes = {
      POSITION: addVectors(positions, { min: extent(Math.min), max: extent(Math.max) }),
      NORMAL: addVectors(normals),
    };
    if (share) {
      const shares = vertices.map(([, y]) => share(y));
      attributes.JOINTS_0 = add({ size: 4, numbers: shares.flatMap(() => [0, 1, 0, 0]), kind: Uint8Array });
      attributes.WEIGHTS_0 = add({ size: 4, numbers: shares.flatMap((first) => [first, 1 - first, 0, 0]) });
    }
    const corners = add({ size: 1, numbers: indices, kind: Uint16Array });
    const made = { attributes, indices: corners, material: MATERIALS.indexOf(material) };
    if (targets) {
      made.targets = targets.map((move) => ({
        POSITION: addVectors(vertices.flatMap((vertex) => move(...vertex)), { min: [-9, -9, -9], max: [9, 9, 9] }),
        NORMAL: addVectors(vertices.flatMap(([x, y]) => [0.4 * x, 0.4 * y, -0.5])),
      }));
    }
    return made;
  };

  const meshes = [
    {
      primitives: [
        primitive(box([0, 1.15, 0], [0.5, 0.5, 0.3]), "cloth", { share: (y) => (y > 1.2 ? 0.4 : 1) }),
        primitive(box([0, 1.65, 0], [0.45, 0.5, 0.28]), "skin", { share: (y) => (y > 1.6 ? 0 : 0.4) }),
      ],
    },
    {
      primitives: [primitive(box([0.3, 1.5, -0.2], [0.7, 0.8, 0.06]), "cape", {
        share: (y) => (y > 1.5 ? 1 : 0.3),
        targets: [(x, y) => [0, 0.2 * x, y > 1.5 ? 0 : -0.5]],
      })],
      weights: [0.25],
    },
    { primitives: [primitive(box([0.05, 0.1, 0], [0.5, 0.2, 0.4]), "metal")] },
    {
      primitives: [primitive(box([0, 0, 0], [0.3, 0.3, 0.2]), "skin", {
        targets: [(x) => [x, 0, 0.1], (x, y) => [0, y, y > 0 ? 0.4 : 0]],
      })],
      weights: [0.5, 0],
    },
    { primitives: [primitive(box([0, 0, 0], [0.5, 0.3, 0.5]), "stone")] },
  ];
  const nodes = [
    { name: "root", children: [1, 4, 5, 9] },
    { name: "hips", translation: [0, 1, 0], children: [2] },
    { name: "chest", translation: [0, 0.5, 0], children: [3, 6, 7] },
    { name: "arm", translation: [0.45, 0.3, 0], children: [8] },
    { name: "body", mesh: 0, skin: 0 },
    { name: "cape", mesh: 1, skin: 1 },
    { name: "hat", mesh: 2, translation: [0, 0.5, 0], rotation: rotation(0.3, [0, 0, 1]), scale: [-1, 0.7, 1.2] },
    { name: "face", mesh: 3, translation: [0, 0.3, 0.22] },
    { name: "blade", mesh: 2, translation: [0.2, -0.5, 0.1], scale: [0.3, 4, 0.3] },
    { name: "stone", mesh: 4, translation: [-0.9, 0.15, 0.1] },
  ];
  const inverse = (x, y) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -y, 0, 1];
  const inverses = (...places) => add({ size: 16, numbers: places.flatMap(([x, y]) => inverse(x, y)) });
  const skins = [
    { joints: [1, 2], inverseBindMatrices: inverses([0, 1], [0, 1.5]) },
    { joints: [2, 3], inverseBindMatrices: inverses([0, 1.5], [0.45, 1.8]) },
  ];

  const clip = (name, duration, tracks) => {
    const samplers = [];
    const channels = tracks.map(([node, path, values, size]) => {
      const count = values.length / size;
      const times = Array.from({ length: count }, (_, key) => (duration * key) / (count - 1));
      const output = add({ size: path === "weights" ? 1 : size, numbers: values });
      samplers.push({ input: add({ size: 1, numbers: times }), output, interpolation: "LINEAR" });
      return { sampler: samplers.length - 1, target: { node, path } };
    });
    return { name, samplers, channels };
  };
  const swing = (axis, ...angles) => angles.flatMap((angle) => rotation(angle, axis));
  const animations = [
    clip("bend", 1, [
      [1, "rotation", swing([0, 0, 1], 0, 0.5, 0), 4],
      [2, "rotation", swing([0, 1, 0], 0, 0.9, -0.4, 0), 4],
      [3, "rotation", swing([1, 0, 0], 0, -1.4, 0), 4],
      [5, "weights", [0, 1, 0.2], 1],
      [7, "weights", [0, 0, 1, 0.2, 0.3, 1], 2],
    ]),
    clip("hop", 0.8, [
      [1, "translation", [0, 1, 0, 0, 1.4, 0.1, 0, 1, 0], 3],
      [3, "rotation", swing([0, 0, 1], 0, 1.6, 0), 4],
    ]),
  ];

  const { bufferViews, accessors, buffer } = pack(arrays);
  const document = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes,
    meshes,
    skins,
    animations,
    materials: MATERIALS.map((name) => ({
      name,
      pbrMetallicRoughness: { baseColorFactor: [...COLOURS[name], 1], metallicFactor: 0, roughnessFactor: 0.8 },
    })),
    buffers: [{ byteLength: buffer.length }],
    bufferViews,
    accessors,
  };
  return glb(document, buffer);
}
