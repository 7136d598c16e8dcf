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
  /**
   * Adds a chain of joints that inverse kinematics turns, for goals of crowds created later. Returns its number for `GoalOptions.chain`.
   */
  chain(skeleton: number, chain: ChainOptions): number;
  /**
   * Adds knots: pairs of a parameter's value and a weight of 0 or more, linear between them and constant before and after; values
   * increase. Returns their number for `LayerOptions.weight`, for crowds created later.
   */
  knots(knots: [value: number, weight: number][]): number;
  /**
   * Adds a blend space of points in a plane. A point's share is its barycentric coordinate in the triangle at the position, and 0 if it
   * is no corner of that triangle. A position outside of all triangles counts as the nearest point of one. Default of `triangles`:
   * Delaunay's, which need at least 3 points that are not on a line. Returns its number for `LayerOptions.weight`, for crowds created
   * later.
   */
  blendSpace(points: [x: number, y: number][], triangles?: [number, number, number][]): number;
  /** Replaces the sync markers of a clip, which layers with `sync` follow: increasing times from 0 to less than its duration. For crowds created later. */
  setMarkers(clip: number | string, times: ArrayLike<number>): void;
  /**
   * Gives a clip a root joint, whose movement then moves the instance instead of the pose (`Crowd.rootMotions`), or takes it away.
   * Returns true if a track of the clip moves the joint. For crowds created later.
   */
  setRootMotion(clip: number | string, root: RootOptions | null): boolean;
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

/** A joint by its number or its name, as `LibraryContent.joint` finds it. */
export type Joint = number | string;

/** Joints that inverse kinematics turns. */
export type ChainOptions =
  | {
      /** Two bones, such as hip, knee and ankle, each joint below the one before: the first two turn, so that the third reaches the target, or comes as near as the bones allow. */
      joints: [Joint, Joint, Joint];
      /** The direction in model space to which the middle joint points. Default: it stays on its side. A straight limb bends only with a pole. */
      pole?: [number, number, number];
      /** True if the third joint keeps its rotation in model space, as a foot on the ground does. Default: false. */
      hold?: boolean;
    }
  | {
      /** A joint that looks at the target. */
      aim: Joint;
      /** The direction in the joint's own space that turns to the target. It need not have length 1. */
      forward: [number, number, number];
      /** The largest rotation in radians, 0 or more. Default: pi, no limit. */
      limit?: number;
    };

/** The root joint of a clip. */
export interface RootOptions {
  joint: Joint;
  /** The axes of the movement: letters of `xyz`, or `none`, in the space of the joint's parent. Default: the two that are horizontal at rest. */
  translation?: string;
  /** The rotation that moves the instance: about its up axis (+Y), or all. Default: `yaw`. */
  rotation?: "none" | "yaw" | "full";
}

/** A target for a chain. */
export interface GoalOptions {
  /** The number of a chain of `LibraryContent.chain`. */
  chain: number;
  /** A point in the model space of the instance, or the names of the parameters that are its x, y and z. */
  target: [number, number, number] | { parameters: [string, string, string] };
  /** The share of the effect, 0 to 1, or the name of a parameter, whose value is clamped to 0 and 1. Default: 1. */
  weight?: number | { parameter: string };
}

/** The decay of a transition. */
export interface TransitionOptions {
  /** The time of the crowd at which it begins: that of a frame. Earlier frames than this must not be posed any more. */
  start: number;
  /**
   * `inertial`: the difference of both poses, and of their speeds, decays like a critically damped spring (inertialization). `dead`: the
   * pose that goes out moves on more and more slowly, while the other takes over (dead blending). Default: `inertial`.
   */
  kind?: "inertial" | "dead";
  /** The seconds that set the pace, more than 0: the speed of a dead transition halves in them, and 60 % of an inertial difference are left. An inertial transition is over after 16 of them. Default: 0.1. */
  halfLife?: number;
  /** The length of a dead transition, more than 0. Required for it, and refused for the other. */
  seconds?: number;
}

/**
 * The parameters of a crowd, and the capacity for what comes later. A crowd of `posse` refuses what exceeds it. A crowd of `posse/cpu`
 * takes all, but is packed anew for it before the next frame; of `transitions` and `visible`, it has enough in any case.
 */
export interface CrowdOptions {
  /** The skeleton of instances without layers. Default: 0. */
  skeleton?: number;
  /** The names of the parameters of each instance, at most 16, in the order of `Crowd.setParameters`. They begin at 0. Default: none. */
  parameters?: string[];
  /** Layers per instance, up to 8. Default: as many as the instances begin with. */
  layers?: number;
  /** `any` for layers that override or add. Default: the mixing that the instances begin with. */
  mixing?: "none" | "blend" | "any";
  /** True for layers that follow others (`sync`), in a crowd without parameters. Default: if the instances begin with some. */
  drivers?: boolean;
  /** Goals per instance, up to 32. Default: 0. */
  goals?: number;
  /** Transitions on their way at the same time. Default: 0. */
  transitions?: number;
  /** True for `Crowd.setVisible`. Default: false. */
  visible?: boolean;
}

/** The movements of all instances in a step, each seen from the place of the instance at the start of the step, in its space. */
export interface RootMotions {
  /** 3 numbers per instance. 0 for an instance without root motion. */
  translations: Float32Array;
  /** 4 numbers per instance: x, y, z, w. The new place is `place * translation * rotation`. */
  rotations: Float32Array;
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
  /**
   * 0 or more. Default: 1. Or what it follows from: a parameter by way of knots (`LibraryContent.knots`), or the share of a point of a
   * blend space (`LibraryContent.blendSpace`) at the position of two parameters.
   */
  weight?:
    | number
    | { parameter: string; knots: number }
    | { blendSpace: number; parameters: [x: string, y: string]; point: number };
  /** -10,000 to 10,000. Default: 1. Negative speeds play backwards. At 0, the layer shows the time `start`. */
  speed?: number;
  /** The time of the clip at time 0 of the crowd. Default: 0. */
  start?: number;
  /** As `start`, in durations of the clip. Both are added. */
  phase?: number;
  /** A fixed time of the clip, instead of a play. */
  at?: number;
  /** A parameter that counts passes of the clip, instead of a play: 1.5 is the middle of the second. It goes with `wrap`. */
  time?: { parameter: string };
  /**
   * The number of an earlier layer of the instance, whose part of its clip this one follows in its own, or whose part of the way from one
   * sync marker to the next if both clips have markers. Instead of a play, and of `wrap`.
   */
  sync?: number;
  /** Default: `loop`. `default` is the mode of the clip. */
  wrap?: "default" | "normal" | "loop" | "pingpong" | "reverse" | "loopreverse" | "pingpongreverse";
  /** Passes until it stops, 0 or more. Default: as the wrap mode has it. */
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

/** Layers for several instances. A field that is an array has a number for each instance. */
export type LayerColumns = Omit<LayerOptions, "clip" | "weight" | "speed" | "start" | "phase" | "at"> & {
  clip: LayerOptions["clip"] | ArrayLike<number>;
  weight?: LayerOptions["weight"] | ArrayLike<number>;
  speed?: number | ArrayLike<number>;
  start?: number | ArrayLike<number>;
  phase?: number | ArrayLike<number>;
  at?: number | ArrayLike<number>;
};

/** How a crowd changes. The methods act from the next frame on. */
export interface CrowdChanges {
  /** The number of instances. */
  readonly count: number;
  /** The number of joints of all instances together. */
  readonly joints: number;
  /**
   * Replaces the layers of an instance, or of several in one call. A transition of theirs ends; parameters and goals stay. Throws, and
   * changes nothing, if the layers do not fit the skeletons or the capacity.
   */
  setLayers(instances: number | ArrayLike<number>, layers: LayerColumns[]): void;
  /** Replaces the layers of all instances by those of another spread. Returns false, and changes nothing, if that needs another crowd. */
  respread(options: SpreadOptions): boolean;
  /**
   * Fades instances to another layer, smoothly, from a time of the crowd on: their layers that blend fade out, layers that override or
   * add stay. Needs two layers of capacity, and one more for each fade that begins before the last one has ended.
   */
  crossFade(instances: number | ArrayLike<number>, layer: LayerColumns, fade: { start: number; length: number }): void;
  /**
   * Leads instances to other layers without a jump, from the poses that they show, by a displacement that decays: the layers that go
   * out are not played any more. A transition on its way is interrupted. If one instance cannot begin, the call names it, throws, and
   * changes nothing.
   */
  transition(instances: number | ArrayLike<number>, layers: LayerColumns[], options: TransitionOptions): void;
  /**
   * Replaces the goals of inverse kinematics, which act in order after layers and transition, each on the pose that the one before left.
   * If they do not fit one instance, the call names it, throws, and changes nothing.
   */
  setGoals(instances: number | ArrayLike<number>, goals: GoalOptions[]): void;
  /** Replaces the parameters of the instances from `first` on: as many numbers as the crowd has parameters for each instance. */
  setParameters(first: number, values: ArrayLike<number>): void;
  /**
   * Lists the instances that `pose` poses; without an argument, all. The others keep their last poses. Their events and root motion
   * continue.
   */
  setVisible(instances?: ArrayLike<number> | null): void;
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
  /** The movement of each instance in the step that is posed. */
  rootMotion?: boolean;
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
