// The npm package in Node.js: what it consists of, and the entry `posse` with Dawn, the package webgpu. The truth of
// poses is the entry posse/cpu.
//
// The package must have been built, by bindings/web/build; POSSE_WEB_PACKAGE names another folder of it.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { installed } from "./installed.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGE = resolve(process.env.POSSE_WEB_PACKAGE ?? join(HERE, "../../bindings/web/pkg"));
/// The driver of SwiftShader beside Chromium, for machines without a GPU.
const SWIFTSHADER = join(dirname(process.env.CHROMIUM ?? "/usr/bin/chromium"), "../lib/chromium/vk_swiftshader_icd.json");

function reasonToSkip() {
  if (["posse.js", "cpu.js"].every((name) => existsSync(join(PACKAGE, name)))) return false;
  process.stderr.write("SKIPPED: the npm package in Node.js, which bindings/web/build makes\n");
  return "bindings/web/build has not run";
}

const skip = reasonToSkip();

/// What a program prints as JSON, at last.
function run(folder, program, env) {
  writeFileSync(join(folder, "program.js"), program);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["program.js"], { cwd: folder, encoding: "utf8", env: { ...process.env, ...env } });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

test("the package has its entries, their types and the licenses", { skip }, () => {
  const { exports, license, peerDependencies } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  // The files that npm would publish.
  const [{ files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: PACKAGE, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const published = new Set(files.map(({ path }) => path));
  const named = Object.values(exports).flatMap((entry) => Object.values(typeof entry === "string" ? { entry } : entry));
  const needed = named.filter((path) => !path.includes("*")).map((path) => path.replace("./", ""));
  for (const path of [...needed, "posse_bg.wasm", "cpu_bg.wasm", "types.d.ts", "LICENSE-MIT", "LICENSE-APACHE", "README.md"]) {
    assert.ok(published.has(path), `${path} is not published`);
  }
  assert.deepEqual(Object.keys(exports).slice(0, 4), [".", "./auto", "./cpu", "./three"]);
  assert.equal(license, "MIT OR Apache-2.0");
  assert.ok(peerDependencies.three);
  // No file is named by its place on the machine that built it.
  assert.ok([...published].every((path) => !path.startsWith("..")));
});

test("the entries are no larger than their limits", { skip }, (t) => {
  const limits = readFileSync(join(HERE, "../../bindings/web/build"), "utf8");
  for (const name of ["posse", "cpu"]) {
    const limit = Number(limits.match(new RegExp(`^${name}_limit=(\\d+)$`, "m"))[1]);
    // As `bindings/web/build` measures: the zlib of Node compresses less.
    const zipped = execFileSync("gzip", ["-9", "-c", join(PACKAGE, `${name}_bg.wasm`)], { maxBuffer: 1 << 24 }).length;
    t.diagnostic(`${name}: ${zipped} bytes of WebAssembly, gzipped, of ${limit}`);
    assert.ok(zipped > 100_000 && zipped <= limit, `${name}: ${zipped}`);
  }
});

test("without WebGPU and without an adapter, the device says so", { skip }, (t) => {
  const folder = installed(t, PACKAGE);
  const found = run(folder, `
    import init, { Gpu, Library } from "posse";
    await init();
    const message = () => Gpu.open().then(() => "a device", (error) => error.message);
    const given = (gpu) => Object.defineProperty(globalThis, "navigator", { value: { gpu }, configurable: true });
    const found = { clips: Library.demo().clips.length };
    given(undefined);
    found.missing = await message();
    given({ requestAdapter: async () => null });
    found.none = await message();
    found.isLeft = "Window" in globalThis;
    console.log(JSON.stringify(found));`);
  assert.ok(found.clips > 0);
  assert.match(found.missing, /^there is no WebGPU here; .*in Node\.js, navigator\.gpu has to come from the package webgpu$/);
  assert.match(found.none, /^WebGPU finds no graphics adapter on this machine; /);
  assert.equal(found.isLeft, false);
});

test("Dawn poses as the processor does", { skip }, (t) => {
  if (!existsSync(join(HERE, "node_modules/webgpu"))) return t.skip("the package webgpu is not installed");
  const folder = installed(t, PACKAGE, "webgpu");
  const driver = existsSync(SWIFTSHADER) && { VK_ICD_FILENAMES: SWIFTSHADER, VK_DRIVER_FILES: SWIFTSHADER };
  const found = run(folder, `
    import { create, globals } from "webgpu";
    import init, { Crowd, Gpu, Library, View } from "posse";
    import initCpu, * as cpu from "posse/cpu";
    Object.assign(globalThis, globals);
    Object.defineProperty(globalThis, "navigator", { value: { gpu: create([]) }, configurable: true });
    await Promise.all([init(), initCpu()]);
    const answer = (found) => (console.log(JSON.stringify(found)), process.exit(0));
    if (!(await navigator.gpu.requestAdapter())) answer({ adapter: null });
    const gpu = await Gpu.open();
    const device = await (await navigator.gpu.requestAdapter()).requestDevice();
    const own = await Gpu.open({ device });
    const layers = [[{ clip: "walk" }], [{ clip: "walk", phase: 0.4 }]];
    const matrices = async (crowd) => Promise.all([0, 1].map(async (instance) => [...await crowd.joint(instance, 5, 0.7)]));
    const posed = [];
    for (const on of [gpu, own]) posed.push(await matrices(await Crowd.create(on, Library.demo(), layers)));
    const expected = await matrices(cpu.Crowd.create(cpu.Library.demo(), layers));
    const view = await View.open(gpu, {}).catch((error) => error.message);
    answer({ adapter: gpu.name, isOwn: own.device === device, posed, expected, view });`, driver);
  if (found.adapter === null) return t.skip("Dawn finds no adapter");
  t.diagnostic(found.adapter);
  assert.ok(found.isOwn);
  const expected = found.expected.flat();
  for (const posed of found.posed) {
    const worst = Math.max(...posed.flat().map((number, at) => Math.abs(number - expected[at])));
    assert.ok(worst < 1e-5, `off by ${worst}`);
  }
  assert.ok(expected.some((number, at) => at < 16 && Math.abs(number - expected[at + 16]) > 1e-3), "two phases differ");
  assert.equal(found.view, "canvas: expected an HTMLCanvasElement or an OffscreenCanvas");
});
