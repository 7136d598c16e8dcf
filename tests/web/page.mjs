// The page of web/ in Chromium: files, clock and controls. The truth of the poses is worked out by hand, or comes from
// the command posse, which POSSE_BIN names.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { armAsGlb, armAsGltf, slidElbow, swungElbow, turned } from "./arm.mjs";
import {
  COMMAND, LIMIT, ROOT, assertMatrix, at, give, hold, joint, reasonToSkip, reasonToSkipCommand, slide, still, takePicture, textOf, withPosse,
} from "./posse_page.mjs";

/// The file of the comparison with the command: its motion is not one that a hand can work out.
const WALK = join(ROOT, "bindings/python/examples/walk.bvh");
const skip = reasonToSkip();
const skipCommand = reasonToSkipCommand("the comparison with");

test("a file is posed as worked out by hand", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    await still(page);
    await give(page, ["arm.glb", armAsGlb()]);
    assert.equal(await textOf(page, "error"), "");
    assert.deepEqual(await at(page, "clip").locator("option").allTextContents(), ["swing", "slide", "2"]);
    assert.deepEqual(await at(page, "clip2").locator("option").allTextContents(), ["swing", "slide", "2"]);
    for (const time of [0, 0.25, 0.5, 0.875, 1.25, 7.75, -0.25]) {
      await hold(page, time);
      for (const instance of [0, 7]) {
        assertMatrix(await joint(page, instance, "elbow"), swungElbow(time), `swing at ${time} s, instance ${instance}`);
      }
    }
    await hold(page, 0.5);
    const unnamed = [-Math.SQRT2 + Math.SQRT1_2, 1 + Math.SQRT2 + Math.SQRT1_2];
    assertMatrix(await joint(page, 0, "#2"), turned(45, ...unnamed), "a joint without a name");
    await assert.rejects(joint(page, 0, "elbo"), /elbow/, "a name that is nearly right is answered with the right one");
    await assert.rejects(joint(page, 100_000, "elbow"), /instance 100000/);

    await at(page, "clip").selectOption({ label: "slide" });
    for (const time of [0.5, 1.5, 3]) {
      await hold(page, time);
      assertMatrix(await joint(page, 0, "elbow"), slidElbow(time), `slide at ${time} s`);
    }
    await at(page, "clip").selectOption({ label: "2" });
    assertMatrix(await joint(page, 0, "elbow"), turned(180, 0, -1), "the clip without a name");
  });
});

test("times hold and run", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    await still(page);
    await give(page, ["arm.glb", armAsGlb()]);
    const clock = () => page.evaluate(() => window.posse.time);
    const early = await clock();
    await page.waitForTimeout(50);
    assert.ok((await clock()) > early, "the clock runs");
    await hold(page, 0.125);
    await page.waitForTimeout(50);
    assert.equal(await clock(), 0.125, "a time that is set is held");
    assert.equal(await textOf(page, "play"), "Play");
    // The answer is for the time of the call, even if the time changes before it arrives.
    const both = await page.evaluate(() => {
      window.posse.time = 0.25;
      const first = window.posse.joint(0, "elbow");
      window.posse.time = 0.75;
      return Promise.all([first, window.posse.joint(0, "elbow")]);
    });
    assertMatrix(both[0], swungElbow(0.25), "the first call");
    assertMatrix(both[1], swungElbow(0.75), "the second call");
    await at(page, "play").click();
    await page.waitForTimeout(50);
    assert.ok((await clock()) > 0.75, "the button lets the clock run on");
    assert.equal(await textOf(page, "play"), "Pause");
    await assert.rejects(page.evaluate(() => (window.posse.time = "soon")), /not a number/);
  });
});

test("controls change the crowd", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    await still(page);
    await give(page, ["arm.glb", armAsGlb()]);
    await hold(page, 0.25);
    await slide(page, "speed", 2);
    assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.5), "double speed");
    await slide(page, "speed", 1);

    // All of the second clip, then half of the characters.
    await slide(page, "share", 1);
    assertMatrix(await joint(page, 3, "elbow"), slidElbow(0.25), "the second clip");
    await slide(page, "share", 0.5);
    await slide(page, "instances", 1.5);
    assert.equal(await page.locator("#instances-text").textContent(), "32");
    const isSliding = async (instance) => Math.abs((await joint(page, instance, "elbow"))[0] - 1) < 1e-5;
    const sliding = (await Promise.all([...Array(32).keys()].map(isSliding))).filter(Boolean).length;
    assert.ok(sliding >= 12 && sliding <= 20, `${sliding} of 32 play the second clip at a share of one half`);
    await assert.rejects(joint(page, 32, "elbow"), /0 to 31/);

    await slide(page, "share", 0);
    await slide(page, "spread", 1);
    const angles = new Set();
    for (let instance = 0; instance < 8; instance++) angles.add((await joint(page, instance, "elbow"))[0].toFixed(3));
    assert.ok(angles.size >= 7, `8 characters at ${angles.size} phases`);
    assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), "instance 0 keeps its phase");

    // Keys go along round numbers, and the ends are 1 and 100,000.
    await slide(page, "instances", 0);
    assert.equal(await page.locator("#instances-text").textContent(), "1");
    await at(page, "instances").press("ArrowRight");
    assert.equal(await page.locator("#instances-text").textContent(), "2");
    await slide(page, "instances", 5);
    assert.equal(await at(page, "instances").getAttribute("aria-valuetext"), "100,000");
    // Also of characters that a software renderer does not draw.
    assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), "one of 100,000");
    assert.equal((await joint(page, 99_999, "elbow")).length, 16);
    assert.equal(await textOf(page, "error"), "");
    await slide(page, "instances", 1);
    await at(page, "play").click();
    await page.waitForFunction((from) => window.posse.frames > from + 2, await page.evaluate(() => window.posse.frames));
    assert.match(await textOf(page, "fps"), /^[\d.]+$/);
    assert.match(await textOf(page, "gpu-time"), /^([\d.]+ ms|not available|…)$/);
  });
});

test("files: dropped, in parts, broken, good again", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    await still(page);
    await hold(page, 0.25);
    const { gltf, bin } = armAsGltf();
    await give(page, ["arm data.bin", bin], ["arm.gltf", gltf]);
    assert.equal(await textOf(page, "error"), "");
    assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), "a .gltf file with its buffer");

    for (const [name, bytes, message] of [
      ["broken.glb", armAsGlb().subarray(0, 200), /broken\.glb/],
      ["arm.gltf", gltf, /arm(%20| )data\.bin/],
      ["notes.txt", Buffer.from("no animation"), /notes\.txt.*\.glb/],
    ]) {
      await give(page, [name, bytes]);
      assert.match(await textOf(page, "error"), message);
      assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), `the crowd stays after ${name}`);
    }
    await takePicture(page, "error");

    // A drop on the page, with the bytes of a file made in the page.
    await page.evaluate((bytes) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(bytes)], "arm.glb"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      return window.posse.ready;
    }, [...armAsGlb()]);
    assert.equal(await textOf(page, "error"), "");
    assert.match(await textOf(page, "file"), /^arm\.glb: 3 clips, 3 joints/);
    await page.getByRole("button", { name: "Back to the human" }).click();
    await page.evaluate(() => window.posse.ready);
    assert.match(await textOf(page, "file"), /^Built-in human: 5 clips/);
  });
});

test("poses are those of the command", { skip: skipCommand, timeout: LIMIT }, async () => {
  const times = [0, 0.1, 0.3335, 0.5];
  const { status, stdout, stderr } = spawnSync(
    COMMAND, ["eval", WALK, "--clip", "0", "--times", times.join(","), "--engine", "reference"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  await withPosse(async (page) => {
    await still(page);
    await give(page, ["walk.bvh", readFileSync(WALK)]);
    await at(page, "on-bones").check();
    for (const { time, nodes } of JSON.parse(stdout).samples) {
      await hold(page, time);
      for (const name of ["Hips", "LeftFoot", "RightLeg"]) {
        const { world } = nodes.find((node) => node.name === name);
        assertMatrix(await joint(page, 0, name), world, `${name} at ${time} s`);
      }
    }
  });
});
