// The page of web/ in Chromium: check, measurement, loss of the device, memory, and its look at several sizes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { armAsGlb, swungElbow } from "./arm.mjs";
import {
  NARROW, PHONE, WIDE, assertMatrix, at, give, hold, joint, reasonToSkip, slide, still, takePicture, textOf, withBarePage, withPosse, workerHeap,
} from "./posse_page.mjs";

const skip = reasonToSkip();
const TRIAL = 600_000;
/// Frames of the test of memory, each a second or so on a software renderer.
const FRAMES = Number(process.env.POSSE_WEB_FRAMES ?? 60);

const verdict = async (page) => {
  await page.waitForFunction(() => /^(pass|fail)/.test(document.getElementById("check-result").textContent), null, { timeout: TRIAL });
  return textOf(page, "check-result");
};
const frames = (page) => page.evaluate(() => window.posse.frames);
const framesFrom = (page, from) => page.waitForFunction((from) => window.posse.frames >= from, from, { timeout: TRIAL });

test("a check passes, and fails on altered numbers", { skip }, async () => {
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
    assert.equal(await textOf(page, "error"), "");
  });
});

test("a measurement gives rows, a chart and JSON", { skip }, async () => {
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
    assert.equal(typeof JSON.parse(readFileSync(await download.path(), "utf8")), "object");
    // The picture goes on, and a second run can be stopped.
    await framesFrom(page, (await frames(page)) + 2);
    await at(page, "measure").click();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Measure my GPU" }).waitFor({ timeout: TRIAL });
    assert.equal(await textOf(page, "error"), "");
  });
});

test("a lost device is said, and opened again", { skip }, async () => {
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

test("a browser without WebGPU gets a remedy", { skip }, async () => {
  await withBarePage((page) => page.addInitScript(() => delete Navigator.prototype.gpu), async (page) => {
    await page.waitForFunction(() => document.getElementById("error").textContent !== "");
    assert.match(await textOf(page, "error"), /no WebGPU.*Use /);
    assert.equal(await textOf(page, "adapter"), "none");
    await assert.rejects(page.evaluate(() => window.posse.ready), /no WebGPU/);
    await takePicture(page, "without");
  });
});

test("memory does not grow over frames", { skip }, async () => {
  await withPosse(async (page) => {
    await slide(page, "instances", 3);
    await joint(page, 999, "head");
    // The first frames fill pools and caches.
    await framesFrom(page, (await frames(page)) + 20);
    const heap = await workerHeap(page);
    const memory = async () => ({ ...(await page.evaluate(() => window.posse.memory())), script: await heap() });
    const [before, first, start] = [await memory(), await frames(page), Date.now()];
    await framesFrom(page, first + FRAMES);
    const [after, last, seconds] = [await memory(), await frames(page), (Date.now() - start) / 1000];
    const rate = ((last - first) / seconds).toFixed(1);
    console.log(`1,000 characters, ${last - first} frames in ${seconds.toFixed(0)} s (${rate} per second) at ${NARROW.width} pixels:`);
    console.log(`  wasm memory ${before.wasm} -> ${after.wasm} bytes, script ${before.script} -> ${after.script} bytes`);
    assert.equal(after.wasm, before.wasm, "the memory of the WebAssembly");
    assert.ok(after.script - before.script < 2e6, "the objects of the worker");
  });
});

test("the page fits wide and narrow windows", { skip }, async () => {
  await withPosse(async (page) => {
    await framesFrom(page, 3);
    await takePicture(page, "wide");
    for (const [name, size, colorScheme] of [["phone", PHONE, "light"], ["narrow", NARROW, "dark"]]) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await framesFrom(page, (await frames(page)) + 3);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= size.width, `${name}: the page is ${width} pixels wide in a window of ${size.width}`);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll("body *")]
          .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
          .filter((element) => getComputedStyle(element).display !== "inline" && !element.closest("svg"))
          .map((element) => element.id || element.className || element.tagName));
      assert.deepEqual(cut, [], `${name}: text is cut off`);
      await takePicture(page, name, { fullPage: true });
    }
  }, { viewport: WIDE });
});
