// The worker: it owns the device, the canvas and the frame loop, and answers the calls of the page.

import init, { Check, Measure } from "./pkg/posse.js";
import { Clock } from "./clock.js";
import { Frames } from "./engine/frames.js";
import { Stage } from "./engine/stage.js";
import { runTrial } from "./engine/trial.js";
import { announce, answer, messageOf } from "./rpc.js";

const clock = new Clock();
let memory = null;
let stage = null;
let frames = null;
/// The check or measurement that runs. It is asked to stop by a change of this number.
let trial = 0;

async function open(canvas, width, height) {
  memory = (await init()).memory;
  stage = await Stage.open(canvas, {
    fault: (message) => announce(self, "fault", message),
    fit: (camera) => announce(self, "fit", camera),
  });
  frames = new Frames(stage, clock, (report) => announce(self, "report", report));
  frames.resize(width, height);
  stage.gpu.lost.then((reason) => {
    frames.stop();
    announce(self, "lost", reason);
  });
  frames.start();
  return { adapter: stage.gpu.name, isSoftware: stage.gpu.isSoftware };
}

async function check(options) {
  const number = ++trial;
  return runTrial(stage, {
    start: (gpu, library) => Check.start(gpu, library, options),
    progress: (done) => announce(self, "progress", done),
    finish: (check) => check.report(),
    isWanted: () => number === trial,
  });
}

async function measure() {
  const number = ++trial;
  frames.isPaused = true;
  try {
    return await runTrial(stage, {
      start: (gpu) => Measure.rig(gpu),
      progress: (done) => announce(self, "progress", done),
      finish: (measure) => ({ json: measure.json(), rows: measure.rows() }),
      isWanted: () => number === trial,
    });
  } finally {
    frames.isPaused = false;
  }
}

answer(self, {
  open,
  check,
  measure,
  load: (file, settings) => stage.load(file, settings),
  settle: (settings) => stage.settle(settings),
  joint: (instance, name, time) => stage.joint(instance, name, time),
  clock: (state) => (clock.state = state),
  camera: (camera) => frames && (frames.camera = camera),
  resize: (width, height) => frames?.resize(width, height),
  stop: () => (trial += 1),
  lose: () => stage.gpu.device.destroy(),
  memory: () => ({ wasm: memory.buffer.byteLength }),
});

// A fault of the loop or of an announcement has no caller; the page shows it and offers to open the GPU again. A lost device makes
// such calls fail too, and its own message, which says more, shall come first.
function reportFault(message) {
  setTimeout(() => announce(self, "stopped", message), 300);
}

self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  reportFault(messageOf(event.reason));
});
self.addEventListener("error", (event) => {
  event.preventDefault();
  reportFault(event.message);
});
