// Parameters, transitions, goals, root motion and visibility of crowds of the npm package, with numbers worked out by
// hand: the entry posse/cpu in Node.js, the entry posse in Chromium.
//
// The package must have been built, by bindings/web/build; POSSE_WEB_PACKAGE names another folder of it.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LONGEST, withPage } from "./browser.mjs";
import { run } from "./crowd_cases.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGE = resolve(process.env.POSSE_WEB_PACKAGE ?? join(HERE, "../../bindings/web/pkg"));
/// A software renderer compiles kernels for minutes on a busy machine.
const timeout = LONGEST;

function reasonToSkip(name) {
  if (existsSync(join(PACKAGE, name))) return false;
  process.stderr.write(`SKIPPED: crowds of the npm package, whose ${name} bindings/web/build makes\n`);
  return "bindings/web/build has not run";
}

const skipCpu = reasonToSkip("cpu_bg.wasm");
const skipGpu = reasonToSkip("posse_bg.wasm");
const folders = { "/": PACKAGE, "/crowd_cases.mjs": join(HERE, "crowd_cases.mjs") };

test("crowds on the CPU do what is worked out by hand", { skip: skipCpu }, async (t) => {
  const posse = await import(join(PACKAGE, "cpu_node.js"));
  await posse.default();
  const { comparisons, failures } = await run(posse);
  t.diagnostic(`${comparisons} comparisons`);
  assert.deepEqual(failures, []);
});

test("crowds on the GPU do what is worked out by hand", { skip: skipGpu, timeout }, async (t) => {
  await withPage(folders, async ({ page, address, problems }) => {
    await page.goto(`${address}/package.json`);
    const { comparisons, failures } = await page.evaluate(async () => {
      const posse = await import("/posse.js");
      const { run } = await import("/crowd_cases.mjs");
      await posse.default();
      return run(posse, await posse.Gpu.open());
    });
    t.diagnostic(`${comparisons} comparisons`);
    assert.deepEqual(failures, []);
    assert.deepEqual(problems, []);
  }, { timeout });
});

test("a crowd on the GPU says which capacity it lacks", { skip: skipGpu, timeout }, async () => {
  await withPage(folders, async ({ page, address, problems }) => {
    await page.goto(`${address}/package.json`);
    const found = await page.evaluate(async () => {
      const { default: init, Crowd, Gpu, Library } = await import("/posse.js");
      const { rig } = await import("/crowd_cases.mjs");
      await init();
      const library = Library.load("rig.gltf", rig());
      const chain = library.chain(0, { aim: "arm", forward: [0, 1, 0] });
      const gpu = await Gpu.open();
      const crowd = await Crowd.create(gpu, library, [[{ clip: "low" }]]);
      const one = await Crowd.create(gpu, library, Array(3).fill([{ clip: "low" }]), {}, { transitions: 1 });
      const message = (call) => {
        try {
          call();
          return "no error";
        } catch (error) {
          return error.message;
        }
      };
      return [
        message(() => crowd.setLayers(0, [{ clip: "low" }, { clip: "high" }])),
        message(() => crowd.setLayers(0, [{ clip: "low", mode: "override" }])),
        message(() => crowd.setGoals(0, [{ chain, target: [0, 1, 0] }])),
        message(() => crowd.transition(0, [{ clip: "high" }], { start: 1 })),
        message(() => one.transition([1, 2, 0], [{ clip: "high" }], { start: 1 })),
        // The place is still free.
        message(() => one.transition(0, [{ clip: "high" }], { start: 1 })) === "no error",
        message(() => crowd.setParameters(0, [1])),
        message(() => crowd.setVisible([0])),
      ];
    });
    assert.deepEqual(found, [
      "instance 0 has 2 layers, but the crowd has capacity for 1; create it with { layers: 2 }",
      'instance 0 needs override and additive layers, but the crowd was made for no mixing; create it with { mixing: "any" }',
      "instance 0 has 1 goal, but the crowd has capacity for 0; create it with { goals: 1 }",
      "instance 0 finds its batch with all of 0 transitions on their way; create it with { transitions: 1 }",
      "instance 2 finds its batch with all of 1 transitions on their way; create it with { transitions: 4 }",
      true,
      "the crowd has no parameters; create it with their names, { parameters: [...] }",
      "the crowd has no lists of visible instances; create it with { visible: true }",
    ]);
    assert.deepEqual(problems, []);
  }, { timeout });
});

test("queries create one buffer, and events no kernel", { skip: skipGpu, timeout }, async (t) => {
  const at = (y) => ({ __type__: "cc.Vec3", x: 0, y, z: 0 });
  const steps = {
    __type__: "cc.AnimationClip", _name: "steps", _duration: 1, sample: 60, speed: 1, wrapMode: 2,
    events: [{ frame: 0.25, func: "left", params: [] }],
    _keys: [[0, 1]],
    curveDatas: { "/foot": { props: { position: { keys: 0, values: [at(0), at(1)] } } } },
  };
  await withPage(folders, async ({ page, address, problems }) => {
    await page.goto(`${address}/package.json`);
    const found = await page.evaluate(async (clip) => {
      const { default: init, Crowd, Gpu, Library } = await import("/posse.js");
      await init();
      const counts = { createBuffer: 0, createComputePipeline: 0 };
      for (const name of Object.keys(counts)) {
        const create = GPUDevice.prototype[name];
        GPUDevice.prototype[name] = function (...values) {
          counts[name] += 1;
          return create.apply(this, values);
        };
      }
      const library = Library.load("steps.anim", new TextEncoder().encode(JSON.stringify(clip)));
      const crowd = await Crowd.create(await Gpu.open(), library, Array.from({ length: 50 }, () => [{ clip: 0 }]));
      const counted = async (call) => {
        const before = { ...counts };
        const began = performance.now();
        await call();
        const milliseconds = performance.now() - began;
        // What a browser reports of the submission comes in a task of its own.
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { milliseconds, buffers: counts.createBuffer - before.createBuffer, kernels: counts.createComputePipeline - before.createComputePipeline };
      };
      const all = Array.from({ length: 50 }, (_, instance) => instance);
      const answers = { events: [], matrices: [], joints: [] };
      for (let call = 0; call < 3; call++) answers.events.push(await counted(() => crowd.events(call, call + 1)));
      for (let call = 0; call < 3; call++) answers.matrices.push(await counted(() => crowd.jointMatrices(all, 0, call)));
      for (let call = 0; call < 3; call++) answers.joints.push(await counted(() => crowd.joint(call, 0, call)));
      return answers;
    }, steps);
    for (const [name, calls] of Object.entries(found)) {
      t.diagnostic(`${name}: ${calls.map(({ milliseconds }) => milliseconds.toFixed(0))} ms`);
      assert.equal(calls[2].buffers, 1, `${name}: the copy that is read`);
    }
    assert.deepEqual(found.events.map(({ kernels }) => kernels), [0, 0, 0], "they are compiled when the crowd is created");
    assert.deepEqual(problems, []);
  }, { timeout });
});
