// The page of web/ in Chromium: faults of the engine, of files and of calls, and what the page does after them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { armAsGlb, armAsGltf, slidElbow, swungElbow } from "./arm.mjs";
import {
  LIMIT, ROOT, asItIs, assertMatrix, at, connectWorker, give, hold, inWorker, joint, reasonToSkip, slide, still, takePicture, textOf, withBarePage, withPosse,
} from "./posse_page.mjs";

const skip = reasonToSkip();
const timeout = LIMIT;

const frames = (page) => page.evaluate(() => window.posse.frames);
const drawMore = async (page) => page.waitForFunction((from) => window.posse.frames > from + 2, await frames(page));
const errorText = (page) => page.waitForFunction(() => document.getElementById("error").textContent);

test("an engine that cannot be opened is opened again", { skip, timeout }, async () => {
  await withBarePage(inWorker("navigator.gpu.requestAdapter = async () => null;\n"), async (page) => {
    const reopen = page.getByRole("button", { name: "Open the GPU again" });
    await reopen.waitFor();
    assert.match(await textOf(page, "error"), /adapter/);
    await give(page, ["arm.glb", armAsGlb()]).catch(() => {});
    await reopen.waitFor();
    assert.match(await textOf(page, "error"), /adapter/);

    await asItIs(page);
    await give(page, ["arm.glb", armAsGlb()]);
    assert.equal(await textOf(page, "error"), "");
    assert.ok(!(await reopen.isVisible()), "the button is gone");
    assert.match(await textOf(page, "file"), /^arm\.glb/);
  });
});

test("times beyond the clock end nothing", { skip, timeout }, async () => {
  await withPosse(async (page) => {
    await slide(page, "instances", 0);
    await assert.rejects(hold(page, 1e13), /beyond the clock/);
    await assert.rejects(hold(page, -4.1e12), /beyond the clock/);
    // The button lets the clock run over its end.
    await hold(page, 4e12);
    await at(page, "play").click();
    await errorText(page);
    assert.match(await textOf(page, "error"), /clock/);
    await hold(page, 0);
    await page.waitForFunction(() => document.getElementById("error").textContent === "");
    await at(page, "play").click();
    await drawMore(page);
  });
});

test("a figure whose crowd was refused comes with the next change", { skip, timeout }, async () => {
  const refusing = `
    import { Crowd } from "./pkg/posse.js";
    const { spread } = Crowd;
    Crowd.spread = async (...values) => {
      if (self.isRefused) throw new Error("no memory for the crowd");
      return spread.apply(Crowd, values);
    };
  `;
  await withBarePage(inWorker(refusing), async (page) => {
    await page.evaluate(() => window.posse.ready);
    await still(page);
    await give(page, ["walk.bvh", readFileSync(join(ROOT, "bindings/python/examples/walk.bvh"))]);
    await hold(page, 0.25);
    await slide(page, "instances", 0);
    await at(page, "on-bones").check();
    const ofBones = await joint(page, 0, "LeftFoot");
    await at(page, "on-human").check();
    const ofHuman = await joint(page, 0, "foot.L");

    const { run } = await connectWorker(page);
    await run("self.isRefused = true");
    await at(page, "on-bones").check();
    await errorText(page);
    assert.match(await textOf(page, "error"), /no memory for the crowd/);
    await assert.rejects(joint(page, 0, "LeftFoot"), /no memory for the crowd/);

    // A change that an old crowd of the same library could follow does not make the human that of the bones.
    await slide(page, "spread", 0.5);
    await assert.rejects(joint(page, 0, "LeftFoot"), /no memory for the crowd/);
    await run("self.isRefused = false");
    await slide(page, "spread", 0);
    assertMatrix(await joint(page, 0, "LeftFoot"), ofBones, "the bones");
    assert.equal(await textOf(page, "error"), "");

    // Back to the human, whose crowd was never replaced.
    await at(page, "on-human").check();
    await joint(page, 0, "foot.L");
    await run("self.isRefused = true");
    await at(page, "on-bones").check();
    await assert.rejects(joint(page, 0, "LeftFoot"), /no memory for the crowd/);
    await at(page, "on-human").check();
    assertMatrix(await joint(page, 0, "foot.L"), ofHuman, "the human");
    assert.equal(await textOf(page, "error"), "");
  });
});

test("crowds are replaced while their GPU time is measured", { skip, timeout }, async () => {
  // Each measurement takes longer than a change of the crowd, also on a device without timestamps.
  const slow = `
    import { Crowd } from "./pkg/posse.js";
    const { mapAsync } = GPUBuffer.prototype;
    GPUBuffer.prototype.mapAsync = async function (...values) {
      await mapAsync.apply(this, values);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    };
    Crowd.prototype.timedPose = async function (time) {
      await this.readPose(0, time);
      return 1e6;
    };
  `;
  await withBarePage(inWorker(slow), async (page) => {
    await page.evaluate(() => window.posse.ready);
    await give(page, ["arm.glb", armAsGlb()]);
    for (let change = 0; change < 10; change++) {
      await slide(page, "instances", change % 2 ? 0 : 0.5);
      // A frame that is drawn begins a measurement.
      await drawMore(page);
    }
    assert.equal(await textOf(page, "error"), "");
    assert.equal(await textOf(page, "gpu-time"), "1.00 ms", "there was a measurement");
    await still(page);
    await hold(page, 0.25);
    assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), "the last crowd");
    assert.equal(await textOf(page, "error"), "");
  });
});

test("a joint has the settings of its call", { skip, timeout }, async () => {
  await withPosse(async (page) => {
    await still(page);
    await give(page, ["arm.glb", armAsGlb()]);
    await hold(page, 0.25);
    const found = await page.evaluate(async () => {
      const share = document.getElementById("share");
      const set = (value) => {
        share.value = value;
        share.dispatchEvent(new Event("input"));
      };
      const answers = [window.posse.joint(3, "elbow")];
      for (const value of [1, 0, 1]) {
        await new Promise((resolve) => setTimeout(resolve));
        set(value);
        answers.push(window.posse.joint(3, "elbow"));
      }
      return Promise.all(answers);
    });
    for (const [index, expected] of [swungElbow, slidElbow, swungElbow, slidElbow].entries()) {
      assertMatrix(found[index], expected(0.25), `answer ${index}`);
    }
  });
});

/// The numbers of characters of the steps to `wanted`, if a picture takes `time(count)` milliseconds.
async function steps(first, wanted, time) {
  // It has no package.json beside it, which would tell Node.js that it is a module.
  const source = readFileSync(join(ROOT, "web/engine/budget.js"), "utf8");
  const { Budget } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const budget = new Budget(first);
  const counts = [];
  for (let count = budget.next(wanted); count !== counts.at(-1); count = budget.next(wanted)) {
    counts.push(count);
    if (budget.isUntimed(count)) budget.add(count, time(count));
  }
  return counts;
}

test("a crowd grows in steps to the picture that takes 0.7 s", async () => {
  assert.deepEqual(await steps(Infinity, 100_000, () => 0), [100_000], "a GPU");
  // 150 + 2 * 275 = 700
  assert.deepEqual(await steps(1, 100_000, (count) => 150 + 2 * count), [1, 4, 16, 64, 256, 275]);
  assert.deepEqual(await steps(1, 100, (count) => 150 + 2 * count), [1, 4, 16, 64, 100]);
  assert.deepEqual(await steps(100, 60, () => 5000), [60], "few enough to be drawn untried");
  // The step to 4 takes 1300 ms, and so the crowd shrinks to 100 + 2 * 300 = 700.
  assert.deepEqual(await steps(1, 100_000, (count) => 100 + 300 * count), [1, 4, 2]);
  // A machine that takes 900 ms for the first picture gets 1.25 times that: 900 + 2 * 112 = 1124.
  assert.equal((await steps(1, 100_000, (count) => 898 + 2 * count)).at(-1), 113);
  const quick = await steps(1, 100_000, () => 1);
  assert.equal(quick.at(-1), 100_000);
  quick.slice(1).forEach((count, index) => assert.ok(count <= 4 * quick[index]));
});

test("a software renderer draws no more characters than it can in time", { skip, timeout: 2 * LIMIT }, async () => {
  await withPosse(async (page) => {
    await page.evaluate(() => {
      window.longest = 0;
      let last = performance.now();
      const beat = (now) => {
        window.longest = Math.max(window.longest, now - last);
        last = now;
        requestAnimationFrame(beat);
      };
      requestAnimationFrame(beat);
    });
    const frames = () => page.evaluate(() => window.posse.frames);
    const settled = () => page.waitForFunction(() => /^[\d,]+ of 100,000 are shown: more would take/.test(document.getElementById("limit").textContent));
    await slide(page, "instances", 5);
    await settled();
    const shown = Number((await textOf(page, "limit")).split(" ")[0].replaceAll(",", ""));
    console.log(`${shown} characters are drawn; ${await textOf(page, "fps")} frames per second`);
    assert.ok(shown >= 50 && shown < 50_000, `${shown} characters`);
    const before = await frames();
    await page.waitForFunction((from) => window.posse.frames >= from + 3, before);
    // The settings of the others are those of the whole crowd.
    assert.equal((await joint(page, 99_999, "pelvis")).length, 16);
    // A picture of 100,000 would take minutes. Machines under test are busy with other work, too.
    const longest = await page.evaluate(() => window.longest);
    console.log(`the longest pause of the page: ${longest.toFixed(0)} ms`);
    assert.ok(longest < 30_000, `the page stood still for ${longest} ms`);
    await takePicture(page, "limited");
    await slide(page, "instances", 1);
    await page.waitForFunction(() => document.getElementById("limit").textContent === "");
    assert.equal(await textOf(page, "error"), "");
    // The way is known now.
    await slide(page, "instances", 5);
    await settled();
    await slide(page, "instances", 0);
    await page.waitForFunction(() => document.getElementById("limit").textContent === "");
  });
});

test("losses in a row, and a GPU that the browser keeps back, get their own words", { skip, timeout }, async () => {
  await withPosse(async (page) => {
    const reopen = page.getByRole("button", { name: "Open the GPU again" });
    const error = () => textOf(page, "error");
    const lose = async () => {
      await page.evaluate(() => window.posse.lose());
      await reopen.waitFor();
    };
    await lose();
    assert.match(await error(), /^The GPU was lost: .*Open the GPU again/);
    await reopen.click();
    await page.evaluate(() => window.posse.ready);
    await lose();
    assert.match(await error(), /^The GPU was lost 2 times in a row: .*Show fewer characters/);

    // As Chromium does after several crashes of the GPU process. A reload does not forget the losses.
    await inWorker("navigator.gpu.requestAdapter = async () => null;\n")(page);
    for (const open of [() => reopen.click(), () => page.reload()]) {
      await open();
      await page.evaluate(() => window.posse.ready.catch(() => {}));
      await reopen.waitFor();
      assert.match(await error(), /^The GPU was lost, and now the browser gives it to this page no more.*start it again/);
    }
    await asItIs(page);
    await reopen.click();
    await page.evaluate(() => window.posse.ready);
    assert.equal(await error(), "");
  });
});

test("crashes of the GPU process get the words of a loss", { skip, timeout }, async () => {
  await withPosse(async (page, { browser, problems }) => {
    const session = await browser.newBrowserCDPSession();
    const reopen = page.getByRole("button", { name: "Open the GPU again" });
    for (const words of [/^The GPU was lost: /, /^The GPU was lost( 2 times in a row: |, and now the browser)/]) {
      // The answer does not come: the process that would give it ends.
      session.send("Browser.crashGpuProcess").catch(() => {});
      await page.waitForFunction(() => document.getElementById("error").textContent);
      await reopen.waitFor();
      assert.match(await textOf(page, "error"), words);
      await reopen.click();
      await page.evaluate(() => window.posse.ready.catch(() => {}));
    }
    console.log(`after two crashes: ${(await textOf(page, "error")) || "the GPU was opened again"}`);
    // Chromium reports a lost context of its own.
    problems.length = 0;
  });
});

test("an error that stops the WebAssembly stops the engine", { skip, timeout }, async () => {
  await withPosse(async (page) => {
    await give(page, ["arm.glb", armAsGlb()]);
    const { run } = await connectWorker(page);
    await run(`GPUQueue.prototype.submit = () => { throw new WebAssembly.RuntimeError("unreachable"); };`);
    const reopen = page.getByRole("button", { name: "Open the GPU again" });
    await reopen.waitFor();
    assert.match(await textOf(page, "error"), /engine stopped: .*unreachable/);
    await reopen.click();
    await page.evaluate(() => window.posse.ready);
    assert.equal(await textOf(page, "error"), "");
    assert.match(await textOf(page, "file"), /^arm\.glb/);
    await drawMore(page);
  });
});

test("a clip that cannot be read is listed as left out", { skip, timeout }, async () => {
  await withPosse(async (page) => {
    await still(page);
    const { gltf, bin } = armAsGltf();
    const document = JSON.parse(gltf);
    // The key times of "swing" are rotations.
    document.animations[0].samplers[0].input = 2;
    await give(page, ["arm.gltf", Buffer.from(JSON.stringify(document))], ["arm data.bin", bin]);
    assert.equal(await textOf(page, "error"), "");
    assert.match(await textOf(page, "file"), /^arm\.gltf: 2 clips/);
    for (const list of ["clip", "clip2"]) {
      const options = at(page, list).locator("option");
      assert.deepEqual(await options.allTextContents(), ["swing (left out)", "slide", "2"]);
      assert.equal(await options.first().isDisabled(), true);
    }
    assert.equal(await at(page, "clip").inputValue(), "1");
    await hold(page, 0.5);
    assertMatrix(await joint(page, 0, "elbow"), slidElbow(0.5), "the first clip that can be read");
  });
});

test("files that are no clips of a model become warnings", { skip, timeout }, async () => {
  await withPosse(async (page) => {
    await still(page);
    await give(page, ["arm.glb", armAsGlb()], ["package.json", Buffer.from('{"name": "arm"}')]);
    assert.equal(await textOf(page, "error"), "");
    assert.match(await textOf(page, "file"), /^arm\.glb: 3 clips/);
    assert.equal(await page.locator("#warnings-count").textContent(), "1 warning");
    assert.match(await page.locator("#warnings-text").textContent(), /^package\.json/);
    await hold(page, 0.25);
    assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), "the model");
  });
});

test("trials: a failure begins with its verdict, and Stop stops its own", { skip, timeout }, async () => {
  await withPosse(async (page) => {
    await slide(page, "instances", 0);
    await page.evaluate(() => void window.posse.checkAltered("much"));
    await page.waitForFunction(() => document.getElementById("check-result").textContent);
    assert.match(await textOf(page, "check-result"), /^fail: .*alter/);

    // A check that is stopped before it begins, while a measurement goes on.
    await page.evaluate(() => {
      document.getElementById("measure").click();
      document.getElementById("check").click();
      document.getElementById("check").click();
    });
    assert.equal(await textOf(page, "check"), "Check my GPU");
    await at(page, "save").waitFor();
    assert.equal(await textOf(page, "check-result"), "");
  });
});
