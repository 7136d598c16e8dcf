// The page of web/ in Chromium: files without meshes on the built-in human. The truth of the poses is the command posse,
// which POSSE_BIN names.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { armAsGlb, armAsVrm, swungElbow, turned } from "./arm.mjs";
import {
  COMMAND, LIMIT, ROOT, assertMatrix, at, give, hold, joint, reasonToSkip, reasonToSkipCommand, slide, still, takePicture, textOf, withPosse,
} from "./posse_page.mjs";

/// Hips and two legs, which walk 1.2 m in a second.
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

/// Poses in place: every joint moved back by the way of the pelvis over the ground.
function inPlace(samples) {
  return samples.map(({ time, nodes }) => {
    const [x, , z] = nodes.find(({ name }) => name === "pelvis").world.slice(12);
    const back = ({ name, world }) => ({ name, world: world.map((number, at) => number - ({ 12: x, 14: z }[at] ?? 0)) });
    return { time, nodes: nodes.map(back) };
  });
}

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
      const walk = posed(onHuman);
      const way = walk.at(-1).nodes.find(({ name }) => name === "pelvis").world[14];
      assert.ok(way > 0.5, `the pelvis travels: ${way} m in half a second`);
      await assertPoses(page, inPlace(walk), ["pelvis", "thigh.L", "calf.R", "foot.L"]);
      await takePicture(page, "retargeted");

      await slide(page, "instances", 0.5);
      await at(page, "on-bones").check();
      await assertPoses(page, posed(WALK), ["Hips", "LeftFoot", "RightLeg"]);
      assert.equal(await page.locator("#instances-text").textContent(), "3", "the crowd keeps its settings");
      await assert.rejects(joint(page, 0, "thigh.L"), /thigh\.L/);
      await takePicture(page, "bones");
      await at(page, "on-human").check();
      await assertPoses(page, inPlace(walk).slice(1, 2), ["foot.L"]);

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

test("a motion on the spot keeps its way", { skip: skipCommand, timeout: LIMIT }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "posse-page-"));
  try {
    // The hips sway by 2 cm and do not travel.
    const [head, ...frames] = readFileSync(WALK, "utf8").split("Frame Time: 0.0416667\n");
    const still = frames[0].trimEnd().split("\n").map((line) => line.split(" ").with(2, "0.0000").join(" "));
    const file = join(folder, "sway.bvh");
    writeFileSync(file, `${head}Frame Time: 0.0416667\n${still.join("\n")}\n`);
    const onHuman = join(folder, "human.glb");
    run("retarget", file, "--onto", "demo", "-o", onHuman);
    await withPosse(async (page) => {
      await slide(page, "share", 0);
      await slide(page, "spread", 0);
      await give(page, ["sway.bvh", readFileSync(file)]);
      assert.equal(await textOf(page, "error"), "");
      await assertPoses(page, posed(onHuman), ["pelvis", "foot.L"]);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a VRM model is shown, and its rest pose is that of the file", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    await still(page);
    for (const name of ["model.vrm", "MODEL.VRM"]) {
      await give(page, [name, armAsVrm()]);
      assert.equal(await textOf(page, "error"), "");
      assert.match(await textOf(page, "file"), new RegExp(`^${name}: no clip, at rest, 3 joints`));
      await hold(page, 0.25);
      assertMatrix(await joint(page, 0, "elbow"), turned(0, 0, 3), "the elbow of the model");
    }
  });
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
