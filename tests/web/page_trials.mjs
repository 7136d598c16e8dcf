// The page of web/ in Chromium: check, measurement, loss of the device, memory, and its look at several sizes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { armAsGlb, swungElbow } from "./arm.mjs";
import { WITHOUT_CLOCK } from "./browser.mjs";
import {
  COMMAND, LIMIT, NARROW, PHONE, WIDE, assertMatrix, at, connectWorker, give, hold, inWorker, joint, reasonToSkip, reasonToSkipCommand, slide,
  still, takePicture, textOf, withBarePage, withPosse,
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
/// Asserts that the link of a measurement opens its rows in another page, and that its Markdown has them.
async function assertShared(page, { watch }, rows) {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await at(page, "copy").click();
  await page.getByText("Copied.").waitFor();
  const link = await at(page, "result-link").evaluate(({ href }) => href);
  const markdown = await page.evaluate(() => navigator.clipboard.readText());
  for (const row of rows) assert.ok(markdown.includes(`| ${row.replaceAll("\t", " | ")} |`), markdown);
  assert.ok(markdown.startsWith("**posse ") && markdown.includes(`(${link})`), markdown);
  assert.ok(link.length < 2000, `the link has ${link.length} letters`);

  const other = await page.context().newPage();
  watch(other);
  await other.goto(link);
  await other.evaluate(() => window.posse.ready);
  assert.deepEqual(await at(other, "measure-result").locator("tbody tr").allInnerTexts(), rows);
  assert.equal(await textOf(other, "measure-summary"), await textOf(page, "measure-summary"));
  assert.match(await textOf(other, "linked"), /^The result of a link, measured by posse \d.* on .*swiftshader/i);
  // A run on this machine takes its place.
  await at(other, "check").click();
  assert.equal(await textOf(other, "linked") + (await textOf(other, "measure-summary")), "");
  await other.close();

  // The address of the page becomes the link, and the result stays.
  await at(page, "result-link").click();
  await page.waitForURL(link);
  assert.equal(await textOf(page, "linked"), "");
  assert.ok(await at(page, "save").isVisible());
}

test("a link shows what it holds as text, or says that it cannot", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    const hostile = "<img src=x onerror=\"document.title='bad'\">|`*[a](javascript:alert(1))";
    const [link, markdown] = await page.evaluate(async (text) => {
      const { linkOf, markdownOf } = await import("/page/share.js");
      const check = { pass: true, worst: 0.25, half: 0.9, poses: 7, file: text, adapter: text };
      const rows = [{ instances: 10, milliseconds: 0.5, jointsPerSecond: 320_000, bandwidthShare: null, worst: 0.1, gpuClock: false }];
      const result = { posse: "0.1.0", browser: text, began: "2026-11-29T00:00:00Z", check, measure: { adapter: text, rows } };
      return [linkOf(result), markdownOf(result, "https://example.org/")];
    }, hostile);
    const open = (fragment) => page.evaluate((fragment) => (location.hash = fragment), fragment);
    await open(link);
    await page.getByText(/^The result of a link/).waitFor();
    assert.ok((await textOf(page, "linked")).includes(hostile));
    assert.equal(await textOf(page, "check-result"), "pass 0.25 of the bound, at worst; 0.9 for skin matrices in half precision");
    assert.deepEqual(await at(page, "measure-result").locator("tbody tr").allInnerTexts(), ["10\t0.5\t320 k\t–"]);
    assert.equal(await page.locator("img").count(), 0);
    assert.notEqual(await page.title(), "bad");
    await open("");
    await page.waitForFunction(() => document.getElementById("check-result").textContent === "");
    const escaped = "\\<img src=x onerror=\"document.title='bad'\"\\>\\|\\`\\*\\[a\\]\\(javascript:alert\\(1\\)\\)";
    assert.ok(markdown.includes(escaped), markdown);
    assert.ok(markdown.includes("| 10 | 0.5 | 320 k | – |"), markdown);

    const encode = (value) => `#result=${Buffer.from(JSON.stringify(value)).toString("base64url")}`;
    const about = { version: 1, posse: "0.1.0", browser: "b", began: "2026" };
    for (const fragment of [
      "#result=", "#result=%", "#result=abc", encode(about), encode({ ...about, version: 2 }), encode({ ...about, measure: { adapter: "a", rows: [] } }),
      encode({ ...about, measure: { adapter: "a", rows: [[1, 2]] } }), encode({ ...about, measure: { adapter: 3, rows: [[1, 1, 1, 1, 1, true]] } }),
      encode({ ...about, check: { pass: true, worst: -1 } }), `#result=${"A".repeat(30_000)}`,
    ]) {
      await open(fragment);
      await page.getByText(/^This link has no result that can be shown: .*\.$/).waitFor();
      await open("");
      await page.waitForFunction(() => document.getElementById("linked").textContent === "");
    }
  });
});

test("without a clock of the GPU, the clock of the browser measures", { skip, timeout: TRIAL }, async () => {
  await withBarePage(inWorker(WITHOUT_CLOCK), async (page) => {
    await page.evaluate(() => window.posse.ready);
    await slide(page, "instances", 0);
    await page.waitForFunction(() => document.getElementById("gpu-time").textContent === "not available");
    await at(page, "measure").click();
    await at(page, "save").waitFor({ timeout: TRIAL });
    const table = await at(page, "measure-result").locator("table").evaluate(({ caption, tBodies }) => ({
      caption: caption.textContent,
      rows: [...tBodies[0].rows].map(({ cells }) => [cells[0], cells[1]].map((cell) => Number(cell.textContent.replaceAll(",", "")))),
    }));
    assert.match(table.caption, /timed by the clock of the browser: the GPU has none/);
    // Ten times the characters take more time: a wait that ends at once would give the same.
    const [hundred, thousand] = [100, 1000].map((count) => table.rows.find(([found]) => found === count)[1]);
    assert.ok(thousand > 3 * hundred, JSON.stringify(table.rows));
  });
});

test("both buttons are on the first screen", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    for (const size of [{ width: 1280, height: 720 }, PHONE]) {
      await page.setViewportSize(size);
      for (const name of ["check", "measure"]) {
        const { x, y, width, height } = await at(page, name).boundingBox();
        const isWithin = x >= 0 && y >= 0 && x + width <= size.width && y + height <= size.height;
        assert.ok(isWithin, `${name} ends at (${x + width}, ${y + height}) in a window of ${size.width} x ${size.height}`);
      }
      await takePicture(page, `first-${size.width}`);
    }
  });
});

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
    // Half precision uses most of its bound by its rounding, and has a number of its own.
    const rowsOf = (index) => page.locator("#check-details table").nth(index).locator("tbody tr").evaluateAll((rows) =>
      rows.map(({ cells }) => [cells[0].textContent, Number(cells[1].textContent)]));
    const all = [...(await rowsOf(1)), ...(await rowsOf(2))];
    const [[, half]] = all.filter(([name]) => name === "half skin");
    assert.equal(passed, `pass ${Math.max(...all.filter(([name]) => name !== "half skin").map(([, worst]) => worst))} of the bound, at worst; ` +
      `${half} for skin matrices in half precision`);
    assert.ok(share < half, passed);
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
  await withPosse(async (page, opened) => {
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
    await t.test("a link and Markdown have the rows", () => assertShared(page, opened, rows));
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
