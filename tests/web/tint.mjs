// Tint, the compiler of Chromium, compiles every text of WGSL that the library gives to devices.
//
// The texts come from a test of the library, src/gpu/wgsl_texts.rs. POSSE_FEATURES names the features of that build, so that it is
// the build that other tests have made.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { withPage } from "./browser.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const FOLDER = join(ROOT, "target/web");
const FILE = join(FOLDER, "wgsl.json");
/// The number of texts. A new variant of a kernel changes it.
const TEXTS = 17354;
/// Every such text also becomes a pipeline, so that the back end compiles it. A prime step goes through all kinds of texts.
const PIPELINE_STEP = 211;

function writeTexts() {
  mkdirSync(FOLDER, { recursive: true });
  rmSync(FILE, { force: true });
  const features = process.env.POSSE_FEATURES ? ["--features", process.env.POSSE_FEATURES] : [];
  const test = ["test", "--quiet", "--lib", ...features, "gpu::wgsl_texts"];
  const env = { ...process.env, POSSE_WGSL_TEXTS: FILE };
  const { status, stdout, stderr } = spawnSync("cargo", test, { cwd: ROOT, env, encoding: "utf8", timeout: 1_500_000 });
  assert.equal(status, 0, `the texts cannot be written: ${stdout}\n${stderr}`);
}

/// Compiles texts in the page: a device once, then modules and, at each step, pipelines. Returns the messages of the compiler.
async function compile({ from, to, step }) {
  globalThis.device ??= await (await navigator.gpu.requestAdapter()).requestDevice();
  globalThis.all ??= await (await fetch("/wgsl.json")).json();
  const { parts, texts } = globalThis.all;
  const found = [];
  await Promise.all(texts.slice(from, to).map(async ({ name, entries, parts: indices }, index) => {
    const code = indices.map((index) => parts[index]).join("");
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code });
    const refusal = device.popErrorScope();
    const { messages } = await module.getCompilationInfo();
    for (const { type, message, lineNum } of messages) found.push({ name, type, message, line: lineNum });
    const error = await refusal;
    if (error && !messages.some(({ type }) => type === "error")) found.push({ name, type: "error", message: error.message });
    if (error || (from + index) % step !== 0) return;
    for (const entryPoint of entries) {
      try {
        await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint } });
        found.push({ name, type: "pipeline" });
      } catch (error) {
        found.push({ name, type: "error", message: error.message });
      }
    }
  }));
  return found;
}

/// Compiles all texts, a slice at a time. Returns the messages and the number of texts that arrived.
async function compileAll(page) {
  const count = await page.evaluate(async () => (await (await fetch("/wgsl.json")).json()).texts.length);
  const found = [];
  const slice = 100;
  for (let from = 0; from < count; from += slice) {
    const part = await page.evaluate(compile, { from, to: from + slice, step: PIPELINE_STEP });
    found.push(...part);
  }
  return { count, found };
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

test("Tint compiles every text", { timeout: 1_700_000 }, async (t) => {
  if (!process.env.POSSE_WGSL_TEXTS) writeTexts();
  const folder = dirname(process.env.POSSE_WGSL_TEXTS ?? FILE);
  await withPage({ "/": folder }, async ({ page, address, problems, version }) => {
    // Any file of the server gives the page an origin that has WebGPU.
    await page.goto(`${address}/wgsl.json`);
    const start = performance.now();
    const { count, found } = await compileAll(page);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const of = (type) => found.filter((message) => message.type === type);
    t.diagnostic(`Chromium ${version}: ${count} texts and ${of("pipeline").length} pipelines in ${seconds} s`);
    t.diagnostic(`${of("error").length} errors, ${of("warning").length} warnings, ${of("info").length} notes`);
    for (const { name, line, message } of [...of("error"), ...of("warning")].slice(0, 10)) {
      t.diagnostic(`${name}, line ${line}: ${message}`);
    }
    assert.deepEqual(of("error"), []);
    assert.equal(count, TEXTS);
    assert.ok(of("pipeline").length >= Math.floor(TEXTS / PIPELINE_STEP));

    await t.test("a text with a mistake is refused with its line", async () => {
      const { parts, texts } = JSON.parse(readFileSync(join(folder, "wgsl.json"), "utf8"));
      const code = texts.at(-1).parts.map((index) => parts[index]).join("");
      const lines = code.split("\n").length;
      assert.deepEqual(await errorsOf(page, code), []);
      const mistakes = ["fn mistake() -> f32 { return 1u; }", "fn mistake() { missing(); }", "fn mistake( {"];
      for (const mistake of mistakes) {
        const errors = await errorsOf(page, `${code}\n${mistake}\n`);
        assert.deepEqual(errors.map(({ line }) => line), [lines + 1], mistake);
      }
    });
    assert.deepEqual(problems, []);
  });
});
