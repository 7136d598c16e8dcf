// Types of `posse/three`: crowds of posse in three.js, 0.187 or later, drawn by its `WebGPURenderer`.

import type { GLTF } from "three/addons/loaders/GLTFLoader.js";
import type {
  Box3, Camera, Color, ColorRepresentation, DirectionalLight, Group, Matrix4, Sphere,
} from "three/webgpu";

import type { GPUBuffer, GPUDevice } from "./posse.js";

/** The poses of a batch of instances, in buffers of a device or in arrays: `CrowdBuffers` of `posse`, and the same with arrays. */
export interface PosedBatch {
  /** The number in the crowd of each instance of the batch, in the order of the arrays. */
  instances: Uint32Array;
  /** 3 rows of 4 numbers per joint of each skin. */
  skin: GPUBuffer | Float32Array | null;
  /** Bytes per instance. */
  skinStride: number;
  /** 3 rows of 4 numbers per joint. */
  model: GPUBuffer | Float32Array | null;
  modelStride: number;
  /** Morph weights, then properties. */
  values: GPUBuffer | Float32Array | null;
  valuesStride: number;
}

/** What poses the instances: the `Crowd` of `posse`, that of `posse/cpu`, or an object of your own. */
export interface PosedCrowd {
  readonly count: number;
  /** Read again after each `pose`, so that arrays may be replaced. */
  readonly buffers: PosedBatch[];
  pose(time: number): void;
}

/** The skeleton of the file: the `Library` of `posse`, or that of `posse/cpu`. */
export interface PosedLibrary {
  /** The joints of the only skeleton of the file, 0, each with the number of its node. */
  joints(skeleton: number): { node: number }[];
}

/**
 * All instances of a crowd with the meshes of its glTF file, as an object of three.js: one draw call per mesh.
 *
 * Skinned meshes, meshes that hang on a joint and those that stand still are drawn with their materials and textures,
 * their morph targets by the weights of each instance. They cast and receive shadows, and are left out where the whole
 * crowd is out of view. Not drawn: lines and points, animated materials and visibility, `EXT_mesh_gpu_instancing`,
 * motion vectors. `raycast` finds no instance.
 *
 * The children are meshes of three.js with node materials, which you may change.
 */
export class PosseCrowd extends Group {
  /**
   * Instances stand at the origin until `setMatrixAt`, in their poses from the first `pose` on.
   *
   * @param gltf The file as three.js reads it. It may be drawn too, and is not changed.
   * @param library The same bytes as posse reads them.
   * @param crowd A crowd of that library, with the outputs that the meshes need: `Crowd.spread` has them, `Crowd.create`
   *     needs `{ skin: true }` for skinned meshes, `{ model: true }` for others, and `{ weights: true }` for morph targets.
   * @param device `gpu.device`, for a crowd on a GPU. The renderer must use it: `new WebGPURenderer({ device: gpu.device })`.
   * @throws If the crowd lacks an output, or a material is of a kind that has no nodes.
   */
  constructor(gltf: Pick<GLTF, "scene" | "animations" | "parser">, library: PosedLibrary, crowd: PosedCrowd, device?: GPUDevice);

  /** The crowd, which stays yours to change and to free. */
  readonly crowd: PosedCrowd;
  /** The number of instances. */
  readonly count: number;
  /**
   * A sphere about a character that stands at the origin, for culling: all poses of the file's clips. Replace it if clips of
   * other files, additive layers or IK reach farther.
   */
  reach: Sphere;
  /** The bounds of all visible instances, in the space of the crowd. Valid after `updateMatrixWorld`, which three.js calls when it draws. */
  readonly boundingSphere: Sphere;
  readonly boundingBox: Box3;

  /** Poses all instances at a time in seconds. To be called before the renderer draws. */
  pose(time: number): void;

  /** Moves an instance: position, rotation and scale. As with `InstancedMesh`, a scale that mirrors shows the insides of meshes. */
  setMatrixAt(instance: number, matrix: Matrix4): void;
  getMatrixAt(instance: number, target: Matrix4): Matrix4;
  /** Multiplies the colours of the materials. Default: white. */
  setColorAt(instance: number, color: ColorRepresentation): void;
  getColorAt(instance: number, target: Color): Color;
  /** Shows or hides an instance, with its shadow. A hidden instance costs no drawing. Default: true. */
  setVisibleAt(instance: number, isVisible: boolean): void;
  getVisibleAt(instance: number): boolean;

  /**
   * Leaves out the instances out of a camera's view, with their shadows, until the next call. `margin` keeps those so near to
   * the view, in units of the crowd. Without a camera, all are kept. To be called before the renderer draws.
   */
  cull(camera?: Camera, margin?: number): void;

  /**
   * Makes a light cast the shadows of the whole crowd: moves the light back along its direction, and fits the shadow's camera. The
   * light has a `target` at the crowd's centre then. To be called when instances have their places.
   */
  fitShadow(light: DirectionalLight): void;

  /** Frees textures, geometries and materials. The crowd and the file are left alone. */
  dispose(): void;
}
