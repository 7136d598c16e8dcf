// Runs the tests of the WebAssembly one by one. A test that waits for the GPU is suspended (JavaScript Promise
// Integration).

import init, { figures, give_file, left_out, names, set_variable } from "./pkg/posse.js";

let woken = false;
let resume = null;
let fault = null;
const notes = [];

/// The imports of the WebAssembly.
globalThis.page = {
  panicked: (message) => (fault = message),
  note: (text) => notes.push(text),
  now: () => performance.now() / 1000,
  wake() {
    woken = true;
    resume?.(0);
    resume = null;
  },
  async waitForWake() {
    if (!woken) await new Promise((resolve) => (resume = resolve));
    woken = false;
    return 0;
  },
};

/// Loads the WebAssembly. The one import that waits suspends it.
async function load() {
  const response = await fetch("pkg/posse_bg.wasm");
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = (code, imports) => {
    for (const functions of Object.values(imports)) {
      for (const [name, call] of Object.entries(functions)) {
        if (name.includes("waitForWake")) functions[name] = new WebAssembly.Suspending(call);
      }
    }
    return instantiate(code, imports);
  };
  const exports = await init({ module_or_path: await response.arrayBuffer() });
  for (const path of new URLSearchParams(location.search).getAll("file")) {
    give_file(path, new Uint8Array(await (await fetch(`/collected/${path}`)).arrayBuffer()));
  }
  return WebAssembly.promising(exports.run);
}

const run = load();

/// `window.suite`, which suite.mjs calls.
globalThis.suite = {
  /// The names of all tests, and what is left out.
  async list() {
    await run;
    return { names: names(), leftOut: left_out() };
  },
  /// Runs a test with variables. Returns its error if it failed, its notes, and the figures of all tests so far. After
  /// an error, the page is loaded again.
  async run(index, variables) {
    const test = await run;
    for (const [name, value] of Object.entries(variables)) set_variable(name, value);
    notes.length = 0;
    const start = performance.now();
    let error = null;
    try {
      await test(index);
    } catch (problem) {
      // Some messages hold whole libraries.
      error = (fault ?? String(problem)).slice(0, 2000);
    }
    return { error, notes: [...notes], seconds: (performance.now() - start) / 1000, figures: error ? null : JSON.parse(figures()) };
  },
};
