// The page of web/ in Chromium: check, measurement, loss of the device, memory, and its look at several sizes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { armAsGlb, swungElbow } from "./arm.mjs";
import {
  COMMAND, LIMIT, NARROW, PHONE, WIDE, assertMatrix, at, connectWorker, give, hold, joint, reasonToSkip, reasonToSkipCommand, slide, still,
  takePicture, textOf, withBarePage, withPosse,
} from "./posse_page.mjs";

const skip = reasonToSkip();
const skipCommand = reasonToSkipCommand("the saved measurement, which is read by");
const TRIAL = 600_000;
/// Characters and frames of the test of memory. memory.mjs has more of both.
const [CHARACTERS, FRAMES] = [30, 60];
/// A page of the memory of WebAssembly, in bytes.
const MEMORY_PAGE = 65_536;
const LONG = "a_name_without_any_place_to_break_it_".repeat(4);

const verdict = async (page) => {
  await page.waitForFunction(() => /^(pass|fail)/.test(document.getElementById("check-result").textContent), null, { timeout: TRIAL });
  return textOf(page, "check-result");
};
const frames = (page) => page.evaluate(() => window.posse.frames);
const framesFrom = (page, from) => page.waitForFunction((from) => window.posse.frames >= from, from, { timeout: TRIAL });

/// Asserts that a page in a window of this width neither scrolls sideways nor cuts text off.
async function assertFits(page, name, { width }) {
  const found = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(found <= width, `${name}: the page is ${found} pixels wide in a window of ${width}`);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
      .filter((element) => getComputedStyle(element).display !== "inline" && !element.closest("svg, .table"))
      .map((element) => element.id || element.className || element.tagName));
  assert.deepEqual(cut, [], `${name}: text is cut off`);
}

/// Asserts that the command makes a page of a saved measurement.
function assertReadable(file) {
  const folder = mkdtempSync(join(tmpdir(), "posse-page-"));
  try {
    const page = join(folder, "page.html");
    const { status, stderr } = spawnSync(COMMAND, ["bench", "--report", page, "--from", file], { encoding: "utf8", timeout: 60_000 });
    assert.equal(status, 0, stderr);
    const json = readFileSync(page, "utf8").match(/<script id="run"[^>]*>(.*)<\/script>/)[1];
    assert.deepEqual(JSON.parse(json), JSON.parse(readFileSync(file, "utf8")));
  } finally {
    rmSync(folder, { recursive: true });
  }
}


test("a check passes, and fails on altered numbers", { skip, timeout: 3 * TRIAL }, async () => {
  await withPosse(async (page) => {
    await slide(page, "instances", 0);
    await at(page, "check").click();
    const passed = await verdict(page);
    assert.match(passed, /^pass /);
    const share = Number.parseFloat(passed.slice(5));
    assert.ok(share > 0 && share <= 1, passed);
    console.log(`the built-in human: ${passed}`);
    const tables = await page.locator("#check-details table").allTextContents();
    assert.equal(tables.length, 3);
    for (const clip of ["idle", "walk", "run", "wave", "jump"]) assert.match(tables[1], new RegExp(clip));
    for (const row of await page.locator("#check-details tbody tr").allInnerTexts()) console.log(`  ${row.replace("\t", ": ")}`);

    await give(page, ["arm.glb", armAsGlb()]);
    await page.evaluate(() => void window.posse.checkAltered());
    const failed = await verdict(page);
    assert.match(failed, /^fail /);
    assert.ok(Number.parseFloat(failed.slice(5)) > 1, failed);
    await page.waitForFunction(() => document.getElementById("check").textContent === "Check my GPU");
    await at(page, "check").click();
    assert.match(await verdict(page), /^pass /);
    assert.match(await page.locator("#check-details").textContent(), /File: arm\.glb/);
    assert.equal(await textOf(page, "error"), "");

    // Another file takes the result with it. The bounds grow with the rig, and so does the change of the numbers.
    await give(page, ["large.glb", armAsGlb({ size: 100 })]);
    assert.equal(await textOf(page, "check-result"), "");
    assert.equal(await page.locator("#check-details").textContent(), "");
    await page.evaluate(() => void window.posse.checkAltered());
    assert.match(await verdict(page), /^fail [\d.]/);
    await page.waitForFunction(() => document.getElementById("check").textContent === "Check my GPU");
    await at(page, "check").click();
    assert.match(await verdict(page), /^pass /);
  });
});

test("a measurement gives rows, a chart and JSON", { skip, timeout: 2 * TRIAL }, async (t) => {
  await withPosse(async (page) => {
    await slide(page, "instances", 0);
    await at(page, "measure").click();
    await at(page, "save").waitFor({ timeout: TRIAL });
    const rows = await at(page, "measure-result").locator("tbody tr").allInnerTexts();
    assert.ok(rows.length >= 3, `${rows.length} rows`);
    for (const row of rows) console.log(`  ${row.replaceAll("\t", ", ")}`);
    assert.match(await at(page, "measure-result").locator("svg").getAttribute("aria-label"), /^Joints per second/);
    assert.equal(await at(page, "save").getAttribute("download"), "posse-bench.json");
    const [download] = await Promise.all([page.waitForEvent("download"), at(page, "save").click()]);
    const file = await download.path();
    assert.equal(JSON.parse(readFileSync(file, "utf8")).cases.length, rows.length);
    await t.test("the command reads the JSON", { skip: skipCommand }, () => assertReadable(file));
    // The picture goes on, and a second run can be stopped.
    await framesFrom(page, (await frames(page)) + 2);
    await at(page, "measure").click();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Measure my GPU" }).waitFor({ timeout: TRIAL });
    assert.equal(await textOf(page, "error"), "");
  });
});

test("a lost device is said, and opened again", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    await still(page);
    await give(page, ["arm.glb", armAsGlb()]);
    await page.evaluate(() => window.posse.lose());
    const reopen = page.getByRole("button", { name: "Open the GPU again" });
    await reopen.waitFor();
    assert.match(await textOf(page, "error"), /GPU was lost.*reload/);
    await assert.rejects(joint(page, 0, "elbow"), /lost/);
    await takePicture(page, "lost");
    await reopen.click();
    await page.evaluate(() => window.posse.ready);
    assert.equal(await textOf(page, "error"), "");
    await hold(page, 0.25);
    assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), "the file is posed again");
    await at(page, "play").click();
    await framesFrom(page, (await frames(page)) + 2);

    // The next good file also opens a lost device.
    await page.evaluate(() => window.posse.lose());
    await reopen.waitFor();
    await give(page, ["again.glb", armAsGlb()]);
    assert.equal(await textOf(page, "error"), "");
    assert.match(await textOf(page, "file"), /^again\.glb/);

    await page.reload();
    await page.evaluate(() => window.posse.ready);
    assert.equal(await textOf(page, "error"), "");
  });
});

test("a browser without WebGPU gets a hint", { skip, timeout: LIMIT }, async () => {
  await withBarePage((page) => page.addInitScript(() => delete Navigator.prototype.gpu), async (page) => {
    await page.waitForFunction(() => document.getElementById("error").textContent !== "");
    assert.match(await textOf(page, "error"), /no WebGPU.*Use /);
    assert.equal(await textOf(page, "adapter"), "none");
    await assert.rejects(page.evaluate(() => window.posse.ready), /no WebGPU/);
    await takePicture(page, "without");
  });
});

test("memory does not grow over frames", { skip, timeout: 2 * TRIAL }, async () => {
  await withPosse(async (page) => {
    await slide(page, "instances", Math.log10(CHARACTERS));
    await joint(page, CHARACTERS - 1, "head");
    // The first frames fill pools and caches.
    await framesFrom(page, (await frames(page)) + 20);
    const { heap, run } = await connectWorker(page);
    await run(`globalThis.liveBuffers = 0;
      for (const [type, name, change] of [[GPUDevice, "createBuffer", 1], [GPUBuffer, "destroy", -1]]) {
        const original = type.prototype[name];
        type.prototype[name] = function (...values) { liveBuffers += change; return original.apply(this, values); };
      }`);
    const memory = async () => ({ ...(await page.evaluate(() => window.posse.memory())), script: await heap() });
    const [before, first, start] = [await memory(), await frames(page), Date.now()];
    await framesFrom(page, first + FRAMES);
    const [after, last, seconds] = [await memory(), await frames(page), (Date.now() - start) / 1000];
    const rate = ((last - first) / seconds).toFixed(1);
    console.log(`${CHARACTERS} characters, ${last - first} frames in ${seconds.toFixed(0)} s (${rate} per second) at ${NARROW.width} pixels:`);
    console.log(`  wasm memory ${before.wasm} -> ${after.wasm} bytes, script ${before.script} -> ${after.script} bytes`);
    const buffers = await run("liveBuffers");
    console.log(`  GPU buffers created minus destroyed: ${buffers}`);
    assert.ok(after.wasm - before.wasm <= MEMORY_PAGE, "the memory of the WebAssembly");
    assert.ok(after.script - before.script < 2e6, "the objects of the worker");
  });
});

test("the page fits wide and narrow windows", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    await framesFrom(page, 3);
    await takePicture(page, "wide");
    for (const [name, size, colorScheme] of [["phone", PHONE, "light"], ["narrow", NARROW, "dark"]]) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await framesFrom(page, (await frames(page)) + 3);
      await assertFits(page, name, size);
      await takePicture(page, name, { fullPage: true });
    }
  }, { viewport: WIDE });
});

test("results and long names fit a narrow window", { skip, timeout: 3 * TRIAL }, async () => {
  await withPosse(async (page) => {
    await slide(page, "instances", 0);
    await give(page, [`${LONG}.glb`, armAsGlb({ prefix: LONG })]);
    await assertFits(page, "long names", NARROW);
    await at(page, "check").click();
    assert.match(await verdict(page), /^pass /);
    await assertFits(page, "check", NARROW);
    await at(page, "measure").click();
    await at(page, "save").waitFor({ timeout: TRIAL });
    await assertFits(page, "measurement", NARROW);
    await give(page, [`${LONG}.glb`, armAsGlb().subarray(0, 200)]);
    assert.match(await textOf(page, "error"), /a_name/);
    await assertFits(page, "error", NARROW);
    await takePicture(page, "long", { fullPage: true });
  });
});
