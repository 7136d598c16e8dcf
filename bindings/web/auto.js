// The entry `posse/auto`: the GPU where there is one, otherwise the CPU.

export async function open(options) {
  if (options?.device || (await globalThis.navigator?.gpu?.requestAdapter())) {
    const entry = await import("./posse.js");
    await entry.default();
    const gpu = await entry.Gpu.open(options);
    // A software renderer is slower than the CPU engine.
    if (options?.device || !gpu.isSoftware) return { ...entry, engine: "gpu", gpu };
    gpu.device.destroy();
    gpu.free();
  }
  const entry = await import("./cpu.js");
  await entry.default();
  return { ...entry, engine: "cpu" };
}
