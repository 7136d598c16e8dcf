// Devices of the npm package in Chromium: Gpu.open with its options, and the entry posse/auto.
//
// The package must have been built, by bindings/web/build; POSSE_WEB_PACKAGE names another folder of it.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LONGEST, withPage } from "./browser.mjs";

const PACKAGE = process.env.POSSE_WEB_PACKAGE ?? join(dirname(fileURLToPath(import.meta.url)), "../../bindings/web/pkg");
/// A software renderer compiles kernels for minutes on a busy machine.
const timeout = LONGEST;

function reasonToSkip() {
  if (["posse.js", "cpu.js"].every((name) => existsSync(join(PACKAGE, name)))) return false;
  process.stderr.write("SKIPPED: devices of the npm package, which bindings/web/build makes\n");
  return "bindings/web/build has not run";
}

const skip = reasonToSkip();

test("Gpu.open takes a device of the page, features and a preference", { skip, timeout }, async () => {
  await withPage({ "/": PACKAGE }, async ({ page, address, problems }) => {
    await page.goto(`${address}/package.json`);
    const found = await page.evaluate(async () => {
      const { default: init, Crowd, Gpu, Library } = await import("/posse.js");
      await init();
      const preferences = [];
      const request = GPU.prototype.requestAdapter;
      GPU.prototype.requestAdapter = function (options) {
        preferences.push(options?.powerPreference);
        return request.call(this, options);
      };
      const adapter = await navigator.gpu.requestAdapter();
      const feature = ["float32-filterable", "indirect-first-instance", "rg11b10ufloat-renderable"].find((name) => adapter.features.has(name));
      const message = (promise) => promise.then(() => "no error", (error) => error.message);
      const answers = {};

      // A device without features, by the page.
      const device = await adapter.requestDevice();
      const library = Library.demo();
      const height = async (gpu) => {
        const crowd = await Crowd.create(gpu, library, [[{ clip: "walk" }]]);
        crowd.pose(0.5);
        const matrix = await crowd.joint(0, library.joint(0, "head"), 0.5);
        crowd.free();
        return matrix[13];
      };
      const before = preferences.length;
      const own = await Gpu.open({ device });
      answers.isSame = own.device === device;
      answers.asked = preferences.length - before;
      answers.isRestored = !Object.hasOwn(navigator.gpu, "requestAdapter");
      const another = await Gpu.open();
      answers.isOther = another.device !== device;
      answers.heights = [await height(own), await height(another)];

      const chosen = await Gpu.open({ features: feature ? [feature] : [], powerPreference: "low-power" });
      answers.hasFeature = !feature || chosen.device.features.has(feature);
      answers.preference = preferences.at(-1);
      answers.errors = [
        await message(Gpu.open({ features: ["fast"] })),
        await message(Gpu.open({ powerPreference: "most" })),
        await message(Gpu.open({ device: {} })),
        await message(Gpu.open({ devise: 1 })),
      ];
      answers.code = await Gpu.open({ devise: 1 }).catch((error) => [error instanceof Error, error.code]);
      [own, another, chosen, library].forEach((object) => object.free());
      return answers;
    });
    assert.deepEqual([found.isSame, found.asked, found.isRestored, found.isOther], [true, 0, true, true]);
    assert.ok(found.heights[0] > 1 && found.heights[0] === found.heights[1], `${found.heights}`);
    assert.ok(found.hasFeature);
    assert.equal(found.preference, "low-power");
    const [feature, preference, device, name] = found.errors;
    assert.equal(feature, 'options.features: wgpu knows no feature "fast"');
    assert.match(preference, /^options\.powerPreference: unknown variant `most`, expected `low-power` or `high-performance`/);
    assert.equal(device, "options.device: expected a GPUDevice");
    assert.match(name, /unknown field `devise`/);
    assert.deepEqual(found.code, [true, "options"]);
    assert.deepEqual(problems, []);
  });
});

test("posse/auto takes the CPU on a software renderer, and without WebGPU", { skip, timeout }, async () => {
  await withPage({ "/": PACKAGE }, async ({ page, address, problems }) => {
    const loaded = [];
    page.on("request", (request) => request.url().endsWith(".wasm") && loaded.push(request.url().split("/").pop()));
    const pose = async () => {
      await page.goto(`${address}/package.json`);
      return page.evaluate(async () => {
        const posse = await (await import("/auto.js")).open();
        const crowd = posse.Crowd.create(posse.Library.demo(), [[{ clip: "walk" }]]);
        crowd.pose(0.5);
        return [posse.engine, crowd.skinBuffer().some((number) => number !== 0)];
      });
    };
    assert.deepEqual(await pose(), ["cpu", true]);
    assert.deepEqual(loaded.splice(0), ["posse_bg.wasm", "cpu_bg.wasm"]);
    await page.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined }));
    assert.deepEqual(await pose(), ["cpu", true]);
    assert.deepEqual(loaded, ["cpu_bg.wasm"]);
    assert.deepEqual(problems, []);
  });
});

test("posse/auto takes the CPU where the device is refused, and not for a mistake in the options", { skip, timeout }, async () => {
  await withPage({ "/": PACKAGE }, async ({ page, address, problems }) => {
    await page.goto(`${address}/package.json`);
    const found = await page.evaluate(async () => {
      GPUAdapter.prototype.requestDevice = async () => {
        throw new DOMException("refused by the test", "OperationError");
      };
      const { open } = await import("/auto.js");
      const { engine, reason, gpu } = await open();
      const mistake = await open({ features: ["levitation"] }).then(() => "no error", (error) => error.message);
      return { engine, reason, hasGpu: gpu !== undefined, mistake };
    });
    assert.deepEqual([found.engine, found.hasGpu], ["cpu", false]);
    assert.match(found.reason, /refused by the test/);
    assert.equal(found.mistake, 'options.features: wgpu knows no feature "levitation"');
    assert.deepEqual(problems, []);
  });
});

test("a view draws in the format that the canvas prefers", { skip, timeout }, async () => {
  await withPage({ "/": PACKAGE }, async ({ page, address, problems }) => {
    await page.goto(`${address}/package.json`);
    const found = await page.evaluate(async () => {
      const { default: init, Crowd, Gpu, Library, View } = await import("/posse.js");
      await init();
      const gpu = await Gpu.open();
      const library = Library.demo();
      const crowd = await Crowd.spread(gpu, library, { count: 1, clip: "walk" });
      const configured = [];
      const { configure } = GPUCanvasContext.prototype;
      GPUCanvasContext.prototype.configure = function (options) {
        configured.push(options.format);
        return configure.call(this, options);
      };
      const pictures = [];
      for (const format of ["bgra8unorm", "rgba8unorm"]) {
        GPU.prototype.getPreferredCanvasFormat = () => format;
        const canvas = new OffscreenCanvas(96, 96);
        const view = await View.open(gpu, canvas);
        await view.show(library, crowd, { background: [30, 90, 200] });
        view.draw(0.4, view.fit());
        const copy = new OffscreenCanvas(96, 96).getContext("2d");
        copy.drawImage(canvas, 0, 0);
        pictures.push([...copy.getImageData(0, 0, 96, 96).data]);
        view.free();
      }
      return { configured, pictures };
    });
    assert.deepEqual(found.configured, ["bgra8unorm", "rgba8unorm"]);
    const [one, other] = found.pictures;
    assert.ok(one.every((number, at) => Math.abs(number - other[at]) <= 1), "both formats have the same picture");
    const [red, green, blue] = one;
    assert.ok(blue > green + 40 && green > red + 20, `the corner is ${[red, green, blue]}`);
    assert.deepEqual(problems, []);
  });
});
