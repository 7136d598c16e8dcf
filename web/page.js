// The page: it joins controls, picture and results to the session, and gives `window.posse` to scripts.

import { clearCheck, showCheck, showCheckFailure, showVerdict, summarize } from "./page/check_result.js";
import { Controls } from "./page/controls.js";
import { acceptDrops } from "./page/drop.js";
import { formatCount, formatNanoseconds } from "./page/format.js";
import { clearMeasurement, showMeasurement, showMeasurementFailure } from "./page/measure_result.js";
import { Notices } from "./page/notices.js";
import { Orbit } from "./page/orbit.js";
import { describeRetargeting, retargetingWarnings, withoutHint } from "./page/retargeting_text.js";
import { Session } from "./page/session.js";
import { resultOf } from "./page/share.js";
import { ShareRow } from "./page/share_row.js";
import { TrialPanel } from "./page/trial_panel.js";

const element = (id) => document.getElementById(id);
let frames = 0;
let version = "unknown";
let fileText = element("file").textContent;
let fileName = fileText;
let isFirstFile = true;
/// True while the result of a link is shown.
let isLinked = false;
/// The limit of the crowd's clock in seconds, in both directions.
const MAX_SECONDS = 4e12;

const controls = new Controls((changed) => {
  if (changed === "speed") keepPhase();
  // A result is one of the clips as they were shown.
  if (changed === "figure") forgetResults();
  session.settle();
});
const orbit = new Orbit(element("picture"), (camera) => session.announce("camera", camera));

const session = new Session({
  holder: element("picture"),
  controls,
  orbit,
  notices: new Notices(element("error")),
  adapterKnown,
  loaded: showLoading,
  limited: showLimit,
  fileRead,
  fileShown,
  lost: showLoss,
  reported: showReport,
  progressed: (name, progress) => panels[name].advance(progress),
});

const share = new ShareRow(() => ({ posse: version, browser: navigator.userAgent, began: new Date().toISOString() }));
/// What each trial does with its result.
const trials = {
  check: {
    show(report) {
      const check = summarize(report, fileName);
      showCheck(report, check);
      share.set("check", check);
    },
    fail: showCheckFailure,
    empty: clearCheck,
  },
  measure: {
    show({ json, rows }) {
      if (rows.length === 0) return showMeasurementFailure("Nothing was measured: this GPU has too little memory for the smallest crowd.");
      showMeasurement({ rows }, json);
      share.set("measure", { adapter: JSON.parse(json).cases[0].adapter, rows });
    },
    fail: showMeasurementFailure,
    empty: clearMeasurement,
  },
};

/// A panel per trial.
const panels = Object.fromEntries(Object.entries(trials).map(([name, { show, fail }]) => {
  const ready = () => session.ready;
  const run = (options) => session.call(name, options);
  const stop = () => session.announce("stop", name);
  return [name, new TrialPanel(name, { ready, run, stop, show, fail, clear: () => clearResult(name) })];
}));

/// Takes the result of a trial away, and that of a link, which is not of this machine.
function clearResult(name) {
  for (const gone of isLinked ? Object.keys(trials) : [name]) {
    trials[gone].empty();
    share.set(gone, null);
  }
  isLinked = false;
  element("linked").textContent = "";
}

/// Shows the result of a link, or the reason why it cannot be shown.
function showLinked() {
  const { hash } = location;
  if (share.isAt(hash)) return;
  const linked = element("linked");
  linked.textContent = "";
  if (isLinked) clearResult();
  try {
    const result = resultOf(hash);
    if (!result) return;
    Object.keys(trials).forEach(clearResult);
    isLinked = true;
    const { check, measure, posse, browser, began } = result;
    linked.textContent = `The result of a link, measured by posse ${posse} on ${(measure ?? check).adapter}, ${began.slice(0, 10)}. Browser: ${browser}`;
    if (check) showVerdict(check);
    if (measure) showMeasurement(measure, null);
  } catch (error) {
    linked.textContent = error.message;
  }
}

function adapterKnown(name) {
  element("adapter").textContent = name;
  element("loading").hidden = true;
}

/// Shows how much of the WebAssembly has come; `total` is `null` if that is not known.
function showLoading({ done, total }) {
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  const isWhole = done === total;
  const amount = total === null ? megabytes(done) : `${megabytes(done)} of ${megabytes(total)}`;
  element("loading").hidden = false;
  element("loading-text").textContent = isWhole ? "Opening the GPU…" : `Loading ${amount} MB…`;
  const progress = element("loading-progress");
  if (total === null || isWhole) {
    progress.removeAttribute("value");
  } else {
    progress.max = total;
    progress.value = done;
  }
}

/// Says that fewer characters are shown than were asked for; `null` if all are.
function showLimit(limit) {
  const text = element("limit");
  if (!limit) text.textContent = "";
  else {
    const shown = `${formatCount(limit.shown)} of ${formatCount(limit.wanted)} are shown`;
    text.textContent = limit.isGrowing ? `${shown} so far.` : `${shown}: more would take this software renderer too long per picture.`;
  }
}

/// Shows that a file is being opened; `null` if that ended without a new file.
function fileRead(name) {
  element("file").textContent = name ? `Opening ${name}…` : fileText;
}

/// Shows the name of a file, its size in clips and joints, the warnings of the import, and what was done to show its clips
/// on the human.
function fileShown(read, { clips, joints, warnings: ofFile, onHuman }) {
  const usable = clips.filter(({ leftOut }) => !leftOut).length;
  const count = usable === 0 ? "no clip, at rest" : `${formatCount(usable)} ${usable === 1 ? "clip" : "clips"}`;
  const left = read?.left.length > 0 ? ` Left out, one file at a time: ${read.left.join(", ")}.` : "";
  fileName = read?.name ?? "Built-in human";
  fileText = `${fileName}: ${count}, ${formatCount(joints)} joints.${left}`;
  element("file").textContent = fileText;
  // The first file comes after the result of a link.
  if (isFirstFile) isFirstFile = false;
  else forgetResults();
  element("demo").hidden = read === null;
  const { report, reason } = onHuman ?? {};
  element("figures").hidden = !report;
  const bones = reason ? `Its own bones are shown: ${withoutHint(reason)}.` : "";
  element("retargeting").textContent = report ? describeRetargeting(report) : bones;
  const ofHuman = report ? retargetingWarnings(report) : [];
  const warnings = [...ofFile, ...ofHuman];
  element("warnings").open = ofHuman.length > 0;
  element("warnings").hidden = warnings.length === 0;
  element("warnings-count").textContent = `${warnings.length} ${warnings.length === 1 ? "warning" : "warnings"}`;
  element("warnings-text").textContent = warnings.join("\n");
}

function forgetResults() {
  for (const panel of Object.values(panels)) panel.forgetFile();
}

function showLoss(isLost) {
  element("reopen").hidden = !isLost;
  for (const name of ["check", "measure"]) element(name).disabled = isLost;
  showReport({ fps: null, frames });
}

function showReport({ fps, gpuNanoseconds, frames: total }) {
  frames = total;
  if (fps !== undefined) element("fps").textContent = fps === null ? "–" : fps < 10 ? fps.toFixed(1) : fps.toFixed(0);
  const gpuTime = element("gpu-time");
  gpuTime.classList.toggle("words", gpuNanoseconds === null);
  if (gpuNanoseconds === null) gpuTime.textContent = "not available";
  else gpuTime.textContent = gpuNanoseconds === undefined ? "…" : formatNanoseconds(gpuNanoseconds);
  showTime();
}

function showTime() {
  element("time").textContent = `${session.clock.time.toFixed(2)} s`;
}

/// Sends a change of the clock to the worker, and names the button after what it would do.
function clockChanged() {
  session.announce("clock", session.clock.state);
  element("play").textContent = session.clock.isHeld ? "Play" : "Pause";
  showTime();
}

/// Moves a running clock so that a change of speed goes on from the present pose.
function keepPhase() {
  const { clock } = session;
  const { before, now } = controls.speeds;
  if (clock.isHeld) return;
  clock.run((clock.time * before) / now);
  clockChanged();
}

element("play").addEventListener("click", () => {
  if (session.clock.isHeld) session.clock.run();
  else session.clock.hold();
  clockChanged();
});
element("drop").addEventListener("change", (event) => {
  const files = [...event.target.files];
  // The same file can be selected again after a change on disk.
  event.target.value = "";
  if (files.length > 0) session.show(files);
});
element("demo").addEventListener("click", () => session.show(null));
element("reopen").addEventListener("click", () => {
  session.open();
  element("picture").focus();
});
acceptDrops(element("drop-here"), (files) => session.show(files));

addEventListener("hashchange", showLinked);

if (!matchMedia("(prefers-reduced-motion: reduce)").matches) session.clock.run();
clockChanged();
session.open();
showLinked();
showVersion();
// Without a network, the page opens from what its service worker keeps.
navigator.serviceWorker?.register("service_worker.js", { updateViaCache: "none" }).catch(() => {});

async function showVersion() {
  try {
    ({ version } = await (await fetch("pkg/package.json")).json());
    element("version").textContent = `posse ${version}`;
  } catch {
    // The engine says what is missing.
  }
}

/// The face for scripts and tests.
window.posse = {
  get ready() {
    return session.ready;
  },
  get time() {
    return session.clock.time;
  },
  set time(seconds) {
    if (typeof seconds !== "number" || !Number.isFinite(seconds)) throw new TypeError(`time: ${seconds} is not a number of seconds`);
    if (Math.abs(seconds) > MAX_SECONDS) {
      throw new RangeError(`time: ${seconds} s is beyond the clock, which reaches from -4e12 s to 4e12 s`);
    }
    session.clock.hold(seconds);
    clockChanged();
  },
  /// Frames that the GPU has completed since the device was opened.
  get frames() {
    return frames;
  },
  joint: (instance, name) => session.joint(instance, name),
  /// A check whose numbers are altered after the readback by this share of their size; it must fail.
  checkAltered: (alter = 1e-3) => panels.check.start({ alter }),
  /// Loses the device, as a driver does.
  lose: () => session.announce("lose"),
  /// Bytes of the engine: `wasm`, its memory.
  memory: () => session.call("memory"),
};
