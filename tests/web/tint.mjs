// Tint, the compiler of Chromium, compiles the WGSL that the library gives to devices.
//
// A sample of the kernels that pose is compiled, with all sets of features, and all other kernels. With
// POSSE_ALL_TESTS=1, each kernel is compiled with each set of features.
//
// The texts come from a test of the library, src/gpu/wgsl_texts.rs.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LONGEST, withPage } from "./browser.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const FOLDER = join(ROOT, "target/web");
const FILE = join(FOLDER, "wgsl.json");
/// The number of texts. A new variant of a kernel changes it.
const TEXTS = 35_726;
/// The number of kernels that pose and are compiled: 768 with 32 sets of features each, and those of transitions, goals,
/// joints with several skin matrices and skins alone with two each.
const KERNELS = process.env.POSSE_ALL_TESTS ? 6_306 : 585;
/// Of the kernels that pose, each STEP-th is compiled. The step has no divisor in common with 32.
const STEP = process.env.POSSE_ALL_TESTS ? 1 : 61;
/// The number of compute pipelines that pose. Creating one takes seconds.
const PIPELINES = 8;

function writeTexts() {
  mkdirSync(FOLDER, { recursive: true });
  rmSync(FILE, { force: true });
  const test = ["test", "--quiet", "--lib", "gpu::wgsl_texts"];
  const env = { ...process.env, POSSE_WGSL_TEXTS: FILE, POSSE_WGSL_STEP: STEP };
  const { status, stdout, stderr } = spawnSync("cargo", test, { cwd: ROOT, env, encoding: "utf8", timeout: 1_500_000 });
  assert.equal(status, 0, `the texts cannot be written: ${stdout}\n${stderr}`);
}

/// Reads the texts in the page, and selects those that become pipelines. Returns their names, and the number of texts
/// that there are.
async function select({ pipelines }) {
  globalThis.device = await (await navigator.gpu.requestAdapter()).requestDevice();
  const { parts, texts, count } = await (await fetch("/wgsl.json")).json();
  const isPose = ({ entries }) => entries[0] === "pose";
  const pose = texts.filter(isPose);
  const every = Math.ceil(pose.length / pipelines);
  pose.forEach((text, index) => (text.hasPipeline = index % every === 0));
  const others = texts.filter((text) => !isPose(text));
  others.forEach((text, index) => (text.hasPipeline = !/^(play|root motion)/.test(text.name) || index % 40 === 0));
  globalThis.texts = [...others, ...pose].map(({ parts: indices, ...text }) => {
    return { ...text, code: () => indices.map((index) => parts[index]).join("") };
  });
  return { names: globalThis.texts.map(({ name }) => name), count };
}

/// Compiles a slice of the texts, and creates pipelines. Returns the messages of the compiler.
async function compile({ from, to }) {
  const found = [];
  for (const { name, entries, hasPipeline, code } of texts.slice(from, to)) {
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code: code() });
    const refusal = device.popErrorScope();
    const { messages } = await module.getCompilationInfo();
    for (const { type, message, lineNum } of messages) found.push({ name, type, message, line: lineNum });
    const error = await refusal;
    if (error && !messages.some(({ type }) => type === "error")) found.push({ name, type: "error", message: error.message });
    for (const entryPoint of error || !hasPipeline ? [] : entries) {
      try {
        await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint } });
        found.push({ name, type: "pipeline" });
      } catch (error) {
        found.push({ name, type: "error", message: error.message });
      }
    }
  }
  return found;
}

/// Compiles all selected texts, a slice at a time.
async function compileAll(page, count) {
  const found = [];
  const slice = 20;
  for (let from = 0; from < count; from += slice) {
    found.push(...(await page.evaluate(compile, { from, to: from + slice })));
  }
  return found;
}

/// The compiler's errors in a text of its own.
async function errorsOf(page, code) {
  return page.evaluate(async (code) => {
    device.pushErrorScope("validation");
    const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
    await device.popErrorScope();
    return messages.filter(({ type }) => type === "error").map(({ lineNum, message }) => ({ line: lineNum, message }));
  }, code);
}

test("Tint compiles the WGSL of the library", { timeout: LONGEST }, async (t) => {
  writeTexts();
  const work = async ({ page, address, problems, version }) => {
    // Any file of the server gives the page an origin that has WebGPU.
    await page.goto(`${address}/wgsl.json`);
    const start = performance.now();
    const { names, count } = await page.evaluate(select, { pipelines: PIPELINES });
    const found = await compileAll(page, names.length);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const ofType = (type) => found.filter((message) => message.type === type);
    t.diagnostic(`Chromium ${version}: ${names.length} of ${count} texts and ${ofType("pipeline").length} pipelines in ${seconds} s`);
    t.diagnostic(`${ofType("error").length} errors, ${ofType("warning").length} warnings, ${ofType("info").length} notes`);
    for (const { name, line, message } of [...ofType("error"), ...ofType("warning")].slice(0, 10)) {
      t.diagnostic(`${name}, line ${line}: ${message}`);
    }
    assert.deepEqual(ofType("error"), []);
    assert.equal(count, TEXTS);
    assert.equal(ofType("pipeline").length, PIPELINES + 12, "pipelines that pose, and of the other kernels");
    const pose = names.map((name) => name.match(/^(PoseKernel .*), (Features .*), (\d interpolators)$/)).filter(Boolean);
    assert.equal(new Set(pose.map(([, kernel, , interpolators]) => kernel + interpolators)).size, KERNELS);
    assert.equal(new Set(pose.map(([, , features]) => features)).size, 32);

    await t.test("a text with a mistake is refused with its line", async () => {
      const { parts, texts } = JSON.parse(readFileSync(FILE, "utf8"));
      const code = texts.at(-1).parts.map((index) => parts[index]).join("");
      const lines = code.split("\n").length;
      assert.deepEqual(await errorsOf(page, code), []);
      const mistakes = ["fn mistake() -> f32 { return 1u; }", "fn mistake() { missing(); }", "fn mistake( {"];
      for (const mistake of mistakes) {
        const errors = await errorsOf(page, `${code}\n${mistake}\n`);
        assert.equal(errors[0]?.line, lines + 1, mistake);
      }
    });
    assert.deepEqual(problems, []);
  };
  await withPage({ "/": FOLDER }, work, { timeout: 600_000 });
});
