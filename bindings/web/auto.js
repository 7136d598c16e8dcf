// The entry `posse/auto`: the GPU where there is one, otherwise the CPU.

export async function open(options) {
  const { gpu, reason, entry } = await openGpu(options);
  if (gpu) return { ...entry, engine: "gpu", gpu };
  const cpu = await import("./cpu.js");
  await cpu.default();
  return { ...cpu, engine: "cpu", reason };
}

/// The GPU with its entry, or the reason for which the CPU is to pose.
async function openGpu(options) {
  const { device } = options ?? {};
  if (!device && !(await globalThis.navigator?.gpu?.requestAdapter())) return { reason: "there is no GPU" };
  const entry = await import("./posse.js");
  await entry.default();
  try {
    const gpu = await entry.Gpu.open(options);
    if (device || !gpu.isSoftware) return { gpu, entry };
    const reason = `${gpu.name} is a software renderer, which is slower than the CPU engine`;
    gpu.device.destroy();
    gpu.free();
    return { reason };
  } catch (error) {
    if (device || error.code === "options") throw error;
    return { reason: error.message };
  }
}
