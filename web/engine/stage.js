// The stage: device, library, crowd and view. The crowd follows the settings of the page, always the latest.

import { Crowd, Gpu, Library, View } from "../pkg/posse.js";
import { Turns } from "./turns.js";

/// Clips that show the built-in human at its best. Other files begin with their first two clips.
const DEMO_CLIPS = ["walk", "wave"];

export class Stage {
  /// True if crowd or picture have changed since the last frame.
  hasChanged = false;
  /// The angles of the camera, for which the view is fitted.
  camera = { yaw: 0, pitch: 0 };
  #gpu;
  #view;
  #library = null;
  #crowd = null;
  /// The number of the file, so that settings that were made for an earlier file can be told.
  #file = 0;
  #wanted = null;
  #shown = null;
  #fault = null;
  #turns = new Turns();
  #listener;

  constructor(gpu, view, listener) {
    this.#gpu = gpu;
    this.#view = view;
    this.#listener = listener;
  }

  /// Opens a device, and a view on a canvas. The listener has two functions: `fault`, which is called with a message, or with `null`
  /// when a fault is over, and `fit`, with the camera that shows the whole crowd.
  static async open(canvas, listener) {
    const gpu = await Gpu.open();
    return new Stage(gpu, await View.open(gpu, canvas), listener);
  }

  get gpu() {
    return this.#gpu;
  }

  /// True if a frame can be drawn now. While an operation awaits the GPU, frames of a slow GPU would only keep it waiting.
  get isDrawable() {
    return this.#crowd !== null && !this.#turns.isBusy;
  }

  /// Replaces the library by that of a file, or by the demo if there is none. The crowd stays as it was if the file is refused.
  load(file, settings) {
    return this.#turns.take(async () => {
      const library = file ? openLibrary(file) : Library.demo();
      try {
        const clips = library.clips.map(({ name, duration, skeleton }) => ({ name, duration, skeleton }));
        const wanted = { ...settings, ...firstClips(clips, file === null), file: this.#file + 1 };
        await this.#build(library, wanted);
        this.#file += 1;
        const replaced = this.#library;
        this.#library = library;
        replaced?.free();
        this.#fit();
        return { settings: wanted, clips, joints: library.joints(this.#skeleton).length, warnings: library.warnings };
      } catch (error) {
        if (library !== this.#library) library.free();
        throw error;
      }
    });
  }

  /// Brings the crowd to these settings. Settings that are outdated before their turn are left out.
  settle(settings) {
    this.#wanted = settings;
    return this.#turns.take(async () => {
      const wanted = this.#wanted;
      if (wanted.file !== this.#file || isEqual(wanted, this.#shown)) return;
      try {
        const hasGrown = wanted.count !== this.#shown.count;
        if (hasGrown || !this.#crowd.respread(spreadOf(wanted))) await this.#build(this.#library, wanted);
        this.#shown = wanted;
        this.hasChanged = true;
        this.#setFault(null);
        if (hasGrown) this.#fit();
      } catch (error) {
        this.#shown = wanted;
        this.#setFault(error.message);
      }
    });
  }

  /// The model matrix of a joint, posed by the GPU at a time and read back.
  joint(instance, name, time) {
    return this.#turns.take(async () => {
      if (this.#fault) throw new Error(this.#fault);
      const count = this.#crowd.count;
      if (!Number.isInteger(instance) || instance < 0 || instance >= count) {
        throw new Error(`instance ${instance}: the crowd has the instances 0 to ${count - 1}`);
      }
      const joint = this.#library.joint(this.#skeleton, String(name));
      return Array.from(await this.#crowd.joint(instance, joint, time));
    });
  }

  /// Nanoseconds of the GPU for the poses at a time, or `null` if the device has no timestamps.
  async gpuTime(time) {
    return (await this.#crowd.timedPose(time)) ?? null;
  }

  /// Runs an operation with device and library while neither changes.
  withLibrary(operation) {
    return this.#turns.take(() => operation(this.#gpu, this.#library));
  }

  /// Sets the size of the picture in pixels.
  async resize(width, height) {
    await this.#view.resize(width, height);
    this.hasChanged = true;
    if (this.#crowd) this.#fit();
  }

  draw(time, camera) {
    this.hasChanged = false;
    this.#view.draw(time, camera);
  }

  get #skeleton() {
    return this.#library.clips[this.#shown.clip]?.skeleton ?? 0;
  }

  #fit() {
    const { yaw, pitch } = this.camera;
    this.#listener.fit(this.#view.fit({ yaw, pitch }));
  }

  #setFault(fault) {
    if (this.#fault !== fault) this.#listener.fault(fault);
    this.#fault = fault;
  }

  async #build(library, settings) {
    const crowd = await Crowd.spread(this.#gpu, library, spreadOf(settings));
    try {
      await this.#view.show(library, crowd);
    } catch (error) {
      crowd.free();
      throw error;
    }
    // The view keeps what it draws, so that the handle of the replaced crowd can go.
    this.#crowd?.free();
    this.#crowd = crowd;
    this.#shown = settings;
    this.hasChanged = true;
    this.#setFault(null);
  }
}

function openLibrary({ name, bytes, others, clips }) {
  const library = Library.load(name, bytes, others);
  try {
    for (const clip of clips) library.addClip(clip.name, clip.bytes);
  } catch (error) {
    library.free();
    throw error;
  }
  return library;
}

/// The clips to begin with, as numbers; -1 if there is none, and the characters stand at rest.
function firstClips(clips, isDemo) {
  if (clips.length === 0) return { clip: -1, clip2: -1 };
  const find = (name) => clips.findIndex((clip) => clip.name === name);
  if (isDemo && DEMO_CLIPS.every((name) => find(name) >= 0)) {
    const [clip, clip2] = DEMO_CLIPS.map(find);
    return { clip, clip2 };
  }
  const second = clips.findIndex((clip, index) => index > 0 && clip.skeleton === clips[0].skeleton);
  return { clip: 0, clip2: Math.max(second, 0) };
}

function spreadOf({ count, clip, clip2, share, spread, speed }) {
  const found = (index) => (index < 0 ? undefined : index);
  return { count, clip: found(clip), clip2: found(clip2), share, spread, speed };
}

function isEqual(one, other) {
  return Object.keys(one).every((key) => one[key] === other[key]);
}
