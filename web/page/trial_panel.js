// A button that starts a check or a measurement and stops it while it runs, with its progress.

import { messageOf } from "../rpc.js";

export class TrialPanel {
  #button;
  #label;
  #progress;
  /// The run at work, or `null`: `isWanted` until it is stopped, and `isCalled` once the engine works on it.
  #run = null;

  /// `name` is the start of the elements' ids. After `ready`, `run` returns the result, or `null` after a stop; `show`
  /// is called with it, and `fail` with the message of an error. `clear` empties what an earlier run has shown, and
  /// `stop` ends the run.
  constructor(name, { ready, run, show, fail, clear, stop }) {
    this.#button = document.getElementById(name);
    this.#label = this.#button.textContent;
    this.#progress = document.getElementById(`${name}-progress`);
    this.#button.addEventListener("click", () => (this.#run ? this.#end() : this.start()));
    this.ready = ready;
    this.run = run;
    this.show = show;
    this.fail = fail;
    this.clear = clear;
    this.stop = stop;
  }

  /// Runs once, and shows the result. A run that is at work gives way.
  async start(options) {
    if (this.#run) this.#end();
    const run = { isWanted: true, isCalled: false };
    this.#set(run);
    this.clear();
    try {
      await this.ready();
      if (!run.isWanted) return;
      run.isCalled = true;
      const result = await this.run(options);
      if (result && run.isWanted) this.show(result);
    } catch (error) {
      if (run.isWanted) this.fail(messageOf(error));
    } finally {
      if (this.#run === run) this.#set(null);
    }
  }

  /// Removes the result of an earlier file, and stops a run on it. A run that waits for the file that is opened goes
  /// on.
  forgetFile() {
    if (this.#run?.isCalled) this.#end();
    this.clear();
  }

  /// Shows the progress of the run, if there is one.
  advance({ done, total }) {
    if (!this.#run?.isWanted) return;
    this.#progress.max = total;
    this.#progress.value = done;
  }

  #end() {
    this.#run.isWanted = false;
    if (this.#run.isCalled) this.stop();
    else this.#set(null);
  }

  #set(run) {
    this.#run = run;
    const isRunning = run !== null;
    this.#button.textContent = isRunning ? "Stop" : this.#label;
    this.#progress.hidden = !isRunning;
    if (isRunning) this.#progress.removeAttribute("value");
  }
}
