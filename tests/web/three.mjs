// The example bindings/web/examples/three: poses of posse, drawn by three.js. The truth is three.js' own animation of
// the same file.
//
// The package must have been built, by bindings/web/build; POSSE_WEB_PACKAGE names another folder of it.

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
  "/examples/three/node_modules/": join(HERE, "node_modules"),
};
const TIMES = [0, 0.4, 1.3, 7.77];

function isMissing() {
  if (existsSync(join(PACKAGE, "posse.js"))) return false;
  process.stderr.write("SKIPPED: the example of three.js, which needs the package that bindings/web/build makes\n");
  return "bindings/web/build has not run";
}

async function withExample(count, work) {
  await withPage(FOLDERS, async ({ page, address, problems }) => {
    await page.goto(`${address}/examples/three/index.html?still&count=${count}`);
    await page.evaluate(() => window.example);
    await work(page);
    assert.deepEqual(problems, []);
  }, { viewport: { width: 960, height: 600 } });
}

/// Functions of the page: the matrices in posse's buffer, those of three.js for an instance, and the drawn pixels.
function addFunctions(page) {
  return page.evaluate(async () => {
    const three = await import("three");
    const { gpu, renderer, scene, shown } = await window.example;

    window.posseMatrices = async () => {
      const source = shown().crowd.skinBuffer();
      const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
      const copy = gpu.device.createBuffer({ size: source.size, usage });
      const encoder = gpu.device.createCommandEncoder();
      encoder.copyBufferToBuffer(source, 0, copy, 0, source.size);
      gpu.device.queue.submit([encoder.finish()]);
      await copy.mapAsync(GPUMapMode.READ);
      const numbers = new Float32Array(copy.getMappedRange().slice(0));
      copy.destroy();
      return numbers;
    };

    /// Poses the scene of three.js as `load` in main.js poses an instance.
    window.poseThree = (instance, time) => {
      const { gltf } = shown();
      const index = instance % gltf.animations.length;
      const clip = gltf.animations[index];
      // Brings joints that the next clip does not move back to rest.
      window.mixer?.stopAllAction();
      window.mixer = new three.AnimationMixer(gltf.scene);
      window.mixer.clipAction(clip).play();
      window.mixer.setTime(((instance * 0.618034) % 1) * clip.duration + time);
      gltf.scene.updateMatrixWorld(true);
      let skinned;
      gltf.scene.traverse((found) => (skinned = found.isSkinnedMesh ? found : skinned));
      return skinned;
    };

    /// The rows of the skin matrices, as posse lays them out.
    window.threeMatrices = (instance, time) => {
      const { bones, boneInverses } = window.poseThree(instance, time).skeleton;
      return bones.flatMap((bone, joint) => {
        const { elements } = new three.Matrix4().multiplyMatrices(bone.matrixWorld, boneInverses[joint]);
        return [0, 1, 2].flatMap((row) => [0, 1, 2, 3].map((column) => elements[4 * column + row]));
      });
    };

    /// The pixels that differ from the background, as 0 and 1. To be called right after drawing.
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
}

test("the skin matrices are those that three.js computes", { skip: isMissing(), timeout: 180_000 }, async (t) => {
  await withExample(2000, async (page) => {
    await addFunctions(page);
    const compare = ([times, late]) => page.evaluate(async ([times, late]) => {
      const { draw, shown } = await window.example;
      let worst = 0;
      for (const time of times) {
        draw(time);
        const numbers = await window.posseMatrices();
        const stride = shown().crowd.skinStride / 4;
        for (let instance = 0; instance < shown().crowd.count; instance += 97) {
          const expected = window.threeMatrices(instance, time + late);
          expected.forEach((number, at) => {
            worst = Math.max(worst, Math.abs(number - numbers[instance * stride + at]));
          });
        }
      }
      return worst;
    }, [times, late]);
    const worst = await compare([TIMES, 0]);
    t.diagnostic(`the worst difference of a number of a matrix: ${worst.toExponential(1)}`);
    assert.ok(worst < 1e-5, `${worst}`);
    assert.ok((await compare([TIMES, 0.01])) > 1e-3, "poses of another time differ");
  });
});

test("2,000 characters are drawn, and move", { skip: isMissing(), timeout: 180_000 }, async (t) => {
  await withExample(2000, async (page) => {
    await addFunctions(page);
    const { share, repeated, moved } = await page.evaluate(async () => {
      const { draw } = await window.example;
      const [first, again, later] = [0.2, 0.2, 0.5].map((time) => {
        draw(time);
        return drawnPixels();
      });
      const moved = differences(first, later) / sum(first);
      return { share: sum(first) / first.length, repeated: differences(first, again), moved };
    });
    t.diagnostic(`${(100 * share).toFixed(0)} % of the picture drawn; ${(100 * moved).toFixed(1)} % of it changes in 0.3 s`);
    assert.ok(share > 0.2);
    assert.equal(repeated, 0, "the same time gives the same picture");
    assert.ok(moved > 0.01);
  });
});

test("one character covers the pixels that three.js covers", { skip: isMissing(), timeout: 180_000 }, async (t) => {
  await withExample(1, async (page) => {
    await addFunctions(page);
    const { worst, other } = await page.evaluate(async (times) => {
      const { draw, renderer, scene, camera, shown } = await window.example;
      camera.position.set(1.5, 1.5, 3);
      camera.lookAt(0, 0.9, 0);
      const { meshes, gltf } = shown();
      const outlines = [];
      for (const time of times) {
        // three.js updates a skeleton once per frame of the browser.
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        draw(time);
        const posse = drawnPixels();
        poseThree(0, time);
        scene.remove(...meshes);
        scene.add(gltf.scene);
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
