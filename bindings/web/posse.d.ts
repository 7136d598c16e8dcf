// Types of the npm package `posse`: crowds of animated characters on WebGPU.
//
// Everything works on the main thread and in workers, and all but `View` in Node.js, where `navigator.gpu` has to be
// that of the package `webgpu`. Objects hold memory of the device or of WebAssembly until `free()`; the garbage
// collector frees them too, later. Times are in seconds. Errors are of the class `Error`, with the place and the hint in
// the message.

import type {
  Bytes, CrowdChanges, CrowdOptions, Freeable, Init, LayerOptions, LibraryContent, OutputOptions, Pose, ReachedEvents, RootMotions,
  SpreadOptions,
} from "./types.js";

export type * from "./types.js";

declare const init: Init;
export default init;

/** The choices of a device. */
export interface OpenOptions {
  /** A device of the page, for example of a renderer, whose errors the page listens to. Its limits must be enough for posse: WebGPU's defaults are. Default: a new device. */
  device?: GPUDevice;
  /** Features that a renderer on the same device needs, by their names in WebGPU, such as `float32-filterable`. Rejects if the adapter lacks one. Default: none; the clock is used where there is one. */
  features?: string[];
  /** Which of several GPUs. Default: the browser chooses. */
  powerPreference?: "low-power" | "high-performance";
}

/** A WebGPU device. */
export class Gpu implements Freeable {
  private constructor();
  /** Opens a device, or takes one. Rejects with the hint if there is no WebGPU or no adapter. The `code` of the error is `"options"` for a mistake in the options. */
  static open(options?: OpenOptions): Promise<Gpu>;
  /** The adapter in one line. */
  readonly name: string;
  /** True for a software renderer. */
  readonly isSoftware: boolean;
  /** The device itself, for a renderer such as three.js: `new WebGPURenderer({ device })`. */
  readonly device: GPUDevice;
  /** Resolves with the reason when the device is lost. Open another one then, and create crowds and views again. */
  readonly lost: Promise<string>;
  free(): void;
  [Symbol.dispose](): void;
}

/** Skeletons, skins and clips, and the meshes to draw. */
export interface Library extends LibraryContent {}
export class Library {
  private constructor();
  /** The built-in human. */
  static demo(): Library;
  /**
   * Reads a `.glb`, `.gltf`, `.vrm` or `.bvh` file, or a clip of Cocos Creator (`.json`, `.anim`), which gets a skeleton of the nodes
   * that it names. `files` has the external buffers and images of a `.gltf` file, by their paths or by their file names.
   */
  static load(name: string, bytes: Bytes, files?: Record<string, Bytes>): Library;
  /** True if there are meshes to draw. */
  readonly hasMeshes: boolean;
  /**
   * The clips on the first skeleton and the meshes of another library, as a new library; both stay as they are. Throws if no joint has
   * a partner. The npm package lacks this method and `retargeting`; `bindings/web/build --retarget FOLDER` makes a package with both.
   */
  retarget?(onto: Library, options?: RetargetOptions): Library;
  /** What `retarget` did to make this library; `undefined` for one of a file. */
  readonly retargeting?: RetargetReport;
}

/** The choices of a retargeting. */
export interface RetargetOptions {
  /** Numbers or names of clips. Default: all. */
  clips?: (number | string)[];
  /** Pairs of joints and the movement of the root. Default: by names and roles in a human; scaled by the ratio of the lengths of the legs. */
  map?: { joints?: Record<string, string | null>; by_names?: boolean; root?: string; translation?: "scaled" | "full" | "none"; scale?: number };
  /** `auto`, the default, turns bones of the rest pose that point elsewhere than those of the target. */
  align?: "auto" | "off";
  /** `auto`, the default, turns the front to that of the target. A number is a rotation in degrees about the up axis. */
  facing?: "auto" | "keep" | number;
  /** The up axis of this library. Default: `auto`, the axis along which the figure stands. */
  sourceUp?: "auto" | "x" | "y" | "z" | "-x" | "-y" | "-z";
  /** The height of the ground. `auto`, the default: 0 if feet come down near it, else their lowest point. */
  ground?: "auto" | "zero" | "keep";
  /** The joints that keep their translations and scales: `all`, the default, that are paired by name, or the root alone. */
  translations?: "all" | "root";
  /** The distance beyond which a clip whose root moves over the ground stays in place. Default: every clip travels. */
  inPlace?: number;
}

/** What a retargeting did: the report of `posse retarget --json`. */
export interface RetargetReport {
  /** The pairs of joints. `by` is `name`, `normalised name`, `role`, `structure` or `map`. */
  joints: { source: string; target: string; by: string }[];
  /** The joint whose movement the target takes over. */
  root: string | null;
  /** The factor of that movement; 0 if the target does not move. */
  scale: number;
  /** The lengths of which the factor is the ratio. */
  scale_basis: string | null;
  /** The units that the factor suggests, such as `centimetres to metres`. */
  units: string | null;
  /** The up axis of the source, such as `+Z`. */
  source_up: string;
  /** The rotation about the up axis in degrees. `null` if it is not known which way the target faces. */
  facing: number | null;
  /** `true` if source and target seem to be one skeleton in two rest poses. */
  one_skeleton: boolean;
  /** The bones that were rotated in the rest pose: with the joint above, to stand or to point as their partners, to bend to the same side, or for the axes that they have in the clips. */
  aligned: { source: string; target: string; degrees: number; reason: "parent" | "trunk" | "direction" | "bend" | "clips" }[];
  /** What was left out, then what looks wrong. */
  warnings: string[];
  /** Joints that are missing, ambiguous or cannot be animated: the first of the warnings. */
  left_out: string[];
  source_without_partner: string[];
  target_without_partner: string[];
  /** The tracks of each clip by the way in which they were made. */
  clips: {
    name: string | null;
    exact: string[];
    constant: string[];
    /** `error` is in radians for a rotation, a share of the rig's size for a translation, a number for weights. */
    resampled: { track: string; keys: number; error: number }[];
    dropped: { track: string; reason: string }[];
    lost_root_motion: { joint: string; reason: string } | null;
    /** The height of the ground in the source. `null` if the root moves relative to the rest pose. */
    ground: number | null;
  }[];
}

/** The buffers of a batch: instances of one skeleton that need the same mixing. A stride is the bytes per instance. */
export interface CrowdBuffers {
  /** The number in the crowd of each instance of the batch, in the order of the buffers. */
  instances: Uint32Array;
  /** 3 rows of 4 numbers per joint of each skin. `null` if the crowd does not write it. */
  skin: GPUBuffer | null;
  skinStride: number;
  /** 3 rows of 4 numbers per joint. */
  model: GPUBuffer | null;
  modelStride: number;
  /** 12 numbers per joint: translation, 0, rotation, scale, 0. */
  local: GPUBuffer | null;
  localStride: number;
  /** Morph weights, then properties. */
  values: GPUBuffer | null;
  valuesStride: number;
  /** 8 numbers: translation, then 1 if a clip of the instance has a root joint and 0 otherwise, rotation. In the space of that joint's parent. */
  rootMotion: GPUBuffer | null;
  rootMotionStride: number;
}

/**
 * Instances that play clips, with their poses in buffers of the device. `free()` releases the buffers, as soon as no `View` shows the
 * crowd; large crowds should be freed when they are replaced.
 */
export interface Crowd extends CrowdChanges {}
export class Crowd implements Freeable {
  private constructor();
  /** Instances with up to 8 layers each. An instance without layers stands at rest. */
  static create(
    gpu: Gpu,
    library: Library,
    instances: LayerOptions[][],
    outputs?: OutputOptions,
    options?: CrowdOptions,
  ): Promise<Crowd>;
  /** Instances that play one or two clips, with the outputs that a `View` draws. */
  static spread(gpu: Gpu, library: Library, options: SpreadOptions): Promise<Crowd>;
  /** Poses the instances at a time. With `from`, at the end of a step from that time, for root motion. It does not wait. */
  pose(time: number, from?: number): void;
  /** As `pose`, of all instances, visible or not; resolves with the nanoseconds by the clock of the GPU, `undefined` if the device has none. */
  timedPose(time: number): Promise<number | undefined>;
  /** The model matrix of a joint at a time, posed on the GPU and read back: 16 numbers, column-major. The buffers keep their poses. */
  joint(instance: number, joint: number, time: number): Promise<Float32Array>;
  /**
   * As `joint`, of several instances in one pass, read back together: 16 numbers for each, in their order. `joints` has a joint for each
   * instance, or is one for all.
   */
  jointMatrices(instances: ArrayLike<number>, joints: number | ArrayLike<number>, time: number): Promise<Float32Array>;
  /** The whole pose of an instance at a time, posed on the GPU and read back. The buffers keep their poses. */
  readPose(instance: number, time: number): Promise<Pose>;
  /**
   * The movements of all instances in the step that was posed last, read back, by the root joints of their present layers: to be
   * called before layers are replaced. The crowd needs the output `rootMotion`.
   */
  rootMotions(): Promise<RootMotions>;
  /**
   * The events that the layers reach after the time `from`, up to the time `to`: what a frame has reached since the last one. The
   * buffers keep their poses. Per layer, at most 256 events are listed; `capacity` is the most of all layers. Default: 1024, for which
   * `create` prepares; otherwise the first call does, which can take a second. Events of layers that follow parameters are listed before the
   * frame is posed.
   */
  events(from: number, to: number, capacity?: number): Promise<ReachedEvents>;
  /** The buffer of skin matrices of all instances: 3 rows of 4 numbers per joint of each skin. Throws if there are several; see `buffers`. */
  skinBuffer(): GPUBuffer;
  /** The bytes per instance in that buffer. */
  readonly skinStride: number;
  /** All buffers, with the usages STORAGE, VERTEX and COPY_SRC. */
  readonly buffers: CrowdBuffers[];
  free(): void;
  [Symbol.dispose](): void;
}

/** A camera that orbits a target. Angles are in radians. */
export interface CameraOptions {
  /** About +Y. At 0 the camera is on the +Z side. Default: 0.55. */
  yaw?: number;
  /** Above the target. Default: 0.22. */
  pitch?: number;
  distance?: number;
  target?: [number, number, number];
}

export interface ViewOptions {
  /** Samples per pixel. Default: 4, on a software renderer 1. With 1, shadows are coarser too. */
  samples?: 1 | 4;
}

export interface ShowOptions {
  /** Red, green and blue from 0 to 255. Default: a sky. */
  background?: [number, number, number];
}

/** Draws a crowd on a canvas: the meshes of the file, or bones if it has none. */
export class View implements Freeable {
  private constructor();
  /** Prepares to draw. */
  static open(gpu: Gpu, canvas: HTMLCanvasElement | OffscreenCanvas, options?: ViewOptions): Promise<View>;
  /** Shows a crowd of the library from the next frame on. */
  show(library: Library, crowd: Crowd, options?: ShowOptions): Promise<void>;
  /** Poses the crowd at a time and draws it. On a lost canvas or device it does nothing. */
  draw(time: number, camera: CameraOptions): void;
  /** Changes the size of the canvas, in pixels. */
  resize(width: number, height: number): Promise<void>;
  /** The camera that shows the whole crowd, with the angles of the argument. */
  fit(camera?: CameraOptions): Required<CameraOptions>;
  free(): void;
  [Symbol.dispose](): void;
}

export interface CheckOptions {
  /** The most times per clip. Default: 64. */
  samples?: number;
  /** Moves a joint of each pose that is read back by this share of the distance of its farthest joint: the check must then fail. */
  alter?: number;
}

export interface Progress {
  done: number;
  total: number;
}

/** The worst error of a quantity as a share of its bound; at most 1 within the contract. */
export interface WorstError {
  name: string;
  worst: number;
}

export interface CheckReport {
  pass: boolean;
  /** The worst of all shares. */
  worst: number;
  /** The worst share of each quantity: rotation, translation, position, skin, ... */
  kinds: WorstError[];
  /** The worst share of each clip that is checked alone. */
  clips: WorstError[];
  /** The worst share of each kind of crowd: wrap modes, blend, override, additive, masks, fades, ... */
  crowds: WorstError[];
  poses: number;
  adapter: string;
}

/** Compares every clip of a library, and crowds that mix them in all ways, on the GPU with the f64 reference. */
export class Check implements Freeable {
  private constructor();
  static start(gpu: Gpu, library: Library, options?: CheckOptions): Check;
  /** Does a part of the work, at most about 50 ms on the processor, except the first step and those that read poses back. Resolves with `null` when all is done. */
  step(): Promise<Progress | null>;
  /** The report on what is done so far. */
  report(): CheckReport;
  free(): void;
  [Symbol.dispose](): void;
}

export interface MeasureOptions {
  /** Seconds per size. Default: 0.5. */
  seconds?: number;
  /** Numbers of instances. Default: powers of ten up to what the adapter poses in reasonable time. */
  counts?: number[];
}

export interface MeasureRow {
  instances: number;
  joints: number;
  /** Milliseconds per frame, the median. */
  milliseconds: number;
  /** True if the clock of the GPU measured it, false for the clock of the browser over many frames. */
  gpuClock: boolean;
  jointsPerSecond: number;
  bytesPerSecond: number;
  /** The share of the memory bandwidth that a kernel reaches that only writes. */
  bandwidthShare: number | null;
  /** The worst error of a sample of the poses as a share of its bound. */
  worst: number;
}

/** Measures joints per second over sizes. */
export class Measure implements Freeable {
  private constructor();
  /** Crowds that play the clips of a library in turn. */
  static start(gpu: Gpu, library: Library, options?: MeasureOptions): Measure;
  /** Crowds of a generated rig of 16 joints, the one of `posse bench --table instances`, to compare machines. */
  static rig(gpu: Gpu, options?: MeasureOptions): Measure;
  /** Does a part of the work. Resolves with `null` when all is done. */
  step(): Promise<Progress | null>;
  rows(): MeasureRow[];
  /** The JSON that `posse bench --from` reads. */
  json(): string;
  free(): void;
  [Symbol.dispose](): void;
}

/** The types of WebGPU that the page has: those of `@webgpu/types`, or of TypeScript's library; without them, `any`. */
export type GPUDevice = typeof globalThis extends { GPUDevice: { prototype: infer Device } } ? Device : any;
export type GPUBuffer = typeof globalThis extends { GPUBuffer: { prototype: infer Buffer } } ? Buffer : any;
