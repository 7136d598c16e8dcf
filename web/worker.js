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
/// The check or measurement that runs, and how many there were. A change of the number asks it to stop.
let trial = { number: 0, name: null };
let trials = 0;

async function open(canvas, width, height) {
  memory = (await init({ module_or_path: await download() })).memory;
  stage = await Stage.open(canvas, {
    fault: (message) => announce(self, "fault", message),
    fit: (camera) => announce(self, "fit", camera),
    limit: (limit) => announce(self, "limit", limit),
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

/// The WebAssembly as it comes, whose progress is announced.
async function download() {
  const response = await fetch(new URL("./pkg/posse_bg.wasm", import.meta.url));
  const { headers } = response;
  // The length of a compressed file is not that of its content.
  const total = headers.has("content-encoding") ? null : Number(headers.get("content-length")) || null;
  const reader = response.clone().body.getReader();
  const count = async () => {
    for (let done = 0; ; ) {
      const { value } = await reader.read();
      if (!value || stage) return;
      done += value.byteLength;
      announce(self, "loaded", { done, total });
    }
  };
  // The copy fails only if the WebAssembly does, and that is reported.
  count().catch(() => {});
  return response;
}

/// Runs a check or a measurement. The picture stands still meanwhile, so that the GPU is free.
async function run(name, start, finish) {
  const number = ++trials;
  trial = { number, name };
  frames.isPaused = true;
  stage.isPaused = true;
  try {
    const progress = (done) => announce(self, "progress", name, done);
    return await runTrial(stage, { start, progress, finish, isWanted: () => number === trial.number });
  } finally {
    // A later one may have taken over.
    frames.isPaused = trial.number > number;
    stage.isPaused = frames.isPaused;
  }
}

function check(options) {
  return run("check", (gpu, library) => Check.start(gpu, library, options), (check) => check.report());
}

/// Stops the trial of that name, if it runs.
function stop(name) {
  if (trial.name === name) trial = { number: 0, name: null };
}

function measure() {
  return run("measure", (gpu) => Measure.rig(gpu), (measure) => ({ json: measure.json(), rows: measure.rows() }));
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
  stop,
  lose: () => stage.gpu.device.destroy(),
  memory: () => ({ wasm: memory.buffer.byteLength }),
});

// A fault of the loop or of an announcement has no caller; the page shows it and offers to open the GPU again. A lost
// device makes such calls fail too, and its own message, which says more, shall come first.
function reportFault(message) {
  frames?.stop();
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
