// The page of web/ under test: opened in Chromium, its controls by their test ids, its poses by `window.posse`.
//
// web/build must have built the package of the page, in web/pkg, which has all of the npm package. POSSE_WEB_PACKAGE names another
// folder of it. PAGE_PICTURES names a folder for pictures of the page, from the root of the repository.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { withPage } from "./browser.mjs";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const PACKAGE = process.env.POSSE_WEB_PACKAGE ?? join(ROOT, "web/pkg");
const CHART = join(ROOT, "crates/posse-cli/src/bench/page/chart.js");
const FOLDERS = { "/": join(ROOT, "web"), "/pkg/": PACKAGE, "/page/chart.js": CHART };
/// Rounding of f32 over a few joints of a few metres.
const BOUND = 1e-5;
/// Milliseconds of a test that neither checks nor measures. A software renderer takes seconds per frame of a large
/// crowd.
export const LIMIT = 300_000;
/// The folder for pictures; undefined if none is named.
export const PICTURES = process.env.PAGE_PICTURES && resolve(ROOT, process.env.PAGE_PICTURES);

const WORKER = "**/worker.js";

export const WIDE = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };
export const NARROW = { width: 360, height: 740 };

/// False if the page can be tested, else the reason, which is also written to stderr.
export function reasonToSkip() {
  if (existsSync(join(PACKAGE, "posse.js"))) return false;
  process.stderr.write("SKIPPED: the page in the browser, which needs the package that web/build makes\n");
  return "web/build has not run";
}

/// The command posse; undefined if `tests/web/run` has found none.
export const COMMAND = process.env.POSSE_BIN;

/// As `reasonToSkip`, for a test named by `what` that also needs the command.
export function reasonToSkipCommand(what) {
  const reason = reasonToSkip();
  if (reason || COMMAND) return reason;
  process.stderr.write(`SKIPPED: ${what} the command posse, which is not built; POSSE_BIN names it\n`);
  return "the command posse is not built";
}

/// Opens the page, waits for its first crowd, and calls `work`. No error may reach the console. The picture is small,
/// because a software renderer draws it.
export async function withPosse(work, { viewport = NARROW, ...options } = {}) {
  await withPage(FOLDERS, async (opened) => {
    const { page, address, problems } = opened;
    await page.goto(`${address}/index.html`);
    await page.evaluate(() => window.posse.ready);
    await work(page, opened);
    assert.deepEqual(problems, []);
  }, { viewport, timeout: 180_000, ...options });
}

/// Opens the page without waiting for a crowd. `prepare` is called with the empty page.
export async function withBarePage(prepare, work, options = {}) {
  await withPage(FOLDERS, async (opened) => {
    const { page, address, problems } = opened;
    await prepare(page);
    await page.goto(`${address}/index.html`);
    await work(page, opened);
    assert.deepEqual(problems, []);
  }, { viewport: NARROW, timeout: 180_000, ...options });
}

/// Prepares a page whose worker has this text in front of its own. Returns a function for the page.
export const inWorker = (text) => {
  const body = text + readFileSync(join(ROOT, "web/worker.js"), "utf8");
  return (page) => page.route(WORKER, (route) => route.fulfill({ body, contentType: "text/javascript" }));
};

/// Ends `inWorker`, for workers that are opened later.
export const asItIs = (page) => page.unroute(WORKER);

export const at = (page, id) => page.getByTestId(id);
export const textOf = (page, id) => at(page, id).textContent();
export const joint = (page, instance, name) =>
  page.evaluate(([instance, name]) => window.posse.joint(instance, name), [instance, name]);
export const hold = (page, time) => page.evaluate((time) => (window.posse.time = time), time);

/// Gives files to the file input, and waits until the page has read them.
export async function give(page, ...files) {
  await at(page, "drop").setInputFiles(files.map(([name, buffer]) => ({ name, mimeType: "application/octet-stream", buffer })));
  await page.evaluate(() => window.posse.ready);
}

/// Moves a slider.
export async function slide(page, id, value) {
  await at(page, id).fill(String(value));
}

/// All characters alike.
export async function still(page) {
  await slide(page, "share", 0);
  await slide(page, "spread", 0);
}

export function assertMatrix(found, expected, name) {
  assert.equal(found.length, 16, name);
  found.forEach((number, index) => {
    const distance = Math.abs(number - expected[index]);
    assert.ok(distance <= BOUND, `${name}: number ${index} is ${number}, expected ${expected[index]}`);
  });
}

/// Takes a picture of the page if a folder for it is named.
export async function takePicture(page, name, options = {}) {
  if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`), ...options });
}

/// Connects to the worker of the page. Returns a function for the bytes of its objects after a collection, `heap`, and
/// one that runs an expression there, `run`.
export async function connectWorker(page) {
  const session = await page.context().newCDPSession(page);
  const answers = new Map();
  let last = 0;
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result } = JSON.parse(message);
    answers.get(id)?.(result);
  });
  const attached = new Promise((resolve) => {
    session.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => targetInfo.type === "worker" && resolve(sessionId));
  });
  await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  const sessionId = await attached;
  const send = async (method, params = {}) => {
    const id = ++last;
    const answer = new Promise((resolve) => answers.set(id, resolve));
    await session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method, params }) });
    return answer;
  };
  const heap = async () => {
    await send("HeapProfiler.collectGarbage");
    return (await send("Runtime.getHeapUsage")).usedSize;
  };
  const run = async (expression) => (await send("Runtime.evaluate", { expression, returnByValue: true })).result.value;
  return { heap, run };
}
