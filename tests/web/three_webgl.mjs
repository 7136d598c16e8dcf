// The example bindings/web/examples/three_webgl, in a browser without WebGPU: poses of posse's CPU engine, drawn by
// three.js. The truth is three.js' own animation of the same file.
//
// The package must have been built, by bindings/web/build or bindings/web/build --cpu; POSSE_WEB_PACKAGE names another
// folder of it.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { withPage } from "./browser.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const BINDINGS = join(HERE, "../../bindings/web");
const PACKAGE = process.env.POSSE_WEB_PACKAGE ?? join(BINDINGS, "pkg");
const FOLDERS = {
  "/": BINDINGS,
  "/pkg/": PACKAGE,
  "/examples/three_webgl/node_modules/": join(HERE, "node_modules"),
};
const TIMES = [0, 0.4, 1.3];

function isMissing() {
  if (existsSync(join(PACKAGE, "cpu.js"))) return false;
  process.stderr.write("SKIPPED: the example of three.js without WebGPU, which needs the package that bindings/web/build makes\n");
  return "bindings/web/build has not run";
}

/// Opens the example, with a function that returns the pixels that differ from the background, as 0 and 1.
async function withExample(count, work) {
  await withPage(FOLDERS, async ({ page, address, problems }) => {
    await page.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined }));
    await page.goto(`${address}/examples/three_webgl/index.html?still&count=${count}`);
    await page.evaluate(async () => {
      const { renderer } = await window.example;
      window.drawnPixels = () => {
        const { width, height } = renderer.domElement;
        const context = new OffscreenCanvas(width, height).getContext("2d");
        context.drawImage(renderer.domElement, 0, 0);
        const { data } = context.getImageData(0, 0, width, height);
        const differs = (at) => [0, 1, 2].some((lane) => Math.abs(data[at + lane] - data[lane]) > 12);
        return Uint8Array.from({ length: data.length / 4 }, (_, pixel) => differs(4 * pixel));
      };
      window.sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
      window.differences = (a, b) => a.filter((number, at) => number !== b[at]).length;
    });
    await work(page);
    assert.deepEqual(problems, []);
  }, { viewport: { width: 960, height: 600 } });
}

test("1,000 characters are drawn without WebGPU, and move", { skip: isMissing(), timeout: 180_000 }, async (t) => {
  await withExample(1000, async (page) => {
    const { share, repeated, moved, status } = await page.evaluate(async () => {
      const { draw } = await window.example;
      const [first, again, later] = [0.2, 0.2, 0.5].map((time) => {
        draw(time);
        return drawnPixels();
      });
      const moved = differences(first, later) / sum(first);
      const status = document.getElementById("status").value;
      return { share: sum(first) / first.length, repeated: differences(first, again), moved, status };
    });
    t.diagnostic(`${(100 * share).toFixed(0)} % of the picture drawn; ${(100 * moved).toFixed(1)} % of it changes in 0.3 s; ${status}`);
    assert.ok(share > 0.1, `${share}`);
    assert.equal(repeated, 0, "the same time gives the same picture");
    assert.ok(moved > 0.01, `${moved}`);
  });
});

test("one character covers the pixels that three.js covers", { skip: isMissing(), timeout: 180_000 }, async (t) => {
  await withExample(1, async (page) => {
    const { worst, other } = await page.evaluate(async (times) => {
      const { AnimationMixer } = await import("three");
      const { draw, renderer, scene, camera, meshes, gltf } = await window.example;
      camera.position.set(1.5, 1.5, 3);
      camera.lookAt(0, 0.9, 0);
      const mixer = new AnimationMixer(gltf.scene);
      mixer.clipAction(gltf.animations[0]).play();
      const outlines = [];
      for (const time of times) {
        draw(time);
        const posse = drawnPixels();
        mixer.setTime(time);
        scene.remove(...meshes);
        scene.add(gltf.scene);
        scene.updateMatrixWorld(true);
        // By itself, three.js updates a skeleton once per frame of the browser.
        gltf.scene.traverse((found) => found.skeleton?.update());
        renderer.render(scene, camera);
        const three = drawnPixels();
        scene.remove(gltf.scene);
        scene.add(...meshes);
        outlines.push({ posse, three });
      }
      const share = ({ posse }, { three }) => differences(posse, three) / sum(three);
      return {
        worst: Math.max(...outlines.map((outline) => share(outline, outline))),
        other: share(outlines[0], outlines[1]),
      };
    }, TIMES);
    t.diagnostic(`at most ${(100 * worst).toFixed(2)} % of the pixels of the character differ`);
    assert.ok(worst < 0.02, `${worst}`);
    assert.ok(other > 0.2, `outlines of two times differ: ${other}`);
  });
});
