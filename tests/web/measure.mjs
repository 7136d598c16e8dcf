// The measurement of the npm package in Chromium: its times by the clock of the browser are held to a known load, on a
// device without a clock and beside the clock of the GPU.

import assert from "node:assert/strict";
import { test } from "node:test";

import { WITHOUT_CLOCK, withPage } from "./browser.mjs";
import { LIMIT, PACKAGE, reasonToSkip } from "./posse_page.mjs";

const skip = reasonToSkip();
/// Characters whose poses take tens of milliseconds on a software renderer.
const COUNT = 1000;
/// Measurements of a test. Other work on the machine disturbs some.
const ATTEMPTS = 4;

/// Calls `work` with a function that measures numbers of characters, and returns rows and JSON.
async function withMeasure(script, work) {
  await withPage({ "/": PACKAGE }, async ({ page, address, problems }) => {
    await page.addInitScript(script);
    await page.goto(`${address}/package.json`);
    await page.evaluate(async () => {
      const { default: init, Gpu, Measure } = await import("/posse.js");
      await init();
      const gpu = await Gpu.open();
      window.measure = async (counts) => {
        const measure = Measure.rig(gpu, { counts, seconds: 0.2 });
        while (await measure.step());
        const found = { rows: measure.rows(), json: JSON.parse(measure.json()) };
        measure.free();
        return found;
      };
    });
    await work((counts) => page.evaluate((counts) => window.measure(counts), counts));
    assert.deepEqual(problems, []);
  });
}

test("twice the work takes twice the time without a clock of the GPU", { skip, timeout: LIMIT }, async () => {
  await withMeasure(WITHOUT_CLOCK, async (measure) => {
    const ratios = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { rows, json } = await measure([COUNT, 2 * COUNT]);
      assert.ok(rows.every(({ gpuClock }) => !gpuClock), "the clock is hidden");
      assert.ok(json.cases.every(({ gpu_ms }) => gpu_ms === null));
      json.cases.forEach(({ wall_ms }, index) => assert.equal(rows[index].milliseconds, wall_ms.median));
      // Other work only adds to times.
      const [once, twice] = json.cases.map(({ wall_ms }) => wall_ms.p5);
      console.log(`${COUNT} characters in ${once.toFixed(2)} ms, twice as many in ${twice.toFixed(2)} ms`);
      ratios.push(twice / once);
      if (twice / once > 1.6 && twice / once < 2.6) return;
    }
    assert.fail(`twice the work takes the times ${ratios}`);
  });
});

test("the clock of the browser covers what the clock of the GPU does", { skip, timeout: LIMIT }, async () => {
  await withMeasure("", async (measure) => {
    const shares = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { rows, json } = await measure([COUNT]);
      assert.ok(rows[0].gpuClock, "Chromium has a clock of the GPU");
      const [{ wall_ms: wall, gpu_ms: gpu }] = json.cases;
      console.log(`${COUNT} characters in ${wall.p5.toFixed(2)} ms, ${gpu.p5.toFixed(2)} ms by the clock of the GPU`);
      shares.push(wall.p5 / gpu.p5);
      if (shares.at(-1) > 0.8 && shares.at(-1) < 2) return;
    }
    assert.fail(`times by the clock of the browser, to those of the GPU: ${shares}`);
  });
});
