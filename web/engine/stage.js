// The stage: device, library, crowd and view. The crowd follows the settings of the page, always the latest.

import { Crowd, Gpu, View } from "../pkg/posse.js";
import { isFatal } from "../rpc.js";
import { openFile } from "./opened_file.js";
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
  #opened = null;
  #crowd = null;
  /// The library that the crowd was built from. It is not that of `#shown` if a new crowd was refused.
  #crowdLibrary = null;
  /// The number of the file, so that settings that were made for an earlier file can be told.
  #file = 0;
  #shown = null;
  /// The message why the crowd does not have the settings that were wanted, and why the last frame was not drawn.
  #faults = { crowd: null, frame: null };
  /// Ends with the measurement of the GPU time that is under way.
  #timing = Promise.resolve();
  #turns = new Turns();
  #listener;

  constructor(gpu, view, listener) {
    this.#gpu = gpu;
    this.#view = view;
    this.#listener = listener;
  }

  /// Opens a device, and a view on a canvas. The listener has two functions: `fault`, which is called with a message,
  /// or with `null` when a fault is over, and `fit`, with the camera that shows the whole crowd.
  static async open(canvas, listener) {
    const gpu = await Gpu.open();
    return new Stage(gpu, await View.open(gpu, canvas), listener);
  }

  get gpu() {
    return this.#gpu;
  }

  /// True if a frame can be drawn now. While an operation awaits the GPU, frames of a slow GPU would only keep it
  /// waiting.
  get isDrawable() {
    return this.#crowd !== null && !this.#turns.isBusy;
  }

  /// Replaces the library by that of a file, or by the demo if there is none. The crowd stays as it was if the file is
  /// refused.
  load(file, settings) {
    return this.#turns.take(async () => {
      const opened = openFile(file);
      try {
        const { clips } = opened;
        const wanted = { ...settings, ...firstClips(clips, file === null), file: this.#file + 1 };
        await this.#build(opened, wanted);
        this.#file += 1;
        const replaced = this.#opened;
        this.#opened = opened;
        replaced?.free();
        this.#fit();
        const { joints, warnings, onHuman } = opened;
        return { settings: wanted, clips, joints, warnings, onHuman };
      } catch (error) {
        if (opened !== this.#opened && !isFatal(error)) opened.free();
        throw error;
      }
    });
  }

  /// Brings the crowd to these settings. Settings are left out if others follow directly, before their turn.
  settle(wanted) {
    return this.#turns.takeLatest(async () => {
      if (wanted.file !== this.#file || isEqual(wanted, this.#shown)) return;
      try {
        const isOther = this.#opened.library(wanted) !== this.#crowdLibrary;
        const hasGrown = wanted.count !== this.#crowd.count;
        const isNew = isOther || hasGrown;
        if (isNew || !this.#crowd.respread(spreadOf(wanted))) await this.#build(this.#opened, wanted);
        this.#shown = wanted;
        this.hasChanged = true;
        this.#setFault("crowd", null);
        if (isNew) this.#fit();
      } catch (error) {
        if (isFatal(error)) throw error;
        this.#shown = wanted;
        this.#setFault("crowd", error.message);
      }
    });
  }

  /// The model matrix of a joint, posed by the GPU at a time and read back.
  joint(instance, name, time) {
    return this.#turns.take(async () => {
      if (this.#faults.crowd) throw new Error(this.#faults.crowd);
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
    const timed = this.#crowd.timedPose(time);
    this.#timing = timed.catch(() => {});
    return (await timed) ?? null;
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

  /// Draws a frame. Returns false if that fails, which the listener is told.
  draw(time, camera) {
    this.hasChanged = false;
    try {
      this.#view.draw(time, camera);
      this.#setFault("frame", null);
      return true;
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#setFault("frame", error.message);
      return false;
    }
  }

  /// The library that is shown.
  get #library() {
    return this.#opened.library(this.#shown);
  }

  get #skeleton() {
    return this.#library.clips[this.#shown.clip]?.skeleton ?? 0;
  }

  #fit() {
    const { yaw, pitch } = this.camera;
    this.#listener.fit(this.#view.fit({ yaw, pitch }));
  }

  /// Sets or clears a fault of `kind`, `crowd` or `frame`, and tells the listener of a change.
  #setFault(kind, message) {
    if (this.#faults[kind] === message) return;
    this.#faults[kind] = message;
    this.#listener.fault(this.#faults.crowd ?? this.#faults.frame);
  }

  async #build(opened, settings) {
    const library = opened.library(settings);
    const crowd = await Crowd.spread(this.#gpu, library, spreadOf(settings));
    try {
      await this.#view.show(library, crowd);
    } catch (error) {
      if (!isFatal(error)) crowd.free();
      throw error;
    }
    const replaced = this.#crowd;
    this.#crowd = crowd;
    this.#crowdLibrary = library;
    this.#shown = settings;
    this.hasChanged = true;
    this.#setFault("crowd", null);
    // The view keeps what it draws, so that the handle of the replaced crowd can go. A call that is under way still
    // borrows it.
    await this.#timing;
    replaced?.free();
  }
}

/// The clips to begin with, as numbers; -1 if there is none, and the characters stand at rest.
function firstClips(clips, isDemo) {
  const first = clips.findIndex((clip) => !clip.leftOut);
  if (first < 0) return { clip: -1, clip2: -1 };
  const find = (name) => clips.findIndex((clip) => clip.name === name);
  if (isDemo && DEMO_CLIPS.every((name) => find(name) >= 0)) {
    const [clip, clip2] = DEMO_CLIPS.map(find);
    return { clip, clip2 };
  }
  const isSecond = (clip, index) => index > first && !clip.leftOut && clip.skeleton === clips[first].skeleton;
  const second = clips.findIndex(isSecond);
  return { clip: first, clip2: second < 0 ? first : second };
}

function spreadOf({ count, clip, clip2, share, spread, speed }) {
  const found = (index) => (index < 0 ? undefined : index);
  return { count, clip: found(clip), clip2: found(clip2), share, spread, speed };
}

function isEqual(one, other) {
  return Object.keys(one).every((key) => one[key] === other[key]);
}
