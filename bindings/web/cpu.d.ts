// Types of the entry `posse/cpu` of the npm package `posse`: crowds of animated characters on the CPU.
//
// It needs WebAssembly with SIMD: Chrome 91, Firefox 89, Safari 16.4, Node.js 20, or later. Classes and methods have the
// names of the entry `posse`, but no device, and nothing is to be awaited except the default export. One thread poses.

import type {
  Bytes, Freeable, Init, LayerOptions, LibraryContent, OutputOptions, Pose, ReachedEvents, SpreadOptions,
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

/** The choices of a crowd. */
export interface CrowdOptions {
  /** The skeleton of instances without layers. Default: 0. */
  skeleton?: number;
}

/**
 * The poses of a batch: instances of one skeleton that need the same mixing. A stride is the bytes per instance. The arrays are views of
 * the memory of WebAssembly, without a copy: read them before the next call of this module, which may move that memory, and never
 * after `free()`.
 */
export interface CrowdBuffers {
  /** The number in the crowd of each instance of the batch, in the order of the arrays. Instances with the same clip are neighbours. */
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
}

/** Instances that play clips, with their poses in the memory of WebAssembly. Large crowds should be freed when they are replaced. */
export class Crowd implements Freeable {
  private constructor();
  /** Instances with up to 8 layers each. An instance without layers stands at rest. */
  static create(library: Library, instances: LayerOptions[][], outputs?: OutputOptions, options?: CrowdOptions): Crowd;
  /** Instances that play one or two clips. */
  static spread(library: Library, options: SpreadOptions, outputs?: OutputOptions): Crowd;
  /** The number of instances. */
  readonly count: number;
  /** The number of joints of all instances together. */
  readonly joints: number;
  /** Replaces the layers of an instance from the next frame on, by as many and of any mixing. */
  setLayers(instance: number, layers: LayerOptions[]): void;
  /** Poses all instances at a time. */
  pose(time: number): void;
  /** The model matrix of a joint at a time: 16 numbers, column-major. The buffers keep their poses. */
  joint(instance: number, joint: number, time: number): Float32Array;
  /** The whole pose of an instance at a time, as copies. The buffers keep their poses. */
  readPose(instance: number, time: number): Pose;
  /**
   * The events that the layers reach after the time `from`, up to the time `to`: what a frame has reached since the last one.
   * `capacity` is the most that are listed. Default: 1024.
   */
  events(from: number, to: number, capacity?: number): ReachedEvents;
  /**
   * The skin matrices of the last pose, of all instances in their order: 3 rows of 4 numbers per joint of each skin. A view, as those of
   * `CrowdBuffers`. Throws if the crowd has several skeletons; see `buffers`.
   */
  skinBuffer(): Float32Array;
  /** The bytes per instance in that buffer. */
  readonly skinStride: number;
  /** All arrays of the last pose, batch after batch. */
  readonly buffers: CrowdBuffers[];
  free(): void;
  [Symbol.dispose](): void;
}
