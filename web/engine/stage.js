// The stage: device, library, crowd and view. The crowd follows the settings of the page, always the latest.

import { Crowd, Gpu, View } from "../pkg/posse.js";
import { isFatal } from "../rpc.js";
import { Budget } from "./budget.js";
import { openFile } from "./opened_file.js";
import { Turns } from "./turns.js";

/// Clips that show the built-in human at its best. Other files begin with their first two clips.
const DEMO_CLIPS = ["walk", "wave"];
/// The characters that a software renderer draws untried: of the built-in human, which has fewer triangles in larger
/// crowds, and of other figures.
const [FIRST_HUMANS, FIRST_OTHERS] = [100, 1];
/// Milliseconds of a picture that need no second one to be believed.
const FAST = 300;

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
  /// The settings that were asked for last.
  #wanted = null;
  /// The number of characters that can be drawn in time, of the library of the crowd.
  #budget = new Budget(Infinity);
  /// The time of the last frame.
  #time = 0;
  #isPaused = false;
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

  /// Opens a device, and a view on a canvas. The listener has three functions: `fault`, which is called with a message,
  /// or with `null` when a fault is over, `fit`, with the camera that shows the whole crowd, and `limit`, with the
  /// characters that are `shown` and `wanted` if they differ, else `null`.
  static async open(canvas, listener) {
    const gpu = await Gpu.open();
    return new Stage(gpu, await View.open(gpu, canvas), listener);
  }

  get gpu() {
    return this.#gpu;
  }

  /// Lets a crowd not grow further while a check or a measurement has the GPU.
  set isPaused(isPaused) {
    this.#isPaused = isPaused;
    if (!isPaused && this.#wanted) this.settle(this.#wanted);
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
        const budget = this.#newBudget(opened, wanted);
        await this.#build(opened, wanted, budget.next(wanted.count));
        this.#budget = budget;
        this.#wanted = wanted;
        this.#file += 1;
        const replaced = this.#opened;
        this.#opened = opened;
        replaced?.free();
        this.#fit();
        await this.#grow();
        const { joints, warnings, onHuman } = opened;
        return { settings: wanted, clips, joints, warnings, onHuman };
      } catch (error) {
        if (opened !== this.#opened && !isFatal(error)) opened.free();
        throw error;
      }
    });
  }

  /// Brings the crowd to these settings. Settings are left out if others follow directly, before their turn. On a
  /// software renderer, a large crowd comes in several steps, of which the first is awaited.
  settle(wanted) {
    this.#wanted = wanted;
    return this.#turns.takeLatest(async () => {
      if (wanted.file !== this.#file) return;
      const isOther = this.#opened.library(wanted) !== this.#crowdLibrary;
      const budget = isOther ? this.#newBudget(this.#opened, wanted) : this.#budget;
      const count = budget.next(wanted.count);
      const isNew = isOther || count !== this.#crowd.count;
      if (!isNew && isEqual(wanted, this.#shown)) return this.#sayLimit();
      try {
        if (isNew || !this.#crowd.respread(spreadOf(wanted, count))) await this.#build(this.#opened, wanted, count);
        this.#budget = budget;
        this.#shown = wanted;
        this.hasChanged = true;
        this.#setFault("crowd", null);
        if (isNew) this.#fit();
        await this.#grow();
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
      const { count } = this.#shown;
      if (!Number.isInteger(instance) || instance < 0 || instance >= count) {
        throw new Error(`instance ${instance}: the crowd has the instances 0 to ${count - 1}`);
      }
      const joint = this.#library.joint(this.#skeleton, String(name));
      if (instance < this.#crowd.count) return Array.from(await this.#crowd.joint(instance, joint, time));
      // A character that a software renderer does not draw.
      const whole = await Crowd.spread(this.#gpu, this.#library, spreadOf(this.#shown, count));
      try {
        return Array.from(await whole.joint(instance, joint, time));
      } finally {
        whole.free();
      }
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
    this.#time = time;
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

  get #fitted() {
    const { yaw, pitch } = this.camera;
    return this.#view.fit({ yaw, pitch });
  }

  #fit() {
    this.#listener.fit(this.#fitted);
  }

  #newBudget(opened, settings) {
    if (!this.#gpu.isSoftware) return new Budget(Infinity);
    return new Budget(opened.isHuman(settings) ? FIRST_HUMANS : FIRST_OTHERS);
  }

  /// Times a picture of a crowd that has grown, and asks for the next step if the crowd is to grow further.
  async #grow() {
    const { count } = this.#crowd;
    for (let draws = 0; draws < 2 && this.#budget.isUntimed(count); draws++) {
      const milliseconds = await this.#timePicture();
      if (milliseconds === null) break;
      // The first picture of a crowd may also pay for what is kept from then on.
      if (draws === 1 || milliseconds < FAST) this.#budget.add(count, milliseconds);
    }
    this.#sayLimit();
    const wanted = this.#wanted;
    const isDone = this.#isPaused || wanted.file !== this.#file || this.#budget.next(wanted.count) === count;
    if (!isDone) this.settle(wanted);
  }

  #sayLimit() {
    const { count: shown } = this.#crowd;
    const { count: wanted } = this.#shown;
    const isGrowing = this.#budget.next(wanted) !== shown;
    this.#listener.limit(shown < wanted ? { shown, wanted, isGrowing } : null);
  }

  /// Milliseconds of a picture; `null` if it cannot be drawn.
  async #timePicture() {
    const { queue } = this.#gpu.device;
    await queue.onSubmittedWorkDone();
    const began = performance.now();
    if (!this.draw(this.#time, this.#fitted)) return null;
    await queue.onSubmittedWorkDone();
    return performance.now() - began;
  }

  /// Sets or clears a fault of `kind`, `crowd` or `frame`, and tells the listener of a change.
  #setFault(kind, message) {
    if (this.#faults[kind] === message) return;
    this.#faults[kind] = message;
    this.#listener.fault(this.#faults.crowd ?? this.#faults.frame);
  }

  /// Makes a crowd of these settings with this number of characters.
  async #build(opened, settings, count) {
    const library = opened.library(settings);
    const crowd = await Crowd.spread(this.#gpu, library, spreadOf(settings, count));
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

function spreadOf({ clip, clip2, share, spread, speed }, count) {
  const found = (index) => (index < 0 ? undefined : index);
  return { count, clip: found(clip), clip2: found(clip2), share, spread, speed };
}

function isEqual(one, other) {
  return Object.keys(one).every((key) => one[key] === other[key]);
}
