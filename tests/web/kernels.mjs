// The kernels that `posse kernels` writes, on the own GPUDevice of a page without any code of posse: the page reads
// kernels.json, creates what it describes, and dispatches. The truth of the poses is `posse eval` with the reference.
//
// POSSE_BIN names the command, which `tests/web/run` finds where cargo has built it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { LONGEST, withPage } from "./browser.mjs";
import { collected } from "./collected.mjs";

const BIN = process.env.POSSE_BIN;
/// Seconds of the crowd clock, one frame each, in whole ticks.
const TIMES = [0, 0.25, 1.75, 3600.5];
/// The contract: a joint of the GPU is within this number, times the levels of the skeleton, times its size.
const BOUND = 2e-6;
/// A software renderer compiles kernels for minutes on a busy machine.
const timeout = LONGEST;

function reasonToSkip() {
  if (BIN && existsSync(BIN)) return false;
  process.stderr.write("SKIPPED: kernels on the device of a page: POSSE_BIN names no command posse\n");
  return "the command posse is not built";
}

const skip = reasonToSkip();

/// In the page: poses the crowd of a manifest at each time. Returns the manifest, the skin matrices of each time and
/// batch, and what the device found wrong.
async function pose({ times }) {
  const read = async (name) => (await fetch(`/kernels/${name}`)).arrayBuffer();
  const manifest = await (await fetch("/kernels/kernels.json")).json();
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const errors = [];
  device.addEventListener("uncapturederror", ({ error }) => errors.push(error.message));

  const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const createBuffer = async ({ bytes, file }) => {
    const usage = STORAGE | UNIFORM | COPY_SRC | COPY_DST;
    const buffer = device.createBuffer({ size: Math.ceil(bytes / 4) * 4, usage });
    if (file) device.queue.writeBuffer(buffer, 0, await read(file));
    return buffer;
  };
  const createBuffers = async (described) => {
    const created = Object.entries(described).map(async ([name, buffer]) => [name, await createBuffer(buffer)]);
    return Object.fromEntries(await Promise.all(created));
  };

  const type = { read: "read-only-storage", read_write: "storage", uniform: "uniform" };
  const kernels = {};
  const createKernel = async ({ name, bindings, languages: { wgsl } }) => {
    const code = await (await fetch(`/kernels/${wgsl.file}`)).text();
    const module = device.createShaderModule({ code });
    const entries = bindings.map(({ binding, access }) => {
      return { binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: type[access] } };
    });
    const layout = device.createBindGroupLayout({ entries });
    const pipeline = await device.createComputePipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: wgsl.entry_point },
    });
    kernels[name] = { bindings, layout, pipeline };
  };
  const needed = new Set(manifest.batches.flatMap(({ dispatches }) => dispatches.map(({ kernel }) => kernel)));
  await Promise.all(manifest.kernels.filter(({ name }) => needed.has(name)).map(createKernel));

  const library = await createBuffers(manifest.library);
  const batches = [];
  for (const { dispatches, buffers: described } of manifest.batches) {
    const buffers = await createBuffers(described);
    const ready = [];
    for (const { kernel, workgroups } of dispatches) {
      const { bindings, layout, pipeline } = kernels[kernel];
      const entries = [];
      for (const { binding, buffer } of bindings) {
        // A buffer that is not described is not used. Each place gets one of its own, since no two may be written.
        const bound = library[buffer] ?? buffers[buffer] ?? (await createBuffer({ bytes: 256 }));
        entries.push({ binding, resource: { buffer: bound } });
      }
      ready.push({ pipeline, group: device.createBindGroup({ layout, entries }), workgroups });
    }
    batches.push({ buffers, dispatches: ready });
  }

  const posed = [];
  let from = 0n;
  for (const time of times) {
    const now = BigInt(Math.round(time * manifest.ticks_per_second));
    for (const { buffers } of batches) device.queue.writeBuffer(buffers.frame, 0, new BigInt64Array([now, from, 0n, 0n]));
    from = now;
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const { pipeline, group, workgroups } of batches.flatMap(({ dispatches }) => dispatches)) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(...workgroups);
    }
    pass.end();
    const copies = batches.map(({ buffers: { skin } }) => {
      const copy = device.createBuffer({ size: skin.size, usage: MAP_READ | COPY_DST });
      encoder.copyBufferToBuffer(skin, 0, copy, 0, skin.size);
      return copy;
    });
    device.queue.submit([encoder.finish()]);
    const frame = [];
    for (const copy of copies) {
      await copy.mapAsync(GPUMapMode.READ);
      frame.push([...new Float32Array(copy.getMappedRange())]);
    }
    posed.push(frame);
  }
  return { manifest, posed, errors };
}

/// The skin matrices of a clip at times, in rows: for each time one list of numbers.
function expected(file, clip) {
  const options = ["--engine", "reference", "--clip", clip, "--wrap", "loop", `--times=${TIMES.join(",")}`, "--outputs", "skin"];
  const text = execFileSync(BIN, ["eval", file, ...options], { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
  const rows = (matrix) => [0, 1, 2].flatMap((row) => [0, 1, 2, 3].map((column) => matrix[4 * column + row]));
  return JSON.parse(text).samples.map(({ skins }) => skins.flatMap(({ joint_matrices: matrices }) => matrices.flatMap(rows)));
}

/// The levels of a skeleton of the manifest.
function levels({ joints }) {
  const found = [];
  for (const { parent } of joints) found.push(parent === null ? 1 : found[parent] + 1);
  return Math.max(...found);
}

async function check(t, file) {
  const folder = mkdtempSync(join(tmpdir(), "posse-kernels-"));
  try {
    execFileSync(BIN, ["kernels", file, "--emit", "wgsl", "-o", folder], { stdio: "ignore" });
    const { manifest, posed, errors } = await withPage({ "/kernels": folder }, async ({ page, address, problems }) => {
      await page.goto(`${address}/kernels/kernels.json`);
      const found = await page.evaluate(pose, { times: TIMES });
      assert.deepEqual(problems, []);
      return found;
    }, { timeout });
    assert.deepEqual(errors, []);
    assert.ok(manifest.instances.length > 0);
    let [compared, worst, changes] = [0, 0, 0];
    for (const [index, { skeleton, instances, numbers_per_instance: { skin: stride } }] of manifest.batches.entries()) {
      const depth = levels(manifest.skeletons[skeleton]);
      for (const [slot, instance] of instances.entries()) {
        const clip = manifest.instances[instance].clips[0];
        const truth = expected(file, clip);
        for (const [at, numbers] of truth.entries()) {
          const found = posed[at][index].slice(slot * stride, (slot + 1) * stride);
          assert.equal(found.length, numbers.length);
          const size = Math.max(...numbers.map(Math.abs));
          const error = Math.max(...numbers.map((number, place) => Math.abs(number - found[place])));
          assert.ok(error <= BOUND * depth * size, `${clip} at ${TIMES[at]} s: off by ${error}, of numbers up to ${size}`);
          worst = Math.max(worst, error / (BOUND * depth * size));
          changes += at > 0 && numbers.some((number, place) => Math.abs(number - truth[at - 1][place]) > 0.01 * size);
          compared += 1;
        }
      }
    }
    assert.ok(changes > 0, "the poses of two frames differ");
    t.diagnostic(`${file}: ${compared} poses, off by at most ${worst.toFixed(2)} of the bound`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a page with its own device poses the built-in human by the kernels", { skip, timeout }, (t) => check(t, "demo"));

test("a page with its own device poses a collected file by the kernels", { skip, timeout }, async (t) => {
  const file = collected("gltf/Fox/Fox.glb");
  if (!file) {
    process.stderr.write("SKIPPED: the kernels of a collected file: gltf/Fox/Fox.glb is missing; tests/fetch downloads it\n");
    return t.skip("the file is missing");
  }
  await check(t, file);
});
