// The session: engine, file and clock. It orders what the page asks of the engine, and opens the engine again after a
// loss.

import { Clock } from "../clock.js";
import { messageOf } from "../rpc.js";
import { Engine, missingParts } from "./engine.js";
import { readFiles } from "./files.js";
import { addLoss, losses } from "./losses.js";

const DEVICE = "device";
const FILE = "file";
const CROWD = "crowd";
/// Characters at the beginning on a software adapter, which draws slowly.
const SOFTWARE_COUNT = 100;
/// The words for a GPU that cannot be opened after a loss.
const BLOCKED =
  "The GPU was lost, and now the browser gives it to this page no more: after crashes, a browser keeps pages from the GPU. " +
  "Close all windows of the browser and start it again. If the GPU is lost again, show fewer characters, or update its driver.";

export class Session {
  clock = new Clock();
  /// Resolves when the file that was opened last is posed; after a bad file, when the page knows that it is bad. It is
  /// rejected if there is no device.
  ready = null;
  #engine = null;
  /// The files of the crowd that is shown; `null` for the built-in human.
  #files = null;
  /// The number of the file, as the worker counts.
  #file = 0;
  /// True if the engine was lost or cannot be opened, so that the next file or the button opens it again.
  #isLost = false;
  #page;

  /// `page` has: `holder` of the canvas, `controls`, `orbit`, `notices`, and the functions `adapterKnown(name)`,
  /// `fileShown(read, shown)`, `fileRead(name)`, `lost(isLost)`, `loaded(progress)`, `limited(limit)`,
  /// `reported(report)` and `progressed(name, progress)`.
  constructor(page) {
    this.#page = page;
  }

  /// Opens the engine, and in it the files that were shown last.
  open() {
    this.ready = this.#open();
    // The notice tells the reader of the page; callers of `ready` still get the rejection.
    this.ready.catch(() => {});
  }

  /// Opens files: a list, a promise of a list, or `null` for the built-in human. A lost engine is opened again first.
  show(files) {
    if (this.#isLost) this.open();
    const before = this.ready;
    this.ready = before.then(() => this.#show(files, "human"));
    this.ready.catch(() => {});
  }

  /// Brings the crowd to the settings of the controls.
  async settle() {
    if (this.#isLost || !this.#engine || this.#file === 0) return;
    try {
      await this.call("settle", { ...this.#page.controls.settings, file: this.#file });
    } catch {
      // Only an engine that is lost rejects this call, and the notice of the loss says so.
    }
  }

  /// The model matrix of a joint, at the present time of the clock.
  async joint(instance, name) {
    const { time } = this.clock;
    await this.ready;
    return this.call("joint", instance, name, time);
  }

  call(name, ...values) {
    if (!this.#engine) return Promise.reject(new Error("the GPU is not open"));
    return this.#engine.call(name, values);
  }

  announce(name, ...values) {
    this.#engine?.announce(name, ...values);
  }

  async #open() {
    const { holder, notices, controls, adapterKnown, lost } = this.#page;
    this.#engine?.close("the GPU was opened again");
    this.#engine = null;
    this.#file = 0;
    this.#isLost = false;
    notices.clear();
    lost(false);
    let engine = null;
    try {
      const missing = missingParts();
      if (missing) throw new Error(missing);
      engine = new Engine(holder, this.#events());
      this.#engine = engine;
      const { adapter, isSoftware } = await engine.open();
      adapterKnown(isSoftware ? `${adapter}, software` : adapter);
      if (isSoftware) controls.suggestCount(SOFTWARE_COUNT);
      this.announce("clock", this.clock.state);
      this.announce("camera", this.#page.orbit.camera);
    } catch (error) {
      // A later call may have opened another engine.
      if (this.#engine === engine) {
        adapterKnown("none");
        const text = losses() > 0 && /adapter|cannot be opened/.test(messageOf(error)) ? BLOCKED : messageOf(error);
        if (!this.#isLost) notices.set(DEVICE, text);
        this.#giveUp(text);
      }
      throw error;
    }
    await this.#show(this.#files);
    // A file that can no longer be read gives way to the built-in human.
    if (this.#file === 0 && this.#files) await this.#show(null);
    if (this.#file === 0) {
      const reason = "there is no crowd; the page says why";
      if (this.#engine === engine) this.#giveUp(reason);
      throw new Error(reason);
    }
  }

  /// Shows files on `figure`, by default on the one that was shown last.
  async #show(files, figure) {
    const { controls, notices, fileShown, fileRead } = this.#page;
    try {
      const list = await files;
      const read = list ? await readFiles(list) : null;
      fileRead(read?.name ?? null);
      const shown = await this.#load(read, figure);
      this.#files = list;
      this.#file = shown.settings.file;
      controls.showClips(shown.clips, shown.settings);
      notices.set(FILE, null);
      notices.set(CROWD, null);
      fileShown(read, shown);
    } catch (error) {
      fileRead(null);
      if (!this.#isLost) notices.set(FILE, messageOf(error));
      return;
    }
    // A control that was moved meanwhile.
    await this.settle();
  }

  #load(read, figure = this.#page.controls.settings.figure) {
    if (!this.#engine) return this.call("load");
    // The bytes move to the worker; the files are read again if the engine is opened again.
    const buffers = read ? [read.bytes, ...Object.values(read.others), ...read.clips.map(({ bytes }) => bytes)] : [];
    const settings = { ...this.#page.controls.settings, figure };
    return this.#engine.call("load", [read, settings], buffers.map(({ buffer }) => buffer));
  }

  #events() {
    const { orbit, notices, loaded, limited, reported, progressed } = this.#page;
    return {
      fault: (message) => notices.set(CROWD, message),
      fit: (camera) => (orbit.fit = camera),
      loaded,
      limit: limited,
      report: reported,
      progress: progressed,
      lost: (reason) => this.#lose(this.#describeLoss(reason)),
      stopped: (reason) => this.#lose(`The engine stopped: ${reason}`),
    };
  }

  /// The words for a loss of the GPU. A second one in a row is most often due to what is drawn.
  #describeLoss(reason) {
    const count = addLoss();
    if (count === 1) return `The GPU was lost: ${reason}`;
    const again = `The GPU was lost ${count} times in a row: ${reason.replace(/\.?$/, ".")}`;
    return `${again} Show fewer characters, or another file, before the browser keeps this page from the GPU.`;
  }

  #lose(message) {
    const { notices } = this.#page;
    const text = `${message.replace(/\.?$/, ".")} Open the GPU again with the button below, or reload the page.`;
    notices.clear();
    notices.set(DEVICE, text);
    this.#giveUp(text);
  }

  /// Ends the engine, if there is one. The button and the next file open another one.
  #giveUp(reason) {
    this.#isLost = true;
    this.#engine?.close(reason);
    this.#page.lost(true);
  }
}
