// The engine as the page sees it: a worker and its canvas. An engine is opened once; after a loss, a new one takes its
// place, because neither a worker that has failed nor a canvas that has been handed over can be used again.

import { Caller, announce, answer } from "../rpc.js";

/// Device pixels per CSS pixel, at most: more costs time and shows nothing. A software renderer takes its time per pixel.
const [MAX_PIXELS, MAX_SOFTWARE_PIXELS] = [2, 1];

export class Engine {
  #worker = new Worker(new URL("../worker.js", import.meta.url), { type: "module" });
  #caller = new Caller(this.#worker);
  #canvas = document.createElement("canvas");
  #holder;
  #observer;
  #maxPixels = MAX_PIXELS;

  /// Puts a canvas into `holder`. `events` are functions for the announcements of the worker.
  constructor(holder, events) {
    this.#holder = holder;
    holder.replaceChildren(this.#canvas);
    answer(this.#worker, events);
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      // A module that is missing gives an event without a message.
      events.stopped(event.message || "its files cannot be loaded. Run web/build, and reload the page");
    });
  }

  /// Opens the device. Returns the name of its adapter.
  async open() {
    const canvas = this.#canvas.transferControlToOffscreen();
    const opened = await this.call("open", [canvas, ...this.#size], [canvas]);
    if (opened.isSoftware) this.#maxPixels = MAX_SOFTWARE_PIXELS;
    this.#observer = new ResizeObserver(() => this.announce("resize", ...this.#size));
    this.#observer.observe(this.#holder);
    return opened;
  }

  call(name, values = [], transfer = []) {
    return this.#caller.call(name, values, transfer);
  }

  announce(name, ...values) {
    announce(this.#worker, name, ...values);
  }

  /// Ends the worker. Calls under way and later ones are rejected with the reason.
  close(reason) {
    this.#observer?.disconnect();
    this.#worker.terminate();
    this.#caller.stop(reason);
  }

  get #size() {
    const { width, height } = this.#holder.getBoundingClientRect();
    const scale = Math.min(devicePixelRatio, this.#maxPixels);
    return [width, height].map((side) => Math.max(1, Math.round(side * scale)));
  }
}

/// The reason why this browser cannot open a device, with the hint; `null` if nothing is known to be missing.
export function missingParts() {
  if (!isSecureContext) return "Browsers give WebGPU to secure pages only. Open this page by https, or from 127.0.0.1.";
  if (!("gpu" in navigator)) {
    return (
      "This browser has no WebGPU, so the crowd cannot be posed. Use a current Chrome or Edge, Safari 26, or Firefox 141 on Windows. " +
      "On Linux, Chrome needs chrome://flags/#enable-unsafe-webgpu."
    );
  }
  if (!HTMLCanvasElement.prototype.transferControlToOffscreen) {
    return "This browser cannot draw in a worker (OffscreenCanvas). Update it, or use a current Chrome, Edge or Safari.";
  }
  return null;
}
