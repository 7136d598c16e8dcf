// Types that the entries of the npm package `posse` share. Times are in seconds.

declare global {
  /** As in TypeScript's library `esnext.disposable`, for programs without it. */
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

/** An object that holds memory of the device or of WebAssembly until `free()`. Its use after that is an error; a second `free()` does nothing. */
export interface Freeable {
  free(): void;
  [Symbol.dispose](): void;
}

/** The bytes of a file: an `ArrayBuffer`, or a view such as `Uint8Array` or Node's `Buffer`. */
export type Bytes = ArrayBufferLike | ArrayBufferView;

/**
 * Loads the WebAssembly of an entry. To be awaited before anything else. `module_or_path` is an address, a `Response`, the bytes of the
 * file, a `WebAssembly.Module`, or a promise of one of them. Default: the file beside the module.
 */
export type Init = (source?: { module_or_path: string | object }) => Promise<unknown>;

/** The content of a library: skeletons, skins and clips. */
export interface LibraryContent extends Freeable {
  /** Adds a clip of Cocos Creator, which moves the nodes of the first skeleton. Returns its number. Crowds created before do not have it. */
  addClip(name: string, bytes: Bytes): number;
  /** Adds a mask: a weight by joint name; descendants take the weight too unless told otherwise, other joints 0. Returns its number for `LayerOptions.mask`, for crowds created later. */
  mask(skeleton: number, weights: Record<string, number>, descendants?: boolean): number;
  readonly clips: ClipInfo[];
  /** The number of skeletons. */
  readonly skeletons: number;
  /** Parts of the file that were repaired or ignored. */
  readonly warnings: string[];
  joints(skeleton: number): JointInfo[];
  /** The number of a joint by its name, the end of its path (`Armature/Hips`), `NAME#K` for the K-th of that name from 0, or `#INDEX` of its node. Throws with the nearest names, or with the joints that the text selects if they are several. */
  joint(skeleton: number, name: string): number;
}

export interface ClipInfo {
  /** The name, or the number of a clip without a name. */
  name: string;
  duration: number;
  skeleton: number;
  /** The number of events. */
  events: number;
  /** Present if no track of the clip can be read: a warning says why. It keeps the number of the others, and lasts 0 s. */
  leftOut?: true;
}

export interface JointInfo {
  name: string | null;
  /** The number of the parent among the joints. */
  parent: number | null;
  /** The number of the node in the file. */
  node: number;
}

/** A ramp of a layer's weight, on the clock of the crowd. */
export interface FadeOptions {
  start: number;
  /** Seconds. */
  length: number;
  /** Default: `linear`. */
  shape?: "linear" | "smooth";
}

/** A clip at work on an instance. */
export interface LayerOptions {
  /** The number or the name of the clip; of several of a name, `NAME#K` is the K-th, from 0. */
  clip: number | string;
  /** 0 or more. Default: 1. */
  weight?: number;
  /** Default: 1. Negative speeds play backwards. At 0, the layer shows the time `start`. */
  speed?: number;
  /** The time of the clip at time 0 of the crowd. Default: 0. */
  start?: number;
  /** As `start`, in durations of the clip. Both are added. */
  phase?: number;
  /** A fixed time of the clip, instead of a play. */
  at?: number;
  /** Default: `loop`. `default` is the mode of the clip. */
  wrap?: "default" | "normal" | "loop" | "pingpong" | "reverse" | "loopreverse" | "pingpongreverse";
  /** Passes until it stops. */
  repeat?: number;
  /** The played part of the clip. */
  range?: [number, number];
  /** Default: `blend`. `additive` adds the difference from the clip's first pose, `additiveRest` from the rest pose. */
  mode?: "blend" | "override" | "additive" | "additiveRest";
  /** The number of a mask of `Library.mask`. */
  mask?: number;
  fadeIn?: FadeOptions;
  fadeOut?: FadeOptions;
}

/** The outputs that a crowd writes. Default: skin matrices alone. */
export interface OutputOptions {
  /** Default: true. */
  skin?: boolean;
  model?: boolean;
  local?: boolean;
  /** Morph weights. */
  weights?: boolean;
  /** Properties of clips. Pictures need them for files whose materials or visibility are animated. */
  properties?: boolean;
}

/** A crowd that plays one or two clips. */
export interface SpreadOptions {
  /** 1 to 1,048,576 instances. */
  count: number;
  /** Default: none, the rest pose. */
  clip?: number | string;
  clip2?: number | string;
  /** The share of the instances that play `clip2`, 0 to 1. Default: 0. */
  share?: number;
  /** Default: 1. */
  speed?: number;
  /** 0: all in step; 1: phases over the whole clip, speeds up to 20 % apart. Default: 0. Instance 0 always has the phase 0 and this speed. */
  spread?: number;
}

/** A pose of one instance. */
export interface Pose {
  /** 3 numbers per joint. */
  translations: Float32Array;
  /** 4 numbers per joint: x, y, z, w. */
  rotations: Float32Array;
  /** 3 numbers per joint. */
  scales: Float32Array;
  /** 16 numbers per joint, column-major. */
  model: Float32Array;
  /** 16 numbers per joint of each skin. */
  skin: Float32Array;
  /** Morph weights. */
  weights: Float32Array;
  properties: Float32Array;
}

/** An event that the play of a layer has reached. */
export interface ReachedEvent {
  /** The time of the crowd at which it was reached. */
  time: number;
  instance: number;
  /** The number of the layer in the instance. */
  layer: number;
  /** The number of the event in its clip. */
  event: number;
  /** The number of the clip. */
  clip: number;
  /** The name of the function to call. */
  function: string;
  /** The arguments of the call: strings as they are, other values as JSON. */
  parameters: string[];
}

export interface ReachedEvents {
  /** Ordered by time, then by instance, layer and event. */
  events: ReachedEvent[];
  /** The number of events that are not listed. */
  missed: number;
}
