// The page of web/ in Chromium: files without meshes on the built-in human. The truth of the poses is the command posse,
// which POSSE_BIN names.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { armAsGlb, swungElbow } from "./arm.mjs";
import {
  COMMAND, LIMIT, ROOT, assertMatrix, at, give, hold, joint, reasonToSkip, reasonToSkipCommand, slide, still, takePicture, textOf, withPosse,
} from "./posse_page.mjs";

/// Hips and two legs, which walk.
const WALK = join(ROOT, "bindings/python/examples/walk.bvh");
const TIMES = [0, 0.1, 0.3335, 0.5];
const skip = reasonToSkip();
const skipCommand = reasonToSkipCommand("the comparison with");

function run(...args) {
  const { status, stdout, stderr } = spawnSync(COMMAND, args, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

/// The poses of the only clip of a file.
const posed = (file) => JSON.parse(run("eval", file, "--clip", "0", "--times", TIMES.join(","), "--engine", "reference")).samples;

async function assertPoses(page, samples, names) {
  for (const { time, nodes } of samples) {
    await hold(page, time);
    for (const name of names) {
      assertMatrix(await joint(page, 0, name), nodes.find((node) => node.name === name).world, `${name} at ${time} s`);
    }
  }
}

test("a BVH file is shown on the human, with a switch to its bones", { skip: skipCommand, timeout: LIMIT }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "posse-page-"));
  try {
    const onHuman = join(folder, "human.glb");
    const report = JSON.parse(run("retarget", WALK, "--onto", "demo", "-o", onHuman, "--json"));
    await withPosse(async (page) => {
      await still(page);
      assert.ok(!(await at(page, "on-bones").isVisible()), "the human itself has no switch");
      await give(page, ["walk.bvh", readFileSync(WALK)]);
      assert.equal(await textOf(page, "error"), "");
      assert.match(await textOf(page, "file"), /^walk\.bvh: 1 clip, 9 joints/);
      assert.ok(await at(page, "on-human").isChecked());
      assert.match(await textOf(page, "retargeting"), new RegExp(`^${report.joints.length} of 9 joints move a joint of the human; .*; \\+Y is up`));
      assert.ok(report.warnings.some((text) => text.endsWith("; a map file can name the pairs")), "arms are missing");
      // The page takes no map file, so that it leaves this hint out.
      const words = report.warnings.map((text) => text.replace(/; a map file .*$/, ""));
      assert.equal(await textOf(page, "warnings-text"), words.map((text) => `On the human: ${text}`).join("\n"));
      assert.ok(await at(page, "warnings-text").isVisible(), "warnings are open");
      await assertPoses(page, posed(onHuman), ["pelvis", "thigh.L", "calf.R", "foot.L"]);
      await takePicture(page, "retargeted");

      await slide(page, "instances", 0.5);
      await at(page, "on-bones").check();
      await assertPoses(page, posed(WALK), ["Hips", "LeftFoot", "RightLeg"]);
      assert.equal(await page.locator("#instances-text").textContent(), "3", "the crowd keeps its settings");
      await assert.rejects(joint(page, 0, "thigh.L"), /thigh\.L/);
      await takePicture(page, "bones");
      await at(page, "on-human").check();
      await assertPoses(page, posed(onHuman).slice(1, 2), ["foot.L"]);

      // The choice is one of the file.
      await at(page, "on-bones").check();
      await give(page, ["walk.bvh", readFileSync(WALK)]);
      assert.ok(await at(page, "on-human").isChecked());
      await joint(page, 0, "thigh.L");
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("other files are shown by their own bones", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    await still(page);
    await give(page, ["arm.glb", armAsGlb()]);
    assert.equal(await textOf(page, "error"), "");
    assert.match(await textOf(page, "retargeting"), /^Its own bones are shown: arm\.glb: no joint has a partner in human\.$/);
    assert.ok(!(await at(page, "on-human").isVisible()));
    await hold(page, 0.25);
    assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), "the arm");

    // Names of a file are text.
    const name = "<img/src=x/onerror=document.title='bad'>";
    const walk = readFileSync(WALK, "utf8").replaceAll("LeftFoot", name);
    await give(page, ["walk.bvh", Buffer.from(walk)]);
    assert.equal(await textOf(page, "error"), "");
    await give(page, [`${name}.bvh`.replaceAll("/", " "), Buffer.from(walk.slice(0, 900))]);
    assert.match(await textOf(page, "error"), /<img src=x/);
    assert.equal(await page.locator("img").count(), 0);
    assert.notEqual(await page.title(), "bad");

    await page.getByRole("button", { name: "Back to the human" }).click();
    await page.evaluate(() => window.posse.ready);
    assert.equal(await textOf(page, "retargeting"), "");
  });
});
