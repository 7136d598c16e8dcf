// Memory over many frames of the npm package in Chromium: posed and read back, and drawn. By default few frames of few
// characters; with POSSE_ALL_TESTS=1, 2,000 posed frames of 1,000 characters, and 100 drawn ones, since a software
// renderer draws a thousand characters in seconds. POSSE_WEB_FRAMES sets the number of drawn frames; for many, raise
// POSSE_WEB_SECONDS of tests/web/run.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { withPage } from "./browser.mjs";
import { PACKAGE, reasonToSkip } from "./posse_page.mjs";

const skip = reasonToSkip();
const [CHARACTERS, POSED, ALL_DRAWN] = process.env.POSSE_ALL_TESTS ? [1000, 2000, 100] : [30, 60, 20];
const DRAWN = Number(process.env.POSSE_WEB_FRAMES ?? ALL_DRAWN);
/// Milliseconds that are allowed: two minutes to open all, a second per posed frame, ten per drawn one. The slowest
/// known renderer takes a tenth of that.
const LIMIT = 120_000 + 1000 * POSED + 10_000 * DRAWN;
const MEGABYTE = 1 << 20;
/// A page of the memory of WebAssembly, in bytes.
const WASM_PAGE = 65_536;
const SIZE = [360, 240];

/// Resident bytes of the processes that this one has started, by kind: `renderer` and `gpu-process`. Empty where there
/// is no /proc.
function processes() {
  const found = new Map();
  try {
    for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        const status = readFileSync(`/proc/${id}/status`, "utf8");
        const number = (name) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, "m"))?.[1] ?? 0);
        const kind = readFileSync(`/proc/${id}/cmdline`, "utf8").match(/--type=([a-z-]+)/)?.[1];
        found.set(number("Pid"), { parent: number("PPid"), kind, bytes: 1024 * number("VmRSS") });
      } catch {
        // The process has ended.
      }
    }
  } catch {
    return {};
  }
  const isOurs = (id) => id === process.pid || (found.has(id) && isOurs(found.get(id).parent));
  const sizes = {};
  for (const [id, { kind, bytes }] of found) {
    if (["renderer", "gpu-process"].includes(kind) && isOurs(id)) sizes[kind] = Math.max(sizes[kind] ?? 0, bytes);
  }
  return sizes;
}

/// Functions of the page: `open`, `posed(frames)` and `drawn(frames)`, which run more frames.
function addFunctions(page) {
  return page.evaluate(async () => {
    const { default: init, Gpu, Library, Crowd, View } = await import("/posse.js");
    const { memory } = await init();
    let [gpu, crowd, copy, view, camera] = [];
    let frame = 0;
    let live = 0;
    // A buffer can be destroyed more than once.
    const counted = new WeakSet();
    const { createBuffer } = GPUDevice.prototype;
    GPUDevice.prototype.createBuffer = function (...values) {
      const buffer = createBuffer.apply(this, values);
      counted.add(buffer);
      live += 1;
      return buffer;
    };
    const { destroy } = GPUBuffer.prototype;
    GPUBuffer.prototype.destroy = function () {
      if (counted.delete(this)) live -= 1;
      return destroy.call(this);
    };
    const done = () => ({ wasm: memory.buffer.byteLength, buffers: live });
    window.open = async (count, [width, height]) => {
      gpu = await Gpu.open();
      const library = Library.demo();
      crowd = await Crowd.spread(gpu, library, { count, clip: "walk", spread: 1 });
      const { COPY_DST, MAP_READ } = GPUBufferUsage;
      copy = gpu.device.createBuffer({ size: crowd.skinBuffer().size, usage: COPY_DST | MAP_READ });
      view = await View.open(gpu, new OffscreenCanvas(width, height));
      await view.show(library, crowd);
      camera = view.fit();
      return done();
    };
    window.posed = async (frames) => {
      for (const end = frame + frames; frame < end; frame++) {
        crowd.pose(frame / 60);
        const encoder = gpu.device.createCommandEncoder();
        encoder.copyBufferToBuffer(crowd.skinBuffer(), 0, copy, 0, copy.size);
        gpu.device.queue.submit([encoder.finish()]);
        await copy.mapAsync(GPUMapMode.READ);
        const numbers = new Float32Array(copy.getMappedRange());
        if (!numbers.every(Number.isFinite)) throw new Error(`frame ${frame}: a number is not finite`);
        copy.unmap();
      }
      return done();
    };
    window.drawn = async (frames) => {
      for (const end = frame + frames; frame < end; frame++) {
        view.draw(frame / 60, camera);
        await gpu.device.queue.onSubmittedWorkDone();
        // The picture is presented when the task ends.
        await new Promise((resolve) => setTimeout(resolve));
      }
      return done();
    };
  });
}

test("memory does not grow over frames", { skip, timeout: LIMIT }, async (t) => {
  await withPage({ "/": PACKAGE }, async ({ page, address, problems }) => {
    await page.goto(`${address}/package.json`);
    await addFunctions(page);
    await page.evaluate(([count, size]) => window.open(count, size), [CHARACTERS, SIZE]);
    const session = await page.context().newCDPSession(page);
    const run = async (kind, frames) => {
      const bytes = await page.evaluate(([kind, frames]) => window[kind](frames), [kind, frames]);
      await session.send("HeapProfiler.collectGarbage");
      const { usedSize: script } = await session.send("Runtime.getHeapUsage");
      return { ...bytes, script, ...processes() };
    };
    for (const [kind, frames] of [["posed", POSED], ["drawn", DRAWN]]) {
      await t.test(`${frames} frames of ${CHARACTERS} characters, ${kind}`, async () => {
        // The first frames fill pools and caches.
        const began = performance.now();
        const start = await run(kind, Math.ceil(frames / 20));
        const middle = await run(kind, Math.floor(frames / 2) - Math.ceil(frames / 20));
        const end = await run(kind, Math.ceil(frames / 2));
        const rate = (1000 * frames) / (performance.now() - began);
        console.log(`${CHARACTERS} characters, ${frames} frames ${kind}, ${rate.toFixed(2)} per second; at start, middle and end:`);
        const megabytes = (name) => [start, middle, end].map((memory) => (memory[name] / MEGABYTE).toFixed(2)).join(", ");
        for (const name of Object.keys(start).filter((name) => name !== "buffers")) console.log(`  ${name}: ${megabytes(name)} MiB`);
        console.log(`  GPU buffers: ${[start, middle, end].map(({ buffers }) => buffers).join(", ")}`);
        assert.ok(end.wasm - start.wasm <= WASM_PAGE, "the memory of the WebAssembly");
        assert.ok(end.script - start.script < 2 * MEGABYTE, "the objects of the page");
        assert.ok(end.buffers - start.buffers <= 4, "buffers of the GPU");
        for (const name of ["renderer", "gpu-process"]) {
          if (start[name]) assert.ok(end[name] - middle[name] < 64 * MEGABYTE, `the process: ${name}`);
        }
      });
    }
    assert.deepEqual(problems, []);
  }, { timeout: LIMIT });
});
