// Types of the entry `posse/auto` of the npm package `posse`.

import type * as cpu from "./cpu.js";
import type * as gpu from "./posse.js";

/** The content of the entry `posse` with its device, or of the entry `posse/cpu`. */
export type Opened =
  | ({ engine: "gpu"; gpu: gpu.Gpu } & typeof gpu)
  | ({ engine: "cpu"; /** Why not the GPU. */ reason: string } & typeof cpu);

/**
 * Loads the entry for this page: `posse` if WebGPU opens a device that is no software renderer, otherwise `posse/cpu`. A browser with a
 * software renderer downloads both. The device is opened with `options`; one that is given is used in any case. In Node.js, import
 * `posse/cpu`.
 */
export function open(options?: gpu.OpenOptions): Promise<Opened>;
