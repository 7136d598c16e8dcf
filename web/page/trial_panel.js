// A button that starts a check or a measurement and stops it while it runs, with its progress.

import { messageOf } from "../rpc.js";

export class TrialPanel {
  #button;
  #label;
  #progress;
  #isRunning = false;

  /// `name` is the start of the elements' ids. `run` returns the result, or `null` after a stop; `show` is called with it, and
  /// `fail` with the message of an error. `clear` empties what an earlier run has shown, and `stop` ends the run.
  constructor(name, { run, show, fail, clear, stop }) {
    this.#button = document.getElementById(name);
    this.#label = this.#button.textContent;
    this.#progress = document.getElementById(`${name}-progress`);
    this.#button.addEventListener("click", () => (this.#isRunning ? stop() : this.start()));
    this.run = run;
    this.show = show;
    this.fail = fail;
    this.clear = clear;
  }

  /// Runs once, and shows the result.
  async start(options) {
    this.#set(true);
    this.clear();
    try {
      const result = await this.run(options);
      if (result) this.show(result);
    } catch (error) {
      this.fail(messageOf(error));
    } finally {
      this.#set(false);
    }
  }

  /// Shows the progress of the run, if there is one.
  advance({ done, total }) {
    if (!this.#isRunning) return;
    this.#progress.max = total;
    this.#progress.value = done;
  }

  #set(isRunning) {
    this.#isRunning = isRunning;
    this.#button.textContent = isRunning ? "Stop" : this.#label;
    this.#progress.hidden = !isRunning;
    if (isRunning) this.#progress.removeAttribute("value");
  }
}
