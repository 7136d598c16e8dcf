// Types of the entry `posse/cpu` of the npm package `posse`: crowds of animated characters on the CPU.
//
// It needs WebAssembly with SIMD: Chrome 91, Firefox 89, Safari 16.4, Node.js 20, or later. Classes and methods have the
// names of the entry `posse`, but no device, and nothing is to be awaited except the default export. One thread poses.

import type {
  Bytes, CrowdChanges, CrowdOptions, Freeable, Init, LayerOptions, LibraryContent, OutputOptions, Pose, ReachedEvents, RootMotions,
  SpreadOptions,
} from "./types.js";

export type * from "./types.js";

declare const init: Init;
export default init;

/** Skeletons, skins and clips. */
export interface Library extends LibraryContent {}
export class Library {
  private constructor();
  /** The built-in human. */
  static demo(): Library;
  /**
   * Reads a `.glb`, `.gltf`, `.vrm` or `.bvh` file, or a clip of Cocos Creator (`.json`, `.anim`), which gets a skeleton of the nodes
   * that it names. Meshes and images are not read. `files` has the external buffers of a `.gltf` file, by their paths or by their file
   * names.
   */
  static load(name: string, bytes: Bytes, files?: Record<string, Bytes>): Library;
}

/**
 * The poses of a batch: instances of one skeleton that need the same mixing. A stride is the bytes per instance. The arrays are views of
 * the memory of WebAssembly, without a copy: read them before the next call of this module, which may move that memory, and never
 * after `free()`.
 */
export interface CrowdBuffers {
  /** The number in the crowd of each visible instance of the batch, in the order of the arrays. Instances with the same clip are neighbours. */
  instances: Uint32Array;
  /** 3 rows of 4 numbers per joint of each skin. `null` if the crowd does not write it. */
  skin: Float32Array | null;
  skinStride: number;
  /** 3 rows of 4 numbers per joint. */
  model: Float32Array | null;
  modelStride: number;
  /** 12 numbers per joint: translation, 0, rotation, scale, 0. */
  local: Float32Array | null;
  localStride: number;
  /** Morph weights, then properties. */
  values: Float32Array | null;
  valuesStride: number;
  /** 8 numbers: translation, then 1 if a clip of the instance has a root joint and 0 otherwise, rotation. In the space of that joint's parent. */
  rootMotion: Float32Array | null;
  rootMotionStride: number;
}

/** Instances that play clips, with their poses in the memory of WebAssembly. Large crowds should be freed when they are replaced. */
export interface Crowd extends CrowdChanges {}
export class Crowd implements Freeable {
  private constructor();
  /** Instances with up to 8 layers each. An instance without layers stands at rest. */
  static create(library: Library, instances: LayerOptions[][], outputs?: OutputOptions, options?: CrowdOptions): Crowd;
  /** Instances that play one or two clips. */
  static spread(library: Library, options: SpreadOptions, outputs?: OutputOptions): Crowd;
  /** Poses the instances at a time. With `from`, at the end of a step from that time, for root motion. */
  pose(time: number, from?: number): void;
  /** The model matrix of a joint at a time: 16 numbers, column-major. The buffers keep their poses. */
  joint(instance: number, joint: number, time: number): Float32Array;
  /** As `joint`, of several instances: 16 numbers for each, in their order. `joints` has a joint for each instance, or is one for all. */
  jointMatrices(instances: ArrayLike<number>, joints: number | ArrayLike<number>, time: number): Float32Array;
  /** The whole pose of an instance at a time, as copies. The buffers keep their poses. */
  readPose(instance: number, time: number): Pose;
  /**
   * The movements of all instances in the step that was posed last, by the root joints of their present layers: to be called before
   * layers are replaced. The crowd needs the output `rootMotion`.
   */
  rootMotions(): RootMotions;
  /**
   * The events that the layers reach after the time `from`, up to the time `to`: what a frame has reached since the last one.
   * `capacity` is the most that are listed. Default: 1024. Events of layers that follow parameters are listed before the frame is posed.
   */
  events(from: number, to: number, capacity?: number): ReachedEvents;
  /**
   * The skin matrices of the last pose, of all instances in their order, with older poses of those that are not visible: 3 rows of 4
   * numbers per joint of each skin. A view, as those of `CrowdBuffers`. Throws if the crowd has several skeletons; see `buffers`.
   */
  skinBuffer(): Float32Array;
  /** The bytes per instance in that buffer. */
  readonly skinStride: number;
  /** All arrays of the last pose, batch after batch. */
  readonly buffers: CrowdBuffers[];
  free(): void;
  [Symbol.dispose](): void;
}
